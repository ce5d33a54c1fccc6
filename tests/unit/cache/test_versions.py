"""A setting that goes to and fro: each value is compiled for once, a few are kept, and the log says what changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from tests.unit.cache.small import new_function, run

SETTING: Any = 1.0
CONFIG: dict[str, Any] = {"tile": [1, 2]}


def storing(get: Callable[[], Any]) -> Any:
    @flyc.kernel
    def kernel(out: fx.Tensor):
        out[0] = fx.Float32(get())

    @flyc.jit
    def store(out: fx.Tensor):
        kernel(out).launch()

    return store


def stored(fn: Any, dtype: Any = np.float32) -> float:
    out = np.full(1, 99, dtype)
    fn(out)
    return float(out[0])


@pytest.fixture(autouse=True)
def _settings() -> Any:
    yield
    globals().update(SETTING=1.0, CONFIG={"tile": [1, 2]})


@pytest.mark.parametrize("cached", [False, True])
def test_two_values_are_compiled_for_once_each(cached: bool, fresh_cache: Path) -> None:
    with knobs.scope({knobs.RUNTIME_ENABLE_CACHE: cached}):
        fn = storing(lambda: SETTING)
        for number in range(20):
            globals()["SETTING"] = float(number % 2)  # another object each time
            assert stored(fn) == number % 2
    info = fn.cache_info()
    assert (info.misses, info.hits, info.currsize) == (2, 18, 2)
    assert len(fn.specialisations) == 2


def test_a_version_has_all_its_specialisations() -> None:
    fn = storing(lambda: SETTING)
    for value in (1.0, 2.0, 1.0, 2.0):
        globals()["SETTING"] = value
        assert [stored(fn, dtype) for dtype in (np.float32, np.float64)] == [value, value]
    assert fn.cache_info().misses == 4


def test_only_a_few_versions_are_kept() -> None:
    fn = storing(lambda: SETTING)
    for value in range(12):
        globals()["SETTING"] = float(value)
        assert stored(fn) == value
    assert fn.cache_info().currsize == 8
    globals()["SETTING"] = 11.0
    stored(fn)
    assert fn.cache_info().misses == 12
    globals()["SETTING"] = 0.0
    assert stored(fn) == 0.0
    assert fn.cache_info()[1:3] == (13, 8)


def test_the_records_are_bounded(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    fn = new_function()
    run(fn)
    assert fn._history.maxlen == 256
    monkeypatch.setattr(fn, "_history", type(fn._history)(fn._history, maxlen=2))
    with knobs.scope({knobs.LOG: frozenset({"recompiles"})}):
        for kind in (np.int64, np.float32, np.float64):
            fn(np.zeros(4, kind))
    assert len(fn.specialisations) == 2
    assert "specialisation 4 " in capsys.readouterr().err


def test_a_change_while_another_version_is_current() -> None:
    config = SimpleNamespace(a=1.0, b=10.0)
    fn = storing(lambda: config.a + config.b)
    for a, b in ((1.0, 10.0), (2.0, 10.0), (1.0, 20.0), (2.0, 20.0), (1.0, 10.0)):
        config.a, config.b = a, b
        assert stored(fn) == a + b
    assert fn.cache_info().misses == 4


# The log -------------------------------------------------------------------------------------------------------------


def why(fn: Any) -> str:
    return fn.specialisations[-1].why


def test_the_log_names_the_variable_with_both_values() -> None:
    fn = storing(lambda: SETTING)
    stored(fn)
    globals()["SETTING"] = 2.0
    stored(fn)
    assert why(fn) == "captured 'SETTING' is 2.0, was 1.0"


def test_the_log_names_what_lies_deeper(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = SimpleNamespace(depth=1.0)
    outer = SimpleNamespace(inner=inner)
    fn = storing(lambda: CONFIG["tile"][1] + outer.inner.depth)
    stored(fn)
    CONFIG["tile"][1] = 7
    stored(fn)
    assert why(fn) == "captured 'CONFIG['tile'][1]' is 7, was 2"
    inner.depth = 3.0
    stored(fn)
    assert why(fn) == "captured 'outer.inner.depth' is 3.0, was 1.0"
    CONFIG["more"] = "x" * 500
    stored(fn)
    assert why(fn).startswith("captured 'CONFIG['more']' is 'xxx") and why(fn).endswith("..., was not there")
    assert len(why(fn)) < 150


def test_the_log_names_defaults_helpers_and_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    def helper(x: float = 1.0, *, y: float = 2.0) -> float:
        return x + y

    def read() -> float:
        return helper() + float(__import__("os").environ.get("RV", "0"))

    monkeypatch.delenv("RV", raising=False)
    fn = storing(read)
    stored(fn)
    helper.__defaults__ = (5.0,)
    stored(fn)
    assert "captured 'helper.__defaults__' is (5.0,), was (1.0,)" in why(fn)
    assert helper.__kwdefaults__ is not None
    helper.__kwdefaults__["y"] = 6.0
    stored(fn)
    assert "captured 'helper.__kwdefaults__['y']' is 6.0, was 2.0" in why(fn)
    monkeypatch.setenv("RV", "4")
    stored(fn)
    assert why(fn) == "the environment variable RV is '4', was not set"


def test_the_log_tells_a_compile_from_a_file(fresh_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with knobs.scope({knobs.LOG: frozenset({"recompiles"})}):
        first, second = new_function(), new_function()
        run(first)
        assert ", compiled in " in capsys.readouterr().err
        run(second)
        assert ", loaded from disk in " in capsys.readouterr().err
    assert [fn.specialisations[0].from_disk for fn in (first, second)] == [False, True]


def test_the_log_says_why_code_is_not_kept(fresh_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[int] = []

    def note() -> float:
        seen.append(1)
        return 3.0

    with knobs.scope({knobs.LOG: frozenset({"recompiles"})}):
        fn = storing(note)
        stored(fn)
    assert "not kept on disk: tracing it changes what it reads" in capsys.readouterr().err
    assert fn.specialisations[0].not_kept == ("tracing it changes what it reads",)


def test_the_log_of_extents_and_strides() -> None:
    @flyc.jit
    def nothing(x: fx.Tensor): ...

    nothing(np.zeros(3, np.float32))
    nothing(np.zeros((2, 3, 4), np.float32))
    nothing(flyc.from_dlpack(np.zeros((2, 3, 4), np.float32)))
    reasons = "; ".join(made.why for made in nothing.specialisations)
    assert "rank is 3, was 1" in reasons
    assert "divisibility" not in reasons
