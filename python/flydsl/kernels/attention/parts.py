"""How the keys of sequences are cut into parts, and room for what the parts find. Shapes alone decide."""

from __future__ import annotations

from typing import Any

from flydsl.kernels.blocks.inputs import Array, empty_beside, multiprocessors

START = 2
"""What beginning a part costs, in blocks of keys; so does putting parts together."""


def parts_of(q: Array, sequences: int, cache: Array, tables: Array, keys: int) -> tuple[int, int]:
    """(blocks of ``keys`` in a part, parts that a sequence has at most)."""
    blocks = -(-max(int(tables.shape[1]) * int(cache.shape[1]), 1) // keys)
    part = choose_part(sequences, blocks, multiprocessors(q))
    return part, -(-blocks // part)


def choose_part(sequences: int, blocks: int, multiprocessors: int) -> int:
    """Blocks of keys in a part: as many as end soonest, if parts go to multiprocessors in turns."""

    def end(part: int) -> float:
        splits = -(-blocks // part)
        return -(-sequences * splits // multiprocessors) * (part + START) + (START if splits > 1 else 0)

    return min(sorted({-(-blocks // splits) for splits in range(1, blocks + 1)}, reverse=True), key=end)


def room_for(q: Array, sequences: int, splits: int, rows: int, dv: int) -> tuple[Any, Any, Any]:
    """Room for the results of parts and their logarithms, and counters, which are zero before and after a call."""
    counters = empty_beside(q, (sequences,), "int32")
    if splits > 1:
        counters[...] = 0
    return (
        empty_beside(q, (sequences, splits, rows, dv), "float32"),
        empty_beside(q, (sequences, splits, rows), "float32"),
        counters,
    )
