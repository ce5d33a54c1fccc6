"""The ops: one row each. A new op is a file that describes it and a row here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flydsl.base.lazy import lazy_module
from flydsl.ops import (
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
from flydsl.ops.op import Op, use_torch_side

if TYPE_CHECKING:
    from flydsl.ops import torch_side
else:
    torch_side = lazy_module("flydsl.ops.torch_side")

use_torch_side(torch_side)


@dataclass(frozen=True)
class Row:
    """An op's function, what it is made of, and what says why a call is left to torch."""

    function: Callable[..., Any]
    op: Op
    why_not: Callable[..., str | None]
    how: Callable[..., str] | None = None
    """Which kernel a call takes, where there are several, and by what reckoning."""


TABLE: dict[str, Row] = {
    row.function.__name__: row
    for row in (
        Row(softmax_rows.softmax, softmax_rows.SOFTMAX, softmax_rows.why_not),
        Row(norms.rms_norm, norms.RMS_NORM, norms.why_not),
        Row(norms.layer_norm, norms.LAYER_NORM, norms.why_not),
        Row(norms.add_rms_norm, norms.ADD_RMS_NORM, norms.why_not_added),
        Row(norms.add_layer_norm, norms.ADD_LAYER_NORM, norms.why_not_added),
        Row(cross_entropy_loss.cross_entropy, cross_entropy_loss.CROSS_ENTROPY, cross_entropy_loss.why_not),
        Row(gated_units.swiglu, gated_units.GLU, gated_units.why_not),
        Row(gated_units.geglu, gated_units.GLU, gated_units.why_not),
        Row(rotary.rope, rotary.ROPE, rotary.why_not),
        Row(attention_heads.attention, attention_heads.ATTENTION, attention_heads.why_not_attention),
        Row(attention_heads.scaled_dot_product_attention, attention_heads.ATTENTION, attention_heads.why_not),
        Row(rank_sums.all_reduce, rank_sums.ALL_REDUCE, rank_sums.why_not),
        Row(expert_layers.moe, expert_layers.MOE, expert_layers.why_not),
        Row(products.matmul, products.MATMUL, products.why_not_matmul, products.how_matmul),
        Row(products.linear, products.LINEAR, products.why_not_linear, products.how_linear),
        Row(products.scaled_mm, products.SCALED_MM, products.why_not_scaled, products.how_scaled),
        Row(products.grouped_mm, products.GROUPED_MM, products.why_not_grouped),
        Row(paged_caches.paged_attention, paged_caches.PAGED, paged_caches.why_not),
        Row(paged_caches.mla_decode, paged_caches.LATENT, paged_caches.why_not),
        Row(products.linear_int4, products.LINEAR_INT4, products.why_not_int4),
        Row(quantizers.quantize_per_token, quantizers.QUANTIZE_ROWS, quantizers.why_not),
        Row(quantizers.quantize_per_tensor, quantizers.QUANTIZE_ROWS, quantizers.why_not),
        Row(quantizers.quantize_mx, quantizers.QUANTIZE_MX, quantizers.why_not),
        Row(quantizers.quantize_blocks, quantizers.QUANTIZE_BLOCKS, quantizers.why_not),
    )
}
PARTS = (expert_layers.ROUTE, expert_layers.ROUTED, expert_layers.TRAINED)
"""Ops that others are made of."""


def explain(op: Any, *arguments: Any, **options: Any) -> str:
    """Return what a call of an op would do: run kernels, and which, or leave it to torch, and why.

    ``explain("softmax", x, dim=0)`` and ``explain(flydsl.ops.softmax, x, dim=0)`` are the same.
    """
    name = op if isinstance(op, str) else getattr(op, "__name__", "")
    if name not in TABLE:
        raise ValueError(f"flydsl.ops has no {name or op!r}; it has {', '.join(TABLE)}")
    row = TABLE[name]
    reason = row.why_not(*arguments, **options)
    if reason is not None:
        return f"{name} is left to torch: {reason}"
    device = getattr(arguments[0], "device", "cpu")
    where = "the virtual GPU" if str(device) == "cpu" else str(device)
    more = row.how(*arguments, **options) if row.how is not None else ""
    return f"{name} runs FlyDSL's kernels ({row.op.name}) on {where}" + more


def register_operators() -> None:
    """Make all ops operators of torch, so that `torch.compile` takes them."""
    use_torch_side(torch_side, now=True)
    torch_side.register([*(row.op for row in TABLE.values()), *PARTS])


if sys.modules.get("torch") is not None:
    register_operators()
