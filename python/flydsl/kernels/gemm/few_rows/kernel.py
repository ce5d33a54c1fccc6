"""A few rows times weights of four bits on Hopper, at the speed of memory: y = act(x @ weights^T + bias).

Weights lie in the order of `hopper/weights.py`. Each warp has a strip of 16 of their rows and a part of K. It keeps a
ring of pieces of 16 x 64 codes on their way to shared memory, 16 bytes a thread, which no other thread reads: nobody
waits for more than the oldest piece. Codes are multiplied by mma.sync with x, which lies in shared memory as well.
Sums of a group are scaled, not weights: the sum of x times the zero is taken off those of codes. The warps of a strip,
in one block or in a cluster of them, add up at the end, in the same order in every run.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.activation import ACTIVATIONS
from flydsl.kernels.blocks.fragment_places import FragmentPlaces
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.narrow import number_of_e8m0
from flydsl.kernels.gemm.few_rows.plan import RUN, RUN_K, TILE, FewRows
from flydsl.kernels.gemm.hopper.plan import BLOCK_ROWS, WARP_ROWS, PackedKind, ceildiv
from flydsl.kernels.gemm.hopper.tiles import extent, warp_product
from flydsl.kernels.gemm.hopper.weights import (
    BLOCK_WORDS,
    code_size,
    lane_factors,
    passed_factors,
    unpacked_codes,
)

PIECE_WORDS = BLOCK_WORDS // (BLOCK_ROWS // WARP_ROWS)
"""Of 16 x 64 codes."""


class Strips:
    """A warp's rows of the weights: their words, scales and zeros, and the sums of products."""

    def __init__(self, packed: Any, factors: Any, places: Any, n: Any, dtype: Any, form: PackedKind,
                 config: FewRows) -> None:  # fmt: skip
        """``factors`` are scales and zeros, if any. ``places`` in shared memory are for runs of words, for the barriers
        that they complete, and for sums of x."""
        ring, barriers, x_sums = places
        lane, warp = fx.lane_id(), fx.nvvm.warp_uniform(fx.thread_idx.x // 32)
        self.arrays = [array for array in factors if array is not None]
        self.dtype, self.form, self.config = dtype, form, config
        self.part = warp // config.strips
        self.rank = fx.nvvm.block_rank_in_cluster() if config.cluster > 1 else fx.Int32(0)
        self.first = fx.block_idx.x // config.cluster * config.strips
        number = self.first + warp % config.strips
        self.blocks = extent(packed, 1)
        of_block = BLOCK_ROWS // WARP_ROWS
        block = fx.min(number // of_block, extent(packed, 0) - 1)  # behind the last one it is as good as any
        first = fx.Int64(block) * self.blocks * BLOCK_WORDS
        self.words = fx.get_iter(packed) + (first + number % of_block * PIECE_WORDS)
        own = FragmentPlaces(warp_product(TILE), lane, (WARP_ROWS, TILE))
        top = number * WARP_ROWS + own.origin[0]
        self.rows = [fx.min(top + step, n - 1) for step in own.along(0)]
        self.runs = fx.ceildiv(fx.ceildiv(self.blocks, RUN), config.parts * config.cluster)
        self.ring, self.barriers = ring + warp * (config.slots * RUN * PIECE_WORDS), barriers + warp * config.slots
        shape, stride = (4, 32, (RUN, config.slots)), (1, 4, (PIECE_WORDS, RUN * PIECE_WORDS))
        self.pieces = fx.make_view(self.ring, fx.make_layout(shape, stride))
        shape = (2, (4, 8), config.tiles, config.parts * config.held * RUN_K // self.segment)
        self.x_sums = fx.make_view(x_sums, fx.make_layout(shape, (1, (2, 0), 8, 8 * config.tiles)))
        """Of (one of two tokens, lane, tile, segment): lanes with the same tokens share them."""
        self.atom = fx.make_mma_atom(fx.nvvm.MmaSync(WARP_ROWS, TILE, 16, dtype, fx.Float32))

    @property
    def segment(self) -> int:
        """Columns of a run, at least, that have the same factors."""
        group = self.form.group
        return min(group, RUN_K) if RUN_K % group == 0 or group % RUN_K == 0 else BLOCK_ROWS

    def number_of(self, run: Any) -> Any:
        """Return which run of all a run of the warp is: those of a strip's warps alternate, so that a block reads
        memory in order; blocks of a cluster follow each other."""
        return (self.rank * self.runs + run) * self.config.parts + self.part

    @flyc.jit
    def init(self) -> None:
        """Make the barriers of the warp's runs."""
        if fx.lane_id() == 0:
            for slot in fx.range_constexpr(self.config.slots):
                fx.nvvm.mbarrier_init(self.barriers + slot, 1)
            fx.nvvm.fence_mbarrier_init()

    @flyc.jit
    def send_for(self, run: Any) -> None:
        """Have the pieces of a run on their way, by one thread; behind the last there are none. Every lane has read
        what was there before: its words have gone into products of the whole warp."""
        first, slot, words = self.number_of(run) * RUN, run % self.config.slots, PIECE_WORDS
        count = fx.min(fx.max(self.blocks - first, fx.Int32(0)), fx.Int32(RUN))
        if (fx.lane_id() == 0) & (run < self.runs):
            barrier = self.barriers + slot
            fx.nvvm.mbarrier_arrive_expect_tx(barrier, count * (words * 4))
            for i in fx.range_constexpr(RUN):
                if i < count:
                    place = self.ring + (slot * RUN + i) * words
                    fx.nvvm.bulk_load(self.words + (first + i) * BLOCK_WORDS, place, words * 4, barrier)

    def factors_of(self, run: Any) -> list[Any]:
        """Return a lane's factors of the groups that a run begins with, four at a time."""
        first = self.number_of(run) * RUN_K // self.form.group
        fours = range(ceildiv(RUN_K // self.form.group, 4) or 1)
        return [factor for four in fours for factor in lane_factors(self.arrays, self.rows, first + four * 4)]

    def scales_and_zeros(self, loaded: list[Any], run: Any, column: int) -> tuple[list[Any], list[Any]]:
        """Of the two rows, in the group of a run's column, as numbers to multiply sums by and to take from codes."""
        first, each = self.number_of(run) * RUN_K, 2 * len(self.arrays)
        group = (first + column) // self.form.group - first // self.form.group
        group = fx.Int32(column // self.form.group) if self.segment != BLOCK_ROWS else group
        own = loaded[column // self.form.group // 4 * each :][:each]
        rows = own[: each // 2], own[each // 2 :]
        factors = passed_factors([(row, group % 4) for row in rows], self.dtype)
        if self.form.name == "mxfp4":
            return [number_of_e8m0(exponent) for exponent in factors], []
        zeros = [fx.Float32(zero) for zero in factors[2:]] or [fx.Float32(8.0)] * 2
        size = code_size(self.form, self.dtype)
        return [fx.Float32(scale) * (1 / size) for scale in factors[:2]], [zero * size for zero in zeros]

    def multiply(self, factors: list[Any], run: Any, x: Any, sums: list[Any]) -> list[Any]:
        """sums += the weights of a run * x; then it makes room for another. Return factors of the run after the
        next."""
        config, slot = self.config, run % self.config.slots
        number = run % config.held * config.parts + self.part
        at = config.place(run) + number * RUN_K
        fx.nvvm.mbarrier_wait(self.barriers + slot, run // config.slots & 1)
        for i in range(RUN):
            x_words = [self.x_words(x, tile, at + i * BLOCK_ROWS) for tile in range(config.tiles)]
            piece = self.pieces[None, fx.lane_id(), (i, slot)].load()
            for j in range(4):
                column = i * BLOCK_ROWS + j * 16
                if column % self.segment == 0:
                    codes = [self.zeros() for _ in sums]
                self.add_products(unpacked_codes(piece[j], self.form, self.dtype), x_words, j, codes)
                if (column + 16) % self.segment == 0:
                    segment = number * (RUN_K // self.segment) + column // self.segment
                    of_x = self.x_sums[None, fx.lane_id(), None, segment]
                    scaled_sums(sums, codes, *self.scales_and_zeros(factors, run, column), of_x)
        self.send_for(run + config.slots)
        return self.factors_of(run + 2)

    def zeros(self) -> Any:
        found = fx.make_rmem_tensor(4, fx.Float32)
        found.fill(0.0)
        return found

    def add_products(self, weights: Any, x_words: list[list[Any]], j: int, sums: list[Any]) -> None:
        """sums += eight weights of each thread * x of the same 16 columns, those with number j of 64."""
        a = fx.make_rmem_tensor(8, self.dtype)
        a.store(weights)
        for total, words in zip(sums, x_words, strict=True):
            b = fx.make_rmem_tensor(4, self.dtype)
            b.store(fx.Vector.from_elements(words[2 * j : 2 * j + 2], fx.Int32).bitcast(self.dtype))
            fx.mma_atom_call(self.atom, total, a, b, total)

    @flyc.jit
    def sum_x(self, x, begin):
        """Sums of x in each segment of the runs from ``begin`` on, by products with ones; warps share them."""
        config, lane, each = self.config, fx.lane_id(), max(self.segment, BLOCK_ROWS)
        ones = fx.Vector.filled(8, 1.0, self.dtype)
        own = fx.nvvm.warp_uniform(fx.thread_idx.x // 32)
        for unit in range(own, config.parts * config.held * RUN_K // each, config.warps):
            at = unit * each
            sums = [[self.zeros() for _ in range(config.tiles)] for _ in range(each // self.segment)]
            for column in fx.range_constexpr(0, each, BLOCK_ROWS):
                place = config.place(begin) + at + column
                words = [self.x_words(x, tile, place) for tile in range(config.tiles)]
                for j in fx.range_constexpr(4):
                    self.add_products(ones, words, j, sums[(column + j * 16) // self.segment])
            if lane < 4:
                for i in fx.range_constexpr(each // self.segment):
                    for tile in fx.range_constexpr(config.tiles):
                        found = sums[i][tile].load()
                        pair = fx.Vector.from_elements([found[0], found[1]], fx.Float32)
                        self.x_sums[None, lane, tile, at // self.segment + i].store(pair)

    def x_words(self, x: Any, tile: int, column: Any) -> list[Any]:
        """x of 64 columns as mma.sync wants it; lanes of rows that are not there name the last one."""
        lane = fx.lane_id()  # a tiled copy by ldmatrix would have no place for that: its rows are a layout's
        row = fx.min(tile * TILE + lane % 8, fx.Int32(self.config.rows - 1))
        place = x + (row * self.config.line + column + lane // 8 * 8)
        return [word for half in range(2) for word in fx.nvvm.ldmatrix(place + half * 32, 4)]


def scaled_sums(sums: list[Any], codes: list[Any], scales: Any, zeros: Any, x_sums: Any) -> None:
    """sums += scale * (codes - zero * the sum of x): two of a thread's four sums are of its second row."""
    for tile, (total, part) in enumerate(zip(sums, codes, strict=True)):
        new, found, of_x = [], part.load(), x_sums[None, tile].load() if zeros else None
        for i in range(4):
            value = found[i]
            if zeros:
                value = fx.math.fma(-zeros[i // 2], of_x[i % 2], value)
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
    words = config.slots * RUN * PIECE_WORDS
    ring = smem.allocate(fx.Array[fx.Int32, config.warps * words + config.spare_bytes // 4, 16]).ptr
    x_sums = smem.allocate(fx.Array[fx.Float32, config.sums_of_x, 16]).ptr
    barriers = smem.allocate(fx.Array[fx.Int64, config.warps * config.slots]).ptr
    fx.nvvm.griddepcontrol_launch_dependents()
    fx.nvvm.griddepcontrol_wait()
    strips = Strips(packed, (scales, zeros), (ring, barriers, x_sums), n, dtype, form, config)
    bring(x, x_ptr, strips, fx.Int32(0), m, wide, config)
    strips.init()
    for i in fx.range_constexpr(config.slots):
        strips.send_for(fx.Int32(i))
    even, odd = strips.factors_of(fx.Int32(0)), strips.factors_of(fx.Int32(1))
    sums = [fx.make_rmem_tensor(4, fx.Float32) for _ in range(config.tiles)]
    for part in sums:
        part.fill(0.0)
    for begin in range(0, strips.runs, config.held):
        fx.nvvm.cp_async_wait_group(0)
        fx.barrier()  # x of these runs is there, and nobody reads that of the runs before
        if fx.const_expr(form.name != "mxfp4"):
            strips.sum_x(x_ptr, begin)
            fx.barrier()
        if fx.const_expr(config.places > 1):
            bring(x, x_ptr, strips, begin + config.held, m, wide, config)
        for run in range(begin, fx.min(begin + config.held, strips.runs), 2):
            even = strips.multiply(even, run, x_ptr, sums)
            if run + 1 < strips.runs:
                odd = strips.multiply(odd, run + 1, x_ptr, sums)
    # A warp's sums go where its words came: the last of them have been read.
    shape, stride = (4, 32, config.tiles, config.warps), (1, 4, 128, words)
    parts = fx.make_view(fx.recast_iter(fx.Float32, ring), fx.make_layout(shape, stride))
    add_up(strips, sums, parts, bias, y, activation, config)


@flyc.jit
def bring(x, x_ptr, strips, run, m, wide, config):
    """Send for the columns of x that the parts' next runs multiply, to one of two places; behind the last are zeros."""
    k, dtype, each = extent(x, 1), x.dtype, 8 if wide else 1
    atom, pieces = fx.make_copy_atom(fx.nvvm.CpAsync(128), dtype), config.parts * config.held * RUN_K // each
    start = config.place(run)
    for i in range(fx.thread_idx.x, config.rows * pieces, config.warps * 32):
        row, at = i // pieces, i % pieces * each
        column = (strips.rank * strips.runs + run) * (config.parts * RUN_K) + at
        place = fx.make_view(x_ptr + (start + row * config.line + at), fx.make_layout(each, 1))
        is_inside = (column < k) & (run < strips.runs)
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
def add_up(strips, sums, parts, bias, y, activation, config):
    """The sums of a strip's warps, part by part, to y; blocks of a cluster have a share of its strips each."""
    lane, warp, share = fx.lane_id(), fx.thread_idx.x // 32, config.strips // config.cluster
    for tile in fx.range_constexpr(config.tiles):
        parts[None, lane, tile, warp].store(sums[tile].load())
    if fx.const_expr(config.cluster > 1):
        fx.nvvm.cluster_sync()
    else:
        fx.barrier()
    for unit in range(warp, share * config.tiles, config.warps):
        own, tile = strips.rank * share + unit // config.tiles, unit % config.tiles
        total = fx.Vector.filled(4, 0.0, fx.Float32)
        for block in fx.range_constexpr(config.cluster):
            for part in fx.range_constexpr(config.parts):
                place = parts[None, lane, tile, own + part * config.strips]
                if fx.const_expr(config.cluster > 1):
                    total = total + fx.nvvm.cluster_load(place, block, fx.Float32x4)
                else:
                    total = total + place.load()
        store_sums(total, (strips.first + own, tile), bias, y, activation)
    if fx.const_expr(config.cluster > 1):
        fx.nvvm.cluster_sync(relaxed=True)  # others may still read from this block's shared memory


@flyc.jit
def store_sums(total, place, bias, y, activation):
    """A warp's 16 x 8 sums, four a thread, to y with columns and rows exchanged."""
    tile = fx.tile_coordinates((WARP_ROWS, TILE), place)
    places = warp_product(TILE).get_slice(fx.lane_id()).partition_C(tile)
    for i in fx.range_constexpr(4):
        row, column = (fx.Int32(part) for part in fx.get_leaves(places[i]))
        if (row < extent(y, 1)) & (column < extent(y, 0)):
            value = total[i]
            if fx.const_expr(bias is not None):
                value = value + fx.Float32(bias[row])
            whole = fx.Vector.from_elements([value], fx.Float32)
            y[column, row] = ACTIVATIONS[activation](whole)[0].to(y.dtype)


@kept
def build_few_rows(form: PackedKind, activation: str, wide: bool, config: FewRows) -> Any:
    """Return a jit function of the arguments that a packed kind of `build_hopper_gemm` has: x, packed, y, the bias, the
    scales and zeros are looked at, of which the bias and zeros may be None."""

    @flyc.jit
    def few_rows(x: fx.Tensor, packed: fx.Tensor, y: fx.Tensor, row_scale: None, column_scale: None,
                 bias: fx.Tensor | None, D: None, alpha: None, beta: fx.Float32, scales: fx.Tensor,
                 zeros: fx.Tensor | None, sizes: None, from_rows: None, to_rows: None, taken: None,
                 stream: fx.Stream = fx.Stream(None)):  # fmt: skip
        blocks = fx.ceildiv(extent(y, 1), WARP_ROWS * config.strips) * config.cluster
        few_rows_kernel(x, packed, scales, zeros, bias, y, form, activation, wide, config).launch(
            grid=(blocks, 1, 1), block=(config.warps * 32, 1, 1), stream=stream, pdl=True,
            cluster=(config.cluster, 1, 1) if config.cluster > 1 else None,
        )  # fmt: skip

    return few_rows
