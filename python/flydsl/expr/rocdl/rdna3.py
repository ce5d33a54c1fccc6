"""RDNA3: gfx1100, gfx1151."""

from __future__ import annotations

from flydsl.expr.rocdl.matrix.mma import wmma_of
from flydsl.expr.rocdl.scheduling import waitcnt_for

WMMA = wmma_of("rdna3")

s_waitcnt = waitcnt_for("rdna3")

__all__ = ["WMMA", "s_waitcnt"]
