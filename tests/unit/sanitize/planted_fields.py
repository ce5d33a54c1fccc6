"""Boxes and fields that leave their own allocation and stay in the block's shared memory."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.unit.nvvm.running import run as run_body
from tests.unit.sanitize.planted_async_copies import box_of, integers, unwritten
from tests.unit.sanitize.planting import Planted, numbers, planted, poisoned

nvvm = fx.nvvm
CASES: list[Planted] = []
bounds = partial(planted, CASES, "bounds")


@fx.struct
class Pair:
    """Two arrays side by side."""

    first: fx.Array[fx.Float32, 16]
    second: fx.Array[fx.Float32, 16]


@bounds(tensor="pair.first", coordinate=(16,), thread=15)
def field_that_runs_into_the_next(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor, shift: fx.Int32):
        t = fx.thread_idx.x
        pair = fx.SharedAllocator().allocate(Pair)
        pair.second[t] = A[t]
        pair.first[t + shift] = A[t]  # FAULT
        fx.barrier()
        B[t] = pair.second[t] - pair.first[t]

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, shift: fx.Int32):
        kernel(A, B, shift).launch(block=(16, 1, 1))

    a, b = numbers(16), poisoned(16)
    run(a, b, fault)
    np.testing.assert_array_equal(b, np.zeros(16))


@bounds(tensor="pair.second", coordinate=(-1,), thread=0)
def field_read_before_its_start(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor, back: fx.Int32):
        t = fx.thread_idx.x
        pair = fx.SharedAllocator().allocate(Pair)
        pair.first[t] = A[t]
        pair.second[t] = A[t]
        fx.barrier()
        B[t] = pair.second[t - back]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, back: fx.Int32):
        kernel(A, B, back).launch(block=(16, 1, 1))

    a, b = numbers(16), poisoned(16)
    run(a, b, fault)
    np.testing.assert_array_equal(b, a)


@bounds(target="sm_90a", tensor="tile", coordinate=(64,), thread=0)
def box_larger_than_its_buffer(fault: int) -> None:
    """The box covers the mbarrier behind the tile: without the check the kernel would wait forever."""
    rows = 4 + 4 * fault

    def body(a: Any, out: fx.Tensor) -> None:
        t, smem = fx.thread_idx.x, fx.SharedAllocator()
        tile = smem.allocate(fx.Array[fx.Int32, 64, 1024]).peek().view(fx.make_layout(64, 1))
        barrier = smem.allocate(fx.Array[fx.Int64, 64]).ptr
        if t == 0:
            nvvm.mbarrier_init(barrier, 1)
            nvvm.mbarrier_arrive_expect_tx(barrier, a.bytes)
            nvvm.tma_load(a, (0, 0), tile, barrier)  # FAULT
        fx.barrier()
        nvvm.mbarrier_wait(barrier, 0)
        out[t] = tile[t]

    a, out = integers(8, 16), unwritten(64)
    run_body(body, a, out, threads=64, maps=box_of(rows, 16))
    np.testing.assert_array_equal(out, a[:4].ravel())


@bounds(target="sm_90a", tensor="tile", coordinate=(32,), thread=0)
def stored_box_larger_than_its_buffer(fault: int) -> None:
    rows = 2 + 2 * fault

    def body(out: fx.Tensor, a: fx.Tensor) -> None:
        t, smem = fx.thread_idx.x, fx.SharedAllocator()
        tile = smem.allocate(fx.Array[fx.Int32, 32, 1024]).peek().view(fx.make_layout(32, 1))
        more = smem.allocate(fx.Array[fx.Int32, 32]).peek().view(fx.make_layout(32, 1))
        tile[t] = a[t]
        more[t] = 0
        nvvm.fence_proxy_async()
        fx.barrier()
        if t == 0:
            nvvm.tma_store(out, tile, (0, 0))  # FAULT
            nvvm.tma_commit_group()
            nvvm.tma_wait_group(0)

    out, a = unwritten(4, 16), integers(32)
    run_body(body, out, a, threads=32, maps=box_of(rows, 16))
    np.testing.assert_array_equal(out[:2].ravel(), a)
