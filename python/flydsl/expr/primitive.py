"""Layout, memory and atom operations under the import path of the original; everything is defined elsewhere."""

from __future__ import annotations

from flydsl.expr import atomics, ops_atom, ops_layout, ops_memory
from flydsl.expr.atomics import *  # noqa: F403
from flydsl.expr.constexpr import const_expr, range_constexpr
from flydsl.expr.ops_atom import *  # noqa: F403
from flydsl.expr.ops_layout import *  # noqa: F403
from flydsl.expr.ops_memory import *  # noqa: F403
from flydsl.expr.printing import printf

__all__ = ["const_expr", "printf", "range_constexpr"]
__all__ += atomics.__all__
__all__ += ops_atom.__all__
__all__ += ops_layout.__all__
__all__ += ops_memory.__all__
