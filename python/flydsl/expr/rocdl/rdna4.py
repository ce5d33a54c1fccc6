"""RDNA4: gfx1200, gfx1201."""

from __future__ import annotations

from flydsl.expr.rocdl.matrix.mma import wmma_of
from flydsl.expr.rocdl.scheduling import waitcnt_for

WMMA = wmma_of("rdna4")

s_waitcnt = waitcnt_for("rdna4")

__all__ = ["WMMA", "s_waitcnt"]
