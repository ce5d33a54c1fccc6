"""What kernels ask before they are built, and habits of raw control flow: FlyDSL's `kernels_common`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl._mlir.dialects import scf
from flydsl.expr.rocdl.cdna4 import cvt_sr_f32_to_bf16
from flydsl.runtime.device import get_warp_size
from flydsl.target.target import parse_target

DTYPES: dict[str, Any] = {
    **dict.fromkeys(("f32", "fp32", "float32"), fx.Float32),
    **dict.fromkeys(("f16", "fp16", "float16"), fx.Float16),
    **dict.fromkeys(("bf16", "bfloat16"), fx.BFloat16),
    **dict.fromkeys(("i8", "int8"), fx.Int8),
    **dict.fromkeys(("i32", "int32"), fx.Int32),
}
MOE_PAIRS = {
    "fp16": ("fp16",), "bf16": ("bf16", "int4"), "fp8": ("fp8", "fp4"), "fp4": ("fp4",), "int8": ("int8", "int4"),
    "int8smooth": ("int8", "int8smooth"),
}  # fmt: skip
"""Activations of the mixture of experts, and the weights that go with each."""


def dtype_to_elem_type(name: str) -> Any:
    """Return the IR type of a number format by its usual names; ``fp8`` is the target's."""
    if name in ("f8", "fp8"):
        return default_f8_type().ir_type
    if name not in DTYPES:
        raise ValueError(f"no element type is called {name!r}; there are fp8, {', '.join(DTYPES)}")
    return DTYPES[name].ir_type


def default_f8_type(arch: str | None = None) -> Any:
    """Return the 8-bit float of a target: FNUZ on gfx942, OCP's E4M3 on those after it."""
    target = parse_target(flyc.get_backend().target.arch if arch is None else arch)
    return fx.Float8E4M3FNUZ if target.fnuz else fx.Float8E4M3FN


def validate_moe_dtypes(a_dtype: str, b_dtype: str) -> None:
    """Refuse activations and weights that no kernel of the mixture of experts multiplies."""
    if a_dtype not in MOE_PAIRS:
        raise ValueError(f"a_dtype must be one of {', '.join(MOE_PAIRS)}, got {a_dtype!r}")
    if b_dtype not in MOE_PAIRS[a_dtype]:
        raise ValueError(f"b_dtype beside {a_dtype} must be one of {', '.join(MOE_PAIRS[a_dtype])}, got {b_dtype!r}")


@contextmanager
def _if_then(branch: scf.IfOp) -> Iterator[None]:
    """Build the ``then`` part of a raw `scf.IfOp` that gives nothing; its end is written for you."""
    with ir.InsertionPoint(branch.then_block):
        yield
        scf.YieldOp([])


def stream_ptr_to_async_token(stream: Any) -> fx.Stream:
    """Return a stream handle as what ``launch(stream=...)`` takes."""
    return stream if isinstance(stream, fx.Stream) else fx.Stream(stream)


__all__ = [
    "_if_then", "cvt_sr_f32_to_bf16", "default_f8_type", "dtype_to_elem_type", "get_warp_size",
    "stream_ptr_to_async_token", "validate_moe_dtypes",
]  # fmt: skip
