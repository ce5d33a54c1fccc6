"""`and`, `or`, `not` and chained comparisons."""

from __future__ import annotations

import pytest

import flydsl.expr as fx
from flydsl.expr import truth
from tests.unit.control_flow.running import launch


def test_run_time_operands() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        both = t > 0 and t < 3
        either = t == 0 or t == 3 or n == 0
        neither = not either
        between = 0 < t <= 2
        assert {both.dtype, either.dtype, neither.dtype, between.dtype} == {fx.Boolean}
        out[t] = fx.Int32(both) + fx.Int32(either) * 10 + fx.Int32(neither) * 100 + fx.Int32(between) * 1000

    assert launch(body) == [10, 1101, 1101, 10]


def test_python_values_keep_their_short_circuit() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        nothing = None
        assert (nothing and nothing.missing) is None
        assert (nothing or "default") == "default"
        assert ([] or t) is t
        assert (1 and 2 and 3) == 3
        assert not (1 < 0 < undefined_name)  # noqa: F821
        flag = False
        x = 0
        if flag and undefined_name:  # noqa: F821
            x = 1
        if True and t > 1:
            x = 2
        out[t] = x

    assert launch(body) == [0, 0, 2, 2]


def test_every_operand_is_evaluated_once() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        def counted(place, value):
            out[place] = out[place] + 1
            return value

        t = fx.thread_idx.x
        a = (counted(0, t > 5) and counted(1, t < 5)) or counted(2, t == 0)
        b = 0 <= counted(3, t) < 4
        c = not counted(4, t > 0)
        out[5] = fx.Int32(a) + fx.Int32(b) * 10 + fx.Int32(c) * 100

    assert launch(body, threads=1, size=6) == [1, 1, 1, 1, 1, 111]


def test_a_comparison_known_to_fail_ends_the_chain() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        calls = []
        assert not (5 < 3 < calls.append(1))
        x = 1 if 1 < 2 < t else 0
        y = 1 if t < 2 < 3 else 0
        out[t] = x + y * 10

    assert launch(body) == [10, 10, 0, 1]


def test_in_and_is_within_a_chain() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        kind = "a"
        pair = ("a", "b")
        assert "a" <= kind in pair is not None
        out[fx.thread_idx.x] = 1

    assert launch(body) == [1] * 4


def test_assignment_expressions_bind_in_the_function() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        held = t > 0 and (y := t * 2) > 2
        flag = True
        known = (flag and (z := 5)) or (w := 6)  # noqa: F841
        assert (known, z) == (5, 5)
        out[t] = fx.Int32(held) + y * 10

    assert launch(body) == [0, 20, 41, 61]


@pytest.mark.parametrize("values", [(0, 5), (3, 0), (2, 7), ("", "x"), ([], None)])
def test_outside_a_trace_the_operators_are_pythons(values: tuple[object, object]) -> None:
    first, second = values
    assert truth.all_of(first, lambda: second) == (first and second)
    assert truth.any_of(first, lambda: second) == (first or second)
    assert truth.opposite(first) == (not first)


def test_static_numbers_are_known() -> None:
    assert truth.all_of(fx.Int32(0), lambda: pytest.fail("evaluated")) == 0
    assert bool(truth.any_of(fx.Boolean(True), lambda: pytest.fail("evaluated")))
