"""CDNA3: gfx942, and what gfx90a shares with it."""

from __future__ import annotations

from flydsl.expr.rocdl.mma import MFMA

__all__ = ["MFMA"]
