"""Attention of 8-bit tensors on Hopper, with scales of tensors, of heads, or of blocks of 128 rows.

    out = attention_fp8(q, k, v, q_scale=sq, k_scale=sk, v_scale=sv, is_causal=True)

Products of 8 bits sum along contiguous elements, and the second product sums over keys: values are turned first, to
(batch, kv heads, dv, keys), by a kernel that takes a hundredth of the time at 16384 tokens. It also puts keys into the
order in which a warpgroup has its powers: a thread has two neighbours of every eight keys, where the product takes four
of sixteen.

Powers are rounded to 8 bits as well. Their level is such that they are as large as 8 bits allow (`scores.levels`), so
that few get lost.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.attention import Inputs, check_numbers, features_of
from flydsl.kernels.attention.hopper_forward import ForwardPlan, hopper_forward
from flydsl.kernels.attention.scores import factor_of
from flydsl.kernels.blocks.inputs import (
    Array,
    broadcast,
    contiguous,
    empty_beside,
    is_for_cuda,
    multiprocessors,
    stream_of,
)

GROUP = 32
"""Keys that a step of the product sums over; within so many they change places."""
BLOCK = 128
"""Rows that share a scale, where heads have several."""
THREADS = 256
PIECE = 16
"""Elements that a thread moves at a time."""


def key_at(place: Any) -> Any:
    """Return which key of a group stands at a place of turned values."""
    half, four, one = place // 16, place % 16 // 4, place % 4
    return half * 16 + one // 2 * 8 + four * 2 + one % 2


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def turn_kernel(V: Any, turned: Any, dv: fx.Constexpr):
    """`BLOCK` keys of V, (keys, dv), to (dv, keys) with groups in the order of `key_at`; zeros up to the end.

    Sixteen keys lie together in shared memory, with a gap behind them, so that lanes that read from different sixteens
    read from different banks. A thread turns four elements of sixteen keys, and writes four pieces of rows.
    """
    fx.nvvm.griddepcontrol_launch_dependents()
    fx.nvvm.griddepcontrol_wait()
    block, head, batch = fx.block_idx
    thread, keys, first = fx.thread_idx.x, fx.Int32(V.shape[2]), block * BLOCK
    row, sixteen, pieces = dv // 4, PIECE * dv // 4 + 4, dv // PIECE
    words = fx.Vector.make_type(PIECE // 4, fx.Int32)
    storage = fx.SharedAllocator().allocate(fx.Array[fx.Int32, BLOCK // PIECE * sixteen, 16]).ptr
    tile = fx.make_view(storage, fx.make_layout(BLOCK // PIECE * sixteen, 1))
    found = []
    for iteration in fx.range_constexpr(BLOCK * pieces // THREADS):
        key, piece = (iteration * THREADS + thread) // pieces, (iteration * THREADS + thread) % pieces
        line = fx.recast_iter(fx.Int32, fx.get_iter(V[batch, head, fx.min(first + key, keys - 1), None]))
        four = fx.Vector.load(words, fx.make_view(line, fx.make_layout(row, 1)), [piece * (PIECE // 4)], alignment=16)
        found.append((first + key < keys).select(four, fx.zeros_like(four)))
    for iteration, four in enumerate(found):
        key, piece = (iteration * THREADS + thread) // pieces, (iteration * THREADS + thread) % pieces
        four.store(tile, [key // PIECE * sixteen + key % PIECE * row + piece * (PIECE // 4)], alignment=16)
    fx.barrier()
    across = BLOCK // PIECE
    for i in range(thread, across * row, THREADS):
        group, column = i % across, i // across
        start = group * sixteen + column
        fours = [
            transposed([tile[start + key_at(4 * word + place) * row] for place in range(4)])
            for word in range(PIECE // 4)
        ]
        for element in fx.range_constexpr(4):
            line = fx.recast_iter(fx.Int32, fx.get_iter(turned[batch, head, column * 4 + element, None]))
            whole = fx.make_view(line, fx.make_layout(fx.Int32(turned.shape[3]) // 4, 1))
            piece = fx.Vector.from_elements([four[element] for four in fours], fx.Int32)
            piece.store(whole, [(first + group * PIECE) // 4], alignment=16)


def transposed(words: list[Any]) -> list[Any]:
    """Return four words of four bytes each: byte j of word i becomes byte i of word j."""
    a, b, c, d = (fx.Vector.from_elements([word], fx.Int32).bitcast(fx.Int8) for word in words)
    low, high = [0, 4, 1, 5], [2, 6, 3, 7]
    pairs = [(a.shuffle(b, order), c.shuffle(d, order)) for order in (low, high)]
    found = [one.shuffle(other, order) for one, other in pairs for order in ([0, 1, 4, 5], [2, 3, 6, 7])]
    return [four.bitcast(fx.Int32)[0] for four in found]


@flyc.jit
def forward_fp8(
    Q: fx.Tensor, K: fx.Tensor, V: fx.Tensor, turned: fx.Tensor, out: fx.Tensor, lse: fx.Tensor | None,
    q_scale: fx.Tensor | None, k_scale: fx.Tensor | None, v_scale: fx.Tensor | None, v_most: fx.Tensor | None,
    scale: fx.Float32, cap: fx.Float32, left: fx.Int32, right: fx.Int32, batches: fx.Int32, longest: fx.Int32,
    group: fx.Int32, blocks: fx.Int32, plan: fx.Constexpr, stream: fx.Stream = fx.Stream(None),
):  # fmt: skip
    """Scales are as of `scales_of`; ``v_most`` is the largest of each head of V."""
    turn_kernel(V, turned, plan.dv).launch(
        grid=(fx.Int32(turned.shape[3]) // BLOCK, fx.Int32(V.shape[1]), batches), block=(THREADS, 1, 1),
        stream=stream, pdl=True,
    )  # fmt: skip
    numbers = (factor_of(scale, plan.features), scale, cap)
    scales = (q_scale, k_scale, v_scale, v_most)
    hopper_forward(
        Q, K, turned, out, lse, (None, None, None), None, numbers, (left, right), batches, longest, group, blocks, plan,
        stream, scales,
    )  # fmt: skip


def attention_fp8(
    q: Array, k: Array, v: Array, *, q_scale: Array = None, k_scale: Array = None, v_scale: Array = None,
    out: Array = None,
    is_causal: bool = False, scale: float | None = None, window: tuple[int | None, int | None] = (None, None),
    return_lse: bool = False, plan: ForwardPlan | None = None, stream: Any = None,
) -> Any:  # fmt: skip
    """Attention of float8_e4m3fn tensors (batch, heads, tokens, d), each times its scale; results are bf16.

    A scale is f32 with one element for the tensor, (batch, heads) for its heads, or (batch, heads, blocks) for blocks
    of 128 tokens; all three have blocks if one has. None is one.
    """
    if not is_for_cuda(q):
        raise ValueError("attention of 8-bit tensors is for Hopper; give other targets bf16")
    given = Inputs(q, k, v, out, None, None, None, eight_bits=True)
    scale = given.d**-0.5 if scale is None else float(scale)
    check_numbers(scale, 0.0)
    left, right = given.sides(window, is_causal)
    scales, blocked = scales_of(given, (q_scale, k_scale, v_scale))
    features = features_of(left, right, 0.0, scale, added=False)
    rows = (given.longest, given.batches * given.heads, multiprocessors(q))
    plan = plan or choose_fp8_plan(given.d, given.dv, blocked, rows)
    kind = "block" if blocked else "head"
    plan = replace(plan, dtype=fx.Float8E4M3FN, d=given.d, dv=given.dv, features=features, scaled=kind)
    lse = given.logarithms(None) if return_lse else None
    if not given.nothing_to_do():
        keys = -(-int(given.k.shape[2]) // BLOCK) * BLOCK
        turned = empty_beside(v, (*v.shape[:2], given.dv, keys))
        forward_fp8(
            given.q, given.k, given.v, turned, given.out, lse, *scales, largest(scales[2]), scale, 0.0, left or 0,
            right or 0, given.batches, given.longest, given.head_group(), multiprocessors(q), plan,
            stream_of(q, stream),
        )  # fmt: skip
    return (given.result, lse) if return_lse else given.result


WIDE = {1.0: {"keys": 160, "stages": 3}, 1.065: {"keys": 96, "stages": 4, "consumers": 3}}
"""How fast tiles of 128 and of 192 queries are, a query. With 16 heads of 128 at 16384 tokens 132 multiprocessors take
16 rounds of the one and 11 of the other: 981 and 1016 TFLOP/s in one run on an H200 on 2026-11-16, 938 and 980 in
another."""


def choose_fp8_plan(d: int, dv: int, blocked: bool, rows: tuple[int, int, int]) -> ForwardPlan:
    """Choose tiles: those that are done soonest, or keys that share a scale.

    ``rows`` are queries of a sequence, sequences times heads, and multiprocessors, which take tiles in rounds.

    Products are so short here that softmax takes longer, two thirds of a warpgroup's time by its clock: what counts are
    its instructions, and how many warps have one ready. Turns did not help three warpgroups (956 TFLOP/s beside 980 in
    the same run), nor did powers by polynomials instead of `ex2` (878 beside 938, with 160 keys). An earlier version
    had less with more keys than 160 (192: 957 beside 976; 224, which do not fit into registers: 619).

    Results of more than 128 elements leave registers for 64 keys: with 128, ptxas ran each product alone and spilled up
    to 1.7 KB.
    """
    if dv > 128:
        return ForwardPlan(fx.Float8E4M3FN, d, dv, BLOCK // 2, stages=4)
    if d > 128:
        return ForwardPlan(fx.Float8E4M3FN, d, dv, BLOCK)
    if blocked:
        return ForwardPlan(fx.Float8E4M3FN, d, dv, BLOCK, stages=3, ping_pong=False)
    queries, sequences, multiprocessors = rows
    plans = {speed: ForwardPlan(fx.Float8E4M3FN, d, dv, ping_pong=False, **tile) for speed, tile in WIDE.items()}

    def clocks(speed: float) -> float:
        tile = plans[speed].queries
        return -(-(-(-queries // tile) * sequences) // multiprocessors) * tile / speed

    return plans[min(plans, key=clocks)]


def scales_of(given: Inputs, scales: tuple[Any, Any, Any]) -> tuple[list[Any], bool]:
    """Scales as (batch, heads, blocks), of one element for whole tensors, None where none was given; and whether blocks
    have their own."""
    blocked = any(scale is not None and len(scale.shape) == 3 for scale in scales)
    found = []
    for name, scale, tensor in zip("qkv", scales, (given.q, given.k, given.v), strict=True):
        batch, heads, tokens = (int(extent) for extent in tensor.shape[:3])
        shape = (batch, heads, -(-tokens // BLOCK) if blocked else 1)
        if scale is None:
            found.append(None)
            continue
        if not str(scale.dtype).endswith("float32"):
            raise ValueError(f"{name}_scale must be float32, and is {scale.dtype}")
        if tuple(scale.shape) == (batch, heads):
            scale = broadcast(scale[:, :, None], shape)
        elif tuple(scale.shape) in ((), (1,)):
            scale = scale.reshape(1, 1, 1)
        elif tuple(scale.shape) != shape:
            raise ValueError(
                f"{name}_scale must have one element, or be {shape[:2]}, or {(*shape[:2], -(-tokens // BLOCK))}, "
                f"and its shape is {tuple(scale.shape)}"
            )
        found.append(contiguous(scale))
    return found, blocked


def largest(scale: Any) -> Any:
    """Return the largest scale of each head."""
    if scale is None or scale.shape[-1] == 1:
        return scale
    return scale.amax(-1, keepdim=True) if hasattr(scale, "amax") else scale.max(-1, keepdims=True)
