"""Keys of sequences in parts: how many (shapes alone decide), and how what the parts found is put together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from math import prod
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.scores import Band, blocks_of
from flydsl.kernels.attention.tiles import Piece, start_of
from flydsl.kernels.blocks.activation import LOG2_E, powers_of_two
from flydsl.kernels.blocks.inputs import (
    Array,
    check_start,
    empty_beside,
    lies_whole,
    multiprocessors,
    type_name,
)
from flydsl.kernels.blocks.reduce import LOWEST, above_lowest

EIGHT = 8
"""Elements of a row that a thread puts together, and parts that it reads at the same time at most."""
FOUR, PAD = 4, 4
"""Elements that it puts together of a cluster's parts, 16 bytes of another block's shared memory, and elements between
rows there, so that eight rows at a time are stored to different banks."""
MERGERS, MERGING_BLOCKS = 256, 256
"""Threads at most of a block that puts rows together, in a launch of its own, and blocks that it has, if they can be so
few. These fit beside the blocks that they wait for; 1152, of 9 sequences of 462 keys and 8 heads in two parts, took 3.7
us longer than 72."""
START = 2
"""What beginning a part costs, in blocks of keys; so does putting parts together."""
MERGED, MERGING = 4096, 2
"""Bytes that the threads of a block read of each of eight parts at a time, and how much faster that is than reading
keys, while all blocks do: 73 GB/s of one block, where its share of the memory is 34, on an H200 on 2026-11-18."""
BEGINNING, ENDING = 24_000, 160_000
"""Bytes that a multiprocessor reads while a part begins and ends, where blocks take parts as they come, and while the
last parts are put together. 136 sequences of 5940 keys of 128 took 96.6 us with the last four in 31 parts, 113 in 8; 64
sequences of 8192 keys and 8 heads 484 us in 8 parts, 520 not cut; 128 of 1024 128 not cut, 135 in 4, on an H200 on
2026-11-17 and 18."""
LAUNCH = 64_000
"""Bytes that a multiprocessor reads while a launch that puts parts together begins. 4 sequences of 9000 keys with 64
rows of queries took 13.2 us in 29 parts, 22.3 in 15 and without that launch; 3 of 12000 with 8 rows 10.2 and 12.4, both
in 38 parts; 32 of 1500 with 32 16.0 and 14.2, both in 4, 5 of 12997 with 5 15.4 and 14.6, both in 26; on an H200 on
2026-11-18."""

CLUSTERS = (2, 4, 8)
"""Blocks of threads that a cluster may have."""
BEGIN, READING, MEMORY = 2500, 40, 4800
"""Nanoseconds that a round of blocks takes beside its keys, and bytes of them that one reads in a nanosecond,
and all, at most. On an H200 on 2026-11-18 8 sequences of 2345 keys, 16 rows each, took 14.9 us in 2 parts, 8.1 in 8 and
9.7 in 13, and 12.9 in 2 that a cluster puts together, 8.6 in 4 and 6.6 in 8; 24 of 1000 9.5 in 2, 9.3 in 4 and 9.7 in
8, and 7.8, 6.3 and, in two rounds, 10.4."""
MEETING, NEAR = 700, 16
"""Nanoseconds that the blocks of a cluster need to meet before and after they put parts together, and bytes of the
results of a part for which that takes one more."""
LATER = 4700
"""Nanoseconds that a launch of its own takes to put parts together, beside reading them at the speed of the memory."""
COUNTING, TURN, ALONE = 1300, 650, 90
"""Nanoseconds in which a block learns that it is the last of its sequence, and that each read of up to eight parts
waits, and bytes that this one block reads in a nanosecond."""


@dataclass(frozen=True)
class Cut:
    """Blocks of keys in a part, parts that a sequence has at most, sequences that are not cut, whether a launch of
    its own puts parts together, and blocks of threads of a cluster that does, or one."""

    part: int
    splits: int
    whole: int = 0
    apart: bool = False
    cluster: int = 1


@dataclass(frozen=True)
class Sizes:
    """Keys of a block, bytes of a key and its value, and bytes of the results of a part."""

    keys: int
    key: int
    results: int


def parts_of(q: Array, sequences: int, cache: Array, tables: Array, sizes: Sizes, apart: bool = False) -> Cut:
    """Return how all sequences are cut. Parts are put together by a block for each sequence or, ``apart``, by another
    launch, all of whose blocks read at a time."""
    return choose_cut(sequences, key_blocks(cache, tables, sizes), multiprocessors(q), sizes, apart)


@lru_cache(maxsize=256)
def choose_cut(sequences: int, blocks: int, multiprocessors: int, sizes: Sizes, apart: bool = False) -> Cut:
    """Return what ends soonest, if parts go to multiprocessors in turns."""

    def end(cut: Cut) -> float:
        together = START + merging_of(cut, sequences, multiprocessors, sizes) if cut.splits > 1 else 0
        return -(-sequences * cut.splits // multiprocessors) * (cut.part + START) + together

    return min(cuts_of(blocks, (apart,)), key=end)


def turns_of(q: Array, sequences: int, cache: Array, tables: Array, sizes: Sizes) -> Cut:
    """Return the same where blocks of threads take parts as they come: they take whole rounds of sequences that are
    not cut, and parts of those that are left, to end together."""
    blocks, at_once = key_blocks(cache, tables, sizes), multiprocessors(q)
    whole = (sequences - 1) // at_once * at_once
    if whole <= 0:
        return choose_short_cut(sequences, blocks, at_once, sizes)
    cut = choose_last_cut(sequences - whole, blocks, at_once, sizes)
    return replace(cut, whole=whole) if cut.splits > 1 else cut


@lru_cache(maxsize=256)
def choose_short_cut(sequences: int, blocks: int, multiprocessors: int, sizes: Sizes) -> Cut:
    """Return what ends soonest on Hopper, where blocks of threads may be clusters, too: of a few parts, which they put
    together through their shared memory. Rounds are of as many blocks as multiprocessors, though several fit on one:
    those of the next launch wait there."""

    def end(cut: Cut) -> float:
        running = sequences * max(cut.splits, cut.cluster)
        at_once = multiprocessors * 10 // 11 if cut.cluster > 2 else multiprocessors  # a cluster lies side by side
        key_block = sizes.keys * sizes.key * max(1 / READING, min(running, multiprocessors) / MEMORY)
        return -(-running // at_once) * (BEGIN + cut.part * key_block) + merging_time(cut, sequences, sizes)

    clusters = [
        replace(cut, cluster=min(size for size in CLUSTERS if size >= cut.splits))
        for cut in cuts_of(blocks, (False,))
        if 1 < cut.splits <= CLUSTERS[-1]
    ]
    return min([*cuts_of(blocks), *clusters], key=end)


def merging_time(cut: Cut, sequences: int, sizes: Sizes) -> float:
    """Return the nanoseconds that putting parts of sequences together takes."""
    if cut.splits == 1:
        return 0
    if cut.cluster > 1:
        return MEETING + sizes.results / NEAR
    if cut.apart:
        return LATER + sequences * cut.splits * sizes.results / MEMORY
    turns = -(-cut.splits // EIGHT) * -(-sizes.results // MERGED)
    return COUNTING + TURN * turns + cut.splits * sizes.results / ALONE


@lru_cache(maxsize=256)
def choose_last_cut(sequences: int, blocks: int, multiprocessors: int, sizes: Sizes) -> Cut:
    """Return how the last sequences are cut, behind work of any length: parts follow each other without a gap, and at
    the end multiprocessors wait for half of one."""
    block = sizes.keys * sizes.key
    beginning, ending = BEGINNING / block, ENDING / block

    def end(cut: Cut) -> float:
        each = cut.part + beginning
        together = ending + merging_of(cut, sequences, multiprocessors, sizes) if cut.splits > 1 else 0
        return max(each, sequences * cut.splits * each / multiprocessors + cut.part / 2) + together

    return min(cuts_of(blocks), key=end)


def merging_of(cut: Cut, sequences: int, multiprocessors: int, sizes: Sizes) -> float:
    """Return what putting the parts of sequences together takes, in blocks of keys. A block has its threads' elements
    of eight parts under way, whether there are so many or not; a launch reads with all multiprocessors."""
    if cut.apart:
        took = LAUNCH + sequences * cut.splits * sizes.results / multiprocessors
    else:
        took = -(-cut.splits // EIGHT) * EIGHT * max(sizes.results, MERGED) / MERGING
    return took / (sizes.keys * sizes.key)


def cuts_of(blocks: int, ways: tuple[bool, ...] = (False, True)) -> list[Cut]:
    """Return the cuts of so many blocks of keys into other numbers of parts, the largest parts first, which are put
    together in these ``ways``: by a launch of its own, or not."""
    sizes = sorted({-(-blocks // splits) for splits in range(1, blocks + 1)}, reverse=True)
    return [Cut(part, -(-blocks // part), 0, apart and part < blocks) for part in sizes for apart in ways]


def key_blocks(cache: Array, tables: Array, sizes: Sizes) -> int:
    """Return how many blocks of keys a sequence has at most."""
    return -(-max(int(tables.shape[1]) * int(cache.shape[1]), 1) // sizes.keys)


def part_shape(sequences: int, cut: Cut, rows: int, dv: int) -> tuple[int, int, int, int]:
    """Return the shape of the results of parts: of the sequences that are cut, and of no cluster's."""
    return sequences - cut.whole, cut.splits if cut.cluster == 1 else 1, rows, dv


def space_for(
    workspace: tuple[Any, Any, Any] | None, q: Array, sequences: int, cut: Cut, rows: int, dv: int, counters: Array
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Return the workspace that was given, or `room_for` what a call needs; refuse one of calls of other shapes."""
    if workspace is None:
        return room_for(q, sequences, cut, rows, dv, counters)
    results, counts = part_shape(sequences, cut, rows, dv), max(sequences - cut.whole + 1, prod(workspace[2].shape))
    shapes = results, results[:-1], (counts,)
    for array, shape, kind in zip(workspace, shapes, ("float32", "float32", "int32"), strict=True):
        if tuple(array.shape) != shape or type_name(array) != kind or not lies_whole(array):
            raise ValueError(
                f"an array of workspace is {shape} of {kind}, contiguous, got {tuple(array.shape)} of {array.dtype}: "
                "pass what paged_workspace gives for tensors of these shapes"
            )
    check_start("workspace", workspace[0])
    return workspace


def room_for(q: Array, sequences: int, cut: Cut, rows: int, dv: int, counters: Array = None) -> tuple[Any, Any, Any]:
    """Room for the results of parts and their logarithms, and counters, of each sequence and of parts that were taken,
    which are zero before and after a call; they may be given. Sequences that are not cut leave theirs, where a launch
    of its own puts parts together nobody counts these, and a cluster leaves all."""
    shape = part_shape(sequences, cut, rows, dv)
    if counters is None:
        counters = empty_beside(q, (shape[0] + 1,), "int32")
        if cut.splits > 1 and cut.cluster == 1 and (cut.whole or not cut.apart):
            counters[...] = 0
    elif prod(counters.shape) < sequences or type_name(counters) != "int32":
        raise ValueError(f"counters are {sequences} of int32 or more, got {prod(counters.shape)} of {counters.dtype}")
    return empty_beside(q, shape, "float32"), empty_beside(q, shape[:-1], "float32"), counters


# In a launch ---------------------------------------------------------------------------------------


@fx.struct
class Parts:
    """The work of a launch: up to ``splits`` parts of ``part`` blocks of keys for every sequence and kv head.

    The first ``whole`` of these are not cut. A table has pages for ``longest`` keys.
    """

    batches: fx.Int32
    kv_heads: fx.Int32
    splits: fx.Int32
    part: fx.Int32
    tokens: fx.Int32
    left: fx.Int32
    page: fx.Int32
    longest: fx.Int32
    whole: fx.Int32 = 0


def keys_in(tables: Any, page: Any) -> Any:
    """Return how many keys the pages of a table, or of a list, have room for; lengths are counted in 32 bits."""
    room = fx.Int64(tables.shape[tables.rank - 1]) * fx.Int64(page)
    return fx.min(room, fx.Int64((1 << 31) - 1)).to(fx.Int32)


def cut_of(parts):
    """Return how many sequences, each with a kv head, are cut."""
    return parts.batches * parts.kv_heads - parts.whole


def parts_in(parts):
    """Return how many parts there are at most."""
    return parts.whole + cut_of(parts) * parts.splits


@fx.struct
class Spot:
    """A part: its number, its sequence and kv head, and how many blocks of keys parts of that sequence have."""

    split: fx.Int32
    batch: fx.Int32
    head: fx.Int32
    size: fx.Int32


@flyc.jit
def spot_of(parts, index):
    """The part with a number; known before anything is read.

    All first parts come before all second ones: those that are missing leave no gap in the work of a block. So a
    sequence has the number of its first part.
    """
    cut, behind = cut_of(parts), fx.max(index - parts.whole, 0)
    split = behind // cut
    sequence, size = index - split * cut, (index < parts.whole).select(fx.Int32(1 << 30), parts.part)
    batch = sequence // parts.kv_heads
    return Spot(split, batch, sequence - batch * parts.kv_heads, size)


@flyc.jit
def piece_of(parts, spot, length, plan):
    """(the part at a spot, from and to which blocks of keys its sequence goes). A part that a sequence does not have
    has no rows. It has no more keys than its table has pages for, whatever its length, which nobody may have looked at,
    says."""
    length = fx.min(length, parts.longest)
    band = Band(length - parts.tokens, parts.left, fx.Int32(0), length)
    begin, end, plain_begin, plain_end = blocks_of(band, plan.features, fx.Int32(0), parts.tokens - 1, plan.keys)
    end = fx.max(end, begin + 1)
    lower, upper = spot.split * spot.size, (spot.split + 1) * spot.size
    rows = ((lower < end) & (upper > begin)).select(parts.tokens * plan.group, 0)
    own = fx.max(begin, lower), fx.min(end, upper)
    piece = Piece(spot.head, spot.batch, fx.Int32(0), rows, spot.split, fx.Int32(0), band, *own, plain_begin, plain_end)
    return piece, (begin, end)


def count_of(blocks, spot):
    """(how many parts a sequence has that goes from and to some blocks of keys, the first of them)."""
    begin, end = blocks
    first = begin // spot.size
    return fx.ceildiv(end, spot.size) - first, first


def part_at(parts, index, lengths, plan, starts=None):
    """(the part with a number, how many parts its sequence has, the first of them). ``starts`` are where
    sequences begin in a list of pages."""
    spot = spot_of(parts, index)
    length = lengths[spot.batch]
    if starts is not None:
        begin = start_of(starts, spot.batch, parts.longest // parts.page)
        length = fx.min(length, parts.longest - begin * parts.page)
    piece, blocks = piece_of(parts, spot, length, plan)
    return piece, *count_of(blocks, spot)


# Putting together ----------------------------------------------------------------------------------


def weighted(found, others):
    """Return (values, total, level) of what was found and of others of the same: each is of powers relative to a level
    of its own, and the sum to the highest. Where nothing is but -inf, powers are zero."""
    values, total, level = found
    highest = reduce(fx.maxnumf, [other[2] for other in others], level)
    shift = above_lowest(highest)
    less = powers_of_two(level - shift)
    values, total = values * less, total * less
    for more, sum_, top in others:
        weight = powers_of_two(top - shift)
        values, total = values + more * weight, total + sum_ * weight
    return values, total, highest


def nothing(sinks, head):
    """Return what (values, total, level) begin with: a sink, which has no value, or a power of -inf."""
    level = fx.Float32(LOWEST) if fx.const_expr(sinks is None) else fx.Float32(sinks[head]) * LOG2_E
    return fx.full(EIGHT, 0.0, fx.Float32), fx.Float32(1.0), level


def shares_of(values, total, scale=1.0):
    """Return values times a scale, as shares of their total; zeros where no key was seen."""
    factor = (total == 0.0).select(fx.Float32(0.0), scale / total)
    return (factor == 0.0).select(fx.zeros_like(values), values * factor)


@flyc.jit
def put_together(piece, first, count, out, sinks, partial, sequence, plan, done, threads):
    """Count a part that is in memory; the threads of the last one of a sequence merge them all.

    ``threads`` are this thread's number and how many there are, whole warps.
    """
    results, logarithms, counters = partial
    # What the warps wrote is ordered before the first thread's count by the barrier, and read behind it likewise.
    fx.nvvm.barrier_sync(1, threads[1])
    if threads[0] == 0:
        before = fx.atomic("add", counters, 1, at=sequence, order="acq_rel", scope="device")
        done.poke((before == count - 1).select(fx.Int32(1), 0))
    fx.nvvm.barrier_sync(1, threads[1])
    if done.peek() == 1:
        merge(piece, first, count, out, sinks, results, logarithms, sequence, plan, threads)
        if threads[0] == 0:
            counters[sequence] = 0  # for the next launch


@flyc.jit
def merge(piece, first, count, out, sinks, results, logarithms, sequence, plan, threads):
    """All parts of a sequence, weighted by their sums of exponentials; a thread has neighbouring elements of a row.

    ``threads`` are this thread's number and how many there are.
    """
    pieces = plan.dv // EIGHT
    for item in range(threads[0], piece.queries * pieces, threads[1]):
        row, column = item // pieces, item % pieces * EIGHT
        head = piece.head * plan.group + row % plan.group
        found = read_parts(
            nothing(sinks, head), results, logarithms, (sequence, row, column), first, (fx.Int32(0), count, 1), EIGHT
        )
        line = out[piece.batch, row // plan.group, head, None]
        shares_of(found[0], found[1]).to(plan.dtype).store(line, [column], alignment=16)


@flyc.jit
def merge_cluster(piece, blocks, out, sinks, places, rows, plan, cluster, threads):
    """All parts of a sequence, from the shared memory of the blocks of a cluster, each of which stores its share of the
    elements. ``blocks`` are how many have a part and the first of them, ``places`` views of (row, element) and of level
    and sum of (row, which); ``threads`` as of `merge`."""
    (count, first), (values_of, levels_of), pieces = blocks, places, plan.dv // FOUR
    begin = fx.nvvm.block_rank_in_cluster() * threads[1] + threads[0]
    for item in range(begin, rows * pieces, threads[1] * cluster):
        row, column = item // pieces, item % pieces * FOUR
        head = piece.head * plan.group + row % plan.group
        _, one, sink = nothing(sinks, head)
        value, level = fx.get_iter(values_of[row, None]) + column, fx.get_iter(levels_of[row, None])
        others = []
        for i in fx.range_constexpr(cluster):
            block = fx.min(fx.Int32(i), count - 1) + first
            some = fx.nvvm.cluster_load(value, block, fx.Float32x4)
            top, sum_ = fx.nvvm.cluster_load(level, block, fx.Float32x2)
            others.append((some, sum_, (fx.Int32(i) < count).select(top, fx.Float32(LOWEST))))
        sums, total, _ = weighted((fx.full(FOUR, 0.0, fx.Float32), one, sink), others)
        line = out[piece.batch, row // plan.group, head, None]
        shares_of(sums, total).to(plan.dtype).store(line, [column], alignment=8)


@flyc.jit
def read_parts(found, results, logarithms, place, first, some, at_once):
    """Return (values, total, level) of a row's elements at a place, with those ``found`` before: each part's times its
    sum of exponentials. ``some`` is the range of parts that are read, counted from the first one; loads of ``at_once``
    parts are under way together."""
    (sequence, row, column), (begin, count, every) = place, some
    values, total, level = found
    for start in range(begin, count, at_once * every):
        numbers = [start + i * every for i in range(at_once)]
        here = [fx.min(number, count - 1) + first for number in numbers]
        levels = [
            (number < count).select(logarithms[sequence, part, row] * LOG2_E, fx.Float32(LOWEST))
            for number, part in zip(numbers, here, strict=True)
        ]
        rows = [results[sequence, part, row, None] for part in here]
        lines = [fx.Vector.load(fx.Float32x8, line, [column], alignment=16) for line in rows]
        parts = [(line, 1.0, top) for line, top in zip(lines, levels, strict=True)]
        values, total, level = weighted((values, total, level), parts)
    return values, total, level


def teams_of(dv: int) -> tuple[int, int]:
    """Return how many teams of threads `merge_kernel` has, and parts of a row that one reads at a time."""
    teams = 1 << (MERGERS // (dv // EIGHT)).bit_length() - 1
    return teams, EIGHT if teams <= EIGHT else EIGHT // 2


def teams_of_row(rows, dv):
    """Return how many teams share each of so many rows: all of a block, or so many that blocks are not too many."""
    teams, _ = teams_of(dv)
    count = fx.Int32(1)
    for several in (1 << i for i in range(1, teams.bit_length())):
        count = (rows * several <= MERGING_BLOCKS * teams).select(fx.Int32(several), count)
    return count


@flyc.kernel
def merge_kernel(
    out: Any, lengths: Any, sinks: Any, partial: Any, parts: Any, shares: fx.Int32, rows: fx.Constexpr,
    plan: fx.Constexpr,
):  # fmt: skip
    """Put the parts of rows together, of sequences that have several. As many teams as ``shares`` says are at a row:
    each reads some of its parts, a thread neighbouring elements, and the first adds up what all have found."""
    teams, at_once = teams_of(plan.dv)
    smem = fx.SharedAllocator()
    shapes = [(plan.dv, teams), (1, teams), (1, teams)]
    places = [smem.allocate(fx.Array[fx.Float32, prod(shape), 16]).ptr for shape in shapes]
    values, totals, levels = (fx.make_view(*at) for at in zip(places, map(fx.make_layout, shapes), strict=True))
    fx.nvvm.griddepcontrol_launch_dependents()
    fx.nvvm.griddepcontrol_wait()
    elements = fx.zipped_divide(fx.make_identity_tensor((plan.dv, teams)), (EIGHT, 1))[(0, 0), None]
    column, team = (fx.Int32(at) for at in fx.get_leaves(elements[fx.thread_idx.x]))
    item, share = fx.block_idx.x * (teams // shares) + team // shares, team % shares
    place, row = fx.min(item, cut_of(parts) * rows - 1) // rows, item % rows
    piece, count, first = part_at(parts, place + parts.whole, lengths, plan)
    head = piece.head * plan.group + row % plan.group
    some = (share, (count > 1).select(count, 0), shares)
    found = read_parts(nothing(None, head), *partial, (place, row, column), first, some, at_once)
    found[0].store(values[None, team], [column], alignment=16)
    if column == 0:
        totals[0, team], levels[0, team] = found[1], found[2]
    fx.barrier()
    if (share == 0) & (count > 1) & (item < cut_of(parts) * rows):
        sums, total, level = nothing(sinks, head)
        for start in range(0, shares, EIGHT):
            numbers = [start + i for i in range(EIGHT)]
            theirs = [team + fx.min(number, shares - 1) for number in numbers]
            lines = [fx.Vector.load(fx.Float32x8, values[None, at], [column], alignment=16) for at in theirs]
            tops = [
                (number < shares).select(levels[0, at], fx.Float32(LOWEST))
                for number, at in zip(numbers, theirs, strict=True)
            ]
            others = [(line, totals[0, at], top) for line, at, top in zip(lines, theirs, tops, strict=True)]
            sums, total, level = weighted((sums, total, level), others)
        line = out[piece.batch, row // plan.group, head, None]
        shares_of(sums, total).to(plan.dtype).store(line, [column], alignment=16)


def launch_merge(
    out: Any, lengths: Any, sinks: Any, partial: Any, parts: Any, rows: int, plan: Any, stream: Any
) -> None:
    """Put parts together in a launch that depends on the one before, with all multiprocessors."""
    shares, teams = teams_of_row(cut_of(parts) * rows, plan.dv), teams_of(plan.dv)[0]
    merge_kernel(out, lengths, sinks, partial, parts, shares, rows, plan).launch(
        grid=(fx.ceildiv(cut_of(parts) * rows, teams // shares), 1, 1), block=(teams * (plan.dv // EIGHT), 1, 1),
        stream=stream, pdl=True,
    )  # fmt: skip
