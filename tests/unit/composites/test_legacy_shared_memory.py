"""SmemAllocator, SmemPtr and hand-built `scf.if`, as kernels for older releases of the original write them."""

from __future__ import annotations

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl._mlir.dialects import scf
from flydsl.compiler.kernel_function import CompilationContext
from flydsl.expr.typing import T
from flydsl.utils.smem_allocator import SMEM_CAPACITY_MAP, SmemAllocator, SmemPtr, check_smem_capacity
from tests.unit.composites.launching import numbers


def test_views_follow_scope_without_clearing_a_cache() -> None:
    allocator = SmemAllocator(None, arch="gfx942", global_sym_name="smem0")
    first = allocator.allocate_array(T.f16, 5)
    array = allocator.allocate_array(T.f32, 64)
    assert allocator.ptr == 16 + 256

    @flyc.kernel
    def kernel(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.gpu.thread_id("x")
        base = allocator.get_base()
        shared = array(base)
        low = scf.IfOp(fx.arith.cmpi(fx.arith.CmpIPredicate.slt, t, fx.Index(10)))
        with ir.InsertionPoint(low.then_block):
            shared.store(a[t], [t])
            scf.YieldOp([])
        shared._view_cache = None
        high = scf.IfOp(fx.arith.cmpi("sge", t, fx.Index(10)), has_else=False)
        with ir.InsertionPoint(high.then_block):
            shared.store(a[t] * 2, [t])
        first(base).store(1.0)
        fx.gpu.barrier()
        chosen = scf.IfOp(fx.Int32(t) < 5, [T.f32], has_else=True)
        with ir.InsertionPoint(chosen.then_block):
            scf.YieldOp([fx.Float32(100.0)])
        with ir.InsertionPoint(chosen.else_block):
            scf.YieldOp([fx.Float32(0.0)])
        out[t] = shared.get()[63 - fx.Int32(t)] + fx.Float32(chosen.result) + first(base).load().to(fx.Float32)

    @flyc.jit
    def launch(a: fx.Tensor, out: fx.Tensor) -> None:
        with ir.InsertionPoint(CompilationContext.get_current().gpu_module_body):
            allocator.finalized = False
            allocator.finalize()
        kernel(a, out).launch(grid=1, block=(64, 1, 1))

    x, out = numbers(64), np.zeros(64, np.float32)
    launch(x, out)
    expected = np.where(np.arange(64) < 10, x, x * 2)[::-1] + 1
    expected[:5] += 100
    np.testing.assert_allclose(out, expected, rtol=1e-6)


def test_offsets_moved_by_hand_and_two_dimensions() -> None:
    allocator = SmemAllocator(None, global_sym_name="smem_by_hand")
    allocator.ptr = allocator._align(allocator.ptr + 3, 16)
    offset = allocator.ptr
    allocator.ptr += 8 * 4 * 4

    @flyc.kernel
    def kernel(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = SmemPtr(allocator.get_base(), offset, T.f32, shape=(8, 4))
        tile.store(a[t], [t // 4, t % 4])
        fx.barrier()
        out[t] = tile.load([t % 8, t // 8])

    @flyc.jit
    def launch(a: fx.Tensor, out: fx.Tensor) -> None:
        allocator.finalize()
        kernel(a, out).launch(grid=1, block=(32, 1, 1))

    x, out = numbers(32), np.zeros(32, np.float32)
    launch(x, out)
    np.testing.assert_array_equal(out, x.reshape(8, 4).T.reshape(-1))


def test_capacity_is_checked() -> None:
    facts = {"gfx942": 65536, "gfx950": 163840, "gfx1100": 65536, "gfx1151": 65536, "gfx1201": 65536, "gfx1250": 327680}
    assert {arch: SMEM_CAPACITY_MAP[arch] for arch in facts} == facts
    check_smem_capacity(65536, "gfx942")
    with pytest.raises(RuntimeError, match="65537 bytes of shared memory are allocated, and gfx942 has 65536"):
        check_smem_capacity(65537, "gfx942")


def test_an_overflow_lists_the_arrays_with_their_lines() -> None:
    allocator = SmemAllocator(None, global_sym_name="smem_large")
    allocator.allocate_array(T.f32, 16000)
    allocator.allocate_array(fx.Float64, 1000)

    @flyc.kernel
    def kernel(a: fx.Tensor) -> None:
        allocator.get_base()

    @flyc.jit
    def launch(a: fx.Tensor) -> None:
        kernel(a).launch(grid=1, block=(8, 1, 1))

    with pytest.raises(RuntimeError, match="needs 72064 bytes of shared memory") as caught:
        launch(numbers(8))
    assert "64000 bytes  16000 x f32  at " in str(caught.value)
    assert "8000 bytes  1000 x f64  at " in str(caught.value)
    assert "test_legacy_shared_memory.py" in str(caught.value)


def test_what_is_refused() -> None:
    allocator = SmemAllocator(None)
    with pytest.raises(RuntimeError, match="belongs into a jit function"):
        allocator.finalize()
    with pytest.raises(TypeError, match="needs a number of elements"):
        allocator.allocate_array(T.f32, 2.5)
    with pytest.raises(ValueError, match="3 indices for a shared array of shape"):
        SmemPtr(None, 0, T.f32, (2, 2))._coordinate([0, 1, 2])
