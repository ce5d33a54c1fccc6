"""`flydsl.extension.coop` and `flydsl.extension.random`: the modules behind `fx.coop` and `fx.random`."""

import sys

from flydsl.expr import coop, random
from flydsl.expr.coop import block, universal, warp

sys.modules |= {f"{__name__}.{name}": module for name, module in {
    "coop": coop, "coop.block": block, "coop.universal": universal, "coop.warp": warp,
    "random": random, "random.universal": random.universal,
}.items()}  # fmt: skip

__all__ = ["coop", "random"]
