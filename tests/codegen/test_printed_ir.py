"""Variables that print the IR: what they print is MLIR, the same text that the dumps have."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError
from flydsl.passes.pipeline import stage_a
from flydsl.tools.fly_opt import run
from tests.unit.cache.small import new_function

_HEAD = re.compile(r"^// ----- (.*)\n", re.MULTILINE)


def printed(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    """Titles and texts of the modules that a call prints."""
    capsys.readouterr()
    out = np.full(4, -1, np.int32)
    new_function()(out)
    assert (out == 35).all()
    shown = capsys.readouterr()
    assert not shown.err
    start, *parts = _HEAD.split(shown.out)
    assert not start
    return list(zip(parts[::2], parts[1::2], strict=True))


def dumped(folder: Path) -> list[str]:
    with knobs.scope({knobs.DUMP_IR: True, knobs.DUMP_DIR: folder}):
        new_function()(np.zeros(4, np.int32))
    return [path.read_text() for path in sorted(folder.rglob("*.mlir"))]


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_the_ir_as_traced(
    arch: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(knobs.ARCH.name, arch)
    monkeypatch.setenv(knobs.DEBUG_PRINT_ORIGIN_IR.name, "1")
    ((title, text),) = printed(capsys)
    assert title == "as traced"
    monkeypatch.delenv(knobs.DEBUG_PRINT_ORIGIN_IR.name)
    assert text.rstrip() == dumped(tmp_path)[0].rstrip()
    assert run([], text)[0] == 0, "fly-opt reads it"


@pytest.mark.parametrize(("arch", "backend"), [("gfx942", "rocm"), ("sm_90a", "cuda")])
def test_the_ir_after_every_pass(
    arch: str, backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(knobs.ARCH.name, arch)
    monkeypatch.setenv(knobs.DEBUG_PRINT_AFTER_ALL.name, "1")
    found = printed(capsys)
    first = [f"after {step.name}" for step in stage_a(backend)]
    assert [title for title, _ in found][: len(first)] == first
    assert len(found) > len(first), "the stages that follow are printed too"
    monkeypatch.delenv(knobs.DEBUG_PRINT_AFTER_ALL.name)
    for (title, text), file in zip(found, dumped(tmp_path)[1:], strict=False):
        assert text.rstrip() == file.rstrip(), title
        assert "ModuleOp(" not in text and "\t" not in text, "MLIR, not the words of a library"
        assert run([], text)[0] == 0, f"fly-opt does not read what is printed {title}"


def test_both_together(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.DEBUG_PRINT_ORIGIN_IR.name, "1")
    monkeypatch.setenv(knobs.DEBUG_PRINT_AFTER_ALL.name, "1")
    assert [title for title, _ in printed(capsys)][:2] == ["as traced", "after fly-rewrite-func-signature"]


@pytest.mark.parametrize("knob", [knobs.DEBUG_PRINT_ORIGIN_IR, knobs.DEBUG_PRINT_AFTER_ALL])
def test_code_on_disk_is_compiled_again(
    knob: knobs.Knob[bool], fresh_cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    new_function()(np.zeros(4, np.int32))
    monkeypatch.setenv(knob.name, "1")
    assert printed(capsys)


def test_nothing_is_printed_unasked(capsys: pytest.CaptureFixture[str]) -> None:
    new_function()(np.zeros(4, np.int32))
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("knob", [knobs.DUMP_IR, knobs.DEBUG_DUMP_ASM])
def test_a_folder_that_cannot_be_written(
    knob: knobs.Knob[bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("no folder")
    monkeypatch.setenv(knob.name, "1")
    monkeypatch.setenv(knobs.DUMP_DIR.name, str(blocked))
    with pytest.raises(DslRuntimeError, match=r"dumps cannot be written to .*a file.*: Not a directory") as caught:
        new_function()(np.zeros(4, np.int32))
    assert "set FLYDSL_DUMP_DIR to a folder" in str(caught.value)


def test_a_folder_in_the_way_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "small_kernel" / "00_origin.mlir").mkdir(parents=True)
    monkeypatch.setenv(knobs.DUMP_IR.name, "1")
    monkeypatch.setenv(knobs.DUMP_DIR.name, str(tmp_path))
    with pytest.raises(DslRuntimeError, match=r"dumps cannot be written to .*small_kernel: Is a directory"):
        new_function()(np.zeros(4, np.int32))
