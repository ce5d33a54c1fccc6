"""Layouts of more than 2^31 elements: offsets are 64-bit, and no memory is needed to show it."""

from __future__ import annotations

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx

ROWS, COLUMNS = 50_000, 100_000
COORDS = [(0, 0), (49_999, 99_999), (21_474, 83_648), (42_949, 67_296), (30_000, 1)]


@flyc.kernel
def offsets(out: fx.Tensor, coords: fx.Tensor, shape: fx.Constexpr[tuple], stride: fx.Constexpr[tuple]):
    i = fx.thread_idx.x
    layout = fx.make_layout(shape, stride)
    out[i] = fx.get_scalar(fx.crd2idx(fx.make_coord(coords[i, 0], coords[i, 1]), layout))


@flyc.jit
def offsets_of(
    out: fx.Tensor, coords: fx.Tensor, n: fx.Constexpr[int], shape: fx.Constexpr[tuple], stride: fx.Constexpr[tuple]
):
    offsets(out, coords, shape, stride).launch(grid=(1, 1, 1), block=(n, 1, 1))


@pytest.mark.parametrize("stride", [(COLUMNS, 1), (1, ROWS), (-COLUMNS, 1)])
def test_static_layout_of_five_billion_elements(stride: tuple[int, int]) -> None:
    assert ROWS * COLUMNS == 5_000_000_000
    coords = np.array(COORDS, np.int32)
    out = np.full(len(COORDS), -1, np.int64)
    offsets_of(out, coords, len(COORDS), (ROWS, COLUMNS), stride)
    assert out.tolist() == [i * stride[0] + j * stride[1] for i, j in COORDS]


@flyc.kernel
def tiled_offsets(out: fx.Tensor, extent: fx.Int64, index: fx.Int64):
    layout = fx.make_layout(extent, 1)
    tiles = fx.logical_divide(layout, fx.make_layout(4096, 1))
    out[0] = fx.get_scalar(fx.crd2idx(fx.make_coord(4095, index), tiles))
    out[1] = fx.get_scalar(fx.size(tiles))
    out[2] = fx.get_scalar(fx.size(layout))


@flyc.jit
def tiled_offsets_of(out: fx.Tensor, extent: fx.Int64, index: fx.Int64):
    tiled_offsets(out, extent, index).launch(grid=(1, 1, 1), block=(1, 1, 1))


def test_run_time_extent_of_five_billion() -> None:
    out = np.full(3, -1, np.int64)
    extent, index = 5_000_000_000, 1_220_702
    tiled_offsets_of(out, extent, index)
    tiles = -(-extent // 4096)
    assert out.tolist() == [index * 4096 + 4095, tiles * 4096, extent]


@flyc.kernel
def far_element(tensor: fx.Tensor, out: fx.Tensor, row: fx.Int32):
    out[0] = tensor[row, 0]


@flyc.jit
def far_element_of(tensor: fx.Tensor, out: fx.Tensor, row: fx.Int32):
    far_element(tensor, out, row).launch()


def test_strides_beyond_32_bits_reach_their_element() -> None:
    # Zero pages cost nothing until touched: 3 rows of 2^31 bytes, one byte of each written.
    data = np.zeros((3, 1 << 31), np.int8)
    data[2, 0] = 7
    out = np.zeros(1, np.int8)
    far_element_of(data, out, 2)
    assert out[0] == 7


@flyc.kernel
def by_unsigned(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
    place = fx.Uint32(n)
    out[0] = x[place]
    out[1] = fx.get_iter(x)[place]
    out[2] = x[place : place + 1][0]
    out[3] = fx.make_layout(1 << 32, 2)(place)


@flyc.jit
def unsigned_places(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
    by_unsigned(out, x, n).launch()


def test_unsigned_indices_of_32_bits() -> None:
    """From 2^31 on they are no Int32, and not places before an array."""
    x, out, place = np.zeros((1 << 31) + 16, np.int8), np.zeros(4, np.int64), (1 << 31) + 5
    x[place] = 7
    unsigned_places(out, x, place - (1 << 32))
    assert out.tolist() == [7, 7, 7, 2 * place]
