"""A whole layer of experts: weights put in order once, then sorting, two products and a sum for each call.

experts = prepare_experts(w1, w2, kind="fp8", arch="gfx950")
run_experts(x, topk_ids, topk_weights, experts, y)

w1 is [E, 2 inter, model], gate rows before up rows, w2 [E, model, inter]; x is [T, model] and y too. On AMD's matrix
cores (gfx942, gfx950) the stages are those of `moe_gemm_2stage` and `blockscale_2stage`; on Hopper (sm_90a) they are
products of groups of rows, gathered on the way in and scattered on the way out. The host reads nothing back.

Rows of a token's experts are written apart and added up at the end, so that results are the same in every run; with
``atomic`` they are added up by atomics, in the type of y.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flydsl.kernels.blocks.inputs import contiguous, empty_beside, stream_of
from flydsl.kernels.gemm.hopper_grouped import hopper_grouped_gemm
from flydsl.kernels.gemm.hopper_operands import address
from flydsl.kernels.moe.blockscale_2stage import compile_moe_blockscale_gemm1, compile_moe_blockscale_gemm2
from flydsl.kernels.moe.moe_gemm_2stage.moe_reduce import ALIGNMENT, clear_rows, compile_moe_reduction
from flydsl.kernels.moe.moe_gemm_2stage.stage_plan import FAR_BYTES
from flydsl.kernels.moe.moe_gemm_2stage.stages import compile_moe_gemm1, compile_moe_gemm2
from flydsl.kernels.moe.references import order_length
from flydsl.kernels.moe.sorting import moe_sorting_flydsl, sort_rows
from flydsl.kernels.quant.device_quant import build_block_quant_module, build_row_quant_module
from flydsl.kernels.quant.shuffles import pack_int4, shuffle_weight

FP8 = {"gfx942": "fp8_fnuz", "gfx950": "fp8", "sm_90a": "fp8"}
"""Targets with kernels -> what their 8-bit floats are called."""
CODES = {"fp8": "float8_e4m3fn", "fp8_fnuz": "float8_e4m3fnuz", "i8": "int8"}
TYPES = {"float16": ("fp16", "f16"), "bfloat16": ("bf16", "bf16")}
"""Type of x -> kind of a stage, and what quantisers and results call it."""
PLAIN, BLOCKS = "plain", "fp8_blockscale"
KINDS = {"gfx942": (PLAIN, "fp8", "int8", "int4", "int4_bf16", BLOCKS),
         "gfx950": (PLAIN, "fp8", "int8", "int4", "int4_bf16", BLOCKS), "sm_90a": (PLAIN, BLOCKS)}  # fmt: skip
SIDE = 128
"""Of a block that has a scale."""


@dataclass(frozen=True, eq=False)
class Experts:
    """Weights of a layer as the kernels of a target read them, with their scales."""

    kind: str
    arch: str
    w1: Any
    w2: Any
    scale1: Any
    scale2: Any

    @property
    def shape(self) -> tuple[int, int, int]:
        """Experts, model and inter."""
        count, model, inter = self.w2.shape
        return count, model, inter * 2 if self.kind.startswith("int4") else inter


def name_of(x: Any) -> str:
    return str(x.dtype).removeprefix("torch.")


# Weights -------------------------------------------------------------------------------------------------------------


def prepare_experts(w1: Any, w2: Any, kind: str = PLAIN, arch: str = "gfx942", stream: object = None) -> Experts:
    """Weights in f16 or bf16 as a kind: "plain", "fp8", "int8", "int4" and "fp8_blockscale" multiply such numbers,
    "int4_bf16" weights of four bits with bf16."""
    check_weights(w1, w2, kind, arch)
    stream = stream_of(w1, stream)
    if arch == "sm_90a":  # gate and up in turns, for an epilogue that takes neighbours
        count, columns, model = w1.shape
        w1 = w1.reshape(count, 2, columns // 2, model).swapaxes(1, 2).reshape(count, columns, model)
        if kind == PLAIN:
            return Experts(kind, arch, contiguous(w1), contiguous(w2), None, None)
        found = [quantised_blocks(contiguous(w), SIDE, FP8[arch], stream) for w in (w1, w2)]
        scales = [s.reshape(w.shape[0], -1, w.shape[2] // SIDE).swapaxes(1, 2) for w, (_, s) in zip((w1, w2), found)]
        return Experts(kind, arch, *(q.reshape(w.shape) for w, (q, _) in zip((w1, w2), found)), *scales)
    pairs = [ordered(contiguous(w), kind, arch, stream) for w in (w1, w2)]
    return Experts(kind, arch, *(codes for codes, _ in pairs), *(scale for _, scale in pairs))


def check_weights(w1: Any, w2: Any, kind: str, arch: str) -> None:
    """Refuse weights that do not go together."""
    if arch not in KINDS:
        raise ValueError(f"experts run on {', '.join(KINDS)}, not on {arch}")
    if kind not in KINDS[arch]:
        raise ValueError(f"kind must be one of {', '.join(KINDS[arch])} on {arch}, got {kind!r}")
    if len(w1.shape) != 3 or len(w2.shape) != 3:
        raise ValueError(
            f"w1 is (E, 2 inter, model) and w2 (E, model, inter), got {tuple(w1.shape)}, {tuple(w2.shape)}"
        )
    count, columns, model = w1.shape
    if tuple(w2.shape) != (count, model, columns // 2) or columns % 2:
        raise ValueError(
            f"w1 of {tuple(w1.shape)} goes with w2 of {(count, model, columns // 2)}, not {tuple(w2.shape)}"
        )
    names = name_of(w1), name_of(w2)
    if names[0] != names[1] or names[0] not in TYPES:
        raise ValueError(f"weights are given in {' or '.join(TYPES)}, both the same; got {names[0]} and {names[1]}")
    step = SIDE if kind == BLOCKS else 64
    for name, value in (("model", model), ("inter", columns // 2)):
        if value % step or value == 0:
            raise ValueError(f"{name} must be a positive multiple of {step} for {kind} weights, got {value}")


def ordered(w: Any, kind: str, arch: str, stream: object) -> tuple[Any, Any]:
    """Weights of a kind in the order of the preshuffle GEMM, and their scales."""
    flat = w.reshape(-1, w.shape[-1])
    if kind == PLAIN:
        return shuffle_weight(flat).reshape(w.shape), None
    if kind.startswith("int4"):
        wide = flat.astype("float32") if hasattr(flat, "astype") else flat.float()
        top = abs(wide).max(-1) if hasattr(flat, "astype") else wide.abs().amax(-1)
        scale = top / 7 + (top == 0)
        codes = rounded(wide / scale[:, None])
        return pack_int4(shuffle_weight(codes)).reshape(*w.shape[:2], -1), scale
    if kind == BLOCKS:
        codes, scale = quantised_blocks(w, SIDE, FP8[arch], stream)
    else:
        codes, scale = quantised_rows(flat, FP8[arch] if kind == "fp8" else "i8", stream)
    return shuffle_weight(bytes_of(codes)).reshape(w.shape), scale


def rounded(numbers: Any) -> Any:
    return numbers.round().astype("int8") if hasattr(numbers, "astype") else numbers.round().char()


def bytes_of(codes: Any) -> Any:
    """8-bit codes as integers, which everything takes."""
    if not hasattr(codes, "new_empty"):
        return codes.view("int8")
    import torch

    return codes.view(torch.int8)


def quantised_rows(x: Any, quant: str, stream: object) -> tuple[Any, Any]:
    """Codes and a scale for each row of a matrix."""
    rows, length = x.shape
    codes, scale = empty_beside(x, (rows, length), CODES[quant]), empty_beside(x, (rows,), "float32")
    if rows:
        build_row_quant_module(length, TYPES[name_of(x)][1], quant)(x, codes, scale, rows, stream)
    return codes, scale


def quantised_blocks(x: Any, side: int, quant: str, stream: object) -> tuple[Any, Any]:
    """Codes and a scale for each ``side`` rows by 128 columns of an array's rows."""
    flat = x.reshape(-1, x.shape[-1])
    rows, length = flat.shape
    codes = empty_beside(x, (rows, length), CODES[quant])
    scale = empty_beside(x, (rows // side, length // SIDE), "float32")
    if rows:
        build_block_quant_module(length, TYPES[name_of(x)][1], side, quant)(flat, codes, scale, rows, stream)
    return codes, scale


# Calls ---------------------------------------------------------------------------------------------------------------


def run_experts(
    x: Any, topk_ids: Any, topk_weights: Any, experts: Experts, y: Any, expert_mask: Any = None, atomic: bool = False,
    stream: object = None,
) -> None:  # fmt: skip
    """Write the layer's result into y, which is contiguous. Experts that do not exist count nothing.

    With a mask, ids are those of experts on several devices, of which this one has the weights of those where the mask
    is not 0; the others count nothing.
    """
    check_call(x, topk_ids, topk_weights, experts, y, expert_mask)
    stream = stream_of(x, stream)
    if x.shape[0] == 0:
        return
    # Kernels take rows that follow each other; what does is no copy.
    x, topk_ids, topk_weights = (t.reshape(-1).reshape(t.shape) for t in (x, topk_ids, topk_weights))
    if experts.arch == "sm_90a":
        run_groups(x, topk_ids, topk_weights, experts, y, expert_mask, atomic, stream)
    else:
        run_stages(x, topk_ids, topk_weights, experts, y, expert_mask, atomic, stream)


def all_experts(experts: Experts, mask: Any) -> int:
    """Experts that ids count, here and elsewhere."""
    return experts.shape[0] if mask is None else mask.shape[0]


def check_call(x: Any, ids: Any, weights: Any, experts: Experts, y: Any, mask: Any) -> None:
    (_, model, inter), count = experts.shape, all_experts(experts, mask)
    if len(x.shape) != 2 or x.shape[1] != model or tuple(y.shape) != tuple(x.shape) or y.dtype != x.dtype:
        raise ValueError(
            f"x and y are (T, {model}) of one type, got {tuple(x.shape)} {x.dtype}, {tuple(y.shape)} {y.dtype}"
        )
    if name_of(x) not in TYPES or (experts.kind == "int4_bf16" and name_of(x) != "bfloat16"):
        raise ValueError(f"x of {x.dtype} does not go with {experts.kind} experts")
    if experts.kind == PLAIN and x.dtype != experts.w1.dtype:
        raise ValueError(f"x is {x.dtype} and the weights are {experts.w1.dtype}: give both the same type")
    if tuple(ids.shape) != tuple(weights.shape) or len(ids.shape) != 2 or ids.shape[0] != x.shape[0]:
        raise ValueError(f"ids and weights are ({x.shape[0]}, topk), got {tuple(ids.shape)} and {tuple(weights.shape)}")
    if not 1 <= ids.shape[1] <= count:
        raise ValueError(f"topk is 1 to {count}, the number of experts, got {ids.shape[1]}")
    largest = max(model, ids.shape[1] * inter) * x.shape[0] * x.dtype.itemsize
    if experts.arch != "sm_90a" and largest >= FAR_BYTES:
        raise ValueError(f"rows of {largest} bytes are too many: a call takes less than 2 GiB; split the tokens")


def stage_tiles(tokens: int, topk: int, experts: Experts) -> tuple[int, int, int, int]:
    """Rows of a block, columns of either stage, and elements along K.

    Blocks have about the rows that an expert gets: with fewer its weights are read more than once, with more the matrix
    cores work on padding. 128 bytes along K are two chunks of the pipeline.
    """
    count, model, inter = experts.shape
    share = -(-tokens * topk // count)
    rows = 16 if share <= 16 else 32 if share <= 48 else 64
    wide = [128 if dim % 128 == 0 else 64 for dim in (inter, model)]
    return rows, *wide, 64 if experts.kind in (PLAIN, "int4_bf16") else min(wide)


def run_stages(
    x: Any, ids: Any, weights: Any, experts: Experts, y: Any, mask: Any, atomic: bool, stream: object
) -> None:
    """On AMD: an order in blocks, two stages and a sum."""
    (tokens, topk), (count, model, inter), kind = ids.shape, experts.shape, experts.kind
    rows, columns1, columns2, depth = stage_tiles(tokens, topk, experts)
    named = all_experts(experts, mask)
    entries = order_length(tokens, topk, named, rows)
    blocks = -(-entries // rows)
    words = empty_beside(ids, (entries + blocks + 2,), "int32")
    sorted_ids, expert_ids, valid = words[:entries], words[entries:-2], words[-2:]
    order_weights = empty_beside(weights, (entries,))
    moe_sorting_flydsl(ids, weights, sorted_ids, order_weights, expert_ids, valid, y if atomic else None, named, rows,
                       mask, stream=stream)  # fmt: skip
    order = (sorted_ids, expert_ids, order_weights, valid, tokens)
    blocks = min(blocks, tokens * topk)
    out, plain = TYPES[name_of(x)][1], TYPES[name_of(x)][0]
    dims = {"model_dim": model, "inter_dim": inter, "experts": count, "topk": topk, "tile_m": rows, "tile_k": depth,
            "out_dtype": out}  # fmt: skip
    if kind == BLOCKS:
        first = compile_moe_blockscale_gemm1(**dims, tile_n=columns1, doweight_stage1=False, scales_by_row=True)
        second = compile_moe_blockscale_gemm2(**dims, tile_n=columns2, doweight_stage2=True, accumulate=atomic,
                                              scales_by_row=True)  # fmt: skip
    else:
        dims["in_dtype"] = plain if kind == PLAIN else kind
        first = compile_moe_gemm1(**dims, tile_n=columns1, doweight_stage1=False)
        second = compile_moe_gemm2(**dims, tile_n=columns2, doweight_stage2=True, accumulate=atomic)
    inner = empty_beside(x, (tokens * topk, inter))
    first(inner, *multiplied(x, experts, stream), *order, inter, model, blocks, stream)
    result = y if atomic else empty_beside(x, (tokens * topk, model))
    given = multiplied(inner, experts, stream)
    second(result, given[0], experts.w2, given[2], experts.scale2, *order, model, inter, blocks, stream)
    if not atomic:
        reduce_rows(result, y, ids, mask, all_experts(experts, mask), stream)


def multiplied(x: Any, experts: Experts, stream: object) -> tuple[Any, Any, Any, Any]:
    """Rows as the experts' kind multiplies them, and the first weights: (rows, w1, scales of rows, scales of w1)."""
    kind, scale = experts.kind, None
    if kind == BLOCKS:
        x, scale = quantised_blocks(x, 1, FP8[experts.arch], stream)
    elif kind in ("fp8", "int8", "int4"):
        x, scale = quantised_rows(x, FP8[experts.arch] if kind == "fp8" else "i8", stream)
    return x, experts.w1, scale, experts.scale1


def run_groups(
    x: Any, ids: Any, weights: Any, experts: Experts, y: Any, mask: Any, atomic: bool, stream: object
) -> None:
    """On Hopper: groups of rows without padding, gathered by the first product and scattered by the second."""
    (tokens, topk), (count, model, inter) = ids.shape, experts.shape
    row_weights, rows, targets, ends = sort_rows(ids, weights, all_experts(experts, mask), mask, stream)
    ends = ends[:count]
    inner = empty_beside(x, (tokens * topk, inter))
    first, scale = (quantised_blocks(x, 1, FP8[experts.arch], stream)) if experts.kind == BLOCKS else (x, None)
    hopper_grouped_gemm(
        first, experts.w1.swapaxes(1, 2), inner, ends, rows=rows, activation="swiglu",
        block_scales=None if scale is None else (scale, experts.scale1), stream=stream,
    )  # fmt: skip
    second, scale = (quantised_blocks(inner, 1, FP8[experts.arch], stream)) if experts.kind == BLOCKS else (inner, None)
    if atomic:
        clear_rows(y, stream)
    result = y if atomic else empty_beside(x, (tokens * topk, model))
    hopper_grouped_gemm(
        second, experts.w2.swapaxes(1, 2), result, ends, to_rows=rows if atomic else targets, add=atomic,
        row_scale=row_weights, block_scales=None if scale is None else (scale, experts.scale2), stream=stream,
    )  # fmt: skip
    if not atomic:
        reduce_rows(result, y, ids, mask, all_experts(experts, mask), stream)


def reduce_rows(rows: Any, y: Any, ids: Any, mask: Any, experts: int, stream: object) -> None:
    """The sum of a token's rows, of those that an expert has written."""
    aligned = all(address(array) % ALIGNMENT == 0 for array in (rows, y))
    run = compile_moe_reduction(
        topk=ids.shape[1], model_dim=y.shape[1], dtype_str=TYPES[name_of(y)][1], use_mask=True, num_experts=experts,
        aligned=aligned,
    )  # fmt: skip
    run(rows, y, mask, ids, y.shape[0], stream)
