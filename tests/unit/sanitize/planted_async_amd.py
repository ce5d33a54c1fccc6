"""Copies into LDS on AMD GPUs that somebody does not wait for: buffer and global loads, marks, tiles, clusters."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import flydsl.expr as fx
from tests.unit.nvvm.running import run
from tests.unit.sanitize.planted_async_copies import integers, unwritten
from tests.unit.sanitize.planting import Planted, planted

rocdl = fx.rocdl
CASES: list[Planted] = []
asynchronous = partial(planted, CASES, "async", garbage=True)


def fetch(source: Any, tile: Any, t: Any, wave: int = 64) -> None:
    """One element a lane, straight into LDS; lanes lie side by side from the first one's place."""
    rocdl.buffer_load_to_lds(source, tile + (t // wave * wave), 4, t * 4)


@asynchronous(target="gfx942", tensor="tile", coordinate=(0,), other_thread=0)
def copy_with_a_bare_barrier(fault: int) -> None:
    """s_barrier orders no memory: without s_waitcnt the copies of other waves are under way."""

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 128]).peek().view(fx.make_layout(128, 1))
        fetch(a, fx.get_iter(tile), t)
        if fx.const_expr(not fault):
            rocdl.s_waitcnt(vmcnt=0)
        rocdl.s_barrier()
        out[t] = tile[t]  # FAULT

    a, out = integers(128), unwritten(128)
    run(body, a, out, threads=128)
    np.testing.assert_array_equal(out, a)


@asynchronous(target="gfx942", tensor="tile", coordinate=(64,), other_thread=64)
def copy_of_the_other_wave(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 128]).peek().view(fx.make_layout(128, 1))
        fetch(a, fx.get_iter(tile), t)
        if t < 128 - 64 * fault:
            rocdl.s_waitcnt(vmcnt=0)
        rocdl.s_barrier()
        out[t] = tile[t ^ 64]  # FAULT

    a, out = integers(128), unwritten(128)
    run(body, a, out, threads=128)
    np.testing.assert_array_equal(out, a[np.arange(128) ^ 64])


@asynchronous(target="gfx950", tensor="second", coordinate=(0,), other_thread=0)
def count_that_leaves_one_copy(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t, smem = fx.thread_idx.x, fx.SharedAllocator()
        first = smem.allocate(fx.Array[fx.Int32, 64]).peek().view(fx.make_layout(64, 1))
        second = smem.allocate(fx.Array[fx.Int32, 64]).peek().view(fx.make_layout(64, 1))
        fetch(a, fx.get_iter(first), t)
        fetch(a, fx.get_iter(second), t)
        rocdl.s_waitcnt(vmcnt=fault)
        rocdl.s_barrier()
        out[t] = first[t] + second[t]  # FAULT

    a, out = integers(64), unwritten(64)
    run(body, a, out, threads=64)
    np.testing.assert_array_equal(out, 2 * a)


@asynchronous(target="gfx942", tensor="tile", coordinate=(0,), other_thread=0)
def count_of_the_wrong_counter(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64]).peek().view(fx.make_layout(64, 1))
        fetch(a, fx.get_iter(tile), t)
        if fx.const_expr(fault):
            rocdl.s_waitcnt(lgkmcnt=0)
        else:
            rocdl.s_waitcnt(vmcnt=0)
        rocdl.s_barrier()
        out[t] = tile[63 - t]  # FAULT

    a, out = integers(64), unwritten(64)
    run(body, a, out, threads=64)
    np.testing.assert_array_equal(out, a[::-1])


CASES[-1] = Planted(**{**CASES[-1].__dict__, "coordinate": (63,), "other_thread": 63})


@asynchronous(target="gfx942", tensor="tile", coordinate=(0,), other_thread=0)
def loads_that_are_counted_too(fault: int) -> None:
    """vmcnt counts every operation on vector memory: behind the copy there are two, or only one."""

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64]).peek().view(fx.make_layout(64, 1))
        fetch(a, fx.get_iter(tile), t)
        more = a[t + 64]
        if fx.const_expr(not fault):
            more = more + a[t + 128]
        rocdl.s_waitcnt(vmcnt=2)
        rocdl.s_barrier()
        out[t] = tile[t] + more  # FAULT

    a, out = integers(192), unwritten(64)
    run(body, a, out, threads=64)
    np.testing.assert_array_equal(out, a.reshape(3, 64).sum(0))


@asynchronous(target="gfx942", tensor="tile", coordinate=(0,), other_thread=0)
def write_where_a_copy_lands(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64]).peek().view(fx.make_layout(64, 1))
        fetch(a, fx.get_iter(tile), t)
        if fx.const_expr(not fault):
            rocdl.s_waitcnt(vmcnt=0)
        tile[t] = t  # FAULT
        fx.barrier()
        out[t] = tile[t]

    a, out = integers(64), unwritten(64)
    run(body, a, out, threads=64)
    np.testing.assert_array_equal(out, np.arange(64))


@asynchronous(target="gfx950", tensor="tile", coordinate=(64,), other_thread=0)
def wait_that_leaves_one_mark(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 128]).peek().view(fx.make_layout(128, 1))
        for part in fx.range_constexpr(2):
            rocdl.buffer_load_to_lds(a, fx.get_iter(tile) + part * 64, 4, (t + part * 64) * 4)
            rocdl.asyncmark()
        rocdl.wait_asyncmark(fault)
        rocdl.s_barrier()
        out[t] = tile[t] + tile[t + 64]  # FAULT

    a, out = integers(128), unwritten(64)
    run(body, a, out, threads=64)
    np.testing.assert_array_equal(out, a[:64] + a[64:])


@asynchronous(target="gfx950", tensor="ring", coordinate=(64,), other_thread=0)
def ring_of_copies_that_waits_too_little(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        ring = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 128]).peek().view(fx.make_layout(128, 1))
        total = fx.Int32(0)
        rocdl.buffer_load_to_lds(a, fx.get_iter(ring), 4, t * 4)
        for step in fx.range_constexpr(3):
            if fx.const_expr(step < 2):
                rocdl.buffer_load_to_lds(a, fx.get_iter(ring) + (step + 1) % 2 * 64, 4, (t + step * 64 + 64) * 4)
            rocdl.s_waitcnt(vmcnt=0 if step == 2 else 1 + (fault if step == 1 else 0))
            rocdl.s_barrier()
            total = total + ring[step % 2 * 64 + t]  # FAULT
            rocdl.s_barrier()
        out[t] = total

    a, out = integers(192), unwritten(64)
    run(body, a, out, threads=64)
    np.testing.assert_array_equal(out, a.reshape(3, 64).sum(0))


def tile_of(x: Any, row: int) -> Any:
    """A tile of 8 rows and 32 columns, and the atom that moves it."""
    tile = fx.make_view(fx.get_iter(x) + row * 32, fx.make_layout((8, 32), (32, 1)))
    return tile, rocdl.make_tdm_atom(tile, [None, None], num_warps=1)


@asynchronous(target="gfx1250", tensor="held", coordinate=(0, 0), other_thread=0)
def tile_without_a_wait(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        held = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 256]).peek().view(fx.make_layout((8, 32), (32, 1)))
        tile, atom = tile_of(a, 0)
        fx.copy(atom, tile, held)
        if fx.const_expr(not fault):
            rocdl.s_wait_tensorcnt(0)
        fx.barrier()
        for row in fx.range_constexpr(8):
            out[row * 32 + t] = held[row, t]  # FAULT

    a, out = integers(256), unwritten(256)
    run(body, a, out, threads=32)
    np.testing.assert_array_equal(out, a)


@asynchronous(target="gfx1250", tensor="second", coordinate=(0, 0), other_thread=0)
def wait_that_leaves_one_tile(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t, smem = fx.thread_idx.x, fx.SharedAllocator()
        first = smem.allocate(fx.Array[fx.Int32, 256]).peek().view(fx.make_layout((8, 32), (32, 1)))
        second = smem.allocate(fx.Array[fx.Int32, 256]).peek().view(fx.make_layout((8, 32), (32, 1)))
        for row, held in ((0, first), (8, second)):
            tile, atom = tile_of(a, row)
            fx.copy(atom, tile, held)
        rocdl.s_wait_tensorcnt(fault)
        fx.barrier()
        for row in fx.range_constexpr(8):
            out[row * 32 + t] = first[row, t] + second[row, t]  # FAULT

    a, out = integers(512), unwritten(256)
    run(body, a, out, threads=32)
    np.testing.assert_array_equal(out, a[:256] + a[256:])


@asynchronous(target="gfx1250", tensor="held", coordinate=(0, 0), other_thread=0)
def source_of_a_tile_overwritten(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        held = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 256]).peek().view(fx.make_layout((8, 32), (32, 1)))
        for row in fx.range_constexpr(8):
            held[row, t] = a[row * 32 + t]
        fx.barrier()
        tile, atom = tile_of(out, 0)
        fx.copy(atom, held, tile)
        if fx.const_expr(not fault):
            rocdl.s_wait_tensorcnt(0)
        held[0, t] = 0  # FAULT
        rocdl.s_wait_tensorcnt(0)

    a, out = integers(256), unwritten(256)
    run(body, a, out, threads=32)
    np.testing.assert_array_equal(out, a)


@asynchronous(target="gfx1250", tensor="tile", coordinate=(0,), other_thread=0)
def cluster_load_without_a_wait(fault: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 32]).peek().view(fx.make_layout(32, 1))
        rocdl.cluster_load_async_to_lds(fx.get_iter(a) + t, fx.get_iter(tile) + t, 4)
        if fx.const_expr(not fault):
            rocdl.s_wait_asynccnt(0)
        fx.barrier()
        out[t] = tile[t]  # FAULT

    a, out = integers(32), unwritten(32)
    run(body, a, out, threads=32)
    np.testing.assert_array_equal(out, a)
