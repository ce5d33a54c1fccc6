"""Python state that a run-time region must leave as it is: objects, sets, arrays, iterators, random numbers.

What is traced under a run-time condition is traced once, whatever the condition will be, so an object that Python code
changes there would keep the change for good. A :class:`Watch` walks everything the functions of a region can reach by
name, notes how it stands, and names the first thing that tracing has changed. Lists, dicts and namespaces that
belong to the region's `Heap` (`region_state.py`) are merged or carried instead. Values of this package
and of libraries are constants here: kernels work on them through the language.
"""

from __future__ import annotations

import dis
import gc
import sys
import threading
import warnings
import zlib
from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from enum import Enum
from functools import cached_property, lru_cache, partial, reduce
from itertools import cycle
from operator import length_hint
from types import (
    BuiltinMethodType,
    CellType,
    CodeType,
    FunctionType,
    GeneratorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any, NamedTuple

from flydsl.base.errors import DslTypeError, SourceLocation
from flydsl.expr.flow.carried import unchanged
from flydsl.expr.flow.region_state import assigned_captures
from flydsl.expr.numeric import Numeric
from flydsl.expr.trace.protocol import items_of
from flydsl.expr.values.handle import Handle
from flydsl.expr.vector import Vector

_LIBRARIES = frozenset(sys.stdlib_module_names) | {"numpy", "torch", "xdsl", "llvmlite", "ml_dtypes"}
_OWN, _KERNELS = "flydsl", "flydsl.kernels."
_VALUES = (int, float, complex, str, bytes)
_PLAIN = (*_VALUES, range, slice, CodeType, type(None), type(NotImplemented), type(...))
_OPEN_OBJECTS = (SimpleNamespace, UserList, UserDict, ChainMap, threading.local)
"""Classes of the standard library whose objects are watched like those of the user's."""

_CONSTANT = frozenset({int, float, bool, str, bytes, type(None)})

Parts = dict[Any, Any]
"""What an object is made of, by a key that a message can show; two of them are compared part by part."""


class Kind(NamedTuple):
    """How objects of some class are read, how a message writes one of their parts, and what to do instead."""

    read: Callable[[Any], Parts]
    form: str
    advice: str


# Reading the state of one object -----------------------------------------------------------------


def _attributes(value: Any) -> Parts:
    parts = dict(getattr(value, "__dict__", ()))
    for name in _slots(type(value)):
        if hasattr(value, name):
            parts[name] = getattr(value, name)
    return parts


def _attributes_and_items(value: Any) -> Parts:
    parts = _attributes(value)
    if isinstance(value, (list, tuple, dict)):
        parts |= items_of(value)
    elif isinstance(value, deque):
        parts |= enumerate(value)
    elif isinstance(value, (set, frozenset)):
        parts |= _members(value)
    return parts


@lru_cache(maxsize=4096)
def _slots(kind: type) -> tuple[str, ...]:
    names: list[str] = []
    for base in kind.__mro__:
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            private = name.startswith("__") and not name.endswith("__")
            names.append(f"_{base.__name__.lstrip('_')}{name}" if private else name)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def _sequence(value: Any) -> Parts:
    return dict(enumerate(value))


def _members(value: Iterable[Any]) -> Parts:
    return {id(member): member for member in value}


def _contents(value: Any) -> Parts:
    """Return the bytes of an array, or what takes their place: the objects in it, or the number of its last change."""
    version = getattr(value, "_version", None)
    if version is not None:  # a tensor of PyTorch counts its changes
        return {"": version}
    if getattr(getattr(value, "dtype", None), "hasobject", False):
        return _sequence(value.ravel().tolist())
    data = value.tobytes() if hasattr(value, "tobytes") else bytes(value)
    return {"": (getattr(value, "shape", None), len(data), zlib.crc32(data))}


def _position(value: Any) -> Parts:
    """Return where an iterator or generator stands, and what it holds; some tell only by how they print."""
    held = gc.get_referents(value)
    parts = _sequence([part for one in held for part in (one if isinstance(one, tuple) else (one,))])
    parts[""] = (length_hint(value, -1), repr(value))
    if isinstance(value, GeneratorType):
        parts[""] = None if value.gi_frame is None else value.gi_frame.f_lasti
    elif isinstance(value, cycle):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python 3.12 and 3.13 warn that a later one will not tell
            parts[""] = repr(value.__reduce__()[2:]) if hasattr(cycle, "__setstate__") else None
    return parts


def _random_state(value: Any) -> Parts:
    if hasattr(value, "getstate"):
        return {"": value.getstate()}
    generator = getattr(value, "bit_generator", None) or getattr(value, "_bit_generator", value)
    return {"": _frozen(generator.state)}


def _frozen(state: Any) -> Any:
    if isinstance(state, dict):
        return tuple((key, _frozen(part)) for key, part in state.items())
    return state.tobytes() if hasattr(state, "tobytes") else state


def _bindings(value: type) -> Parts:
    return {name: part for name, part in vars(value).items() if not name.startswith("__")}


_VALUE_ADVICE = "keep the value in a variable of the kernel: have the function take it and return the new one, x = f(x)"
_OBJECT = Kind(_attributes_and_items, "{}.{}", _VALUE_ADVICE)
_BESIDE_ITEMS = Kind(_attributes, "{}.{}", _VALUE_ADVICE)
_CONTEXT = Kind(lambda value: {"": value.get(_MISSING)}, "{}", _VALUE_ADVICE)
_CLASS = Kind(_bindings, "{}.{}", _VALUE_ADVICE)
_ITEMS = Kind(_sequence, "{}[{!r}]", _VALUE_ADVICE)
_DICT = Kind(dict, "{}[{!r}]", _VALUE_ADVICE)
_SET = Kind(
    _members, "{}", "change it before the {site}, or note in a variable of the kernel what has happened: seen = 1"
)
_ARRAY = Kind(
    _contents, "{}", "write to a tensor argument of the kernel, or keep the number in a variable: total = total + 5"
)
_ITERATOR = Kind(_position, "{}", "take the elements before the {site}: first = next(...)")
_RANDOM = Kind(_random_state, "{}", "draw the numbers before the {site}")
_METHODS = (MethodType, BuiltinMethodType, MethodWrapperType)
_LEADING = (*_METHODS, FunctionType, partial, property, staticmethod, classmethod, tuple, frozenset)
"""Values that do not change themselves and lead to others that may."""


def _is_project(module: str | None) -> bool:
    """Return whether a class or function of that module is a user's own, or one of the library of kernels."""
    name = module or ""
    root = name.partition(".")[0]
    return root not in _LIBRARIES and (root != _OWN or name.startswith(_KERNELS))


@lru_cache(maxsize=4096)
def _kind_of(cls: type) -> Kind | bool:
    """Return how objects of a class are watched; else whether they lead anywhere, as a wrapped function does."""
    if cls.__module__.startswith("flydsl.expr.") or issubclass(cls, (Enum, ModuleType)):
        return False
    holds_more = cls.__dictoffset__ != 0 and _is_project(cls.__module__)
    if issubclass(cls, (*_PLAIN, *_LEADING)) and not (holds_more and issubclass(cls, (*_VALUES, tuple, frozenset))):
        return not issubclass(cls, _PLAIN)
    if cls is ContextVar:
        return _CONTEXT
    if (hasattr(cls, "getstate") and hasattr(cls, "setstate")) or cls.__module__.startswith("numpy.random"):
        return _RANDOM
    if cls.__module__ in ("builtins", "itertools") and hasattr(cls, "__next__"):
        return _ITERATOR
    if _is_array(cls):
        return _ARRAY
    if _is_project(cls.__module__) or cls in _OPEN_OBJECTS:
        return _OBJECT
    for base, kind in ((list, _ITEMS), (deque, _ITEMS), (dict, _DICT), (set, _SET)):
        if issubclass(cls, base):
            return kind
    return cls.__dictoffset__ != 0


def _is_array(cls: type) -> bool:
    """Return whether the bytes of an object can be read: NumPy's and PyTorch's arrays, and Python's own."""
    names = {(base.__module__.partition(".")[0], base.__name__) for base in cls.__mro__}
    arrays = {("numpy", "ndarray"), ("torch", "Tensor"), ("array", "array"), ("builtins", "bytearray")}
    return not names.isdisjoint(arrays) or cls is memoryview or any(root == "_ctypes" for root, _ in names)


# What a function can reach -----------------------------------------------------------------------


class _Names(NamedTuple):
    """The names in a function's code: all it reads, and the globals it assigns."""

    read: frozenset[str]
    globals: tuple[str, ...]


_STORE_GLOBAL = dis.opmap["STORE_GLOBAL"]


@lru_cache(maxsize=4096)
def _names_of(code: CodeType) -> _Names:
    inner = [_names_of(const) for const in code.co_consts if isinstance(const, CodeType)]
    stored = {name for names in inner for name in names.globals}
    if _STORE_GLOBAL in code.co_code[::2]:
        stored |= {i.argval for i in dis.get_instructions(code) if i.opcode == _STORE_GLOBAL}
    return _Names(frozenset(code.co_names).union(*(names.read for names in inner)), tuple(sorted(stored)))


class Label(NamedTuple):
    """The way to an object, written out only for a message: a part of something, or a name."""

    form: str
    key: Any
    of: Label | None = None

    def __str__(self) -> str:
        parts: list[Label] = [self]
        while (label := parts[-1].of) is not None:
            parts.append(label)
        return reduce(lambda text, part: part.form.format(text, part.key), reversed(parts), "")


class Watched(NamedTuple):
    """An object, how a message names it, the name that led there, and its parts when the region began."""

    label: Label
    root: str
    value: Any
    kind: Kind
    before: Parts


_MISSING = object()
_Reached = Iterator[tuple[Label, Any]]


class Watch:
    """Everything a region must leave alone, as it was when the region began.

    One around it watches the same objects, but would not see a change that is taken back before it ends.
    """

    def __init__(self, functions: Iterable[Callable[..., Any]], free: Iterable[Any] = ()) -> None:
        """Watch what the functions reach, except the containers and cells in ``free``, which may change."""
        self._free = {id(value) for value in free}
        self._seen: set[int] = set()
        self._keep: list[Any] = []
        self._memos: set[int] = set()
        self.entries: list[Watched] = []
        plain = [function.func if isinstance(function, partial) else function for function in functions]
        self.functions = [function for function in plain if isinstance(function, FunctionType)]
        for function in self.functions:
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
                self._visit(name, Label("{1}", name), _contents_of(cell))
            for name, label, value in self._globals(function):
                self._visit(name, label, value)

    def _visit(self, root: str, label: Label, value: Any) -> None:
        """Note an object and all that it leads to."""
        stack = [(label, value)]
        while stack:
            label, value = stack.pop()
            kind = _CLASS if isinstance(value, type) else _kind_of(type(value))
            if kind is False or id(value) in self._seen:
                continue
            if kind is _CLASS and (not _is_project(value.__module__) or issubclass(value, Enum)):
                continue
            self._seen.add(id(value))
            self._keep.append(value)  # an id is good only while its object lives
            if kind is True:
                stack += self._through(root, label, value)
                continue
            assert isinstance(kind, Kind)
            parts = kind.read(value)
            if id(value) not in self._free:
                self.entries.append(Watched(label, root, value, kind, parts))
            elif kind is _OBJECT and not isinstance(value, SimpleNamespace):
                self.entries.append(Watched(label, root, value, _BESIDE_ITEMS, _attributes(value)))
            if kind is _CLASS:
                stack += ((Label("{1}", base.__name__), base) for base in value.__bases__)
            elif kind is _OBJECT:
                stack.append((Label("{1}", type(value).__name__), type(value)))
            if kind not in (_ARRAY, _RANDOM):
                stack += (
                    (Label(kind.form, key, label), part) for key, part in parts.items() if type(part) not in _CONSTANT
                )

    def _through(self, root: str, label: Label, value: Any) -> _Reached:
        """Yield what a value that cannot change itself leads to."""
        if isinstance(value, (tuple, frozenset)):
            yield from ((Label("{}[{}]", index, label), part) for index, part in enumerate(value))
        elif isinstance(value, FunctionType):
            yield from self._function(root, value)
        elif isinstance(value, _METHODS):
            if not isinstance(value.__self__, ModuleType):
                yield label.of or label, value.__self__
            if isinstance(value, MethodType):
                yield label, value.__func__
        elif isinstance(value, partial):
            yield from ((label, part) for part in (value.func, value.args, value.keywords))
        elif isinstance(value, property):
            yield from ((label, part) for part in (value.fget, value.fset))
        elif isinstance(value, (staticmethod, classmethod)):
            yield label, value.__func__
        else:
            wrapped = value.__dict__.get("__wrapped__")  # a jit function, or one with a cache
            if isinstance(wrapped, FunctionType):
                yield label, wrapped

    def _function(self, root: str, function: FunctionType) -> _Reached:
        if not _is_project(function.__module__):
            return
        assigned = assigned_captures(function.__code__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            label = Label(f"{{1}} of {function.__name__}()", name)
            if name in assigned and id(cell) not in self._free:
                self._note(label, root, cell, lambda cell: {"": _contents_of(cell)}, "{}")
            yield label, self._own(_contents_of(cell))
        label = Label("{1}", function.__name__)
        yield label, function.__defaults__
        yield label, function.__kwdefaults__
        if function.__dict__:
            self._note(label, root, function, lambda function: dict(function.__dict__))
        yield from ((label, self._own(value)) for _, label, value in self._globals(function, root))

    def _own(self, value: Any) -> Any:
        """Return a value that a function called from the region has for itself."""
        if type(value) is dict:
            self._memos.add(id(value))
        return value

    def _globals(self, function: FunctionType, root: str = "") -> Iterator[tuple[str, Label, Any]]:
        """Yield the globals that a function reads, with their names, and of modules among them the attributes it
        names."""
        names, found = _names_of(function.__code__), function.__globals__
        for name in names.read:
            value, label = found.get(name, _MISSING), Label("{1}", name)
            if isinstance(value, ModuleType):
                yield from ((name, *inner) for inner in self._module(root or name, label, value, names.read))
            else:
                yield name, label, value
        if names.globals:
            line = root or names.globals[0]
            self._note(Label("", ""), line, function, lambda _: _chosen(found, names.globals), "{1}")

    def _module(self, root: str, label: Label, module: ModuleType, names: frozenset[str]) -> _Reached:
        """Yield the attributes of a module that some code names; modules in modules, as `np.random`, too."""
        if module.__name__.partition(".")[0] == _OWN:
            return
        present = [name for name in names if name in vars(module)]
        for name in present:
            value, inner = vars(module)[name], Label("{}.{}", name, label)
            if isinstance(value, ModuleType) and value is not module:
                yield from self._module(root, inner, value, names - {name})
            else:
                yield inner, value
        if present and _is_project(module.__name__):
            self._note(label, root, module, lambda module: _chosen(vars(module), present))

    def _note(self, label: Label, root: str, value: Any, read: Callable[[Any], Parts], form: str = "{}.{}") -> None:
        self.entries.append(Watched(label, root, value, Kind(read, form, _VALUE_ADVICE), read(value)))

    # The region ----------------------------------------------------------------------------------

    def changed(self) -> tuple[Watched, str] | None:
        """Return the first object that is no longer as it was, with the words for the part that differs.

        What a function adds to a dict of its own is what it remembers, if the kernel's running does not come into it.
        """
        for entry in self.entries:
            now = entry.kind.read(entry.value)
            for key in (*entry.before, *(key for key in now if key not in entry.before)):
                before, after = entry.before.get(key, _MISSING), now.get(key, _MISSING)
                if before is after or _same(before, after):
                    continue
                remembers = id(entry.value) in self._memos or _is_cached_property(entry.value, key)
                if before is _MISSING and remembers and not _holds_run_time(after):
                    continue
                return entry, str(Label(entry.kind.form, key, entry.label))
        return None

    def refuse(self, what: str, at: Callable[[int], SourceLocation | None]) -> None:
        """Raise if anything has changed; ``at`` makes a place of a line, 0 being that of the region itself."""
        found = self.changed()
        if found is None:
            return
        entry, label = found
        region = at(0)
        where = "" if region is None else f" of line {region.line}"
        raise DslTypeError(
            f"'{label}' is changed inside the run-time {what}{where}; Python changes it once, while the code is "
            "traced, whatever happens at run time",
            hint=entry.kind.advice.format(site=what.removesuffix(" loop")),
            location=at(self._line(entry.root)),
        )

    def _line(self, name: str) -> int:
        """Return the line of the region that uses a name: the first that calls it, or calls or assigns something of
        it."""
        lines = [line for function in self.functions for line in _lines_of(function.__code__, name)]
        return next((line for line, acts in lines if acts), lines[0][0] if lines else 0)


def _same(before: Any, after: Any) -> bool:
    return before is not _MISSING and after is not _MISSING and unchanged(before, after)


def _is_cached_property(owner: Any, key: Any) -> bool:
    return isinstance(key, str) and isinstance(getattr(type(owner), key, None), cached_property)


def _holds_run_time(value: Any) -> bool:
    """Return whether a value is, or is a list or tuple of, what only the running kernel knows."""
    return any(_is_run_time(part) for part in (value if isinstance(value, (list, tuple)) else (value,)))


def _is_run_time(value: Any) -> bool:
    if isinstance(value, Numeric):
        return not value.is_static()
    return isinstance(value, Vector) or (isinstance(value, Handle) and not value.is_static)


def _chosen(values: Mapping[str, Any], names: Iterable[str]) -> Parts:
    return {name: values.get(name, _MISSING) for name in names}


def _contents_of(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # unbound
        return _MISSING


@lru_cache(maxsize=4096)
def _lines_of(code: CodeType, name: str) -> tuple[tuple[int, bool], ...]:
    """Return the lines of a function that read a name, and whether they call or assign anything."""
    reads: list[int] = []
    acting: set[int] = set()
    for instruction in dis.get_instructions(code):
        line = instruction.positions.lineno if instruction.positions else None
        if line is None:
            continue
        if instruction.opname.startswith("LOAD_") and instruction.argval == name:
            reads.append(line)
        if instruction.opname.startswith(("CALL", "STORE_ATTR", "STORE_SUBSCR", "DELETE", "FOR_ITER")):
            acting.add(line)
    inner = [found for const in code.co_consts if isinstance(const, CodeType) for found in _lines_of(const, name)]
    return (*((line, line in acting) for line in reads), *inner)
