"""Virtual ranks: kernels that wait run together, and what can never go on is named instead of waited for."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslRuntimeError, DslValueError
from flydsl.compiler.arguments import argument_form
from flydsl.runtime import host_ranks

THREADS = 32


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def passing_on(x: fx.Symmetric, signals: fx.Symmetric):
    """Each rank writes to the next one, and reads what came."""
    t, b = fx.thread_idx.x, fx.block_idx.x
    x.at((x.rank + 1) % x.world)[b, t] = x.rank * 100 + b
    fx.rank_barrier(signals)
    x.local[b, t] = x.local[b, t] * 10


@flyc.jit
def pass_on(x: fx.Symmetric, signals: fx.Symmetric, blocks: fx.Int32):
    passing_on(x, signals).launch(grid=(blocks, 1, 1), block=(THREADS, 1, 1))


def memory(rank: Any, blocks: int = 3) -> tuple[Any, Any]:
    return rank.symmetric((blocks, THREADS), np.int32), rank.symmetric((blocks, rank.world + 1), np.int32)


def ring(rank: Any) -> list[int]:
    x, signals = memory(rank)
    pass_on(x, signals, 3)
    return x.local[:, 5].tolist()


@pytest.mark.parametrize("seed", range(4))
def test_a_symmetric_tensor_is_on_every_rank(seed: int) -> None:
    results = flyc.virtual_ranks(3, seed=seed).run(ring)
    assert results == [[(((rank - 1) % 3) * 100 + block) * 10 for block in range(3)] for rank in range(3)]


def test_a_symmetric_tensor_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its memory stays; another one, of the same id perhaps, has its own."""
    looks, adapt = [], argument_form.adapt
    monkeypatch.setattr(argument_form, "adapt", lambda *given: (looks.append(1), adapt(*given))[1])

    def program(rank: Any) -> None:
        for _ in range(20):
            x, signals = memory(rank)
            for _ in range(3):
                pass_on(x, signals, 3)
            assert x.local[:, 5].tolist() == [10 * block for block in range(3)]
            del x, signals

    flyc.virtual_ranks(1).run(program)
    assert 0 < len(looks) <= 20 * 2


def test_ranks_see_each_other_on_the_host() -> None:
    def program(rank: Any) -> tuple[int, int, list[int]]:
        rank.barrier()
        return rank.number, rank.world, rank.exchange(rank.number**2)

    assert flyc.virtual_ranks(4).run(program) == [(n, 4, [0, 1, 4, 9]) for n in range(4)]


def test_ranks_take_turns_in_python() -> None:
    inside = []

    def program(rank: Any) -> None:
        for _ in range(20):
            inside.append(rank.number)
            assert inside[-1] == rank.number
        rank.barrier()

    flyc.virtual_ranks(4).run(program)
    assert inside == [number for number in range(4) for _ in range(20)]


def test_a_rank_that_does_not_come_is_a_deadlock_with_line_rank_and_block() -> None:
    def program(rank: Any) -> None:
        x, signals = memory(rank)
        if rank.number != 1:
            pass_on(x, signals, 3)

    with pytest.raises(DslRuntimeError, match=r"block \(0, 0, 0\) of rank 0 waits here, 5 other blocks") as caught:
        flyc.virtual_ranks(3, seed=9).run(program)
    assert caught.value.location is not None
    assert caught.value.location.line == passing_on.func.__code__.co_firstlineno + 5
    assert any("rank 0 of 3 with seed 9" in note for note in caught.value.__notes__)
    flyc.virtual_ranks(3).run(ring)  # and the next group is not disturbed


def test_blocks_that_do_not_fit_are_named() -> None:
    """Blocks of all ranks wait for the last one, which begins only when another has ended."""

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def for_the_last(flag: fx.Symmetric):
        if fx.thread_idx.x == 0:
            if fx.block_idx.x == 3:
                fx.signal(flag.local, 1, at=0, scope="device")
            fx.wait(flag.local, 1, at=0, scope="device")

    @flyc.jit
    def launch(flag: fx.Symmetric):
        for_the_last(flag).launch(grid=(4, 1, 1), block=(THREADS, 1, 1))

    def program(rank: Any) -> None:
        launch(rank.symmetric(1, np.int32))

    flyc.virtual_ranks(2, resident=4).run(program)
    with pytest.raises(DslRuntimeError, match="1 blocks have not begun, because the device holds no more at once"):
        flyc.virtual_ranks(2, resident=3).run(program)


def test_a_grid_barrier_needs_all_blocks_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    @flyc.kernel
    def turned(x: fx.Tensor, out: fx.Tensor, counter: fx.Tensor):
        b, t = fx.block_idx.x, fx.thread_idx.x
        x[b, t] = b
        fx.grid_barrier(counter)
        out[b, t] = x[fx.grid_dim.x - 1 - b, t]

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor, counter: fx.Tensor, blocks: fx.Int32):
        turned(x, out, counter).launch(grid=(blocks, 1, 1), block=(8, 1, 1))

    for arch, processors in (("gfx942", 304), ("gfx950", 256), ("sm_90a", 132)):
        monkeypatch.setenv("ARCH", arch)
        counter = np.zeros(1, np.int32)
        for _ in range(2):
            x, out = (np.zeros((5, 8), np.int32) for _ in range(2))
            launch(x, out, counter, 5)
            assert out[:, 0].tolist() == [4, 3, 2, 1, 0]
        big = np.zeros((processors + 1, 8), np.int32)
        with pytest.raises(DslRuntimeError, match=f"{processors + 1} blocks wait for each other.* only {processors} "):
            launch(big, big.copy(), counter, processors + 1)


def test_a_loop_that_looks_without_atomics_lets_others_run() -> None:
    """Not what a kernel should do, but a hang would be worse."""

    @flyc.kernel
    def looking(flag: fx.Symmetric):
        flag.at(1 - flag.rank)[0] = 1
        while flag.local[0] == 0:
            pass

    @flyc.jit
    def launch(flag: fx.Symmetric):
        looking(flag).launch(grid=(1, 1, 1), block=(1, 1, 1))

    flyc.virtual_ranks(2).run(lambda rank: launch(rank.symmetric(1, np.int32)))


def test_ranks_that_disagree_on_memory_are_told() -> None:
    with pytest.raises(DslValueError, match=r"rank 0 has \(\(4,\).*rank 1 has \(\(5,\)"):
        flyc.virtual_ranks(2).run(lambda rank: rank.symmetric(4 + rank.number, np.float32))


def test_a_rank_that_raises_ends_all() -> None:
    def program(rank: Any) -> None:
        if rank.number == 1:
            raise KeyError("mine")
        ring(rank)

    with pytest.raises(KeyError, match="mine") as caught:
        flyc.virtual_ranks(2).run(program)
    assert any("rank 1 of 2" in note for note in caught.value.__notes__)


def test_a_group_inside_a_group_is_refused() -> None:
    with pytest.raises(DslRuntimeError, match="run already in this process"):
        flyc.virtual_ranks(1).run(lambda _: flyc.virtual_ranks(1).run(ring))
    with pytest.raises(DslValueError, match="1 to 16 virtual ranks"):
        flyc.virtual_ranks(17)
    assert threading.active_count() < 16


def test_mistakes_with_flags_are_explained() -> None:
    @flyc.kernel
    def wrong(x: fx.Tensor, how: fx.Constexpr[Any]):
        how(x)

    @flyc.jit
    def launch(x: fx.Tensor, how: fx.Constexpr[Any]):
        wrong(x, how).launch(grid=(1, 1, 1), block=(1, 1, 1))

    cases = [
        (lambda x: fx.signal(x, 1, at=0, order="acquire"), "a signal has no order 'acquire'"),
        (lambda x: fx.wait(x, 1, at=0, until="more"), "no condition 'more'"),
        (lambda x: fx.wait(x, 1, at=0, scope="world"), "unknown scope 'world'"),
        (lambda x: fx.wait(x, 1), "of one element"),
        (lambda x: fx.rank_barrier(x), "needs symmetric signals"),
    ]
    for how, message in cases:
        with pytest.raises((DslValueError, TypeError), match=re.escape(message)):
            launch(np.zeros(4, np.int32), how)
    with pytest.raises(TypeError, match="a counter is an integer"):
        launch(np.zeros(1, np.float32), lambda x: fx.wait(x, 1, at=0))


def test_waves_that_run_apart_wait_for_ranks_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the warps meet at a barrier of their own, so each warp is a fiber inside the block's."""
    monkeypatch.setenv("ARCH", "sm_90a")

    @flyc.kernel(known_block_size=(64, 1, 1))
    def summing(x: fx.Symmetric, signals: fx.Symmetric, out: fx.Symmetric):
        t, b = fx.thread_idx.x, fx.block_idx.x
        x.local[b, t] = x.rank * 1000 + t
        if t < 32:
            fx.nvvm.barrier_sync(1, 32)
        fx.rank_barrier(signals)
        total = fx.Int32(0)
        for rank in fx.range_constexpr(x.world):
            total = total + x.at(rank)[b, 63 - t]
        out.local[b, t] = total
        fx.rank_barrier(signals)

    @flyc.jit
    def launch(x: fx.Symmetric, signals: fx.Symmetric, out: fx.Symmetric):
        summing(x, signals, out).launch(grid=(2, 1, 1), block=(64, 1, 1))

    def program(rank: Any) -> np.ndarray:
        x, out = (rank.symmetric((2, 64), np.int32) for _ in range(2))
        signals = rank.symmetric((2, rank.world + 1), np.int32)
        for _ in range(2):
            launch(x, signals, out)
        return out.local.copy()

    for seed in range(3):
        for out in flyc.virtual_ranks(3, seed=seed).run(program):
            np.testing.assert_array_equal(out, [3000 + 3 * (63 - np.arange(64))] * 2)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Interrupts raise, though this process may have been started in the background, where they are ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_in_a_destructor_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python drops the exception there; ranks that wait for each other would go on."""

    class Dying:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    begin = host_ranks.begin
    monkeypatch.setattr(host_ranks, "begin", lambda *given: (begin(*given), Dying())[0])
    with pytest.raises(KeyboardInterrupt):
        flyc.virtual_ranks(2).run(lambda rank: time.sleep(0.5))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_ranks_that_never_would(rng: np.random.Generator) -> None:
    @flyc.kernel(known_block_size=(1, 1, 1))
    def taking_turns(turn: fx.Symmetric, most: fx.Int32):
        """Ranks hand each other the turn: nobody waits forever."""
        count = fx.Int32(0)
        while count < most:
            fx.signal(turn.at(1 - turn.rank), count, at=0)
            fx.wait(turn.local, count, at=0)
            count = count + 1

    @flyc.jit
    def launch(turn: fx.Symmetric, most: fx.Int32):
        taking_turns(turn, most).launch(grid=(1, 1, 1), block=(1, 1, 1))

    flyc.virtual_ranks(2).run(lambda rank: launch(rank.symmetric(1, np.int32), 3))
    for delay in (0.5, *rng.uniform(0, 0.002, 40)):  # also while ranks begin
        timer = threading.Timer(delay, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            flyc.virtual_ranks(2).run(lambda rank: launch(rank.symmetric(1, np.int32), 2**30))
        timer.join()
        assert flyc.virtual_ranks(2).run(lambda rank: rank.number) == [0, 1]
