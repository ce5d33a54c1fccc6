"""Buffer pointers and tensors that cross branches and loops, and descriptors of tensors too large for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.support import random_data
from tests.unit.rocdl.device_code import AMD, instructions, launcher

LANES, ROWS = 64, 4


def _row(pointer: Any) -> Any:
    return fx.make_view(pointer, fx.make_layout(LANES, 1))


@flyc.jit
def _in_a_branch_and_behind_it(x: Any, y: Any, t: Any) -> None:
    """The pointer is a loop's argument, first used in one branch and then outside of it."""
    pointer = fx.get_iter(fx.rocdl.make_buffer_tensor(x, max_size=False))
    total = fx.Int32(0)
    for _ in range(ROWS):
        if t % 2 == 0:
            total += _row(pointer)[t]
        total += _row(pointer)[t]
        pointer = pointer + LANES
    y[t] = total


@flyc.jit
def _in_both_branches(x: Any, y: Any, t: Any) -> None:
    pointer = fx.get_iter(fx.rocdl.make_buffer_tensor(x, max_size=False))
    total = fx.Int32(0)
    for _ in range(ROWS):
        if t % 2 == 0:
            total += _row(pointer)[t] * 2
        else:
            total += _row(pointer)[t]
        pointer = pointer + LANES
    y[t] = total


@pytest.mark.parametrize("body", [_in_a_branch_and_behind_it, _in_both_branches])
def test_a_buffer_pointer_is_used_on_both_sides_of_a_branch(
    body: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    x, y = random_data.generator().integers(-1000, 1000, LANES * ROWS, np.int32), np.full(LANES, -7, np.int32)
    launcher(body, LANES)(x, y)
    sums = x.reshape(ROWS, LANES).sum(0)
    np.testing.assert_array_equal(y, sums * np.where(np.arange(LANES) % 2 == 0, 2, 1))


@pytest.mark.parametrize("arch", AMD)
def test_such_a_kernel_compiles_for_every_gpu(arch: str) -> None:
    assert any("buffer_load" in line for line in instructions(_in_a_branch_and_behind_it, arch))


@pytest.mark.parametrize("rows", [1 << 24, (1 << 24) + 1, 1 << 25])
def test_a_descriptor_ends_at_4_gib_and_does_not_start_again(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of 256 bytes: 4 GiB, a row more, twice as much. The size is 32 bits wide."""
    monkeypatch.setenv("ARCH", "gfx942")

    def body(x: Any, y: Any, t: Any) -> None:
        whole = fx.make_view(fx.get_iter(x), fx.make_layout((LANES, rows), (1, LANES)))
        y[t] = fx.rocdl.make_buffer_tensor(whole, max_size=False)[t, 3]

    x, y = random_data.generator().integers(1, 1000, LANES * ROWS, np.int32), np.full(LANES, -7, np.int32)
    launcher(body, LANES)(x, y)
    np.testing.assert_array_equal(y, x[3 * LANES :])


def test_a_descriptor_of_a_size_known_at_the_launch_is_capped_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")

    def body(x: Any, y: Any, t: Any) -> None:
        rows = fx.Int64(x[0]) << 25
        whole = fx.make_view(fx.get_iter(x), fx.make_layout((LANES, rows), (1, LANES)))
        y[t] = fx.rocdl.make_buffer_tensor(whole, max_size=False)[t, 3]

    x, y = random_data.generator().integers(1, 1000, LANES * ROWS, np.int32), np.full(LANES, -7, np.int32)
    x[0] = 1
    launcher(body, LANES)(x, y)
    np.testing.assert_array_equal(y, x[3 * LANES :])
