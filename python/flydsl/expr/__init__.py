"""The `fx` API: numbers, layouts, tensors, atoms and what to do with them."""

from __future__ import annotations

from flydsl.expr import arith, gpu, math, vector
from flydsl.expr.arith import *  # noqa: F403
from flydsl.expr.atom import CopyAtom, MmaAtom, ThrCopy, ThrMma, TiledCopy, TiledMma
from flydsl.expr.constexpr import Constexpr, const_expr, range_constexpr
from flydsl.expr.gpu import *  # noqa: F403
from flydsl.expr.hardware_enums import *  # noqa: F403
from flydsl.expr.int_tuple import IntTuple
from flydsl.expr.layout import ComposedLayout, CoordSwizzle, Layout, Swizzle, Tile
from flydsl.expr.math import *  # noqa: F403
from flydsl.expr.numeric import *  # noqa: F403
from flydsl.expr.ops_atom import *  # noqa: F403
from flydsl.expr.ops_layout import *  # noqa: F403
from flydsl.expr.ops_memory import *  # noqa: F403
from flydsl.expr.pointer import Pointer
from flydsl.expr.printing import dump, printf
from flydsl.expr.stream import Stream
from flydsl.expr.tensor import Tensor
from flydsl.expr.vector import *  # noqa: F403
