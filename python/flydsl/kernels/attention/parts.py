"""How the keys of sequences are cut into parts, and room for what the parts find. Shapes alone decide."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from flydsl.kernels.attention.attention import check_steps
from flydsl.kernels.blocks.inputs import Array, empty_beside, multiprocessors, strides, type_name

START = 2
"""What beginning a part costs, in blocks of keys; so does putting parts together."""
MERGING = 3
"""How much faster one block reads the results of parts than keys, which all blocks read at a time: 93 GB/s on an H200
on 2026-11-16, where a block's share of the memory is 34."""
LAST_PARTS, LEAST_PART = 8, 8
"""In how many parts sequences of the last round are cut, and blocks of keys of a part at least: to begin and end one
takes 0.7 us, as long as reading a third of a block. 64 sequences of 8192 keys, 8 heads of 128, took 501 us in parts of
8 blocks, 504 of 4, 506 of 16, 532 of 2 and 520 not cut, on an H200 on 2026-11-17."""


@dataclass(frozen=True)
class Sizes:
    """Keys of a block, bytes of a key and its value, and bytes of the results of a part."""

    keys: int
    key: int
    results: int


def parts_of(q: Array, sequences: int, cache: Array, tables: Array, sizes: Sizes) -> tuple[int, int, int]:
    """Return (blocks of keys in a part, parts that a sequence has at most, sequences that are not cut: none)."""
    blocks = blocks_of(cache, tables, sizes)
    merging = sizes.results / (sizes.keys * sizes.key * MERGING)
    part = choose_part(sequences, blocks, multiprocessors(q), merging)
    return part, -(-blocks // part), 0


def turns_of(q: Array, sequences: int, cache: Array, tables: Array, sizes: Sizes) -> tuple[int, int, int]:
    """Return the same where blocks of threads take parts as they come: they take whole rounds of sequences that are
    not cut, and parts of those that are left, to end together."""
    blocks, whole = blocks_of(cache, tables, sizes), (sequences - 1) // multiprocessors(q) * multiprocessors(q)
    if whole <= 0 or blocks < 2 * LEAST_PART:
        return parts_of(q, sequences, cache, tables, sizes)
    part = max(-(-blocks // LAST_PARTS), LEAST_PART)
    return part, -(-blocks // part), whole


def blocks_of(cache: Array, tables: Array, sizes: Sizes) -> int:
    """Return how many blocks of keys a sequence has at most."""
    return -(-max(int(tables.shape[1]) * int(cache.shape[1]), 1) // sizes.keys)


def choose_part(sequences: int, blocks: int, multiprocessors: int, merging: float = 0.0) -> int:
    """Blocks of keys in a part: as many as end soonest, if parts go to multiprocessors in turns, and one block puts the
    parts of a sequence together, which takes ``merging`` for each."""

    def end(part: int) -> float:
        splits = -(-blocks // part)
        together = START + splits * merging if splits > 1 else 0
        return -(-sequences * splits // multiprocessors) * (part + START) + together

    return min(sorted({-(-blocks // splits) for splits in range(1, blocks + 1)}, reverse=True), key=end)


def result_of(q: Array, dv: int, out: Array) -> Any:
    """Return where results of ``dv`` elements for each query's head go: what was given, or a new array."""
    shape = (*q.shape[:-1], dv)
    if out is None:
        return empty_beside(q, shape)
    if tuple(out.shape) != shape or out.dtype != q.dtype:
        raise ValueError(f"out must be {shape} of {q.dtype}, got {tuple(out.shape)} of {out.dtype}")
    check_steps("out", shape, strides(out), out.dtype.itemsize)
    return out


def room_for(
    q: Array, sequences: int, splits: int, rows: int, dv: int, counters: Array = None, whole: int = 0
) -> tuple[Any, Any, Any]:
    """Room for the results of parts and their logarithms, and counters, of each sequence and of parts that were taken,
    which are zero before and after a call; they may be given. ``whole`` sequences are not cut, and leave theirs."""
    cut = sequences - whole
    if counters is None:
        counters = empty_beside(q, (cut + 1,), "int32")
        if splits > 1:
            counters[...] = 0
    elif prod(counters.shape) < sequences or type_name(counters) != "int32":
        raise ValueError(f"counters are {sequences} of int32 or more, got {prod(counters.shape)} of {counters.dtype}")
    return (
        empty_beside(q, (cut, splits, rows, dv), "float32"),
        empty_beside(q, (cut, splits, rows), "float32"),
        counters,
    )
