"""Attention of 8-bit tensors on Hopper, with scales of tensors, of heads, or of blocks of 128 rows.

    out = attention_fp8(q, k, v, q_scale=sq, k_scale=sk, v_scale=sv, is_causal=True)

Scores are products of 8 bits. Powers and values have 16 bits, unless ``use_fast_accum`` says otherwise: a kernel of its
own makes f16 of values, in 27 microseconds where 16 heads of 128 have 16384 tokens, and multiplies them by scales of
blocks.

With ``use_fast_accum`` they have 8 bits, too, and powers are found without exponentials (`linear_powers`). Products of
8 bits sum along contiguous elements, and the second product sums over keys: values are turned first, to (batch, kv
heads, dv, keys). That also puts keys into the order in which a warpgroup has its powers: a thread has two neighbours of
every eight keys, where the product takes four of sixteen.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.attention import Inputs, check_numbers, features_of
from flydsl.kernels.attention.hopper_forward import REGISTERS, ROWS, SHARED_BYTES, ForwardPlan, hopper_forward, scale_at
from flydsl.kernels.attention.linear_powers import ONES
from flydsl.kernels.attention.scores import Features, factor_of
from flydsl.kernels.blocks.inputs import (
    Array,
    broadcast,
    check_start,
    contiguous,
    empty_beside,
    is_for_cuda,
    multiprocessors,
    on_given_stream,
    stream_of,
)

BLOCK = 128
"""Rows that share a scale, where heads have several."""
THREADS = 256
PIECE = 16
"""Elements that a thread moves at a time."""
WIDENED, TURNS = 8, 4
"""Elements that a thread makes f16 of at a time, and how often it does."""


KEYS_OF_PIECE = ((2, 2, 4), (1, 8, 2))
"""Shape and strides of the keys that stand at the places of a turned piece: 0, 1, 8, 9, 2, 3, 10, 11 and so on."""


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def turn_kernel(V: Any, turned: Any, dv: fx.Constexpr):
    """`BLOCK` keys of V, (keys, dv), to (dv, keys) with keys in the order of `KEYS_OF_PIECE`; zeros up to the end.

    Words of four elements go through shared memory. Sixteen keys lie together there, with a gap behind them, so that
    lanes that read from different sixteens read from different banks. A thread turns four elements of sixteen keys, and
    writes four pieces of rows.
    """
    fx.nvvm.griddepcontrol_launch_dependents()
    fx.nvvm.griddepcontrol_wait()
    block, head, batch = fx.block_idx
    thread, keys, first = fx.thread_idx.x, fx.Int32(V.shape[2]), block * BLOCK
    words, pieces, sixteens = dv // 4, dv // PIECE, BLOCK // PIECE
    apart = PIECE * words + 4
    storage = fx.SharedAllocator().allocate(fx.Array[fx.Int32, sixteens * apart, 16]).ptr
    held = fx.make_view(storage, fx.make_layout((4, pieces, (PIECE, sixteens)), (1, 4, (words, apart))))
    order, found = fx.make_layout((pieces, BLOCK), (1, pieces)), []
    for iteration in fx.range_constexpr(BLOCK * pieces // THREADS):
        piece, key = places_of(iteration * THREADS + thread, order)
        line = words_of(V[batch, head, fx.min(first + key, keys - 1), None], (4, pieces))
        four = line[None, piece].load()
        found.append((piece, key, (first + key < keys).select(four, fx.zeros_like(four))))
    for piece, key, four in found:
        held[None, piece, key].store(four)
    fx.barrier()
    (shape, strides), order = KEYS_OF_PIECE, fx.make_layout((sixteens, words), (1, sixteens))
    across = fx.make_layout((shape, words, sixteens), (tuple(stride * words for stride in strides), 1, apart))
    for i in range(thread, sixteens * words, THREADS):
        sixteen, column = places_of(i, order)
        own = fx.make_view(storage, across)[None, column, sixteen].load()
        fours = [transposed([own[at + i] for i in range(4)]) for at in range(0, PIECE, 4)]
        for element in fx.range_constexpr(4):
            line = words_of(turned[batch, head, column * 4 + element, None], (4, fx.Int32(turned.shape[3]) // PIECE))
            line[None, first // PIECE + sixteen].store(
                fx.Vector.from_elements([four[element] for four in fours], fx.Int32)
            )


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def widen_kernel(V: Any, wide: Any, scale: Any, most: Any, dv: fx.Constexpr):
    """V, (keys, dv), as f16, times the ``scale`` of a block beside the ``most`` of its head, where blocks have scales.

    A thread reads all of its pieces before it writes one.
    """
    fx.nvvm.griddepcontrol_launch_dependents()
    fx.nvvm.griddepcontrol_wait()
    block, head, batch = fx.block_idx
    keys, pieces, found = fx.Int32(V.shape[2]), dv // WIDENED, []
    for turn in fx.range_constexpr(TURNS):
        index = (block * TURNS + turn) * THREADS + fx.thread_idx.x
        piece, key = index % pieces, index // pieces
        line = fx.recast_iter(fx.Int16, fx.get_iter(V[batch, head, fx.min(key, keys - 1), None])).aligned(WIDENED)
        codes = fx.make_view(line, fx.make_layout((WIDENED // 2, pieces), (1, WIDENED // 2)))[None, piece].load()
        found.append((piece, key, codes))
    for piece, key, codes in found:
        pairs = [fx.nvvm.cvt_f16x2(codes[i], fx.Float8E4M3FN).bitcast(fx.Int32)[0] for i in range(codes.numel)]
        values = fx.Vector.from_elements(pairs, fx.Int32).bitcast(fx.Float16)
        if fx.const_expr(scale is not None):
            unit = scale_at(most, batch, head, 0)
            weight = (unit == 0.0).select(fx.Float32(0.0), scale_at(scale, batch, head, key // BLOCK) / unit)
            values = (values.to(fx.Float32) * weight).to(fx.Float16)
        if key < keys:
            values.store(wide[batch, head, key, None], [piece * WIDENED], alignment=16)


def places_of(index: Any, order: Any) -> tuple[Any, ...]:
    """Return the coordinates of an index in the order of a layout."""
    return tuple(fx.Int32(part) for part in fx.get_leaves(fx.idx2crd(index, order)))


def words_of(line: Any, shape: Any) -> Any:
    """Return a row of 8-bit elements as words of 32, pieces of ``shape``."""
    return fx.make_view(fx.recast_iter(fx.Int32, fx.get_iter(line)).aligned(16), fx.make_layout(shape, (1, shape[0])))


def transposed(words: list[Any]) -> list[Any]:
    """Return four words of four bytes each: byte j of word i becomes byte i of word j."""
    a, b, c, d = (fx.Vector.from_elements([word], fx.Int32).bitcast(fx.Int8) for word in words)
    low, high = [0, 4, 1, 5], [2, 6, 3, 7]
    pairs = [(a.shuffle(b, order), c.shuffle(d, order)) for order in (low, high)]
    found = [one.shuffle(other, order) for one, other in pairs for order in ([0, 1, 4, 5], [2, 3, 6, 7])]
    return [four.bitcast(fx.Int32)[0] for four in found]


@flyc.jit
def forward_fp8(
    Q: fx.Tensor, K: fx.Tensor, V: fx.Tensor, values: fx.Tensor, out: fx.Tensor, lse: fx.Tensor | None,
    q_scale: fx.Tensor | None, k_scale: fx.Tensor | None, v_scale: fx.Tensor | None, v_most: fx.Tensor | None,
    scale: fx.Float32, cap: fx.Float32, left: fx.Int32, right: fx.Int32, batches: fx.Int32, longest: fx.Int32,
    group: fx.Int32, blocks: fx.Int32, plan: fx.Constexpr, stream: fx.Stream = fx.Stream(None),
):  # fmt: skip
    """V becomes ``values``. Scales are as of `scales_of`; ``v_most`` is the largest of each head of V."""
    if fx.const_expr(plan.wide):
        change = widen_kernel(V, values, v_scale if plan.scaled == "block" else None, v_most, plan.dv)
        count = fx.ceildiv(fx.Int32(V.shape[2]) * (plan.dv // WIDENED), TURNS * THREADS)
    else:
        change, count = turn_kernel(V, values, plan.dv), fx.Int32(values.shape[3]) // BLOCK
    change.launch(grid=(count, fx.Int32(V.shape[1]), batches), block=(THREADS, 1, 1), stream=stream, pdl=True)
    numbers = (factor_of(scale, plan.features), scale, cap)
    scales = (q_scale, k_scale, v_scale, v_most)
    hopper_forward(
        Q, K, values, out, lse, (None, None, None), None, numbers, (left, right), batches, longest, group, blocks, plan,
        stream, scales,
    )  # fmt: skip


@on_given_stream
def attention_fp8(
    q: Array, k: Array, v: Array, *, q_scale: Array = None, k_scale: Array = None, v_scale: Array = None,
    out: Array = None,
    is_causal: bool = False, scale: float | None = None, window: tuple[int | None, int | None] = (None, None),
    return_lse: bool = False, use_fast_accum: bool = False, plan: ForwardPlan | None = None, stream: Any = None,
) -> Any:  # fmt: skip
    """Attention of float8_e4m3fn tensors (batch, heads, tokens, d), each times its scale; results are bf16.

    A scale is f32 with one element for the tensor, (batch, heads) for its heads, or (batch, heads, blocks) for blocks
    of 128 tokens; all three have blocks if one has. None is one.

    ``use_fast_accum`` allows 8 bits in both products, where heads have 128 elements at most, no scales of blocks, and
    nobody asks for logarithms. Results then err by 3 % of what values differ, and by 0.4 % of their mean; keys whose
    power is below 2^-16 of the largest may not count.
    """
    if not is_for_cuda(q):
        raise ValueError("attention of 8-bit tensors is for Hopper; give other targets bf16")
    given = Inputs(q, k, v, out, None, None, None, eight_bits=True)
    check_start("v", v)
    scale = given.d**-0.5 if scale is None else float(scale)
    check_numbers(scale, 0.0)
    left, right = given.sides(window, is_causal)
    scales, blocked = scales_of(given, (q_scale, k_scale, v_scale))
    features = features_of(left, right, 0.0, scale, added=False)
    fast = use_fast_accum and not (blocked or return_lse or features.scale_first) and max(given.d, given.dv) <= 128
    plan = plan or choose_fp8_plan(given.d, given.dv, blocked, fast)
    if blocked and BLOCK % plan.keys:
        raise ValueError(f"{BLOCK} keys share a scale, and tiles of {plan.keys} keys would part them: give a divisor")
    plan = whole_fp8_plan(plan, given.d, given.dv, features, "block" if blocked else "head", not fast)
    lse = given.logarithms(None) if return_lse else None
    if not given.nothing_to_do():
        keys = -(-int(given.k.shape[2]) // BLOCK) * BLOCK
        turned = (*v.shape[:2], given.dv, keys)
        values = empty_beside(v, tuple(v.shape), "float16") if plan.wide else empty_beside(v, turned)
        forward_fp8(
            given.q, given.k, given.v, values, given.out, lse, *scales, largest(scales[2]), scale, 0.0, left or 0,
            right or 0, given.batches, given.longest, given.head_group(), multiprocessors(q), plan,
            stream_of(q, stream),
        )  # fmt: skip
    return (given.result, lse) if return_lse else given.result


@lru_cache(maxsize=256)
def whole_fp8_plan(plan: ForwardPlan, d: int, dv: int, features: Features, scaled: str, wide: bool) -> ForwardPlan:
    """Return a plan with all that a call asks for, as one object for equal ones: a launch does not look into it."""
    return replace(plan, dtype=fx.Float8E4M3FN, d=d, dv=dv, features=features, scaled=scaled, wide=wide)


@lru_cache(maxsize=256)
def choose_fp8_plan(d: int, dv: int, blocked: bool, fast: bool) -> ForwardPlan:
    """Choose tiles where only scores have 8 bits, or, if it is to be ``fast``, both products.

    Results of 128 elements leave registers for 128 keys, beside powers that a product reads and those that are found.
    Keys that share a scale are not parted. On an H200 on 2026-11-17, 128 keys had 894 TFLOP/s with 16 heads of 128 at
    16384 tokens, causal 838, and at 4 x 4096 tokens 843 and 717; 112 had 883 and 834, 822 and 718, three warpgroups
    with 64 had 889 and 852, 821 and 692; with 80, ptxas spilled (501 and 500). To find powers of one row after those of
    the other has room for more, but did not help: 865 and 832 with three warpgroups and 80 keys, 853 and 803 with two
    and 144. Heads of 64 had 613 and 597 at 2 x 8192 tokens by three warpgroups and 80 keys, 534 and 528 by two and 128.
    """
    if fast:
        return choose_linear_plan(d, dv)
    keys, consumers = BLOCK if dv <= 128 else BLOCK // 2, 2
    if max(d, dv) <= 64:
        keys, consumers = BLOCK // 2 if blocked else 80, 3
    room = SHARED_BYTES - 2 * consumers * ROWS * d
    stages = max(min(room // (keys * (d + 2 * dv)), 6), 2)
    return ForwardPlan(fx.Float8E4M3FN, d, dv, keys, stages, consumers, wide=True)


def choose_linear_plan(d: int, dv: int) -> ForwardPlan:
    """Choose tiles of 8 bits in both products: of three warpgroups, where their registers hold results, sums of
    results, scores and powers, or else of two.

    On an H200 on 2026-11-17, 16 heads of 128 at 16384 tokens had 1186 TFLOP/s, causal 1123. Side by side, turns had 2
    and 3 % less, and 64 keys 23 and 15 %.
    """
    held = dv + ONES + BLOCK // 4 + BLOCK // 8
    consumers = 3 if held <= REGISTERS[3][1] - 40 else 2
    room = SHARED_BYTES - 2 * consumers * ROWS * d
    return ForwardPlan(fx.Float8E4M3FN, d, dv, BLOCK, min(room // (BLOCK * (d + dv + ONES)), 6), consumers, False)


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
