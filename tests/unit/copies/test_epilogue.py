"""Epilogues: steps over accumulators by their coordinates, on matrices with edges, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx

epilogue = fx.epilogue
M, N = 50, 72


def product(arch: str) -> Any:
    """Four waves or warps over 64 x 64 or so."""
    if arch.startswith("sm_"):
        atom = fx.make_mma_atom(fx.nvvm.MmaSync(16, 8, 16, fx.Float16))
    else:
        atom = fx.make_mma_atom(fx.rocdl.cdna3.MFMA(16, 16, 16, fx.Float16))
    return fx.make_tiled_mma(atom, fx.make_layout((2, 2, 1), (1, 2, 0)))


def relu(values: Any) -> Any:
    return (values > 0).select(values, fx.zeros_like(values))


@pytest.mark.parametrize("arch", ["sm_90a", "gfx942"])
def test_every_step(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    threads = 128 if arch == "sm_90a" else 256

    @flyc.kernel
    def kernel(x: fx.Tensor, rows: fx.Tensor, columns: fx.Tensor, blocks: fx.Tensor, out: fx.Tensor):
        thread = fx.thread_idx.x
        tile = (fx.block_idx.x, fx.block_idx.y)
        mine = product(arch).get_slice(thread)
        every = fx.zipped_divide(fx.make_identity_tensor((M, N)), (64, 64))[(None, None), tile]
        coords = mine.partition_C(every)
        acc = fx.elements_at(x, coords).load(mask=fx.inside(coords, (M, N)))
        finish = epilogue.Scale(2.0) >> epilogue.RowScale(rows) >> epilogue.ColumnScale(columns)
        finish = finish >> epilogue.BlockScale(blocks, (16, 24)) >> epilogue.Bias(columns)
        finish = finish >> epilogue.Apply(relu) >> epilogue.Residual(x, 0.5) >> epilogue.Store(out)
        finish(acc, coords, (M, N))

    @flyc.jit
    def launch(x: fx.Tensor, rows: fx.Tensor, columns: fx.Tensor, blocks: fx.Tensor, out: fx.Tensor):
        kernel(x, rows, columns, blocks, out).launch(grid=(1, 2, 1), block=threads)

    rng = np.random.default_rng(3)
    x = rng.integers(-4, 5, (M, N)).astype(np.float32)
    rows, columns = rng.integers(1, 4, M).astype(np.float32), rng.integers(-3, 4, N).astype(np.float32)
    blocks = rng.integers(1, 5, (4, 3)).astype(np.float32)
    out = np.full((M + 2, N), np.nan, np.float32)
    launch(x, rows, columns, blocks, out[:M])
    by_block = np.kron(blocks, np.ones((16, 24)))[:M, :N]
    want = np.maximum(2 * x * rows[:, None] * columns * by_block + columns, 0) + 0.5 * x
    np.testing.assert_array_equal(out[:M], want)
    assert np.isnan(out[M:]).all()


@pytest.mark.parametrize("arch", ["sm_90a", "gfx942"])
def test_rows_by_way_of_shared_memory(arch: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as straight stores, with edges, by fewer and wider ones."""
    monkeypatch.setenv("ARCH", arch)
    threads = 128 if arch == "sm_90a" else 256

    def made(by_rows: bool) -> Any:
        @flyc.kernel
        def kernel(x: fx.Tensor, out: fx.Tensor):
            mine, at = product(arch).get_slice(fx.thread_idx.x), (fx.block_idx.x, fx.block_idx.y)
            coords = mine.partition_C(fx.tile_coordinates((64, 64), at))
            room = epilogue.StoreByRows.elements((64, 64), fx.Float16)
            space = fx.SharedAllocator().allocate(fx.Array[fx.Float16, room, 16]).ptr
            rows = epilogue.StoreByRows(out, space, (64, 64), at, mine.partition_C, threads)
            acc = fx.elements_at(x, coords).load(mask=fx.inside(coords, x.shape))
            (epilogue.Scale(2.0) >> (rows if by_rows else epilogue.Store(out)))(acc, coords, out.shape)

        @flyc.jit
        def launch(x: fx.Tensor, out: fx.Tensor):
            kernel(x, out).launch(grid=(2, 2, 1), block=threads)

        return launch

    x = rng.integers(-99, 99, (100, 72)).astype(np.float32)
    found = []
    for by_rows in (True, False):
        out, launch = np.full((102, 72), 7, np.float16), made(by_rows)
        target = flyc.from_dlpack(out[:100], assumed_align=16).mark_shape_dynamic([0, 1], [1, 8])
        launch(flyc.from_dlpack(x, assumed_align=16), target.mark_stride_dynamic(0, 8))
        np.testing.assert_array_equal(out[:100], 2 * x)
        assert (out[100:] == 7).all()
        found.append(launch.specialisations[0].kernels[0].instructions["global stores"])
    assert found[0] * (4 if arch == "sm_90a" else 8) == found[1]


def test_rows_that_threads_do_not_cover_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")

    @flyc.kernel
    def kernel(x: fx.Tensor):
        mine = product("sm_90a").get_slice(fx.thread_idx.x)
        coords = mine.partition_C(fx.tile_coordinates((64, 40), (0, 0)))
        space = fx.SharedAllocator().allocate(fx.Array[fx.Float16, 64 * 48, 16]).ptr
        step = epilogue.StoreByRows(x, space, (64, 40), (0, 0), mine.partition_C, 128)
        step(fx.Vector.filled(20, 0.0, fx.Float32), coords, (64, 40))

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(grid=1, block=128)

    with pytest.raises(ValueError, match=r"(?s)128 threads of 8 elements each do not cover.*a multiple of 8 whose"):
        launch(np.zeros((64, 40), np.float16))


def test_quantised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        coords = product("gfx942").get_slice(fx.thread_idx.x).partition_C(fx.make_identity_tensor((64, 64)))
        values = fx.elements_at(x, coords).load()
        (epilogue.Quantise(fx.Int8, 0.5, 127.0) >> epilogue.Store(out))(values, coords, (64, 64))

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(grid=1, block=256)

    x = np.random.default_rng(4).integers(-200, 200, (64, 64)).astype(np.float32)
    out = np.zeros((64, 64), np.int8)
    launch(flyc.from_dlpack(x), out)
    np.testing.assert_array_equal(out, np.clip(x * 2, -127, 127).astype(np.int8))
