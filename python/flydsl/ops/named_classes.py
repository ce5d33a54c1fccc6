"""Classes that tell C code quickly what it asks them for.

C code asks by texts (`PyObject_GetAttrString`). Python makes new objects of these, which its cache of attributes does
not have, and searches all bases of the metaclass and of the class each time. A metaclass may answer texts itself.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Any

from flydsl.compiler.cache.compiled_code import native_code
from flydsl.compiler.calls.native_call import address_in, interpreter, table_of


class _Slot(ctypes.Structure):
    """PyType_Slot."""

    _fields_ = (("slot", ctypes.c_int), ("value", ctypes.c_void_p))


class _Spec(ctypes.Structure):
    """PyType_Spec."""

    _fields_ = (("name", ctypes.c_char_p), ("bytes", ctypes.c_int), ("item", ctypes.c_int), ("flags", ctypes.c_uint),
                ("slots", ctypes.POINTER(_Slot)))  # fmt: skip


_GET_BY_TEXT, _GET_BY_OBJECT = 57, 58
"""Py_tp_getattr and Py_tp_getattro."""
_TYPE_FLAGS = 1 << 18 | 1 << 10
"""Py_TPFLAGS_DEFAULT and Py_TPFLAGS_BASETYPE."""
_CLASS_BYTES: int = getattr(type, "__basicsize__")  # noqa: B009
"""Of a class, before the word that is added."""


@cache
def _named_type() -> Any:
    """Return a metaclass like `type`, whose classes have one word more, for a table of attributes."""
    api, code = ctypes.pythonapi, native_code("native_replay")
    slot, new = api.PyType_GetSlot, api.PyType_FromSpecWithBases
    slot.restype, slot.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_int]
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object]
    slots = (_Slot * 3)(
        (_GET_BY_TEXT, code.address("fly_attribute")), (_GET_BY_OBJECT, slot(type, _GET_BY_OBJECT))
    )  # fmt: skip
    tell = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)(code.address("fly_name_attributes"))
    tell(_CLASS_BYTES, address_in(interpreter()))
    return new(ctypes.byref(_Spec(b"flydsl.named_type", _CLASS_BYTES + 8, 0, _TYPE_FLAGS, slots)), (type,))


def named_class(name: str, base: type, attributes: dict[str, Any], asked: Sequence[str]) -> Any:
    """Return a class that tells C code quickly what it asks for: its attributes of these names do not change."""
    made = _named_type()(name, (base,), attributes)
    texts, values = [ctypes.create_string_buffer(one.encode()) for one in asked], [getattr(made, one) for one in asked]
    pairs = chain.from_iterable((ctypes.addressof(text), id(value)) for text, value in zip(texts, values, strict=True))
    made.table = table_of([*pairs, 0], (texts, values))
    ctypes.c_int64.from_address(id(made) + _CLASS_BYTES).value = address_in(made.table)
    return made
