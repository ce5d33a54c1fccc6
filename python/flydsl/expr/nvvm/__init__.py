"""``fx.nvvm``: what only NVIDIA GPUs have."""

from __future__ import annotations

from flydsl.expr.nvvm.mma import MmaSync, Wgmma

__all__ = ["MmaSync", "Wgmma"]
