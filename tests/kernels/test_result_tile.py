"""A tile of results in LDS: every element has a place of its own, and no access to it waits for a bank."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import flydsl.expr as fx
from flydsl.kernels.gemm.result_tile import GroupTile, ResultTile
from flydsl.target.banks import extra_cycles
from flydsl.target.target import parse_target

ROWS, BLOCK = 48, 16
WIDE = range(64, 577, 64)
HALVES = [(arch, ResultTile(columns, fx.Float16, 4), 16) for arch in ("gfx942", "gfx950") for columns in WIDE]
WMMA = [("gfx1250", ResultTile(columns, fx.Float16, 8), 16) for columns in range(16, 321, 16)]
GROUPS = [("gfx950", GroupTile(columns, fx.Float32, 4), 128) for columns in WIDE]
TILES = [*HALVES, *WMMA, *GROUPS]
"""Targets, the tiles that kernels make there, and bytes of a row that a lane reads."""


def waves(arch: str, tile: ResultTile, count: int) -> Iterator[list[tuple[int, int]]]:
    """Rows and columns of the lanes of each wave, which take so many neighbours each and row by row."""
    size, across = parse_target(arch).wave_size, tile.columns // count
    for first in range(0, ROWS * across, size):
        numbers = range(first, min(first + size, ROWS * across))
        yield [(number // across, number % across * count) for number in numbers]


def extra(arch: str, kind: str, size: int, lanes: list[tuple[int, int]], address: Callable[[int, int], int]) -> int:
    return extra_cycles(parse_target(arch), kind, size, {i: address(*at) for i, at in enumerate(lanes)})


@pytest.mark.parametrize(("arch", "tile", "taken"), TILES, ids=str)
def test_no_bank_conflicts(arch: str, tile: Any, taken: int) -> None:
    bytes_each, size = tile.dtype.width // 8, parse_target(arch).wave_size
    places = [tile.place(row, column) for row in range(ROWS) for column in range(tile.columns)]
    assert sorted(places) == list(range(ROWS * tile.columns))

    def address(row: int, column: int) -> int:
        return tile.place(row, column) * bytes_each

    for row in range(0, ROWS, BLOCK):
        for column in range(0, tile.columns, BLOCK):
            lanes = [(row + lane % BLOCK, column + lane // BLOCK * tile.piece) for lane in range(size)]
            lanes = [(row, column % tile.columns) for row, column in lanes]
            assert extra(arch, "write", tile.piece * bytes_each, lanes, address) == 0
    for lanes in waves(arch, tile, taken // bytes_each):
        for part in range(0, taken // bytes_each, 16 // bytes_each):
            read = [(row, column + part) for row, column in lanes]
            assert extra(arch, "read", 16, read, lambda *at: address(*at) // 16 * 16) == 0
    for lanes in waves(arch, tile, 2) if bytes_each == 2 else ():
        assert extra(arch, "read", 4, lanes, address) == 0
