"""Out-of-bounds accesses of global, shared and register tensors."""

from __future__ import annotations

from functools import partial

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from flydsl.utils.smem_allocator import SmemAllocator
from tests.unit.sanitize.planting import Planted, numbers, planted, poisoned

CASES: list[Planted] = []
bounds = partial(planted, CASES, "bounds")

# Global memory ---------------------------------------------------------------------------------


@bounds(tensor="A", coordinate=(64,), thread=63)
def global_read_one_past_the_end(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        t = fx.thread_idx.x
        B[t] = A[t + fault]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(64, 1, 1))

    a, b = numbers(64), poisoned(64)
    run(a, b)
    np.testing.assert_array_equal(b, a)


@bounds(tensor="B", coordinate=(64,), thread=63)
def global_write_one_past_the_end(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        t = fx.thread_idx.x
        B[t + fault] = A[t]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(64, 1, 1))

    a, b = numbers(64), poisoned(64)
    run(a, b)
    np.testing.assert_array_equal(b, a)


@bounds(tensor="A", coordinate=(-1,), thread=0)
def global_read_at_a_negative_index(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        t = fx.thread_idx.x
        B[t] = A[t - fault]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(40, 1, 1))

    a, b = numbers(40), poisoned(40)
    run(a, b)
    np.testing.assert_array_equal(b, a)


@bounds(tensor="A", coordinate=(8, 0), thread=7)
def global_read_of_a_row_too_many(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        t = fx.thread_idx.x
        B[t] = A[t + fault, 0]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(8, 1, 1))

    a, b = numbers(8, 16), poisoned(8)
    run(a, b)
    np.testing.assert_array_equal(b, a[:, 0])


@bounds(tensor="A", coordinate=(4, 2), thread=4)
def global_write_through_strides(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor):
        t = fx.thread_idx.x
        if t < 4 + fault:
            A[t, 2] = fx.Float32(1.0)  # FAULT

    @flyc.jit
    def run(A: fx.Tensor):
        kernel(A).launch(block=(8, 1, 1))

    memory = np.zeros((16, 8), np.float32)
    run(flyc.from_dlpack(memory[:8:2, :3]))
    assert memory.sum() == 4 and (memory[:8:2, 2] == 1).all()


@bounds(tensor="A", coordinate=(100,), thread=25)
def global_copy_of_a_vector_past_the_end(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        t = fx.thread_idx.x
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        source = fx.logical_divide(A, fx.make_layout(4, 1))
        target = fx.logical_divide(B, fx.make_layout(4, 1))
        held = fx.make_rmem_tensor(4, fx.Float32)
        if t < 25 + fault:
            fx.copy_atom_call(atom, source[None, t], held)  # FAULT
            fx.copy_atom_call(atom, held, target[None, t])

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(32, 1, 1))

    a, b = numbers(100), poisoned(100)
    run(a, b)
    np.testing.assert_array_equal(b, a)


@bounds(tensor="A", coordinate=(30,), thread=7)
def global_vector_across_the_end(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        t = fx.thread_idx.x
        if t < 7 + fault:
            four = fx.make_view(fx.get_iter(A) + t * 4, fx.make_layout(4, 1)).load()  # FAULT
            fx.make_view(fx.get_iter(B) + t * 4, fx.make_layout(4, 1)).store(four)

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(16, 1, 1))

    a, b = numbers(30), poisoned(30)
    run(a, b)
    np.testing.assert_array_equal(b[:28], a[:28])
    assert np.isnan(b[28:]).all()


@bounds(tensor="A", coordinate=(30,), thread=30)
def global_copy_with_a_wrong_predicate(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        t = fx.thread_idx.x
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        source = fx.logical_divide(A, fx.make_layout(1, 1))
        target = fx.logical_divide(B, fx.make_layout(1, 1))
        held = fx.make_rmem_tensor(1, fx.Float32)
        inside = fx.make_rmem_tensor(1, fx.Boolean)
        inside[0] = t < 30 + fault
        fx.copy(atom, source[None, t], held, pred=inside)  # FAULT
        inside[0] = t < 30
        fx.copy(atom, held, target[None, t], pred=inside)

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(64, 1, 1))

    a, b = numbers(30), poisoned(30)
    run(a, b)
    np.testing.assert_array_equal(b, a)


@bounds(tensor="A", coordinate=(100,), block=1, thread=36)
def global_read_by_the_second_block(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        i = fx.block_idx.x * 64 + fx.thread_idx.x
        if i < 100 + fault:
            x = A[i]  # FAULT
            if i < 100:
                B[i] = x

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(grid=(2, 1, 1), block=(64, 1, 1))

    a, b = numbers(100), poisoned(100)
    run(a, b)
    np.testing.assert_array_equal(b, a)


@bounds(tensor="A", coordinate=(17,), thread=0)
def global_read_in_one_turn_too_many(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor, n: fx.Int32):
        total = fx.Float32(0.0)
        for i in range(n + fault):
            total = total + A[i]  # FAULT
        B[fx.thread_idx.x] = total

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, n: fx.Int32):
        kernel(A, B, n).launch(block=(3, 1, 1))

    a, b = numbers(17), poisoned(3)
    run(a, b, 17)
    np.testing.assert_allclose(b, a.astype(np.float64).sum(), rtol=1e-6)


@bounds(tensor="A", coordinate=(5, 0), block=4)
def global_vector_of_a_slice_too_far(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        row = fx.block_idx.x
        line = fx.make_view(fx.get_iter(A[row + fault, None]), fx.make_layout(8, 1))
        out = fx.make_view(fx.get_iter(B[row, None]), fx.make_layout(8, 1))
        out.store(line.load())  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(grid=(5, 1, 1))

    a, b = numbers(5, 8), poisoned(5, 8)
    run(a, b)
    np.testing.assert_array_equal(b, a)


@bounds(tensor="C", coordinate=(4,), thread=4)
def global_atomic_past_the_end(fault: int) -> None:
    @flyc.kernel
    def kernel(C: fx.Tensor):
        t = fx.thread_idx.x
        atom = fx.make_copy_atom(fx.UniversalAtomicAdd(fx.Float32), fx.Float32)
        one = fx.make_rmem_tensor(1, fx.Float32)
        one.fill(1.0)
        bins = fx.logical_divide(C, fx.make_layout(1, 1))
        fx.copy_atom_call(atom, one, bins[None, t % (4 + fault)])  # FAULT

    @flyc.jit
    def run(C: fx.Tensor):
        kernel(C).launch(block=(32, 1, 1))

    c = np.zeros(4, np.float32)
    run(c)
    assert (c == 8).all()


@bounds(tensor="A", coordinate=(33,), thread=32)
def global_half_past_the_end(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        t = fx.thread_idx.x
        B[t] = A[t + fault].to(fx.Float32)  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(33, 1, 1))

    a, b = numbers(33).astype(np.float16), poisoned(33)
    run(a, b)
    np.testing.assert_array_equal(b, a.astype(np.float32))


@bounds(tensor="part", coordinate=(16,), thread=15)
def global_read_past_one_of_two_overlapping_arrays(fault: int) -> None:
    @flyc.kernel
    def kernel(whole: fx.Tensor, part: fx.Tensor, B: fx.Tensor):
        t = fx.thread_idx.x
        B[t] = whole[t + 16] + part[t + fault]  # FAULT

    @flyc.jit
    def run(whole: fx.Tensor, part: fx.Tensor, B: fx.Tensor):
        kernel(whole, part, B).launch(block=(16, 1, 1))

    a, b = numbers(32), poisoned(16)
    run(a, a[:16], b)
    np.testing.assert_array_equal(b, a[16:] + a[:16])


# Shared memory ---------------------------------------------------------------------------------


@bounds(tensor="first", coordinate=(32,), thread=31)
def shared_read_into_the_next_array(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        allocator = fx.SharedAllocator()
        first = allocator.allocate(fx.Array[fx.Float32, 32])
        second = allocator.allocate(fx.Array[fx.Float32, 32])
        t = fx.thread_idx.x
        first[t] = A[t]
        second[t] = A[t]
        fx.barrier()
        B[t] = first[t + fault] + second[t]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(32, 1, 1))

    a, b = numbers(32), poisoned(32)
    run(a, b)
    np.testing.assert_array_equal(b, 2 * a)


@bounds(tensor="smem", coordinate=(48,), thread=47)
def shared_write_past_the_end(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        smem = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 48])
        t = fx.thread_idx.x
        smem[t + fault] = A[t]  # FAULT
        fx.barrier()
        B[t] = smem[47 - t]

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(48, 1, 1))

    a, b = numbers(48), poisoned(48)
    run(a, b)
    np.testing.assert_array_equal(b, a[::-1])


@bounds(tensor="tile", coordinate=(-1, 7), thread=0)
def shared_read_before_the_start(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        allocator = fx.SharedAllocator()
        allocator.allocate(fx.Array[fx.Float32, 64])
        tile = allocator.allocate(fx.Array[fx.Float32, 64]).peek().view(fx.make_layout((8, 8), (8, 1)))
        t = fx.thread_idx.x
        tile[t // 8, t % 8] = A[t]
        fx.barrier()
        B[t] = tile[t // 8, t % 8 - fault]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(64, 1, 1))

    a, b = numbers(64), poisoned(64)
    run(a, b)
    np.testing.assert_array_equal(b, a)


@bounds(tensor="tile", coordinate=(8, 0), thread=56)
def shared_column_of_a_padded_tile(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 72]).peek().view(fx.make_layout((8, 8), (9, 1)))
        t = fx.thread_idx.x
        tile[t // 8 + fault, t % 8] = A[t]  # FAULT
        fx.barrier()
        B[t] = tile[t % 8, t // 8]

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(64, 1, 1))

    a, b = numbers(64), poisoned(64)
    run(a, b)
    np.testing.assert_array_equal(b, a.reshape(8, 8).T.ravel())


@bounds(coordinate=(16,), thread=15)
def shared_dynamic_block_past_its_size(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        memory = fx.get_dyn_shared(fx.Float32)
        t = fx.thread_idx.x
        memory[t + fault] = A[t]  # FAULT
        fx.barrier()
        B[t] = memory[15 - t]

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(16, 1, 1), smem=64)

    a, b = numbers(16), poisoned(16)
    run(a, b)
    np.testing.assert_array_equal(b, a[::-1])


@bounds(coordinate=(16,), thread=15)
def shared_dynamic_block_past_its_size_where_waves_go_apart(fault: int) -> None:
    """Counters of named barriers lie behind it, and are nobody's."""

    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        memory = fx.get_dyn_shared(fx.Float32)
        t = fx.thread_idx.x
        if t < 16:
            memory[t + fault] = A[t]  # FAULT
        fx.nvvm.barrier_sync(1, 32)
        if t < 16:
            B[t] = memory[15 - t]

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(32, 1, 1), smem=64)

    a, b = numbers(16), poisoned(16)
    with knobs.scope({knobs.ARCH: "sm_90a"}):
        run(a, b)
    np.testing.assert_array_equal(b, a[::-1])


@bounds(tensor="first", coordinate=(16,), thread=15)
def shared_array_of_the_older_allocator(fault: int) -> None:
    allocator = SmemAllocator(None, global_sym_name="older_storage")
    first = allocator.allocate_array(fx.Float32, 16)
    second = allocator.allocate_array(fx.Float32, 16)

    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        base = allocator.get_base()
        x, y = first(base), second(base)
        t = fx.thread_idx.x
        y.store(A[t], [t])
        x.store(A[t], [t + fault])  # FAULT
        fx.barrier()
        B[t] = x.load([15 - t]) + y.load([t])

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        allocator.finalize()
        kernel(A, B).launch(block=(16, 1, 1))

    a, b = numbers(16), poisoned(16)
    run(a, b)
    np.testing.assert_array_equal(b, a[::-1] + a)


@bounds(tensor="raw", coordinate=(20,), thread=4)
def shared_vector_past_raw_bytes(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        allocator = fx.SharedAllocator()
        raw = allocator.allocate(80)
        allocator.allocate(80)
        words = fx.recast_iter(fx.Float32, raw)
        t = fx.thread_idx.x
        four = fx.make_view(fx.get_iter(A) + t * 4, fx.make_layout(4, 1)).load()
        fx.make_view(words + (t + fault) * 4, fx.make_layout(4, 1)).store(four)  # FAULT
        fx.barrier()
        B[t] = words[t * 4]

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(5, 1, 1))

    a, b = numbers(20), poisoned(5)
    run(a, b)
    np.testing.assert_array_equal(b, a[::4])


# Registers -------------------------------------------------------------------------------------


@bounds(tensor="held", coordinate=(4,), thread=3)
def register_read_past_the_end(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        held = fx.make_rmem_tensor(4, fx.Float32)
        t = fx.thread_idx.x
        for i in fx.range_constexpr(4):
            held[i] = A[i]
        B[t] = held[t % 4 + fault]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(8, 1, 1))

    a, b = numbers(4), poisoned(8)
    run(a, b)
    np.testing.assert_array_equal(b, np.tile(a, 2))


@bounds(tensor="held", coordinate=(-1,), thread=0)
def register_write_before_the_start(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        held = fx.make_rmem_tensor(4, fx.Float32)
        held.fill(0.0)
        t = fx.thread_idx.x
        held[t - fault] = A[t]  # FAULT
        fx.barrier()
        B[t] = held[t]

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(4, 1, 1))

    a, b = numbers(4), poisoned(4)
    run(a, b)
    np.testing.assert_array_equal(b, a)


@bounds(tensor="held", coordinate=(0, 3), thread=2)
def register_column_too_many(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        held = fx.make_rmem_tensor((2, 3), fx.Float32)
        t = fx.thread_idx.x
        for i in fx.range_constexpr(2):
            for j in fx.range_constexpr(3):
                held[i, j] = A[i, j]
        B[t] = held[0, t + fault]  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(3, 1, 1))

    a, b = numbers(2, 3), poisoned(3)
    run(a, b)
    np.testing.assert_array_equal(b, a[0])


@bounds(tensor="held", coordinate=(6,), thread=0)
def register_write_in_one_turn_too_many(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor, n: fx.Int32):
        held = fx.make_rmem_tensor(6, fx.Float32)
        for i in range(n + fault):
            held[i] = A[i % 6]  # FAULT
        B[fx.thread_idx.x] = held.load().reduce("add")

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, n: fx.Int32):
        kernel(A, B, n).launch(block=(2, 1, 1))

    a, b = numbers(6), poisoned(2)
    run(a, b, 6)
    np.testing.assert_allclose(b, a.astype(np.float64).sum(), rtol=1e-6)


# AMD's buffers and copies into LDS -------------------------------------------------------------


@bounds(tensor="A", coordinate=(64,), thread=15)
def buffer_with_more_records_than_the_array(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        t = fx.thread_idx.x
        source = fx.logical_divide(fx.rocdl.make_buffer_tensor(A, max_size=bool(fault)), fx.make_layout(4, 1))
        target = fx.logical_divide(B, fx.make_layout(4, 1))
        held = fx.make_rmem_tensor(4, fx.Float32)
        buffered = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), fx.Float32)
        fx.copy_atom_call(buffered, source[None, t + 1], held)  # FAULT
        fx.copy_atom_call(fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32), held, target[None, t])

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(16, 1, 1))

    a, b = numbers(64), poisoned(64)
    with knobs.scope({knobs.ARCH: "gfx942"}):
        run(a, b)
    np.testing.assert_array_equal(b, np.append(a[4:], np.zeros(4, np.float32)))


# NVIDIA's hinted accesses and bulk copies --------------------------------------------------------


@bounds(tensor="A", coordinate=(64,), thread=15)
def hinted_read_past_the_end(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        t = fx.thread_idx.x
        source, target = (fx.logical_divide(tensor, fx.make_layout(4, 1)) for tensor in (A, B))
        held = fx.make_rmem_tensor(4, fx.Float32)
        hinted = fx.make_copy_atom(fx.nvvm.CachedCopy(128, "evict_first"), fx.Float32)
        fx.copy_atom_call(hinted, source[None, t + fault], held)  # FAULT
        fx.copy_atom_call(hinted, held, target[None, t])

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(16, 1, 1))

    a, b = numbers(64), poisoned(64)
    with knobs.scope({knobs.ARCH: "sm_90a"}):
        run(a, b)
    np.testing.assert_array_equal(b, a)


@bounds(tensor="B", coordinate=(64,), thread=31)
def hinted_write_past_the_end(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        t = fx.thread_idx.x
        source, target = (fx.logical_divide(tensor, fx.make_layout(2, 1)) for tensor in (A, B))
        held = fx.make_rmem_tensor(2, fx.Float32)
        hinted = fx.make_copy_atom(fx.nvvm.CachedCopy(64, "streaming"), fx.Float32)
        fx.copy_atom_call(hinted, source[None, t], held)
        fx.copy_atom_call(hinted, held, target[None, t + fault])  # FAULT

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(32, 1, 1))

    a, b = numbers(64), poisoned(64)
    with knobs.scope({knobs.ARCH: "sm_90a"}):
        run(a, b)
    np.testing.assert_array_equal(b, a)


@bounds(tensor="A", coordinate=(64,), thread=0)
def bulk_load_past_the_end(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        t, smem = fx.thread_idx.x, fx.SharedAllocator()
        words = smem.allocate(fx.Array[fx.Float32, 64, 128]).ptr
        barrier = smem.allocate(fx.Array[fx.Int64, 1, 8]).ptr
        if t == 0:
            fx.nvvm.mbarrier_init(barrier, 1)
            fx.nvvm.fence_mbarrier_init()
            fx.nvvm.mbarrier_arrive_expect_tx(barrier, 256)
            fx.nvvm.bulk_load(fx.get_iter(A) + fault * 4, words, 256, barrier)  # FAULT
        fx.barrier()
        fx.nvvm.mbarrier_wait(barrier, 0)
        B[t] = words[t]

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(64, 1, 1))

    a, b = numbers(64), poisoned(64)
    with knobs.scope({knobs.ARCH: "sm_90a"}):
        run(a, b)
    np.testing.assert_array_equal(b, a)


@bounds(tensor="B", coordinate=(64,), thread=0)
def bulk_store_past_the_end(fault: int) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        t = fx.thread_idx.x
        words = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 80, 128]).ptr
        words[t] = A[t]
        fx.nvvm.fence_proxy_async()
        fx.barrier()
        if t == 0:
            fx.nvvm.bulk_store(words, B, 256 + fault * 16)  # FAULT
            fx.nvvm.tma_commit_group()
            fx.nvvm.tma_wait_group(0)

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(64, 1, 1))

    a, b = numbers(64), poisoned(64)
    with knobs.scope({knobs.ARCH: "sm_90a"}):
        run(a, b)
    np.testing.assert_array_equal(b, a)
