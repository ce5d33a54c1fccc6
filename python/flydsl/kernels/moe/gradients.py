"""The gradient of a layer of experts with plain weights: of rows, of routing weights, of both matrices.

y = sum over pairs p of a token of w_p o_p, where o_p = a_p w2ᵀ, a_p = silu(gate_p) up_p and (gate_p, up_p) = x w1ᵀ. So

    da_p = dy w2                       the gradient of a_p but for w_p
    dw_p = sum of a_p da_p
    dh_p = w_p da_p (up_p silu'(gate_p), silu(gate_p))
    dx   = sum over a token's pairs of dh_p w1,    dw1[e] = sum of dh_pᵀ x,    dw2[e] = sum of dyᵀ (w_p a_p)

Gate and up are computed again. Products of rows are those of the layer's target, with results in the type of x; sums
over an expert's pairs are outer products (`gradient_kernels`). The host reads nothing back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from flydsl.kernels.blocks.inputs import contiguous, empty_beside, on_given_stream, stream_of
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.gemm.hopper_grouped import hopper_grouped_gemm
from flydsl.kernels.gemm.preshuffle_gemm import shuffle_weight
from flydsl.kernels.moe.expert_weights import TYPES, name_of
from flydsl.kernels.moe.gradient_kernels import build_expert_outer_module, build_gate_gradient_module
from flydsl.kernels.moe.layer import Router, Sorted, depth_of, reduce_rows, sorted_blocks, stage_rows
from flydsl.kernels.moe.moe_gemm_2stage.stage_plan import FAR_BYTES
from flydsl.kernels.moe.moe_gemm_2stage.stages import stage_launcher, stage_plan
from flydsl.kernels.moe.row_order import sort_rows
from flydsl.kernels.moe.sorting import served_mask
from flydsl.kernels.moe.wmma_2stage.stages import expert_plan
from flydsl.kernels.moe.wmma_2stage.stages import stage_launcher as wmma_launcher

NAMES = ("columns", "depth")


class Gradients(NamedTuple):
    """Where the gradients go, each as what it is the gradient of."""

    x: Any
    weights: Any
    w1: Any
    w2: Any


class Layer(NamedTuple):
    """A call's experts: which they are, where they run, and the pairs in their order."""

    arch: str
    experts: int
    topk: int
    blocks: Sorted | None
    """Entries in blocks of one expert, for AMD."""
    rows: Any
    pairs: Any
    ends: Any
    """Tokens and pairs of entries without padding, and where each expert's end."""


@on_given_stream
def experts_gradient(
    dy: Any, x: Any, topk_ids: Any, topk_weights: Any, w1: Any, w2: Any, out: Gradients, arch: str,
    expert_mask: Any = None, stream: object = None,
) -> None:  # fmt: skip
    """Write the gradients of the layer's rows, routing weights and matrices for dy, all contiguous.

    Rows are [T, model], ids and weights [T, topk], w1 [E, 2 inter, model] and w2 [E, model, inter], f16 or bf16.
    """
    (tokens, topk), (count, model, inter) = topk_ids.shape, w2.shape
    stream, dtype = stream_of(x, stream), TYPES[name_of(x)][1]
    largest = max(model, 2 * inter) * tokens * topk * x.dtype.itemsize
    if arch != "sm_90a" and largest >= FAR_BYTES:
        raise ValueError(f"rows of {largest} bytes are too many: a gradient takes less than 2 GiB; split the tokens")
    named = count if expert_mask is None else expert_mask.shape[0]
    expert_mask = served_mask(expert_mask, count, stream)
    _, rows, pairs, ends = sort_rows(topk_ids, topk_weights, named, expert_mask, stream)
    blocks = None
    if arch != "sm_90a":
        router = Router(topk_ids, topk_weights)
        blocks = sorted_blocks(router, named, stage_rows(tokens, topk, count), expert_mask, stream)
    layer = Layer(arch, count, topk, blocks, rows, pairs, ends[:count])
    h = product(layer, x, w1, False, stream)
    da = product(layer, dy, w2.swapaxes(1, 2), False, stream)
    dh, a = (empty_beside(x, (tokens * topk, columns)) for columns in (2 * inter, inter))
    build_gate_gradient_module(inter, dtype)(
        h, da, topk_weights.reshape(-1), topk_ids.reshape(-1), expert_mask, dh, a, out.weights.reshape(-1), named,
        tokens * topk, stream,
    )  # fmt: skip
    of_rows = product(layer, dh, w1.swapaxes(1, 2), True, stream)
    reduce_rows(of_rows, out.x, topk_ids, expert_mask, named, stream)
    build_expert_outer_module(2 * inter, model, dtype)(dh, x, out.w1, pairs, rows, layer.ends, count, stream)
    build_expert_outer_module(model, inter, dtype)(dy, a, out.w2, rows, pairs, layer.ends, count, stream)


def product(layer: Layer, a: Any, w: Any, by_slot: bool, stream: object) -> Any:
    """Rows of a, one for each pair or for each token, times w [E, N, K] of the pair's expert: [pairs, N]."""
    (_, columns, depth), dtype = w.shape, name_of(a)
    pairs = a.shape[0] * (1 if by_slot else layer.topk)
    out = empty_beside(a, (pairs, columns))
    if layer.blocks is None:
        rows = layer.pairs if by_slot else layer.rows
        hopper_grouped_gemm(
            a, w.swapaxes(1, 2), out, layer.ends, rows=rows, to_rows=layer.pairs, stream=stream
        )  # fmt: skip
        return out
    kind, result = TYPES[dtype]
    tiles = (layer.blocks.unit, 128 if columns % 128 == 0 else 64, depth_of(layer.arch, depth))
    run = row_product(layer.arch, kind, columns, depth, tiles, layer.experts, layer.topk, by_slot, result)
    shuffled = shuffle_weight(contiguous(w).reshape(-1, depth))
    run(out, a, shuffled, None, None, *layer.blocks.listed, columns, depth, layer.blocks.count, stream)
    return out


@kept
def row_product(
    arch: str, kind: str, columns: int, depth: int, tiles: tuple[int, int, int], experts: int, topk: int,
    by_slot: bool, out: str,
) -> Any:  # fmt: skip
    """Return a stage without a gate and without weights of pairs, that gives a row for each pair."""
    options = {"experts": experts, "topk": topk, "by_slot": by_slot, "out": out}
    if arch == "gfx1250":
        return wmma_launcher(expert_plan(kind, columns, depth, tiles, False, **options), (columns, depth), NAMES)
    return stage_launcher(stage_plan(kind, columns, depth, tiles, False, **options), (columns, depth), NAMES)
