"""Named barriers, clusters, distributed shared memory and elections on the virtual Hopper GPU."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.backends.host import compile
from flydsl.backends.host.fibers import COUNTERS
from flydsl.backends.host.slots import SLOT_ALIGN
from tests.support import random_data
from tests.unit.nvvm.running import Shared, Where, launcher, ptx, run

nvvm = fx.nvvm
host_module = compile.host_module


def test_pairs_of_warps_meet_at_barriers_of_their_own() -> None:
    """Warps 0 and 2 use one barrier, 1 and 3 another; each pair goes round a different number of times."""

    def body(out: fx.Tensor) -> None:
        words = Shared().words(128)
        thread = fx.thread_idx.x
        warp = nvvm.warp_uniform(thread // 32)
        team = warp % 2
        words[thread] = thread
        for i in range(team * 3 + 2):
            nvvm.barrier_sync(1 + team, 64)
            seen = words[(thread + 64) % 128]
            nvvm.barrier_sync(1 + team, 64)
            words[thread] = seen * 2 + i
        out[thread] = words[thread]

    out = np.full(128, -1, np.int32)
    run(body, out, threads=128)
    expected = np.arange(128)
    for team in range(2):
        mine = expected.reshape(4, 32)[[team, team + 2]].copy()
        for i in range(team * 3 + 2):
            mine = mine[::-1] * 2 + i
        expected.reshape(4, 32)[[team, team + 2]] = mine
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("dynamic", [0, 8, 1001])
def test_values_kept_at_a_barrier_lie_at_multiples_of_their_alignment(
    dynamic: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrays of threads lie behind shared memory and its counters. x86-64 stops an access that is not as aligned as it
    says; other processors do not, so the text is looked at."""
    texts: list[str] = []
    monkeypatch.setattr(
        compile, "host_module", lambda *given: (made := host_module(*given), texts.append(made.text))[0]
    )
    monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "0")

    @flyc.kernel
    def kernel(a: fx.Tensor, out: fx.Tensor):
        thread = fx.thread_idx.x
        four = fx.Vector.load(fx.Vector.make_type(4, fx.Float32), a, [thread * 4])
        nvvm.barrier_sync(1, 64)
        four.store(out, [thread * 4])

    @flyc.jit
    def run_it(a: fx.Tensor, out: fx.Tensor):
        kernel(a, out).launch(block=(64, 1, 1), smem=dynamic)

    a, out = random_data.generator().standard_normal(256).astype(np.float32), np.zeros(256, np.float32)
    run_it(a, out)
    np.testing.assert_array_equal(out, a)
    # Shared memory's end, rounded up to 16, then the counters, then arrays.
    rounded = re.search(r"(%\S+) = and i64 %\S+, -16\n\s*(%\S+) = getelementptr i8, ptr %scratch, i64 \1\n", texts[0])
    assert rounded is not None and COUNTERS % SLOT_ALIGN == 0
    counters = rounded[2]
    origin = re.search(rf"(%\S+) = getelementptr i8, ptr {counters}, i64 {COUNTERS}\n", texts[0])
    assert origin is not None
    assert re.search(rf"getelementptr \[16 x i8\], ptr {origin[1]}, ", texts[0])


def test_arriving_does_not_wait() -> None:
    """Warp 0 produces and goes on; warp 1 waits for it, later rounds the other way round."""

    def body(out: fx.Tensor) -> None:
        words = Shared().words(32)
        thread = fx.thread_idx.x
        warp = nvvm.warp_uniform(thread // 32)
        if warp == 0:
            for i in range(4):
                nvvm.barrier_sync(2, 64)  # the words were read
                words[thread] = thread * 10 + i
                nvvm.barrier_arrive(1, 64)
        else:
            for i in range(4):
                nvvm.barrier_arrive(2, 64)
                nvvm.barrier_sync(1, 64)
                out[i, thread - 32] = words[thread - 32]

    out = np.full((4, 32), -1, np.int32)
    run(body, out, threads=64)
    np.testing.assert_array_equal(out, np.arange(32) * 10 + np.arange(4)[:, None])


def test_ampere_has_named_barriers_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_80")
    test_pairs_of_warps_meet_at_barriers_of_their_own()
    test_arriving_does_not_wait()


@pytest.mark.parametrize("threads", [33, 48, 100])
def test_a_short_warp_counts_as_a_whole_one(threads: int) -> None:
    """Named barriers count warps, the last of a block too, however few lanes it has; barrier 0 is the block's own."""

    def body(out: fx.Tensor) -> None:
        words, thread = Shared().words(threads), fx.thread_idx.x
        words[thread] = thread
        whole = -(-threads // 32) * 32
        for number in fx.range_constexpr(2):
            nvvm.barrier_sync(number, whole)
            seen = words[threads - 1 - thread]
            fx.barrier()
            words[thread] = seen + number
        if nvvm.warp_uniform(thread // 32) == 0:
            nvvm.barrier_sync(2, whole)
        else:
            nvvm.barrier_arrive(2, whole)
        out[thread] = words[thread]

    out = np.full(threads, -1, np.int32)
    run(body, out, threads=threads)
    np.testing.assert_array_equal(out, np.arange(threads) + 1)


def test_barriers_have_numbers_up_to_15() -> None:
    def body(out: fx.Tensor) -> None:
        nvvm.barrier_sync(16, 32)

    with pytest.raises(ValueError, match="named barriers are numbered 0 to 15, got 16"):
        run(body, np.zeros(1, np.int32))


def test_a_named_barrier_that_nobody_completes_is_reported() -> None:
    def body(out: fx.Tensor) -> None:
        if nvvm.warp_uniform(fx.thread_idx.x // 32) == 0:
            nvvm.barrier_sync(3, 64)
        out[fx.thread_idx.x] = 1

    with pytest.raises(RuntimeError, match="waits here forever"):
        run(body, np.zeros(64, np.int32), threads=64)


@pytest.mark.parametrize("blocks", [2, 3, 4, 8])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_blocks_read_and_write_each_others_shared_memory(blocks: int, dtype: Any) -> None:
    kind = fx.Float32 if dtype is np.float32 else fx.Int32

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        shared = Shared()
        mine, got = shared.words(64, kind), shared.words(64, kind)
        thread, rank = fx.thread_idx.x, nvvm.block_rank_in_cluster()
        mine[thread] = a[fx.block_idx.x, thread]
        nvvm.cluster_sync()
        left = (rank + 1) % blocks
        read = nvvm.cluster_load(fx.get_iter(mine) + thread, left)
        nvvm.cluster_store(read * 2, fx.get_iter(got) + (63 - thread), (rank + 2) % blocks)
        nvvm.cluster_sync()
        out[fx.block_idx.x, thread] = got[thread] + kind(rank * 1000 + nvvm.cluster_size())

    clusters = 3
    a = random_data.generator().integers(0, 500, (blocks * clusters, 64)).astype(dtype)
    out = np.full_like(a, -1)
    run(body, a, out, threads=64, grid=blocks * clusters, cluster=(blocks, 1, 1))
    expected = np.empty_like(a)
    for first in range(0, len(a), blocks):
        for rank in range(blocks):
            sent = a[first + (rank + 1) % blocks] * 2
            expected[first + (rank + 2) % blocks] = sent[::-1]
        expected[first : first + blocks] += (np.arange(blocks) * 1000 + blocks)[:, None].astype(dtype)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_what_other_blocks_send_completes_a_barrier(lanes: int) -> None:
    """Each of two rounds waits for its bytes alone: no barrier of the cluster is needed between them."""
    blocks, threads = 4, 32

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        shared = Shared()
        got, barriers = shared.words(2 * blocks * lanes, fx.Float32), shared.barriers(2)
        thread, rank = fx.thread_idx.x, nvvm.block_rank_in_cluster()
        if thread == 0:
            for number in fx.range_constexpr(2):
                nvvm.mbarrier_init(barriers + number, 1)
            nvvm.fence_mbarrier_init()
        nvvm.cluster_sync()
        for number in fx.range_constexpr(2):
            if thread == 0:
                nvvm.mbarrier_arrive_expect_tx(barriers + number, 4 * lanes * blocks)
            if thread < blocks:
                sent = [a[fx.block_idx.x, i] * (number + 1) for i in range(lanes)]
                value = sent[0] if lanes == 1 else fx.Vector.from_elements(sent, fx.Float32)
                place = fx.get_iter(got) + (number * blocks + rank) * lanes
                nvvm.cluster_store(value, place, thread, barriers + number)
            nvvm.mbarrier_wait(barriers + number, 0)
        if thread < 2 * blocks * lanes:
            out[fx.block_idx.x, thread] = got[thread]

    a = random_data.generator().standard_normal((2 * blocks, 4)).astype(np.float32)
    out = np.full((2 * blocks, 2 * blocks * lanes), np.nan, np.float32)
    run(body, a, out, threads=threads, grid=2 * blocks, cluster=(blocks, 1, 1))
    for block in range(2 * blocks):
        sent = a[block // blocks * blocks :][:blocks, :lanes]
        np.testing.assert_array_equal(out[block], np.concatenate([sent, 2 * sent]).ravel())


EXCHANGED: list[tuple[Any, Any, int]] = [
    *((dtype, kind, 1) for dtype, kind in (
        (np.int16, fx.Int16), (np.uint16, fx.Uint16), (np.float16, fx.Float16), (ml_dtypes.bfloat16, fx.BFloat16),
        (np.int32, fx.Int32), (np.uint32, fx.Uint32), (np.float32, fx.Float32), (np.int64, fx.Int64),
        (np.uint64, fx.Uint64), (np.float64, fx.Float64),
    )),
    *((np.float16, fx.Float16, lanes) for lanes in (2, 4, 8)),
    *((ml_dtypes.bfloat16, fx.BFloat16, lanes) for lanes in (2, 8)),
    *((np.int8, fx.Int8, lanes) for lanes in (2, 4, 8, 16)),
    *((np.float32, fx.Float32, lanes) for lanes in (1, 2, 4)),
    *((np.uint32, fx.Uint32, lanes) for lanes in (2, 4)),
    (np.float64, fx.Float64, 2), (np.int64, fx.Int64, 2),
]  # fmt: skip
"""Every width, as numbers and as vectors: NumPy's type, ours, lanes."""


@pytest.mark.parametrize(("dtype", "kind", "lanes"), EXCHANGED)
def test_every_type_and_vector_is_exchanged(dtype: Any, kind: Any, lanes: int) -> None:
    """All bits arrive, of whatever number they are."""
    blocks, threads = 4, 32
    type_ = kind if lanes == 1 else getattr(fx, f"{kind.__name__}x{lanes}")
    count = threads * lanes

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        shared = Shared()
        mine, got = shared.words(count, kind), shared.words(count, kind)
        thread, rank = fx.thread_idx.x, nvvm.block_rank_in_cluster()
        for i in fx.range_constexpr(lanes):
            mine[thread * lanes + i] = a[fx.block_idx.x, thread * lanes + i]
        nvvm.cluster_sync()
        read = nvvm.cluster_load(fx.get_iter(mine) + thread * lanes, (rank + 1) % blocks, type_)
        nvvm.cluster_store(read, fx.get_iter(got) + (threads - 1 - thread) * lanes, (rank + 2) % blocks)
        nvvm.cluster_sync()
        for i in fx.range_constexpr(lanes):
            out[fx.block_idx.x, thread * lanes + i] = got[thread * lanes + i]

    a = np.frombuffer(random_data.generator().bytes(blocks * count * np.dtype(dtype).itemsize), dtype)
    a = a.reshape(blocks, count).copy()
    out = np.zeros_like(a)
    run(body, a, out, threads=threads, grid=blocks, cluster=(blocks, 1, 1))
    expected = np.empty_like(a)
    for rank in range(blocks):
        sent = a[(rank + 1) % blocks].reshape(threads, lanes)[::-1]
        expected[(rank + 2) % blocks] = sent.reshape(count)
    bits = f"u{np.dtype(dtype).itemsize}"  # NaNs are bits, too
    np.testing.assert_array_equal(out.view(bits), expected.view(bits))


def test_a_cluster_may_have_several_axes() -> None:
    def body(out: fx.Tensor) -> None:
        words = Shared().words(1)
        x, y, _ = fx.block_idx
        words[0] = y * 10 + x
        nvvm.cluster_sync()
        total = fx.Int32(0)
        for block in fx.range_constexpr(4):
            total = total * 100 + nvvm.cluster_load(words, block)
        nvvm.cluster_sync()
        out[y, x] = total

    out = np.full((4, 4), -1, np.int32)
    run(body, out, threads=1, grid=(4, 4, 1), cluster=(2, 2, 1))
    for y in range(4):
        for x in range(4):
            at = y // 2 * 2, x // 2 * 2
            parts = [(at[0] + j) * 10 + at[1] + i for j in range(2) for i in range(2)]
            assert out[y, x] == sum(part * 100 ** (3 - k) for k, part in enumerate(parts))


def test_remote_arrivals_complete_a_barrier() -> None:
    """Every block waits until all four of its cluster arrived at its barrier."""

    def body(out: fx.Tensor) -> None:
        shared = Shared()
        words, barrier = shared.words(1), shared.barriers()
        rank = nvvm.block_rank_in_cluster()
        nvvm.mbarrier_init(barrier, 4)
        nvvm.fence_mbarrier_init()
        words[0] = 0
        nvvm.cluster_sync()
        for block in fx.range_constexpr(4):
            nvvm.mbarrier_arrive(barrier, block)
        nvvm.mbarrier_wait(barrier, 0)
        out[rank] = rank + 1
        nvvm.cluster_sync()

    out = np.zeros(4, np.int32)
    run(body, out, threads=1, grid=4, cluster=4)
    np.testing.assert_array_equal(out, [1, 2, 3, 4])


def test_blocks_show_each_other_data_by_barriers() -> None:
    """A relaxed barrier of the cluster only waits; mbarriers between fences show what was written."""

    def body(out: fx.Tensor) -> None:
        shared = Shared()
        words, barrier = shared.words(1), shared.barriers()
        rank = nvvm.block_rank_in_cluster()
        nvvm.mbarrier_init(barrier, 4)
        nvvm.fence_mbarrier_init()
        nvvm.cluster_sync(relaxed=True)
        words[0] = rank * rank + 5
        fx.fence("cluster")
        for block in fx.range_constexpr(4):
            nvvm.mbarrier_arrive(barrier, block)
        nvvm.mbarrier_wait(barrier, 0)
        fx.fence("cluster")
        out[rank] = nvvm.cluster_load(words, (rank + 1) % 4)
        nvvm.cluster_sync(relaxed=True)

    out = np.zeros(4, np.int32)
    run(body, out, threads=1, grid=4, cluster=4)
    np.testing.assert_array_equal(out, [6, 9, 14, 5])


def test_one_lane_of_a_warp_is_elected() -> None:
    def body(out: fx.Tensor) -> None:
        thread = fx.thread_idx.x
        out[thread] = fx.Int32(nvvm.elect_one())

    out = np.full(128, -1, np.int32)
    run(body, out, threads=128)
    np.testing.assert_array_equal(out.reshape(4, 32).sum(1), 1)


def test_warps_elect_apart_and_a_short_one_too() -> None:
    def body(out: fx.Tensor) -> None:
        thread = fx.thread_idx.x
        if thread // 32 != 1:
            out[thread] = fx.Int32(nvvm.elect_one())

    # A GPU gets whole warps: the manual does not say whether lanes that were never launched are waited for.
    threads = 96 if Where.gpu else 72
    out = np.full(threads, -1, np.int32)
    run(body, out, threads=threads)
    assert (out[:32].sum(), out[64:].sum()) == (1, 1)
    assert (out[32:64] == -1).all()


@pytest.mark.skipif(Where.gpu, reason="a GPU waits for ever where the virtual one tells")
def test_an_election_by_part_of_a_warp_is_refused() -> None:
    def body(out: fx.Tensor) -> None:
        thread = fx.thread_idx.x
        if thread % 2 == 0:
            out[thread] = fx.Int32(nvvm.elect_one())

    with pytest.raises(RuntimeError, match=r"elect_one\(\) is reached by only part of a warp") as error:
        run(body, np.zeros(64, np.int32), threads=64)
    assert "before the branch" in str(error.value)


def test_a_cluster_that_is_too_large_or_does_not_divide_the_grid() -> None:
    def body(out: fx.Tensor) -> None:
        out[0] = 1

    out = np.zeros(1, np.int32)
    with pytest.raises(ValueError, match=r"cluster=\(32, 1, 1\), 32 blocks; sm_90a allows 16 blocks"):
        run(body, out, grid=32, cluster=32)
    with pytest.raises(ValueError, match=r"grid=\(6, 1, 1\), which clusters of \(4, 1, 1\) do not divide"):
        run(body, out, grid=6, cluster=4)


def test_a_grid_known_at_the_launch_is_a_whole_number_of_clusters() -> None:
    @flyc.kernel
    def kernel(out: fx.Tensor):
        nvvm.cluster_sync()
        out[fx.block_idx.x] = 1

    @flyc.jit
    def launch(out: fx.Tensor, blocks: fx.Int32):
        kernel(out).launch(grid=blocks, block=32, cluster=4)

    out = np.zeros(16, np.int32)
    launch(out, 8)
    assert out.sum() == 8
    with pytest.raises(RuntimeError, match=r"the grid \(10, 1, 1\) is no whole number of clusters"):
        launch(out, 10)
    assert out.sum() == 8


def test_other_targets_have_no_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    def body(out: fx.Tensor) -> None:
        out[0] = 1

    monkeypatch.setenv("ARCH", "sm_80")
    with pytest.raises(ValueError, match="sm_80 has no clusters"):
        run(body, np.zeros(1, np.int32), grid=2, cluster=2)


def _tell_of_16_bits(out: fx.Tensor) -> None:
    shared = Shared()
    nvvm.cluster_store(1, shared.words(4, fx.Int16), 0, shared.barriers())


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (lambda out: nvvm.cluster_load(Shared().words(4, fx.Int8), 0), "16, 32, 64, 128 bits .* 1 of Int8 are 8"),
        (lambda out: nvvm.cluster_load(Shared().words(4), 0, fx.Int32x8), "8 of Int32 are 256"),
        (lambda out: nvvm.cluster_load(Shared().words(4), 0, fx.Float64x4), "4 of Float64 are 256"),
        (lambda out: nvvm.cluster_store(fx.full(3, 1, fx.Int16), Shared().words(4), 0), "3 of Int16 are 48"),
        (lambda out: nvvm.cluster_store(True, Shared().words(4, fx.Int8), 0), "1 of Int8 are 8"),
        (_tell_of_16_bits, "with an mbarrier told, .* 32 bits and more, and 1 of Int16 are 16"),
        (lambda out: nvvm.cluster_load(out, 0), "must lie in shared memory"),
        (lambda out: nvvm.cluster_load(3, 0), "what a pointer or tensor leads to, got int 3"),
        (
            lambda out: nvvm.cluster_load(
                fx.apply_swizzle(Shared().pointer(64, fx.Int32), fx.static(fx.SwizzleType.get(3, 4, 3))), 0
            ),
            "takes plain addresses",
        ),
    ],
)
def test_what_blocks_do_not_exchange(body: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        run(body, np.zeros(1, np.int32), grid=2, cluster=2)


@pytest.mark.parametrize("start", [1, 2, 3])
@pytest.mark.parametrize("writes", [False, True])
def test_vectors_that_do_not_lie_at_a_multiple_of_their_size(writes: bool, start: int) -> None:
    """A GPU ends the kernel there."""

    def body(out: fx.Tensor) -> None:
        place = fx.get_iter(Shared().words(64)) + out[0]
        nvvm.cluster_sync()
        if fx.const_expr(writes):
            nvvm.cluster_store(fx.full(4, 1, fx.Int32), place, 1)
        else:
            out[1] = nvvm.cluster_load(place, 1, fx.Int32x4)[0]
        nvvm.cluster_sync()

    with pytest.raises(RuntimeError, match="does not lie at a multiple of its size"):
        run(body, np.full(4, start, np.int32), threads=1, grid=2, cluster=2)


@pytest.mark.parametrize(
    ("meet", "instruction"),
    [
        (nvvm.cluster_sync, "barrier.cluster.arrive"),
        (lambda: nvvm.barrier_sync(1, 64), "barrier.sync.aligned"),
        (lambda: nvvm.setmaxnreg(40, increase=True), "setmaxnreg"),
        (fx.barrier, "bar"),
    ],
)
def test_what_all_threads_do_together_is_not_done_in_two_places(meet: Any, instruction: str) -> None:
    """LLVM would like to merge the branches before and behind, and to have one in each of two paths: a hang."""

    def body(out: fx.Tensor) -> None:
        words = Shared().words(4)
        if fx.thread_idx.x == 0:
            words[0] = out[1]
        meet()
        if fx.thread_idx.x == 0:
            out[0] = words[0]

    text = ptx(launcher(body, 1, threads=64, grid=2, cluster=2), (np.zeros(4, np.int32),))
    lines = [line for line in text.splitlines() if line.strip().startswith(instruction)]
    assert len(lines) == 1


@pytest.mark.parametrize("count", [8, 25, 264, 24.0, True])
def test_register_counts_that_setmaxnreg_refuses(count: Any) -> None:
    def body(out: fx.Tensor) -> None:
        nvvm.setmaxnreg(count, increase=True)

    with pytest.raises(ValueError, match="a multiple of 8 from 24 to 256"):
        run(body, np.zeros(1, np.int32))


def test_shared_memory_beyond_what_a_block_has_is_refused() -> None:
    def body(out: fx.Tensor) -> None:
        words = fx.SharedAllocator(static=False).allocate(fx.Array[fx.Int32, 58113, 16])
        out[0] = words.ptr[0]

    with pytest.raises(RuntimeError, match="needs 232452 bytes of shared memory, and sm_90a has 232448") as error:
        run(body, np.zeros(1, np.int32))
    assert "fewer stages" in str(error.value)
