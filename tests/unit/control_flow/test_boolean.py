"""`and`, `or`, `not` and chained comparisons."""

from __future__ import annotations

from typing import Any

import pytest

import flydsl.expr as fx
from flydsl.base.errors import DslTypeError
from flydsl.expr.flow import truth
from tests.unit.control_flow.running import launch, refused


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


CONTAINERS: dict[str, Any] = {
    "tuple": (1, 3),
    "list": [3, 1, 1],
    "set": {1, 3},
    "frozenset": frozenset((3, 1)),
    "dict": {1: "a", 3: "b"},
    "range": range(1, 5, 2),
    "falling range": range(3, 0, -2),
    "wider range": range(-7, 4, 4),
    "empty": (),
    "empty range": range(0),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_in_a_container_of_constants(name: str) -> None:
    container = CONTAINERS[name]

    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        if t in container:
            out[t] = 1
        if t not in container:
            out[t] = out[t] + 10

    assert launch(body, threads=8) == [1 if t in container else 10 for t in range(8)]


@pytest.mark.parametrize("kind", [fx.Uint32, fx.Uint8, fx.Int64, fx.Float32], ids=str)
@pytest.mark.parametrize("name", ["range", "falling range", "wider range"])
def test_in_a_range_by_any_number(name: str, kind: Any) -> None:
    container = CONTAINERS[name]

    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        out[t] = kind(t) in container

    assert launch(body, threads=8) == [int(t in container) for t in range(8)]


def test_in_a_container_of_run_time_numbers() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        out[t] = fx.Int32(2 in (t, n, 7)) + 10 * fx.Int32(n in [4, t + 3]) + 100 * fx.Int32(t in (0, 0.5, n - 2))

    assert launch(body) == [100, 0, 11, 100]


def test_in_what_is_known_while_tracing_is_python_s_own() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        names = {"a": 1}
        assert "a" in names and "b" not in names and 3 in range(5) and "b" in "abc"
        assert ("a" in names) is True
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


def test_an_assignment_expression_counts_where_python_gets_to_it() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x, y, last, i = 9, 8, 7, 0
        near = t > 1 and (x := t) < n
        far = t > 1 or (y := t + 20) < n
        while i < t and (last := i + 4) < n:
            i += 1
        out[t] = fx.Int32(near) + fx.Int32(far) * 10 + x * 100 + y * 10000 + last * 1000000

    assert launch(body, 5) == [7200900, 4210900, 5080211, 5080311]


def test_an_assignment_expression_that_changes_a_type() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        x = 0.5
        out[0] = fx.Int32(n > 1 and (x := n) < 4)  # here
        out[1] = x

    refused(body, DslTypeError, "`x := ...` to the right of a run-time `and`", "write an `if` statement")


@pytest.mark.parametrize("values", [(0, 5), (3, 0), (2, 7), ("", "x"), ([], None)])
def test_outside_a_trace_the_operators_are_pythons(values: tuple[object, object]) -> None:
    first, second = values
    assert truth.all_of(first, lambda: second) == (first and second)
    assert truth.any_of(first, lambda: second) == (first or second)
    assert truth.opposite(first) == (not first)


def test_static_numbers_are_known() -> None:
    assert truth.all_of(fx.Int32(0), lambda: pytest.fail("evaluated")) == 0
    assert bool(truth.any_of(fx.Boolean(True), lambda: pytest.fail("evaluated")))
