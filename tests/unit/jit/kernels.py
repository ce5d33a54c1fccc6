"""Small jit functions that the tests of the call path share. Each module that calls `make()` gets its own."""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx


def scaling() -> Any:
    """``y = x * factor + shift`` over one block; ``bias`` is a compile-time number."""

    @flyc.kernel
    def scale_kernel(x: fx.Tensor, y: fx.Tensor, factor: fx.Float32, shift: fx.Int32, bias: fx.Constexpr[int]):
        i = fx.thread_idx.x
        y[i] = (x[i].to(fx.Float32) * factor + (shift + bias).to(fx.Float32)).to(y.dtype)

    @flyc.jit
    def scale(
        x: fx.Tensor, y: fx.Tensor, factor: fx.Float32, shift: fx.Int32 = 0,  # type: ignore[assignment]
        bias: fx.Constexpr[int] = 0,
        stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        scale_kernel(x, y, factor, shift, bias).launch(grid=(1, 1, 1), block=(x.shape[0], 1, 1), stream=stream)

    return scale


def copying() -> Any:
    """``y = x`` over a matrix, one block a row."""

    @flyc.kernel
    def copy_kernel(x: fx.Tensor, y: fx.Tensor):
        row, column = fx.block_idx.x, fx.thread_idx.x
        y[row, column] = x[row, column]

    @flyc.jit
    def copy(x: fx.Tensor, y: fx.Tensor, rows: fx.Int32, columns: fx.Int32):
        copy_kernel(x, y).launch(grid=(rows, 1, 1), block=(columns, 1, 1))

    return copy
