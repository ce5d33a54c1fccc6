"""The contract of `docs/cache.md`: plain data by value, other things by identity and never on disk, the rest refused.

Each change is made between two calls of one jit function. `test_truth_in_memory.py` has the everyday ones.
"""

from __future__ import annotations

import array
import builtins
import ctypes
import dataclasses
import enum
import gc
import math
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslTypeError
from flydsl.compiler.capture import inputs
from tests.unit.cache.programs import imported
from tests.unit.cache.small import stored, storing

Case = tuple[Callable[[], Any], Callable[[], Any]]
"""What a kernel reads while it is traced, and what changes it from 1 to 2."""


class Mode(enum.Enum):
    FAST = 1


class Point(ctypes.Structure):
    _fields_ = (("x", ctypes.c_int), ("y", ctypes.c_int))


class One:
    value = 1

    def __init__(self, **held: Any) -> None:
        self.__dict__.update(held)

    def answer(self) -> int:
        return self.value


class Two:
    value = 2

    def answer(self) -> int:
        return self.value


class OneBase:
    def answer(self) -> int:
        return 1


class TwoBase:
    def answer(self) -> int:
        return 2


class Child(OneBase):
    pass


def long_list() -> Case:
    numbers = [1] * 3000
    return lambda: numbers[2500], lambda: numbers.__setitem__(2500, 2)


def long_dict() -> Case:
    table = dict.fromkeys(range(3000), 1)
    return lambda: table[2500], lambda: table.update({2500: 2})


def long_set() -> Case:
    members = set(range(3000))
    return lambda: len(members) - 2999, lambda: members.add(-1)


def method_of_a_dict() -> Case:
    table = {"a": 1}
    get = table.get
    return lambda: get("a"), lambda: table.update(a=2)


def method_of_an_object() -> Case:
    one = One()
    answer = one.answer
    return lambda: answer(), lambda: setattr(one, "value", 2)


def wrapper_of_a_method() -> Case:
    table = {"a": 1}
    item = table.__getitem__
    return lambda: item("a"), lambda: table.update(a=2)


def keys_of_a_dict() -> Case:
    table = {"a": 1}
    keys = table.keys()
    return lambda: len(keys), lambda: table.update(b=2)


def values_of_a_dict() -> Case:
    table = {"a": 1}
    values = table.values()
    return lambda: sum(values), lambda: table.update(a=2)


def items_of_a_dict() -> Case:
    table = {"a": 1}
    items = table.items()
    return lambda: dict(items)["a"], lambda: table.update(a=2)


def array_of_the_library() -> Case:
    numbers = array.array("i", [1])
    return lambda: numbers[0], lambda: numbers.__setitem__(0, 2)


def c_number() -> Case:
    number = ctypes.c_int(1)
    return lambda: number.value, lambda: setattr(number, "value", 2)


def c_array() -> Case:
    numbers = (ctypes.c_int * 3)(1)
    return lambda: numbers[0], lambda: numbers.__setitem__(0, 2)


def c_structure() -> Case:
    point = Point(1, 7)
    return lambda: point.x, lambda: setattr(point, "x", 2)


def memory_view() -> Case:
    data = bytearray(b"\1")
    view = memoryview(data)
    return lambda: view[0], lambda: data.__setitem__(0, 2)


def array_of_objects() -> Case:
    objects = np.array([1, "text"], object)
    return lambda: objects[0], lambda: objects.__setitem__(0, 2)


def inside_an_array_of_objects() -> Case:
    objects = np.array([{"a": 1}, None], object)
    return lambda: objects[0]["a"], lambda: objects[0].update(a=2)


def masked_array() -> Case:
    numbers = np.ma.MaskedArray([1.0, 1.0], mask=[False, True])
    return lambda: numbers.sum(), lambda: numbers.mask.__setitem__(1, False)


@dataclasses.dataclass
class Held:
    array: Any


def array_in_a_pattern() -> Case:
    held = Held(np.ones(2))

    def read() -> Any:
        match held:
            case Held(array):
                return array[0]

    return read, lambda: held.array.__setitem__(0, 2)


def array_in_a_tuple_of_fields() -> Case:
    held = Held(np.ones(2))
    return lambda: dataclasses.astuple(held)[0][0], lambda: held.array.__setitem__(0, 2)


def view_of_an_array() -> Case:
    numbers = np.ones((4, 4))
    view = numbers.T[::2]
    return lambda: view[0, 1], lambda: numbers.__setitem__((1, 0), 2)


def state_of_a_descriptor() -> Case:
    class Answer:
        number = 1

        def __get__(self, instance: Any, owner: Any) -> int:
            return self.number

    answer = Answer()
    kind = type("Made", (), {"answer": answer})
    return lambda: kind().answer, lambda: setattr(answer, "number", 2)


def attribute_of_a_metaclass() -> Case:
    meta = type("Meta", (type,), {"factor": 1})
    kind = meta("Made", (), {})
    return lambda: kind.factor, lambda: setattr(meta, "factor", 2)


def array_under_a_computed_key() -> Case:
    tables, number = {"fp-8": np.ones(2)}, 8
    return lambda: tables[f"fp-{number}"][0], lambda: tables["fp-8"].__setitem__(0, 2)


def attribute_of_a_member() -> Case:
    mode = enum.Enum("Made", {"FAST": 1})
    mode.FAST.extra = 1  # type: ignore[attr-defined]
    return lambda: mode.FAST.extra, lambda: setattr(mode.FAST, "extra", 2)  # type: ignore[attr-defined]


def new_attribute_of_a_member() -> Case:
    mode = enum.Enum("Made", {"FAST": 1})
    return lambda: getattr(mode.FAST, "extra", 1), lambda: setattr(mode.FAST, "extra", 2)


def method_of_an_enum() -> Case:
    class Made(enum.Enum):
        FAST = 1

        def answer(self) -> int:
            return 1

    return lambda: Made.FAST.answer(), lambda: setattr(Made, "answer", lambda self: 2)


def class_of_an_object() -> Case:
    one: Any = One()
    return lambda: one.answer(), lambda: setattr(one, "__class__", Two)


def bases_of_a_class() -> Case:
    kind = type("Made", (Child,), {})
    return lambda: kind().answer(), lambda: setattr(kind, "__bases__", (TwoBase,))


def set_of_objects() -> Case:
    members = {Mode.FAST}
    return lambda: len(members), lambda: members.add(One())  # type: ignore[arg-type]


def inside_a_set_of_objects() -> Case:
    one = One()
    members = {one}
    return lambda: max(member.answer() for member in members), lambda: setattr(one, "value", 2)


CHANGES = [
    long_list, long_dict, long_set, method_of_a_dict, method_of_an_object, wrapper_of_a_method, keys_of_a_dict,
    values_of_a_dict, items_of_a_dict, array_of_the_library, c_number, c_array, c_structure, memory_view,
    array_of_objects, inside_an_array_of_objects, masked_array, array_in_a_pattern, array_in_a_tuple_of_fields,
    view_of_an_array, state_of_a_descriptor, attribute_of_a_metaclass, array_under_a_computed_key,
    attribute_of_a_member, new_attribute_of_a_member, method_of_an_enum, class_of_an_object, bases_of_a_class,
    set_of_objects, inside_a_set_of_objects,
]  # fmt: skip


@pytest.mark.parametrize("case", CHANGES, ids=lambda case: case.__name__)
def test_a_change_is_seen_at_the_next_call(case: Callable[[], Case]) -> None:
    get, change = case()
    fn = storing(get)
    assert [stored(fn), stored(fn)] == [1.0, 1.0]
    assert fn.cache_info()[:2] == (1, 1)
    change()
    assert [stored(fn), stored(fn)] == [2.0, 2.0]
    assert fn.cache_info()[:2] == (2, 2)


PATCHES = {
    "a builtin": (builtins, "len", lambda: len("a")),
    "a function of a library": (math, "floor", lambda: math.floor(1.5)),
}


@pytest.mark.parametrize("name", PATCHES)
def test_a_patch_is_seen_at_the_next_call(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, get = PATCHES[name]
    fn = storing(get)
    assert stored(fn) == 1.0
    monkeypatch.setattr(owner, attribute, lambda value: 2 if value in ("a", 1.5) else value.__len__())
    assert stored(fn) == 2.0
    monkeypatch.undo()
    assert stored(fn) == 1.0
    assert fn.cache_info().misses == 2


# Arrays in self ------------------------------------------------------------------------------------------------------


class Operator:
    """A jit function as a method that reads an array of its object, the shape of another, and nothing of a third."""

    def __init__(self) -> None:
        self.table, self.shaped, self.unread = np.ones(4), np.ones(10), np.zeros(1 << 18)
        self.inner = SimpleNamespace(table=np.zeros(2))
        self.lock = threading.Lock()

    @flyc.kernel
    def kernel(self, out: fx.Tensor):
        out[0] = fx.Float32(self.read())

    def read(self) -> float:
        return float(self.table[0] + self.inner.table[0] + self.shaped.shape[0] / 10 - 1)

    @flyc.jit
    def fn(self, out: fx.Tensor):
        self.kernel(out).launch()


def test_arrays_in_self_count_as_far_as_they_are_read() -> None:
    operator = Operator()
    count = Operator.fn.cache_info().misses if Operator.fn.cache_info() else 0
    assert [stored(operator.fn), stored(operator.fn)] == [1.0, 1.0]
    operator.table[0] = 2.0
    assert stored(operator.fn) == 2.0
    operator.inner.table[0] = 5.0
    assert stored(operator.fn) == 7.0
    operator.shaped = np.ones(20)
    assert stored(operator.fn) == 8.0
    assert Operator.fn.cache_info().misses == count + 4
    operator.unread += 1
    operator.unread = np.zeros(3)
    operator.shaped[0] = 9.0
    operator.lock = threading.Lock()
    assert stored(operator.fn) == 8.0
    assert Operator.fn.cache_info().misses == count + 4


class Holder:
    """A jit function as a method, which calls what its object holds."""

    def __init__(self, read: Callable[[], Any], **held: Any) -> None:
        self.read = read
        self.__dict__.update(held)

    @flyc.kernel
    def kernel(self, out: fx.Tensor):
        out[0] = fx.Float32(float(self.read()))

    @flyc.jit
    def fn(self, out: fx.Tensor):
        self.kernel(out).launch()


@pytest.mark.parametrize("case", CHANGES[::5], ids=lambda case: case.__name__)
def test_a_change_of_what_self_holds_is_seen(case: Callable[[], Case]) -> None:
    get, change = case()
    holder = Holder(get)
    assert [stored(holder.fn), stored(holder.fn)] == [1.0, 1.0]
    change()
    assert [stored(holder.fn), stored(holder.fn)] == [2.0, 2.0]


DIRECT: dict[str, Callable[[], tuple[Any, Callable[[Any], Any]]]] = {
    "a view": lambda: ((table := {"a": 1}).values(), lambda held: table.update(a=2)),
    "a bound method": lambda: ((table := {"a": 1}).copy, lambda held: table.update(a=2)),
    "an array": lambda: (array.array("i", [1]), lambda held: held.__setitem__(0, 2)),
    "an array of objects": lambda: (np.array([1, "x"], object)[:1], lambda held: held.__setitem__(0, 2)),
    "memory": lambda: (memoryview(bytearray(b"\1")), lambda held: held.__setitem__(0, 2)),
    "a method": lambda: ((one := One()).answer, lambda held: setattr(one, "value", 2)),
}


@pytest.mark.parametrize("name", DIRECT)
def test_what_self_holds_itself_counts_by_content(name: str) -> None:
    held, change = DIRECT[name]()

    class Reader:
        def __init__(self) -> None:
            self.held = held

        @flyc.kernel
        def kernel(self, out: fx.Tensor):
            out[0] = fx.Float32(float(self.number()))

        def number(self) -> Any:
            value = self.held() if callable(self.held) else self.held
            return value if isinstance(value, int) else sum(value.values() if isinstance(value, dict) else value)

        @flyc.jit
        def fn(self, out: fx.Tensor):
            self.kernel(out).launch()

    reader = Reader()
    assert [stored(reader.fn), stored(reader.fn)] == [1.0, 1.0]
    change(held)
    assert stored(reader.fn) == 2.0


def test_two_views_in_self() -> None:
    first, second = {"a": 0}, {"a": 1}
    holder = Holder(lambda: 0, one=first.values(), other=second.values())
    holder.read = lambda: sum(holder.one) + sum(holder.other)
    assert stored(holder.fn) == 1.0
    second["a"] = 2
    assert stored(holder.fn) == 2.0


def test_a_large_array_in_self_is_refused_unless_nobody_can_write_it() -> None:
    operator = Operator()
    operator.table = np.ones(1 << 20)
    with pytest.raises(DslTypeError, match=r"argument 'self': traced code reads elements of 'self.table'") as caught:
        stored(operator.fn)
    assert "flags.writeable = False" in str(caught.value)
    operator.table.flags.writeable = False
    assert stored(operator.fn) == 1.0


def test_an_array_in_self_is_part_of_the_key_on_disk(fresh_cache: Path) -> None:
    def new_function() -> Any:
        @flyc.kernel
        def kernel(out: fx.Tensor, number: fx.Constexpr):
            out[0] = fx.Float32(number)

        @flyc.jit
        def fn(self, out: fx.Tensor):  # type: ignore[no-untyped-def]
            kernel(out, float(self.weights[0])).launch()

        return fn

    def run(fn: Any, value: float) -> float:
        out = np.zeros(1, np.float32)
        fn(SimpleNamespace(weights=np.full(3, value)), out)
        return float(out[0])

    assert [run(new_function(), 1.0), run(new_function(), 2.0)] == [1.0, 2.0]
    again = new_function()
    assert run(again, 1.0) == 1.0 and again.cache_info().misses == 0


def test_a_long_chain_in_self() -> None:
    operator = Operator()
    node = SimpleNamespace(table=np.zeros(1), next=None)
    for _ in range(2000):
        node = SimpleNamespace(table=np.zeros(1), next=node)
    operator.inner = node
    assert stored(operator.fn) == 1.0


# The next start ------------------------------------------------------------------------------------------------------

MAIN = """
from pathlib import Path
import flydsl.compiler as flyc
import flydsl.expr as fx
import setting

class Reader:
    def read(self):
        return Path(setting.FILE).read_text()

READER = Reader()

def get():
    return float({expression})

@flyc.kernel
def kernel(out: fx.Tensor):
    out[0] = fx.Float32(get())

@flyc.jit
def fn(out: fx.Tensor):
    kernel(out).launch()
"""

SETTING = """
FILE = {file!r}

def __getattr__(name):
    if name != "TILE":
        raise AttributeError(name)
    with open(FILE) as file:
        return file.read()
"""

FROM_A_FILE = {
    "a module that answers from a file": "setting.TILE",
    "by a name that is looked up": "getattr(setting, 'TILE')",
    "imported where it is used": "__import__('setting').TILE",
    "a method of an object": "READER.read()",
}


@pytest.mark.parametrize("name", FROM_A_FILE)
def test_what_comes_from_a_file_is_never_kept(
    name: str, fresh_cache: Path, fresh_folder: Callable[[], Path], tmp_path: Path
) -> None:
    file = tmp_path / "value.txt"
    files = {"main": MAIN.format(expression=FROM_A_FILE[name]), "setting": SETTING.format(file=str(file))}
    for value in (1.0, 2.0):
        file.write_text(str(value))
        with imported(files, fresh_folder()) as main:
            assert stored(main.fn) == value
            assert main.fn.cache_info().disk_size == 0
            assert main.fn.specialisations[-1].not_kept


def test_a_module_that_answers_only_for_other_names_is_kept(
    fresh_cache: Path, fresh_folder: Callable[[], Path], tmp_path: Path
) -> None:
    files = {"main": MAIN.format(expression="len(setting.FILE)"), "setting": SETTING.format(file="abc")}
    for misses in (1, 0):
        with imported(files, fresh_folder()) as main:
            assert stored(main.fn) == 3.0
            assert main.fn.cache_info().misses == misses


def test_what_is_known_by_identity_is_said_once(monkeypatch: pytest.MonkeyPatch, fresh_cache: Path) -> None:
    said: list[str] = []
    monkeypatch.setattr(inputs, "_said", set())
    monkeypatch.setattr(inputs.log.get_logger(inputs.__name__), "warning", lambda text, *rest: said.append(text % rest))
    lock = threading.Lock()
    for _ in range(2):
        fn = storing(lambda: 1.0 if lock.locked() else 2.0)
        assert stored(fn) == 2.0
        assert fn.cache_info().disk_size == 0
    assert len(said) == 1 and "'lock', a _thread.lock, by its identity" in said[0]
    lock = threading.Lock()
    stored(fn)
    assert fn.cache_info().misses == 2


# Memory --------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("young_heap")
def test_specialisations_that_were_not_used_for_longest_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flydsl.compiler.jit_function.MOST_SPECIALISATIONS", 4)

    @flyc.kernel
    def kernel(out: fx.Tensor, n: fx.Constexpr):
        out[0] = n

    @flyc.jit
    def fn(out: fx.Tensor, n: fx.Constexpr):
        kernel(out, n).launch()

    def run(n: int) -> int:
        out = np.zeros(1, np.int32)
        fn(out, n)
        return int(out[0])

    code: dict[int, Any] = {}
    for n in (0, 1, 2, 3, 0, 4, 5):
        assert run(n) == n
        code.setdefault(n, weakref.ref(next(reversed(fn._version.compiled.values()))))
    gc.collect()
    assert [n for n, kept in code.items() if kept() is not None] == [0, 3, 4, 5]
    assert fn.cache_info()[1:3] == (6, 4)
    assert [run(0), run(4), run(5)] == [0, 4, 5]
    assert fn.cache_info().misses == 6
    assert run(1) == 1
    assert fn.cache_info()[1:3] == (7, 4)
