"""ldmatrix and stmatrix as atoms: what lanes hold is what copies by the layouts give them, for every layout."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError
from tests.unit.copies.machine_code import code

nvvm = fx.nvvm
M, N, K = 64, 32, 32
TYPES = {fx.Float16: np.float16, fx.BFloat16: ml_dtypes.bfloat16}
PLACES = {"padded": None, "swizzled by 128 bytes": (3, 3, 3), "swizzled by 64": (2, 3, 3)}


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


def shared_tile(pointer: Any, shape: tuple[int, int], swizzle: Any, along: int) -> Any:
    """A tile in shared memory that is contiguous along one of its modes."""
    stride = shape[along] + (8 if swizzle is None else 0)
    layout = fx.make_layout(shape, (1, stride) if along == 0 else (stride, 1))
    if swizzle is not None:
        layout = fx.make_composed_layout(fx.make_swizzle(*swizzle), layout)
    return fx.make_view(pointer, layout)


def product(dtype: Any) -> Any:
    """Four warps over 32 x 16: each has two blocks of 8 columns, so that B is moved by four matrices too."""
    atom = fx.make_mma_atom(nvvm.MmaSync(16, 8, 16, dtype))
    return fx.make_tiled_mma(atom, fx.make_layout((2, 2, 1), (1, 2, 0)), (32, 32, 16))


def loading(operand: str, count: int, dtype: Any, swizzle: Any, along: int) -> Any:
    """The fragment of an operand by ldmatrix and by a copy that chooses itself, both written out."""
    rows = M if operand == "A" else N

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        thread = fx.thread_idx.x
        space = fx.SharedAllocator().allocate(fx.Array[dtype, 2 * M * K, 1024]).ptr
        tile = shared_tile(space, (rows, K), swizzle, along)
        for i in fx.range_constexpr(rows * K // 128):
            place = thread + i * 128
            tile[place // K, place % K] = x[place // K, place % K]
        fx.barrier()
        mma = product(dtype)
        move = fx.make_copy_atom(nvvm.LdMatrix(count, transposed=along == 0), dtype)
        tiled = (fx.make_tiled_copy_A if operand == "A" else fx.make_tiled_copy_B)(move, mma)
        mine, lanes = mma.get_slice(thread), tiled.get_slice(thread)
        wanted = (mine.partition_A if operand == "A" else mine.partition_B)(tile)
        for turn in fx.range_constexpr(2):
            held = (mma.make_fragment_A if operand == "A" else mma.make_fragment_B)(tile)
            if fx.const_expr(turn == 0):
                fx.copy(tiled, lanes.partition_S(tile), lanes.retile(held))
            else:
                fx.copy(wanted, held)
            values = held.load()
            for i in fx.range_constexpr(values.numel):
                out[turn, i, thread] = values[i]

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(grid=1, block=128)

    return launch


def place_of(count: int, along: int) -> str:
    """All of them come up, in fewer tests than there are combinations."""
    return list(PLACES)[(count // 2 + along) % len(PLACES)]


@pytest.mark.parametrize("along", [1, 0])
@pytest.mark.parametrize(("operand", "count"), [("A", 4), ("A", 2), ("A", 1), ("B", 2), ("B", 4), ("B", 1)])
def test_ldmatrix_gives_fragments(operand: str, count: int, along: int) -> None:
    dtype, place = list(TYPES)[count % 2], place_of(count, along)
    launch = loading(operand, count, dtype, PLACES[place], along)
    rows = M if operand == "A" else N
    x = np.random.default_rng(5).permutation(rows * K).astype(np.int16).reshape(rows, K).view(TYPES[dtype])
    out = np.zeros((2, rows * K // 64, 128), TYPES[dtype])
    launch(x, out)
    assert (np.unique(out[1].view(np.int16)) == np.arange(rows * K)).all()
    np.testing.assert_array_equal(out[0].view(np.int16), out[1].view(np.int16))
    name = f"ldmatrix.sync.aligned.m8n8.x{count}{'.trans' if along == 0 else ''}.shared.b16"
    assert code(launch, (x, out), "sm_90a").count(name) == rows * K // 64 // (2 * count)


@pytest.mark.parametrize("along", [1, 0])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_stmatrix_writes_accumulators(count: int, along: int) -> None:
    place = place_of(count, along)

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        thread = fx.thread_idx.x
        space = fx.SharedAllocator().allocate(fx.Array[fx.Float16, 2 * M * N, 1024]).ptr
        tile = shared_tile(space, (M, N), PLACES[place], along)
        mma = product(fx.Float16)
        held = fx.make_fragment_like(mma.get_slice(thread).partition_C(x), fx.Float16)
        fx.copy(mma.get_slice(thread).partition_C(x), held)
        move = fx.make_copy_atom(nvvm.StMatrix(count, transposed=along == 0), fx.Float16)
        tiled = fx.make_tiled_copy_C(move, mma)
        lanes = tiled.get_slice(thread)
        fx.copy(tiled, lanes.retile(held), lanes.partition_D(tile))
        fx.barrier()
        for i in fx.range_constexpr(M * N // 128):
            at = thread + i * 128
            out[at // N, at % N] = tile[at // N, at % N]

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(grid=1, block=128)

    x = np.random.default_rng(6).standard_normal((M, N)).astype(np.float16)
    out = np.zeros_like(x)
    launch(flyc.from_dlpack(x), flyc.from_dlpack(out))
    np.testing.assert_array_equal(out, x)


def test_a_tile_that_lies_the_other_way_is_refused_with_what_to_do() -> None:
    def refused(body: Any) -> str:
        @flyc.kernel
        def kernel(x: fx.Tensor, out: fx.Tensor):
            body()

        @flyc.jit
        def launch(x: fx.Tensor, out: fx.Tensor):
            kernel(x, out).launch(grid=1, block=128)

        with pytest.raises(FlyDSLError) as caught:
            launch(np.zeros(8, np.float16), np.zeros(8, np.float16))
        return str(caught.value)

    def load(along: int, transposed: bool, dtype: Any = fx.Float16) -> None:
        space = fx.SharedAllocator().allocate(fx.Array[fx.Float16, 2 * M * K, 1024]).ptr
        tile = shared_tile(space, (M, K), None, along)
        tiled = fx.make_tiled_copy_A(fx.make_copy_atom(nvvm.LdMatrix(4, transposed=transposed), dtype), product(dtype))
        lanes = tiled.get_slice(fx.thread_idx.x)
        fx.copy(tiled, lanes.partition_S(tile), lanes.retile(product(dtype).make_fragment_A(tile)))

    message = refused(lambda: load(0, False))
    assert "a row of this tile lies at 8:72" in message and "with transposed=True" in message
    assert "without transposed=True" in refused(lambda: load(1, True))
    assert "exchanges 16-bit elements" in refused(lambda: fx.make_copy_atom(nvvm.LdMatrix(4, transposed=True), fx.Int8))
