"""The copy engine without a map through `fx.copy`: runs in, out and combined; and `cp.async` that tells mbarriers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError
from flydsl.target.tensor_map import REDUCTIONS
from tests.unit.nvvm.running import Shared, launcher, ptx, run

nvvm = fx.nvvm
ROWS, COLUMNS, PAD = 3, 16, 16
TYPES: dict[str, Any] = {
    "ui32": np.uint32, "i32": np.int32, "ui64": np.uint64, "i64": np.int64, "f16": np.float16,
    "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
ELEMENTS = {"ui32": fx.Uint32, "i32": fx.Int32, "ui64": fx.Uint64, "i64": fx.Int64, "f16": fx.Float16,
            "bf16": fx.BFloat16, "f32": fx.Float32, "f64": fx.Float64}  # fmt: skip


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


def combining(elem: str, op: str) -> Any:
    """Rows of a matrix into padded rows of shared memory, and from there combined into another matrix, twice."""
    dtype = ELEMENTS[elem]

    def body(a: fx.Tensor, b: fx.Tensor) -> None:
        shared = Shared()
        space, barrier = shared.pointer(ROWS * (COLUMNS + PAD), dtype), shared.barriers()
        tile = fx.make_view(space, fx.make_layout((ROWS, COLUMNS), (COLUMNS + PAD, 1)))
        source, target = (fx.make_view(fx.get_iter(t), fx.make_layout((ROWS, COLUMNS), (COLUMNS, 1))) for t in (a, b))
        if fx.thread_idx.x == 0:
            nvvm.mbarrier_init(barrier, 1)
            nvvm.fence_mbarrier_init()
            nvvm.mbarrier_arrive_expect_tx(barrier, ROWS * COLUMNS * dtype.width // 8)
            fx.copy(nvvm.BulkLoad(), source, tile, barrier=barrier)
        fx.barrier()
        nvvm.mbarrier_wait(barrier, 0)
        if fx.thread_idx.x == 0:
            fx.copy(nvvm.BulkReduce(op), tile, target)
            nvvm.tma_commit_group()
            nvvm.tma_wait_group(0, read=True)
            tile[0, None].store(fx.zeros_like(tile[0, None].load()))  # the engine has read what it combines
            nvvm.tma_wait_group(0)

    return body


@pytest.mark.parametrize(("op", "elem"), [(op, elem) for op, elems in REDUCTIONS.items() for elem in elems])
def test_runs_are_combined(op: str, elem: str, rng: np.random.Generator) -> None:
    a, b = (rng.integers(0, 50, (ROWS, COLUMNS)).astype(TYPES[elem]) for _ in range(2))
    combine = {"add": lambda x, y: x + y, "min": np.minimum, "max": np.maximum}[op]
    want = combine(a, b)
    run(combining(elem, op), a, b, threads=32)
    np.testing.assert_array_equal(b, want)


def test_each_reduction_is_one_instruction_a_row() -> None:
    names = {"f16": "add.noftz.f16", "f32": "add.f32", "ui32": "add.u32"}
    for elem, name in names.items():
        x = np.zeros((ROWS, COLUMNS), TYPES[elem])
        text = ptx(launcher(combining(elem, "add"), 2, threads=32), (x, x))
        assert text.count(f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{name}") == ROWS


def test_a_store_of_what_is_contiguous_on_both_sides_is_one_copy(rng: np.random.Generator) -> None:
    def body(a: fx.Tensor, b: fx.Tensor) -> None:
        space = Shared().pointer(512, fx.Int32)
        tile = fx.make_view(space, fx.make_layout((16, 32), (32, 1)))
        thread = fx.thread_idx.x
        fx.copy(fx.make_view(fx.get_iter(a) + thread * 16, fx.make_layout(16, 1)),
                fx.make_view(space + thread * 16, fx.make_layout(16, 1)))  # fmt: skip
        nvvm.fence_proxy_async()
        fx.barrier()
        if thread == 0:
            fx.copy(nvvm.BulkStore(), tile, fx.make_view(fx.get_iter(b), fx.make_layout((16, 32), (32, 1))))
            nvvm.tma_commit_group()
            nvvm.tma_wait_group(0)

    a, b = rng.integers(-9, 9, 512).astype(np.int32), np.full(520, -1, np.int32)
    run(body, a, b, threads=32)
    assert (b[:512] == a).all() and (b[512:] == -1).all()
    assert ptx(launcher(body, 2, threads=32), (a, b)).count("cp.async.bulk.global.shared::cta.bulk_group") == 1


# cp.async on mbarriers -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", ["", "7"])
def test_one_warp_loads_by_cp_async_and_others_use(
    seed: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiles of 128 words through a ring of three; copies land as late as the waits allow, or when a seed says so."""
    if seed:
        monkeypatch.setenv("FLYDSL_ASYNC_SEED", seed)
    stages, words, tiles = 3, 128, 8

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        shared, thread = fx.SharedAllocator(), fx.thread_idx.x
        space = shared.allocate(fx.Array[fx.Int32, stages * words, 128]).ptr
        pipe = fx.pipeline.make_pipeline(
            "cp.async.mbarrier", stages=stages, allocator=shared, producers=32, consumers=64
        )
        if thread == 0:
            pipe.init()
        fx.barrier()
        warp = nvvm.warp_uniform(thread // 32)
        atom = fx.make_copy_atom(nvvm.CpAsync(128), fx.Int32)
        if warp == 0:
            write = pipe.producer_start()
            for i in range(tiles):
                pipe.acquire(write)
                source = fx.make_view(fx.get_iter(a).aligned(16) + (i * words + thread * 4), fx.make_layout(4, 1))
                place = fx.make_view(space + (write.stage * words + thread * 4), fx.make_layout(4, 1))
                fx.copy(atom, source, place)
                pipe.commit(write)
                write = pipe.advance(write)
        else:
            read, total = pipe.consumer_start(), fx.Vector.filled(2, 0, fx.Int32)
            mine = (95 - thread) * 2
            for _ in range(tiles):
                pipe.wait(read)
                total = total + fx.make_view(space + (read.stage * words + mine), fx.make_layout(2, 1)).load()
                pipe.release(read)
                read = pipe.advance(read)
            fx.make_view(fx.get_iter(out) + mine, fx.make_layout(2, 1)).store(total)

    a, out = rng.integers(-99, 99, (tiles, words)).astype(np.int32), np.full(words, 7, np.int32)
    run(body, a.reshape(-1), out, threads=96)
    np.testing.assert_array_equal(out, a.sum(0))
    text = ptx(launcher(body, 2, threads=96), (a.reshape(-1), out))
    assert text.count("cp.async.mbarrier.arrive.noinc.shared::cta.b64") == 1


# What cannot be --------------------------------------------------------------------------------


def refused(attempt: Any) -> str:
    def body(a: fx.Tensor) -> None:
        attempt(a, fx.get_iter(a), Shared().pointer(4096, fx.Float16))

    with pytest.raises(FlyDSLError) as caught:
        run(body, np.zeros(1024, np.float16))
    return str(caught.value)


def view(pointer: Any, *layout: Any) -> Any:
    return fx.make_view(pointer, fx.make_layout(*layout))


REFUSED: dict[str, tuple[Any, str, str]] = {
    "runs that are too short": (
        lambda a, g, s: fx.copy(nvvm.BulkStore(), view(s, (4, 8), (8, 1)), view(g, (4, 8), (1, 4))),
        "moves runs of a multiple of 16 bytes, and 1 element (2 bytes) of (4,8):(1,4) lie in one run in shared memory",
        "contiguous along the same mode for a multiple of 8 elements",
    ),
    "a swizzled tile": (
        lambda a, g, s: fx.copy(
            nvvm.BulkStore(),
            fx.make_view(s, fx.make_composed_layout(fx.make_swizzle(2, 3, 3), fx.make_layout((8, 32), (32, 1)))),
            view(g, (8, 32), (32, 1)),
        ),
        "moves bytes as they lie, and the view in shared memory is swizzled",
        "fx.nvvm.TmaLoad with a tensor map, which swizzles",
    ),
    "other shapes": (
        lambda a, g, s: fx.copy(nvvm.BulkStore(), view(s, (8, 32), (32, 1)), view(g, (32, 8), (8, 1))),
        "which have other shapes", "take the same tile on both sides",
    ),
    "no barrier": (
        lambda a, g, s: fx.copy(nvvm.BulkLoad(), view(g, 8, 1), view(s, 8, 1)),
        "completes a phase of an mbarrier", "barrier=pipe.full(s)",
    ),
    "a sum that the engine has not": (
        lambda a, g, s: fx.copy(nvvm.BulkReduce("mul"), view(s, 8, 1), view(g, 8, 1)),
        "no reduction 'mul'", "use add, min, max",
    ),
    "registers": (
        lambda a, g, s: fx.copy(nvvm.BulkStore(), fx.make_rmem_tensor(8, fx.Float16), view(g, 8, 1)),
        "between global and shared memory, and what should lie in shared", "fx.SharedAllocator",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_bulk_copy_cannot_do_is_refused_with_what_would_do(case: str) -> None:
    attempt, what, remedy = REFUSED[case]
    message = refused(attempt)
    assert what in message and remedy in message
