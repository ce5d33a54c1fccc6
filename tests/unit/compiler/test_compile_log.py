"""What is logged of a call: target, cache, compiling, loading; and nothing of a call that is compiled already."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from flydsl.base import knobs, log
from flydsl.compiler.cache import compiled_code
from tests.support.log import Log
from tests.unit.cache.small import new_function, run


@pytest.fixture(autouse=True)
def _restored_logger() -> Iterator[None]:
    root = logging.getLogger("flydsl")
    level = root.level
    yield
    with pytest.MonkeyPatch.context() as patch:
        for knob in (knobs.DEBUG_LOG_LEVEL, knobs.DEBUG_LOG_TO_CONSOLE, knobs.DEBUG_LOG_TO_FILE):
            patch.delenv(knob.name, raising=False)
        log.configure()
    compiled_code._log_settings = None
    root.setLevel(level)


@pytest.fixture
def logged(tmp_path: Path, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of all messages, and an empty cache."""
    monkeypatch.setenv(knobs.DEBUG_LOG_LEVEL.name, "DEBUG")
    monkeypatch.setenv(knobs.DEBUG_LOG_TO_FILE.name, str(tmp_path / "fly.log"))
    return tmp_path / "fly.log"


def lines(path: Path) -> list[str]:
    """Severity and words of each message about the function, its file names cut out."""
    found = re.findall(r"^\S+ \S+ (\w+) flydsl\S+ small: (.*)$", path.read_text(), re.MULTILINE)
    return [f"{level} {re.sub('[0-9.]+ ms', 'N ms', text)}" for level, text in found]


def test_a_compile(logged: Path, fresh_cache: Path) -> None:
    run(new_function())
    (file,) = fresh_cache.glob("small_*/*.flydsl")
    assert lines(logged) == [
        "DEBUG needs code for gfx942 on host (host (virtual gfx942))",
        f"DEBUG not in the cache: {file}",
        "DEBUG compiling for gfx942 on host",
        "INFO compiled for gfx942 on host in N ms",
        f"DEBUG kept in the cache, {file.stat().st_size} bytes: {file}",
        "DEBUG loaded onto host (virtual gfx942) in N ms",
    ]


def test_a_hit_on_disk(logged: Path, fresh_cache: Path) -> None:
    run(new_function())
    logged.write_text("")
    run(new_function())
    (file,) = fresh_cache.glob("small_*/*.flydsl")
    assert lines(logged) == [
        "DEBUG needs code for gfx942 on host (host (virtual gfx942))",
        f"INFO found in the cache: {file}",
        "DEBUG loaded onto host (virtual gfx942) in N ms",
    ]


def test_a_call_that_is_compiled_logs_nothing(logged: Path) -> None:
    function = new_function()
    run(function)
    logged.write_text("")
    for _ in range(3):
        run(function)
    assert logged.read_text() == ""


def test_eviction(logged: Path, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_code, "_sizes", {})
    monkeypatch.setenv(knobs.RUNTIME_CACHE_SIZE.name, "1K")
    run(new_function())
    text = logged.read_text()
    assert re.search(r"INFO .*evicted \d+ of \d+ bytes from the cache, whose limit is 1024", text)
    assert re.search(r"DEBUG .*evicting \S+\.flydsl, \d+ bytes", text)


def test_the_level_chooses(logged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.DEBUG_LOG_LEVEL.name, "INFO")
    run(new_function())
    assert lines(logged) == ["INFO compiled for gfx942 on host in N ms"]
    monkeypatch.setenv(knobs.DEBUG_LOG_LEVEL.name, "WARNING")
    run(new_function(6), 6)
    assert len(lines(logged)) == 1, "a changed level counts from the next compile on"


def test_the_console(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(knobs.DEBUG_LOG_LEVEL.name, "DEBUG")
    monkeypatch.setenv(knobs.DEBUG_LOG_TO_CONSOLE.name, "1")
    run(new_function())
    assert "INFO flydsl.compiler.cache.compiled_code: small: compiled for gfx942 on host in" in capsys.readouterr().err
    monkeypatch.delenv(knobs.DEBUG_LOG_TO_CONSOLE.name)
    run(new_function(6), 6)
    assert "small" not in capsys.readouterr().err


def test_a_file_that_cannot_be_written(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch, kept_log: Log) -> None:
    monkeypatch.setenv(knobs.DEBUG_LOG_LEVEL.name, "DEBUG")
    monkeypatch.setenv(knobs.DEBUG_LOG_TO_FILE.name, "/nowhere/at/all.log")
    out = np.full(4, -1, np.int32)
    new_function()(out)
    assert (out == 35).all()
    assert kept_log.text.count("FLYDSL_DEBUG_LOG_TO_FILE=/nowhere/at/all.log cannot be written") == 1
