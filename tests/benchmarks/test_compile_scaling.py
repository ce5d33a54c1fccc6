"""Compiling takes time in proportion to the size of a kernel: counted in visits and lines of text, not in seconds."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from flydsl.backends.host import compile, plan, workgroup
from flydsl.dialects import parts
from flydsl.expr.values import handle
from flydsl.kernels.norm.softmax import build_softmax_module
from flydsl.passes import promote_regmem_to_vectorssa as promotion
from tests.conftest import REPOSITORY


@pytest.fixture
def scaling(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The benchmark, whose programs these are."""
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    monkeypatch.delitem(sys.modules, "compile_scaling", raising=False)
    return importlib.import_module("compile_scaling")


@pytest.fixture
def text_of(scaling: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], str]:
    """The LLVM text that a program of a size becomes on the virtual GPU; it is run, and its result checked."""
    texts: list[str] = []
    host_module = compile.host_module

    def noted(*arguments: Any) -> Any:
        made = host_module(*arguments)
        texts.append(made.text)
        return made

    monkeypatch.setattr(compile, "host_module", noted)
    monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "0")

    def text(name: str, count: int) -> str:
        monkeypatch.setenv("ARCH", scaling.PROGRAMS[name].target)
        texts.clear()
        scaling.compiled(name, count, tmp_path)
        return texts[0]

    return text


def grows_evenly(sizes: list[int]) -> bool:
    """Of a program in sizes n, 2n and 4n: whether the second step is about twice the first, and not four times."""
    first, second = sizes[1] - sizes[0], sizes[2] - sizes[1]
    return second <= 2.9 * first


@pytest.mark.parametrize(
    ("name", "count"),
    [("lines", 100), ("stores", 150), ("branches", 40), ("memory", 100), ("swizzled", 8), ("mma", 4), ("mfma", 4)],
)
def test_each_unit_is_as_much_text(text_of: Callable[[str, int], str], name: str, count: int) -> None:
    assert grows_evenly([text_of(name, count * factor).count("\n") for factor in (1, 2, 4)])


def test_the_positions_of_a_function_are_read_once(
    text_of: Callable[[str, int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They lie in a table that has to be read from its beginning: asking anew for each operation is quadratic."""
    read: list[Any] = []

    class Noted(parts.CodePlaces):
        def __init__(self, code: Any) -> None:
            read.append(code)
            super().__init__(code)

    monkeypatch.setattr(parts, "CodePlaces", Noted)
    text_of("lines", 60)
    assert len(read) == len({id(code) for code in read})
    assert [code.co_name for code in read].count("kernel") == 1


def test_the_algebra_is_asked_once_of_the_same_layouts(text_of: Callable[[str, int], str]) -> None:
    """What a rule says of payloads depends on nothing else, and unrolled code asks for the same views again."""
    text_of("memory", 20)
    asked = handle._evaluated.cache_info().misses
    text_of("memory", 20)
    assert handle._evaluated.cache_info().misses == asked


@pytest.mark.parametrize("name", ["lines", "memory"])
def test_no_loop_over_threads_is_long(text_of: Callable[[str, int], str], name: str) -> None:
    """LLVM's vectoriser and its schedulers take time by the square of a block's length."""
    blocks = re.split(r"^[\w.]+:$", text_of(name, 500), flags=re.MULTILINE)
    assert max(block.count("\n") for block in blocks) < 1.5 * plan.LONGEST_RUN


def test_what_a_loop_remembers_of_its_accesses_has_no_conditions_on_itself(text_of: Callable[[str, int], str]) -> None:
    """LLVM's search for checksums in loops follows a value through both operands of everything it is made of.

    Where each step used the one before twice, as a maximum with a constant does, 64 reads took minutes.
    """
    text = text_of("swizzled", 64)
    found = re.findall(r"(\S+) = load i64, ptr %misaligned", text)
    noted = found[: -(len(found) // 64)]  # behind the loop, each word of 64 notes is looked at
    # Every second element is promised more than its own alignment, and all are held to shared memory, written and read.
    assert len(noted) == 64 + 2 * 64
    assert all(len(re.findall(rf"{re.escape(name)}\b", text)) == 2 for name in noted), "made, and used once"
    assert "umax" not in text


def test_products_follow_each_other_without_a_loop_between(text_of: Callable[[str, int], str]) -> None:
    """An operand that comes in pieces is read where its vector lies."""
    loops = [text_of("mma", count).count("= phi i64 [ 0,") for count in (4, 8)]
    assert loops[1] - loops[0] == 4  # the loop over waves that each product has


def test_stores_in_branches_look_at_the_pieces_they_touch(
    text_of: Callable[[str, int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = 0
    pieces = promotion.Allocation.pieces

    def counted(self: Any, access: Any) -> range:
        nonlocal looked
        looked += len(pieces(self, access))
        return pieces(self, access)

    monkeypatch.setattr(promotion.Allocation, "pieces", counted)
    found = []
    for count in (16, 32):
        looked = 0
        text_of("branches", count)
        found.append(looked)
    assert found == [16, 32]


def test_a_very_wide_array_written_one_by_one_stays_memory(text_of: Callable[[str, int], str]) -> None:
    assert "<200 x float>" in text_of("stores", 200)
    assert "insertelement <300 x float>" not in text_of("stores", 300)


def test_a_long_kernel_is_not_optimised(monkeypatch: pytest.MonkeyPatch, text_of: Callable[[str, int], str]) -> None:
    """LLVM would take a minute for one; at level 3 it may."""
    for level, lines, optimised in (("2", 10, False), ("2", 10**9, True), ("3", 10, True)):
        monkeypatch.setattr(workgroup, "LONG", lines)
        monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", level)
        assert ("noinline optnone" not in text_of("lines", 20)) is optimised


def test_what_is_asked_of_arguments_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The code that only checks them is the code that launches, and a report is written by a function."""
    texts: list[str] = []
    host_module = compile.host_module
    monkeypatch.setattr(
        compile, "host_module", lambda *given: (made := host_module(*given), texts.append(made.text))[0]
    )
    monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "0")
    x = np.ones((2, 8), np.float32)
    build_softmax_module(*x.shape, "f32")(x, np.empty_like(x), len(x))
    (text,) = texts
    bodies = re.findall(r"^define i32 @fly_\w+\(.*\n((?:  .*\n)+)\}", text, re.MULTILINE)
    assert [body.count("\n") for body in bodies] == [2, 2]  # of both, a call and what it returns
    assert text.count("getelementptr i64, ptr %report") == 7
