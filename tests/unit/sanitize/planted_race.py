"""Two threads on the same bytes of shared or global memory, with nothing to order them."""

from __future__ import annotations

from functools import partial

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from tests.unit.sanitize.planting import Planted, numbers, planted, poisoned

CASES: list[Planted] = []
race = partial(planted, CASES, "race")

# Shared memory ---------------------------------------------------------------------------------


@race(tensor="smem", coordinate=(0,), thread=1, other_thread=0)
def shared_neighbour_read_without_a_barrier(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        smem = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 64])
        t = fx.thread_idx.x
        smem[t] = A[t]  # OTHER
        if fx.const_expr(not fault):
            fx.barrier()
        if t > 0:
            B[t] = smem[t - 1]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(64, 1, 1))

    a, b = numbers(64), poisoned(64)
    run(a, b)
    np.testing.assert_array_equal(b[1:], a[:-1])


@race(tensor="smem", coordinate=(0,), thread=1, other_thread=0)
def shared_two_writers_of_one_element(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        smem = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 64])
        t = fx.thread_idx.x
        smem[t // (1 + fault)] = A[t]  # FAULT
        fx.barrier()
        B[t] = smem[t // (1 + fault)]

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(64, 1, 1))

    a, b = numbers(64), poisoned(64)
    run(a, b)
    np.testing.assert_array_equal(b, a)


@race(tensor="slots", coordinate=(1,), thread=128, other_thread=0, alone=True)
def shared_partial_sums_of_waves(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        slots = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 2])
        t = fx.thread_idx.x
        value = fx.shuffle_xor(A[t], 1, fx.num_warp_threads())
        if t % 128 == 0:
            slots[t // 128] = value  # FAULT
        if fx.const_expr(not fault):
            fx.barrier()
        if t == 0:
            B[0] = slots[0] + slots[1]  # OTHER

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(256, 1, 1))

    a, b = numbers(256), poisoned(1)
    run(a, b)
    assert b[0] == a[1] + a[129]


@race(tensor="buffer", coordinate=(0,), thread=0, other_thread=63)
def shared_buffer_filled_again_too_early(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor, turns: fx.Int32):
        buffer = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 64])
        t = fx.thread_idx.x
        total = fx.Float32(0.0)
        for i in range(turns):
            buffer[t] = A[i, t]  # FAULT
            fx.barrier()
            total = total + buffer[63 - t]  # OTHER
            if fx.const_expr(not fault):
                fx.barrier()
        B[t] = total

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, turns: fx.Int32):
        kernel(A, B, turns).launch(block=(64, 1, 1))

    a, b = numbers(3, 64), poisoned(64)
    run(a, b, 3)
    np.testing.assert_allclose(b, a.astype(np.float64).sum(0)[::-1], rtol=1e-6)


@race(tensor="bins", coordinate=(0, 1), thread=1, other_thread=0, alone=True)
def shared_atomics_before_the_bins_are_cleared(fault: int) -> None:
    @flyc.kernel
    def kernel(B: fx.Tensor):
        bins = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 4]).peek().view(fx.make_layout((1, 4), (1, 1)))
        t = fx.thread_idx.x
        atom = fx.make_copy_atom(fx.UniversalAtomicAdd(fx.Float32), fx.Float32)
        one = fx.make_rmem_tensor(1, fx.Float32)
        one.fill(1.0)
        if t < 4:
            bins[0, t] = fx.Float32(0.0)  # FAULT
        if fx.const_expr(not fault):
            fx.barrier()
        fx.copy_atom_call(atom, one, bins[None, (t + 1) % 4])  # OTHER
        fx.barrier()
        if t < 4:
            B[t] = bins[0, t]

    @flyc.jit
    def run(B: fx.Tensor):
        kernel(B).launch(block=(32, 1, 1))

    b = poisoned(4)
    run(b)
    assert (b == 8).all()


@race(tensor="smem", coordinate=(1,), thread=1, other_thread=0, alone=True)
def shared_vector_over_a_neighbours_scalar(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        smem = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 32])
        words = fx.logical_divide(smem.peek().view(fx.make_layout(32, 1)), fx.make_layout(4, 1))
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        held = fx.make_rmem_tensor(4, fx.Float32)
        t = fx.thread_idx.x
        smem[t] = A[t]  # FAULT
        if fx.const_expr(not fault):
            fx.barrier()
        fx.copy_atom_call(atom, words[None, t // 4], held)  # OTHER
        B[t] = held[t % 4]

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(32, 1, 1))

    a, b = numbers(32), poisoned(32)
    run(a, b)
    np.testing.assert_array_equal(b, a)


@race(tensor="smem", coordinate=(0,), thread=7, other_thread=6)
def shared_halves_written_as_words(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        smem = fx.SharedAllocator().allocate(fx.Array[fx.Float16, 8])
        t = fx.thread_idx.x
        if t < 7:
            smem[t] = A[t]  # OTHER
        if t == 7:
            pair = fx.make_view(fx.get_iter(A) + 7 - fault, fx.make_layout(1 + fault, 1)).load()
            fx.make_view(smem.ptr + 7 - fault, fx.make_layout(1 + fault, 1)).store(pair)  # FAULT
        fx.barrier()
        B[t] = smem[t]

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(8, 1, 1))

    a, b = numbers(8).astype(np.float16), np.zeros(8, np.float16)
    run(a, b)
    np.testing.assert_array_equal(b, a)


# Global memory ---------------------------------------------------------------------------------


@race(tensor="B", coordinate=(0,), block=1, thread=0, other_block=0, other_thread=0)
def global_two_blocks_write_one_element(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        block, t = fx.block_idx.x, fx.thread_idx.x
        B[block * (1 - fault) * 16 + t] = A[t]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(grid=(4, 1, 1), block=(16, 1, 1))

    a, b = numbers(16), poisoned(64)
    run(a, b)
    np.testing.assert_array_equal(b, np.tile(a, 4))


@race(tensor="B", coordinate=(15,), block=1, thread=0, other_block=0, other_thread=15)
def global_read_of_another_blocks_result(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor):
        i = fx.block_idx.x * 16 + fx.thread_idx.x
        B[i] = A[i]  # OTHER
        if fx.thread_idx.x == 0:
            if i > 0:
                C[fx.block_idx.x] = B[i - fault]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor):
        kernel(A, B, C).launch(grid=(3, 1, 1), block=(16, 1, 1))

    a, b, c = numbers(48), poisoned(48), poisoned(3)
    run(a, b, c)
    np.testing.assert_array_equal(b, a)
    np.testing.assert_array_equal(c[1:], a[[16, 32]])


@race(tensor="B", coordinate=(0,), thread=1, other_thread=0)
def global_two_threads_write_one_element(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        t = fx.thread_idx.x
        B[t * (1 - fault)] = A[t]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(16, 1, 1))

    a, b = numbers(16), poisoned(16)
    run(a, b)
    np.testing.assert_array_equal(b, a)


@race(tensor="A", coordinate=(1, 0), thread=4, other_thread=1)
def global_transpose_in_place(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor):
        t = fx.thread_idx.x
        x = A[t // 4, t % 4]  # FAULT
        if fx.const_expr(not fault):
            fx.barrier()
        A[t % 4, t // 4] = x  # OTHER

    @flyc.jit
    def run(A: fx.Tensor):
        kernel(A).launch(block=(16, 1, 1))

    a = numbers(4, 4)
    before = a.copy()
    run(a)
    np.testing.assert_array_equal(a, before.T)


@race(tensor="total", coordinate=(0,), block=1, thread=0, other_block=0, other_thread=0)
def global_sum_without_an_atomic(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, total: fx.Tensor):
        atom = fx.make_copy_atom(fx.UniversalAtomicAdd(fx.Float32), fx.Float32)
        held = fx.make_rmem_tensor(1, fx.Float32)
        i = fx.block_idx.x
        if fx.const_expr(fault):
            total[0] = total[0] + A[i]  # FAULT
        else:
            held[0] = A[i]
            fx.copy_atom_call(atom, held, fx.logical_divide(total, fx.make_layout(1, 1))[None, 0])

    @flyc.jit
    def run(A: fx.Tensor, total: fx.Tensor):
        kernel(A, total).launch(grid=(8, 1, 1))

    a, total = numbers(8), np.zeros(1, np.float32)
    run(a, total)
    np.testing.assert_allclose(total[0], a.astype(np.float64).sum(), rtol=1e-6)


@race(tensor="total", coordinate=(0,), thread=1, other_thread=0)
def global_plain_read_beside_an_atomic(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, total: fx.Tensor, B: fx.Tensor):
        atom = fx.make_copy_atom(fx.UniversalAtomicAdd(fx.Float32), fx.Float32)
        held = fx.make_rmem_tensor(1, fx.Float32)
        t = fx.thread_idx.x
        held[0] = A[t]
        fx.copy_atom_call(atom, held, fx.logical_divide(total, fx.make_layout(1, 1))[None, 0])  # FAULT
        if fx.const_expr(not fault):
            fx.barrier()
        B[t] = total[0]  # OTHER

    @flyc.jit
    def run(A: fx.Tensor, total: fx.Tensor, B: fx.Tensor):
        kernel(A, total, B).launch(block=(8, 1, 1))

    a, total, b = numbers(8), np.zeros(1, np.float32), poisoned(8)
    run(a, total, b)
    np.testing.assert_allclose(b, a.astype(np.float64).sum(), rtol=1e-6)


@race(tensor="x", coordinate=(2,), thread=2, other_thread=1)
def global_one_array_under_two_names(fault: int) -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        t = fx.thread_idx.x
        value = x[t]  # FAULT
        if fx.const_expr(not fault):
            fx.barrier()
        y[3 - t] = value  # OTHER

    @flyc.jit
    def run(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(block=(4, 1, 1))

    a = numbers(4)
    before = a.copy()
    run(a, a)
    np.testing.assert_array_equal(a, before[::-1])


# Copies into LDS -------------------------------------------------------------------------------


@race(tensor="tile", coordinate=(32,), thread=32, other_thread=31, alone=True)
def lds_filled_by_a_copy_while_it_is_read(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 64]).peek().view(fx.make_layout(64, 1))
        source = fx.logical_divide(fx.rocdl.make_buffer_tensor(A), fx.make_layout(1, 1))
        straight = fx.make_copy_atom(fx.rocdl.BufferCopyLDS32b(), fx.Float32)
        t = fx.thread_idx.x
        fx.copy_atom_call(straight, source[None, t], fx.logical_divide(tile, fx.make_layout(1, 1))[None, 0])  # FAULT
        if fx.const_expr(not fault):
            fx.barrier()
        B[t] = tile[63 - t]  # OTHER

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(64, 1, 1))

    a, b = numbers(64), poisoned(64)
    with knobs.scope({knobs.ARCH: "gfx942"}):
        run(a, b)
    np.testing.assert_array_equal(b, a[::-1])
