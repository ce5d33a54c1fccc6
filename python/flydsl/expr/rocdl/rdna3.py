"""RDNA3: gfx1100, gfx1151."""

from __future__ import annotations

from flydsl.expr.rocdl.mma import wmma_of

WMMA = wmma_of("rdna3")

__all__ = ["WMMA"]
