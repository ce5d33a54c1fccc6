"""A bounded part of the fuzzer for whole kernels, and that it finds what is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.fuzz import kernels
from tests.fuzz.draw import draw
from tests.fuzz.tree import Expr, Stmt, walk

BATCH = 4
SEEDS = range(0, 24, BATCH)


@pytest.mark.parametrize("seed", SEEDS)
def test_kernels_compute_what_the_reference_says(seed: int) -> None:
    assert kernels.batch(seed, BATCH) is None


def test_the_settings_cover_targets_and_levels() -> None:
    found = {kernels.setting_of(seed) for seed in range(0, 400, BATCH)}
    assert {(s.arch, s.level) for s in found} == {(arch, level) for arch in kernels.WAVES for level in kernels.LEVELS}


def test_programs_have_what_they_should() -> None:
    drawn = [draw(seed, 64, seed % 2 == 0) for seed in range(300)]
    kinds = {stmt.kind for program in drawn for stmt in walk(program.body)}
    ways = {"assign", "if", "for", "unrolled", "while", "leave"}
    assert kinds == ways | {"exchange", "registers", "indexed", "fetch", "combine", "tally"}
    helpers = [helper for program in drawn for helper in program.helpers]
    assert {stmt.kind for helper in helpers for stmt in walk(helper.body)} == ways | {"registers", "indexed", "return"}
    text = "\n".join(program.source(0) for program in drawn)
    assert all(
        word in text for word in ("helper_1(", ".load(fx.Vector", ".reduce(", ".shuffle(", ".insert(", "fx.Float8")
    )
    assert any(stmt.extra == "view" for program in drawn for stmt in walk(program.body) if stmt.kind == "exchange")


def test_a_wrong_kernel_is_found_and_reduced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text of the kernel has another constant than its tree: all that is left is that statement."""
    setting = kernels.Setting("gfx942", 0)
    program = draw(5, 64, False)
    name = next(name for name, value in program.variables.items() if value.type == "i32")
    wrong = Stmt("assign", name, (Expr("const", "i32", extra=12345),))
    program = replace(program, body=[*program.body, wrong])
    monkeypatch.setattr(kernels, "module_text", _with_another_constant(kernels.module_text))
    assert "Mismatch" in (kernels.failure(program, 5, setting, tmp_path) or "")
    small = kernels.reduced(program, 5, setting, tmp_path)
    assert [stmt.name for stmt in walk(small.body)] == [name]


def _with_another_constant(module_text):  # type: ignore[no-untyped-def]
    return lambda made: module_text(made).replace("12345", "54321")
