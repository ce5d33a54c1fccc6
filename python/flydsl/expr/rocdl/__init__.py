"""``fx.rocdl``: what only AMD GPUs have."""

from __future__ import annotations

from flydsl.expr.rocdl import cdna3, cdna4, cdna5, rdna3, rdna4
from flydsl.expr.rocdl.mma import MFMA, WMMA, MFMAScale, WMMAScale

__all__ = ["MFMA", "WMMA", "MFMAScale", "WMMAScale", "cdna3", "cdna4", "cdna5", "rdna3", "rdna4"]
