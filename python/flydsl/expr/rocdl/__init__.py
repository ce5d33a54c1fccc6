"""``fx.rocdl``: what only AMD GPUs have."""

from __future__ import annotations

from flydsl.expr.rocdl import cdna3, cdna4, cdna5, rdna3, rdna4
from flydsl.expr.rocdl.arithmetic import *
from flydsl.expr.rocdl.buffer import *
from flydsl.expr.rocdl.copies import (
    BufferAtomic,
    BufferAtomicAdd,
    BufferAtomicMax,
    BufferAtomicMin,
    BufferAtomicPkAdd,
    BufferCopy,
    BufferCopy8b,
    BufferCopy16b,
    BufferCopy32b,
    BufferCopy64b,
    BufferCopy128b,
    BufferCopyLDS,
    BufferCopyLDS32b,
    BufferCopyLDS64b,
    BufferCopyLDS128b,
)
from flydsl.expr.rocdl.lanes import *
from flydsl.expr.rocdl.mfma_intrinsics import *
from flydsl.expr.rocdl.mma import MFMA, WMMA, MFMAScale, WMMAScale
from flydsl.expr.rocdl.scheduling import *
