"""Indices that leave their own mode and stay in the array: found on request, by "modes"."""

from __future__ import annotations

from functools import partial

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.unit.sanitize.planting import Planted, numbers, planted, poisoned

CASES: list[Planted] = []
modes = partial(planted, CASES, "modes", alone=True)


@modes(tensor="A", coordinate=(1, 16), thread=15)
def column_that_runs_into_the_next_row(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor, shift: fx.Int32):
        t = fx.thread_idx.x
        B[t] = A[1, (t + shift) % (16 + shift)]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, shift: fx.Int32):
        kernel(A, B, shift).launch(block=(16, 1, 1))

    a, b = numbers(4, 16), poisoned(16)
    run(a, b, fault)
    np.testing.assert_array_equal(b, a[1])


@modes(tensor="B", coordinate=(0, 5), block=0, thread=5)
def store_beyond_a_short_row(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor, columns: fx.Int32):
        row, t = fx.block_idx.x, fx.thread_idx.x
        if t < columns:
            B[row, t] = A[row, 0]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, columns: fx.Int32):
        kernel(A, B, columns).launch(grid=(4, 1, 1), block=(8, 1, 1))

    a, b = numbers(4, 1), poisoned(4, 5)
    run(a, b, 5 + fault)
    np.testing.assert_array_equal(b, a.repeat(5, 1))


@modes(tensor="A", coordinate=(0, 4, 0), thread=4)
def middle_mode_of_three(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor, extent: fx.Int32):
        t = fx.thread_idx.x
        if t < extent:
            B[t] = A[0, t, 0]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, extent: fx.Int32):
        kernel(A, B, extent).launch(block=(8, 1, 1))

    a, b = numbers(2, 4, 3), poisoned(4 + fault)
    run(a, b, 4 + fault)
    np.testing.assert_array_equal(b, a[0, :, 0])


@modes(tensor="tile", coordinate=(0, 8), thread=7)
def column_of_a_padded_tile(fault: int) -> None:
    """Rows are ten apart and eight long: the ninth column is padding that nobody wrote."""

    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor, shift: fx.Int32):
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 80]).peek().view(fx.make_layout((8, 8), (10, 1)))
        t = fx.thread_idx.x
        for row in fx.range_constexpr(8):
            tile[row, t] = A[row, t]
        fx.barrier()
        B[t] = tile[0, t + shift]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, shift: fx.Int32):
        kernel(A, B, shift).launch(block=(8, 1, 1))

    a, b = numbers(8, 8), poisoned(8)
    run(a, b, fault)
    np.testing.assert_array_equal(b, a[0])


@modes(tensor="A", coordinate=(-1, 3), thread=0)
def row_before_the_first(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor, back: fx.Int32):
        t = fx.thread_idx.x
        B[t] = A[t - back, 3]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, back: fx.Int32):
        kernel(A, B, back).launch(block=(4, 1, 1))

    a, b = numbers(4, 8), poisoned(4)
    run(a, b, fault)
    np.testing.assert_array_equal(b, a[:, 3])
