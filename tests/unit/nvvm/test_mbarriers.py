"""mbarriers on the virtual Hopper GPU: phases, counts, bytes that are awaited, and kernels that wait forever."""

from __future__ import annotations

import numpy as np
import pytest

import flydsl.expr as fx
from tests.support import random_data
from tests.unit.nvvm.running import Shared, run

nvvm = fx.nvvm


def test_a_phase_hands_words_from_one_warp_to_another() -> None:
    rounds = 5

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        shared = Shared()
        words, full, empty = shared.words(32), shared.barriers(), shared.barriers()
        thread, warp = fx.thread_idx.x, fx.nvvm.warp_uniform(fx.thread_idx.x // 32)
        if thread == 0:
            nvvm.mbarrier_init(full, 32)
            nvvm.mbarrier_init(empty, 32)
            nvvm.fence_mbarrier_init()
        fx.barrier()
        for i in range(rounds):
            if warp == 0:
                nvvm.mbarrier_wait(empty, (i + 1) % 2)
                words[thread] = a[i * 32 + thread] * 2
                nvvm.mbarrier_arrive(full)
            else:
                nvvm.mbarrier_wait(full, i % 2)
                out[i * 32 + thread - 32] = words[63 - thread] + i
                nvvm.mbarrier_arrive(empty)

    a, out = random_data.generator().integers(0, 1000, 32 * rounds, np.int32), np.full(32 * rounds, -1, np.int32)
    run(body, a, out, threads=64)
    expected = a.reshape(rounds, 32)[:, ::-1] * 2 + np.arange(rounds)[:, None]
    np.testing.assert_array_equal(out.reshape(rounds, 32), expected)


def test_try_wait_tells_each_phase() -> None:
    """(arrivals so far, answer for parity 0, answer for parity 1) of a barrier of two arrivals."""

    def body(out: fx.Tensor) -> None:
        barrier = Shared().barriers()
        nvvm.mbarrier_init(barrier, 2)
        for i in fx.range_constexpr(6):
            out[i, 0] = fx.Int32(nvvm.mbarrier_try_wait(barrier, 0))
            out[i, 1] = fx.Int32(nvvm.mbarrier_try_wait(barrier, 1))
            nvvm.mbarrier_arrive(barrier)

    out = np.full((6, 2), -1, np.int32)
    run(body, out, threads=1)
    complete = np.arange(6) // 2  # phases completed before the i-th arrival
    # A wait for a parity is over when the phase under way has the other one; the phase before the first counts as odd.
    expected = np.stack([complete % 2 == 1, complete % 2 == 0], axis=1).astype(np.int32)
    np.testing.assert_array_equal(out, expected)


def test_bytes_that_are_expected_hold_a_phase_open() -> None:
    def body(out: fx.Tensor) -> None:
        barrier = Shared().barriers()
        nvvm.mbarrier_init(barrier, 1)
        nvvm.mbarrier_expect_tx(barrier, 64)
        nvvm.mbarrier_arrive(barrier)
        out[0] = fx.Int32(nvvm.mbarrier_try_wait(barrier, 0))
        nvvm.mbarrier_expect_tx(barrier, -64)
        out[1] = fx.Int32(nvvm.mbarrier_try_wait(barrier, 0))
        nvvm.mbarrier_arrive_expect_tx(barrier, 16)
        out[2] = fx.Int32(nvvm.mbarrier_try_wait(barrier, 1))
        nvvm.mbarrier_expect_tx(barrier, -16)
        out[3] = fx.Int32(nvvm.mbarrier_try_wait(barrier, 1))
        nvvm.mbarrier_inval(barrier)

    out = np.full(4, -1, np.int32)
    run(body, out, threads=1)
    np.testing.assert_array_equal(out, [0, 1, 0, 1])


def test_lanes_may_wait_for_barriers_of_their_own() -> None:
    def body(out: fx.Tensor) -> None:
        each, thread = Shared().barriers(64), fx.thread_idx.x
        nvvm.mbarrier_init(each + thread, 1)
        fx.barrier()
        nvvm.mbarrier_arrive(each + (63 - thread))
        nvvm.mbarrier_wait(each + thread, 0)
        out[thread] = thread + 7

    out = np.zeros(64, np.int32)
    run(body, out, threads=64)
    np.testing.assert_array_equal(out, np.arange(64) + 7)


def test_a_kernel_that_waits_forever_is_reported_with_its_line() -> None:
    def body(out: fx.Tensor) -> None:
        barrier = Shared().barriers()
        if fx.thread_idx.x == 0:
            nvvm.mbarrier_init(barrier, 65)
        fx.barrier()
        nvvm.mbarrier_arrive(barrier)
        if fx.thread_idx.x // 32 == 1:
            nvvm.mbarrier_wait(barrier, 1)  # passes: the phase before the first
            nvvm.mbarrier_wait(barrier, 0)  # 64 arrive, and one is missing
        out[fx.thread_idx.x] = 1

    line = body.__code__.co_firstlineno + 8
    with pytest.raises(RuntimeError, match="waits here forever") as error:
        run(body, np.zeros(64, np.int32), threads=64)
    assert f"test_mbarriers.py:{line}" in str(error.value)
    assert "counts and phases" in str(error.value)


def test_a_barrier_must_lie_in_shared_memory() -> None:
    def body(out: fx.Tensor) -> None:
        nvvm.mbarrier_init(out, 1)

    with pytest.raises(TypeError, match="an mbarrier must lie in shared memory"):
        run(body, np.zeros(4, np.int64))


def test_other_targets_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def body(out: fx.Tensor) -> None:
        nvvm.mbarrier_init(Shared().barriers(), 1)

    monkeypatch.setenv("ARCH", "gfx942")
    with pytest.raises(ValueError, match="NVIDIA GPUs, and the target is gfx942"):
        run(body, np.zeros(4, np.int32))
    monkeypatch.setenv("ARCH", "sm_80")
    with pytest.raises(ValueError, match=r"sm_80 does not have mbarrier\.init"):
        run(body, np.zeros(4, np.int32))


def test_polling_forever_is_reported_too() -> None:
    def body(out: fx.Tensor) -> None:
        barrier = Shared().barriers()
        nvvm.mbarrier_init(barrier, 2)
        done = fx.Boolean(False)
        while ~done:
            done = nvvm.mbarrier_try_wait(barrier, 0)
        out[0] = 1

    with pytest.raises(RuntimeError, match="waits here forever"):
        run(body, np.zeros(1, np.int32), threads=1)
