"""`return`, `break` and `continue` under run-time conditions, and in run-time loops, do what they do in Python."""

from __future__ import annotations

from typing import Any

import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslTypeError
from tests.unit.control_flow.running import launch, refused


def test_an_early_return_of_a_kernel() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        if t >= n:
            return
        out[t] = t + 10

    assert launch(body, n=2) == [10, 11, 0, 0]


def test_a_return_on_some_paths_of_a_branch() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        if t > 0:
            out[t] = 1
            if t == 2:
                return
            out[t] = 2
        out[t] += 5

    assert launch(body) == [5, 7, 1, 7]


def test_values_returned_from_branches() -> None:
    def sign(x: Any) -> Any:
        if x > 1:
            return 1, fx.Float32(x)
        elif x == 1:
            return 0, fx.Float32(0.5)
        return -1, fx.Float32(x) - 2.0

    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        which, size = sign(t)
        out[t] = which * 100 + fx.Int32(size * 2.0)

    assert launch(body) == [-104, 1, 104, 106]


def test_vectors_lists_and_dicts_are_returned() -> None:
    @flyc.jit
    def find(x):
        for i in range(4):
            if i == x:
                return {"v": fx.Vector.from_elements([x, x + 1]), "l": [i, x * 2]}
        return {"v": fx.Vector.filled(2, 7, fx.Int32), "l": [fx.Int32(-1), fx.Int32(0)]}

    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        found = find(t * 2)
        out[t] = found["v"][1] * 100 + found["l"][0] * 10 + found["l"][1]

    assert launch(body) == [100, 324, 690, 690]


def test_a_loop_is_left_and_goes_on() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        total = 0
        for i in range(n):
            if i == t:
                continue
            if i > t + 2:
                break
            total += i
        else:
            total += 100
        out[t] = total

    def expected(t: int, n: int) -> int:
        total = 0
        for i in range(n):
            if i == t:
                continue
            if i > t + 2:
                break
            total += i
        else:
            total += 100
        return total

    for n in (0, 1, 4, 6):
        assert launch(body, n=n) == [expected(t, n) for t in range(4)]


def test_a_condition_behind_a_break_is_not_evaluated() -> None:
    """As in Python: the element behind the last one is never read."""

    def body(out: fx.Tensor, n: fx.Int32):
        i = 0
        while out[i] == 0:
            i += 1
            if i == 4:
                break
        out[0] = i

    with flyc.sanitize("bounds"):
        assert launch(body, threads=1, size=4) == [4, 0, 0, 0]


def test_while_true() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x = t
        while True:
            x = x * 2 + 1
            if x > n:
                break
        out[t] = x

    assert launch(body, n=5) == [7, 7, 11, 7]


def test_a_return_out_of_nested_loops() -> None:
    @flyc.jit
    def place(x):
        for i in range(3):
            for j in range(4):
                if i * 4 + j == x:
                    return i * 10 + j
            if i == 1:
                return -1
        return -2

    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        out[t] = place(t * 3)

    assert launch(body) == [0, 3, 12, -1]


def test_an_unrolled_loop_is_left_at_run_time() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        total = fx.Int32(0)
        for k in fx.range_constexpr(4):
            if t == k:
                break
            total += k + 1
        for k in (1, 2, 3):
            if k == 2:  # known while tracing
                break
            total += 100 * k
        out[t] = total

    assert launch(body) == [100, 101, 103, 106]


def test_conditions_of_python_decide_as_in_python() -> None:
    """Only what is reached is traced, and the results may have any types."""

    @flyc.jit
    def pick(kind, x):
        if kind == "text":
            return "text"
        for candidate in ("double", "triple"):
            if kind != candidate:
                continue
            return x * (2 if candidate == "double" else 3)
        raise ValueError(kind)

    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        out[t] = pick("double", t) + pick("triple", t) * 10 + len(pick("text", t)) * 100

    assert launch(body) == [400, 432, 464, 496]


def test_a_name_bound_behind_a_jump_is_bound() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        if t > 0:
            if t == 3:
                return
            x = t * 10
        else:
            x = 5
        out[t] = x

    assert launch(body) == [5, 10, 20, 0]


def test_a_range_that_counts_down() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        digits = 0
        for i in range(n, t, -2):
            digits = digits * 10 + i
        out[t] = digits

    assert launch(body, n=7) == [7531, 753, 753, 75]


def test_paths_that_return_different_types() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        def half(x):
            if x > 2:
                return x  # here
            return fx.Float32(0.5)

        out[0] = fx.Int32(half(n))

    refused(
        body, DslTypeError, "what the function returns is Int32", "or Float32", "convert one", mark="fx.Float32(0.5)"
    )


def _off_the_end(x: Any) -> Any:
    if x > 2:
        return x


def _bare(x: Any) -> Any:
    if x > 2:
        return
    return x


def _out_of_a_loop(x: Any) -> Any:
    for i in range(x):
        if i == 2:
            return i


@pytest.mark.parametrize("half", [_off_the_end, _bare, _out_of_a_loop])
def test_a_path_that_returns_nothing(half: Any) -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        out[0] = half(n)

    with pytest.raises(DslTypeError, match=r"(?s)what the function returns is .*None.*give what is returned a"):
        launch(body, n=3)


def test_a_loop_that_only_a_return_leaves() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        def above(x):
            while True:
                x = x * 2
                if x > 8:
                    return x

        out[fx.thread_idx.x] = above(n + fx.thread_idx.x)

    assert launch(body, n=1) == [16, 16, 12, 16]


def test_a_tensor_returned_on_some_paths() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        @flyc.jit
        def part(x):
            for i in range(x):
                if i == 2:
                    return fx.make_view(fx.get_iter(out) + i, fx.make_layout(4, 1))
            return None

        part(n)  # here

    refused(body, DslTypeError, "is returned on some paths only", "return numbers or vectors", mark="")
