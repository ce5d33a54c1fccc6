"""Plans of longer rows that begin anywhere and that lines go with: rings whose blocks take rows in their order, and
accesses of 8 bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from flydsl.kernels.blocks.cache_hints import ONCE
from flydsl.kernels.blocks.row_machine import Machine
from flydsl.kernels.blocks.row_plan import (
    ACCESS_BYTES,
    DTYPES,
    MAP,
    MOST_NARROW,
    RowPlan,
    RowTask,
    near_line_bytes,
    register_limit,
)
from flydsl.kernels.blocks.summing_plans import RING_CHUNKS, RING_ITERATIONS, ring_of

IN_ORDER = {(1, 2): (7600, 40_000), (1, 4): (8193, 40_000), (2, 2): (8400, 21_000), (2, 4): (8193, 44_100)}
"""By the number of lines and the bytes of an element, those of a row for which rings in order are faster than tiles
whose lines stay, and than tables of lines: on an H200 (2026-11-18), LayerNorm of 3,701 and 5,191 elements of 16 bits
has 0.94 of a copy's speed, and 0.97 and 0.89 by tiles, of 10,001 and 11,777 0.95 and 0.93, and 0.95 and 0.94 by tables,
of 11,001 and 14,290 f32 0.95 and 0.89, and 0.94 and 0.94; RMSNorm of 3,301 and 3,873 elements of 16 bits has 0.94 and
0.975, and 0.98 and 0.95, of 18,001 and 22,001 0.96 and 0.92, and 0.95 and 0.96."""
CROWDS = {2: (2,), 4: (1, 2)}
"""Blocks of a multiprocessor, by the bytes of an element: one of 16 bits, four, and clusters were slower."""
MOST_BY_WORDS = {(1, 2): 20_000, (1, 4): 33_000, (2, 2): 8600, (2, 4): 21_000}
"""By the number of lines and the bytes of an element, those of a row that is reached 8 bytes at once, at most: RMSNorm
of 2,614, 5,002 and 8,002 f32 has 1.02 to 1.04 of a copy's speed so on an H200 (2026-11-18), of 5,196 and 9,004 bf16
1.03 and 1.02, LayerNorm of 2,610 to 5,002 f32 1.00, of 4,204 f16 0.99 and of 5,196 bf16 0.93; through rings or tiles
all had 0.88 to 0.98."""
MOST_HELD = 32
"""Elements of such a row that a thread has at most."""
LANES = 128, 384
"""Threads that take rows, at least and at most."""
SPARE = 72
"""Registers that a thread needs beside all that it has of lines: with 56, LayerNorm of 12,345 bf16 has 0.89 of a copy's
speed on an H200 (2026-11-18), with 112 0.91 and 0.96 (of 256 MB and of 64 MB)."""


def ordered_rings(length: int, dtype: str, machine: Machine, task: RowTask, lines: int) -> Iterator[RowPlan]:
    """Yield the rings with so many blocks, a multiple of a piece's elements, that every block's rows begin at one place
    in a piece: registers then have lines for all of them, as they go with that place."""
    width = ACCESS_BYTES // (DTYPES[dtype].width // 8)
    element = ACCESS_BYTES // width
    least, most = IN_ORDER.get((lines, element), (1, 0))
    if task != MAP or length % width == 0 or not least <= length * element <= most:
        return
    start = RowPlan(length, dtype, width, machine.wave, keep=False, hints=ONCE, slots=1, one_place=True, in_order=True)
    for crowd in CROWDS[element]:
        plan = replace(start, crowd=crowd)
        counts = {-(-plan.share // each // machine.wave) * machine.wave for each in RING_ITERATIONS}
        for lanes in sorted(count for count in counts if LANES[0] <= count <= LANES[1]):
            ring = replace(plan, lanes=lanes)
            words = lines * ACCESS_BYTES // 4 * ring.iterations
            if near_line_bytes(ring, lines) > 0 or words + SPARE > register_limit(ring, machine, lines):
                continue
            found = [ring_of(replace(ring, chunks=chunks), machine, lines) for chunks in RING_CHUNKS]
            yield from [way for way in found if way and way.slots >= 2 * way.parts][:1]


def by_words(plan: RowPlan, lines: int) -> Iterator[RowPlan]:
    """Yield the plan whose waves reach longer rows by 8 bytes at once."""
    known = range(MOST_NARROW + 1, MOST_BY_WORDS.get((lines, plan.size), 0) + 1)
    alone = plan == replace(plan, rows=1, cluster=1, **MAP.fields) and plan.held <= MOST_HELD
    if alone and 2 * plan.width * plan.size == ACCESS_BYTES and plan.length * plan.size in known:
        yield replace(plan, words=True, hints=ONCE)
