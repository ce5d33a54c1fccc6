"""What values hold: the text of plain ones, the items of containers, the elements of arrays, the state of objects.

Nothing here runs the user's code: items and attributes are read from where Python keeps them.
"""

from __future__ import annotations

import ctypes
import dataclasses
import reprlib
import struct
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from types import EllipsisType, FunctionType, MappingProxyType, MemberDescriptorType, NoneType, SimpleNamespace
from typing import Any

from flydsl.base.own_code import is_own_module
from flydsl.base.records import dataclass

MOST_BYTES = 1 << 20
"""Bytes of an array that are compared at each call; sixteen thousand take about a microsecond."""
MOST_ITEMS = 10_000
"""Items of a container that are compared at each call; a thousand take about ten microseconds."""

# Plain values --------------------------------------------------------------------------------------------------------

_WIDE = 1 << 64
"""Integers beyond it are written in hexadecimal, since decimal digits have a limit."""


def _float_text(value: float) -> str:
    return f"float {value.hex()}" if value == value else f"float nan {struct.pack('<d', value).hex()}"


LEAVES: Mapping[type, Callable[[Any], str]] = {
    bool: lambda v: f"bool {v}",
    int: lambda v: f"int {v}" if -_WIDE < v < _WIDE else f"int {v:#x}",
    float: _float_text,
    complex: lambda v: f"complex {_float_text(v.real)} {_float_text(v.imag)}",
    str: lambda v: f"str {v!r}",
    bytes: lambda v: f"bytes {v!r}",
    NoneType: lambda v: "None",
    EllipsisType: lambda v: "Ellipsis",
    range: lambda v: f"range {v.start} {v.stop} {v.step}",
}
"""How values that never change are written, by their type."""

_PARTS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("functools", "partial"): ("func", "args", "keywords"),
    ("builtins", "method"): ("__func__", "__self__"),
    ("builtins", "property"): ("fget", "fset", "fdel"),
    ("builtins", "staticmethod"): ("__func__",),
    ("builtins", "classmethod"): ("__func__",),
    ("builtins", "slice"): ("start", "stop", "step"),
    **{
        ("builtins", f"{kind}_{view}"): ("mapping",)
        for kind in ("dict", "odict")
        for view in ("keys", "values", "items")
    },
    ("functools", "cached_property"): ("func",),
    ("functools", "_lru_cache_wrapper"): ("__wrapped__",),
}
"""Attributes that say all about an object, by the module and name of its type."""


def parts_of(kind: type) -> tuple[str, ...] | None:
    """Attributes that say all about an object of a type; a class of ours names them itself, in ``captured_parts``."""
    own = vars(kind).get("captured_parts") if is_own_module(kind.__module__) else None
    return own or _PARTS.get((kind.__module__, kind.__qualname__))


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

_CONTAINERS: tuple[type, ...] = (OrderedDict, defaultdict, dict, list, set, frozenset, deque, MappingProxyType)


@lru_cache(maxsize=1024)
def container_of(kind: type) -> Any:
    """The built-in container that a class is or is derived from; None if it is none."""
    return next((base for base in _CONTAINERS if issubclass(kind, base)), None)


class _Items:
    """Items that are read in a way of their own, as often as they are asked for."""

    def __init__(self, read: Callable[[], Iterator[Any]]) -> None:
        self._read = read

    def __iter__(self) -> Iterator[Any]:
        return self._read()


def items_of(value: Any, base: Any) -> Iterable[Any]:
    """The items of a container past what its class overrides; without a base, those of a NumPy array of objects."""
    return _Items(lambda: iter(value.ravel().tolist()) if base is None else base.__iter__(value))


def is_object_array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray) and value.dtype.kind == "O"


# Arrays --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Content:
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
    """Whether values of a type are arrays, or other blocks of memory."""
    if kind in (bytearray, memoryview) or (kind.__module__, kind.__name__) == ("array", "array"):
        return True
    names = {(base.__module__.partition(".")[0], base.__name__) for base in kind.__mro__}
    return issubclass(kind, _C_DATA) or not names.isdisjoint({("numpy", "ndarray"), ("torch", "Tensor")})


def content_of(value: Any) -> Content | None:
    """The content of an array of numbers or of other memory; None for values that are none."""
    if not is_array_type(type(value)):
        return None
    if isinstance(value, _C_DATA):
        return _of_memory(value, ctypes.sizeof(value), is_seen=not value._objects)
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and isinstance(value, numpy.ndarray):
        return _of_numpy(value) if value.dtype.kind != "O" else None
    if torch is not None and isinstance(value, torch.Tensor):
        return _of_torch(value)
    return _of_memory(value, memory_of(value).nbytes)


def form_of(value: Any) -> str:
    """What the attributes `code.FORM` of an array tell, as text."""
    if not hasattr(value, "dtype"):
        return f"{getattr(value, 'typecode', '')} {memory_of(value).nbytes}"
    strides = value.stride() if hasattr(value, "stride") else value.strides
    return f"{value.dtype} {tuple(value.shape)} {tuple(strides)}"


def memory_of(value: Any) -> memoryview:
    return value if type(value) is memoryview else memoryview(value)


def bytes_of(value: Any) -> bytes:
    return memory_of(value).tobytes()


def digest_of(data: bytes) -> str:
    return import_module("hashlib").sha256(data).hexdigest()  # slow to import


def _of_memory(value: Any, size: int, *, is_seen: bool = True) -> Content:
    if size > MOST_BYTES or not is_seen:  # memory that points to other memory
        return Content("", size, is_seen=False)
    memory = memory_of(value)
    return Content(f"{memory.format} {memory.shape}", size, bytes_of, bytes_of)


def _of_numpy(value: Any) -> Content:
    if value.dtype.hasobject:  # records with objects in them
        return Content("", value.nbytes, is_seen=False)
    small, fixed = value.nbytes <= MOST_BYTES, _is_fixed(value)
    read = sys.modules["numpy"].ndarray.tobytes
    form = f"{value.dtype.str} {value.dtype.descr if value.dtype.fields else ''} {value.shape}"
    return Content(form, value.nbytes, read if small else None, None if fixed or not small else read, small or fixed)


def _is_fixed(value: Any) -> bool:
    """Whether nobody can write an array: it is read-only, and so is whatever its memory belongs to."""
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


# Objects -------------------------------------------------------------------------------------------------------------


def is_immutable(cls: type) -> bool:
    """Whether instances never change: values of this package and of `dataclasses`, and frozen dataclasses."""
    parameters = getattr(cls, "__dataclass_params__", None)
    ours = is_own_module(cls.__module__) or cls.__module__ == "dataclasses"
    return ours or bool(parameters and parameters.frozen)


_GENERATORS = ("dataclasses", "flydsl.base.records")
_GENERATED = frozenset({
    "__init__", "__repr__", "__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__setattr__", "__delattr__",
    "__getstate__", "__setstate__", "__replace__",
})  # fmt: skip


def is_generated(name: str, value: Any) -> bool:
    """Whether an entry of a dataclass is a method that `dataclasses` wrote."""
    if name not in _GENERATED or not isinstance(value, FunctionType):
        return False
    if value.__code__.co_filename == reprlib.__file__:  # from Python 3.13 on, what it wrote is inside
        value = getattr(value, "__wrapped__", value)
    return value.__code__.co_filename in ("<string>", dataclasses.__file__)


_BASES: Mapping[type, Callable[[Any], Any]] = {
    tuple: lambda value: tuple.__getitem__(value, slice(None)),
    str: lambda value: str.__getitem__(value, slice(None)),
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    int: int.__pos__,
    float: float.__pos__,
}
"""How to get at the value of a built-in type within a subclass, past whatever the subclass overrides."""


def slots_of(value: Any) -> dict[str, Any]:
    """The descriptors of an object's slots that hold something, by name."""
    slots = _slots_of_class(type(value))
    return {name: slot for name, slot in slots if _holds(slot, value)} if slots else {}


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


def _holds(slot: Any, value: Any) -> bool:
    try:
        slot.__get__(value)
    except AttributeError:
        return False
    return True


def state_of(value: Any) -> tuple[dict[str, Any] | None, dict[str, Any], Any] | None:
    """(attributes, slots, value as a built-in type) of an instance, or None if it may hold more than these.

    The items of a container are not among them.
    """
    cls = type(value)
    base = next((value_of(value) for plain, value_of in _BASES.items() if isinstance(value, plain)), None)
    plain = (*_BASES, *_CONTAINERS)
    if base is None and cls is not SimpleNamespace and container_of(cls) is None:
        if _copies_its_own_way(cls) or not _is_python_class(value):
            return None
    elif cls is not SimpleNamespace and not all(p in (object, *plain) or p.__flags__ & _HEAP_TYPE for p in cls.__mro__):
        return None
    slots = {name: slot.__get__(value) for name, slot in slots_of(value).items()}
    return attributes_of(value), slots, base


def attributes_of(value: Any) -> dict[str, Any] | None:
    """The dictionary of an object's attributes, past whatever its class answers when it is asked for one."""
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


_HEAP_TYPE = 1 << 9


def _copies_its_own_way(cls: type) -> bool:
    """Whether a class says itself what an instance consists of: there may be more to it than attributes."""
    state = cls.__getstate__
    own_state = state is not object.__getstate__ and getattr(state, "__module__", "") not in _GENERATORS
    own = cls.__reduce__ is not object.__reduce__ or cls.__reduce_ex__ is not object.__reduce_ex__
    return own or own_state or hasattr(cls, "__getnewargs__") or hasattr(cls, "__getnewargs_ex__")


def _is_python_class(value: Any) -> bool:
    """Whether all an instance holds is in its attributes and slots: classes written in C may hold more."""
    try:
        object.__reduce_ex__(value, 2)
    except TypeError:  # what Python says of a class with hidden state
        return False
    except Exception:  # a class with its own idea of copying
        return False
    return all(part is object or part.__flags__ & _HEAP_TYPE for part in type(value).__mro__)
