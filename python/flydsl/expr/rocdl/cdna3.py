"""CDNA3: gfx942, and what gfx90a shares with it."""

from __future__ import annotations

from flydsl.expr.rocdl.copies import BufferAtomic, BufferCopy, BufferCopyLDS
from flydsl.expr.rocdl.matrix.mma import MFMA
from flydsl.expr.rocdl.scheduling import waitcnt_for

s_waitcnt = waitcnt_for("cdna3")

__all__ = ["MFMA", "BufferAtomic", "BufferCopy", "BufferCopyLDS", "s_waitcnt"]
