"""A mixture of experts in NumPy and float64: what the kernels of this room are held to, step by step.

    ids, weights = route(logits, topk)                        # which experts a token goes to, and how much each counts
    order = sort_by_expert(ids, weights, experts, unit=32)    # rows of one expert side by side, padded to blocks
    inner = stage1(x, w1, ids, weights)                       # [T, topk, inter]: silu(x . gate) * (x . up)
    rows = stage2(inner, w2, ids, weights)                    # [T, topk, model]: inner . down, weighted
    y = reduce_slots(rows)                                    # [T, model]

Operands are numbers, not codes: `widened` makes them of quantised ones. Experts that are not there (an id below 0 or
from the number of experts on) give zeros, as those that another device has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

SLOT_SHIFT = 24
"""An entry of the order is a token and, above so many bits, which of the token's experts it stands for."""
TOKEN_MASK = (1 << SLOT_SHIFT) - 1
SWIGLU_LIMIT, SWIGLU_SLOPE = 7.0, 1.702


class Order(NamedTuple):
    """Rows of each expert side by side, in blocks of one expert."""

    ids: np.ndarray
    """i32: token | slot << 24; padding is the number of tokens | topk << 24."""
    weights: np.ndarray
    """f32 of each entry, 0 on padding."""
    expert_ids: np.ndarray
    """i32, the expert of each block; -1 behind the last."""
    num_valid: np.ndarray
    """i32: entries with padding, and tokens."""


def order_length(tokens: int, topk: int, experts: int, unit: int) -> int:
    """Return the most entries that an order can have."""
    return tokens * topk + experts * unit - topk


def route(logits: ArrayLike, topk: int, renormalize: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Return (ids, weights) of the ``topk`` largest of a softmax; the first among equals."""
    wide = np.asarray(logits).astype(np.float64)
    chances = np.exp(wide - wide.max(-1, keepdims=True))
    chances /= chances.sum(-1, keepdims=True)
    ids = np.argsort(-wide, axis=-1, kind="stable")[..., :topk]
    weights = np.take_along_axis(chances, ids, -1)
    if renormalize:
        weights = weights / np.maximum(weights.sum(-1, keepdims=True), 1e-20)
    return ids.astype(np.int32), weights.astype(np.float32)


def sort_by_expert(
    topk_ids: ArrayLike, topk_weights: ArrayLike, num_experts: int, unit: int = 32,
    expert_mask: ArrayLike | None = None, num_local_tokens: int | None = None,
) -> Order:  # fmt: skip
    """Return the order of (token, slot) by expert, tokens ascending; a token may list an expert more than once.

    Experts where ``expert_mask`` is 0 are left out and the others counted anew. Tokens from ``num_local_tokens`` on are
    left out too.
    """
    ids, weights = np.asarray(topk_ids), np.asarray(topk_weights)
    tokens, topk = ids.shape
    there = np.ones(num_experts, bool) if expert_mask is None else np.asarray(expert_mask) != 0
    local = np.cumsum(there) - 1
    entries = order_length(tokens, topk, num_experts, unit)
    padding = tokens | topk << SLOT_SHIFT
    order = Order(
        np.full(entries, padding, np.int32), np.zeros(entries, np.float32),
        np.full(-(-entries // unit), -1, np.int32), np.zeros(2, np.int32),
    )  # fmt: skip
    at = 0
    for expert in np.flatnonzero(there):
        token, slot = np.nonzero(ids[:num_local_tokens] == expert)
        blocks = -(-len(token) // unit)
        order.ids[at : at + len(token)] = token | slot << SLOT_SHIFT
        order.weights[at : at + len(token)] = weights[token, slot]
        order.expert_ids[at // unit : at // unit + blocks] = local[expert]
        at += blocks * unit
    order.num_valid[:] = at, tokens
    return order


# Numbers of quantised operands ---------------------------------------------------------------------------------------


def widened(codes: ArrayLike, scale: ArrayLike | None = None, rows: int = 1, columns: int | None = None) -> np.ndarray:
    """Codes times their scales in float64: a scale for each block of ``rows`` by ``columns``, or by whole rows."""
    wide = np.asarray(codes).astype(np.float64)
    if scale is None:
        return wide
    factors = np.asarray(scale).astype(np.float64)
    if columns is None:
        return wide * factors.reshape(*wide.shape[:-1], 1)
    factors = np.repeat(np.repeat(factors, rows, -2), columns, -1)
    return wide * factors[..., : wide.shape[-2], : wide.shape[-1]]


# The stages ----------------------------------------------------------------------------------------------------------


def gated(gate: np.ndarray, up: np.ndarray, act: str = "silu", limit: float = 0.0) -> np.ndarray:
    """silu(gate) * up; or with ``act="swiglu"`` both are limited, the slope is 1.702 and up counts one more."""
    if act == "swiglu":
        top = limit or SWIGLU_LIMIT
        gate, up = np.minimum(gate, top), np.clip(up, -top, top)
        return gate / (1 + np.exp(-SWIGLU_SLOPE * gate)) * (up + 1)
    return gate / (1 + np.exp(-gate)) * up


def stage1(
    x: ArrayLike,
    w1: ArrayLike,
    ids: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    act: str = "silu",
    limit: float = 0.0,
    bias: ArrayLike | None = None,
) -> np.ndarray:
    """[T, topk, inter] of x [T, model] or [T, topk, model] and w1 [E, 2 inter, model]; times ``weights`` if given."""
    products = _by_expert(np.asarray(x, np.float64), np.asarray(w1, np.float64), np.asarray(ids), bias)
    gate, up = np.split(products, 2, -1)
    found = gated(gate, up, act, limit)
    return found if weights is None else found * np.asarray(weights, np.float64)[..., None]


def stage2(
    inner: ArrayLike, w2: ArrayLike, ids: ArrayLike, weights: ArrayLike | None = None, *, bias: ArrayLike | None = None
) -> np.ndarray:
    """[T, topk, model] of inner [T, topk, inter] and w2 [E, model, inter]; times ``weights`` if given."""
    rows = _by_expert(np.asarray(inner, np.float64), np.asarray(w2, np.float64), np.asarray(ids), bias)
    return rows if weights is None else rows * np.asarray(weights, np.float64)[..., None]


def _by_expert(x: np.ndarray, w: np.ndarray, ids: np.ndarray, bias: ArrayLike) -> np.ndarray:
    out = np.zeros((*ids.shape, w.shape[1]))
    for expert in range(w.shape[0]):
        token, slot = np.nonzero(ids == expert)
        rows = x[token] if x.ndim == 2 else x[token, slot]
        out[token, slot] = rows @ w[expert].T + (0 if bias is None else np.asarray(bias, np.float64)[expert])
    return out


def reduce_slots(rows: ArrayLike, valid_mask: ArrayLike | None = None) -> np.ndarray:
    """Return the sum over the slots of a token, of those where the mask is not 0."""
    wide = np.asarray(rows).astype(np.float64)
    return (wide if valid_mask is None else np.where(np.asarray(valid_mask)[..., None] != 0, wide, 0)).sum(1)


def moe(
    x: ArrayLike,
    ids: ArrayLike,
    weights: ArrayLike,
    w1: ArrayLike,
    w2: ArrayLike,
    act: str = "silu",
    limit: float = 0.0,
) -> np.ndarray:
    """Return the whole layer, [T, model]."""
    return reduce_slots(stage2(stage1(x, w1, ids, act=act, limit=limit), w2, ids, weights))
