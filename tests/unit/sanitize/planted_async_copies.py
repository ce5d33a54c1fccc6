"""Asynchronous copies of NVIDIA GPUs that somebody does not wait for: cp.async, bulk copies, TMA."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import flydsl.expr as fx
from tests.support import random_data
from tests.unit.nvvm.running import run
from tests.unit.sanitize.planting import Planted, planted

nvvm = fx.nvvm
CASES: list[Planted] = []
asynchronous = partial(planted, CASES, "async", target="sm_90a", garbage=True)
silent = partial(planted, CASES, "async", target="sm_90a")
"""Faults that hardware may forgive, and the virtual GPU does unless it is asked."""


def integers(*shape: int) -> Any:
    return random_data.generator().integers(1, 1000, shape, np.int32)


def unwritten(*shape: int) -> Any:
    return np.full(shape, -7, np.int32)


def fetch(source: Any, tile: Any, t: Any) -> None:
    """One element of this thread, by cp.async."""
    atom = fx.make_copy_atom(nvvm.CpAsync(32, "ca"), fx.Int32)
    cut = [fx.logical_divide(x, fx.make_layout(1, 1)) for x in (source, tile)]
    fx.copy_atom_call(atom, cut[0][None, t], cut[1][None, t])


# cp.async ------------------------------------------------------------------------------------------


@asynchronous(tensor="tile", coordinate=(0,), other_thread=0)
def copy_in_no_group(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64, 16]).peek().view(fx.make_layout(64, 1))
        fetch(a, tile, t)
        if fx.const_expr(not fault):
            nvvm.cp_async_commit_group()
        nvvm.cp_async_wait_group(0)
        fx.barrier()
        out[t] = tile[t]  # FAULT

    a, out = integers(64), unwritten(64)
    run(body, a, out, threads=64)
    np.testing.assert_array_equal(out, a)


@asynchronous(tensor="tile", coordinate=(63,), other_thread=63)
def copy_without_a_wait(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64, 16]).peek().view(fx.make_layout(64, 1))
        fetch(a, tile, t)
        nvvm.cp_async_commit_group()
        if fx.const_expr(not fault):
            nvvm.cp_async_wait_group(0)
        fx.barrier()
        out[t] = tile[63 - t]  # FAULT

    a, out = integers(64), unwritten(64)
    run(body, a, out, threads=64)
    np.testing.assert_array_equal(out, a[::-1])


@planted(CASES, "race", target="sm_90a", tensor="tile", coordinate=(0,), thread=1, other_thread=0,
         alone=True)  # fmt: skip
def copy_without_a_barrier(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64, 16]).peek().view(fx.make_layout(64, 1))
        fetch(a, tile, t)
        nvvm.cp_async_commit_group()
        nvvm.cp_async_wait_group(0)
        if fx.const_expr(not fault):
            fx.barrier()
        out[t] = tile[(t + 63) % 64]  # FAULT

    a, out = integers(64), unwritten(64)
    run(body, a, out, threads=64)
    np.testing.assert_array_equal(out, np.roll(a, 1))


@asynchronous(tensor="tile", coordinate=(1,), other_thread=1)
def barrier_before_the_wait(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64, 16]).peek().view(fx.make_layout(64, 1))
        fetch(a, tile, t)
        nvvm.cp_async_commit_group()
        if fx.const_expr(fault):
            fx.barrier()
            nvvm.cp_async_wait_group(0)
        else:
            nvvm.cp_async_wait_group(0)
            fx.barrier()
        out[t] = tile[(t + 1) % 64]  # FAULT

    a, out = integers(64), unwritten(64)
    run(body, a, out, threads=64)
    np.testing.assert_array_equal(out, np.roll(a, -1))


@asynchronous(tensor="second", coordinate=(0,), other_thread=0)
def wait_that_leaves_one_group(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t, shared = fx.thread_idx.x, fx.SharedAllocator()
        first = shared.allocate(fx.Array[fx.Int32, 64, 16]).peek().view(fx.make_layout(64, 1))
        second = shared.allocate(fx.Array[fx.Int32, 64, 16]).peek().view(fx.make_layout(64, 1))
        fetch(a, first, t)
        nvvm.cp_async_commit_group()
        fetch(a, second, t)
        nvvm.cp_async_commit_group()
        nvvm.cp_async_wait_group(1 if fault else 0)
        fx.barrier()
        out[t] = first[t]
        out[t] = out[t] + second[t]  # FAULT

    a, out = integers(64), unwritten(64)
    run(body, a, out, threads=64)
    np.testing.assert_array_equal(out, 2 * a)


@asynchronous(tensor="ring", coordinate=(64,), other_thread=0)
def ring_that_waits_one_stage_too_little(fault: int) -> None:
    """Two stages are in flight; the third is asked for before the first is used."""

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        ring = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 192, 16]).peek().view(fx.make_layout(192, 1))
        total = fx.Int32(0)
        for stage in fx.range_constexpr(2):
            fetch(a, ring, t + stage * 64)
            nvvm.cp_async_commit_group()
        for stage in fx.range_constexpr(3):
            if fx.const_expr(stage == 0):
                fetch(a, ring, t + 128)
            nvvm.cp_async_commit_group()
            nvvm.cp_async_wait_group(2 + (fault if stage == 1 else 0))
            fx.barrier()
            total = total + ring[stage * 64 + t]  # FAULT
        out[t] = total

    a, out = integers(192), unwritten(64)
    run(body, a, out, threads=64)
    np.testing.assert_array_equal(out, a.reshape(3, 64).sum(0))


@asynchronous(tensor="tile", coordinate=(0,), other_thread=0)
def write_where_a_copy_arrives(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64, 16]).peek().view(fx.make_layout(64, 1))
        fetch(a, tile, t)
        nvvm.cp_async_commit_group()
        if fx.const_expr(not fault):
            nvvm.cp_async_wait_group(0)
        tile[t] = t  # FAULT
        nvvm.cp_async_wait_group(0)
        fx.barrier()
        out[t] = tile[t]

    a, out = integers(64), unwritten(64)
    run(body, a, out, threads=64)
    np.testing.assert_array_equal(out, np.arange(64))


@silent(tensor="tile", coordinate=(0,), other_thread=0)
def two_copies_into_one_place(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64, 16]).peek().view(fx.make_layout(64, 1))
        atom = fx.make_copy_atom(nvvm.CpAsync(32, "ca"), fx.Int32)
        source, place = (fx.logical_divide(x, fx.make_layout(1, 1))[None, t] for x in (a, tile))
        fx.copy_atom_call(atom, source, place)  # OTHER
        nvvm.cp_async_commit_group()
        if fx.const_expr(not fault):
            nvvm.cp_async_wait_group(0)
        fx.copy_atom_call(atom, source, place)  # FAULT
        nvvm.cp_async_commit_group()
        nvvm.cp_async_wait_group(0)
        fx.barrier()
        out[t] = tile[t]

    a, out = integers(64), unwritten(64)
    run(body, a, out, threads=64)
    np.testing.assert_array_equal(out, a)


@asynchronous(tensor="tile", coordinate=(32,), thread=32, other_thread=32)
def wait_of_half_a_block(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64, 16]).peek().view(fx.make_layout(64, 1))
        fetch(a, tile, t)
        nvvm.cp_async_commit_group()
        if t < 64 - 32 * fault:
            nvvm.cp_async_wait_group(0)
        fx.barrier()
        out[t] = tile[t]  # FAULT

    a, out = integers(64), unwritten(64)
    run(body, a, out, threads=64)
    np.testing.assert_array_equal(out, a)


@asynchronous(tensor="tile", coordinate=(8,), thread=4, other_thread=1)
def matrix_read_from_a_tile_that_arrives(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t, shared = fx.thread_idx.x, fx.SharedAllocator()
        tile = shared.allocate(fx.Array[fx.Int16, 256, 16]).peek().view(fx.make_layout(256, 1))
        tile[t] = fx.Int16(0)
        fx.barrier()
        source = fx.logical_divide(a, fx.make_layout(8, 1))
        place = fx.logical_divide(tile, fx.make_layout(8, 1))
        atom = fx.make_copy_atom(nvvm.CpAsync(128), fx.Int16)
        fx.copy_atom_call(atom, source[None, t], place[None, t])
        nvvm.cp_async_commit_group()
        if t < 32 - 31 * fault:
            nvvm.cp_async_wait_group(0)
        fx.barrier()
        words = nvvm.ldmatrix(fx.get_iter(tile) + t % 8 * 8, 1)  # FAULT
        out[t] = words[0]

    a, out = np.arange(256, dtype=np.int16), unwritten(32)
    run(body, a, out, threads=32)
    np.testing.assert_array_equal(out.view(np.int16), a[:64])


# Bulk copies and TMA ---------------------------------------------------------------------------------


@asynchronous(tensor="tile", coordinate=(32,), thread=32, other_thread=0)
def bulk_load_without_a_wait(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t, shared = fx.thread_idx.x, fx.SharedAllocator()
        tile = shared.allocate(fx.Array[fx.Int32, 64, 16]).peek().view(fx.make_layout(64, 1))
        barrier = shared.allocate(fx.Array[fx.Int64, 1]).ptr
        if t == 0:
            nvvm.mbarrier_init(barrier, 1)
            nvvm.mbarrier_arrive_expect_tx(barrier, 256)
            nvvm.bulk_load(a, fx.get_iter(tile), 256, barrier)  # OTHER
        fx.barrier()
        if fx.const_expr(not fault):
            nvvm.mbarrier_wait(barrier, 0)
        out[t] = tile[t]  # FAULT

    a, out = integers(64), unwritten(64)
    run(body, a, out, threads=64)
    np.testing.assert_array_equal(out, a)


def box_of(rows: int, columns: int, **options: Any) -> Any:
    """The kernel gets a map of the first array."""
    return lambda a, *rest: (nvvm.make_tensor_map(a, (rows, columns), "none", **options), *rest)


@asynchronous(tensor="tile", coordinate=(32,), thread=32, other_thread=0)
def box_without_a_wait(fault: int) -> None:
    def body(a: Any, out: fx.Tensor) -> None:
        t, shared = fx.thread_idx.x, fx.SharedAllocator()
        tile = shared.allocate(fx.Array[fx.Int32, 64, 1024]).peek().view(fx.make_layout(64, 1))
        barrier = shared.allocate(fx.Array[fx.Int64, 1]).ptr
        if t == 0:
            nvvm.mbarrier_init(barrier, 1)
            nvvm.mbarrier_arrive_expect_tx(barrier, a.bytes)
            nvvm.tma_load(a, (0, 0), tile, barrier)  # OTHER
        fx.barrier()
        if fx.const_expr(not fault):
            nvvm.mbarrier_wait(barrier, 0)
        out[t] = tile[t]  # FAULT

    a, out = integers(4, 16), unwritten(64)
    run(body, a, out, threads=64, maps=box_of(4, 16))
    np.testing.assert_array_equal(out, a.ravel())


@asynchronous(tensor="tile", coordinate=(32,), thread=32, other_thread=0)
def wait_for_the_phase_before(fault: int) -> None:
    def body(a: Any, out: fx.Tensor) -> None:
        t, shared = fx.thread_idx.x, fx.SharedAllocator()
        tile = shared.allocate(fx.Array[fx.Int32, 64, 1024]).peek().view(fx.make_layout(64, 1))
        barrier = shared.allocate(fx.Array[fx.Int64, 1]).ptr
        if t == 0:
            nvvm.mbarrier_init(barrier, 1)
            nvvm.mbarrier_arrive_expect_tx(barrier, a.bytes)
            nvvm.tma_load(a, (0, 0), tile, barrier)
        fx.barrier()
        nvvm.mbarrier_wait(barrier, fault)
        out[t] = tile[t]  # FAULT

    a, out = integers(4, 16), unwritten(64)
    run(body, a, out, threads=64, maps=box_of(4, 16))
    np.testing.assert_array_equal(out, a.ravel())


@asynchronous(tensor="second", coordinate=(32,), thread=32, other_thread=0)
def wait_for_the_other_barrier(fault: int) -> None:
    def body(a: Any, out: fx.Tensor) -> None:
        t, shared = fx.thread_idx.x, fx.SharedAllocator()
        first = shared.allocate(fx.Array[fx.Int32, 64, 1024]).peek().view(fx.make_layout(64, 1))
        second = shared.allocate(fx.Array[fx.Int32, 64, 1024]).peek().view(fx.make_layout(64, 1))
        barriers = shared.allocate(fx.Array[fx.Int64, 2]).ptr
        if t == 0:
            for i in fx.range_constexpr(2):
                nvvm.mbarrier_init(barriers + i, 1)
                nvvm.mbarrier_arrive_expect_tx(barriers + i, a.bytes)
            nvvm.tma_load(a, (0, 0), first, barriers)
            nvvm.tma_load(a, (4, 0), second, barriers + 1)
        fx.barrier()
        nvvm.mbarrier_wait(barriers, 0)
        if fx.const_expr(not fault):
            nvvm.mbarrier_wait(barriers + 1, 0)
        out[t] = first[t] + second[t]  # FAULT

    a, out = integers(8, 16), unwritten(64)
    run(body, a, out, threads=64, maps=box_of(4, 16))
    np.testing.assert_array_equal(out, a[:4].ravel() + a[4:].ravel())


@asynchronous(tensor="ring", coordinate=(64,), thread=32, other_thread=0)
def consumer_that_is_a_stage_ahead(fault: int) -> None:
    def body(a: Any, out: fx.Tensor) -> None:
        smem = fx.SharedAllocator()
        ring = smem.allocate(fx.Array[fx.Int32, 128, 1024]).peek().view(fx.make_layout(128, 1))
        pipe = nvvm.Pipeline(smem, stages=2, consumers=1)
        t = fx.thread_idx.x
        warp = nvvm.warp_uniform(t // 32)
        if t == 0:
            pipe.init()
        fx.barrier()
        if warp == 0:
            if t == 0:
                state = pipe.producer_start()
                for i in range(4):
                    pipe.acquire(state, a.bytes)
                    nvvm.tma_load(a, (i * 4, 0), fx.get_iter(ring) + state.stage * 64, pipe.full(state))  # OTHER
                    state = pipe.advance(state)
        else:
            state = pipe.consumer_start()
            for i in range(4):
                pipe.wait(state)
                stage = (state.stage + fault) % 2
                for j in fx.range_constexpr(2):
                    out[i, t - 32 + j * 32] = ring[stage * 64 + t - 32 + j * 32]  # FAULT
                nvvm.barrier_sync(1, 32)
                if t == 32:
                    pipe.release(state)
                state = pipe.advance(state)

    a, out = integers(16, 16), unwritten(4, 64)
    run(body, a, out, threads=64, maps=box_of(4, 16))
    np.testing.assert_array_equal(out, a.reshape(4, 64))


@silent(tensor="tile", coordinate=(0,), other_thread=0)
def load_into_a_place_that_is_still_filled(fault: int) -> None:
    def body(a: Any, out: fx.Tensor) -> None:
        t, shared = fx.thread_idx.x, fx.SharedAllocator()
        tile = shared.allocate(fx.Array[fx.Int32, 64, 1024]).peek().view(fx.make_layout(64, 1))
        barrier = shared.allocate(fx.Array[fx.Int64, 1]).ptr
        if t == 0:
            nvvm.mbarrier_init(barrier, 1)
            nvvm.mbarrier_arrive_expect_tx(barrier, a.bytes)
            nvvm.tma_load(a, (0, 0), tile, barrier)  # OTHER
            if fx.const_expr(fault):
                nvvm.mbarrier_expect_tx(barrier, a.bytes)
            else:
                nvvm.mbarrier_wait(barrier, 0)
                nvvm.mbarrier_arrive_expect_tx(barrier, a.bytes)
            nvvm.tma_load(a, (4, 0), tile, barrier)  # FAULT
        fx.barrier()
        nvvm.mbarrier_wait(barrier, 1 - fault)
        out[t] = tile[t]

    a, out = integers(8, 16), unwritten(64)
    run(body, a, out, threads=64, maps=box_of(4, 16))
    np.testing.assert_array_equal(out, a[4:].ravel())


@asynchronous(tensor="tile", coordinate=(0,), block=1, thread=0, other_block=0, other_thread=0)
def block_that_does_not_wait_for_its_multicast(fault: int) -> None:
    def body(a: Any, out: fx.Tensor) -> None:
        t, shared, rank = fx.thread_idx.x, fx.SharedAllocator(), nvvm.block_rank_in_cluster()
        tile = shared.allocate(fx.Array[fx.Int32, 64, 1024]).peek().view(fx.make_layout(64, 1))
        barrier = shared.allocate(fx.Array[fx.Int64, 1]).ptr
        if t == 0:
            nvvm.mbarrier_init(barrier, 1)
            nvvm.mbarrier_arrive_expect_tx(barrier, a.bytes)
        nvvm.cluster_sync()
        if t + rank == 0:
            nvvm.tma_load(a, (0, 0), tile, barrier, multicast=3)
        nvvm.cluster_sync()
        if rank < 2 - fault:
            nvvm.mbarrier_wait(barrier, 0)
        for j in fx.range_constexpr(2):
            out[rank, t + j * 32] = tile[t + j * 32]  # FAULT
        nvvm.cluster_sync()

    a, out = integers(4, 16), unwritten(2, 64)
    run(body, a, out, threads=32, grid=2, cluster=2, maps=box_of(4, 16))
    np.testing.assert_array_equal(out, np.stack([a.ravel()] * 2))


@asynchronous(tensor="tile", coordinate=(0,), other_thread=0)
def source_of_a_store_overwritten(fault: int) -> None:
    def body(out: fx.Tensor, a: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 32, 1024]).peek().view(fx.make_layout(32, 1))
        tile[t] = a[t]
        nvvm.fence_proxy_async()
        fx.barrier()
        if t == 0:
            nvvm.tma_store(out, tile, (0, 0))  # OTHER
            nvvm.tma_commit_group()
            if fx.const_expr(not fault):
                nvvm.tma_wait_group(0, read=True)
        fx.barrier()
        tile[t] = 0  # FAULT
        if t == 0:
            nvvm.tma_wait_group(0)

    out, a = unwritten(2, 16), integers(32)
    run(body, out, a, threads=32, maps=box_of(2, 16))
    np.testing.assert_array_equal(out.ravel(), a)


@asynchronous(tensor="tile", coordinate=(0,), other_thread=0)
def store_that_outlives_its_block(fault: int) -> None:
    def body(out: fx.Tensor, a: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 32, 1024]).peek().view(fx.make_layout(32, 1))
        tile[t] = a[t]
        nvvm.fence_proxy_async()
        fx.barrier()
        if t == 0:
            nvvm.tma_store(out, tile, (0, 0))  # FAULT
            nvvm.tma_commit_group()
            if fx.const_expr(not fault):
                nvvm.tma_wait_group(0, read=True)

    out, a = unwritten(2, 16), integers(32)
    run(body, out, a, threads=32, maps=box_of(2, 16))
    np.testing.assert_array_equal(out.ravel(), a)


@asynchronous(tensor="tile", coordinate=(0,), other_thread=0)
def store_in_no_group(fault: int) -> None:
    def body(out: fx.Tensor, a: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 32, 16]).peek().view(fx.make_layout(32, 1))
        tile[t] = a[t]
        nvvm.fence_proxy_async()
        fx.barrier()
        if t == 0:
            nvvm.bulk_store(fx.get_iter(tile), out, 128)  # FAULT
            if fx.const_expr(not fault):
                nvvm.tma_commit_group()
            nvvm.tma_wait_group(0)

    out, a = unwritten(32), integers(32)
    run(body, out, a, threads=32)
    np.testing.assert_array_equal(out, a)


@asynchronous(tensor="tile", coordinate=(32,), other_thread=0)
def wait_that_leaves_one_store(fault: int) -> None:
    def body(out: fx.Tensor, a: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64, 16]).peek().view(fx.make_layout(64, 1))
        for part in fx.range_constexpr(2):
            tile[t + part * 32] = a[t + part * 32]
        nvvm.fence_proxy_async()
        fx.barrier()
        if t == 0:
            for part in fx.range_constexpr(2):
                nvvm.bulk_store(fx.get_iter(tile) + part * 32, fx.get_iter(out) + part * 32, 128)
                nvvm.tma_commit_group()
            nvvm.tma_wait_group(fault, read=True)
        fx.barrier()
        tile[t] = 0
        tile[t + 32] = 0  # FAULT
        if t == 0:
            nvvm.tma_wait_group(0)

    out, a = unwritten(64), integers(64)
    run(body, out, a, threads=32)
    np.testing.assert_array_equal(out, a)


@silent(tensor="tile", coordinate=(0,), other_thread=0)
def store_without_a_proxy_fence(fault: int) -> None:
    def body(out: fx.Tensor, a: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 32, 16]).peek().view(fx.make_layout(32, 1))
        tile[t] = a[t]  # OTHER
        if fx.const_expr(not fault):
            nvvm.fence_proxy_async()
        fx.barrier()
        if t == 0:
            nvvm.bulk_store(fx.get_iter(tile), out, 128)  # FAULT
            nvvm.tma_commit_group()
            nvvm.tma_wait_group(0)

    out, a = unwritten(32), integers(32)
    run(body, out, a, threads=32)
    np.testing.assert_array_equal(out, a)


@silent(tensor="tile", coordinate=(5,), other_thread=5)
def element_written_behind_the_proxy_fence(fault: int) -> None:
    def body(out: fx.Tensor, a: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 32, 1024]).peek().view(fx.make_layout(32, 1))
        tile[t] = a[t]
        nvvm.fence_proxy_async()
        fx.barrier()
        if fx.const_expr(fault):
            if t == 5:
                tile[t] = a[t]  # OTHER
            fx.barrier()
        if t == 0:
            nvvm.tma_reduce(out, tile, (0, 0))  # FAULT
            nvvm.tma_commit_group()
            nvvm.tma_wait_group(0)

    out, a = np.zeros((2, 16), np.int32), integers(32)
    run(body, out, a, threads=32, maps=box_of(2, 16))
    np.testing.assert_array_equal(out.ravel(), a)


@asynchronous(tensor="tile", coordinate=(0,), other_thread=0)
def store_of_a_box_that_is_still_filled(fault: int) -> None:
    def body(a: Any, out: fx.Tensor) -> None:
        t, shared = fx.thread_idx.x, fx.SharedAllocator()
        tile = shared.allocate(fx.Array[fx.Int32, 64, 1024]).peek().view(fx.make_layout(64, 1))
        barrier = shared.allocate(fx.Array[fx.Int64, 1]).ptr
        if t == 0:
            nvvm.mbarrier_init(barrier, 1)
            nvvm.mbarrier_arrive_expect_tx(barrier, a.bytes)
            nvvm.tma_load(a, (0, 0), tile, barrier)  # OTHER
            if fx.const_expr(not fault):
                nvvm.mbarrier_wait(barrier, 0)
            nvvm.bulk_store(fx.get_iter(tile), out, 256)  # FAULT
            nvvm.tma_commit_group()
            nvvm.tma_wait_group(0)

    a, out = integers(4, 16), unwritten(64)
    run(body, a, out, threads=32, maps=box_of(4, 16))
    np.testing.assert_array_equal(out, a.ravel())
