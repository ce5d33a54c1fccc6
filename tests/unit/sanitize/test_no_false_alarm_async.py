"""Right programs with asynchronous work run under every sanitizer without a word: rings, pipelines, staggered waves.

Each also runs without sanitizers, with work landing late and at times that a seed chooses, and gives the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from flydsl.kernels.gemm.hopper.plan import GemmConfig, GemmKind
from flydsl.kernels.gemm.hopper_gemm import build_hopper_gemm
from tests.unit.nvvm.running import run
from tests.unit.sanitize import planted_async_products as products
from tests.unit.sanitize.planted_async_copies import box_of, integers, unwritten

nvvm, rocdl = fx.nvvm, fx.rocdl


def everyhow(target: str, attempt: Callable[[], None]) -> None:
    """Run a program with every check, and without any at three times."""
    with knobs.scope({knobs.ARCH: target, knobs.RUNTIME_KIND: "host"}):
        with flyc.sanitize():
            attempt()
        for seed in (0, 1, 5):
            with knobs.scope({knobs.ASYNC_SEED: seed}):
                attempt()


# Rings -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("rounds", [1, 5])
def test_ring_of_asynchronous_copies(target: str, stages: int, rounds: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        ring = (
            fx.SharedAllocator()
            .allocate(fx.Array[fx.Int32, 64 * stages])
            .peek()
            .view(fx.make_layout((64, stages), (1, 64)))
        )
        atom = fx.make_copy_atom(nvvm.CpAsync(32, "ca"), fx.Int32)

        def fetch(step: int) -> None:
            if fx.const_expr(step < rounds):
                source = fx.logical_divide(a, fx.make_layout(1, 1))[None, t + step * 64]
                place = fx.logical_divide(ring[None, step % stages], fx.make_layout(1, 1))[None, t]
                fx.copy_atom_call(atom, source, place)
            nvvm.cp_async_commit_group()

        for step in fx.range_constexpr(stages - 1):
            fetch(step)
        total = fx.Int32(0)
        for step in fx.range_constexpr(rounds):
            fetch(step + stages - 1)
            nvvm.cp_async_wait_group(stages - 1)
            fx.barrier()
            total = total + ring[63 - t, step % stages]
            fx.barrier()
        out[t] = total

    def attempt() -> None:
        a, out = integers(64 * rounds), unwritten(64)
        run(body, a, out, threads=64)
        np.testing.assert_array_equal(out, a.reshape(rounds, 64).sum(0)[::-1])

    everyhow(target, attempt)


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
@pytest.mark.parametrize("waves", [1, 2])
@pytest.mark.parametrize("how", ["count", "barrier", "bare"])
def test_ring_of_copies_into_lds(target: str, waves: int, how: str) -> None:
    """A wave's copies are done by its count, or by a barrier that orders memory."""
    threads = 64 * waves

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        ring = (
            fx.SharedAllocator().allocate(fx.Array[fx.Int32, 2 * threads]).peek().view(fx.make_layout(2 * threads, 1))
        )
        total = fx.Int32(0)
        for step in fx.range_constexpr(5):
            if fx.const_expr(step < 4):
                place = fx.get_iter(ring) + (step % 2 * threads + t // 64 * 64)
                rocdl.buffer_load_to_lds(a, place, 4, (t + step * threads) * 4)
            if fx.const_expr(step > 0):
                if fx.const_expr(how == "barrier"):
                    fx.barrier()
                else:
                    rocdl.s_waitcnt(vmcnt=1 if how == "count" and step < 4 else 0)
                    rocdl.s_barrier()
                total = total + ring[(step - 1) % 2 * threads + threads - 1 - t]
                fx.barrier()
        out[t] = total

    def attempt() -> None:
        a, out = integers(4 * threads), unwritten(threads)
        run(body, a, out, threads=threads)
        np.testing.assert_array_equal(out, a.reshape(4, threads).sum(0)[::-1])

    everyhow(target, attempt)


@pytest.mark.parametrize("rounds", [1, 2, 4])
def test_tiles_of_the_tensor_data_mover_take_turns(rounds: int) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        held = (
            fx.SharedAllocator().allocate(fx.Array[fx.Int32, 256]).peek().view(fx.make_layout((4, 32, 2), (32, 1, 128)))
        )
        total = fx.Int32(0)
        for step in fx.range_constexpr(rounds + 1):
            if fx.const_expr(step < rounds):
                tile = fx.make_view(fx.get_iter(a) + step * 128, fx.make_layout((4, 32), (32, 1)))
                fx.copy(rocdl.make_tdm_atom(tile, [None, None], num_warps=1), tile, held[None, None, step % 2])
            if fx.const_expr(step > 0):
                rocdl.s_wait_tensorcnt(1 if step < rounds else 0)
                fx.barrier()
                for row in fx.range_constexpr(4):
                    total = total + held[row, 31 - t, (step - 1) % 2]
        out[t] = total

    def attempt() -> None:
        a, out = integers(128 * rounds), unwritten(32)
        run(body, a, out, threads=32)
        np.testing.assert_array_equal(out, a.reshape(-1, 32).sum(0)[::-1])

    everyhow("gfx1250", attempt)


# Warp-specialised pipelines --------------------------------------------------------------------------


@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("consumers", [1, 2])
@pytest.mark.parametrize("engine", ["tma", "bulk"])
def test_producer_and_consumers(stages: int, consumers: int, engine: str) -> None:
    rounds = 4

    def body(a: Any, out: fx.Tensor) -> None:
        smem = fx.SharedAllocator()
        place = smem.allocate(fx.Array[fx.Int32, stages * 64, 1024]).ptr
        pipe = nvvm.Pipeline(smem, stages=stages, consumers=consumers)
        t = fx.thread_idx.x
        warp = nvvm.warp_uniform(t // 32)
        if t == 0:
            pipe.init()
        fx.barrier()
        if warp == 0:
            if t == 0:
                state = pipe.producer_start()
                for i in range(rounds):
                    pipe.acquire(state, 256)
                    at = place + state.stage * 64
                    if fx.const_expr(engine == "tma"):
                        nvvm.tma_load(a, (i * 4, 0), at, pipe.full(state))
                    else:
                        nvvm.bulk_load(fx.get_iter(a) + i * 64, at, 256, pipe.full(state))
                    state = pipe.advance(state)
        else:
            state = pipe.consumer_start()
            for i in range(rounds):
                pipe.wait(state)
                words = fx.make_view(place + state.stage * 64, fx.make_layout(64, 1))
                for j in fx.range_constexpr(2):
                    out[warp - 1, i, t % 32 + j * 32] = words[63 - t % 32 - j * 32]
                nvvm.barrier_sync(warp, 32)
                if t % 32 == 0:
                    pipe.release(state)
                state = pipe.advance(state)

    def attempt() -> None:
        a, out = integers(16, 16), unwritten(consumers, rounds, 64)
        given = a if engine == "tma" else a.reshape(-1)
        maps = box_of(4, 16) if engine == "tma" else None
        run(body, given, out, threads=32 * (consumers + 1), maps=maps)
        np.testing.assert_array_equal(out, np.broadcast_to(a.reshape(1, 4, 64)[..., ::-1], out.shape))

    everyhow("sm_90a", attempt)


@pytest.mark.parametrize("boxes", [1, 2])
@pytest.mark.parametrize("reduces", [False, True])
def test_stores_leave_in_turn(boxes: int, reduces: bool) -> None:
    def body(out: Any, a: fx.Tensor) -> None:
        t, smem = fx.thread_idx.x, fx.SharedAllocator()
        held = smem.allocate(fx.Array[fx.Int32, boxes * 32, 1024]).ptr
        for step in fx.range_constexpr(4):
            mine = held + step % boxes * 32
            if t == 0:
                nvvm.tma_wait_group(boxes - 1, read=True)
            fx.barrier()
            fx.make_view(mine, fx.make_layout(32, 1))[t] = a[step * 32 + t]
            nvvm.fence_proxy_async()
            fx.barrier()
            if t == 0:
                if fx.const_expr(reduces):
                    nvvm.tma_reduce(out, mine, (step * 2, 0))
                else:
                    nvvm.tma_store(out, mine, (step * 2, 0))
                nvvm.tma_commit_group()
        if t == 0:
            nvvm.tma_wait_group(0, read=True)

    def attempt() -> None:
        out, a = np.zeros((8, 16), np.int32), integers(128)
        run(body, out, a, threads=32, maps=box_of(2, 16))
        np.testing.assert_array_equal(out.reshape(-1), a)

    everyhow("sm_90a", attempt)


# Products --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("open_groups", [0, 1])
@pytest.mark.parametrize("fences", ["once", "always"])
def test_products_in_flight(steps: int, open_groups: int, fences: str) -> None:
    """Groups stay open, accumulators go round a loop; further products of the same accumulators need no fence."""

    def body(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor) -> None:
        product, _, _ = products.prepared(a, b)
        acc = product.tiled.make_fragment_C(products.plain(c))
        out = product.out(products.plain(c))
        for i in fx.range_constexpr(4):
            acc[i] = 0.0
        nvvm.wgmma_fence()
        for _ in range(fx.Int32(steps)):
            if fx.const_expr(fences == "always"):
                nvvm.wgmma_fence()
            product.add(acc)
            nvvm.wgmma_commit_group()
            nvvm.wgmma_wait_group(open_groups, acc)
        nvvm.wgmma_wait_group(0, acc)
        for i in fx.range_constexpr(4):
            out[i] = acc[i]

    def attempt() -> None:
        a, b, c = products.matrices()
        run(body, a, b, c, threads=products.THREADS)
        products.check(c, a, b, steps)

    everyhow("sm_90a", attempt)


@pytest.mark.parametrize(
    "config", [GemmConfig(64, 64, 1, 2), GemmConfig(64, 64, 1, 3), GemmConfig(64, 32, 1, 3, 2, "k")], ids=str
)
def test_hopper_gemm(config: GemmConfig, rng: np.random.Generator) -> None:
    a, b = (rng.integers(-3, 4, (rows, 256)).astype(np.float16) for rows in (128, 128))
    c = np.full((128, 128), np.nan, np.float16)
    with knobs.scope({knobs.ARCH: "sm_90a", knobs.RUNTIME_KIND: "host"}), flyc.sanitize():
        gemm = build_hopper_gemm(GemmKind(fx.Float16, fx.Float16, fx.Float16), config, 4)
        gemm(a, b.T, c, None, None, None, None, 1.0, 0.0)
    np.testing.assert_array_equal(c.astype(np.float64), (a.astype(np.float64) @ b.astype(np.float64).T))


# Waves that are not in step ----------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["gfx942", "gfx1201"])
@pytest.mark.parametrize("waves", [2, 4])
def test_staggered_waves(target: str, waves: int) -> None:
    """Half of the waves arrive once more before and the others once more behind, as ping-pong schedules do."""

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        size = fx.num_warp_threads()
        late = t // size >= waves // 2
        if late:
            rocdl.s_barrier()
        out[t] = a[t] + 1
        rocdl.s_barrier()
        if not late:
            rocdl.s_barrier()

    threads = waves * (64 if target == "gfx942" else 32)

    def attempt() -> None:
        a, out = integers(threads), unwritten(threads)
        run(body, a, out, threads=threads)
        np.testing.assert_array_equal(out, a + 1)

    everyhow(target, attempt)
