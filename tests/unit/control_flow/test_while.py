"""`while`: a Python loop while its condition is known, a run-time loop from then on."""

from __future__ import annotations

import flydsl.expr as fx
from flydsl.base.errors import DslNameError
from tests.unit.control_flow.running import launch, refused


def test_a_run_time_loop() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x, steps = t * 7 + 1, 0
        while x != 1 and steps < 50:
            if x % 2 == 0:
                x = x // 2
            else:
                x = 3 * x + 1
            steps += 1
        out[t] = steps

    def collatz(x: int) -> int:
        steps = 0
        while x != 1 and steps < 50:
            x, steps = (x // 2 if x % 2 == 0 else 3 * x + 1), steps + 1
        return steps

    assert launch(body) == [collatz(t * 7 + 1) for t in range(4)]


def test_a_condition_known_while_tracing_is_a_python_loop() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        tile, x = 1, t
        while tile < 8:
            tile *= 2
            x = x + tile
        assert tile == 8 and type(tile) is int
        out[t] = x

    assert launch(body) == [14 + t for t in range(4)]


def test_const_expr() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        k, x = 0, t
        while fx.const_expr(k < 3):
            if k == 2:
                break
            k += 1
            x = x + 10
        assert k == 2
        out[t] = x

    assert launch(body) == [20 + t for t in range(4)]


def test_a_condition_that_becomes_a_run_time_one() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x, turns = 0, 0
        while x < 10:
            x = x + t + 1
            turns += 1
        out[t] = x * 100 + turns

    assert launch(body) == [1010, 1005, 1204, 1203]


def test_break_in_a_python_loop() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        k = 0
        while True:
            k += 1
            if k > 4:
                break
        while k > 0:
            k -= 1
            if k == 2:
                continue
        else:
            k = 7
        out[t] = k

    assert launch(body) == [7] * 4


def test_else_of_a_python_loop() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        k = 0
        while k < 3:
            k += 1
        else:
            k = 50
        out[fx.thread_idx.x] = k

    assert launch(body) == [50] * 4


def test_an_assignment_expression_in_the_condition() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x, i = 0, t
        while (step := i * 2) < 10:
            x = x + step
            i = i + 1
        out[t] = x * 100 + step

    def expected(t: int) -> int:
        x = 0
        while t * 2 < 10:
            x, t = x + t * 2, t + 1
        return x * 100 + t * 2

    assert launch(body) == [expected(t) for t in range(4)]


def test_the_condition_is_evaluated_once_a_turn() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        def more():
            out[0] = out[0] + 1
            return out[0] < n

        while more():
            out[1] = out[1] + 10

    assert launch(body, n=5, threads=1, size=2) == [5, 40]


def test_nested_loops() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x, i = 0, 0
        while i < n:
            j = i
            while j > t:
                x += j
                j -= 1
            i += 1
        out[t] = x

    assert launch(body, n=6) == [sum(j for i in range(6) for j in range(i, t, -1)) for t in range(4)]


def test_a_list_changed_in_place() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        pair = [0, 1]
        while pair[0] < n:
            pair[0] += 1
            pair[1] *= 2
        out[t] = pair[1]

    assert launch(body, n=5) == [32] * 4


def test_a_name_bound_in_the_body_is_explained() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        i = 0
        while i < n:
            last = i
            i += 1
        out[0] = last  # here

    refused(body, DslNameError, "'last'", "bound only inside the run-time `while`")
