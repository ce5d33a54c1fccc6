"""What layout algebra over run-time extents requires is checked once, before the launch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compiler.tracing.trace import trace
from flydsl.passes.pipeline import stage_a
from flydsl.target.target import parse_target
from tests.support.mma_code import adapted_arguments


@flyc.kernel
def fours(x: fx.Tensor, out: fx.Tensor):
    tiles = fx.zipped_divide(x, fx.make_layout(4, 1))
    which = fx.block_idx.x
    for i in range(4):
        out[which * 4 + i] = tiles[i, which]


@flyc.jit
def by_fours(x: fx.Tensor, out: fx.Tensor, blocks: fx.Int32):
    fours(x, out).launch(grid=(blocks, 1, 1), block=(1, 1, 1))


def columns(rows: int, count: int) -> np.ndarray[Any, Any]:
    """A column-major array that counts through its memory."""
    return np.arange(rows * count, dtype=np.float32).reshape(count, rows).T


@pytest.mark.parametrize(("rows", "count"), [(4, 6), (8, 3), (2, 6), (1, 8), (16, 1)])
def test_what_fits_is_exact(rows: int, count: int) -> None:
    out = np.full(rows * count, -1, np.float32)
    by_fours(columns(rows, count), out, rows * count // 4)
    np.testing.assert_array_equal(out, np.arange(rows * count))


@pytest.mark.parametrize(
    ("rows", "count", "says"),
    [
        (6, 4, "a step of 4 does not fit the mode of extent 6"),
        (3, 4, "3 of 4 elements fill a mode, and 3 does not divide 4"),
    ],
)
def test_what_does_not_fit_is_refused_with_line_tensor_and_numbers(rows: int, count: int, says: str) -> None:
    out = np.full(rows * count, -1, np.float32)
    with pytest.raises(RuntimeError) as refused:
        by_fours(columns(rows, count), out, rows * count // 4)
    text = str(refused.value)
    assert f"{__file__}:" in text and "tiles = fx.zipped_divide(x, fx.make_layout(4, 1))" in text
    assert "zipped_divide of 'x'" in text and says in text and "from_dlpack" in text
    assert (out == -1).all()
    with pytest.raises(RuntimeError, match=says):
        by_fours.warmup(columns(rows, count), out, rows * count // 4)


def test_the_advice_works() -> None:
    out = np.full(24, -1, np.float32)
    by_fours(flyc.from_dlpack(columns(6, 4)), out, 6)
    np.testing.assert_array_equal(out, np.arange(24))


def test_a_launch_of_no_blocks_is_not_checked() -> None:
    by_fours(columns(6, 4), np.zeros(1, np.float32), 0)


@flyc.kernel
def places_kernel(out: fx.Tensor, last: fx.Int32, count: fx.Constexpr[int]):
    two_modes = fx.make_layout(fx.make_int_tuple((6, last)), (1, 1024))
    made = fx.composition(two_modes, fx.make_layout(count, 3))
    for i in fx.range_constexpr(count):
        out[i] = fx.Int32(fx.get_scalar(fx.crd2idx(i, made)))


@flyc.jit
def places(out: fx.Tensor, last: fx.Int32, count: fx.Constexpr[int]):
    places_kernel(out, last, count).launch()


def test_a_last_mode_that_turns_out_to_be_1_is_none() -> None:
    """The layout (6,1):(1,1024) is 6:1, which goes on with a step of 1; only what stays inside it is the same."""
    out = np.full(4, -1, np.int32)
    places(out, 2, 4)
    assert out.tolist() == [0, 3, 1024, 1027]
    places(out[:2], 1, 2)
    assert out[:2].tolist() == [0, 3]
    out[:] = -1
    with pytest.raises(RuntimeError, match="2 elements are left for the last mode, of extent 1"):
        places(out, 1, 4)
    assert (out == -1).all()


def test_a_known_divisor_makes_the_tile_static() -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        tiles = fx.zipped_divide(x, fx.make_layout(4, 1))
        out[None] = tiles[None, 2].load()

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(grid=(1, 1, 1), block=(1, 1, 1))

    out = np.zeros(4, np.float32)
    x = flyc.from_dlpack(columns(8, 3)).mark_shape_dynamic([0, 1], [4, 1]).mark_stride_dynamic(1, 4)
    launch(x, flyc.from_dlpack(out))
    assert out.tolist() == [8, 9, 10, 11]


def test_a_branch_that_is_not_taken_is_not_checked() -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor, tiled: fx.Int32):
        if tiled > 0:
            out[0] = fx.zipped_divide(x, fx.make_layout(4, 1))[0, 1]
        else:
            out[0] = x[1, 1]

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor, tiled: fx.Int32):
        kernel(x, out, tiled).launch(grid=(1, 1, 1), block=(1, 1, 1))

    out = np.zeros(1, np.float32)
    launch(columns(6, 4), out, 0)
    assert out[0] == 7
    with pytest.raises(RuntimeError, match="a step of 4 does not fit the mode of extent 6"):
        launch(columns(6, 4), out, 1)


def test_a_jit_function_checks_its_own_layouts() -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        out[0] = x[0, 1]

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(fx.zipped_divide(x, fx.make_layout(4, 1)), out).launch(grid=(1, 1, 1), block=(1, 1, 1))

    out = np.zeros(1, np.float32)
    launch(columns(8, 3), out)
    assert out[0] == 4
    with pytest.raises(RuntimeError, match=r"zipped_divide of 'x': .* extent 6"):
        launch(columns(6, 4), out)


def test_a_condition_is_kept_though_the_answer_is_known() -> None:
    """4:1 of both modes of the divisor overlap unless the extent is at least 7, which its divisor does not say."""

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        tile = fx.composition(x.layout, fx.make_layout((4, 4), (1, 1)))
        out[0] = fx.Int32(fx.get_scalar(fx.crd2idx(5, tile)))

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(grid=(1, 1, 1), block=(1, 1, 1))

    def marked(rows: int) -> Any:
        return flyc.from_dlpack(columns(rows, 3)).mark_shape_dynamic([0, 1], [4, 1]).mark_stride_dynamic(1, 4)

    out = np.zeros(1, np.int32)
    launch(marked(8), out)
    assert out[0] == 2
    with pytest.raises(RuntimeError, match="its modes together step past the mode of extent 4"):
        launch(marked(4), out)


def test_tiles_along_whole_modes_ask_for_nothing() -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        block = fx.zipped_divide(x, (4, 8))[None, (fx.block_idx.x, 0)]
        part = fx.logical_divide(block, fx.make_tile(2, 4))
        out[0] = part[(1, 1), (1, 0)]

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(grid=(1, 1, 1), block=(1, 1, 1))

    module, _ = trace(
        launch.func, adapted_arguments(launch, (columns(6, 4), np.zeros(1, np.float32))), parse_target("gfx942")
    )
    for step in stage_a("rocm", ()):
        step.run(module)
    assert "fly_require" not in str(module)
