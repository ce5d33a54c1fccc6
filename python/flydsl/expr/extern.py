"""Functions of device libraries, declared by their symbol: ``ffi("name", ["float32"], "float32")``.

A declaration says what a call takes and gives. `flydsl.compiler.extern_link.link_extern` says in which file of LLVM
bitcode the function is; its code is linked to the kernel's on every device, so a library for AMD's GPUs runs on the
virtual GPU too, as far as it is made of plain arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flydsl.base import device_libraries
from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError
from flydsl.expr.numeric import Float32, Float64, Int32, Int64, Uint32, Uint64, operand
from flydsl.expr.trace.context import current, is_tracing

TYPES: dict[str, Any] = {
    "int32": Int32, "uint32": Uint32, "int64": Int64, "uint64": Uint64, "float32": Float32, "float64": Float64,
    "void": None,
}  # fmt: skip
LLVM = {"i32": "i32", "i64": "i64", "f32": "float", "f64": "double"}


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

    def __call__(self, *args: Any) -> Any:
        if not is_tracing():
            raise DslRuntimeError(
                f"the device function '{self.symbol}' was called outside a kernel",
                hint="call it in a @flyc.kernel function",
            )
        if len(args) != len(self.arg_types):
            raise DslTypeError(f"'{self.symbol}' takes {len(self.arg_types)} arguments, got {len(args)}")
        bitcode = device_libraries.bitcode_of(self)
        if bitcode is None:
            raise DslRuntimeError(
                f"nobody said which library has '{self.symbol}'",
                hint="name its file: link_extern(function, bitcode_path=...) of flydsl.compiler.extern_link",
            )
        values = [self._value(kind, value) for kind, value in zip(self.arg_types, args, strict=True)]
        kind = TYPES[self.ret_type]
        stamp = device_libraries.stamp_of(bitcode)
        device_libraries.note_call(device_libraries.DeviceFunction(self.symbol, self.declaration(), bitcode, stamp))
        found = current().intrinsic(
            f"{device_libraries.PREFIX}{self.symbol}", values, None if kind is None else str(kind.ir_type)
        )
        return None if kind is None else kind.__construct_from_ir_values__([found])

    def _value(self, name: str, value: Any) -> Any:
        number = operand(value)
        if number is None:
            raise DslTypeError(f"'{self.symbol}' takes numbers, got {type(value).__name__}")
        return number.to(TYPES[name]).ir_value()

    def declaration(self) -> str:
        """Return the function as LLVM text declares it."""
        result, *taken = ("void" if TYPES[n] is None else LLVM[str(TYPES[n].ir_type)]
                          for n in (self.ret_type, *self.arg_types))  # fmt: skip
        pure = " memory(none) willreturn nounwind" if self.is_pure else ""
        return f"declare {result} @{self.symbol}({', '.join(taken)}){pure}"


def ffi(symbol: str, arg_types: Sequence[str], ret_type: str = "void", *, is_pure: bool = False, **linking: Any) -> Any:
    """Declare a device function by the names of its types: int32, uint32, int64, uint64, float32, float64, void."""
    if linking:
        raise DslTypeError(
            f"ffi() takes no {', '.join(linking)}", hint="it belongs to flydsl.compiler.extern_link.link_extern"
        )
    return ExternFunction(symbol, tuple(arg_types), ret_type, is_pure)


__all__ = ["ExternFunction", "ffi"]
