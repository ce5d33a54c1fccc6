# ruff: noqa: B007 (loops of kernels that only count)
"""Python state that is changed under a run-time condition is refused, wherever it is kept and however it is reached."""

from __future__ import annotations

import array
import contextvars
import ctypes
import functools
import itertools
import random
import sys
import threading
from collections import ChainMap, UserDict, UserList, deque
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.base.errors import DslRuntimeError, DslTypeError
from tests.unit.control_flow.running import launch, refused

# State of many kinds, and the code that changes it ------------------------------------------------


class Steps:
    """Counts in an attribute, in a list it holds and in the class."""

    total = 0

    def __init__(self) -> None:
        self.count = 0
        self.log = [0]

    def bump(self) -> int:
        self.count += 1
        return self.count

    def note(self) -> int:
        self.log.append(1)
        return 1

    @classmethod
    def bump_total(cls) -> int:
        cls.total += 1
        return cls.total


class Slotted:
    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def bump(self) -> int:
        self.count += 1
        return self.count


class Private:
    __slots__ = ("__count",)

    def __init__(self) -> None:
        self.__count = 0

    def bump(self) -> int:
        self.__count += 1
        return self.__count


class CountingList(list[int]):
    """Counts beside its items, as the classes below do."""

    count = 0

    def bump(self) -> int:
        self.count += 1
        return self.count


class CountingDict(dict[str, int]):
    count, bump = 0, CountingList.bump


class CountingTuple(tuple[int, ...]):
    count, bump = 0, CountingList.bump


class CountingNumber(int):
    count, bump = 0, CountingList.bump


STEPS = Steps()
COUNT = 0
CONTEXT = contextvars.ContextVar("CONTEXT", default=0)
SEEN: set[int] = set()


def bump_global_object() -> int:
    return STEPS.bump()


def bump_global() -> int:
    global COUNT
    COUNT += 1
    return COUNT


def see() -> int:
    SEEN.add(len(SEEN))
    return 1


def default_list(kept=[]) -> int:  # noqa: B006
    kept.append(1)
    return len(kept)


def of_function() -> int:
    of_function.count += 1
    return of_function.count


of_function.count = 0


def counter():
    count = 0

    def bump() -> int:
        nonlocal count
        count += 1
        return count

    return bump


def counted():
    number = 0
    while True:
        yield number
        number += 1


def _store(values: Any) -> int:
    values[0] += 5
    return 1


def _add(values: Any) -> int:
    values.add(7)
    return 1


def _append(values: Any) -> int:
    values.append(7)
    return 1


KINDS: dict[str, tuple[Any, Any]] = {
    "attribute": (Steps, lambda x: x.bump()),
    "list in an object": (Steps, lambda x: x.note()),
    "class attribute": (lambda: Steps, lambda x: x.bump_total()),
    "slot": (Slotted, lambda x: x.bump()),
    "private slot": (Private, lambda x: x.bump()),
    "bound method": (lambda: Steps().bump, lambda x: x()),
    "partial": (lambda: functools.partial(Steps.bump, Steps()), lambda x: x()),
    "object in a tuple": (lambda: (Steps(),), lambda x: x[0].bump()),
    "object in a list": (lambda: [Steps()], lambda x: x[0].bump()),
    "object in a namespace": (lambda: SimpleNamespace(at=Steps()), lambda x: x.at.bump()),
    "global object": (int, lambda x: bump_global_object()),
    "global": (int, lambda x: bump_global()),
    "attribute of a list": (CountingList, lambda x: x.bump()),
    "attribute of a dict": (CountingDict, lambda x: x.bump()),
    "attribute of a tuple": (CountingTuple, lambda x: x.bump()),
    "attribute of a number": (CountingNumber, lambda x: x.bump()),
    "context variable": (int, lambda x: CONTEXT.set(CONTEXT.get() + 1)),
    "attribute of a thread": (threading.local, lambda x: setattr(x, "count", 1)),
    "global set": (int, lambda x: see()),
    "default": (int, lambda x: default_list()),
    "attribute of a function": (int, lambda x: of_function()),
    "captured variable": (counter, lambda x: x()),
    "set": (set, _add),
    "method of a set": (lambda: set().add, lambda x: x(1) or 1),
    "method of a list": (lambda: [1].__setitem__, lambda x: x(0, 2) or 1),
    "deque": (deque, _append),
    "UserList": (lambda: UserList([1, 2]), _store),
    "UserDict": (lambda: UserDict({0: 1}), _store),
    "ChainMap": (lambda: ChainMap({0: 1}, {1: 2}), _store),
    "bytearray": (lambda: bytearray(2), _store),
    "array": (lambda: array.array("i", [1, 2]), _store),
    "ctypes": (lambda: (ctypes.c_int * 2)(), _store),
    "NumPy array": (lambda: np.zeros(3), _store),
    "array of bfloat16": (lambda: np.zeros(3, ml_dtypes.bfloat16), _store),
    "NumPy row": (lambda: np.zeros((3, 3)).T, lambda x: _store(x[1])),
    "NumPy array of objects": (lambda: np.array([1, None], object), _store),
    "list iterator": (lambda: iter([4, 4, 4]), next),
    "range iterator": (lambda: iter(range(4)), next),
    "zip": (lambda: zip([4, 4], [4, 4]), lambda x: next(x)[0]),
    "enumerate": (lambda: enumerate("aa"), lambda x: next(x)[0]),
    "map": (lambda: map(int, "44"), next),
    "count": (itertools.count, next),
    "cycle": (lambda: itertools.cycle([4, 4]), next),
    "generator": (counted, next),
    "generator expression": (lambda: (4 for _ in range(3)), next),
    "random numbers": (lambda: random.Random(1), lambda x: x.randrange(4)),
    "random module": (int, lambda x: random.randrange(4)),
    "NumPy's random numbers": (lambda: np.random.default_rng(0), lambda x: int(x.integers(4))),
    "NumPy's old random numbers": (int, lambda x: int(np.random.randint(4))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_state_changed_in_a_branch(kind: str) -> None:
    make, change = KINDS[kind]

    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        state = make()
        if t < n:
            change(state)  # here
        out[t] = t

    refused(body, DslTypeError, "is changed inside the run-time `if`")


@pytest.mark.parametrize("kind", KINDS)
def test_state_changed_in_a_loop(kind: str) -> None:
    make, change = KINDS[kind]

    def body(out: fx.Tensor, n: fx.Int32):
        state = make()
        for i in range(n):
            change(state)  # here
        out[0] = 1

    refused(body, DslTypeError, "is changed inside the run-time `for`")


# Every kind of region -----------------------------------------------------------------------------


def test_the_else_branch() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        steps = Steps()
        if n > 2:
            out[0] = 1
        else:
            steps.bump()  # here

    refused(body, DslTypeError, "'steps.count'", "x = f(x)")


def test_a_while_loop() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        steps, i = Steps(), n
        while i > 0:
            out[0] = steps.bump()  # here
            i -= 1

    refused(body, DslTypeError, "'steps.count'", "`while`")


def test_the_condition_of_a_while_loop() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        numbers, i = iter([3, 2, 1]), n
        while i > next(numbers):  # here
            i -= 1

    refused(body, DslTypeError, "'numbers'", "take the elements before the `while`")


def test_a_conditional_expression() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        items = [1, 2, 3]
        out[0] = items.pop() if n > 2 else 0  # here

    refused(body, DslTypeError, "'items[2]'")


def test_and_after_a_run_time_condition() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        steps = Steps()
        if n > 2 and steps.bump() > 1:  # here
            out[0] = 1

    refused(body, DslTypeError, "'steps.count'", "run-time `and`")


def test_an_inner_region_and_an_object_made_in_the_outer_one() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        for i in range(n):
            steps = Steps()
            steps.bump()
            if i > 1:
                steps.bump()  # here

    refused(body, DslTypeError, "'steps.count'", "`if`")


def test_an_object_of_the_outer_region_changed_in_the_inner_one() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        steps = Steps()
        for i in range(n):
            if i > 1:
                steps.bump()  # here

    refused(body, DslTypeError, "'steps.count'")


def test_a_change_in_an_inner_region_that_the_outer_one_takes_back() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        steps = Steps()
        for i in range(n):
            if i > 1:
                steps.bump()  # here
            out[i] = steps.count
            steps.__init__()

    refused(body, DslTypeError, "'steps.count'", "`if`")


# What may change ----------------------------------------------------------------------------------


class Table:
    @functools.cached_property
    def rows(self) -> int:
        return 8

    def width(self) -> int:
        return 3


def test_state_changed_outside_or_made_inside_is_python_s_own() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        steps, numbers = Steps(), iter(range(9))
        first = next(numbers)
        steps.bump()
        for i in range(n):
            inner = Steps()
            inner.bump()
            out[t] = inner.count + steps.count + first + i
        steps.bump()
        if t > 0:
            out[t] += steps.count * 10 + Table().rows

    assert launch(body, n=3) == [4, 32, 32, 32]


def test_a_property_that_is_computed_once_may_be() -> None:
    table = Table()

    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        if t > 1:
            out[t] = table.rows + table.width()

    assert launch(body) == [0, 0, 11, 11]


def test_a_property_that_keeps_a_run_time_value_is_refused() -> None:
    class Kept:
        def __init__(self, value) -> None:
            self.value = value

        @functools.cached_property
        def more(self):
            return self.value + 1

    def body(out: fx.Tensor, n: fx.Int32):
        kept = Kept(n)
        if n > 1:
            out[0] = kept.more  # here

    refused(body, DslTypeError, "'kept.more'")


def test_a_long_chain_of_objects_is_walked() -> None:
    class Link:
        def __init__(self, after) -> None:
            self.after, self.count = after, 0

    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        chain = functools.reduce(lambda after, _: Link(after), fx.range_constexpr(5000), None)
        if t > 1:
            out[t] = chain.count + 1

    assert launch(body) == [0, 0, 1, 1]


def test_nesting_that_python_cannot_follow_is_an_error_of_ours() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        x = functools.reduce(lambda inner, _: {0: inner}, fx.range_constexpr(3000), 1)
        if n > 2:  # here
            x[0] = 2
        out[0] = 1 if x else 0

    refused(body, DslRuntimeError, "limit of nested calls", "kept flat")


@pytest.mark.parametrize("count", [150, 300, 2000])
def test_chains_of_many_elif(count: int, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Each is inside those before it, down to Python's limit; as many `if` are not."""
    request.addfinalizer(partial(sys.setrecursionlimit, sys.getrecursionlimit()))
    sys.setrecursionlimit(1000)  # as Python has it, whatever libraries made of it

    def chain(word: str) -> Any:
        branches = [f"    {word if i else 'if'} n == {i}:  # here\n        x = fx.Int32({3 * i})" for i in range(count)]
        head = ["def body(out: fx.Tensor, n: fx.Int32):  # here", "    x = fx.Int32(0)"]
        path, names = tmp_path / f"{word}.py", {"fx": fx}
        path.write_text("\n".join([*head, *branches, "    out[0] = x"]))
        exec(compile(path.read_text(), str(path), "exec"), names)
        return names["body"]

    refused(chain("elif"), DslRuntimeError, "limit of nested calls", "write `if` where one can hold")
    if count == 300:
        assert launch(chain("if"), n=250, threads=1) == [750]
