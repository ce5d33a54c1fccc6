"""The text of an error: its parts, its colours, and when it has none."""

from __future__ import annotations

import ast
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from flydsl.base import errors
from flydsl.base.errors import DslSyntaxError, DslTypeError, FlyDSLError, SourceLocation

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


class Terminal:
    """A stderr that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def error(tmp_path: Path) -> FlyDSLError:
    source = tmp_path / "kernel.py"
    source.write_text("def f(a):\n    return a + 1\n")
    where = SourceLocation(str(source), 2, column=12, end_column=17, function="f")
    return DslTypeError("cannot add", hint="write a - 1", location=where)


def test_plain_text_has_place_line_caret_and_help(error: FlyDSLError) -> None:
    assert error.location is not None
    assert str(error).splitlines() == [
        f"{error.location.file}:2 in f: cannot add",
        "    return a + 1",
        "           ^^^^^",
        "  help: write a - 1",
    ]


def test_carets_stand_below_what_follows_other_letters(tmp_path: Path) -> None:
    source = tmp_path / "kernel.py"
    source.write_text("def f(größe):\n    return größe + 1\n", "utf-8")
    node = ast.parse(source.read_text("utf-8")).body[0].body[0].value.right  # type: ignore[attr-defined]
    where = SourceLocation(str(source), 2, node.col_offset + 1, node.end_col_offset + 1)
    assert where.snippet().splitlines() == ["    return größe + 1", "                   ^"]


def test_colour_on_a_terminal_only(error: FlyDSLError, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = error.rendered()
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert str(error) == plain
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert str(error) == error.rendered(colour=True)
    assert "\x1b[1;31m" in str(error) and "\x1b[1;32mhelp:\x1b[0m write" in str(error)
    assert ESCAPE.sub("", str(error)) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert str(error) == plain


def test_no_color_counts_as_set_whatever_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    for text, coloured in (("", True), ("0", False), ("false", False), ("1", False)):
        monkeypatch.setenv("NO_COLOR", text)
        assert errors.colour_wanted() is coloured, text


def test_no_stderr_at_all(error: FlyDSLError, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert str(error) == error.rendered()


def test_a_traceback_on_a_terminal_is_coloured() -> None:
    """The whole way: a process whose stderr is a pseudo-terminal."""
    program = "from flydsl.base.errors import DslValueError\nraise DslValueError('bad', hint='good')"
    leader, follower = pty.openpty()
    environment = {name: text for name, text in os.environ.items() if name != "NO_COLOR"}
    done = subprocess.run([sys.executable, "-c", program], stderr=follower, env=environment, timeout=60)
    os.close(follower)
    shown = os.read(leader, 65536).decode()
    os.close(leader)
    assert done.returncode == 1
    assert "\x1b[1;32mhelp:\x1b[0m good" in shown


def test_a_syntax_error_shows_the_same_text() -> None:
    error = DslSyntaxError("no break here", hint="use a flag")
    assert error.msg == str(error) == "no break here\n  help: use a flag"


def test_an_error_without_place_or_help_is_its_message() -> None:
    assert str(FlyDSLError("only this")) == "only this"
