"""The two stages of a mixture of experts in fp8 with a scale for every 128 elements of K (gfx942, gfx950).

stage1 = compile_moe_blockscale_gemm1(model_dim=7168, inter_dim=256, experts=256, topk=8, tile_m=32, tile_n=128,
                                      tile_k=128, doweight_stage1=False)

Calls are those of `moe_gemm_2stage`. scale_x is f32 [model / 128][T], scale_a2 [inter / 128][T topk], each a row for a
block of K, or with ``scales_by_row`` the other way round, as quantisers give them; weights have a scale for each 128 x
128 elements, [E][N / 128][K / 128].

It is the experts' pipeline with the sums of blocks of `gemm.blockscale_preshuffle_gemm`; scales of rows are gathered as
the rows are.
"""

from __future__ import annotations

from typing import Any

import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.gemm.blockscale_preshuffle_gemm import SCALE_BLOCK, BlockSums
from flydsl.kernels.gemm.preshuffle_plan import BLOCK, WAVES
from flydsl.kernels.moe.moe_gemm_2stage.moe_reduce import MoeGemm2Mode, compile_moe_reduction, stage_in_mode
from flydsl.kernels.moe.moe_gemm_2stage.stage_plan import FAR_BYTES, Rows, StagePlan
from flydsl.kernels.moe.moe_gemm_2stage.stages import ExpertPipeline, check_second_stage, stage_launcher, stage_plan


class ExpertBlockPipeline(BlockSums, ExpertPipeline):
    """The experts' pipeline with sums of blocks."""

    def __init__(self, plan: StagePlan, A: Any, B: Any, scales: Any, rows: Rows, at: tuple[Any, Any, Any]) -> None:
        super().__init__(plan, A, B, scales, rows, at)
        expert, column, _ = at
        self.make_sums()
        blocks = plan.depth // SCALE_BLOCK
        start = rocdl.make_buffer_ptr(fx.get_iter(scales[0]), fx.Int64(rows.sources) * (blocks * 4))
        self.a_scales = []
        of_rows = self.tiled.get_slice(self.thread).partition_C(fx.make_identity_tensor((plan.tile_n, plan.tile_m)))
        for i in range(plan.row_tiles):
            entry, valid = rows.entry(fx.get_leaves(of_rows[0, 0, i])[1])
            step = blocks if plan.scales_by_row else 1
            place = valid.select(rows.source(entry) * step, fx.Int32(FAR_BYTES // 4))
            self.a_scales.append(fx.make_view(start + place, fx.make_layout(1, 1)))
        self.b_scales = fx.get_iter(scales[1]) + fx.Int64(expert) * (plan.n // SCALE_BLOCK * blocks)
        self.rows_of_b = []
        for j in range(plan.column_tiles):
            first = column * plan.tile + (j % plan.parts * plan.columns + j // plan.parts * (BLOCK * WAVES))
            self.rows_of_b.append(first // SCALE_BLOCK * blocks)

    def fetch_scales(self, tile: int, block: int, at: Any) -> None:
        for i, row in enumerate(self.a_scales):
            target = self.row_scales[tile % 2][i : i + 1, block]
            fx.copy(self.number, row, target, soffset=at if self.plan.scales_by_row else at * self.rows.sources)
        for j, first in enumerate(self.rows_of_b):
            self.column_scales[tile % 2][j, block] = (self.b_scales + (first + at)).load()


def check_blocks(scale_block_k: int, **dims: int) -> None:
    if scale_block_k != SCALE_BLOCK:
        raise ValueError(f"scale_block_k must be {SCALE_BLOCK}, got {scale_block_k}")
    for name, value in dims.items():
        if value <= 0 or value % SCALE_BLOCK:
            raise ValueError(f"{name} must be a positive multiple of {SCALE_BLOCK}, a block of scales; got {value}")


@kept
def compile_moe_blockscale_gemm1(
    *, model_dim: int, inter_dim: int, experts: int, topk: int, tile_m: int, tile_n: int, tile_k: int,
    doweight_stage1: bool, scale_block_k: int = SCALE_BLOCK, out_dtype: str = "f16",
    use_cshuffle_epilog: bool | None = None, waves_per_eu: int | None = None, scales_by_row: bool = False,
) -> Any:  # fmt: skip
    """Return the first stage, called as `compile_moe_gemm1`'s."""
    check_blocks(scale_block_k, model_dim=model_dim, inter_dim=inter_dim, tile_k=tile_k)
    if out_dtype not in ("f16", "fp16", "bf16"):
        raise ValueError(f"out_dtype of the first stage must be f16 or bf16, got {out_dtype!r}")
    plan = stage_plan(
        "fp8", inter_dim, model_dim, (tile_m, tile_n, tile_k), True, experts=experts, topk=topk, scheduled=False,
        weighted=doweight_stage1, out=out_dtype, scaled_blocks=True,
        scales_by_row=scales_by_row,
    )  # fmt: skip
    return stage_launcher(plan, (inter_dim, model_dim), ("inter_dim", "model_dim"), ExpertBlockPipeline, waves_per_eu)


@kept
def compile_moe_blockscale_gemm2(
    *, model_dim: int, inter_dim: int, experts: int, topk: int, tile_m: int, tile_n: int, tile_k: int,
    doweight_stage2: bool, scale_block_k: int = SCALE_BLOCK, out_dtype: str = "f16",
    use_cshuffle_epilog: bool | None = None, accumulate: bool = True, waves_per_eu: int | None = None,
    scales_by_row: bool = False,
) -> Any:  # fmt: skip
    """Return the second stage, called as `compile_moe_gemm2`'s."""
    check_blocks(scale_block_k, model_dim=model_dim, inter_dim=inter_dim, tile_k=tile_k)
    check_second_stage(out_dtype, accumulate, use_cshuffle_epilog)
    plan = stage_plan(
        "fp8", model_dim, inter_dim, (tile_m, tile_n, tile_k), False, experts=experts, topk=topk, scheduled=False,
        weighted=doweight_stage2, by_slot=True, out=out_dtype, accumulate=accumulate, scaled_blocks=True,
        scales_by_row=scales_by_row,
    )  # fmt: skip
    return stage_launcher(plan, (model_dim, inter_dim), ("model_dim", "inter_dim"), ExpertBlockPipeline, waves_per_eu)


def compile_moe_blockscale_gemm2_ex(
    *, topk: int, model_dim: int, out_dtype: str = "f16", mode: MoeGemm2Mode | str = MoeGemm2Mode.ATOMIC,
    valid_mask: Any = None, zero_intermediate: bool = True, **options: Any,
) -> Any:  # fmt: skip
    """Return the second stage with atomics, or with rows that a reduction adds, as `compile_moe_gemm2_ex`."""
    shared = {"topk": topk, "model_dim": model_dim, "out_dtype": out_dtype, **options}
    return stage_in_mode(compile_moe_blockscale_gemm2, mode, valid_mask, zero_intermediate, shared)


__all__ = [
    "MoeGemm2Mode", "compile_moe_blockscale_gemm1", "compile_moe_blockscale_gemm2", "compile_moe_blockscale_gemm2_ex",
    "compile_moe_reduction",
]  # fmt: skip
