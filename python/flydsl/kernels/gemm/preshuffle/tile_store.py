"""A tile of C on its way to memory: rows of a matrix through a descriptor, stored from registers or by way of LDS."""

from __future__ import annotations

from itertools import product
from typing import Any

import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.gemm.preshuffle_plan import OUT_DTYPES, STORE_WIDTH, THREADS


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
    for column, row in pieces_of(values):
        result[None, column, row].store(values[None, column, row].load().to(place.dtype))
    return result


def pieces_of(sums: Any) -> Any:
    """Return the number of each piece of a thread's sums along columns and rows."""
    _, columns, rows = (fx.get_scalar(fx.size(extent)) for extent in sums.shape)
    return product(range(columns), range(rows))


def store_rows(pipeline: Any, C: Any, values: Any, m: Any, column: Any, row: Any) -> None:
    """The tile into LDS, where A was, and from there row by row: neighbouring threads store neighbours."""
    plan, tile = pipeline.plan, pipeline.plan.stored_tile
    start = fx.recast_iter(tile.dtype, pipeline.lds)
    held = rounded(values, fx.make_fragment_like(pipeline.total, dtype=tile.dtype))
    places = pipeline.tiled.get_slice(pipeline.thread).partition_C(fx.make_identity_tensor((plan.tile_n, plan.tile_m)))
    fx.barrier()  # everyone has read A
    for i, r in pieces_of(held):
        place, line = fx.get_leaves(places[0, i, r])
        tile.write(start, line, place, fx.coalesce(held[None, i, r]).load())
    fx.barrier()
    across = plan.tile_n // STORE_WIDTH
    threads, eight = fx.make_layout((THREADS // across, across), (across, 1)), fx.make_layout((1, STORE_WIDTH), (0, 1))
    write = fx.make_tiled_copy_tv(fx.make_copy_atom(rocdl.BufferCopy128b(), tile.dtype), threads, eight)
    mine = write.get_slice(pipeline.thread)
    places = mine.partition_D(fx.make_identity_tensor((plan.tile_m, plan.tile_n)))
    rows = rows_from(C, row * plan.tile_m, m, plan.tile_m, plan.n)
    target = mine.partition_D(fx.zipped_divide(rows, (plan.tile_m, plan.tile_n))[None, (0, column)])
    held = fx.make_fragment_like(target)
    for i, r in pieces_of(held):
        line, place = fx.get_leaves(places[0, i, r])
        held[None, i, r].store(tile.read(start, line, place, STORE_WIDTH))
    fx.copy(write, held, target)
