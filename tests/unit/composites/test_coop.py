"""Reductions and scans over waves and workgroups, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.base import knobs
from tests.unit.composites.launching import numbers, run

REDUCTIONS: dict[str, Any] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "xor": np.bitwise_xor,
}


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("width", [None, 16, 2])
def test_warp_reduce(op: str, width: int | None) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        out[t] = fx.coop.warp_reduce(a[t], op, width=width)

    x, out = numbers(128, np.int32) % 3 + 1, np.zeros(128, np.int32)
    run(body, x, out, threads=128)
    segment = width or 64
    expected = REDUCTIONS[op].reduce(x.reshape(-1, segment), axis=1, dtype=np.int32)
    np.testing.assert_array_equal(out.reshape(-1, segment), np.tile(expected[:, None], (1, segment)))


def test_the_wave_is_the_targets() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        out[t] = fx.coop.warp_reduce(a[t], fx.ReductionOp.ADD)

    x, out = numbers(64, np.int32), np.zeros(64, np.int32)
    with knobs.scope({knobs.ARCH: "gfx1201"}):
        run(body, x, out)
    np.testing.assert_array_equal(out, np.repeat(x.reshape(2, 32).sum(axis=1), 32))


@pytest.mark.parametrize("width", [None, 8])
def test_warp_scans(width: int | None) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        inclusive, exclusive, aggregate = fx.coop.warp_scan_with_aggregate(a[t], "add", width=width)
        out[t, 0], out[t, 1], out[t, 2] = inclusive, exclusive, aggregate
        out[t, 3] = fx.coop.warp_inclusive_scan(a[t], "max", width=width, init=50)
        out[t, 4] = fx.coop.warp_exclusive_scan(a[t], "add", width=width, init=7)
        out[t, 5] = fx.coop.warp_scan(a[t], lambda p, q: q, width=width, init=-1)[1]

    x, out = numbers(64, np.int32), np.zeros((64, 6), np.int32)
    run(body, x, out)
    rows = x.reshape(-1, width or 64)
    sums = np.cumsum(rows, axis=1)
    np.testing.assert_array_equal(out[:, 0], sums.reshape(-1))
    np.testing.assert_array_equal(out[:, 1], (sums - rows).reshape(-1))
    np.testing.assert_array_equal(out[:, 2], np.repeat(sums[:, -1], rows.shape[1]))
    np.testing.assert_array_equal(out[:, 3], np.maximum(np.maximum.accumulate(rows, axis=1), 50).reshape(-1))
    np.testing.assert_array_equal(out[:, 4], (sums - rows + 7).reshape(-1))
    previous = np.concatenate([np.full((len(rows), 1), -1), rows[:, :-1]], axis=1)
    np.testing.assert_array_equal(out[:, 5], previous.reshape(-1), "lane order, for a function that does not commute")


@pytest.mark.parametrize("threads", [64, 256, 1024, 100, 7, 1])
def test_block_reduce(threads: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        block = fx.coop.BlockReduce(fx.Int32)
        out[t, 0] = block.sum(a[t])
        out[t, 1] = block.max(a[t])
        out[t, 2] = block.reduce(a[t], lambda p, q: fx.min(p, q))

    x, out = numbers(threads, np.int32), np.zeros((threads, 3), np.int32)
    run(body, x, out, threads=threads)
    np.testing.assert_array_equal(out, np.tile([x.sum(), x.max(), x.min()], (threads, 1)))


def test_block_reduce_with_storage_of_its_own_and_by_raking() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        shared = fx.SharedAllocator()
        raking = fx.coop.BlockReduceAlgorithm.RAKING
        place = shared.allocate(fx.coop.BlockReduce.storage_type(fx.Float32, raking))
        out[t] = fx.coop.BlockReduce(fx.Float32, algorithm=raking, storage=place)(a[t], "add")
        assert shared.allocated_bytes == 128 * 4

    x, out = numbers(128), np.zeros(128, np.float32)
    run(body, x, out, threads=128)
    np.testing.assert_allclose(out, np.full(128, x.sum()), rtol=1e-5)


@pytest.mark.parametrize("threads", [64, 256, 100, 7])
def test_block_scan(threads: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        scan = fx.coop.BlockScan(fx.Int32)
        inclusive, aggregate = scan.inclusive_with_aggregate(a[t], "add")
        out[t, 0], out[t, 1] = inclusive, aggregate
        out[t, 2] = scan.exclusive(a[t], "add")
        out[t, 3] = scan.exclusive(a[t], lambda p, q: q, init=-5)
        out[t, 4] = scan.inclusive(a[t], "min", init=20)

    x, out = numbers(threads, np.int32), np.zeros((threads, 5), np.int32)
    run(body, x, out, threads=threads)
    sums = np.cumsum(x)
    np.testing.assert_array_equal(out[:, 0], sums)
    np.testing.assert_array_equal(out[:, 1], np.full(threads, sums[-1]))
    np.testing.assert_array_equal(out[:, 2], sums - x)
    np.testing.assert_array_equal(out[:, 3], np.concatenate([[-5], x[:-1]]))
    np.testing.assert_array_equal(out[:, 4], np.minimum(np.minimum.accumulate(x), 20))


def test_functions_that_do_not_commute() -> None:
    """The last number that is not zero, over segments of lanes and over workgroups, whole waves or not."""

    def later(a: Any, b: Any) -> Any:
        return (b != 0).select(b, a)

    def last(row: Any) -> int:
        return int(row[row != 0][-1])

    for threads in (64, 256, 100, 7):

        def body(a: fx.Tensor, out: fx.Tensor) -> None:
            t = fx.thread_idx.x
            out[t, 0] = fx.coop.BlockReduce(fx.Int32).reduce(a[t], later)
            out[t, 1] = fx.coop.warp_reduce(a[t], later, width=4)
            out[t, 2] = fx.coop.warp_reduce(a[t], later, width=4, stride=2)

        x, out = np.arange(1, threads + 1, dtype=np.int32), np.zeros((threads, 3), np.int32)
        x[3 * threads // 4 :] = 0
        x[::4] = np.arange(1000, 1000 + len(x[::4]))
        run(body, x, out, threads=threads)
        np.testing.assert_array_equal(out[:, 0], np.full(threads, last(x)))
        for row, found in zip(x[: threads // 4 * 4].reshape(-1, 4), out[: threads // 4 * 4, 1:].reshape(-1, 4, 2)):
            np.testing.assert_array_equal(found[:, 0], np.full(4, last(row)))
            pairs = [last(row[k::2]) if row[k::2].any() else 0 for k in (0, 1)]
            np.testing.assert_array_equal(found[:, 1], np.tile(pairs, 2))


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda v: fx.coop.warp_reduce(v, "median"), ValueError, "unknown operation 'median'"),
    (lambda v: fx.coop.warp_reduce(v, "add", width=12), ValueError, "power of two of at most 64, got 12"),
    (lambda v: fx.coop.warp_reduce(v, "add", width=128), ValueError, "power of two of at most 64, got 128"),
    (lambda v: fx.coop.warp_exclusive_scan(v, lambda a, b: a), ValueError, "needs init="),
    (
        lambda v: fx.coop.BlockScan[fx.Int32, 64].exclusive(v, lambda a, b: a),
        ValueError,
        "this scan with a function of your own needs init=",
    ),
    (lambda v: fx.coop.BlockReduce(int), TypeError, "needs an fx number type"),
    (
        lambda v: fx.coop.BlockReduce(fx.Int32, algorithm=fx.coop.BlockReduceAlgorithm.WARP_REDUCTIONS),
        ValueError,
        "8 threads is no whole number of waves of 64",
    ),
    (
        lambda v: fx.coop.BlockScan(fx.Int32, storage=fx.SharedAllocator().allocate(fx.Array[fx.Float32, 4])),
        TypeError,
        r"needs storage for Array\[Int32, 1\]",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED, ids=[row[2][:30] for row in REFUSED])
def test_what_is_refused(call: Any, error: type[Exception], message: str) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        call(a[fx.thread_idx.x])

    with pytest.raises(error, match=message):
        run(body, numbers(8, np.int32), numbers(8, np.int32), threads=8)
