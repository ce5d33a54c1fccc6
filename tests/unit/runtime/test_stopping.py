"""A running kernel on the virtual GPU can be stopped: by Ctrl-C, by a signal whose handler raises, by a time limit."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslTimeoutError
from tests.unit.nvvm.running import Shared

nvvm = fx.nvvm

FOREVER = 1 << 30
SOON = 0.2


@pytest.fixture(autouse=True)
def _hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


@pytest.fixture(autouse=True)
def _ctrl_c() -> Iterator[None]:
    """Python's own handler, also where the tests run in the background and were started with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def places(mark: str) -> set[str]:
    """The lines of this file that end in a mark."""
    with open(__file__) as file:
        return {f"{__file__}:{number}" for number, line in enumerate(file, 1) if line.rstrip().endswith(f"# {mark}")}


def own_line(x: Any) -> Any:
    """A block's elements: blocks run side by side, and would lose what others add to the same ones."""
    return fx.logical_divide(x, fx.make_layout(64, 1))[None, fx.block_idx.x]


@flyc.kernel
def one_thread_never_ends(x: fx.Tensor, n: fx.Int32):
    x, t, i = own_line(x), fx.thread_idx.x, fx.Int32(0)
    while i < n:  # endless while
        if t != 3:
            i = i + 1
    x[t] = x[t] + 1.0


@flyc.kernel
def long_count(x: fx.Tensor, n: fx.Int32):
    x, t = own_line(x), fx.thread_idx.x
    seen = x[t]
    for i in range(n):  # long count
        for j in range(n):  # long count
            seen = seen * 0.5 + fx.Float32(i) - fx.Float32(j)
    x[t] = seen + 1.0


@flyc.kernel
def in_step(x: fx.Tensor, n: fx.Int32):
    x, t = own_line(x), fx.thread_idx.x
    seen = x[t]
    for i in range(n):  # loop with a barrier
        for j in range(n):  # loop with a barrier
            fx.barrier()
            seen = seen * 0.5 + fx.Float32(i) - fx.Float32(j)
    x[t] = seen + 1.0


@flyc.kernel
def waves_apart(x: fx.Tensor, n: fx.Int32):
    """One warp asks for a phase that comes only after the other one's loop."""
    x, t, warp = own_line(x), fx.thread_idx.x, nvvm.warp_uniform(fx.thread_idx.x // 32)
    barrier = Shared().barriers()
    if t == 0:
        nvvm.mbarrier_init(barrier, 32)
        nvvm.fence_mbarrier_init()
    fx.barrier()
    i = fx.Int32(0)
    if warp == 0:
        while i < n:  # loop of one warp
            if t != 3:
                i = i + 1
        nvvm.mbarrier_arrive(barrier)
    else:
        nvvm.mbarrier_wait(barrier, 0)
    x[t] = x[t] + 1.0


@flyc.kernel
def spinning_wait(x: fx.Tensor, n: fx.Int32):
    """Both warps ask again and again, and each question counts as progress of the other."""
    x, t = own_line(x), fx.thread_idx.x
    barrier = Shared().barriers()
    if t == 0:
        nvvm.mbarrier_init(barrier, 1)
        nvvm.fence_mbarrier_init()
    fx.barrier()
    i = fx.Int32(0)
    while i < n:  # spinning wait
        nvvm.mbarrier_wait(barrier, 1)
        if nvvm.mbarrier_try_wait(barrier, 0):  # spinning wait
            i = i + 1
    x[t] = x[t] + 1.0


KERNELS: dict[str, tuple[Any, str]] = {
    "one_thread_never_ends": (one_thread_never_ends, "endless while"),
    "long_count": (long_count, "long count"),
    "in_step": (in_step, "loop with a barrier"),
    "waves_apart": (waves_apart, "loop of one warp"),
    "spinning_wait": (spinning_wait, "spinning wait"),
}


def launcher(kernel: Any, blocks: int) -> Callable[[np.ndarray, int], None]:
    @flyc.jit
    def launch(x: fx.Tensor, n: fx.Int32) -> None:
        kernel(x, n).launch(grid=(blocks, 1, 1), block=(64, 1, 1))

    return launch


@pytest.fixture
def ctrl_c() -> Iterator[Callable[[], None]]:
    """Send SIGINT a little later, as a terminal does."""
    timers: list[threading.Timer] = []

    def later() -> None:
        timers.append(threading.Timer(SOON, os.kill, (os.getpid(), signal.SIGINT)))
        timers[-1].start()

    yield later
    for timer in timers:
        timer.join()


@pytest.mark.parametrize("blocks", [1, 6])
@pytest.mark.parametrize("name", KERNELS)
def test_ctrl_c_stops_a_kernel_and_names_the_line(name: str, blocks: int, ctrl_c: Callable[[], None]) -> None:
    kernel, mark = KERNELS[name]
    launch, x = launcher(kernel, blocks), np.zeros(64 * blocks, np.float32)
    launch(x, 0)
    for _ in range(2):
        ctrl_c()
        with pytest.raises(KeyboardInterrupt) as stopped:
            launch(x, FOREVER)
        (note,) = stopped.value.__notes__
        assert any(f"{place};" in note for place in places(mark))
        assert "launch" in note and "incomplete" in note
    x[:] = 0
    launch(x, 0)
    assert (x == 1).all(), "the next launch works"


def test_a_sanitized_kernel_is_stopped_too(ctrl_c: Callable[[], None]) -> None:
    launch, x = launcher(one_thread_never_ends, 2), np.zeros(64 * 2, np.float32)
    with flyc.sanitize("bounds"):
        launch(x, 0)
        ctrl_c()
        with pytest.raises(KeyboardInterrupt) as stopped:
            launch(x, FOREVER)
        assert any(place in stopped.value.__notes__[0] for place in places("endless while"))
        launch(x, 0)


class Alarm(Exception):
    pass


def test_whatever_a_handler_raises_comes_through() -> None:
    def ring(*_: Any) -> None:
        raise Alarm("time to go")

    launch, x = launcher(long_count, 1), np.zeros(64, np.float32)
    launch(x, 0)  # compiled before the alarm is set
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, SOON)
        with pytest.raises(Alarm, match="time to go") as stopped:
            launch(x, FOREVER)
        assert any(place in stopped.value.__notes__[0] for place in places("long count"))
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_handler_that_does_not_raise_lets_the_kernel_go_on() -> None:
    seen: list[int] = []
    launch, x = launcher(long_count, 1), np.zeros(64, np.float32)
    launch(np.zeros_like(x), 0)
    before = signal.signal(signal.SIGALRM, lambda number, _: seen.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        launch(x, 1500)
        while not seen:  # a fast machine may be through with the launch first
            time.sleep(0.01)
    finally:
        signal.signal(signal.SIGALRM, before)
    expected, alone = x[0], np.zeros(64, np.float32)
    launch(alone, 1500)
    assert alone[0] == expected


@pytest.mark.parametrize("name", KERNELS)
def test_a_time_limit_stops_a_kernel_and_names_the_line(name: str) -> None:
    kernel, mark = KERNELS[name]
    launch, x = launcher(kernel, 3), np.zeros(64 * 3, np.float32)
    with flyc.time_limit(0.1):
        with pytest.raises(DslTimeoutError, match=r"FLYDSL_RUNTIME_TIME_LIMIT=0\.1 seconds") as stopped:
            launch(x, FOREVER)
        assert str(stopped.value.location) in places(mark)
        assert isinstance(stopped.value, TimeoutError)
    x[:] = 0
    launch(x, 0)
    assert (x == 1).all()


def test_the_variable_sets_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_RUNTIME_TIME_LIMIT", "0.1")
    with pytest.raises(TimeoutError):
        launcher(one_thread_never_ends, 1)(np.zeros(64, np.float32), FOREVER)


def test_every_launch_has_the_whole_time() -> None:
    """The records of launches are used again; a new launch must not inherit the age of one before."""
    launch, x = launcher(long_count, 1), np.zeros(64, np.float32)
    with flyc.time_limit(0.2):
        for _ in range(100):
            launch(x, 200)


def test_a_thread_s_launch_is_stopped_by_the_limit() -> None:
    launch, x, caught = launcher(one_thread_never_ends, 2), np.zeros(64 * 2, np.float32), []

    def work() -> None:
        try:
            launch(x, FOREVER)
        except TimeoutError as error:
            caught.append(error)

    with flyc.time_limit(0.1):
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(caught) == 3
