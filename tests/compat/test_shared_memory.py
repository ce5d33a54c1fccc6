"""Shared memory as kernels written for AMD's GPUs rely on it: threads in step, and nothing behind its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx


def run(body: Callable[..., None], threads: int = 256, size: int | None = None) -> np.ndarray:
    """What a kernel of one block writes into an array of as many Int32."""
    kernel = flyc.kernel(body)

    @flyc.jit
    def launch(out: fx.Tensor) -> None:
        kernel(out).launch(grid=1, block=threads)

    out = np.full(size or threads, -1, np.int32)
    launch(out)
    return out


def test_all_read_before_one_overwrites() -> None:
    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        s = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 256]).peek()
        s[t] = t + 100
        fx.barrier()
        v = s[5]
        s[t] = t
        fx.barrier()
        out[t] = v

    assert set(run(body).tolist()) == {105}


def test_in_step_within_a_loop_that_has_no_barrier() -> None:
    """One wave: each round reads the neighbour's word and then overwrites its own."""

    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        s = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64]).peek()
        s[t] = t
        for _ in range(out.shape[0] // 16):
            neighbour = s[(t + 1) % 64]
            s[t] = neighbour
        out[t] = s[t]

    np.testing.assert_array_equal(run(body, 64), (np.arange(64) + 4) % 64)


def test_in_step_within_a_branch() -> None:
    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        s = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64]).peek()
        s[t] = t
        fx.barrier()
        if t < 32:
            s[t + 1] = s[t] * 10
        fx.barrier()
        out[t] = s[t]

    expected = np.arange(64)
    expected[1:33] = np.arange(32) * 10
    np.testing.assert_array_equal(run(body, 64), expected)


@pytest.mark.parametrize("step", [1, 4096])
def test_stores_behind_the_end_are_dropped_and_loads_give_zero(step: int) -> None:
    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        s = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64]).peek()
        s[t] = t
        fx.barrier()
        s.ptr[t * step + 64] = fx.Int32(77)
        fx.barrier()
        out[t] = s.ptr[t * step + 64] + s[t]

    np.testing.assert_array_equal(run(body, 64), np.arange(64))


def test_a_copy_of_more_rows_than_the_last_tile_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")

    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        s = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64, 16]).peek()
        four = fx.Vector.filled(4, t, fx.Int32)
        rows = s.ptr.view(fx.make_layout((4, 32), (1, 4)))
        rows[None, t].store(four)  # the upper sixteen rows are not there
        fx.barrier()
        out[t] = s[t]
        out[t + 32] = s[t + 32]

    np.testing.assert_array_equal(run(body, 32, 64), np.arange(64) // 4)


def test_waves_one_barrier_apart() -> None:
    """Half of the waves run one phase behind, and nothing makes up for it: a wave that ended counts as arrived."""

    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        if t >= 256:
            fx.rocdl.s_barrier()
        for _ in fx.range_constexpr(3):
            fx.rocdl.s_barrier()
        out[t] = t

    np.testing.assert_array_equal(run(body, 512), np.arange(512))


def test_an_address_in_shared_memory_is_a_number() -> None:
    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        s = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64]).peek()
        s[t] = t * 3
        fx.barrier()
        where = fx.ptrtoint(s.ptr) + (63 - t) * 4
        place: Any = fx.inttoptr(fx.PointerType.get(fx.Int32.ir_type, fx.AddressSpace.Shared, 4), where)
        out[t] = place.load()

    np.testing.assert_array_equal(run(body, 64), np.arange(64)[::-1] * 3)
