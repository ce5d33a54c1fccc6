"""AMD's barriers count waves: those that still run, at whichever barrier each of them is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslRuntimeError, SanitizerError

ARCHS = {"gfx942": 64, "gfx1100": 32}
"""A target with waves of 64, and one with waves of 32."""


@pytest.fixture(params=ARCHS)
def wave(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("ARCH", request.param)
    return ARCHS[request.param]


def shared_words(count: int) -> Any:
    words = fx.SharedAllocator().allocate(fx.Array[fx.Int32, count, 16]).peek()
    return words.view(fx.make_layout(count, 1))


def run(body: Callable[..., None], threads: int, blocks: int = 1) -> np.ndarray[Any, Any]:
    kernel = flyc.kernel(body)

    @flyc.jit
    def launch(out: fx.Tensor) -> None:
        kernel(out).launch(grid=(blocks, 1, 1), block=(threads, 1, 1))

    out = np.full(threads * blocks, -1, np.int32)
    launch(out)
    return out


def different_places(wave: int) -> np.ndarray[Any, Any]:
    """Each wave of two has a barrier of its own, in another branch."""

    def body(out: fx.Tensor) -> None:
        t, block = fx.thread_idx.x, fx.block_idx.x
        words = shared_words(2 * wave)
        words[t] = fx.Int32(t)
        if t < wave:
            fx.barrier()
            out[block * 2 * wave + t] = words[t + wave]
        else:
            fx.barrier()
            out[block * 2 * wave + t] = words[t - wave]

    return run(body, 2 * wave, blocks=5)


def staggered(wave: int, rounds: int = 4) -> np.ndarray[Any, Any]:
    """The second wave takes a barrier more at the start and reads a phase behind; the first one makes up for it."""

    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        words = shared_words(2 * wave)
        total = fx.Int32(0)
        if t >= wave:
            fx.barrier()
        for i in range(rounds):
            if t < wave:
                words[i % 2 * wave + t] = fx.Int32(t) * 10 + i
            fx.barrier()
            if t >= wave:
                total = total + words[i % 2 * wave + t - wave]
            fx.barrier()
        if t < wave:
            fx.barrier()
        out[t] = total

    return run(body, 2 * wave)


def test_barriers_at_different_places_meet(wave: int) -> None:
    found = different_places(wave).reshape(5, 2, wave)
    np.testing.assert_array_equal(found[0], np.arange(2 * wave).reshape(2, wave)[::-1])
    assert (found == found[0]).all()


def test_waves_that_run_a_phase_apart(wave: int) -> None:
    found = staggered(wave)
    lanes = np.arange(wave)
    assert (found[:wave] == 0).all()
    np.testing.assert_array_equal(found[wave:], lanes * 40 + 6)


def test_a_wave_that_has_ended_is_not_waited_for(wave: int) -> None:
    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        words = shared_words(3 * wave)
        words[t] = fx.Int32(t) + 1
        fx.barrier()
        out[t] = words[(t + wave) % (3 * wave)]
        if t < 2 * wave:
            fx.barrier()
            if t < wave:
                fx.barrier()
                out[t] = out[t] + 1000

    found, threads = run(body, 3 * wave), np.arange(3 * wave)
    np.testing.assert_array_equal(found, (threads + wave) % (3 * wave) + 1 + 1000 * (threads < wave))


def test_a_loop_of_a_different_length_in_each_wave(wave: int) -> None:
    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        turns = fx.Int32(0)
        for _ in range(t // wave + 1):
            fx.barrier()
            turns = turns + 1
        out[t] = turns

    np.testing.assert_array_equal(run(body, 4 * wave), np.arange(4 * wave) // wave + 1)


def test_a_while_loop_of_a_different_length_in_each_wave(wave: int) -> None:
    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        left, turns = fx.Int32(t // wave), fx.Int32(0)
        while left > 0:
            fx.barrier()
            left, turns = left - 1, turns + 1
        out[t] = turns

    np.testing.assert_array_equal(run(body, 3 * wave), np.arange(3 * wave) // wave)


def test_a_wave_split_by_its_own_lanes_is_an_error(wave: int) -> None:
    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        if t < wave + 5:
            fx.barrier()
        out[t] = fx.Int32(1)

    with pytest.raises(DslRuntimeError, match="reached by only part of a wave") as split:
        run(body, 2 * wave)
    assert split.value.location is not None and split.value.location.file == __file__
    with flyc.sanitize("barrier"), pytest.raises(SanitizerError) as found:
        run(body, 2 * wave)
    fault = found.value.fault
    assert (fault.place.thread[0], fault.other.thread[0]) == (wave, wave + 5)  # type: ignore[union-attr]


def test_what_the_sanitizers_find_there(wave: int) -> None:
    """Nothing in the right kernels; the race of one that reads a phase too early."""
    with flyc.sanitize():
        different_places(wave)
        staggered(wave)

        def early(out: fx.Tensor) -> None:
            t = fx.thread_idx.x
            words = shared_words(2 * wave)
            if t < wave:
                words[t] = fx.Int32(t)
                fx.barrier()
                out[t] = fx.Int32(0)
            else:
                out[t] = words[t - wave]
                fx.barrier()

        with pytest.raises(SanitizerError, match=r"race|never") as found:
            run(early, 2 * wave)
        assert found.value.fault.check in ("race", "uninit")  # type: ignore[union-attr]


def test_a_race_between_waves_is_found(wave: int) -> None:
    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        words = shared_words(2 * wave)
        words[t] = fx.Int32(t)
        if t < wave:
            fx.barrier()
            words[t + wave] = fx.Int32(0)
        else:
            fx.barrier()
            out[t] = words[t]

    with flyc.sanitize("race"), pytest.raises(SanitizerError, match="race"):
        run(body, 2 * wave)


def test_kernels_in_which_all_agree_run_in_step(wave: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fast form: loops and branches on blocks, sizes and what all threads load are no reason to run apart."""
    from flydsl.backends.host import fibers

    monkeypatch.setattr(fibers, "add_runtime", lambda scope: pytest.fail("runs apart"))

    def body(out: fx.Tensor) -> None:
        t, block = fx.thread_idx.x, fx.block_idx.x
        total, left = fx.Int32(0), fx.Int32(block) + 2
        while left > 0:
            fx.barrier()
            left, total = left - 1, total + fx.Int32(t)
        for i in range(block + 1):
            if i < 2:
                fx.barrier()
        if out[0] < 0:
            fx.barrier()
        out[block * 2 * wave + t] = total

    found = run(body, 2 * wave, blocks=3).reshape(3, -1)
    np.testing.assert_array_equal(found, np.arange(2 * wave) * np.array([[2], [3], [4]]))
