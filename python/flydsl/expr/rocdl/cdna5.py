"""gfx1250."""

from __future__ import annotations

from flydsl.expr.rocdl.matrix.mma import WMMAScale, wmma_of
from flydsl.expr.rocdl.memory.tdm import TDM, make_tdm_atom

WMMA = wmma_of("cdna5")

__all__ = ["TDM", "WMMA", "WMMAScale", "make_tdm_atom"]
