"""Loads and stores of other types than a pointer's elements, vectors at an index, raw values as data: on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl.compiler.kernel_function import CompilationContext
from flydsl.expr import arith, mem_ops
from flydsl.expr.typing import T
from flydsl.utils.smem_allocator import SmemAllocator
from tests.support import random_data

COUNT = 12


def run(body: Callable[[Any, Any], None], x: np.ndarray, y: np.ndarray, threads: int = 1) -> np.ndarray:
    """``y`` after one block of a kernel with that body."""
    kernel = flyc.kernel(lambda x, y: body(x, y))

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(grid=1, block=threads)

    launch(x, y)
    return y


def floats(count: int = COUNT) -> np.ndarray:
    return random_data.generator().standard_normal(count).astype(np.float32)


def poison(dtype: Any = np.float32, count: int = COUNT) -> np.ndarray:
    return np.full(count, -77).astype(dtype)


def pointer(tensor: Any, dtype: Any = None) -> Any:
    found = fx.get_iter(tensor)
    return found if dtype is None else fx.recast_iter(dtype, found)


READS: dict[str, tuple[Callable[[Any], Any], str, int]] = {
    "wider than the elements": (lambda x: (pointer(x, fx.Uint8) + 4).load(fx.Float32), "f4", 1),
    "narrower": (lambda x: (pointer(x) + 1).load(fx.Uint16), "u2", 2),
    "64 bits at a multiple of 4 bytes": (lambda x: (pointer(x) + 1).load(fx.Int64), "i8", 0.5),
    "of the same width": (lambda x: (pointer(x) + 1).load(fx.Int32), "i4", 1),
    "an IR type": (lambda x: pointer(x).load(T.f32), "f4", 0),
    "an IR type by ptr_load": (lambda x: fx.ptr_load(pointer(x) + 2, T.f32), "f4", 2),
    "an unsigned element": (lambda x: (pointer(x, fx.Uint8) + 3).load(), "u1", 3),
}
"""Name to what is read, the NumPy type it has and its place counted in elements of that type."""


@pytest.mark.parametrize("name", READS)
def test_a_number_of_another_type(name: str) -> None:
    read, dtype, place = READS[name]
    x = floats()
    size = np.dtype(dtype).itemsize
    wanted = np.frombuffer(x.tobytes(), dtype, 1, int(place * size))

    def body(x: Any, y: Any) -> None:
        y[0] = read(x)

    found = run(body, x, poison(dtype))
    np.testing.assert_array_equal(found[:1].view(f"u{size}"), wanted.view(f"u{size}"))


VECTORS: dict[str, Callable[[Any], Any]] = {
    "bytes": lambda x: fx.ptr_load(pointer(x, fx.Uint8) + 4, fx.Float32x4),
    "an alias": lambda x: (pointer(x) + 1).load(fx.Float32x4),
    "IR type": lambda x: (pointer(x) + 1).load(T.f32x4),
    "T.vec": lambda x: (pointer(x, fx.Int64) + 0).load(T.vec(8, T.f32)).shuffle(fx.Vector.filled(8, 0.0), [1, 2, 3, 4]),
    "make_type": lambda x: fx.ptr_load(pointer(x) + 1, fx.Vector.make_type(4, fx.Float32)),
    "halves": lambda x: fx.ptr_load(pointer(x) + 1, fx.Uint16x8).bitcast(fx.Float32),
    "longs": lambda x: fx.ptr_load(pointer(x) + 1, T.i64x2).bitcast(fx.Float32),
    "a tensor": lambda x: fx.Vector.load(T.f32x4, x, [1]),
    "a tensor, run-time index": lambda x: fx.Vector.load(T.f32x4, x, [fx.Index(fx.thread_idx.x) + 1]),
    "a pointer": lambda x: fx.Vector.load(fx.Float32x4, pointer(x), [1]),
    "rows": lambda x: fx.Vector.load(T.f32x4, fx.make_view(pointer(x), fx.make_layout((2, 5), (5, 1))), [0, 1]),
    "the dialect": lambda x: fx.vector.load(T.f32x4, x, [1]),
}


@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_from_the_second_element(name: str) -> None:
    def body(x: Any, y: Any) -> None:
        found = VECTORS[name](x)
        for lane in range(4):
            y[lane] = found[lane]

    x = floats()
    np.testing.assert_array_equal(run(body, x, poison())[:5], [*x[1:5], -77])


WRITES: dict[str, Callable[[Any, Any], None]] = {
    "bytes": lambda y, v: fx.ptr_store(v, pointer(y, fx.Uint8) + 4),
    "bytes, one by one": lambda y, v: [(pointer(y, fx.Uint8) + 4 * (i + 1)).store(v[i]) for i in range(4)],
    "raw, as bytes": lambda y, v: (pointer(y, fx.Int8) + 4).store(v.ir_value()),
    "raw": lambda y, v: fx.ptr_store(v.ir_value(), pointer(y) + 1),
    "raw numbers": lambda y, v: [(pointer(y) + 1 + i).store(v[i].ir_value()) for i in range(4)],
    "converted": lambda y, v: (pointer(y) + 1).store(v.to(fx.Float64)),
    "converted items": lambda y, v: pointer(y).__setitem__(1, v.to(fx.Float64)),
    "Vector.store": lambda y, v: v.store(y, [1]),
    "Vector.store, aligned": lambda y, v: v.store(y, [fx.thread_idx.x + 1], alignment=4),
    "the dialect": lambda y, v: fx.vector.store(v.ir_value(), pointer(y), [1]),
    "a raw view": lambda y, v: fx.make_view(pointer(y) + 1, fx.make_layout(4, 1)).store(v.ir_value()),
    "memref_store_vec": lambda y, v: fx.memref_store_vec(
        arith.unwrap(v), fx.make_view(pointer(y) + 1, fx.make_layout(4, 1))
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_vector_to_the_second_element(name: str) -> None:
    def body(x: Any, y: Any) -> None:
        WRITES[name](y, fx.make_view(fx.get_iter(x), fx.make_layout(4, 1)).load())

    x = floats()
    np.testing.assert_array_equal(run(body, x, poison())[:6], [-77, *x[:4], -77])


def test_numbers_and_vectors_are_converted_alike() -> None:
    def body(x: Any, y: Any) -> None:
        number = x[0]
        pointer(y).store(number)
        (pointer(y) + 1).store(fx.Vector.from_elements([number, number], fx.Float32))
        pointer(y)[3] = number

    x = floats() * 100
    assert run(body, x, poison(np.int32))[:5].tolist() == [int(x[0])] * 4 + [-77]


def test_extents_and_numpy_numbers_are_stored() -> None:
    def body(x: Any, y: Any) -> None:
        pointer(y).store(x.shape[0])
        pointer(y)[1] = np.float32(2.5)
        fx.ptr_store(np.int64(3), pointer(y) + 2)

    np.testing.assert_array_equal(run(body, floats(), poison())[:4], [COUNT, 2.5, 3, -77])


def test_items_of_a_byte_pointer_are_bytes() -> None:
    def body(x: Any, y: Any) -> None:
        bytes_ = pointer(y, fx.Uint8)
        bytes_[1] = fx.Int32(x[0])
        bytes_.store(7)

    found = run(body, np.full(1, 200, np.float32), np.zeros(1, np.int32))
    assert found[0] == 7 + (200 << 8)


def test_registers_and_shared_memory() -> None:
    """Other types also where the memory has no address, and where it is the block's own."""
    allocator = SmemAllocator(None, arch="gfx942")
    made = allocator.allocate_array(T.f32, 64)

    @flyc.kernel
    def kernel(x: Any, y: Any, z: Any):
        t = fx.thread_idx.x
        held = fx.make_rmem_tensor(4, fx.Float32)
        held.store(fx.Vector.from_elements([x[t], x[t + 1], x[t + 2], x[t + 3]], fx.Float32))
        z[t] = fx.get_iter(held).load(fx.Int64)
        shared = made(allocator.get_base())
        shared.store(x[t], [t])
        fx.gpu.barrier()
        view = shared.get()
        pair = fx.Vector.load(T.vec(2, T.f32), view, [fx.Index(t % 4) * 2])
        fx.gpu.barrier()
        pair.store(view, [fx.Index(t) * 2], alignment=8)
        fx.gpu.barrier()
        y[t] = view[t] + view[t + 8]

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, z: fx.Tensor):
        with ir.InsertionPoint(CompilationContext.get_current().gpu_module_body):
            allocator.finalize()
        kernel(x, y, z).launch(grid=1, block=8)

    x, y, z = floats(), poison(), poison(np.int64)
    launch(x, y, z)
    np.testing.assert_array_equal(y[:8], x[:8] + x[:8])
    np.testing.assert_array_equal(
        z[:8].view(np.int32), [word for t in range(8) for word in x[t : t + 2].view(np.int32)]
    )


def test_llvm_pointers_are_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")

    def body(x: Any, y: Any) -> None:
        t = fx.thread_idx.x
        shared = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 64]).peek()
        rsrc = fx.buffer_ops.create_buffer_resource(x)
        fx.rocdl.raw_ptr_buffer_load_lds(rsrc, fx.to_llvm_ptr(shared.ptr), 4, t * 4)
        fx.rocdl.s_waitcnt(0)
        fx.gpu.barrier()
        y[t] = shared[t] + mem_ops.global_load(fx.get_iter(x).llvm_ptr, t, fx.Float32)
        y[t] = y[t] + mem_ops.global_load(shared.ptr.llvm_ptr, t, fx.Float32)
        mem_ops.global_store(fx.Float32(1.5), (fx.get_iter(y) + 64).llvm_ptr, t)

    x = floats(64)
    found = run(body, x, poison(np.float32, 128), 64)
    np.testing.assert_array_equal(found[:64], x + x + x)
    assert set(found[64:]) == {1.5}


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "no type": (lambda x: pointer(x).load("f33"), "f33 is not the type of a number"),
    "text": (lambda x: pointer(x).store("text"), "a number or a vector is stored through a pointer, got 'text'"),
    "an array": (lambda x: fx.Vector.load(T.f32x2, 3, [0]), "from and stored to a tensor or pointer, got int"),
    "two indices": (lambda x: fx.Vector.load(T.f32x2, pointer(x), [0, 1]), "takes one index, got 2"),
    "columns": (
        lambda x: fx.Vector.load(T.f32x2, fx.make_view(pointer(x), fx.make_layout((4, 2), (1, 4))), [0, 0]),
        "do not follow each other there",
    ),
    "an integer as a pointer": (
        lambda x: mem_ops.global_load(fx.Float32(x[0]).ir_value(), 0, fx.Float32), "got a run-time f32"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    access, words = REFUSED[name]
    with pytest.raises(TypeError, match=words):
        run(lambda x, y: access(x), floats(), poison())
