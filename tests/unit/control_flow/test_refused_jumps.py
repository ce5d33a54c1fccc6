# ruff: noqa: B007 (loops of kernels that only count)
"""Jumps, `try`, `with` and `yield` that run-time control flow cannot have: line, reason, rewrite."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslControlFlowError, DslSyntaxError, DslTypeError
from tests.unit.control_flow.running import launch, refused


def test_raise_under_a_run_time_condition() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        if n > 3:
            out[0] = 1
        else:
            for _ in fx.range_constexpr(2):
                raise ValueError("too few")  # here

    error = refused(body, DslControlFlowError, "`raise` under the run-time condition", "in Python", "fx.printf")
    assert isinstance(error, SyntaxError)


def test_raise_in_run_time_loops() -> None:
    def in_for(out: fx.Tensor, n: fx.Int32):
        for i in range(n):
            raise ValueError("always")  # here

    def in_while(out: fx.Tensor, n: fx.Int32):
        while n > 0:
            n -= 1
            raise ValueError("always")  # here

    refused(in_for, DslControlFlowError, "`raise` in the run-time `for` loop")
    refused(in_while, DslControlFlowError, "`raise` in the run-time `while` loop")


def test_raise_in_a_jit_function() -> None:
    @flyc.jit
    def host(out: fx.Tensor, other: fx.Tensor):
        if out.shape[0] != other.shape[0]:
            raise ValueError("shapes differ")

    with pytest.raises(DslControlFlowError, match=r"`raise` under the run-time condition(?s:.*)flyc.from_dlpack\(x\)"):
        host(np.zeros(4, np.float32), np.zeros(4, np.float32))
    host(*(flyc.from_dlpack(np.zeros(4, np.float32)) for _ in range(2)))  # what the message advises
    with pytest.raises(ValueError, match=r"^shapes differ$"):
        host(*(flyc.from_dlpack(np.zeros(n, np.float32)) for n in (4, 5)))


@pytest.mark.parametrize("wanted", [1, 2])
def test_raise_under_a_condition_of_python(wanted: int) -> None:
    """Also inside a run-time region: what decides is known while tracing."""

    def body(out: fx.Tensor, n: fx.Int32):
        for i in range(n):
            if n > 3:
                if wanted == 1:
                    out[0] = wanted
                elif fx.const_expr(wanted == 2):
                    raise ValueError("no such thing")

    if wanted == 1:
        assert launch(body)[0] == 1
    else:
        with pytest.raises(ValueError, match=r"^no such thing$"):
            launch(body)


def test_try_in_a_branch() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        if n > 2:
            try:  # here
                out[0] = 1
            except ValueError:
                out[0] = 2

    refused(body, DslSyntaxError, "`try` under a run-time condition", "test for the condition with `if`")


def test_try_in_a_loop() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        for i in range(n):
            try:  # here
                out[0] = 1
            finally:
                out[0] = 2

    refused(body, DslSyntaxError, "`try`", "run-time loop")


def test_a_run_time_branch_in_a_try() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        try:
            if n > 2:  # here
                out[0] = 1
        except ValueError:
            pass

    refused(body, DslSyntaxError, "inside the `try` of line", "move the run-time part out of it")


def test_try_around_what_python_knows() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        table = {}
        try:
            x = table["missing"] if n is not None else 0
        except KeyError:
            x = 5
        out[fx.thread_idx.x] = x

    assert launch(body) == [5] * 4


def test_with_in_a_branch() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        if n > 2:
            with contextlib.nullcontext():  # here
                out[0] = 1

    refused(body, DslSyntaxError, "`with` under a run-time condition", "put the `with` around")


def test_with_around_a_branch() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        with contextlib.nullcontext(3) as three:
            if t > 1:
                out[t] = three

    assert launch(body) == [0, 0, 3, 3]


def test_yield_outside_a_loop() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        out[0] = 1
        yield n  # here

    refused(body, DslControlFlowError, "`yield` outside a loop", "no generator")


def test_yield_in_a_branch() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        for i, state in range(n, init=[1]):
            if n > 2:
                yield [state[0]]  # here

    refused(body, DslControlFlowError, "`yield` inside a branch", "as the last statement")


def test_jumps_out_of_a_loop_with_explicit_state() -> None:
    def breaks(out: fx.Tensor, n: fx.Int32):
        for i, state in range(n, init=[1]):
            if state[0] > 2:
                break  # here
            yield [state[0] + 1]

    def returns(out: fx.Tensor, n: fx.Int32):
        for i, state in range(n, init=[1]):
            return  # here
            yield [state[0] + 1]

    error = refused(breaks, DslSyntaxError, "`break` in the loop", "reach its `yield`", "without init=")
    assert isinstance(error, SyntaxError)
    refused(returns, DslControlFlowError, "`return` in the loop", "without init=")


def test_yield_without_init() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        for i in range(n):
            yield [i]  # here

    refused(body, DslControlFlowError, "has no init=", "carried by themselves")


def test_init_without_yield() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        for i, state in range(n, init=[1]):
            out[0] = state[0]  # here

    refused(body, DslControlFlowError, "has to end with a `yield`", "results = yield [a, b]")


def test_a_yield_of_another_length() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        for i, state in range(n, init=[1, 2]):
            yield [state[0]]  # here

    refused(body, DslTypeError, "starts with 2 values", "yields 1", "one value for each element")


def test_a_yield_of_another_type() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        for i, state in range(n, init=[1, 2]):
            results = yield [state[0], 0.5]  # here
        out[0] = results[0]

    refused(body, DslTypeError, "element 1 is Int32 in init= and Float32 in the yield", "convert one")


def test_a_tuple_as_loop_target() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        for i, j in range(n):  # here
            out[i] = j

    refused(body, DslTypeError, "one name", "init=[...]")


def test_one_name_with_init() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        for i in range(n, init=[1]):  # here
            yield [i]

    refused(body, DslTypeError, "one name", "for i, state in range")


def test_an_assignment_expression_in_a_conditional_expression() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        out[0] = (x := n) if n > 2 else 1  # here
        out[1] = x

    refused(body, DslSyntaxError, "`:=` inside a conditional expression", "write an `if` statement")
