"""Layout, memory and atom operations under the import path of the original; everything is defined elsewhere."""

from __future__ import annotations

from flydsl.expr.atoms import access_plan, atomics, ops_atom
from flydsl.expr.atoms.access_plan import *  # noqa: F403
from flydsl.expr.atoms.atomics import *  # noqa: F403
from flydsl.expr.atoms.ops_atom import *  # noqa: F403
from flydsl.expr.tensors import coordinates, ops_layout, ops_memory, predicate
from flydsl.expr.tensors.coordinates import *  # noqa: F403
from flydsl.expr.tensors.ops_layout import *  # noqa: F403
from flydsl.expr.tensors.ops_memory import *  # noqa: F403
from flydsl.expr.tensors.predicate import *  # noqa: F403
from flydsl.expr.trace.constexpr import const_expr, range_constexpr
from flydsl.expr.trace.printing import printf

__all__ = ["const_expr", "printf", "range_constexpr"]
__all__ += atomics.__all__
__all__ += access_plan.__all__
__all__ += coordinates.__all__
__all__ += ops_atom.__all__
__all__ += ops_layout.__all__
__all__ += ops_memory.__all__
__all__ += predicate.__all__
