"""Weights of four bits for the Hopper GEMM, W4A16: shuffled ahead of time, unpacked in registers.

    packed = shuffle_weights(codes)                          # (N, K) of 0 to 15, once
    hopper_linear4(x, packed, scales, y, zeros=zeros)        # y = x @ ((codes - zeros) * scales)^T, by hopper_matmul

The product is swapped: wgmma's first operand, which may come from registers, are the weights. Blocks of 64 x 64 of them
lie together in memory as the 128 threads of a warpgroup want them, 16 bytes each, four words of eight codes. A block
comes by one bulk copy, a thread reads its words, makes pairs of bf16 or f16 of them, and multiplies. Rows, steps of K,
parts of K, results: all the rest is the GEMM's.

A code's bits are those of a number as well, one of the smallest that bf16 or f16 has: a multiplication brings it to
size, and in bf16 takes the zero off at once. Codes of ``mxfp4`` (e2m1) become exponents and fractions of tiny numbers.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.narrow import number_of_e8m0
from flydsl.kernels.gemm.hopper.plan import BLOCK_ROWS, WARPGROUP, GemmKind, PackedKind
from flydsl.kernels.gemm.hopper.tiles import Operand, extent
from flydsl.kernels.gemm.hopper.warpgroup import K_BLOCKS, LANES_OF_ROW, Warpgroup, rows_of_sums

BLOCK_WORDS = 512
"""Of a block of 64 x 64 codes, eight a word."""
MOST_TEAMS = 3
"""Of warpgroups: each reads the words of its own stages."""
FRAGMENTS = 2
"""Of weights in registers: products read one while the next is unpacked."""


# Ahead of time -----------------------------------------------------------------------------------------


def shuffle_weights(codes: Any) -> Any:
    """Codes (N, K), an array or a tensor of integers from 0 to 15, as the kernel wants them: int32 of (blocks of 64
    rows, blocks of 64 columns, 512). What is missing of the last blocks is filled with zeros."""
    is_torch = hasattr(codes, "data_ptr")
    given = codes if is_torch else np.asarray(codes)
    if given.ndim != 2 or "int" not in str(given.dtype):
        raise ValueError(f"codes are integers of shape (N, K), got {given.dtype} of {tuple(given.shape)}")
    if 0 not in given.shape and (given.min() < 0 or given.max() > 15):
        raise ValueError(f"codes have four bits, got numbers from {given.min()} to {given.max()}")
    n, k = (-(-extent // BLOCK_ROWS) for extent in given.shape)
    extents = n * BLOCK_ROWS, k * BLOCK_ROWS
    whole = given.new_zeros(extents).int() if is_torch else np.zeros(extents, np.int32)
    whole[: given.shape[0], : given.shape[1]] = given
    # Rows: block, warp, half, lane / 4. Columns: block, word, half, lane % 4, one of two.
    parts = whole.reshape(n, 4, 2, 8, k, 4, 2, 4, 2)
    words = parts[:, :, 0, :, :, :, 0, :, 0] * 0
    for place, (second, k_half, row_half) in enumerate(product(range(2), repeat=3)):
        words |= parts[:, :, row_half, :, :, :, k_half, :, second] << (16 * second + 4 * (place % 4))
    order = 0, 3, 1, 2, 5, 4
    shuffled = words.permute(order) if is_torch else words.transpose(order)
    return shuffled.reshape(n, k, BLOCK_WORDS)


# In the kernel -----------------------------------------------------------------------------------------


class PackedWeights(Operand):
    """Blocks of weights, their scales and zeros; ``ptr`` is that of words."""

    def __init__(self, packed: Any, scales: Any, zeros: Any, ptr: Any, rows: int, stages: int, kind: GemmKind) -> None:
        self.packed, self.scales, self.zeros, self.kind = packed, scales, zeros, kind
        self.ptr, self.rows, self.stages, self.bk = ptr, rows, stages, kind.bk
        self.blocks = rows // BLOCK_ROWS
        self.bytes = self.blocks * BLOCK_WORDS * 4
        assert kind.packed is not None
        self.form: PackedKind = kind.packed

    def load(self, batch: tuple[Any, ...], row: Any, k: Any, stage: Any, barrier: Any, rank: Any) -> None:
        """Send for the blocks of a tile; behind the last one it is as good as any."""
        count, steps = extent(self.packed, 0), extent(self.packed, 1)
        for i in range(self.blocks):
            block = fx.min(row // BLOCK_ROWS + i, count - 1)
            source = fx.get_iter(self.packed) + (fx.Int64(block) * steps + k // self.bk) * BLOCK_WORDS
            place = self.ptr + (stage * self.blocks + i) * BLOCK_WORDS
            fx.nvvm.bulk_load(source, place, BLOCK_WORDS * 4, barrier)

    def words(self, stage: Any) -> Any:
        """Return a thread's four words of a stage."""
        threads = self.blocks * WARPGROUP
        layout = fx.make_layout((4, (threads, MOST_TEAMS), self.stages), (1, (4, 0), 4 * threads))
        return fx.make_view(self.ptr, layout)[None, fx.thread_idx.x - WARPGROUP, stage].load()

    def load_factors(self, rows: list[Any], k: Any, teams: int) -> list[Any]:
        """Return a lane's scale, and zero, of each group of one of two steps from k on. Four lanes have the same two
        rows: each loads what belongs to one of them in one of the steps, a quarter of what it needs."""
        place, arrays = place_in_row(), [self.scales] if self.zeros is None else [self.scales, self.zeros]
        is_first = place < FRAGMENTS
        row, step = is_first.select(*rows), k + is_first.select(place, place - FRAGMENTS) * teams
        first, last = step * self.bk // self.form.group, extent(self.scales, 1) - 1
        groups = [fx.min(first + i, last) for i in range(self.form.groups_of(self.bk))]
        return [array[row, group] for group in groups for array in arrays]

    def factors_of(self, held: list[Any], step: int) -> list[Any]:
        """Return scales of the two rows, and zeros, of each group of one of the two steps that lanes have loaded."""
        each = len(held) // self.form.groups_of(self.bk)
        groups = [held[i : i + each] for i in range(0, len(held), each)]
        lanes = step, FRAGMENTS + step
        return [x for own in groups for x in passed_factors([(own, lane) for lane in lanes], self.kind.a)]

    def unpacked(self, words: Any, factors: list[Any]) -> Any:
        """Return a thread's 32 weights of a step: in each word pairs of either row, at two places of K."""
        each = self.form.groups_of(self.bk)
        many, found = len(factors) // each, []
        for j in range(K_BLOCKS):
            own = factors[j * each // K_BLOCKS * many :][:many]
            found += list(unpacked_word(words[j], own, self.form, self.kind.a))
        return fx.Vector.from_elements(found, self.kind.a)


def place_in_row() -> Any:
    """Return which of the four lanes that share a row this one is."""
    return fx.lane_id() % LANES_OF_ROW


def lane_factors(arrays: list[Any], rows: list[Any], group: Any) -> list[Any]:
    """Scales, and zeros, of rows in four groups from one on: one group for each of the four lanes that share a row."""
    group = fx.min(group + place_in_row(), extent(arrays[0], 1) - 1)
    return [array[row, group] for row in rows for array in arrays]


def passed_factors(rows: list[tuple[list[Any], Any]], dtype: Any) -> list[Any]:
    """Scales of two rows, and zeros if there are any: of each row what is held, and by which of the four lanes."""
    if rows[0][0][0].dtype.width == 8:
        return [fx.shuffle_idx(fx.Int32(x.to(fx.Uint8)), lane, LANES_OF_ROW).to(fx.Uint8) for (x,), lane in rows]
    pairs = []
    for own, lane in rows:
        word = fx.Vector.from_elements([own[0], own[-1]], dtype).bitcast(fx.Int32)[0]
        pairs.append(_numbers([fx.shuffle_idx(word, lane, LANES_OF_ROW)], dtype))
    return [pair[i] for i in range(len(rows[0][0])) for pair in pairs]


def unpacked_word(word: Any, own: list[Any], form: PackedKind, dtype: Any) -> Any:
    """Return a word's eight weights, pairs of either of two rows at two places of K; ``own`` are scales of the rows,
    and zeros if there are any. Without zeros codes of integers are 8 too large."""
    if form.name == "mxfp4":
        scales = [_numbers([number_of_e8m0(x.to(fx.Uint8)).bitcast(fx.Int32) >> 16], dtype)[0] for x in own]
        return unpacked_codes(word, form, dtype) * _spread(scales, dtype)
    scales, zeros = [x.to(dtype) for x in own[:2]], [zero.to(dtype) for zero in own[2:]] or [dtype(8.0)] * 2
    small = code_size(form, dtype)
    # The difference is rounded as it would be at its own size; scales of 2^122 and more would be too large.
    if dtype is fx.BFloat16:
        tiny, lifts = tiny_codes(word, dtype)
        found = fx.math.fma(tiny, lifts, _spread([zero * dtype(-small) for zero in zeros], dtype))
        return found * _spread([scale * dtype(1 / small) for scale in scales], dtype)
    codes = fx.math.fma(unpacked_codes(word, form, dtype), _spread([dtype(1 / small)] * 2, dtype),
                        _spread([-zero for zero in zeros], dtype))  # fmt: skip
    return codes * _spread(scales, dtype)


def unpacked_codes(word: Any, form: PackedKind, dtype: Any) -> Any:
    """Return a word's eight codes as numbers, smaller than they are by `code_size`."""
    if form.name == "mxfp4":  # sign, two bits of exponent and one of fraction
        pairs = [word >> (4 * i) for i in range(4)]
        words = [(pair & 0x00080008) << 12 | (pair & 0x00070007) << 6 for pair in pairs]
        return _numbers(words, dtype) * dtype(2.0**126)
    tiny, lifts = tiny_codes(word, dtype)
    return tiny * lifts


def tiny_codes(word: Any, dtype: Any) -> tuple[Any, Any]:
    """Return a word's eight codes as the smallest numbers, whose bits they are, and what brings them to `code_size`.

    The bits of a code may be the last ones of a number or the next four: up to 255, and in f16 up to 1023, numbers
    are as far from each other as the smallest one is from zero. So one shift is enough for four pairs.
    """
    halves = word, word >> 8
    least, lift = (-133, 2.0**127) if dtype is fx.BFloat16 else (-24, 2.0**15)
    assert lift * 2.0**least == code_size(PackedKind("int4", 1), dtype)
    pairs = [half & mask for half in halves for mask in (0x000F000F, 0x00F000F0)]
    lifts = [dtype(lift / (16 if i // 2 % 2 else 1)) for i in range(8)]
    return _numbers(pairs, dtype), fx.Vector.from_elements(lifts, dtype)


def code_size(form: PackedKind, dtype: Any) -> float:
    """Return what an unpacked code of 1 is: codes of integers come as the smallest numbers, lifted as far as one
    multiplication can."""
    return {"mxfp4": 1.0}.get(form.name, 2.0**-6 if dtype is fx.BFloat16 else 2.0**-9)


def _numbers(words: list[Any], dtype: Any) -> Any:
    return fx.Vector.from_elements(words, fx.Int32).bitcast(dtype)


def _spread(two: list[Any], dtype: Any) -> Any:
    """Of a word's eight numbers, two of every four are of the second row."""
    return fx.Vector.from_elements([two[i // 2 % 2] for i in range(8)], dtype)


class UnpackingWarpgroup(Warpgroup):
    """A warpgroup that multiplies weights from registers.

    Two fragments take turns. Nobody may touch the registers of one, not even with what a next step unpacks, before the
    wait for the products that read them (PTX ISA, wgmma.mma_async): so each passes through that wait, and the step
    that writes it anew comes behind.
    """

    def __init__(self, A: Any, B: Any, pipe: Any, kind: GemmKind, config: Any) -> None:
        super().__init__(A, B, pipe, kind, config)
        self.weights = A
        whole = fx.make_identity_tensor((A.rows, A.bk))
        self.fragments = [self.tiled.make_fragment_A(whole) for _ in range(FRAGMENTS)]

    @flyc.jit
    def sum_products(self, state, place, k_first, k_last):
        """The sums of a tile over the team's steps: one is unpacked while the one before it is multiplied."""
        weights, teams, rows = self.weights, self.config.teams, rows_of_sums(place, self.warp)
        end, state, first = self.behind(state, k_last - k_first), self.behind(state, self.team), k_first + self.team
        before, count = state, (k_last - first + (teams - 1)) // teams
        held = weights.load_factors(rows, first, teams)
        for run in range(count // FRAGMENTS):
            following = weights.load_factors(rows, first + (run + 1) * (FRAGMENTS * teams), teams)
            for i in fx.range_constexpr(FRAGMENTS):
                step = run * FRAGMENTS + i
                self.multiply_unpacked(self.fragments[i], state, weights.factors_of(held, i), step > 0)
                fx.nvvm.wgmma_wait_group(1, self.fragments[i - 1])
                if self.leader & (step > 0):
                    self.pipe.release(before)
                before = state
                state = self.next(state)
            held = following
        if count % FRAGMENTS > 0:  # the last step of an odd number
            self.multiply_unpacked(self.fragments[0], state, weights.factors_of(held, 0), count > 1)
            fx.nvvm.wgmma_wait_group(1, self.fragments[1])
            if self.leader & (count > 1):
                self.pipe.release(before)
            before = state
        fx.nvvm.wgmma_wait_group(0, self.acc)
        if self.leader & (count > 0):
            self.pipe.release(before)
        values = self.acc.load().reshape((self.config.accumulators,))
        return (count > 0).select(values, fx.zeros_like(values)) if teams > 1 else values, end

    def next(self, state: Any) -> Any:
        """Return the place in the ring of the team's next step."""
        for _ in range(self.config.teams):
            state = self.pipe.advance(state)
        return state

    def multiply_unpacked(self, fragment: Any, state: Any, factors: list[Any], keep: Any) -> None:
        """acc += the weights of a stage, unpacked into a fragment, by the rest of the stage; asynchronously."""
        self.pipe.wait(state)
        values = self.weights.unpacked(self.weights.words(state.stage), factors)
        fragment.store(values.reshape(fragment.shape))
        fx.nvvm.wgmma_fence()
        for block in range(K_BLOCKS):
            a, b = fragment[None, None, block], self.b_parts[0][None, None, block, state.stage]
            fx.gemm(self.tiled, self.acc, a, b, self.acc, scale_d=fx.Int32(keep) if block == 0 else 1)
        fx.nvvm.wgmma_commit_group()
