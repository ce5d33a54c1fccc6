"""What becomes of the sums of a product through LDS: scales, a bias, C, and shares of K that blocks add up."""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.gemm.lds_plan import OUTPUTS


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
        place = None if self.plan.ragged else self.in_memory()
        for row in range(self.product.rows):
            part = self.product.total[None, None, row] if total is None else total[None, None, row]
            sums = fx.zeros_like(part.load()) if total is None else part.load()
            coords = self.coords[None, None, row]
            values = self.steps(extras)(sums, coords, (None, self.plan.n if self.plan.ragged else None))
            if self.plan.ragged:
                self.store_inside(values, coords)
            else:
                self.store(values, place[None, None, row])

    def steps(self, extras: Any) -> Any:
        """Scales of rows, which end with a descriptor and give zero behind it; scales and bias of columns."""
        plan, (scale_a, scale_b, bias) = self.plan, extras
        steps = fx.epilogue.Epilogue()
        if plan.scaled:
            end = rocdl.make_buffer_ptr(fx.get_iter(scale_a), fx.Int64(self.m) * 4)
            rows = fx.make_view(end, fx.make_layout(1 << 24, 1))
            columns = vector_of(scale_b, plan.n)
            steps = steps >> fx.epilogue.RowScale(rows) >> fx.epilogue.ColumnScale(columns)
        return steps >> fx.epilogue.Bias(vector_of(bias, plan.n)) if plan.biased else steps

    def in_memory(self) -> Any:
        """Return this thread's places in C through a descriptor that ends with its last row."""
        plan, out = self.plan, OUTPUTS[self.plan.out]
        first = self.row * plan.tile_m
        inside = fx.min(self.m - first, fx.Int32(plan.tile_m))
        end = (fx.Int64(inside - 1) * plan.c_stride + plan.n) * (out.width // 8)
        start = fx.get_iter(self.C) + fx.Int64(first) * plan.c_stride
        pointer = rocdl.make_buffer_ptr(start.aligned(out.width // 2), end)
        rows = fx.make_view(pointer, fx.make_layout((plan.n, plan.tile_m), (1, plan.c_stride)))
        block = fx.zipped_divide(rows, (plan.tile_n, plan.tile_m))[None, (self.column, 0)]
        return self.product.tiled.get_slice(self.product.thread).partition_C(block)

    def store(self, values: Any, place: Any) -> None:
        """Four neighbouring columns of a row at a time."""
        out = OUTPUTS[self.plan.out]
        result = fx.make_fragment_like(place)
        result.store(values.to(out))
        fx.copy(fx.make_copy_atom(rocdl.BufferCopy(4 * out.width), out), result, place)

    def store_inside(self, values: Any, coords: Any) -> None:
        """Only what lies inside, where the last tile along N reaches beyond C."""
        shape, plan = (self.m, self.plan.n), self.plan
        matrix = fx.make_view(fx.get_iter(self.C), fx.make_layout(shape, (plan.c_stride, 1)))
        fx.epilogue.Store(matrix)(values, coords, shape)


def vector_of(tensor: Any, extent: int) -> Any:
    """Return the first numbers of an array, whatever its shape."""
    return fx.make_view(fx.get_iter(tensor), fx.make_layout(extent, 1))


@flyc.jit
def add_atomically(result: Any, values: Any) -> None:
    """Sums added to what other blocks add to: 16-bit floats in pairs, rounded before they are added."""
    plan, out = result.plan, OUTPUTS[result.plan.out]
    rounded = fx.make_fragment_like(result.product.total, dtype=out)
    rounded.store(values.to(out))
    pair = 1 if out.width == 32 else 2
    numbers, columns, rows = (fx.get_scalar(fx.size(mode)) for mode in rounded.shape)
    start = fx.get_iter(result.C)
    for i in fx.range_constexpr(rows):
        for j in fx.range_constexpr(columns):
            row, column = (fx.Int32(x) for x in result.coords[0, j, i].unpack())
            four = rounded[None, j, i].load()
            place = start + (fx.Int64(row) * plan.c_stride + fx.Int64(column))
            for v in fx.range_constexpr(0, numbers, pair):
                view = fx.make_view((place + v).aligned(4), fx.make_layout(pair, 1))
                part = fx.Vector.from_elements([four[v + x] for x in range(pair)], out)
                if row < result.m and (True if fx.const_expr(not plan.ragged) else column + v < plan.n):
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
def join(result: Any, values: Any, counters: Any, tile: Any) -> None:
    """Add a share once C has begun. The last of the blocks sets both counters back for the next launch."""
    semaphore, signal = counters
    if fx.thread_idx.x == 0:
        while fx.atomic("add", signal, 0, at=tile, order="acquire", scope="device") == 0:
            rocdl.s_sleep(1)
    fx.barrier()
    add_atomically(result, values)
    fx.barrier()
    if fx.thread_idx.x == 0:
        before = fx.atomic("add", semaphore, 1, at=tile, order="acq_rel", scope="device")
        if before == result.plan.split_k - 1:
            fx.atomic("exchange", semaphore, 0, at=tile, order="relaxed", scope="device")
            fx.atomic("exchange", signal, 0, at=tile, order="relaxed", scope="device")
