"""TMA on the virtual Hopper GPU against a model: every rank, swizzle and direction, boxes across every edge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.support import random_data
from tests.unit.nvvm import tma_model as model
from tests.unit.nvvm.running import Array, Shared, launcher, run

nvvm = fx.nvvm

KINDS: dict[Any, Any] = {
    np.float32: fx.Float32, np.int32: fx.Int32, np.uint32: fx.Uint32, np.float16: fx.Float16, np.int8: fx.Int8,
    ml_dtypes.bfloat16: fx.BFloat16, np.float64: fx.Float64, np.int64: fx.Int64, np.uint64: fx.Uint64,
    np.int16: fx.Int16,
}  # fmt: skip

# Shape, box and a coordinate that crosses the edges, for each rank.
BOXES: list[tuple[tuple[int, ...], tuple[int, ...], list[tuple[int, ...]]]] = [
    ((100,), (32,), [(0,), (92,), (-8,), (200,)]),
    ((20, 24), (9, 8), [(0, 0), (16, 20), (-4, -4), (3, 24)]),
    ((5, 6, 16), (2, 3, 8), [(1, 2, 8), (4, 5, 12), (-1, -2, -4)]),
    ((3, 4, 5, 8), (2, 2, 3, 4), [(1, 1, 1, 4), (2, 3, 4, 4), (-1, 0, -1, -4)]),
    ((2, 3, 2, 3, 8), (2, 1, 2, 2, 4), [(0, 1, 0, 1, 0), (1, 2, 1, 2, 4), (-1, 0, -1, 0, -4)]),
]


def numbers(shape: tuple[int, ...], dtype: Any) -> Array:
    return random_data.generator().integers(-100, 100, shape).astype(dtype)


def load_boxes(tensor: Array, box: tuple[int, ...], coords: list[tuple[int, ...]], mode: str) -> Array:
    """Raw shared memory after loading each box: bytes, one row a box."""
    size = int(np.prod(box)) * tensor.itemsize
    out = np.full((len(coords), size), 0xAB, np.uint8).view(np.int8)

    def maps(a: Any, b: Any) -> tuple[Any, ...]:
        return nvvm.make_tensor_map(a, box, mode), b

    def body(source: fx.Tensor, b: fx.Tensor) -> None:
        shared = Shared()
        place, barrier = shared.pointer(size, fx.Int8), shared.barriers()
        words = fx.make_view(place, fx.make_layout(size, 1))
        nvvm.mbarrier_init(barrier, 1)
        nvvm.fence_mbarrier_init()
        nvvm.prefetch_tensor_map(source)
        for i in fx.range_constexpr(len(coords)):
            nvvm.mbarrier_arrive_expect_tx(barrier, source.bytes)
            nvvm.tma_load(source, coords[i], place, barrier)
            nvvm.mbarrier_wait(barrier, i % 2)
            for at in range(size):
                b[i, at] = words[at]

    run(body, tensor, out, threads=1, maps=maps)
    return out.view(np.uint8)


@pytest.mark.parametrize("rank", range(1, 6))
def test_boxes_of_every_rank_are_loaded(rank: int) -> None:
    shape, box, coords = BOXES[rank - 1]
    tensor = numbers(shape, np.float32)
    found = load_boxes(tensor, box, coords, "none")
    for row, coord in zip(found, coords, strict=True):
        np.testing.assert_array_equal(row, model.load(tensor, box, coord, "none"))


@pytest.mark.parametrize("dtype", list(KINDS))
def test_every_type_is_loaded(dtype: Any) -> None:
    tensor = numbers((12, 32), dtype)
    box, coord = (5, 16), (8, 16)
    if np.dtype(dtype).itemsize > 1:
        coord = (8, 24)
    found = load_boxes(tensor, box, [coord], "none")
    np.testing.assert_array_equal(found[0], model.load(tensor, box, coord, "none"))


SWIZZLED_ROWS = [
    *(("none", row_bytes) for row_bytes in (16, 32, 64, 128)),
    ("32B", 32),
    ("64B", 64),
    ("128B", 128),
]


@pytest.mark.parametrize(("mode", "row_bytes"), SWIZZLED_ROWS)
def test_every_swizzle_permutes_pieces_of_rows(mode: str, row_bytes: int) -> None:
    tensor = numbers((24, 64), np.int16)
    box, coords = (16, row_bytes // 2), [(0, 0), (3, 8), (15, 40)]
    found = load_boxes(tensor, box, coords, mode)
    for row, coord in zip(found, coords, strict=True):
        np.testing.assert_array_equal(row, model.load(tensor, box, coord, mode))


@pytest.mark.parametrize("mode", ["none", "32B", "64B", "128B"])
def test_the_maps_swizzle_reads_a_box_in_order(mode: str) -> None:
    """The layout algebra's swizzle and TMA's are the same."""
    row = 16 if mode == "none" else int(mode[:-1])
    box = (16, row // 2)

    def maps(a: Any, b: Any) -> tuple[Any, ...]:
        return nvvm.make_tensor_map(a, box, mode), b

    def body(source: fx.Tensor, b: fx.Tensor) -> None:
        shared = Shared()
        place, barrier = shared.pointer(16 * row // 2, fx.Int16), shared.barriers()
        plain = place if fx.const_expr(source.swizzle is None) else fx.apply_swizzle(place, source.swizzle)
        tile = fx.make_view(plain, fx.make_layout(box, (box[1], 1)))
        nvvm.mbarrier_init(barrier, 1)
        nvvm.mbarrier_arrive_expect_tx(barrier, source.bytes)
        nvvm.tma_load(source, (1, 8), tile, barrier)
        nvvm.mbarrier_wait(barrier, 0)
        for i in range(16):
            for j in fx.range_constexpr(box[1]):
                b[i, j] = tile[i, j]

    a, b = numbers((20, 80), np.int16), np.full(box, -1, np.int16)
    run(body, a, b, threads=1, maps=maps)
    np.testing.assert_array_equal(b, a[1:17, 8 : 8 + box[1]])


def store_boxes(
    tensor: Array, memory: Array, box: tuple[int, ...], at: tuple[int, ...], mode: str, op: str | None
) -> None:
    size = memory.size

    def maps(a: Any, b: Any) -> tuple[Any, ...]:
        return a, nvvm.make_tensor_map(b, box, mode)

    def body(a: fx.Tensor, target: fx.Tensor) -> None:
        place = Shared().pointer(size, fx.Int8)
        words = fx.make_view(place, fx.make_layout(size, 1))
        for i in range(size):
            words[i] = a[i]
        nvvm.fence_proxy_async()
        if fx.const_expr(op is None):
            nvvm.tma_store(target, place, at)
        else:
            nvvm.tma_reduce(target, place, at, op)
        nvvm.tma_commit_group()
        nvvm.tma_wait_group(0, read=True)
        nvvm.tma_wait_group(0)

    run(body, memory.view(np.int8), tensor, threads=1, maps=maps)


@pytest.mark.parametrize("rank", range(1, 6))
def test_boxes_of_every_rank_are_stored_and_what_lies_outside_is_dropped(rank: int) -> None:
    shape, box, coords = BOXES[rank - 1]
    for coord in (coord for coord in coords if min(coord) >= 0):
        # Guards before and behind the tensor show writes outside it.
        guarded = numbers((int(np.prod(shape)) + 64,), np.float32)
        expected = guarded.copy()
        memory = numbers((int(np.prod(box)),), np.float32).view(np.uint8)
        store_boxes(guarded[32:-32].reshape(shape), memory, box, coord, "none", None)
        model.store(expected[32:-32].reshape(shape), memory, box, coord, "none")
        np.testing.assert_array_equal(guarded, expected)


@pytest.mark.parametrize("mode", ["32B", "64B", "128B"])
def test_swizzled_boxes_are_stored(mode: str) -> None:
    box = (12, int(mode[:-1]) // 2)
    tensor, memory = numbers((16, 96), np.int16), numbers((12 * box[1],), np.int16).view(np.uint8)
    expected = tensor.copy()
    store_boxes(tensor, memory, box, (6, 72), mode, None)
    model.store(expected, memory, box, (6, 72), mode)
    np.testing.assert_array_equal(tensor, expected)


REDUCED = [(op, dtype) for op, types in {
    "add": (np.uint32, np.int32, np.uint64, np.float16, ml_dtypes.bfloat16, np.float32, np.float64),
    "min": (np.uint32, np.int32, np.uint64, np.int64, np.float16, ml_dtypes.bfloat16),
    "max": (np.uint32, np.int32, np.uint64, np.int64, np.float16, ml_dtypes.bfloat16),
}.items() for dtype in types]  # fmt: skip
COMBINE: dict[str, Any] = {"add": lambda a, b: a + b, "min": min, "max": max}


@pytest.mark.parametrize(("op", "dtype"), REDUCED)
def test_boxes_are_combined_into_a_tensor(op: str, dtype: Any) -> None:
    tensor, box, at = numbers((6, 24), dtype), (4, 16), (3, 16)
    memory = numbers((64,), dtype).view(np.uint8)
    expected = tensor.copy()
    with np.errstate(over="ignore"):
        model.store(expected, memory, box, at, "none", COMBINE[op])
    store_boxes(tensor, memory, box, at, "none", op)
    np.testing.assert_array_equal(tensor, expected)


@pytest.mark.parametrize("rank", range(1, 6))
def test_reductions_of_every_rank(rank: int) -> None:
    shape, box, coords = BOXES[rank - 1]
    tensor, memory = numbers(shape, np.int32), numbers((int(np.prod(box)),), np.int32).view(np.uint8)
    expected = tensor.copy()
    store_boxes(tensor, memory, box, coords[1], "none", "add")
    model.store(expected, memory, box, coords[1], "none", COMBINE["add"])
    np.testing.assert_array_equal(tensor, expected)


@pytest.mark.parametrize(
    ("op", "dtype"), [("min", np.float32), ("add", np.int64), ("add", np.int8), ("max", np.float64)]
)
def test_types_that_a_reduction_lacks_are_refused(op: str, dtype: Any) -> None:
    tensor, memory = numbers((6, 16), dtype), np.zeros(32 * np.dtype(dtype).itemsize, np.uint8)
    with pytest.raises(ValueError, match=f"TMA has no '{op}' of"):
        store_boxes(tensor, memory, (2, 16), (0, 0), "none", op)


def test_an_unknown_reduction_is_refused() -> None:
    with pytest.raises(ValueError, match="TMA has no reduction 'mul'"):
        store_boxes(numbers((6, 16), np.int32), np.zeros(64, np.uint8), (1, 16), (0, 0), "none", "mul")


@pytest.mark.parametrize("mask", [0b1111, 0b0101, 0b1000])
def test_multicast_reaches_the_blocks_of_its_mask(mask: int) -> None:
    """Block 1 loads a box for the blocks of the mask, each of which waits at its own barrier."""
    blocks = 4

    def maps(a: Any, b: Any) -> tuple[Any, ...]:
        return nvvm.make_tensor_map(a, (4, 8), "none"), b

    def body(source: fx.Tensor, b: fx.Tensor) -> None:
        shared = Shared()
        place, barrier = shared.pointer(32, fx.Int32), shared.barriers()
        words = fx.make_view(place, fx.make_layout(32, 1))
        thread, rank = fx.thread_idx.x, nvvm.block_rank_in_cluster()
        words[thread] = -1
        if thread == 0:
            nvvm.mbarrier_init(barrier, 1)
            nvvm.fence_mbarrier_init()
        nvvm.cluster_sync()
        taking = ((mask >> rank) & 1) == 1
        if (thread == 0) & taking:
            nvvm.mbarrier_arrive_expect_tx(barrier, source.bytes)
        nvvm.cluster_sync()
        if (thread == 0) & (rank == 1):
            nvvm.tma_load(source, (2, 8), place, barrier, multicast=mask)
        if taking:
            nvvm.mbarrier_wait(barrier, 0)
        b[rank, thread] = words[thread]
        nvvm.cluster_sync()

    a, b = numbers((8, 16), np.int32), np.full((blocks, 32), -2, np.int32)
    run(body, a, b, threads=32, grid=blocks, cluster=blocks, maps=maps)
    for rank in range(blocks):
        expected = a[2:6, 8:16].reshape(-1) if mask >> rank & 1 else np.full(32, -1)
        np.testing.assert_array_equal(b[rank], expected)


@pytest.mark.parametrize("wrong", ["place", "start"])
def test_boxes_that_the_copy_engine_cannot_reach_are_reported(wrong: str) -> None:
    """Known at run time only: the hardware ends such a kernel with an error that names no line."""

    def maps(a: Any, b: Any) -> tuple[Any, ...]:
        return nvvm.make_tensor_map(a, (4, 8), "none"), b

    def body(source: fx.Tensor, b: fx.Tensor) -> None:
        shared = Shared()
        place, barrier = shared.pointer(128, fx.Int32), shared.barriers()
        step = b[0]
        nvvm.mbarrier_init(barrier, 1)
        if fx.const_expr(wrong == "place"):
            nvvm.tma_load(source, (0, 0), place + step, barrier)
        else:
            nvvm.tma_store(source, place, (0, step))

    step = {"place": 16, "start": 3}[wrong]
    with pytest.raises(RuntimeError, match="TMA cannot reach this box") as error:
        run(body, numbers((8, 16), np.int32), np.full(1, step, np.int32), threads=1, maps=maps)
    assert f"test_tma.py:{body.__code__.co_firstlineno + (6 if wrong == 'place' else 8)}" in str(error.value)


@pytest.mark.parametrize("op", [None, "add"])
@pytest.mark.parametrize("mode", range(2))
def test_boxes_are_not_written_before_the_tensor(mode: int, op: str | None) -> None:
    """The hardware ends such a kernel with an illegal instruction; loads may start there."""

    def maps(a: Any, b: Any) -> tuple[Any, ...]:
        return nvvm.make_tensor_map(a, (4, 8), "none"), b

    def body(target: fx.Tensor, b: fx.Tensor) -> None:
        place = Shared().pointer(128, fx.Int32)
        at = (b[0], 0) if fx.const_expr(mode == 0) else (0, b[0])
        if fx.const_expr(op is None):
            nvvm.tma_store(target, place, at)
        else:
            nvvm.tma_reduce(target, place, at, op)

    with pytest.raises(RuntimeError, match="cannot write a box that starts before the tensor"):
        run(body, numbers((8, 16), np.int32), np.full(1, -4, np.int32), threads=1, maps=maps)
    at = tuple(-4 if index == mode else 0 for index in range(2))
    with pytest.raises(ValueError, match=r"a box is written to .* cannot write a box that starts before the tensor"):
        store_boxes(numbers((8, 16), np.int32), np.zeros(128, np.uint8), (4, 8), at, "none", op)


def test_a_start_known_while_compiling_is_checked_then() -> None:
    with pytest.raises(ValueError, match="a box starts 12 bytes into the fastest mode; TMA needs a multiple of 16"):
        load_boxes(numbers((8, 16), np.int32), (4, 8), [(0, 3)], "none")


def test_strided_and_transposed_tensors() -> None:
    """The order of a map's modes follows the strides."""
    base = numbers((40, 48), np.int16)
    view = base[2:34:2, 8:40]
    found = load_boxes(view, (4, 8), [(3, 8)], "none")
    np.testing.assert_array_equal(found[0].view(np.int16).reshape(4, 8), view[3:7, 8:16])
    turned = base.T  # the first mode is now the fastest
    found = load_boxes(turned, (8, 4), [(8, 4)], "none")
    np.testing.assert_array_equal(found[0].view(np.int16).reshape(4, 8), turned[8:16, 4:8].T)


def test_contiguous_bytes_are_copied_without_a_map() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        shared = Shared()
        words, barrier = shared.words(64), shared.barriers()
        thread = fx.thread_idx.x
        if thread == 0:
            nvvm.mbarrier_init(barrier, 1)
            nvvm.fence_mbarrier_init()
            nvvm.mbarrier_arrive_expect_tx(barrier, 192)
            nvvm.bulk_load(fx.get_iter(a) + 4, words, 192, barrier)
        fx.barrier()
        nvvm.mbarrier_wait(barrier, 0)
        words[thread] = words[thread] + 1
        nvvm.fence_proxy_async()
        fx.barrier()
        if thread == 0:
            nvvm.bulk_store(words, out, fx.Int32(128))
            nvvm.tma_commit_group()
            nvvm.tma_wait_group(0)

    a, out = numbers((64,), np.int32), np.full(64, -1, np.int32)
    run(body, a, out, threads=32)
    np.testing.assert_array_equal(out[:32], a[4:36] + 1)
    assert (out[32:] == -1).all()


@pytest.mark.parametrize("way", ["box in", "box out", "bytes in", "bytes out"])
def test_copies_that_leave_shared_memory_are_reported(way: str) -> None:
    """On a GPU they end the kernel, or another block's memory is theirs."""

    def body(source: fx.Tensor, words: fx.Tensor) -> None:
        shared = Shared()
        place, barrier = shared.pointer(32, fx.Int32), shared.barriers()
        beyond = place + (1024 + words[0])
        nvvm.mbarrier_init(barrier, 1)
        if fx.const_expr(way == "box in"):
            nvvm.tma_load(source, (0, 0), beyond, barrier)
        elif fx.const_expr(way == "box out"):
            nvvm.tma_store(source, beyond, (0, 0))
        elif fx.const_expr(way == "bytes in"):
            nvvm.bulk_load(words, beyond, 128, barrier)
        else:
            nvvm.bulk_store(beyond, words, 128)

    with pytest.raises(RuntimeError, match=r"leaves the block's shared memory(.|\n)*allocate as many bytes") as error:
        run(body, np.zeros((8, 16), np.int32), np.zeros(64, np.int32), threads=1,
            maps=lambda a, b: (nvvm.make_tensor_map(a, (4, 8), "none"), b))  # fmt: skip
    assert Path(__file__).name in str(error.value)


def test_bytes_that_a_bulk_copy_cannot_move_are_refused() -> None:
    a = numbers((64,), np.int32)

    def odd(a: fx.Tensor) -> None:
        nvvm.bulk_store(Shared().words(64), a, 24)

    def inside(a: fx.Tensor) -> None:
        words = Shared().words(64)
        nvvm.bulk_store(words, words, 32)

    def shifted(a: fx.Tensor) -> None:
        nvvm.bulk_store(Shared().words(64), fx.get_iter(a) + 1, 32)

    with pytest.raises(ValueError, match="a multiple of 16 bytes, got 24"):
        run(odd, a)
    with pytest.raises(RuntimeError, match="a bulk copy cannot reach these bytes"):
        run(shifted, a)
    with pytest.raises(TypeError, match="the destination of a bulk copy must lie in global memory"):
        run(inside, a)


# What is refused -------------------------------------------------------------------------------------


def make(tensor: Any, box: Any, mode: str = "none") -> None:
    """Make a map and do nothing with it."""

    def maps(a: Any) -> tuple[Any, ...]:
        return (nvvm.make_tensor_map(a, box, mode),)

    def body(source: fx.Tensor) -> None:
        nvvm.prefetch_tensor_map(source)

    run(body, tensor, threads=1, maps=maps)


@pytest.mark.parametrize(
    ("box", "mode", "says"),
    [
        ((4,), "none", "must have an int for each of the 2 modes"),
        ((4, 300), "none", "spans 1 to 256 elements a mode"),
        ((0, 8), "none", "spans 1 to 256 elements a mode"),
        ((4, 3), "none", "a TMA box row is 12 bytes; it must be a multiple of 16"),
        ((4, 64), "128B", "a box row of 256 bytes does not fit the 128B swizzle"),
        ((4, 16), "32B", "a box row of 64 bytes does not fit the 32B swizzle"),
        ((4, 16), "128B", "a box row of 64 bytes does not fit the 128B swizzle"),
        ((4, 8), "256B", "unknown swizzle mode '256B'"),
    ],
)
def test_boxes_that_cannot_be(box: Any, mode: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make(numbers((32, 64), np.float32), box, mode)


def test_a_promotion_that_cannot_be() -> None:
    @flyc.jit
    def launch(a: fx.Tensor):
        nvvm.make_tensor_map(a, (4, 8), "none", l2_promotion="512B")

    with pytest.raises(ValueError, match=r"unknown promotion '512B' in L2(.|\n)*use none, 64B, 128B, 256B"):
        launch(np.zeros((8, 32), np.float32))


def test_a_stride_known_while_compiling_is_checked_then() -> None:
    @flyc.jit
    def launch(a: fx.Tensor):
        fixed = fx.make_view(fx.get_iter(a), fx.make_layout((8, 30), (30, 1)))
        nvvm.make_tensor_map(fixed, (4, 8), "none")

    with pytest.raises(ValueError, match=r"multiple of 16 bytes below 2\^40, and argument 'a' has one of 120") as error:
        launch(np.zeros((8, 30), np.float32))
    assert "pad rows to a multiple of 4 elements" in str(error.value)


@pytest.mark.parametrize(
    ("shape", "strides", "says"),
    [
        ((8, 32), (1 << 38, 1), "has one of 1099511627776"),
        ((8, 32), (-32, 1), "has one of -128"),
        ((0, 32), (32, 1), "1 to 2.32 elements a mode, and mode 0 of argument 'a' has 0"),
        (((1 << 32) + 1, 32), (0, 1), "mode 0 of argument 'a' has 4294967297"),
    ],
)
def test_numbers_known_while_compiling(shape: tuple[int, int], strides: tuple[int, int], says: str) -> None:
    @flyc.jit
    def launch(a: fx.Tensor):
        nvvm.make_tensor_map(fx.make_view(fx.get_iter(a), fx.make_layout(shape, strides)), (4, 8), "none")

    with pytest.raises(ValueError, match=says):
        launch(np.zeros((8, 32), np.float32))


def test_a_static_layout_is_checked_while_compiling() -> None:
    with pytest.raises(ValueError, match="argument 'a' has one of 120"):
        make(flyc.from_dlpack(np.zeros((16, 30), np.float32)), (4, 8))


def _tensors() -> dict[str, tuple[Array, str]]:
    """Tensors that TMA cannot take, and what is said of them."""
    whole = np.zeros(64 * 16 + 4, np.float32)
    first = -(whole.ctypes.data // 4) % 4  # so that addresses are what they are by our choice
    base = whole[first : first + 64 * 16].reshape(16, 64)
    strided = np.lib.stride_tricks.as_strided
    stride = "strides of a multiple of 16 bytes below 2.40, and mode {} of argument 'a' has one of {} bytes"
    return {
        "stride": (np.zeros((16, 30), np.float32), stride.format(0, 120)),
        "other mode": (np.zeros((30, 16), np.float32)[:, :9].T.copy().T, stride.format(1, 120)),
        "address": (base[:, 1:33], "a multiple of 16 bytes, and argument 'a' starts 4 bytes past one"),
        "address 12": (base[:, 3:35], "a multiple of 16 bytes, and argument 'a' starts 12 bytes past one"),
        "empty": (base[:0], "1 to 2.32 elements a mode, and mode 0 of argument 'a' has 0"),
        "long": (strided(base, ((1 << 32) + 1, 64), (0, 4)), "mode 0 of argument 'a' has 4294967297"),
        "far": (strided(base, (2, 64), (1 << 40, 4)), stride.format(0, 1 << 40)),
    }


@pytest.mark.parametrize("what", list(_tensors()))
def test_a_stride_or_address_known_at_the_launch_is_checked_then(what: str) -> None:
    tensor, says = _tensors()[what]
    with pytest.raises(RuntimeError, match=says):
        make(tensor, (8, 8))


@pytest.mark.parametrize("what", list(_tensors()))
@pytest.mark.parametrize("way", ["warmup", "compile", "warmup again"])
def test_compiling_for_an_array_checks_it(what: str, way: str) -> None:
    """Nothing is launched, and the array is refused all the same; also where the code was there before."""
    tensor, says = _tensors()[what]
    function = launcher(lambda source: nvvm.prefetch_tensor_map(source), 1, maps=_boxes)
    if way == "warmup again":
        good = np.zeros((16, 64), np.float32)
        function.warmup(good if tensor.strides[-1] == 4 else good.T)
    with pytest.raises(RuntimeError, match=says) as error:
        (function.warmup if way != "compile" else lambda a: flyc.compile(function, a))(tensor)
    assert "in 'one' was refused" in str(error.value)


def _boxes(a: Any) -> tuple[Any, ...]:
    return (nvvm.make_tensor_map(a, (8, 8), "none"),)


@pytest.mark.parametrize(
    ("shape", "strides", "says"),
    [
        ((16, 30), (30, 1), "mode 0 of argument 'a' has one of 120 bytes"),
        (((1 << 32) + 1, 64), (64, 1), "mode 0 of argument 'a' has 4294967297"),
        ((4, 64), (1 << 38, 1), "mode 0 of argument 'a' has one of 1099511627776 bytes"),
    ],
)
def test_compiling_for_a_description_checks_it(shape: Any, strides: Any, says: str) -> None:
    """It has no address yet, but extents and strides."""
    function = launcher(lambda source: nvvm.prefetch_tensor_map(source), 1, maps=_boxes)
    with pytest.raises(RuntimeError, match=says):
        function.warmup(flyc.TensorSpec(shape, fx.Float32, strides=strides))


def test_compiling_for_what_tma_takes() -> None:
    function = launcher(lambda source: nvvm.prefetch_tensor_map(source), 1, maps=_boxes)
    function.warmup(flyc.TensorSpec((16, 64), fx.Float32))
    function.warmup(np.zeros((16, 64), np.float32))
    flyc.compile(function, np.zeros((16, 64), np.float32))(np.zeros((16, 64), np.float32))


def test_a_tensor_without_unit_stride_is_refused() -> None:
    with pytest.raises(ValueError, match="TMA needs a mode of stride 1"):
        make(flyc.from_dlpack(np.zeros((16, 64), np.float32)[:, ::2]), (4, 8))


def test_a_type_that_tma_does_not_copy() -> None:
    with pytest.raises((ValueError, TypeError), match="TMA does not copy"):
        make(np.zeros((16, 64), np.bool_), (4, 16))


def test_memory_seen_through_another_swizzle_is_refused() -> None:
    def maps(a: Any) -> tuple[Any, ...]:
        return (nvvm.make_tensor_map(a, (8, 32), "64B"),)

    def body(source: fx.Tensor) -> None:
        shared = Shared()
        place, barrier = shared.pointer(8 * 32, fx.Int16), shared.barriers()
        other = fx.apply_swizzle(place, fx.static(fx.SwizzleType.get(3, 4, 3)))
        nvvm.tma_load(source, (0, 0), other, barrier)

    with pytest.raises(ValueError, match=r"the destination is swizzled by .*but the tensor map by .*64B"):
        run(body, numbers((16, 64), np.int16), threads=1, maps=maps)


def test_a_map_is_made_outside_the_kernel_and_used_inside() -> None:
    def body(a: fx.Tensor) -> None:
        nvvm.make_tensor_map(a, (4, 8), "none")

    with pytest.raises(ValueError, match="a tensor map is made in the jit function"):
        run(body, numbers((16, 64), np.int32), threads=1)

    def direct(a: fx.Tensor) -> None:
        nvvm.tma_load(a, (0, 0), Shared().pointer(32, fx.Int32), None)

    with pytest.raises(TypeError, match="TMA takes a tensor map, got Tensor"):
        run(direct, numbers((16, 64), np.int32), threads=1)


def test_a_coordinate_has_as_many_parts_as_the_map() -> None:
    def maps(a: Any) -> tuple[Any, ...]:
        return (nvvm.make_tensor_map(a, (4, 8), "none"),)

    def body(source: fx.Tensor) -> None:
        nvvm.tma_store(source, Shared().pointer(32, fx.Int32), (0, 0, 0))

    with pytest.raises(ValueError, match="the map has 2 modes, the coordinate 3"):
        run(body, numbers((16, 64), np.int32), threads=1, maps=maps)


@pytest.mark.parametrize("pending", [-1, 1.0])
def test_the_number_of_groups_is_a_count(pending: Any) -> None:
    def body(a: fx.Tensor) -> None:
        nvvm.tma_wait_group(pending)

    with pytest.raises(ValueError, match="must be a Python int of at least 0"):
        run(body, np.zeros(1, np.int32), threads=1)
