"""The `fx` API: numbers, layouts, tensors, atoms and what to do with them."""

from __future__ import annotations

from flydsl.base.lazy import lazy_face as _lazy_face
from flydsl.expr import arith, derived, enum, gpu, math, numeric, primitive, typing, vector
from flydsl.expr.arith import *  # noqa: F403
from flydsl.expr.atoms import hardware_enums
from flydsl.expr.atoms.hardware_enums import *  # noqa: F403
from flydsl.expr.gpu import *  # noqa: F403
from flydsl.expr.math import *  # noqa: F403
from flydsl.expr.memory import composites
from flydsl.expr.memory.composites import *  # noqa: F403
from flydsl.expr.primitive import *  # noqa: F403
from flydsl.expr.trace.printing import dump
from flydsl.expr.typing import *  # noqa: F403

__all__ = ["arith", "derived", "dump", "enum", "gpu", "math", "numeric", "primitive", "typing", "vector"]
__all__ += arith.__all__
__all__ += composites.__all__
__all__ += gpu.__all__
__all__ += hardware_enums.__all__
__all__ += math.__all__
__all__ += primitive.__all__
__all__ += typing.__all__

# Loaded when first used: most kernels need none of them.
__getattr__ = _lazy_face(__name__, _LAZY := {
    "buffer_ops": "flydsl.expr.buffer_ops", "coop": "flydsl.expr.coop", "epilogue": "flydsl.expr.tiles.epilogue",
    "extern": "flydsl.expr.extern", "mem_ops": "flydsl.expr.mem_ops", "meta": "flydsl.expr.meta",
    "nvvm": "flydsl.expr.nvvm", "pipeline": "flydsl.expr.tiles.pipeline", "random": "flydsl.expr.random",
    "rocdl": "flydsl.expr.rocdl", "schedule": "flydsl.expr.tiles.schedule", "tdm_ops": "flydsl.expr.rocdl.tdm_ops",
    "utils": "flydsl.expr.utils"}, _SELDOM := {"require": "flydsl.expr.flow.requirement",
    **dict.fromkeys(("assume", "gather", "scatter"), "flydsl.expr.atoms.gathering"),
    **dict.fromkeys(("atomic_load", "atomic_store", "signal", "wait"), "flydsl.expr.atoms.signals"),
    **dict.fromkeys(("Symmetric", "grid_barrier", "rank_barrier"), "flydsl.expr.memory.symmetric")})  # fmt: skip


def __dir__() -> list[str]:
    return sorted({*__all__, *_LAZY, *_SELDOM})
