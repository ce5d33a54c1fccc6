"""Tile schedulers: every tile of any grid exactly once, in Python and the same in a kernel."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError

schedule = fx.schedule
sizes = st.integers(1, 40)


@given(sizes, sizes, st.integers(1, 9))
def test_bands(m: int, n: int, rows: int) -> None:
    found = [schedule.bands(i, m, n, rows) for i in range(m * n)]
    assert sorted(found) == [(i, j) for i in range(m) for j in range(n)]
    assert all(abs(a[1] - b[1]) <= 1 or b[1] == 0 for a, b in pairwise(found))


@given(sizes, sizes, st.integers(0, 4))
def test_hilbert(m: int, n: int, power: int) -> None:
    found = [schedule.hilbert(i, m, n, 1 << power) for i in range(m * n)]
    assert sorted(found) == [(i, j) for i in range(m) for j in range(n)]


def test_a_whole_square_is_walked_step_by_step() -> None:
    found = [schedule.hilbert(i, 16, 16, 16) for i in range(256)]
    assert all(abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1 for a, b in pairwise(found))


@given(st.integers(1, 500), st.integers(1, 9))
def test_by_die(tiles: int, dies: int) -> None:
    found = [schedule.by_die(i, tiles, dies) for i in range(tiles)]
    assert sorted(found) == list(range(tiles))
    for die in range(min(dies, tiles)):
        mine = found[die::dies]
        assert mine == list(range(mine[0], mine[0] + len(mine)))


@given(st.integers(0, 100), st.integers(1, 20))
def test_persistent(tiles: int, blocks: int) -> None:
    found = [tile for b in range(blocks) for tile in range(*schedule.persistent(b, blocks, tiles))]
    assert sorted(found) == list(range(tiles))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8))
def test_grouped(counts: list[int]) -> None:
    found = [schedule.grouped(i, counts) for i in range(sum(counts))]
    assert found == [(group, i) for group, count in enumerate(counts) for i in range(count)]


@given(st.integers(1, 30), st.integers(1, 17), st.integers(1, 24))
def test_stream_k(tiles: int, depth: int, workers: int) -> None:
    done = np.zeros((tiles, depth), int)
    lengths = []
    for worker in range(workers):
        share = schedule.stream_k(worker, workers, tiles, depth)
        lengths.append(share.end - share.begin)
        step = share.begin
        while step < share.end:
            tile = share.tile(step)
            first, last = share.first(tile), share.last(tile)
            assert share.is_whole(tile) == (first == 0 and last == depth)
            done[tile, first:last] += 1
            step += last - first
    assert (done == 1).all() and max(lengths) - min(lengths) <= 1


@pytest.mark.parametrize(("m", "n"), [(13, 10), (16, 16)])
def test_a_kernel_says_the_same(m: int, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    counts = (3, 0, m * n)

    @flyc.kernel
    def kernel(out: fx.Tensor, m: fx.Int32, n: fx.Int32):
        block = fx.block_idx.x
        share = schedule.stream_k(block, m * n, m, n + 1)
        found = [
            *schedule.bands(block, m, n, 4), *schedule.hilbert(block, m, n, 4), schedule.by_die(block, m * n, 8),
            *schedule.grouped(block, counts), share.begin, share.end,
        ]  # fmt: skip
        for i in fx.range_constexpr(len(found)):
            out[block, i] = found[i]

    @flyc.jit
    def launch(out: fx.Tensor, m: fx.Int32, n: fx.Int32):
        kernel(out, m, n).launch(grid=m * n, block=1)

    out = np.zeros((m * n, 9), np.int32)
    launch(out, m, n)
    for block in range(m * n):
        share = schedule.stream_k(block, m * n, m, n + 1)
        want = [
            *schedule.bands(block, m, n, 4), *schedule.hilbert(block, m, n, 4), schedule.by_die(block, m * n, 8),
            *schedule.grouped(block, counts), share.begin, share.end,
        ]  # fmt: skip
        assert out[block].tolist() == want


def test_bad_sizes_are_refused() -> None:
    with pytest.raises(FlyDSLError, match="power of two, not 6"):
        schedule.hilbert(0, 8, 8, 6)
    with pytest.raises(FlyDSLError, match="the height of a band is a Python int of at least 1"):
        schedule.bands(0, 8, 8, 0)
