"""The table of environment variables: each value is typed, checked, documented, and read in one place."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flydsl.base import knobs
from flydsl.base.errors import FlyDSLError

PACKAGE = Path(knobs.__file__).resolve().parents[1]


def test_names_are_unique_and_the_table_holds_every_knob() -> None:
    names = [name for knob in knobs.TABLE.values() for name in (knob.name, *knob.aliases)]
    assert len(names) == len(set(names))
    declared = [value for value in vars(knobs).values() if isinstance(value, knobs.Knob)]
    assert list(knobs.TABLE.values()) == declared


@pytest.mark.parametrize("knob", knobs.TABLE.values(), ids=lambda knob: knob.name)
def test_every_knob_has_a_group_a_help_line_and_a_default_it_accepts(knob: knobs.Knob) -> None:
    assert knob.group in knobs.GROUPS
    assert knob.help.endswith(".")
    value = knob.kind.parse(knob.default)
    assert knob.kind.parse(knob.kind.render(value)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", True), ("TRUE", True), ("yes", True), ("On", True), ("0", False), ("no", False), (" off ", False)],
)
def test_booleans(monkeypatch: pytest.MonkeyPatch, text: str, value: bool) -> None:
    monkeypatch.setenv("FLYDSL_DUMP_IR", text)
    assert knobs.DUMP_IR.get() is value


def test_an_empty_variable_means_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FLYDSL_RUNTIME_ENABLE_CACHE", "FLYDSL_COMPILE_OPT_LEVEL", "FLYDSL_COMPILE_LLVM_DIR", "ARCH"):
        monkeypatch.setenv(name, "")
    assert knobs.RUNTIME_ENABLE_CACHE.get() is True
    assert knobs.COMPILE_OPT_LEVEL.get() == 2
    assert knobs.COMPILE_LLVM_DIR.get() is None
    assert knobs.ARCH.get() is None
    assert not knobs.ARCH.is_set()


def test_a_value_is_read_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert knobs.ARCH.get() is None
    monkeypatch.setenv("ARCH", "gfx950")
    assert knobs.ARCH.get() == "gfx950"
    assert knobs.ARCH.is_set()


@pytest.mark.parametrize(
    ("name", "text", "accepted"),
    [
        ("FLYDSL_COMPILE_OPT_LEVEL", "4", "a whole number, 0 to 3"),
        ("FLYDSL_COMPILE_OPT_LEVEL", "fast", "a whole number, 0 to 3"),
        ("FLYDSL_ROCM_AGENT_TIMEOUT", "0", "a whole number, 1 or more"),
        ("FLYDSL_DUMP_IR", "maybe", "one of 1, true, yes, on or 0, false, no, off"),
        ("FLYDSL_DEBUG_LOG_LEVEL", "loud", "one of DEBUG, INFO, WARNING, ERROR, CRITICAL"),
        ("FLYDSL_LOG", "recompiles,weather", "a comma-separated list out of: recompiles, autotune"),
    ],
)
def test_a_bad_value_names_the_variable_and_what_it_accepts(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, accepted: str
) -> None:
    monkeypatch.setenv(name, text)
    with pytest.raises(FlyDSLError) as caught:
        knobs.TABLE[name].get()
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).splitlines() == [
        f"the environment variable {name} is set to {text!r}, which it does not accept",
        f"  help: set {name} to {accepted}",
    ]


def test_an_alias_is_read_where_the_name_is_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_DEBUG_SHOW_STACKTRACE", "1")
    assert knobs.DEBUG_TRACEBACK.get() is True
    monkeypatch.setenv("FLYDSL_DEBUG_TRACEBACK", "0")
    assert knobs.DEBUG_TRACEBACK.get() is False


def test_paths_follow_home_and_lists_split(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("FLYDSL_RUNTIME_CACHE_DIR")
    assert knobs.RUNTIME_CACHE_DIR.get() == tmp_path / ".flydsl" / "cache"
    monkeypatch.setenv("FLYDSL_EXTRA_SOURCE_DIRS", "/a:~/b:")
    assert knobs.EXTRA_SOURCE_DIRS.get() == (Path("/a"), tmp_path / "b")


def test_a_user_without_a_home_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_DUMP_DIR", "~nobody-of-this-name/dumps")
    with pytest.raises(FlyDSLError, match="has no home directory"):
        knobs.DUMP_DIR.get()


def test_choices_ignore_case_and_keep_their_spelling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_DEBUG_LOG_LEVEL", "debug")
    monkeypatch.setenv("FLYDSL_RUNTIME_KIND", "HOST")
    assert knobs.DEBUG_LOG_LEVEL.get() == "DEBUG"
    assert knobs.RUNTIME_KIND.get() == "host"


def test_scope_overrides_and_restores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    monkeypatch.setenv("FLYDSL_DEBUG_SHOW_STACKTRACE", "1")
    settings = {
        knobs.ARCH: None,
        knobs.DUMP_IR: True,
        knobs.DUMP_DIR: tmp_path,
        knobs.LOG: frozenset({"recompiles"}),
        knobs.DEBUG_TRACEBACK: False,
        knobs.EXTRA_SOURCE_DIRS: (tmp_path, tmp_path),
    }
    with knobs.scope(settings):
        assert {knob: knob.get() for knob in settings} == settings
        child = "from flydsl.base import knobs; print(knobs.DUMP_IR.get(), knobs.DEBUG_TRACEBACK.get())"
        seen = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=True)
        assert seen.stdout.split() == ["True", "False"]
    assert knobs.ARCH.get() == "gfx942"
    assert knobs.DEBUG_TRACEBACK.get() is True
    assert not knobs.DUMP_IR.is_set()


def test_scope_refuses_a_value_and_still_restores() -> None:
    with pytest.raises(FlyDSLError, match="FLYDSL_COMPILE_OPT_LEVEL"), knobs.scope({knobs.COMPILE_OPT_LEVEL: 9}):
        pass
    assert not knobs.COMPILE_OPT_LEVEL.is_set()


def test_code_settings_follow_exactly_the_knobs_that_change_code() -> None:
    before = dict(knobs.code_settings())
    assert set(before) == {name for name, knob in knobs.TABLE.items() if knob.affects_code}
    with knobs.scope({knobs.COMPILE_OPT_LEVEL: 3, knobs.DUMP_IR: True}):
        after = dict(knobs.code_settings())
    assert {name for name in before if before[name] != after[name]} == {"FLYDSL_COMPILE_OPT_LEVEL"}
    with knobs.scope({knobs.COMPILE_OPT_LEVEL: 2}):
        assert dict(knobs.code_settings()) == before, "saying the default aloud must not miss the cache"


def test_unknown_variables_are_found_with_the_name_they_resemble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_DUMP_IRS", "1")
    monkeypatch.setenv("FLYDSL_XYZZY_PLUGH", "1")
    monkeypatch.setenv("FLYDSL_TEST_SEED", "1")
    unknown = knobs.unknown_variables()
    assert unknown["FLYDSL_DUMP_IRS"] == "FLYDSL_DUMP_IR"
    assert unknown["FLYDSL_XYZZY_PLUGH"] is None
    assert "FLYDSL_TEST_SEED" not in unknown, "it belongs to the tests, whose processes inherit it"


def test_the_document_is_current(repository: Path) -> None:
    committed = (repository / "docs" / "environment.md").read_text(encoding="utf-8")
    remedy = "write it again: python -m flydsl.base.knobs > docs/environment.md"
    assert committed == knobs.environment_document(), remedy


def _environment_readers(tree: ast.AST) -> list[int]:
    """Lines that touch the environment: ``os.environ``, ``os.getenv`` and their imports from ``os``."""
    names = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}
    lines: list[int] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in names:
            lines.append(node.lineno)
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            lines += [node.lineno for alias in node.names if alias.name in names]
    return lines


OBSERVER = PACKAGE / "base" / "environment_reads.py"
"""Sees what kernels read of the environment; it reads nothing for the package itself."""


def test_nothing_else_in_the_package_reads_the_environment() -> None:
    offenders = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path not in (Path(knobs.__file__).resolve(), OBSERVER)
        if "env" in (text := path.read_text(encoding="utf-8"))
        for line in _environment_readers(ast.parse(text))
    ]
    assert not offenders, f"read a knob instead: {offenders}"


def test_the_search_for_readers_finds_them() -> None:
    source = "import os\nfrom os import getenv\nos.environ['A']\nos.getenv('B')\nos.path.join('c')\n"
    assert sorted(_environment_readers(ast.parse(source))) == [2, 3, 4]
    assert os.environ


def test_a_watch_notices_every_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    monkeypatch.delenv("FLYDSL_DEBUG_SHOW_STACKTRACE", raising=False)
    watched = (knobs.ARCH, knobs.DEBUG_TRACEBACK)
    watch = knobs.Watch(watched)
    assert watch.unchanged() and watch.texts == knobs.Watch(watched).texts
    monkeypatch.setenv("FLYDSL_JIT", "strict")
    assert watch.unchanged()  # nobody watches that one
    for name, text in (("ARCH", "gfx950"), ("FLYDSL_DEBUG_TRACEBACK", "1"), ("FLYDSL_DEBUG_SHOW_STACKTRACE", "0")):
        with monkeypatch.context() as patch:
            patch.setenv(name, text)
            assert not watch.unchanged() and watch.texts != knobs.Watch(watched).texts
        assert watch.unchanged()
    monkeypatch.delenv("ARCH")
    assert not watch.unchanged()
