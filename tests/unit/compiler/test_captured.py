"""Values taken from around a function are constants of its code; changing one compiles again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx

FACTOR = 2
OFFSET = (1, 2)


def helper(x: fx.Int32) -> fx.Int32:
    return x * FACTOR


@flyc.kernel
def fill_kernel(out: fx.Tensor):
    out[0] = helper(fx.Int32(10)) + OFFSET[1]


@flyc.jit
def fill(out: fx.Tensor):
    fill_kernel(out).launch()


def result(function: Callable[[np.ndarray], None]) -> int:
    out = np.zeros(1, np.int32)
    function(out)
    return int(out[0])


def test_a_global_two_calls_away() -> None:
    global FACTOR
    assert result(fill) == 22
    FACTOR = 5
    try:
        assert result(fill) == 52
    finally:
        FACTOR = 2
    assert result(fill) == 22


def test_a_global_tuple() -> None:
    global OFFSET
    assert result(fill) == 22
    OFFSET = (1, 7)
    try:
        assert result(fill) == 27
    finally:
        OFFSET = (1, 2)


def test_a_closure_variable() -> None:
    number = 3

    @flyc.kernel
    def closing_kernel(out: fx.Tensor):
        out[0] = number

    @flyc.jit
    def close(out: fx.Tensor):
        closing_kernel(out).launch()

    assert result(close) == 3
    number = 4
    assert result(close) == 4


def test_what_did_not_change_is_not_compiled_again() -> None:
    traced = []

    @flyc.kernel
    def counting_kernel(out: fx.Tensor):
        traced.append(1)
        out[0] = FACTOR

    @flyc.jit
    def count(out: fx.Tensor):
        counting_kernel(out).launch()

    assert result(count) == result(count) == 2
    assert len(traced) == 1
