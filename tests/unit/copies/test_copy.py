"""`fx.copy` without an atom: random layouts, swizzles and predicates against NumPy, on the virtual GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.layout.coords import crd2idx
from flydsl.layout.layout import Layout
from flydsl.layout.swizzle import ComposedLayout, Swizzle
from tests.unit.copies.machine_code import ALL, code, memory_instructions

THREADS = 32
SPACE = 256
"""Elements of memory that a thread has for itself."""
TYPES = {fx.Float64: np.float64, fx.Int32: np.int32, fx.Float16: np.float16, fx.Int8: np.int8}


def random_layout(rng: np.random.Generator, shape: tuple[int, ...], *, composed: bool) -> Any:
    """An injective layout: modes in a random order, sometimes padded, sometimes swizzled."""
    strides, step = [0] * len(shape), 1
    for mode in rng.permutation(len(shape)):
        strides[mode] = step
        step *= shape[mode]
        if rng.random() < 0.4:
            step += int(rng.integers(0, 4))
    layout = Layout(shape, tuple(strides))
    if composed and rng.random() < 0.5:
        return ComposedLayout(Swizzle(int(rng.integers(1, 3)), int(rng.integers(0, 4)), 3), 0, layout)
    return layout


def as_fx(layout: Any) -> Any:
    if isinstance(layout, ComposedLayout):
        swizzle = fx.make_swizzle(layout.inner.mask, layout.inner.base, layout.inner.shift)
        return fx.make_composed_layout(swizzle, as_fx(layout.outer))
    return fx.make_layout(layout.shape, layout.stride)


def cases(seed: int, count: int) -> list[tuple[Any, Any, list[bool]]]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        shape = [(8, 4), (4, 2, 4), (2, 8), (16,), (3, 8)][rng.integers(5)]
        sides = [random_layout(rng, shape, composed=True) for _ in range(2)]
        truth = [bool(rng.integers(2)) for _ in range(int(np.prod(shape)))]
        found.append((*sides, truth))
    return found


def positions(layout: Any) -> list[int]:
    return [crd2idx(i, layout) for i in range(int(np.prod(layout.shape)))]


def build(given: list[tuple[Any, Any, list[bool]]], dtype: Any, through_shared: bool) -> Any:
    """One kernel that copies every case into its own part of the output, plain and under a predicate per element."""

    @flyc.kernel
    def kernel(src: fx.Tensor, dst: fx.Tensor):
        thread = fx.thread_idx.x
        shared = fx.SharedAllocator().allocate(fx.Array[dtype, THREADS * SPACE, 16]).ptr
        for number in fx.range_constexpr(len(given)):
            one, other, truth = given[number]
            start = fx.get_iter(src) + (thread * len(given) + number) * SPACE
            end = fx.get_iter(dst) + (thread * len(given) + number) * 2 * SPACE
            source = fx.make_view(start, as_fx(one))
            target = fx.make_view(end, as_fx(other))
            masked = fx.make_view(end + SPACE, as_fx(other))
            if fx.const_expr(through_shared):
                between = fx.make_view(shared + thread * SPACE, as_fx(other))
                fx.copy(source, between)
                source = between
            fx.copy(source, target)
            fx.copy(source, masked, fx.Vector([fx.Boolean(t) for t in truth], source.shape.payload))

    @flyc.jit
    def launch(src: fx.Tensor, dst: fx.Tensor):
        kernel(src, dst).launch(grid=1, block=THREADS)

    return launch


@pytest.mark.parametrize("through_shared", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_random_layouts(arch: str, dtype: Any, through_shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    given = cases(list(TYPES).index(dtype), 6)
    x = np.random.default_rng(1).integers(-100, 100, (THREADS, len(given), SPACE)).astype(TYPES[dtype])
    out = np.full((THREADS, len(given), 2, SPACE), -111, TYPES[dtype])
    build(given, dtype, through_shared)(x.reshape(-1), out.reshape(-1))
    want = np.full_like(out, -111)
    for number, (one, other, truth) in enumerate(given):
        a, b = positions(one), positions(other)
        kept = [i for i, t in enumerate(truth) if t]
        want[:, number, 0, b] = x[:, number, a]
        want[:, number, 1, [b[i] for i in kept]] = x[:, number, [a[i] for i in kept]]
    np.testing.assert_array_equal(out, want)


# What is chosen --------------------------------------------------------------------------------


def fragments(plans: list[Any], stride: int, dtype: Any = fx.BFloat16) -> Any:
    """Eight rows of eight elements a thread, from global memory into rows of ``stride`` elements in shared memory."""

    @flyc.kernel
    def kernel(src: fx.Tensor, dst: fx.Tensor):
        thread = fx.thread_idx.x
        shared = fx.SharedAllocator().allocate(fx.Array[dtype, THREADS * 4 * 64, 16]).ptr
        source = fx.make_view(fx.get_iter(src).aligned(16) + thread * 64, fx.make_layout((4, 8), (8, 1)))
        middle = fx.make_view(shared + thread * 4 * stride, fx.make_layout((4, 8), (stride, 1)))
        target = fx.make_view(fx.get_iter(dst).aligned(16) + thread * 64, fx.make_layout((4, 8), (8, 1)))
        plans.append(fx.copy_plan(source, middle))
        plans.append(fx.copy_plan(middle, target))
        fx.copy(source, middle)
        fx.barrier()
        fx.copy(middle, target)

    @flyc.jit
    def launch(src: fx.Tensor, dst: fx.Tensor):
        kernel(src, dst).launch(grid=1, block=THREADS)

    return launch


def planned(plans: list[Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for plan in plans:
        for side in (plan.reads, plan.writes):
            for name, _, count in side.accesses:
                found[name] = found.get(name, 0) + count
    return found


def arrays(dtype: str = "int16") -> tuple[Any, Any]:
    return np.zeros(THREADS * 64, dtype), np.zeros(THREADS * 64, dtype)


@pytest.mark.parametrize("arch", ALL)
@pytest.mark.parametrize("stride", [8, 12, 9, 10])
def test_the_plan_is_what_the_machine_code_has(arch: str, stride: int) -> None:
    """Rows of a stride that keeps 16, 8, 2 and 4 bytes of alignment."""
    plans: list[Any] = []
    found = memory_instructions(code(fragments(plans, stride, fx.Int16), arrays(), arch))
    assert dict(found) == planned(plans)


def first_plan(arch: str, stride: int) -> Any:
    plans: list[Any] = []
    code(fragments(plans, stride, fx.Int16), arrays(), arch)
    return plans[0]


def test_a_plan_says_what_and_why_not_wider() -> None:
    plan = first_plan("sm_90a", 33)
    assert plan.reads.bytes_per_access == 16 and plan.reads.count == 4 and plan.reads.reason is None
    assert plan.writes.bytes_per_access == 8 and plan.writes.count == 22
    assert plan.writes.reason == (
        "the destination has stride 33 elements in mode 0, so a row starts at 2-byte alignment; pad to 40"
    )
    assert "4 x ld.global.v4.b32 (16 bytes)" in str(plan) and "not wider: the destination has stride 33" in str(plan)
    assert first_plan("sm_90a", 40).writes.reason is None
    assert first_plan("gfx942", 8).writes.instruction == "ds_write_b128"
