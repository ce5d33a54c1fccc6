"""The sum over a token's experts, and the second stage that ends with it instead of atomics.

reduction = compile_moe_reduction(topk=8, model_dim=7168, dtype_str="bf16")
reduction(X, Y, valid_mask, T, stream)

Y[t] is the sum of X[t, slot] over the slots, in f32 and rounded once, so that a result is the same in every run. Slots
that the mask leaves out are not read.
"""

from __future__ import annotations

import enum
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.exchange import begin_behind_older_launches
from flydsl.kernels.blocks.inputs import empty_beside, flattened, require_room, stream_of
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.narrow import number_of_e8m0
from flydsl.kernels.blocks.wide_pieces import ALIGNMENT, begin_aligned
from flydsl.kernels.moe.moe_gemm_2stage.stages import compile_moe_gemm2
from flydsl.kernels.moe.sorting import CLEARING, THREADS, clear
from flydsl.kernels.moe.topk_gating import expert_named

TYPES: dict[str, Any] = {"f32": fx.Float32, "f16": fx.Float16, "fp16": fx.Float16, "bf16": fx.BFloat16}
NAMES = {"f16": "float16", "fp16": "float16", "bf16": "bfloat16", "f32": "float32"}
WIDTH = 8
"""Columns of a thread."""
CODES, GROUP = "fp8", 32
"""Rows of codes with scales behind them, and codes that share one."""


@flyc.jit
def scaled_codes(X: Any, row: Any, first: Any, length: int) -> Any:
    """Eight numbers of a row of fp8 codes, which their scales follow, one for 32."""
    start = fx.recast_iter(fx.Uint8, fx.get_iter(X)) + row * (length + length // WIDTH)
    codes = fx.recast_iter(fx.Float8E4M3FN, start + first)
    scale = number_of_e8m0((start + (length + first // GROUP)).load())
    return fx.make_view(codes, fx.make_layout(WIDTH, 1)).load().to(fx.Float32) * scale


@flyc.jit
def sum_codes(X: Any, Y: Any, listed: Any, topk: int, length: int) -> None:
    """One thread: eight columns of a token's rows of fp8 codes."""
    token, first = fx.Int64(fx.block_idx.x), (fx.block_idx.y * THREADS + fx.thread_idx.x) * WIDTH
    if first < length:
        total = fx.Vector.filled(WIDTH, 0.0, fx.Float32)
        for slot in fx.range_constexpr(topk):
            if listed(fx.block_idx.x * topk + slot):
                total = total + scaled_codes(X, token * topk + slot, first, length)
        line = fx.make_view(fx.get_iter(Y) + (token * length + first), fx.make_layout(WIDTH, 1))
        line.store(total.to(Y.dtype))


@flyc.jit
def sum_slots(X: Any, Y: Any, listed: Any, topk: int, length: int, aligned: bool) -> None:
    """One thread: eight columns of a token, over the slots that ``listed`` says count."""
    source, target = (fx.get_iter(t).aligned(ALIGNMENT) if aligned else fx.get_iter(t) for t in (X, Y))
    token, first = fx.Int64(fx.block_idx.x), (fx.block_idx.y * THREADS + fx.thread_idx.x) * WIDTH
    inside = True
    if fx.const_expr(length % WIDTH != 0):
        inside = fx.Vector([first + i < length for i in range(WIDTH)], dtype=fx.Boolean)
    if first < length:
        total = fx.Vector.filled(WIDTH, 0.0, fx.Float32)
        for slot in fx.range_constexpr(topk):
            row = source + ((token * topk + slot) * length + first)
            line = fx.make_view(row, fx.make_layout(WIDTH, 1))
            if listed(fx.block_idx.x * topk + slot):
                total = total + line.load(mask=inside, other=0.0).to(fx.Float32)
        line = fx.make_view(target + (token * length + first), fx.make_layout(WIDTH, 1))
        line.store(total.to(Y.dtype), mask=inside)


@kept
def compile_moe_reduction(
    *, topk: int, model_dim: int, dtype_str: str = "f16", use_mask: bool = False, num_experts: int = 0,
    out_dtype_str: str | None = None, aligned: bool = False,
) -> Any:  # fmt: skip
    """Return the launcher ``fn(X[T, topk, D], Y[T, D], valid_mask i8[T, topk], T, stream)``.

    With ``num_experts`` it is ``fn(X, Y, expert_mask, topk_ids, T, stream)``: a slot counts if its expert is one of
    those, and the mask of it, unless that is None, is not 0. Without ``use_mask`` all count, and nothing is asked.
    ``aligned`` promises that X and Y begin at multiples of 16 bytes, which NVIDIA's wide accesses need.

    With "fp8" a row of X is D codes (e4m3fn), and behind them D / 8 bytes that begin with E8M0 scales, one for 32
    codes; Y is f16 or bf16.
    """
    out_dtype = out_dtype_str or ("bf16" if dtype_str == CODES else dtype_str)
    for name, value, known in (("dtype_str", dtype_str, (*TYPES, CODES)), ("out_dtype_str", out_dtype, TYPES)):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    if dtype_str == CODES and model_dim % GROUP:
        raise ValueError(f"model_dim must be a multiple of {GROUP} for rows of fp8, got {model_dim}")
    for name, value in (("topk", topk), ("model_dim", model_dim)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
    source, target = TYPES.get(dtype_str), TYPES[out_dtype]

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def moe_reduction_kernel(X: fx.Tensor, Y: fx.Tensor, mask: fx.Tensor | None, ids: fx.Tensor | None):
        def listed(place: Any) -> Any:
            if not use_mask:
                return True
            if ids is None:
                return mask[place] != 0
            expert = expert_named(ids[place], num_experts)
            return expert >= 0 if mask is None else (expert >= 0) & (mask[fx.max(expert, fx.Int32(0))] != 0)

        begin_behind_older_launches()
        if fx.const_expr(source is None):
            sum_codes(X, Y, listed, topk, model_dim)
        else:
            sum_slots(X, Y, listed, topk, model_dim, aligned and model_dim % WIDTH == 0)

    @flyc.jit
    def launch(X: Any, Y: Any, mask: Any, ids: Any, T: Any, stream: object) -> None:
        for name, tensor, dtype in (("X", X, source), ("Y", Y, target)):
            if tensor.dtype is not dtype if dtype is not None else tensor.dtype.width != 8:
                wanted = "bytes" if dtype is None else dtype.__name__
                raise ValueError(f"{name} must hold {wanted}, not {tensor.dtype.__name__}")
        slots = fx.Int64(T) * topk
        given = [("Y", Y, fx.Int64(T) * model_dim)]
        given.append(("X", X, slots * (model_dim if source else model_dim + model_dim // WIDTH)))
        if fx.const_expr(use_mask):
            given += [("topk_ids", ids, slots)] if ids is not None else [("valid_mask", mask, slots)]
        require_room(*given)
        if fx.const_expr(aligned and fx.nvvm.is_target()):
            fx.require(
                begin_aligned((X, Y)), f"X and Y were promised to begin at multiples of {ALIGNMENT} bytes",
                hint="pass tensors that do, or compile without aligned=True",
            )  # fmt: skip
        mask = flattened(mask) if use_mask and mask is not None else None
        ids = flattened(ids) if use_mask and ids is not None else None
        moe_reduction_kernel(flattened(X), flattened(Y), mask, ids).launch(
            grid=(T, -(-model_dim // (THREADS * WIDTH)), 1), block=(THREADS, 1, 1), stream=stream,
            pdl=fx.nvvm.has_dependent_launches(),
        )  # fmt: skip

    @flyc.jit
    def moe_reduction(
        X: fx.Tensor, Y: fx.Tensor, valid_mask: fx.Tensor | None, T: fx.Int32, stream: fx.Stream = fx.Stream(None)
    ):
        launch(X, Y, valid_mask, None, T, stream)

    @flyc.jit
    def moe_reduction_by_expert(
        X: fx.Tensor, Y: fx.Tensor, expert_mask: fx.Tensor | None, topk_ids: fx.Tensor | None, T: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        launch(X, Y, expert_mask, topk_ids, T, stream)

    return moe_reduction_by_expert if num_experts else moe_reduction


# The second stage with a reduction -----------------------------------------------------------------------------------


class MoeGemm2Mode(enum.Enum):
    """How the rows of a token's experts become one."""

    ATOMIC = "atomic"
    REDUCE = "reduce"


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def clear_kernel(buffer: fx.Tensor):
    clear(buffer)


@flyc.jit
def clear_rows(buffer: fx.Tensor, stream: fx.Stream = fx.Stream(None)):
    clear_kernel(flattened(buffer)).launch(grid=(CLEARING, 1, 1), block=(THREADS, 1, 1), stream=stream)


class ReducedStage:
    """The second stage with a row for each slot, and their sum. It is called as the stage that uses atomics."""

    mode = MoeGemm2Mode.REDUCE

    def __init__(self, stage: Any, out_dtype: str, topk: int, model_dim: int, mask: Any, zeroed: bool) -> None:
        self._stage, self._dtype, self._topk, self._model, self._mask = stage, out_dtype, topk, model_dim, mask
        self._zeroed = zeroed

    def __call__(
        self, out: Any, a2: Any, w2: Any, scale_a2: Any, scale_w2: Any, sorted_ids: Any, expert_ids: Any,
        sorted_weights: Any, num_valid_ids: Any, tokens: int, model_dim: int, inter_dim: int, n_blocks: int,
        valid_mask: Any = None, stream: object = None,
    ) -> None:  # fmt: skip
        stream = stream_of(out, stream)
        mask = self._mask if valid_mask is None else valid_mask
        rows = empty_beside(out, (tokens * self._topk, self._model), NAMES[self._dtype])
        if mask is None and self._zeroed:
            clear_rows(rows, stream)  # slots whose expert is elsewhere have no row
        self._stage(rows, a2, w2, scale_a2, scale_w2, sorted_ids, expert_ids, sorted_weights, num_valid_ids, tokens,
                    model_dim, inter_dim, n_blocks, stream)  # fmt: skip
        reduction = compile_moe_reduction(
            topk=self._topk, model_dim=self._model, dtype_str=self._dtype, use_mask=mask is not None
        )
        reduction(rows, out, mask, tokens, stream)


def compile_moe_gemm2_ex(
    *, topk: int, model_dim: int, out_dtype: str = "f16", mode: MoeGemm2Mode | str = MoeGemm2Mode.ATOMIC,
    valid_mask: Any = None, zero_intermediate: bool = True, **options: Any,
) -> Any:  # fmt: skip
    """`compile_moe_gemm2` with atomics, or with rows that a reduction adds; then a call takes ``valid_mask`` too.

    The rows are allocated by each call and set to zero unless there is a mask, or ``zero_intermediate`` is False: then
    every slot must have an expert here.
    """
    shared = {"topk": topk, "model_dim": model_dim, "out_dtype": out_dtype, **options}
    return stage_in_mode(compile_moe_gemm2, mode, valid_mask, zero_intermediate, shared)


def stage_in_mode(
    compile_stage: Any, mode: MoeGemm2Mode | str, mask: Any, zeroed: bool, options: dict[str, Any]
) -> Any:
    """Return a second stage of any kind, by atomics or with a reduction."""
    if MoeGemm2Mode(mode) is MoeGemm2Mode.ATOMIC:
        return compile_stage(**options, accumulate=True)
    stage = compile_stage(**options, accumulate=False)
    return ReducedStage(stage, options["out_dtype"], options["topk"], options["model_dim"], mask, zeroed)
