"""CDNA4: gfx950."""

from __future__ import annotations

from flydsl.expr.rocdl.mma import MFMA, MFMAScale
from flydsl.expr.rocdl.mma import MFMAScale as MFMA_Scale

__all__ = ["MFMA", "MFMAScale", "MFMA_Scale"]
