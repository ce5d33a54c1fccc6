"""RMSNorm by blocks of the size that was measured to be fastest.

fn = build_tuned_rmsnorm_module(N, "bf16")
fn(X, gamma, Y, M, stream)
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.autotune import Config, autotune
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.norm.norm_rows import norm_form, norm_launcher

TRIED = (0, 128, 256, 512, 1024)
"""Threads of a block; with 0 the model chooses (docs/rows.md), which stands where nothing is measured."""


@kept
def build_tuned_rmsnorm_module(N: int, dtype_str: str, eps: float = 1e-5) -> Any:
    """Return the launcher ``fn(X, gamma, Y, m, stream)``, which with FLYDSL_AUTOTUNE=1 measures blocks of several
    sizes for each number of rows, and otherwise takes what was measured, or the model's choice."""
    form = norm_form(False, (N, dtype_str), {"eps": eps})
    launchers = {threads: norm_launcher(form, threads or None) for threads in TRIED}
    configs = [Config(BLOCK_THREADS=threads) for threads in TRIED]

    @autotune(configs=configs, key=["m"], default=configs[0])
    @flyc.jit
    def tuned_rmsnorm(
        X: fx.Tensor, gamma: fx.Tensor | None, Y: fx.Tensor, m: fx.Int32, stream: fx.Stream,
        BLOCK_THREADS: fx.Constexpr[int],
    ):  # fmt: skip
        launchers[BLOCK_THREADS](X, None, gamma, None, None, Y, None, None, None, None, m, stream)

    return tuned_rmsnorm
