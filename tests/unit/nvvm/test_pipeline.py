"""The ring of stages between producers and consumers: order, release across a cluster, bad arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.support import random_data
from tests.unit.nvvm.running import run

nvvm = fx.nvvm
ROUNDS = 11


@pytest.mark.parametrize("stages", [1, 2, 3, 5])
@pytest.mark.parametrize("consumers", [1, 3])
def test_threads_hand_rounds_through_the_ring(stages: int, consumers: int) -> None:
    """One warp writes words of a stage, the others each add up what they read; nobody overtakes."""

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        smem = fx.SharedAllocator()
        ring = smem.allocate(fx.Array[fx.Int32, stages * 32]).peek().view(fx.make_layout((32, stages), (1, 32)))
        pipe = nvvm.Pipeline(smem, stages=stages, consumers=consumers * 32, producers=32)
        thread, lane = fx.thread_idx.x, fx.thread_idx.x % 32
        warp = nvvm.warp_uniform(thread // 32)
        if thread == 0:
            pipe.init()
        fx.barrier()
        if warp == 0:
            state = pipe.producer_start()
            for i in range(ROUNDS):
                pipe.acquire(state)
                ring[lane, state.stage] = a[i, lane]
                pipe.commit(state)
                state = pipe.advance(state)
        else:
            state = pipe.consumer_start()
            for i in range(ROUNDS):
                pipe.wait(state)
                out[warp - 1, i, lane] = ring[31 - lane, state.stage] + warp
                pipe.release(state)
                state = pipe.advance(state)

    a = random_data.generator().integers(0, 1000, (ROUNDS, 32), np.int32)
    out = np.full((consumers, ROUNDS, 32), -1, np.int32)
    run(body, a, out, threads=32 * (consumers + 1))
    np.testing.assert_array_equal(out, a[None, :, ::-1] + np.arange(1, consumers + 1)[:, None, None])


@pytest.mark.parametrize("cluster", [1, 2, 4])
def test_boxes_are_multicast_through_the_ring(cluster: int) -> None:
    """Each block loads its share of every box for all of the cluster; a stage is free when all blocks released it."""
    share = 8 // cluster

    def body(source: fx.Tensor, out: fx.Tensor) -> None:
        smem = fx.SharedAllocator()
        place = smem.allocate(fx.Array[fx.Int32, 2 * 8 * 16, 1024]).ptr
        pipe = nvvm.Pipeline(smem, stages=2, consumers=1, cluster=cluster)
        thread, rank = fx.thread_idx.x, nvvm.block_rank_in_cluster()
        warp = nvvm.warp_uniform(thread // 32)
        if thread == 0:
            pipe.init()
        nvvm.cluster_sync()
        if warp == 0:
            if thread == 0:
                state = pipe.producer_start()
                for i in range(ROUNDS):
                    pipe.acquire(state, source.bytes * cluster)
                    at = place + (state.stage * 128 + rank * (share * 16))
                    mask = None if cluster == 1 else (1 << cluster) - 1
                    nvvm.tma_load(source, (i * 8 + rank * share, 0), at, pipe.full(state), multicast=mask)
                    state = pipe.advance(state)
        else:
            state = pipe.consumer_start()
            for i in range(ROUNDS):
                pipe.wait(state)
                words = fx.make_view(place + state.stage * 128, fx.make_layout(128, 1))
                for part in fx.range_constexpr(4):
                    out[rank, i, thread - 32 + part * 32] = words[thread - 32 + part * 32]
                nvvm.barrier_sync(1, 32)
                if thread == 32:
                    pipe.release(state)
                state = pipe.advance(state)
        nvvm.cluster_sync()

    def maps(a: Any, out: Any) -> tuple[Any, ...]:
        return nvvm.make_tensor_map(a, (share, 16), "none"), out

    a = random_data.generator().integers(0, 1000, (ROUNDS * 8, 16), np.int32)
    out = np.full((cluster, ROUNDS, 128), -1, np.int32)
    run(body, a, out, threads=64, grid=cluster, cluster=cluster, maps=maps)
    np.testing.assert_array_equal(out, np.broadcast_to(a.reshape(1, ROUNDS, 128), out.shape))


def test_a_pipeline_without_stages_is_refused() -> None:
    def body(out: fx.Tensor) -> None:
        nvvm.Pipeline(fx.SharedAllocator(), stages=0, consumers=1)

    with pytest.raises(ValueError, match="at least one stage"):
        run(body, np.zeros(1, np.int32))


@pytest.mark.parametrize("arch", ["gfx942", "gfx1250", "sm_80", "sm_90a"])
def test_kernels_for_every_target_can_ask(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    seen: list[tuple[bool, bool, int]] = []

    @flyc.jit
    def ask(a: fx.Tensor):
        seen.append((nvvm.is_target(), nvvm.has_dependent_launches(), nvvm.max_cluster_size()))

    ask(np.zeros(1, np.int32))
    none = (False, False, 1)
    expected = {"gfx942": none, "gfx1250": none, "sm_80": (True, False, 1), "sm_90a": (True, True, 16)}
    assert seen == [expected[arch]]
