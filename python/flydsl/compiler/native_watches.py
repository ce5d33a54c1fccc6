"""The check of `watches.py` as native code: a function that compares addresses, some nanoseconds each.

A kernel with many helpers is made from some hundred objects, and comparing them from Python costs more than all the
rest of a call. Rows say where an object was read; `native_watches.ll` reads there again. What it finds to be another
object, or cannot read, it leaves to the check in Python.
"""

from __future__ import annotations

import ctypes
import gc
import struct
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import CellType, FunctionType, MappingProxyType
from typing import Any

from flydsl.compiler.python_api import function_address

_ENTRY, _ENTRIES, _CELL, _PART = range(4)
_FUNCTIONS = (
    "PyDict_GetItemWithError", "PyDict_Next", "PyDict_Size", "PyCell_Get", "Py_IncRef", "Py_DecRef", "PyErr_Occurred",
    "PyErr_Clear", "PyObject_CallNoArgs",
)  # fmt: skip
_NO_ARGUMENTS = 4
"""METH_NOARGS."""
_BYTES_BEFORE_CONTENT = 32
"""Of a bytes object, as `native_watches.ll` knows it."""
_PARTS = {
    "__defaults__": "PyFunction_GetDefaults", "__kwdefaults__": "PyFunction_GetKwDefaults",
    "__code__": "PyFunction_GetCode",
}  # fmt: skip
"""Parts of a function by the C function that reads them."""

Check = Callable[[], bool]


@dataclass(frozen=True)
class Row:
    """A row of the table: its kind, and objects, numbers or, by name, C functions."""

    kind: int
    words: tuple[Any, ...]


@dataclass(frozen=True)
class Number:
    """A word that is no address."""

    value: int


@dataclass(frozen=True)
class Function:
    """A word that is the address of one of Python's C functions."""

    name: str


NULL = Number(0)


def entry(mapping: Mapping[Any, Any], key: Any, value: Any, *, there: bool = True) -> Row:
    """One key of a dictionary, with its value or without."""
    return Row(_ENTRY, (mapping, key, value if there else NULL))


def entries(mapping: Mapping[Any, Any], items: Mapping[Any, Any], *, keys: bool) -> Row:
    """All entries of a dictionary in their order, or their values alone."""
    pairs = [word for key, value in items.items() for word in (key if keys else NULL, value)]
    return Row(_ENTRIES, (mapping, Number(len(items)), *pairs))


def content(cell: CellType, value: Any) -> Row:
    """What a closure variable holds."""
    return Row(_CELL, (cell, value))


def part(function: FunctionType, name: str, value: Any) -> Row:
    """The defaults or the code of a function."""
    return Row(_PART, (Function(_PARTS[name]), function, value))


def dictionary(mapping: Mapping[Any, Any]) -> Mapping[Any, Any] | None:
    """The dictionary that a mapping is, or that a class's read-only view of its attributes shows; None for others."""
    if isinstance(mapping, dict):
        return mapping
    behind = gc.get_referents(mapping) if type(mapping) is MappingProxyType else []
    return behind[0] if len(behind) == 1 and type(behind[0]) is dict else None


@cache
def available() -> bool:
    """Whether this interpreter is one whose objects the native code can read, with a lock that keeps them still."""
    known = sys.implementation.name == "cpython" and bytes.__basicsize__ == _BYTES_BEFORE_CONTENT + 1
    return known and not sysconfig.get_config_var("Py_GIL_DISABLED") and struct.calcsize("P") == 8


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@cache
def _method() -> tuple[_Method, Any]:
    """The description of the native function, which its objects point to, and the code it is in."""
    from flydsl.compiler.own_objects import native_watches_code

    loaded = native_watches_code()
    return _Method(b"unchanged", loaded.address("fly_unchanged"), _NO_ARGUMENTS, None), loaded


def native_check(rows: Sequence[Row], closer: Check, rest: Check | None) -> Check:
    """A check of the rows. ``closer`` answers where one differs, ``rest`` where none does, if it is given."""
    words: list[Any] = [Number(len(rows)), closer, rest or NULL, True, *map(Function, _FUNCTIONS)]
    for row in rows:
        words += [Number(row.kind), Number(len(row.words) + 2), *row.words]
    table = struct.pack(f"={len(words)}q", *map(_address, words))
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    method = _method()
    # The last argument, meant for a module, keeps alive what the function and its table point to.
    return make(ctypes.addressof(method[0]), table, (method, *words))


def _address(word: Any) -> int:
    if type(word) is Number:
        return word.value
    return function_address(word.name) if type(word) is Function else id(word)


__all__ = ["Row", "available", "content", "dictionary", "entries", "entry", "native_check", "part"]
