"""The model that chooses how rows are spread: its terms, its limits, and what was measured."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import gcd
from typing import Any

import pytest

from flydsl.kernels.blocks.cache_hints import PLAIN
from flydsl.kernels.blocks.ring_plans import rings
from flydsl.kernels.blocks.row_choice import FEW, MANY, TooLong, choose, for_rows
from flydsl.kernels.blocks.row_machine import ELSEWHERE, HOPPER, HOPPER_LONG, Machine, bank_passes
from flydsl.kernels.blocks.row_plan import DTYPES, MAP, RowPlan, RowTask
from flydsl.kernels.blocks.row_resources import (
    SENDING,
    SENDING_MUCH,
    edge_bytes,
    near_line_bytes,
    register_limit,
    registers,
    resident,
    ring_bytes,
    ring_places,
    sending_registers,
    shared_bytes,
    taking_limit,
    widens_lines,
)
from flydsl.kernels.blocks.row_time import block_times, launch_time
from flydsl.kernels.norm.column_sums import TOO_LONG, partial_rows
from flydsl.kernels.norm.cross_entropy import FORWARD
from flydsl.kernels.norm.norm_backward import backward_task
from tests.support.turns import in_turns

LENGTHS = [1, 2, 7, 31, 32, 33, 100, 129, 1000, 1024, 4096, 4097, 8192, 20001, 65536, 100_000, 262_143, 1 << 20]


@pytest.mark.parametrize("machine", [HOPPER, *ELSEWHERE.values()], ids=["sm_90a", "waves of 32", "waves of 64"])
def test_every_length_has_a_plan_that_fits(machine: Machine) -> None:
    for length in in_turns(LENGTHS, len(LENGTHS) // 2):
        for dtype in DTYPES:
            for lines in (0, 1, 2):
                choice = choose(length, dtype, machine, lines)
                for plan in filter(None, (choice.many, choice.few)):
                    assert resident(plan, machine, lines) >= 1, plan
                    assert shared_bytes(plan, machine, lines) * plan.crowd <= machine.shared and plan.threads <= 1024
                    assert plan.lanes * plan.iterations * plan.accesses * plan.cluster >= plan.vectors
                    assert plan.shifted or plan.width * plan.vectors == length
                    assert not plan.shifted or (choice.apart and not choice.apart.slots)
                    assert not plan.shifted or plan.width * plan.vectors >= length + plan.width - 1
                    assert plan.lanes % machine.wave == 0 or machine.wave % plan.lanes == 0


def test_rows_that_are_no_multiple_of_16_bytes_pass_through_shared_memory() -> None:
    for length in (129, 1001, 4097, 8190):
        assert choose(length, "bf16", HOPPER, 0).many.staged
        assert choose(length, "bf16", ELSEWHERE[64], 0).many.staged


@pytest.mark.parametrize("machine", ELSEWHERE.values(), ids=["waves of 32", "waves of 64"])
def test_unmeasured_machines_have_one_plan_that_takes_few_registers(machine: Machine) -> None:
    for length in (1000, 4096, 16384):
        choice = choose(length, "f16", machine, 0)
        assert choice.few is None and choice.many.held <= 16, choice


def test_rings_have_place_for_a_row_and_more() -> None:
    for length, dtype, lines in (
        (20001, "bf16", 2),
        (65536, "bf16", 2),
        (131_071, "f32", 0),
        (262_144, "f32", 1),
        (82_728, "bf16", 0),
    ):
        found = list(rings(length, dtype, HOPPER, MAP, lines))
        assert found
        for plan in found:
            assert resident(plan, HOPPER, lines) == plan.crowd
            assert plan.parts == plan.chunks < plan.slots and plan.chunk_iterations * plan.chunks >= plan.iterations
            assert plan.slots * plan.chunk > plan.share * plan.width
    assert not list(rings(1 << 20, "f32", HOPPER, MAP, 0))  # 512 KB for each block of a cluster


def test_rows_that_need_no_ring() -> None:
    assert not list(rings(32_760, "bf16", HOPPER, MAP, 0))  # a block's registers hold it
    assert not list(rings(23_992, "bf16", HOPPER, MAP, 1))  # L1 keeps nearly all of them
    assert {(plan.cluster, plan.crowd) for plan in rings(24_000, "bf16", HOPPER, MAP, 1)} == {(8, 3)}
    assert not list(rings(16_380, "f32", HOPPER, MAP, 2)) and not list(rings(18_432, "bf16", HOPPER, MAP, 2))
    assert {(plan.cluster, plan.crowd) for plan in rings(18_440, "bf16", HOPPER, MAP, 2)} == {(2, 2)}
    assert {(plan.cluster, plan.crowd) for plan in rings(20_000, "bf16", HOPPER, MAP, 2)} == {(2, 1), (4, 2)}
    assert list(rings(32_776, "bf16", HOPPER, MAP, 2)) and list(rings(32_767, "bf16", HOPPER, MAP, 2))
    once = RowTask(once=True)
    assert not list(rings(50_264, "bf16", HOPPER, once, 0))
    assert [plan.slots >= 2 for plan in rings(50_257, "bf16", HOPPER, once, 0)] == [True]
    read = RowTask(targets=0, once=True)
    assert not list(rings(50_257, "bf16", HOPPER, read, 0)) and choose(50_257, "bf16", HOPPER, 0, task=read).many.pieces


def test_short_rows_share_a_wave_and_long_ones_take_several() -> None:
    assert choose(64, "bf16", HOPPER, 0).many.lanes < 32
    assert choose(64, "bf16", HOPPER, 0).many.rows > 8
    assert choose(8192, "bf16", HOPPER, 0).many.lanes > 32


def test_few_rows_are_spread_over_more_threads() -> None:
    for length in (100, 1001, 65536):
        choice = choose(length, "bf16", HOPPER, 0)
        few = choice.few or choice.many
        assert few.lanes * few.cluster >= choice.many.lanes * choice.many.cluster
        assert launch_time(few, HOPPER, 0, FEW) <= launch_time(choice.many, HOPPER, 0, FEW)
        if choice.few:
            rows = MANY // (2 * length)
            assert launch_time(choice.many, HOPPER, 0, rows) < launch_time(few, HOPPER, 0, rows)
            assert FEW <= choice.limit < rows


def test_a_row_beyond_the_registers_is_loaded_again() -> None:
    plan = choose(1 << 20, "f32", HOPPER, 0).many
    assert not plan.keep and plan.cluster == 8
    assert not choose(1 << 20, "f32", ELSEWHERE[64], 0).many.keep


def test_a_launch_takes_no_less_than_its_bytes_and_its_longest_block() -> None:
    plan = choose(4096, "bf16", HOPPER, 2).many
    for rows in (1, 100, 10_000, 1_000_000):
        time = launch_time(plan, HOPPER, 2, rows)
        assert time >= 2 * rows * 8192 / HOPPER.bytes_per_cycle / HOPPER.processors
        assert time >= block_times(plan, HOPPER, 2)["alone"]
    assert launch_time(plan, HOPPER, 2, 200) < launch_time(plan, HOPPER, 2, 20_000)


def test_conflicts_of_banks() -> None:
    assert bank_passes(33, 2, 1, 1, 32) == 1  # rows an odd number of words apart, and a half
    assert bank_passes(64, 2, 8, 1, 32) == 8  # rows that all begin in one bank
    assert bank_passes(64, 2, 8, 8, 32) == 1  # as they lie in memory
    assert bank_passes(129, 4, 1, 1, 32) == 1
    assert bank_passes(128, 4, 1, 1, 32) == 32


def test_blocks_that_a_multiprocessor_has_at_once() -> None:
    plan = RowPlan(8192, "bf16", 8, 256, staged=True, bulk=True)
    by_registers = resident(plan, HOPPER, 0)
    assert by_registers == 65536 // (256 * 64)
    assert resident(replace(plan, lanes=1024), HOPPER, 0) == 1
    assert resident(replace(plan, length=131_072, lanes=1024), HOPPER, 0) == 0  # neither shared memory nor registers


MEASURED = [
    # Length, lines, and two plans of bf16: kind, lanes, rows, cluster, and what part of a copy's speed an H200 had.
    # Of a ring, the blocks of a multiprocessor in place of the rows.
    (1001, 2, ("staged", 32, 4, 1, 0.915), ("staged", 64, 2, 1, 0.764)),
    (129, 2, ("staged", 2, 64, 1, 0.835), ("staged", 16, 8, 1, 0.654)),
    (513, 2, ("staged", 16, 8, 1, 0.899), ("staged", 64, 2, 1, 0.584)),
    (4096, 2, ("direct", 128, 1, 1, 0.992), ("direct", 160, 1, 1, 0.881)),
    (16384, 2, ("direct", 512, 1, 1, 0.963), ("staged", 512, 1, 1, 0.823)),
    (13832, 2, ("again", 512, 1, 1, 0.914), ("staged", 512, 1, 1, 0.742)),
    (29472, 0, ("again", 1024, 1, 1, 0.944), ("direct", 1024, 1, 1, 0.712)),
    (15311, 0, ("staged", 320, 1, 1, 0.965), ("staged", 256, 1, 4, 0.616)),
    (3000, 0, ("staged", 64, 2, 1, 1.060), ("staged", 96, 1, 4, 0.267)),
    (100, 0, ("staged", 2, 64, 1, 1.056), ("direct", 2, 64, 1, 0.390)),
    (65536, 0, ("direct", 256, 1, 8, 1.012), ("again", 1024, 1, 1, 0.913)),
    (131072, 0, ("ring", 512, 1, 4, 0.932), ("again", 256, 1, 8, 0.767)),
    (262144, 2, ("ring", 512, 1, 8, 0.854), ("again", 512, 1, 8, 0.792)),
    (50257, 2, ("ring", 320, 1, 2, 0.850), ("ahead", 512, 1, 1, 0.388)),
    (40000, 2, ("ring", 512, 1, 2, 0.983), ("again", 1024, 1, 1, 0.746)),
    (37005, 1, ("ring", 480, 1, 2, 0.960), ("ahead", 256, 1, 2, 0.648)),
    (10169, 2, ("ring", 224, 2, 1, 0.91), ("ring", 448, 2, 1, 0.77)),
    (10169, 2, ("ring", 160, 2, 1, 0.91), ("ring", 320, 2, 1, 0.88)),
    (105968, 1, ("ring", 416, 1, 8, 1.00), ("ring", 480, 1, 4, 0.92)),
    (61499, 2, ("ring", 256, 1, 4, 0.84), ("ring", 256, 1, 8, 0.61)),
    (20000, 1, ("direct", 512, 1, 1, 1.03), ("direct", 1024, 1, 1, 0.9)),
    # Vectors do not fill the lanes: that costs instructions alone.
    (392, 2, ("direct", 16, 8, 1, 1.018), ("staged", 16, 8, 1, 0.969)),
    (520, 2, ("direct", 16, 8, 1, 1.023), ("direct", 32, 4, 1, 0.943)),
    (136, 2, ("direct", 8, 16, 1, 0.961), ("staged", 4, 32, 1, 0.886)),
    (168, 0, ("direct", 16, 8, 1, 1.039), ("staged", 8, 16, 1, 1.035)),
    (200, 1, ("direct", 16, 8, 1, 1.045), ("direct", 8, 16, 1, 0.998)),
    (144, 1, ("direct", 8, 16, 1, 1.051), ("staged", 2, 64, 1, 1.009)),
    (152, 1, ("staged", 4, 32, 1, 1.010), ("direct", 4, 32, 1, 0.857)),
    (4104, 2, ("direct", 128, 1, 1, 1.038), ("direct", 64, 2, 1, 0.995)),
]


@pytest.mark.parametrize("case", MEASURED, ids=lambda case: f"{case[0]} with {case[1]} lines")
def test_the_model_prefers_what_was_measured_to_be_faster(case: tuple[Any, ...]) -> None:
    length, lines, fast, slow = case
    times = []
    for kind, lanes, rows, cluster, _ in (fast, slow):
        plan = RowPlan(length, "bf16", gcd(length, 8), lanes, rows, cluster, keep=kind not in ("again", "ahead"))
        if kind == "ring":
            plan = next(
                ring
                for ring in rings(length, "bf16", HOPPER, MAP, lines)
                if (ring.cluster, ring.lanes, ring.crowd, ring.one_place) == (cluster, lanes, rows, False)
            )
        elif kind in ("staged", "ahead"):
            plan = replace(plan, staged=True, bulk=True, stages=2 if kind == "ahead" else 0)
        times.append(launch_time(plan, for_rows(HOPPER, 2 * length), lines, MANY // (2 * length)))
    assert fast[-1] > slow[-1] and times[0] < times[1]


def test_a_number_of_threads_can_be_asked_for() -> None:
    for threads in (32, 64, 256, 1024):
        for length in (7, 5000, 100_000):
            assert choose(length, "bf16", HOPPER, 0, threads).many.threads == threads
    for threads in (0, 100, 2048):
        with pytest.raises(ValueError, match=f"1 to 1024 threads in waves of 32, got {threads}"):
            choose(5000, "bf16", HOPPER, 0, threads)


def test_blocks_that_sum_are_all_there_at_once() -> None:
    """A quarter of a multiprocessor has registers for a whole number of waves: 18 waves of 112 do not fit."""
    plan = RowPlan(3000, "bf16", 8, 192, sources=2, sums=2, staged=True, bulk=True, stages=3)
    assert registers(plan, 1) == 112 and resident(plan, HOPPER, 1) == 2 and register_limit(plan, HOPPER, 1) == 168
    for length in (64, 333, 1024, 3000, 4097, 5120, 8192, 16384, 32768):
        for dtype in DTYPES:
            for sums in (1, 2):
                plan = choose(length, dtype, HOPPER, 1, task=RowTask(2, sums=sums)).many
                assert registers(plan, 1) <= taking_limit(plan, HOPPER, 1) <= 255
                waves = -(-plan.threads * resident(plan, HOPPER, 1) // 32)
                assert -(-waves // 4) * 32 * register_limit(plan, HOPPER, 1) <= 65536 // 4


def test_gradients_take_what_was_measured_to_be_faster() -> None:
    """On an H200, in parts of the copy's speed: LayerNorm of 4096 columns 1.01 by rings and 0.97 ahead, of 2432 0.94
    and 1.02, of 12,936 0.95 and 0.72; RMSNorm of 4096 0.98 early and 0.91 where rows are read again."""
    layer, rms = (choose(4096, "bf16", HOPPER, 1, task=RowTask(2, sums=sums)).many for sums in (2, 1))
    assert layer.slots and rms.early
    assert choose(2432, "bf16", HOPPER, 1, task=RowTask(2, sums=2)).many.stages == 3
    for length in (3096, 5584, 8192, 12_936, 16_384):
        plan = choose(length, "bf16", HOPPER, 1, task=RowTask(2, sums=2)).many
        assert plan.slots and plan.crowd * plan.lanes <= 256 and plan.cluster <= 2


def test_long_gradients_have_few_waves() -> None:
    """On an H200, in parts of a copy's speed: RMSNorm of 10,611 and 13,901 bf16 has 0.94 by few waves, whose rings are
    not too full, and 0.88 by 14; of 10,240 and 27,296 0.98 and 0.96, and 0.91 and 0.89 without rings. LayerNorm of
    12,501 has 0.95 by 7 waves and 0.91 by 13, of 31,001 0.84 by 8 and 0.75 by 16."""
    for length in (5403, 6016, 7001, 10_240, 10_611, 13_901, 18_944, 18_987, 27_296, 32_001):
        plan = choose(length, "bf16", HOPPER, 1, task=backward_task(False)).many
        assert plan.slots and plan.crowd * plan.lanes <= 384 and plan.cluster <= 4
        assert plan.crowd * ring_bytes(plan) <= 165_000
    for length in (12_501, 14_611, 31_001):
        assert choose(length, "bf16", HOPPER, 1, task=backward_task(True)).many.lanes <= 256


def test_layernorms_of_f32_have_two_blocks_of_a_multiprocessor() -> None:
    """One waits for what a cluster's blocks tell each other while the other writes: 31,568 and 34,260 elements have
    0.97 of a copy's speed so on an H200, and 0.87 and 0.90 by one block."""
    for length in (31_568, 34_260):
        assert choose(length, "f32", HOPPER, 2).many.crowd == 2
    assert choose(52_976, "f32", HOPPER, 2).many.crowd == 1  # 1.01, and 0.96


def test_rings_are_not_too_full() -> None:
    """Of a copy's speed on an H200, with place for two rows and for three: LayerNorm of 80,000 f16 0.99 and 0.92; of
    RMSNorm of 33,333 the model knows less."""
    for length, lines in ((33_333, 1), (80_000, 2)):
        plan = choose(length, "bf16", HOPPER, lines).many
        assert plan.slots == 2 * plan.parts and plan.crowd * ring_bytes(plan) <= 100_000


def test_powers_from_rings_are_taken_by_all_quarters_alike() -> None:
    """Softmax of 112,345 f16 on an H200 (2026-11-17): 0.94 of a copy's speed by eight waves of three rows' rings, 0.89
    by seven."""
    for length, dtype in ((112_345, "f16"), (61_001, "bf16"), (31_001, "bf16"), (200_000, "bf16")):
        for plan in rings(length, dtype, HOPPER, MAP, 0):
            assert plan.crowd * plan.lanes in (256, 384, 512)


def test_long_softmaxes_stay_in_registers_of_clusters() -> None:
    """Softmax of 46,488, 71,528 and 109,944 f16 and 159,156 f32 on an H200 (2026-11-18): 1.05, 1.04, 0.99 and 1.00 of a
    copy's speed by clusters, and 0.86, 0.92, 0.86 and 0.96 by rings. Of 177,784 and 182,512 f32 a multiprocessor has a
    single block, which has 0.88, and rings 0.97 and 0.94."""
    for length, dtype in ((46_488, "f16"), (71_528, "f16"), (109_944, "f16"), (159_156, "f32")):
        plan = choose(length, dtype, HOPPER, 0).many
        assert plan.direct and plan.cluster == 8
    for length in (177_784, 182_512):
        assert choose(length, "f32", HOPPER, 0).many.slots


def test_clusters_of_one_line_have_other_blocks_beside_them() -> None:
    """RMSNorm of 30,259, 32,921 and 34,430 f32 on an H200 (2026-11-18): 0.98, 0.97 and 0.97 of a copy's speed, and
    0.90, 0.915 and 0.94 by small parts of a row that wait for what a cluster's blocks tell each other."""
    for length in (30_259, 32_921, 34_430):
        plan = choose(length, "f32", HOPPER, 1).many
        assert plan.slots and (plan.crowd > 1 or plan.cluster <= 4)


def test_long_rows_by_waves_between_powers_of_two() -> None:
    """On an H200 (2026-11-17): LayerNorm of 7,244 f32 at 1.01 of a copy's speed by 12 waves, 0.92 by four."""
    assert choose(7244, "f32", HOPPER, 2).many.lanes == choose(7244, "f32", HOPPER, 1).many.lanes == 384
    assert choose(13_000, "bf16", HOPPER, 2).many.lanes == 192  # 1.01, and 0.98 by eight waves that load it again


def test_some_rows_are_no_slower_than_few() -> None:
    """LayerNorm of 16 and 64 rows of 6,480 f32 takes 4.7 and 5.4 us by clusters of four, 5.0 and 6.7 by those of eight
    (H200, 2026-11-17); softmax of 200 rows of 3,245 f16 4.9 us by pieces, and 5.3 through shared memory."""
    cluster, pieces = choose(6480, "f32", HOPPER, 2), choose(3245, "f16", HOPPER, 0)
    assert cluster.few and cluster.few.cluster == 4 and cluster.limit == 128
    assert pieces.few and pieces.few.pieces and pieces.few.cluster == 1 and pieces.limit >= 200


@pytest.mark.parametrize(("length", "lines", "rows"), [(1077, 1, 442), (1077, 2, 300), (2191, 2, 183)])
def test_rows_whose_blocks_run_side_by_side_are_few(length: int, lines: int, rows: int) -> None:
    """H200, 2026-11-18: 4.8, 5.1 and 5.4 us by one row a block, 5.5, 5.7 and 5.6 by what is fastest for many."""
    choice = choose(length, "f16", HOPPER, lines)
    assert choice.few and choice.few.rows == 1 and rows <= choice.limit <= 512


def test_odd_rows_that_lines_go_with() -> None:
    """Measured on an H200: at 0.92 of a copy's speed by two or three rings, and 0.90 early."""
    ring = choose(8542, "f16", HOPPER, 2).many
    assert ring.crowd >= 2 and ring.lanes <= 192
    long = choose(115_562, "f32", HOPPER, 2).many
    assert long.cluster >= 8 and 2 * long.slots >= 3 * long.chunks


IN_ORDER = [
    ("bf16", 1, (3873, 14_567)),
    ("f16", 2, (5191, 7027, 9001)),
    ("f32", 1, (2611, 4301, 6797)),
    ("f32", 2, (2611, 3431, 6797, 9001)),
]


@pytest.mark.parametrize(("dtype", "lines", "lengths"), IN_ORDER)
def test_odd_rows_of_a_block_begin_at_one_place(dtype: str, lines: int, lengths: tuple[int, ...]) -> None:
    """On an H200 at 0.94 to 0.99 of a copy's speed, and at 0.88 to 0.96 by tiles and tables; of 64 MB 0.93 to 1.03, and
    0.85 to 0.95."""
    for length in lengths:
        plan = choose(length, dtype, HOPPER, lines).many
        assert plan.in_order and ring_places(plan, HOPPER) % plan.width == 0
        assert near_line_bytes(plan, lines) == 0 and plan.cluster == 1


def test_even_rows_that_lines_go_with_are_reached_by_8_bytes() -> None:
    """On an H200 at 0.99 to 1.04 of a copy's speed, and at 0.88 to 0.97 through rings and tiles."""
    cases = (2614, "f32", 1), (8002, "f32", 1), (9004, "bf16", 1), (5002, "f32", 2), (4204, "f16", 2)
    for length, dtype, lines in cases:
        plan = choose(length, dtype, HOPPER, lines).many
        assert plan.narrow and plan.width * plan.size == 8
    assert not choose(5003, "f32", HOPPER, 2).many.narrow and not choose(9004, "bf16", HOPPER, 2).many.narrow


def test_norms_of_f32_share_clusters_of_eight_by_two() -> None:
    """On an H200, RMSNorm of 27,760 f32: 0.95 of a copy's speed, and 0.89 by a cluster of its own."""
    assert choose(28_800, "f32", HOPPER, 1).many.crowd == 2


def test_rows_of_few_rounds_come_through_rings() -> None:
    """On an H200, of 64 MB: RMSNorm of 20,480 and 24,576 f32 has 0.95 of a copy's speed, and 0.88 and 0.84 without."""
    for length, lines in ((18_432, 2), (20_480, 1), (24_576, 1)):
        plan = choose(length, "f32", HOPPER, lines).many
        assert plan.slots and (plan.cluster, plan.crowd) == (8, 2)
    assert choose(16_384, "f32", HOPPER, 1).many.direct


def test_lines_that_registers_do_not_hold_are_in_shared_memory() -> None:
    """On an H200 at 0.9 of a copy's speed, and at 0.73 where L2 gives them for every row."""
    found = [plan for plan in rings(171_728, "f32", HOPPER, MAP, 2) if plan.cluster == 8 and plan.near_lines]
    plan = min(found, key=lambda plan: launch_time(plan, HOPPER_LONG, 2, 196))
    assert shared_bytes(plan, HOPPER, 2) <= HOPPER.shared
    assert launch_time(plan, HOPPER_LONG, 2, 196) < launch_time(replace(plan, near_lines=False), HOPPER_LONG, 2, 196)


def test_short_odd_rows_keep_their_lines() -> None:
    """On an H200, LayerNorm: 0.96 of a copy's speed and 0.76 where lines are loaded for every row; 0.93 and 0.89."""
    for length, dtype in ((131, "f16"), (189, "f16"), (1001, "bf16")):
        plan = choose(length, dtype, HOPPER, 2).many
        assert plan.lines_stay and plan.turns > 1 and plan.lanes <= 32
    assert choose(2001, "f16", HOPPER, 2).many.tile_rows == 2  # 0.95, and 0.86 with four
    assert not choose(243, "f32", HOPPER, 2).many.lines_stay  # 1.00, and 0.94 with lines kept


def test_short_rows_that_begin_at_pieces_are_loaded_straight() -> None:
    """On an H200, LayerNorm: at 0.96 to 1.02 of a copy's speed, and at 0.88 to 0.97 through shared memory."""
    for length, dtype, lanes in ((392, "bf16", 16), (520, "bf16", 16), (264, "f16", 8), (136, "bf16", 8)):
        plan = choose(length, dtype, HOPPER, 2).many
        assert plan.direct and plan.lanes == lanes
    for length, lines in ((624, 1), (320, 0), (232, 2), (484, 2), (732, 1)):  # 1.03 to 1.05, and 1.00 to 1.03
        assert choose(length, "f32", HOPPER, lines).many.direct


def test_short_rows_do_not_meet_in_banks() -> None:
    """On an H200 (2026-11-18), softmax of 257 bf16 has 1.02 of a copy's speed by eight lanes a row where the rows of a
    wave lie four apart in a tile, 0.80 where they lie side by side and meet in banks, and 0.985 by 16 lanes; LayerNorm
    of 255 f16 0.94 and 0.82, of 129 0.94 and 0.79."""
    for length, dtype, lines in ((257, "bf16", 0), (383, "f16", 0), (255, "f16", 2), (129, "f16", 2), (255, "bf16", 1)):
        plan = choose(length, dtype, HOPPER, lines).many
        assert plan.lanes == 8 and bank_passes(length, 2, 1, 8, 32) == 4
        assert bank_passes(length, 2, 1, 8, 32, plan.spread) <= 2
        beside = replace(plan, spread=1)
        rows = (128 << 20) // (2 * length)
        assert launch_time(beside, HOPPER, lines, rows) > 1.2 * launch_time(plan, HOPPER, lines, rows)


def test_rows_of_a_tile_that_lie_apart() -> None:
    """Each row is taken once, whichever are a wave's."""
    for plan in (RowPlan(129, "f16", 1, 8, 16, spread=4), RowPlan(129, "f16", 1, 16, 8, turns=4, spread=16)):
        taken = [plan.row_in_tile(group, turn) for turn in range(plan.turns) for group in range(plan.rows)]
        assert sorted(taken) == list(range(plan.tile_rows))
        together = 32 // plan.lanes
        assert [taken[i + 1] - taken[i] for i in range(together - 1)] == [plan.spread] * (together - 1)


def test_many_rows_have_no_narrower_accesses_than_they_could() -> None:
    for length, task in product((60, 124, 180, 188), (MAP, RowTask(sources=2, targets=2))):
        assert choose(length, "f32", HOPPER, 1, task=task).many.width == 4


def test_few_short_rows_have_more_threads() -> None:
    choice = choose(944, "bf16", HOPPER, 2)
    assert choice.few and choice.few.lanes > choice.many.lanes and choice.few.hints == PLAIN


LARGE = [
    # Length, type, lines, and what part of a copy's speed an H200 had with clusters of 16 blocks and of eight.
    (162_451, "f32", 2, 0.884, 0.830),
    (126_303, "f32", 2, 0.884, 0.873),
    (225_001, "f32", 2, 0.891, 0.715),
    (262_144, "f32", 2, 0.901, 0.807),
    (100_000, "f32", 2, 0.910, 0.947),
    (60_001, "f32", 2, 0.920, 0.931),
    (250_001, "f32", 1, 0.891, 0.697),
    (262_144, "f32", 1, 0.955, 0.773),
    (261_001, "f16", 2, 0.884, 0.879),
    (127_559, "f32", 2, 0.887, 0.870),
    (180_000, "f32", 1, 0.935, 0.928),
]


@pytest.mark.parametrize(("length", "dtype", "lines", "large", "eight"), LARGE)
def test_clusters_of_16_are_for_the_longest_rows_that_lines_go_with(
    length: int, dtype: str, lines: int, large: float, eight: float
) -> None:
    plan = choose(length, dtype, HOPPER, lines).many
    assert plan.cluster == (16 if large > eight else 8) and plan.crowd == 1
    assert plan.slots > plan.chunks
    assert ring_places(plan, HOPPER) == (7 if plan.cluster == 16 else 15)  # what an H200's driver says


def test_what_was_not_measured_has_no_clusters_of_16() -> None:
    for dtype, lines, task in (("bf16", 0, MAP), ("f32", 2, RowTask(2, 2)), ("f32", 1, RowTask(2))):
        assert all(plan.cluster <= 8 for plan in rings(250_001, dtype, HOPPER, task, lines))
    assert all(plan.cluster <= 8 for plan in rings(400_000, "f32", HOPPER, MAP, 0))  # no place for two rows


def test_short_rows_by_words() -> None:
    """On an H200: LayerNorm of f32 at 1.02 to 1.03 of a copy's speed, and 1.00 through shared memory; 1.02 and 0.96."""
    for length, dtype in ((154, "f32"), (155, "f32"), (302, "f32"), (1004, "bf16")):
        plan = choose(length, dtype, HOPPER, 2).many
        assert plan.narrow and plan.lanes == 32
    for length, lines in ((300, 2), (236, 1)):  # 0.99 and 1.02, and 0.95 through shared memory
        half = choose(length, "bf16", HOPPER, lines).many
        assert half.narrow and half.turns == 2 and half.lanes == 16
    for length in (178, 302):  # 0.96 and 0.95, and 0.91 by words
        assert choose(length, "f16", HOPPER, 2).many.lines_stay


def test_clusters_are_for_few_rows_only() -> None:
    """200 rows of 20,000 bf16 took 15 µs by clusters of eight on an H200, and 11 by those of four or a block each."""
    choice = choose(20_000, "bf16", HOPPER, 2)
    assert choice.few and choice.few.cluster == 8 and choice.limit == 64
    eight, four = (RowPlan(20_000, "bf16", 8, 320, cluster=cluster) for cluster in (8, 4))
    assert launch_time(eight, HOPPER_LONG, 2, 200) > launch_time(four, HOPPER_LONG, 2, 200)


def test_gradients_of_norms() -> None:
    """Odd rows come through rings, by threads that have few columns each."""
    for centred in (False, True):
        lengths = ((2049, "bf16"), (4097, "f16")) if centred else ((7003, "bf16"),)
        for length, dtype in ((1025, "f32"), (8201, "bf16"), *lengths):
            odd = choose(length, dtype, HOPPER, 1, task=backward_task(centred)).many
            assert odd.slots > odd.chunks and odd.cluster <= 2 and odd.held <= 40
            assert registers(odd, 1) <= register_limit(odd, HOPPER_LONG, 1)


def test_two_sums_of_long_odd_rows() -> None:
    """On an H200 (2026-11-17), LayerNorm of 16 bits in parts of a copy's speed: of 5,407 elements 0.90 by three
    clusters of two, 0.89 by two; of 11,115 and 13,001 0.91 and 0.92 by
    one cluster of two, whose rings are not too full, 0.86 and 0.85 by a block; of 22,001 0.87 by eight waves and 0.82
    by 11. Of 3,875 and 4,301 0.89 and 0.85 by two blocks with a wave that sends, 0.87 and 0.57 where waves that take
    rows send in turns; of 4,139 and 4,301 0.92 and 0.94 by three clusters of two, 0.88 by two blocks."""
    for length, cluster, crowd in ((4139, 2, 3), (5407, 2, 3), (11_115, 2, 1), (13_001, 2, 1), (22_001, 2, 1)):
        plan = choose(length, "bf16", HOPPER, 1, task=backward_task(True)).many
        assert (plan.cluster, plan.crowd) == (cluster, crowd) and plan.lanes <= 256
    for length in (3591, 3875, 4301, 4499):
        plan = choose(length, "bf16", HOPPER, 1, task=backward_task(True)).many
        assert plan.slots and plan.crowd > 1 and plan.threads == plan.lanes + 32


def test_rings_with_sums_are_neither_too_small_nor_too_full() -> None:
    """On an H200 (2026-11-17), in parts of a copy's speed: RMSNorm of 1,635 f32 has 0.96 by two blocks, whose rings
    have 104 KB, 0.87 by one; LayerNorm of 16,792 f16 0.87 with three rows, 0.82 with four, which are 134 KB, and of
    12,501 bf16 0.81 and 0.895, which are 100 KB."""
    for length, dtype, centred in ((1635, "f32", False), (2001, "f32", True)):
        assert choose(length, dtype, HOPPER, 1, task=backward_task(centred)).many.crowd == 2
    for length, centred, ahead in ((16_792, True, 3), (12_501, True, 4), (7533, False, 3), (16_791, True, 3)):
        plan = choose(length, "f16", HOPPER, 1, task=backward_task(centred)).many
        assert plan.slots == ahead * plan.parts
    for length in (2600, 3108, 4096, 8192):  # LayerNorm of f32 0.96, 0.98 and 0.99, and 0.89, 0.94 and 0.93 without
        assert choose(length, "f32", HOPPER, 1, task=backward_task(True)).many.slots == (4 if length > 3000 else 0)
    for length in (1432, 1600, 2640):  # 0.89, 0.93 and 0.98 of bf16, and 0.83, 0.84 and 0.89
        assert choose(length, "bf16", HOPPER, 1, task=backward_task(True)).many.slots


def test_early_rows_with_sums_have_enough_on_their_way() -> None:
    """RMSNorm on an H200 (2026-11-17), in parts of a copy's speed: of 1,505 and 3,257 bf16, of which 24 and 26 KB are
    on their way, 0.93 and 0.935 by rings, 0.86 and 0.88 early; of 2,203 and 4,601 f16, 35 and 37 KB, 0.87 and 0.86, and
    0.96."""
    for length, early in ((1505, False), (3257, False), (2203, True), (4601, True)):
        assert choose(length, "f16", HOPPER, 1, task=backward_task(False)).many.early is early


def test_a_warpgroup_lends_its_registers_to_long_gradients() -> None:
    """On an H200 (2026-11-17), LayerNorm in parts of a copy's speed, by waves of 232 registers and a warpgroup that
    sends, and by waves that have 168: bf16 of 31,001 and 40,001 0.85 and 0.81, and 0.79 and 0.78. It keeps more where
    what it does comes in the midst of several chunks of the longest rows."""
    for length, sending in ((31_001, SENDING), (40_001, SENDING), (60_001, SENDING), (255_393, SENDING_MUCH)):
        plan = choose(length, "bf16", HOPPER, 1, task=backward_task(True)).many
        assert plan.lends and plan.threads == plan.lanes + 128 and plan.lanes % 128 == 0
        assert registers(plan, 1) <= (most := taking_limit(plan, HOPPER, 1))
        assert sending_registers(plan) == sending
        assert most * plan.lanes + sending * 128 <= register_limit(plan, HOPPER, 1) * plan.threads <= 65536
    short = choose(14_209, "bf16", HOPPER, 1, task=backward_task(True)).many
    assert not short.lends and taking_limit(short, HOPPER, 1) == register_limit(short, HOPPER, 1)


def test_longer_gradients_share_rows_by_clusters() -> None:
    """On an H200 (2026-11-18), LayerNorm of 28,001 bf16 has 0.89 of a copy's speed by two blocks and 0.86 by four, of
    31,001 0.84 and 0.845; of 60,001 0.77 by four, 0.84 by eight and 0.66 by 16, RMSNorm of 60,001 0.87, 0.915 and 0.73,
    of 116,384 0.85 by eight and 0.925 by 16. Rows of one place in a piece follow each other where more than two blocks
    share them, so that clusters need not be a multiple of eight: RMSNorm of 60,001 had 0.56 by eight blocks without."""
    for length, centred, cluster in (
        (28_001, True, 2), (31_001, True, 4), (60_001, True, 8), (60_001, False, 8), (116_384, False, 16)
    ):  # fmt: skip
        plan = choose(length, "bf16", HOPPER, 1, task=backward_task(centred)).many
        assert plan.cluster == cluster and plan.slots // plan.parts >= (3 if cluster == 2 else 4)
        assert plan.one_place == (cluster > 2 and length % 8 > 0)
    for length, centred in ((131_072, True), (225_001, True), (315_233, False)):
        plan = choose(length, "bf16", HOPPER, 1, task=backward_task(centred)).many
        assert plan.cluster == 16
        assert ring_places(plan, HOPPER) <= partial_rows(length, 1000)
    with pytest.raises(TooLong, match="too long for sums of their columns"):
        choose(TOO_LONG + 1, "bf16", HOPPER, 1, task=backward_task(False))


def test_gradients_leave_registers_for_sums_that_move_on() -> None:
    """Those of 110,428 bf16 have 0.91 of a copy's speed by 16 blocks on an H200 (2026-11-19), and 0.86 by eight, whose
    threads have seven vectors; of 250,001 0.75 with lines in shared memory, and 0.58 in registers. Lines are f32 where
    there is place, up to 32 elements: of 50,257 0.91, and 0.89 otherwise; of 40,001, with 40, 0.93 and 0.945."""
    for length, cluster, near, wide in (
        (40_001, 4, False, False), (50_257, 8, False, True), (110_428, 16, False, True), (225_001, 16, False, False),
        (250_001, 16, True, False), (262_144, 16, True, False),
    ):  # fmt: skip
        plan = choose(length, "bf16", HOPPER, 1, task=backward_task(True)).many
        assert (plan.cluster, plan.near_lines, widens_lines(plan, HOPPER, 1)) == (cluster, near, wide)
        assert plan.once_in_code == near
    plan = choose(130_001, "bf16", HOPPER, 1, task=backward_task(True)).many
    assert edge_bytes(plan, HOPPER) >= 4 * 2 * (plan.iterations * plan.lanes // 32 + 1 + 8) + 8 * 8


def test_the_longest_gradients_come_in_finer_chunks() -> None:
    """Memory waits less for a chunk that has been read, and rings have place for three rows: see `FINEST` and
    `NEAR_KEPT`."""
    for length, chunks in ((225_001, 4), (255_393, 4), (262_144, 8)):
        plan = choose(length, "bf16", HOPPER, 1, task=backward_task(True)).many
        assert plan.chunks == chunks and 3 * plan.parts <= plan.slots < 4 * plan.parts


def test_lines_come_before_a_second_row_where_one_keeps_the_memory_busy() -> None:
    """LayerNorm of 600 rows of 51,001 f16 has 0.94 of a copy's speed so on an H200 (2026-11-19), and 0.915 otherwise;
    of 490 of 65,001 bf16 0.94 and 0.97."""
    for lines, length, dtype, first in (
        (2, 251_412, "bf16", True), (2, 200_001, "bf16", True), (2, 51_001, "f16", True), (2, 65_001, "bf16", False),
        (1, 111_111, "f16", False),
    ):  # fmt: skip
        assert choose(length, dtype, HOPPER, lines).many.lines_first == first


def test_short_gradients_that_fill_no_lanes_have_a_wave_a_row() -> None:
    """On an H200 (2026-11-17), LayerNorm of 616, 824 and 1,048 bf16 has 0.87, 0.905 and 0.90 of a copy's speed by waves
    that send for rows, and 0.80, 0.855 and 0.80 early."""
    for length in (616, 824, 1048):
        plan = choose(length, "bf16", HOPPER, 1, task=backward_task(True)).many
        assert plan.slots and (plan.lanes, plan.rows) == (32, 8)
    for length in (512, 768, 1024, 1256):
        assert not choose(length, "bf16", HOPPER, 1, task=backward_task(True)).many.slots


def test_two_lines_of_short_f32_rows_cost_more_through_shared_memory() -> None:
    """LayerNorm of 56 f32 has 1.04 of a copy's speed by eight lanes on an H200, 1.00 through shared memory; of 232 1.04
    and 1.00. A softmax of 56 has 1.04 and 1.025."""
    for length, lanes, lines in ((56, 8, 2), (232, 16, 2), (56, 8, 0)):
        plan = choose(length, "f32", HOPPER, lines).many
        assert plan.direct and plan.lanes == lanes


def test_places_for_sums_of_odd_rows() -> None:
    """Rows of a block all begin at one place in a piece: of 30 clusters of four 24 take rows."""
    plan = RowPlan(31_001, "bf16", 8, 256, cluster=4, slots=4, sources=2, sums=2, keep=False)
    assert ring_places(plan, HOPPER) == 30
    full, more = (launch_time(plan, HOPPER_LONG, 1, rows) for rows in (24, 25))
    assert more > 1.1 * full
    full, more = (launch_time(replace(plan, length=31_000), HOPPER_LONG, 1, rows) for rows in (24, 25))
    assert more < 1.1 * full


def test_gradients_of_short_odd_norms_come_early() -> None:
    """On an H200, RMSNorm of 257, 1001, 2047 and 4097 bf16: 0.93, 0.94, 0.93 and 0.91 of a copy's speed, and 0.84,
    0.88, 0.86 and 0.89 through rings or shared memory. Of 511 it is 0.75 and 0.88, since all vectors are masked."""
    for length in (257, 1001, 2047, 4097):
        plan = choose(length, "bf16", HOPPER, 1, task=backward_task(False)).many
        assert plan.early and plan.shifted and plan.keep
        assert plan.crowd * plan.rows * 2 * length * plan.size > 30_000  # bytes on their way: 0.73 with 16,000
        assert HOPPER.processors * plan.crowd <= partial_rows(length, 1 << 20)  # 0.76 with more blocks than sums
    for length, dtype in ((511, "bf16"), (1001, "f32")):
        assert not choose(length, dtype, HOPPER, 1, task=backward_task(False)).many.early


def test_sums_of_short_odd_rows_come_in_tiles_of_pieces() -> None:
    """On an H200, LayerNorm of 131, 257, 333 and 511 bf16: 0.95, 0.94, 0.92 and 0.93 of a copy's speed, and 0.65, 0.62,
    0.75 and 0.91 where elements are read one by one. All tiles begin at one place in a piece."""
    for length, centred in ((91, True), (131, True), (257, True), (333, True), (511, True), (699, True), (131, False)):
        plan = choose(length, "bf16", HOPPER, 1, task=backward_task(centred)).many
        assert plan.staged and plan.shifted and plan.lanes <= HOPPER.wave
        assert plan.tile_rows % plan.width == 0 and plan.rows % plan.width == 0
        assert resident(plan, HOPPER, 1) == plan.crowd
    assert choose(257, "f32", HOPPER, 1, task=backward_task(True)).many.width == 1  # 0.98, and 0.92 in tiles of pieces
    for length in (1031, 1143, 1273):  # by waves that read two rows again 0.98, 0.97 and 0.96, and 0.91, 0.85 and 0.905
        plan = choose(length, "bf16", HOPPER, 1, task=backward_task(True)).many
        assert plan.staged and plan.shifted and (plan.lanes, plan.turns, plan.keep) == (HOPPER.wave, 2, False)
    assert choose(1275, "bf16", HOPPER, 1, task=backward_task(True)).many.slots  # of 1,399 0.935, and 0.88 in tiles


def test_enough_of_two_odd_sources_is_on_its_way() -> None:
    """Softmax's gradient on an H200: of 11,455 bf16 0.99 of a copy's speed with three blocks that load it again, 0.79
    with two; of 7,363 0.94 with six, 0.77 with three; of 12,001 0.83 with six, whose rows the first-level cache does
    not keep."""
    for length in (6601, 7001, 7363, 8001, 10_001, 11_455):
        plan = choose(length, "bf16", HOPPER, 0, task=RowTask(sources=2)).many
        assert plan.pieces and not plan.keep
        assert 135_000 < resident(plan, HOPPER, 0) * 2 * length * plan.size < 250_000


def test_rows_that_are_only_read() -> None:
    """Few rounds lose much of the last one, and a cluster gains nothing: 645 rows of 103,975 bf16 have 1.00 of a read's
    speed where all have a block at once, and 0.80 to 0.86 in two or three rounds. 833 rows of 80,477 have 1.03 by 160
    threads a row, 0.95 by 512, in more than two rounds, and 0.83 by 192, of which registers have 6 blocks and not 7."""
    for length, lanes in ((50_257, 96), (80_477, 160), (103_975, 256), (131_072, 256)):
        plan = choose(length, "bf16", HOPPER, 0, task=FORWARD).many
        assert plan.cluster == 1 and plan.lanes == lanes and plan.passes
        assert resident(plan, HOPPER, 0) * HOPPER.processors >= (128 << 20) // (2 * length)
    assert resident(RowPlan(80_477, "bf16", 8, 192, keep=False, pieces=True, **FORWARD.fields), HOPPER, 0) == 6
    for length in (300_000, 1 << 20):
        assert resident(choose(length, "bf16", HOPPER, 0, task=FORWARD).many, HOPPER, 0)
    for length in (1497, 1791, 2501):  # 1,791 bf16: 1.02 of a read's speed, and 0.80 by a block a row
        plan = choose(length, "bf16", HOPPER, 0, task=FORWARD).many
        assert plan.rows > 1 and plan.keep and plan.pieces


@pytest.mark.parametrize("length", [4200, 5000, 7000])
def test_blocks_that_sum_rows_they_read_again_have_registers(length: int) -> None:
    """With 80 registers ptxas spilled 200 bytes of an RMSNorm of 7000, which took three times as long."""
    plan = choose(length, "bf16", HOPPER, 1, task=RowTask(sources=2, sums=1)).many
    assert register_limit(plan, HOPPER, 1) >= 112


def test_sums_and_losses_take_what_was_measured_to_be_faster() -> None:
    """On an H200, in parts of a copy's speed: gradients of RMSNorm of 1,256 1.00 ahead and 0.83 early. Losses of 1,031
    bf16 have 1.07 of a read's speed by half a wave, and 0.95 by one."""
    assert choose(1256, "bf16", HOPPER, 1, task=backward_task(False)).many.stages
    for length in (1031, 1157, 1338):  # 1,157 and 1,338: 1.04 by half a wave, 0.97 and 0.99 by one
        assert choose(length, "bf16", HOPPER, 0, task=FORWARD).many.lanes == 16
