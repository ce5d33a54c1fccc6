"""Run-time and trace-time `if`: what is carried, what is born, what is left alone."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslNameError
from tests.unit.control_flow.running import launch, refused


def test_a_variable_bound_before_is_carried() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x = 7
        if t < 2:
            x = t
        out[t] = x

    assert launch(body) == [0, 1, 7, 7]


def test_a_variable_born_in_both_branches_is_usable_after() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        if t == 0:
            x = 10
        elif t == 1:
            x = t + 20
        else:
            x = fx.Int32(30)
        out[t] = x

    assert launch(body) == [10, 21, 30, 30]


def test_scratch_variables_may_differ_in_type() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        if t < 2:
            scratch = fx.Float32(t) * 1.5
            out[t] = fx.Int32(scratch)
        else:
            scratch = t * 100
            out[t] = scratch
        scratch = "reused"
        assert scratch == "reused"

    assert launch(body) == [0, 1, 200, 300]


def test_python_numbers_are_promoted() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        whole, real, flag = 1, 0.5, False
        if t > 1:
            whole, real, flag = 2, 1.5, True
        assert (whole.dtype, real.dtype, flag.dtype) == (fx.Int32, fx.Float32, fx.Boolean)
        out[t] = whole + fx.Int32(real * 2.0) * 10 + fx.Int32(flag) * 100

    assert launch(body) == [11, 11, 132, 132]


def test_what_both_paths_agree_on_stays_known() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        tile, name = 4, "a"
        if t > 1:
            tile, name = 4, "a"
        assert tile == 4 and type(tile) is int and name == "a"
        out[t] = tile

    assert launch(body) == [4, 4, 4, 4]


def test_only_the_taken_branch_of_a_static_if_runs() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        wide = 8
        if wide == 8:
            born = 1
        else:
            raise AssertionError("not taken")
        if not (wide > 4):
            raise AssertionError("not taken")
        if fx.const_expr(wide == 8):
            other = 2
        out[t] = born + other

    assert launch(body) == [3] * 4


def test_a_static_if_may_return() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        out[t] = 1
        wide = 8
        if wide > 4:
            return
        out[t] = 2

    assert launch(body) == [1] * 4


def test_a_condition_is_any_number() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x = 0
        if t:
            x += 1
        if fx.Float32(t) - 2.0:
            x += 10
        if fx.Int32(0):
            x += 100
        out[t] = x

    assert launch(body) == [10, 11, 1, 11]


def test_nested_branches() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x = fx.Int32(0)
        if t > 0:
            x = x + 1
            if t > 1:
                x = x + 10
                if t > 2:
                    x = x + 100
            else:
                x = x + 1000
        out[t] = x

    assert launch(body) == [0, 1001, 11, 111]


def test_an_assignment_expression_in_the_condition() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x = 0
        if (double := t * 2) > 2 and (triple := t * 3) > 0:
            x = double + triple
        out[t] = x + double

    assert launch(body) == [0, 2, 4 + 6 + 4, 6 + 9 + 6]


def test_vectors_and_tensors_are_carried() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        fragment = fx.make_rmem_tensor(fx.make_layout(2, 1), fx.Int32)
        fragment.store(fx.Vector.filled(2, 1, fx.Int32))
        v = fragment.load()
        if t > 1:
            v = v + v
            fragment.store(v * 10)
        out[t] = v[0] + fragment.load()[1]

    assert launch(body) == [2, 2, 22, 22]


def test_a_struct_is_carried() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        pair = Pair(fx.Int32(1), fx.Float32(2.0))
        if t > 1:
            pair = Pair(t, pair.y + 1.0)
        out[t] = pair.x * 10 + fx.Int32(pair.y)

    assert launch(body) == [12, 12, 23, 33]


@fx.struct
class Pair:
    x: fx.Int32
    y: fx.Float32


def test_containers_are_carried_by_their_leaves() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        pair, table, space = (1, 2.0), {"a": 1, "b": t}, SimpleNamespace(x=5)
        if t > 1:
            pair = (t, 3.0)
            table = {"a": t, "b": 7}
            space = SimpleNamespace(x=t)
        out[t] = pair[0] + table["a"] * 10 + table["b"] * 100 + space.x * 1000

    assert launch(body) == [5011, 5111, 2722, 3733]


def test_a_list_changed_in_place_keeps_its_aliases() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        values = [1, 2]
        alias = values
        if t > 1:
            values[0] = t
            alias[1] += 10
        assert alias is values
        out[t] = alias[0] + values[1] * 100

    assert launch(body) == [201, 201, 1202, 1203]


class Shifted(list[Any]):
    """It shows other items than it holds, and takes others than it is given."""

    def __iter__(self) -> Iterator[Any]:
        return iter([100, 100])

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, value + 1)


class Doubled(OrderedDict[str, Any]):
    """The same of a dict."""

    def __getitem__(self, key: str) -> Any:
        return super().__getitem__(key) * 2

    def update(self, *given: Any, **named: Any) -> None:
        raise AssertionError("nobody asked for that")


def test_what_a_class_derived_from_a_container_overrides() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        row, table = Shifted([5, n]), Doubled(a=t, b=1)
        if t > 1:
            row[0] = t
            table["a"] = n
        for i in range(n):
            row[1] = row[1] + i
            table["b"] += i
        out[t] = row[0] + row[1] * 10 + table["a"] * 1000 + table["b"] * 10000

    assert launch(body, n=2) == [100055, 102055, 104053, 104054]


def test_a_dict_in_an_order_of_its_own_that_a_kernel_takes() -> None:
    table = OrderedDict[str, Any](a=0, b=0)
    table.move_to_end("a")

    @flyc.kernel
    def kernel(out: fx.Tensor, table: Any):
        out[0], out[1] = table["a"], table["b"]

    @flyc.jit
    def host(out: fx.Tensor, n: fx.Int32):
        table["a"], table["b"] = n, n + 1
        kernel(out, table).launch()

    out = np.zeros(2, np.int32)
    host(out, 5)
    assert out.tolist() == [5, 6]


def test_a_list_may_be_replaced_in_one_branch_and_changed_in_the_other() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        values = [1, 2]
        if t > 1:
            values = [t, t]
        else:
            values[0] = 50
        out[t] = values[0] + values[1] * 100

    assert launch(body) == [250, 250, 202, 303]


def test_a_helper_that_changes_a_list_is_seen() -> None:
    def set_first(values, value):
        values[0] = value

    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        values = [1]
        if t > 1:
            set_first(values, t)
        out[t] = values[0]

    assert launch(body) == [1, 1, 2, 3]


def test_appending_the_same_number_in_both_branches() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        values = [t]
        if t > 1:
            values.append(5)
        else:
            values.append(t + 6)
        assert len(values) == 2
        out[t] = values[1]

    assert launch(body) == [6, 7, 5, 5]


def test_conditional_expressions() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x = t if t > 1 else 9
        a, b = (t, 1) if t == 3 else (5, t)
        wide = 4
        known = 1 if wide == 4 else undefined_name  # noqa: F821
        nested = 1 if t == 0 else 2 if t == 1 else 3
        out[t] = x + 10 * a + 100 * b + 1000 * known + 10000 * nested

    assert launch(body) == [11059, 21159, 31252, 31133]


def test_both_sides_of_a_conditional_expression_are_branches() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        out[t] = (n // t) if t > 0 else 100

    assert launch(body) == [100, 5, 2, 1]


def test_a_name_born_in_one_branch_is_explained_where_it_is_used() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        if t > 1:
            late = t + 1
        out[t] = late  # here

    error = refused(body, DslNameError, "'late'", "bound only inside the run-time `if`", "before line", "both branches")
    assert isinstance(error, NameError)
    first = body.__code__.co_firstlineno
    assert f"(line {first + 3})" in error.message


def test_a_name_born_in_one_branch_is_explained_in_another_branch() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        if t > 1:
            late = t + 1
        if t > 2:
            out[t] = late  # here

    refused(body, DslNameError, "'late'")


def test_a_name_of_a_branch_that_python_did_not_take_is_not_explained() -> None:
    def make(limit):
        def body(out: fx.Tensor, n: fx.Int32):
            if limit > 2:
                late = n
            out[0] = late

        return body

    with pytest.raises(DslNameError):
        launch(jit_limited(make))
    with pytest.raises(NameError) as caught:
        launch(make(1))
    assert not isinstance(caught.value, DslNameError)


def jit_limited(make):
    """The same definition, once with a run-time limit."""

    def body(out: fx.Tensor, n: fx.Int32):
        flyc.jit(make(n))(out, n)

    return body


def test_stores_happen_in_the_branch_taken() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        if t % 2 == 0:
            out[t] = 1
        else:
            out[t] = 2
        if t == 3:
            out[t] = out[t] + 40

    assert launch(body) == [1, 2, 1, 42]


def test_floats_are_exact() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x = 0.1
        if t > 1:
            x = 0.2
        out[t] = x

    assert launch(body, dtype=np.float32) == [np.float32(0.1)] * 2 + [np.float32(0.2)] * 2


def test_a_list_in_an_object_is_carried() -> None:
    class Holder:
        def __init__(self) -> None:
            self.sizes, self.sums = [2, 3], [0, 0]

    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        holder = Holder()
        if t > 1:
            holder.sums[0] = t
        for i in range(n):
            holder.sums[1] += i
            assert holder.sizes == [2, 3], "not changed, so still known"
        out[t] = holder.sums[0] + holder.sums[1] * 10

    assert launch(body, n=4) == [60, 60, 62, 63]


def test_what_a_helper_remembers_for_itself_is_left_alone() -> None:
    def remember(function):
        known = {}

        def call(x):
            if x not in known:
                known[x] = function(x)
            return known[x]

        return call

    square = remember(lambda x: x * x)

    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x = 0
        if t > 1:
            x = square(3)
        for _ in range(n):
            x += square(2)
        out[t] = x

    assert launch(body, n=2) == [8, 8, 17, 17]


def test_structs_are_chosen() -> None:
    @fx.struct
    class Pair:
        first: fx.Int32
        second: fx.Int32

    def body(out: fx.Tensor, n: fx.Int32):
        pair = Pair(n, 1)
        if n > 2:
            pair = Pair(pair.second, n)
        out[0] = pair.first * 10 + pair.second

    assert [launch(body, n)[0] for n in (2, 5)] == [21, 15]
