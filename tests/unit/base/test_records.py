"""Records do what dataclasses do: every case is run on both."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import pytest

from flydsl.base import records

BOTH = pytest.mark.parametrize("kit", [records, dataclasses], ids=["records", "dataclasses"])


@records.dataclass(frozen=True, slots=True)
class Slotted:
    a: int
    b: tuple[int, ...] = ()


@records.dataclass(frozen=True)
class Plain:
    a: int
    b: tuple[int, ...] = ()


def point(kit: Any, **options: Any) -> Any:
    @kit.dataclass(**options)
    class Point:
        x: int
        y: Any = 2
        tags: list[str] = kit.field(default_factory=list, compare=False)
        kind: ClassVar[str] = "point"

    return Point


@BOTH
@pytest.mark.parametrize("options", [{}, {"frozen": True}, {"frozen": True, "slots": True}, {"slots": True}])
def test_values(kit, options):
    Point = point(kit, **options)
    one = Point(1)
    assert (one.x, one.y, one.tags, one.kind) == (1, 2, [], "point")
    assert one == Point(x=1, y=2, tags=["not compared"]) != Point(1, 3)
    assert one != point(kit, **options)(1)  # another class
    assert one.tags is not Point(1).tags
    assert repr(one) == f"{Point.__qualname__}(x=1, y=2, tags=[])"
    assert Point.__match_args__ == ("x", "y", "tags")
    for wrong in (lambda: Point(), lambda: Point(1, 2, [], 4), lambda: Point(1, x=1), lambda: Point(1, z=0)):
        with pytest.raises(TypeError, match=r"__init__\(\)"):
            wrong()
    assert hasattr(one, "__dict__") != options.get("slots", False)


@BOTH
def test_nan_is_equal_to_itself_in_a_field(kit):
    @kit.dataclass(frozen=True)
    class One:
        value: float

    nan = float("nan")
    assert One(nan) == One(nan)
    assert hash(One(3)) == hash((3,))


@BOTH
@pytest.mark.parametrize("slots", [False, True])
def test_frozen(kit, slots):
    Point = point(kit, frozen=True, slots=slots)
    one = Point(1, tags=())
    for name in ("x",) if slots and kit is dataclasses else ("x", "new"):  # there a TypeError, a known bug
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"):
            setattr(one, name, 3)
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot delete field '{name}'"):
            delattr(one, name)
    assert hash(one) == hash(Point(1)) == hash((1, 2))


@BOTH
def test_a_subclass_that_is_not_frozen_may_add_attributes(kit):
    class Sub(point(kit, frozen=True)):  # type: ignore[misc]
        pass

    one = Sub(1)
    one.new = 3
    assert one.new == 3
    with pytest.raises(AttributeError):
        one.x = 2


@BOTH
def test_what_can_change_has_no_hash(kit):
    with pytest.raises(TypeError, match="unhashable"):
        hash(point(kit)(1))
    assert hash(point(kit, eq=False)(1))  # by identity


@BOTH
def test_methods_of_the_class_stay(kit):
    @kit.dataclass(frozen=True)
    class Own:
        x: int

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 7

        def __repr__(self):
            return "own"

    assert Own(1) == Own(2) and hash(Own(3)) == 7 and repr(Own(1)) == "own"

    @kit.dataclass(frozen=True)
    class Equal:
        x: int

        def __eq__(self, other):
            return True

    assert hash(Equal(5)) == hash((5,))


@BOTH
def test_inheritance_and_init(kit):
    @kit.dataclass(frozen=True)
    class Base:
        a: int
        b: int = kit.field(init=False, repr=False)
        c: int = 3

        def __post_init__(self):
            object.__setattr__(self, "b", self.a + 1)

    @kit.dataclass(frozen=True)
    class Derived(Base):
        c: int = 4
        d: int = kit.field(default=5, init=False)

    one = Derived(1)
    assert (one.a, one.b, one.c, one.d) == (1, 2, 4, 5)
    assert repr(one).endswith("Derived(a=1, c=4, d=5)")
    assert kit.replace(one, a=7) == Derived(7) and kit.replace(one, a=7).b == 8
    with pytest.raises(ValueError, match="init=False"):
        kit.replace(one, d=1)
    assert one != Base(1)


@BOTH
def test_nested_in_itself(kit):
    one = point(kit)(1)
    one.y = one
    assert "y=..." in repr(one)


@BOTH
def test_a_default_that_can_change_is_refused(kit):
    with pytest.raises(ValueError, match="default_factory"):

        @kit.dataclass
        class Wrong:
            items: list[int] = []


@BOTH
def test_abstract_methods_that_the_decorator_writes(kit):
    class Shown(ABC):
        @abstractmethod
        def __repr__(self) -> str: ...

    @kit.dataclass
    class One(Shown):
        x: int

    assert repr(One(1)).endswith("One(x=1)")


@BOTH
@pytest.mark.parametrize("slots", [False, True])
def test_signature(kit, slots):
    Point = point(kit, slots=slots)
    assert list(inspect.signature(Point).parameters) == ["x", "y", "tags"]
    Point(1)
    assert list(inspect.signature(Point).parameters) == ["x", "y", "tags"]

    class Sub(Point):
        def __init__(self, only):
            super().__init__(only)

    assert list(inspect.signature(Sub).parameters) == ["only"]
    assert Sub(4).x == 4


@pytest.mark.parametrize("kind", [Plain, Slotted])
def test_copies_and_pickles(kind):
    one = kind(1, (2, 3))
    for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert other == one and type(other) is kind


def test_dataclasses_knows_records():
    Point = point(records, frozen=True)
    one = Point(1)
    assert dataclasses.is_dataclass(Point) and Point.__dataclass_params__.frozen
    assert [f.name for f in dataclasses.fields(one)] == ["x", "y", "tags"]
    assert dataclasses.fields(Point)[1].default == 2
    assert dataclasses.asdict(one) == {"x": 1, "y": 2, "tags": []}
    assert dataclasses.replace(one, x=4) == Point(4)


def test_either_kind_derives_from_the_other():
    for base, derived in ((records, dataclasses), (dataclasses, records)):

        @base.dataclass(frozen=True)
        class Base:
            x: int
            y: int = 2

        @derived.dataclass(frozen=True)
        class Derived(Base):
            z: int = 3

        assert Derived(1) == Derived(1, 2, 3) and repr(Derived(1)).endswith("Derived(x=1, y=2, z=3)")


def test_nothing_is_compiled_before_it_is_needed():
    Point = point(records)
    assert Point.__init__.__code__.co_varnames[:3] == ("self", "args", "kwargs")
    Point(1)
    assert Point.__init__.__code__.co_varnames[:4] == ("self", "x", "y", "tags")


def test_a_base_with_fields_by_keyword():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Base:
        x: int = 1

    @records.dataclass(frozen=True)
    class Derived(Base):
        y: int

    assert Derived(2) == Derived(2, x=1) and Derived.__match_args__ == ("y",)
    assert [f.name for f in dataclasses.fields(Derived) if f.kw_only] == ["x"]
    with pytest.raises(TypeError):
        Derived(2, 1)
