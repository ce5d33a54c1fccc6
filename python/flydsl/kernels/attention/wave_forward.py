"""Attention forward by waves: AMD's matrix instructions, and whoever else multiplies wave by wave.

Products are transposed: scores are K Q^T and results V^T P, with queries as columns. A lane then has scores of one
query, and the powers it makes of them are what the second product takes from it: they never leave its registers. Where
an instruction wants other keys of a lane than the first product gives it, V is read in that order: sums do not mind.

A block has a few waves, each with its own queries; they share tiles of K and V^T in shared memory, filled while the
products of the block before are under way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.scores import LOWEST, PLAIN, Features, softmax_end, softmax_step
from flydsl.kernels.attention.tiles import FragmentRows, piece_of, scores_of

WAVES = 4
PAD = 8
"""Elements between rows of shared memory, so that neighbouring rows begin in different banks."""


@dataclass(frozen=True)
class Instruction:
    """A matrix instruction: its queries and depth, how far lanes that share a query are apart, the order of keys in its
    depth, and the registers of a lane."""

    make: Callable[[Any], Any]
    queries: int
    depth: int
    distance: int
    order: tuple[tuple[int, ...], tuple[int, ...]]
    registers: int = 512


INSTRUCTIONS = (
    Instruction(lambda dtype: fx.rocdl.MFMA(32, 32, 16, dtype), 32, 16, 32, ((4, 2, 2), (1, 8, 4))),
    Instruction(lambda dtype: fx.rocdl.MFMA(32, 32, 8, dtype), 32, 8, 32, ((8,), (1,))),
    Instruction(lambda dtype: fx.rocdl.WMMA(16, 16, 16, dtype), 16, 16, 16, ((16,), (1,)), 256),
)
"""Best first."""


@dataclass(frozen=True)
class WavePlan:
    """Head sizes, queries and keys of a block's tile, and what is asked for."""

    dtype: Any
    d: int
    dv: int
    queries: int
    keys: int = 64
    features: Features = PLAIN
    group: int = 1


def choose_instruction(dtype: Any) -> tuple[Instruction, Any]:
    """The first one that the target being compiled for has, waves side by side along the queries."""
    for candidate in INSTRUCTIONS:
        try:
            atom = fx.make_mma_atom(candidate.make(dtype))
        except ValueError:  # this target has no such instruction
            continue
        return candidate, fx.make_tiled_mma(atom, fx.make_layout((1, WAVES, 1), (0, 1, 0)))
    raise ValueError(f"this target has no matrix instruction for attention in {dtype.__name__}")


# The kernel ----------------------------------------------------------------------------------------


@flyc.kernel
def wave_kernel(
    Q: Any, K: Any, V: Any, out: Any, lse: Any, extras: Any, lengths: Any, numbers: Any, extents: Any, window: Any,
    per_kv: fx.Int32, plan: fx.Constexpr,
):  # fmt: skip
    tile, head, batch = fx.block_idx
    # The last queries see most keys: they go first.
    piece = piece_of(fx.grid_dim.x - 1 - tile, head, batch, lengths, extents, window, plan)
    if piece.first < piece.queries:
        place = fx.Int32(0) if fx.const_expr(lengths is not None) else piece.batch
        sources = (K[place, piece.head // per_kv, None, None], V[place, piece.head // per_kv, None, None])
        down = fx.get_scalar(fx.get_(Q.stride, 2))
        first = fx.get_iter(Q[place, piece.head, piece.query_start + piece.first, None])
        q_tile = fx.make_view(first, fx.make_layout((plan.queries, plan.d), (down, 1)))
        mine = Waves(lambda _: q_tile, sources, extras, numbers, plan)
        tops, sums = attend(mine, piece)
        store(mine, piece, tops, sums, out, lse, place)


class Waves:
    """The products of a block, a lane's fragments, and the tiles in shared memory.

    ``q_tile`` gives the tile of queries, as it may be seen by the lane that has a query.
    """

    def __init__(self, q_tile, sources, extras, numbers, plan):
        self.instruction, self.tiled = choose_instruction(plan.dtype)
        self.extras, self.numbers, self.plan, self.sources = extras, numbers, plan, sources
        self.distances, self.threads = (self.instruction.distance,), WAVES * fx.num_warp_threads()
        self.allocator = allocator = fx.SharedAllocator()
        k_storage = allocator.allocate(fx.Array[plan.dtype, plan.keys * (plan.d + PAD), 16]).ptr
        v_storage = allocator.allocate(fx.Array[plan.dtype, plan.dv * (plan.keys + PAD), 16]).ptr
        self.k_tile = fx.make_view(k_storage, fx.make_layout((plan.keys, plan.d), (plan.d + PAD, 1)))
        self.v_tile = fx.make_view(v_storage, fx.make_layout((plan.dv, plan.keys), (plan.keys + PAD, 1)))
        shape, stride = self.instruction.order
        depth = self.instruction.depth
        ordered = fx.make_layout((plan.dv, (*shape, plan.keys // depth)), (plan.keys + PAD, (*stride, depth)))
        thread = self.tiled.get_slice(fx.thread_idx.x)
        self.k_part = thread.partition_A(self.k_tile)
        self.v_part = thread.partition_A(fx.make_view(v_storage, ordered))
        scores, results = (plan.keys, plan.queries), (plan.dv, plan.queries)
        self.s = self.tiled.make_fragment_C(fx.make_identity_tensor(scores))
        self.o = self.tiled.make_fragment_C(fx.make_identity_tensor(results))
        self.p = self.tiled.make_fragment_B(fx.make_identity_tensor(scores[::-1]))
        self.s_rows = FragmentRows(self.tiled, fx.thread_idx.x, scores, queries=1)
        self.o_rows = FragmentRows(self.tiled, fx.thread_idx.x, results, queries=1)
        self.q_part = thread.partition_B(q_tile(self.s_rows.query))
        self.q = fx.make_fragment_like(self.q_part)

    def four(self):
        """A copy of four neighbouring elements: what every instruction has side by side."""
        return fx.make_copy_atom(fx.UniversalCopy64b(), self.plan.dtype)

    def shares(self, count):
        """This thread's shares of ``count``; where they do not come out even, threads share the last."""
        turns = -(-count // self.threads)
        shares = [fx.thread_idx.x + turn * self.threads for turn in range(turns)]
        return shares if turns * self.threads == count else [fx.min(share, fx.Int32(count - 1)) for share in shares]

    def load(self, piece, block):
        """This thread's part of K and V of a block, in registers: eight elements of K, four by four of V at a time."""
        plan, (K, V) = self.plan, self.sources
        keys, values = [], []
        for at in self.shares(plan.keys * plan.d // 8):
            line = self.line(K, piece, block * plan.keys + at // (plan.d // 8))
            keys.append(self.elements(line, 8, at % (plan.d // 8) * 8))
        for at in self.shares(plan.keys * plan.dv // 16):
            for i in fx.range_constexpr(4):
                line = self.line(V, piece, block * plan.keys + at // (plan.dv // 4) * 4 + i)
                values.append(self.elements(line, 4, at % (plan.dv // 4) * 4))
        return keys, values

    def line(self, tensor, piece, key):
        """A key's elements; one beyond the end is the last one, and nobody sees it. A sequence may have none at all."""
        row = piece.key_start + fx.max(fx.min(key, piece.band.length - 1), fx.Int32(0))
        return tensor[fx.min(row, fx.Int32(tensor.shape[0]) - 1), None]

    def elements(self, line, count, column):
        """Neighbouring elements, in the type of the products."""
        stored = line.dtype
        found = fx.Vector.load(fx.Vector.make_type(count, stored), line, [column], alignment=count * stored.width // 8)
        return found if stored is self.plan.dtype else found.to(self.plan.dtype)

    def fill_tiles(self, keys, values):
        """K as it is; V transposed, four by four elements, which a thread has."""
        plan = self.plan
        for at, vector in zip(self.shares(plan.keys * plan.d // 8), keys, strict=True):
            vector.store(self.k_tile, [at // (plan.d // 8), at % (plan.d // 8) * 8], alignment=16)
        for turn, at in enumerate(self.shares(plan.keys * plan.dv // 16)):
            self.store_values(at, values[turn * 4 : turn * 4 + 4])

    def store_values(self, at, four):
        """A block of 4 x 4 values, turned."""
        dv = self.plan.dv
        for j in fx.range_constexpr(4):
            column = fx.Vector.from_elements([vector[j] for vector in four], self.plan.dtype)
            column.store(self.v_tile, [at % (dv // 4) * 4 + j, at // (dv // 4) * 4], alignment=8)

    def multiply(self, accumulators, part, operand, steps):
        """accumulators += part * operand, a step of the instruction's depth after the other."""
        for k in fx.range_constexpr(steps):
            a = fx.make_fragment_like(part[None, None, k])
            fx.copy(self.four(), part[None, None, k], a)
            fx.gemm(self.tiled, accumulators, a, operand[None, None, k], accumulators)


@flyc.jit
def attend(mine, piece):
    """Blocks of keys from the last to the first: those that need a mask, then the others."""
    begin, end = piece.begin, piece.end
    # A lane's query stays in registers; beyond the sequence's end there are zeros.
    mine.q.fill(0.0)
    if piece.first + mine.s_rows.query < piece.queries:
        fx.copy(mine.four(), mine.q_part, mine.q)
    mine.o.fill(0.0)
    carried = (mine.load(piece, end - 1), [fx.Float32(LOWEST)], [fx.Float32(0.0)])
    plain = fx.max(fx.min(piece.plain_end, end), begin)
    for i in range(end - plain):
        carried = next_block(mine, piece, end - 1 - i, carried, True)
    low = fx.min(fx.max(piece.plain_begin, begin), plain)
    for i in range(plain - low):
        carried = next_block(mine, piece, plain - 1 - i, carried, False)
    if fx.const_expr(mine.plan.features.left):
        for i in range(low - begin):
            carried = next_block(mine, piece, low - 1 - i, carried, True)
    return carried[1:]


@flyc.jit
def next_block(mine, piece, block, carried, with_mask):
    """One block of keys; the next is on its way from memory meanwhile."""
    (keys, values), tops, sums = carried
    plan, depth = mine.plan, mine.instruction.depth
    fx.barrier()  # everyone has multiplied the tiles of the block before
    mine.fill_tiles(keys, values)
    fx.barrier()
    following = mine.load(piece, fx.max(block - 1, piece.begin))
    mine.s.fill(0.0)
    mine.multiply(mine.s, mine.k_part, mine.q, plan.d // depth)
    scores = scores_of(mine.s.load(), mine.s_rows, piece, block, mine.extras, mine.numbers, plan, with_mask)
    step = softmax_step(scores, tops, sums, mine.numbers[0], mine.distances, plan.dtype)
    powers, moved, shrink, tops, sums = step
    if moved:
        o = mine.o.load()
        mine.o.store(o * shrink[0])
    mine.p.store(mine.s_rows.join(powers).reshape(mine.p.load().shape))
    mine.multiply(mine.o, mine.v_part, mine.p, plan.keys // depth)
    return following, tops, sums


@flyc.jit
def store(mine, piece, tops, sums, out, lse, place):
    """A lane's query divided by its sum to memory, runs of neighbouring elements at a time."""
    rows, sinks = mine.o_rows, mine.extras[2]
    sink = None if sinks is None else sinks[piece.head]
    scale, logarithm = softmax_end(tops[0], sums[0], mine.numbers[0], mine.distances, sink)
    query = piece.first + rows.query
    values = rows.split(mine.o.load())[0]
    kept = (scale == 0.0).select(fx.zeros_like(values), values * scale).to(mine.plan.dtype)
    if query < piece.queries:
        line = out[place, piece.head, piece.query_start + query, None]
        for start in fx.range_constexpr(0, kept.numel, 4):
            four = kept.shuffle(kept, range(start, start + 4))
            four.store(line, [rows.column + rows.columns[0][start]], alignment=8)
        if fx.const_expr(lse is not None):
            if rows.column == 0:
                lse[place, piece.head, piece.query_start + query] = logarithm


# Launching -----------------------------------------------------------------------------------------


def keys_of(instruction: Instruction, held: int) -> int:
    """Keys of a block: fewer where queries and their results, ``held`` elements, alone fill the registers."""
    keys = 64 if held <= instruction.registers // 2 else 32 if held <= instruction.registers else 16
    return max(keys, instruction.queries)


def wave_forward(
    Q: Any, K: Any, V: Any, out: Any, lse: Any, extras: Any, lengths: Any, numbers: Any, window: Any, batches: Any,
    longest: Any, plan: Any, stream: Any,
) -> None:  # fmt: skip
    """Launch the kernel, in a jit function: ``longest`` queries at most in each of ``batches`` sequences."""
    instruction, _ = choose_instruction(plan.dtype)
    keys, queries = keys_of(instruction, plan.d + plan.dv), WAVES * instruction.queries
    mine = WavePlan(plan.dtype, plan.d, plan.dv, queries, keys, plan.features)
    heads = fx.Int32(Q.shape[1])
    extents = (fx.Int32(Q.shape[2]), fx.Int32(K.shape[2]))
    per_kv = heads // fx.Int32(K.shape[1])
    wave_kernel(Q, K, V, out, lse, extras, lengths, numbers, extents, window, per_kv, mine).launch(
        grid=(fx.ceildiv(longest, mine.queries), heads, batches),
        block=(WAVES * fx.num_warp_threads(), 1, 1),
        stream=stream,
    )
