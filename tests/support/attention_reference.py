"""Attention in float64, written independently of the kernels', and the error that a kernel in 16 bits may make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Expected:
    """Results, logarithms of sums, and how far a kernel's results may be from them."""

    out: Array
    lse: Array
    bound: Array


def attend(
    q: Array, k: Array, v: Array, *, scale: float | None = None, is_causal: bool = False,
    window: tuple[int | None, int | None] = (None, None), attn_mask: Array | None = None, softcap: float = 0.0,
    alibi_slopes: Array | None = None, sinks: Array | None = None,
) -> Expected:  # fmt: skip
    """Of (batch, heads, tokens, d), with the arguments of `flydsl.kernels.attention.attention.attention`."""
    unit = 2**-8 if q.dtype.name == "bfloat16" else 2**-11
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    k, v = (np.repeat(x, q.shape[1] // k.shape[1], axis=1) for x in (k, v))
    scores = q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    queries, keys = scores.shape[-2:]
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    i, j = np.arange(queries)[:, None] + keys - queries, np.arange(keys)[None]
    if alibi_slopes is not None:
        scores = scores - np.broadcast_to(alibi_slopes, scores.shape[:2])[..., None, None] * np.abs(i - j)
    if attn_mask is not None:
        scores = scores + attn_mask.astype(np.float64)
    left, right = window[0], 0 if is_causal else window[1]
    seen = np.ones((queries, keys), bool)
    seen &= True if left is None else j >= i - left
    seen &= True if right is None else j <= i + right
    scores = np.where(seen, scores, -np.inf)
    if sinks is not None:
        column = np.broadcast_to(sinks[None, :, None, None].astype(np.float64), (*scores.shape[:-1], 1))
        scores, v = (
            np.concatenate([scores, column], -1),
            np.concatenate([v, np.zeros((*v.shape[:2], 1, v.shape[3]))], 2),
        )
    top = scores.max(-1, keepdims=True, initial=-np.inf)
    powers = np.exp(scores - np.where(np.isinf(top), 0, top))
    total = powers.sum(-1, keepdims=True)
    weights = powers / np.where(total > 0, total, 1)
    with np.errstate(divide="ignore"):
        lse = (np.where(np.isinf(top), 0, top) + np.log(total))[..., 0]
    out = weights @ v
    # A result is rounded once, and each power before it is multiplied; exponents are good to a few units of f32.
    return Expected(out, lse, unit * (np.abs(out) + weights @ np.abs(v)) + 1e-5 * (weights @ np.abs(v)) + 1e-6)


def check(found: Array, lse: Array | None, expected: Expected, what: object = "") -> None:
    """Every element within its bound, NaN nowhere."""
    error = np.abs(found.astype(np.float64) - expected.out)
    assert (error <= expected.bound).all(), (what, float(np.nanmax(error / expected.bound)), int(np.isnan(error).sum()))
    if lse is not None:
        empty = np.isneginf(expected.lse)
        wanted = np.where(empty, 0, expected.lse)
        near = np.abs(np.where(empty, 0, lse) - wanted) <= 1e-5 * np.abs(wanted) + 1e-5
        same = np.where(empty, np.isneginf(lse), near)
        assert same.all(), (what, lse, expected.lse)
