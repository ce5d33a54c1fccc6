"""LayerNorm: (x - mean) / sqrt(var + eps) * gamma + beta, f32 inside.

fn = build_layernorm_module(N, "bf16")
fn(X, gamma, beta, Y, M, stream)

`norm_rows.py` has the kernel, `norm_backward.py` the gradients. Builders take ``(N, dtype_str, store_stats=False,
eps=1e-5, BLOCK_THREADS=None, weight_dtype_str=None)``, or a number of rows before N, which is a hint; those that
quantise take ``quant_dtype_str="i8"`` in the flag's place. A weight has any type, or the one that ``weight_dtype_str``
names. Matrices may be given as all of their rows in one mode.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.inputs import multiprocessors_here
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.row_machine import HOPPER
from flydsl.kernels.blocks.row_plan import RowPlan
from flydsl.kernels.norm.norm_backward import norm_backward_launcher
from flydsl.kernels.norm.norm_rows import norm_form, norm_launcher


@kept
def build_layernorm_module(
    *arguments: Any, threads: int | None = None, plan: RowPlan | None = None, **options: Any
) -> Any:
    """Return the launcher of a LayerNorm: ``fn(X, gamma, beta, Y, m)``.

    With ``store_stats`` it is ``fn(X, gamma, beta, Y, mean, rstd, m)``.

    ``threads`` asks for blocks of so many threads, ``plan`` for one plan instead of the model's choice.
    """
    form = norm_form(True, arguments, options)
    run = norm_launcher(form, threads, plan)

    @flyc.jit
    def layernorm(
        X: fx.Tensor, gamma: fx.Tensor | None, beta: fx.Tensor | None, Y: fx.Tensor, m: fx.Int32,
        stream: fx.Stream = None,
    ):  # fmt: skip
        run(X, None, gamma, beta, None, Y, None, None, None, None, m, stream)

    @flyc.jit
    def layernorm_with_stats(
        X: fx.Tensor, gamma: fx.Tensor | None, beta: fx.Tensor | None, Y: fx.Tensor, mean: fx.Tensor, rstd: fx.Tensor,
        m: fx.Int32, stream: fx.Stream = None,
    ):  # fmt: skip
        run(X, None, gamma, beta, None, Y, None, mean, rstd, None, m, stream)

    return layernorm_with_stats if form.stats else layernorm


@kept
def build_fused_add_layernorm_module(
    *arguments: Any, threads: int | None = None, plan: RowPlan | None = None, **options: Any
) -> Any:
    """Return the launcher ``fn(X, R, gamma, beta, Y, R_out, m)``: R_out is X + R in their type, Y its norm.

    With ``store_stats`` it is ``fn(X, R, gamma, beta, Y, R_out, mean, rstd, m)``.
    """
    form = norm_form(True, arguments, options, residual=True)
    run = norm_launcher(form, threads, plan)

    @flyc.jit
    def fused_add_layernorm(
        X: fx.Tensor, R: fx.Tensor, gamma: fx.Tensor | None, beta: fx.Tensor | None, Y: fx.Tensor, R_out: fx.Tensor,
        m: fx.Int32, stream: fx.Stream = None,
    ):  # fmt: skip
        run(X, R, gamma, beta, None, Y, R_out, None, None, None, m, stream)

    @flyc.jit
    def fused_add_layernorm_with_stats(
        X: fx.Tensor, R: fx.Tensor, gamma: fx.Tensor | None, beta: fx.Tensor | None, Y: fx.Tensor, R_out: fx.Tensor,
        mean: fx.Tensor, rstd: fx.Tensor, m: fx.Int32, stream: fx.Stream = None,
    ):  # fmt: skip
        run(X, R, gamma, beta, None, Y, R_out, mean, rstd, None, m, stream)

    return fused_add_layernorm_with_stats if form.stats else fused_add_layernorm


@kept
def build_layernorm_dynamicquant_module(*arguments: Any, **options: Any) -> Any:
    """Return the launcher ``fn(X, gamma, beta, Q, yscale, m)``: each row over its own scale, max |y| / 127 for "i8"."""
    run = norm_launcher(norm_form(True, arguments, options, quant="i8"))

    @flyc.jit
    def layernorm_dynamicquant(
        X: fx.Tensor, gamma: fx.Tensor | None, beta: fx.Tensor | None, Q: fx.Tensor, yscale: fx.Tensor, m: fx.Int32,
        stream: fx.Stream = None,
    ):  # fmt: skip
        run(X, None, gamma, beta, None, Q, None, None, None, yscale, m, stream)

    return layernorm_dynamicquant


@kept
def build_layernorm_smoothquant_module(*arguments: Any, **options: Any) -> Any:
    """Return the launcher ``fn(X, gamma, beta, xscale, Q, yscale, m)``: columns are multiplied by ``xscale`` first."""
    run = norm_launcher(norm_form(True, arguments, options, quant="i8"))

    @flyc.jit
    def layernorm_smoothquant(
        X: fx.Tensor, gamma: fx.Tensor | None, beta: fx.Tensor | None, xscale: fx.Tensor, Q: fx.Tensor,
        yscale: fx.Tensor, m: fx.Int32, stream: fx.Stream = None,
    ):  # fmt: skip
        run(X, None, gamma, beta, xscale, Q, None, None, None, yscale, m, stream)

    return layernorm_smoothquant


@kept
def build_fused_add_layernorm_dynamicquant_module(*arguments: Any, **options: Any) -> Any:
    """Return the launcher ``fn(X, R, gamma, beta, Q, R_out, yscale, m)``."""
    run = norm_launcher(norm_form(True, arguments, options, residual=True, quant="i8"))

    @flyc.jit
    def fused_add_layernorm_dynamicquant(
        X: fx.Tensor, R: fx.Tensor, gamma: fx.Tensor | None, beta: fx.Tensor | None, Q: fx.Tensor, R_out: fx.Tensor,
        yscale: fx.Tensor, m: fx.Int32, stream: fx.Stream = None,
    ):  # fmt: skip
        run(X, R, gamma, beta, None, Q, R_out, None, None, yscale, m, stream)

    return fused_add_layernorm_dynamicquant


@kept
def build_fused_add_layernorm_smoothquant_module(*arguments: Any, **options: Any) -> Any:
    """Return the launcher ``fn(X, R, gamma, beta, xscale, Q, R_out, yscale, m)``."""
    run = norm_launcher(norm_form(True, arguments, options, residual=True, quant="i8"))

    @flyc.jit
    def fused_add_layernorm_smoothquant(
        X: fx.Tensor, R: fx.Tensor, gamma: fx.Tensor | None, beta: fx.Tensor | None, xscale: fx.Tensor, Q: fx.Tensor,
        R_out: fx.Tensor, yscale: fx.Tensor, m: fx.Int32, stream: fx.Stream = None,
    ):  # fmt: skip
        run(X, R, gamma, beta, xscale, Q, R_out, None, None, yscale, m, stream)

    return fused_add_layernorm_smoothquant


@kept
def build_layernorm_bwd_module(N: int, dtype_str: str, atomic: bool = False, plan: RowPlan | None = None) -> Any:
    """Return the launcher ``fn(dy, x, gamma, mean, rstd, dx, dgamma_sums, dbeta_sums, dgamma, dbeta, m)``.

    The sums are f32 of (`partial_rows`, N), or of `partial_shape`, and hold nothing of use behind the call. With
    ``atomic`` it is ``fn(dy, x, gamma, mean, rstd, dx, dgamma, dbeta, m)``, where dgamma and dbeta are f32 and zero
    before.
    """
    blocks = multiprocessors_here(HOPPER.processors)
    run = norm_backward_launcher(True, N, dtype_str, atomic, False, plan, blocks)

    @flyc.jit
    def layernorm_bwd(
        dy: fx.Tensor, x: fx.Tensor, gamma: fx.Tensor | None, mean: fx.Tensor, rstd: fx.Tensor, dx: fx.Tensor,
        dgamma_sums: fx.Tensor, dbeta_sums: fx.Tensor, dgamma: fx.Tensor, dbeta: fx.Tensor, m: fx.Int32,
        stream: fx.Stream = None,
    ):  # fmt: skip
        run(dy, x, gamma, mean, rstd, dx, None, dgamma_sums, dbeta_sums, dgamma, dbeta, m, stream)

    @flyc.jit
    def layernorm_bwd_atomic(
        dy: fx.Tensor, x: fx.Tensor, gamma: fx.Tensor | None, mean: fx.Tensor, rstd: fx.Tensor, dx: fx.Tensor,
        dgamma: fx.Tensor, dbeta: fx.Tensor, m: fx.Int32, stream: fx.Stream = None,
    ):  # fmt: skip
        run(dy, x, gamma, mean, rstd, dx, None, dgamma, dbeta, None, None, m, stream)

    return layernorm_bwd_atomic if atomic else layernorm_bwd
