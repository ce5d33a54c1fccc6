"""The path of a cached call: arguments to a key and to the numbers of the argument block, and nothing else.

Each parameter has a table from the exact type of its argument to a function that appends the
argument's numbers and returns what compiled code may rely on. A type that is not in the table, a
tensor without a unit stride or a number that does not fit sends the call down the full path, which
explains what is wrong or compiles; its outcome is then remembered under the short key.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from flydsl.compiler.signature import Signature
from flydsl.expr.constexpr import constexpr_key
from flydsl.expr.numeric import Numeric

Take = Callable[[Any, list[Any]], Any]
"""Appends an argument's numbers; returns its part of the key."""


class TypeTable(dict[type, Take]):
    """What to do with an argument of each type; torch's types are known once torch is imported."""

    def __missing__(self, kind: type) -> Take:
        torch = sys.modules.get("torch")
        if torch is not None and kind in (torch.Tensor, torch.nn.Parameter):
            self[kind] = take_torch
            return take_torch
        numpy = sys.modules.get("numpy")
        if numpy is not None and kind is numpy.ndarray:
            self[kind] = take_numpy
            return take_numpy
        raise KeyError(kind)


class AlwaysConstant(dict[type, Take]):
    """A compile-time parameter: the value itself is the key, whatever its type."""

    def __missing__(self, kind: type) -> Take:
        return take_constant


def take_constant(value: Any, numbers: list[Any]) -> Any:
    return constexpr_key(value)


def take_torch(tensor: Any, numbers: list[Any]) -> Any:
    shape, strides = tensor.shape, tensor.stride()
    lead = strides.index(1)
    numbers.append(tensor.data_ptr())
    numbers += shape
    numbers += strides[:lead]
    numbers += strides[lead + 1 :]
    return tensor.dtype, tensor.device, lead, len(strides)


def take_numpy(array: Any, numbers: list[Any]) -> Any:
    shape, size = array.shape, array.itemsize
    strides = array.strides
    lead = strides.index(size)
    pointer = array.__array_interface__["data"][0]
    if pointer % size:
        raise ValueError
    numbers.append(pointer)
    numbers += shape
    for index, step in enumerate(strides):
        if index != lead:
            if step % size:
                raise ValueError
            numbers.append(step // size)
    return array.dtype, lead, len(strides)


def take_none(value: None, numbers: list[Any]) -> Any:
    numbers.append(0)


def _take_number(value: Any, numbers: list[Any]) -> Any:
    numbers.append(value)


def _take_plain_int(value: int, numbers: list[Any]) -> Any:
    numbers.append(value)
    return -0x80000000 <= value < 0x80000000


def _scalar_table(annotation: Any) -> TypeTable:
    """Plain numbers are passed as the annotation says; without one, as the number's own type."""
    table = TypeTable({type(None): take_none})
    if isinstance(annotation, type) and issubclass(annotation, Numeric):
        if annotation.is_integer:
            table[int] = _take_number
        elif str(annotation.ir_type) in ("f32", "f64"):
            table[float] = table[int] = _take_number
        return table
    if annotation is None:
        table[int] = _take_plain_int
        table[float] = _take_number
    return table


class CallPath:
    """Short keys of one jit function."""

    def __init__(self, signature: Signature) -> None:
        self._tables = [
            AlwaysConstant() if fixed else _scalar_table(annotation)
            for annotation, fixed in zip(signature.annotations, signature.constexpr, strict=True)
        ]
        self._count = len(self._tables)
        self._defaults = signature.defaults()
        self._hidden_stream = not any(_is_stream(a) for a in signature.annotations)

    def read(self, args: tuple[Any, ...]) -> tuple[Any, list[Any]] | None:
        """Key and numbers of a call, or None when it must take the full path."""
        missing = self._count - len(args)
        if missing:
            if missing > len(self._defaults) or missing < 0:
                return None
            args = args + self._defaults[len(self._defaults) - missing :]
        numbers: list[Any] = []
        try:
            key = [table[type(value)](value, numbers) for value, table in zip(args, self._tables, strict=True)]
        except (KeyError, TypeError, ValueError):  # the full path explains what is wrong
            return None
        if self._hidden_stream:
            numbers.append(0)
        return tuple(key), numbers


def _is_stream(annotation: Any) -> bool:
    return getattr(annotation, "__name__", "") == "Stream"
