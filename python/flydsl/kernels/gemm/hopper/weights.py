"""Weights of four bits for the Hopper GEMM, W4A16: shuffled ahead of time, unpacked in registers.

    packed = shuffle_weights(codes)                          # (N, K) of 0 to 15, once
    hopper_linear4(x, packed, scales, y, zeros=zeros)        # y = x @ ((codes - zeros) * scales)^T, by hopper_matmul

The product is swapped: wgmma's first operand, which may come from registers, are the weights. Blocks of 64 x 64 of them
lie together in memory as the 128 threads of a warpgroup want them, 16 bytes each, four words of eight codes. A block
comes by one bulk copy, a thread reads its words, makes pairs of bf16 or f16 of them, and multiplies. Rows, steps of K,
parts of K, results: all the rest is the GEMM's.

A code n becomes 128 + n in bf16, or 1024 + n in f16, by setting bits; what was added goes with the zero. Codes of
``mxfp4`` (e2m1) become exponents and fractions of tiny numbers, which 2^126 brings to size.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.gemm.hopper.plan import BLOCK_ROWS, WARPGROUP, GemmKind, PackedKind
from flydsl.kernels.gemm.hopper.tiles import Operand, extent
from flydsl.kernels.gemm.hopper.warpgroup import K_BLOCKS, LANES_OF_ROW, Warpgroup, rows_of_sums

BLOCK_WORDS = 512
"""Of a block of 64 x 64 codes, eight a word."""
FRAGMENTS = 2
"""Of weights in registers: products read one while the next is unpacked."""
MAGIC = {fx.BFloat16: (0x43004300, 128.0), fx.Float16: (0x64006400, 1024.0)}
"""Type to two numbers with room for a code in their last bits, and what they are."""


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
        layout = fx.make_layout((4, threads, self.stages), (1, 4, 4 * threads))
        return fx.make_view(self.ptr, layout)[None, fx.thread_idx.x - WARPGROUP, stage].load()

    def quad(self, k: Any) -> Any:
        """Return which four groups step k is in."""
        return k * self.bk // (self.form.group * LANES_OF_ROW)

    def load_factors(self, rows: list[Any], quad: Any) -> list[Any]:
        """Return a lane's factors of four groups. Nothing waits for them before they are used."""
        arrays = [self.scales] if self.zeros is None else [self.scales, self.zeros]
        return lane_factors(arrays, rows, quad * LANES_OF_ROW)

    def factors(self, held: list[Any], k: Any) -> list[Any]:
        """Scales of the two rows, and zeros, of each group of step k."""
        first, found = k * self.bk // self.form.group, []
        for i in range(self.form.groups_of(self.bk)):
            found += passed_factors(held, (first + i) % LANES_OF_ROW, self.kind.a)
        return found

    def unpacked(self, words: Any, factors: list[Any]) -> Any:
        """Return a thread's 32 weights of a step: in each word pairs of either row, at two places of K."""
        each = self.form.groups_of(self.bk)
        many, found = len(factors) // each, []
        for j in range(K_BLOCKS):
            own = factors[j * each // K_BLOCKS * many :][:many]
            found += list(unpacked_word(words[j], own, self.form, self.kind.a))
        return fx.Vector.from_elements(found, self.kind.a)


def lane_factors(arrays: list[Any], rows: list[Any], group: Any) -> list[Any]:
    """Scales, and zeros, of rows in four groups from one on: one group for each of the four lanes that share a row."""
    group = fx.min(group + fx.lane_id() % LANES_OF_ROW, extent(arrays[0], 1) - 1)
    return [array[row, group] for row in rows for array in arrays]


def passed_factors(held: list[Any], lane: Any, dtype: Any) -> list[Any]:
    """Scales of two rows, and zeros if there are any, that one of the four lanes has loaded."""
    if held[0].dtype.width == 8:
        return [fx.shuffle_idx(fx.Int32(x.to(fx.Uint8)), lane, LANES_OF_ROW).to(fx.Uint8) for x in held]
    each, pairs = len(held) // 2, []
    for own in (held[:each], held[each:]):
        word = fx.Vector.from_elements([own[0], own[-1]], dtype).bitcast(fx.Int32)[0]
        pairs.append(_numbers([fx.shuffle_idx(word, lane, LANES_OF_ROW)], dtype))
    return [pair[i] for i in range(each) for pair in pairs]


def unpacked_word(word: Any, own: list[Any], form: PackedKind, dtype: Any) -> Any:
    """Return a word's eight weights, pairs of either of two rows at two places of K; ``own`` are scales of the rows,
    and zeros if there are any. Without zeros codes of integers are 8 too large."""
    codes = unpacked_codes(word, form, dtype)
    if form.name == "mxfp4":
        return codes * _spread([_numbers([power_of_two(x.to(fx.Uint8)) >> 16], dtype)[0] for x in own], dtype)
    zeros, above = [zero.to(dtype) for zero in own[2:]], codes_above(form, dtype)
    # A zero need not be an integer, so it is not added to what is taken off.
    codes = codes - dtype(above) - _spread(zeros, dtype) if zeros else codes - dtype(above + 8)
    return codes * _spread([x.to(dtype) for x in own[:2]], dtype)


def unpacked_codes(word: Any, form: PackedKind, dtype: Any) -> Any:
    """Return a word's eight codes as numbers, which are too large by `codes_above`."""
    pairs = [word >> (4 * i) for i in range(4)]
    if form.name == "mxfp4":  # sign, two bits of exponent and one of fraction
        words = [(pair & 0x00080008) << 12 | (pair & 0x00070007) << 6 for pair in pairs]
        return _numbers(words, dtype) * dtype(2.0**126)
    bits, added = MAGIC[dtype]
    return _numbers([pair & 0x000F000F | bits for pair in pairs], dtype) - dtype(added - codes_above(form, dtype))


def codes_above(form: PackedKind, dtype: Any) -> float:
    """128 in bf16; the 1024 of f16 are taken off at once, since they would leave sums too few bits."""
    return MAGIC[dtype][1] if form.name == "int4" and dtype is fx.BFloat16 else 0.0


def power_of_two(exponent: Any) -> Any:
    """Return the bits of 2^(exponent - 127) in f32, of an exponent of eight bits; 255 is no number."""
    exponent = fx.Int32(exponent)
    least, most = exponent == 0, exponent == 255
    return least.select(fx.Int32(0x400000), most.select(fx.Int32(0x7FC00000), exponent << 23))


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
        """The sums of a tile: a step is unpacked while the one before it is multiplied."""
        before, weights, rows = state, self.weights, rows_of_sums(place)
        held, following = (weights.load_factors(rows, weights.quad(k_first) + i) for i in range(2))
        runs = (k_last - k_first) // FRAGMENTS
        for run in range(runs):
            for i in fx.range_constexpr(FRAGMENTS):
                k = k_first + run * FRAGMENTS + i
                self.multiply_unpacked(self.fragments[i], state, weights.factors(held, k), k > k_first)
                fx.nvvm.wgmma_wait_group(1, self.fragments[i - 1])
                if self.leader & (k > k_first):
                    self.pipe.release(before)
                before = state
                state = self.pipe.advance(state)
                if weights.quad(k + 1) != weights.quad(k):
                    held = following
                    following = weights.load_factors(rows, weights.quad(k + 1) + 1)
        if runs * FRAGMENTS < k_last - k_first:  # the last step of an odd number
            factors = weights.factors(held, k_last - 1)
            self.multiply_unpacked(self.fragments[0], state, factors, k_last > k_first + 1)
            fx.nvvm.wgmma_wait_group(1, self.fragments[1])
            if self.leader & (k_last > k_first + 1):
                self.pipe.release(before)
            before = state
            state = self.pipe.advance(state)
        fx.nvvm.wgmma_wait_group(0, self.acc)
        if self.leader & (k_last > k_first):
            self.pipe.release(before)
        return self.acc.load().reshape((self.config.accumulators,)), state

    def multiply_unpacked(self, fragment: Any, state: Any, factors: list[Any], keep: Any) -> None:
        """acc += the weights of a stage, unpacked into a fragment, by the rest of the stage; asynchronously."""
        self.pipe.wait(state)
        values = self.weights.unpacked(self.weights.words(state.stage), factors)
        fragment.store(values.reshape(fragment.load().shape))
        fx.nvvm.wgmma_fence()
        for block in range(K_BLOCKS):
            a, b = fragment[None, None, block], self.b_part[None, None, block, state.stage]
            fx.gemm(self.tiled, self.acc, a, b, self.acc, scale_d=fx.Int32(keep) if block == 0 else 1)
        fx.nvvm.wgmma_commit_group()
