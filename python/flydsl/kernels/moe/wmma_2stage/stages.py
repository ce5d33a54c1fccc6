"""A mixture of experts in two products on gfx1250.

stage1 = compile_moe_gemm1(model_dim=4096, inter_dim=1024, experts=64, topk=8, tile_m=32, tile_n=64, tile_k=256,
                           doweight_stage1=False, in_dtype="a8w4")
stage1(a2, x, w1, scale_x, scale_w1, sorted_ids, expert_ids, sorted_weights, num_valid, T, inter_dim, model_dim, blocks)

Calls, shapes and results are those of `moe_gemm_2stage`. Rows and weights are f16 or bf16, or have an E8M0 scale for
every 32 elements along K: fp4, fp8, or "a8w4", rows of fp8 with weights of fp4. Weights are `shuffle_weight` of all
experts' rows (`preshuffle_b_16x16` of bytes is the same). scale_x is [T, model / 32] and scale_a2 [T topk, inter / 32]
as quantisers give them; scales of weights are `scale_32x4`.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.inputs import flattened
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.gemm.wmma.gfx1250_plan import BLOCK
from flydsl.kernels.moe.moe_gemm_2stage.moe_reduce import MoeGemm2Mode, stage_in_mode
from flydsl.kernels.moe.moe_gemm_2stage.stages import (
    check_second_stage,
    require_dims,
    require_out,
    require_tokens,
    require_weights,
)
from flydsl.kernels.moe.wmma_2stage.expert_plan import GATHERED, IN_DTYPES, ExpertPlan
from flydsl.kernels.moe.wmma_2stage.expert_tiles import run_stage

N_WAVES, MOST_WAVES = 4, 32
"""Waves along N, unless a call says otherwise, since rows are few; and those of a workgroup at most."""


def row_waves(tile_m: int, n_warp: int) -> int:
    """Waves along M: so many that each fetches the rows of one descriptor, where 16 rows are left for each. November
    2026: with two descriptors of rows the first stages in fp8 and a8w4 spill 33 scalars."""
    waves = 1
    while tile_m > GATHERED * n_warp * waves and tile_m % (2 * BLOCK * waves) == 0 and 2 * waves * n_warp <= MOST_WAVES:
        waves *= 2
    return waves


def expert_plan(
    in_dtype: str, columns: int, depth: int, tiles: tuple[int, int, int], gated: bool, num_buffers: int = 2,
    waves: tuple[int | None, int] = (None, N_WAVES), k_batch: int = 1, **options: Any,
) -> ExpertPlan:  # fmt: skip
    """Return the plan of a stage of ``columns`` results for rows of ``depth``."""
    if in_dtype not in IN_DTYPES:
        raise ValueError(f"in_dtype must be one of {', '.join(IN_DTYPES)}, got {in_dtype!r}")
    if k_batch < 1 or depth % k_batch:
        raise ValueError(f"k_batch must divide {depth} elements, got {k_batch}")
    (tile_m, tile_n, tile_k), (a, b), (m_warp, n_warp) = tiles, IN_DTYPES[in_dtype], waves
    if tile_n <= 0 or tile_n % (BLOCK * n_warp):
        raise ValueError(f"tile_n must be a positive multiple of {BLOCK * n_warp}, 16 for each wave; got {tile_n}")
    m_warp = row_waves(tile_m, n_warp) if m_warp is None else m_warp
    return ExpertPlan(
        depth, a, b, "f32", tile_m, tile_n * (2 if gated else 1), tile_k, m_warp, n_warp, num_buffers,
        split_k=k_batch,
        scales="none" if a in ("f16", "bf16") else "32x4", store_by_tiles=False, columns=columns, gated=gated,
        **options,
    )  # fmt: skip


def stage_launcher(plan: ExpertPlan, dims: tuple[int, int], names: tuple[str, str], waves: int | None = None) -> Any:
    """``fn(out, a, w, scale_a, scale_w, ids, expert_ids, weights, num_valid, tokens, columns, depth, blocks, stream)``.

    ``dims`` are what the two dimensions of a call must be, called by ``names``.
    """

    @flyc.kernel(known_block_size=(plan.threads, 1, 1))
    def moe_wmma_kernel(
        out: fx.Tensor, a: fx.Tensor, w: fx.Tensor, scale_a: fx.Tensor | None, scale_w: fx.Tensor | None,
        ids: fx.Tensor, expert_ids: fx.Tensor, weights: fx.Tensor | None, num_valid: fx.Tensor, tokens: fx.Int32,
    ):  # fmt: skip
        order = (ids, expert_ids, weights, num_valid)
        run_stage(out, a, w, (scale_a, scale_w), order, tokens, plan)

    @flyc.jit
    def moe_wmma_stage(
        out: fx.Tensor, a: fx.Tensor, w: fx.Tensor, scale_a: fx.Tensor | None, scale_w: fx.Tensor | None,
        sorted_ids: fx.Tensor, expert_ids: fx.Tensor, sorted_weights: fx.Tensor | None, num_valid_ids: fx.Tensor,
        tokens: fx.Int32, columns: fx.Constexpr[int], depth: fx.Constexpr[int], n_blocks: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        require_dims((columns, depth), dims, names)
        require_out(out, plan)
        require_elements(a, w, scale_a, scale_w, plan)
        require_tokens(out, a, scale_a, tokens, plan)
        require_weights(w, scale_w, plan)
        given = (out, a, w, scale_a, scale_w, sorted_ids, expert_ids, sorted_weights)
        flat = [t if t is None else flattened(t) for t in given]
        moe_wmma_kernel(*flat, num_valid_ids, tokens).launch(
            grid=plan.grid(n_blocks), block=(plan.threads, 1, 1), stream=stream
        )

    if waves is not None:
        moe_wmma_stage.compile_hints["waves_per_eu"] = waves
    return moe_wmma_stage


def require_elements(a: Any, w: Any, scale_a: Any, scale_w: Any, plan: ExpertPlan) -> None:
    """Rows and weights of a type that the plan multiplies; scales where it has some."""
    for name, tensor, wanted in (("rows", a, plan.a.dtype), ("weights", w, plan.b.dtype)):
        right = tensor.dtype is wanted if wanted.width == 16 else tensor.dtype.width <= 8
        if not right:
            shown = wanted.__name__ if wanted.width == 16 else "bytes"
            raise ValueError(f"{name} must hold {shown} for this stage, not {tensor.dtype.__name__}")
    if plan.scaled_by_groups and (scale_a is None or scale_w is None):
        raise ValueError("this stage has scales for 32 elements of rows and of weights, and is called without")


@kept
def compile_moe_gemm1(
    *, model_dim: int, inter_dim: int, experts: int, topk: int, tile_m: int, tile_n: int, tile_k: int,
    doweight_stage1: bool, in_dtype: str = "fp8", group_size: int = -1, out_dtype: str = "f16",
    use_cshuffle_epilog: bool | None = None, scale_is_bf16: bool = False, k_batch: int = 1, num_buffers: int = 2,
    use_tdm_gather: bool = True, use_tdm_store: bool = True, wave_specialized_tdm: bool = False, cluster_m: int = 1,
    cluster_n: int = 1, m_warp: int | None = None, n_warp: int = N_WAVES, waves_per_eu: int | None = None,
    act: str = "silu",
) -> Any:  # fmt: skip
    """Return the launcher ``fn(out, x, w1, scale_x, scale_w1, sorted_ids, expert_ids, sorted_weights, num_valid_ids,
    tokens, inter_dim, model_dim, n_blocks, stream)``; out is [T, topk, inter].

    With ``k_batch`` above 1 out is [T, topk, 2 inter], f32 or bf16 and zero before: gate and up are added to it. The
    epilogue's, the tensor data mover's and clusters' options are ways to the same numbers and change nothing.
    """
    if out_dtype not in ("f16", "fp16", "bf16"):
        raise ValueError(f"out_dtype of the first stage must be f16 or bf16, got {out_dtype!r}")
    if act not in ("silu", "swiglu"):
        raise ValueError(f"act must be one of silu, swiglu, got {act!r}")
    without_groups(group_size, scale_is_bf16)
    plan = expert_plan(
        in_dtype, inter_dim, model_dim, (tile_m, tile_n, tile_k), True, num_buffers, (m_warp, n_warp), k_batch,
        experts=experts, topk=topk, weighted=doweight_stage1, out=out_dtype, act=act,
    )  # fmt: skip
    return stage_launcher(plan, (inter_dim, model_dim), ("inter_dim", "model_dim"), waves_per_eu)


@kept
def compile_moe_gemm2(
    *, model_dim: int, inter_dim: int, experts: int, topk: int, tile_m: int, tile_n: int, tile_k: int,
    doweight_stage2: bool, in_dtype: str = "fp8", group_size: int = -1, out_dtype: str = "f16",
    use_cshuffle_epilog: bool | None = None, accumulate: bool = True, scale_is_bf16: bool = False, num_buffers: int = 2,
    use_tdm_gather: bool = True, use_tdm_store: bool = True, wave_specialized_tdm: bool = False, cluster_m: int = 1,
    cluster_n: int = 1, m_warp: int | None = None, n_warp: int = N_WAVES, waves_per_eu: int | None = None,
) -> Any:  # fmt: skip
    """Return the launcher ``fn(out, a2, w2, scale_a2, scale_w2, sorted_ids, expert_ids, sorted_weights, num_valid_ids,
    tokens, model_dim, inter_dim, n_blocks, stream)``.

    With ``accumulate`` out is [T, model], zero before, and rows are added to it by atomics; else [T, topk, model].
    """
    check_second_stage(out_dtype, accumulate, use_cshuffle_epilog)
    without_groups(group_size, scale_is_bf16)
    plan = expert_plan(
        in_dtype, model_dim, inter_dim, (tile_m, tile_n, tile_k), False, num_buffers, (m_warp, n_warp),
        experts=experts, topk=topk, weighted=doweight_stage2, by_slot=True, out=out_dtype, accumulate=accumulate,
    )  # fmt: skip
    return stage_launcher(plan, (model_dim, inter_dim), ("model_dim", "inter_dim"), waves_per_eu)


def without_groups(group_size: int, scale_is_bf16: bool) -> None:
    if group_size not in (-1, 32) or scale_is_bf16:
        raise ValueError("scales of these stages are E8M0 for 32 elements: leave group_size and scale_is_bf16 out")


def compile_moe_gemm2_ex(
    *, topk: int, model_dim: int, out_dtype: str = "f16", mode: MoeGemm2Mode | str = MoeGemm2Mode.ATOMIC,
    valid_mask: Any = None, zero_intermediate: bool = True, **options: Any,
) -> Any:  # fmt: skip
    """`compile_moe_gemm2` with atomics, or with rows that a reduction adds, as `moe_gemm_2stage`'s."""
    shared = {"topk": topk, "model_dim": model_dim, "out_dtype": out_dtype, **options}
    return stage_in_mode(compile_moe_gemm2, mode, valid_mask, zero_intermediate, shared)


__all__ = ["MoeGemm2Mode", "compile_moe_gemm1", "compile_moe_gemm2", "compile_moe_gemm2_ex"]
