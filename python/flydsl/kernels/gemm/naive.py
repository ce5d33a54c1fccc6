"""The plainest matrix product: one thread per output, straight from global memory.

gemm = build_naive_gemm_module()
gemm(A, B, C, M, N, K, stream)

C = A * B^T in f32: A is [M, K], B is [N, K], both of the given type; C is [M, N] f32. Any extents.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.inputs import require_extents
from flydsl.kernels.blocks.kept_launchers import kept

SIDE = 16
"""A block computes a square of outputs, a thread each."""


@flyc.kernel(known_block_size=(SIDE, SIDE, 1))
def naive_gemm_kernel(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, m: fx.Int32, n: fx.Int32, k: fx.Int32):
    bx, by, _ = fx.block_idx
    column, row = bx * SIDE + fx.thread_idx.x, by * SIDE + fx.thread_idx.y
    if (row < m) & (column < n):
        total = fx.Float32(0.0)
        for i in range(k):
            total = total + A[row, i].to(fx.Float32) * B[column, i].to(fx.Float32)
        C[row, column] = total


@kept
def build_naive_gemm_module() -> Any:
    """Return the launcher; it takes f32, f16 and bf16, and its extents may differ per call."""

    @flyc.jit
    def naive_gemm(
        A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, m: fx.Int32, n: fx.Int32, k: fx.Int32, stream: fx.Stream = None
    ):
        for tensor, rows, columns in ((A, m, k), (B, n, k), (C, m, n)):
            require_extents((tensor,), rows, columns)
        blocks = (fx.ceildiv(n, SIDE), fx.ceildiv(m, SIDE), 1)
        naive_gemm_kernel(A, B, C, m, n, k).launch(grid=blocks, block=(SIDE, SIDE, 1), stream=stream)

    return naive_gemm
