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


@dataclass(frozen=True)
class _Softmax:
    """What both directions need, in float64, keys and values repeated for every query head and with the sink's."""

    weights: Array
    lse: Array
    slopes: Array
    """Of scores with respect to q k^T."""
    q: Array
    k: Array
    v: Array


def _softmax(
    q: Array, k: Array, v: Array, *, scale: float | None = None, is_causal: bool = False,
    window: tuple[int | None, int | None] = (None, None), attn_mask: Array | None = None, softcap: float = 0.0,
    alibi_slopes: Array | None = None, sinks: Array | None = None,
) -> _Softmax:  # fmt: skip
    """Of (batch, heads, tokens, d), with the arguments of `flydsl.kernels.attention.attention.attention`."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    k, v = (np.repeat(x, q.shape[1] // k.shape[1], axis=1) for x in (k, v))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    scores = q @ k.swapaxes(-1, -2) * scale
    slopes = np.full_like(scores, scale)
    queries, keys = scores.shape[-2:]
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
        slopes = scale * (1 - (scores / softcap) ** 2)
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
        scores, slopes = np.concatenate([scores, column], -1), np.concatenate([slopes, 0 * column], -1)
        k, v = (np.concatenate([x, np.zeros((*x.shape[:2], 1, x.shape[3]))], 2) for x in (k, v))
    top = scores.max(-1, keepdims=True, initial=-np.inf)
    powers = np.exp(scores - np.where(np.isinf(top), 0, top))
    total = powers.sum(-1, keepdims=True)
    weights = powers / np.where(total > 0, total, 1)
    with np.errstate(divide="ignore"):
        lse = (np.where(np.isinf(top), 0, top) + np.log(total))[..., 0]
    return _Softmax(weights, lse, slopes, q, k, v)


def _unit(q: Array) -> float:
    """The relative error of one rounding; of float64, what finite differences leave."""
    return {"bfloat16": 2**-8, "float16": 2**-11}.get(q.dtype.name, 0.0)


def attend(q: Array, k: Array, v: Array, *, rounded: bool = False, **features: Any) -> Expected:
    """The results of `_softmax`'s arguments. Keys and values may be ``rounded`` once more than queries are."""
    found, unit = _softmax(q, k, v, **features), _unit(q)
    weights, lse, v = found.weights, found.lse, found.v
    out, spread = weights @ v, weights @ np.abs(v)
    # A result is rounded once, and each power before it is multiplied; exponents are good to a few units of f32.
    bound = unit * (np.abs(out) + spread) + 1e-5 * spread + 1e-6
    if rounded:
        off = weights * unit * np.abs(found.slopes) * (np.abs(found.q) @ np.abs(found.k).swapaxes(-1, -2))
        bound += unit * spread + off @ np.abs(v) + off.sum(-1, keepdims=True) * spread
    return Expected(out, lse, bound)


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


def gradients(dout: Array, q: Array, k: Array, v: Array, **features: Any) -> list[tuple[Array, Array]]:
    """Of q, k and v: each with how far a kernel's may be from it.

    Powers and their gradients are rounded once before they are multiplied, results once: the bound is what one rounding
    of every term makes, and f32's own errors, most of which come from the difference with delta.
    """
    found, unit, shared = _softmax(q, k, v, **features), _unit(q), q.shape[1] // k.shape[1]
    weights, dout = found.weights, dout.astype(np.float64)
    powers, apart = dout @ found.v.swapaxes(-1, -2), np.abs(dout) @ np.abs(found.v).swapaxes(-1, -2)
    delta = (weights * powers).sum(-1, keepdims=True)
    scores = weights * (powers - delta) * found.slopes
    # The delta is made of results that were rounded; the rest is f32.
    rough = weights * (unit * (weights * apart).sum(-1, keepdims=True) + 2e-5 * apart) * np.abs(found.slopes)
    rough = rough + unit * np.abs(scores)

    def over_heads(x: Array) -> Array:
        return x.reshape(*k.shape[:2], shared, *x.shape[2:]).sum(2)[:, :, : k.shape[2]]

    turned, loose = (x.swapaxes(-1, -2) for x in (scores, rough))
    pairs = [
        (scores @ found.k, rough @ np.abs(found.k)),
        (over_heads(turned @ found.q), over_heads(loose @ np.abs(found.q))),
        (
            over_heads(weights.swapaxes(-1, -2) @ dout),
            (unit + 2e-5) * over_heads(weights.swapaxes(-1, -2) @ np.abs(dout)),
        ),
    ]
    return [(x, bound + unit * np.abs(x) + 1e-6) for x, bound in pairs]


def check_gradients(given: Any, expected: list[tuple[Array, Array]], what: Any = "") -> None:
    """Gradients of q, k and v within their bounds."""
    for name, found, (wanted, bound) in zip("qkv", given, expected, strict=True):
        off = np.abs(found.astype(np.float64) - wanted)
        assert found.shape == wanted.shape and (off <= bound).all(), (name, np.max(off - bound), what)
