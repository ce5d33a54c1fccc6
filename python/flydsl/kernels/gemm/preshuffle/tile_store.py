"""A tile of C on its way to memory: rows of a matrix through a descriptor, stored from registers or by way of LDS."""

from __future__ import annotations

from itertools import product
from typing import Any

import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.gemm.preshuffle_plan import OUT_DTYPES, STORE_PAD, STORE_WIDTH, THREADS


def rows_from(tensor: Any, first: Any, rows: Any, tile: int, columns: int) -> Any:
    """``tile`` rows of a contiguous matrix through a descriptor that ends with its last row."""
    inside = fx.min(rows - first, fx.Int32(tile))
    records = fx.Int64(inside) * (columns * tensor.dtype.width // 8)
    start = fx.get_iter(tensor) + fx.Int64(first) * columns
    return fx.make_view(rocdl.make_buffer_ptr(start, records), fx.make_layout((tile, columns), (columns, 1)))


def store_tile(pipeline: Any, C: Any, values: Any, m: Any, column: Any, row: Any) -> None:
    """Four neighbouring columns of a row at a time, or by way of LDS eight."""
    plan, out_dtype = pipeline.plan, OUT_DTYPES[pipeline.plan.out_dtype]
    if plan.shuffled_store:
        store_rows(pipeline, C, values, m, column, row)
        return
    rows = rows_from(C, row * plan.tile_m, m, plan.tile_m, plan.n)
    block = fx.zipped_divide(fx.select(rows, [1, 0]), (plan.tile_n, plan.tile_m))[None, (column, 0)]
    place = pipeline.tiled.get_slice(pipeline.thread).partition_C(block)
    fx.copy(fx.make_copy_atom(rocdl.BufferCopy64b(), out_dtype), rounded(values, place), place)


def rounded(values: Any, place: Any) -> Any:
    """Return a thread's sums as registers of the type of where they go: a vector, or pieces of four.

    LLVM would put off the last additions to pieces until a vector was made of them all, and run out of registers.
    """
    result = fx.make_fragment_like(place)
    if isinstance(values, fx.Vector):
        result.store(values.to(place.dtype))
        return result
    _, columns, rows = (fx.get_scalar(fx.size(extent)) for extent in values.shape)
    for column, row in product(range(columns), range(rows)):
        result[None, column, row].store(values[None, column, row].load().to(place.dtype))
    return result


def store_rows(pipeline: Any, C: Any, values: Any, m: Any, column: Any, row: Any) -> None:
    """The tile into LDS, where A was, and from there row by row: neighbouring threads store neighbours."""
    plan, dtype = pipeline.plan, OUT_DTYPES[pipeline.plan.out_dtype]
    fx.barrier()  # everyone has read A
    start, line = fx.recast_iter(dtype, pipeline.lds), plan.tile_n + STORE_PAD
    tile = fx.make_view(start, fx.make_layout((plan.tile_n, plan.tile_m), (1, line)))
    place = pipeline.tiled.get_slice(pipeline.thread).partition_C(tile)
    fx.copy(fx.make_copy_atom(fx.UniversalCopy64b(), dtype), rounded(values, place), place)
    fx.barrier()
    across = plan.tile_n // STORE_WIDTH
    threads, eight = fx.make_layout((THREADS // across, across), (across, 1)), fx.make_layout((1, STORE_WIDTH), (0, 1))
    read = fx.make_tiled_copy_tv(fx.make_copy_atom(fx.UniversalCopy128b(), dtype), threads, eight)
    write = fx.make_tiled_copy_tv(fx.make_copy_atom(rocdl.BufferCopy128b(), dtype), threads, eight)
    by_rows = fx.make_view(start, fx.make_layout((plan.tile_m, plan.tile_n), (line, 1)))
    rows = rows_from(C, row * plan.tile_m, m, plan.tile_m, plan.n)
    block = fx.zipped_divide(rows, (plan.tile_m, plan.tile_n))[None, (0, column)]
    source = read.get_slice(pipeline.thread).partition_S(by_rows)
    held = fx.make_fragment_like(source)
    fx.copy(read, source, held)
    fx.copy(write, held, write.get_slice(pipeline.thread).partition_D(block))
