"""Operations that take a place get the address of a view's first element, also where its layout is swizzled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from tests.support import random_data
from tests.unit.nvvm.running import Shared, run

nvvm = fx.nvvm
ROWS, COLUMNS = 16, 64


def swizzled(place: Any, rows: int = ROWS, base: int = 3) -> Any:
    """Rows of 64 halves whose pieces of ``2**base`` are exchanged, eight patterns one after the other."""
    rows_first = fx.make_layout((rows, COLUMNS), (COLUMNS, 1))
    return fx.make_view(place, fx.make_composed_layout(fx.make_swizzle(3, base, 3), rows_first))


def filled(shared: Any, a: Any, lane: Any) -> Any:
    """A swizzled tile in shared memory that holds ``a``."""
    tile = swizzled(shared.pointer(ROWS * COLUMNS, fx.Int16))
    for i in fx.range_constexpr(ROWS * COLUMNS // 32):
        at = i * 32 + lane
        tile[at // COLUMNS, at % COLUMNS] = a[at // COLUMNS, at % COLUMNS]
    fx.barrier()
    return tile


def tile_of_numbers() -> np.ndarray[Any, Any]:
    return random_data.generator().integers(-(2**15), 2**15, (ROWS, COLUMNS), np.int16)


def test_ldmatrix_of_a_slice() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        lane = fx.thread_idx.x
        tile = filled(Shared(), a, lane)
        pieces = fx.logical_divide(tile, fx.make_tile(1, 8))
        for column in fx.range_constexpr(8):
            row = pieces[(0, 8 + lane % 8), (None, column)]
            out[column, lane] = nvvm.ldmatrix(row, 1)[0]

    a, out = tile_of_numbers(), np.zeros((8, 32), np.int32)
    run(body, a, out)
    for column in range(8):
        found = out[column].view(np.int16).reshape(8, 8)
        np.testing.assert_array_equal(found, a[8:, column * 8 : column * 8 + 8])


def test_stmatrix_to_a_slice() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        lane = fx.thread_idx.x
        tile = swizzled(Shared().pointer(ROWS * COLUMNS, fx.Int16))
        pieces = fx.logical_divide(tile, fx.make_tile(1, 8))
        for column in fx.range_constexpr(8):
            nvvm.stmatrix(pieces[(0, 8 + lane % 8), (None, column)], [a[column, lane]])
        fx.barrier()
        for i in fx.range_constexpr(16):
            at = i * 32 + lane
            out[at // COLUMNS, at % COLUMNS] = tile[8 + at // COLUMNS, at % COLUMNS]

    a, out = random_data.generator().integers(0, 2**31, (8, 32), np.int32), np.zeros((8, COLUMNS), np.int16)
    run(body, a, out)
    for column in range(8):
        found = out[:, column * 8 : column * 8 + 8]
        np.testing.assert_array_equal(found, a[column].view(np.int16).reshape(8, 8))


def test_tma_to_the_second_stage() -> None:
    """A map's 128B swizzle is S<3,4,3> in bytes, S<3,3,3> in halves."""

    def maps(a: Any, out: Any) -> tuple[Any, ...]:
        return nvvm.make_tensor_map(a, (8, COLUMNS), "128B"), out

    def body(source: Any, out: fx.Tensor) -> None:
        shared = Shared()
        stages = swizzled(shared.pointer(ROWS * COLUMNS, fx.Int16))
        stage = fx.zipped_divide(stages, fx.make_tile(8, COLUMNS))[None, 1]
        barrier = shared.barriers()
        nvvm.mbarrier_init(barrier, 1)
        nvvm.mbarrier_arrive_expect_tx(barrier, source.bytes)
        nvvm.tma_load(source, (8, 0), stage, barrier)
        nvvm.mbarrier_wait(barrier, 0)
        for i in range(8):
            for j in fx.range_constexpr(COLUMNS):
                out[i, j] = stages[8 + i, j]

    a, out = tile_of_numbers(), np.zeros((8, COLUMNS), np.int16)
    run(body, a, out, threads=1, maps=maps)
    np.testing.assert_array_equal(out, a[8:])


def test_tma_through_another_composed_swizzle_is_refused() -> None:
    def maps(a: Any, out: Any) -> tuple[Any, ...]:
        return nvvm.make_tensor_map(a, (8, COLUMNS), "128B"), out

    def body(source: Any, out: fx.Tensor) -> None:
        shared = Shared()
        tile = swizzled(shared.pointer(ROWS * COLUMNS, fx.Int16), base=4)
        nvvm.tma_load(source, (8, 0), tile, shared.barriers())

    with pytest.raises(ValueError, match=r"the destination is swizzled by S<3,5,3>, but the tensor map by S<3,4,3>"):
        run(body, tile_of_numbers(), np.zeros(1, np.int16), threads=1, maps=maps)


def test_a_cluster_reads_an_element_of_a_slice() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        lane, block = fx.thread_idx.x, fx.block_idx.x
        tile = filled(Shared(), a, lane)
        nvvm.cluster_arrive()
        nvvm.cluster_wait()
        out[block, lane] = nvvm.cluster_load(tile[8 + lane % 8, None], 1 - block)
        nvvm.cluster_arrive()
        nvvm.cluster_wait()

    a, out = tile_of_numbers(), np.zeros((2, 32), np.int16)
    run(body, a, out, grid=2, cluster=2)
    np.testing.assert_array_equal(out, np.tile(a[8:, 0], (2, 4)))


def test_get_iter_is_the_first_element() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        lane = fx.thread_idx.x
        tile = filled(Shared(), a, lane)
        out[lane] = fx.get_iter(tile[lane % ROWS, None]).load()

    a, out = tile_of_numbers(), np.zeros(32, np.int16)
    run(body, a, out)
    np.testing.assert_array_equal(out, np.tile(a[:, 0], 2))


def bulk(view: Any, out: Any) -> None:
    shared = Shared()
    nvvm.bulk_load(out, view(shared.pointer(1024, fx.Int16)), 64, shared.barriers())


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (lambda out: nvvm.ldmatrix(swizzled(Shared().pointer(1024, fx.Int16), base=2), 1), "16 bytes .* keeps 8"),
        (lambda out: bulk(swizzled, out), "64 bytes .* keeps 16"),
        (
            lambda out: bulk(lambda ptr: fx.apply_swizzle(ptr, fx.make_swizzle(3, 4, 3)), out),
            "a bulk copy takes plain addresses, and the pointer's are permuted by S<3,4,3>",
        ),
        (
            lambda out: nvvm.cluster_load(swizzled(Shared().pointer(1024, fx.Int16), base=2), 0, fx.Int16x8),
            "16 bytes .* keeps 8",
        ),
    ],
)
def test_what_moves_more_than_a_swizzle_keeps_together_is_refused(body: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        run(body, np.zeros(64, np.int16), grid=2, cluster=2)
