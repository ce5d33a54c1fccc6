"""Cache truth for compile-time arguments: their content is the key, and what could change unseen is refused."""

from __future__ import annotations

import enum
import fractions
import functools
from collections import namedtuple
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslTypeError
from flydsl.expr.trace.constexpr_key import constexpr_key, never_changes

Pair = namedtuple("Pair", "a b")


class Typed(NamedTuple):
    a: float


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Other(enum.IntEnum):
    LOW = 1


class Access(enum.Flag):
    READ = 1
    WRITE = 2


@dataclass(frozen=True)
class Frozen:
    a: float = 1.0
    ignored: int = field(default=0, compare=False)


@dataclass(frozen=True, eq=False)
class Strange:
    a: Any

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


class Tile(int):
    a = 0.0


@dataclass(frozen=True, init=False)
class FrozenTile(int):
    """It is a number beside its field."""

    a: float = 1.0


class Derived(Frozen):
    """It can be given attributes, in spite of its base."""


class Plain:
    def __init__(self) -> None:
        self.a = 1.0


@dataclass(unsafe_hash=True)
class Unsafe:
    a: float = 1.0


class Sloppy:
    def __init__(self, a: float) -> None:
        self.a = a

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


def double(x: Any) -> Any:
    return x * 2


def triple(x: Any) -> Any:
    return x * 3


def tile_of(n: int, a: float) -> Tile:
    tile = Tile(n)
    tile.a = a
    return tile


def derived_of(extra: int) -> Derived:
    value = Derived()
    object.__setattr__(value, "extra", extra)
    return value


DISTINCT = [
    None, True, 1, 1.0, "1", b"1", 1j, 0.0, -0.0, False, 0, (), (1,), (1.0,), (True,), [1], [], (1, (2, 3)), ...,
    range(3), frozenset({1}), frozenset({True}), Pair(1, 2), Pair(1, True), (1, 2), Typed(1.0), Typed(2.0), Level.LOW,
    Level.HIGH, Other.LOW, Access.READ, Access.READ | Access.WRITE, Frozen(), Frozen(2.0), Frozen(1), Frozen(1.0, 7),
    Strange(1), Strange(2), Strange((1, 2)), Strange([1, 2]), Tile(3), tile_of(3, 1.0), tile_of(3, 2.0), derived_of(1),
    derived_of(2), int, float, fx.Int32, fx.Float32, np.int32, np.float32, Frozen, double, triple, lambda x: x,
    lambda x, y=1: x, lambda x, y=2: x, lambda x, *, y=1: x, lambda x, *, y=2: x, functools.partial(double),
    functools.partial(double, 1), functools.partial(double, x=1), functools.partial(triple, x=1), len, abs,
    np.dtype("f4"), np.dtype("f8"), fractions.Fraction(1, 2), list[int], list[float], int | None, np, functools,
    fx.make_layout(4, 1), fx.make_layout(4, 2), fx.make_layout((2, 2), (1, 2)), fx.UniversalCopy128b(), str.upper,
    str.lower, Frozen().__hash__, fx.Float32(0.0), fx.Float32(-0.0), fx.Float64(0.0), (fx.Float32(0.0),),
    (fx.Float32(-0.0),), FrozenTile(1), FrozenTile(2),
]  # fmt: skip


def test_different_values_have_different_keys() -> None:
    seen: dict[Any, Any] = {}
    for value in DISTINCT:
        key = constexpr_key(value)
        same = [other for known, other in seen.items() if known == key]  # the last call's key is not looked up
        assert not same and key not in seen, f"{value!r} has the key of {same!r}"
        assert constexpr_key(value) == key
        seen[key] = value


def test_equal_values_in_other_objects_have_equal_keys() -> None:
    def values() -> list[Any]:
        return [(1, (2.5, "x")), [1, 2], Frozen(float("3")), Strange((1, [2])), Pair(1, 2),
                functools.partial(double, 1), fx.make_layout(4, 1), np.dtype("f4"), tile_of(3, 1.0),
                fractions.Fraction(1, 2)]  # fmt: skip

    assert [constexpr_key(v) for v in values()] == [constexpr_key(v) for v in values()]


REFUSED = {
    "an object": Plain(),
    "a dataclass with a hash": Unsafe(),
    "an object that is equal to every other": Sloppy(1.0),
    "a dict": {"a": 1},
    "a set": {1},
    "bytes that can change": bytearray(b"a"),
    "a method of a list": [].append,
    "a module that is no library": ModuleType("settings"),
    "an object in a tuple": (1, Plain()),
    "an object in a frozen dataclass": Strange(Plain()),
    "an object in a partial": functools.partial(double, Plain()),
    "a method of an object": Sloppy(1.0).__eq__,
}


@pytest.mark.parametrize("wrap", [lambda x: (x,), lambda x: [x], Strange])
def test_values_in_values_without_end_are_refused(wrap: Any) -> None:
    @flyc.jit
    def nothing(c: fx.Constexpr[Any]): ...

    nothing(functools.reduce(lambda inner, _: wrap(inner), range(40), 1))
    for depth in (60, 200):
        with pytest.raises(DslTypeError, match=r"argument 'c': .* more than 50 deep") as caught:
            nothing(functools.reduce(lambda inner, _: wrap(inner), range(depth), 1))
        assert "flat tuple" in str(caught.value)


@pytest.mark.parametrize("name", REFUSED)
def test_what_could_change_unseen_is_refused(name: str) -> None:
    @flyc.jit
    def nothing(c: fx.Constexpr[Any]): ...

    with pytest.raises(DslTypeError, match="argument 'c': a Constexpr must be") as caught:
        nothing(REFUSED[name])
    assert "frozen" in str(caught.value) or "tuple" in str(caught.value)


def test_the_advice_for_a_dataclass() -> None:
    with pytest.raises(DslTypeError, match="got Unsafe, a dataclass that can change") as caught:
        constexpr_key(Unsafe())
    assert caught.value.hint == "make it @dataclass(frozen=True)"


def storing() -> Any:
    @flyc.kernel
    def kernel(out: fx.Tensor, c: fx.Constexpr[Any]):
        out[0] = fx.Float32(c.a[0] if isinstance(c.a, list) else c.a)

    @flyc.jit
    def store(out: fx.Tensor, c: fx.Constexpr[Any]):
        kernel(out, c).launch()

    return store


def stored(fn: Any, value: Any) -> float:
    out = np.full(1, np.nan, np.float32)
    fn(out, value)
    return float(out[0])


def test_equality_of_the_users_is_not_asked() -> None:
    fn = storing()
    assert [stored(fn, Strange(n)) for n in (1.0, 2.0, 1.0, 3.0)] == [1.0, 2.0, 1.0, 3.0]
    assert fn.cache_info().misses == 3


def test_types_that_call_themselves_equal_are_two() -> None:
    """`fx.Float32 == np.float32`, so that kernels may ask; each call is compiled for its own."""

    @flyc.kernel
    def kernel(out: fx.Tensor, c: fx.Constexpr[Any]):
        out[0] = 1 if c is np.float32 else 2

    @flyc.jit
    def which(out: fx.Tensor, c: fx.Constexpr[Any]):
        kernel(out, c).launch()

    assert [stored(which, c) for c in (fx.Float32, np.float32, fx.Float32, np.float32)] == [2, 1, 2, 1]


def test_a_list_in_a_frozen_dataclass_may_change() -> None:
    fn, value = storing(), Strange([1.0])
    assert [stored(fn, value), stored(fn, value)] == [1.0, 1.0]
    value.a[0] = 2.0
    assert stored(fn, value) == 2.0


def test_a_field_left_out_of_comparisons_counts() -> None:
    fn = storing()
    stored(fn, Frozen(1.0, 1))
    stored(fn, Frozen(1.0, 2))
    assert fn.cache_info().misses == 2


@dataclass(frozen=True)
class Widened:
    """Its constructor adds what is no field; the property is kept when it is first read."""

    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", SCALES["a"])

    @functools.cached_property
    def area(self) -> int:
        return self.size**2


SCALES: dict[str, Any] = {"a": 1.0}


def test_what_a_frozen_dataclass_adds_to_its_fields_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    fn, first = storing(), Widened(3)
    monkeypatch.setitem(SCALES, "a", 2.0)
    second = Widened(3)
    assert [stored(fn, value) for value in (first, second, first)] == [1.0, 2.0, 1.0]
    monkeypatch.setitem(SCALES, "a", [5.0])
    assert not never_changes(Widened(3)) and never_changes(first)


def test_what_a_cached_property_keeps_does_not_count() -> None:
    value = Widened(3)
    before = constexpr_key(value)
    assert value.area == 9 and constexpr_key(value) == before


def test_functions_in_a_constant_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    @flyc.kernel
    def kernel(out: fx.Tensor, c: fx.Constexpr[Any]):
        out[0] = c.a(fx.Float32(1.0))

    @flyc.jit
    def store(out: fx.Tensor, c: fx.Constexpr[Any]):
        kernel(out, c).launch()

    value = Strange(scaled)
    assert stored(store, value) == 2.0
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    assert stored(store, value) == 5.0


FACTOR = 2.0


def scaled(x: Any) -> Any:
    return x * FACTOR


def test_functions_with_the_same_code_and_other_globals() -> None:
    @flyc.kernel
    def kernel(out: fx.Tensor, f: fx.Constexpr[Any]):
        out[0] = f(fx.Float32(1.0))

    @flyc.jit
    def store(out: fx.Tensor, f: fx.Constexpr[Any]):
        kernel(out, f).launch()

    functions = []
    for factor in (3.0, 4.0):
        scope: dict[str, Any] = {"__name__": "same", "FACTOR": factor}
        exec("def scaled(x):\n    return x * FACTOR\n", scope)
        functions.append(scope["scaled"])
    assert [stored(store, f) for f in functions] == [3.0, 4.0]


class Holder:
    """A jit function as a method, whose object holds what cannot be told by equality."""

    def __init__(self, held: Any) -> None:
        self.held = held

    @flyc.kernel
    def kernel(self, out: fx.Tensor):
        out[0] = fx.Float32(self.read())

    def read(self) -> Any:
        return self.held() if callable(self.held) else max(self.held) if isinstance(self.held, set) else self.held.a

    @flyc.jit
    def fn(self, out: fx.Tensor):
        self.kernel(out).launch()

    def result(self) -> float:
        out = np.full(1, np.nan, np.float32)
        self.fn(out)
        return float(out[0])


class AttrDict(dict[str, Any]):
    __getattr__ = dict.__getitem__


def test_what_self_holds_counts_by_content() -> None:
    assert [Holder(Sloppy(a)).result() for a in (1.0, 2.0)] == [1.0, 2.0]
    holder = Holder(Unsafe())
    assert holder.result() == 1.0
    holder.held.a = 3.0
    assert holder.result() == 3.0
    holder.held = AttrDict(a=4.0)
    assert holder.result() == 4.0
    holder.held["a"] = 5.0
    assert holder.result() == 5.0
    holder.held = {6.0}
    assert holder.result() == 6.0
    holder.held.add(7.0)
    assert holder.result() == 7.0
    holder.held = lambda: 8.0
    assert holder.result() == 8.0
    holder.held = lambda: 9.0
    assert holder.result() == 9.0


def test_the_same_object_needs_a_second_look_if_it_can_change() -> None:
    assert never_changes(Frozen()) and never_changes((1, Frozen(), Level.LOW)) and never_changes(fx.Int32)
    assert not never_changes(Strange([1])) and not never_changes([1]) and not never_changes(double)
