"""gfx1250's tensor data mover: descriptors against upstream MLIR's, and tiles on the virtual GPU against slices."""

from __future__ import annotations

import random
import re
import subprocess
from math import prod
from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError, TargetError
from flydsl.expr.rocdl import cdna5, tdm_ops
from flydsl.target.tensor_descriptor import FIELDS, WORDS, padding_codes, warp_split
from tests.support import random_data
from tests.unit.rocdl.running import launch

r = fx.rocdl


@pytest.fixture(autouse=True)
def on_gfx1250(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx1250")


# Descriptors -----------------------------------------------------------------------------------


def test_fields_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for name, pieces in FIELDS.items():
        low = 0
        for piece in pieces:
            assert piece.low == low, name
            low += piece.bits
            places = {(piece.word, bit) for bit in range(piece.place, piece.place + piece.bits)}
            assert not places & taken, name
            assert all(0 <= word < WORDS and bit < 32 for word, bit in places), name
            taken |= places


def ours(fields: dict[str, int]) -> list[int]:
    words = [0] * WORDS
    for name, value in fields.items():
        for piece in FIELDS[name]:
            words[piece.word] |= (value >> piece.low & ((1 << piece.bits) - 1)) << piece.place
    return words


def upstream(
    mlir_opt: str, sizes: list[int], strides: list[int], tile: list[int], pad: tuple[int, int]
) -> list[int | None]:
    """The words that upstream MLIR's lowering computes; None for those that hold addresses."""
    rank, dims = len(sizes), "x".join(map(str, sizes))
    indices = ", ".join(["%i"] * rank)
    inside = f"memref<{'x'.join(map(str, tile))}xf32, #gpu.address_space<workgroup>>"
    text = f"""
func.func @f(%g: memref<{dims}xf32>, %l: {inside}, %i: index) -> !amdgpu.tdm_descriptor {{
  %b = amdgpu.make_dma_base %g[{indices}], %l[{indices}] : memref<{dims}xf32>, {inside} -> !amdgpu.tdm_base<f32>
  %pa = arith.constant {pad[1]} : i32
  %pi = arith.constant {pad[0]} : i32
  %d = amdgpu.make_dma_descriptor %b globalSize {sizes} globalStride {strides} sharedSize {tile}
    padShared(%pa every %pi) : !amdgpu.tdm_base<f32> -> !amdgpu.tdm_descriptor
  func.return %d : !amdgpu.tdm_descriptor
}}"""
    command = [mlir_opt, "--convert-amdgpu-to-rocdl=chipset=gfx1250", "--canonicalize"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return evaluated(done.stdout)


def evaluated(text: str) -> list[int | None]:
    """The vectors behind the descriptor, from the constants that the text computes with."""
    known: dict[str, int] = {}
    vectors: dict[str, dict[int, int | None]] = {}
    operations = {
        "shl": int.__lshift__,
        "lshr": int.__rshift__,
        "or": int.__or__,
        "and": int.__and__,
        "sub": int.__sub__,
    }
    for line in text.splitlines():
        if found := re.match(r"\s*(%\w+) = llvm\.mlir\.constant\((-?\d+) :", line):
            known[found[1]] = int(found[2])
        elif found := re.match(r"\s*(%\w+) = llvm\.(\w+)(?: disjoint)? (%\w+), (%\w+) :", line):
            if found[2] in operations and found[3] in known and found[4] in known:
                known[found[1]] = operations[found[2]](known[found[3]], known[found[4]])
        elif (found := re.match(r"\s*(%\w+) = llvm\.trunc (%\w+)", line)) and found[2] in known:
            known[found[1]] = known[found[2]] & 0xFFFFFFFF
        elif (found := re.match(r'\s*(%\w+) = "llvm.intr.cttz"\((%\w+)\)', line)) and found[2] in known:
            known[found[1]] = (known[found[2]] & -known[found[2]]).bit_length() - 1
        elif found := re.match(r"\s*(%\w+) = llvm\.mlir\.(?:poison|zero) : vector<(\d+)xi32>", line):
            vectors[found[1]] = dict.fromkeys(range(int(found[2])), 0)
        elif found := re.match(r"\s*(%\w+) = llvm\.insertelement (%\w+), (%\w+)\[(%\w+) : i32\]", line):
            vectors[found[1]] = {**vectors[found[3]], known[found[4]]: known.get(found[2])}
        elif found := re.search(r"unrealized_conversion_cast (%\w+), (%\w+), (%\w+), (%\w+) : vector", line):
            return [word for group in found.groups() for _, word in sorted(vectors[group].items())]
    raise AssertionError(text)


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_words_are_upstreams(rank: int, mlir_opt: str) -> None:
    draw = random.Random()
    sizes = [draw.randrange(9, 90000) for _ in range(rank)]
    tile = [draw.randrange(1, 9) for _ in range(rank)]
    strides = [draw.randrange(1, 2**40) for _ in range(rank - 1)] + [1]
    theirs = upstream(mlir_opt, sizes, strides, tile, (16, 3))
    fields = {"count": 1, "type": 2, "data_size": 2, "pad_enable": 1}
    fields["pad_interval"], fields["pad_amount"] = padding_codes(16, 3, 4)  # type: ignore[misc]
    for index in range(rank):
        dim = rank - 1 - index
        fields |= {f"dim{dim}": sizes[index], f"tile{dim}": tile[index]}
        if dim:
            fields[f"stride{dim - 1}"] = strides[index]
    mine = ours(fields)
    if rank >= 3:  # LLVM 22 writes the third tile extent once more where the fourth belongs
        theirs[15] = (theirs[15] or 0) & 0xFFFF | (tile[rank - 4] << 16 if rank > 3 else 0)
    compared = [index for index, word in enumerate(theirs) if word is not None and index >= 4]
    assert len(compared) >= 15
    assert {i: hex(mine[i]) for i in compared} == {i: hex(theirs[i] & 0xFFFFFFFF) for i in compared}  # type: ignore[operator]


@pytest.mark.parametrize(("interval", "amount", "size", "codes"),
                         [(64, 8, 2, (4, 3)), (2, 1, 4, (0, 0)), (256, 128, 4, (7, 127)), (0, 8, 2, None)])  # fmt: skip
def test_padding_codes(interval: int, amount: int, size: int, codes: Any) -> None:
    assert padding_codes(interval, amount, size) == codes


@pytest.mark.parametrize(("interval", "amount", "size"), [(3, 1, 4), (512, 1, 4), (8, 1, 2), (8, 258, 4)])
def test_padding_that_cannot_be_encoded(interval: int, amount: int, size: int) -> None:
    with pytest.raises(DslValueError, match="is not encodable"):
        tdm_ops.compute_padding_encoding(interval, amount, size)


def test_waves_share_a_tile_in_contiguous_parts() -> None:
    assert tdm_ops.compute_warp_distribution((32, 64), 4) == ((4, 1), (8, 64))
    assert warp_split((4, 16, 32), 8) == ((4, 2, 1), (1, 8, 32))
    assert warp_split((5,), 1) == ((1,), (5,))
    with pytest.raises(DslValueError, match="cannot share a tile"):
        warp_split((6, 16), 4)


# Tiles -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("kind", [fx.Int8, fx.Float16, fx.Int32, fx.Float64])
def test_tiles_of_every_rank(rank: int, kind: Any, rng: np.random.Generator) -> None:
    """A tile at a place that sticks out of the tensor: zeros where there is nothing."""
    dtype = {"Int8": np.int8, "Float16": np.float16, "Int32": np.int32, "Float64": np.float64}[kind.__name__]
    shape = (5, 3, 4, 6, 10)[-rank:]
    tile = (2, 2, 3, 4, 8)[-rank:]
    start = (3, 2, 2, 3, 4)[-rank:]
    x = rng.integers(-100, 100, shape).astype(dtype)
    y = np.full(prod(tile), 77, dtype)
    steps = [prod(shape[i + 1 :]) for i in range(rank)]
    offset = sum(a * b for a, b in zip(start, steps, strict=True))
    row_major = tuple(prod(tile[i + 1 :]) for i in range(rank))

    def body(t: Any, x: Any, y: Any) -> None:
        held = fx.SharedAllocator().allocate(fx.Array[kind, prod(tile)]).peek()
        place = tile if rank > 1 else tile[0]
        source = fx.make_view(fx.get_iter(x) + offset, fx.make_layout(place, tuple(steps) if rank > 1 else 1))
        target = held.view(fx.make_layout(place, row_major if rank > 1 else 1))
        atom = r.make_tdm_atom(source, [n - s for n, s in zip(shape, start, strict=True)], num_warps=1)
        fx.copy(atom, source, target)
        tdm_ops.tensor_wait()
        fx.barrier()
        for i in range(t, prod(tile), 32):
            y[i] = held[i]

    launch(body, x, y, threads=32)
    wanted = np.zeros(tile, dtype)
    piece = x[tuple(slice(s, s + n) for s, n in zip(start, tile, strict=True))]
    wanted[tuple(slice(0, n) for n in piece.shape)] = piece
    np.testing.assert_array_equal(y.reshape(tile), wanted)


@pytest.mark.parametrize(("pad", "warps"), [(0, 1), (8, 1), (8, 4), (0, 2)])
def test_there_and_back_in_a_grid(pad: int, warps: int) -> None:
    rows, columns, tm, tn, valid = 50, 70, 16, 32, 45
    x = random_data.generator().random((rows, columns)).astype(np.float16)
    seen, out = np.full((64, 96), -1, np.float16), np.full((rows, columns), -1, np.float16)

    def body(t: Any, x: Any, seen: Any, out: Any, m: Any) -> None:
        held = fx.SharedAllocator().allocate(fx.Array[fx.Float16, tm * (tn + pad)]).peek()
        bx, by = fx.block_idx.x, fx.block_idx.y
        offset = bx * (tm * columns) + by * tn
        inside = held.view(fx.make_layout((tm, tn), (tn + pad, 1)))
        source, target = (
            fx.make_view(fx.get_iter(m_) + offset, fx.make_layout((tm, tn), (columns, 1))) for m_ in (x, out)
        )
        extents = [m - bx * tm, columns - by * tn]
        fx.copy(
            r.make_tdm_atom(source, extents, num_warps=warps, pad_interval=tn if pad else 0, pad_amount=pad),
            source,
            inside,
        )
        tdm_ops.tensor_wait(0)
        fx.barrier()
        for i in range(t, tm * tn, 32 * warps):
            seen[bx * tm + i // tn, by * tn + i % tn] = held[i // tn * (tn + pad) + i % tn]
        if fx.const_expr(pad == 0):
            fx.copy(r.make_tdm_atom(target, extents, num_warps=warps), inside, target)
            tdm_ops.tensor_wait(0)

    launch(body, x, seen, out, valid, threads=32 * warps, grid=(4, 3))
    wanted = np.zeros((64, 96), np.float16)
    wanted[:valid, :columns] = x[:valid]
    np.testing.assert_array_equal(seen, wanted)
    if pad == 0:
        np.testing.assert_array_equal(out[:valid], x[:valid])
        assert (out[valid:] == -1).all()


def test_state_fields_move_a_tile() -> None:
    """Strides at run time, an offset in bytes, and a loop that carries the atom."""
    x, y = random_data.generator().integers(0, 99, (12, 20)).astype(np.int32), np.full((3, 4, 8), -1, np.int32)

    def body(t: Any, x: Any, y: Any, stride: Any) -> None:
        held = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 32]).peek()
        source = fx.make_view(fx.get_iter(x), fx.make_layout((4, 8), (8, 1)))
        atom = r.make_tdm_atom(source, [None, None], strides=[fx.Int64(stride), None], num_warps=1)
        atom = atom.set_value("imm_offset", fx.Int64(0))
        for i in range(3):
            atom = fx.atom_set_value(atom, "imm_offset", fx.Int64(i) * fx.Int64(stride) * 16)
            fx.copy(atom, source, held.view(fx.make_layout((4, 8), (8, 1))))
            tdm_ops.tensor_wait(0)
            fx.barrier()
            y[i, t // 8, t % 8] = held[t]
            fx.barrier()

    launch(body, x, y, 20, threads=32)
    np.testing.assert_array_equal(y, x[:, :8].reshape(3, 4, 8))


@pytest.mark.parametrize("bits", [32, 16])
def test_gathered_rows(bits: int) -> None:
    """Rows by number; a number beyond the tensor's rows gives zeros."""
    x = random_data.generator().integers(-99, 99, (40, 12)).astype(np.int32)
    numbers = [7, 0, 39, 40, 3, 3, 21] + ([15, 1000, 8] if bits == 16 else [])
    y = np.full((len(numbers), 8), -1, np.int32)

    def body(t: Any, x: Any, y: Any) -> None:
        held = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 8 * len(numbers)]).peek()
        rows = [fx.Int32(n) + (t - t) for n in numbers]
        desc = tdm_ops.make_tensor_gather_descriptor(x, held.ptr, rows, 8, 12, 40, 12, 4, index_size=bits)
        tdm_ops.tensor_load_gather(desc)
        tdm_ops.tensor_wait(0)
        fx.barrier()
        for i in range(t, 8 * len(numbers), 32):
            y[i // 8, i % 8] = held[i]

    launch(body, x, y, threads=32)
    wanted = np.stack([x[n, :8] if n < 40 else np.zeros(8, np.int32) for n in numbers])
    np.testing.assert_array_equal(y, wanted)


def test_descriptors_by_hand() -> None:
    x = random_data.generator().integers(-99, 99, (24, 16)).astype(np.int32)
    y = np.full((3, 32), -1, np.int32)

    def body(t: Any, x: Any, y: Any) -> None:
        held = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64]).peek()
        desc = tdm_ops.make_tensor_descriptor_2d(
            x, held.ptr, (fx.block_idx.x + 21, fx.Index(4)), (4, 8), (16, 1), (4, 8), 4, oob_outer_bound=24
        )
        tdm_ops.tensor_load_2d(desc)
        other = tdm_ops.update_tensor_descriptor_2d_lds_addr(desc, fx.ptrtoint(held.ptr) + 128)
        low, high = tdm_ops.add_addr_with_carry(desc.words[2], desc.words[3], -64 * 21)
        moved = tdm_ops.update_tensor_descriptor_2d_addr(
            other, fx.Int64(fx.Uint32(low)) | fx.Int64(high & 0x1FFFFFF) << 32
        )
        tdm_ops.tensor_load_2d(moved)
        tdm_ops.tensor_wait(0)
        fx.barrier()
        y[0, t], y[1, t] = held[t], held[t + 32]
        r.tensor_load_to_lds(*(desc.group(i) for i in range(4)))
        fx.barrier()
        y[2, t] = held[t]

    launch(body, x, y, threads=32)
    wanted = np.zeros((4, 8), np.int32)
    wanted[:3] = x[21:24, 4:12]
    np.testing.assert_array_equal(y[0].reshape(4, 8), wanted)
    np.testing.assert_array_equal(y[2].reshape(4, 8), wanted)
    again = x[0:4, 4:12].copy()
    again[3] = 0  # the extents are the first tile's
    np.testing.assert_array_equal(y[1].reshape(4, 8), again)


@pytest.mark.parametrize("store", [False, True])
def test_a_tile_that_leaves_shared_memory_is_reported(store: bool) -> None:
    def body(t: Any, x: Any, y: Any) -> None:
        held = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64]).peek()
        desc = tdm_ops.make_tensor_descriptor_2d(x, held.ptr, (fx.Index(0), fx.Index(0)), (4, 8), (16, 1), (4, 8), 4)
        away = tdm_ops.update_tensor_descriptor_2d_lds_addr(desc, fx.ptrtoint(held.ptr) + (1008 + y[0]))
        (tdm_ops.tensor_store_2d if store else tdm_ops.tensor_load_2d)(away)

    with pytest.raises(DslRuntimeError, match="leaves the block's shared memory"):
        launch(body, np.zeros((24, 16), np.int32), np.zeros(1, np.int32), threads=32)


def _tile(t: Any, x: Any, **more: Any) -> None:
    held = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64]).peek()
    source = fx.make_view(fx.get_iter(x), fx.make_layout((4, 8), (16, 1)))
    strides = more.pop("lds", (8, 1))
    back = more.pop("store", False)
    atom = r.make_tdm_atom(source, more.pop("extents", [None, None]), **{"num_warps": 1, **more})
    inside = held.view(fx.make_layout((4, 8), strides))
    fx.copy(atom, *((inside, source) if back else (source, inside)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lds": (10, 1)}, "lies in LDS with strides"),
        ({"extents": [None]}, "takes 2 extents and strides"),
        ({"num_warps": 3}, "numWarps must be a positive power of two, got 3"),
        ({"pad_interval": 8, "pad_amount": 4, "lds": (12, 1), "store": True}, "only when it loads"),
        ({"strides": [16, 2]}, "needs stride 1 in the last dimension"),
        ({"pad_interval": 6, "pad_amount": 4, "lds": (12, 1)}, "power of two|strides"),
        ({"atomic_barrier": True}, "signals a barrier in LDS, which is not set"),
    ],
)
def test_refused(options: dict[str, Any], message: str) -> None:
    def body(t: Any, x: Any) -> None:
        _tile(t, x, **options)

    with pytest.raises(DslValueError, match=message):
        launch(body, np.zeros(64, np.int32), threads=32)


def test_other_targets_have_no_such_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx1201")

    def body(t: Any, x: Any) -> None:
        _tile(t, x)

    with pytest.raises(TargetError, match="gfx1201 has no tensor data mover"):
        launch(body, np.zeros(64, np.int32), threads=32)


def test_the_instruction_says_what_it_is() -> None:
    op = cdna5.TDM(2, 4, 64, 8, 1, True, False)
    assert (
        str(op)
        == "!fly_rocdl.gfx1250.tdm<rank = 2, warps = 4, pad = 64, 8, cache = 1, barrier = true, timeout = false>"
    )
    with pytest.raises(DslValueError, match="1 to 5 dimensions"):
        cdna5.TDM(6)
    with pytest.raises(DslTypeError, match="holds the tensor's sizes"):
        fx.make_copy_atom(op, fx.Int32)
