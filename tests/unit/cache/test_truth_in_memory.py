"""Cache truth in memory: something that compiled code was made from changes between two calls of one jit function."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.unit.cache.programs import FILES, imported, numbers


@pytest.fixture(scope="module")
def main(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    with imported(FILES, tmp_path_factory.mktemp("memory") / "program") as module:
        yield module


def module(name: str) -> Any:
    return sys.modules[name]


def set_value(where: Callable[[], Any], name: str, value: Any) -> Callable[[], Callable[[], None]]:
    """A change of an attribute, which answers with how to undo it."""

    def change() -> Callable[[], None]:
        owner = where()
        own = name in vars(owner) or name.startswith("__")
        before = vars(owner).get(name, getattr(owner, name, None))
        setattr(owner, name, value)
        return lambda: setattr(owner, name, before) if own else delattr(owner, name)

    return change


def set_item(where: Callable[[], Any], key: Any, value: Any) -> Callable[[], Callable[[], None]]:
    def change() -> Callable[[], None]:
        owner = where()
        before = owner[key]
        owner[key] = value
        return lambda: owner.__setitem__(key, before)

    return change


CHANGES: dict[str, tuple[Callable[[], Callable[[], None]], dict[int, int]]] = {
    "global two modules away": (set_value(lambda: module("deep"), "SCALE", 4), {0: 1}),
    "helper of another module": (set_value(lambda: module("deep"), "deep_helper", lambda x: x * 3 + 9), {0: 9}),
    "defaults": (set_value(lambda: module("layer").with_default, "__defaults__", (8,)), {1: 3}),
    "keyword default": (set_item(lambda: module("layer").with_keyword.__kwdefaults__, "k", 8), {2: 2}),
    "value in a dict": (set_item(lambda: module("layer").TABLE, "a", 19), {5: 10}),
    "item of a list": (set_item(lambda: module("layer").TABLE["b"], 1, 12), {5: 1}),
    "tuple": (set_value(lambda: module("main"), "PAIR", (12, 14)), {6: 1}),
    "class attribute": (set_value(lambda: module("layer").Plain, "FACTOR", 3), {9: 20}),
    "attribute of a subclass": (set_value(lambda: module("layer").Child, "FACTOR", 3), {9: 20}),
    "method": (set_value(lambda: module("layer").Plain, "method", lambda self, x: x + self.n), {9: -19}),
    "attribute of an instance": (set_value(lambda: module("layer").plain, "n", 20), {9: 4}),
    "attribute of a namespace": (set_value(lambda: module("layer").SPACE, "depth", 23), {18: 1}),
    "namespace": (set_value(lambda: module("layer"), "SPACE", SimpleNamespace(depth=25)), {18: 3}),
    "module": (set_value(lambda: module("layer"), "deep", SimpleNamespace(deep_helper=lambda x: x * 3 + 4)), {0: 4}),
    "global": (set_value(lambda: module("main"), "OFFSET", 24), {11: 1}),
    "True becomes 1": (set_value(lambda: module("main"), "FLAG", 1), {}),
    "builtin hidden by a global": (set_value(lambda: module("main"), "len", lambda v: 13), {18: 10}),
    "data type": (set_value(lambda: module("main"), "DTYPE", fx.Int8), {14: -256}),
    "item of an array": (set_item(lambda: module("main").VALUES, 1, 27), {15: 1}),
    "inlined jit function": (set_value(lambda: module("main"), "inlined", lambda x: x + 28), {17: 1}),
    "nested list": (set_item(lambda: module("main").GRAPH[0], 1, 3), {19: 1}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen_at_the_next_call(name: str, main: ModuleType) -> None:
    before = numbers(main)
    count = main.fn.cache_info().misses
    assert numbers(main) == before
    assert main.fn.cache_info().misses == count
    change, differences = CHANGES[name]
    undo = change()
    try:
        assert numbers(main) == [n + differences.get(i, 0) for i, n in enumerate(before)]
        assert main.fn.cache_info().misses == count + 1
    finally:
        undo()
    assert numbers(main) == before


HARMLESS: dict[str, Callable[[], Callable[[], None]]] = {
    "unrelated global": set_value(lambda: module("main"), "unrelated_global", 2),
    "equal tuple in another object": set_value(lambda: module("main"), "PAIR", (*[12], 13)),
    "equal dict in another object": set_value(lambda: module("layer"), "TABLE", {"a": 9, "b": [10, 11]}),
    "equal number in another object": set_value(lambda: module("main"), "RATIO", float("2")),
    "unrelated attribute of a module": set_value(lambda: module("layer"), "UNRELATED", 5),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_cannot_matter_compiles_nothing(name: str, main: ModuleType) -> None:
    before = numbers(main)
    count = main.fn.cache_info().misses
    undo = HARMLESS[name]()
    try:
        assert numbers(main) == before
        assert main.fn.cache_info().misses == count
    finally:
        undo()


# Values without a description ----------------------------------------------------------------------------------------


class Handle:
    """An object with state that Python cannot see."""

    def __reduce__(self) -> str:
        return "handle"


def test_an_opaque_object_is_compared_by_identity_and_never_kept(fresh_cache: Path) -> None:
    handle = Handle()

    @flyc.kernel
    def kernel(out: fx.Tensor):
        out[0] = 1 if handle else 2

    @flyc.jit
    def fn(out: fx.Tensor):
        kernel(out).launch()

    out = np.zeros(1, np.int32)
    fn(out)
    fn(out)
    assert fn.cache_info().misses == 1
    assert fn.cache_info().disk_size == 0
    handle = Handle()
    fn(out)
    assert fn.cache_info().misses == 2


def operator_class() -> Any:
    """A class that nothing was compiled for yet."""

    class Operator:
        """A jit function as a method, which reads what its object holds."""

        def __init__(self, **held: Any) -> None:
            self.__dict__.update(held)

        @flyc.kernel
        def kernel(self, out: fx.Tensor):
            out[0] = self.number + self.items[0] + self.table["a"] + self.inner.depth + self.bonus()

        def bonus(self) -> int:
            return 0

        @flyc.jit
        def fn(self, out: fx.Tensor):
            self.kernel(out).launch()

        def result(self) -> int:
            out = np.zeros(1, np.int32)
            self.fn(out)
            return int(out[0])

    return Operator


def held() -> dict[str, Any]:
    return {"number": 1, "items": [10], "table": {"a": 100}, "inner": SimpleNamespace(depth=1000)}


def test_what_self_holds_is_part_of_the_key() -> None:
    Operator = operator_class()
    one, other = Operator(**held()), Operator(**held())
    assert (one.result(), other.result()) == (1111, 1111)
    count = Operator.fn.cache_info().misses
    one.items[0] = 20
    assert (one.result(), other.result()) == (1121, 1111)
    one.table["a"] = 200
    one.inner.depth = 2000
    assert (one.result(), other.result()) == (2221, 1111)
    assert Operator(**held()).result() == 1111
    assert Operator.fn.cache_info().misses == count + 2


def test_numbers_of_numpy_that_self_holds_count_with_their_value() -> None:
    Operator = operator_class()
    for number in (np.int32(1), np.int32(2), np.int64(2), np.int16(5)):
        assert Operator(**held() | {"number": number}).result() == 1110 + int(number)


def test_a_method_that_self_brings_along_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    Operator = operator_class()
    one = Operator(**held())
    assert one.result() == 1111
    monkeypatch.setattr(Operator, "bonus", lambda self: 5)
    assert one.result() == 1116


@fx.struct
class Pair:
    first: fx.Int32
    second: fx.Int32

    def total(self) -> Any:
        return self.first + self.second


def test_a_method_of_a_struct_argument_is_watched(monkeypatch: pytest.MonkeyPatch, fresh_cache: Path) -> None:
    @flyc.kernel
    def kernel(out: fx.Tensor, pair: Pair):
        out[0] = pair.total()

    @flyc.jit
    def fn(out: fx.Tensor, pair: Pair):
        kernel(out, pair).launch()

    out = np.zeros(1, np.int32)
    fn(out, Pair(3, 4))
    assert out[0] == 7
    monkeypatch.setattr(Pair, "total", lambda self: self.first - self.second)
    fn(out, Pair(3, 4))
    assert out[0] == -1


def test_a_reloader_that_gives_functions_new_code_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))

    def helper(x: Any) -> Any:
        return x + 1

    @flyc.kernel
    def kernel(out: fx.Tensor):
        out[0] = helper(fx.Int32(10))

    @flyc.jit
    def fn(out: fx.Tensor):
        kernel(out).launch()

    out = np.zeros(1, np.int32)
    fn(out)
    assert out[0] == 11
    helper.__code__ = (lambda x: x + 2).__code__
    fn(out)
    assert out[0] == 12


def test_a_constexpr_function_follows_what_it_reads() -> None:
    factor = {"value": 2}
    globals()["_factor"] = factor

    @flyc.kernel
    def kernel(out: fx.Tensor, f: fx.Constexpr):
        out[0] = f(fx.Int32(10))

    @flyc.jit
    def fn(out: fx.Tensor, f: fx.Constexpr):
        kernel(out, f).launch()

    def run(f: Callable[..., Any]) -> int:
        out = np.zeros(1, np.int32)
        fn(out, f)
        return int(out[0])

    assert run(_scaled) == 20
    factor["value"] = 3
    assert run(_scaled) == 30
    by_default = [_with_default(n) for n in (1, 2)]
    assert [run(f) for f in by_default] == [11, 12]


def test_a_wrapped_function_that_is_called_past_its_wrapper(monkeypatch: pytest.MonkeyPatch) -> None:
    def inner() -> Any:
        return _factor["value"]

    @functools.wraps(inner)
    def outer() -> Any:
        return 0

    @flyc.kernel
    def kernel(out: fx.Tensor):
        out[0] = outer.__wrapped__()

    @flyc.jit
    def fn(out: fx.Tensor):
        kernel(out).launch()

    out, found = np.zeros(1, np.int32), []
    for value in (2, 3):
        monkeypatch.setitem(_factor, "value", value)
        fn(out)
        found.append(int(out[0]))
    assert found == [2, 3]


def test_keys_do_not_depend_on_what_was_compiled_before(fresh_cache: Path) -> None:
    def new_function() -> Any:
        @flyc.kernel
        def kernel(out: fx.Tensor, f: fx.Constexpr):
            out[0] = f(fx.Int32(10))

        @flyc.jit
        def fn(out: fx.Tensor, f: fx.Constexpr):
            kernel(out, f).launch()

        return fn

    out = np.zeros(1, np.int32)
    first, second, add = new_function(), new_function(), [_with_default(n) for n in (1, 2)]
    first(out, add[0])
    first(out, add[1])
    second(out, add[1])
    assert out[0] == 12
    assert second.cache_info()[:2] == (1, 0)


def _scaled(x: Any) -> Any:
    return x * globals_of_this_module()["_factor"]["value"]


def globals_of_this_module() -> Any:
    return {"_factor": _factor}


_factor: dict[str, int] = {}


def _with_default(n: int) -> Callable[..., Any]:
    def add(x: Any, k: int = n) -> Any:
        return x + k

    return add
