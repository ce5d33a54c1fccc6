"""What stage A leaves is real MLIR: an unmodified mlir-opt reads and verifies it.

And every dump is text of ours: `fly-opt` reads it back and prints the same, and running the passes on the first dump
gives the others.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from flydsl.passes.pipeline import stage_a
from flydsl.tools.fly_opt import run
from tests.filecheck.upstream.kernels import KERNELS

TARGETS = {"rocm": "gfx942", "cuda": "sm_90a"}


def dumps(name: str, backend: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Compile and run a kernel, and give the text after tracing and after every pass of stage A."""
    monkeypatch.setenv("ARCH", TARGETS[backend])
    monkeypatch.setenv("FLYDSL_DUMP_IR", "1")
    monkeypatch.setenv("FLYDSL_DUMP_DIR", str(folder))
    monkeypatch.setenv("FLYDSL_DEBUG_ENABLE_VERIFIER", "1")
    monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "0")
    KERNELS[name]()
    files = sorted(folder.rglob("*.mlir"))[: len(stage_a(backend)) + 1]
    assert len(files) == len(stage_a(backend)) + 1
    return {file.stem: file.read_text(encoding="utf-8") for file in files}


def fly_left(text: str) -> list[str]:
    """Lines with an operation or a type of ours; attributes that upstream passes over may stay."""
    unquoted = re.sub(r'"[^"\n]*"(\(?)', lambda match: match[0] if match[1] else "", text)  # op names keep theirs
    return [line for line in unquoted.splitlines() if re.match(r'\s*(%[^=]+= )?"?fly\.', line) or "!fly" in line]


def test_leftovers_are_found() -> None:
    assert fly_left('  %0 = "fly.static"() : () -> !fly.layout<4:1>')
    assert fly_left("  %a, %b = fly.get_leaves(%x) : () -> i32")
    assert fly_left("  %0 = llvm.load %p : !fly.ptr<f32, global>")
    assert not fly_left('  %0 = "rocdl.mfma"(%1) {fly.instruction = "!fly_rocdl.x<1>"} : (i32) -> i32')


def check_read_back(stem: str, text: str, flags: list[str]) -> None:
    code, printed, wrong = run(["--keep-names", *flags], text)
    assert code == 0, f"{stem}: {wrong}"
    assert run(["--keep-names"], printed)[1].rstrip() == text.rstrip(), f"{stem} is not read back as it was printed"


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("name", KERNELS)
def test_upstream_accepts_what_stage_a_leaves(
    name: str, backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mlir_opt: str
) -> None:
    found = dumps(name, backend, tmp_path, monkeypatch)
    last = list(found.values())[-1]
    assert not fly_left(last)
    for flags in ([], ["--print-op-generic"]):
        done = subprocess.run([mlir_opt, "--verify-each"], input=run(flags, last)[1], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", KERNELS)
def test_dumps_are_text_of_ours(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = dumps(name, "rocm", tmp_path, monkeypatch)
    stems, texts = list(found), list(found.values())
    check_read_back(stems[0], texts[0], ["--print-op-generic"])
    for step, before, (stem, after) in zip(stage_a("rocm"), texts, list(found.items())[1:]):
        code, printed, wrong = run(["--keep-names", "--as-compiled", f"--{step.name}"], before)
        assert code == 0, wrong
        assert printed.rstrip() == after.rstrip(), f"{step.name} by fly-opt differs from {stem}"
    check_read_back(stems[-1], texts[-1], ["--print-op-generic"])
