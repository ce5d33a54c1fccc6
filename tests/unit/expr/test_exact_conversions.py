"""Every number type into every other, at the numbers where a second rounding would show: one rounding, everywhere."""

from __future__ import annotations

import math
import re
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from tests.unit.expr import exact_conversion as exact
from tests.unit.expr import on_host
from tests.unit.expr import operator_table as table
from tests.unit.nvvm.running import ptx
from tests.unit.rocdl.device_code import assembly

TARGETS = ("gfx942", "gfx950", "sm_90a")


@cache
def cases(source: Any) -> tuple[tuple[exact.Number, ...], ...]:
    """For each type, the numbers to convert to it."""
    return tuple(tuple(exact.hard_numbers(source, target)) for target in table.TYPES)


@cache
def wanted(source: Any) -> tuple[tuple[exact.Number, ...], ...]:
    return tuple(
        tuple(exact.converted(source, target, value) for value in values)
        for target, values in zip(table.TYPES, cases(source), strict=True)
    )


def same(target: Any, got: exact.Number, want: exact.Number) -> bool:
    """Equal numbers with equal signs; a format without NaN has a zero for it, one without -0 has +0."""
    if isinstance(want, float) and math.isnan(want):
        return got == 0 if target.width < 8 else math.isnan(got)
    if got != want:
        return False
    return got != 0 or "FNUZ" in target.__name__ or math.copysign(1.0, got) == math.copysign(1.0, want)


def as_inputs(source: Any) -> np.ndarray:
    """Two rows of words for each type converted to, filled up with their last number."""
    width = max(len(values) for values in cases(source))
    rows = [on_host.words(source, [*values, *[values[-1]] * (width - len(values))]).T for values in cases(source)]
    return np.ascontiguousarray(np.concatenate(rows))


def numbers_of(target: Any, columns: np.ndarray) -> list[exact.Number]:
    """What a kernel wrote for one type, as numbers."""
    if target in table.FLOATS:
        return [float(number) for number in on_host.floats_of(target, columns[0])]
    return [table.in_integer(target, int(low) | int(high) << 64) for low, high in columns.T]


def convert_to_all(source: Any) -> Any:
    def function(*words: Any) -> list[Any]:
        found: list[Any] = []
        for place, target in enumerate(table.TYPES):
            number = on_host.from_words(source, words[2 * place], words[2 * place + 1])
            result = on_host.to_words(number.to(target))
            found += [*result, result[0]][:2]
        return found

    return function


def check_conversions(source: Any, run: Any) -> None:
    """Convert a type's hard numbers to every type and compare; ``run`` calls a jit function with arrays."""
    out = on_host.elementwise(convert_to_all(source), as_inputs(source), 2 * len(table.TYPES), np.uint64, run)
    wrong = []
    for place, target in enumerate(table.TYPES):
        got = numbers_of(target, out[2 * place : 2 * place + 2])
        rows = zip(cases(source)[place], got, wanted(source)[place], strict=False)
        wrong += [f"{source}({a!r}) to {target}: {b!r}, not {c!r}" for a, b, c in rows if not same(target, b, c)]
    assert not wrong, "\n".join([f"{len(wrong)} differ", *wrong[:: max(1, len(wrong) // 20)]])


@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize("source", table.TYPES, ids=str)
def test_run_time_numbers_are_rounded_once(source: Any, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.ARCH.name, arch)
    check_conversions(source, on_host.call)


@pytest.mark.parametrize("source", table.TYPES, ids=str)
def test_known_numbers_are_rounded_once(source: Any) -> None:
    for place, target in enumerate(table.TYPES):
        for value, want in zip(cases(source)[place], wanted(source)[place], strict=True):
            got = source(value).to(target).value
            assert same(target, got, want), f"{source}({value!r}) to {target}: {got!r}, not {want!r}"


@pytest.mark.parametrize("arch", ["gfx942", "gfx1250", "sm_90a"])
def test_wide_integers_are_device_code(arch: str) -> None:
    """Between integers of 128 bits and every other type; LLVM would call library functions, which no GPU has."""
    wide = [dtype for dtype in table.INTEGERS if dtype.width == 128]
    pairs = [*product(wide, table.TYPES), *product(table.TYPES, wide)]

    @flyc.kernel
    def kernel(inputs: fx.Tensor, out: fx.Tensor):
        for row, (source, target) in enumerate(pairs):
            number = on_host.from_words(source, inputs[row, 0], inputs[row, 1])
            for place, word in enumerate(on_host.to_words(number.to(target))):
                out[row, place] = word

    @flyc.jit
    def run(inputs: fx.Tensor, out: fx.Tensor):
        kernel(inputs, out).launch()

    words = np.zeros((len(pairs), 2), np.uint64)
    code = ptx(run, (words, words), arch) if arch == "sm_90a" else assembly(run, (words, words), arch)
    assert not re.search(r"__(fix|float)\w+|\bcall\b|s_swappc", code)
