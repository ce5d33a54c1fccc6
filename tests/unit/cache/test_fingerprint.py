"""Descriptions of values: equal exactly for values that make the same code, and never by running the user's code."""

from __future__ import annotations

import ctypes
import enum
import functools
import re
import threading
import typing
from array import array
from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.base.errors import DslTypeError
from flydsl.compiler.capture.inputs import Inputs, Walk

Point = namedtuple("Point", "x y")


class Level(enum.IntEnum):
    LOW = 1


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Number(int):
    def __int__(self) -> int:
        raise AssertionError("the user's code was run")

    __index__ = __repr__ = __str__ = __eq__ = __hash__ = __int__  # type: ignore[assignment]


class OwnState:
    def __getstate__(self) -> Any:
        raise AssertionError("the user's code was run")


class Slotted:
    __slots__ = ("__hidden", "a")

    def __init__(self, a: Any, hidden: Any) -> None:
        self.a = a
        self.__hidden = hidden


@dataclass(frozen=True, slots=True)
class FrozenSlots:
    a: int
    b: Any = 3


FIXED = np.zeros(1 << 20)
FIXED.flags.writeable = False


def described(value: Any) -> tuple[str, list[str]]:
    walk = Walk()
    head = walk.text(value)
    return "\n".join([head, *walk.lines]), walk.opaque


DISTINCT = [
    None, True, 1, 1.0, "1", b"1", 1 + 0j, False, 0, 0.0, -0.0, float("inf"), float("nan"), "None", "", b"",
    10**5000, -(10**5000), 1 << 64, ..., (), (1,), (True,), (1.0,), [1], [True], [[1]],
    {1}, frozenset({1}), {"a": 1}, {"a": True}, {"b": 1}, {"a": 1, "b": 2}, {"b": 2, "a": 1}, OrderedDict(a=1),
    defaultdict(int, a=1), defaultdict(list, a=1), MappingProxyType({"a": 1}), SimpleNamespace(a=1),
    SimpleNamespace(a=2), SimpleNamespace(b=1), range(3), range(0, 3, 2), slice(1, 2), Point(1, 2), Point(1, True),
    Level.LOW, Access.READ, Access.READ | Access.WRITE, Number(5), Number(6), Slotted(1, 2), Slotted(1, 3),
    Slotted(2, 2), FrozenSlots(1), FrozenSlots(1, 4), np.float32(1), np.float64(1), np.int32(1), np.dtype("f4"),
    np.dtype("f8"), np.dtype([("a", "f4")]), np.array([1, 2]), np.array([1, 3]), np.array([[1, 2]]),
    np.array([1, 2], np.int16), bytearray(b"a"), bytearray(b"b"), int, float, Point, Level, fx.Int32, fx.Float16,
    list[int], list[float], int | None, typing.Any, fx.Constexpr[int], fx.Constexpr[float],
    fx.make_layout(4, 1), fx.make_layout(4, 2), fx.make_layout((4, 2), (1, 4)), fx.UniversalCopy128b(),
    fx.UniversalCopy64b(), len, functools.partial(len, 1), functools.partial(len, 2), np.sum, np.exp, functools.reduce,
    [].append, [].pop, {}.keys(), {}.items(), {1: 2}.keys(), memoryview(b"a"), memoryview(b"b"), array("i", [1]),
    array("i", [2]), array("l", [1]), ctypes.c_int(1), ctypes.c_int(2), ctypes.c_uint(1), (ctypes.c_int * 2)(1, 2),
    np.array([1, "a"], object), np.array([2, "a"], object), np.array([[1, "a"]], object),
    lambda x: x, lambda x: x + 1, lambda x, y=1: x, lambda x, y=2: x, lambda x, *, y=1: x, Slotted.__init__,
]  # fmt: skip


def test_different_values_have_different_descriptions() -> None:
    seen: dict[str, Any] = {}
    for value in DISTINCT:
        text, opaque = described(value)
        assert not opaque, (type(value), opaque)
        assert text not in seen, f"{type(value)} is described like {type(seen[text])}: {text[:200]}"
        seen[text] = value


def test_equal_values_in_other_objects_have_equal_descriptions() -> None:
    def values() -> list[Any]:
        return [
            [1, (2, "x")], {"a": [1], "b": {2}}, Slotted(1, (2,)), FrozenSlots(5), Point(1, [2]), np.arange(3),
            SimpleNamespace(a=[1]), functools.partial(len, [1]), float("1.5"), fx.make_layout((2, 3), (3, 1)),
        ]  # fmt: skip

    assert [described(v)[0] for v in values()] == [described(v)[0] for v in values()]


def test_a_method_given_to_a_dataclass_counts() -> None:
    texts = []
    for body in ("self.a", "self.a + 1"):
        scope: dict[str, Any] = {}
        exec(f"def total(self):\n    return {body}\n", scope)
        made = dataclass(type("Made", (), {"__annotations__": {"a": int}, "total": scope["total"]}))
        texts.append(described(made(1))[0])
    assert texts[0] != texts[1]


def test_thousands_of_linked_objects() -> None:
    texts = []
    for last in (1, 2):
        node: Any = SimpleNamespace(value=last, next=None)
        nested: Any = (last,)
        function: Any = lambda last=last: last  # noqa: E731
        for _ in range(3000):
            node, nested = SimpleNamespace(value=0, next=node), (nested,)
            function = _calling(function)
        texts.append(tuple(described(value) for value in (node, nested, function)))
    assert all(first[0] != second[0] for first, second in zip(*texts))
    assert not any(text[1] for text in texts[0])


def _calling(function: Any) -> Any:
    return lambda: function()


def test_cycles_end() -> None:
    first: list[Any] = [1]
    first.append(first)
    node = SimpleNamespace()
    node.self = [node, first]
    assert described(first)[1] == [] and described(node)[1] == []


BY_IDENTITY = [threading.Lock(), np.random.default_rng(0), OwnState(), FIXED, {OwnState(), OwnState()}]


@pytest.mark.parametrize("value", BY_IDENTITY, ids=lambda value: type(value).__name__)
def test_what_cannot_be_described_says_so(value: Any) -> None:
    assert described(value)[1]
    assert described([value])[1]


REFUSED = {
    "a large array": (
        np.zeros(1 << 20),
        "an array of more than 1048576 bytes that can be written",
        "writeable = False",
    ),
    "a long list": (list(range(20_000)), "a list of more than 10000 items", "a tuple"),
    "an iterator": (iter([1]), "an iterator (list_iterator), which each reading changes", "a tuple"),
    "a generator": ((i for i in ()), "an iterator (generator)", "a tuple"),
    "an array of records with objects": (np.zeros(2, [("a", "O")]), "memory with pointers", "argument"),
    "a pointer": (ctypes.c_char_p(b"text"), "memory with pointers", "argument"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_could_change_unseen_is_refused(name: str) -> None:
    value, message, advice = REFUSED[name]

    def read() -> Any:
        return value

    with pytest.raises(DslTypeError, match=re.escape(message)) as caught:
        Inputs(read)
    assert "'read' reads 'value', " in str(caught.value)
    assert advice in str(caught.value.hint)
    assert caught.value.location is not None and caught.value.location.file == __file__
    described(SimpleNamespace(unread=value))  # nobody asks for it


def test_the_advice_for_a_long_list_and_an_iterator_works() -> None:
    numbers, few = tuple(range(20_000)), tuple(iter([1]))
    assert Inputs(lambda: numbers[0] + few[0]).unchanged()


def test_an_unbound_variable_and_a_recursive_function() -> None:
    def recursive(n: int) -> int:
        return recursive(n - 1) + later if n else 0

    before = Inputs(recursive)
    assert before.unchanged()
    later = 5
    assert not before.unchanged()
    assert Inputs(recursive).unchanged()
    assert recursive(1) == 5


def test_a_generic_instance_is_a_name_of_numpy_with_its_version() -> None:
    assert f"@{np.__version__}" in described(np.sum)[0]
    assert described(fx.Int32)[0] == "flydsl.expr.numeric.Int32"


def test_a_change_is_reported_to_every_thread_that_asks() -> None:
    scope: dict[str, Any] = {"VALUE": 1}
    exec("def read():\n    return VALUE\n", scope)
    captured = Inputs(scope["read"])
    scope["VALUE"] = 2
    assert [captured.unchanged() for _ in range(3)] == [False] * 3
    scope["VALUE"] = 1
    assert captured.unchanged()
