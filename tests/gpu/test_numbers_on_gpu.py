"""Arithmetic that LLVM leaves undefined, conversions, atomics and shuffles give on a GPU what they give elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.unit.expr import operator_table as table
from tests.unit.expr.test_atomics import check_operations
from tests.unit.expr.test_defined_everywhere import CHECKS
from tests.unit.expr.test_exact_conversions import check_conversions

pytestmark = pytest.mark.gpu


def run_there(function: Any, *args: Any) -> None:
    arrays = [a for a in args if isinstance(a, np.ndarray)]
    with flyc.current_device().arrays(*arrays) as there:
        rest = iter(there)
        function(*(next(rest) if isinstance(a, np.ndarray) else a for a in args))


@pytest.mark.parametrize("check", CHECKS)
def test_on_the_gpu(check: Any) -> None:
    check(run_there)


@pytest.mark.parametrize("source", table.TYPES, ids=str)
def test_conversions_are_rounded_once(source: Any) -> None:
    check_conversions(source, run_there)


@pytest.mark.parametrize("shared", [False, True], ids=["global", "shared"])
def test_atomics(shared: bool) -> None:
    check_operations(shared, run_there)


MODES = {"xor": fx.shuffle_xor, "up": fx.shuffle_up, "down": fx.shuffle_down, "idx": fx.shuffle_idx}
OFFSETS = (0, 1, 3, 7, 8, 16, 17, 31, 33, -1)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("width", [8, 16, 32])
def test_a_lane_outside_the_segment_gives_its_own_value(mode: str, width: int) -> None:
    @flyc.kernel
    def kernel(offsets: fx.Tensor, out: fx.Tensor):
        t = fx.thread_idx.x
        for place, offset in enumerate(OFFSETS):
            out[place, t] = MODES[mode](t + 100, offset, width)
            out[place + len(OFFSETS), t] = MODES[mode](t + 100, offsets[place], width)

    @flyc.jit
    def run(offsets: fx.Tensor, out: fx.Tensor):
        kernel(offsets, out).launch(block=(32, 1, 1))

    out = np.full((2 * len(OFFSETS), 32), -1, np.int32)
    run_there(run, np.array(OFFSETS, np.int32), out)
    for row, offset in zip(out, OFFSETS * 2, strict=True):
        for lane, value in enumerate(row):
            own = lane % width
            asked = {"xor": own ^ offset, "up": own - offset, "down": own + offset, "idx": offset}[mode]
            chosen = asked if 0 <= asked < width else own
            assert value == 100 + lane - own + chosen, (offset, lane)
