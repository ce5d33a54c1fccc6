"""A few rows times weights of four bits on Hopper, at the speed of memory: y = act(x @ weights^T + bias).

Weights lie in the order of `hopper/weights.py`. Each warp has a strip of 16 of their rows and a part of K: it keeps two
runs of 4 pieces of 16 x 64 codes on their way from memory to registers, 16 bytes a thread each, and
multiplies codes by mma.sync with x, which lies in shared memory. Sums of a group are scaled, not weights: of codes that
are too large by as much as the zero, that times the sum of x is taken off. The warps of a strip add up at the end, in
the same order in every run. Nothing is shared between blocks.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.activation import ACTIVATIONS
from flydsl.kernels.blocks.fragment_places import FragmentPlaces
from flydsl.kernels.gemm.few_rows.plan import RUN, RUN_K, TILE, FewRows
from flydsl.kernels.gemm.hopper.plan import BLOCK_ROWS, WARP_ROWS, PackedKind, ceildiv
from flydsl.kernels.gemm.hopper.tiles import extent, warp_product
from flydsl.kernels.gemm.hopper.weights import (
    BLOCK_WORDS,
    codes_above,
    lane_factors,
    passed_factors,
    power_of_two,
    unpacked_codes,
)


def copied(place: Any, count: int) -> Any:
    """So many elements, 16 bytes, from an address that is a multiple of 16."""
    found = fx.make_rmem_tensor(count, place.dtype)
    atom = fx.make_copy_atom(fx.UniversalCopy(128), place.dtype)
    fx.copy_atom_call(atom, fx.make_view(place, fx.make_layout(count, 1)), found)
    return found.load()


class Strip:
    """A warp's rows of the weights: their words, scales and zeros, and the sums of products."""

    def __init__(self, packed: Any, scales: Any, zeros: Any, n: Any, dtype: Any, form: PackedKind, config: FewRows):
        lane, warp = fx.lane_id(), fx.nvvm.warp_uniform(fx.thread_idx.x // 32)
        self.arrays = [scales] if zeros is None else [scales, zeros]
        self.dtype, self.form, self.config = dtype, form, config
        self.part = warp // config.strips
        self.number = fx.block_idx.x * config.strips + warp % config.strips
        self.blocks = extent(packed, 1)
        of_block = BLOCK_ROWS // WARP_ROWS
        first = fx.Int64(self.number // of_block) * self.blocks * BLOCK_WORDS
        self.words = fx.get_iter(packed) + (first + self.number % of_block * (BLOCK_WORDS // of_block) + lane * 4)
        own = FragmentPlaces(warp_product(TILE), lane, (WARP_ROWS, TILE))
        top = self.number * WARP_ROWS + own.origin[0]
        self.rows = [fx.min(top + step, n - 1) for step in own.along(0)]
        self.runs = fx.ceildiv(fx.ceildiv(self.blocks, RUN), config.parts)
        self.atom = fx.make_mma_atom(fx.nvvm.MmaSync(WARP_ROWS, TILE, 16, dtype, fx.Float32))

    @property
    def segment(self) -> int:
        """Columns of a run, at least, that have the same factors."""
        group = self.form.group
        return min(group, RUN_K) if RUN_K % group == 0 or group % RUN_K == 0 else BLOCK_ROWS

    def load(self, run: Any) -> list[Any]:
        """Words and factors of one of the warp's runs."""
        return [*(word for i in range(RUN) for word in self.words_of(run, i)), *self.factors_of(run)]

    def words_of(self, run: Any, i: int) -> list[Any]:
        """Return four words of a run, which nothing waits for yet; behind the last, any."""
        block = (self.part * self.runs + run) * RUN + i
        return list(copied(self.words + fx.min(block, self.blocks - 1) * BLOCK_WORDS, 4))

    def factors_of(self, run: Any) -> list[Any]:
        """Return a lane's factors of the groups that a run begins with, four at a time."""
        first = (self.part * self.runs + run) * RUN_K // self.form.group
        fours = range(ceildiv(RUN_K // self.form.group, 4) or 1)
        return [factor for four in fours for factor in lane_factors(self.arrays, self.rows, first + four * 4)]

    def scales_and_zeros(self, loaded: list[Any], run: Any, column: int) -> tuple[list[Any], list[Any]]:
        """Of the two rows, in the group of a run's column, as numbers to multiply sums by and to take from codes."""
        first, each = (self.part * self.runs + run) * RUN_K, 2 * len(self.arrays)
        group = (first + column) // self.form.group - first // self.form.group
        group = fx.Int32(column // self.form.group) if self.segment != BLOCK_ROWS else group
        own = loaded[RUN * 4 + column // self.form.group // 4 * each :][:each]
        factors = passed_factors(own, group % 4, self.dtype)
        if self.form.name == "mxfp4":
            bits = [fx.Vector.from_elements([power_of_two(exponent)], fx.Int32) for exponent in factors]
            return [one.bitcast(fx.Float32)[0] for one in bits], []
        zeros = [fx.Float32(zero) for zero in factors[2:]] or [fx.Float32(8.0)] * 2
        return [fx.Float32(scale) for scale in factors[:2]], [x + codes_above(self.form, self.dtype) for x in zeros]

    def multiply(self, loaded: list[Any], run: Any, x: Any, sums: list[Any]) -> list[Any]:
        """sums += the weights of a run * x; what was loaded is replaced by the run after the next as it is used up."""
        held = self.config.held
        at = self.config.place(run) + (self.part * held + run % held) * RUN_K
        following: list[Any] = []
        for i in range(RUN):
            x_words = [self.x_words(x, tile, at + i * BLOCK_ROWS) for tile in range(self.config.tiles)]
            for j in range(4):
                column = i * BLOCK_ROWS + j * 16
                if column % self.segment == 0:
                    codes, ones = ([self.zeros() for _ in sums] for _ in range(2))
                self.add_products(loaded[i * 4 + j], [words[2 * j : 2 * j + 2] for words in x_words], codes, ones)
                if (column + 16) % self.segment == 0:
                    scaled_sums(sums, codes, ones, *self.scales_and_zeros(loaded, run, column))
            following += self.words_of(run + 2, i)
        return following + self.factors_of(run + 2)

    def zeros(self) -> Any:
        found = fx.make_rmem_tensor(4, fx.Float32)
        found.fill(0.0)
        return found

    def add_products(self, word: Any, x_words: list[Any], codes: list[Any], ones: list[Any]) -> None:
        """codes += the word's codes * x and, where zeros are to be taken from them, ones += x."""
        a, one = fx.make_rmem_tensor(8, self.dtype), fx.make_rmem_tensor(8, self.dtype)
        a.store(unpacked_codes(word, self.form, self.dtype))
        one.fill(1.0)
        for tile, words in enumerate(x_words):
            b = fx.make_rmem_tensor(4, self.dtype)
            b.store(fx.Vector.from_elements(list(words), fx.Int32).bitcast(self.dtype))
            fx.mma_atom_call(self.atom, codes[tile], a, b, codes[tile])
            if self.form.name != "mxfp4":
                fx.mma_atom_call(self.atom, ones[tile], one, b, ones[tile])

    def x_words(self, x: Any, tile: int, column: Any) -> list[Any]:
        """x of 64 columns as mma.sync wants it; lanes of rows that are not there name the last one."""
        lane = fx.lane_id()  # a tiled copy by ldmatrix would have no place for that: its rows are a layout's
        row = fx.min(tile * TILE + lane % 8, fx.Int32(self.config.rows - 1))
        place = x + (row * self.config.line + column + lane // 8 * 8)
        return [word for half in range(2) for word in fx.nvvm.ldmatrix(place + half * 32, 4)]


def scaled_sums(sums: list[Any], codes: list[Any], ones: list[Any], scales: Any, zeros: Any) -> None:
    """sums += scale * (codes - zero * ones): two of a thread's four sums are of its second row."""
    for total, part, of_x in zip(sums, codes, ones, strict=True):
        new, found, row = [], part.load(), of_x.load()
        for i in range(4):
            value = found[i]
            if zeros:
                value = fx.math.fma(-zeros[i // 2], row[i], value)
            new.append(fx.math.fma(scales[i // 2], value, total.load()[i]))
        total.store(fx.Vector.from_elements(new, fx.Float32))


@flyc.kernel
def few_rows_kernel(
    x: Any, packed: Any, scales: Any, zeros: Any, bias: Any, y: Any, form: fx.Constexpr, activation: fx.Constexpr,
    wide: fx.Constexpr, config: fx.Constexpr,
):  # fmt: skip
    """``wide`` says that lines of x are multiples of 16 bytes."""
    dtype, m, n = x.dtype, extent(y, 0), extent(y, 1)
    smem = fx.SharedAllocator(1024, static=False)
    x_ptr = smem.allocate(fx.Array[dtype, config.places * config.rows * config.line, 16]).ptr
    shape = (4, 32, config.tiles, config.warps)
    parts = fx.make_view(smem.allocate(fx.Array[fx.Float32, 128 * config.tiles * config.warps, 16]).ptr,
                         fx.make_layout(shape, (1, 4, 128, 128 * config.tiles)))  # fmt: skip
    fx.nvvm.griddepcontrol_launch_dependents()
    fx.nvvm.griddepcontrol_wait()
    strip = Strip(packed, scales, zeros, n, dtype, form, config)
    bring(x, x_ptr, strip, fx.Int32(0), m, wide, config)
    even, odd = strip.load(fx.Int32(0)), strip.load(fx.Int32(1))
    sums = [fx.make_rmem_tensor(4, fx.Float32) for _ in range(config.tiles)]
    for part in sums:
        part.fill(0.0)
    for begin in range(0, strip.runs, config.held):
        fx.nvvm.cp_async_wait_group(0)
        fx.barrier()  # x of these runs is there, and nobody reads that of the runs before
        if fx.const_expr(config.places > 1):
            bring(x, x_ptr, strip, begin + config.held, m, wide, config)
        for run in range(begin, fx.min(begin + config.held, strip.runs), 2):
            even = strip.multiply(even, run, x_ptr, sums)
            if run + 1 < strip.runs:
                odd = strip.multiply(odd, run + 1, x_ptr, sums)
    add_up(strip, sums, parts, bias, y, activation, config)


@flyc.jit
def bring(x, x_ptr, strip, run, m, wide, config):
    """Send for the columns of x that the parts' next runs multiply, to one of two places; behind the last are zeros."""
    k, dtype, each = extent(x, 1), x.dtype, 8 if wide else 1
    atom, held = fx.make_copy_atom(fx.nvvm.CpAsync(128), dtype), config.held * RUN_K
    start, pieces = config.place(run), config.parts * held // each
    for i in range(fx.thread_idx.x, config.rows * pieces, config.warps * 32):
        row, at = i // pieces, i % pieces * each
        column = (at // held * strip.runs + run) * RUN_K + at % held
        place = fx.make_view(x_ptr + (start + row * config.line + at), fx.make_layout(each, 1))
        is_inside = (column < k) & (run < strip.runs)
        row = fx.min(row, m - 1)
        if is_inside:
            if fx.const_expr(wide):
                source = fx.make_view(fx.get_iter(x[row, None]) + column, fx.make_layout(each, 1))
                fx.copy_atom_call(atom, source, place)
            else:
                place[0] = x[row, column]
        else:
            place.fill(0.0)
    fx.nvvm.cp_async_commit_group()


@flyc.jit
def add_up(strip, sums, parts, bias, y, activation, config):
    """The sums of a strip's warps, part by part, to y."""
    lane, warp = fx.lane_id(), fx.thread_idx.x // 32
    for tile in fx.range_constexpr(config.tiles):
        parts[None, lane, tile, warp].store(sums[tile].load())
    fx.barrier()
    if warp < config.strips:
        for tile in fx.range_constexpr(config.tiles):
            total = parts[None, lane, tile, warp].load()
            for part in range(1, config.parts):
                total = total + parts[None, lane, tile, warp + part * config.strips].load()
            for i in fx.range_constexpr(4):
                # As `FragmentPlaces` would say, which takes an instruction more here.
                row, column = strip.number * WARP_ROWS + i // 2 * 8 + lane // 4, tile * TILE + lane % 4 * 2 + i % 2
                if (row < extent(y, 1)) & (column < extent(y, 0)):
                    value = total[i]
                    if fx.const_expr(bias is not None):
                        value = value + fx.Float32(bias[row])
                    whole = fx.Vector.from_elements([value], fx.Float32)
                    y[column, row] = ACTIVATIONS[activation](whole)[0].to(y.dtype)


@cache
def build_few_rows(form: PackedKind, activation: str, wide: bool, config: FewRows) -> Any:
    """Return a jit function ``few_rows(x, packed, y, scales, zeros, bias, stream)``; zeros and the bias may be None."""

    @flyc.jit
    def few_rows(x: fx.Tensor, packed: fx.Tensor, y: fx.Tensor, scales: fx.Tensor, zeros: fx.Tensor | None,
                 bias: fx.Tensor | None, stream: fx.Stream = fx.Stream(None)):  # fmt: skip
        blocks = fx.ceildiv(extent(y, 1), WARP_ROWS * config.strips)
        few_rows_kernel(x, packed, scales, zeros, bias, y, form, activation, wide, config).launch(
            grid=(blocks, 1, 1), block=(config.warps * 32, 1, 1), stream=stream, pdl=True
        )

    return few_rows
