"""The operations in their portable forms: here there is one form of each, for every target."""

from __future__ import annotations

from flydsl.expr.coop import block, warp
from flydsl.expr.coop.block import *  # noqa: F403
from flydsl.expr.coop.warp import *  # noqa: F403

__all__: list[str] = []
__all__ += block.__all__
__all__ += warp.__all__
