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
BEGINNING, ENDING = 24_000, 160_000
"""Bytes that a multiprocessor reads while a part begins and ends, where blocks take parts as they come, and while the
last parts are put together. 136 sequences of 5940 keys of 128 took 96.6 us with the last four in 31 parts, 113 in 8; 64
sequences of 8192 keys and 8 heads 484 us in 8 parts, 520 not cut; 128 of 1024 128 not cut, 135 in 4, on an H200 on
2026-11-17 and 18."""


@dataclass(frozen=True)
class Sizes:
    """Keys of a block, bytes of a key and its value, and bytes of the results of a part."""

    keys: int
    key: int
    results: int


def parts_of(
    q: Array, sequences: int, cache: Array, tables: Array, sizes: Sizes, apart: bool = False
) -> tuple[int, int, int]:
    """Return (blocks of keys in a part, parts that a sequence has at most, sequences that are not cut: none). Parts are
    put together by a block for each sequence, or ``apart``: by another launch, all of whose blocks read at a time."""
    blocks = blocks_of(cache, tables, sizes)
    at_once = multiprocessors(q) / sequences if apart else MERGING
    part = choose_part(sequences, blocks, multiprocessors(q), sizes.results / (sizes.keys * sizes.key * at_once))
    return part, -(-blocks // part), 0


def turns_of(q: Array, sequences: int, cache: Array, tables: Array, sizes: Sizes) -> tuple[int, int, int]:
    """Return the same where blocks of threads take parts as they come: they take whole rounds of sequences that are
    not cut, and parts of those that are left, to end together."""
    whole = (sequences - 1) // multiprocessors(q) * multiprocessors(q)
    if whole <= 0:
        return parts_of(q, sequences, cache, tables, sizes)
    blocks, part = blocks_of(cache, tables, sizes), choose_last_part(q, sequences - whole, cache, tables, sizes)
    return (part, -(-blocks // part), whole) if part < blocks else (blocks, 1, 0)


def choose_last_part(q: Array, sequences: int, cache: Array, tables: Array, sizes: Sizes) -> int:
    """Blocks of keys in a part of the last sequences, behind work of any length: parts follow each other without a gap,
    and at the end multiprocessors wait for half of one."""
    blocks, block = blocks_of(cache, tables, sizes), sizes.keys * sizes.key
    beginning, ending, merging = BEGINNING / block, ENDING / block, sizes.results / (block * MERGING)

    def end(part: int) -> float:
        splits, each = -(-blocks // part), part + beginning
        together = ending + splits * merging if splits > 1 else 0
        return max(each, sequences * splits * each / multiprocessors(q) + part / 2) + together

    return min(cuts_of(blocks), key=end)


def cuts_of(blocks: int) -> list[int]:
    """Return the sizes of parts that cut so many blocks of keys into other numbers of parts, the largest first."""
    return sorted({-(-blocks // splits) for splits in range(1, blocks + 1)}, reverse=True)


def blocks_of(cache: Array, tables: Array, sizes: Sizes) -> int:
    """Return how many blocks of keys a sequence has at most."""
    return -(-max(int(tables.shape[1]) * int(cache.shape[1]), 1) // sizes.keys)


def choose_part(sequences: int, blocks: int, multiprocessors: int, merging: float = 0.0) -> int:
    """Blocks of keys in a part: as many as end soonest, if parts go to multiprocessors in turns, and putting those of a
    sequence together takes ``merging`` for each."""

    def end(part: int) -> float:
        splits = -(-blocks // part)
        together = START + splits * merging if splits > 1 else 0
        return -(-sequences * splits // multiprocessors) * (part + START) + together

    return min(cuts_of(blocks), key=end)


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
