"""GPU kernels with explicit layouts: `flydsl.expr` (fx) is the language, `flydsl.compiler` (flyc) compiles it."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"
_LATER = ("autotune", "Config")


def __getattr__(name: str) -> Any:
    """`flydsl.autotune` (a module that is the decorator too) and `flydsl.Config`, loaded when first asked for."""
    if name in _LATER:
        tuning = import_module("flydsl.autotune")
        return tuning if name == "autotune" else tuning.Config
    raise AttributeError(f"module 'flydsl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
