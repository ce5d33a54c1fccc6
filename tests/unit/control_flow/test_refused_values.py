# ruff: noqa: B007 (loops of kernels that only count)
"""Values that run-time control flow cannot carry, count with or keep: the line, the reason, the rewrite."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslNameError, DslRuntimeError, DslTypeError, DslValueError
from tests.unit.control_flow.running import launch, refused

COUNT = 0


def _lines(body, *offsets: int) -> list[str]:
    return [f"line {body.__code__.co_firstlineno + offset}" for offset in offsets]


def test_branches_of_different_types() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        if n > 2:
            x = n
        else:
            x = 0.5  # here
        out[0] = x

    refused(body, DslTypeError, "'x' is Int32", "or Float32", "convert one", *_lines(body, 2, 4))


def test_a_branch_that_changes_a_type() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        x = 0
        if n > 2:
            x = 0.5  # here
        out[0] = x

    refused(body, DslTypeError, "'x' is Float32", "or Int32 (before the `if`)", *_lines(body, 3))


def test_an_element_that_changes_its_type() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        x = (0, [1, 2])
        if n > 2:
            x = (0, [1, 2.5])  # here
        out[0] = x[1][0]

    refused(body, DslTypeError, "'x[1][1]' is Float32")


def test_vectors_of_different_lengths() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        x = fx.Vector.filled(2, 1, fx.Int32)
        if n > 2:
            x = fx.Vector.filled(4, 1, fx.Int32)  # here
        out[0] = x[0]

    refused(body, DslTypeError, "Vector(Int32, (4,))", "Vector(Int32, (2,))")


def test_layouts_cannot_be_chosen_at_run_time() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        layout = fx.make_layout(4, 1)
        if n > 2:
            layout = fx.make_layout(8, 1)  # here
        out[0] = fx.size(layout)

    refused(body, DslTypeError, "'layout'", "8:1", "4:1", "part of its type", "choose the numbers")


def test_a_static_coordinate_that_becomes_a_run_time_one() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        place = fx.make_coord(0, 0)
        for i in range(n):
            place = fx.make_coord(i, 0)  # here
        out[0] = fx.get_scalar(fx.get(place, 0))

    refused(body, DslTypeError, "'place' is the int tuple (0,0)", "part of its type")


def test_none_before_a_branch() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        x = None
        if n > 2:
            x = n  # here
        out[0] = x

    refused(body, DslTypeError, "'x' is Int32", "or None", "instead of None")


def test_none_before_a_loop() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        x = None
        for i in range(n):
            x = i  # here
        out[0] = x

    refused(body, DslTypeError, "'x' is None before the run-time `for`", "Int32 after an iteration", "instead of None")


def test_strings_cannot_be_chosen_at_run_time() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        name = "a"
        if n > 2:
            name = "b"  # here
        assert name

    refused(body, DslTypeError, "'name'", "'b'", "'a'", "fx.Constexpr argument")


def test_objects_cannot_be_chosen_at_run_time() -> None:
    class Pair:
        def __init__(self, first, second):
            self.first, self.second = first, second

    def body(out: fx.Tensor, n: fx.Int32):
        pair = Pair(n, 1)
        if n > 2:
            pair = Pair(1, n)  # here
        out[0] = pair.first

    refused(body, DslTypeError, "'pair' is Pair", "@fx.struct", "into each branch")


def test_a_loop_that_changes_a_type() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        x = 0
        for i in range(n):
            x = x + 0.5  # here
        out[0] = x

    refused(body, DslTypeError, "'x' is Int32 before", "Float32 after an iteration", "x = fx.Float32(...)")


def test_a_while_loop_that_changes_a_type() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        x = fx.Int32(n)
        while x < 10:
            x = fx.Int64(x) + 1  # here
        out[0] = x

    refused(body, DslTypeError, "'x' is Int32 before", "`while`", "Int64 after an iteration")


def test_conditional_expressions_of_different_types() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        out[0] = 1 if n > 2 else 0.5  # here

    refused(body, DslTypeError, "conditional expression is Int32 (its first value) or Float32 (its second value)")


def test_a_list_that_grows_in_one_branch() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        values = [n]
        if n > 2:
            values.append(n)  # here
        out[0] = values[0]

    refused(body, DslTypeError, "'values' is a list of 2", "a list of 1", "keep its length")


def test_a_dict_that_gains_a_key() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        table = {"a": n}
        if n > 2:
            table["b"] = n  # here
        out[0] = table["a"]

    refused(body, DslTypeError, "'table'", "a, b")


def test_a_list_that_grows_in_a_loop() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        values = []
        for i in range(n):
            values.append(i)  # here
        out[0] = len(values)

    refused(body, DslTypeError, "'values' has 0 elements", "1 after an iteration", "range_constexpr")


def test_lists_that_change_places_in_a_loop() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        rows = [[1, 2], [3, 4]]
        for i in range(n):
            rows[0], rows[1] = rows[1], rows[0]  # here
        out[0] = rows[0][0]

    refused(body, DslTypeError, "'rows[0]' is another list", "rows[0][:] = ...", "a, b = b, a", *_lines(body, 2))


def test_a_dict_of_a_namespace_that_a_loop_replaces() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        state, i = SimpleNamespace(best={"at": 1}), 0
        while i < n:
            i += 1
            state.best = {"at": 2}  # here
        out[0] = state.best["at"]

    refused(body, DslTypeError, "'state.best' is another dict", "one by one")


def test_a_list_changed_by_a_function_in_a_loop() -> None:
    def put(values, value):
        values[0] = value

    def body(out: fx.Tensor, n: fx.Int32):
        values = [n]
        for i in range(n):  # here
            put(values, i)
        out[0] = values[0]

    refused(body, DslTypeError, "'values' is changed inside the run-time `for`", "return the new value")


def test_a_nonlocal_variable() -> None:
    count = 0

    def body(out: fx.Tensor, n: fx.Int32):
        nonlocal count
        if n > 2:
            count = 1  # here
        out[0] = count

    refused(body, DslTypeError, "'count' is declared `nonlocal`", "assign a variable of this function instead")


def test_a_global_variable() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        global COUNT
        for i in range(n):
            COUNT = i  # here

    refused(body, DslTypeError, "'COUNT' is declared `global`")
    assert COUNT == 0


def test_a_global_variable_assigned_by_a_function_called_in_a_loop() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        def count():
            global COUNT
            COUNT += 1  # here

        for i in range(n):
            count()

    refused(body, DslTypeError, "'COUNT' is declared `global`")
    assert COUNT == 0


@pytest.mark.parametrize("kind", ["for", "if", "while"])
def test_a_captured_variable_assigned_by_a_function(kind: str) -> None:
    def in_for(out: fx.Tensor, n: fx.Int32):
        total = fx.Int32(0)

        def add(value):
            nonlocal total
            total = total + value  # here

        for i in range(n):
            add(i)
        out[0] = total

    def in_if(out: fx.Tensor, n: fx.Int32):
        total = fx.Int32(0)

        def add(value):
            nonlocal total
            total = total + value  # here

        if n > 2:
            add(n)
        out[0] = total

    def in_while(out: fx.Tensor, n: fx.Int32):
        total = fx.Int32(0)

        def add(value):
            nonlocal total
            total = total + value  # here

        i = n
        while i > 0:
            i -= 1
            add(i)
        out[0] = total

    body = {"for": in_for, "if": in_if, "while": in_while}[kind]
    refused(body, DslTypeError, "'total' is a captured variable", "add() assigns it", "total = add(total, ...)")


def test_an_attribute_of_an_object() -> None:
    class Holder:
        value = 0

    def body(out: fx.Tensor, n: fx.Int32):
        holder = Holder()
        if n > 2:
            holder.value = 1  # here
        out[0] = holder.value

    refused(body, DslTypeError, "holder.value is assigned under a run-time condition", "SimpleNamespace")


def test_an_attribute_of_a_namespace_is_carried() -> None:
    from tests.unit.control_flow.running import launch

    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        space = SimpleNamespace(x=1)
        if t > 1:
            space.x = t
        for i in range(n):
            space.x += i
        out[t] = space.x

    assert launch(body, n=3) == [4, 4, 5, 6]


def test_a_value_kept_by_a_cache() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        kept = functools.cache(lambda addend: n + addend)
        if n > 2:
            out[1] = kept(1)
        out[0] = kept(1)  # here

    refused(body, DslNameError, "made inside the run-time `if`", "used outside of it", "bound before")


def test_a_value_of_the_jit_function_used_in_a_kernel() -> None:
    @flyc.jit
    def host(out: fx.Tensor, n: fx.Int32):
        doubled = n * 2

        @flyc.kernel
        def kernel(out: fx.Tensor):
            out[0] = doubled + 1  # here

        kernel(out).launch(grid=(1, 1, 1), block=(1, 1, 1))

    with pytest.raises(DslNameError, match="value of another function") as found:
        host(np.zeros(4, np.int32), 3)
    assert "# here" in str(found.value) and "as an argument" in str(found.value)


def test_a_variable_deleted_in_a_loop() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        x = fx.Int32(0)
        for i in range(n):
            out[0] = x
            del x  # here

    refused(body, DslNameError, "'x' is deleted inside the run-time `for`")


def test_const_expr_of_a_run_time_value() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        if fx.const_expr(n > 2):  # here
            out[0] = 1

    refused(body, DslRuntimeError, "const_expr() is for values known while tracing", "drop const_expr")


def test_range_constexpr_of_a_run_time_value() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        for i in fx.range_constexpr(n):  # here
            out[i] = 1

    refused(body, DslRuntimeError, "range_constexpr() is unrolled while tracing", "fx.Constexpr")


def test_a_run_time_value_where_python_needs_a_number() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        values = [1, 2, 3]
        out[0] = values[n]  # here

    refused(body, DslRuntimeError, "an index from a run-time Int32", "fx.Constexpr")


def test_a_comprehension_over_a_run_time_range() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        out[0] = sum([i for i in range(n)])  # here # noqa: C416

    refused(body, DslRuntimeError, "an index from a run-time Int32")


def test_a_step_of_zero() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        for i in range(n, 0, 0):  # here
            out[i] = 1

    refused(body, DslValueError, "the step of range() is zero", "-1 or less")


def test_float_bounds() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        for i in range(fx.Float32(n)):  # here
            out[i] = 1

    refused(body, DslTypeError, "are integers, got Float32", "fx.Int32(x)")


def test_bounds_that_are_no_numbers() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        for i in range("many"):  # here
            out[i] = 1

    refused(body, DslTypeError, "are integers, got str 'many'")


def test_too_many_bounds() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        for i in range(0, n, 1, 2):  # here
            out[i] = 1

    refused(body, DslTypeError, "1 to 3 bounds, got 4")


def test_a_vector_as_condition() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        if fx.Vector.filled(2, 1, fx.Int32) > 0:  # here
            out[0] = 1

    refused(body, DslRuntimeError, "a vector has no single truth value", "reduce")


def test_a_list_that_a_nested_function_changes() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        count = [0]

        def bump():
            count[0] += 1

        for i in range(n):  # here
            bump()
        out[0] = count[0]

    refused(body, DslTypeError, "'count' is changed inside the run-time `for`", "return the new value")


def test_const_expr_of_a_raw_value() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        if fx.const_expr((n > 2).ir_value()):  # here
            out[0] = 1

    refused(body, DslRuntimeError, "known while tracing, got a run-time i1", "drop const_expr")


def test_range_constexpr_of_a_raw_value() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        for i in fx.range_constexpr(n.ir_value()):  # here
            out[i] = 1

    refused(body, DslRuntimeError, "its bounds cannot be a run-time i32")


def test_const_expr_reads_a_raw_constant() -> None:
    """The raw value of a false is an object, which Python counts as true."""

    @flyc.kernel
    def kernel(out: fx.Tensor):
        if fx.const_expr(fx.Boolean(False).ir_value()):
            out[0] = 1
        for i in fx.range_constexpr(fx.Int32(2).ir_value()):
            out[i + 1] = 7

    @flyc.jit
    def run(out: fx.Tensor):
        kernel(out).launch(grid=1, block=1)

    out = np.full(4, -1, np.int32)
    run(out)
    np.testing.assert_array_equal(out, [-1, 7, 7, -1])


@dataclass(frozen=True)
class Tile:
    """Rows alone are compared."""

    rows: float
    name: int = field(default=0, compare=False)


@dataclass
class OpenTile:
    """The same of what can change."""

    rows: float
    name: int = field(default=0, compare=False)


class NamedRow(tuple[int, ...]):
    """A tuple with an attribute."""

    name = 0


def named_row(name: int) -> NamedRow:
    row = NamedRow([1])
    row.name = name
    return row


PAIRS = {
    "a field that is not compared": (Tile(1, 1), Tile(1, 2)),
    "fields of other types": (Tile(1), Tile(1.0)),
    "an object that can change": (OpenTile(1, 1), OpenTile(1, 2)),
    "an attribute of a tuple": (named_row(1), named_row(2)),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_objects_that_call_themselves_equal(pair: tuple[Any, Any]) -> None:
    """One of them would stand for both, whatever the run decides."""
    assert pair[0] == pair[1]

    def branch(out: fx.Tensor, n: fx.Int32):
        tile = pair[0]
        if n > 2:
            tile = pair[1]  # here
        out[0] = tile.name

    def loop(out: fx.Tensor, n: fx.Int32):
        tile = pair[0]
        for _ in range(n):
            tile = pair[1]  # here
        out[0] = tile.name

    for body in (branch, loop):
        refused(body, DslTypeError, "'tile", "have an fx.Constexpr argument decide the rest")


def test_objects_that_are_made_alike() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        tile = Tile(3, 1)
        if n > 2:
            tile = Tile(3, 1)
        out[0] = tile.name

    assert launch(body)[0] == 1


@pytest.mark.parametrize("make", [lambda: OpenTile(2, 5), lambda: {1, 2}, lambda: deque([1]), lambda: bytearray(2)])
def test_objects_that_are_made_alike_and_can_change(make: Callable[[], Any]) -> None:
    """What changes one of them later would change what stands for both, or not."""

    def body(out: fx.Tensor, n: fx.Int32):
        first = chosen = make()
        if n > 2:
            chosen = make()  # here
        out[0] = chosen is first

    refused(body, DslTypeError, "'chosen' is", "depending on a run-time condition")


def test_zeros_of_either_sign_in_an_object() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        tile = Tile(fx.Float32(0.0)) if n > 2 else Tile(fx.Float32(-0.0))  # here
        out[0] = 1.0 / tile.rows

    refused(body, DslTypeError, "the conditional expression is Tile")


def test_a_class_that_a_run_chooses() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        kind = fx.Int32
        if n > 2:
            kind = fx.Int8  # here
        out[0] = kind(n)

    refused(body, DslTypeError, "'kind' is the class Int8", "or the class Int32")


def test_a_class_beside_what_is_carried() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        kept, space = [fx.Int8, 250], SimpleNamespace(dtype=fx.Int8, sum=250)
        for i in range(n):
            kept[1] += i
            space.sum += i
        out[0], out[1] = kept[0](kept[1]), space.dtype(space.sum)

    assert launch(body, n=4)[:2] == [0, 0]


class Scaled:
    """A type of the user's: one number travels, and what it is multiplied by comes from the exemplar."""

    def __init__(self, number: Any, scale: Any) -> None:
        self.number, self.scale = number, scale

    def __extract_to_ir_values__(self) -> list[Any]:
        return [fx.Int32(self.number).ir_value()]

    @classmethod
    def __construct_from_ir_values__(cls, values: list[Any], exemplar: Any = None) -> Scaled:
        return cls(fx.Int32(values[0]), exemplar.scale)


@pytest.mark.parametrize("scales", [(2, 3), (fx.Int32(2), fx.Int32(3)), ([2], [3])], ids=str)
def test_types_of_the_user_that_differ_in_more_than_travels(scales: tuple[Any, Any]) -> None:
    def branch(out: fx.Tensor, n: fx.Int32):
        scaled = Scaled(n, scales[0])
        if n > 2:
            scaled = Scaled(n + 1, scales[1])  # here
        out[0] = scaled.number

    def loop(out: fx.Tensor, n: fx.Int32):
        scaled = Scaled(n, scales[0])
        for _ in range(n):
            scaled = Scaled(scaled.number + 1, scales[1])  # here
        out[0] = scaled.number

    for body in (branch, loop):
        refused(body, DslTypeError, "'scaled' is Scaled", "have an fx.Constexpr argument decide the rest")


def test_types_of_the_user_that_differ_in_what_travels() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        scaled = Scaled(0, [2, fx.Int32(3)])
        if t > 1:
            scaled = Scaled(t, [2, fx.Int32(3)])
        for i in range(n):
            scaled = Scaled(scaled.number + i, [2, fx.Int32(3)])
        out[t] = scaled.number * scaled.scale[0]

    assert launch(body, n=4) == [12, 12, 16, 18]


def test_dicts_whose_keys_are_in_another_order() -> None:
    """What goes through one of them meets its items in an order that only the run knows."""

    def branch(out: fx.Tensor, n: fx.Int32):
        table = {"a": 1, "b": n}
        if n > 2:
            table = {"b": 5, "a": n}  # here
        out[0] = sum(place * item for place, item in enumerate(table.values()))

    def moved(out: fx.Tensor, n: fx.Int32):
        table = {"a": 1, "b": n}
        if n > 2:
            table["a"] = table.pop("a")  # here
        out[0] = sum(place * item for place, item in enumerate(table.values()))

    def loop(out: fx.Tensor, n: fx.Int32):
        table = {1: 1, "b": n}
        for i in range(n):
            table = {"b": i, 1: n}  # here
        out[0] = sum(place * item for place, item in enumerate(table.values()))

    def moved_in_a_loop(out: fx.Tensor, n: fx.Int32):
        table = {"a": 1, "b": n}
        for i in range(n):
            table["a"] = table.pop("a") + i  # here
        out[0] = sum(place * item for place, item in enumerate(table.values()))

    for body in (branch, moved, loop, moved_in_a_loop):
        refused(body, DslTypeError, "'table' is a dict with", "keys", "in order: choose elements at run time")


def test_keys_that_call_themselves_equal() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        table = {1: n}
        if n > 2:
            table = {True: n + 1}  # here
        out[0] = 1 if fx.const_expr(True in [key is True for key in table]) else 2

    refused(body, DslTypeError, "'table' is a dict with True", "or a dict with 1")
