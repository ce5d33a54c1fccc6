"""Attention over paged caches by warps of a virtual sm_90a against float64: caches of 8 bits, and of 16."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.kernels.attention.warp_decode import key_columns, value_columns
from tests.kernels.attention.test_wave_decode import run
from tests.support import random_data

E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


def test_lengths() -> None:
    """Sequences of one part and of several, and one that has no token; keys and values times their scales."""
    drawn = random_data.generator().integers(1, 701, 2)
    run([1, 63, 0, *(int(n) for n in drawn)], 16, stored=E4M3, scales=(0.5, 2.0))
    run([900, 3], 16, stored=E4M3)


@pytest.mark.parametrize(
    ("heads", "tokens", "d", "stored"),
    [((8, 2), 3, 128, E4M3), ((7, 1), 3, 96, E5M2), ((12, 1), 5, 32, E4M3)],
    ids=["one tile", "two", "four"],
)
def test_rows_and_heads(heads: tuple[int, int], tokens: int, d: int, stored: Any) -> None:
    """Rows of one tile of sixteen, of two, and of four, and heads of every way to lie in shared memory."""
    run([300, 57], 48, heads, tokens, stored, d=d)


def test_what_is_done_to_scores() -> None:
    """In one part and in several; a window leaves out the first parts, and no key at all leaves the sink."""
    sinks = np.array([1, 0.3, -1, 2], np.float32)
    run([1000, 0, 40], 16, (4, 1), stored=E4M3, sinks=sinks, softcap=4.0, window=400)


@pytest.mark.parametrize("width", [8, 16])
@pytest.mark.parametrize("d", range(32, 257, 32))
def test_a_lane_has_neighbours(d: int, width: int) -> None:
    """Orders of elements leave none out; what the first product takes of a lane, 16 by 16, follows in memory, and so
    does what the second one takes, tile by tile."""
    orders = key_columns(d, width), value_columns(d, width)
    keys, values = ([fx.get_scalar(order(i)) for i in range(d)] for order in orders)
    assert sorted(keys) == sorted(values) == list(range(d))
    for lane in range(4):
        taken = [keys[step + 2 * lane + place] for step in range(0, d, 16) for place in (0, 1, 8, 9)]
        assert all(b == a + 1 for i in range(0, len(taken), 8) for a, b in pairwise(taken[i : i + 8]))
    for lane in range(8):
        taken = [values[tile + lane] for tile in range(0, d, 8)]
        assert all(b == a + 1 for i in range(0, len(taken), 4) for a, b in pairwise(taken[i : i + 4]))
