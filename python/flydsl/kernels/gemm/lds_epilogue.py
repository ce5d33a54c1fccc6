"""What becomes of the sums of a product through LDS: scales, a bias, C, and shares of K that blocks add up."""

from __future__ import annotations

from itertools import product
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.gemm.lds_plan import OUTPUTS
from flydsl.kernels.gemm.matrix_cores import BLOCK

BEHIND = 1 << 28
"""An element's place behind the end of every tile, whose bytes a register still counts."""


class Result:
    """A thread's part of C: its coordinates, and how numbers get there."""

    def __init__(self, product: Any, C: Any, m: Any, at: tuple[Any, Any]) -> None:
        self.product, self.plan, self.C, self.m = product, product.plan, C, m
        self.row, self.column = at
        plan = self.plan
        where = fx.select(fx.make_identity_tensor((m, plan.n)), [1, 0])
        block = fx.zipped_divide(where, (plan.tile_n, plan.tile_m))[None, (self.column, self.row)]
        self.coords = product.tiled.get_slice(product.thread).partition_C(block)

    def write(self, extras: Any, total: Any = None) -> None:
        """Scales and bias on sums, or on zeros where there are none yet, and the results to C, row by row."""
        plan, steps = self.plan, self.steps(extras)
        store = self.inside_store() if plan.ragged else self.whole_store()
        columns = plan.n if plan.ragged and plan.biased and splits_words(extras[2], plan.n) else None
        for row in range(self.product.rows):
            part = self.product.total[None, None, row] if total is None else total[None, None, row]
            sums = fx.zeros_like(part.load()) if total is None else part.load()
            store(steps(sums, self.coords[None, None, row], (None, columns)), row)

    def steps(self, extras: Any) -> Any:
        """Scales of rows, scales and bias of columns. All end with descriptors and are zero behind them."""
        plan, (scale_a, scale_b, bias) = self.plan, extras
        steps = fx.epilogue.Epilogue()
        if plan.scaled:
            rows, columns = vector_of(scale_a, self.m), self.columns_of(scale_b)
            steps = steps >> fx.epilogue.RowScale(rows) >> fx.epilogue.ColumnScale(columns)
        return steps >> fx.epilogue.Bias(self.columns_of(bias)) if plan.biased else steps

    def columns_of(self, tensor: Any) -> Any:
        """Return a number for each column; where a tile reaches beyond the last, through a descriptor if it can end
        there."""
        plan = self.plan
        if plan.ragged and not splits_words(tensor, plan.n):
            return vector_of(tensor, fx.Int32(plan.n))
        return fx.make_view(fx.get_iter(tensor), fx.make_layout(plan.n, 1))

    def rows_of_tile(self) -> tuple[Any, Any]:
        """Return where the tile's rows of C begin, through a descriptor that ends with its last row, and that end in
        elements."""
        plan, out = self.plan, OUTPUTS[self.plan.out]
        first = self.row * plan.tile_m
        inside = fx.min(self.m - first, fx.Int32(plan.tile_m))
        end = fx.Int64(inside - 1) * plan.c_stride + plan.n
        start = fx.get_iter(self.C) + fx.Int64(first) * plan.c_stride
        return rocdl.make_buffer_ptr(start, end * (out.width // 8)), fx.Int32(end)

    def whole_store(self) -> Any:
        """Return what stores a row's results, four neighbouring columns at a time."""
        plan, out = self.plan, OUTPUTS[self.plan.out]
        pointer, _ = self.rows_of_tile()
        rows = fx.make_view(pointer.aligned(out.width // 2), fx.make_layout((plan.n, plan.tile_m), (1, plan.c_stride)))
        block = fx.zipped_divide(rows, (plan.tile_n, plan.tile_m))[None, (self.column, 0)]
        places = self.product.tiled.get_slice(self.product.thread).partition_C(block)
        atom = fx.make_copy_atom(rocdl.BufferCopy(4 * out.width), out)

        def store(values: Any, row: int) -> None:
            place = places[None, None, row]
            result = fx.make_fragment_like(place)
            result.store(values.to(out))
            fx.copy(atom, result, place)

        return store

    def inside_store(self) -> Any:
        """Return what stores a row's results where the tile reaches beyond the last column: what lies there goes to a
        place behind the descriptor's end, which the hardware drops. Four columns at a time where all or none of them
        are inside, else one by one. Scalar offsets tell rows apart, no further than the end: the hardware compares with
        the size less this offset."""
        plan, out = self.plan, OUTPUTS[self.plan.out]
        width = 4 if plan.n % 4 == 0 and plan.c_stride % 4 == 0 else 1
        pointer, end = self.rows_of_tile()
        pointer = pointer.aligned(width * out.width // 8)
        atom = fx.make_copy_atom(rocdl.BufferCopy(width * out.width), out)
        down = (fx.Int32(self.coords[0, 0, 0].unpack()[0]) - self.row * plan.tile_m) * plan.c_stride
        offsets: dict[tuple[int, int], Any] = {}
        for j, v in product(range(self.product.columns), range(0, 4, width)):
            across = fx.Int32(self.coords[0, j, 0].unpack()[1]) + v
            offsets[j, v] = (across < plan.n).select(down + across, fx.Int32(BEHIND))
        between = BLOCK * plan.m_waves * plan.c_stride

        def store(values: Any, row: int) -> None:
            rounded = values.to(out)
            for (j, v), offset in offsets.items():
                result = fx.make_rmem_tensor(width, out)
                result.store(fx.Vector.from_elements([rounded[4 * j + v + x] for x in range(width)], out))
                place = fx.make_view(pointer + offset, fx.make_layout(width, 1))
                fx.copy(atom, result, place, soffset=fx.min(fx.Int32(row * between), end))

        return store


def splits_words(tensor: Any, extent: int) -> bool:
    """Return whether so many numbers end within a word, of which a descriptor gives all or nothing."""
    return extent * tensor.dtype.width % 32 != 0


def vector_of(tensor: Any, extent: Any) -> Any:
    """Return the first numbers of an array, whatever its shape, through a descriptor that ends with them."""
    bytes_of = tensor.dtype.width // 8
    end = rocdl.make_buffer_ptr(fx.get_iter(tensor), fx.Int64(extent) * bytes_of)
    return fx.make_view(end, fx.make_layout(1 << 24, 1))


@flyc.jit
def add_atomically(result: Any) -> None:
    """Sums added to what other blocks add to: 16-bit floats in pairs, rounded four by four before they are added."""
    plan, out, total = result.plan, OUTPUTS[result.plan.out], result.product.total
    pair = 1 if out.width == 32 else 2
    numbers, columns, rows = (fx.get_scalar(fx.size(mode)) for mode in total.shape)
    start = fx.get_iter(result.C)
    for i in fx.range_constexpr(rows):
        if fx.Int32(result.coords[0, 0, i].unpack()[0]) < result.m:
            for j in fx.range_constexpr(columns):
                row, column = (fx.Int32(x) for x in result.coords[0, j, i].unpack())
                four = total[None, j, i].load().to(out)
                place = start + (fx.Int64(row) * plan.c_stride + fx.Int64(column))
                for v in fx.range_constexpr(0, numbers, pair):
                    view = fx.make_view((place + v).aligned(4), fx.make_layout(pair, 1))
                    part = fx.Vector.from_elements([four[v + x] for x in range(pair)], out)
                    if True if fx.const_expr(not plan.ragged) else column + v < plan.n:
                        fx.atomic("add", view, part[0] if pair == 1 else part, scope="device")


# Blocks that share a tile ----------------------------------------------------------------------------


@flyc.jit
def publish(result: Any, extras: Any, signal: Any, tile: Any) -> None:
    """The first block of a tile says what C begins with; the others wait for its signal before they add."""
    result.write(extras)
    fx.fence("device", "release")
    fx.barrier()
    if fx.thread_idx.x == 0:
        fx.atomic("exchange", signal, 1, at=tile, order="release", scope="device")


@flyc.jit
def join(result: Any, counters: Any, tile: Any) -> None:
    """Add a share once C has begun. The last of the blocks sets both counters back for the next launch."""
    semaphore, signal = counters
    if fx.thread_idx.x == 0:
        while fx.atomic("add", signal, 0, at=tile, order="acquire", scope="device") == 0:
            rocdl.s_sleep(1)
    fx.barrier()
    add_atomically(result)
    fx.barrier()
    if fx.thread_idx.x == 0:
        before = fx.atomic("add", semaphore, 1, at=tile, order="acq_rel", scope="device")
        if before == result.plan.split_k - 1:
            fx.atomic("exchange", semaphore, 0, at=tile, order="relaxed", scope="device")
            fx.atomic("exchange", signal, 0, at=tile, order="relaxed", scope="device")
