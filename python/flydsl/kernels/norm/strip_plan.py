"""Plans of gradients of norms whose rows are so long that every block has a strip of columns of all rows.

docs/rows.md says what they gain. A strip's sums stay in registers until the end, and a row lies in the shared memory of
all blocks together: it is divided more finely than among the blocks of a cluster, and over all multiprocessors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import lcm

from flydsl.kernels.blocks.row_machine import HOPPER, Machine
from flydsl.kernels.blocks.row_plan import ACCESS_BYTES, DTYPES, SECTOR, RowPlan

WAVE, WORD = 32, 4
UNIT = 16
"""Columns that no two blocks share: in all types they begin at a sector where their row does."""
TAKING, SENDING, TELLING, AWAITING, HELPING = 16, 4, 2, 4, 12
"""Waves of a block that take rows; those that send for rows, that tell other blocks what was found in them, and that
await what others tell, each for every so many-th row; and all of these, with two that do nothing: whole warpgroups,
which alone can lend registers. One wave sends for a row in 0.34 us, of which the memory brings a strip in less."""
GROUPS = 4, 2, 1
"""Of taking waves: each takes every so many-th row. LayerNorm's gradient of 262,144 bf16 took 118 us by two groups on
an H200 (2026-11-19) where four took 114."""
FEW_WORDS = 12
"""Of a lane, up to which more groups are better: with 15, which 262,144 f32 have, four took 220 us and two 218.6."""
REGISTERS, LENT = 65536, 40
"""Of a multiprocessor, and those that a helping thread keeps."""
MOST_HELD, MOST_KEPT = 64, 56
"""Sums that a taking thread has in registers where the weight is in shared memory, and sums and elements of the weight
where it is not."""
LATE = 0.6
"""Part of the slots whose rows wait for their totals, which come from block to block in 5 to 8 us: LayerNorm of 262,144
bf16 took 172, 146, 124 and 121 us where 8, 12, 16 and 20 of 28 did."""
LOOKED_AT = 64_000
"""Bytes that a multiprocessor reads between what it tells of a row and its first look for what others tell: who looks
again and again is in the way of all others. The same row took 122 us where it looked at once, 118 with this, and 114
where four waves await rows instead of six: as long as without waiting."""
FEW_SLOTS, MOST_SLOTS = 12, 64
"""Fewer have one wave that sends for rows: several divide the slots evenly. Rows of 100,000 elements have 64."""
RESERVED = 2048
"""Bytes of shared memory for barriers, numbers that waves tell each other, and what is lost by alignment."""
ALIGNED = 128
MOVED = {(1, True): 11_000, (2, True): 9_400, (2, False): 9_400}
"""By the number of sums and whether rows begin anywhere, bytes of a row that a multiprocessor moves from which on
strips are faster than rings, since a row takes 0.24 us however short it is: LayerNorm's gradient of 150,001, 175,001,
200,001, 225,001, 255,393 and 262,144 bf16 has 0.83, 0.84, 0.89, 0.91, 0.89 and 0.88 of a copy's speed so, and 0.92,
0.90, 0.895, 0.88, 0.85 and 0.80 by clusters of 16; RMSNorm's of 180,001 and 262,143 0.88 and 0.92, and 0.935 and 0.895;
of 262,144 0.955 by clusters."""


@dataclass(frozen=True)
class StripPlan:
    """How rows of ``length`` elements are divided over ``blocks``, which are all there at once.

    Of a block, ``groups`` of ``waves`` each take every so many-th row; a lane has ``words`` of four bytes of it. There
    are ``slots`` for rows in shared memory, for which ``senders`` send. A row is gone over again ``lag`` rows after the
    first time, and words of other blocks are looked for ``delay`` rows after it. With ``near`` the weight is in shared
    memory.
    """

    length: int
    dtype: str
    blocks: int
    sources: int
    sums: int
    groups: int
    waves: int
    words: int
    slots: int
    senders: int
    lag: int
    delay: int
    near: bool

    @property
    def size(self) -> int:
        return DTYPES[self.dtype].width // 8

    @property
    def pair(self) -> int:
        """Elements of a word."""
        return WORD // self.size

    @property
    def units(self) -> int:
        return -(-self.length // UNIT)

    @property
    def columns(self) -> int:
        """Of the widest strip."""
        return columns_of(self.length, self.blocks)

    @property
    def most_words(self) -> int:
        """That columns of a strip lie in."""
        return -(-(self.columns + self.pair - 1) // self.pair)

    @property
    def fewest(self) -> int:
        """Columns of the narrowest strip, at least."""
        return max(self.units // self.blocks * UNIT - (UNIT - 1), 0)

    @property
    def moved(self) -> float:
        """Bytes of a row that a multiprocessor reads and writes."""
        return (self.sources + 1) * self.length * self.size / self.blocks

    @property
    def lanes(self) -> int:
        """Of a group."""
        return self.waves * WAVE

    @property
    def takers(self) -> int:
        return self.groups * self.lanes

    @property
    def threads(self) -> int:
        return self.takers + HELPING * WAVE

    @property
    def slot(self) -> int:
        """Elements that a slot has place for, of each source."""
        return slot_elements(self.columns, self.size)

    @property
    def told(self) -> int:
        """Rows whose numbers have a place of their own. Those that follow each other in one are of one group and of the
        same waves that tell and await, and so far apart that all have read the one before the next one comes."""
        step = lcm(self.groups, TELLING, AWAITING)
        return -(-(self.lag + 2 * self.groups + self.delay) // step) * step

    @property
    def rows_of_words(self) -> int:
        return rows_of_words(self.length, self.blocks)

    @property
    def registers(self) -> int:
        """What a thread begins with."""
        return REGISTERS // self.threads // 8 * 8

    @property
    def taking(self) -> int:
        """What a taking thread may have: what helping ones give up is lent to it."""
        return (self.registers * (TAKING + HELPING) - HELPING * LENT) // TAKING // 8 * 8


def is_faster(strips: StripPlan, ring: RowPlan) -> bool:
    """Return whether rows are faster by strips than by a plan whose blocks have rows of their own."""
    return strips.moved >= MOVED.get((strips.sums, ring.shifted), float("inf"))


def rows_of_words(length: int, blocks: int = HOPPER.processors) -> int:
    """Return of how many rows the words that blocks tell each other have place in one row of partial sums; 0 where rows
    are too short for strips."""
    return length // (2 * blocks) if length >= blocks * UNIT else 0


def columns_of(length: int, blocks: int) -> int:
    """Return how many columns the widest strip has."""
    units = -(-length // UNIT)
    return -(-units // blocks) * UNIT


def slot_elements(columns: int, size: int) -> int:
    """Return how many elements a strip has place for that begins anywhere in a sector."""
    step = ALIGNED // size
    return -(-(columns + (SECTOR + ACCESS_BYTES) // size) // step) * step


def strip_plan(
    length: int, dtype: str, blocks: int, sources: int, sums: int, weight: int, machine: Machine = HOPPER
) -> StripPlan | None:
    """Return the plan for so many blocks, of which each has a multiprocessor; None where rows are too short for all, or
    a strip is too wide for one. ``weight`` is how many bytes an element of the weight has, 0 without one."""
    if length < blocks * UNIT:
        return None
    plans = _plans(length, dtype, blocks, sources, sums, weight, machine)
    return min(plans, key=lambda plan: (plan.near, max(plan.words, FEW_WORDS), plan.waves), default=None)


def _plans(
    length: int, dtype: str, blocks: int, sources: int, sums: int, weight: int, machine: Machine
) -> Iterator[StripPlan]:
    size = DTYPES[dtype].width // 8
    columns, pair = columns_of(length, blocks), WORD // size
    for groups in GROUPS:
        waves = TAKING // groups
        words = -(-(columns + pair - 1) // (pair * waves * WAVE))
        held = words * pair * sums
        near = held + words * pair * (weight > 0) > MOST_KEPT
        if held > MOST_HELD or (groups == 1 and pair > 1 and length % 2):
            continue  # of one group, every second row would have a lane's words begin at other columns
        room = machine.shared - RESERVED - near * words * pair * weight * TAKING * WAVE
        slots = min(room // (sources * slot_elements(columns, size) * size + 8 * (2 + sums)), MOST_SLOTS)
        senders = SENDING if slots >= FEW_SLOTS else 1
        slots = slots // senders * senders
        lag = max(round(LATE * slots / groups), 1) * groups
        delay = int(min(LOOKED_AT / (sources * columns * size), lag / 2) / groups) * groups
        if slots > lag:
            yield StripPlan(
                length, dtype, blocks, sources, sums, groups, waves, words, slots, senders, lag, delay, near
            )
