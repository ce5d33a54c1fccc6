"""A tiled copy: describe who moves what once, and let layouts do the indexing.

What is new here: a thread layout and a value layout make a tiled copy; `partition_S`/`partition_D`
give each thread its part of a tile, whatever the layout of the tensor; `make_tiled_copy` takes the
(thread, value) layout written out. The same kernel moves a row-major matrix into a column-major one.

Run it: python examples/02-tiledCopy.py
"""

from __future__ import annotations

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx


@flyc.kernel
def copy_tiles(src: fx.Tensor, dst: fx.Tensor, load: fx.TiledCopy, store: fx.TiledCopy):
    """Move one tile per block: global -> registers by ``load``, registers -> global by ``store``."""
    tid = fx.thread_idx.x
    bx, by, _ = fx.block_idx
    gS = fx.zipped_divide(src, load.tile_mn)[None, (bx, by)]
    gD = fx.zipped_divide(dst, store.tile_mn)[None, (bx, by)]

    tS = load.get_slice(tid).partition_S(gS)
    tD = store.get_slice(tid).partition_D(gD)
    fragment = fx.make_fragment_like(tS)
    fx.copy(load, tS, fragment)
    # Both copies give a thread the same elements, so the fragment is only seen in another order.
    fx.copy(store, fragment if load is store else store.get_slice(tid).retile(fragment), tD)


@flyc.jit
def copy_rows(src: fx.Tensor, dst: fx.Tensor, m: fx.Int32, n: fx.Int32, stream: fx.Stream = fx.Stream(None)):
    """Row-major to row-major: 32 x 8 threads, each with 4 neighbours of a row in one 128-bit access."""
    atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
    tiled = fx.make_tiled_copy_tv(atom, fx.make_layout((32, 8), (8, 1)), fx.make_layout((1, 4), (0, 1)))
    tile_m, tile_n = tiled.tile_mn.unpack()
    copy_tiles(src, dst, tiled, tiled).launch(grid=(m // tile_m, n // tile_n, 1), block=(256, 1, 1), stream=stream)


@flyc.jit
def copy_transposed(src: fx.Tensor, dst: fx.Tensor, m: fx.Int32, n: fx.Int32, stream: fx.Stream = fx.Stream(None)):
    """Row-major to column-major: the layouts of the tensors differ, the kernel does not."""
    wide = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
    narrow = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
    threads, values = fx.make_layout((32, 8), (1, 32)), fx.make_layout((1, 4), (0, 1))
    tile, tv_layout = fx.make_layout_tv(threads, values)
    load, store = (fx.make_tiled_copy(atom, tv_layout, tile) for atom in (wide, narrow))
    tile_m, tile_n = load.tile_mn.unpack()
    copy_tiles(src, dst, load, store).launch(grid=(m // tile_m, n // tile_n, 1), block=(256, 1, 1), stream=stream)


def main() -> None:
    device = flyc.current_device()
    print(f"device: {device}, target: {device.target}")
    tile, tv_layout = fx.make_layout_tv(fx.make_layout((32, 8), (8, 1)), fx.make_layout((1, 4), (0, 1)))
    print(f"one tile is {tile}; (thread, value) -> position: {tv_layout}")

    m, n = 256, 512
    src = np.random.default_rng().random((m, n), dtype=np.float32)
    for name, copy, arranged in (
        ("copy_rows", copy_rows, np.ascontiguousarray),
        ("copy_transposed", copy_transposed, np.asfortranarray),
    ):
        dst = arranged(np.full((m, n), np.nan, np.float32))
        with device.arrays(src, dst) as (dS, dD):
            copy(dS, dD, m, n)
        np.testing.assert_array_equal(dst, src)
        print(f"{name}: {m} x {n} elements arrived, source strides {src.strides}, destination {dst.strides}")
    print("PASS")


if __name__ == "__main__":
    main()
