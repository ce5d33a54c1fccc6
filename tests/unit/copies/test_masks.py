"""Loads and stores under a mask, and the predicates of `fx.inside`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError
from tests.unit.copies.machine_code import code, memory_instructions


def test_a_masked_load_reads_nothing_where_the_mask_is_false(monkeypatch: pytest.MonkeyPatch) -> None:
    """The array ends where the mask does; the sanitizer of bounds would see a read behind it."""
    monkeypatch.setenv("FLYDSL_SANITIZE", "bounds")

    @flyc.kernel
    def kernel(x: fx.Tensor, n: fx.Int32, out: fx.Tensor):
        thread = fx.thread_idx.x
        row = fx.make_view(fx.get_iter(x) + thread * 8, fx.make_layout(8, 1))
        mine = fx.make_view(fx.get_iter(out) + thread * 8, fx.make_layout(8, 1))
        places = fx.Vector([thread * 8 + i for i in range(8)], dtype=fx.Int32)
        mine.store(row.load(mask=places < n, other=-1))
        mine.store(mine.load() * 2, mask=places < n)

    @flyc.jit
    def launch(x: fx.Tensor, n: fx.Int32, out: fx.Tensor):
        kernel(x, n, out).launch(grid=1, block=8)

    x = np.arange(43, dtype=np.int32)
    out = np.zeros(64, np.int32)
    launch(x, 43, out)
    np.testing.assert_array_equal(out, np.where(np.arange(64) < 43, np.arange(64) * 2, -1))


def test_one_truth_value_decides_about_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        thread = fx.thread_idx.x
        held = fx.make_rmem_tensor((4, 2), fx.Int32)
        held.fill(-5)
        rows = fx.make_view(fx.get_iter(x).aligned(16) + thread * 8, fx.make_layout((4, 2), (1, 4)))
        fx.copy(rows, held, thread % 2 == 0)
        there = fx.make_view(fx.get_iter(out).aligned(16) + thread * 8, fx.make_layout((4, 2), (1, 4)))
        there.store(held.load() + 1, mask=thread < 6)
        there.store(held.load(mask=thread == 3, other=held.load()), mask=False)

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(grid=1, block=8)

    x, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    launch(x, out)
    want = np.where((np.arange(8) % 2 == 0)[:, None], x.reshape(8, 8), -5) + 1
    want[6:] = 0
    np.testing.assert_array_equal(out.reshape(8, 8), want)
    found = memory_instructions(code(launch, (x, out), "sm_90a"))
    assert found == {"ld.global.v4.b32": 2, "st.global.v4.b32": 2}


M, N, TILE_M, TILE_N = 45, 56, 16, 32


def edges(rows: Any, columns: Any, by_atom: bool) -> Any:
    """A tiled copy over the edges of a matrix: a thread's coordinates are its part of the identity tensor."""

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor, m: fx.Int32, n: fx.Int32):
        thread, bm, bn = fx.thread_idx.x, fx.block_idx.x, fx.block_idx.y
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        tiled = fx.make_tiled_copy_tv(atom, fx.make_layout((8, 8), (8, 1)), fx.make_layout((2, 4), (4, 1)))
        mine = tiled.get_slice(thread)
        tile = fx.make_tile(TILE_M, TILE_N)

        def part(tensor: Any) -> Any:
            return fx.zipped_divide(tensor, tile)[(None, None), (bm, bn)]

        source = mine.partition_S(part(x.aligned(16)))
        target = mine.partition_D(part(out.aligned(16)))
        coords = mine.partition_S(part(fx.make_identity_tensor((48, 64))))
        pred = fx.inside(coords, (m if rows == "m" else rows, n if columns == "n" else columns))
        if fx.const_expr(by_atom):
            fx.copy(tiled, source, target, pred=pred)
        else:
            fx.copy(source, target, pred)

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor, m: fx.Int32, n: fx.Int32):
        kernel(x, out, m, n).launch(grid=(3, 2, 1), block=64)

    return launch


@pytest.mark.parametrize(
    ("rows", "columns", "reads"),
    [("m", "n", {"ld.global.b32"}), ("m", 56, {"ld.global.v4.b32"}), (45, None, {"ld.global.v4.b32"})],
)
def test_inside(rows: Any, columns: Any, reads: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbours that are certainly on one side of a bound share an access; those of an unknown bound do not."""
    monkeypatch.setenv("ARCH", "sm_90a")
    x = np.random.default_rng(3).standard_normal((48, 64)).astype(np.float32)
    out = np.zeros((48, 64), np.float32)
    given = (flyc.from_dlpack(x, assumed_align=16), flyc.from_dlpack(out, assumed_align=16), M, N)
    edges(rows, columns, False)(*given)
    want = np.zeros_like(out)
    want[:M, : 64 if columns is None else N] = x[:M, : 64 if columns is None else N]
    np.testing.assert_array_equal(out, want)
    found = memory_instructions(code(edges(rows, columns, False), given, "sm_90a"))
    assert {name for name in found if name.startswith("ld")} == reads
    out[:] = 0
    edges(rows, columns, True)(*given)
    np.testing.assert_array_equal(out, want)


def refused(body: Any) -> str:
    @flyc.kernel
    def kernel(x: fx.Tensor):
        body(x)

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(grid=1, block=1)

    with pytest.raises(FlyDSLError) as caught:
        launch(flyc.from_dlpack(np.zeros((4, 8), np.float32)))
    return str(caught.value)


def test_masks_that_do_not_fit_are_refused() -> None:
    assert "a mask of shape (3) does not fit a tensor of shape (4,8)" in refused(
        lambda x: x.load(mask=fx.Vector([True, False, True], dtype=fx.Boolean))
    )
    assert "a mask holds truth values (fx.Boolean), not Int32" in refused(
        lambda x: x.load(mask=fx.Vector.filled(32, 1, fx.Int32))
    )
    assert "a mask is one truth value or one per element" in refused(lambda x: x.store(0, mask="all"))
    assert "inside takes a coordinate tensor first" in refused(lambda x: fx.inside(x, (4, 8)))
    assert "tile_part takes a tensor over memory second" in refused(
        lambda x: fx.tile_part(lambda tile: tile, fx.make_identity_tensor((4, 8)), (2, 2), (0, 0))
    )
    assert "lanes 16 apart do not lie in one segment of 8" in refused(
        lambda x: fx.coop.warp_reduce(x[0, 0], "add", width=8, stride=16)
    )
    assert "do not fit coordinates" in refused(lambda x: fx.inside(fx.make_identity_tensor((4, 8)), (4, 8, 2)))
    assert "coordinates correspond mode by mode" in refused(
        lambda x: fx.copy(x, fx.make_rmem_tensor((8, 4), fx.Float32))
    )
    assert "a copy does not convert" in refused(lambda x: fx.copy(x, fx.make_rmem_tensor((4, 8), fx.Int32)))
