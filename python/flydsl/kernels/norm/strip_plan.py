"""Plans of gradients of norms whose rows are so long that every block has a strip of columns of all rows.

docs/rows.md says what they gain. A strip's sums stay in registers until the end, and a row lies in the shared memory of
all blocks together: it is divided more finely than among the blocks of a cluster, and over all multiprocessors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import lcm

from flydsl.kernels.blocks.row_machine import HOPPER, Machine
from flydsl.kernels.blocks.row_plan import ACCESS_BYTES, DTYPES, SECTOR, RowPlan

WAVE, WORD = 32, 4
"""Lanes of a wave, and bytes of a word, which lanes load and store."""
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
REGISTERS, HELPING_REGISTERS = 65536, 40
"""Of a multiprocessor, and those that a helping thread keeps of its own: the others are lent to taking ones."""
MOST_HELD, MOST_KEPT = 64, 56
"""Sums that a taking thread has in registers where the weight is in shared memory, and sums and elements of the weight
where it is not."""
LATE, TAKEN = 0.6, 2
"""Part of the slots whose rows wait for their totals, which come from block to block in 5 to 8 us, and slots of each
group that wait for nothing: LayerNorm of 262,144 bf16 took 172, 146, 124 and 121 us where 8, 12, 16 and 20 rows of 28
slots waited, of 1,048,575, which six slots have place for, 136 where four did and 124 with two."""
LATELY, LOOKED_AT = 0.75, 96_000
"""Part of the rows that wait whose words nobody looks for, at most, and bytes that a multiprocessor reads between what
it tells of a row and its first look for what others tell: who looks again and again is in the way of all others.
LayerNorm of 262,144 bf16 took 122 us where it looked at once, 118 with half of the rows that wait, 114 where four waves
await rows instead of six, and 113 with three quarters; of 262,144 f32 111.5, 107.7 and 113.6 with a half, three
quarters and all."""
FEW_SLOTS, MOST_SLOTS = 12, 64
"""Slots from which on several waves send for rows, where slots that they do not divide evenly are few of all; and slots
at most, which rows of 100,000 elements have."""
ALIGNED, BARRIER, BETWEEN = 128, 8, 48
"""Bytes that slots begin at multiples of, of a barrier, and those at most that lie between arrays of shared memory."""
MOVED = {(1, True): 9_000, (2, True): 8_700, (2, False): 9_400}
"""By the number of sums and whether rows begin anywhere, bytes of a row that a multiprocessor moves from which on
strips are faster than rings, since a row takes 0.24 us however short it is: LayerNorm's gradient of 160,001, 185,001,
200,001 and 225,001 bf16 has 0.88, 0.90, 0.92 and 0.93 of a copy's speed so, and 0.93, 0.91, 0.90 and 0.885 by clusters
of 16; of 190,000 and 230,000 0.92 and 0.95, and 0.95 and 0.72; RMSNorm's of 200,001 and 225,001 0.935 and 0.95, and
0.93 and 0.94, of 262,144 0.92 and 0.955."""


@dataclass(frozen=True)
class StripPlan:
    """How rows of ``length`` elements of so many ``sources`` are divided over ``blocks``, which are all there at once.

    Of a block's waves that take rows, ``groups`` each take every so many-th row. There are ``slots`` for rows in shared
    memory. A row is gone over again ``lag`` rows after the first time, and words of other blocks are looked for
    ``delay`` rows after it. ``near`` is how many bytes an element of a weight has that is in shared memory.
    """

    length: int
    dtype: str
    blocks: int
    sources: int
    sums: int
    groups: int
    slots: int = 0
    lag: int = 0
    delay: int = 0
    near: int = 0

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return DTYPES[self.dtype].width // 8

    @property
    def per_word(self) -> int:
        """Elements of a word of four bytes."""
        return WORD // self.size

    @property
    def units(self) -> int:
        """Of a row, the last of which may have fewer columns."""
        return -(-self.length // UNIT)

    @property
    def columns(self) -> int:
        """Of the widest strip."""
        return -(-self.units // self.blocks) * UNIT

    @property
    def fewest(self) -> int:
        """Columns of the narrowest strip, at least."""
        return max(self.units // self.blocks * UNIT - (UNIT - 1), 0)

    @property
    def most_words(self) -> int:
        """Words that the columns of a strip lie in, which may begin in the middle of one."""
        return -(-(self.columns + self.per_word - 1) // self.per_word)

    @property
    def words(self) -> int:
        """Words of a strip that a lane has."""
        return -(-self.most_words // self.lanes)

    @property
    def read(self) -> int:
        """Bytes of a row that a multiprocessor reads."""
        return self.sources * self.columns * self.size

    @property
    def moved(self) -> float:
        """Bytes of a row that a multiprocessor reads and writes."""
        return (self.sources + 1) * self.length * self.size / self.blocks

    @property
    def waves(self) -> int:
        """Of a group."""
        return TAKING // self.groups

    @property
    def lanes(self) -> int:
        """Of a group."""
        return self.waves * WAVE

    @property
    def takers(self) -> int:
        """Threads of a block that take rows."""
        return TAKING * WAVE

    @property
    def threads(self) -> int:
        """Of a block."""
        return (TAKING + HELPING) * WAVE

    @property
    def senders(self) -> int:
        """Waves that send for rows, which divide the slots evenly."""
        return SENDING if self.slots >= FEW_SLOTS else 1

    @property
    def slot(self) -> int:
        """Elements that a slot has place for, of each source: a strip that begins anywhere in a sector."""
        step = ALIGNED // self.size
        return -(-(self.columns + (SECTOR + ACCESS_BYTES) // self.size) // step) * step

    @property
    def told(self) -> int:
        """Rows whose numbers have a place of their own. Those that follow each other in one are of one group and of the
        same waves that tell and await, and so far apart that all have read the one before the next one comes."""
        step = lcm(self.groups, TELLING, AWAITING)
        return -(-(self.lag + 2 * self.groups + self.delay) // step) * step

    @property
    def shared(self) -> int:
        """Bytes of shared memory: slots with their rows' numbers and barriers, what waves tell each other, and the
        weight."""
        ring = self.slots * (self.sources * self.slot * self.size + WORD * self.sums + 2 * BARRIER)
        board = self.told * (self.sums * (self.waves + 1) * WORD + 2 * BARRIER)
        return ring + board + self.near * self.words * self.per_word * self.takers + BETWEEN

    @property
    def rows_of_words(self) -> int:
        """Rows whose words, which blocks tell each other, have place in a row of partial sums."""
        return rows_of_words(self.length, self.blocks)

    @property
    def registers(self) -> int:
        """What a thread begins with."""
        return REGISTERS // self.threads // 8 * 8

    @property
    def taking(self) -> int:
        """Registers that a taking thread may have: what helping ones give up is lent to it."""
        return (self.registers * (TAKING + HELPING) - HELPING * HELPING_REGISTERS) // TAKING // 8 * 8


def is_faster(strips: StripPlan, ring: RowPlan) -> bool:
    """Return whether rows are faster by strips than by a plan whose blocks have rows of their own."""
    return strips.moved >= MOVED.get((strips.sums, ring.shifted), float("inf"))


def rows_of_words(length: int, blocks: int = HOPPER.processors) -> int:
    """Return of how many rows the words that blocks tell each other have place in one row of partial sums; 0 where rows
    are too short for strips."""
    return length // (2 * blocks) if length >= blocks * UNIT else 0


def strip_plan(
    length: int, dtype: str, blocks: int, sources: int, sums: int, weight: int, machine: Machine = HOPPER
) -> StripPlan | None:
    """Return the plan for so many blocks, of which each has a multiprocessor; None where rows are too short for all, or
    a strip is too wide for one. ``weight`` is how many bytes an element of the weight has, 0 without one."""
    if length < blocks * UNIT:
        return None
    starts = (StripPlan(length, dtype, blocks, sources, sums, groups) for groups in GROUPS)
    plans = [plan for start in starts if (plan := _filled(start, weight, machine)) is not None]
    return min(plans, key=lambda plan: (plan.near, max(plan.words, FEW_WORDS), plan.waves), default=None)


def _filled(plan: StripPlan, weight: int, machine: Machine) -> StripPlan | None:
    """Return the plan with as many slots as shared memory has place for; None where threads have too few registers, or
    too few slots are left."""
    elements = plan.words * plan.per_word  # of a strip that a lane has
    near = elements * (plan.sums + (weight > 0)) > MOST_KEPT
    if elements * plan.sums > MOST_HELD:
        return None
    if plan.groups == 1 and plan.per_word > 1 and plan.length % 2:
        return None  # every second row would have a lane's words begin at other columns
    plan = replace(plan, near=weight if near else 0)
    plans = (_with_slots(plan, slots) for slots in range(MOST_SLOTS, 0, -1))
    return next((plan for plan in plans if plan is not None and plan.shared <= machine.shared), None)


def _with_slots(plan: StripPlan, slots: int) -> StripPlan | None:
    """Return the plan with so many slots; None where waves do not divide them evenly, or no row could wait, or the sums
    of all groups, which lie in them at last, have no place there."""
    plan, groups = replace(plan, slots=slots), plan.groups
    if slots % plan.senders or slots < groups * max(plan.per_word, 2):
        return None
    rows = max(min(round(LATE * slots / groups), slots // groups - TAKEN), 1)
    delay = min(int(LOOKED_AT / plan.read / groups), round(LATELY * rows))
    return replace(plan, lag=rows * groups, delay=delay * groups)
