"""The two stages of experts whose rows and weights differ, with biases and limits: for gfx942 and gfx950.

stage1 = compile_mixed_moe_gemm1(model_dim=7168, inter_dim=256, experts=257, topk=9, tile_m=32, tile_n=128, tile_k=256,
                                 doweight_stage1=False, a_dtype="fp4", b_dtype="fp4", out_dtype="bf16")
stage1(out, x, w1, scale_x, scale_w1, sorted_ids, expert_ids, sorted_weights, num_valid, bias, out_scale_sorted, tokens,
       inter_dim, model_dim, n_blocks)

Rows and weights of fp4, rows of fp8 with weights of fp4, and both of "mxfp8" have an E8M0 scale for every 32 elements
and run on gfx950 (`mx_pipeline`): scales of rows lie in the order of experts, whose unit is then at least 32. Other
pairs are those of `moe_gemm_2stage`, with a scale for each row. A bias is f32 [E, 2 inter] or [E, model], or None.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.inputs import flattened, require_room
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.gemm.preshuffle.scales import WORD_DEPTH
from flydsl.kernels.gemm.preshuffle_plan import THREADS
from flydsl.kernels.moe.moe_gemm_2stage.stage_plan import StagePlan
from flydsl.kernels.moe.moe_gemm_2stage.stages import (
    ExpertPipeline,
    check_second_stage,
    require_dims,
    require_out,
    require_tokens,
    require_weights,
    run_stage,
    stage_plan,
)
from flydsl.kernels.moe.mxfp_moe.mx_pipeline import ExpertMxPipeline

KINDS = {("fp8", "fp8"): "fp8", ("fp16", "fp16"): "fp16", ("int8", "int8"): "int8", ("int8", "int4"): "int4",
         ("bf16", "bf16"): "bf16"}  # fmt: skip
"""Rows and weights with scales of rows -> kind of a stage."""
MX_KINDS = {("fp4", "fp4"): "int8", ("fp8", "fp4"): "fp8", ("mxfp8", "mxfp8"): "fp8"}
"""Rows and weights with scales for 32 elements -> bytes that the pipeline moves."""
LEAST_UNIT = 32
"""Entries that share an expert, at least, where scales lie in the order."""


class GateMode(enum.Enum):
    """How gate and up weights lie."""

    SEPARATED = "separated"
    MOCK_GATE_ONLY = "mock_gate_only"
    GATE_ONLY = "gate_only"
    INTERLEAVE = "interleave"


def mixed_plan(
    dtypes: tuple[str, str], columns: int, depth: int, tiles: tuple[int, int, int], gated: bool, k_batch: int = 1,
    depth_pad: int = 0, **options: Any,
) -> StagePlan:  # fmt: skip
    """Return the plan of a stage, of either sort of scales. Of rows the last ``depth_pad`` elements are left out."""
    if not 0 <= depth_pad < depth or (depth_pad and k_batch > 1):
        raise ValueError(f"padding of {depth_pad} of {depth} elements: it is less than all, and goes with k_batch=1")
    if dtypes in KINDS:
        plan = stage_plan(KINDS[dtypes], columns, depth, tiles, gated, k_batch, **options)
        return replace(plan, k=-(-(depth - depth_pad) // tiles[2]) * tiles[2]) if depth_pad else plan
    if dtypes not in MX_KINDS:
        known = ", ".join(f"{a} and {b}" for a, b in (*KINDS, *MX_KINDS))
        raise ValueError(f"a_dtype and b_dtype are {known}; got {dtypes[0]} and {dtypes[1]}")
    (tile_m, tile_n, tile_k), packed = tiles, 2 if dtypes[0] == "fp4" else 1
    for name, value in (("tile_k", tile_k), ("the other dimension", depth)):
        if value <= 0 or value % WORD_DEPTH:
            raise ValueError(
                f"{name} must be a positive multiple of {WORD_DEPTH}, whose scales share a word; got {value}"
            )
    if k_batch < 1 or depth % (k_batch * tile_k):
        raise ValueError(f"k_batch must divide {depth} elements into tiles of {tile_k}, got {k_batch}")
    multiplied = -(-(depth - depth_pad) // tile_k) * tile_k // k_batch
    unit = options.pop("unit", 0) or max(LEAST_UNIT, tile_m)
    return StagePlan(
        columns * (2 if gated else 1), multiplied // packed, tile_m, tile_n * (2 if gated else 1), tile_k // packed,
        MX_KINDS[dtypes], "fp16", scheduled=False, depth=depth // packed, gated=gated, scaled_blocks=True,
        k_batch=k_batch,
        mx=(dtypes[0].removeprefix("mx"), dtypes[1].removeprefix("mx")), unit=unit, **options,
    )  # fmt: skip


def mixed_launcher(plan: StagePlan, dims: tuple[int, int], names: tuple[str, str], waves: int | None) -> Any:
    """Launchers of the first and of the second stage; the second of `mixed_2stage` takes no scales of its result."""
    kind = ExpertMxPipeline if plan.mx[0] else ExpertPipeline

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def mixed_stage_kernel(
        out: fx.Tensor, a: fx.Tensor, w: fx.Tensor, scale_a: fx.Tensor | None, scale_w: fx.Tensor | None,
        ids: fx.Tensor, expert_ids: fx.Tensor, weights: fx.Tensor | None, num_valid: fx.Tensor, bias: fx.Tensor | None,
        out_scale: fx.Tensor | None, tokens: fx.Int32,
    ):  # fmt: skip
        scales = (scale_a, scale_w, bias, out_scale)
        run_stage(out, a, w, scales, (ids, expert_ids, weights, num_valid), tokens, plan, kind)

    @flyc.jit
    def mixed_stage1(
        out: fx.Tensor, x: fx.Tensor, w: fx.Tensor, scale_x: fx.Tensor | None, scale_w: fx.Tensor | None,
        sorted_ids: fx.Tensor, expert_ids: fx.Tensor, sorted_weights: fx.Tensor | None, num_valid_ids: fx.Tensor,
        bias: fx.Tensor | None, out_scale_sorted: fx.Tensor | None, tokens: fx.Int32, columns: fx.Constexpr[int],
        depth: fx.Constexpr[int], n_blocks: fx.Int32, stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        require_dims((columns, depth), dims, names)
        require_out(out, plan)
        require_bias(bias, plan)
        require_tokens(out, x, scale_x, tokens, plan)
        require_weights(w, scale_w, plan)
        given = (out, x, w, scale_x, scale_w, sorted_ids, expert_ids, sorted_weights, num_valid_ids, bias)
        flat = [t if t is None else flattened(t) for t in (*given, out_scale_sorted)]
        mixed_stage_kernel(*flat, tokens).launch(grid=plan.stage_blocks(n_blocks), block=(THREADS, 1, 1), stream=stream)

    @flyc.jit
    def mixed_stage2(
        out: fx.Tensor, a2: fx.Tensor, w: fx.Tensor, scale_a2: fx.Tensor | None, scale_w: fx.Tensor | None,
        sorted_ids: fx.Tensor, expert_ids: fx.Tensor, sorted_weights: fx.Tensor | None, num_valid_ids: fx.Tensor,
        bias: fx.Tensor | None, tokens: fx.Int32, columns: fx.Constexpr[int], depth: fx.Constexpr[int],
        n_blocks: fx.Int32, stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        mixed_stage1(out, a2, w, scale_a2, scale_w, sorted_ids, expert_ids, sorted_weights, num_valid_ids, bias, None,
                     tokens, columns, depth, n_blocks, stream)  # fmt: skip

    launcher = mixed_stage1 if plan.gated or plan.quantised or plan.rows_in_order else mixed_stage2
    if waves is not None:
        launcher.compile_hints["waves_per_eu"] = waves
    return launcher


def require_bias(bias: Any, plan: StagePlan) -> None:
    if plan.biased_rows and bias is None:
        raise ValueError("this stage was compiled with enable_bias=True, and is called without a bias")
    if plan.biased_rows:
        require_room(("bias", bias, plan.experts * plan.n))


def check_gates(mode: GateMode, k_batch: int, dtypes: tuple[str, str], a_scale_one: bool) -> None:
    """What a way to lay gate and up asks for."""
    if mode is GateMode.GATE_ONLY:
        raise NotImplementedError("gates alone have no kernel: give gate and up")
    if mode is GateMode.MOCK_GATE_ONLY and k_batch < 2:
        raise ValueError("GateMode.MOCK_GATE_ONLY leaves gate and up apart, as k_batch above 1 does: give one")
    if dtypes not in MX_KINDS and (mode is GateMode.INTERLEAVE or a_scale_one):
        raise ValueError("weights of gate and up in turns, and rows without scales, are for scales of 32 elements")


@kept
def compile_mixed_moe_gemm1(
    *, model_dim: int, inter_dim: int, experts: int, topk: int, tile_m: int, tile_n: int, tile_k: int,
    doweight_stage1: bool, a_dtype: str = "fp8", b_dtype: str = "fp4", out_dtype: str = "f16", act: str = "silu",
    use_cshuffle_epilog: bool | None = None, enable_bias: bool = False, model_dim_pad: int = 0, inter_dim_pad: int = 0,
    persist_m: int = 1, use_async_copy: bool = False, waves_per_eu: int | None = None, k_batch: int = 1, b_nt: int = 0,
    gate_mode: GateMode = GateMode.SEPARATED, a_scale_one: bool = False, xcd_swizzle: int = 0,
    swiglu_limit: float = 0.0,
) -> Any:  # fmt: skip
    """Return the first stage, ``fn(out, x, w1, scale_x, scale_w1, sorted_ids, expert_ids, sorted_weights, num_valid,
    bias, out_scale_sorted, tokens, inter_dim, model_dim, n_blocks, stream)``.

    ``act`` "swiglu" limits gate and up to ``swiglu_limit`` (7.0), with a slope of 1.702 and one added to up.
    ``out_dtype`` "fp4" and "fp8" give codes, and scales in the order of experts. With GateMode.INTERLEAVE weights and
    scales are those of `shuffle_weight_w4` and `shuffle_scale_w4` with ``gate_up=True``. With ``a_scale_one`` scales of
    rows are 1 and none is read. Dimensions contain their padding: the last ``model_dim_pad`` elements of rows and
    weights are left out, up to the end of a tile, where they must be zeros. ``inter_dim_pad`` columns, ``persist_m``,
    ``use_async_copy``, ``b_nt`` and ``xcd_swizzle`` are ways to the same numbers and change nothing.

    With ``k_batch`` above 1 out is [T, topk, 2 inter], f32 or bf16 and zero before: gate and up are added to it.
    """
    if act not in ("silu", "swiglu"):
        raise ValueError(f"act must be one of silu, swiglu, got {act!r}")
    check_gates(gate_mode, k_batch, (a_dtype, b_dtype), a_scale_one)
    out_dtype = "bf16" if k_batch > 1 else out_dtype
    plan = mixed_plan(
        (a_dtype, b_dtype), inter_dim, model_dim, (tile_m, tile_n, tile_k), True, experts=experts, topk=topk,
        weighted=doweight_stage1, out=out_dtype, act=act, limit=swiglu_limit, biased_rows=enable_bias, k_batch=k_batch,
        interleaved=gate_mode is GateMode.INTERLEAVE, unit_rows=a_scale_one, depth_pad=model_dim_pad,
    )  # fmt: skip
    return mixed_launcher(plan, (inter_dim, model_dim), ("inter_dim", "model_dim"), waves_per_eu)


@kept
def compile_mixed_moe_gemm2(
    *, model_dim: int, inter_dim: int, experts: int, topk: int, tile_m: int, tile_n: int, tile_k: int,
    doweight_stage2: bool, a_dtype: str = "fp8", b_dtype: str = "fp4", out_dtype: str = "f16",
    use_cshuffle_epilog: bool | None = None, accumulate: bool = True, enable_bias: bool = False, model_dim_pad: int = 0,
    inter_dim_pad: int = 0, persist_m: int = 4, sort_block_m: int = 0, b_nt: int = 2, xcd_swizzle: int = 0,
) -> Any:  # fmt: skip
    """Return the second stage, ``fn(out, a2, w2, scale_a2, scale_w2, sorted_ids, expert_ids, sorted_weights, num_valid,
    bias, tokens, model_dim, inter_dim, n_blocks, stream)``; ``sort_block_m`` are the entries that share an expert, if
    they are more than a tile's. The last ``inter_dim_pad`` elements of rows are left out, as
    `compile_mixed_moe_gemm1`'s."""
    check_second_stage(out_dtype, accumulate, use_cshuffle_epilog)
    plan = mixed_plan(
        (a_dtype, b_dtype), model_dim, inter_dim, (tile_m, tile_n, tile_k), False, experts=experts, topk=topk,
        weighted=doweight_stage2, by_slot=True, out=out_dtype, accumulate=accumulate, biased_rows=enable_bias,
        unit=sort_block_m, depth_pad=inter_dim_pad,
    )  # fmt: skip
    return mixed_launcher(plan, (model_dim, inter_dim), ("model_dim", "inter_dim"), None)
