"""AMD's fast functions and conversions. The older form with the result type first is accepted too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.expr.numeric import BFloat16, Float32, Int32
from flydsl.expr.trace.intrinsic import (
    call,
    constant,
    flag,
    number_of,
    operands_of,
    raw,
    require,
    without_result_type,
    wrapped,
)
from flydsl.expr.values.known import plain
from flydsl.expr.vector import Vector

_FP8 = ("cdna3", "cdna4", "rdna4", "cdna5")


def _function(name: str, intrinsic: str, doc: str, *, doubles: bool = False) -> Callable[..., Any]:
    """Return a function of one float that the hardware computes in one instruction; vectors go element by element."""

    def run(*args: Any, **named: Any) -> Any:
        (x,) = operands_of(name, ("x",), args, named)
        number = number_of(x)
        if not number.dtype.is_float:
            number = Float32(number)
        target = require(name, "rocm")
        kinds = ["f32", "f16", *(["f64"] if doubles else []), *(["bf16"] if target.generation == "cdna5" else [])]
        if str(number.dtype.ir_type) not in kinds:
            raise DslTypeError(f"{name} of {number.dtype.ir_type} does not exist on {target}",
                               hint=f"it takes {', '.join(kinds)}; convert with .to(fx.Float32)")  # fmt: skip
        if isinstance(number, Vector):
            return Vector.from_elements([run(number[i]) for i in range(number.numel)], number.dtype)
        return wrapped(call(f"llvm.amdgcn.{intrinsic}", [number.ir_value()], str(number.dtype.ir_type)), number)

    run.__name__ = run.__qualname__ = name
    run.__doc__ = doc
    return run


exp2 = _function("exp2", "exp2", "2 to the power x, by the hardware's own instruction.")
log2 = _function("log2", "log", "The base-2 logarithm, by the hardware's own instruction.")
rcp = _function("rcp", "rcp", "1/x to one unit in the last place.", doubles=True)
rsq = _function("rsq", "rsq", "1/sqrt(x), approximate.", doubles=True)
sqrt = _function("sqrt", "sqrt", "The square root, approximate.", doubles=True)


def fmed3(a: Any, b: Any, c: Any) -> Any:
    """Return the middle one of three floats."""
    require("fmed3", "rocm")
    values = [Float32(x).ir_value() for x in (a, b, c)]
    return wrapped(call("llvm.amdgcn.fmed3", values, "f32"))


# Conversions -----------------------------------------------------------------------------------


def _packing(name: str) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        args = without_result_type(args)
        if len(args) not in (2, 4):
            raise DslTypeError(f"expected cvt_pk_{name}_f32(a, b[, old, high]), got {len(args)} arguments")
        require(f"cvt_pk_{name}_f32", "rocm", _FP8)
        a, b, old, high = (*args, 0, False)[:4] if len(args) == 2 else args
        operands = [Float32(a).ir_value(), Float32(b).ir_value(), Int32(old).ir_value(), flag(high, "the half")]
        return wrapped(call(f"llvm.amdgcn.cvt.pk.{name}.f32", operands, "i32"))

    run.__name__ = run.__qualname__ = f"cvt_pk_{name}_f32"
    run.__doc__ = f"Two f32 as two {name} in the low or high half of a register that keeps its other half."
    return run


def _unpacking(name: str) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        args = without_result_type(args)
        require(f"cvt_pk_f32_{name}", "rocm", _FP8)
        word, high = (*args, False)[:2]
        return wrapped(
            call(f"llvm.amdgcn.cvt.pk.f32.{name}", [Int32(word).ir_value(), flag(high, "the half")], "vector<2xf32>")
        )

    run.__name__ = run.__qualname__ = f"cvt_pk_f32_{name}"
    run.__doc__ = f"The two {name} of the low or high half of a register as two f32."
    return run


cvt_pk_fp8_f32, cvt_pk_bf8_f32 = _packing("fp8"), _packing("bf8")
cvt_pk_f32_fp8, cvt_pk_f32_bf8 = _unpacking("fp8"), _unpacking("bf8")


def cvt_pkrtz(a: Any, b: Any) -> Any:
    """Return two f32 as a vector of two f16, rounded toward zero."""
    require("cvt_pkrtz", "rocm")
    return wrapped(call("llvm.amdgcn.cvt.pkrtz", [Float32(x).ir_value() for x in (a, b)], "vector<2xf16>"))


def cvt_pk_bf16_f32(*args: Any) -> Any:
    """``cvt_pk_bf16_f32(a, b)``: two f32 as bf16 in the halves of an Int32, ``a`` the lower; gfx950 and gfx1250."""
    args = without_result_type(args)
    if len(args) != 2:
        raise DslTypeError(f"expected cvt_pk_bf16_f32(a, b), got {len(args)} arguments")
    require("cvt_pk_bf16_f32", "rocm", ("cdna4", "cdna5"))
    return Vector.from_elements([Float32(x) for x in args], Float32).to(BFloat16).bitcast(Int32)[0]


def cvt_sr_f32_to_bf16(x: Any, rand: Any) -> Any:
    """gfx950: an f32 as bf16, rounded up with the chance that its cut-off part gives, by the random bits ``rand``."""
    require("cvt_sr_f32_to_bf16", "rocm", ("cdna4",))
    old = Vector.filled(2, 0.0, BFloat16)
    operands = [old.ir_value(), Float32(x).ir_value(), Int32(rand).ir_value(), flag(False)]
    return wrapped(call("llvm.amdgcn.cvt.sr.bf16.f32", operands, "vector<2xbf16>"))[0]


def _byte_to_f32(name: str) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        args = without_result_type(args)
        require(f"cvt_f32_{name}", "rocm", _FP8)
        word, byte = (*args, 0)[:2]
        code = constant("i32", byte, "the byte", 0, 3)
        return wrapped(call(f"llvm.amdgcn.cvt.f32.{name}", [Int32(word).ir_value(), code], "f32"))

    run.__name__ = run.__qualname__ = f"cvt_f32_{name}"
    run.__doc__ = f"One of the four {name} of a register as f32: ``cvt_f32_{name}(word, byte=0)``."
    return run


cvt_f32_fp8, cvt_f32_bf8 = _byte_to_f32("fp8"), _byte_to_f32("bf8")


def cvt_off_f32_i4(src: Any, byte_sel: int = 0) -> Any:
    """Return the signed low four bits of a byte over 16, from -0.5 to 0.4375."""
    require("cvt_off_f32_i4", "rocm")
    constant("i32", byte_sel, "the byte", 0, 3)
    byte = plain(byte_sel)
    word = Int32(src) >> (8 * byte) if byte else Int32(src)
    return wrapped(call("llvm.amdgcn.cvt.off.f32.i4", [raw(word)], "f32"))


__all__ = [
    "cvt_f32_bf8", "cvt_f32_fp8", "cvt_off_f32_i4", "cvt_pk_bf16_f32", "cvt_pk_bf8_f32", "cvt_pk_f32_bf8",
    "cvt_pk_f32_fp8", "cvt_pk_fp8_f32", "cvt_pkrtz", "exp2", "fmed3", "log2", "rcp", "rsq", "sqrt",
]  # fmt: skip
