"""The `fx` API: numbers, layouts, tensors, atoms and what to do with them."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

from flydsl.expr import arith, derived, enum, gpu, math, numeric, primitive, typing, vector
from flydsl.expr.arena import Arena
from flydsl.expr.arith import *  # noqa: F403
from flydsl.expr.array import Align, Array
from flydsl.expr.gpu import *  # noqa: F403
from flydsl.expr.hardware_enums import *  # noqa: F403
from flydsl.expr.math import *  # noqa: F403
from flydsl.expr.primitive import *  # noqa: F403
from flydsl.expr.printing import dump
from flydsl.expr.storage import Storage
from flydsl.expr.struct import *  # noqa: F403
from flydsl.expr.typing import *  # noqa: F403

_LAZY = ("coop", "random", "rocdl")
"""Submodules loaded when first used: most kernels need none of them."""


def __getattr__(name: str) -> _Any:
    if name in _LAZY:
        try:
            return _import_module(f"{__name__}.{name}")
        except ModuleNotFoundError:
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'") from None
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
