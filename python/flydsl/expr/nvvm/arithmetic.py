"""NVIDIA's fast functions, and reductions over a warp in one instruction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.numeric import Float32, Int16, Int32, Uint32, as_numeric
from flydsl.expr.trace.context import current
from flydsl.expr.trace.intrinsic import call, require, wrapped
from flydsl.expr.vector import Vector
from flydsl.target import ptx


def _function(name: str, intrinsic: str, doc: str) -> Callable[[Any], Float32]:
    def run(x: Any) -> Float32:
        require(name, "cuda")
        return Float32(call(intrinsic, [Float32(x).ir_value()], "f32"))

    run.__name__ = run.__qualname__ = name
    run.__doc__ = doc
    return run


ex2 = _function("ex2", "llvm.nvvm.ex2.approx.ftz.f", "2 to the power x, approximate; subnormals are zero.")
lg2 = _function("lg2", "llvm.nvvm.lg2.approx.ftz.f", "The base-2 logarithm, approximate.")
rcp = _function("rcp", "llvm.nvvm.rcp.approx.ftz.f", "1/x, approximate.")
rsqrt = _function("rsqrt", "llvm.nvvm.rsqrt.approx.ftz.f", "1/sqrt(x), approximate.")


def tanh(x: Any) -> Float32:
    """Return the hyperbolic tangent in one instruction, to about 2^-11."""
    require("tanh", "cuda")
    return Float32(current().ptx("tanh.approx.f32", [Float32(x).ir_value()]))


def cvt_e4m3x2(low: Any, high: Any = None) -> Int16:
    """Return two f32, or a vector of two f16, as `Float8E4M3FN` in one instruction, ``low`` in the lower byte; what is
    beyond 448 becomes 448."""
    require("cvt_e4m3x2", "cuda", ("hopper",))
    if high is None:
        return Int16(call("llvm.nvvm.f16x2.to.e4m3x2.rn", [low.ir_value()], "i16"))
    return Int16(call("llvm.nvvm.ff.to.e4m3x2.rn", [Float32(high).ir_value(), Float32(low).ir_value()], "i16"))


_EIGHT_BITS = {"f8E4M3FN": "e4m3x2", "f8E5M2": "e5m2x2"}


def cvt_f16x2(codes: Any, dtype: Any) -> Vector:
    """Return two numbers of 8 bits, an `Int16` with the codes of a ``dtype``, as f16 in one instruction."""
    require("cvt_f16x2", "cuda", ("hopper",))
    name = _EIGHT_BITS.get(str(dtype.ir_type))
    if name is None:
        raise DslTypeError(
            f"cvt_f16x2 takes Float8E4M3FN or Float8E5M2, got {dtype.__name__}", hint="use .to(fx.Float16)"
        )
    return wrapped(call(f"llvm.nvvm.{name}.to.f16x2.rn", [Int16(codes).ir_value()], "vector<2xf16>"))


ReduxOp = Literal["add", "min", "max", "and", "or", "xor"]


def redux(value: Any, op: ReduxOp = "add") -> Any:
    """Combine 32-bit integers over the whole warp; every lane gets the result."""
    require("redux", "cuda")
    number = value if hasattr(value, "dtype") else as_numeric(value)
    if not number.dtype.is_integer or number.dtype.width != 32:
        raise DslTypeError(f"redux takes a 32-bit integer, got {number.dtype.__name__}", hint="use fx.coop.warp_reduce")
    if op not in get_args(ReduxOp):
        raise DslValueError(f"unknown operation '{op}'", hint=f"use {', '.join(get_args(ReduxOp))}")
    name = f"u{op}" if op in ("min", "max") and not number.dtype.signed else op
    kind = Int32 if number.dtype.signed else Uint32
    everyone = current().constant("i32", -1)
    return kind(call(f"llvm.nvvm.redux.sync.{name}", [number.ir_value(), everyone], "i32"))


# What a kernel written for every target asks before it uses something of NVIDIA's -------------

_BACKEND = "cuda"


def is_target() -> bool:
    """Return whether the code being traced is for an NVIDIA GPU."""
    return current().target.backend == _BACKEND


def has_dependent_launches() -> bool:
    """Return whether a launch may have ``pdl=True``, and its kernel wait by `griddepcontrol_wait`."""
    return is_target() and current().target.generation in ptx.PTX_OPS["griddepcontrol.wait"].generations


def max_cluster_size() -> int:
    """Return how many blocks a cluster may have that ``fx.nvvm`` can use; 1 where there are none."""
    return current().target.max_cluster_blocks if is_target() else 1


__all__ = [
    "cvt_e4m3x2", "cvt_f16x2", "ex2", "has_dependent_launches", "is_target", "lg2", "max_cluster_size", "rcp", "redux",
    "rsqrt", "tanh",
]  # fmt: skip
