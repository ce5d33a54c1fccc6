"""The guard of captured things: it notices every kind of change, in few objects and among many, and nothing else."""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from flydsl.compiler.capture.values import Guard

Watch = Callable[[Guard], Any]


class Slotted:
    __slots__ = ("a",)


def with_defaults(x: int = 1000, *, y: int = 2000) -> int:
    return x + y


def names(count: int, change: Callable[[dict[str, Any]], Any]) -> tuple[Watch, Callable[[], Any]]:
    scope = {f"name{n}": object() for n in range(count)} | {"there": object(), "other": object()}

    def watch(guard: Guard) -> None:
        for name in (*[f"name{n}" for n in range(count)], "there", "missing"):
            guard.name(scope, name, name)

    return watch, lambda: change(scope)


def mapping(count: int, change: Callable[[dict[Any, Any]], Any], **options: Any) -> tuple[Watch, Callable[[], Any]]:
    table: dict[Any, Any] = {"a": object(), "b": object(), "c": object()} | {n: object() for n in range(count)}
    return lambda guard: guard.mapping(table, table, dict, "[\0]", **options), lambda: change(table)


def items(count: int, change: Callable[[list[Any]], Any]) -> tuple[Watch, Callable[[], Any]]:
    found = [object() for _ in range(count)]
    return lambda guard: guard.items(found, found.__iter__, ""), lambda: change(found)


def attributes_of_a_class(change: Callable[[type], Any]) -> tuple[Watch, Callable[[], Any]]:
    kind = type("Kind", (), {"factor": object(), "other": object()})
    return lambda guard: guard.mapping(kind, vars(kind), MappingProxyType, "Kind.\0"), lambda: change(kind)


def function(change: Callable[[Any], Any]) -> tuple[Watch, Callable[[], Any]]:
    made = types.FunctionType(with_defaults.__code__, globals(), "copy", with_defaults.__defaults__)
    made.__kwdefaults__ = {"y": 2000}
    return lambda guard: guard.function(made), lambda: change(made)


def cell(change: Callable[[types.CellType], Any]) -> tuple[Watch, Callable[[], Any]]:
    made = types.CellType(value := object())
    return lambda guard: guard.item(made, "\0", "x", "{0}.cell_contents", (made,), value), lambda: change(made)


def slots(change: Callable[[Slotted], Any]) -> tuple[Watch, Callable[[], Any]]:
    owner = Slotted()
    owner.a = object()
    read = Slotted.__dict__["a"].__get__
    return lambda guard: guard.item(owner, ".\0", "a", "{0}({1})", (read, owner), owner.a), lambda: change(owner)


def data(change: Callable[[Any], Any]) -> tuple[Watch, Callable[[], Any]]:
    array = np.zeros(4)
    return lambda guard: guard.data(array, lambda a: a.tobytes(), "array"), lambda: change(array)


def exchanged(scope: dict[str, Any]) -> None:
    scope["name0"], scope["name1"] = scope["name1"], scope["name0"]


CHANGES: dict[str, Callable[[], tuple[Watch, Callable[[], Any]]]] = {
    "a name is bound anew": lambda: names(0, lambda s: s.update(there=object())),
    "a name is gone": lambda: names(0, lambda s: s.pop("there")),
    "a name appears": lambda: names(0, lambda s: s.update(missing=None)),
    "one of many names is bound anew": lambda: names(100, lambda s: s.update(name77=object())),
    "two of many names are exchanged": lambda: names(100, exchanged),
    "one of many names is gone": lambda: names(100, lambda s: s.pop("name77")),
    "one of many names is gone and another came": lambda: names(100, lambda s: s.update(new=s.pop("name77"))),
    "a value of a small dict": lambda: mapping(0, lambda m: m.update(a=object())),
    "another key in a small dict": lambda: mapping(0, lambda m: m.update(d=m.pop("c"))),
    "another order of a small dict": lambda: mapping(0, lambda m: m.update(a=m.pop("a"))),
    "a value of a large dict": lambda: mapping(50, lambda m: m.update(a=object())),
    "another key for a value": lambda: mapping(50, lambda m: m.update({-1: m.pop(49)})),
    "an entry more": lambda: mapping(50, lambda m: m.update(d=1)),
    "an entry less": lambda: mapping(50, lambda m: m.pop("b")),
    "another order": lambda: mapping(50, lambda m: m.update(a=m.pop("a"))),
    "a value of some": lambda: mapping(0, lambda m: m.update(a=None), loose={"b"}),
    "an attribute of a class": lambda: attributes_of_a_class(lambda k: setattr(k, "factor", object())),
    "an attribute of a class that is gone": lambda: attributes_of_a_class(lambda k: delattr(k, "factor")),
    "defaults": lambda: function(lambda f: setattr(f, "__defaults__", (7,))),
    "defaults that are gone": lambda: function(lambda f: setattr(f, "__defaults__", None)),
    "keyword defaults": lambda: function(lambda f: setattr(f, "__kwdefaults__", {"y": 7})),
    "a closure variable": lambda: cell(lambda c: setattr(c, "cell_contents", object())),
    "a closure variable without value": lambda: cell(lambda c: delattr(c, "cell_contents")),
    "an item of a small list": lambda: items(2, lambda found: found.__setitem__(1, object())),
    "an item more in a small list": lambda: items(2, lambda found: found.append(object())),
    "an item of a long list": lambda: items(50, lambda found: found.__setitem__(33, object())),
    "an item less in a long list": lambda: items(50, lambda found: found.pop()),
    "an attribute in a slot": lambda: slots(lambda owner: setattr(owner, "a", object())),
    "bytes of an array": lambda: data(lambda array: array.__setitem__(0, 1.0)),
}


def sealed(*watches: Watch) -> Guard:
    guard = Guard()
    for watch in watches:
        watch(guard)
    guard.seal()
    return guard


@pytest.mark.parametrize("change", CHANGES)
def test_every_kind_of_change(change: str) -> None:
    watch, make = CHANGES[change]()
    guard = sealed(watch)
    assert guard.holds() is True and guard.changes() == []
    make()
    assert guard.holds() is False
    assert guard.changed_parts() or "order" in change


@pytest.mark.parametrize("change", CHANGES)
def test_one_change_among_many_kinds(change: str) -> None:
    pairs = {name: make() for name, make in CHANGES.items()}
    guard = sealed(*(watch for watch, _ in pairs.values()))
    assert guard.holds() is True
    pairs[change][1]()
    assert guard.holds() is False


@pytest.mark.parametrize("count", [0, 100])
def test_what_is_not_watched_may_change(count: int) -> None:
    watch, make = names(count, lambda s: s.update(other=object(), more=1))
    guard = sealed(watch)
    for _ in range(3):
        make()
        assert guard.holds() is True


def test_items_that_move_from_one_container_to_the_next() -> None:
    first, second = [object() for _ in range(20)], [object() for _ in range(20)]
    guard = sealed(lambda g: g.items(first, first.__iter__, ""), lambda g: g.items(second, second.__iter__, ""))
    first.append(second.pop(0))
    assert guard.holds() is False


@pytest.mark.parametrize("count", [1, 100])
def test_an_equal_number_in_a_new_object_is_the_same(count: int) -> None:
    scope: dict[str, Any] = {f"n{n}": int(f"{n}123456789") for n in range(count)}
    guard = sealed(*(lambda g, name=name: g.name(scope, name, name) for name in list(scope)))
    scope["n0"] = int("0123456789")
    assert guard.holds() is True
    scope["n0"] = 123456789.0
    assert guard.holds() is False


def test_another_number_at_the_address_of_an_equal_one() -> None:
    scope: dict[str, Any] = {f"n{n}": int(f"{n + 1}123456789") for n in range(100)}
    guard = sealed(*(lambda g, name=name: g.name(scope, name, name) for name in list(scope)))
    for _ in range(100):
        scope["n0"] = int("1123456789")  # equal, and alive only here
        assert guard.holds() is True
        scope["n0"] = None
        scope["n0"] = int("1123456788")  # where the other was
        assert guard.holds() is False


def test_keys_with_braces() -> None:
    table = {"{0}": object(), "a}": object()}
    guard = sealed(lambda g: g.mapping(table, table, dict, "[\0]"))
    assert guard.holds() is True
    table["{0}"] = object()
    assert guard.holds() is False
    assert guard.changes()[0].startswith("'['{0}']' is ")


def test_a_key_that_cannot_be_compared_raises_nothing() -> None:
    class Awkward:
        def __hash__(self) -> int:
            return hash("there")

        def __eq__(self, other: object) -> bool:
            raise RuntimeError("do not compare me")

    scope: dict[Any, Any] = {"there": object()}
    guard = sealed(lambda g: g.name(scope, "there", "there"))
    scope[Awkward()] = scope.pop("there")
    assert guard.holds() is False
    assert sys.exc_info() == (None, None, None)


@pytest.mark.usefixtures("young_heap")
def test_what_the_guard_mentions_lives_as_long_as_the_guard() -> None:
    pairs = [make() for make in CHANGES.values()]
    holds = sealed(*(watch for watch, _ in pairs)).holds
    del pairs
    gc.collect()
    assert holds() is True


@pytest.mark.parametrize("count", [0, 100])
def test_a_wrapper_that_calls_itself_equal_is_another_object(count: int) -> None:
    class Proxy:
        def __init__(self, wrapped: Any) -> None:
            self.wrapped = wrapped

        def __eq__(self, other: object) -> bool:
            return self.wrapped == other

        __hash__ = None  # type: ignore[assignment]

    table: dict[Any, Any] = {"helper": with_defaults} | dict.fromkeys(range(count))
    scope: dict[str, Any] = {"helper": with_defaults} | {f"n{n}": n for n in range(count)}
    guard = sealed(lambda g: g.mapping(table, table, dict, "[\0]"),
                   *(lambda g, name=name: g.name(scope, name, name) for name in list(scope)))  # fmt: skip
    for place in (scope, table):
        place["helper"] = Proxy(with_defaults)
        assert guard.holds() is False
        place["helper"] = with_defaults
        assert guard.holds() is True
