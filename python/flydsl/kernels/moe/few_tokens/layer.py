"""A layer of experts for few tokens on Hopper, by two launches: reading the weights takes most of the time.

Every block finds the chosen experts itself. The first launch multiplies tokens by strips of the first matrices of all
of them and writes gated rows; the second has strips of the second matrices, sums over experts as it goes, and writes
the result. Blocks of the second begin while those of the first end: they know the experts already, and send for weights
before they wait for rows. Tokens are columns of mma.sync: an expert multiplies all of them, and those that did not
choose it count nothing. Sums are added up in the same order in every run.

With weights of 8 bits rows are quantised where a block holds them, 128 numbers of a row by 16 lanes.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.activation import GATES
from flydsl.kernels.blocks.inputs import address_of, empty_beside, lies_whole, multiprocessors
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.reduce import add
from flydsl.kernels.gemm.hopper.plan import LINE_BYTES
from flydsl.kernels.gemm.hopper.tiles import warp_product
from flydsl.kernels.moe.few_tokens.chosen import ChosenExperts, ChosenRows
from flydsl.kernels.moe.few_tokens.plan import MOST_TOKENS, STRIP, THREADS, WARPS, Stage, plan_stages
from flydsl.kernels.moe.few_tokens.progress import NUMBERS, AwaitedRows
from flydsl.kernels.moe.few_tokens.strips import LANES, HeldRows, Turn, ring_of


class PartSums:
    """Sums of all warps in shared memory, (row of a strip, token, warp), of this turn and of the one before: who is
    done with a turn goes on while others add up what it left."""

    def __init__(self, smem: Any) -> None:
        count = STRIP * MOST_TOKENS * WARPS
        pointer = smem.allocate(fx.Array[fx.Float32, 2 * count, 16]).ptr
        layout = fx.make_layout((STRIP, MOST_TOKENS, WARPS, 2), (1, STRIP, STRIP * MOST_TOKENS, count))
        self.view = fx.make_view(pointer, layout)

    def put(self, sums: Any, warp: Any, turn: Any) -> None:
        own_sums(self.view[None, None, warp, turn % 2]).store(sums)

    def gates(self, token: Any, row: Any, warps: list[Any], turn: Any) -> tuple[Any, Any]:
        """Return sums of some warps' sums: of a few even rows, from one on, and of the odd ones behind them."""
        lines = [fx.get_iter(self.view[None, token, warp, turn % 2]) + row for warp in warps]
        rows = fx.make_layout(2 * NUMBERS, 1)
        total = reduce(add, [fx.make_view(line.aligned(16), rows).load() for line in lines])
        gate, up = ([total[2 * i + j] for i in range(NUMBERS)] for j in range(2))
        return fx.Vector.from_elements(gate, fx.Float32), fx.Vector.from_elements(up, fx.Float32)

    def get(self, token: Any, row: Any, warps: list[Any], turn: Any) -> Any:
        """Return the sum of some warps' sums."""
        total = self.view[row, token, warps[0], turn % 2]
        for warp in warps[1:]:
            total = total + self.view[row, token, warp, turn % 2]
        return total


def own_sums(view: Any) -> Any:
    """Return what this lane has sums of, of (row of a strip, token)."""
    return warp_product(MOST_TOKENS).get_slice(fx.lane_id()).partition_C(view)


@kept
def compile_first(stage: Stage, experts: int, topk: int, pairs: int, blocks: int) -> Any:
    """Return the launcher ``fn(x, logits, ids, weights, w1, scale1, inner, T, stream)``.

    Rows of inner are those of each chosen expert and token. Without logits, ids name the experts.
    """
    strips, units = stage.side_by_side, stage.units

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def few_tokens_first(
        x: fx.Tensor, logits: fx.Tensor | None, ids: fx.Tensor, weights: fx.Tensor, map1: object | None,
        w1: fx.Tensor, scale1: fx.Tensor | None, inner: fx.Tensor, T: fx.Int32,
    ):  # fmt: skip
        smem = fx.SharedAllocator(1024, static=False)
        chosen, parts = ChosenExperts(smem, experts, topk, pairs, T), PartSums(smem)
        held, warp = HeldRows(smem, x.dtype, stage), fx.nvvm.warp_uniform(fx.thread_idx.x // 32)
        ring = ring_of(smem, w1, map1, scale1, held, stage, warp % stage.parts)
        ring.prepare()

        def row_of_x(token: Any) -> Any:
            return fx.get_iter(x[token, None])

        fx.nvvm.griddepcontrol_wait()
        # Rows before weights: what is asked for behind those comes behind them.
        pieces = T * (stage.columns // 8)
        loaded, begun = chosen.load(logits, ids, weights), held.bring(0, pieces, row_of_x)
        rows = AwaitedRows(inner)
        rows.begin(stage, blocks, T, fx.min(T * topk, fx.Int32(experts)))
        chosen.read(loaded, logits is not None, None)
        held.keep(begun, 0, pieces)
        held.fill(len(begun) * THREADS, pieces, row_of_x)
        count = chosen.find()
        block, each = fx.Int32(fx.block_idx.x), blocks
        mine = fx.max(fx.ceildiv(count * units - block, each), fx.Int32(0))

        def turn_of(i: Any) -> Turn:
            unit = block + i // stage.batches * each
            strip = unit % units * strips + warp // stage.parts
            return Turn(fx.Int32(chosen.numbers[unit // units]), strip, i % stage.batches)

        ring.begin(turn_of, mine * stage.batches)
        token = fx.min(fx.lane_id() // LANES, T - 1)
        for turn in range(mine):
            unit = block + turn * each
            parts.put(ring.sum_strip(turn * stage.batches, token), warp, turn)
            fx.barrier()
            write_gated(parts, rows, unit // units, unit % units * strips, T, stage, turn)

    @flyc.jit
    def first(
        x: fx.Tensor, logits: fx.Tensor | None, ids: fx.Tensor, weights: fx.Tensor, w1: fx.Tensor,
        scale1: fx.Tensor | None, inner: fx.Tensor, T: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        map1 = None if scale1 is None else fx.nvvm.make_tensor_map(w1, stage.box, "none", l2_promotion="128B")
        few_tokens_first(x, logits, ids, weights, map1, w1, scale1, inner, T).launch(
            grid=(blocks, 1, 1), block=(THREADS, 1, 1), stream=stream, pdl=True
        )

    return first


@flyc.jit
def write_gated(parts: PartSums, rows: AwaitedRows, number: Any, first: Any, T: Any, stage: Stage, turn: Any) -> None:
    """Each even row of the strips, with the gate's activation, times the odd one behind it; in each turn it is another
    warp that begins."""
    strips, gated = stage.side_by_side, STRIP // 2
    words = gated // NUMBERS
    for i in range((fx.thread_idx.x + turn * 32) % THREADS, T * (strips * words), THREADS):
        token, strip, column = i // (strips * words), i // words % strips, i % words * NUMBERS
        warps = [strip * stage.parts + part for part in range(stage.parts)]
        gate, up = parts.gates(token, 2 * column, warps, turn)
        rows.write(number * T + token, (first + strip) * gated + column, GATES["swiglu"](gate) * up)


@flyc.jit
def hold_rows(held: HeldRows, rows: AwaitedRows, chosen: ChosenRows, first: Any, end: Any) -> None:
    """Hold the rows of the chosen experts from one on up to another, once they are there."""
    start, stop = chosen.rows_before(first), chosen.rows_before(end)

    def row_of(row: Any) -> Any:
        return fx.get_iter(rows.inner[fx.Int32(chosen.places[row]), None])

    rows.wait_for(fx.Int32(chosen.places[stop - 1]))
    held.fill(*(row * (held.stage.columns // 8) for row in (start, stop)), row_of, rows.load)
    fx.barrier()


@kept
def compile_second(stage: Stage, experts: int, topk: int, pairs: int, renormalize: bool, blocks: int) -> Any:
    """Return the launcher ``fn(inner, logits, ids, weights, w2, scale2, y, T, stream)``."""
    teams, strips = stage.side_by_side, stage.rows // STRIP

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def few_tokens_second(
        inner: fx.Tensor, logits: fx.Tensor | None, ids: fx.Tensor, weights: fx.Tensor,
        map2: object | None, w2: fx.Tensor, scale2: fx.Tensor | None, y: fx.Tensor, T: fx.Int32,
    ):  # fmt: skip
        smem = fx.SharedAllocator(1024, static=False)
        chosen, parts = ChosenRows(smem, experts, topk, pairs, T), PartSums(smem)
        held, warp = HeldRows(smem, inner.dtype, stage), fx.nvvm.warp_uniform(fx.thread_idx.x // 32)
        ring = ring_of(smem, w2, map2, scale2, held, stage, warp % stage.parts)
        ring.prepare()
        # Logits, ids and weights are older than the launch before this one.
        chosen.read(chosen.load(logits, ids, weights), logits is not None, renormalize)
        count = chosen.find()
        block, each, team = fx.Int32(fx.block_idx.x), blocks, warp // stage.parts
        mine, mine_of_block = fx.max(fx.ceildiv(count - team, teams), fx.Int32(0)), fx.ceildiv(strips - block, each)
        divisor = fx.max(mine, fx.Int32(1))

        def turn_of(i: Any) -> Turn:
            task = i // stage.batches
            expert = fx.Int32(chosen.numbers[team + task % divisor * teams])
            return Turn(expert, block + task // divisor * each, i % stage.batches)

        ring.begin(turn_of, mine_of_block * mine * stage.batches)
        rows = AwaitedRows(inner)
        for turn in range(mine_of_block):
            total = ring.zeros()
            for task in range(fx.ceildiv(count, teams)):
                if turn == 0:
                    behind = fx.min(task * teams + teams, count)
                    if behind == count:
                        fx.nvvm.griddepcontrol_launch_dependents()
                    hold_rows(held, rows, chosen, task * teams, behind)
                number = team + task * teams
                if number < count:
                    row = fx.Int32(chosen.rows[number, fx.lane_id() // LANES])
                    add_shares(total, ring.sum_strip((turn * mine + task) * stage.batches, row), chosen, number)
            parts.put(total.load(), warp, turn)
            fx.barrier()
            for i in range(fx.thread_idx.x, T * STRIP, THREADS):
                token, row = i // STRIP, i % STRIP
                total = parts.get(token, row, list(range(WARPS)), turn)
                y[token, (block + turn * each) * STRIP + row] = total.to(y.dtype)
        fx.nvvm.griddepcontrol_wait()  # who waits for this launch waits for the one before it too

    @flyc.jit
    def second(
        inner: fx.Tensor, logits: fx.Tensor | None, ids: fx.Tensor, weights: fx.Tensor,
        w2: fx.Tensor, scale2: fx.Tensor | None, y: fx.Tensor, T: fx.Int32, stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        map2 = None if scale2 is None else fx.nvvm.make_tensor_map(w2, stage.box, "none", l2_promotion="128B")
        few_tokens_second(inner, logits, ids, weights, map2, w2, scale2, y, T).launch(
            grid=(blocks, 1, 1), block=(THREADS, 1, 1), stream=stream, pdl=True
        )

    return second


def add_shares(total: Any, sums: Any, chosen: ChosenRows, number: Any) -> None:
    """total += sums, as much as the expert counts for a token; where it does not, sums may be anything."""
    line = fx.get_iter(chosen.shares[number, None])
    shares = own_sums(fx.make_view(line, fx.make_layout((STRIP, MOST_TOKENS), (0, 1)))).load().reshape((4,))
    old = total.load()
    total.store((shares == 0.0).select(old, fx.math.fma(shares, sums, old)))


def planned(x: Any, router: Any, experts: Any, y: Any) -> tuple[Stage, Stage] | None:
    """Return how this room's kernels are built for a call of all experts of a layer; None if they do not take it."""
    given = (x, y, experts.w1, experts.w2)
    if any(address_of(array) % LINE_BYTES or not lies_whole(array) for array in given):
        return None
    if any(scale is not None and not lies_whole(scale.swapaxes(1, 2)) for scale in (experts.scale1, experts.scale2)):
        return None  # a block's scales are taken to lie beside those of the next columns
    return plan_stages(*router.ids.shape, *experts.shape, experts.w1.dtype.itemsize)


def run_few(x: Any, router: Any, experts: Any, y: Any, stages: tuple[Stage, Stage], stream: object) -> None:
    """Write the layer's result into y: see above. Ids and weights of a router with logits are not written."""
    (tokens, topk), (count, model, inter), sms = router.ids.shape, experts.shape, multiprocessors(x)
    inner = empty_beside(x, (min(tokens * topk, count) * tokens, inter))
    scales = [None if s is None else s.swapaxes(1, 2) for s in (experts.scale1, experts.scale2)]
    chosen = (router.logits, router.ids.reshape(-1), router.weights.reshape(-1))
    facts = (count, topk, 1 << (tokens * topk - 1).bit_length())
    first = compile_first(stages[0], *facts, sms)
    first(x, *chosen, experts.w1, scales[0], inner, tokens, stream)
    second = compile_second(stages[1], *facts, router.renormalize, min(sms, model // STRIP))
    second(inner, *chosen, experts.w2, scales[1], y, tokens, stream)
