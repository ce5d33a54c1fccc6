"""The clock and the check as parts of the key: what tells two of them apart, and what does not."""

from __future__ import annotations

import random
import time
from functools import partial
from pathlib import Path
from threading import Lock
from time import perf_counter_ns
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from flydsl.autotune import Autotuner, Config, autotune, do_bench
from flydsl.autotune.callable_key import callable_key, has_run
from tests.support.log import Log
from tests.unit.autotune.kernels_to_tune import SIZE, arrays, axpy, blocks, fresh

CONFIGS = blocks(32, 64)
SETTING = 1.0
COUNT = 0


def tuned(clock: Any, **options: Any) -> Autotuner:
    return autotune(CONFIGS, key=["n"], do_bench=clock, **options)(fresh(axpy))


def winner(function: Autotuner) -> Config:
    a, b, expected = arrays()
    found = function.best_config(a, b, SIZE)
    function(a, b, SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-5, atol=1e-6)
    return found


def test_two_lambdas_of_a_module_are_two_clocks() -> None:
    assert winner(tuned(lambda fn: float(fn.config.kwargs["BLOCK"]))) == Config(BLOCK=32)
    assert winner(tuned(lambda fn: -float(fn.config.kwargs["BLOCK"]) + 1000)) == Config(BLOCK=64)


def test_a_clock_that_fails_is_asked() -> None:
    winner(tuned(lambda fn: 1.0))
    with pytest.raises(RuntimeError, match="no configuration of 'axpy' works"):
        winner(tuned(lambda fn: 1 / 0))


def test_two_checks_of_a_module_are_two() -> None:
    clock = lambda fn: float(fn.config.kwargs["BLOCK"])  # noqa: E731
    with pytest.warns(RuntimeWarning, match=r"Config\(BLOCK=64\).*refused"):
        winner(tuned(clock, check=lambda got, expected: False))
    function = autotune(
        CONFIGS[::-1], key=["n"], do_bench=lambda fn: 1.0 / fn.config.kwargs["BLOCK"], check=lambda got, expected: True
    )(fresh(axpy))
    assert winner(function) == Config(BLOCK=64), "what another check refused is tried"


def closing_over(value: Any) -> Any:
    return lambda fn: value


def reading_setting(fn: Any) -> float:
    return SETTING


class Instance:
    def __init__(self, factor: Any) -> None:
        self.factor = factor

    def __call__(self, fn: Any) -> float:
        return self.factor

    def method(self, fn: Any) -> float:
        return self.factor


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (closing_over(1.0), closing_over(2.0)),
        (closing_over([1.0]), closing_over([2.0])),
        (closing_over({"b": 1}), closing_over({"b": True})),
        (Instance(1.0), Instance(2.0)),
        (Instance(1.0).method, Instance(2.0).method),
        (partial(do_bench, rep=3), partial(do_bench, rep=4)),
        (closing_over(Instance(1)), closing_over(Instance(2))),
        (do_bench, lambda fn: 1.0),
        (closing_over(np.zeros(1 << 20)), closing_over(np.zeros(1 << 21))),
    ],
    ids=lambda value: getattr(value, "__qualname__", type(value).__name__),
)
def test_values_tell_clocks_apart(one: Any, other: Any) -> None:
    assert callable_key(one).text != callable_key(other).text
    assert callable_key(one).opaque == callable_key(other).opaque == ()


@pytest.mark.parametrize(
    "make", [lambda: closing_over((1.0, "x")), lambda: Instance([1.0]), lambda: Instance(3).method,
             lambda: partial(do_bench, rep=3), lambda: closing_over(np.zeros(1 << 20))],
)  # fmt: skip
def test_the_same_clock_made_twice_is_one(make: Any) -> None:
    assert callable_key(make()) == callable_key(make())


def test_a_global_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    before = callable_key(reading_setting)
    assert callable_key(reading_setting) == before
    monkeypatch.setitem(globals(), "SETTING", 2.0)
    assert callable_key(reading_setting).text != before.text
    monkeypatch.undo()
    assert callable_key(reading_setting) == before


def test_what_a_clock_writes_itself_is_no_setting() -> None:
    clock = Instance(SimpleNamespace(seen=[], count=0))
    key = callable_key(clock)
    clock.factor.seen.append(3)
    clock.factor.count += 1
    has_run(clock)
    assert callable_key(clock) == key
    clock.factor.count = 77
    assert callable_key(clock).text != key.text, "somebody else wrote that"


def test_a_clock_that_looks_at_the_time_keeps_its_timings(timings: Path) -> None:
    asked: list[float] = []

    def clock(fn: Any) -> float:
        start = time.perf_counter()
        fn()
        asked.append(perf_counter_ns())
        return time.perf_counter() - start + random.random()

    for _ in range(2):
        winner(tuned(clock))
    assert len(asked) == 2 and (timings / "axpy.json").exists()


def test_a_method_is_the_same_clock_each_time() -> None:
    clock = Instance([])
    key = callable_key(clock.method)
    clock.factor.append(1)
    has_run(clock.method)
    assert callable_key(clock.method) == key


def counting(fn: Any) -> float:
    global COUNT
    COUNT += 1
    return float(fn.config.kwargs["BLOCK"])


def test_a_clock_that_counts_keeps_its_timings(timings: Path) -> None:
    for _ in range(2):
        assert winner(tuned(counting)) == Config(BLOCK=32)
    assert COUNT == 2 and (timings / "axpy.json").exists()


def test_a_clock_that_cannot_be_described_keeps_nothing_on_disk(timings: Path) -> None:
    lock, asked = Lock(), []

    def clock(fn: Any) -> float:
        with lock:
            asked.append(1)
        return 1.0

    for _ in range(2):
        winner(tuned(clock))
    assert len(asked) == 4 and not (timings / "axpy.json").exists()


@pytest.mark.parametrize("value", [-1.0, -1e-9, float("nan"), float("-inf"), True, [-2.0], "1", 1j])
def test_what_is_no_time_does_not_win_and_is_named(value: Any, kept_log: Log) -> None:
    def clock(fn: Any) -> Any:
        return value if fn.config.kwargs["BLOCK"] == 64 else 5.0

    for _ in range(2):
        kept_log.lines.clear()
        assert winner(tuned(clock)) == Config(BLOCK=32)
        assert "Config(BLOCK=64) is skipped" in kept_log.text and "no time in milliseconds" in kept_log.text


@pytest.mark.parametrize("value", [0, 0.0, np.float32(2.5), np.int64(3), [1.5, 9.0]])
def test_what_is_a_time(value: Any) -> None:
    assert winner(tuned(lambda fn: value)) == Config(BLOCK=32)
