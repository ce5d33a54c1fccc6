"""What values hold: the text of plain ones, the items of containers, the elements of arrays; and a guard of objects.

Nothing here runs the user's code: items and attributes are read from where Python keeps them.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from operator import attrgetter, is_, itemgetter
from types import CellType, EllipsisType, FunctionType, MappingProxyType, MemberDescriptorType, NoneType
from typing import Any, NamedTuple

from flydsl.base.own_code import is_own_module
from flydsl.compiler.messages.shown_value import shown

MOST_BYTES = 1 << 20
"""Bytes of an array that are compared at each call; sixteen thousand take about a microsecond."""
MOST_ITEMS = 10_000
"""Items of a container that are compared at each call; a thousand take about ten microseconds."""

# Plain values --------------------------------------------------------------------------------------------------------


def _float_text(value: float) -> str:
    return f"float {value.hex()}" if value == value else f"float nan {struct.pack('<d', value).hex()}"


LEAVES: Mapping[type, Callable[[Any], str]] = {
    bool: lambda v: f"bool {v}",
    int: lambda v: f"int {v:#x}",  # decimal digits have a limit
    float: _float_text,
    complex: lambda v: f"complex {_float_text(v.real)} {_float_text(v.imag)}",
    str: lambda v: f"str {v!r}",
    bytes: lambda v: f"bytes {v!r}",
    NoneType: lambda v: "None",
    EllipsisType: lambda v: "Ellipsis",
    range: lambda v: f"range {v.start} {v.stop} {v.step}",
}
"""How values that never change are written, by their type."""

_PARTS: Mapping[str, tuple[str, ...]] = {
    "functools.partial": ("func", "args", "keywords"),
    "functools.cached_property": ("func",),
    "functools._lru_cache_wrapper": ("__wrapped__",),
    "builtins.method": ("__func__", "__self__"),
    "builtins.property": ("fget", "fset", "fdel"),
    "builtins.staticmethod": ("__func__",),
    "builtins.classmethod": ("__func__",),
    "builtins.slice": ("start", "stop", "step"),
    **{f"builtins.{kind}_{view}": ("mapping",) for kind in ("dict", "odict") for view in ("keys", "values", "items")},
}
"""Attributes that say all about an object, by the module and name of its type."""


def parts_of(kind: type) -> tuple[str, ...] | None:
    """Attributes that say all about an object of a type; a class of ours names them itself, in ``captured_parts``."""
    own = vars(kind).get("captured_parts") if is_own_module(kind.__module__) else None
    return own or _PARTS.get(f"{kind.__module__}.{kind.__qualname__}")


BOUND = ("builtin_function_or_method", "method-wrapper")
"""Types of methods of built-in objects, by their name."""


def library_value(value: Any) -> str | None:
    """Values of numpy, ml_dtypes and torch that are settings rather than data."""
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    if package == "numpy" and isinstance(value, sys.modules["numpy"].dtype):
        return f"dtype {value.str} {value.name} {value.descr if value.fields else ''}"
    if package in ("numpy", "ml_dtypes") and isinstance(value, sys.modules["numpy"].generic):
        return f"scalar {value.dtype.str} {value.dtype.name} {value.tobytes().hex()}"
    if package == "numpy" and getattr(sys.modules["numpy"], getattr(value, "__name__", ""), None) is value:
        return f"numpy.{value.__name__}@{sys.modules['numpy'].__version__}"
    if package == "torch" and kind.__name__ in ("dtype", "device", "memory_format", "layout"):
        return f"{kind.__name__} {value}"
    return None


# Containers ----------------------------------------------------------------------------------------------------------

CONTAINERS: tuple[type, ...] = (OrderedDict, defaultdict, dict, list, set, frozenset, deque, MappingProxyType)


@lru_cache(maxsize=1024)
def container_of(kind: type) -> Any:
    """Return the built-in container that a class is or is derived from; None if it is none."""
    return next((base for base in CONTAINERS if issubclass(kind, base)), None)


def is_object_array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray) and value.dtype.kind == "O"


# Arrays --------------------------------------------------------------------------------------------------------------


class Content(NamedTuple):
    """What an array or another block of memory holds, and how to see whether it still does."""

    form: str
    size: int
    data: Callable[[Any], bytes] | None = None
    """Its bytes; None where there are too many to look at."""
    read: Callable[[Any], Any] | None = None
    """What to compare at each call; None for what cannot change, or for what nothing tells of."""
    is_seen: bool = True
    """Whether a change in place can be noticed."""


_C_DATA = (ctypes.Array, ctypes.Structure, ctypes.Union, ctypes.c_int.__mro__[1])


@lru_cache(maxsize=1024)
def is_array_type(kind: type) -> bool:
    """Return whether values of a type are arrays, or other blocks of memory."""
    if kind in (bytearray, memoryview) or (kind.__module__, kind.__name__) == ("array", "array"):
        return True
    names = {(base.__module__.partition(".")[0], base.__name__) for base in kind.__mro__}
    return issubclass(kind, _C_DATA) or not names.isdisjoint({("numpy", "ndarray"), ("torch", "Tensor")})


def content_of(value: Any) -> Content | None:
    """Return the content of an array of numbers or of other memory; None for values that are none."""
    if not is_array_type(type(value)):
        return None
    if isinstance(value, _C_DATA):
        return _of_memory(value, ctypes.sizeof(value), is_seen=not value._objects)
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and isinstance(value, numpy.ndarray):
        return _of_numpy(value) if value.dtype.kind != "O" else None
    if torch is not None and isinstance(value, torch.Tensor):
        return _of_torch(value)
    return _of_memory(value, memoryview(value).nbytes)


def form_of(value: Any) -> str:
    """Return what the attributes `code.FORM` of an array tell, as text."""
    if not hasattr(value, "dtype"):
        return f"{getattr(value, 'typecode', '')} {memoryview(value).nbytes}"
    strides = value.stride() if hasattr(value, "stride") else value.strides
    return f"{value.dtype} {tuple(value.shape)} {tuple(strides)}"


def _bytes_of(value: Any) -> bytes:
    return memoryview(value).tobytes()


def digest_of(data: bytes) -> str:
    return import_module("hashlib").sha256(data).hexdigest()  # slow to import


def _of_memory(value: Any, size: int, *, is_seen: bool = True) -> Content:
    if size > MOST_BYTES or not is_seen:  # memory that points to other memory
        return Content("", size, is_seen=False)
    memory = memoryview(value)
    return Content(f"{memory.format} {memory.shape}", size, _bytes_of, _bytes_of)


def _of_numpy(value: Any) -> Content:
    if value.dtype.hasobject:  # records with objects in them
        return Content("", value.nbytes, is_seen=False)
    small, fixed = value.nbytes <= MOST_BYTES, _is_fixed(value)
    read = sys.modules["numpy"].ndarray.tobytes
    form = f"{value.dtype.str} {value.dtype.descr if value.dtype.fields else ''} {value.shape}"
    return Content(form, value.nbytes, read if small else None, None if fixed or not small else read, small or fixed)


def _is_fixed(value: Any) -> bool:
    """Return whether nobody can write an array: it is read-only, and so is whatever its memory belongs to."""
    while value is not None:
        if isinstance(value, bytes):
            return True
        if not hasattr(value, "flags") or value.flags.writeable:
            return False
        value = value.base
    return True


def _of_torch(value: Any) -> Content:
    size = value.numel() * value.element_size()
    try:
        if value.device.type == "cpu" and value.is_contiguous() and size <= MOST_BYTES:
            return Content(f"{value.dtype} {tuple(value.shape)}", size, _tensor_bytes, _tensor_state)
        _tensor_version(value)
        return Content("", size, read=_tensor_version)
    except Exception:  # tensors without storage or without a version
        return Content("", size, is_seen=False)


def _tensor_version(value: Any) -> tuple[int, int]:
    return value._version, value.data_ptr()


def _tensor_bytes(value: Any) -> bytes:
    return ctypes.string_at(value.data_ptr(), value.numel() * value.element_size())


def _tensor_state(value: Any) -> tuple[int, int, bytes]:
    """The version is not enough: what is no part of torch writes without it."""
    version = 0 if value.is_inference() else value._version
    return version, value.data_ptr(), _tensor_bytes(value)


# Attributes ----------------------------------------------------------------------------------------------------------


def slots_of(value: Any) -> dict[str, Any]:
    """Return the descriptors of an object's slots that hold something, by name."""
    found: dict[str, Any] = {}
    for name, slot in _slots_of_class(type(value)):
        with suppress(AttributeError):  # it holds nothing
            slot.__get__(value)
            found[name] = slot
    return found


@lru_cache(maxsize=1024)
def _slots_of_class(kind: type) -> tuple[tuple[str, Any], ...]:
    found: dict[str, Any] = {}
    for part in kind.__mro__:
        names = vars(part).get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            name = f"_{part.__name__.lstrip('_')}{name}" if name.startswith("__") and name[-2:] != "__" else name
            slot = vars(part).get(name)
            if type(slot) is MemberDescriptorType:
                found.setdefault(name, slot)
    return tuple(found.items())


def attributes_of(value: Any) -> dict[str, Any] | None:
    """Return the dictionary of an object's attributes, past whatever its class answers when it is asked for one."""
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


# The guard ------------------------------------------------------------------------------------------------------------

MISSING: Any = object()
"""Stands for what is not there."""
_END: Any = object()
"""Stands between the items of one container and the next, so that none can move over unseen."""
_RELOADERS = ("IPython", "jurigged")
"""Programs that give functions new code in place. Looking for that at every call would cost more than all the rest."""
_FEW, _FEW_ONES = 12, 24
"""Objects up to which one comparison after the other is quicker than all at once; and where each has its own name."""
_FIRST = tuple.__basicsize__  # where the items of a tuple begin

Check = Callable[[], bool]


class _Place(NamedTuple):
    """Somewhere objects were read, each under a key of its own: how to read them again, and what was found."""

    owner: Any
    label: str
    """How a user calls an object here, with a zero byte where its key belongs."""
    before: Mapping[Any, Any]
    now: Callable[[], Mapping[Any, Any]]
    grows: bool = False
    """Whether it may have been given more objects by tracing, which then count no less than the others."""

    def changed(self) -> dict[Any, tuple[Any, Any]]:
        """Keys whose object is another now: (object before, object now)."""
        try:
            now = self.now()
        except Exception:  # it may be gone, or change while it is read
            now = {}
        pairs = {key: (self.before.get(key, MISSING), now.get(key, MISSING)) for key in (*self.before, *now)}
        return {key: pair for key, pair in pairs.items() if pair[0] is not pair[1]}


class _Read(NamedTuple):
    """Items of a tuple as an expression, in which {0}, {1}, ... stand for the parts; and what that gave."""

    expression: str
    parts: tuple[Any, ...]
    before: tuple[Any, ...]


def content_of_cell(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return MISSING


def _all_as_good(now: tuple[Any, ...], before: tuple[Any, ...]) -> bool:
    """Compare objects; numbers and texts by value, since a setting that goes to and fro is a new one each time.

    Other objects are not asked for equality: a wrapper may call itself equal to what it wraps.
    """

    def is_as_good(new: Any, old: Any) -> bool:
        plain = type(old) in (int, str) or (type(old) is float and old == old and old != 0.0)
        return new is old or (plain and type(new) is type(old) and new == old)

    return len(now) == len(before) and all(map(is_as_good, now, before))


def _addresses_of(size: int) -> Any:
    """Return what reads the addresses of so many items at a place in memory; None where tuples are not as we know them.

    They lie at the end of a tuple, one after the other. Comparing all of them at once is ten times as quick.
    """
    read, sample = (ctypes.c_char * (8 * size)).from_address, tuple(range(1000, 1000 + size))
    if sys.implementation.name != "cpython" or struct.calcsize("P") != 8:
        return None
    return read if read(id(sample) + _FIRST).raw == struct.pack(f"={size}q", *map(id, sample)) else None


def same_names(scope: dict[str, Any], names: Mapping[str, Any]) -> Check:
    """Return whether many names of a module mean the same. Reading all it has is quicker than looking most of them up.

    New names come last. So if there are as many as before and the last is the same, they all are, unless that one was
    deleted and came again: nobody deletes all the others with it, and has the same objects there in the same order.
    """
    get, before = itemgetter(*names), tuple(names.values())
    everything = tuple(scope.values())
    addresses = _addresses_of(len(everything)) if len(scope) < 3 * len(names) else None
    if addresses is None:
        return lambda: (now := get(scope)) and (all(map(is_, now, before)) or _all_as_good(now, before))
    size, last, values = len(everything), next(reversed(scope)), scope.values()
    expected = addresses(id(everything) + _FIRST).raw

    def holds() -> bool:
        nonlocal expected
        now = tuple(values)
        is_like = len(now) == size and next(reversed(scope)) is last
        if is_like and addresses(id(now) + _FIRST).raw == expected:
            return True
        found = get(scope)
        if not _all_as_good(found, before):
            return False
        # Only names that do not matter have changed. An equal number in a new object may be gone at the next look, and
        # another be at its address.
        if is_like and all(map(is_, found, before)):
            expected = addresses(id(now) + _FIRST).raw
        return True

    return holds


class Guard:
    """Are the things that compiled code was made from still the same objects? Every call asks.

    What was read is read again and compared with what it was by identity; only arrays are compared by value. The check
    is a function written for the purpose. Where it fails, fingerprints are made again and compared, so that an equal
    value in a new object compiles nothing.
    """

    def __init__(self) -> None:
        self._names: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        """Names of modules with what they meant, by the id of the module's dictionary."""
        self._functions: list[FunctionType] = []
        self._reads: list[_Read] = []
        self._tests: list[tuple[str, tuple[Any, ...]]] = []
        """Further tests, likewise."""
        self._places: list[_Place] = []
        """The same once more, to tell the user of a change."""
        self.holds: Check = lambda: False
        """Whether every object is still where it was; known when the guard is sealed."""

    def name(self, scope: dict[str, Any], name: str, label: str) -> None:
        """A name of a module, be it there or not."""
        value = self._names.setdefault(id(scope), (scope, {}))[1][name] = scope.get(name, MISSING)
        self._places.append(_Place(scope, label, {name: value}, lambda: {name: scope.get(name, MISSING)}))

    def function(self, function: FunctionType) -> None:
        """The code of a function and its default values."""
        self._functions.append(function)
        for name in ("__defaults__", "__kwdefaults__"):
            if value := getattr(function, name):  # one that had none was given all arguments
                self.item(value, f"{function.__name__}.\0", name, f"{{0}}.{name}", (function,), value)

    def item(self, owner: Any, label: str, key: Any, expression: str, parts: tuple[Any, ...], value: Any) -> None:
        """One object, read by an expression with {0}, {1}, ... for the parts."""

        def now() -> dict[Any, Any]:
            names = {f"p{n}": part for n, part in enumerate(parts)}
            return {key: eval(expression.format(*names), names)}

        self._reads.append(_Read(expression, parts, (value,)))
        self._places.append(_Place(owner, label, {key: value}, now))

    def items(self, owner: Any, read: Callable[[], Iterable[Any]], label: str) -> tuple[Any, ...]:
        """Return the items of a container, in the order in which they are read."""
        items = tuple(read())
        self._reads.append(_Read("*{0}(), {1}", (read, _END), (*items, _END)))
        self._places.append(_Place(owner, f"{label}[\0]", dict(enumerate(items)), lambda: dict(enumerate(read()))))
        return items

    def mapping(self, owner: Any, mapping: Any, kind: Any, label: str, loose: Collection[Any] | None = None) -> None:
        """The keys and values of a mapping in their order; ``kind`` is the type whose methods read them.

        ``loose``: tracing puts something there. The values that are there now count but for those, one by one.
        """
        keys, values = kind.keys(mapping), kind.values(mapping)
        if loose is not None:
            for key, value in [pair for pair in zip(keys, values) if pair[0] not in loose]:
                self.item(owner, label, key, "{0}({1}, {2}, {3})", (kind.get, mapping, key, MISSING), value)
            return
        before = dict(zip(keys, values))
        self._reads.append(_Read("*{0}, {2}, *{1}, {2}", (keys, values, _END), (*before, _END, *before.values(), _END)))
        self._places.append(_Place(owner, label, before, lambda: dict(zip(keys, values)), grows=True))

    def local(self, owner: Any, read: Callable[[Any], dict[str, Any]], label: str) -> None:
        """Values by name that each thread has for itself."""
        before, expression = dict(read(owner)), "*{0}({1}), {2}, *{0}({1}).values(), {2}"
        self._reads.append(_Read(expression, (read, owner, _END), (*before, _END, *before.values(), _END)))
        self._places.append(_Place(owner, label, before, lambda: dict(read(owner))))

    def data(self, owner: Any, read: Callable[[Any], Any], label: str) -> Any:
        """Return what a function makes of an object, such as its bytes: compared by value."""
        content = read(owner)

        def now() -> dict[Any, Any]:
            found = read(owner)
            return {"": content if found == content else found}

        self._tests.append(("{0}({1}) == {2}", (read, owner, content)))
        self._places.append(_Place(owner, label, {"": content}, now))
        return content

    def seal(self) -> None:
        """Compile the check out of the conditions that were collected."""
        bound: dict[str, Any] = {}

        def known(value: Any) -> str:
            bound[name := f"v{len(bound)}"] = value
            return name

        reads, tests = list(self._reads), [test.format(*map(known, parts)) for test, parts in self._tests]
        if self._functions and any(name in sys.modules for name in _RELOADERS):
            codes = tuple(function.__code__ for function in self._functions)
            reads.append(_Read("*map({0}, {1})", (attrgetter("__code__"), self._functions), codes))
        for scope, names in self._names.values():
            absent = tuple(name for name, value in names.items() if value is MISSING)
            found = {name: value for name, value in names.items() if value is not MISSING}
            if absent:
                tests.append(f"{known(scope.keys())}.isdisjoint({known(absent)})")
            if len(found) > _FEW:
                tests.append(f"{known(same_names(scope, found))}()")
            else:
                reads += [_Read("{0}[{1}]", (scope, name), (value,)) for name, value in found.items()]
        if reads:
            tests.append(_same_text(reads, known))
        # A name may be gone, a value may not like to be compared, another thread may change a container meanwhile.
        source = "def holds():\n try:\n  return {}\n except Exception:\n  return False"
        exec(compile(source.format(" and ".join(tests) or "True"), "<flydsl guard>", "exec"), bound)
        self.holds = bound["holds"]

    def changes(self) -> list[str]:
        """Name what is another object now, in the user's words. One that shows the same as before is left out."""
        found: dict[str, None] = {}
        for place in self._places:
            for key, pair in place.changed().items():
                name = key if isinstance(key, str) and "[" not in place.label else repr(key)
                before, now = ("not there" if value is MISSING else shown(value) for value in pair)
                if now != before:
                    found[f"'{place.label.replace(chr(0), name)}' is {now}, was {before}"] = None
        return list(found)

    def changed_parts(self) -> dict[int, frozenset[Any]]:
        """By the id of what holds them (a dictionary of names, a container, an object), the keys of changed objects.

        What has merely been given more is there with no key.
        """
        found: dict[int, frozenset[Any]] = {}
        for place in self._places:
            if changed := place.changed():
                lost = {key for key, (before, _) in changed.items() if before is not MISSING or not place.grows}
                found[id(place.owner)] = found.get(id(place.owner), frozenset()) | lost
        return found


def _same_text(reads: Sequence[_Read], known: Callable[[Any], str]) -> str:
    """Return a test that some reads give the same objects, or as good ones: each by itself, or all in one tuple."""
    items = [read.expression.format(*map(known, read.parts)) for read in reads]
    before = tuple(value for read in reads for value in read.before)
    now, was = f"({', '.join(items)},)", known(before)
    if len(before) <= _FEW_ONES and not any(item.startswith("*") for item in items):
        chain = " and ".join(f"{item} is {known(value)}" for item, value in zip(items, before))
        return f"(({chain}) or {known(_all_as_good)}({now}, {was}))"
    addresses = _addresses_of(len(before)) if len(before) > _FEW else None
    if addresses is None:
        test = f"all(map({known(is_)}, now, {was}))"
    else:
        test = f"{known(addresses)}(id(now) + {_FIRST}).raw == {known(addresses(id(before) + _FIRST).raw)}"
    return f"(len(now := {now}) == {len(before)} and {test} or {known(_all_as_good)}(now, {was}))"
