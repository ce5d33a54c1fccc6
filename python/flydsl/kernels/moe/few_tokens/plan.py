"""How a layer of experts for few tokens is divided among blocks, warps and shared memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

THREADS = 256
WARPS = THREADS // 32
MOST_TOKENS = 8
"""Columns of one mma.sync."""
MOST_PAIRS = 32
"""Of tokens and their experts: a warp, a lane for each, finds out which of them are the same."""
STRIP = 16
"""Rows of weights of one mma.sync."""
PIECE_BYTES = 64
"""Of a row of weights that four lanes send for, 16 bytes each."""
PIECES = {2: 4, 1: 2}
"""Bytes of a weight, to pieces of a warp's strip that are sent for together; of 8 bits, the columns of a scale."""
SCALED = 128
"""Columns of weights of 8 bits, and rows, that have a scale."""
SHORT = 2
"""Batches that a warp should have of a strip at least."""
SHARED_BYTES = 226 * 1024
"""Of a multiprocessor, for a block of each launch."""
ROUNDS = 2
"""In which the warps of a block of the second launch go through the experts, or more: the rows of the first experts are
there while those of the last are made."""
MOST_HELD = 56 * 1024
"""Bytes of rows that a block holds; more would leave the rings too little."""
COPIED = 4.27e6
"""Bytes a microsecond that a copy reads and writes, on the H200 that gave the costs below, 2026-11-16."""
FEW = {2: (6.0, 1.02), 1: (12.0, 1.19)}
"""Bytes of a weight, to microseconds of a call beside its weights, and how much longer those take than a copy of as
many bytes. With 1 to 4 tokens of a layer of 2048/768 and 1 or 2 of 7168/2048 it is within 6 % of what was measured, but
for 1 token in 8 bits, which took 5 microseconds less, and 12 less of the latter."""
GROUPS = {2: (17.0, 1.0), 1: (31.0, 1.04)}
"""The same, of products of groups of rows, by four launches or five; within 7 %."""


@dataclass(frozen=True)
class Stage:
    """One product of a layer: rows of weights of an expert, columns, bytes of a weight, how many warps share a strip,
    each with a part of the columns, rows of numbers that a block holds, and batches that a warp has under way."""

    rows: int
    columns: int
    size: int
    parts: int
    held: int
    depth: int = 2

    @property
    def pieces(self) -> int:
        """Pieces of a batch."""
        return PIECES[self.size]

    @property
    def batch(self) -> int:
        """Columns of a batch."""
        return self.pieces * PIECE_BYTES // self.size

    @property
    def batches(self) -> int:
        """Batches of a part; behind the last column they count nothing."""
        return -(-self.columns // (self.batch * self.parts))

    @property
    def slot_bytes(self) -> int:
        """Of a batch of weights in shared memory."""
        return self.pieces * PIECE_BYTES * STRIP

    @property
    def box(self) -> tuple[int, int, int]:
        """A batch of weights, of (expert, row, column)."""
        return 1, STRIP, self.batch

    @property
    def line_bytes(self) -> int:
        """From a row of numbers to the next: half of all banks further."""
        return -(-self.columns * self.size // 128) * 128 + 64

    @property
    def held_bytes(self) -> int:
        """Of rows of numbers, with their scales."""
        scales = self.columns // SCALED * 4 if self.size == 1 else 0
        return self.held * (self.line_bytes + scales)

    @property
    def units(self) -> int:
        """What the blocks of the first launch have turns with: so many strips of an expert as a block has at a time."""
        return self.rows // (STRIP * self.side_by_side)

    @property
    def side_by_side(self) -> int:
        """Strips, or experts, that the warps of a block have at a time."""
        return WARPS // self.parts


def plan_stages(tokens: int, topk: int, experts: int, model: int, inter: int, size: int) -> tuple[Stage, Stage] | None:
    """Return how both products are built; None where products of groups take less time, by the model, or must do.

    In the first as many warps share a strip as leave each enough batches; in the second each has an expert, and of
    fewer experts than warps several share one.
    """
    weights = min(tokens * topk, experts) * 3 * model * inter * size
    if not 0 < tokens <= MOST_TOKENS or tokens * topk > MOST_PAIRS:
        return None
    if time_of(weights, FEW[size]) > time_of(weights, GROUPS[size]):
        return None
    tokens, pairs = (1 << (count - 1).bit_length() for count in (tokens, tokens * topk))  # fewer kernels to compile
    sharing = WARPS
    while sharing > 1 and ROUNDS * WARPS // sharing < min(pairs, experts):
        sharing //= 2
    first = Stage(2 * inter, model, size, _parts(model, size, WARPS), tokens)
    while first.rows % (STRIP * first.side_by_side):  # a block's strips are of one expert
        first = replace(first, parts=2 * first.parts)
    second = Stage(model, inter, size, _parts(inter, size, sharing), pairs)
    if max(first.held_bytes, second.held_bytes) > MOST_HELD:
        return None
    sums = 2 * 4 * STRIP * MOST_TOKENS * WARPS
    tables = (12 * max(pairs, 4) + 16, 80 * max(pairs, 4) + 16)  # of chosen experts, and of their rows too
    used = sum(_rounded(sums + table) + _rounded(stage.held_bytes) for table, stage in zip(tables, (first, second)))
    slots = (SHARED_BYTES - used) // (WARPS * (first.slot_bytes + (0 if size == 2 else 12)))  # a barrier, and a scale
    return replace(first, depth=max(2, slots // 2)), replace(second, depth=max(2, slots - slots // 2))


def _rounded(count: int) -> int:
    """Return bytes up to where batches of weights may begin."""
    return -(-count // 128) * 128


def time_of(weights: int, costs: tuple[float, float]) -> float:
    """Microseconds of a call that reads so many bytes of weights."""
    fixed, factor = costs
    return fixed + factor * weights / COPIED


def _parts(columns: int, size: int, most: int) -> int:
    """Return a power of two."""
    parts = 1
    while parts < most and columns * size >= 2 * parts * SHORT * PIECES[size] * PIECE_BYTES:
        parts *= 2
    return parts
