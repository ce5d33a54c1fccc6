"""Layout, memory and atom operations under the import path of the original; everything is defined elsewhere."""

from __future__ import annotations

from flydsl.expr.constexpr import const_expr, range_constexpr
from flydsl.expr.ops_atom import *  # noqa: F403
from flydsl.expr.ops_atom import __all__ as _atom_names
from flydsl.expr.ops_layout import *  # noqa: F403
from flydsl.expr.ops_layout import __all__ as _layout_names
from flydsl.expr.ops_memory import *  # noqa: F403
from flydsl.expr.ops_memory import __all__ as _memory_names
from flydsl.expr.printing import printf

__all__ = ["const_expr", "printf", "range_constexpr"]
__all__ += [*_atom_names, *_layout_names, *_memory_names]
