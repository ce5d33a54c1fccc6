"""Calls of attention of 8-bit tensors in which every two choices of its features meet, and what is right for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tests.support.attention_cases import BANDS, poisoned
from tests.support.attention_reference import attend
from tests.support.pairwise import Case

SCALES = ("none", "tensor", "head", "block")
FEATURES: dict[str, tuple[Any, ...]] = {
    "head": ((64, 64), (96, 96), (128, 128), (192, 128), (256, 256)),
    "band": ("all", "causal", "window", "causal window"),
    "heads": ((2, 2), (4, 2), (3, 1)),
    "q_scale": SCALES,
    "k_scale": SCALES,
    "v_scale": SCALES,
    "fast": (False, True),
    "logarithms": (False, True),
    "scale": (None, 0.1, -0.1),
    "more": ("keys", "queries"),
}
"""Name -> its choices, as in `attention_cases`."""
BLOCK = 128
"""Tokens that share a scale, where heads have several."""


def wide(tensor: Any, scale: Any) -> Any:
    """What a tensor and its scale mean."""
    scale = np.asarray(1.0 if scale is None else scale, np.float64)
    if scale.ndim == 3:
        scale = np.repeat(scale, BLOCK, -1)[..., : tensor.shape[2]]
    return tensor.astype(np.float64) * scale.reshape(*scale.shape, *[1] * (4 - scale.ndim))


ERROR, GPU_ERROR = 2**-10, 2**-6
"""Of a power and its value in f16; and on a GPU, whose tensor cores keep 14 bits of sums of products of 8 bits, so that
scores of some tens are off by up to a hundredth."""


def check_fp8(
    out: Any, lse: Any, tensors: Any, scales: Any, fast: bool, what: object, error: float = ERROR, **asked: Any
) -> None:
    """Powers, and values with scales, are rounded to f16, or powers to 8 bits on a line; tiny ones are lost; results
    are bf16."""
    q, k, v = (wide(x, scale) for x, scale in zip(tensors, scales, strict=True))
    expected, weights = attend(q, k, v, **asked), attend(q, k, np.abs(v), **asked).out
    off = np.abs(out.astype(np.float64) - expected.out)
    unit, lost = (0.18, 2**-15) if fast else (error, 2**-24)
    bound = unit * weights + 2**-8 * np.abs(expected.out) + lost * k.shape[2] * np.abs(v).max()
    assert (off <= bound).all(), (what, float(np.nanmax(off / bound)), int(np.isnan(off).sum()))
    if lse is not None:
        seen = np.isfinite(expected.lse)
        most = error - ERROR + 1e-4 * np.maximum(1, np.abs(expected.lse[seen]))
        near = np.abs(lse[seen] - expected.lse[seen]) < most
        assert (np.isneginf(lse) == ~seen).all() and near.all(), what


def scale_of(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    """Return scales of tokens (batch, heads, tokens, d), which differ by up to five."""
    batch, heads, tokens, _ = shape
    drawn: tuple[int, ...] = {"tensor": (1,), "head": (batch, heads)}.get(kind, (batch, heads, -(-tokens // BLOCK)))
    return None if kind == "none" else np.exp(rng.uniform(-0.8, 0.8, drawn)).astype(np.float32)


def run_fp8_case(
    case: Case, rng: np.random.Generator, tokens: tuple[int, int], function: Callable[..., Any],
    there: Callable[[Any], Any] = lambda x: x, back: Callable[[Any], Any] = lambda x: x, error: float = ERROR,
    **how: Any,
) -> None:  # fmt: skip
    """Run a case with so many tokens, at least and at most, and check it; results are poisoned before."""
    (h, kv), (d, dv) = case["heads"], case["head"]
    few, many = sorted(int(n) for n in rng.integers(*tokens, 2))
    queries, keys = (few, many) if case["more"] == "keys" else (many + BANDS["window"][1], few)
    shapes = (2, h, queries, d), (2, kv, keys, d), (2, kv, keys, dv)
    tensors = [rng.standard_normal(shape).astype(ml_dtypes.float8_e4m3fn) for shape in shapes]
    kinds = [case[f"{name}_scale"] for name in "qkv"]
    scales = [scale_of(kind, shape, rng) for kind, shape in zip(kinds, shapes, strict=True)]
    asked = {"is_causal": "causal" in case["band"], "window": BANDS[case["band"]], "scale": case["scale"]}
    given = {f"{name}_scale": there(scale) for name, scale in zip("qkv", scales, strict=True) if scale is not None}
    out = poisoned(there, np.empty((2, h, queries, dv), ml_dtypes.bfloat16))
    found = function(
        *map(there, tensors), out=out, use_fast_accum=case["fast"], return_lse=case["logarithms"], **given, **asked,
        **how,
    )  # fmt: skip
    lse = back(found[1]) if case["logarithms"] else None
    check_fp8(back(out), lse, tensors, scales, case["fast"], case, error, **asked)
