"""Sorting tokens by expert, for products that take the rows of one expert together.

moe_sorting_flydsl(topk_ids, topk_weights, sorted_ids, sorted_weights, sorted_expert_ids, num_valid_ids, moe_buf, E)

It is a counting sort of the pairs (token, slot), stable, so that results do not depend on the order in which threads
come by. Up to 2048 pairs one block counts, adds up and writes in one launch. Beyond, a first launch counts chunks of
pairs, and in a second one each block adds up the counts of the chunks before its own and writes its pairs. Both clear
``moe_buf`` on the way, into which the second stage adds.

An expert's entries are padded to a multiple of ``unit``, so that a block of rows has one expert; `references.Order`
says what the buffers hold. Nothing is asked of the pairs: a token may list an expert twice, and experts that are masked
or do not exist are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.inputs import check_array, empty_beside, lies_whole, on_given_stream, stream_of, written_as
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.moe.references import SLOT_SHIFT, order_length
from flydsl.kernels.moe.topk_gating import (
    build_topk_gating_softmax_module,
    expert_named,
    gate_all,
    lanes_of,
    largest_chances,
)

THREADS = 256
ONE_LAUNCH = 8 * THREADS
"""Pairs that one block sorts alone."""
CHUNKS = 128
"""The most blocks that count and write; each adds up the counts of all."""
TOGETHER = 8
"""Numbers of a thread that are under way at a time."""
GATED_ITERATIONS = 4
"""Turns of tokens that one block gates before it sorts; more are faster by many blocks, in a launch of their own."""
SMALLEST_WAVE = 32
CLEARING = 64
"""Blocks that clear the buffer beside one that sorts alone."""


class Pairs:
    """The pairs (token, slot) and the experts that they name."""

    def __init__(self, ids: Any, weights: Any, mask: Any, local: Any, tokens: Any, experts: int, topk: int) -> None:
        self.ids, self.weights, self.mask, self.experts, self.topk = ids, weights, mask, experts, topk
        here = local if local is None or not isinstance(local, fx.Tensor) else local[0]
        self.count = self.alive = tokens * topk
        if here is not None:
            known = fx.max(fx.min(fx.Int64(here), fx.Int64(tokens)), fx.Int64(0))
            self.alive = known.to(fx.Int32) * topk

    def expert(self, pair: fx.Int32) -> Any:
        """Return the expert of a pair, or -1 for one that is left out."""
        found = fx.Int32(-1)
        if pair < self.alive:
            found = expert_named(self.ids[pair], self.experts)
        if fx.const_expr(self.mask is not None):
            if found >= 0:
                found = (self.mask[found] != 0).select(found, fx.Int32(-1))
        return found

    def entry(self, pair: fx.Int32) -> Any:
        return pair // self.topk | (pair % self.topk) << SLOT_SHIFT


@flyc.jit
def count_pairs(pairs: Pairs, counts: Any, first: fx.Int32, rounds: fx.Int32) -> None:
    """Count the pairs of each expert from ``first`` on, a round for all threads at a time, in shared memory."""
    thread = fx.thread_idx.x
    for expert in range(thread, fx.Int32(pairs.experts), THREADS):
        counts[expert] = 0
    fx.barrier()
    for iteration in range(rounds):
        expert = pairs.expert(first + iteration * THREADS + thread)
        if expert >= 0:
            fx.atomic("add", counts.view(fx.make_layout(pairs.experts, 1)), 1, at=expert)
    fx.barrier()


@flyc.jit
def add_up(counts: Any, starts: Any, names: Any, mask: Any, experts: int, unit: int) -> Any:
    """Return where each expert's entries start, what it is called among those that are there; how many entries and
    names.

    A scan takes an expert from each thread; what was found before is carried to the next scan.
    """
    thread, scan = fx.thread_idx.x, fx.coop.BlockScan(fx.Int32)
    blocks_before, names_before = fx.Int32(0), fx.Int32(0)
    for first in fx.range_constexpr(0, experts, THREADS):
        expert = first + thread
        blocks, there = fx.Int32(0), fx.Int32(0)
        if expert < experts:
            blocks, there = (counts[expert] + (unit - 1)) // unit, fx.Int32(1)
        if fx.const_expr(mask is not None):
            if expert < experts:
                there = (mask[expert] != 0).select(fx.Int32(1), fx.Int32(0))
        before, all_blocks = scan.exclusive_with_aggregate(blocks, "add")
        named, all_names = scan.exclusive_with_aggregate(there, "add")
        if expert < experts:
            starts[expert] = (blocks_before + before) * unit
            names[expert] = names_before + named
        blocks_before, names_before = blocks_before + all_blocks, names_before + all_names
    fx.barrier()
    return blocks_before * unit, names_before


@flyc.jit
def write_padding(out: Any, tables: Any, total: fx.Int32, sizes: Any, share: fx.Int32, shares: fx.Int32) -> None:
    """The experts of blocks, padding behind the entries of experts, and what lies behind the last block."""
    (ids, weights, expert_ids), (counts, starts, names), (experts, unit, entries, padding) = out, tables, sizes
    thread = fx.thread_idx.x
    for expert in range(share, fx.Int32(experts), shares):
        start, count = starts[expert], counts[expert]
        blocks = (count + (unit - 1)) // unit
        for block in range(thread, blocks, THREADS):
            expert_ids[start // unit + block] = names[expert]
        for place in range(start + count + thread, start + blocks * unit, THREADS):
            ids[place] = padding
            weights[place] = fx.Float32(0)
    mine = share * THREADS + thread
    for place in range(total + mine, entries, shares * THREADS):
        ids[place] = padding
        weights[place] = fx.Float32(0)
    for block in range(total // unit + mine, fx.ceildiv(entries, unit), shares * THREADS):
        expert_ids[block] = -1


@flyc.jit
def write_pairs(
    pairs: Pairs, out: Any, lists: Any, places: Any, others: Any, first: fx.Int32, rounds: fx.Int32
) -> None:
    """Each pair to the next place of its expert; among those of a round the order is that of the threads."""
    thread, (ids, weights, _), (tokens, targets, _) = fx.thread_idx.x, out, lists
    for iteration in range(rounds):
        pair = first + iteration * THREADS + thread
        expert = pairs.expert(pair)
        fx.barrier()  # the places of the round before are taken, and its experts read
        others[thread] = expert
        fx.barrier()
        before, same = fx.Int32(0), fx.Int32(0)
        for other in range(THREADS):
            equal = (others[other] == expert).select(fx.Int32(1), fx.Int32(0))
            before += (other < thread).select(equal, fx.Int32(0))
            same += equal
        place = fx.Int32(0)
        if expert >= 0:
            place = places[expert] + before
            weights[place] = pairs.weights[pair]
            if fx.const_expr(ids is not None):
                ids[place] = pairs.entry(pair)
            if fx.const_expr(tokens is not None):
                tokens[place] = pair // pairs.topk
                targets[place] = pair
        fx.barrier()
        if (expert >= 0) & (before == 0):
            places[expert] = place + same


@flyc.jit
def write_end(
    ends: Any, pairs: Pairs, expert: fx.Int32, name: fx.Int32, named: fx.Int32, end: fx.Int32, total: fx.Int32
) -> None:
    """Where an expert's entries end, by its name; behind the names, of those that are masked, the end of all."""
    if fx.const_expr(pairs.mask is not None):
        there = pairs.mask[expert] != 0
        name = there.select(name, named + (expert - name))
        end = there.select(end, total)
    ends[name] = end


@flyc.jit
def sum_chunks(workspace: Any, counts: Any, before: Any, experts: int, chunk: fx.Int32, chunks: fx.Int32) -> None:
    """The counts of each expert in all chunks, and in those before this one."""
    for expert in range(fx.thread_idx.x, fx.Int32(experts), THREADS):
        total, earlier = fx.Int32(0), fx.Int32(0)
        for first in range(0, chunks, TOGETHER):
            found = [workspace[fx.min(first + i, chunks - 1) * experts + expert] for i in range(TOGETHER)]
            for i, count in enumerate(found):
                total += (first + i < chunks).select(count, fx.Int32(0))
                earlier += (first + i < chunk).select(count, fx.Int32(0))
        counts[expert] = total
        before[expert] = earlier
    fx.barrier()


@flyc.jit
def sort_chunk(
    pairs: Pairs, out: Any, lists: Any, num_valid: Any, workspace: Any, tokens: fx.Int32, unit: int, chunks: fx.Int32,
    rounds: fx.Int32,
) -> None:  # fmt: skip
    """One block: its chunk of the pairs to their places, and its share of the padding."""
    experts, thread, chunk, shared = pairs.experts, fx.thread_idx.x, fx.block_idx.x, fx.SharedAllocator()
    counts, starts, names, places = (shared.allocate(fx.Array[fx.Int32, experts]).peek() for _ in range(4))
    others = shared.allocate(fx.Array[fx.Int32, THREADS]).peek()
    if fx.const_expr(workspace is None):
        count_pairs(pairs, counts, fx.Int32(0), rounds)
    else:
        sum_chunks(workspace, counts, places, experts, chunk, chunks)
    total, named = add_up(counts, starts, names, pairs.mask, experts, unit)
    for expert in range(thread, fx.Int32(experts), THREADS):
        earlier = fx.Int32(0) if workspace is None else places[expert]
        places[expert] = starts[expert] + earlier
        if fx.const_expr(lists[2] is not None):
            if chunk == 0:
                write_end(lists[2], pairs, expert, names[expert], named, starts[expert] + counts[expert], total)
    sizes = (experts, unit, pairs.count + (experts * unit - pairs.topk), tokens | pairs.topk << SLOT_SHIFT)
    if fx.const_expr(out[0] is not None):
        write_padding(out, (counts, starts, names), total, sizes, chunk, chunks)
    write_pairs(pairs, out, lists, places, others, chunk * rounds * THREADS, rounds)
    if (chunk == 0) & (thread == 0):
        num_valid[0] = total
        num_valid[1] = tokens


@flyc.jit
def clear(buffer: Any) -> None:
    """Set a buffer to zero, by all blocks, a word at a time."""
    words = fx.Int64(fx.get_scalar(fx.size(buffer))) * (buffer.dtype.width // 8) // 4
    view = fx.make_view(fx.recast_iter(fx.Int32, fx.get_iter(buffer)), fx.make_layout(words, 1))
    mine = fx.block_idx.x * THREADS + fx.thread_idx.x
    for word in range(fx.Int64(mine), words, fx.Int64(fx.grid_dim.x * THREADS)):
        view[word] = 0


@kept
def compile_moe_sorting(*, num_experts: int, topk: int, unit_size: int = 32) -> Any:
    """Return the launcher ``sort(ids, weights, sorted_ids, sorted_weights, expert_ids, num_valid, buffer, mask, local,
    workspace, T, stream, tokens, targets, ends)`` over flat arrays; the buffer, the mask and the number of local tokens
    may be None. Without a workspace one block sorts alone. Where they are given, ``tokens`` and ``targets`` get each
    entry's token and pair, ``ends`` where each expert's entries end; ``sorted_ids`` and ``expert_ids`` may then be
    None."""
    for name, value, most in (
        ("num_experts", num_experts, 4096), ("topk", topk, 127), ("unit_size", unit_size, 1 << 16),
    ):  # fmt: skip
        if not 1 <= value <= most:
            raise ValueError(f"{name} is 1 to {most}, got {value}")

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def count_kernel(
        ids: fx.Tensor, weights: fx.Tensor, mask: fx.Tensor | None, local, workspace: fx.Tensor, T: fx.Int32,
        rounds: fx.Int32,
    ):  # fmt: skip
        pairs = Pairs(ids, weights, mask, local, T, num_experts, topk)
        counts = fx.SharedAllocator().allocate(fx.Array[fx.Int32, num_experts]).peek()
        chunk = fx.block_idx.x
        count_pairs(pairs, counts, chunk * rounds * THREADS, rounds)
        for expert in range(fx.thread_idx.x, fx.Int32(num_experts), THREADS):
            workspace[chunk * num_experts + expert] = counts[expert]

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def sort_kernel(
        ids: fx.Tensor, weights: fx.Tensor, sorted_ids: fx.Tensor | None, sorted_weights: fx.Tensor,
        expert_ids: fx.Tensor | None, num_valid: fx.Tensor, buffer: fx.Tensor | None, mask: fx.Tensor | None, local,
        workspace: fx.Tensor | None, T: fx.Int32, chunks: fx.Int32, rounds: fx.Int32, lists,
    ):  # fmt: skip
        if fx.const_expr(buffer is not None):
            clear(buffer)
        if fx.block_idx.x < chunks:
            pairs = Pairs(ids, weights, mask, local, T, num_experts, topk)
            out = (sorted_ids, sorted_weights, expert_ids)
            sort_chunk(pairs, out, lists, num_valid, workspace, T, unit_size, chunks, rounds)

    @flyc.jit
    def sort(
        ids: fx.Tensor, weights: fx.Tensor, sorted_ids: fx.Tensor | None, sorted_weights: fx.Tensor,
        expert_ids: fx.Tensor | None, num_valid: fx.Tensor, buffer: fx.Tensor | None, mask: fx.Tensor | None, local,
        workspace: fx.Tensor | None, T: fx.Int32, stream: fx.Stream = fx.Stream(None), tokens: fx.Tensor | None = None,
        targets: fx.Tensor | None = None, ends: fx.Tensor | None = None,
    ):  # fmt: skip
        rounds = fx.ceildiv(T * topk, THREADS)
        chunks, blocks = fx.Int32(1), 1 if buffer is None else CLEARING
        if fx.const_expr(workspace is not None):
            rounds = fx.ceildiv(rounds, CHUNKS)
            chunks = fx.max(fx.ceildiv(T * topk, rounds * THREADS), fx.Int32(1))
            blocks = chunks
            count_kernel(ids, weights, mask, local, workspace, T, rounds).launch(
                grid=(chunks, 1, 1), block=(THREADS, 1, 1), stream=stream
            )
        sort_kernel(
            ids, weights, sorted_ids, sorted_weights, expert_ids, num_valid, buffer, mask, local, workspace, T, chunks,
            rounds, (tokens, targets, ends),
        ).launch(grid=(blocks, 1, 1), block=(THREADS, 1, 1), stream=stream)  # fmt: skip

    return sort


@flyc.jit
def gate_tokens(
    logits: Any, weights: Any, ids: Any, T: Any, topk: int, renormalize: bool, also: Callable[[Any, Any], None] | None
) -> None:
    """One block: the experts of all tokens, as many at a time as there are lanes for. ``logits`` are an array and its
    experts; ``also`` is called with each place of ``ids`` and what it gets."""
    lanes = lanes_of(logits[1], fx.num_warp_threads())
    lane, group, at_once = fx.thread_idx.x % lanes, fx.thread_idx.x // lanes, THREADS // lanes
    for iteration in range(fx.ceildiv(T, at_once)):
        place = iteration * at_once + group
        token = fx.min(place, T - 1)
        picked = largest_chances(logits, token, lane, lanes, topk, renormalize)
        if (place < T) & (lane == 0):
            for j, (weight, expert) in enumerate(picked):
                weights[token * topk + j] = weight
                ids[token * topk + j] = expert
                if fx.const_expr(also is not None):
                    also(token * topk + j, expert)


@kept
def compile_softmax_sort(*, num_experts: int, topk: int, unit_size: int = 32, renormalize: bool = True) -> Any:
    """Return the launcher ``fn(logits, weights, ids, sorted_ids, sorted_weights, expert_ids, num_valid, buffer, mask,
    local, T, stream)``: gating and sorting by one block in one launch, in `GATED_ITERATIONS` iterations over tokens."""

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def softmax_sort_kernel(
        logits: fx.Tensor, weights: fx.Tensor, ids: fx.Tensor, sorted_ids: fx.Tensor, sorted_weights: fx.Tensor,
        expert_ids: fx.Tensor, num_valid: fx.Tensor, buffer: fx.Tensor | None, mask: fx.Tensor | None, local,
        T: fx.Int32,
    ):  # fmt: skip
        if fx.const_expr(buffer is not None):
            clear(buffer)
        if fx.block_idx.x == 0:
            gate_tokens((logits, num_experts), weights, ids, T, topk, renormalize, None)
            fx.barrier()
            pairs = Pairs(ids, weights, mask, local, T, num_experts, topk)
            out, rounds = (sorted_ids, sorted_weights, expert_ids), fx.ceildiv(T * topk, THREADS)
            sort_chunk(pairs, out, (None, None, None), num_valid, None, T, unit_size, fx.Int32(1), rounds)

    @flyc.jit
    def softmax_sort(
        logits: fx.Tensor, weights: fx.Tensor, ids: fx.Tensor, sorted_ids: fx.Tensor, sorted_weights: fx.Tensor,
        expert_ids: fx.Tensor, num_valid: fx.Tensor, buffer: fx.Tensor | None, mask: fx.Tensor | None, local,
        T: fx.Int32, stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        softmax_sort_kernel(
            logits, weights, ids, sorted_ids, sorted_weights, expert_ids, num_valid, buffer, mask, local, T
        ).launch(grid=(1 if buffer is None else CLEARING, 1, 1), block=(THREADS, 1, 1), stream=stream)

    return softmax_sort


@flyc.jit
def name_experts(names: Any, mask: Any, experts: int) -> Any:
    """Write what each expert is called among those that the mask leaves to ``names``; return how many those are."""
    thread, scan, named = fx.thread_idx.x, fx.coop.BlockScan(fx.Int32), fx.Int32(0)
    for first in fx.range_constexpr(0, experts, THREADS):
        there = fx.Int32(0)
        if first + thread < experts:
            there = (mask[first + thread] != 0).select(fx.Int32(1), fx.Int32(0))
        before, all_ = scan.exclusive_with_aggregate(there, "add")
        if first + thread < experts:
            names[first + thread] = named + before
        named = named + all_
    return named


@kept
def compile_served_mask(num_experts: int, here: int) -> Any:
    """Return the launcher ``fn(mask, out, stream)``, which writes i32: 1 for each of the first ``here`` experts that a
    mask names."""

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def served_mask_kernel(mask: fx.Tensor, out: fx.Tensor):
        name_experts(out, mask, num_experts)
        for expert in range(fx.thread_idx.x, fx.Int32(num_experts), THREADS):  # those that this thread has named
            out[expert] = ((mask[expert] != 0) & (out[expert] < here)).select(fx.Int32(1), fx.Int32(0))

    @flyc.jit
    def served_mask(mask: fx.Tensor, out: fx.Tensor, stream: fx.Stream = fx.Stream(None)):
        served_mask_kernel(mask, out).launch(grid=(1, 1, 1), block=(THREADS, 1, 1), stream=stream)

    return served_mask


def fits_one_launch(tokens: int, experts: int, topk: int) -> bool:
    """Return whether one block gates and sorts: few iterations over tokens, few pairs."""
    at_once = THREADS // lanes_of(experts, SMALLEST_WAVE)
    return 0 < tokens <= GATED_ITERATIONS * at_once and tokens * topk <= ONE_LAUNCH


# Calls ---------------------------------------------------------------------------------------------------------------


def moe_sorting_get_workspace_size(M: int, E: int, topk: int, unit: int = 32) -> int:
    """i32 that sorting ``M`` tokens needs beside its results: none where one launch does."""
    if M * topk <= ONE_LAUNCH:
        return 0
    rounds = -(-M * topk // THREADS)
    return -(-rounds // -(-rounds // CHUNKS)) * E


@on_given_stream
def moe_sorting_flydsl(
    topk_ids: Any, topk_weights: Any, sorted_ids: Any, sorted_weights: Any, sorted_expert_ids: Any, num_valid_ids: Any,
    moe_buf: Any, num_experts: int, unit_size: int = 32, expert_mask: Any = None, num_local_tokens: Any = None,
    workspace: Any = None, stream: object = None,
) -> tuple[Any, Any, Any, Any, Any]:  # fmt: skip
    """Sort pairs by expert into the given buffers, and set ``moe_buf`` to zero. Gives the five buffers.

    ``num_local_tokens`` is a number, or an array of one that only the device reads. A workspace is allocated where one
    is needed and none is given.
    """
    tokens, topk = topk_ids.shape
    sort = compile_moe_sorting(num_experts=num_experts, topk=topk, unit_size=unit_size)
    check_buffers(tokens, topk, num_experts, unit_size, topk_ids, topk_weights, sorted_ids, sorted_weights,
                  sorted_expert_ids, num_valid_ids, moe_buf, expert_mask, num_local_tokens)  # fmt: skip
    needed = moe_sorting_get_workspace_size(tokens, num_experts, topk, unit_size)
    if needed and workspace is None:
        workspace = empty_beside(sorted_ids, (needed,))
    elif needed and workspace.shape[0] < needed:
        raise ValueError(f"the workspace has {workspace.shape[0]} words; sorting {tokens} tokens takes {needed}")
    buffer = None if moe_buf is None else moe_buf.reshape(-1)
    sort(
        topk_ids.reshape(-1), topk_weights.reshape(-1), sorted_ids, sorted_weights, sorted_expert_ids, num_valid_ids,
        buffer, expert_mask, num_local_tokens, workspace if needed else None, tokens, stream_of(topk_ids, stream),
    )  # fmt: skip
    return sorted_ids, sorted_weights, sorted_expert_ids, num_valid_ids, moe_buf


def served_mask(mask: Any, here: int, stream: object) -> Any:
    """Return a mask, or None, that names no more experts than the ``here`` that have weights: the first ones. It lies
    where it may not be read on the host, and experts without weights must count nothing."""
    if mask is None or mask.shape[0] <= here:
        return mask
    check_mask(mask, mask.shape[0])
    served = empty_beside(mask, (mask.shape[0],), "int32")
    compile_served_mask(mask.shape[0], here)(mask, served, stream_of(mask, stream))
    return served


def check_mask(mask: Any, experts: int) -> None:
    """Refuse a mask that is too short, or of no type that a kernel reads."""
    check_array("expert_mask", mask, experts, ("int32", "int8", "uint8", "bool"))


def check_buffers(
    tokens: int, topk: int, experts: int, unit: int, ids: Any, weights: Any, sorted_ids: Any, sorted_weights: Any,
    expert_ids: Any, num_valid: Any, buffer: Any, mask: Any, local: Any = None,
) -> None:  # fmt: skip
    """Refuse what would be read or written outside."""
    if tokens >= 1 << SLOT_SHIFT:
        raise ValueError(f"an entry has {SLOT_SHIFT} bits for its token; {tokens} tokens are too many")
    entries = order_length(tokens, topk, experts, unit)
    wanted = (
        ("topk_ids", ids, tokens * topk, ("int32", "int64")), ("topk_weights", weights, tokens * topk, ("float32",)),
        ("sorted_ids", sorted_ids, entries, ("int32",)), ("sorted_weights", sorted_weights, entries, ("float32",)),
        ("sorted_expert_ids", expert_ids, -(-entries // unit), ("int32",)), ("num_valid_ids", num_valid, 2, ("int32",)),
    )  # fmt: skip
    if mask is not None:
        check_mask(mask, experts)
    if hasattr(local, "shape"):
        check_array("num_local_tokens", local, 1, ("int32", "int64"))
    for name, array, count, types in (entry for entry in wanted if entry[1] is not None):
        check_array(name, array, count, types)
    if buffer is not None and prod(buffer.shape) * buffer.dtype.itemsize % 4:
        raise ValueError("moe_buf is set to zero by words of four bytes, and its size is no multiple of that")
    if buffer is not None and not lies_whole(buffer):
        raise ValueError(f"moe_buf must be contiguous; it is {tuple(buffer.shape)} with elements that lie apart")


def moe_softmax_sort_flydsl(
    gating_logits: Any, topk_weights: Any, topk_ids: Any, sorted_ids: Any, sorted_weights: Any, sorted_expert_ids: Any,
    num_valid_ids: Any, moe_buf: Any, num_experts: int, topk: int, dtype_str: str = "bf16", unit_size: int = 32,
    expert_mask: Any = None, renormalize: bool = True, num_local_tokens: Any = None, stream: object = None,
) -> tuple[Any, Any, Any, Any, Any]:  # fmt: skip
    """Return the ``topk`` largest of each token's softmax, into ``topk_weights`` and ``topk_ids``, and their order.

    For few tokens it is one launch, else those of gating and of sorting.
    """
    build_topk_gating_softmax_module(num_experts, topk, dtype_str, renormalize)  # which refuses what has no kernel
    tokens, stream = gating_logits.shape[0], stream_of(gating_logits, stream)
    if tuple(gating_logits.shape[1:]) != (num_experts,):
        raise ValueError(f"logits are (T, {num_experts}), one for each expert, got {tuple(gating_logits.shape)}")
    check_buffers(tokens, topk, num_experts, unit_size, topk_ids, topk_weights, sorted_ids, sorted_weights,
                  sorted_expert_ids, num_valid_ids, moe_buf, expert_mask, num_local_tokens)  # fmt: skip
    for name, array in (("topk_ids", topk_ids), ("topk_weights", topk_weights)):
        if tuple(array.shape) != (tokens, topk):
            raise ValueError(f"{name} is {(tokens, topk)}, {topk} for each token, got {tuple(array.shape)}")
    if fits_one_launch(tokens, num_experts, topk):
        run = compile_softmax_sort(num_experts=num_experts, topk=topk, unit_size=unit_size, renormalize=renormalize)
        buffer = None if moe_buf is None else moe_buf.reshape(-1)
        ids, weights = written_as("topk_ids", topk_ids, -1), written_as("topk_weights", topk_weights, -1)
        run(gating_logits, weights, ids, sorted_ids, sorted_weights, sorted_expert_ids, num_valid_ids, buffer,
            expert_mask, num_local_tokens, tokens, stream)  # fmt: skip
        return sorted_ids, sorted_weights, sorted_expert_ids, num_valid_ids, moe_buf
    gate_all(gating_logits, topk_weights, topk_ids, renormalize, stream)
    return moe_sorting_flydsl(
        topk_ids, topk_weights, sorted_ids, sorted_weights, sorted_expert_ids, num_valid_ids, moe_buf, num_experts,
        unit_size, expert_mask, num_local_tokens, None, stream,
    )  # fmt: skip


__all__ = [
    "compile_moe_sorting", "moe_softmax_sort_flydsl", "moe_sorting_flydsl", "moe_sorting_get_workspace_size",
]  # fmt: skip
