"""Products of a warpgroup (wgmma) whose registers or tiles somebody touches too early."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import flydsl.expr as fx
from tests.support import random_data
from tests.unit.nvvm.running import run
from tests.unit.sanitize.planting import Planted, planted

nvvm = fx.nvvm
M, N, K, THREADS = 64, 8, 16, 128
CASES: list[Planted] = []
asynchronous = partial(planted, CASES, "async", target="sm_90a", garbage=True)
silent = partial(planted, CASES, "async", target="sm_90a")


class Product:
    """A product of 64 x 8 x 16: tiles in shared memory without swizzle, accumulators in registers."""

    def __init__(self, a: Any, b: Any) -> None:
        self.atom = fx.make_mma_atom(nvvm.Wgmma(N, K, fx.Float16, fx.Float32))
        self.tiled = fx.make_tiled_mma(self.atom, fx.make_layout((1, 1, 1), (0, 0, 0)))
        self.part = self.tiled.get_slice(fx.thread_idx.x)
        self.a, self.b = self.part.partition_A(a), self.part.partition_B(b)

    def out(self, c: Any) -> Any:
        return self.part.partition_C(c)

    def add(self, acc: Any, scale_d: int = 1) -> None:
        fx.gemm(self.tiled, acc, self.a, self.b, acc, scale_d=scale_d)


def tile(smem: Any, rows: int) -> Any:
    """A tile of rows by 16: 8x8 pieces of 128 contiguous bytes."""
    layout = fx.make_layout(((8, rows // 8), (8, 2)), ((8, 128), (1, 64)))
    return smem.allocate(fx.Array[fx.Float16, rows * K, 128]).peek().view(layout)


def plain(c: Any) -> Any:
    return fx.make_view(fx.get_iter(c), fx.make_layout((M, N), (N, 1)))


def matrices() -> tuple[Any, Any, Any]:
    rng = random_data.generator()
    a, b = (rng.integers(1, 5, (rows, K)).astype(np.float16) for rows in (M, N))
    return a, b, np.full((M, N), -7, np.float32)


def check(c: Any, a: Any, b: Any, times: int = 1) -> None:
    np.testing.assert_array_equal(c, times * (a.astype(np.float64) @ b.astype(np.float64).T))


def fill(place: Any, source: Any, rows: int) -> None:
    """The threads write a tile together; then copy engines may read it."""
    t = fx.thread_idx.x
    for part in fx.range_constexpr(max(rows * K // THREADS, 1)):
        i = part * THREADS + t
        place[i % rows, i // rows] = source[i % rows, i // rows]


def prepared(a: Any, b: Any) -> tuple[Product, Any, Any]:
    """Both tiles filled and shown to the products."""
    smem = fx.SharedAllocator()
    tiles = [tile(smem, rows) for rows in (M, N)]
    for place, source, rows in zip(tiles, (a, b), (M, N), strict=True):
        fill(place, source, rows)
    nvvm.fence_proxy_async()
    fx.barrier()
    return Product(*tiles), *tiles


@asynchronous(tensor="acc", coordinate=(0, 0, 0), other_thread=0)
def accumulators_without_a_wait(fault: int) -> None:
    def body(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor) -> None:
        product, _, _ = prepared(a, b)
        acc = product.tiled.make_fragment_C(plain(c))
        out = product.out(plain(c))
        nvvm.wgmma_fence()
        product.add(acc, 0)
        nvvm.wgmma_commit_group()
        if fx.const_expr(not fault):
            nvvm.wgmma_wait_group(0, acc)
        for i in fx.range_constexpr(4):
            out[i] = acc[i]  # FAULT

    a, b, c = matrices()
    run(body, a, b, c, threads=THREADS)
    check(c, a, b)


@asynchronous(tensor="acc", coordinate=(0, 0, 0), other_thread=0)
def products_in_no_group(fault: int) -> None:
    def body(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor) -> None:
        product, _, _ = prepared(a, b)
        acc = product.tiled.make_fragment_C(plain(c))
        out = product.out(plain(c))
        nvvm.wgmma_fence()
        product.add(acc, 0)
        if fx.const_expr(not fault):
            nvvm.wgmma_commit_group()
        nvvm.wgmma_wait_group(0, acc)
        for i in fx.range_constexpr(4):
            out[i] = acc[i]  # FAULT

    a, b, c = matrices()
    run(body, a, b, c, threads=THREADS)
    check(c, a, b)


@asynchronous(tensor="acc", coordinate=(0, 0, 0), other_thread=0)
def wait_that_leaves_a_group(fault: int) -> None:
    def body(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor) -> None:
        product, _, _ = prepared(a, b)
        acc = product.tiled.make_fragment_C(plain(c))
        out = product.out(plain(c))
        nvvm.wgmma_fence()
        for step in fx.range_constexpr(2):
            product.add(acc, step)
            nvvm.wgmma_commit_group()
        nvvm.wgmma_wait_group(fault, acc)
        for i in fx.range_constexpr(4):
            out[i] = acc[i]  # FAULT

    a, b, c = matrices()
    run(body, a, b, c, threads=THREADS)
    check(c, a, b, 2)


@asynchronous(tensor="second", coordinate=(0, 0, 0), other_thread=0)
def wait_for_the_other_accumulators(fault: int) -> None:
    def body(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor) -> None:
        product, _, _ = prepared(a, b)
        first = product.tiled.make_fragment_C(plain(c))
        second = product.tiled.make_fragment_C(plain(c))
        out = product.out(plain(c))
        nvvm.wgmma_fence()
        for acc in (first, second):
            product.add(acc, 0)
            nvvm.wgmma_commit_group()
        nvvm.wgmma_wait_group(1, first)
        if fx.const_expr(not fault):
            nvvm.wgmma_wait_group(0, second)
        for i in fx.range_constexpr(4):
            out[i] = first[i] + second[i]  # FAULT

    a, b, c = matrices()
    run(body, a, b, c, threads=THREADS)
    check(c, a, b, 2)


@asynchronous(tensor="acc", coordinate=(0, 0, 0), other_thread=0)
def accumulators_cleared_too_early(fault: int) -> None:
    def body(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor) -> None:
        product, _, _ = prepared(a, b)
        acc = product.tiled.make_fragment_C(plain(c))
        out = product.out(plain(c))
        nvvm.wgmma_fence()
        product.add(acc, 0)
        nvvm.wgmma_commit_group()
        if fx.const_expr(not fault):
            nvvm.wgmma_wait_group(0, acc)
        for i in fx.range_constexpr(4):
            acc[i] = acc[i] + acc[i]  # FAULT
        nvvm.wgmma_wait_group(0, acc)
        for i in fx.range_constexpr(4):
            out[i] = acc[i]

    a, b, c = matrices()
    run(body, a, b, c, threads=THREADS)
    check(c, a, b, 2)


@asynchronous(tensor="right", coordinate=(0, 0), other_thread=0)
def tile_overwritten_under_a_product(fault: int) -> None:
    def body(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor) -> None:
        smem = fx.SharedAllocator()
        left = tile(smem, M)
        layout = fx.make_layout((8, (8, 2)), (8, (1, 64)))
        right = smem.allocate(fx.Array[fx.Float16, N * K, 128]).peek().view(layout)
        fill(left, a, M)
        fill(right, b, N)
        nvvm.fence_proxy_async()
        fx.barrier()
        product = Product(left, right)
        acc = product.tiled.make_fragment_C(plain(c))
        out = product.out(plain(c))
        t = fx.thread_idx.x
        nvvm.wgmma_fence()
        product.add(acc, 0)
        nvvm.wgmma_commit_group()
        if fx.const_expr(not fault):
            nvvm.wgmma_wait_group(0, acc)
        fx.barrier()
        right[t % 8, t // 8] = fx.Float16(0.0)  # FAULT
        nvvm.wgmma_wait_group(0, acc)
        for i in fx.range_constexpr(4):
            out[i] = acc[i]

    a, b, c = matrices()
    run(body, a, b, c, threads=THREADS)
    check(c, a, b)


@asynchronous(tensor="acc", coordinate=(0, 0, 0))
def product_without_a_fence(fault: int) -> None:
    def body(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor) -> None:
        product, _, _ = prepared(a, b)
        acc = product.tiled.make_fragment_C(plain(c))
        out = product.out(plain(c))
        for i in fx.range_constexpr(4):
            acc[i] = 0.0
        if fx.const_expr(not fault):
            nvvm.wgmma_fence()
        fx.gemm(product.tiled, acc, product.a, product.b, acc)  # FAULT
        nvvm.wgmma_commit_group()
        nvvm.wgmma_wait_group(0, acc)
        for i in fx.range_constexpr(4):
            out[i] = acc[i]

    a, b, c = matrices()
    run(body, a, b, c, threads=THREADS)
    check(c, a, b)


@asynchronous(tensor="acc", coordinate=(0, 0, 0))
def second_product_without_a_fence(fault: int) -> None:
    """Between the two the accumulators were scaled."""

    def body(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor) -> None:
        product, _, _ = prepared(a, b)
        acc = product.tiled.make_fragment_C(plain(c))
        out = product.out(plain(c))
        nvvm.wgmma_fence()
        product.add(acc, 0)
        nvvm.wgmma_commit_group()
        nvvm.wgmma_wait_group(0, acc)
        for i in fx.range_constexpr(4):
            acc[i] = acc[i] * 2.0
        if fx.const_expr(not fault):
            nvvm.wgmma_fence()
        fx.gemm(product.tiled, acc, product.a, product.b, acc)  # FAULT
        nvvm.wgmma_commit_group()
        nvvm.wgmma_wait_group(0, acc)
        for i in fx.range_constexpr(4):
            out[i] = acc[i]

    a, b, c = matrices()
    run(body, a, b, c, threads=THREADS)
    check(c, a, b, 3)


@silent(tensor="left", coordinate=(0, 0), other_thread=0)
def tile_without_a_proxy_fence(fault: int) -> None:
    def body(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor) -> None:
        smem = fx.SharedAllocator()
        layout = fx.make_layout(((8, 8), (8, 2)), ((8, 128), (1, 64)))
        left = smem.allocate(fx.Array[fx.Float16, M * K, 128]).peek().view(layout)
        right = tile(smem, N)
        fill(left, a, M)
        fill(right, b, N)
        if fx.const_expr(not fault):
            nvvm.fence_proxy_async()
        fx.barrier()
        product = Product(left, right)
        acc = product.tiled.make_fragment_C(plain(c))
        out = product.out(plain(c))
        nvvm.wgmma_fence()
        fx.gemm(product.tiled, acc, product.a, product.b, acc, scale_d=0)  # FAULT
        nvvm.wgmma_commit_group()
        nvvm.wgmma_wait_group(0, acc)
        for i in fx.range_constexpr(4):
            out[i] = acc[i]

    a, b, c = matrices()
    run(body, a, b, c, threads=THREADS)
    check(c, a, b)


@asynchronous(tensor="left", coordinate=(0, 0), thread=32, other_thread=0)
def tile_that_still_arrives(fault: int) -> None:
    """The tile comes by a bulk copy whose barrier nobody waits for before the product."""

    def body(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor) -> None:
        smem = fx.SharedAllocator()
        layout = fx.make_layout(((8, 8), (8, 2)), ((8, 128), (1, 64)))
        left = smem.allocate(fx.Array[fx.Float16, M * K, 128]).peek().view(layout)
        right = tile(smem, N)
        barrier = smem.allocate(fx.Array[fx.Int64, 1]).ptr
        t = fx.thread_idx.x
        fill(left, a, M)
        fill(right, b, N)
        nvvm.fence_proxy_async()
        if t == 0:
            nvvm.mbarrier_init(barrier, 1)
            nvvm.mbarrier_arrive_expect_tx(barrier, M * K * 2)
        fx.barrier()
        if t == 0:
            nvvm.bulk_load(a, fx.get_iter(left), M * K * 2, barrier)  # OTHER
        if fx.const_expr(not fault):
            nvvm.mbarrier_wait(barrier, 0)
        fx.barrier()
        product = Product(left, right)
        acc = product.tiled.make_fragment_C(plain(c))
        out = product.out(plain(c))
        nvvm.wgmma_fence()
        fx.gemm(product.tiled, acc, product.a, product.b, acc, scale_d=0)  # FAULT
        nvvm.wgmma_commit_group()
        nvvm.wgmma_wait_group(0, acc)
        for i in fx.range_constexpr(4):
            out[i] = acc[i]
        if t == 0:
            nvvm.mbarrier_wait(barrier, 0)

    a, b, c = matrices()
    run(body, a, b, c, threads=THREADS)
    order = a.reshape(8, 8, 2, 8).transpose(0, 2, 1, 3).reshape(-1)  # memory has the pieces one after the other
    back = np.empty_like(order)
    back[np.arange(M * K)] = a.reshape(-1)
    pieces = back.reshape(8, 2, 8, 8).transpose(0, 2, 1, 3).reshape(M, K)
    check(c, pieces, b)
