"""Types and handles under the import path of the original; everything is defined elsewhere."""

from __future__ import annotations

from flydsl.expr import numeric, vector
from flydsl.expr.atoms.atom import CopyAtom, MmaAtom, ThrCopy, ThrMma, TiledCopy, TiledMma
from flydsl.expr.flow.carried import as_dsl_value, as_ir_value
from flydsl.expr.gpu import Tuple3D
from flydsl.expr.numeric import *  # noqa: F403
from flydsl.expr.tensors import fly_types
from flydsl.expr.tensors.fly_types import *  # noqa: F403
from flydsl.expr.tensors.layout import ComposedLayout, CoordSwizzle, Layout, Swizzle, Tile
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.trace.constexpr import Constexpr
from flydsl.expr.trace.host_argument import Stream
from flydsl.expr.values.int_tuple import IntTuple
from flydsl.expr.values.ir_types import T, Types
from flydsl.expr.vector import *  # noqa: F403

__all__ = [
    "ComposedLayout", "Constexpr", "CoordSwizzle", "CopyAtom", "IntTuple", "Layout", "MmaAtom", "Pointer", "Stream",
    "Swizzle", "T", "Tensor", "ThrCopy", "ThrMma", "Tile", "TiledCopy", "TiledMma", "Tuple3D", "Types", "as_dsl_value",
    "as_ir_value",
]  # fmt: skip
__all__ += fly_types.__all__
__all__ += numeric.__all__
__all__ += vector.__all__
