"""Every copy atom, element and target that has it, on layouts and swizzles drawn at random, against NumPy.

A run takes a sample (`SAMPLED` in `tests/conftest.py`); `make thorough` takes them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from flydsl.layout.coords import crd2idx
from flydsl.layout.layout import Layout
from flydsl.layout.swizzle import ComposedLayout, Swizzle
from tests.unit.copies.test_copy import as_fx
from tests.unit.nvvm.running import Shared, run
from tests.unit.rocdl.device_code import AMD

nvvm, cdna3, cdna4, cdna5 = fx.nvvm, fx.rocdl.cdna3, fx.rocdl.cdna4, fx.rocdl.cdna5
NVIDIA = ("sm_80", "sm_90a")
TYPES: dict[Any, Any] = {
    fx.Int8: np.int8, fx.Float8E4M3FN: ml_dtypes.float8_e4m3fn, fx.Float16: np.float16, fx.BFloat16: ml_dtypes.bfloat16,
    fx.Int16: np.int16, fx.Int32: np.int32, fx.Float32: np.float32, fx.Int64: np.int64, fx.Float64: np.float64,
}  # fmt: skip
BITS: dict[int, Any] = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


def numbers(rng: np.random.Generator, shape: Any, dtype: Any) -> Any:
    """Any bits at all: a copy does not look at them."""
    width = BITS[dtype.width]
    return rng.integers(0, np.iinfo(width).max, shape, width, endpoint=True).view(TYPES[dtype])


def same(found: Any, want: Any) -> None:
    np.testing.assert_array_equal(found.view(np.uint8), np.ascontiguousarray(want).view(np.uint8))


def launched(kernel: Any, x: Any, out: Any, threads: int) -> None:
    @flyc.jit
    def launch(a: fx.Tensor, b: fx.Tensor):
        kernel(a, b).launch(grid=1, block=threads)

    with knobs.scope({knobs.COMPILE_OPT_LEVEL: 0}), flyc.current_device().arrays(x, out) as there:
        launch(*(flyc.from_dlpack(t, assumed_align=16) for t in there))


# One thread, one call: plain, hinted, buffer, cp.async -----------------------------------------------------

THREADS, SPACE = 8, 1024
"""Threads, and bytes of memory that each has for itself."""


def random_layout(rng: np.random.Generator, count: int, *, swizzled: bool) -> Any:
    """(count, 2, 3): runs of ``count`` neighbours in a random order, padded by whole runs, maybe swizzled by such."""
    strides, step = {0: 1}, count
    for mode in rng.permutation([1, 2]):
        strides[int(mode)] = step
        step *= (count, 2, 3)[mode]
        step += count * int(rng.integers(0, 2))
    layout = Layout((count, 2, 3), tuple(strides[i] for i in range(3)))
    base = count.bit_length() - 1
    if swizzled and rng.random() < 0.6:
        return ComposedLayout(Swizzle(int(rng.integers(1, 3)), base, int(rng.integers(2, 4))), 0, layout)
    return layout


def one_by_one(op: Any, dtype: Any, rng: np.random.Generator, *, way: str) -> None:
    """Each thread copies runs from a layout to another by the atom, through the memories that it has a way to."""
    count = op.bits // dtype.width
    room = SPACE * 8 // dtype.width
    source, target = (
        random_layout(rng, count, swizzled=way != "buffer"),
        random_layout(rng, count, swizzled=way != "buffer"),
    )

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        first, shared = fx.thread_idx.x * room, fx.SharedAllocator().allocate(fx.Array[dtype, THREADS * room, 128]).ptr
        tensors = [fx.rocdl.make_buffer_tensor(t) for t in (x, out)] if way == "buffer" else [x, out]
        start, end = (
            fx.make_view(fx.get_iter(t) + first, as_fx(lay)) for t, lay in zip(tensors, (source, target), strict=True)
        )
        atom = fx.make_copy_atom(op, dtype)
        held, between = fx.make_rmem_tensor((count, 2, 3), dtype), fx.make_view(shared + first, as_fx(target))
        if fx.const_expr(way == "cp.async"):
            fx.copy(atom, start, between)
            nvvm.cp_async_commit_group()
            nvvm.cp_async_wait_group(0)
            fx.copy(between, end)
        else:
            fx.copy(atom, start, held)
            if fx.const_expr(way == "everywhere"):
                fx.copy(atom, held, between)
                held.fill(0)
                fx.copy(atom, between, held)
            fx.copy(atom, held, end)

    x, out = numbers(rng, (THREADS, room), dtype), np.zeros((THREADS, room), TYPES[dtype])
    want = out.copy()
    a, b = ([crd2idx(i, layout) for i in range(6 * count)] for layout in (source, target))
    want[:, b] = x[:, a]
    launched(kernel, x.reshape(-1), out.reshape(-1), THREADS)
    same(out, want)


# Lanes of a wave side by side in LDS -------------------------------------------------------------------------


def side_by_side(op: Any, dtype: Any, rng: np.random.Generator, *, buffer: bool) -> None:
    """64 lanes copy rows of a padded matrix, twice over, into a tile."""
    count = op.bits // dtype.width
    columns = int(rng.choice([1, 2, 4, 8])) * count
    rows = 2 * 64 * count // columns
    stride = columns + 128 // dtype.width * int(rng.integers(0, 3))

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        space = fx.SharedAllocator().allocate(fx.Array[dtype, rows * columns, 128]).ptr
        tile = fx.make_view(space, fx.make_layout((rows, columns), (columns, 1)))
        across = columns // count
        tiled = fx.make_tiled_copy_tv(
            fx.make_copy_atom(op, dtype), fx.make_layout((64 // across, across), (across, 1)),
            fx.make_layout((1, count), (count, 1)),
        )  # fmt: skip
        mine = tiled.get_slice(fx.thread_idx.x)
        source = fx.make_view(fx.get_iter(x), fx.make_layout((rows, columns), (stride, 1)))
        fx.copy(
            tiled, mine.partition_S(fx.rocdl.make_buffer_tensor(source) if buffer else source), mine.partition_D(tile)
        )
        if fx.const_expr(op.is_async):
            fx.rocdl.asyncmark()
            fx.rocdl.wait_asyncmark(0)
        fx.rocdl.s_waitcnt(0)
        fx.barrier()
        fx.copy(mine.partition_S(tile), mine.partition_D(out))

    x, out = numbers(rng, (rows, stride), dtype), np.zeros((rows, columns), TYPES[dtype])
    launched(kernel, x, out, 64)
    same(out, x[:, :columns])


# Fragments: ldmatrix, stmatrix, ds_read_tr -------------------------------------------------------------------


def shared_place(rng: np.random.Generator, shape: tuple[int, int], along: int, run_elements: int) -> Any:
    """A tile contiguous along one mode, padded by runs or swizzled by them."""
    padded = bool(rng.integers(2))
    stride = shape[along] + (run_elements * int(rng.integers(0, 4)) if padded else 0)
    layout = Layout(shape, (1, stride) if along == 0 else (stride, 1))
    if padded:
        return layout
    base = run_elements.bit_length() - 1
    return ComposedLayout(Swizzle(int(rng.integers(1, 3)), base, int(rng.integers(3, 5))), 0, layout)


def fragments(
    op: Any, dtype: Any, rng: np.random.Generator, *, product: Any, wave: int, along: int, stores: bool
) -> None:
    """A tile through the atom into a fragment of A and out again by the layout, or a fragment of C into a tile."""
    atom_of_product = product()
    m, n, k = atom_of_product.shape_mnk
    shape = (4 * m, 2 * n) if stores else (4 * m, 2 * k)
    tiles = (2 * m, 2 * n, k) if stores else None  # two products along N, so that four matrices are stored at once
    place = shared_place(rng, shape, along, 128 // dtype.width)

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        thread = fx.thread_idx.x
        space = fx.SharedAllocator().allocate(fx.Array[dtype, 4 * shape[0] * shape[1], 1024]).ptr
        tile = fx.make_view(space, as_fx(place))
        mma = fx.make_tiled_mma(fx.make_mma_atom(atom_of_product), fx.make_layout((2, 1, 1), (1, 0, 0)), tiles)
        mine, move = mma.get_slice(thread), fx.make_copy_atom(op, dtype)
        threads = 2 * wave
        if fx.const_expr(stores):
            held = fx.make_fragment_like(mine.partition_C(x), dtype)
            fx.copy(mine.partition_C(x), held)
            tiled = fx.make_tiled_copy_C(move, mma)
            lanes = tiled.get_slice(thread)
            fx.copy(tiled, lanes.retile(held), lanes.partition_D(tile))
            fx.barrier()
            for at in range(thread, shape[0] * shape[1], threads):
                out[at // shape[1], at % shape[1]] = tile[at // shape[1], at % shape[1]]
        else:
            for at in range(thread, shape[0] * shape[1], threads):
                tile[at // shape[1], at % shape[1]] = x[at // shape[1], at % shape[1]]
            fx.barrier()
            held = mma.make_fragment_A(tile)
            tiled = fx.make_tiled_copy_A(move, mma)
            lanes = tiled.get_slice(thread)
            fx.copy(tiled, lanes.partition_S(tile), lanes.retile(held))
            fx.copy(held, mine.partition_A(out))

    x, out = numbers(rng, shape, dtype), np.zeros(shape, TYPES[dtype])
    launched(kernel, x, out, 2 * wave)
    same(out, x)


# Whole tiles: TMA, bulk copies, the tensor data mover --------------------------------------------------------


def by_tma(dtype: Any, rng: np.random.Generator, *, mode: str) -> None:
    """Boxes of a matrix in and out by TMA, through a swizzle of the map."""
    columns = (128 if mode == "none" else int(mode[:-1])) * 8 // dtype.width
    shape = (int(rng.integers(9, 20)), columns * 2)

    def maps(a: Any, b: Any) -> tuple[Any, ...]:
        return nvvm.make_tensor_map(a, (8, columns), mode), nvvm.make_tensor_map(b, (8, columns), mode)

    def body(a: Any, b: Any) -> None:
        shared, at = Shared(), (fx.block_idx.x, fx.block_idx.y)
        space, barrier = shared.pointer(8 * columns, dtype), shared.barriers()
        tile = fx.make_view(
            space if fx.const_expr(a.swizzle is None) else fx.apply_swizzle(space, a.swizzle),
            fx.make_layout((8, columns), (columns, 1)),
        )
        source, target = (fx.zipped_divide(t.coordinates(), (8, columns))[(None, None), at] for t in (a, b))
        nvvm.mbarrier_init(barrier, 1)
        nvvm.fence_mbarrier_init()
        nvvm.mbarrier_arrive_expect_tx(barrier, a.bytes)
        fx.copy(nvvm.TmaLoad(a), source, tile, barrier=barrier)
        nvvm.mbarrier_wait(barrier, 0)
        fx.copy(nvvm.TmaStore(b), tile, target)
        nvvm.tma_commit_group()
        nvvm.tma_wait_group(0)

    x, out = numbers(rng, shape, dtype), np.zeros(shape, TYPES[dtype])
    run(body, x, out, threads=1, grid=(-(-shape[0] // 8), 2, 1), maps=maps)
    same(out, x)


def by_bulk(dtype: Any, rng: np.random.Generator) -> None:
    """Runs of rows of any distance in and out."""
    columns = int(rng.integers(1, 4)) * 128 // dtype.width
    rows, wide, apart = 5, *(columns + int(rng.integers(0, 3)) * 128 // dtype.width for _ in range(2))

    def body(a: fx.Tensor, b: fx.Tensor) -> None:
        shared = Shared()
        tile = fx.make_view(shared.pointer(rows * apart, dtype), fx.make_layout((rows, columns), (apart, 1)))
        barrier = shared.barriers()
        source, target = (fx.make_view(fx.get_iter(t), fx.make_layout((rows, columns), (wide, 1))) for t in (a, b))
        nvvm.mbarrier_init(barrier, 1)
        nvvm.fence_mbarrier_init()
        nvvm.mbarrier_arrive_expect_tx(barrier, rows * columns * dtype.width // 8)
        fx.copy(nvvm.BulkLoad(), source, tile, barrier=barrier)
        nvvm.mbarrier_wait(barrier, 0)
        fx.copy(nvvm.BulkStore(), tile, target)
        nvvm.tma_commit_group()
        nvvm.tma_wait_group(0)

    x, out = numbers(rng, (rows, wide), dtype), np.zeros((rows, wide), TYPES[dtype])
    run(body, x, out, threads=1)
    same(out[:, :columns], x[:, :columns])
    assert not out[:, columns:].view(np.uint8).any()


def by_tensor_mover(dtype: Any, rng: np.random.Generator) -> None:
    """A tile of a padded matrix into LDS and back, by two waves."""
    rows, columns = int(rng.integers(1, 4)) * 8, int(rng.integers(1, 4)) * 32
    stride = columns + int(rng.integers(0, 3)) * 16

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        space = fx.SharedAllocator().allocate(fx.Array[dtype, rows * columns, 128]).ptr
        tile = fx.make_view(space, fx.make_layout((rows, columns), (columns, 1)))
        source, target = (fx.make_view(fx.get_iter(t), fx.make_layout((rows, columns), (stride, 1))) for t in (x, out))
        fx.copy(fx.rocdl.make_tdm_atom(source, (None, None), num_warps=2), source, tile)
        fx.rocdl.s_wait_tensorcnt(0)
        fx.barrier()
        fx.copy(fx.rocdl.make_tdm_atom(target, (None, None), num_warps=2), tile, target)
        fx.rocdl.s_wait_tensorcnt(0)

    x, out = numbers(rng, (rows, stride), dtype), np.zeros((rows, stride), TYPES[dtype])
    launched(kernel, x, out, 64)
    same(out[:, :columns], x[:, :columns])
    assert not out[:, columns:].view(np.uint8).any()


# The table ---------------------------------------------------------------------------------------------------

Runner = Callable[[Any, np.random.Generator], None]
Row = tuple[Sequence[str], str, Sequence[Any], Runner]
"""Targets, the atom, its elements, and what runs it."""
WIDTHS = (8, 16, 32, 64, 128)
HALVES = (fx.Float16, fx.BFloat16)
EIGHT = (fx.Float8E4M3FN,)
EVERY = (*AMD, *NVIDIA)


def elements(bits: int) -> list[Any]:
    """Those of which a call of so many bits moves whole ones."""
    return [dtype for dtype in TYPES if bits % dtype.width == 0]


def single(op: Any, way: str) -> Runner:
    return lambda dtype, rng: one_by_one(op, dtype, rng, way=way)


def wave(op: Any, buffer: bool = True) -> Runner:
    return lambda dtype, rng: side_by_side(op, dtype, rng, buffer=buffer)


def matrix(op: Any, product: Any, lanes: int, along: int = 0, stores: bool = False) -> Runner:
    def runner(dtype: Any, rng: np.random.Generator) -> None:
        fragments(op, dtype, rng, product=lambda: product(dtype), wave=lanes, along=along, stores=stores)

    return runner


def mma_sync(dtype: Any) -> Any:
    return nvvm.MmaSync(16, 8, 16, dtype)


def wmma(k: int) -> Any:
    return lambda dtype: cdna5.WMMA(16, 16, k, dtype)


def mfma(dtype: Any) -> Any:
    return cdna4.MFMA(16, 16, 32, dtype)


def tma(mode: str) -> Runner:
    return lambda dtype, rng: by_tma(dtype, rng, mode=mode)


TURNED = [(count, turned) for count in (1, 2, 4) for turned in (False, True)]
ROWS: list[Row] = [
    *((EVERY, f"UniversalCopy({b})", elements(b), single(fx.UniversalCopy(b), "everywhere")) for b in WIDTHS),
    *((AMD, f"BufferCopy({b})", elements(b), single(cdna3.BufferCopy(b), "buffer")) for b in WIDTHS),
    *((NVIDIA, f"CachedCopy({b})", elements(b), single(nvvm.CachedCopy(b), "registers")) for b in WIDTHS[2:]),
    *((NVIDIA, f"CpAsync({b})", elements(b), single(nvvm.CpAsync(b, "ca"), "cp.async")) for b in WIDTHS[2:]),
    (NVIDIA, "CpAsync past L1", elements(128), single(nvvm.CpAsync(128), "cp.async")),
    (("gfx90a", "gfx942", "gfx950"), "BufferCopyLDS(32)", elements(32), wave(cdna3.BufferCopyLDS(32))),
    (("gfx950",), "BufferCopyLDS(128)", elements(128), wave(cdna3.BufferCopyLDS(128))),
    *((("gfx950",), f"BufferLoadAsyncLDS({b})", elements(b), wave(cdna4.BufferLoadAsyncLDS(b))) for b in (32, 128)),
    *((("gfx950",), f"GlobalLoadAsyncLDS({b})", elements(b), wave(cdna4.GlobalLoadAsyncLDS(b), False))
      for b in (32, 128)),
    *((NVIDIA, f"LdMatrix({n}, {t})", HALVES, matrix(nvvm.LdMatrix(n, transposed=t), mma_sync, 32, int(not t)))
      for n, t in TURNED),
    *((("sm_90a",), f"StMatrix({n}, {t})", HALVES,
       matrix(nvvm.StMatrix(n, transposed=t), mma_sync, 32, int(not t), True)) for n, t in TURNED),
    (("gfx950",), "LDSReadTrans(16, 64)", HALVES, matrix(cdna4.LDSReadTrans(16, 64), mfma, 64)),
    (("gfx950",), "LDSReadTrans(8, 64)", EIGHT, matrix(cdna4.LDSReadTrans(8, 64), mfma, 64)),
    (("gfx1250",), "LDSReadTrans(16, 128)", HALVES, matrix(cdna5.LDSReadTrans(16, 128), wmma(32), 32)),
    (("gfx1250",), "LDSReadTrans(8, 64)", EIGHT, matrix(cdna5.LDSReadTrans(8, 64), wmma(64), 32)),
    *((("sm_90a",), f"TMA {mode}", list(TYPES), tma(mode)) for mode in ("none", "32B", "64B", "128B")),
    (("sm_90a",), "bulk", list(TYPES), by_bulk),
    (("gfx1250",), "tensor data mover", list(TYPES), by_tensor_mover),
]  # fmt: skip
CASES = {
    f"{arch}, {name}, {dtype.__name__}": (arch, dtype, runner)
    for archs, name, dtypes, runner in ROWS
    for arch in archs
    for dtype in dtypes
}


@pytest.mark.parametrize("name", CASES)
def test_the_elements_arrive(name: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    arch, dtype, runner = CASES[name]
    monkeypatch.setenv("ARCH", arch)
    runner(dtype, rng)
