"""TMA as an atom of `fx.copy`: tiles of several boxes in, out and added, through the swizzle of the map."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError
from tests.unit.nvvm.running import Shared, launcher, ptx, run

nvvm = fx.nvvm
TILE = (32, 128)


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


def boxed_tile(pointer: Any, tensor_map: Any) -> Any:
    """A tile of two boxes side by side, each in one run, seen through the map's swizzle."""
    rows, columns = tensor_map.box
    if tensor_map.swizzle is not None:
        pointer = fx.apply_swizzle(pointer, tensor_map.swizzle)
    layout = fx.make_layout((rows, (columns, TILE[1] // columns)), (columns, (1, rows * columns)))
    return fx.make_view(pointer, layout)


@pytest.mark.parametrize(("mode", "columns"), [("128B", 64), ("64B", 32), ("none", 128)])
def test_tiles_in_out_and_added(mode: str, columns: int) -> None:
    def maps(a: Any, b: Any) -> tuple[Any, ...]:
        return nvvm.make_tensor_map(a, (32, columns), mode), nvvm.make_tensor_map(b, (32, columns), mode)

    def body(a: Any, b: Any) -> None:
        shared = Shared()
        tile, barrier = boxed_tile(shared.pointer(TILE[0] * TILE[1], fx.Float16), a), shared.barriers()
        thread, i, j = fx.thread_idx.x, fx.block_idx.x, fx.block_idx.y
        source = fx.zipped_divide(a.coordinates(), TILE)[(None, None), (i, j)]
        target = fx.zipped_divide(b.coordinates(), TILE)[(None, None), (i, j)]
        if thread == 0:
            nvvm.mbarrier_init(barrier, 1)
            nvvm.fence_mbarrier_init()
        fx.barrier()
        if thread == 0:
            nvvm.mbarrier_arrive_expect_tx(barrier, a.bytes * (TILE[1] // columns))
            fx.copy(nvvm.TmaLoad(a), source, tile, barrier=barrier)
        nvvm.mbarrier_wait(barrier, 0)
        row = tile[thread, None]
        fx.copy(row, row)
        row.store(row.load() * 2)
        nvvm.fence_proxy_async()
        fx.barrier()
        if thread == 0:
            fx.copy(nvvm.TmaStore(b), tile, target)
            nvvm.tma_commit_group()
            nvvm.tma_wait_group(0)
            fx.copy(nvvm.TmaReduce(b, "add"), tile, target)
            nvvm.tma_commit_group()
            nvvm.tma_wait_group(0)

    x = np.random.default_rng(9).integers(-8, 8, (50, 200)).astype(np.float16)
    out = np.zeros_like(x)
    run(body, x, out, threads=32, grid=(2, 2, 1), maps=maps)
    np.testing.assert_array_equal(out, 4 * x)


def test_a_tile_for_all_blocks_of_a_cluster(rng: np.random.Generator) -> None:
    """Each of two blocks loads half of a tile for both; every block has the whole of it then."""

    def maps(a: Any, b: Any) -> tuple[Any, ...]:
        return nvvm.make_tensor_map(a, (32, 64), "128B"), b

    def body(a: Any, b: Any) -> None:
        shared = Shared()
        tile, barrier = boxed_tile(shared.pointer(TILE[0] * TILE[1], fx.Float16), a), shared.barriers()
        thread, rank = fx.thread_idx.x, nvvm.block_rank_in_cluster()
        halves = fx.zipped_divide(a.coordinates(), (32, 64))
        if thread == 0:
            nvvm.mbarrier_init(barrier, 1)
            nvvm.fence_mbarrier_init()
            nvvm.mbarrier_arrive_expect_tx(barrier, 2 * a.bytes)
        nvvm.cluster_sync()
        if thread == 0:
            half = fx.zipped_divide(tile, (32, 64))[(None, None), (0, rank)]
            fx.copy(nvvm.TmaLoad(a), halves[(None, None), (0, rank)], half, barrier=barrier, multicast=0b11)
        nvvm.mbarrier_wait(barrier, 0)
        out = fx.make_view(fx.get_iter(b) + (rank * 32 + thread) * 128, fx.make_layout(128, 1))
        out.store(tile[thread, None].load().reshape(128))
        nvvm.cluster_sync()

    x, out = rng.integers(-8, 8, (32, 128)).astype(np.float16), np.zeros((2, 32, 128), np.float16)
    run(body, x, out, threads=32, grid=2, cluster=2, maps=maps)
    np.testing.assert_array_equal(out, np.stack([x, x]))
    text = ptx(launcher(body, 2, threads=32, grid=2, cluster=2, maps=maps), (x, out))
    assert "multicast::cluster" in text


def test_what_tma_cannot_do_is_refused_with_what_would_do() -> None:
    def refused(attempt: Any) -> str:
        def maps(a: Any, b: Any) -> tuple[Any, ...]:
            return nvvm.make_tensor_map(a, (32, 64), "128B"), b

        def body(a: Any, b: Any) -> None:
            attempt(a, Shared().pointer(TILE[0] * TILE[1], fx.Float16), b)

        with pytest.raises(FlyDSLError) as caught:
            run(body, np.zeros((64, 256), np.float16), np.zeros((64, 256), np.float16), maps=maps)
        return str(caught.value)

    def tile_at(tensor_map: Any, shape: tuple[int, int]) -> Any:
        return fx.zipped_divide(tensor_map.coordinates(), shape)[(None, None), (0, 0)]

    def plain(pointer: Any, stride: int) -> Any:
        return fx.make_view(pointer, fx.make_layout(TILE, (stride, 1)))

    assert "stride 64 in mode 0, and the tile in shared memory is (32,128):(128,1)" in refused(
        lambda m, p, b: fx.copy(nvvm.TmaStore(m), plain(p, 128), tile_at(m, TILE))
    )
    assert "TMA moves boxes of (32, 64)" in refused(
        lambda m, p, b: fx.copy(nvvm.TmaStore(m), plain(p, 128), tile_at(m, (16, 128)))
    )
    assert "completes a phase of an mbarrier" in refused(
        lambda m, p, b: fx.copy(nvvm.TmaLoad(m), tile_at(m, TILE), plain(p, 128))
    )
    assert "by its coordinates" in refused(lambda m, p, b: fx.copy(nvvm.TmaStore(m), plain(p, 128), b))
    assert "takes no predicate" in refused(
        lambda m, p, b: fx.copy(nvvm.TmaStore(m), plain(p, 128), tile_at(m, TILE), pred=True)
    )
