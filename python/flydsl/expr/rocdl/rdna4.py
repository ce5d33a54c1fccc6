"""RDNA4: gfx1200, gfx1201."""

from __future__ import annotations

from flydsl.expr.rocdl.mma import wmma_of

WMMA = wmma_of("rdna4")

__all__ = ["WMMA"]
