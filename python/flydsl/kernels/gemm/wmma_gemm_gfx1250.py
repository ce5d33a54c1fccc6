"""A matrix product of f16 or bf16 on gfx1250, with both matrices as they lie in memory.

gemm = compile_wmma_gemm_tdm(K=1024, tile_m=128, tile_n=128, tile_k=64)
gemm(C, A, B, M, N, stream)

C = A * B: A is [M, K], B is [K, N], C is [M, N], all contiguous. M is any, N a multiple of 8.

Tiles of A and B come into LDS by the tensor data mover (`gfx1250_tiles`). The instruction wants neighbours of K from a
lane, and in B those of N are neighbours: transposing reads of LDS exchange them on the way, 8 x 8 elements between 8
lanes. Gaps behind rows of B let 16 lanes that read together, of 8 rows, meet in no bank.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.blocks.inputs import require_elements
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.limits import hint_waves, refuse, require, require_multiple, require_target
from flydsl.kernels.gemm.wmma.gfx1250_plan import FORMATS, OUT_DTYPES, TilePlan
from flydsl.kernels.gemm.wmma.gfx1250_tiles import Stream, Tiles, multiply_all, store, tiled_instruction
from flydsl.kernels.gemm.wmma.wmma_result import OfColumns

NAMES = {"fp16": "f16", "f16": "f16", "bf16": "bf16", "f32": "f32", "fp32": "f32"}
"""What callers say to what it is called here."""
EIGHT = 8


class HalfTiles(Tiles):
    """Tiles of f16 or bf16."""

    def __init__(self, plan: TilePlan, A: fx.Tensor, B: fx.Tensor, m: fx.Int32, n: int) -> None:
        super().__init__(plan, m, n)
        for name, tensor in (("A", A), ("B", B)):
            if tensor.dtype is not plan.a.dtype:
                wanted = plan.a.dtype.__name__
                raise ValueError(
                    f"{name} must hold {wanted} for in_dtype={plan.a_format!r}, not {tensor.dtype.__name__}"
                )
        a, shared = fx.get_iter(A) + fx.Int64(self.first_m) * plan.k, plan.rows_to_a_gap
        self.a = Stream(a, (plan.tile_m, plan.tile_k), plan.k, plan.tile_k, inside=(self.rows_inside, None), gap=EIGHT,
                        shared=shared(plan.tile_m, plan.row_bytes), mask=self.masks[0])  # fmt: skip
        if plan.b_rows:
            b = fx.get_iter(B) + fx.Int64(self.first_n) * plan.k
            self.b = Stream(b, (plan.tile_n, plan.tile_k), plan.k, plan.tile_k, inside=(self.columns_inside, None),
                            gap=EIGHT, shared=shared(plan.tile_n, plan.row_bytes), mask=self.masks[1])  # fmt: skip
        else:
            self.b = Stream(fx.get_iter(B) + self.first_n, (plan.tile_k, plan.tile_n), n, plan.tile_k * n,
                            inside=(None, self.columns_inside), gap=plan.b_gap // 2,
                            shared=shared(plan.tile_k, 2 * plan.tile_n), woven=plan.woven,
                            mask=self.masks[1])  # fmt: skip
        self.place(self.a, self.b)
        self.a_pieces, self.copy = self.rows_of(self.a, self.wave_row, plan.m_warp, plan.m_reps), None
        if plan.b_rows:
            self.b_pieces = self.rows_of(self.b, self.wave_column, plan.n_warp, plan.n_reps)
            return
        transposing = fx.make_copy_atom(rocdl.cdna5.LDSReadTrans(16, 128), plan.b.dtype)
        self.copy = fx.make_tiled_copy_A(transposing, tiled_instruction(plan))
        deep, apart = self.b.rows(plan.tile_k)
        shape, stride = (plan.wave_n, deep, plan.n_warp), (1, apart, plan.wave_n)
        columns = self.b.view(shape, stride, plan.stages)[None, None, self.wave_column, None]
        self.b_pieces = self.copy.get_slice(self.lane).partition_S(columns)

    def read_step(self, stage: int, step: int, held: Any) -> Any:
        plan = self.plan
        columns = [self.read(self.b_pieces[None, j, step, stage], self.copy) for j in range(plan.n_reps)]
        return [self.read(self.a_pieces[None, i, step, stage]) for i in range(plan.m_reps)], columns

    def multiply_step(self, operands: Any, rows: range) -> None:
        of_a, columns = operands
        multiply = {"f16": rocdl.wmma_f32_16x16x32_f16, "bf16": rocdl.wmma_f32_16x16x32_bf16}[self.plan.a_format]
        for i in rows:
            for j, column in enumerate(columns):
                total = self.totals[i][j]
                total.store(multiply(column, of_a[i], total.load().reshape(EIGHT)))


@kept
def biased_launcher(plan: TilePlan, biased: bool = True) -> Any:
    """``fn(C, A, B, bias, M, N, stream)``; the bias has the type of A, or is f32."""

    @flyc.kernel(known_block_size=(plan.threads, 1, 1))
    def half_gemm_kernel(C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, bias: fx.Tensor, m: fx.Int32, n: fx.Constexpr[int]):
        tiles = HalfTiles(plan, A, B, m, n)
        multiply_all(tiles, plan)
        if fx.const_expr(biased):
            of_columns = OfColumns(bias, n)
            store(tiles, C, n, lambda values, row, column: values + of_columns[column])
        else:
            store(tiles, C, n, lambda values, row, column: values)

    @flyc.jit
    def half_gemm(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, bias: fx.Tensor, M: fx.Int32, N: fx.Constexpr[int],
        stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        require_target("this product of halves", ("gfx1250",), "gfx11 and gfx120x have create_wmma_gemm_module")
        if not plan.b_rows or plan.store_by_tiles:
            require_multiple("N", N, EIGHT)
        sides = ("C", C, fx.Int64(M) * N), ("A", A, fx.Int64(M) * plan.k), ("B", B, plan.k * N)
        require_elements(*sides, *([("bias", bias, N)] if biased else []))
        rows, columns = fx.ceildiv(M, plan.tile_m * plan.cluster_m), -(-N // (plan.tile_n * plan.cluster_n))
        half_gemm_kernel(C, A, B, bias, M, N, value_attrs=plan.attributes).launch(
            grid=(rows * plan.cluster_m, columns * plan.cluster_n, 1), block=(plan.threads, 1, 1),
            cluster=(plan.cluster_m, plan.cluster_n, 1) if plan.clustered else None, stream=stream,
        )  # fmt: skip

    return half_gemm


@kept
def _launcher(plan: TilePlan, sizes: tuple[int, int], waves_per_eu: int | None) -> Any:
    gemm = biased_launcher(plan, False)

    @flyc.jit
    def plain_gemm(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, M: fx.Int32, N: fx.Constexpr[int],
        stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        if sizes[1] and sizes[1] != N:
            raise ValueError(f"this kernel was compiled for N = {sizes[1]}, and is called with N = {N}")
        gemm(C, A, B, A, M, N, stream)

    return hint_waves(plain_gemm, waves_per_eu)


def compile_wmma_gemm_tdm(
    *, M: int = 0, N: int = 0, K: int, tile_m: int = 256, tile_n: int = 256, tile_k: int = 128, m_warp: int = 2,
    n_warp: int = 4, in_dtype: str = "fp16", out_dtype: str | None = None, num_buffers: int = 2,
    waves_per_eu: int | None = None, l2_prefetch_distance: int = 0, use_tdm_store: bool = True, cluster_m: int = 1,
    cluster_n: int = 1, inst_prefetch: bool = False, wave_specialized_tdm: bool = False, expert_sched_mode: bool = True,
) -> Any:  # fmt: skip
    """Return the launcher ``gemm(C, A, B, M, N, stream)``; ``M`` here is a hint, ``N`` too where it is 0.

    C has the type of A unless ``out_dtype`` names another. ``wave_specialized_tdm`` gives either matrix a wave that
    fetches it. The caches are told of tiles ``l2_prefetch_distance`` ahead of those that are sent for;
    ``expert_sched_mode`` has LLVM wait for results where the hardware would.
    """
    refuse(
        "inst_prefetch", inst_prefetch, False, "the loop is straight code, which the hardware's own prefetch follows"
    )
    require("in_dtype", in_dtype, ("fp16", "f16", "bf16"))
    require("out_dtype", out_dtype or in_dtype, NAMES)
    if tile_n & (tile_n - 1) or tile_n > 512:
        raise ValueError(f"tile_n must be a power of two of at most 512, got {tile_n}")
    names = NAMES[in_dtype], NAMES[out_dtype or in_dtype]
    assert names[0] in FORMATS and names[1] in OUT_DTYPES
    plan = TilePlan(K, names[0], names[0], names[1], tile_m, tile_n, tile_k, m_warp, n_warp, num_buffers, cluster_m,
                    cluster_n, specialised=wave_specialized_tdm, store_by_tiles=use_tdm_store,
                    prefetch=l2_prefetch_distance, expert=expert_sched_mode)  # fmt: skip
    return _launcher(plan, (M, N), waves_per_eu)


__all__ = ["compile_wmma_gemm_tdm"]
