"""The `fx` API: numbers, layouts, tensors, atoms and what to do with them."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

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

_LAZY = {n: n for n in ("buffer_ops", "coop", "extern", "mem_ops", "meta", "nvvm", "random", "rocdl", "utils")}
_LAZY |= {"tdm_ops": "rocdl.tdm_ops"} | dict.fromkeys(("assume", "gather", "scatter"), "atoms.gathering")


def __dir__() -> list[str]:
    return sorted({*__all__, *_LAZY})


def __getattr__(name: str) -> _Any:
    if name in _LAZY:  # loaded when first used: most kernels need none of them
        return getattr(found := _import_module(f"{__name__}.{_LAZY[name]}"), name, found)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'", name=name, obj=_import_module(__name__))
