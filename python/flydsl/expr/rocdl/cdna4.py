"""CDNA4: gfx950."""

from __future__ import annotations

from flydsl.expr.rocdl.arithmetic import cvt_sr_f32_to_bf16
from flydsl.expr.rocdl.copies import (
    BufferLoadAsyncLDS,
    BufferLoadAsyncLDS32b,
    BufferLoadAsyncLDS96b,
    BufferLoadAsyncLDS128b,
    GlobalLoadAsyncLDS,
    GlobalLoadAsyncLDS32b,
    GlobalLoadAsyncLDS96b,
    GlobalLoadAsyncLDS128b,
    LDSReadTrans,
    LDSReadTrans4_64b,
    LDSReadTrans6_96b,
    LDSReadTrans8_64b,
    LDSReadTrans16_64b,
)
from flydsl.expr.rocdl.matrix.mma import MFMA, MFMAScale
from flydsl.expr.rocdl.matrix.mma import MFMAScale as MFMA_Scale

__all__ = [
    "MFMA", "BufferLoadAsyncLDS", "BufferLoadAsyncLDS128b", "BufferLoadAsyncLDS32b", "BufferLoadAsyncLDS96b",
    "GlobalLoadAsyncLDS", "GlobalLoadAsyncLDS128b", "GlobalLoadAsyncLDS32b", "GlobalLoadAsyncLDS96b", "LDSReadTrans",
    "LDSReadTrans16_64b", "LDSReadTrans4_64b", "LDSReadTrans6_96b", "LDSReadTrans8_64b",
    "MFMAScale", "MFMA_Scale", "cvt_sr_f32_to_bf16",
]  # fmt: skip
