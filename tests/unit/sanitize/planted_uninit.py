"""Reads of shared memory and registers that nobody wrote."""

from __future__ import annotations

from functools import partial

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.unit.sanitize.planting import Planted, numbers, planted, poisoned

CASES: list[Planted] = []
uninit = partial(planted, CASES, "uninit")

# Shared memory ---------------------------------------------------------------------------------


@uninit(tensor="smem", coordinate=(15,), thread=0)
def shared_element_never_written(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        smem = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 16])
        t = fx.thread_idx.x
        if t < 16 - fault:
            smem[t] = A[t]
        fx.barrier()
        B[t] = smem[15 - t]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(16, 1, 1))

    a, b = numbers(16), poisoned(16)
    run(a, b)
    np.testing.assert_array_equal(b, a[::-1])


@uninit(tensor="tile", coordinate=(1, 3), thread=1)
def shared_vector_with_a_hole(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 16]).peek().view(fx.make_layout((4, 4), (4, 1)))
        t = fx.thread_idx.x
        if t != 7 * fault:
            tile[t // 4, t % 4] = A[t]
        elif fx.const_expr(not fault):
            tile[0, 0] = A[0]
        fx.barrier()
        if t < 4:
            fx.make_view(fx.get_iter(B) + t * 4, fx.make_layout(4, 1)).store(tile[t, None].load())  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(16, 1, 1))

    a, b = numbers(16), poisoned(16)
    run(a, b)
    np.testing.assert_array_equal(b, a)


@uninit(tensor="bins", coordinate=(0, 0), thread=0)
def shared_atomic_on_a_bin_never_cleared(fault: int) -> None:
    @flyc.kernel
    def kernel(B: fx.Tensor):
        bins = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 4]).peek().view(fx.make_layout((1, 4), (1, 1)))
        t = fx.thread_idx.x
        atom = fx.make_copy_atom(fx.UniversalAtomicAdd(fx.Float32), fx.Float32)
        one = fx.make_rmem_tensor(1, fx.Float32)
        one.fill(1.0)
        if fx.const_expr(not fault):
            if t < 4:
                bins[0, t] = fx.Float32(0.0)
            fx.barrier()
        fx.copy_atom_call(atom, one, bins[None, t % 4])  # FAULT
        fx.barrier()
        if t < 4:
            B[t] = bins[0, t]

    @flyc.jit
    def run(B: fx.Tensor):
        kernel(B).launch(block=(32, 1, 1))

    b = poisoned(4)
    run(b)
    assert (b == 8).all()


@uninit(tensor="smem", coordinate=(0,), block=1, thread=0)
def shared_memory_of_an_earlier_block(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        smem = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 8])
        block, t = fx.block_idx.x, fx.thread_idx.x
        if block < 2 - fault:
            smem[t] = A[t]
        fx.barrier()
        B[block * 8 + t] = smem[t]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(grid=(2, 1, 1), block=(8, 1, 1))

    a, b = numbers(8), poisoned(16)
    run(a, b)
    np.testing.assert_array_equal(b, np.tile(a, 2))


@uninit(coordinate=(3,), thread=3)
def shared_dynamic_block_never_written(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        memory = fx.get_dyn_shared(fx.Float32)
        t = fx.thread_idx.x
        if t < 8 - 5 * fault:
            memory[t] = A[t]
        fx.barrier()
        B[t] = memory[t]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(8, 1, 1), smem=32)

    a, b = numbers(8), poisoned(8)
    run(a, b)
    np.testing.assert_array_equal(b, a)


# Registers -------------------------------------------------------------------------------------


@uninit(tensor="held", coordinate=(3,), thread=0)
def register_element_never_written(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        held = fx.make_rmem_tensor(4, fx.Float32)
        t = fx.thread_idx.x
        for i in fx.range_constexpr(4 - fault):
            held[i] = A[t]
        B[t] = held[3]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(8, 1, 1))

    a, b = numbers(8), poisoned(8)
    run(a, b)
    np.testing.assert_array_equal(b, a)


@uninit(tensor="held", coordinate=(1, 1), thread=0)
def register_vector_with_a_hole(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        held = fx.make_rmem_tensor((2, 2), fx.Float32)
        t = fx.thread_idx.x
        held[0, 0] = A[t]
        held[1, 0] = A[t]
        held[0, 1] = A[t]
        if fx.const_expr(not fault):
            held[1, 1] = A[t]
        B[t] = held.load().reduce("add")  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(8, 1, 1))

    a, b = numbers(8), poisoned(8)
    run(a, b)
    np.testing.assert_allclose(b, 4 * a, rtol=1e-6)


@uninit(tensor="total", coordinate=(0,), thread=0)
def register_accumulator_never_cleared(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor, n: fx.Int32):
        total = fx.make_rmem_tensor(1, fx.Float32)
        if fx.const_expr(not fault):
            total.fill(0.0)
        for i in range(n):
            total[0] = total[0] + A[i]  # FAULT
        B[fx.thread_idx.x] = total[0]

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, n: fx.Int32):
        kernel(A, B, n).launch(block=(2, 1, 1))

    a, b = numbers(9), poisoned(2)
    run(a, b, 9)
    np.testing.assert_allclose(b, a.astype(np.float64).sum(), rtol=1e-6)


@uninit(tensor="held", coordinate=(0,), thread=0)
def register_of_an_earlier_turn(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor, n: fx.Int32):
        for i in range(n):
            held = fx.make_rmem_tensor(1, fx.Float32)
            if i < n - fault:
                held[0] = A[i]
            B[i] = held[0]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, n: fx.Int32):
        kernel(A, B, n).launch()

    a, b = numbers(5), poisoned(5)
    run(a, b, 5)
    np.testing.assert_array_equal(b, a)


@uninit(tensor="held", coordinate=(0,), thread=4)
def register_copied_out_before_it_is_set(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        t = fx.thread_idx.x
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        held = fx.make_rmem_tensor(1, fx.Float32)
        source, target = (fx.logical_divide(x, fx.make_layout(1, 1)) for x in (A, B))
        if t < 8 - 4 * fault:
            fx.copy_atom_call(atom, source[None, t], held)
        fx.barrier()
        fx.copy_atom_call(atom, held, target[None, t])  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(8, 1, 1))

    a, b = numbers(8), poisoned(8)
    run(a, b)
    np.testing.assert_array_equal(b, a)


@uninit(tensor="tile", coordinate=(5, 3), thread=43)
def shared_element_of_a_swizzled_tile(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 64])
        moved = fx.apply_swizzle(tile.ptr, fx.make_swizzle(2, 2, 3))
        view = fx.make_view(moved, fx.make_layout((8, 8), (8, 1)))
        t = fx.thread_idx.x
        if t != 64 - 21 * fault:
            view[t // 8, t % 8] = A[t]
        fx.barrier()
        B[t] = view[t // 8, t % 8]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(64, 1, 1))

    a, b = numbers(64), poisoned(64)
    run(a, b)
    np.testing.assert_array_equal(b, a)
