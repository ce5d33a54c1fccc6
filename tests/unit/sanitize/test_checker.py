"""The checker itself, fed with random accesses, against a reference that remembers every access there was."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from flydsl.backends.host.thread_loops import ATOMIC, ORDERING, READ, WRITE
from flydsl.base import native_names as names
from flydsl.compiler.cache import compiled_code
from flydsl.compiler.running.sanitized_arrays import ArrayInterval, WatchedMemory
from flydsl.compiler.running.sanitized_executable import load_checker
from flydsl.native.constants import REPORT_WORDS
from flydsl.runtime import host_pool

RACE = 2
WAVE_SHIFT = 2
UPDATE = READ | WRITE | ATOMIC
BASE = 4096
"""Where the watched array lies; the checker only compares addresses."""


@dataclass(frozen=True)
class Step:
    """An access, or a meeting of a whole block or of its waves."""

    what: str
    thread: int = 0
    offset: int = 0
    size: int = 4
    kind: int = READ


@dataclass(frozen=True)
class Seen:
    """An access that happened, for the reference."""

    step: Step
    block: int
    epoch: int
    wave_epoch: int
    number: int


def _native(name: str, result: Any, *arguments: Any) -> Any:
    host_pool.start(compiled_code.pool_object)
    return ctypes.CFUNCTYPE(result, *arguments)(load_checker().address(name))


def checked(blocks: list[list[Step]], elem: int = 4, count: int = 16) -> tuple[int, int, int] | None:
    """(block, step, other site) of the race that the checker finds."""
    word = ctypes.c_int64
    access = _native(names.SANITIZER_ACCESS, ctypes.c_bool, *[word] * 8)
    meet = {"block": _native(names.SANITIZER_BARRIER, None), "wave": _native(names.SANITIZER_WAVE, None)}
    launch = _native(names.SANITIZER_LAUNCH, ctypes.c_int32, *[ctypes.c_void_p] * 3, word, word, word)
    begin = _native(names.SANITIZER_BEGIN, None, word, ctypes.c_void_p, word, ctypes.c_void_p, word, ctypes.c_void_p)
    memory = WatchedMemory([ArrayInterval("a", "f32", elem, BASE, (count * 4 // elem,), (1,))], cells=True)
    report = (word * REPORT_WORDS)()
    found: list[tuple[int, int]] = []
    sites = iter(range(1 << 20))

    def run(args: int, x: int, y: int, z: int, dims: int, scratch: int) -> int:
        for number, step in enumerate(blocks[x]):
            site = next(sites)
            if step.what != "access":
                meet[step.what]()
            elif access(site, BASE + step.offset, step.size, step.kind, step.thread, 0, -1, 0):
                found.append((x, number))
                return 1
        return 0

    parameters = [ctypes.c_void_p, word, word, word, ctypes.c_void_p, ctypes.c_void_p]
    kernel = ctypes.CFUNCTYPE(ctypes.c_int32, *parameters)(run)
    dims = (word * 7)(len(blocks), 1, 1, 16, 1, 1, 0)
    begin(
        RACE, ctypes.addressof(memory.ranges), 1, ctypes.addressof(memory.regions), memory.region_count,
        ctypes.addressof(report),
    )  # fmt: skip
    status = launch(ctypes.cast(kernel, ctypes.c_void_p), None, ctypes.addressof(dims), 0, 0, WAVE_SHIFT)
    assert bool(status) == bool(found)
    return (*found[0], report[9] & 0xFFFFF) if found else None


def races(blocks: list[list[Step]]) -> Iterator[tuple[int, int, set[int]]]:
    """(block, step, sites in conflict with it) of every access that races with an earlier one."""
    seen: list[Seen] = []
    number = 0
    for block, steps in enumerate(blocks):
        epoch = wave_epoch = number
        for index, step in enumerate(steps):
            number += 1
            if step.what == "block":
                epoch = wave_epoch = number
            elif step.what == "wave":
                wave_epoch = number
            else:
                now = Seen(step, block, epoch, wave_epoch, number)
                conflicts = {old.number - 1 for old in seen if _conflict(old, now)}
                if conflicts:
                    yield block, index, conflicts
                seen.append(now)


def _conflict(old: Seen, now: Seen) -> bool:
    a, b = old.step, now.step
    if a.offset >= b.offset + b.size or b.offset >= a.offset + a.size or not (a.kind | b.kind) & WRITE:
        return False
    if a.kind & b.kind & ATOMIC:
        return False
    if old.block != now.block:
        return True
    if a.thread == b.thread:
        return False
    one_wave = a.thread >> WAVE_SHIFT == b.thread >> WAVE_SHIFT
    return old.number > (now.wave_epoch if one_wave else now.epoch)


def _random_blocks(rng: random.Random, make: Callable[[random.Random], Step], waves: bool) -> list[list[Step]]:
    meetings = ["block", "wave"] if waves else ["block"]
    return [
        [Step(rng.choice(meetings)) if rng.random() < 0.3 else make(rng) for _ in range(rng.randrange(1, 14))]
        for _ in range(rng.randrange(1, 4))
    ]


def _elements(rng: random.Random) -> Step:
    kind = rng.choices((READ, WRITE, UPDATE), (6, 2, 2))[0]
    return Step("access", rng.randrange(8), rng.randrange(12) * 4, 4, kind)


def _any_bytes(rng: random.Random) -> Step:
    kind = rng.choices((READ, WRITE, UPDATE), (6, 2, 2))[0]
    size = rng.choice((1, 2, 3, 4, 8, 12))
    return Step("access", rng.randrange(8), rng.randrange(52), size, kind)


@pytest.mark.parametrize("seed", range(8))
def test_every_race_on_whole_elements_is_found_at_once(seed: int) -> None:
    rng = random.Random(seed)
    silent = 0
    for _ in range(300):
        blocks = _random_blocks(rng, _elements, waves=False)
        first = next(races(blocks), None)
        found = checked(blocks)
        assert (found and found[:2]) == (first and first[:2]), blocks
        assert found is None or first is None or found[2] in first[2]
        silent += found is None
    assert 30 < silent < 270


@pytest.mark.parametrize("seed", range(8))
def test_no_alarm_is_false(seed: int) -> None:
    rng = random.Random(100 + seed)
    elem = rng.choice((1, 2, 4, 8))
    for _ in range(300):
        blocks = _random_blocks(rng, _any_bytes, waves=True)
        found = checked(blocks, elem)
        if found is not None:
            conflicts = {(block, step): sites for block, step, sites in races(blocks)}
            assert found[:2] in conflicts, blocks
            # Accesses of one thread to different bytes of an element share a slot, which remembers the last line.
            assert elem > 1 or found[2] in conflicts[found[:2]], blocks


def test_an_ordering_atomic_orders_blocks() -> None:
    """Each block writes a part and counts itself; the last one reads all parts."""
    counter, ordering = 32, UPDATE | ORDERING

    def blocks(kind: int) -> list[list[Step]]:
        first = [[Step("access", 0, 4 * i, 4, WRITE), Step("access", 0, counter, 4, kind)] for i in range(3)]
        return [*first, [Step("access", 0, counter, 4, kind), *(Step("access", 0, 4 * i) for i in range(3))]]

    assert checked(blocks(ordering)) is None
    assert checked(blocks(UPDATE)) == (3, 1, 0)
    late = blocks(ordering)
    late[2].append(Step("access", 0, 0, 4, WRITE))
    assert checked(late) is not None


def test_launches_are_ordered() -> None:
    blocks = [[Step("access", 0, 0, 4, WRITE)]]
    assert checked(blocks) is None
    assert checked(blocks) is None
