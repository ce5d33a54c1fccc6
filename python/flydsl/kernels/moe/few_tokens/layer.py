"""A layer of experts for few tokens on Hopper, by two launches: reading the weights takes most of the time.

Every block finds the chosen experts itself. The first launch multiplies tokens by strips of the first matrices of all
of them and writes gated rows; the second has strips of the second matrices, sums over experts as it goes, and writes
the result. Blocks of the second begin while those of the first end: they know the experts already, and send for weights
before they wait for rows. Tokens are columns of mma.sync: an expert multiplies all of them, and those that did not
choose it count nothing. Sums are added up in the same order in every run.

With weights of 8 bits rows are quantised where a block holds them, 128 numbers of a row by 16 lanes.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.activation import GATES
from flydsl.kernels.blocks.inputs import empty_beside, multiprocessors
from flydsl.kernels.gemm.hopper.operands import address
from flydsl.kernels.gemm.hopper.plan import LINE_BYTES
from flydsl.kernels.gemm.hopper.tiles import warp_product
from flydsl.kernels.moe.few_tokens.chosen import ChosenExperts
from flydsl.kernels.moe.few_tokens.plan import MOST_TOKENS, STRIP, THREADS, WARPS, Stage, plan_stages
from flydsl.kernels.moe.few_tokens.strips import LANES, HeldRows, StripRing, Turn


class PartSums:
    """Sums of all warps in shared memory, (row of a strip, token, warp)."""

    def __init__(self, smem: Any) -> None:
        pointer = smem.allocate(fx.Array[fx.Float32, STRIP * MOST_TOKENS * WARPS, 16]).ptr
        layout = fx.make_layout((STRIP, MOST_TOKENS, WARPS), (1, STRIP, STRIP * MOST_TOKENS))
        self.view = fx.make_view(pointer, layout)

    def put(self, sums: Any, warp: Any) -> None:
        own_sums(self.view[None, None, warp]).store(sums)

    def get(self, token: Any, row: Any, warps: list[Any]) -> Any:
        """Return the sum of some warps' sums."""
        total = self.view[row, token, warps[0]]
        for warp in warps[1:]:
            total = total + self.view[row, token, warp]
        return total


def own_sums(view: Any) -> Any:
    """Return what this lane has sums of, of (row of a strip, token)."""
    return warp_product(MOST_TOKENS).get_slice(fx.lane_id()).partition_C(view)


@cache
def compile_first(stage: Stage, after: Stage, experts: int, topk: int, pairs: int, blocks: int) -> Any:
    """Return the launcher ``fn(x, logits, ids, weights, w1, scale1, w2, inner, T, stream)``.

    Rows of inner are those of each chosen expert and token. Without logits, ids name the experts.
    """
    strips = stage.side_by_side
    units = stage.rows // (STRIP * strips)

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def few_tokens_first(
        x: fx.Tensor, logits: fx.Tensor | None, ids: fx.Tensor, weights: fx.Tensor, w1: fx.Tensor,
        scale1: fx.Tensor | None, w2: fx.Tensor, inner: fx.Tensor, T: fx.Int32,
    ):  # fmt: skip
        smem = fx.SharedAllocator(1024, static=False)
        chosen, parts = ChosenExperts(smem, experts, topk, pairs), PartSums(smem)
        held = HeldRows(smem, x.dtype, stage)
        fx.nvvm.griddepcontrol_wait()
        fx.nvvm.griddepcontrol_launch_dependents()
        chosen.read(logits, ids, weights, T, None)
        count = chosen.find(T)
        warp = fx.nvvm.warp_uniform(fx.thread_idx.x // 32)
        block, each = fx.Int32(fx.block_idx.x), fx.Int32(fx.grid_dim.x)
        mine = fx.max(fx.ceildiv(count * units - block, each), fx.Int32(0))

        def turn_of(i: Any) -> Turn:
            unit = block + i // stage.batches * each
            strip = unit % units * strips + warp // stage.parts
            return Turn(fx.Int32(chosen.numbers[unit // units]), strip, i % stage.batches)

        ring = StripRing(smem, w1, scale1, held, stage, warp % stage.parts, turn_of, mine * stage.batches)
        ring.begin()
        held.fill(T, lambda token: fx.get_iter(x[token, None]))
        fx.barrier()
        token = fx.min(fx.lane_id() // LANES, T - 1)
        for turn in range(mine):
            unit = block + turn * each
            if turn == mine - 1:
                prefetch_second(w2, after, chosen, count, warp)
            parts.put(ring.sum_strip(turn * stage.batches, token), warp)
            fx.barrier()
            write_gated(parts, inner, unit // units, unit % units * strips, T, stage)
            fx.barrier()

    @flyc.jit
    def first(
        x: fx.Tensor, logits: fx.Tensor | None, ids: fx.Tensor, weights: fx.Tensor, w1: fx.Tensor,
        scale1: fx.Tensor | None, w2: fx.Tensor, inner: fx.Tensor, T: fx.Int32, stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        few_tokens_first(x, logits, ids, weights, w1, scale1, w2, inner, T).launch(
            grid=(blocks, 1, 1), block=(THREADS, 1, 1), stream=stream, pdl=True
        )

    return first


@flyc.jit
def prefetch_second(w2: Any, stage: Stage, chosen: ChosenExperts, count: Any, warp: Any) -> None:
    """Bring what a warp of the second launch has no room to send for early into L2, while the last weights of the first
    one are on their way: memory would have nothing to do from there until the rows are written and read."""
    row, number = fx.lane_id(), warp // stage.parts
    column = (warp % stage.parts * stage.batches + stage.depth) * stage.batch
    length = (stage.batches - stage.depth) * stage.batch
    if fx.const_expr(length > 0):
        there = (fx.block_idx.x < stage.rows // STRIP) & (number < count) & (column + length <= stage.columns)
        if there & (row < STRIP):
            line = fx.Int64(chosen.numbers[number]) * stage.rows + (fx.block_idx.x * STRIP + row)
            fx.nvvm.bulk_prefetch(fx.get_iter(w2) + (line * stage.columns + column), length * stage.size)


@flyc.jit
def write_gated(parts: PartSums, inner: Any, number: Any, first: Any, T: Any, stage: Stage) -> None:
    """Each even row of the strips, with the gate's activation, times the odd one behind it."""
    strips, gated = stage.side_by_side, STRIP // 2
    for i in range(fx.thread_idx.x, T * (strips * gated), THREADS):
        token, strip, row = i // (strips * gated), i // gated % strips, i % gated
        warps = [strip * stage.parts + part for part in range(stage.parts)]
        gate, up = (fx.Vector.from_elements([parts.get(token, 2 * row + j, warps)], fx.Float32) for j in range(2))
        inner[number * T + token, (first + strip) * gated + row] = (GATES["swiglu"](gate) * up)[0].to(inner.dtype)


@cache
def compile_second(stage: Stage, experts: int, topk: int, pairs: int, renormalize: bool, blocks: int) -> Any:
    """Return the launcher ``fn(inner, logits, ids, weights, w2, scale2, y, T, stream)``."""
    teams, strips = stage.side_by_side, stage.rows // STRIP

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def few_tokens_second(
        inner: fx.Tensor, logits: fx.Tensor | None, ids: fx.Tensor, weights: fx.Tensor, w2: fx.Tensor,
        scale2: fx.Tensor | None, y: fx.Tensor, T: fx.Int32,
    ):  # fmt: skip
        smem = fx.SharedAllocator(1024, static=False)
        chosen, parts = ChosenExperts(smem, experts, topk, pairs), PartSums(smem)
        held = HeldRows(smem, inner.dtype, stage)
        # Logits, ids and weights are older than the launch before this one.
        chosen.read(logits, ids, weights, T, renormalize)
        count = chosen.find(T)
        warp = fx.nvvm.warp_uniform(fx.thread_idx.x // 32)
        block, each, team = fx.Int32(fx.block_idx.x), fx.Int32(fx.grid_dim.x), warp // stage.parts
        mine, mine_of_block = fx.max(fx.ceildiv(count - team, teams), fx.Int32(0)), fx.ceildiv(strips - block, each)
        divisor = fx.max(mine, fx.Int32(1))

        def turn_of(i: Any) -> Turn:
            task = i // stage.batches
            expert = fx.Int32(chosen.numbers[team + task % divisor * teams])
            return Turn(expert, block + task // divisor * each, i % stage.batches)

        turns = mine_of_block * mine * stage.batches
        ring = StripRing(smem, w2, scale2, held, stage, warp % stage.parts, turn_of, turns)
        ring.begin()
        fx.nvvm.griddepcontrol_wait()
        fx.nvvm.griddepcontrol_launch_dependents()
        held.fill(T * topk, lambda pair: fx.get_iter(inner[fx.max(fx.Int32(chosen.places[pair]), fx.Int32(0)), None]))
        fx.barrier()
        for turn in range(mine_of_block):
            total = ring.zeros()
            for task in range(mine):
                number = team + task * teams
                row = fx.Int32(chosen.rows[number, fx.lane_id() // LANES])
                add_shares(total, ring.sum_strip((turn * mine + task) * stage.batches, row), chosen, number)
            parts.put(total.load(), warp)
            fx.barrier()
            for i in range(fx.thread_idx.x, T * STRIP, THREADS):
                token, row = i // STRIP, i % STRIP
                total = parts.get(token, row, list(range(WARPS)))
                y[token, (block + turn * each) * STRIP + row] = total.to(y.dtype)
            fx.barrier()

    @flyc.jit
    def second(
        inner: fx.Tensor, logits: fx.Tensor | None, ids: fx.Tensor, weights: fx.Tensor, w2: fx.Tensor,
        scale2: fx.Tensor | None, y: fx.Tensor, T: fx.Int32, stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        few_tokens_second(inner, logits, ids, weights, w2, scale2, y, T).launch(
            grid=(blocks, 1, 1), block=(THREADS, 1, 1), stream=stream, pdl=True
        )

    return second


def add_shares(total: Any, sums: Any, chosen: ChosenExperts, number: Any) -> None:
    """total += sums, as much as the expert counts for a token; where it does not, sums may be anything."""
    line = fx.get_iter(chosen.shares[number, None])
    shares = own_sums(fx.make_view(line, fx.make_layout((STRIP, MOST_TOKENS), (0, 1)))).load().reshape((4,))
    old = total.load()
    total.store((shares == 0.0).select(old, fx.math.fma(shares, sums, old)))


def lies_whole(array: Any) -> bool:
    """Return whether elements follow each other in memory."""
    return array.is_contiguous() if hasattr(array, "data_ptr") else array.flags.c_contiguous


def planned(x: Any, router: Any, experts: Any, y: Any) -> tuple[Stage, Stage] | None:
    """Return how this room's kernels are built for a call of all experts of a layer; None if they do not take it."""
    given = (x, y, experts.w1, experts.w2)
    if any(address(array) % LINE_BYTES or not lies_whole(array) for array in given):
        return None
    return plan_stages(*router.ids.shape, *experts.shape, experts.w1.dtype.itemsize)


def run_few(x: Any, router: Any, experts: Any, y: Any, stages: tuple[Stage, Stage], stream: object) -> None:
    """Write the layer's result into y: see above. Ids and weights of a router with logits are not written."""
    (tokens, topk), (count, model, inter), sms = router.ids.shape, experts.shape, multiprocessors(x)
    inner = empty_beside(x, (min(tokens * topk, count) * tokens, inter))
    scales = [None if s is None else s.swapaxes(1, 2) for s in (experts.scale1, experts.scale2)]
    chosen = (router.logits, router.ids.reshape(-1), router.weights.reshape(-1))
    facts = (count, topk, 1 << (tokens * topk - 1).bit_length())
    first = compile_first(*stages, *facts, sms)
    first(x, *chosen, experts.w1, scales[0], experts.w2, inner, tokens, stream)
    second = compile_second(stages[1], *facts, router.renormalize, min(sms, model // STRIP))
    second(inner, *chosen, experts.w2, scales[1], y, tokens, stream)
