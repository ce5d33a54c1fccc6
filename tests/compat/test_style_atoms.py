"""Kernels in FlyDSL's style: copies of bits, staged fragments, products on packed words and by the chip's encodings."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.compat.launching import run

ONE_ATOM = (1, 1, 1), (0, 0, 0)


@pytest.fixture(autouse=True)
def chip(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = request.node.get_closest_marker("parametrize")
    chosen = request.node.callspec.params.get("arch") if marker else None
    monkeypatch.setenv("ARCH", chosen or "gfx942")


def test_registers_of_another_type_than_memory() -> None:
    """A 128-bit atom over bytes; four words that begin at a view of one element."""

    def body(x: fx.Tensor, y: fx.Tensor, z: fx.Tensor) -> None:
        t = fx.thread_idx.x
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        words = fx.make_rmem_tensor(4, fx.Float32)
        fx.copy(atom, fx.make_view(fx.get_iter(x) + t * 16, fx.make_layout(16, 1)), words)
        fx.copy(atom, words, fx.make_view(fx.get_iter(y) + t * 4, fx.make_layout(1, 0)))
        pairs = fx.make_rmem_tensor((2, 2), fx.Int32)
        source = fx.make_view(fx.get_iter(fx.rocdl.make_buffer_tensor(x)) + t * 16, fx.make_layout((8, 2), (1, 8)))
        fx.copy(fx.make_copy_atom(fx.rocdl.CopyOpCDNA3BufferCopyType.get(64), 8), source, pairs)
        target = fx.make_view(fx.get_iter(z) + t * 4, fx.make_layout((2, 2), (1, 2)))
        fx.copy(fx.make_copy_atom(fx.UniversalCopy64b(), fx.Float32), pairs, target)

    x = np.arange(1024).astype(np.int8)
    y, z = np.zeros(256, np.int32), np.zeros(256, np.float32)
    run(body, x, y, z)
    np.testing.assert_array_equal(y.view(np.int8), x)
    np.testing.assert_array_equal(z.view(np.int8), x)


def test_a_predicated_load_into_other_words() -> None:
    def body(x: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        words = fx.make_rmem_tensor((2, 1), fx.Int32)
        words.fill(7)
        flag = fx.make_rmem_tensor(1, fx.Boolean)
        flag[0] = t < 32
        source = fx.make_view(fx.get_iter(x) + t * 4, fx.make_layout((4, 1), (1, 0)))
        fx.copy(fx.make_copy_atom(fx.UniversalCopy64b(), fx.Float16), source, words, pred=flag)
        out[t, 0], out[t, 1] = words[0, 0], words[1, 0]

    x, out = np.arange(256).astype(np.float16), np.zeros((64, 2), np.int32)
    run(body, x, out)
    np.testing.assert_array_equal(out[:32].view(np.float16).ravel(), x[:128])
    assert (out[32:] == 7).all()


def test_memory_to_memory_does_not_convert() -> None:
    def body(x: fx.Tensor) -> None:
        shared = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 4]).peek()
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        fx.copy(atom, fx.make_view(fx.get_iter(x), fx.make_layout(4, 1)), shared.view(fx.make_layout(4, 1)))

    with pytest.raises(TypeError, match="does not convert"):
        run(body, np.zeros(4, np.float32), block=1)


def mma_of(op: Any) -> Any:
    return fx.make_tiled_mma(fx.make_mma_atom(op), fx.make_layout(*ONE_ATOM))


def test_staged_fragments() -> None:
    shapes: list[str] = []

    def body(x: fx.Tensor) -> None:
        thread = mma_of(fx.rocdl.MFMA(16, 16, 16, fx.Float16)).thr_slice(fx.thread_idx.x)
        flat = fx.make_view(fx.get_iter(x), fx.make_layout((16, 32), (32, 1)))
        deep = fx.make_view(fx.get_iter(x), fx.make_layout((32, 64, 5), (64, 1, 2048)))
        shapes.extend(str(thread.make_fragment_B(flat, stages=n).layout) for n in (None, 3))
        shapes.extend(str(thread.make_fragment_A(deep, stages=n).layout) for n in (None, 2))
        with pytest.raises(ValueError, match="stages must be positive"):
            thread.make_fragment_A(flat, stages=0)
        with pytest.raises(ValueError, match="two modes"):
            thread.make_fragment_A(fx.make_view(fx.get_iter(x), fx.make_layout(16, 1)), stages=2)

    run(body, np.zeros(32 * 64 * 5, np.float16))
    assert shapes == ["(4,1,2):(1,0,4)", "(4,1,2,3):(1,0,4,8)", "(4,2,4,5):(1,16,4,32)", "(4,2,4,2):(1,16,4,32)"]


@pytest.mark.parametrize("order", [None, "kmn", "KNM_Serpentine", fx.GemmTraversalOrder.MKN_Serpentine])
def test_a_double_buffered_product(order: Any) -> None:
    """Two stages of registers, copies and products of a thread's slice, in any order of instructions."""

    def body(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor) -> None:
        mma = mma_of(fx.rocdl.MFMA(16, 16, 16, fx.Float16))
        thread = mma.thr_slice(fx.thread_idx.x)
        assert isinstance(thread, fx.TiledMma) and thread.tile_size_mnk == mma.tile_size_mnk
        views = [fx.make_view(fx.get_iter(t), fx.make_layout((32, 64), (64, 1))) for t in (a, b)]
        tiles = [fx.zipped_divide(view, fx.make_tile(32, 32)) for view in views]
        accumulators = fx.make_view(fx.get_iter(c), fx.make_layout((32, 32), (32, 1)))
        parts = [tile[None, (0, 0)] for tile in tiles]
        stage_a = thread.make_fragment_A(parts[0], stages=2)
        stage_b = thread.make_fragment_B(parts[1], stages=2)
        acc = thread.make_fragment_C(accumulators)
        acc.fill(0.0)
        atom = fx.make_copy_atom(fx.UniversalCopy64b(), fx.Float16)
        for k in fx.range_constexpr(2):
            fx.copy(atom, thread.partition_A(tiles[0][None, (0, k)]), stage_a[None, None, None, k])
            fx.copy(atom, thread.partition_B(tiles[1][None, (0, k)]), stage_b[None, None, None, k])
        for k in fx.range_constexpr(2):
            fx.gemm(mma, acc, stage_a[None, None, None, k], stage_b[None, None, None, k], acc, traversal_order=order)
        fx.copy(fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32), acc, thread.partition_C(accumulators))

    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal((32, 64)).astype(np.float16) for _ in range(2))
    c = np.zeros((32, 32), np.float32)
    run(body, a.ravel(), b.ravel(), c.ravel())
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64).T, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("order", ["mnkk", 3])
def test_no_such_order(order: Any) -> None:
    def body(a: fx.Tensor) -> None:
        mma = fx.make_mma_atom(fx.UniversalFMA(fx.Float32))
        r = fx.make_rmem_tensor((1, 1, 1), fx.Float32)
        fx.gemm(mma, r, r, r, r, traversal_order=order)

    with pytest.raises(ValueError, match="no traversal order"):
        run(body, np.zeros(1, np.float32), block=1)


FP8 = {"gfx942": ml_dtypes.float8_e4m3fnuz, "gfx950": ml_dtypes.float8_e4m3fn}


@pytest.mark.parametrize("arch", FP8)
@pytest.mark.parametrize("named", [fx.Float8E4M3FNUZ, fx.Float8E4M3FN])
def test_the_chip_decides_what_eight_bits_mean(arch: str, named: Any) -> None:
    """The kernel names either format and packs its registers into i64, as the instruction takes them."""

    def body(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor) -> None:
        mma = mma_of(fx.rocdl.MFMA(16, 16, 32, named))
        thread = mma.get_slice(fx.thread_idx.x)
        tiles = [fx.make_view(fx.recast_iter(named, fx.get_iter(t)), fx.make_layout((16, 32), (32, 1))) for t in (a, b)]
        out = fx.make_view(fx.get_iter(c), fx.make_layout((16, 16), (16, 1)))
        atom = fx.make_copy_atom(fx.UniversalCopy64b(), named)
        words = [fx.make_rmem_tensor((1, 1, 1), fx.Int64) for _ in "ab"]
        fx.copy(atom, thread.partition_A(tiles[0]), words[0])
        fx.copy(atom, thread.partition_B(tiles[1]), words[1])
        acc = thread.make_fragment_C(out)
        acc.fill(0.0)
        fx.gemm(mma, acc, *words, acc)
        fx.copy(fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32), acc, thread.partition_C(out))

    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal((16, 32)).astype(FP8[arch]) for _ in range(2))
    c = np.zeros((16, 16), np.float32)
    run(body, a.view(np.uint8).ravel(), b.view(np.uint8).ravel(), c.ravel())
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64).T, rtol=1e-6)


@pytest.mark.parametrize("arch", ["gfx950"])
@pytest.mark.parametrize("scales", [{}, {"scale_a": 0, "scale_b": 0}, {"scale_a": 0x80808080, "scale_b": 0x7F7F7F7F}])
def test_scaled_products_of_i32_registers(arch: str, scales: dict[str, int]) -> None:
    """Eight words of fp8 a lane; scales that nobody set, or two constant zeros, mean none."""

    def body(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor) -> None:
        t = fx.thread_idx.x
        atom = fx.make_mma_atom(fx.rocdl.cdna4.MFMA_Scale(16, 16, 128, fx.Float8E4M3FN))
        words = [fx.make_rmem_tensor(8, fx.Int32) for _ in "ab"]
        for registers, source in zip(words, (a, b), strict=True):
            registers.store(fx.make_view(fx.get_iter(source) + t * 8, fx.make_layout(8, 1)).load())
        acc = fx.make_rmem_tensor(4, fx.Float32)
        acc.fill(0.0)
        fx.gemm(atom, acc, *words, acc, **scales)
        fx.make_view(fx.get_iter(c) + t * 4, fx.make_layout(4, 1)).store(acc.load())

    a = np.full((64, 32), 1, ml_dtypes.float8_e4m3fn)
    b = np.full((64, 32), 2, ml_dtypes.float8_e4m3fn)
    c = np.zeros(256, np.float32)
    run(body, a.view(np.int32).ravel(), b.view(np.int32).ravel(), c)
    assert (c == (512 if scales.get("scale_a") else 256)).all()


@pytest.mark.parametrize("arch", ["gfx950"])
def test_transposing_reads_by_their_short_names(arch: str) -> None:
    short = {
        (4, 64): fx.rocdl.cdna4.LDSReadTrans4_64b, (8, 64): fx.rocdl.cdna4.LDSReadTrans8_64b,
        (6, 96): fx.rocdl.cdna4.LDSReadTrans6_96b, (16, 64): fx.rocdl.cdna4.LDSReadTrans16_64b,
    }  # fmt: skip
    for (granularity, bits), make in short.items():
        assert make() == fx.rocdl.cdna4.LDSReadTrans(granularity, bits)


def test_a_view_of_its_own_kind() -> None:
    def body(x: fx.Tensor) -> None:
        view = fx.make_view(fx.get_iter(x), fx.make_layout((4, 4), (4, 1)))
        again = fx.Tensor(view)
        assert str(again.layout) == "(4,4):(4,1)" and str(fx.Layout(view.layout)) == "(4,4):(4,1)"
        assert fx.Vector(fx.make_rmem_tensor(((4, 2), 1), fx.Float32).load()).shape == (8,)
        again[1, 2] = fx.Float32(5)
        fx.Pointer(fx.get_iter(x)).store(fx.Float32(6))
        with pytest.raises(TypeError, match=r"Tensor\(...\) takes a tensor"):
            fx.Tensor(view.layout)

    x = np.zeros(16, np.float32)
    run(body, x, block=1)
    assert x[6] == 5 and x[0] == 6


class TwoHalves:
    """A class with nothing but a type, as `ptr_load` takes one."""

    ir_type = fx.T.vec(2, fx.T.f16)


def test_what_lies_at_an_address_by_any_class() -> None:
    def body(x: fx.Tensor, out: fx.Tensor) -> None:
        place = fx.recast_iter(fx.Int32, fx.get_iter(x)) + fx.thread_idx.x
        pair = fx.ptr_load(place, TwoHalves)
        fx.ptr_store(pair, fx.get_iter(out) + 2 * fx.thread_idx.x)

    x, out = np.arange(8).astype(np.float16), np.zeros(8, np.float16)
    run(body, flyc.from_dlpack(x, assumed_align=4), flyc.from_dlpack(out, assumed_align=4), block=4)
    np.testing.assert_array_equal(out, x)


@fx.struct
class Tiles:
    """Two tiles and a counter in shared memory."""

    a: fx.Array[fx.Int32, 64, 16]
    b: fx.Array[fx.Int32, 64, 16]
    count: fx.Int32


def test_storage_whose_fields_are_replaced_by_views() -> None:
    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        lds = fx.SharedAllocator().allocate(Tiles)
        lds.a = lds.a.peek()
        lds.b = lds.b.peek()
        lds.a[t] = t * 2
        lds.b.view(fx.make_layout((8, 8), (8, 1)))[t // 8, t % 8] = t
        if t == 0:
            lds.count.poke(fx.Int32(5))
        fx.barrier()
        (63 - t + fx.get_iter(out)).store(lds.a.ptr[t] + lds.b[t] + lds.count.peek())
        with pytest.raises(AttributeError, match="cannot assign to 'count'"):
            lds.count = fx.Int32(1)

    out = np.zeros(64, np.int32)
    run(body, out)
    np.testing.assert_array_equal(out, np.arange(64)[::-1] * 3 + 5)


def test_spaces_by_their_numbers() -> None:
    assert fx.PointerType.get(fx.T.f32, 2, 4) == fx.PointerType.get(fx.T.f32, fx.AddressSpace.Shared, 4)
    with pytest.raises(ValueError, match="no address space 9"):
        fx.PointerType.get(fx.T.f32, 9)
