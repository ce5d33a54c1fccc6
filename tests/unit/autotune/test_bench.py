"""do_bench: how often it runs what, and which of the times it gives."""

from __future__ import annotations

import pytest

import flydsl.autotune.bench as bench
from flydsl.autotune import do_bench
from flydsl.compiler.backends.base import device_of


@pytest.fixture
def host() -> object:
    """The virtual GPU, on machines with a GPU too."""
    return device_of([("host", 0)])


def test_runs_warmup_and_rep_times(host: object) -> None:
    ran: list[str] = []
    ms = do_bench(lambda: ran.append("run"), warmup=3, rep=4, device=host, prepare=lambda: ran.append("prepare"))
    assert ran == ["prepare", "run"] * 7 and isinstance(ms, float) and ms >= 0


def test_median_and_quantiles(host: object, monkeypatch: pytest.MonkeyPatch) -> None:
    # Runs of 5, 1, 4, 2 and 3 ms by a clock that only these runs advance.
    now = iter([0, 5, 10, 11, 20, 24, 30, 32, 40, 43] * 2)
    monkeypatch.setattr(bench, "perf_counter_ns", lambda: next(now) * 1_000_000)
    assert do_bench(lambda: None, warmup=0, rep=5, device=host) == 3.0
    assert do_bench(lambda: None, warmup=0, rep=5, device=host, quantiles=[0.0, 0.5, 0.8, 1.0]) == [1.0, 3.0, 4.0, 5.0]


def test_median_of_an_even_number_is_the_upper_one(host: object, monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0, 1, 10, 12])
    monkeypatch.setattr(bench, "perf_counter_ns", lambda: next(now) * 1_000_000)
    assert do_bench(lambda: None, warmup=0, rep=2, device=host) == 2.0


@pytest.mark.parametrize(
    ("arguments", "error"),
    [({"rep": 0}, ValueError), ({"warmup": -1}, ValueError), ({"quantiles": [1.5]}, ValueError)],
)
def test_bad_arguments(arguments: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        do_bench(lambda: None, **arguments)  # type: ignore[arg-type]


def test_measures_functions_only() -> None:
    with pytest.raises(TypeError, match="a function without arguments"):
        do_bench(3)  # type: ignore[arg-type]
