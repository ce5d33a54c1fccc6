"""A whole layer of experts: sorting, two products and a sum for each call.

experts = prepare_experts(w1, w2, kind="fp8", arch="gfx950")
run_experts(x, topk_ids, topk_weights, experts, y)

x is [T, model] and y too. On AMD's matrix cores (gfx942, gfx950) the stages are those of `moe_gemm_2stage`,
`blockscale_2stage` and `mixed_2stage`, on gfx1250 those of `wmma_2stage`; on Hopper (sm_90a) they are products of
groups of rows, gathered on the way in and scattered on the way out. The host reads nothing back.

Rows of a token's experts are written apart and added up at the end, so that results are the same in every run; with
``atomic`` they are added up by atomics, in the type of y.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from flydsl.kernels.blocks.inputs import address_of, empty_beside, on_given_stream, stream_of
from flydsl.kernels.gemm.hopper_grouped import hopper_grouped_gemm
from flydsl.kernels.moe import wmma_2stage
from flydsl.kernels.moe.blockscale_2stage import compile_moe_blockscale_gemm1, compile_moe_blockscale_gemm2
from flydsl.kernels.moe.expert_weights import (
    BLOCKS,
    FP8,
    KINDS,
    MX,
    PLAIN,
    SIDE,
    TYPES,
    WHOLE,
    Experts,
    check_experts,
    name_of,
    prepare_experts,
    quantised_blocks,
    quantised_groups,
    quantised_rows,
)
from flydsl.kernels.moe.few_tokens import layer as few_tokens
from flydsl.kernels.moe.mixed_2stage import compile_mixed_moe_gemm1, compile_mixed_moe_gemm2
from flydsl.kernels.moe.moe_gemm_2stage.moe_reduce import ALIGNMENT, clear_rows, compile_moe_reduction
from flydsl.kernels.moe.moe_gemm_2stage.stage_plan import FAR_BYTES
from flydsl.kernels.moe.moe_gemm_2stage.stages import compile_moe_gemm1, compile_moe_gemm2
from flydsl.kernels.moe.mxfp_moe.mx_rows import moe_mxfp4_sort
from flydsl.kernels.moe.references import order_length
from flydsl.kernels.moe.row_order import gathered, sort_rows
from flydsl.kernels.moe.sorting import moe_softmax_sort_flydsl, moe_sorting_flydsl, served_mask
from flydsl.kernels.moe.topk_gating import NAMES

MANY_ROWS = 64
"""Of an expert, from which on products, and not memory, take the time of a layer."""
COPIED = {2: 3072, 1: 512}
"""Bytes of a number of x, to the columns of the first product from which on rows are copied in the order of experts
before they are multiplied. On an H200, 2026-11-16, products of rows that are gathered on the way took 1.1 times as long
in bf16 (5e14 operations a second otherwise) and 1.46 times in fp8 (8e14), and a copy 1 / 1.65e12 seconds a byte."""


class Router(NamedTuple):
    """Ids and weights of a token's experts, [T, topk]; with logits they are made of those, where pairs are sorted."""

    ids: Any
    weights: Any
    logits: Any = None
    renormalize: bool = True


def route_by(logits: Any, topk: int, renormalize: bool = True) -> Router:
    """Return the ``topk`` largest of a softmax of logits [T, E], which a call of `run_experts` finds."""
    tokens = logits.shape[0]
    ids = empty_beside(logits, (tokens, topk), "int32")
    return Router(ids, empty_beside(logits, (tokens, topk), "float32"), logits, renormalize)


def run_experts(
    x: Any, topk_ids: Any, topk_weights: Any, experts: Experts, y: Any, expert_mask: Any = None, atomic: bool = False,
    stream: object = None,
) -> None:  # fmt: skip
    """Write the layer's result into y, which is contiguous. Experts that do not exist count nothing.

    With a mask, ids are those of experts on several devices, of which this one has the weights of those where the mask
    is not 0; the others count nothing, nor do those that a mask names beyond the weights there are.
    """
    run_routed(x, Router(topk_ids, topk_weights), experts, y, expert_mask, atomic, stream)


@on_given_stream
def run_routed(
    x: Any, router: Router, experts: Experts, y: Any, expert_mask: Any = None, atomic: bool = False,
    stream: object = None,
) -> None:  # fmt: skip
    """`run_experts` with ids and weights, or with logits."""
    check_call(x, router.ids, router.weights, experts, y, expert_mask)
    if router.logits is not None and router.logits.shape[1] != all_experts(experts, expert_mask):
        raise ValueError(
            f"logits of {router.logits.shape[1]} experts do not go with {all_experts(experts, expert_mask)}"
        )
    stream = stream_of(x, stream)
    if x.shape[0] == 0:
        return
    # Kernels take rows that follow each other; what does is no copy.
    x, ids, weights = (t.reshape(-1).reshape(t.shape) for t in (x, router.ids, router.weights))
    expert_mask = served_mask(expert_mask, experts.shape[0], stream)
    router = Router(ids, weights, *router[2:])
    if experts.arch == "sm_90a" and expert_mask is None and not atomic:
        stages = few_tokens.planned(x, router, experts, y)
        if stages is not None:
            few_tokens.run_few(x, router, experts, y, stages, stream)
            return
    run = run_groups if experts.arch == "sm_90a" else run_stages
    run(x, router, experts, y, expert_mask, atomic, stream)


def all_experts(experts: Experts, mask: Any) -> int:
    """Experts that ids count, here and elsewhere."""
    if mask is not None and len(mask.shape) != 1:
        raise ValueError(f"expert_mask has a number for each expert, and its shape is {tuple(mask.shape)}")
    return experts.shape[0] if mask is None else mask.shape[0]


def check_call(x: Any, ids: Any, weights: Any, experts: Experts, y: Any, mask: Any) -> None:
    (_, model, inter), count = experts.shape, all_experts(experts, mask)
    if len(x.shape) != 2 or x.shape[1] != model or tuple(y.shape) != tuple(x.shape) or y.dtype != x.dtype:
        raise ValueError(
            f"x and y are (T, {model}) of one type, got {tuple(x.shape)} {x.dtype}, {tuple(y.shape)} {y.dtype}"
        )
    check_experts(experts)
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


class Sorted(NamedTuple):
    """Entries in blocks of one expert each."""

    ids: Any
    expert_ids: Any
    weights: Any
    valid: Any
    tokens: int
    unit: int
    """Entries of a block."""
    count: int
    """Blocks that there are at most."""

    @property
    def listed(self) -> tuple[Any, ...]:
        """The arrays that stages take of the order."""
        return self.ids, self.expert_ids, self.weights, self.valid, self.tokens


def sorted_blocks(router: Router, experts: int, unit: int, mask: Any, stream: object, cleared: Any = None) -> Sorted:
    """Return the order of a call's pairs, and an array set to zero on the way."""
    ids, weights, logits, renormalize = router
    tokens, topk = ids.shape
    entries = order_length(tokens, topk, experts, unit)
    blocks = -(-entries // unit)
    words = empty_beside(ids, (entries + blocks + 2,), "int32")
    sorted_ids, expert_ids, valid = words[:entries], words[entries:-2], words[-2:]
    order_weights = empty_beside(weights, (entries,))
    order = (sorted_ids, order_weights, expert_ids, valid, cleared, experts)
    if logits is None:
        moe_sorting_flydsl(ids, weights, *order, unit, mask, stream=stream)
    else:
        moe_softmax_sort_flydsl(logits, weights, ids, *order, topk, NAMES[name_of(logits)], unit, mask, renormalize,
                                stream=stream)  # fmt: skip
    return Sorted(sorted_ids, expert_ids, order_weights, valid, tokens, unit, min(blocks, tokens * topk))


def stage_rows(tokens: int, topk: int, experts: int) -> int:
    """Rows of a block: about those that an expert gets. With fewer its weights are read more than once, with more the
    matrix cores work on padding."""
    share = -(-tokens * topk // experts)
    return 16 if share <= 16 else 32 if share <= 48 else 64


def depth_of(arch: str, dim: int) -> int:
    """Elements along K of a tile of 16-bit numbers: 128 bytes are two chunks of the pipeline; gfx1250's has two tiles
    under way."""
    return 32 if arch == "gfx1250" and dim < 128 else 64


def stage_dims(x: Any, topk: int, experts: Experts) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the builders of both stages are told."""
    (count, model, inter), kind, (plain, out) = experts.shape, experts.kind, TYPES[name_of(x)]
    shared = {"model_dim": model, "inter_dim": inter, "experts": count, "topk": topk, "out_dtype": out,
              "tile_m": stage_rows(x.shape[0], topk, count)}  # fmt: skip
    wide = [128 if dim % 128 == 0 else 64 for dim in (inter, model)]
    if kind in (PLAIN, "int4_bf16"):
        depths = [depth_of(experts.arch, dim) for dim in (model, inter)]
    else:
        depths = [128 if experts.arch == "gfx1250" else 256 if kind in MX else min(wide)] * 2
    if kind != BLOCKS and kind not in MX:
        shared["in_dtype"] = plain if kind == PLAIN else kind
    first, second = ({**shared, "tile_n": n, "tile_k": k} for n, k in zip(wide, depths, strict=True))
    return {**first, "doweight_stage1": False}, {**second, "doweight_stage2": True}


def run_stages(x: Any, router: Router, experts: Experts, y: Any, mask: Any, atomic: bool, stream: object) -> None:
    """On AMD: an order in blocks, two stages and a sum."""
    (tokens, topk), (_, model, inter), kind = router.ids.shape, experts.shape, experts.kind
    dims1, dims2 = stage_dims(x, topk, experts)
    in_order, unit = kind in MX and experts.arch == "gfx950", dims1["tile_m"]
    named = all_experts(experts, mask)
    entries = max(unit, 32) if in_order else unit
    order = sorted_blocks(router, named, entries, mask, stream, y if atomic else None)
    result = y if atomic else empty_beside(x, (tokens * topk, model))
    if in_order:
        run_scaled_in_order(x, experts, order, dims1, {**dims2, "accumulate": atomic}, result, stream)
    else:
        first, second = built_stages(experts, dims1, {**dims2, "accumulate": atomic})
        inner = empty_beside(x, (tokens * topk, inter))
        rows, scale = multiplied(x, experts, stream)
        first(inner, rows, experts.w1, scale, experts.scale1, *order.listed, inter, model, order.count, stream)
        rows, scale = multiplied(inner, experts, stream)
        second(result, rows, experts.w2, scale, experts.scale2, *order.listed, model, inter, order.count, stream)
    if not atomic:
        reduce_rows(result, y, router.ids, mask, named, stream)


def built_stages(experts: Experts, dims1: dict[str, Any], dims2: dict[str, Any]) -> tuple[Any, Any]:
    """Both stages of kinds whose rows have scales of their own."""
    if experts.arch == "gfx1250":
        named = {} if experts.kind == PLAIN else {"in_dtype": experts.kind.removeprefix("mx")}
        return wmma_2stage.compile_moe_gemm1(**dims1, **named), wmma_2stage.compile_moe_gemm2(**dims2, **named)
    if experts.kind == BLOCKS:
        return (compile_moe_blockscale_gemm1(**dims1, scales_by_row=True),
                compile_moe_blockscale_gemm2(**dims2, scales_by_row=True))  # fmt: skip
    return compile_moe_gemm1(**dims1), compile_moe_gemm2(**dims2)


def run_scaled_in_order(
    x: Any, experts: Experts, order: Sorted, dims1: dict[str, Any], dims2: dict[str, Any], result: Any, stream: object
) -> None:
    """On gfx950, scales for 32 elements: the first stage gives codes, and scales in the order."""
    (_, model, inter), formats, topk = experts.shape, MX[experts.kind], dims1["topk"]
    codes, scale = quantised_groups(x, formats.rows, stream)
    scale = moe_mxfp4_sort(scale, order.ids, order.valid, order.tokens, stream=stream)
    same = "mx" if formats.rows == formats.weights == "fp8" else ""
    kinds = {"a_dtype": same + formats.rows, "b_dtype": same + formats.weights}
    inner = empty_beside(codes, (order.tokens * topk, inter // 2 if formats.rows == "fp4" else inter))
    inner_scale = empty_beside(codes, (-(-order.ids.shape[0] // 32) * 32, inter // 32))
    first = compile_mixed_moe_gemm1(**{**dims1, **kinds, "out_dtype": WHOLE[formats.rows]})
    first(inner, codes, experts.w1, scale, experts.scale1, *order.listed[:4], None, inner_scale, order.tokens, inter,
          model, order.count, stream)  # fmt: skip
    compile_mixed_moe_gemm2(**dims2, **kinds)(
        result, inner, experts.w2, inner_scale, experts.scale2, *order.listed[:4], None, order.tokens, model, inter,
        order.count, stream,
    )  # fmt: skip


def multiplied(x: Any, experts: Experts, stream: object) -> tuple[Any, Any]:
    """Rows as the experts' kind multiplies them, and their scales."""
    kind = experts.kind
    if kind in MX:
        return quantised_groups(x, MX[kind].rows, stream)
    if kind == BLOCKS:
        return quantised_blocks(x, 1, FP8[experts.arch], stream)
    if kind in ("fp8", "int8", "int4"):
        return quantised_rows(x, FP8[experts.arch] if kind == "fp8" else "i8_rounded", stream)
    return x, None


def run_groups(x: Any, router: Router, experts: Experts, y: Any, mask: Any, atomic: bool, stream: object) -> None:
    """On Hopper: groups of rows without padding, gathered by the first product and scattered by the second."""
    (tokens, topk), (count, model, inter) = router.ids.shape, experts.shape
    row_weights, rows, targets, ends = sort_rows(
        router.ids, router.weights, all_experts(experts, mask), mask, stream, router.logits, router.renormalize
    )
    ends = ends[:count]
    (first, scale), rows_of_x = multiplied(x, experts, stream), rows
    many = tokens * topk >= MANY_ROWS * count and 2 * inter >= COPIED[first.dtype.itemsize]
    if many and address_of(first) % ALIGNMENT == 0:
        first, scale = (None if array is None else gathered(array, rows, stream) for array in (first, scale))
        rows_of_x = None
    inner, inner_scale = empty_beside(first, (tokens * topk, inter)), None
    if scale is not None:  # quantised where the first product ends
        inner_scale = empty_beside(scale, (tokens * topk, inter // SIDE))
    hopper_grouped_gemm(
        first, experts.w1.swapaxes(1, 2), inner, ends, rows=rows_of_x, activation="swiglu", scale_c=inner_scale,
        block_scales=None if scale is None else (scale, experts.scale1), stream=stream,
    )  # fmt: skip
    if atomic:
        clear_rows(y, stream)
    result = y if atomic else empty_beside(x, (tokens * topk, model))
    hopper_grouped_gemm(
        inner, experts.w2.swapaxes(1, 2), result, ends, to_rows=rows if atomic else targets, add=atomic,
        row_scale=row_weights, block_scales=None if scale is None else (inner_scale, experts.scale2),
        weights_first=True, stream=stream,
    )  # fmt: skip
    if not atomic:
        reduce_rows(result, y, router.ids, mask, all_experts(experts, mask), stream)


def reduce_rows(rows: Any, y: Any, ids: Any, mask: Any, experts: int, stream: object) -> None:
    """The sum of a token's rows, of those that an expert has written."""
    aligned = all(address_of(array) % ALIGNMENT == 0 for array in (rows, y))
    run = compile_moe_reduction(
        topk=ids.shape[1], model_dim=y.shape[1], dtype_str=TYPES[name_of(y)][1], use_mask=True, num_experts=experts,
        aligned=aligned,
    )  # fmt: skip
    run(rows, y, mask, ids, y.shape[0], stream)


__all__ = ["KINDS", "Experts", "Router", "prepare_experts", "route_by", "run_experts", "run_routed"]
