"""What the gradient of a layer of experts has beside products of rows: sums of outer products, and the gate's.

outer = build_expert_outer_module(n, k, "bf16")
outer(P, Q, dW, p_rows, q_rows, ends, experts, stream)  # dW[e] = sum over its entries i of P[p_rows[i]]ᵀ Q[q_rows[i]]

gate = build_gate_gradient_module(inter, "bf16")
gate(h, da, weights, ids, mask, dh, a, dweights, experts, pairs, stream)

Both are for every target with a matrix instruction of f16 and bf16 (`gemm.tiled`).
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.activation import sigmoid
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.row_plan import DTYPES
from flydsl.kernels.gemm.tiled import THREADS, SharedProduct, TilePlan, choose_instruction, plan_tiles, shared_tile
from flydsl.kernels.moe.topk_gating import expert_named

EIGHT = 8
"""Neighbours of a row that a thread takes."""


# Sums of outer products ----------------------------------------------------------------------------------------------


@flyc.jit
def fetch_turned(matrix: Any, rows: Any, tile: Any, at: Any, side: int, depth: int, width: int) -> None:
    """``side`` columns of the rows that entries name, into a tile of columns by entries; zeros behind the last entry.

    ``at`` is the first column, the first entry and the end of entries. A thread turns eight neighbours of a row.
    """
    first, begin, end = at
    for piece in range(fx.thread_idx.x, fx.Int32(depth * (side // EIGHT)), THREADS):
        entry, column = piece // (side // EIGHT), piece % (side // EIGHT) * EIGHT
        found = fx.Vector.filled(EIGHT, 0.0, matrix.dtype)
        if begin + entry < end:
            source = fx.Int64(rows[begin + entry]) * width + (first + column)
            found = fx.make_view(fx.get_iter(matrix) + source, fx.make_layout(EIGHT, 1)).load()
        for i in fx.range_constexpr(EIGHT):
            tile[column + i, entry] = found[i]


@flyc.jit
def add_outer(P: Any, Q: Any, dW: Any, lists: Any, plan: TilePlan, n: int) -> None:
    """One block: a tile of one expert's matrix."""
    (p_rows, q_rows, ends), (column, row, expert) = lists, fx.block_idx
    begin, end = fx.Int32(0), fx.Int32(ends[expert])
    if expert > 0:
        begin = fx.Int32(ends[expert - 1])
    instruction, tiled = choose_instruction(plan.dtype)
    allocator = fx.SharedAllocator()
    (sP, mP), (sQ, mQ) = (shared_tile(allocator, side, plan, instruction) for side in (plan.tile_m, plan.tile_n))
    start = fx.get_iter(dW) + fx.Int64(expert) * (n * plan.n)
    target = fx.make_view(start, fx.make_layout((n, plan.n), (plan.n, 1)))
    accumulators = tiled.make_fragment_C(fx.zipped_divide(target, (plan.tile_m, plan.tile_n))[None, (0, 0)])
    accumulators.fill(0.0)
    product = SharedProduct(plan, instruction, tiled, mP, mQ)
    for step in range(fx.ceildiv(end - begin, plan.tile_k)):
        first = begin + step * plan.tile_k
        fx.barrier()  # everyone has read the tiles of the step before
        fetch_turned(P, p_rows, sP, (row * plan.tile_m, first, end), plan.tile_m, plan.tile_k, n)
        fetch_turned(Q, q_rows, sQ, (column * plan.tile_n, first, end), plan.tile_n, plan.tile_k, plan.n)
        fx.barrier()
        product.add_to(accumulators)
    where = tiled.get_slice(fx.thread_idx.x).partition_C(
        fx.zipped_divide(fx.make_identity_tensor((n, plan.n)), (plan.tile_m, plan.tile_n))[None, (row, column)]
    )
    fx.epilogue.Store(target)(accumulators.load(), where, (n, plan.n))


@kept
def build_expert_outer_module(n: int, k: int, dtype: str) -> Any:
    """Return the launcher ``fn(P, Q, dW, p_rows, q_rows, ends, experts, stream)``.

    P is [rows, n], Q [rows, k] and dW [experts, n, k], all of one type and contiguous; ``ends`` says where each
    expert's entries end in the lists of rows. n and k are multiples of 64. An expert without entries gets zeros.
    """
    for name, value in (("n", n), ("k", k)):
        if value <= 0 or value % 64:
            raise ValueError(f"{name} must be a positive multiple of 64, got {value}")
    sides = [128 if value % 128 == 0 else 64 for value in (n, k)]
    plan = plan_tiles(k, 64, dtype, *sides)

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def expert_outer_kernel(
        P: fx.Tensor, Q: fx.Tensor, dW: fx.Tensor, p_rows: fx.Tensor, q_rows: fx.Tensor, ends: fx.Tensor
    ):
        add_outer(P, Q, dW, (p_rows, q_rows, ends), plan, n)

    @flyc.jit
    def expert_outer(
        P: fx.Tensor, Q: fx.Tensor, dW: fx.Tensor, p_rows: fx.Tensor, q_rows: fx.Tensor, ends: fx.Tensor,
        experts: fx.Int32, stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        expert_outer_kernel(P, Q, dW, p_rows, q_rows, ends).launch(
            grid=(k // plan.tile_n, n // plan.tile_m, experts), block=(THREADS, 1, 1), stream=stream
        )

    return expert_outer


# The gate ------------------------------------------------------------------------------------------------------------


@flyc.jit
def turn_gate(h: Any, da: Any, weight: Any, dh: Any, a: Any, pair: Any, inter: int) -> Any:
    """Return one block: the gate of a pair and its gradient. Gives this thread's part of the sum of a * da."""
    share = fx.Float32(0)
    for first in range(fx.thread_idx.x * EIGHT, fx.Int32(inter), THREADS * EIGHT):
        row = fx.Int64(pair) * inter + first
        place = fx.Int64(pair) * (2 * inter) + first

        def eight(array: Any, at: Any) -> Any:
            return fx.make_view(fx.get_iter(array) + at, fx.make_layout(EIGHT, 1))

        gate, up, given = (
            eight(array, at).load().to(fx.Float32) for array, at in ((h, place), (h, place + inter), (da, row))
        )
        open_ = sigmoid(gate)
        swish = gate * open_
        eight(a, row).store((swish * up * weight).to(a.dtype))
        eight(dh, place).store((given * weight * up * (open_ + swish * (1.0 - open_))).to(dh.dtype))
        eight(dh, place + inter).store((given * weight * swish).to(dh.dtype))
        share = share + (swish * up * given).reduce("add")
    return share


@kept
def build_gate_gradient_module(inter: int, dtype: str) -> Any:
    """Return the launcher ``fn(h, da, weights, ids, mask, dh, a, dweights, experts, pairs, stream)``.

    h is [pairs, 2 inter], gate before up, and da [pairs, inter] the gradient of silu(gate) * up without the pair's
    weight. dh is the gradient of h, a is silu(gate) * up, both times the weight; dweights that of the weights, f32. A
    pair whose id is no expert, or one that the mask (or None) leaves out, has a gradient of 0 and is not read.
    """
    if dtype not in DTYPES or inter <= 0 or inter % EIGHT:
        raise ValueError(f"rows are {', '.join(DTYPES)} of a multiple of {EIGHT}, got {dtype} of {inter}")

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def gate_gradient_kernel(
        h: fx.Tensor, da: fx.Tensor, weights: fx.Tensor, ids: fx.Tensor, mask: fx.Tensor | None, dh: fx.Tensor,
        a: fx.Tensor, dweights: fx.Tensor, experts: fx.Int32,
    ):  # fmt: skip
        pair, reduction = fx.block_idx.x, fx.coop.BlockReduce(fx.Float32)
        expert = expert_named(ids[pair], experts)
        counts = expert >= 0
        if fx.const_expr(mask is not None):
            counts = counts & (mask[fx.max(expert, fx.Int32(0))] != 0)
        share = fx.Float32(0)
        if counts:
            share = turn_gate(h, da, weights[pair], dh, a, pair, inter)
        total = reduction.sum(share)
        if fx.thread_idx.x == 0:
            dweights[pair] = total

    @flyc.jit
    def gate_gradient(
        h: fx.Tensor, da: fx.Tensor, weights: fx.Tensor, ids: fx.Tensor, mask: fx.Tensor | None, dh: fx.Tensor,
        a: fx.Tensor, dweights: fx.Tensor, experts: fx.Int32, pairs: fx.Int32, stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        gate_gradient_kernel(h, da, weights, ids, mask, dh, a, dweights, experts).launch(
            grid=(pairs, 1, 1), block=(THREADS, 1, 1), stream=stream
        )

    return gate_gradient
