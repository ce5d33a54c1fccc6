"""Where a thread's sums stand: what kernels take for a warp's part of a wgmma is one."""

from __future__ import annotations

from typing import Any

import pytest

import flydsl.expr as fx
from flydsl.kernels.blocks.fragment_places import FragmentPlaces
from flydsl.kernels.gemm.hopper.tiles import warp_product


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


def warpgroup_product(columns: int) -> Any:
    atom = fx.make_mma_atom(fx.nvvm.Wgmma(columns, 16, (fx.BFloat16, fx.BFloat16), fx.Float32))
    return fx.make_tiled_mma(atom, fx.make_layout((1, 1, 1), (1, 0, 0)))


def origin(places: FragmentPlaces) -> tuple[int, ...]:
    return tuple(int(part) for part in places.origin)


@pytest.mark.parametrize("columns", [8, 16, 24, 64, 256])
def test_a_warp_has_16_rows_of_a_wgmma(columns: int) -> None:
    """Thread by thread and register by register."""
    whole, part = warpgroup_product(columns), warp_product(columns)
    for thread in (0, 1, 4, 31, 32, 77, 127):
        of_wgmma = FragmentPlaces(whole, thread, (64, columns))
        of_warp = FragmentPlaces(part, thread % 32, (16, columns))
        assert of_warp.steps == of_wgmma.steps
        row, column = origin(of_warp)
        assert origin(of_wgmma) == (row + thread // 32 * 16, column)


def test_steps_are_numbered_along_each_mode() -> None:
    """A thread has two neighbouring columns of every eight, in two rows eight apart."""
    places = FragmentPlaces(warp_product(16), 6, (16, 16))
    assert origin(places) == (1, 4)
    assert places.along(0) == [0, 8] and places.along(1) == [0, 1, 8, 9]
    assert places.numbers(0) == [0, 0, 1, 1] * 2
    assert places.numbers(1) == [0, 1, 0, 1, 2, 3, 2, 3]
