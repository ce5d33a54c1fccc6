"""gfx1250."""

from __future__ import annotations

from flydsl.expr.rocdl.mma import WMMAScale, wmma_of

WMMA = wmma_of("cdna5")

__all__ = ["WMMA", "WMMAScale"]
