"""Buffer tensors, copies and atomics on the virtual GPU: what lies beyond a descriptor is zero and never written."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.base.errors import DslTypeError, DslValueError, LoweringError, TargetError
from flydsl.expr import buffer_ops, mem_ops
from flydsl.expr.rocdl import cdna4
from flydsl.expr.typing import T
from tests.support import random_data
from tests.unit.rocdl.device_code import assembly, launcher, llvm_text, words
from tests.unit.rocdl.running import launch

r = fx.rocdl
BOTH = ("gfx942", "gfx1201")
TYPES = {8: fx.Int8, 16: fx.Int16, 32: fx.Int32, 64: fx.Int32, 128: fx.Int32}


@pytest.fixture(params=BOTH)
def arch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ARCH", request.param)
    return request.param


def integers(count: int, dtype: Any = np.int32) -> np.ndarray:
    info = np.iinfo(dtype)
    return random_data.generator().integers(info.min, info.max, count, endpoint=True).astype(dtype)


@pytest.mark.parametrize("bits", TYPES)
@pytest.mark.parametrize("records", [0, 5, 41, 203, 256])
def test_every_width_stops_at_the_last_record(bits: int, records: int, arch: str) -> None:
    """An access that is half inside reads its words that are, and writes them."""
    kind = TYPES[bits]
    count, dtype = bits // kind.width, {8: np.int8, 16: np.int16, 32: np.int32}[kind.width]
    x, y = integers(64 * count, dtype), np.full(64 * count, 99, dtype)
    total = x.nbytes

    def body(t: Any, x: Any, y: Any, n: Any) -> None:
        atom = fx.make_copy_atom(fx.rocdl.BufferCopy(bits), kind)
        sides = [
            fx.logical_divide(r.make_buffer_tensor(m, num_records_bytes=n), fx.make_layout(count, 1)) for m in (x, y)
        ]
        held = fx.make_rmem_tensor(count, kind)
        fx.copy(atom, fx.slice(sides[0], (None, t)), held)
        held.store(held.load() ^ 1)
        fx.copy(atom, held, fx.slice(sides[1], (None, t)))

    inside = min(records * total // 256, total)
    launch(body, x, y, np.int64(inside).item())
    whole = inside // x.itemsize  # a piece of a word is not there
    wanted = np.full_like(y, 99)
    wanted[:whole] = x[:whole] ^ 1
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize(("arch", "flags"), [("gfx90a", 0x27000), ("gfx942", 0x27000), ("gfx1100", 0x31027000),
                                             ("gfx1201", 0x31027000), ("gfx1250", 0)])  # fmt: skip
def test_the_descriptors_flags_check_bounds(arch: str, flags: int) -> None:
    """The words that upstream MLIR's `amdgpu.fat_raw_buffer_cast` gives a buffer with bounds checks."""

    def body(x: Any, y: Any, t: Any) -> None:
        y[t] = r.make_buffer_tensor(x)[t]

    text = llvm_text(launcher(body), words(), arch)
    found = re.search(r"make\.buffer\.rsrc\S*\(ptr addrspace\(1\) \S+, i16 0, i64 \S+, i32 (-?\d+)\)", text)
    assert found is not None, text
    assert int(found[1]) % 2**32 == flags


@pytest.mark.parametrize("kind", [fx.BFloat16, fx.Float16, fx.Float8E4M3FN, fx.Float64])
def test_elements_of_any_type_travel(kind: Any, arch: str) -> None:
    """Copies move bits, and single elements are read and written as their type."""
    size = kind.width // 8
    x = random_data.generator().integers(0, 120, 64 * 16).astype(np.int8)
    y = np.full(64 * 16, 99, np.int8)
    count = 16 // size

    def body(t: Any, x: Any, y: Any) -> None:
        sides = [fx.make_view(fx.recast_iter(kind, fx.get_iter(m)), fx.make_layout(64 * count, 1)) for m in (x, y)]
        source, target = (r.make_buffer_tensor(m, num_records_bytes=60 * 16) for m in sides)
        cut = [fx.logical_divide(m, fx.make_layout(count, 1)) for m in (source, target)]
        held = fx.make_rmem_tensor(count, kind)
        fx.copy(fx.make_copy_atom(r.BufferCopy128b(), kind), fx.slice(cut[0], (None, t)), held)
        fx.copy(fx.make_copy_atom(r.BufferCopy128b(), kind), held, fx.slice(cut[1], (None, t)))
        target[t * count] = source[t * count]

    launch(body, x, y)
    wanted = np.full_like(y, 99)
    wanted[: 60 * 16] = x[: 60 * 16]
    np.testing.assert_array_equal(y, wanted)


def test_max_size_false_ends_with_the_layout(arch: str) -> None:
    x, y = np.arange(100, dtype=np.float32), np.full(64, -1, np.float32)

    def body(t: Any, x: Any, y: Any) -> None:
        part = r.make_buffer_tensor(fx.make_view(fx.get_iter(x), fx.make_layout((4, 5), (10, 1))), max_size=False)
        flat = fx.make_view(fx.get_iter(part), fx.make_layout(64, 1))
        y[t] = flat[t]

    launch(body, x, y)
    np.testing.assert_array_equal(y, np.where(np.arange(64) < 35, np.arange(64), 0))  # 3 * 10 + 4 + 1 elements


def test_offsets_are_unsigned_bytes(arch: str) -> None:
    """Negative offsets and those that wrap are huge, so out of range; the scalar offset counts elements."""
    x, y = np.arange(1, 65, dtype=np.int32), np.full((64, 4), -7, np.int32)

    def body(t: Any, x: Any, y: Any) -> None:
        b = r.make_buffer_tensor(x, max_size=False)
        y[t, 0] = b[t - 32]
        y[t, 1] = b[t + 0x3FFFFF00]
        rsrc = r.get_buffer_rsrc(b)
        y[t, 2] = r.raw_ptr_buffer_load(fx.Int32, rsrc, t * 4, 8)
        held = fx.make_rmem_tensor(1, fx.Int32)
        one = fx.logical_divide(b, fx.make_layout(1, 1))
        fx.copy(fx.make_copy_atom(fx.rocdl.BufferCopy32b(), fx.Int32), fx.slice(one, (None, t)), held, soffset=3)
        y[t, 3] = held[0]

    launch(body, x, y)
    t = np.arange(64)
    np.testing.assert_array_equal(y[:, 0], np.where(t >= 32, t - 31, 0))
    assert not y[:, 1].any()
    np.testing.assert_array_equal(y[:, 2], np.where(t + 2 < 64, t + 3, 0))
    np.testing.assert_array_equal(y[:, 3], np.where(t + 3 < 64, t + 4, 0))


def test_a_copy_under_a_predicate(arch: str) -> None:
    x, y = integers(64), np.full(64, -7, np.int32)

    def body(t: Any, x: Any, y: Any) -> None:
        atom = fx.make_copy_atom(r.BufferCopy32b(), fx.Int32)
        sides = [fx.logical_divide(r.make_buffer_tensor(m), fx.make_layout(1, 1)) for m in (x, y)]
        held, flag = fx.make_rmem_tensor(1, fx.Int32), fx.make_rmem_tensor(1, fx.Boolean)
        held[0] = 5
        flag[0] = t % 3 == 0
        fx.copy(atom, fx.slice(sides[0], (None, t)), held, pred=flag)
        flag[0] = t < 50
        fx.copy(atom, held, fx.slice(sides[1], (None, t)), pred=flag)

    launch(body, x, y)
    t = np.arange(64)
    np.testing.assert_array_equal(y, np.where(t < 50, np.where(t % 3 == 0, x, 5), -7))


# Into LDS --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arch950", "bits", "kind"),
    [("gfx942", 32, "buffer"), ("gfx950", 32, "buffer"), ("gfx950", 128, "buffer"), ("gfx950", 96, "async"),
     ("gfx950", 128, "async"), ("gfx950", 32, "global"), ("gfx950", 128, "global")],
)  # fmt: skip
def test_copies_into_lds_lay_a_waves_lanes_side_by_side(
    arch950: str, bits: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", arch950)
    count, threads = bits // 32, 128
    x, y = integers(threads * count + 8), np.full(threads * count, -7, np.int32)
    op = {"buffer": r.BufferCopyLDS, "async": cdna4.BufferLoadAsyncLDS, "global": cdna4.GlobalLoadAsyncLDS}[kind](bits)
    buffered = kind != "global"

    def body(t: Any, x: Any, y: Any) -> None:
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, threads * count]).peek()
        layout = fx.make_layout(threads * count, 1)
        source = fx.make_view(fx.get_iter(x), layout)
        source = r.make_buffer_tensor(source, num_records_bytes=(threads - 3) * count * 4) if buffered else source
        cut = [fx.logical_divide(m, fx.make_layout(count, 1)) for m in (source, tile.view(layout))]
        lane = t % 64
        mirrored = t - lane + (63 - lane)  # lanes read in any order; where they write is the hardware's
        atom = fx.make_copy_atom(op, fx.Int32)
        fx.copy(atom, fx.slice(cut[0], (None, mirrored)), fx.slice(cut[1], (None, t)))
        if fx.const_expr(kind != "buffer"):
            r.asyncmark()
            r.wait_asyncmark()
        fx.barrier()
        for i in fx.range_constexpr(count):
            y[t * count + i] = tile[t * count + i]

    launch(body, x, y, threads=threads)
    lanes = np.arange(threads)
    sources = lanes - lanes % 64 + 63 - lanes % 64
    wanted = x[: threads * count].reshape(threads, count)[sources].copy()
    if buffered:
        wanted[sources >= threads - 3] = 0
    np.testing.assert_array_equal(y.reshape(threads, count), wanted)


@pytest.mark.parametrize("dynamic", [False, True])
def test_the_immediate_offset_moves_both_sides(dynamic: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    x, y = integers(128), np.full(128, -7, np.int32)

    def body(t: Any, x: Any, y: Any, n: Any) -> None:
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 128]).peek()
        tile[t], tile[t + 64] = fx.Int32(1), fx.Int32(2)
        fx.barrier()
        cut = [
            fx.logical_divide(m, fx.make_layout(1, 1))
            for m in (r.make_buffer_tensor(x), tile.view(fx.make_layout(128, 1)))
        ]
        atom = fx.make_copy_atom(r.BufferCopyLDS32b(), fx.Int32)
        more = n if dynamic else 32
        fx.copy(atom, fx.slice(cut[0], (None, t)), fx.slice(cut[1], (None, t)), imm_offset=more, soffset=2)
        fx.barrier()
        y[t], y[t + 64] = tile[t], tile[t + 64]

    launch(body, x, y, 32)
    wanted = np.concatenate([np.full(64, 1), np.full(64, 2)]).astype(np.int32)
    wanted[8:72] = x[10:74]
    np.testing.assert_array_equal(y, wanted)


def test_raw_loads_into_lds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    x, y = integers(256), np.full(256, -7, np.int32)

    def body(t: Any, x: Any, y: Any) -> None:
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 256]).peek()
        r.buffer_load_to_lds(x, tile.ptr, 16, (t ^ 1) * 16)
        fx.barrier()
        for i in fx.range_constexpr(4):
            y[t * 4 + i] = tile[t * 4 + i]

    launch(body, x, y)
    np.testing.assert_array_equal(y.reshape(64, 4), x.reshape(64, 4)[np.arange(64) ^ 1])


@pytest.mark.parametrize(("granularity", "bits"), [(4, 64), (6, 96), (8, 64), (16, 64)])
def test_transposing_reads(granularity: int, bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Value v of lane t comes from lane (16 v + t) / values, place (16 v + t) mod values, of the same 16 lanes."""
    monkeypatch.setenv("ARCH", "gfx950")
    words = bits // 32
    x, y = integers(64 * words), np.full((64, words), -7, np.int32)
    read = getattr(r, f"ds_read_tr{granularity}_b{bits}")

    def body(t: Any, x: Any, y: Any) -> None:
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64 * words]).peek()
        for i in fx.range_constexpr(words):
            tile[t * words + i] = x[t * words + i]
        fx.barrier()
        found = read(T.vec(words, T.i32), tile.ptr + t * words)
        for i in fx.range_constexpr(words):
            y[t, i] = found[i]

    launch(body, x, y)
    values = bits // granularity
    rows = [sum((int(w) & 0xFFFFFFFF) << 32 * i for i, w in enumerate(row)) for row in x.reshape(64, words)]
    mask = (1 << granularity) - 1
    for lane in range(64):
        block, t = lane // 16 * 16, lane % 16
        wanted = 0
        for v in range(values):
            source, place = divmod(16 * v + t, values)
            wanted |= (rows[block + source] >> place * granularity & mask) << v * granularity
        got = sum((int(w) & 0xFFFFFFFF) << 32 * i for i, w in enumerate(y[lane]))
        assert got == wanted, lane


def test_a_transposing_copy_atom(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    x = random_data.generator().standard_normal((16, 16)).astype(np.float16)
    y = np.zeros((64, 4), np.float16)

    def body(t: Any, x: Any, y: Any) -> None:
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Float16, 256]).peek()
        for i in fx.range_constexpr(4):
            tile[t * 4 + i] = x[t // 4, t % 4 * 4 + i]
        fx.barrier()
        held = fx.make_rmem_tensor(4, fx.Float16)
        atom = fx.make_copy_atom(cdna4.LDSReadTrans(16, 64), fx.Float16)
        # Lane t gives row 4 (t / 16) + t % 16 / 4, columns 4 (t % 4): a lane ends with its column of four rows.
        row = t // 16 * 4 + t % 16 // 4
        fx.copy_atom_call(atom, fx.make_view(tile.ptr + (row * 16 + t % 4 * 4), fx.make_layout(4, 1)), held)
        for i in fx.range_constexpr(4):
            y[t, i] = held[i]

    launch(body, x, y)
    lanes = np.arange(64)
    wanted = np.stack([x[lanes // 16 * 4 + v, lanes % 16] for v in range(4)], axis=1)
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("far", [32, 2**27])
def test_what_lies_behind_the_end_of_lds_is_zero_and_stays_so(far: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    x, y = integers(64), np.full((64, 6), -7, np.int32)

    def body(t: Any, x: Any, y: Any, n: Any) -> None:
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64]).peek()
        tile[t] = x[t]
        fx.barrier()
        wide = fx.make_view(tile.ptr, fx.make_layout(2**28, 1))
        y[t, 0] = wide[fx.Index(fx.Uint32(t - 8)) + 8]  # far behind the end for eight threads
        y[t, 1] = fx.inttoptr(fx.PointerType.get(fx.Int32, 2, 4), (t - 8) * 4)[8]
        y[t, 2] = fx.atomic("compare_exchange", wide, 7, at=t + n, expected=2**30)
        y[t, 3], y[t, 4] = (fx.atomic("add", wide, 0 if t + n < 64 else 5, at=t + n) for _ in range(2))
        fx.barrier()
        r.buffer_load_to_lds(x, tile.ptr + n, 4, t * 4)
        fx.barrier()
        y[t, 5] = tile[t]

    launch(body, x, y, far)
    inside = np.concatenate([x[32:], np.zeros(32, np.int32)]) if far == 32 else np.zeros(64, np.int32)
    np.testing.assert_array_equal(y[8:, 0], x[8:])
    np.testing.assert_array_equal(y[:, 1:5], np.stack([x, inside, inside, inside], 1))
    np.testing.assert_array_equal(y[:, 5], np.concatenate([x[:32], x[:32]]) if far == 32 else x)


# Atomics ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "kind", "arch_of"),
    [("add", fx.Float32, "gfx942"), ("add", fx.Float64, "gfx942"), ("max", fx.Float64, "gfx942"),
     ("max", fx.Int32, "gfx942"), ("max", fx.Float32, "gfx1201"), ("min", fx.Int32, "gfx942"),
     ("min", fx.Uint32, "gfx942"), ("min", fx.Int64, "gfx1201"), ("pk_add", fx.Float16, "gfx942"),
     ("pk_add", fx.BFloat16, "gfx950")],
)  # fmt: skip
def test_buffer_atomics(
    op: str, kind: Any, arch_of: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    monkeypatch.setenv("ARCH", arch_of)
    dtype = {"Float16": np.float16, "BFloat16": ml_dtypes.bfloat16, "Float32": np.float32, "Float64": np.float64,
             "Int32": np.int32, "Int64": np.int64, "Uint32": np.int32}[kind.__name__]  # fmt: skip
    count = 2 if op == "pk_add" else 1
    x = rng.integers(-8, 9, (64, count)).astype(dtype)  # sums of these are exact in every type
    y = rng.integers(-8, 9, 16 * count).astype(dtype)
    before = y.copy()

    def body(t: Any, x: Any, y: Any) -> None:
        target = fx.make_view(fx.recast_iter(kind, fx.get_iter(y)), fx.make_layout(32 * count, 1))
        buffer = r.make_buffer_tensor(target, num_records_bytes=12 * count * kind.width // 8)
        cut = fx.logical_divide(buffer, fx.make_layout(count, 1))
        held = fx.make_rmem_tensor(count, kind)
        for i in fx.range_constexpr(count):
            held[i] = fx.recast_iter(kind, fx.get_iter(x))[t * count + i]
        fx.copy_atom_call(fx.make_copy_atom(r.BufferAtomic(op, kind), kind), held, fx.slice(cut, (None, t % 16)))

    launch(body, x, y)
    values = x.astype(np.float64) if dtype is not np.int64 else x
    wanted = before.astype(values.dtype).reshape(16, count)
    for t in range(64):
        if t % 16 < 12:  # beyond the records nothing happens
            row = wanted[t % 16]
            if kind is fx.Uint32:
                row[:] = np.minimum(row % 2**32, values[t] % 2**32)
            else:
                row[:] = {"add": np.add, "pk_add": np.add, "max": np.maximum, "min": np.minimum}[op](row, values[t])
    got = y.astype(values.dtype).reshape(16, count)
    if kind is fx.Uint32:
        got, wanted = got % 2**32, wanted % 2**32
    np.testing.assert_array_equal(got, wanted)


def test_raw_atomics_give_what_was_there(arch: str) -> None:
    y, old = np.zeros(4, np.float32), np.full(64, -1, np.float32)

    def body(t: Any, y: Any, old: Any) -> None:
        rsrc = r.get_buffer_rsrc(r.make_buffer_tensor(y, max_size=False))
        old[t] = r.raw_ptr_buffer_atomic_fadd(fx.Float32(1.0), rsrc, 4)
        r.raw_ptr_buffer_atomic_fadd(fx.Float32(1.0), rsrc, 16)

    launch(body, y, old)
    assert y.tolist() == [0, 64, 0, 0]
    assert sorted(old.tolist()) == list(range(64))


# The older modules -----------------------------------------------------------------------------


def test_buffer_ops(arch: str) -> None:
    x, y, z = integers(90), np.full(128, -7, np.int32), np.full((64, 7), -7, np.int32)

    def body(t: Any, x: Any, y: Any, z: Any) -> None:
        source = buffer_ops.create_buffer_resource(x, max_size=False)
        four = buffer_ops.buffer_load(source, t * 2, 4, T.i32, mask=t != 3)
        one = buffer_ops.buffer_load(source, t, vec_width=1, dtype=fx.Int32, soffset_bytes=8)
        same = buffer_ops.buffer_load(source, 5, 4, T.i32, is_scalar=True)
        for i in fx.range_constexpr(4):
            z[t, i] = four[i]
        z[t, 4] = one
        z[t, 5] = same[3]
        z[t, 6] = buffer_ops.buffer_load(buffer_ops.create_buffer_resource(x, num_records_bytes=80), t, 1, T.i32)
        target = buffer_ops.BufferResourceDescriptor.from_memref(y, num_records_bytes=400, base_byte_offset=16)
        buffer_ops.buffer_store(fx.Vector.from_elements([t, t + 1], fx.Int32), target, t * 2, mask=t % 2 == 0)

    launch(body, x, y, z)
    padded = np.concatenate([x, np.zeros(200, np.int32)])
    t = np.arange(64)
    wanted = np.stack([padded[2 * t + i] for i in range(4)], axis=1)
    wanted[3] = 0
    np.testing.assert_array_equal(z[:, :4], wanted)
    np.testing.assert_array_equal(z[:, 4], padded[t + 2])
    assert set(z[:, 5].tolist()) == {int(x[8])}
    np.testing.assert_array_equal(z[:, 6], np.where(t < 20, padded[t], 0))
    stored = np.full(128, -7, np.int32)
    for lane in range(0, 64, 2):
        for i in range(2):
            place = lane * 2 + i
            if place < 100 and place + 4 < 128:
                stored[place + 4] = lane + i
    np.testing.assert_array_equal(y, stored)


def test_addresses_and_pointers(arch: str) -> None:
    x, y = integers(64), np.full(64, -7, np.int32)

    def body(t: Any, x: Any, y: Any) -> None:
        address = buffer_ops.extract_base_index(x, address_space=1)
        rsrc = buffer_ops.create_buffer_resource_from_addr(fx.Int64(address), num_records_bytes=128)
        pointer = buffer_ops.create_llvm_ptr(buffer_ops.extract_base_index(y), address_space=1)
        place = buffer_ops.get_element_ptr(pointer, t, elem_type=T.i32)
        mem_ops.global_store(buffer_ops.buffer_load(rsrc, t, 1, T.i32), place)

    launch(body, x, y)
    np.testing.assert_array_equal(y, np.where(np.arange(64) < 32, x, 0))


def test_mem_ops(arch: str) -> None:
    x, y, sums, fsum = integers(130), np.full(130, -7, np.int32), np.zeros(4, np.int32), np.zeros(1, np.float32)

    def body(t: Any, x: Any, y: Any, sums: Any, fsum: Any) -> None:
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 4]).peek()
        if t == 0:
            tile[0] = 0
        fx.barrier()
        pair = mem_ops.global_load(x, t * 2, vec_width=2)
        mem_ops.global_store(pair, y, t * 2)
        mem_ops.atomic_add(sums, t, 1)
        mem_ops.atomic_add(mem_ops.extract_global_ptr(fsum), 0.5)
        mem_ops.atomic_add(tile.ptr, 2)
        mem_ops.buffer_atomic_add(fx.Int32(3), buffer_ops.create_buffer_resource(sums), 3)
        fx.barrier()
        if t == 0:
            sums[0] = tile[0]
        mem_ops.get_llvm_ptr(x, 4)

    launch(body, x, y, sums, fsum)
    np.testing.assert_array_equal(y[:128], x[:128])
    assert y[128:].tolist() == [-7, -7]
    assert sums.tolist() == [128, 2016, 0, 192]
    assert fsum.tolist() == [32.0]


def ones(kind: Any) -> Any:
    return fx.Vector.filled(2, 1.0, kind)


@pytest.mark.parametrize("scope", list(fx.rocdl.SyncScope))
def test_atomics_of_every_scope(scope: Any, arch: str) -> None:
    total = np.zeros(1, np.int32)

    def body(t: Any, total: Any) -> None:
        mem_ops.atomic_add(total, t, scope=scope)

    launch(body, total)
    assert total.tolist() == [2016]

    def alike(x: Any, y: Any, t: Any) -> None:
        mem_ops.atomic_add(y, x[t], t, scope=scope)

    assert "atomic_add" in assembly(launcher(alike), words(), arch)


# Refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arch_of", "body", "error", "message"),
    [
        ("sm_90a", lambda t, x: r.make_buffer_tensor(x), TargetError, "instruction of AMD GPUs"),
        ("gfx942", lambda t, x: r.make_buffer_tensor(3), DslTypeError, "takes a tensor over global memory"),
        ("gfx942", lambda t, x: r.get_buffer_rsrc(x), DslTypeError, "takes a buffer pointer"),
        ("gfx942", lambda t, x: r.BufferCopyLDS64b(), DslValueError, "no copy of 64 bits"),
        ("gfx942", lambda t, x: r.BufferCopy(48), DslValueError, "no buffer copy of 48 bits"),
        ("gfx942", lambda t, x: r.BufferCopy(32, 77), DslValueError, "cache modifier 77"),
        ("gfx942", lambda t, x: fx.make_copy_atom(r.BufferCopyLDS(128), fx.Int32), TargetError, "not 128"),
        ("gfx1201", lambda t, x: fx.make_copy_atom(r.BufferCopyLDS(32), fx.Int32), TargetError, "does not have"),
        ("gfx942", lambda t, x: fx.make_copy_atom(r.BufferAtomicPkAdd(fx.BFloat16), fx.BFloat16), TargetError, "cdna4"),
        ("gfx942", lambda t, x: r.BufferAtomicAdd(fx.Int32), DslValueError, "it takes f32, f64"),
        ("gfx942", lambda t, x: cdna4.LDSReadTrans(16, 128), DslValueError, "no transposing LDS read"),
        ("gfx942", lambda t, x: r.raw_ptr_buffer_load(T.vec(5, T.i32), x, 0), DslTypeError, "not 160"),
        ("gfx942", lambda t, x: r.raw_ptr_buffer_load(T.i32, 7, 0), DslTypeError, "expected a buffer descriptor"),
        ("gfx942", lambda t, x: buffer_ops.create_buffer_resource(x, 16), DslValueError, "stride is 0"),
        ("gfx942", lambda t, x: buffer_ops.buffer_load(x, 0, 2, T.i32, is_scalar=True), DslValueError, "one or four"),
        ("gfx942", lambda t, x: r.raw_ptr_buffer_atomic_fadd(fx.Float16(1.0), x, 0), DslTypeError, "a pair of f16"),
        ("gfx942", lambda t, x: r.raw_ptr_buffer_atomic_fadd(ones(fx.Float32), x, 0), DslTypeError, "a pair"),
        ("gfx1201", lambda t, x: r.raw_ptr_buffer_atomic_fmax(ones(fx.Float16), x, 0), DslTypeError, "f32, f64"),
        ("gfx1201", lambda t, x: r.raw_ptr_buffer_atomic_fmax(fx.Float64(1.0), x, 0), TargetError, "does not have"),
        ("gfx1250", lambda t, x: r.tensor_load_to_lds(x, x, x, x), DslTypeError, "takes vector<4xi32>|is not"),
        ("gfx942", lambda t, x: buffer_ops.create_llvm_ptr(0, 7), DslValueError, "no address space 7"),
        ("gfx942", lambda t, x: r.raw_ptr_buffer_load_lds(x, x, 4, 0), DslTypeError, "must lie in shared memory"),
        ("gfx942", lambda t, x: fx.copy(fx.make_copy_atom(r.BufferCopy32b(), fx.Int32), x,
                                        fx.make_rmem_tensor(64, fx.Int32)), LoweringError, "needs a buffer tensor"),
    ],
)  # fmt: skip
def test_refused(
    arch_of: str, body: Any, error: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", arch_of)

    def use(t: Any, x: Any) -> None:
        body(t, fx.make_view(fx.get_iter(x), fx.make_layout(64, 1)))

    with pytest.raises(error, match=message):
        launch(use, integers(64))


@pytest.mark.parametrize("pair", [fx.T.f16x2, fx.Float16x2, fx.T.f16])
def test_a_packed_add_by_the_type_of_the_pair(pair: Any) -> None:
    assert r.BufferAtomicPkAdd(pair) == r.BufferAtomicPkAdd(fx.Float16)


@pytest.mark.parametrize(("make", "pair"), [(r.BufferAtomicPkAdd, fx.Float16x4), (r.BufferAtomicAdd, fx.T.f32x2)])
def test_an_atomic_of_a_vector(make: Any, pair: Any) -> None:
    with pytest.raises(DslTypeError, match=r"takes (a pair|numbers), got"):
        make(pair)
