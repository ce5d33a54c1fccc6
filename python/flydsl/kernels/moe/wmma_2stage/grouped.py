"""Rows that lie by expert, times the weights of their expert, on gfx1250: fp8 or fp4 rows with fp4 weights.

launch_moe_gemm_a8w4(C, A, B, sa, sb, M, stream, N, K, tile_m, tile_n, tile_k, m_warp, n_warp, out_is_f16, num_buffers,
                     a_is_fp4, m_tile_map, n_experts, stage1_act, has_bias, bias, swiglu_limit)

A is [M, K] and C [M, N] in f16 or bf16. Each tile of ``tile_m`` rows belongs to one expert, which ``m_tile_map`` names;
a tile of no expert is left as it is. B is [E, N, K] in blocks of 16 rows by 16 bytes (`preshuffle_b_16x16` of all
experts' rows), scales are E8M0 for 32 elements in the order of `scale_32x4`. A bias is f32 [E, N].

With ``stage1_act``, "silu" or "swiglu", rows of gate and up take turns in B and in the bias, and C is [M, N / 2].
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.blocks.activation import sigmoid, silu
from flydsl.kernels.blocks.inputs import require_bytes, require_room
from flydsl.kernels.gemm.gemm_fp8fp4_gfx1250 import NarrowTiles, Operands
from flydsl.kernels.gemm.wmma.gfx1250_plan import BLOCK, OUT_DTYPES, SCALE_GROUP, TilePlan
from flydsl.kernels.gemm.wmma.gfx1250_tiles import DirectRows, multiply_all, store_by
from flydsl.kernels.gemm.wmma.rdna_plan import require, require_multiple
from flydsl.kernels.gemm.wmma.wmma_result import ResultRows
from flydsl.kernels.moe.references import SWIGLU_LIMIT, SWIGLU_SLOPE

ACTS = {None: "", "": "", "none": "", 0: "", "silu": "silu", 1: "silu", "swiglu": "swiglu", 2: "swiglu"}
"""What callers say to what becomes of gate and up."""


class FinishedRows(DirectRows):
    """A row's eight columns, or the four that are left of them, from registers to memory."""

    def __init__(self, tiles: NarrowTiles, C: fx.Tensor, bias: Any, act: str, limit: float) -> None:
        self.tiles, self.bias, self.act, self.limit = tiles, bias, act, limit
        self.parts = 2 if act else 1
        columns = tiles.n // self.parts
        inside = fx.min(tiles.rows_inside, fx.Int32(tiles.plan.tile_m))
        self.rows = ResultRows(C, tiles.first_m, inside, columns, columns)

    def put(self, values: fx.Vector, m: fx.Int32, n: fx.Int32) -> None:
        row, column = self.places(m, n)
        if self.bias is not None:
            values = values + fx.make_view(self.bias + column, fx.make_layout(8, 1)).load().to(fx.Float32)
        if self.act:
            gate, up = (
                fx.Vector.from_elements([values[i + part] for i in range(0, 8, 2)], fx.Float32) for part in range(2)
            )
            values = self.gated(gate, up)
        ragged = self.tiles.n % self.tiles.plan.tile_n != 0
        self.rows.store(values.to(self.rows.dtype), row, column // self.parts, ragged)

    def gated(self, gate: fx.Vector, up: fx.Vector) -> Any:
        if self.act == "silu":
            return silu(gate) * up
        gate, up = fx.arith.min(gate, self.limit), fx.arith.max(fx.arith.min(up, self.limit), -self.limit)
        return gate * sigmoid(gate * SWIGLU_SLOPE) * (up + 1.0)


@flyc.jit
def multiply_group(C: Any, A: Any, B: Any, scales: Any, experts: Any, bias: Any, sizes: Any, plan: Any) -> None:
    """One block: a tile of rows by a tile of columns, if the rows have an expert."""
    (tile_map, count), (m, n, act, limit) = experts, sizes
    expert = rocdl.readfirstlane(fx.Int32(tile_map[fx.block_idx.x]))
    if (expert >= 0) & (expert < count):
        of_one = (n * plan.k // plan.b.depth * plan.b.step_bytes, n * plan.k // SCALE_GROUP)
        weights, of_columns = (
            fx.make_view(fx.recast_iter(fx.Int8, fx.get_iter(array)) + fx.Int64(expert) * size, fx.make_layout(1, 1))
            for array, size in zip((B, scales[1]), of_one, strict=True)
        )
        lda = plan.k // plan.a.depth * plan.a.step_bytes
        tiles = NarrowTiles(plan, Operands(A, weights, (scales[0], of_columns), m, n, lda))
        multiply_all(tiles, plan)
        shift = None if bias is None else fx.get_iter(bias) + fx.Int64(expert) * n
        store_by(tiles, lambda values, row, column: values, FinishedRows(tiles, C, shift, act, limit))


@flyc.kernel
def grouped_kernel(
    C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, sa: fx.Tensor, sb: fx.Tensor, tile_map: fx.Tensor,
    bias: fx.Tensor | None, m: fx.Int32, n: fx.Constexpr[int], count: fx.Constexpr[int], act: fx.Constexpr[str],
    limit: fx.Constexpr[float], plan: fx.Constexpr[TilePlan],
):  # fmt: skip
    multiply_group(C, A, B, (sa, sb), (tile_map, count), bias, (m, n, act, limit), plan)


@flyc.jit
def launch_moe_gemm_a8w4(
    C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, sa: fx.Tensor, sb: fx.Tensor, M: fx.Int32, stream: fx.Stream,
    N: fx.Constexpr[int], K: fx.Constexpr[int], tile_m: fx.Constexpr[int], tile_n: fx.Constexpr[int],
    tile_k: fx.Constexpr[int], m_warp: fx.Constexpr[int], n_warp: fx.Constexpr[int], out_is_f16: fx.Constexpr[bool],
    num_buffers: fx.Constexpr[int], a_is_fp4: fx.Constexpr[bool], m_tile_map: fx.Tensor, n_experts: fx.Constexpr[int],
    stage1_act: fx.Constexpr[object] = None, has_bias: fx.Constexpr[bool] = False, bias: fx.Tensor | None = None,
    swiglu_limit: fx.Constexpr[float] = 0.0, cluster_m: fx.Constexpr[int] = 1, cluster_n: fx.Constexpr[int] = 1,
):  # fmt: skip
    """Write C; see above. ``swiglu_limit`` is 7.0 where it is 0."""
    require("stage1_act", stage1_act, ACTS)
    for name, value, step in (("tile_m", tile_m, 2 * BLOCK), ("tile_n", tile_n, 2 * BLOCK), ("N", N, 2 * BLOCK),
                              ("n_experts", n_experts, 1)):  # fmt: skip
        require_multiple(name, value, step)
    if cluster_m != 1:
        raise ValueError(
            f"cluster_m must be 1, since neighbouring tiles of rows have experts of their own: {cluster_m}"
        )
    if has_bias and bias is None:
        raise ValueError("has_bias=True, and there is no bias")
    plan = TilePlan(K, "fp4" if a_is_fp4 else "fp8", "fp4", "f16" if out_is_f16 else "bf16", tile_m, tile_n, tile_k,
                    m_warp, n_warp, num_buffers, cluster_m, cluster_n, scales="32x4", store_by_tiles=False)  # fmt: skip
    if C.dtype is not OUT_DTYPES[plan.out_dtype]:
        wanted = OUT_DTYPES[plan.out_dtype].__name__
        raise ValueError(f"C must hold {wanted} for out_is_f16={out_is_f16}, not {C.dtype.__name__}")
    row, of_b = K // plan.a.depth * plan.a.step_bytes, n_experts * N * (K // plan.b.depth * plan.b.step_bytes)
    require_room(("C", C, fx.Int64(M) * (N // 2 if ACTS[stage1_act] else N)))
    require_room(("m_tile_map", m_tile_map, fx.ceildiv(M, tile_m)))
    require_bytes(("A", A, fx.Int64(M) * row), ("B", B, of_b))
    plan.require_scales((sa, sb), (M, n_experts * N), 0)
    if has_bias:
        require_room(("bias", bias, n_experts * N))
    columns = -(-N // (tile_n * cluster_n)) * cluster_n
    grouped_kernel(
        C, A, B, sa, sb, m_tile_map, bias if has_bias else None, M, N, n_experts, ACTS[stage1_act],
        swiglu_limit or SWIGLU_LIMIT, plan,
    ).launch(
        grid=(fx.ceildiv(M, tile_m), columns, 1), block=(plan.threads, 1, 1),
        cluster=(1, cluster_n, 1) if plan.clustered else None, stream=stream,
    )  # fmt: skip


__all__ = ["launch_moe_gemm_a8w4"]
