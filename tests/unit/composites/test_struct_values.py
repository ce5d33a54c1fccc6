"""Structs as jit arguments, kernel arguments, loop state and branch results, run on the host device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.unit.composites.launching import numbers, run

Inner = fx.Struct["k" : fx.Int32, "m" : fx.Int64]


@fx.struct
class Scaling:
    x: fx.Tensor
    factor: fx.Float32
    shift: fx.Constexpr[int]
    inner: Inner

    def total(self) -> Any:
        return self.inner.k + self.inner.m.to(fx.Int32)


@flyc.kernel
def scale(args: Scaling, out: fx.Tensor) -> None:
    t = fx.thread_idx.x
    out[t] = args.x[t] * args.factor + args.shift + args.total().to(fx.Float32)


@flyc.jit
def scale_jit(args: Scaling, out: fx.Tensor) -> None:
    scale(args, out).launch(grid=1, block=(32, 1, 1))


def test_jit_and_kernel_argument() -> None:
    x, out = numbers(32), np.zeros(32, np.float32)
    inner = Inner(k=3, m=8)
    scale_jit(Scaling(x, 2.0, 4, inner), out)
    np.testing.assert_allclose(out, x * 2 + 15, rtol=1e-6)
    scale_jit(Scaling(x, 3.0, 5, inner), out)
    np.testing.assert_allclose(out, x * 3 + 16, rtol=1e-6)
    scale_jit(Scaling(x, factor=1.0, shift=5, inner=inner.replace(m=0)), out)
    np.testing.assert_allclose(out, x + 8, rtol=1e-6)


def test_a_constexpr_field_is_part_of_the_key_and_a_number_is_not() -> None:
    traced: list[int] = []

    @flyc.jit
    def launch(args: Scaling, out: fx.Tensor) -> None:
        traced.append(args.shift)
        scale(args, out).launch(grid=1, block=(32, 1, 1))

    x, out, inner = numbers(32), np.zeros(32, np.float32), Inner(1, 1)
    for factor, shift in ((1.0, 1), (2.0, 1), (2.0, 2), (3.0, 1)):
        launch(Scaling(x, factor, shift, inner), out)
        np.testing.assert_allclose(out, x * factor + shift + 2, rtol=1e-6)
    assert traced == [1, 2]


@fx.struct
class Running:
    total: fx.Float32
    largest: fx.Float32
    count: fx.Int32


def test_carried_through_a_run_time_loop_and_branch() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        state = Running(0.0, -1.0, 0)
        for i in range(t + 1):
            state = state.replace(total=state.total + a[i], largest=fx.max(state.largest, a[i]))
            if a[i] > 0.5:
                state = state.replace(count=state.count + 1)
        out[t, 0] = state.total
        out[t, 1] = state.largest
        out[t, 2] = state.count.to(fx.Float32)

    x, out = numbers(64), np.zeros((64, 3), np.float32)
    run(body, x, out)
    np.testing.assert_allclose(out[:, 0], np.cumsum(x), rtol=1e-5)
    np.testing.assert_array_equal(out[:, 1], np.maximum.accumulate(x))
    np.testing.assert_array_equal(out[:, 2], np.cumsum(x > 0.5))


def test_structs_built_on_the_host_side_of_a_launch() -> None:
    @flyc.kernel
    def kernel(state: Running, out: fx.Tensor) -> None:
        out[fx.thread_idx.x] = state.total + state.largest + state.count.to(fx.Float32)

    @flyc.jit
    def launch(n: fx.Int32, out: fx.Tensor) -> None:
        kernel(Running(n.to(fx.Float32), 0.5, n + 1), out).launch(grid=1, block=(8, 1, 1))

    out = np.zeros(8, np.float32)
    launch(10, out)
    np.testing.assert_array_equal(out, np.full(8, 10 + 0.5 + 11, np.float32))


def test_vectors_and_layouts_are_fields_too() -> None:
    @fx.struct
    class Part:
        values: fx.Float32x4
        layout: fx.Layout

    @fx.struct
    class Place:
        where: fx.Pointer
        by: fx.Int32

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        part = Part(fx.Float32x4(0.0), fx.make_layout(4, 2))
        place = Place(fx.get_iter(out), t)
        for i in range(3):
            part = part.replace(values=part.values + a[t + i])
        (place.where + place.by).store(part.values.reduce("add") + fx.get_scalar(part.layout(3)))

    x, out = numbers(16), np.zeros(8, np.float32)
    run(body, x, out, threads=8)
    np.testing.assert_allclose(out, [4 * x[t : t + 3].sum() + 6 for t in range(8)], rtol=1e-5)


def test_a_field_of_the_wrong_type_names_the_field() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        Scaling(3, 1.0, 1, Inner(1, 1))

    with pytest.raises(TypeError, match="field 'x' of Scaling expects Tensor, got int 3") as caught:
        run(body, numbers(8), numbers(8), threads=8)
    assert "test_struct_values.py" in str(caught.value)


def test_an_unsupported_field_value_is_refused_at_the_call() -> None:
    with pytest.raises(TypeError, match="object cannot be passed to a jit function"):
        scale_jit(Scaling(object(), 1.0, 1, Inner(1, 1)), np.zeros(32, np.float32))
