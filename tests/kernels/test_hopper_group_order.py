"""The order in which tiles of groups are drawn, on the virtual sm_90a: every row once, and halves last."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.gemm.hopper.model import HOPPER, launch_time
from flydsl.kernels.gemm.hopper.places import ToldPlaces
from flydsl.kernels.gemm.hopper.plan import GemmConfig, GemmKind, Problem
from flydsl.kernels.gemm.hopper.tiles import GroupSchedule
from flydsl.kernels.gemm.hopper_gemm import build_hopper_gemm

DRAWN = GemmConfig(128, 64, 2, 3, draws=True)
KIND = GemmKind(fx.BFloat16, fx.BFloat16, fx.BFloat16, groups=32)
N, BLOCKS = 152, 12
SIZES = [
    [0, 1, 127, 128, 129, 64, 65, 63, 192, 193],
    [0, 0, 1537, 0],
    [1],
    [0, 0, 0],
    [128] * 4,
    [300, 77, 0, 640, 5],
    [64] * 31,
]


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


@flyc.kernel
def list_kernel(sizes: fx.Tensor, m: fx.Int32, places: fx.Tensor, kind: fx.Constexpr[Any], config: fx.Constexpr[Any]):
    """Each block writes lines of its numbers: group, first row and column, behind the last row; line 0 how many."""
    smem = fx.SharedAllocator(1024, static=False)
    extents = m, fx.Int32(N), fx.Int32(64), fx.Int32(1)
    schedule = GroupSchedule(extents, fx.Int32(0), kind, config, sizes, None, smem)
    schedule.prepare()
    if fx.thread_idx.x == 0:
        first, last, each = schedule.range()
        for number in range(first, last, each):
            place = schedule.at(number)
            for i, word in enumerate((place.b[0], place.row, place.column, place.end)):
                places[number + 1, i] = word
        places[0, 0] = last


def order(sizes: list[int], config: GemmConfig = DRAWN) -> list[list[int]]:
    """The places of all numbers."""

    @flyc.jit
    def run(ends: fx.Tensor, m: fx.Int32, places: fx.Tensor, stream: fx.Stream = fx.Stream(None)):
        list_kernel(ends, m, places, KIND, config).launch(
            grid=(BLOCKS, 1, 1), block=(config.threads, 1, 1), stream=stream
        )

    places = np.zeros((400, 4), np.int32)
    run(np.cumsum(sizes).astype(np.int32), sum(sizes), places)
    return places[1 : places[0, 0] + 1].tolist()


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_every_row_of_every_group_is_in_one_tile(sizes: list[int]) -> None:
    """A half may have no rows, and is passed over; all others have some, of one group."""
    begins = [0, *np.cumsum(sizes).tolist()]
    taken = np.zeros((sum(sizes), 3), int)
    for group, row, column, end in order(sizes):
        taken[row : min(end, row + 128), column // 64] += 1
        assert row >= end or begins[group] <= row < end <= begins[group + 1]
    assert (taken == 1).all()


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_as_many_of_the_last_tiles_as_blocks_would_idle_are_two_each(sizes: list[int]) -> None:
    """Whole tiles come as in turns; of the others, the rows of one warpgroup and then those of the other."""
    whole = order(sizes, replace(DRAWN, draws=False))
    assert len(whole) == 3 * sum(-(-size // 128) for size in sizes)
    cut = min(-len(whole) % BLOCKS, BLOCKS // 2, len(whole))
    halves = [
        [group, row + first, column, min(end, row + first + 64)]
        for group, row, column, end in whole[len(whole) - cut :]
        for first in (0, 64)
    ]
    assert order(sizes) == whole[: len(whole) - cut] + halves


@flyc.kernel
def first_kernel(sizes: fx.Tensor, m: fx.Int32, places: fx.Tensor, kind: fx.Constexpr[Any], config: fx.Constexpr[Any]):
    """The last thread of each block writes the place that all of them were told."""
    smem = fx.SharedAllocator(1024, static=False)
    told = ToldPlaces(smem, kind, config.stages)
    extents = m, fx.Int32(N), fx.Int32(64), fx.Int32(1)
    GroupSchedule(extents, fx.Int32(0), kind, config, sizes, None, smem, told).prepare()
    place = told.read_first()
    if fx.thread_idx.x == config.threads - 1:
        for i, word in enumerate((place.b[0], place.row, place.column, place.end)):
            places[fx.block_idx.x, i] = word


@pytest.mark.parametrize("draws", [False, True])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_all_threads_are_told_of_a_first_tile(sizes: list[int], draws: bool) -> None:
    """Of fewer tiles than blocks, some have a place that ends with row 0."""
    config = replace(DRAWN, draws=draws)

    @flyc.jit
    def run(ends: fx.Tensor, m: fx.Int32, places: fx.Tensor, stream: fx.Stream = fx.Stream(None)):
        first_kernel(ends, m, places, KIND, config).launch(
            grid=(BLOCKS, 1, 1), block=(config.threads, 1, 1), stream=stream
        )

    places = np.full((BLOCKS, 4), -1, np.int32)
    run(np.cumsum(sizes).astype(np.int32), sum(sizes), places)
    expected = order(sizes, config)[:BLOCKS]
    assert places[: len(expected)].tolist() == expected and (places[len(expected) :, 3] == 0).all()


@pytest.mark.parametrize("weights_first", [False, True])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_blocks_draw_whole_tiles_and_halves(sizes: list[int], weights_first: bool, rng: np.random.Generator) -> None:
    """Five blocks, so that each has several; sums of small integers are exact. The counter is zero afterwards, for the
    next launch."""
    kind, k, total = replace(KIND, weights_first=weights_first), 192, sum(sizes)
    shapes = (total + 1, k), (len(sizes), N, k)
    a, b = (rng.integers(-2, 3, shape).astype(ml_dtypes.bfloat16) for shape in shapes)
    c = np.full((total + 1, N), 999, ml_dtypes.bfloat16)
    ends, taken = np.cumsum(sizes).astype(np.int32), np.zeros(1, np.int32)
    run = build_hopper_gemm(kind, DRAWN, sms=5)
    run(a, b.swapaxes(1, 2), c, *[None] * 5, 0.0, None, None, ends, None, None, taken)
    group = np.repeat(np.arange(len(sizes)), sizes)
    expected = np.einsum("ik,ink->in", a[:total].astype(np.float32), b.astype(np.float32)[group])
    assert (c[:total] == expected.astype(c.dtype)).all() and (c[total:] == 999).all()
    assert taken[0] == 0


def test_halves_shorten_the_last_round_of_the_model() -> None:
    """By a fifth of a round; only tiles of one block of rows for each of two warpgroups have halves."""
    problem, drawn = Problem(1024, 4096, 7168, 8, grouped=True), GemmConfig(128, 256, 2, 4, draws=True)
    assert drawn.halves_last and not replace(drawn, draws=False).halves_last
    assert not GemmConfig(256, 128, 2, 4, draws=True).halves_last
    before, now = (launch_time(problem, drawn, replace(HOPPER, ending=idle)) for idle in (0.5, HOPPER.ending))
    rounds = problem.clusters(drawn) / 132
    assert 0.01 < (before - now) / before < 0.2 / rounds
