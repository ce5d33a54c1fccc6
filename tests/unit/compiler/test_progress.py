"""Seconds by stage in `specialisations`, and the line of progress of a long compilation."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from flydsl.base import progress
from flydsl.base.progress import Progress, stage
from tests.unit.cache.small import new_function, run


class Clock:
    """A clock that goes on by a second whenever it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.time, "perf_counter", Clock())


@pytest.mark.usefixtures("clock")
def test_a_stage_is_counted_less_those_inside_it() -> None:
    with Progress("a kernel") as made:
        with stage("outer"):
            with stage("inner"):
                pass
        with stage("outer"):
            pass
    assert made.stages == {"outer": 3.0, "inner": 1.0}


def test_outside_a_compilation_nothing_is_counted() -> None:
    with stage("nothing"):
        pass


def test_a_compilation_inside_another_counts_its_own() -> None:
    with Progress("outer") as outer, stage("trace"):
        with Progress("inner") as inner, stage("load"):
            pass
    assert list(outer.stages) == ["trace"]
    assert list(inner.stages) == ["load"]


def test_stages_of_a_specialisation(fresh_cache: Path) -> None:
    function = new_function()
    run(function)
    (made,) = function.specialisations
    assert [name for name, _ in made.stages][:2] == ["cache", "libraries"]
    assert {"trace", "passes", "LLVM text", "host code", "load"} <= dict(made.stages).keys()
    assert all(seconds >= 0 for _, seconds in made.stages)
    assert sum(seconds for _, seconds in made.stages) <= made.seconds
    again = new_function()
    run(again)
    (found,) = again.specialisations
    assert found.from_disk
    assert [name for name, _ in found.stages] == ["cache", "load"]


class Terminal(io.StringIO):
    """Standard error as a terminal has it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(progress, "_EVERY_SECONDS", 0.001)


def wait_for_the_line(terminal: io.StringIO, text: str) -> None:
    for _ in range(5000):
        if text in terminal.getvalue():
            return
        progress.time.sleep(0.001)
    raise AssertionError(terminal.getvalue())


@pytest.mark.usefixtures("impatient")
def test_a_long_compilation_says_what_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with Progress("'f' for gfx942 on host"):
        with stage("trace"):
            wait_for_the_line(terminal, "\rflydsl: 'f' for gfx942 on host: trace, 0 s")
        with stage("host code"):
            wait_for_the_line(terminal, "host: host code, 0 s")
    assert terminal.getvalue().endswith("s\n")
    assert "'f' for gfx942 on host: compiled in " in terminal.getvalue()
    assert terminal.getvalue().count("\n") == 1


@pytest.mark.usefixtures("impatient")
def test_one_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with pytest.raises(ValueError), Progress("'f'"), stage("trace"):
        wait_for_the_line(terminal, "trace")
        raise ValueError
    assert "'f': failed in " in terminal.getvalue()


def test_a_short_one_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with Progress("'f'"), stage("trace"):
        pass
    assert terminal.getvalue() == ""


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("stderr", [io.StringIO(), None], ids=["a file", "none"])
def test_without_a_terminal_no_thread_is_started(stderr: io.StringIO | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a line was begun")

    monkeypatch.setattr(progress, "_Line", refuse)
    monkeypatch.setattr(sys, "stderr", stderr)
    with Progress("'f'"), stage("trace"):
        pass
