"""GPU kernels with explicit layouts: `flydsl.expr` (fx) is the language, `flydsl.compiler` (flyc) compiles it."""

from typing import TYPE_CHECKING, Any

from flydsl.base import knobs
from flydsl.base.lazy import lazy_face, lazy_module, offer
from flydsl.base.own_code import VERSION

if TYPE_CHECKING:
    from flydsl._mlir import dialect_modules as _raw
    from flydsl.expr.utils import arith as _typed_arithmetic
else:
    _typed_arithmetic = lazy_module("flydsl.expr.utils.arith")
    _raw = lazy_module("flydsl._mlir.dialect_modules")

__version__ = VERSION
assert knobs.NO_COLOR, "errors ask the table of variables about colours, so it is there from the start"
offer("the raw layer", lambda name: _raw.language_name(name))
offer("arithmetic by type", lambda name: getattr(_typed_arithmetic, name, None))
_later = lazy_face(__name__, {"autotune": "flydsl.autotune"})


def __getattr__(name: str) -> Any:
    """`flydsl.autotune` (a module that is the decorator too) and `flydsl.Config`, loaded when first asked for."""
    return _later("autotune").Config if name == "Config" else _later(name)


def __dir__() -> list[str]:
    return sorted({*globals(), "autotune", "Config"})


__all__ = ["__version__"]
