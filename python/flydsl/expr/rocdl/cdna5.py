"""gfx1250."""

from __future__ import annotations

from flydsl.expr.rocdl.matrix.mma import WMMAScale, wmma_of
from flydsl.expr.rocdl.memory.tdm import TDM, make_tdm_atom
from flydsl.target.copy_rocdl import LdsReadTrans

WMMA = wmma_of("cdna5")


def LDSReadTrans(granularity: int, bits: int) -> LdsReadTrans:
    """8 or 16 lanes read ``bits`` each from LDS and get granules transposed: (16, 128) or (8, 64)."""
    return LdsReadTrans(granularity, bits, "cdna5")


__all__ = ["TDM", "LDSReadTrans", "WMMA", "WMMAScale", "make_tdm_atom"]
