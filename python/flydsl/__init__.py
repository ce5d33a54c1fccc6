"""GPU kernels with explicit layouts: `flydsl.expr` (fx) is the language, `flydsl.compiler` (flyc) compiles it."""

from typing import Any

from flydsl.base import knobs as _settings  # noqa: F401 - so that errors know of NO_COLOR from the start
from flydsl.base.lazy import lazy_face
from flydsl.base.own_code import VERSION

__version__ = VERSION
_later = lazy_face(__name__, {"autotune": "flydsl.autotune"})


def __getattr__(name: str) -> Any:
    """`flydsl.autotune` (a module that is the decorator too) and `flydsl.Config`, loaded when first asked for."""
    return _later("autotune").Config if name == "Config" else _later(name)


def __dir__() -> list[str]:
    return sorted({*globals(), "autotune", "Config"})


__all__ = ["__version__"]
