"""The kernel's one shared memory allocator: static and dynamic, counted while tracing, checked against the target."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from tests.unit.composites.launching import numbers, run


@pytest.mark.parametrize("static", [True, False])
def test_pieces_do_not_overlap(static: bool) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        shared = fx.SharedAllocator(static=static)
        assert shared.is_static is static and shared.allocated_bytes == 0
        first = shared.allocate(fx.Array[fx.Float32, 64])
        flag = shared.allocate(fx.Int8)
        second = shared.allocate(fx.Array[fx.Float32, 64])
        assert shared.allocated_bytes == 256 + 4 + 256
        raw = shared.allocate(100, 128)
        assert raw.alignment % 128 == 0 and shared.allocated_bytes == 640 + 100
        assert shared.allocate(1).alignment % 16 == 0
        first[t] = a[t]
        second[t] = a[t] * 2
        flag.poke(1)
        fx.barrier()
        out[t] = first[63 - t] + second[t] + flag.peek().to(fx.Float32)

    x, out = numbers(64), np.zeros(64, np.float32)
    run(body, x, out)
    np.testing.assert_allclose(out, x[::-1] + 2 * x + 1, rtol=1e-6)


def test_two_kernels_have_shared_memory_of_their_own() -> None:
    @flyc.kernel
    def reverse(a: fx.Tensor, out: fx.Tensor, n: fx.Constexpr[int]) -> None:
        t = fx.thread_idx.x
        shared = fx.SharedAllocator().allocate(fx.Array[fx.Float32, n])
        shared[t] = a[t]
        fx.barrier()
        out[t] = shared[n - 1 - t]

    @flyc.jit
    def launch(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor) -> None:
        reverse(a, b, 64).launch(grid=1, block=(64, 1, 1))
        reverse(b, c, 32).launch(grid=1, block=(32, 1, 1))

    a, b, c = numbers(64), np.zeros(64, np.float32), np.zeros(32, np.float32)
    launch(a, b, c)
    np.testing.assert_array_equal(b, a[::-1])
    np.testing.assert_array_equal(c, a[32:])


def test_dynamic_memory_has_a_base_and_the_launch_may_give_more() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        shared = fx.SharedAllocator(static=False)
        kept = shared.allocate(fx.Array[fx.Float32, 64])
        kept[t] = a[t]
        fx.barrier()
        out[t] = fx.recast_iter(fx.Float32, shared.base_ptr)[63 - t]

    x, out = numbers(64), np.zeros(64, np.float32)
    run(body, x, out, smem=1024)
    np.testing.assert_array_equal(out, x[::-1])
    with pytest.raises(ValueError, match="smem=128 bytes, but the kernel allocates 256 bytes"):
        run(body, x, out, smem=128)


def test_a_static_allocator_has_no_base() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        fx.SharedAllocator().base_ptr  # noqa: B018

    with pytest.raises(RuntimeError, match="a static SharedAllocator has no base pointer") as caught:
        run(body, numbers(8), numbers(8), threads=8)
    assert "SharedAllocator(static=False)" in str(caught.value)


def test_one_per_kernel() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        fx.SharedAllocator()
        fx.SharedAllocator()

    with pytest.raises(RuntimeError, match=r"Only one SharedAllocator .* 'body_0' already has one") as caught:
        run(body, numbers(8), numbers(8), threads=8)
    line = inspect.getsourcelines(body)[1] + 2
    assert f"test_shared_allocator.py:{line}" in str(caught.value)
    assert "pass it to the functions that allocate" in str(caught.value)


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("first", [True, False])
def test_before_and_after_what_fx_coop_allocates(first: bool, static: bool) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        if fx.const_expr(first):
            shared = fx.SharedAllocator(static=static)
        total = fx.coop.BlockReduce(fx.Float32).sum(a[t])
        if fx.const_expr(not first):
            shared = fx.SharedAllocator(static=static)
        kept = shared.allocate(fx.Array[fx.Float32, 128])
        kept[t] = a[t]
        largest = fx.coop.BlockReduce(fx.Float32).max(a[t])
        fx.barrier()
        out[t] = kept[127 - t] + total - largest

    x, out = numbers(128), np.zeros(128, np.float32)
    run(body, x, out, threads=128)
    expected = x[::-1].astype(np.float64) + x.astype(np.float64).sum() - x.max()
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


def test_only_inside_a_kernel() -> None:
    with pytest.raises(RuntimeError, match="no kernel or jit function is being traced"):
        fx.SharedAllocator()

    @flyc.jit
    def launch(a: fx.Tensor) -> None:
        fx.SharedAllocator()

    with pytest.raises(RuntimeError, match="shared memory belongs to a kernel") as caught:
        launch(numbers(8))
    assert "@flyc.kernel" in str(caught.value)


def test_too_much_is_refused_while_compiling_with_every_allocation() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        shared = fx.SharedAllocator()
        shared.allocate(fx.Array[fx.Float32, 10000])
        shared.allocate(2)
        shared.allocate(fx.Array[fx.Float64, 4000])
        shared.allocate(fx.Int32)

    with pytest.raises(RuntimeError, match="kernel 'body_0' needs 72012 bytes of shared memory") as caught:
        run(body, numbers(8), numbers(8), threads=8)
    text, first = str(caught.value), inspect.getsourcelines(body)[1]
    assert "gfx942 has 65536 per workgroup (6476 too many)" in text
    for row in (
        rf"40000 bytes  Array[Float32, 10000]  at {__file__}:{first + 2}",
        rf"2 bytes  raw bytes  at {__file__}:{first + 3}",
        rf"32000 bytes  Array[Float64, 4000]  at {__file__}:{first + 4}",
        rf"4 bytes  Int32  at {__file__}:{first + 5}",
        "6 bytes  padding between allocations",
    ):
        assert row in text
    assert text.startswith(f"{__file__}:{first + 4} in body:"), "the line that no longer fits"
    assert "help: use smaller tiles or fewer stages" in text


def test_the_limit_is_the_targets() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        shared = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 32 * 1024])
        shared[fx.thread_idx.x] = a[fx.thread_idx.x]
        out[fx.thread_idx.x] = shared[fx.thread_idx.x]

    x, out = numbers(8), np.zeros(8, np.float32)
    with pytest.raises(RuntimeError, match="gfx942 has 65536"):
        run(body, x, out, threads=8)
    with knobs.scope({knobs.ARCH: "gfx950"}):
        run(body, x, out, threads=8)
    np.testing.assert_array_equal(out, x)


def test_memory_given_by_the_launch_counts_too() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        fx.SharedAllocator(static=False).allocate(fx.Array[fx.Float32, 64])

    with pytest.raises(RuntimeError, match="needs 70000 bytes") as caught:
        run(body, numbers(8), numbers(8), threads=8, smem=70000)
    assert "69744 bytes  more by smem= of the launch" in str(caught.value)


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda s: s.allocate(0), ValueError, "must be > 0, got 0"),
    (lambda s: s.allocate("x"), TypeError, "takes a storable type or a number of bytes, got str 'x'"),
    (lambda s: s.allocate(True), TypeError, "takes a storable type"),
    (lambda s: s.allocate(fx.Tensor), TypeError, "Tensor has no layout in memory"),
    (lambda s: s.allocate(fx.Float32, 2), ValueError, "is aligned to 4 bytes by itself"),
    (lambda s: s.allocate(16, 3), ValueError, "power of two"),
    (lambda s: s.allocate(16, 4096), ValueError, "aligned to 1024 at most"),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED, ids=[row[2] for row in REFUSED])
def test_what_is_refused(call: Any, error: type[Exception], message: str) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        call(fx.SharedAllocator())

    with pytest.raises(error, match=message):
        run(body, numbers(8), numbers(8), threads=8)


def test_base_alignment_is_a_power_of_two() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        fx.SharedAllocator(24)

    with pytest.raises(ValueError, match="power of two, got 24"):
        run(body, numbers(8), numbers(8), threads=8)
