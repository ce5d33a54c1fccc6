"""The ops: one row each. A new op is a file that describes it and a row here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

from flydsl.base.lazy import lazy_module
from flydsl.ops import (
    arrays,
    attention_heads,
    cross_entropy_loss,
    expert_layers,
    gated_units,
    norms,
    paged_caches,
    products,
    quantizers,
    rank_sums,
    rotary,
    softmax_rows,
)
from flydsl.ops.explained_calls import answer_of
from flydsl.ops.op import Op, fall_back, numpy_only, use_torch_side

if TYPE_CHECKING:
    from flydsl.ops import torch_side
else:
    torch_side = lazy_module("flydsl.ops.torch_side")

use_torch_side(torch_side)


@dataclass(frozen=True)
class Row:
    """An op's function, and what it is made of."""

    function: Callable[..., Any]
    op: Op
    how: Callable[..., str] | None = None
    """Which kernel a call takes, where there are several, and by what reckoning."""
    why_not: Callable[..., str | None] | None = None
    """Why a call is left to torch, of an op that `explain` cannot begin: all ranks do so together."""


TABLE: dict[str, Row] = {
    row.function.__name__: row
    for row in (
        Row(softmax_rows.softmax, softmax_rows.SOFTMAX),
        Row(norms.rms_norm, norms.RMS_NORM),
        Row(norms.layer_norm, norms.LAYER_NORM),
        Row(norms.add_rms_norm, norms.ADD_RMS_NORM),
        Row(norms.add_layer_norm, norms.ADD_LAYER_NORM),
        Row(cross_entropy_loss.cross_entropy, cross_entropy_loss.CROSS_ENTROPY),
        Row(gated_units.swiglu, gated_units.GLU),
        Row(gated_units.geglu, gated_units.GLU),
        Row(rotary.rope, rotary.ROPE),
        Row(attention_heads.attention, attention_heads.ATTENTION),
        Row(attention_heads.scaled_dot_product_attention, attention_heads.ATTENTION),
        Row(rank_sums.all_reduce, rank_sums.ALL_REDUCE, why_not=rank_sums.why_not),
        Row(expert_layers.moe, expert_layers.MOE),
        Row(products.matmul, products.MATMUL, products.how_matmul),
        Row(products.linear, products.LINEAR, products.how_linear),
        Row(products.scaled_mm, products.SCALED_MM, products.how_scaled),
        Row(products.grouped_mm, products.GROUPED_MM),
        Row(paged_caches.paged_attention, paged_caches.PAGED),
        Row(paged_caches.mla_decode, paged_caches.LATENT),
        Row(products.linear_int4, products.LINEAR_INT4),
        Row(quantizers.quantize_per_token, quantizers.QUANTIZE_ROWS),
        Row(quantizers.quantize_per_tensor, quantizers.QUANTIZE_ROWS),
        Row(quantizers.quantize_mx, quantizers.QUANTIZE_MX),
        Row(quantizers.quantize_blocks, quantizers.QUANTIZE_BLOCKS),
    )
}
PARTS = (expert_layers.ROUTE, expert_layers.ROUTED, expert_layers.TRAINED)
"""Ops that others are made of."""


def explain(op: Any, *arguments: Any, **options: Any) -> str:
    """Return what a call of an op would do: run kernels, and which; leave it to torch, or refuse it, and why.

    ``explain("softmax", x, dim=0)`` and ``explain(flydsl.ops.softmax, x, dim=0)`` are the same. The call is made up to
    its first launch, with all its checks: it raises here what it would, of wrong shapes for one. Results are allocated,
    and nothing is written.
    """
    name = op if isinstance(op, str) else getattr(op, "__name__", "")
    if name not in TABLE:
        raise ValueError(f"flydsl.ops has no {name or op!r}; it has {', '.join(TABLE)}")
    row = TABLE[name]
    answer = answer_of(row.function if row.why_not is None else _begun(name, row.why_not), arguments, options)
    if answer is not None:
        return f"{name} {answer}"
    bound = signature(row.function).bind(*arguments, **options)
    device = getattr(bound.args[0], "device", "cpu")
    where = "the virtual GPU" if str(device) == "cpu" else str(device)
    more = row.how(*bound.args, **bound.kwargs) if row.how is not None else ""
    return f"{name} runs FlyDSL's kernels ({row.op.name}) on {where}" + more


def _begun(name: str, why_not: Callable[..., str | None]) -> Callable[..., None]:
    """Return a function that does what a call does before its ranks meet."""

    def begin(input: Any, *arguments: Any, **options: Any) -> None:
        reason = why_not(input, *arguments, **options)
        if arrays.is_array(input):
            numpy_only(name, reason)
        if reason is not None:
            fall_back(name, reason, lambda: None)

    return begin


def register_operators() -> None:
    """Make all ops operators of torch, so that `torch.compile` takes them."""
    use_torch_side(torch_side, now=True)
    torch_side.register([*(row.op for row in TABLE.values()), *PARTS])


if sys.modules.get("torch") is not None:
    register_operators()
