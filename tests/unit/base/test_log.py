"""Logging as the environment asks for it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from flydsl.base import knobs, log
from tests.support.log import Log


@pytest.fixture(autouse=True)
def _restored_logger() -> Iterator[None]:
    root = logging.getLogger("flydsl")
    level = root.level
    yield
    log.configure()
    root.setLevel(level)


def our_handlers() -> list[str]:
    return [handler.name or "" for handler in logging.getLogger("flydsl").handlers if "flydsl" in (handler.name or "")]


def test_names_are_put_under_the_package() -> None:
    assert log.get_logger("compiler.cache").name == "flydsl.compiler.cache"
    assert log.get_logger("flydsl.compiler").name == "flydsl.compiler"
    assert log.get_logger("flydslx").name == "flydsl.flydslx"


def test_with_nothing_set_there_is_no_handler_and_warnings_pass() -> None:
    root = log.configure()
    assert our_handlers() == []
    assert root.level == logging.WARNING
    assert root.propagate


def test_console(capsys: pytest.CaptureFixture[str]) -> None:
    with knobs.scope({knobs.DEBUG_LOG_TO_CONSOLE: True, knobs.DEBUG_LOG_LEVEL: "INFO"}):
        log.configure()
        log.configure()
        assert our_handlers() == ["flydsl.console"], "a second call replaces, it does not add"
        log.get_logger("passes").info("lowered %d ops", 3)
        log.get_logger("passes").debug("not shown")
    shown = capsys.readouterr().err
    assert shown.count("lowered 3 ops") == 1
    assert "INFO flydsl.passes" in shown
    assert "not shown" not in shown


def test_file(tmp_path: Path) -> None:
    path = tmp_path / "fly.log"
    with knobs.scope({knobs.DEBUG_LOG_TO_FILE: path, knobs.DEBUG_LOG_LEVEL: "DEBUG"}):
        log.configure()
        assert not path.exists(), "the file is made by the first message"
        log.get_logger("cache").debug("miss")
    log.configure()
    assert "DEBUG flydsl.cache: miss" in path.read_text(encoding="utf-8")
    log.get_logger("cache").error("after")
    assert "after" not in path.read_text(encoding="utf-8")


def test_a_bad_level_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("FLYDSL_DEBUG_LOG_LEVEL", "chatty")
        with pytest.raises(ValueError, match="FLYDSL_DEBUG_LOG_LEVEL"):
            log.configure()


def test_an_unknown_variable_is_warned_about(monkeypatch: pytest.MonkeyPatch, kept_log: Log) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("FLYDSL_DUMP_IRS", "1")
        log.configure()
    assert "FLYDSL_DUMP_IRS means nothing; is it FLYDSL_DUMP_IR?" in kept_log.text


def test_topics(capsys: pytest.CaptureFixture[str]) -> None:
    log.report("recompiles", "silent")
    with knobs.scope({knobs.LOG: frozenset({"recompiles"})}):
        log.report("recompiles", "add: argument A\n  dtype f32, was f16")
    assert capsys.readouterr().err == (
        "[flydsl recompiles] add: argument A\n[flydsl recompiles]   dtype f32, was f16\n"
    )
