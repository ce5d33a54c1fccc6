"""How the keys of sequences are cut into parts, and room for what the parts find. Shapes alone decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flydsl.kernels.blocks.inputs import Array, empty_beside, multiprocessors

START = 2
"""What beginning a part costs, in blocks of keys; so does putting parts together."""
MERGING = 3
"""How much faster one block reads the results of parts than keys, which all blocks read at a time: 93 GB/s on an H200
on 2026-11-16, where a block's share of the memory is 34."""

TAIL, LEAST = 8, 2
"""In how many parts the sequences of the last round are cut, and blocks of keys of a part at least."""


@dataclass(frozen=True)
class Sizes:
    """Keys of a block, bytes of a key and its value, and bytes of the results of a part."""

    keys: int
    key: int
    results: int


def parts_of(q: Array, sequences: int, cache: Array, tables: Array, sizes: Sizes) -> tuple[int, int, int]:
    """Return (blocks of keys in a part, parts that a sequence has at most, sequences that are not cut: none)."""
    blocks = -(-max(int(tables.shape[1]) * int(cache.shape[1]), 1) // sizes.keys)
    merging = sizes.results / (sizes.keys * sizes.key * MERGING)
    part = choose_part(sequences, blocks, multiprocessors(q), merging)
    return part, -(-blocks // part), 0


def turns_of(q: Array, sequences: int, cache: Array, tables: Array, sizes: Sizes) -> tuple[int, int, int]:
    """Return (blocks of keys in a part, parts at most, sequences that are not cut), where blocks of threads take parts
    in turns."""
    part, splits, _ = parts_of(q, sequences, cache, tables, sizes)
    whole = (sequences - 1) // multiprocessors(q) * multiprocessors(q)
    if splits > 1 or whole <= 0 or part < 2 * LEAST:
        return part, splits, 0
    blocks, part = part, max(-(-part // TAIL), LEAST)
    return part, -(-blocks // part), whole


def choose_part(sequences: int, blocks: int, multiprocessors: int, merging: float = 0.0) -> int:
    """Blocks of keys in a part: as many as end soonest, if parts go to multiprocessors in turns, and one block puts the
    parts of a sequence together, which takes ``merging`` for each."""

    def end(part: int) -> float:
        splits = -(-blocks // part)
        together = START + splits * merging if splits > 1 else 0
        return -(-sequences * splits // multiprocessors) * (part + START) + together

    return min(sorted({-(-blocks // splits) for splits in range(1, blocks + 1)}, reverse=True), key=end)


def room_for(
    q: Array, sequences: int, splits: int, rows: int, dv: int, counters: Array = None
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Room for the results of parts and their logarithms, and counters, which are zero before and after a call; they
    may be given."""
    if counters is None:
        counters = empty_beside(q, (sequences + 1,), "int32")
        if splits > 1:
            counters[...] = 0
    return (
        empty_beside(q, (sequences, splits, rows, dv), "float32"),
        empty_beside(q, (sequences, splits, rows), "float32"),
        counters,
    )
