"""`flydsl.ops.softmax`."""

from __future__ import annotations

from typing import Any

from flydsl.kernels.norm.softmax import build_softmax_module
from flydsl.kernels.norm.softmax_backward import build_softmax_bwd_module
from flydsl.ops import arrays
from flydsl.ops.op import Arguments, Op, fall_back, last_dimension, numpy_only, why_not_rows


def _launch(arguments: Arguments, results: Arguments) -> None:
    x, y = arrays.rows(arguments[0]), arrays.rows(results[0])
    m, n = x.shape
    if m and n:
        arrays.launch(build_softmax_module(0, n, arrays.NAMES[x.dtype]), x, x, y, m)


def _launch_backward(arguments: Arguments, results: Arguments) -> None:
    dy, y, dx = (arrays.rows(value) for value in (*arguments, results[0]))
    m, n = dy.shape
    if m and n:
        arrays.launch(build_softmax_bwd_module(n, arrays.NAMES[dy.dtype]), dy, dy, y, dx, m)


BACKWARD = Op(
    "softmax_backward", "Tensor dy, Tensor y", lambda dy, y: (arrays.empty_like(y),), _launch_backward, tensors=2
)
SOFTMAX = Op(
    "softmax", "Tensor x", lambda x: (arrays.empty_like(x),), _launch,
    gradient=BACKWARD, saved=lambda _, results: (results, ()), in_place=True,
)  # fmt: skip


def why_not(input: Any, dim: int) -> str | None:
    """Return why a call is left to torch, or None."""
    reason = why_not_rows(input)
    if reason is None and not last_dimension(dim, len(input.shape)):
        reason = f"dimension {dim} is not the last"
    return reason


@SOFTMAX.answers("input", "dim", absent=("dtype", "out"))
def softmax(input: Any, dim: int = -1, dtype: Any = None, *, out: Any = None) -> Any:
    """exp(x - max) / sum(exp(x - max)) along the last dimension, as `torch.softmax`.

    Takes f32, f16 and bf16 of any shape; computes in f32. Results are within 2e-6 of the largest element of a row in
    f32, and within a rounding of the type (1e-3 in f16, 8e-3 in bf16) else. The gradient is within as much of a row's
    largest result times the largest gradient that comes in: where one element has nearly all of a row, these cancel,
    and few digits of what is left are right, as with torch. A row of nothing but -inf is NaN.
    """
    if dtype is not None:
        input = input.astype(dtype) if arrays.is_array(input) else input.to(dtype)
    if out is None and not arrays.is_followed() and (found := SOFTMAX.lanes.again(input, dim)) is not None:
        return found
    reason = why_not(input, dim)
    if reason is None:
        return SOFTMAX(input, out=out, key=(dim,))
    if arrays.is_array(input):
        numpy_only("softmax", reason)
    return fall_back("softmax", reason, lambda: arrays.met_torch().softmax(input, dim, out=out))
