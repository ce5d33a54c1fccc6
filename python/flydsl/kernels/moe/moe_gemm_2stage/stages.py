"""A mixture of experts in two products, for AMD's matrix cores (gfx942, gfx950).

stage1 = compile_moe_gemm1(model_dim=7168, inter_dim=2048, experts=256, topk=8, tile_m=32, tile_n=128, tile_k=128,
                           doweight_stage1=False, in_dtype="fp8")
stage1(a2, x, w1, scale_x, scale_w1, sorted_ids, expert_ids, sorted_weights, num_valid, T, inter_dim, model_dim, blocks)

The first gives silu(x . gate) * (x . up) of each token and each of its experts, the second the product of that with the
expert's last weights, times the weight of the expert: added up by atomics, or a row for each slot, which
`moe_reduce` adds. Rows come in the order of `sorting`, so that a tile of rows has one expert.

It is the pipeline of `gemm.preshuffle_gemm` but for two things: rows of A are gathered, each thread keeping the offsets
of its rows in registers, and B begins at an expert's weights. A row of padding has an offset behind the end of A, where
nothing is read. Weights are shuffled as that GEMM's, all experts' rows below each other.

x is [T, model], for int8smooth [topk, T, model]; w1 is [E, 2 inter, model], gate rows before up rows; a2 is
[T, topk, inter], w2 [E, model, inter]. 8-bit kinds have a scale for each row of x, a2, w1 and w2. int4 has int8 rows
and weights of `pack_int4(shuffle_weight(w))`; int4_bf16 has bf16 rows and the same weights, with a scale for each row
or, in groups of 32 along K, [E, K / 32, N] of them (`shuffle_scale_for_int4`). An array of rows takes less than 2 GiB.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.blocks.inputs import flattened, require_bytes, require_room, require_type
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.gemm.preshuffle.weights import FourBitWeights, Weights
from flydsl.kernels.gemm.preshuffle_gemm import Pipeline, check_elements, multiply_all, row_copy, tiled_instruction
from flydsl.kernels.gemm.preshuffle_plan import BLOCK, THREADS, WAVES
from flydsl.kernels.moe.moe_gemm_2stage.nibble_weights import NibbleWeights
from flydsl.kernels.moe.moe_gemm_2stage.stage_epilogue import Factors, finish
from flydsl.kernels.moe.moe_gemm_2stage.stage_plan import (
    FAR_BYTES,
    IN_DTYPES,
    MIXED_DTYPES,
    OUT_DTYPES,
    Rows,
    StagePlan,
)

# The pipeline --------------------------------------------------------------------------------------------------------


class ExpertPipeline(Pipeline):
    """Rows that the order lists, times the weights of their expert."""

    BY_ROWS = False

    def __init__(self, plan: StagePlan, A: Any, B: Any, scales: Any, rows: Rows, at: tuple[Any, Any, Any]) -> None:
        """``scales`` are those of rows and columns, which some kinds apply before the end; ``at`` is the expert, the
        tile of columns and the part of K."""
        self.scales, self.rows, (self.expert, column, self.part) = scales, rows, at
        super().__init__(plan, A, B, None, column, None)

    def check(self, A: Any, B: Any, dtype: Any) -> None:
        check_elements(A, B, dtype, fx.Int8 if self.plan.packed or self.plan.nibbles else dtype)

    def find_rows(self, A: Any, m: Any, row: fx.Int32) -> None:
        plan, rows = self.plan, self.rows
        far = fx.Int32(FAR_BYTES // plan.elem_bytes)
        tile = fx.make_identity_tensor((plan.staged_rows, plan.tile_k))
        places = row_copy(self.buffer, plan).get_slice(self.thread).partition_S(tile)
        self.a_end = rows.sources * plan.depth
        start = rocdl.make_buffer_ptr(fx.get_iter(A), fx.Int64(self.a_end) * plan.elem_bytes)
        self.a_in_memory = []
        for load in range(plan.a_loads):
            row, column = fx.get_leaves(places[0, load, 0])
            entry, valid = rows.entry(fx.min(row, fx.Int32(plan.tile_m - 1)))
            found = rows.source(entry) * plan.depth + (column + self.part * plan.k)
            place = (valid & (row < plan.tile_m)).select(found, far)
            self.a_in_memory.append(fx.make_view(start + place, fx.make_layout((plan.piece, 1), (1, 0))))

    def fetch_rows(self, at: Any) -> None:
        for load, row in enumerate(self.a_in_memory):
            fx.copy(self.buffer, row, self.fetched[None, load, 0], soffset=at)

    def weights_of(self, B: Any, column: fx.Int32, dtype: Any) -> Any:
        plan, piece, depth = self.plan, self.plan.b_piece, self.plan.b_depth
        span = plan.tile * plan.parts if plan.interleaved else plan.columns * (plan.parts - 1) + plan.tile
        if plan.nibbles:
            self.b_end = span * plan.depth
            return NibbleWeights(plan, B, self.scales[1], (self.expert, column, self.part), self.tiled)
        skipped = self.part * (BLOCK * plan.k)  # by the parts of K before this one
        self.b_end = span * plan.depth - skipped
        skipped = skipped // 2 if plan.packed else skipped
        between = plan.parts if plan.interleaved else 1
        first = (fx.Int64(self.expert) * plan.n + column * (plan.tile * between)) * depth + skipped
        records = (span * depth - skipped) * B.dtype.width // 8
        # Blocks of 16 columns go to the waves in turn; the gate's and the up projection's alternate in each wave.
        blocks = (BLOCK, WAVES, plan.parts, plan.tile // (BLOCK * WAVES))
        parts = BLOCK if plan.interleaved else plan.columns
        steps = (piece, between * BLOCK * depth, parts * depth, WAVES * between * BLOCK * depth)
        layout = fx.make_layout((blocks, (piece, depth // piece)), (steps, (1, BLOCK * piece)))
        view = fx.make_view(rocdl.make_buffer_ptr(fx.get_iter(B) + first, records), layout)
        return (FourBitWeights if plan.packed else Weights)(plan, view, self.tiled, dtype)


def elements_of(tensor: Any, dtype: Any) -> Any:
    """Return a tensor whose bytes are elements of a type: 8-bit floats may come as integers."""
    if tensor.dtype.width != 8 or dtype.width != 8:
        return tensor
    return fx.make_view(fx.recast_iter(dtype, fx.get_iter(tensor)), tensor.layout)


# The kernel ----------------------------------------------------------------------------------------------------------


@flyc.jit
def run_stage(
    out: Any, A: Any, B: Any, scales: Any, order: Any, tokens: Any, plan: StagePlan, kind: Any = ExpertPipeline
) -> None:
    """One block: a tile of rows by a tile of columns. ``scales`` are those of rows, of columns, a bias, and where those
    of the result go."""
    ids, expert_ids, weights, num_valid = order
    across = plan.columns // plan.tile
    column, block = fx.block_idx.x % across, fx.block_idx.x // across
    if block * plan.tile_m < num_valid[0]:
        expert = rocdl.readfirstlane(fx.Int32(expert_ids[block * plan.tile_m // plan.block_rows]))
        if (expert >= 0) & (expert < plan.experts):
            rows = Rows(plan, ids, weights, block, tokens)
            dtype = tiled_instruction(plan).dtype
            b = elements_of(B, fx.Int8 if plan.packed or plan.nibbles else dtype)
            pipeline = kind(plan, elements_of(A, dtype), b, scales, rows, (expert, column, fx.block_idx.z))
            multiply_all(pipeline, plan)
            finish(pipeline, rows, out, Factors(plan, rows, scales[:3], expert, column), column, scales[-1])


def stage_launcher(
    plan: StagePlan, dims: tuple[int, int], names: tuple[str, str], kind: Any = ExpertPipeline, waves: int | None = None
) -> Any:
    """``fn(out, a, w, scale_a, scale_w, ids, expert_ids, weights, num_valid, tokens, columns, depth, blocks, stream)``.

    ``dims`` are what the two dimensions of a call must be, called by ``names``.
    """

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def moe_stage_kernel(
        out: fx.Tensor, a: fx.Tensor, w: fx.Tensor, scale_a: fx.Tensor | None, scale_w: fx.Tensor | None,
        ids: fx.Tensor, expert_ids: fx.Tensor, weights: fx.Tensor | None, num_valid: fx.Tensor, tokens: fx.Int32,
    ):  # fmt: skip
        run_stage(out, a, w, (scale_a, scale_w, None, None), (ids, expert_ids, weights, num_valid), tokens, plan, kind)

    @flyc.jit
    def moe_stage(
        out: fx.Tensor, a: fx.Tensor, w: fx.Tensor, scale_a: fx.Tensor | None, scale_w: fx.Tensor | None,
        sorted_ids: fx.Tensor, expert_ids: fx.Tensor, sorted_weights: fx.Tensor | None, num_valid_ids: fx.Tensor,
        tokens: fx.Int32, columns: fx.Constexpr[int], depth: fx.Constexpr[int], n_blocks: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        require_dims((columns, depth), dims, names)
        require_type((sorted_ids, expert_ids, num_valid_ids), fx.Int32)
        require_out(out, plan)
        require_tokens(out, a, scale_a, tokens, plan)
        require_weights(w, scale_w, plan)
        flat = [t if t is None else flattened(t) for t in (out, a, w, scale_a, scale_w)]
        order = [flattened(t) for t in (sorted_ids, expert_ids)]
        moe_stage_kernel(*flat, *order, sorted_weights, num_valid_ids, tokens).launch(
            grid=plan.stage_blocks(n_blocks), block=(THREADS, 1, 1), stream=stream
        )

    if waves is not None:
        moe_stage.compile_hints["waves_per_eu"] = waves
    return moe_stage


def require_tokens(out: Any, a: Any, scale_a: Any, tokens: Any, plan: Any) -> None:
    """Have a launch refuse rows, their scales and results of fewer tokens; those that lie in order are not counted by
    tokens."""
    slots = fx.Int64(tokens) * plan.topk
    if not plan.rows_in_order:
        sources = slots if plan.by_slot else fx.Int64(tokens)
        require_bytes(("the array of rows", a, sources * plan.source_bytes))
        _require_scales("the array of scales of rows", scale_a, sources * plan.source_scales, plan)
    if not (plan.result_in_order or plan.quantised):
        rows = fx.Int64(tokens) if plan.accumulate else slots
        require_room(("out", out, rows * (plan.n if plan.split else plan.columns)))


def require_weights(w: Any, scale_w: Any, plan: Any) -> None:
    """Have a launch refuse weights, or scales of them, of fewer experts or smaller ones."""
    require_bytes(("the array of weights", w, plan.weight_bytes))
    _require_scales("the array of scales of weights", scale_w, plan.weight_scales, plan)


def _require_scales(name: str, scales: Any, least: Any, plan: Any) -> None:
    if scales is not None:
        (require_bytes if plan.byte_scales else require_room)((name, scales, least))


def require_dims(given: tuple[int, int], known: tuple[int, int], names: tuple[str, str]) -> None:
    for name, value, compiled in zip(names, given, known, strict=True):
        if value != compiled:
            raise ValueError(f"this stage was compiled for {name} = {compiled}, and is called with {value}")


def require_out(out: Any, plan: StagePlan) -> None:
    if plan.quantised:
        return
    wanted = (fx.Float32, fx.BFloat16) if plan.split else (OUT_DTYPES[plan.out],)
    if out.dtype not in wanted:
        raise ValueError(f"out must hold {' or '.join(t.__name__ for t in wanted)}, not {out.dtype.__name__}")


def stage_plan(
    in_dtype: str, columns: int, depth: int, tiles: tuple[int, int, int], gated: bool, k_batch: int = 1,
    group_size: int = -1, scheduled: bool = True, **options: Any,
) -> StagePlan:  # fmt: skip
    """Return the plan of a stage of ``columns`` results for rows of ``depth``."""
    if in_dtype not in MIXED_DTYPES:
        raise ValueError(f"in_dtype must be one of {', '.join(IN_DTYPES)}, got {in_dtype!r}")
    if k_batch < 1 or depth % k_batch:
        raise ValueError(f"k_batch must divide {depth} elements, got {k_batch}")
    parts, (tile_m, tile_n, tile_k) = 2 if gated else 1, tiles
    return StagePlan(
        columns * parts, depth // k_batch, tile_m, tile_n * parts, tile_k, MIXED_DTYPES[in_dtype], "fp16",
        scheduled=scheduled and not in_dtype.endswith("4_bf16"), depth=depth, k_batch=k_batch, gated=gated,
        smooth=in_dtype == "int8smooth", nibbles={"int4_bf16": "int4", "mxfp4_bf16": "mxfp4"}.get(in_dtype, ""),
        group=max(group_size, 0), **options,
    )  # fmt: skip


@kept
def compile_moe_gemm1(
    *, model_dim: int, inter_dim: int, experts: int, topk: int, tile_m: int, tile_n: int, tile_k: int,
    doweight_stage1: bool, in_dtype: str = "fp8", group_size: int = -1, out_dtype: str = "f16",
    use_cshuffle_epilog: bool | None = None, scale_is_bf16: bool = False, k_batch: int = 1,
) -> Any:  # fmt: skip
    """Return the launcher ``fn(out, x, w1, scale_x, scale_w1, sorted_ids, expert_ids, sorted_weights, num_valid_ids,
    tokens, inter_dim, model_dim, n_blocks, stream)``; out is [T, topk, inter].

    With ``k_batch`` above 1 out is [T, topk, 2 inter], f32 or bf16 and zero before: gate and up are added to it, and
    neither silu nor weights are. ``use_cshuffle_epilog`` is a way to the same numbers and changes nothing.
    """
    if out_dtype not in ("f16", "fp16", "bf16"):
        raise ValueError(f"out_dtype of the first stage must be f16 or bf16, got {out_dtype!r}")
    plan = stage_plan(
        in_dtype, inter_dim, model_dim, (tile_m, tile_n, tile_k), True, k_batch, experts=experts, topk=topk,
        weighted=doweight_stage1, by_slot=in_dtype == "int8smooth", out=out_dtype, group_size=group_size,
        group_scales="pairs" if scale_is_bf16 else "columns",
    )  # fmt: skip
    return stage_launcher(plan, (inter_dim, model_dim), ("inter_dim", "model_dim"))


@kept
def compile_moe_gemm2(
    *, model_dim: int, inter_dim: int, experts: int, topk: int, tile_m: int, tile_n: int, tile_k: int,
    doweight_stage2: bool, in_dtype: str = "fp8", group_size: int = -1, out_dtype: str = "f16",
    use_cshuffle_epilog: bool | None = None, accumulate: bool = True, scale_is_bf16: bool = False,
) -> Any:  # fmt: skip
    """Return the launcher ``fn(out, a2, w2, scale_a2, scale_w2, sorted_ids, expert_ids, sorted_weights, num_valid_ids,
    tokens, model_dim, inter_dim, n_blocks, stream)``.

    With ``accumulate`` out is [T, model], zero before, and rows are added to it by atomics; else [T, topk, model].
    """
    check_second_stage(out_dtype, accumulate, use_cshuffle_epilog)
    plan = stage_plan(
        in_dtype, model_dim, inter_dim, (tile_m, tile_n, tile_k), False, experts=experts, topk=topk,
        weighted=doweight_stage2, by_slot=True, out=out_dtype, accumulate=accumulate, group_size=group_size,
        group_scales="pairs" if scale_is_bf16 else "columns",
    )  # fmt: skip
    return stage_launcher(replace(plan, smooth=False), (model_dim, inter_dim), ("model_dim", "inter_dim"))


def check_second_stage(out_dtype: str, accumulate: bool, cshuffle: bool | None) -> None:
    if out_dtype not in OUT_DTYPES:
        raise ValueError(f"out_dtype must be one of {', '.join(OUT_DTYPES)}, got {out_dtype!r}")
    if out_dtype == "f32" and not accumulate:
        raise ValueError("a row for each slot is f16 or bf16; f32 is for accumulate=True")
    if cshuffle is not None and cshuffle != (out_dtype != "f32"):
        raise ValueError("results of 16 bits go through LDS and f32 does not: leave use_cshuffle_epilog out")
