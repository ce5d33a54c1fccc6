"""Cooperative operations: reductions and scans over a wave or a whole workgroup.

An operation is ``"add"``, ``"mul"``, ``"max"``, ``"min"``, a ``ReductionOp``, or any associative function of two
values. A function combines in lane order, so it need not be commutative; the named operations are, and reductions by
them take whatever order is fastest.
"""

from __future__ import annotations

from flydsl.expr.coop import block, specialised, universal, warp
from flydsl.expr.coop.block import *  # noqa: F403
from flydsl.expr.coop.warp import *  # noqa: F403

__all__ = ["block", "specialised", "universal", "warp"]
__all__ += block.__all__
__all__ += warp.__all__
