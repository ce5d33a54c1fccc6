"""What FlyDSL's documents promise of tools and files: options of passes, names of dumps, pages a reader looks for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.tools.fly_opt import run

KERNEL = """
gpu.module @kernels {
  gpu.func @k(%arg0: !llvm.ptr<1>) kernel {
    %0 = arith.constant 7 : i32
    llvm.store %0, %arg0 : i32, !llvm.ptr<1>
    gpu.return
  }
}
"""
TO_ROCDL = "gpu.module(convert-scf-to-cf,cse,convert-gpu-to-rocdl{chipset=gfx942 index-bitwidth=0 runtime=HIP})"
ATTACH = (
    "rocdl-attach-target{O=3 abi=600 chip=gfx950 correct-sqrt=false daz=true fast=false features=+wavefrontsize64 "
    "finite-only=false module= triple=amdgcn-amd-amdhsa unsafe-math=false wave64=true}"
)
TO_LLVM = "gpu-to-llvm{use-bare-pointers-for-host=true use-bare-pointers-for-kernels=true},reconcile-unrealized-casts"
SCOPES = "ensure-debug-info-scope-on-llvm-func{emission-kind=LineTablesOnly}"
BINARY = 'gpu-module-to-binary{format=fatbin opts="-O3" toolkit=""}'


def after(*passes: str) -> str:
    code, text, error = run([f"--pass-pipeline=builtin.module({','.join(passes)})", "-"], KERNEL)
    assert code == 0, error
    return text


def test_options_of_upstreams_passes() -> None:
    """The pipeline as the documents write it, every option in place, stage by stage."""
    assert "llvm.func @k" in after(TO_ROCDL)
    attached = after(TO_ROCDL, ATTACH)
    assert 'chip = "gfx950"' in attached and "O = 3" in attached and 'abi = "600"' in attached
    assert "llvm.func @k" in after(TO_ROCDL, ATTACH, TO_LLVM, SCOPES)
    whole = after(TO_ROCDL, "rocdl-attach-target{chip=gfx942}", TO_LLVM, SCOPES, BINARY)
    assert "gpu.binary @kernels" in whole and "llvm.func" not in whole


@pytest.mark.parametrize("wrong", ["convert-gpu-to-rocdl{chips=gfx942}", "gpu-module-to-binary{format=tape}"])
def test_what_is_no_option_is_said(wrong: str) -> None:
    code, _, error = run([f"--pass-pipeline=builtin.module({wrong})", "-"], KERNEL)
    assert code == 1 and ("chips" in error or "tape" in error)


@flyc.kernel
def first(out: fx.Tensor) -> None:
    out[fx.thread_idx.x] = 1


@flyc.kernel
def second(out: fx.Tensor) -> None:
    out[fx.thread_idx.x] = out[fx.thread_idx.x] + 1


@flyc.jit
def both(out: fx.Tensor) -> None:
    first(out).launch(block=4)
    second(out).launch(block=4)


def test_several_kernels_are_dumped_under_the_functions_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One kernel gives the folder its name (`test_dumps_and_compile_only_need_no_linker`), several do not."""
    monkeypatch.setenv("FLYDSL_DUMP_IR", "1")
    monkeypatch.setenv("FLYDSL_DUMP_DIR", str(tmp_path))
    out = np.zeros(4, np.int32)
    both(out)
    assert out.tolist() == [2] * 4 and [path.name for path in tmp_path.iterdir()] == ["both"]


PAGES = {
    "layout_system_guide.md": "make_layout",
    "kernel_authoring_guide.md": "@flyc.kernel",
    "prebuilt_kernels_guide.md": "build_softmax_module",
    "testing_guide.md": "large_shape",
    "coming_from_flydsl.md": "What you gain",
    "architecture.md": "## Walks",
}


@pytest.mark.parametrize("page", PAGES)
def test_pages_under_names_that_a_reader_looks_for(page: str, repository: Path) -> None:
    text = (repository / "docs" / page).read_text()
    assert PAGES[page] in text
    assert f"({page})" in (repository / "docs" / "index.md").read_text()


def rows_of(text: str) -> list[list[str]]:
    """Cells of the tables of a page, without their headings."""
    lines = [line.strip().strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line] for line in lines if line[0].strip() not in ("there", "folder")]


def test_the_readme_of_the_tests_is_true(repository: Path) -> None:
    """Each folder has its row, and what the page names is there."""
    tests = repository / "tests"
    page = (tests / "README.md").read_text()
    folders = {path.name for path in tests.iterdir() if path.is_dir() and any(path.rglob("*.py"))}
    assert {row[0].strip("`") for row in rows_of(page)} == folders
    assert [found for found in re.findall(r"scripts/\w+\.sh", page) if not (repository / found).is_file()] == []
    linked = [target.partition("#")[0] for target in re.findall(r"\]\(([^)]+)\)", page)]
    assert [target for target in linked if not (tests / target).is_file()] == [] and linked


def test_tests_are_found_under_the_names_of_the_original(repository: Path) -> None:
    guide = (repository / "docs" / "testing_guide.md").read_text().partition("## Where tests are")[2]
    here = [path for row in rows_of(guide) for path in re.findall(r"`(tests/[\w/.]+)`", row[1])]
    assert len(here) > 20 and [path for path in here if not (repository / path).exists()] == []


def test_large_shapes_wait_to_be_asked_for(repository: Path) -> None:
    """The marker keeps such a test from running; RUN_TESTS_FULL=1, or scripts/run_tests.sh with it, runs it."""
    environment = {key: value for key, value in os.environ.items() if key != "RUN_TESTS_FULL"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/compat/test_kernel_paths.py",
         "-m", "large_shape"], cwd=repository, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert "1 skipped" in done.stdout and "RUN_TESTS_FULL=1 runs it" in done.stdout, done.stdout
