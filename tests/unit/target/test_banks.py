"""Banks and phases of shared memory, and the search for what removes conflicts."""

from __future__ import annotations

import random

import pytest

from flydsl.layout.swizzle import Swizzle
from flydsl.target.bank_fixes import ArrayPlace, Fix, Padding, WaveAccess, find_fix, wave_cycles
from flydsl.target.banks import extra_cycles, phases_of
from flydsl.target.target import known_archs, parse_target
from tests.support.bank_reference import PHASES, brute_force_cycles

TARGETS = ("gfx942", "gfx950", "gfx1201", "gfx1250", "sm_90a")


@pytest.mark.parametrize("arch", known_archs())
@pytest.mark.parametrize("kind", ["read", "write", "atomic"])
def test_phases_partition_the_wave(arch: str, kind: str) -> None:
    target = parse_target(arch)
    for size in (1, 2, 4, 8, 12, 16):
        lanes = [lane for phase in phases_of(target, kind, size) for lane in phase]
        assert sorted(lanes) == list(range(target.wave_size))


@pytest.mark.parametrize(("arch", "kind", "size"), PHASES)
def test_phases_are_those_of_the_reference(arch: str, kind: str, size: int) -> None:
    _, expected = PHASES[arch, kind, size]
    assert {frozenset(p) for p in phases_of(parse_target(arch), kind, size)} == {frozenset(p) for p in expected}


@pytest.mark.parametrize("arch", TARGETS)
def test_conflicts_of_random_addresses(arch: str) -> None:
    """Any aligned addresses, any set of lanes: the count is that of serving words one by one."""
    target, rng = parse_target(arch), random.Random()
    for _ in range(60):
        kind, size = rng.choice(("read", "write")), rng.choice((1, 2, 4, 8, 16))
        lanes = rng.sample(range(target.wave_size), rng.randint(1, target.wave_size))
        reach = rng.choice((64, 512, 4096))
        addresses = {lane: rng.randrange(reach) * size for lane in lanes}
        assert extra_cycles(target, kind, size, addresses) == brute_force_cycles(arch, kind, size, addresses)


def test_the_same_word_is_shared_by_reads_and_not_by_atomics() -> None:
    target = parse_target("gfx942")
    everyone = dict.fromkeys(range(64), 128)
    assert extra_cycles(target, "read", 4, everyone) == 0
    assert extra_cycles(target, "atomic", 4, everyone) == 2 * 31


def test_an_access_wider_than_128_bits_is_several() -> None:
    target = parse_target("gfx1201")
    addresses = {lane: lane * 128 for lane in range(32)}
    one = extra_cycles(target, "read", 16, addresses)
    assert one == 4 * 7
    assert extra_cycles(target, "read", 32, addresses) == 2 * one


def columns(rows: int, row_bytes: int, size: int, column: int, wave: int) -> WaveAccess:
    """Lanes go down a column of a row-major tile."""
    return WaveAccess("read", size, tuple((lane, (lane % rows) * row_bytes + column * size) for lane in range(wave)))


@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize(("element", "size"), [(4, 4), (2, 8), (2, 16), (4, 16)])
def test_a_swizzle_is_found_for_columns_and_rows(arch: str, element: int, size: int) -> None:
    target = parse_target(arch)
    wave, row_bytes = target.wave_size, 256
    array = ArrayPlace(1024, 64 * row_bytes, element)
    down = [columns(wave, row_bytes, size, column, wave) for column in (0, 3)]
    across = [WaveAccess("write", size, tuple((lane, lane * size) for lane in range(wave)))]
    assert sum(wave_cycles(target, array, access) for access in down) > 0
    found = find_fix(target, array, [*down, *across])
    fix = found.change
    assert found.left == 0
    assert isinstance(fix, Swizzle)
    for access in (*down, *across):
        moved = {
            lane: array.start + fix(offset // element) * element + offset % element for lane, offset in access.lanes
        }
        assert brute_force_cycles(arch, access.kind, size, moved) == 0


def test_a_swizzle_stays_inside_the_array_and_keeps_accesses_whole() -> None:
    target = parse_target("gfx942")
    array = ArrayPlace(0, 64 * 256, 2)
    fix = find_fix(target, array, [columns(64, 256, 16, 0, 64)]).change
    assert isinstance(fix, Swizzle) and fix.base >= 3
    elements = array.size // array.element
    assert sorted(fix(i) for i in range(elements)) == list(range(elements))


def test_padding_where_no_swizzle_can_be() -> None:
    """25 rows: no power of two divides the array enough for a swizzle, padding still helps."""
    target = parse_target("sm_90a")
    array = ArrayPlace(0, 25 * 128 + 4, 4)
    access = columns(25, 128, 4, 0, 25)
    fix = find_fix(target, array, [access]).change
    assert isinstance(fix, Padding)
    assert wave_cycles(target, array, access, fix) == 0
    assert wave_cycles(target, array, access) == 24


def test_nothing_helps_when_lanes_want_one_word_for_themselves() -> None:
    target = parse_target("gfx942")
    access = WaveAccess("atomic", 4, tuple((lane, 0) for lane in range(64)))
    assert find_fix(target, ArrayPlace(0, 4096, 4), [access]) == Fix(None, 62)


def test_96_bit_reads_of_gfx950_have_banks_and_groups_of_their_own() -> None:
    target, rng = parse_target("gfx950"), random.Random(5)
    assert extra_cycles(target, "read", 12, {lane: lane * 12 for lane in range(64)}) == 8, "one in each group"
    for _ in range(40):
        addresses = {lane: rng.randrange(512) * 4 for lane in rng.sample(range(64), rng.randint(1, 64))}
        assert extra_cycles(target, "read", 12, addresses) == brute_force_cycles("gfx950", "read", 12, addresses)


def test_padding_follows_the_rows_that_lanes_step_by() -> None:
    """Rows of 65 halves: one more makes each row 33 words, and no power of two is near."""
    target = parse_target("sm_90a")
    array = ArrayPlace(0, 64 * 65 * 2, 2)
    down = [WaveAccess("read", 2, tuple((lane, (lane + 32 * half) * 130) for lane in range(32))) for half in (0, 1)]
    across = [WaveAccess("write", 2, tuple((lane, lane * 2) for lane in range(32)))]
    found = find_fix(target, array, [*down, *across])
    assert sum(wave_cycles(target, array, access) for access in down) > 0
    assert found.left == 0
    of_66 = [WaveAccess("read", 2, tuple((lane, lane * 132) for lane in range(32)))]
    assert sum(wave_cycles(target, array, access) for access in of_66) == 0


def test_padding_may_make_accesses_narrower() -> None:
    target = parse_target("gfx942")
    padding = Padding(64, 2, 8)
    assert str(padding) == "2 elements of padding after every 64, with accesses of 8 bytes"
    array = ArrayPlace(0, 64 * 256, 4)
    access = columns(64, 256, 16, 0, 64)
    halves = [
        {lane: row // 256 * 264 + row % 256 + start for lane, row in access.lanes} for start in (0, 8)
    ]  # fmt: skip
    wanted = sum(brute_force_cycles("gfx942", "read", 8, addresses) for addresses in halves)
    assert wave_cycles(target, array, access, padding) == wanted


def test_the_best_there_is_where_nothing_removes_all() -> None:
    """128-bit writes across and 32-bit reads down cannot both be free of conflicts in rows of any length."""
    target = parse_target("sm_90a")
    array = ArrayPlace(0, 64 * 256, 4)
    write = WaveAccess("write", 16, tuple((lane, lane * 16) for lane in range(32)))
    read = columns(32, 256, 4, 0, 32)
    found = find_fix(target, array, [write, read, read])
    assert found.change is not None and 0 < found.left < 2 * 3, "pieces of four words would leave six"
    assert sum(wave_cycles(target, array, access, found.change) for access in (write, read, read)) == found.left
