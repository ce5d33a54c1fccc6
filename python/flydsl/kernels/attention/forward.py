"""The launch of attention forward: by what the target being compiled for has."""

from __future__ import annotations

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.hopper_forward import hopper_forward
from flydsl.kernels.attention.scores import LOG2_E
from flydsl.kernels.attention.wave_forward import wave_forward


@flyc.jit
def forward(
    Q: fx.Tensor, K: fx.Tensor, V: fx.Tensor, out: fx.Tensor, lse: fx.Tensor | None, bias: fx.Tensor | None,
    slopes: fx.Tensor | None, sinks: fx.Tensor | None, query_starts: fx.Tensor | None, key_starts: fx.Tensor | None,
    scale: fx.Float32, cap: fx.Float32, left: fx.Int32, right: fx.Int32, batches: fx.Int32, longest: fx.Int32,
    group: fx.Int32, blocks: fx.Int32, plan: fx.Constexpr, stream: fx.Stream = fx.Stream(None),
):  # fmt: skip
    """Q, K, V and out are (batch, heads, tokens, d). ``plan`` is a `ForwardPlan`; others but Hopper take of it what is
    asked for, and know their tiles themselves."""
    lengths = None if query_starts is None else (query_starts, key_starts)
    factor = LOG2_E if plan.features.scale_first else scale * LOG2_E
    extras, numbers = (bias, slopes, sinks), (fx.Float32(factor), scale, cap)
    given = (Q, K, V, out, lse, extras, lengths, numbers, (left, right), batches, longest)
    if fx.const_expr(fx.nvvm.is_target()):
        hopper_forward(*given, group, blocks, plan, stream)
    else:
        wave_forward(*given, plan, stream)
