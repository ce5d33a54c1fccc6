"""`flydsl.ops.rope`."""

from __future__ import annotations

from math import prod
from typing import Any

from flydsl.kernels.attention.rope_cache import build_rope_module
from flydsl.ops import arrays
from flydsl.ops.op import Arguments, Op, all_there, fall_back, numpy_only, one_place, why_not_rows


def _launch(arguments: Arguments, results: Arguments, inverse: bool = False) -> None:
    x, cos, sin, interleaved = arguments
    heads, width = x.shape[-2:]
    places = (prod(x.shape[:-2]), heads * width)
    matrix, out = arrays.rows(x.reshape(places)), results[0].reshape(places)
    if 0 not in places:
        run = build_rope_module(heads, width, arrays.NAMES[x.dtype], interleaved, inverse)
        arrays.launch(run, x, matrix, arrays.rows(cos), arrays.rows(sin), out, len(matrix), len(cos))


BACKWARD = Op(
    "rope_backward", "Tensor dy, Tensor cos, Tensor sin, bool interleaved",
    lambda dy, cos, sin, interleaved: (arrays.empty_like(dy),), lambda a, results: _launch(a, results, True), tensors=3,
)  # fmt: skip
ROPE = Op(
    "rope", "Tensor x, Tensor cos, Tensor sin, bool interleaved", lambda x, *_: (arrays.empty_like(x),), _launch,
    tensors=3, gradient=BACKWARD, saved=lambda a, _: (a[1:3], (a[3],)), spread=(0,),
)  # fmt: skip


def why_not(input: Any, cos: Any, sin: Any) -> str | None:
    """Return why a call is left to torch, or None."""
    reason = why_not_rows(input, cos, sin)
    learned = reason is None and arrays.wants_gradient(cos, sin)
    return "gradients are those of the input alone" if learned else reason


@ROPE.answers("input", "cos", "sin", "interleaved")
def rope(input: Any, cos: Any, sin: Any, interleaved: bool = False) -> Any:
    """Rotate pairs of elements of (..., sequence, heads, D) by angles whose cosines and sines are (sequence, D / 2).

    Pairs are d and d + D / 2, or neighbours with ``interleaved``. f32, f16 and bf16; computes in f32, and results and
    the gradient are exact to 4e-7 of the largest element in f32, to a rounding of the type else. Where cos or sin want
    gradients, torch computes.
    """
    if not arrays.is_followed():
        found = ROPE.lanes.again(input, cos, sin, interleaved)
        if found is not None:
            return found
    all_there(cos=cos, sin=sin)
    one_place(input, cos, sin)
    if len(input.shape) < 3 or input.shape[-1] % 2:
        raise ValueError(f"rope takes (..., sequence, heads, an even D), got {tuple(input.shape)}")
    wanted = (input.shape[-3], input.shape[-1] // 2)
    if tuple(cos.shape) != wanted or tuple(sin.shape) != wanted:
        raise ValueError(f"cos and sin are {wanted} here, got {tuple(cos.shape)} and {tuple(sin.shape)}")
    reason = why_not(input, cos, sin)
    if reason is None:
        return ROPE(input, cos, sin, bool(interleaved), key=(interleaved,))
    if arrays.is_array(input):
        numpy_only("rope", reason)
    return fall_back("rope", reason, lambda: _by_torch(input, cos[:, None], sin[:, None], interleaved))


def _by_torch(x: Any, cos: Any, sin: Any, interleaved: bool) -> Any:
    torch = arrays.met_torch()
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else x.chunk(2, -1)
    turned = a * cos - b * sin, b * cos + a * sin
    return torch.stack(turned, -1).flatten(-2) if interleaved else torch.cat(turned, -1)
