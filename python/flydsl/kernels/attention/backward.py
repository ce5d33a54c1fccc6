"""Gradients of attention for tensors as they come: `attention_backward` checks them and chooses how kernels are built.

out, lse = attention(q, k, v, is_causal=True, return_lse=True)
dq, dk, dv = attention_backward(dout, q, k, v, out, lse, is_causal=True)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.attention import Inputs, check_numbers, check_steps, features_of
from flydsl.kernels.attention.backward_parts import parts_of, room_for_parts
from flydsl.kernels.attention.backward_rows import (
    ADDED,
    ADDERS,
    LANES,
    OUTSIDE,
    add_kernel,
    after_kernel,
    before_kernel,
    outside_kernel,
    tile_grid,
)
from flydsl.kernels.attention.backward_tiles import BackwardPlan
from flydsl.kernels.attention.hopper_backward import hopper_backward
from flydsl.kernels.attention.hopper_forward import SHARED_BYTES, WARPGROUP
from flydsl.kernels.attention.scores import factor_of
from flydsl.kernels.attention.wave_backward import WAVE_PLAN, wave_backward, wave_plan
from flydsl.kernels.blocks.inputs import (
    Array,
    address_of,
    check_start,
    contiguous,
    empty_beside,
    is_for_cuda,
    multiprocessors,
    on_given_stream,
    stream_of,
    strides,
)

MOST_SUMS = 192
"""Registers of a thread that products write or read, where all it has are 240."""


@on_given_stream
def attention_backward(
    dout: Array, q: Array, k: Array, v: Array, out: Array, lse: Array, *, attn_mask: Array = None,
    is_causal: bool = False,
    scale: float | None = None, window: tuple[int | None, int | None] = (None, None), softcap: float = 0.0,
    alibi_slopes: Array = None, cu_seqlens_q: Array = None, cu_seqlens_k: Array = None, max_seqlen_q: int | None = None,
    max_seqlen_k: int | None = None, deterministic: bool = False, grads: tuple[Any, Any, Any] | None = None,
    plan: BackwardPlan | None = None, parts: int | None = None, stream: Any = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Return (dq, dk, dv) for the gradient ``dout`` of what `attention` gave for the same arguments, with its ``lse``.

    Sums for dq are made in the order in which blocks come; ``deterministic`` ones in the order of keys, so that the
    same bits come out each time. ``max_seqlen_k`` promises that no sequence has more keys: gradients of those behind
    are not written. Gradients go to ``grads`` where these are given. On Hopper ``parts`` blocks share a
    tile of keys: as many as end soonest, where nobody says how many.
    """
    given = Inputs(q, k, v, out, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, longest_k=max_seqlen_k)
    check_gradients(given, dout, lse)
    scale = given.d**-0.5 if scale is None else float(scale)
    check_numbers(scale, softcap)
    left, right = given.sides(window, is_causal)
    features = features_of(left, right, softcap, scale, attn_mask is not None or alibi_slopes is not None)
    by_waves = not is_for_cuda(q)
    plan = WAVE_PLAN if by_waves else plan or choose_backward_plan(given.dtype, given.d, given.dv)
    plan = replace(
        plan, dtype=given.dtype, d=given.d, dv=given.dv, features=features, shared_rows=given.varied,
        deterministic=deterministic,
    )  # fmt: skip
    results = grads or tuple(empty_beside(x, tuple(x.shape)) for x in (q, k, v))
    if 0 in out.shape or 0 in k.shape:
        for result in results:
            result[...] = 0
        return results
    dq, dk, dv, do = given.shaped(*results, dout)
    if grads:
        check_grads(given, dq, dk, dv)
    do = do if is_aligned(do) else contiguous(do)
    keys = int(given.k.shape[2]) if max_seqlen_k is None else min(int(max_seqlen_k), int(given.k.shape[2]))
    if by_waves:
        parts = 1
    elif parts is None:
        parts = parts_of(given, keys, left, right, plan)
    backward(
        given.q, given.k, given.v, given.out, do, given.shaped_lse(lse), dq, dk, dv, *workspace(given, plan, by_waves),
        *room_for_parts(given, parts), given.mask(attn_mask), given.slopes(alibi_slopes), cu_seqlens_q, cu_seqlens_k,
        scale, softcap, left or 0, right or 0, given.batches, given.longest, keys, section_of(given, plan), plan,
        stream_of(q, stream),
    )  # fmt: skip
    return results


@flyc.jit
def backward(
    Q: fx.Tensor, K: fx.Tensor, V: fx.Tensor, out: fx.Tensor, dout: fx.Tensor, lse: fx.Tensor, dQ: fx.Tensor,
    dK: fx.Tensor, dV: fx.Tensor, sums: fx.Tensor | None, stats: fx.Tensor, counters: fx.Tensor | None,
    key_parts: fx.Tensor | None, value_parts: fx.Tensor | None, bias: fx.Tensor | None, slopes: fx.Tensor | None,
    query_starts: fx.Tensor | None, key_starts: fx.Tensor | None, scale: fx.Float32, cap: fx.Float32, left: fx.Int32,
    right: fx.Int32, batches: fx.Int32, queries: fx.Int32, keys: fx.Int32, section: fx.Int32, plan: fx.Constexpr,
    stream: fx.Stream = fx.Stream(None),
):  # fmt: skip
    """All tensors are (batch, heads, tokens, d), and those of parts have one more mode before; ``queries`` and ``keys``
    are how many a sequence has at most."""
    lengths = None if query_starts is None else (query_starts, key_starts)
    numbers = (factor_of(scale, plan.features), scale, cap)
    grid = tile_grid(queries, fx.Int32(Q.shape[1]), batches, plan)
    cuda = fx.nvvm.is_target()
    tensors, given = (Q, K, V, dout), ((bias, slopes, None), lengths, numbers, (left, right), batches)
    before_kernel(out, dout, lse, stats, sums, counters, lengths, queries, plan).launch(
        grid=grid, block=(plan.queries * LANES, 1, 1), stream=stream, pdl=cuda
    )
    if fx.const_expr(cuda):
        grads, parts = (dK, dV), (key_parts, value_parts)
        found = grads if key_parts is None else parts
        for launch in plan.launches:
            hopper_backward(tensors, found, (sums, stats, counters), *given, keys, section, launch, stream)
        after_kernel(sums, dQ, lengths, queries, scale, plan).launch(
            grid=grid, block=(plan.consumers * WARPGROUP, 1, 1), stream=stream, pdl=True
        )
        if fx.const_expr(key_parts is not None):
            rows = (fx.ceildiv(fx.Int32(K.shape[2]), ADDED), fx.Int32(K.shape[1]), fx.Int32(K.shape[0]))
            add_kernel(parts, grads, lengths, batches, plan).launch(
                grid=rows, block=(ADDERS, 1, 1), stream=stream, pdl=True
            )
    else:
        for part in wave_plan(plan).parts:
            wave_backward(tensors, (dQ, dK, dV), stats, *given, (queries, keys), part, stream)
    if fx.const_expr(query_starts is not None):
        outside_kernel((dQ, dK, dV), (query_starts, key_starts, key_starts), batches, plan).launch(
            grid=(OUTSIDE, fx.Int32(Q.shape[1]), 1), block=(ADDERS, 1, 1), stream=stream, pdl=cuda
        )


def choose_backward_plan(dtype: Any, d: int, dv: int) -> BackwardPlan:
    """Return two warpgroups where products have enough rows for them, else one.

    Heads of 96 have them too, with a third more of the sums for dQ than they need: 1 x 7674 tokens and 10/5 heads took
    366 TFLOP/s and 320 with one warpgroup, on an H200 on 2026-11-16, where cuDNN had 369 to 374. Of longer heads the
    more queries the better: those of 192 have room for 48, and had 390 TFLOP/s of 1 x 4096 tokens and 16 heads (cuDNN
    336), those of 256 for 32 (430, cuDNN 387), on 2026-11-17.
    """
    if max(d, dv) > 128:
        plans = [BackwardPlan(dtype, d, dv, queries=queries, pair=pair) for queries in (64, 48, 32) for pair in (2, 1)]
        return next(plan for plan in plans if all(fits(launch) for launch in plan.launches))
    if d > 64:
        return BackwardPlan(dtype, d, dv)
    if d == 64 and dv <= 64:
        return BackwardPlan(dtype, d, dv, queries=128)
    return BackwardPlan(dtype, d, dv, keys=64, consumers=1)


def fits(plan: BackwardPlan) -> bool:
    """Return whether a launch has room: in shared memory, and for dV alone in registers, for its sums, scores, and two
    tiles of powers."""
    return plan.shared_bytes <= SHARED_BYTES and (plan.finds_keys or plan.dv // 2 + plan.queries <= MOST_SUMS)


def workspace(given: Inputs, plan: BackwardPlan, by_waves: bool) -> tuple[Any, Any, Any]:
    """Sums for dq, logarithms and deltas, and counters, for each tile of queries and head; uninitialised."""
    if given.varied:
        units = int(given.q.shape[2]) // plan.unit + given.batches
    else:
        units = given.batches * -(-given.longest // plan.unit)
    slots, pieces = units * plan.pair * given.heads, len(plan.pieces)
    counters = plan.deterministic and not by_waves
    return (
        None if by_waves else empty_beside(given.q, (slots, pieces * plan.queries * plan.sums), "float32"),
        empty_beside(given.q, (slots, 2 * plan.queries), "float32"),
        empty_beside(given.q, (slots * pieces * plan.consumers,), "int32") if counters else None,
    )


def section_of(given: Inputs, plan: BackwardPlan) -> int:
    """Heads and batches whose tiles start together.

    Where tiles differ in work there are two for each multiprocessor, so that all end together, and not more, so that
    what they read stays in the cache. All sections have about one size.
    """
    total, tiles = given.batches * given.kv_heads, -(-int(given.k.shape[2]) // plan.keys)
    if not (plan.features.left or plan.features.right):
        return 1
    most = min(-(-2 * multiprocessors(given.q) // tiles), total)
    return -(-total // -(-total // most))


# What was given --------------------------------------------------------------------------------------


def is_aligned(tensor: Array) -> bool:
    """Return whether TMA can read a tensor as it is: heads contiguous, and rows at multiples of 16 bytes."""
    *steps, last = strides(tensor)
    return last == 1 and all(step > 0 and step % 8 == 0 for step in steps) and address_of(tensor) % 16 == 0


def check_grads(given: Inputs, *grads: Array) -> None:
    """Refuse gradients that are not like what they are of."""
    for name, grad, like in zip("qkv", grads, (given.q, given.k, given.v), strict=True):
        if tuple(grad.shape) != tuple(like.shape) or grad.dtype != like.dtype:
            raise ValueError(
                f"the gradient of {name} is {like.dtype} of {tuple(like.shape)} as (batch, heads, tokens, d), got "
                f"{grad.dtype} of {tuple(grad.shape)}"
            )
        check_steps(f"the gradient of {name}", tuple(grad.shape), strides(grad), grad.dtype.itemsize)
        check_start(f"the gradient of {name}", grad)


def check_gradients(given: Inputs, dout: Array, lse: Array) -> None:
    if tuple(dout.shape) != tuple(given.result.shape) or dout.dtype != given.result.dtype:
        raise ValueError(
            f"dout must be as out, {tuple(given.result.shape)} of {given.result.dtype}, got {tuple(dout.shape)} of "
            f"{dout.dtype}"
        )
    given.check_lse(lse)
