"""Kernels that together use every instruction `fx.nvvm` has, for tests that look at PTX or have it assembled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import flydsl.expr as fx
from flydsl.target.mma_warpgroup import WGMMA_ROWS
from flydsl.target.target import parse_target
from flydsl.target.tensor_map import REDUCTIONS
from tests.unit.copies.test_bulk_copies import ELEMENTS
from tests.unit.nvvm.running import Shared, launcher, ptx
from tests.unit.nvvm.test_l2_policy import every_policy
from tests.unit.nvvm.test_wgmma import TYPES

nvvm = fx.nvvm


def synchronisation(out: fx.Tensor) -> None:
    shared = Shared()
    barrier, words, floats = shared.barriers(2), shared.words(64), shared.words(64, fx.Float32)
    thread = fx.thread_idx.x
    if thread == 0:
        nvvm.mbarrier_init(barrier, 128)
        nvvm.fence_mbarrier_init()
    nvvm.cluster_sync()
    nvvm.cluster_sync(relaxed=True)
    nvvm.setmaxnreg(40, increase=False)
    nvvm.setmaxnreg(232, increase=True)
    nvvm.griddepcontrol_wait()
    nvvm.griddepcontrol_launch_dependents()
    nvvm.mbarrier_arrive(barrier)
    nvvm.mbarrier_arrive(barrier, 1)
    nvvm.mbarrier_arrive_expect_tx(barrier, 64)
    nvvm.mbarrier_expect_tx(barrier, 64)
    nvvm.mbarrier_wait(barrier, 0)
    nvvm.mbarrier_wait(barrier, 1)
    nvvm.fence_proxy_async()
    nvvm.barrier_sync(1, 128)
    nvvm.barrier_arrive(2, 128)
    rank = nvvm.block_rank_in_cluster() + nvvm.cluster_size()
    nvvm.cluster_store(thread, words, rank)
    nvvm.cluster_store(fx.Float32(thread), floats, rank)
    for kind in (fx.Float16, fx.BFloat16, fx.Uint16, fx.Int64, fx.Float64):
        one = shared.words(64, kind)
        nvvm.cluster_store(nvvm.cluster_load(one, 1), one, rank)
    for several in (fx.Float16x2, fx.Float16x4, fx.BFloat16x8, fx.Float32x2, fx.Float32x4, fx.Int32x4, fx.Float64x2,
                    fx.Int64x2, fx.Int8x16):  # fmt: skip
        place = shared.words(64, several.dtype)
        read = nvvm.cluster_load(place, 1, several)
        nvvm.cluster_store(read, place, rank)
        nvvm.cluster_store(read, place, rank, barrier)
    nvvm.cluster_store(thread, words, rank, barrier)
    nvvm.cluster_store(fx.Int64(thread), shared.words(64, fx.Int64), rank, barrier)
    found = nvvm.cluster_load(words, 1) + fx.Int32(nvvm.cluster_load(floats, 1))
    done = fx.Int32(nvvm.mbarrier_try_wait(barrier, 0)) + fx.Int32(nvvm.elect_one())
    nvvm.bulk_prefetch(out, 64)
    nvvm.discard(out)
    nvvm.bulk_load(out, words, 64, barrier)
    nvvm.bulk_store(words, out, 64)
    for op, elems in REDUCTIONS.items():
        for elem in elems:
            nvvm.bulk_reduce(words, fx.recast_iter(ELEMENTS[elem], fx.get_iter(out)), 64, op)
    nvvm.cp_async_mbarrier_arrive(barrier)
    nvvm.mbarrier_inval(barrier)
    out[thread] = found + done


def ampere(a: fx.Tensor, out: fx.Tensor) -> None:
    """What sm_80 has too."""
    words, thread = Shared().words(64 * 8, fx.Int16), fx.thread_idx.x
    nvvm.barrier_sync(1, 64)
    nvvm.barrier_arrive(2, 64)
    total = fx.Int32(0)
    for transposed in (False, True):
        total = total + nvvm.ldmatrix(fx.get_iter(words) + thread * 8, 4, transposed=transposed)[0]
    total = total + nvvm.redux(nvvm.warp_uniform(total), "max")
    x = fx.Float32(a[thread])
    for function in (nvvm.ex2, nvvm.lg2, nvvm.rcp, nvvm.rsqrt, nvvm.tanh):
        x = function(x)
    out[thread] = total + fx.Int32(x)


def small(a: fx.Tensor, out: fx.Tensor) -> None:
    """What has intrinsics: matrix moves, fast functions, reductions over a warp."""
    words, thread = Shared().words(32 * 8, fx.Int16), fx.thread_idx.x
    row = fx.get_iter(words) + thread * 8
    total = fx.Int32(0)
    for count in (1, 2, 4):
        for transposed in (False, True):
            found = nvvm.ldmatrix(row, count, transposed=transposed)
            nvvm.stmatrix(row, [found[i] for i in range(count)], transposed=transposed)
            total = total + found[0]
    for op in ("add", "min", "max", "and", "or", "xor"):
        total = total ^ nvvm.redux(total, op)
    x = fx.Float32(a[thread])
    for function in (nvvm.ex2, nvvm.lg2, nvvm.rcp, nvvm.rsqrt, nvvm.tanh):
        x = function(x)
    out[thread] = total + fx.Int32(x) + nvvm.cvt_f16x2(nvvm.cvt_e4m3x2(x, x), fx.Float8E4M3FN).bitcast(fx.Int32)[0]


def everyone(x: fx.Tensor, table: fx.Tensor) -> None:
    """The memory of all ranks."""
    ranks = fx.Symmetric(local=x, table=table, rank=0, world=2)
    for place, kind in enumerate((fx.Float32, fx.Float16, fx.BFloat16)):
        total = nvvm.multimem_load_reduce(ranks, 16 * fx.thread_idx.x, kind)
        nvvm.multimem_store(total, ranks, 16 * fx.thread_idx.x + 1024 * place)


def boxes(rank: int) -> Any:
    """Loads, stores and reductions of boxes of a rank."""
    box = (*[2] * (rank - 1), 8)

    def body(source: fx.Tensor) -> None:
        shared = Shared()
        place, barrier = shared.pointer(1024, fx.Int32), shared.barriers()
        at = tuple(fx.block_idx.x + i for i in range(rank))
        nvvm.prefetch_tensor_map(source)
        nvvm.tma_load(source, at, place, barrier)
        nvvm.tma_load(source, at, place, barrier, multicast=3)
        nvvm.tma_store(source, place, at)
        for op in ("add", "min", "max"):
            nvvm.tma_reduce(source, place, at, op)
        nvvm.tma_commit_group()
        nvvm.tma_wait_group(1, read=True)
        nvvm.tma_wait_group(0)

    return launcher(body, 1, cluster=2, grid=2, maps=lambda a: (nvvm.make_tensor_map(a, box, "none"),))


def products(elems: tuple[str, str, str], k: int, columns: tuple[int, ...]) -> Any:
    """wgmma of one type combination at several widths, both sources."""
    (_, kind_a), (_, kind_b), (_, kind_c) = (TYPES[elem] for elem in elems)

    def body(C: fx.Tensor) -> None:
        shared = Shared()
        width = 128 // (kind_a.width // 8)
        swizzle = fx.static(fx.SwizzleType.get(3, 4, 3))
        sA = fx.make_view(fx.apply_swizzle(shared.pointer(64 * width, kind_a), swizzle),
                          fx.make_layout((64, k), (width, 1)))  # fmt: skip
        pointer_b = fx.apply_swizzle(shared.pointer(256 * width, kind_b), swizzle)
        for n in columns:
            sB = fx.make_view(pointer_b, fx.make_layout((n, k), (width, 1)))
            for source in ("shared", "register"):
                op = nvvm.Wgmma(n, k, (kind_a, kind_b), kind_c, source)
                tiled = fx.make_tiled_mma(fx.make_mma_atom(op), fx.make_layout((1, 1, 1), (0, 0, 0)))
                part = tiled.get_slice(fx.thread_idx.x)
                gC = fx.make_view(fx.get_iter(C), fx.make_layout((64, n), (n, 1)))
                given = part.partition_A(sA)
                if source == "register":
                    held = fx.make_fragment_like(given)
                    held.fill(1)
                    given = held
                acc = tiled.make_fragment_C(gC)
                acc.fill(0)
                nvvm.wgmma_fence()
                fx.gemm(tiled, acc, given, part.partition_B(sB), acc)
                nvvm.wgmma_commit_group()
                nvvm.wgmma_wait_group(0, acc)
                out = part.partition_C(gC)
                for i in range(0, fx.get_scalar(fx.size(acc)), 7):
                    out[i] = acc[i]

    return launcher(body, 1, threads=128)


def texts() -> Iterator[tuple[str, str, str]]:
    """(name, architecture, PTX) of all of them."""
    words = np.zeros(256, np.int32)
    yield "synchronisation", "sm_90a", ptx(launcher(synchronisation, 1, threads=128, grid=2, cluster=2), (words,))
    yield "small", "sm_90a", ptx(launcher(small, 2), (words, words))
    yield "everyone", "sm_90a", ptx(launcher(everyone, 2), (np.zeros(4096, np.uint8), np.zeros(3, np.int64)))
    yield "ampere", "sm_80", ptx(launcher(ampere, 2, threads=64), (words, words), "sm_80")
    for rank in range(1, 6):
        shape = (*[4] * (rank - 1), 16)
        yield f"boxes of rank {rank}", "sm_90a", ptx(boxes(rank), (np.zeros(shape, np.int32),))
    for number, row in enumerate(WGMMA_ROWS):
        out = np.zeros((64, 256), TYPES[row.elems[2]][0])
        columns = (row.columns[0], row.columns[-1 - number * len(row.columns) // len(WGMMA_ROWS)])
        yield "wgmma " + "_".join(row.elems), "sm_90a", ptx(products(row.elems, row.k, columns), (out,))
    yield from copies()
    yield from every_policy()


def copies() -> Iterator[tuple[str, str, str]]:
    """Accesses with every hint, and cp.async, on both generations."""
    from tests.unit.nvvm.test_copies import LOAD_HINTS, STORE_HINTS, copying, through_shared

    a = np.zeros(256, np.int16)
    for arch in ("sm_80", "sm_90a"):
        assert parse_target(arch).backend == "cuda"
        for hint in LOAD_HINTS:
            store = hint if hint in STORE_HINTS else "always"
            for bits in (32, 64, 128):
                yield f"{hint} {bits}", arch, ptx(launcher(copying(bits, hint, store, 30), 2), (a, a), arch)
        for bits, cache in ((32, "ca"), (64, "ca"), (128, "cg")):
            yield f"cp.async {bits}", arch, ptx(launcher(through_shared(bits, cache), 2, threads=64), (a, a), arch)
