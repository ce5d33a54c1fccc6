"""Top-k gating: the k largest of a token's softmax over experts, for routing.

fn = build_topk_gating_softmax_module(num_experts=128, topk=6)
fn(logits, weights, indices, token_expert, T, stream)

fn = build_topk_gating_gradient_module(num_experts=128, topk=6)
fn(logits, indices, dweights, dlogits, T, stream)
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.activation import powers_of_e
from flydsl.kernels.blocks.exchange import begin_behind_older_launches
from flydsl.kernels.blocks.inputs import empty_beside, in_rows, on_given_stream, require_extents, type_name
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.reduce import add, maximum, wave_reduce
from flydsl.kernels.blocks.row_plan import DTYPES

THREADS = 256
NAMES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
"""Types of logits, and what gating calls them."""
SMALLEST = 1e-20
TAKEN = 0xBF800000 - (1 << 32)
"""The bits of -1.0, as an integer."""
MOST_EACH = 16
"""Experts of a token that a thread has."""


def expert_named(named: Any, experts: int) -> Any:
    """Return the expert that an id of any width names, or -1 where there is none of that name."""
    return ((named >= 0) & (named < experts)).select(fx.Int32(named), fx.Int32(-1))


def lanes_of(experts: int, wave: int) -> int:
    """Return the threads of a token: the fewest, a power of two, that have no more than `MOST_EACH` experts each."""
    lanes = 1
    while lanes * MOST_EACH < experts:
        lanes *= 2
    if lanes > wave:
        raise ValueError(f"{experts} experts are more than {MOST_EACH} for each of {wave} lanes")
    return lanes


def _minimum(a: Any, b: Any) -> Any:
    return fx.min(a, b)


def softmax_of(logits: Any, token: Any, lane: Any, lanes: int) -> tuple[list[Any], list[Any]]:
    """Return the experts of a lane, and their share of a token's softmax. ``logits`` are an array and its experts.

    Where lanes do not divide those, the last of a lane may lie behind all of them: its share is 0.
    """
    array, count = logits
    experts = [lane + first for first in range(0, count, lanes)]
    read = [*experts[: count // lanes], *(fx.min(e, fx.Int32(count - 1)) for e in experts[count // lanes :])]
    scores = [array[token, expert].to(fx.Float32) for expert in read]
    top = wave_reduce(reduce(maximum, scores), maximum, lanes)
    powers = [powers_of_e(score, top) for score in scores]
    if count % lanes:
        powers[-1] = (experts[-1] < count).select(powers[-1], fx.Float32(0.0))
    total = wave_reduce(reduce(add, powers), add, lanes)
    return experts, [power / total for power in powers]


def largest_chances(logits: Any, token: Any, lane: Any, lanes: int, topk: int, renormalize: bool) -> list[Any]:
    """Return (weight, expert) of the ``topk`` largest of a token's softmax, by the lanes that share its experts.

    A softmax of NaN has experts too, each once, so that the token's result is NaN. Chances are compared as integers,
    whose order is theirs from zero on: NaN of either sign is above the number of an expert that was taken, -1.0.
    """
    num_experts = logits[1]
    experts, shares = softmax_of(logits, token, lane, lanes)
    chances, picked = [share.bitcast(fx.Int32) for share in shares], []
    if num_experts % lanes:
        chances[-1] = (experts[-1] < num_experts).select(chances[-1], fx.Int32(TAKEN))
    for _ in range(topk):
        largest = wave_reduce(reduce(maximum, chances), maximum, lanes)
        none = fx.Int32(num_experts)
        found = [(c < largest).select(none, e) for c, e in zip(chances, experts, strict=True)]
        first = wave_reduce(reduce(_minimum, found), _minimum, lanes)
        picked.append((largest.bitcast(fx.Float32), first))
        chances = [(e == first).select(fx.Int32(TAKEN), c) for c, e in zip(chances, experts, strict=True)]
    if not renormalize:
        return picked
    share = 1.0 / fx.max(reduce(add, [weight for weight, _ in picked]), fx.Float32(SMALLEST))
    return [(weight * share, expert) for weight, expert in picked]


@kept
def build_topk_gating_softmax_module(
    num_experts: int, topk: int, dtype_str: str = "bf16", renormalize: bool = True
) -> Any:
    """Return the launcher ``fn(logits[T, E], weights f32[T, k], indices i32[T, k], token_expert i32[T, k], T)``.

    Among equal experts the first is taken. With ``renormalize`` the weights of a token add up to 1. token_expert[t, j]
    is j * T + t. A token with NaN or infinity among its logits, or with nothing but minus infinity, has weights that
    are NaN, and k different experts.
    """
    check_gating(num_experts, topk, dtype_str)

    @flyc.kernel
    def topk_gating_kernel(
        logits: fx.Tensor, weights: fx.Tensor, indices: fx.Tensor, token_expert: fx.Tensor, T: fx.Int32
    ):
        begin_behind_older_launches()
        lanes = lanes_of(num_experts, fx.num_warp_threads())
        lane, group = fx.thread_idx.x % lanes, fx.thread_idx.x // lanes
        place = fx.block_idx.x * (THREADS // lanes) + group
        alive = place < T
        token = fx.min(place, T - 1)
        picked = largest_chances((logits, num_experts), token, lane, lanes, topk, renormalize)
        if alive & (lane == 0):
            for j, (weight, expert) in enumerate(picked):
                weights[token, j] = weight
                indices[token, j] = expert
                token_expert[token, j] = j * T + token

    @flyc.jit
    def topk_gating_softmax(
        logits: fx.Tensor, weights: fx.Tensor, indices: fx.Tensor, token_expert: fx.Tensor, T: fx.Int32,
        stream: fx.Stream = None,
    ):  # fmt: skip
        (logits,) = in_rows(num_experts, logits)
        weights, indices, token_expert = in_rows(topk, weights, indices, token_expert)
        require_extents((logits,), T, num_experts)
        require_extents((weights, indices, token_expert), T, topk)
        per_block = THREADS // lanes_of(num_experts, fx.num_warp_threads())
        topk_gating_kernel(logits, weights, indices, token_expert, T).launch(
            grid=(fx.ceildiv(T, per_block), 1, 1),
            block=(THREADS, 1, 1),
            stream=stream,
            pdl=fx.nvvm.has_dependent_launches(),
        )

    return topk_gating_softmax


def check_gating(num_experts: int, topk: int, dtype: str) -> None:
    if not 1 <= topk <= num_experts:
        raise ValueError(f"topk is 1 to {num_experts}, the number of experts, got {topk}")
    if dtype not in DTYPES:
        raise ValueError(f"dtype_str must be one of {', '.join(DTYPES)}, got {dtype!r}")
    lanes_of(num_experts, 64)


# The gradient --------------------------------------------------------------------------------------------------------


@flyc.jit
def turn_weights(logits: Any, ids: Any, dweights: Any, dlogits: Any, place: Any, sizes: Any) -> None:
    """One token: with shares p of a softmax, weights w of the picked and their gradients g, dlogits is w (g - sum of w
    g) where weights add up to 1, so that only those of the picked count; else p (g - sum of p g), with g = 0 elsewhere.
    """
    (token, lane, alive), (experts, lanes, topk, renormalize) = place, sizes
    mine, chances = softmax_of((logits, experts), token, lane, lanes)
    given = [fx.Float32(0) for _ in mine]
    picked = [fx.Boolean(False) for _ in mine]
    for slot in fx.range_constexpr(topk):
        expert, gradient = fx.Int32(ids[token, slot]), fx.Float32(dweights[token, slot])
        given = [(e == expert).select(gradient, g) for e, g in zip(mine, given, strict=True)]
        picked = [(e == expert) | old for e, old in zip(mine, picked, strict=True)]
    if fx.const_expr(renormalize):
        chances = [there.select(c, fx.Float32(0)) for c, there in zip(chances, picked, strict=True)]
        total = fx.max(wave_reduce(reduce(add, chances), add, lanes), fx.Float32(SMALLEST))
        chances = [c / total for c in chances]
    inner = wave_reduce(reduce(add, [c * g for c, g in zip(chances, given, strict=True)]), add, lanes)
    for j, (expert, chance, gradient) in enumerate(zip(mine, chances, given, strict=True)):
        if alive & ((expert < experts) | (j < experts // lanes)):
            dlogits[token, expert] = (chance * (gradient - inner)).to(dlogits.dtype)


@on_given_stream
def gate_all(logits: Any, topk_weights: Any, topk_ids: Any, renormalize: bool, stream: object) -> None:
    """Ids and weights of the largest of each token's softmax, by a launch of their own."""
    (tokens, topk), kind = topk_ids.shape, type_name(logits)
    if kind not in NAMES:
        raise ValueError(f"logits are {', '.join(NAMES)}, got {kind}: convert them to one of these")
    gate = build_topk_gating_softmax_module(logits.shape[1], topk, NAMES[kind], renormalize)
    if tokens:
        gate(logits, topk_weights, topk_ids, empty_beside(topk_ids, (tokens, topk)), tokens, stream)


@kept
def build_topk_gating_gradient_module(
    num_experts: int, topk: int, dtype_str: str = "bf16", renormalize: bool = True
) -> Any:
    """Return the launcher ``fn(logits[T, E], indices i32[T, k], dweights f32[T, k], dlogits[T, E], T, stream)``."""
    check_gating(num_experts, topk, dtype_str)

    @flyc.kernel
    def topk_gating_gradient_kernel(
        logits: fx.Tensor, indices: fx.Tensor, dweights: fx.Tensor, dlogits: fx.Tensor, T: fx.Int32
    ):
        lanes = lanes_of(num_experts, fx.num_warp_threads())
        lane, group = fx.thread_idx.x % lanes, fx.thread_idx.x // lanes
        token = fx.block_idx.x * (THREADS // lanes) + group
        place = (fx.min(token, T - 1), lane, token < T)
        turn_weights(logits, indices, dweights, dlogits, place, (num_experts, lanes, topk, renormalize))

    @flyc.jit
    def topk_gating_gradient(
        logits: fx.Tensor, indices: fx.Tensor, dweights: fx.Tensor, dlogits: fx.Tensor, T: fx.Int32,
        stream: fx.Stream = None,
    ):  # fmt: skip
        require_extents((logits, dlogits), T, num_experts)
        require_extents((indices, dweights), T, topk)
        per_block = THREADS // lanes_of(num_experts, fx.num_warp_threads())
        topk_gating_gradient_kernel(logits, indices, dweights, dlogits, T).launch(
            grid=(fx.ceildiv(T, per_block), 1, 1), block=(THREADS, 1, 1), stream=stream
        )

    return topk_gating_gradient
