"""The native check of captured things: it notices what the one in Python does, and nothing else."""

from __future__ import annotations

import gc
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compiler import captured, native_watches, own_objects
from flydsl.compiler.watches import Watches


class Slotted:
    __slots__ = ("a",)


class Plain:
    factor = object()


def with_defaults(x: int = 1000, *, y: int = 2000) -> int:
    return x + y


def cell_of(value: Any) -> types.CellType:
    return types.CellType(value)


def _in_scope(change: Callable[[dict[str, Any]], Any]) -> Any:
    scope = {"there": object(), "other": object()}

    def watch(watches: Watches) -> None:
        watches.name(scope, "there", "there")
        watches.name(scope, "missing", "missing")

    return watch, lambda: change(scope)


def _in_mapping(change: Callable[[dict[Any, Any]], Any], **options: Any) -> Any:
    mapping: dict[Any, Any] = {"a": object(), "b": object(), 3: object()}
    return lambda watches: watches.mapping(mapping, mapping, "[{}]", **options), lambda: change(mapping)


def _in_class(change: Callable[[type], Any]) -> Any:
    kind = type("Kind", (), {"factor": object(), "other": object()})
    return lambda watches: watches.mapping(kind, vars(kind), "Kind.{}", keys=False), lambda: change(kind)


def _in_function(change: Callable[[Any], Any]) -> Any:
    function = types.FunctionType(
        with_defaults.__code__, globals(), "copy", with_defaults.__defaults__, with_defaults.__closure__
    )
    function.__kwdefaults__ = {"y": 2000}
    return lambda watches: watches.function(function), lambda: change(function)


def _in_cell(change: Callable[[types.CellType], Any]) -> Any:
    cell = cell_of(object())
    return lambda watches: watches.cell(cell, "free"), lambda: change(cell)


def _in_list(change: Callable[[list[Any]], Any]) -> Any:
    items = [object(), object()]
    return lambda watches: watches.view(items, items, "[{}]"), lambda: change(items)


def _in_slots(change: Callable[[Slotted], Any]) -> Any:
    owner = Slotted()
    owner.a = object()
    return lambda watches: watches.slots(owner, {"a": Slotted.__dict__["a"]}, ".{}"), lambda: change(owner)


def _in_data(change: Callable[[Any], Any]) -> Any:
    array = np.zeros(4)
    return lambda watches: watches.data(array, lambda a: a.tobytes(), "array"), lambda: change(array)


CHANGES: dict[str, Any] = {
    "a name is bound anew": lambda: _in_scope(lambda s: s.update(there=object())),
    "a name is gone": lambda: _in_scope(lambda s: s.pop("there")),
    "a name appears": lambda: _in_scope(lambda s: s.update(missing=None)),
    "a value of a dict": lambda: _in_mapping(lambda m: m.update(a=object())),
    "another key for a value": lambda: _in_mapping(lambda m: m.update({4: m.pop(3)})),
    "an entry more": lambda: _in_mapping(lambda m: m.update(c=1)),
    "an entry less": lambda: _in_mapping(lambda m: m.pop("b")),
    "another order": lambda: _in_mapping(lambda m: m.update(a=m.pop("a"))),
    "a value of some": lambda: _in_mapping(lambda m: m.update(a=None), loose={"b"}),
    "an attribute of a class": lambda: _in_class(lambda k: setattr(k, "factor", object())),
    "an attribute of a class that is gone": lambda: _in_class(lambda k: delattr(k, "factor")),
    "defaults": lambda: _in_function(lambda f: setattr(f, "__defaults__", (7,))),
    "defaults that are gone": lambda: _in_function(lambda f: setattr(f, "__defaults__", None)),
    "keyword defaults": lambda: _in_function(lambda f: setattr(f, "__kwdefaults__", {"y": 7})),
    "a closure variable": lambda: _in_cell(lambda c: setattr(c, "cell_contents", object())),
    "a closure variable without value": lambda: _in_cell(lambda c: delattr(c, "cell_contents")),
    "an item of a list": lambda: _in_list(lambda items: items.__setitem__(1, object())),
    "an attribute in a slot": lambda: _in_slots(lambda owner: setattr(owner, "a", object())),
    "bytes of an array": lambda: _in_data(lambda array: array.__setitem__(0, 1.0)),
}


def sealed(*watchers: Callable[[Watches], None], quick: bool = True) -> Watches:
    watches = Watches()
    for watch in watchers:
        watch(watches)
    watches.seal()
    if quick:
        watches.quicken()
        assert type(watches.unchanged) is types.BuiltinFunctionType
    return watches


@pytest.mark.parametrize("quick", [False, True], ids=["python", "native"])
@pytest.mark.parametrize("change", CHANGES)
def test_every_kind_of_change(change: str, quick: bool) -> None:
    watch, make = CHANGES[change]()
    watches = sealed(watch, quick=quick)
    assert watches.unchanged() is True
    make()
    assert watches.unchanged() is False


@pytest.mark.parametrize("change", CHANGES)
def test_one_change_among_many_kinds(change: str) -> None:
    pairs = {name: make() for name, make in CHANGES.items()}
    watches = sealed(*(watch for watch, _ in pairs.values()))
    assert watches.unchanged() is True
    pairs[change][1]()
    assert watches.unchanged() is False


def test_what_is_not_watched_may_change() -> None:
    for watch, make in (
        _in_scope(lambda s: s.update(other=object(), more=1)),
        _in_mapping(lambda m: m.update(b=object()), loose={"b"}),
    ):
        watches = sealed(watch)
        make()
        assert watches.unchanged() is True


def test_an_equal_number_in_a_new_object_is_the_same() -> None:
    scope: dict[str, Any] = {"n": int("123456789"), "text": "".join(["a", "b", "c!"])}
    watches = Watches()
    watches.name(scope, "n", "n")
    watches.name(scope, "text", "text")
    watches.seal()
    watches.quicken()
    scope["n"], scope["text"] = int("123456789"), "".join(["a", "b", "c!"])
    assert watches.unchanged() is True
    scope["n"] = 123456789.0
    assert watches.unchanged() is False


def test_none_is_an_object_like_others() -> None:
    scope, cell = {"nothing": None}, cell_of(None)
    watches = Watches()
    watches.name(scope, "nothing", "nothing")
    watches.cell(cell, "free")
    watches.mapping(scope, scope, "[{}]")
    watches.seal()
    watches.quicken()
    assert watches.unchanged() is True
    cell.cell_contents = 0
    assert watches.unchanged() is False


def test_a_key_that_cannot_be_compared_raises_nothing() -> None:
    class Awkward:
        def __hash__(self) -> int:
            return hash("there")

        def __eq__(self, other: object) -> bool:
            raise RuntimeError("do not compare me")

    scope: dict[Any, Any] = {"there": object()}
    watches = Watches()
    watches.name(scope, "there", "there")
    watches.seal()
    watches.quicken()
    value = scope.pop("there")
    scope[Awkward()] = value
    assert watches.unchanged() is False
    assert sys.exc_info() == (None, None, None)


def test_what_the_check_mentions_lives_as_long_as_the_check() -> None:
    pairs = [make() for make in CHANGES.values()]
    check = sealed(*(watch for watch, _ in pairs)).unchanged
    del pairs
    gc.collect()
    assert check() is True


def test_references_are_given_back() -> None:
    value, other = object(), object()
    cell, scope = cell_of(value), {"there": other}
    watches = Watches()
    watches.cell(cell, "free")
    watches.name(scope, "there", "there")
    watches.seal()
    watches.quicken()
    before = [sys.getrefcount(x) for x in (value, other)]
    for _ in range(1000):
        watches.unchanged()
    assert [sys.getrefcount(x) for x in (value, other)] == before


def test_a_dictionary_with_ways_of_its_own_is_left_to_python() -> None:
    class Scope(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            return 1

    watches = Watches()
    watches.name(Scope(there=1), "there", "there")
    watches.seal()
    check = watches.unchanged
    watches.quicken()
    assert watches.unchanged is check


def test_another_interpreter_keeps_the_check_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_watches, "available", lambda: False)
    watches = sealed(CHANGES["a name is gone"]()[0], quick=False)
    check = watches.unchanged
    watches.quicken()
    assert watches.unchanged is check


def test_threads_that_need_it_first_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each gets a check that stays alive, whoever loads the code."""
    monkeypatch.setattr(own_objects, "_in_process", {})
    native_watches._method.cache_clear()
    start, made = threading.Barrier(8), []

    def make() -> None:
        watches = Watches()
        watches.name({"there": make}, "there", "there")
        watches.seal()
        start.wait()
        watches.quicken()
        made.append(watches.unchanged)

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    native_watches._method.cache_clear()
    gc.collect()
    assert [check() for check in made] == [True] * 8
    assert len(own_objects._in_process) == 1


def test_asking_again_changes_nothing() -> None:
    watches = sealed(CHANGES["a name is gone"]()[0])
    check = watches.unchanged
    watches.quicken()
    assert watches.unchanged is check


@pytest.mark.parametrize("quick", [False, True], ids=["python", "native"])
def test_a_wrapper_that_calls_itself_equal_is_another_object(quick: bool) -> None:
    class Proxy:
        def __init__(self, wrapped: Any) -> None:
            self.wrapped = wrapped

        def __eq__(self, other: object) -> bool:
            return self.wrapped == other

        __hash__ = None  # type: ignore[assignment]

    scope: dict[str, Any] = {"helper": with_defaults}
    table: dict[str, Any] = {"helper": with_defaults}
    watches = Watches()
    watches.name(scope, "helper", "helper")
    watches.mapping(table, table, "[{}]")
    watches.seal()
    if quick:
        watches.quicken()
    for place in (scope, table):
        place["helper"] = Proxy(with_defaults)
        assert watches.unchanged() is False
        place["helper"] = with_defaults
        assert watches.unchanged() is True


def test_a_check_that_comes_too_late_is_not_used() -> None:
    state = captured.Captured(with_defaults)
    first = state.same
    state._use(lambda: True)
    newest = state.same
    state._use(lambda: False, instead_of=first)
    assert state.same is newest


FACTOR = 3


@flyc.kernel
def scaled_kernel(a: fx.Tensor):
    a[fx.thread_idx.x] = a[fx.thread_idx.x] * FACTOR


@flyc.jit
def scaled(a: fx.Tensor):
    scaled_kernel(a).launch(grid=(1, 1, 1), block=(4, 1, 1))


def test_a_function_that_is_called_often_is_checked_natively(monkeypatch: pytest.MonkeyPatch) -> None:
    a = np.ones(4, np.float32)
    for _ in range(captured.CALLS_IN_PYTHON + 2):
        a[:] = 1
        scaled(a)
    assert type(scaled._version.same) is types.BuiltinFunctionType
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 5)
    a[:] = 1
    scaled(a)
    np.testing.assert_array_equal(a, 5)
