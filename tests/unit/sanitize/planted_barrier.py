"""Barriers that part of a block never reaches."""

from __future__ import annotations

from functools import partial

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.unit.sanitize.planting import Planted, numbers, planted, poisoned

CASES: list[Planted] = []
barrier = partial(planted, CASES, "barrier")


@barrier(thread=0, other_thread=32)
def barrier_in_a_branch(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        t = fx.thread_idx.x
        if t < 64 - 32 * fault:
            fx.barrier()  # FAULT
        B[t] = A[t]

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(64, 1, 1))

    a, b = numbers(64), poisoned(64)
    run(a, b)
    np.testing.assert_array_equal(b, a)


@barrier(thread=1, other_thread=0)
def barrier_in_a_loop_of_different_lengths(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        t = fx.thread_idx.x
        total = fx.Float32(0.0)
        for _ in range(2 + t % 2 * fault):
            total = total + A[t]
            fx.barrier()  # FAULT
        B[t] = total

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(64, 1, 1))

    a, b = numbers(64), poisoned(64)
    run(a, b)
    np.testing.assert_array_equal(b, 2 * a)


@barrier(block=2, thread=5, other_thread=0)
def barrier_in_a_while_loop(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        block, t = fx.block_idx.x, fx.thread_idx.x
        left = fx.Int32(2)
        if block == 2:
            if t == 5:
                left = fx.Int32(2 + fault)
        while left > 0:
            fx.barrier()  # FAULT
            left = left - 1
        B[block * 16 + t] = A[t]

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(grid=(3, 1, 1), block=(16, 1, 1))

    a, b = numbers(16), poisoned(48)
    run(a, b)
    np.testing.assert_array_equal(b, np.tile(a, 3))


@barrier(block=1, thread=0, other_thread=3)
def barrier_behind_a_value_in_memory(fault: int) -> None:
    @flyc.kernel
    def kernel(flags: fx.Tensor, B: fx.Tensor):
        block, t = fx.block_idx.x, fx.thread_idx.x
        if flags[block * 8 + t] > 0:
            fx.barrier()  # FAULT
        B[block * 8 + t] = fx.Float32(1.0)

    @flyc.jit
    def run(flags: fx.Tensor, B: fx.Tensor):
        kernel(flags, B).launch(grid=(2, 1, 1), block=(8, 1, 1))

    flags, b = np.ones(16, np.int32), poisoned(16)
    flags[11] = 1 - fault
    run(flags, b)
    assert (b == 1).all()


@barrier(thread=8, other_thread=0)
def barrier_in_the_other_branch(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        t = fx.thread_idx.x
        if t < 8 * fault:
            B[t] = A[t]
        else:
            fx.barrier()  # FAULT
            B[t] = A[t]

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(16, 1, 1))

    a, b = numbers(16), poisoned(16)
    run(a, b)
    np.testing.assert_array_equal(b, a)
