"""The order of pairs (token, slot) by expert, without padding, for products of groups of rows.

    weights, tokens, targets, ends = sort_rows(topk_ids, topk_weights, num_experts)

Up to `MOST_RANKED` pairs, a pair's place is how many pairs come before it: each is compared with all of them, which
takes no counts, no sums over blocks and one launch. A block that routes few tokens itself goes on with their order.
More pairs are counted and placed by `sorting`. The order is stable, so that it does not depend on who came first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.exchange import begin_behind_older_launches
from flydsl.kernels.blocks.inputs import empty_beside, on_given_stream, stream_of, written_as
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.reduce import add, wave_reduce
from flydsl.kernels.moe.sorting import (
    SMALLEST_WAVE,
    THREADS,
    TOGETHER,
    check_buffers,
    compile_moe_sorting,
    gate_tokens,
    moe_sorting_get_workspace_size,
    name_experts,
)
from flydsl.kernels.moe.topk_gating import expert_named, gate_all, lanes_of

MOST_RANKED = 4096
"""Pairs that are compared with each other; their keys are in the shared memory of a block."""
FEW_PAIRS = 256
"""Pairs that one block routes and ranks."""
GATED_ITERATIONS = 2
"""Turns of tokens that one block routes; more are faster by many blocks, in a launch of their own."""
LANES = 8
"""Threads that share a comparison, where there are many pairs."""
LAST = 2**31 - 1


class RowOrder(NamedTuple):
    """Entries by expert: the weight, the token and the pair of each, and where each expert's end."""

    weights: Any
    tokens: Any
    targets: Any
    ends: Any


class Keys:
    """A number for each pair that says its place: its expert's, then its own. Pairs left out come behind the others."""

    def __init__(self, mask: Any, experts: int, room: int) -> None:
        self.mask, self.experts, self.room = mask, experts, room
        shared = fx.SharedAllocator()
        pointer = shared.allocate(fx.Array[fx.Int32, room, 16]).ptr
        self.names = None if mask is None else shared.allocate(fx.Array[fx.Int32, experts]).peek()
        self.flat = fx.make_view(pointer, fx.make_layout(room, 1))
        self.fours = fx.make_view(pointer, fx.make_layout((4, room // 4), (1, 4)))
        self.behind = experts * room

    def put(self, pair: Any, expert: Any) -> None:
        there = (expert >= 0) & (expert < self.experts)
        if self.mask is not None:
            there = there & (self.mask[there.select(expert, fx.Int32(0))] != 0)
        self.flat[pair] = there.select(expert, fx.Int32(self.experts)) * self.room + pair

    @flyc.jit
    def put_all(self, ids: Any, count: Any) -> None:
        """The keys of all pairs; of each turn the ids are under way together."""
        for first in range(fx.thread_idx.x, count, THREADS * TOGETHER):
            pairs = [first + i * THREADS for i in range(TOGETHER)]
            experts = [expert_named(ids[fx.min(pair, count - 1)], self.experts) for pair in pairs]
            for pair, expert in zip(pairs, experts, strict=True):
                if pair < count:
                    self.put(pair, expert)

    @flyc.jit
    def below(self, limit: Any, count: Any, lane: Any, lanes: int) -> Any:
        """Return how many of the keys are less than a limit, by the lanes that share the question."""
        found = fx.Int32(0)
        for four in range(lane, fx.ceildiv(count, 4), lanes):
            for key in self.fours[None, four].load():
                found += (key < limit).select(fx.Int32(1), fx.Int32(0))
        return wave_reduce(found, add, lanes)


@flyc.jit
def place_pairs(keys: Keys, weights: Any, out: RowOrder, count: Any, topk: int, lanes: int) -> None:
    """Each pair to its place, and where each expert's end; questions go round the threads of all blocks."""
    experts, mask = keys.experts, keys.mask
    names, named = keys.names, fx.Int32(experts)
    if fx.const_expr(mask is not None):
        named = name_experts(names, mask, experts)
    for pair in range(count + fx.thread_idx.x, fx.ceildiv(count, 4) * 4, THREADS):
        keys.flat[pair] = LAST
    fx.barrier()
    each, lane = THREADS // lanes, fx.thread_idx.x % lanes
    first, questions = fx.block_idx.x * each + fx.thread_idx.x // lanes, count + experts
    for turn in range(fx.ceildiv(questions, fx.grid_dim.x * each)):
        question = first + turn * (fx.grid_dim.x * each)
        expert = fx.min(question - count, fx.Int32(experts - 1))
        is_pair, is_expert = question < count, (question >= count) & (question < questions)
        limit, name = (expert + 1) * keys.room, expert
        if fx.const_expr(mask is not None):
            at = fx.max(expert, fx.Int32(0))
            there = mask[at] != 0
            limit = there.select(limit, fx.Int32(keys.behind))
            name = there.select(names[at], named + (at - names[at]))
        if is_pair:
            limit = keys.flat[question]
        place = keys.below(limit, count, lane, lanes)
        if (lane == 0) & is_pair & (limit < keys.behind):
            out.weights[place] = weights[question]
            out.tokens[place] = question // topk
            out.targets[place] = question
        if (lane == 0) & is_expert:
            out.ends[name] = place


@kept
def compile_ranking(*, num_experts: int, topk: int, routes: bool, renormalize: bool = True) -> Any:
    """Return the launcher ``fn(logits, ids, weights, mask, weights, tokens, targets, ends, T, stream)`` over flat
    arrays."""
    room, lanes = (FEW_PAIRS, 1) if routes else (MOST_RANKED, LANES)

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def ranking_kernel(
        logits: fx.Tensor | None, ids: fx.Tensor, weights: fx.Tensor, mask: fx.Tensor | None, row_weights: fx.Tensor,
        tokens: fx.Tensor, targets: fx.Tensor, ends: fx.Tensor, T: fx.Int32,
    ):  # fmt: skip
        begin_behind_older_launches()
        keys = Keys(mask, num_experts, room)
        if fx.const_expr(routes):
            gate_tokens((logits, num_experts), weights, ids, T, topk, renormalize, keys.put)
        else:
            keys.put_all(ids, T * topk)
        fx.barrier()
        place_pairs(keys, weights, RowOrder(row_weights, tokens, targets, ends), T * topk, topk, lanes)

    @flyc.jit
    def ranking(
        logits: fx.Tensor | None, ids: fx.Tensor, weights: fx.Tensor, mask: fx.Tensor | None, row_weights: fx.Tensor,
        tokens: fx.Tensor, targets: fx.Tensor, ends: fx.Tensor, T: fx.Int32, stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        blocks = 1 if routes else fx.ceildiv(T * topk + num_experts, THREADS // lanes)
        ranking_kernel(logits, ids, weights, mask, row_weights, tokens, targets, ends, T).launch(
            grid=(blocks, 1, 1), block=(THREADS, 1, 1), stream=stream, pdl=fx.nvvm.has_dependent_launches()
        )

    return ranking


def routes_itself(tokens: int, experts: int, topk: int) -> bool:
    """Return whether one block routes and ranks: few turns of tokens, few pairs."""
    at_once = THREADS // lanes_of(experts, SMALLEST_WAVE)
    return tokens <= GATED_ITERATIONS * at_once and tokens * topk <= FEW_PAIRS


@on_given_stream
def sort_rows(
    topk_ids: Any, topk_weights: Any, num_experts: int, expert_mask: Any = None, stream: object = None,
    logits: Any = None, renormalize: bool = True,
) -> RowOrder:  # fmt: skip
    """Entries without padding, T * topk of each list.

    ``ends`` says where each expert's entries end, by the number it has among those that the mask leaves; entries behind
    the last have no rows. With ``logits`` ids and weights are those of the largest of a softmax, and are written here.
    """
    tokens, topk = topk_ids.shape
    count = tokens * topk
    room = -(-max(count, 1) // 4) * 4  # lists begin at multiples of 16 bytes
    words = empty_beside(topk_ids, (2 * room + num_experts + 2,), "int32")
    rows, targets, ends, valid = words[:room], words[room : 2 * room], words[2 * room : -2], words[-2:]
    weights, stream = empty_beside(topk_weights, (room,)), stream_of(topk_ids, stream)
    check_buffers(tokens, topk, num_experts, 1, topk_ids, topk_weights, None, None, None, valid, None, expert_mask)
    if logits is None:
        pairs = topk_ids.reshape(-1), topk_weights.reshape(-1)
    else:
        pairs = written_as("topk_ids", topk_ids, count), written_as("topk_weights", topk_weights, count)
    routes = logits is not None and tokens > 0 and routes_itself(tokens, num_experts, topk)
    if logits is not None and not routes:
        gate_all(logits, topk_weights, topk_ids, renormalize, stream)
    if count <= MOST_RANKED:
        run = compile_ranking(num_experts=num_experts, topk=topk, routes=routes, renormalize=renormalize or not routes)
        run(logits if routes else None, *pairs, expert_mask, weights, rows, targets, ends, tokens, stream)
    else:
        space = empty_beside(topk_ids, (moe_sorting_get_workspace_size(tokens, num_experts, topk, 1),), "int32")
        sort = compile_moe_sorting(num_experts=num_experts, topk=topk, unit_size=1)
        sort(*pairs, None, weights, None, valid, None, expert_mask, None, space, tokens, stream, rows, targets, ends)
    return RowOrder(weights[:count], rows[:count], targets[:count], ends)


# Rows in that order --------------------------------------------------------------------------------------------------

PIECES = 4
"""Of a row, that a thread copies; they are under way together."""


@kept
def compile_gather(words: int) -> Any:
    """Return the launcher ``fn(X, rows, out, stream)``: rows of X, as i32, that an index names; one outside stands for
    any."""
    width = 4 if words % 4 == 0 else 1
    pieces = words // width

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def gather_kernel(X: fx.Tensor, rows: fx.Tensor, out: fx.Tensor, count: fx.Int32):
        begin_behind_older_launches()
        last, found = fx.Int32(X.shape[0]) - 1, []
        first = fx.Int64(fx.block_idx.x) * (THREADS * PIECES) + fx.thread_idx.x
        for i in fx.range_constexpr(PIECES):
            number = fx.min(first + i * THREADS, fx.Int64(count) * pieces - 1)
            row, piece = fx.Int32(number // pieces), fx.Int32(number % pieces)
            source = fx.min(fx.max(fx.Int32(rows[row]), fx.Int32(0)), last)
            found.append((row, piece, fx.logical_divide(X[source, None], fx.make_layout(width, 1))[None, piece].load()))
        for row, piece, vector in found:
            fx.logical_divide(out[row, None], fx.make_layout(width, 1))[None, piece].store(vector)

    @flyc.jit
    def gather(X: fx.Tensor, rows: fx.Tensor, out: fx.Tensor, count: fx.Int32, stream: fx.Stream = fx.Stream(None)):
        blocks = fx.ceildiv(fx.Int64(count) * pieces, THREADS * PIECES)
        gather_kernel(X.aligned(4 * width), rows, out.aligned(4 * width), count).launch(
            grid=(fx.Int32(blocks), 1, 1), block=(THREADS, 1, 1), stream=stream, pdl=fx.nvvm.has_dependent_launches()
        )

    return gather


def gathered(x: Any, rows: Any, stream: object) -> Any:
    """Rows of x, contiguous and of whole words, in the order of an index."""
    out = empty_beside(x, (rows.shape[0], x.shape[1]), x.dtype)
    words = [as_words(array) for array in (x, out)]
    compile_gather(words[0].shape[1])(words[0], rows, words[1], rows.shape[0], stream_of(x, stream))
    return out


def as_words(array: Any) -> Any:
    """Return the same bytes as i32."""
    if not hasattr(array, "data_ptr"):
        return array.view("int32")
    import torch

    return array.view(torch.int32)
