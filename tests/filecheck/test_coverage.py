"""No operation and no pass goes untested: each occurs in a file of this folder."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from flydsl.backends.pipeline import PASSES
from flydsl.dialects.arith_syntax import ARITH_OPS
from flydsl.dialects.fly.op_table import OP_TABLE
from flydsl.dialects.fly.types import FLY_TYPES, INSTRUCTION_TYPES
from flydsl.dialects.gpu_syntax import GPU_OPS
from flydsl.dialects.llvm_syntax import LLVM_OPS

FOLDER = Path(__file__).resolve().parent


@cache
def valid_text(folder: str) -> str:
    """The files that must be accepted: an operation seen only in a rejected one is not tested."""
    files = sorted((FOLDER / folder).glob("*.mlir"))
    return "\n".join(path.read_text(encoding="utf-8") for path in files if "invalid" not in path.stem)


def code(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))


@pytest.mark.parametrize("name", [spec.full_name for spec in OP_TABLE.values()])
def test_every_operation_round_trips_somewhere(name: str) -> None:
    assert re.search(rf"(?<!\"){re.escape(name)}(?![\w.])", code(valid_text("dialect"))), f"no test writes {name}"


@pytest.mark.parametrize("name", [cls.name for cls in FLY_TYPES] + list(INSTRUCTION_TYPES))
def test_every_type_round_trips_somewhere(name: str) -> None:
    assert f"!{name}<" in code(valid_text("dialect")), f"no test writes !{name}"


@pytest.mark.parametrize("name", [op.name for op in (*ARITH_OPS, *GPU_OPS, *LLVM_OPS)])
def test_every_respelt_operation_round_trips_somewhere(name: str) -> None:
    assert re.search(rf"(?<!\"){re.escape(name)}\b", code(valid_text("dialect"))), f"no test writes {name}"


@pytest.mark.parametrize("name", PASSES)
def test_every_pass_has_its_file(name: str) -> None:
    file = FOLDER / "passes" / f"{name}.mlir"
    assert file.exists(), f"write {file.relative_to(FOLDER)}: what {name} changes, and what it leaves"
    assert f"--{name}" in file.read_text(encoding="utf-8")
