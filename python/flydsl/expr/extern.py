"""Functions of device libraries, declared by their symbol: ``ffi("name", ["float32"], "float32")``.

A declaration says what a call takes and gives. Calls need the library's code beside the kernel's, which this compiler
does not link yet; so a call in a kernel is refused, with its line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError
from flydsl.expr.numeric import Float32, Float64, Int32, Int64, Uint32, Uint64
from flydsl.expr.trace.context import is_tracing

TYPES: dict[str, Any] = {
    "int32": Int32, "uint32": Uint32, "int64": Int64, "uint64": Uint64, "float32": Float32, "float64": Float64,
    "void": None,
}  # fmt: skip


@dataclass(frozen=True)
class ExternFunction:
    """A function of a device library."""

    symbol: str
    arg_types: tuple[str, ...]
    ret_type: str
    is_pure: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "arg_types", tuple(self.arg_types))
        for name in (*self.arg_types, self.ret_type):
            if name not in TYPES or (name == "void" and name in self.arg_types):
                raise DslValueError(f"{self.symbol}: {name!r} is no type here", hint=f"use one of {', '.join(TYPES)}")

    def __call__(self, *args: Any) -> NoReturn:
        if not is_tracing():
            raise DslRuntimeError(
                f"the device function '{self.symbol}' was called outside a kernel",
                hint="call it in a @flyc.kernel function",
            )
        if len(args) != len(self.arg_types):
            raise DslTypeError(f"'{self.symbol}' takes {len(self.arg_types)} arguments, got {len(args)}")
        raise DslRuntimeError(
            f"'{self.symbol}' is code of a device library, which is not linked to kernels here",
            hint="write the function in the language; fx.math and fx.rocdl have most of what such libraries do",
        )


def ffi(symbol: str, arg_types: Sequence[str], ret_type: str = "void", *, is_pure: bool = False, **linking: Any) -> Any:
    """Declare a device function by the names of its types: int32, uint32, int64, uint64, float32, float64, void."""
    if linking:
        raise DslTypeError(
            f"ffi() takes no {', '.join(linking)}", hint="it belongs to flydsl.compiler.extern_link.link_extern"
        )
    return ExternFunction(symbol, tuple(arg_types), ret_type, is_pure)


__all__ = ["ExternFunction", "ffi"]
