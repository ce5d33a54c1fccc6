"""RMSNorm: x / sqrt(mean(x^2) + eps) * gamma, f32 inside.

fn = build_rmsnorm_module(N, "bf16")
fn(X, gamma, Y, M, stream)

`norm_rows.py` has the kernel, `norm_backward.py` the gradients. Builders take ``(N, dtype_str, store_rstd=False,
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
def build_rmsnorm_module(
    *arguments: Any, threads: int | None = None, plan: RowPlan | None = None, **options: Any
) -> Any:
    """Return the launcher of an RMSNorm: ``fn(X, gamma, Y, m)``, or with ``store_rstd`` ``fn(X, gamma, Y, rstd, m)``.

    ``threads`` asks for blocks of so many threads, ``plan`` for one plan instead of the model's choice.
    """
    form = norm_form(False, arguments, options)
    run = norm_launcher(form, threads, plan)

    @flyc.jit
    def rmsnorm(X: fx.Tensor, gamma: fx.Tensor | None, Y: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        run(X, None, gamma, None, None, Y, None, None, None, None, m, stream)

    @flyc.jit
    def rmsnorm_with_rstd(
        X: fx.Tensor, gamma: fx.Tensor | None, Y: fx.Tensor, rstd: fx.Tensor, m: fx.Int32, stream: fx.Stream = None
    ):
        run(X, None, gamma, None, None, Y, None, None, rstd, None, m, stream)

    return rmsnorm_with_rstd if form.stats else rmsnorm


@kept
def build_fused_add_rmsnorm_module(
    *arguments: Any, threads: int | None = None, plan: RowPlan | None = None, **options: Any
) -> Any:
    """Return the launcher ``fn(X, R, gamma, Y, R_out, m)``: R_out is X + R in their type, Y its norm.

    With ``store_rstd`` it is ``fn(X, R, gamma, Y, R_out, rstd, m)``.
    """
    form = norm_form(False, arguments, options, residual=True)
    run = norm_launcher(form, threads, plan)

    @flyc.jit
    def fused_add_rmsnorm(
        X: fx.Tensor, R: fx.Tensor, gamma: fx.Tensor | None, Y: fx.Tensor, R_out: fx.Tensor, m: fx.Int32,
        stream: fx.Stream = None,
    ):  # fmt: skip
        run(X, R, gamma, None, None, Y, R_out, None, None, None, m, stream)

    @flyc.jit
    def fused_add_rmsnorm_with_rstd(
        X: fx.Tensor, R: fx.Tensor, gamma: fx.Tensor | None, Y: fx.Tensor, R_out: fx.Tensor, rstd: fx.Tensor,
        m: fx.Int32, stream: fx.Stream = None,
    ):  # fmt: skip
        run(X, R, gamma, None, None, Y, R_out, None, rstd, None, m, stream)

    return fused_add_rmsnorm_with_rstd if form.stats else fused_add_rmsnorm


@kept
def build_rmsnorm_dynamicquant_module(*arguments: Any, **options: Any) -> Any:
    """Return the launcher ``fn(X, gamma, Q, yscale, m)``: each row of the norm over its own scale, max |y| / 127 for
    "i8"."""
    run = norm_launcher(norm_form(False, arguments, options, quant="i8"))

    @flyc.jit
    def rmsnorm_dynamicquant(
        X: fx.Tensor, gamma: fx.Tensor | None, Q: fx.Tensor, yscale: fx.Tensor, m: fx.Int32, stream: fx.Stream = None
    ):
        run(X, None, gamma, None, None, Q, None, None, None, yscale, m, stream)

    return rmsnorm_dynamicquant


@kept
def build_rmsnorm_smoothquant_module(*arguments: Any, **options: Any) -> Any:
    """Return the launcher ``fn(X, gamma, xscale, Q, yscale, m)``: columns are multiplied by ``xscale`` before
    quantising."""
    run = norm_launcher(norm_form(False, arguments, options, quant="i8"))

    @flyc.jit
    def rmsnorm_smoothquant(
        X: fx.Tensor, gamma: fx.Tensor | None, xscale: fx.Tensor, Q: fx.Tensor, yscale: fx.Tensor, m: fx.Int32,
        stream: fx.Stream = None,
    ):  # fmt: skip
        run(X, None, gamma, None, xscale, Q, None, None, None, yscale, m, stream)

    return rmsnorm_smoothquant


@kept
def build_fused_add_rmsnorm_dynamicquant_module(*arguments: Any, **options: Any) -> Any:
    """Return the launcher ``fn(X, R, gamma, Q, R_out, yscale, m)``."""
    run = norm_launcher(norm_form(False, arguments, options, residual=True, quant="i8"))

    @flyc.jit
    def fused_add_rmsnorm_dynamicquant(
        X: fx.Tensor, R: fx.Tensor, gamma: fx.Tensor | None, Q: fx.Tensor, R_out: fx.Tensor, yscale: fx.Tensor,
        m: fx.Int32, stream: fx.Stream = None,
    ):  # fmt: skip
        run(X, R, gamma, None, None, Q, R_out, None, None, yscale, m, stream)

    return fused_add_rmsnorm_dynamicquant


@kept
def build_fused_add_rmsnorm_smoothquant_module(*arguments: Any, **options: Any) -> Any:
    """Return the launcher ``fn(X, R, gamma, xscale, Q, R_out, yscale, m)``."""
    run = norm_launcher(norm_form(False, arguments, options, residual=True, quant="i8"))

    @flyc.jit
    def fused_add_rmsnorm_smoothquant(
        X: fx.Tensor, R: fx.Tensor, gamma: fx.Tensor | None, xscale: fx.Tensor, Q: fx.Tensor, R_out: fx.Tensor,
        yscale: fx.Tensor, m: fx.Int32, stream: fx.Stream = None,
    ):  # fmt: skip
        run(X, R, gamma, None, xscale, Q, R_out, None, None, yscale, m, stream)

    return fused_add_rmsnorm_smoothquant


@kept
def build_rmsnorm_bwd_module(N: int, dtype_str: str, atomic: bool = False, plan: RowPlan | None = None) -> Any:
    """Return the launcher ``fn(dy, x, gamma, rstd, dx, sums, dgamma, m)``; ``sums`` is f32 of (`partial_rows`, N), or
    of `partial_shape`, and holds nothing of use behind the call.

    With ``atomic`` it is ``fn(dy, x, gamma, rstd, dx, dgamma, m)``, where dgamma is f32 and zero before.
    """
    blocks = multiprocessors_here(HOPPER.processors)
    run = norm_backward_launcher(False, N, dtype_str, atomic, False, plan, blocks)

    @flyc.jit
    def rmsnorm_bwd(
        dy: fx.Tensor, x: fx.Tensor, gamma: fx.Tensor | None, rstd: fx.Tensor, dx: fx.Tensor, sums: fx.Tensor,
        dgamma: fx.Tensor, m: fx.Int32, stream: fx.Stream = None,
    ):  # fmt: skip
        run(dy, x, gamma, None, rstd, dx, None, sums, None, dgamma, None, m, stream)

    @flyc.jit
    def rmsnorm_bwd_atomic(
        dy: fx.Tensor, x: fx.Tensor, gamma: fx.Tensor | None, rstd: fx.Tensor, dx: fx.Tensor, dgamma: fx.Tensor,
        m: fx.Int32, stream: fx.Stream = None,
    ):  # fmt: skip
        run(dy, x, gamma, None, rstd, dx, None, dgamma, None, None, None, m, stream)

    return rmsnorm_bwd_atomic if atomic else rmsnorm_bwd
