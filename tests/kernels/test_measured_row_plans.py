"""Plans that the model of row kernels chooses, by what was measured of them and of others."""

from __future__ import annotations

from typing import Any

import pytest

from flydsl.kernels.blocks.cache_hints import PLAIN
from flydsl.kernels.blocks.row_choice import choose
from flydsl.kernels.blocks.row_machine import HOPPER, HOPPER_LONG
from flydsl.kernels.blocks.row_plan import RowPlan
from flydsl.kernels.blocks.row_resources import told_registers
from flydsl.kernels.blocks.row_time import launch_time
from flydsl.kernels.norm.norm_backward import backward_task


def test_lanes_of_short_rows_of_f32() -> None:
    """On an H200 (2026-11-18), in parts of a copy's speed: through shared memory RMSNorm of 111 and softmax of 73
    elements have 1.05 by eight lanes, 1.00 and 1.02 by four or two. By words, where waves of a row wait for each other,
    LayerNorm of 277 has 0.92 by two waves a row and 1.00 by one, of 1,595 0.97 by five and 0.86 by eight; of 175 and
    191 1.01 and 1.03 by eight rows of a block, 0.95 by four."""
    for length, lines in ((111, 1), (73, 0)):
        plan = choose(length, "f32", HOPPER, lines).many
        assert plan.staged and not plan.stays and plan.lanes == 8
    for length in (175, 191, 277):
        plan = choose(length, "f32", HOPPER, 2).many
        assert plan.narrow and (plan.lanes, plan.rows) == (32, 8)
    assert choose(1595, "f32", HOPPER, 2).many.lanes == 160


def test_lanes_of_short_rows_of_two_lines() -> None:
    """On an H200 (2026-11-18), in parts of a copy's speed: LayerNorm of 216, 224, 232, 296 and 312 bf16 1.01, 1.04,
    1.015, 1.01 and 1.02 by eight lanes, 0.95, 0.97, 0.98, 0.98 and 1.00 by sixteen, which have 1.02 of 328, and eight
    1.00; of 80 and 96 0.98 and 1.02 through shared memory, 0.84 and 0.93 by eight lanes that load."""
    for length in (216, 224, 232, 296, 312):
        plan = choose(length, "bf16", HOPPER, 2).many
        assert plan.direct and plan.lanes == 8
    assert choose(216, "bf16", HOPPER, 2).many.rows == 8
    assert choose(328, "bf16", HOPPER, 2).many.lanes == 16
    assert all(choose(length, "bf16", HOPPER, 2).many.staged for length in (80, 96))


def test_blocks_of_short_rows_are_not_too_small() -> None:
    """On an H200 (2026-11-19), RMSNorm of 64 f16 has 0.82 of a copy's speed by blocks of eight rows, and 1.01 by those
    of 16 and of 32; of 96 1.04 by those of eight."""
    for length, dtype, lines in ((64, "f16", 1), (64, "bf16", 2), (32, "f32", 1)):
        assert choose(length, dtype, HOPPER, lines).many.rows >= 16
    assert choose(96, "f16", HOPPER, 1).many.rows == 8


def test_few_rows_have_few_waves() -> None:
    """On an H200 (2026-11-18), 22 rows of LayerNorm of 4,069 bf16 take 4.9 us straight from memory and 6.1 through
    shared memory, 450 of 300 bf16 4.32 by a wave each and 4.54 by five; 2 of RMSNorm of 255 bf16, which are loaded
    element by element, 3.87 by four waves and 4.03 by one."""
    few = choose(4069, "bf16", HOPPER, 2).few
    assert few and few.few and not few.staged
    few = choose(300, "bf16", HOPPER, 2).few
    assert few and few.lanes <= HOPPER.wave
    few = choose(255, "bf16", HOPPER, 1).few
    assert few and few.lanes > HOPPER.wave


BRIEF = [
    # Lines, length, type; microseconds of an H200 (2026-11-19) for 4, 30, 120 and 377 rows by width, lanes and rows.
    (2, 747, "bf16", {(1, 128, 1): (4.42, 4.58, 4.77, 5.25), (1, 256, 1): (4.29, 4.45, 4.83, 5.06)}),
    (2, 456, "f32", {(2, 256, 1): (4.29, 4.40, 4.59, 4.83), (4, 32, 4): (4.32, 4.26, 4.43, 4.58)}),
    (2, 128, "f32", {(1, 128, 1): (4.13, 4.22, 4.50, 4.64), (4, 32, 4): (4.19, 4.22, 4.32, 4.38)}),
    (1, 384, "bf16", {(4, 96, 1): (4.16, 4.22, 4.34, 4.51), (8, 32, 4): (4.19, 4.22, 4.29, 4.37)}),
    (1, 64, "bf16", {(2, 32, 4): (4.06, 4.13, 4.22, 4.26), (8, 8, 16): (4.03, 4.00, 4.08, 4.14)}),
]


@pytest.mark.parametrize(("lines", "length", "dtype", "measured"), BRIEF)
def test_few_short_rows(lines: int, length: int, dtype: str, measured: dict[tuple[int, int, int], Any]) -> None:
    choice = choose(length, dtype, HOPPER, lines)
    few = choice.few
    assert few and few.few and few.hints == PLAIN and choice.limit >= 512
    assert (few.width, few.lanes, few.rows) == min(measured, key=lambda plan: sum(measured[plan]))


def test_lines_of_short_rows_come_early() -> None:
    """On an H200 (2026-11-18), LayerNorm of 112 and 248 elements of 16 bits has 1.00 and 1.04 of a copy's speed with
    lines that are loaded beside the row, 0.96 and 1.01 with lines behind it; of 1,600 0.95 and 1.03."""
    for length in (112, 248):
        assert choose(length, "bf16", HOPPER, 2).many.lines_early(2)
    assert not choose(1600, "bf16", HOPPER, 2).many.lines_early(2)
    assert not choose(18_584, "bf16", HOPPER, 1).many.lines_early(1)


def test_lines_come_early_where_another_plan_can() -> None:
    """On an H200 (2026-11-19), microseconds for 90 MB moved: RMSNorm of 4,876 f32 26.6 by 128 threads, by 320 and by
    384, which load the line before they wait, 27.9 by 160; LayerNorm of 1,504 bf16 20.7 by two waves a row and 21.9 by
    one, of 304 and 584 26.4 and 26.5, and 27.1 and 27.4 with late lines, of 1,305 f32 27.0 by 192 threads and 29.6 by
    128. RMSNorm of 120 bf16 has 1.007 times the speed of rows that pass through shared memory."""
    for length, dtype, lines in (
        (4876, "f32", 1), (1504, "bf16", 2), (304, "bf16", 2), (584, "bf16", 2), (1305, "f32", 2), (120, "bf16", 1),
    ):  # fmt: skip
        plan = choose(length, dtype, HOPPER, lines).many
        assert plan.direct and plan.lines_early(lines)
    assert choose(1305, "f32", HOPPER, 2).many.lanes == 192


def test_short_rows_by_half_as_wide_accesses() -> None:
    """Where lanes have far fewer accesses for nothing: what was measured stands in `_halved` and `told_registers`."""
    for length, lanes in ((408, 16), (424, 16), (824, 32)):
        plan = choose(length, "f16", HOPPER, 2).many
        assert plan.halved and (plan.width, plan.lanes) == (4, lanes) and plan.lines_early(2)
    assert not any(choose(length, "f16", HOPPER, 2).many.halved for length in (200, 264, 456, 536))
    told = {
        length: told_registers(choose(length, "bf16", HOPPER, 2).many, HOPPER, 2) for length in (136, 200, 208, 264)
    }
    assert told == {136: 56, 200: 72, 208: None, 264: None}


def test_few_long_rows_with_lines_come_through_rings() -> None:
    """On an H200 (2026-11-19), microseconds through rings of 16 blocks and through shared memory: LayerNorm of one row
    of 248,138 f16 7.7 and 12.4, of 3 of 140,001 f32 7.1 and 12.4, of 4 of 70,002 6.1 and 7.9, RMSNorm of 3 of 120,001
    bf16 5.85 and 7.35. A softmax of 3 of 60,304 f32 takes 5.9 through a ring, and 5.45 straight from memory."""
    for length, dtype, lines in ((248_138, "f16", 2), (140_001, "f32", 2), (70_002, "f32", 2), (120_001, "bf16", 1)):
        choice = choose(length, dtype, HOPPER, lines)
        few = choice.few or choice.many
        assert few.slots and few.cluster == 16 and (choice.few is None or choice.limit == 16)
    few = choose(60_304, "f32", HOPPER, 0).few
    assert few and few.direct
    assert choose(248_138, "f32", HOPPER, 2).many.slots, "rings that go by elements take even lengths too"


def test_lines_that_come_late() -> None:
    """On an H200 (2026-11-18), RMSNorm of 34,784, 51,288 and 52,584 f32: 0.88, 0.91 and 0.93 of a copy's speed by
    clusters whose threads have 13 to 17 vectors, 0.99 through rings and 1.00 by seven vectors."""
    for length in (34_784, 51_288, 52_584, 68_976):
        plan = choose(length, "f32", HOPPER, 1).many
        assert plan.slots or plan.held <= 32
    many, few = (RowPlan(52_584, "f32", 4, lanes, cluster=8) for lanes in (128, 256))
    assert launch_time(many, HOPPER_LONG, 1, 639) > launch_time(few, HOPPER_LONG, 1, 639)


def test_odd_softmaxes_stay_in_registers_of_clusters() -> None:
    """On an H200 (2026-11-18), softmax of 82,217 bf16, 105,412 f16 and 50,109 f32 by pieces: 1.025, 0.97 and 1.03 of a
    copy's speed, and 0.885, 0.91 and 0.95 by rings; of 125,653 f16, of which two blocks have place, 0.86 and 0.93."""
    for length, dtype in ((82_217, "bf16"), (105_412, "f16"), (50_109, "f32")):
        plan = choose(length, dtype, HOPPER, 0).many
        assert plan.pieces and plan.keep and plan.cluster == 8
    assert choose(125_653, "f16", HOPPER, 0).many.slots


def test_powers_of_long_softmaxes_stay_in_registers() -> None:
    """What was measured stands beside `MOST_POWERS`."""
    for length in (120_001, 150_001, 185_001, 199_075, 225_001, 240_832, 262_144):
        plan = choose(length, "f16", HOPPER, 0).many
        assert plan.into_registers and plan.lanes == 256 and plan.slots == 2 * plan.parts


def test_lines_that_stay_and_lines_that_do_not() -> None:
    """On an H200 (2026-11-18), RMSNorm of 87, 147 and 237 elements of 16 bits has 1.03 of a copy's speed by blocks that
    do not stay, and 0.93 to 0.97 by those that do, LayerNorm of 301 0.88 and 0.93. LayerNorm of 4,245 f32 has 0.95 by a
    ring, and 0.86 early."""
    for length in (87, 147, 237):
        plan = choose(length, "bf16", HOPPER, 1).many
        assert plan.staged and not plan.stays
    assert choose(301, "f16", HOPPER, 2).many.lines_stay
    assert choose(4245, "f32", HOPPER, 2).many.slots


def test_full_rings_of_two_lines_are_slower() -> None:
    """On an H200 (2026-11-18), LayerNorm of 28,136 bf16 has 0.97 of a copy's speed with a ring of 84 KB, and 0.91 with
    two of 84 in all and smaller parts; of 221,496 0.94 by eight blocks, 0.87 by 16; of 235,320 f16 0.80 where L2 gives
    lines for every row."""
    assert choose(28_136, "bf16", HOPPER, 2).many.crowd == 1
    for length in (221_496, 235_320):
        plan = choose(length, "bf16", HOPPER, 2).many
        assert plan.cluster == 8 and not plan.lines_ahead


def test_gradients_of_odd_rows_measured_again() -> None:
    """On an H200 (2026-11-18), LayerNorm of 6,301 and 7,533 bf16: 0.94 and 0.96 of a copy's speed by a block, and 0.87
    and 0.90 by two clusters of two; of 22,001 0.91 with three rows in a ring and 0.85 with four. RMSNorm of 5,109 and
    9,635 1.02 and 0.99 early, 0.96 and 0.92 through rings, of 6,301 0.85 and 0.98."""
    for length in (6301, 7533):
        plan = choose(length, "bf16", HOPPER, 1, task=backward_task(True)).many
        assert (plan.cluster, plan.crowd) == (1, 1)
    for length in (22_001, 26_001, 28_001):
        plan = choose(length, "bf16", HOPPER, 1, task=backward_task(True)).many
        assert plan.cluster == 2 and plan.slots == 3 * plan.parts
    for length, early in ((5109, True), (9635, True), (6301, False), (7533, False)):
        assert choose(length, "bf16", HOPPER, 1, task=backward_task(False)).many.early == early


def test_blocks_that_keep_lines_begin_as_others_end() -> None:
    """On an H200 (2026-11-18), in parts of a copy's speed: LayerNorm of 255 f16 0.995 with eight times as many blocks
    as have place, 0.94 with as many, of 2,063 0.965 and 0.91; but of 1,743 f16, of which little is on its way, 0.92 and
    0.94, and of 5,191 f16 and 7,027 bf16 0.89 and 0.93, and 0.94 and 0.955 by rings that take rows in order."""
    for length, dtype, lines in ((255, "f16", 2), (1001, "bf16", 2), (2063, "f16", 2)):
        plan = choose(length, dtype, HOPPER, lines).many
        assert plan.lines_stay and plan.relays == 8
    for length, dtype in ((5191, "f16"), (7027, "bf16")):
        assert choose(length, dtype, HOPPER, 2).many.in_order
    assert choose(1743, "f16", HOPPER, 2).many.relays == 1


def test_longest_softmaxes_of_f32_come_through_rings() -> None:
    """On an H200 (2026-11-18), softmax of 201,352, 228,681, 245,001 and 262,144 f32: 0.91, 0.93, 0.905 and 0.93 of a
    copy's speed by rings of 16 blocks in four chunks, 0.865 to 0.89 by as many with twice the waves, and 0.87, 0.89,
    0.90 and 0.89 by clusters of eight whose registers keep the row, which have 1.00 of 159,156."""
    for length in (201_352, 228_681, 245_001, 262_144):
        plan = choose(length, "f32", HOPPER, 0).many
        assert (plan.cluster, plan.lanes, plan.slots, plan.parts) == (16, 256, 12, 4)
    assert choose(159_156, "f32", HOPPER, 0).many.keep


def test_few_waves_take_the_longest_rows_element_by_element() -> None:
    """On an H200 (2026-11-18), LayerNorm of 260,729 f32 has 0.88 of a copy's speed by four waves of a block, 0.82 by
    five and 0.85 by eight."""
    plan = choose(260_729, "f32", HOPPER, 2).many
    assert plan.by_elements and plan.overlaps and plan.lanes == 128


def test_longest_rows_come_two_at_a_time() -> None:
    """On an H200 (2026-11-18), LayerNorm of 236,088, 239,001, 250,001 and 262,144 f32: 0.88, 0.85, 0.86 and 0.91 of a
    copy's speed where the first pass over a row comes before the second over the one ahead of it, and 0.87, 0.83, 0.81
    and 0.90; of 180,000, whose rings have place for three rows, 0.84 and 0.90. Of 190,001, 203,001, 210,003 and
    228,001, which four waves take element by element, 0.91, 0.90, 0.895 and 0.90, and 0.88, 0.88, 0.83 and 0.84; of
    121,677, 152,581 and 170,001, whose lines registers hold, 0.92, and 0.885, 0.885 and 0.87."""
    for length in (236_088, 239_001, 250_001, 262_144):
        plan = choose(length, "f32", HOPPER, 2).many
        assert plan.overlaps and plan.cluster == 16 and (plan.slots, plan.parts) == (11, 4)
        assert plan.lanes == (128 if plan.by_elements else 256)
    for length in (121_677, 152_581, 170_001, 190_001, 203_001, 210_003, 228_001):
        plan = choose(length, "f32", HOPPER, 2).many
        assert plan.overlaps and plan.by_elements and (plan.lanes, plan.slots, plan.parts) == (128, 12, 4)
    assert not any(choose(length, "f32", HOPPER, 2).many.overlaps for length in (100_000, 180_000))


def test_long_rows_of_clusters_have_place_for_three() -> None:
    """On an H200 (2026-11-18), LayerNorm of 136,483 and 138,640 bf16 and 147,544 f16: 0.94 to 0.945 of a copy's speed,
    and 0.895 to 0.90 with place for two rows."""
    for length, dtype in ((136_483, "bf16"), (138_640, "bf16"), (147_544, "f16")):
        plan = choose(length, dtype, HOPPER, 2).many
        assert plan.cluster == 8 and plan.slots == 3 * plan.parts


def test_lines_of_one_kind_that_l1_does_not_keep() -> None:
    """On an H200 (2026-11-18), RMSNorm of 24,576, 27,648, 29,136, 30,208 and 32,760 f16: 0.97, 0.96, 0.95, 0.96 and
    0.99 of a copy's speed by rings of three blocks a multiprocessor, and 0.95, 0.89, 0.83, 0.85 and 0.94. Of 32,768
    bf16, two rows of which and the line stay in L1, 0.98 without a ring, and 0.92; of 22,000 0.99 and 0.97."""
    for length in (27_648, 28_672, 29_136, 30_208, 31_000, 32_760):
        plan = choose(length, "f16", HOPPER, 1).many
        assert plan.slots and (plan.cluster, plan.crowd) == (8, 3)
    for length in (22_000, 32_768):
        assert not choose(length, "bf16", HOPPER, 1).many.slots


def test_lines_that_leave_a_ring_little_place() -> None:
    """On an H200 (2026-11-18), LayerNorm of 232,001, 248,995 and 256,383 bf16 and 262,143 f16: 0.90, 0.895, 0.885 and
    0.88 of a copy's speed where the first pass takes rows into registers, and 0.865, 0.855, 0.865 and 0.81. Of 180,001
    and 130,001 f16 0.91 and 0.935, and 0.91 and 0.94."""
    for length, dtype in ((232_001, "bf16"), (248_995, "bf16"), (256_383, "bf16"), (262_143, "f16")):
        plan = choose(length, dtype, HOPPER, 2).many
        assert plan.into_registers and plan.cluster == 8 and plan.slots < 2 * plan.parts
    assert not any(choose(length, "f16", HOPPER, 2).many.into_registers for length in (130_001, 180_001, 260_008))
