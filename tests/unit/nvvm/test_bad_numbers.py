"""Numbers that no block, barrier or count has: refused while tracing where they are known, else by the kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from tests.unit.nvvm.running import Shared, run

nvvm = fx.nvvm


def _arrive_far_away(out: fx.Tensor) -> None:
    barrier = Shared().barriers()
    nvvm.mbarrier_init(barrier, 32)
    nvvm.mbarrier_arrive(barrier, out[0])


def _read_far_away(out: fx.Tensor) -> None:
    words = Shared().words(32)
    out[1] = nvvm.cluster_load(words, out[0])


def _write_far_away(out: fx.Tensor) -> None:
    words = Shared().words(32)
    nvvm.cluster_store(1, words, out[0])


@pytest.mark.parametrize("body", [_arrive_far_away, _read_far_away, _write_far_away])
@pytest.mark.parametrize(("cluster", "block"), [(None, 1), (2, 2), (2, -1), (4, 200)])
def test_a_block_outside_the_cluster(body: Callable[..., None], cluster: int | None, block: int) -> None:
    out = np.full(4, block, np.int32)
    with pytest.raises(RuntimeError, match="the cluster has no block of this number"):
        run(body, out, grid=cluster or 1, cluster=cluster)
    assert (out == block).all()


def test_a_multicast_to_a_block_outside_the_cluster() -> None:
    def maps(a: fx.Tensor, out: fx.Tensor) -> tuple[object, ...]:
        return nvvm.make_tensor_map(a, (32,), "none"), out

    def body(source: Any, out: fx.Tensor) -> None:
        shared = Shared()
        words, barrier = shared.words(32), shared.barriers()
        if fx.thread_idx.x == 0:
            nvvm.mbarrier_init(barrier, 1)
            nvvm.fence_mbarrier_init()
            nvvm.mbarrier_arrive_expect_tx(barrier, source.bytes)
            nvvm.tma_load(source, (0,), words, barrier, multicast=out[0])

    with pytest.raises(RuntimeError, match="the cluster has no block of this number"):
        run(body, np.zeros(32, np.int32), np.full(1, 0b101, np.int32), grid=2, cluster=2, maps=maps)


@pytest.mark.parametrize("number", [16, 100_000, -1])
def test_a_named_barrier_that_is_known_at_run_time_only(number: int) -> None:
    def body(out: fx.Tensor) -> None:
        nvvm.barrier_sync(out[0], 32)

    with pytest.raises(RuntimeError, match="there is no named barrier of this number"):
        run(body, np.full(1, number, np.int32))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nvvm.barrier_sync(fx.Int32(16), 32), "numbered 0 to 15, got 16"),
        (lambda: nvvm.barrier_arrive(-1, 32), "numbered 0 to 15, got -1"),
        (lambda: nvvm.barrier_sync(1, 33), "multiples of 32 threads, got 33"),
        (lambda: nvvm.barrier_sync(1, 0), "multiples of 32 threads, got 0"),
        (lambda: nvvm.mbarrier_init(Shared().barriers(), 0), "1 to 1048575 arrivals, got 0"),
        (lambda: nvvm.mbarrier_init(Shared().barriers(), 1 << 20), "1 to 1048575 arrivals, got 1048576"),
    ],
)
def test_numbers_known_while_tracing(make: Callable[[], None], message: str) -> None:
    def body(out: fx.Tensor) -> None:
        make()

    with pytest.raises(ValueError, match=message):
        run(body, np.zeros(1, np.int32))


@pytest.mark.parametrize(("kind", "dtype"), [(fx.Int32, np.int32), (fx.Float32, np.float32), (fx.Float64, np.float64)])
def test_blocks_that_add_into_one_tensor_lose_nothing(kind: type, dtype: type) -> None:
    """Many blocks, run by several threads, add the same box; 16-bit floats would round."""
    blocks = 4000

    def maps(out: fx.Tensor) -> tuple[object, ...]:
        return (nvvm.make_tensor_map(out, (32,), "none"),)

    def body(target: fx.Tensor) -> None:
        words = Shared().words(32, kind, 128)
        words[fx.thread_idx.x] = kind(fx.thread_idx.x)
        nvvm.fence_proxy_async()
        fx.barrier()
        if fx.thread_idx.x == 0:
            nvvm.tma_reduce(target, words, (0,), "add")
            nvvm.tma_commit_group()
            nvvm.tma_wait_group(0)

    out = np.zeros(32, dtype)
    run(body, out, grid=blocks, maps=maps)
    np.testing.assert_array_equal(out, np.arange(32) * blocks)
