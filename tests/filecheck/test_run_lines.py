"""The runner itself: what it accepts, and that it fails when it must."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.filecheck.run_lines import COMMANDS, Command, Result, run_lines, run_pipe


def echo(arguments: list[str], stdin: str) -> Result:
    """A stand-in for fly-opt: prints the file or stdin in capitals, complains about `bad`."""
    files = [word for word in arguments if not word.startswith("-")]
    text = Path(files[0]).read_text() if files else stdin
    if "--fail" in arguments:
        return Result(1, "", f"{files}: error: bad op\n")
    return Result(0, "".join(line.upper() for line in text.splitlines(True) if "//" not in line), "note: fine\n")


FAKES: dict[str, Command] = COMMANDS | {"fly-opt": echo}


@pytest.fixture
def mlir(tmp_path: Path) -> Path:
    path = tmp_path / "case.mlir"
    path.write_text(
        "// CHECK: FIRST\n// CHECK-NEXT: SECOND\n// CHECK-NOT: THIRD\n// OTHER: error: bad op\n// WRONG: fourth\n"
        "first\nsecond\n"
    )
    return path


@pytest.mark.parametrize(
    "line",
    [
        "fly-opt %s | FileCheck %s",
        "fly-opt %s | filecheck %s --check-prefix=CHECK",
        "fly-opt %s | fly-opt --some-pass='a b' | FileCheck %s",
        "not fly-opt %s --fail 2>&1 | FileCheck %s --check-prefix=OTHER",
        "not fly-opt %s --fail 2>&1 | FileCheck %s --check-prefix OTHER",
        "fly-opt %s | not FileCheck %s --check-prefixes=WRONG",
        "fly-opt --pass-pipeline='builtin.module(a,b{c=1})' %s",
    ],
)
def test_these_pass(line: str, mlir: Path, tmp_path: Path) -> None:
    result = run_pipe(line, mlir, tmp_path / "t", FAKES)
    assert result.code == 0, result.stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("fly-opt %s | FileCheck %s --check-prefix=WRONG", "the input was:\nFIRST"),
        ("fly-opt %s --fail | FileCheck %s", "error: bad op"),
        ("not fly-opt %s | FileCheck %s", "fly-opt succeeded, and it must fail"),
        ("fly-opt %s | FileCheck %s --check-prefix=ABSENT", "No check strings found"),
        ("fly-opt %s --fail | not FileCheck %s --allow-empty", "error: bad op"),
    ],
)
def test_these_fail(line: str, message: str, mlir: Path, tmp_path: Path) -> None:
    result = run_pipe(line, mlir, tmp_path / "t", FAKES)
    assert result.code != 0
    assert message in result.stderr


@pytest.mark.parametrize("line", ["grep x %s", "fly-opt %s |", "fly-opt %s | | FileCheck %s"])
def test_these_are_not_understood(line: str, mlir: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no command|empty command"):
        run_pipe(line, mlir, tmp_path / "t", FAKES)


def test_upstream_mlir_opt_reads_the_pipe(mlir_opt: str, mlir: Path, tmp_path: Path) -> None:
    assert mlir_opt
    mlir.write_text("FUNC.FUNC PRIVATE\n")
    assert run_pipe("mlir-opt %s", mlir, tmp_path / "t", FAKES).code != 0
    mlir.write_text("func.func private @f()\n// CHECK: func.func private @f()\n")
    assert run_pipe("mlir-opt %s | FileCheck %s", mlir, tmp_path / "t", FAKES).code == 0


def test_run_lines_are_found_and_joined() -> None:
    text = "// RUN: fly-opt %s \\\n// RUN:   --a | FileCheck %s\nop\n  // RUN: fly-opt %s\n// CHECK: RUN: no\n"
    assert run_lines(text) == ["fly-opt %s --a | FileCheck %s", "fly-opt %s"]
    assert run_lines("op\n") == []
    with pytest.raises(ValueError, match="backslash"):
        run_lines("// RUN: fly-opt %s \\\n")
