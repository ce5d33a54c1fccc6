"""`python -m flydsl cache`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flydsl.__main__ import main
from flydsl.base import knobs
from flydsl.compiler.cache.compiled_code import pool_object
from tests.unit.cache.small import new_function, run


@pytest.fixture(autouse=True)
def _pool_in_the_cache(fresh_cache: Path) -> None:
    """This process may have loaded the pool long ago, or do so during a test."""
    pool_object()


def test_info_lists_functions(fresh_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache"]) == 0
    assert "artifacts  1" in capsys.readouterr().out
    run(new_function())
    assert main(["cache", "info"]) == 0
    text = capsys.readouterr().out
    assert str(fresh_cache) in text and "artifacts  2" in text
    assert [line.split()[-1] for line in text.splitlines()[-2:]] in (["small", "host_pool"], ["host_pool", "small"])


def test_verify_names_what_is_damaged(fresh_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (1, 2, 3):
        run(new_function(number), number)
    assert main(["cache", "verify"]) == 0
    assert "4 of 4" in capsys.readouterr().out
    first, second, third = sorted(fresh_cache.glob("small_*/*.flydsl"))
    second.write_bytes(first.read_bytes())
    third.write_bytes(third.read_bytes()[:-1])
    first.chmod(0o666)
    assert main(["cache", "verify"]) == 1
    text = capsys.readouterr().out
    for path, problem in ((first, "by others"), (second, "another key"), (third, "damaged")):
        line = next(line for line in text.splitlines() if path.name in line and path.parent.name in line)
        assert problem in line
    assert "1 of 4" in text


def test_clear_removes_what_the_cache_wrote(fresh_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(new_function())
    (fresh_cache / "notes.txt").write_text("not ours")
    (fresh_cache / "package-0123456789abcdef").touch()
    assert main(["cache", "clear"]) == 0
    assert "removed 2 artifacts" in capsys.readouterr().out
    assert [path.name for path in fresh_cache.rglob("*")] == ["notes.txt"]
    assert run(new_function()).misses == 1


def test_a_cache_that_is_off(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.RUNTIME_ENABLE_CACHE.name, "0")
    assert main(["cache"]) == 0
    assert "no cache is in use" in capsys.readouterr().out


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert main(["cook"]) == 2
    assert "cache" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["cache", "burn"])
    done = subprocess.run([sys.executable, "-m", "flydsl", "cache", "verify"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 of 1" in done.stdout
