"""Autotuning: run a jit function in several configurations, keep the fastest one that computes the same.

The module is the decorator too: ``@flydsl.autotune(configs=…)`` and ``from flydsl.autotune import autotune`` are one.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from flydsl.autotune.bench import do_bench
from flydsl.autotune.config import Config
from flydsl.autotune.decorator import autotune
from flydsl.autotune.plain import normalize_strides as _normalize_strides  # noqa: F401 # pyright: ignore[reportUnusedImport]
from flydsl.autotune.tuner import Autotuner

__all__ = ["Autotuner", "Config", "autotune", "do_bench"]


class _CallableModule(ModuleType):
    """Importing the module sets ``flydsl.autotune`` to it, so it has to answer to a call as the decorator does."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return autotune(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableModule
