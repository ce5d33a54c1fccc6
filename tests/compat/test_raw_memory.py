"""Kernels that reach memory by hand: pointers of LLVM, buffer descriptors, LDS addresses, memrefs, atomics."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl._mlir.dialects import arith, fly, fly_rocdl, gpu, llvm, memref, rocdl, vector
from flydsl._mlir.extras import types as ty
from flydsl.expr.typing import T
from flydsl.utils.smem_allocator import SmemAllocator
from tests.unit.rocdl.running import launch

THREADS = 64
GLOBAL = "!llvm.ptr<1>"


def pointer(tensor: Any) -> Any:
    return fly.extract_aligned_pointer_as_index(ir.Type.parse(GLOBAL), tensor)


def address(base: Any, offset: Any, element: Any) -> Any:
    """``base + offset`` in units of a type."""
    kind, marks = ir.Type.parse(GLOBAL), [-2147483648]
    return llvm.GEPOp(kind, base, [offset], marks, element, None).result


def test_a_copy_by_pointers() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        four = ir.VectorType.get([4], T.f32)
        place = arith.muli(t.ir_value(), arith.constant(T.i32, 4))
        found = llvm.LoadOp(four, address(pointer(x), place, T.f32), alignment=16, nontemporal=True).result
        llvm.StoreOp(arith.addf(found, found), address(pointer(out), place, T.f32), alignment=16)

    x, out = np.random.default_rng(0).random(THREADS * 4, np.float32), np.zeros(THREADS * 4, np.float32)
    launch(body, x, out)
    np.testing.assert_array_equal(out, x + x)


def test_addresses_as_numbers() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        flags = llvm.IntegerOverflowFlags(0)
        start = llvm.PtrToIntOp(T.i64, pointer(x)).result
        wide = llvm.ZExtOp(T.i64, t.ir_value()).res
        offset = llvm.ShlOp(wide, arith.constant(T.i64, 2), flags).result
        moved = llvm.AddOp(start, offset, ir.Attribute.parse("#llvm.overflow<none>")).result
        kind = llvm.PointerType.get(address_space=1)
        found = llvm.load(T.i32, llvm.IntToPtrOp(kind, moved).result, invariant=True)
        again = llvm.inttoptr(kind, llvm.AddOp(llvm.ptrtoint(T.i64, pointer(out)), offset, flags).result)
        llvm.StoreOp(llvm.MulOp(found, arith.constant(T.i32, 3), flags).result, again)

    x, out = np.arange(THREADS, dtype=np.int32), np.zeros(THREADS, np.int32)
    launch(body, x, out)
    np.testing.assert_array_equal(out, x * 3)


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1201", "gfx1250"])
def test_a_buffer_resource_by_hand(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    limit = 40 * 4

    def body(t: Any, x: Any, out: Any) -> None:
        def resource(tensor: Any, size: int) -> Any:
            flags = (7 << 12) | (4 << 15) if arch != "gfx1250" else 0
            parts = (arith.constant(T.i16, 0), arith.constant(T.i64, size), arith.constant(T.i32, flags))
            return rocdl.MakeBufferRsrcOp(ir.Type.parse("!llvm.ptr<8>"), pointer(tensor), *parts).result

        zero, aux = arith.constant(T.i32, 0), ir.IntegerAttr.get(T.i32, 0)
        place = arith.muli(t.ir_value(), arith.constant(T.i32, 4))
        found = rocdl.RawPtrBufferLoadOp(T.f32, resource(x, limit), place, zero, aux=aux).result
        rocdl.RawPtrBufferStoreOp(found, resource(out, 32 * 4), place, zero, aux=aux)
        rocdl.s_waitcnt(0) if arch.startswith("gfx9") else rocdl.s_wait_loadcnt(0)

    x, out = np.random.default_rng(0).random(THREADS, np.float32) + 1, np.full(THREADS, -1, np.float32)
    launch(body, x, out)
    np.testing.assert_array_equal(out[:32], x[:32])
    np.testing.assert_array_equal(out[32:], -1)


def test_nowhere_is_outside_of_every_buffer() -> None:
    """Element 0x7FFFFFFF of four bytes ends beyond 0xFFFFFFFF records, so it is dropped."""

    def body(t: Any, x: Any, out: Any) -> None:
        rsrc = fx.buffer_ops.create_buffer_resource(out)
        nowhere = arith.constant(T.i32, 0x7FFFFFFF)
        place = (t < 8).ir_value().select(t.ir_value(), nowhere)
        fx.buffer_ops.buffer_store(x[t].ir_value(), rsrc, place)

    x, out = np.arange(THREADS, dtype=np.int32) + 1, np.zeros(THREADS, np.int32)
    launch(body, x, out)
    np.testing.assert_array_equal(out, np.where(np.arange(THREADS) < 8, x, 0))


def test_a_comparison_of_a_loaded_value_is_an_operation() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        rsrc = fx.buffer_ops.create_buffer_resource(x)
        found = fx.buffer_ops.buffer_load(rsrc, t, vec_width=1, dtype=T.i32).ir_value()
        out[t] = fx.Int32((found == 3).select(arith.constant(T.i32, 1), 0))

    x, out = np.arange(THREADS, dtype=np.int32) % 5, np.zeros(THREADS, np.int32)
    launch(body, x, out)
    np.testing.assert_array_equal(out, x == 3)


def test_scalar_loads_by_intrinsic() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        words = ir.VectorType.get([4], T.i32)
        rsrc = llvm.BitcastOp(words, llvm.ptrtoint(T.i128, fx.buffer_ops.create_buffer_resource(x))).result
        place, policy = arith.constant(T.i32, 16), arith.constant(T.i32, 0)
        name = "llvm.amdgcn.s.buffer.load.v4i32"
        four = llvm.call_intrinsic(words, name, [rsrc, place, policy], [], [])
        for i in fx.range_constexpr(4):
            out[t, i] = four[i]

    x, out = np.arange(THREADS, dtype=np.int32) * 7, np.zeros((THREADS, 4), np.int32)
    launch(body, x, out)
    np.testing.assert_array_equal(out, np.broadcast_to(x[4:8], out.shape))


def test_integer_and_float_atomics() -> None:
    def body(t: Any, x: Any, out: Any, total: Any) -> None:
        order = llvm.AtomicOrdering.monotonic
        add = llvm.AtomicBinOp.add
        one = arith.constant(T.i32, 1)
        llvm.AtomicRMWOp(add, pointer(out), one, order, syncscope="agent", alignment=4)
        old = llvm.AtomicRMWOp(llvm.AtomicBinOp._or, address(pointer(out), one, T.i32), x[t].ir_value(), order).res
        assert old.type == T.i32
        llvm.AtomicRMWOp(llvm.AtomicBinOp.fadd, pointer(total), arith.sitofp(T.f32, x[t].ir_value()), order)
        llvm.FenceOp(llvm.AtomicOrdering.release, syncscope="agent")

    x, out, total = (1 << np.arange(16, dtype=np.int32)), np.zeros(2, np.int32), np.zeros(1, np.float32)
    launch(body, x, out, total, threads=16)
    np.testing.assert_array_equal(out, [16, 0xFFFF])
    assert total[0] == 0xFFFF


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_a_pair_of_halves_is_added_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    dtype = np.float16 if name == "f16" else ml_dtypes.bfloat16

    def body(t: Any, x: Any, out: Any) -> None:
        pair = ir.VectorType.get([2], getattr(T, name))
        value = llvm.LoadOp(pair, address(pointer(x), t.ir_value(), T.i32), alignment=4).result
        llvm.AtomicRMWOp(llvm.AtomicBinOp.fadd, pointer(out), value, llvm.AtomicOrdering.monotonic, syncscope="agent")

    x, out = np.ones((THREADS, 2), dtype), np.zeros(2, dtype)
    x[:, 1] = 2
    launch(body, x.view(np.int32), out.view(np.int32))
    np.testing.assert_array_equal(out.astype(np.float32), [64, 128])


def test_lds_addresses_are_numbers() -> None:
    """An LDS pointer as an int, moved by bytes, and a pointer again."""

    def body(t: Any, x: Any, out: Any) -> None:
        lds = fx.SharedAllocator().allocate(fx.Array[fx.Int32, THREADS, 16]).ptr
        flags, kind = llvm.IntegerOverflowFlags(0), ir.Type.parse("!llvm.ptr<3>")
        start = llvm.PtrToIntOp(T.i32, lds.llvm_ptr).result
        offset = llvm.MulOp(t.ir_value(), arith.constant(T.i32, 4), flags).result
        own = llvm.AddOp(start, offset, flags).result
        llvm.StoreOp(x[t].ir_value(), llvm.IntToPtrOp(kind, own).result, alignment=4)
        gpu.barrier()
        other = llvm.AddOp(start, arith.constant(T.i32, (THREADS - 1) * 4), flags).result
        mirrored = arith.subi(other, offset)
        out[t] = fx.Int32(llvm.LoadOp(T.i32, llvm.IntToPtrOp(kind, mirrored).result, alignment=4).result)

    x, out = np.arange(THREADS, dtype=np.int32) * 3, np.zeros(THREADS, np.int32)
    launch(body, x, out)
    np.testing.assert_array_equal(out, x[::-1])


def test_builtin_memrefs_of_shared_memory() -> None:
    allocator = SmemAllocator(None, global_sym_name="raw_memref")
    tile = allocator.allocate_array(T.f32, THREADS * 4)

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        shared = tile(allocator.get_base()).get()
        place = arith.index_cast(T.index, (t * 4).ir_value())
        four = ty.vector(4, ty.f32())
        found = vector.from_elements(four, [x[t, i].ir_value() for i in range(4)])
        vector.store(found, shared, [place], alignment=16)
        gpu.barrier()
        mirrored = arith.index_cast(T.index, ((THREADS - 1 - t) * 4).ir_value())
        moved = vector.load(four, shared, [mirrored])
        assert memref.extract_aligned_pointer_as_index(shared).type == T.index
        one = memref.load(shared, [place])
        gpu.barrier()
        memref.store(arith.addf(one, one), shared, [place])
        for i in fx.range_constexpr(4):
            out[t, i] = moved[i]
        out[t, 4] = fx.Float32(memref.load(shared, [place]))

    @flyc.jit
    def run(x: fx.Tensor, out: fx.Tensor) -> None:
        allocator.finalize()
        kernel(x, out).launch(grid=1, block=THREADS)

    x = np.random.default_rng(0).random((THREADS, 4), np.float32)
    out = np.zeros((THREADS, 5), np.float32)
    run(x, out)
    np.testing.assert_array_equal(out, np.concatenate([x[::-1], 2 * x[:, :1]], 1))


def test_a_view_of_bytes() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        raw = fx.SharedAllocator().allocate(fx.Array[fx.Uint8, 64 + THREADS * 4, 16]).ptr
        tile = memref.view(ty.memref(THREADS // 4, 4, ty.f32(), memory_space=3), raw, 64, [])
        row, column = (t // 4).ir_value(), (t % 4).ir_value()
        memref.store(x[t].ir_value(), tile, [row, column])
        gpu.barrier()
        out[t] = fx.Float32(memref.load(tile, [((THREADS - 1 - t) // 4).ir_value(), column]))

    x, out = np.random.default_rng(0).random(THREADS, np.float32), np.zeros(THREADS, np.float32)
    launch(body, x, out)
    np.testing.assert_array_equal(out, x.reshape(-1, 4)[::-1].reshape(-1))


def test_a_copy_atom_on_values() -> None:
    """One atom loads words of a float tensor, and stores them into an integer one."""

    def body(t: Any, x: Any, out: Any) -> None:
        atom = fx.make_copy_atom(fx.UniversalCopy(128), fx.Float32)
        tiles = fx.zipped_divide(x, fx.make_tile(4))
        words = fly.copy_atom_call_ssa([ir.VectorType.get([4], T.i32)], atom, tiles[None, t])
        assert words.type == T.i32x4
        for i in fx.range_constexpr(4):
            out[t, i] = words[i]

    x, out = np.random.default_rng(0).random(THREADS * 4, np.float32), np.zeros((THREADS, 4), np.int32)
    launch(body, x, out)
    np.testing.assert_array_equal(out.view(np.float32).reshape(-1), x)


def test_the_address_space_of_descriptors() -> None:
    kind = fx.PointerType.get(elem_ty=T.f32, address_space=fly_rocdl.TargetAddressSpace.BufferDesc, alignment=4)
    assert isinstance(kind, ir.Type) and kind.space == fly_rocdl.TargetAddressSpace.BufferDesc
    with pytest.raises(ValueError, match="no MemRefType"):
        ir.MemRefType(kind)


def test_arithmetic_of_the_llvm_dialect() -> None:
    """A sum of halves in f32 under a hint, with bits put together by `or`."""

    def body(t: Any, x: Any, out: Any) -> None:
        flags = llvm.IntegerOverflowFlags.none
        eight, wide = ir.VectorType.get([8], T.f16), ir.VectorType.get([8], T.f32)
        held = vector.from_elements(eight, [x[t, i].ir_value() for i in range(8)])
        grown = llvm.FPExtOp(wide, held).result
        back = llvm.FPTruncOp(eight, arith.addf(grown, grown)).result
        low = llvm.intr_expect(arith.cmpi("slt", t.ir_value(), arith.constant(T.i32, 32)), arith.constant(T.i1, 1))
        first = low.select(arith.constant(T.i32, 1), arith.constant(T.i32, 2))
        mark = llvm.OrOp(
            llvm.ShlOp(first, arith.ConstantOp(T.i32, 4).result, flags).result, arith.constant(T.i32, 3)
        ).result
        unset = llvm.mlir_poison(T.i32)
        most = arith.MaxUIOp(arith.AddIOp(mark, mark).result, arith.MulIOp(mark, first).result).result
        assert unset.type == T.i32
        for i in fx.range_constexpr(8):
            out[t, i] = back[i].to(fx.Float32)
        out[t, 8] = fx.Int32(most).to(fx.Float32)
        out[t, 9] = fx.Float32(arith.maxnumf(arith.BitcastOp(T.f32, arith.constant(T.i32, 0x7FC00000)).result, 4.0))

    x = np.random.default_rng(0).integers(-8, 9, (THREADS, 8)).astype(np.float16)
    out = np.zeros((THREADS, 10), np.float32)
    launch(body, x, out)
    np.testing.assert_array_equal(out[:, :8], 2 * x.astype(np.float32))
    mark = np.where(np.arange(THREADS) < 32, 0x13, 0x23)
    np.testing.assert_array_equal(out[:, 8], 2 * mark)
    np.testing.assert_array_equal(out[:, 9], 4)


def test_a_copy_atom_stores_a_vector() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        atom = fx.make_copy_atom(fx.UniversalCopy(128), fx.Float32)
        source, target = (fx.zipped_divide(tensor, fx.make_tile(4)) for tensor in (x, out))
        found = fly.copy_atom_call_ssa([ir.VectorType.get([4], T.f32)], atom, source[None, t])
        fly.copy_atom_call_ssa([], atom, arith.mulf(found, found), target[None, t])

    x, out = np.random.default_rng(0).random(THREADS * 4, np.float32), np.zeros(THREADS * 4, np.float32)
    launch(body, x, out)
    np.testing.assert_array_equal(out, x * x)


def test_layouts_by_the_operations_of_the_dialect() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        columns = fly.make_layout(fx.make_int_tuple((4, 8)), stride=fx.make_int_tuple((8, 1)))
        assert str(columns) == "(4,8):(8,1)" and str(fly.get_shape(columns)) == "(4,8)"
        assert str(fly.select(columns, indices=[1])) in ("8:1", "(8):(1)")
        assert str(fly.composition(columns, fx.make_layout(8, 4))) == "8:1"
        stride = fly.make_layout(fx.make_int_tuple(4), stride=fx.make_int_tuple(t))
        found = fly.get_scalar(fly.get_stride(stride))
        assert found.type == T.i32 and isinstance(fly.static(fx.LayoutType.get(4, 1)), fx.Layout)
        out[t] = fx.Int32(found) + x[t]

    x, out = np.arange(THREADS, dtype=np.int32), np.zeros(THREADS, np.int32)
    launch(body, x, out)
    np.testing.assert_array_equal(out, 2 * x)
