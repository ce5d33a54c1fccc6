"""``fx.rocdl``: what only AMD GPUs have."""

from __future__ import annotations

from flydsl.expr.rocdl import (
    arithmetic,
    buffer,
    cdna3,
    cdna4,
    cdna5,
    copies,
    lanes,
    mfma_intrinsics,
    rdna3,
    rdna4,
    scheduling,
)
from flydsl.expr.rocdl.arithmetic import *
from flydsl.expr.rocdl.buffer import *
from flydsl.expr.rocdl.copies import *
from flydsl.expr.rocdl.lanes import *
from flydsl.expr.rocdl.mfma_intrinsics import *
from flydsl.expr.rocdl.mma import MFMA, WMMA, MFMAScale, WMMAScale
from flydsl.expr.rocdl.raw_buffers import *
from flydsl.expr.rocdl.scaled_conversions import *
from flydsl.expr.rocdl.scheduling import *

__all__ = ["MFMA", "WMMA", "MFMAScale", "WMMAScale", "cdna3", "cdna4", "cdna5", "rdna3", "rdna4"]
__all__ += arithmetic.__all__
__all__ += buffer.__all__
__all__ += copies.__all__
__all__ += lanes.__all__
__all__ += mfma_intrinsics.__all__
__all__ += scheduling.__all__
