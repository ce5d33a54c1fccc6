"""The model of the Hopper GEMM: what it compares can be built, and what it chooses makes sense."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.kernels.gemm.hopper import model, power
from flydsl.kernels.gemm.hopper.checks import check_config
from flydsl.kernels.gemm.hopper.choice import choose_config, configurations, copies_words, fits
from flydsl.kernels.gemm.hopper.model import HOPPER, SIXTEEN, launch_time, resident_clusters
from flydsl.kernels.gemm.hopper.plan import (
    SHARED_BYTES,
    GemmConfig,
    GemmKind,
    Problem,
    ceildiv,
)

SHAPES = [(1, 4096, 4096), (16, 28672, 4096), (200, 328, 136), (1024, 1024, 1024), (4096, 4096, 4096), (64, 64, 16384)]


def kind_of(problem: Problem) -> GemmKind:
    """The kernel for a problem as the kernel sees it."""
    operand = fx.BFloat16 if problem.size == 2 else fx.Float8E4M3FN
    out = {8: fx.Float8E4M3FN, 16: fx.BFloat16, 32: fx.Float32}[problem.c_width]
    return GemmKind(operand, operand, out, problem.a_along_k, problem.b_along_k, problem.c_along_n)


def problems() -> list[Problem]:
    modes = [
        dict(zip(("a_along_k", "b_along_k", "c_along_n"), flags, strict=True))
        for flags in product((True, False), repeat=3)
    ]
    found = [Problem(*shape, **mode) for shape in SHAPES for mode in modes]
    found += [Problem(*shape, size=1, c_width=width) for shape in SHAPES for width in (8, 16, 32)]
    return found + [Problem(*SHAPES[2], batches=40, line_bytes=16)]


def test_what_is_compared_can_be_built() -> None:
    """Shared memory is enough, and the kernel takes every configuration that is said to fit."""
    for problem in problems():
        for config in configurations(problem):
            assert config.stages * config.stage_bytes + config.other_bytes <= SHARED_BYTES
            check_config(kind_of(problem), config)


@pytest.mark.parametrize("problem", problems(), ids=str)
def test_the_choice_is_the_best_of_both_orientations(problem: Problem) -> None:
    config = choose_config(problem)
    seen = problem.swapped if config.swapped else problem
    check_config(kind_of(seen), config)
    assert fits(seen, config)
    time = launch_time(seen, config)
    for other in (problem, problem.swapped):
        assert all(time <= launch_time(other, each) for each in configurations(other))


def test_few_rows_are_columns_of_the_kernel() -> None:
    """Rows of weights on the side of wgmma that has 64 of them, and tiles no wider than there are rows of A."""
    for m, n, k in ((1, 4096, 4096), (8, 28672, 4096), (16, 6144, 4096)):
        config = choose_config(Problem(m, n, k))
        assert config.swapped and config.tile_n <= max(m, 8)


def test_weights_divide_evenly_where_rows_are_few(rng: np.random.Generator) -> None:
    """No block has much more to read than the others, whatever the extents: the model compares such tiles."""
    for _ in range(50):
        m, n, k = (int(np.exp(rng.uniform(*np.log(ends)))) for ends in ((1, 65), (4096, 100_000), (1024, 20_000)))
        seen = Problem(m, n // 8 * 8, k // 8 * 8).swapped
        shares = [
            ceildiv(ceildiv(seen.m, config.tile_m), resident_clusters(config, 132)) * config.tile_m
            for config in configurations(seen)
            if config.splits == 1 and config.tile_n >= m
        ]
        assert min(shares) <= 1.13 * seen.m / 132 + 8, (m, n, k)


def test_products_of_integers_have_columns_in_sixteens(rng: np.random.Generator) -> None:
    """700 x 1200 x 512 for one would take 104, which wgmma has of floats alone."""
    for m, n, k in [(700, 1200, 512), *(rng.integers(65, 5000, (30, 3)) // 16 * 16).tolist()]:
        for seen in (problem := Problem(m, n, k, size=1, integer=True), problem.swapped):
            for config in configurations(seen):
                columns = config.tile_n // (2 if config.is_wide else 1)
                assert columns % 16 == 0 or columns in (8, 24), (m, n, k, config)


def test_parts_of_k_fill_a_device_that_tiles_do_not() -> None:
    assert choose_config(Problem(16, 1024, 8192)).splits > 1
    assert choose_config(Problem(8192, 8192, 8192)).splits == 1
    assert choose_config(Problem(64, 64, 64)).splits == 1, "one step of K"


def test_parts_of_k_share_tiles_where_outputs_are_skinny() -> None:
    """Few tiles with a long K: blocks of a part load halves of the tile that they have in common."""
    config = choose_config(Problem(3840, 192, 16192))
    assert config.behind > 1 and config.sharers > 1 and config.sharers * config.splits == config.cluster
    few, alone = replace(config, cluster=config.behind, along="k", behind=1), Problem(3840, 192, 16192)
    assert launch_time(alone, config) < launch_time(alone, few)


def test_lines_cost_by_the_bytes_they_start_at() -> None:
    config = GemmConfig(64, 64, 1, 8)
    times = [launch_time(Problem(64, 4096, 4096, line_bytes=each), config) for each in (128, 64, 32, 16)]
    assert times == sorted(times) and len(set(times)) == 4


def test_lines_across_cache_lines_are_two_requests_and_the_same_sectors() -> None:
    """So where L2 decides they cost little, unless they begin inside a sector, and where the block that sends for them
    does, twice as much. 752 x 3344 x 6544 took 51.6 us in tiles of 256 x 88, which share A to load the fewest
    lines, and 47.7 to 48.0 in 128 x 152 and 128 x 168, on an H200, 2026-11-17."""
    config = GemmConfig(128, 128, 2, 6)
    for slow, less, more in ((replace(HOPPER, cache=1e5), 1.1, 2.25), (replace(HOPPER, lines=1.0), 2.2, 2.5)):
        times = [launch_time(Problem(4096, 4096, 4096, line_bytes=each), config, slow) for each in (128, 32, 16)]
        assert [time / times[0] for time in times] == pytest.approx([1.0, less, more], rel=0.02)
    assert choose_config(Problem(752, 3344, 6544, line_bytes=32)).tile_m == 128


def test_lines_that_begin_inside_a_sector_are_shared_along_both_modes() -> None:
    """A block then sends for parts of both of its tiles. 528 x 2328 x 3288 took 18.5 us in clusters of eight, and 21.8
    where four share one, on an H200, 2026-11-18."""
    assert len(choose_config(Problem(528, 2328, 3288, line_bytes=16)).along) == 2


def test_blocks_share_both_matrices_where_they_take_no_turns() -> None:
    """1024 x 1088 x 5184 took 19.4 us in 128 x 80 so, 20.6 where nobody shares and 22.1 where two share one matrix, on
    an H200, 2026-11-18; in turns it lost."""
    problem = Problem(1024, 1088, 5184)
    both = GemmConfig(128, 80, 2, 8, 4, "mn")
    for other in (replace(both, cluster=1, along="m"), replace(both, cluster=2, along="m")):
        assert launch_time(problem, both) < launch_time(problem, other)
    several = configurations(Problem(14720, 5824, 128))
    assert not any(len(x.along) > 1 and x.taking_turns for x in several)
    assert not any(len(x.along) > 1 for x in configurations(replace(problem, size=1)))


def test_neighbouring_blocks_get_the_lines_they_have_in_common_once() -> None:
    """Without a cluster, if all run at once: 2304 x 448 x 8576 in 108 tiles of 128 x 64 took 39.8 us where those below
    each other are neighbours, and 29.7 where those beside each other are, which read the larger matrix. 200 x 5120 x
    13824 in 128 x 72, swapped, took 72.0 and 58.7. On an H200, 2026-11-18."""
    for problem, config in (
        (Problem(2304, 448, 8576), GemmConfig(128, 64, 2, 8, band=8)),
        (Problem(5120, 200, 13824), GemmConfig(128, 72, 2, 8, band=8)),
    ):
        below, beside = (launch_time(problem, replace(config, band=band)) for band in (8, 1))
        assert beside < 0.97 * below
        apart = replace(problem, line_bytes=64)
        assert launch_time(apart, config) == launch_time(apart, replace(config, band=1)), "not of lines that straddle"
    assert choose_config(Problem(2304, 448, 8576)).band == 1
    assert choose_config(Problem(8192, 8192, 8192)).band > 1


def test_a_short_launch_has_the_full_clock() -> None:
    """Tensor cores are at the limit of power where they have little else to wait for."""
    config = GemmConfig(128, 256, 2, 4, 2, "m", sends=True)
    short, long = Problem(128 * 66, 512, 512), Problem(128 * 66, 512, 65536)
    rates = [problem.k / 64 * 1024 / launch_time(problem, config) for problem in (short, long)]
    assert rates[0] < rates[1] < power.BURST
    free = replace(SIXTEEN, cycles=1e6, cache=1e12, port=1e6, latency=0.0, results=0.0, memory=1e12)
    assert launch_time(long, config, free) > 1024 * 1024 / power.BURST


def test_blocks_of_rows_of_one_warpgroup_read_one_after_the_other() -> None:
    """168 x 16384 x 3072 took 34.3 us in tiles of 256 x 88 and 29.7 in 128 x 168, on an H200, 2026-11-18."""
    config = choose_config(Problem(168, 16384, 3072))
    assert config.multiplied_rows == 64 * config.of_tile
    narrow, wide = GemmConfig(256, 64, 2, 5), GemmConfig(256, 128, 2, 4)
    few, many = (launch_time(Problem(256 * 132, x.tile_n, 8192), x) for x in (narrow, wide))
    assert few > 0.6 * many, "half the products"


def test_a_small_matrix_stays_in_cache_beside_a_large_one() -> None:
    few = choose_config(Problem(4, 4608, 3584))
    assert few.swapped and few.streams == "a" and few.l2_priorities == ("evict_first", "evict_last")
    assert choose_config(Problem(3840, 192, 16192)).streams == "a"
    assert choose_config(Problem(15104, 768, 1216)).streams == "", "several blocks read its lines"
    assert choose_config(Problem(4096, 4096, 4096)).streams == ""
    assert choose_config(Problem(11424, 392, 2504, line_bytes=16)).streams == "", "blocks share both"


def test_blocks_have_room_for_the_sums_of_others() -> None:
    """A block's own part of its share of a tile's sums stays in registers."""
    for parts in (2, 4):
        whole, split = GemmConfig(128, 128, 2, 2), GemmConfig(128, 128, 2, 2, parts, "k")
        assert split.other_bytes - whole.other_bytes == 128 * (128 // parts) * (parts - 1) * 4


def test_shares_of_sums_are_as_even_as_eights_of_columns_allow() -> None:
    """Of columns that the parts of K do not divide the last share moves back: 512 x 512 x 16384 took 21.2 us in four
    parts of 128 x 88 and 21.5 in those of 128 x 96, on an H200, 2026-11-18. Where D is added, none does."""
    known = (96, 4, 24, 4), (88, 4, 24, 4), (136, 2, 72, 2), (40, 4, 16, 3), (24, 8, 8, 3)
    for columns, parts, share, blocks in known:
        config = GemmConfig(64, columns, 1, 4, parts, "k")
        assert (config.shared_columns, config.sharing_blocks) == (share, blocks)
        assert config.shares_overlap == (share * blocks > columns)
    problem = Problem(512, 512, 16384)
    assert any(x.shares_overlap for x in configurations(problem))
    assert not any(x.shares_overlap for x in configurations(replace(problem, adds=True)))


def test_small_products_copy_lines_of_words_themselves() -> None:
    """65 x 806 x 234 took 3.5 us so and 4.5 behind a launch that copies lines, 1904 x 244 x 5058 30.5 and 22.0, on an
    H200, 2026-11-18."""
    assert copies_words(Problem(65, 806, 234, words=4)) and copies_words(Problem(120, 400, 300, words=8))
    assert not copies_words(Problem(1904, 244, 5058, words=4)) and not copies_words(Problem(2720, 6760, 162, words=4))


def test_results_leave_by_tma_where_they_can() -> None:
    """Where lines of C are multiples of 16 bytes, the rows of a tile are C's, and a box has 128 bytes of each."""
    wide = Problem(4096, 32768, 512)
    assert choose_config(wide).sends and choose_config(replace(wide, grouped=True, batches=4)).sends
    for other in (replace(wide, c_aligned=False), replace(wide, quantises=True, grouped=True), Problem(1, 4096, 4096)):
        assert not choose_config(other).sends
    assert all(config.sends <= (config.shared_columns >= 64) for config in configurations(wide))


def test_small_tiles_share_the_larger_matrix() -> None:
    """Two blocks below each other share B, those beside each other A; of groups none do."""
    wide = Problem(128, 4096, 4096)
    for problem, along in ((wide, {"m"}), (wide.swapped, {"n"}), (replace(wide, grouped=True, batches=4), set())):
        small = [x for x in configurations(problem) if x.cluster > x.splits and not x.is_large]
        assert {x.along for x in small if len(x.along) == 1} == along
    assert choose_config(wide).along == "m" and choose_config(wide).sharers == 2


def test_few_tiles_have_as_many_columns_as_fill_the_device() -> None:
    """One round in which nearly all multiprocessors have a tile, and of few rows no more than there are."""
    tall = Problem(13312, 384, 1600)
    config = choose_config(tall)
    assert 120 <= tall.swapped.clusters(config) * config.cluster <= 132 and config.sends_across
    assert choose_config(Problem(10144, 144, 2992, line_bytes=32)).tile_m in (144, 160)


def test_large_products_take_large_tiles() -> None:
    config = choose_config(Problem(8192, 8192, 8192))
    assert config.tile_m * config.tile_n >= 128 * 192 and config.cluster == 2 and not config.swapped


def test_idle_multiprocessors_leave_their_power() -> None:
    """In fp8 a step takes less where fewer blocks run, and so four blocks that share few lines may be the fastest."""
    config = GemmConfig(128, 128, 2, 6)
    few, many = (launch_time(Problem(128 * tiles, 128, 65536, size=1), config) for tiles in (100, 132))
    assert few < 0.95 * many
    assert choose_config(Problem(3408, 464, 15552, size=1, line_bytes=64)).cluster == 4


def test_power_decides_large_products_of_eight_bits() -> None:
    """Tiles in turns, whose results leave behind products, of any width in a time that their products alone take."""
    for m, n, k in ((4096, 4096, 4096), (2048, 8192, 8192), (8192, 8192, 8192)):
        assert choose_config(Problem(m, n, k, size=1)).taking_turns
    problem, per_round = Problem(132 * 128, 128 * 144, 8192, size=1), []
    for columns, stages in ((128, 6), (144, 5), (192, 4)):
        config = GemmConfig(128, columns, 2, stages, 2, taking_turns=True)
        per_round.append(launch_time(problem, config) / ceildiv(problem.n, columns) / columns)
    assert max(per_round) < 1.05 * min(per_round)


def test_steady_work_counts_in_products_of_sixteen_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the limit of power tiles of any width take what their products do, so those in turns win whose last round is
    full: 128 x 192 took 1,554 us and 128 x 256 1,588 at 8192 x 8192 x 8192, 1,357 and, in 192 x 256, 1,411 at 16384 x
    8192 x 3584, on an H200, 2026-11-17. Where rounds are as full, and in bursts, 128 x 256 is not slower."""
    for shape in ((8192, 8192, 8192), (16384, 8192, 3584), (2176, 12928, 8448)):
        assert choose_config(Problem(*shape)).taking_turns
    assert not choose_config(Problem(4096, 4096, 4096)).taking_turns
    monkeypatch.setattr(model, "STEADY", 1.0)
    config, times = GemmConfig(128, 128, 2, 6, 2, taking_turns=True), []
    for columns, stages in ((128, 6), (160, 5), (192, 4)):
        tiles = replace(config, tile_n=columns, stages=stages)
        times.append(launch_time(Problem(132 * 128, columns * 8, 8192), tiles) / columns)
    assert max(times) < 1.02 * min(times)


def test_bursts_alone_count_where_lines_straddle() -> None:
    """Nobody knows how well: 2128 x 4696 x 11568 took 314 us in 256 x 168 and 358 in 128 x 152, and 380 and 354 in
    steady work, on an H200, 2026-11-17."""
    config, few = GemmConfig(128, 192, 2, 4, 2, taking_turns=True), replace(SIXTEEN, straddling=((32, 1.0), (128, 1.0)))
    few = replace(few, sectors=((32, 1.0), (128, 1.0)))
    whole, apart = (launch_time(Problem(4096, 4096, 4096, line_bytes=each), config, few) for each in (128, 32))
    assert apart < 0.995 * whole


def test_groups_take_turns_or_draw_tiles_and_share_nothing() -> None:
    """Where there are several tiles for each block; groups of fewer rows than a tile too."""
    for rows, n, k, groups in (
        (1024, 4096, 7168, 8),
        (512, 1536, 2048, 128),
        (205, 3072, 3584, 66),
        (90, 1536, 4096, 100),
    ):
        config = choose_config(Problem(rows, n, k, groups, grouped=True))
        assert config.taking_turns != config.draws and config.cluster == 1
    assert not choose_config(Problem(100, 2048, 4096, 8, grouped=True)).taking_turns
    # Even ones took 512 us in turns and 527 drawn in 128 x 256, whose results are held, and skewed ones 662 and 628.
    assert choose_config(Problem(205, 3072, 3584, 66, grouped=True)).draws
    assert choose_config(Problem(497, 3904, 1600, 6, grouped=True)).taking_turns
    # Threads copy a line of 128 bytes in 7 cycles, so tiles of gathered rows are wide: 69 us, and 87 in 128 x 120.
    assert choose_config(Problem(497, 3904, 1600, 6, grouped=True, gathers=True)).tile_n == 192
    assert all(x.accumulators <= 128 for x in configurations(Problem(4096, 8192, 4096, 4, grouped=True, gathers=True)))
    # 137 us, and 148 in 64 x 256 of one warpgroup, while which waits nobody multiplies.
    assert choose_config(Problem(375, 2048, 2048, 24, grouped=True, gathers=True)).consumers == 2
    assert not choose_config(Problem(512, 2048, 2048, 64, c_width=8, grouped=True, quantises=True)).taking_turns


def test_the_expected_time_is_that_of_the_machine() -> None:
    """Never less than memory, or the products, take; more for lines that straddle cache lines."""
    for m, n, k in SHAPES:
        problem = Problem(m, n, k)
        config = choose_config(problem)
        seen = problem.swapped if config.swapped else problem
        time = launch_time(seen, config)
        assert time >= problem.moved / HOPPER.memory
        assert time >= m * n * k / (132 * 2048 * HOPPER.cycles)
        assert launch_time(replace(seen, line_bytes=16), config) >= time


def test_a_device_with_fewer_multiprocessors_takes_longer() -> None:
    problem, config = Problem(2048, 2048, 2048), GemmConfig(128, 256, 2, 4, 2, "m")
    assert launch_time(problem, config, sms=4) > 10 * launch_time(problem, config)


def test_groups_with_scales_fill_their_rounds() -> None:
    """Few groups have nearly a known number of tiles: those of five rounds, not of eight that are hardly begun."""
    few = choose_config(Problem(6056, 640, 896, batches=4, size=1, block_scaled=True, grouped=True))
    assert (few.tile_m, few.tile_n) == (192, 128)
    long = choose_config(Problem(6435, 512, 3584, batches=5, size=1, block_scaled=True, grouped=True))
    assert (long.tile_m, long.tile_n) == (128, 256)
    # 59.8 us drawn in 192 x 128, and 62.8 in 128 x 128.
    narrow = choose_config(Problem(704, 640, 2816, batches=25, size=1, block_scaled=True, grouped=True))
    assert (narrow.tile_m, narrow.tile_n, narrow.draws) == (192, 128, True)
