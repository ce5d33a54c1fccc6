"""Attributes of fly operations as Python values, by the kinds that `op_table` names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntAttr,
    IntegerAttr,
    StringAttr,
    i1,
)
from xdsl.ir import Attribute, Operation, TypeAttribute

from flydsl.dialects.fly.op_table import OpSpec
from flydsl.dialects.fly.types import element_type
from flydsl.dialects.upstream import integer, integers
from flydsl.dialects.xdsl_loading import PlainChecks

ATTRIBUTE_CLASSES: dict[str, tuple[str, type[Attribute]]] = {
    "i32": ("an integer", IntegerAttr),
    "angle": ("an integer", IntegerAttr),
    "bool": ("true or false", IntegerAttr),
    "i32s": ("an array of integers, array<i32: …>", DenseArrayBase),
    "elem": ("a number type", TypeAttribute),
    "str": ("a string", StringAttr),
    "word": ("a word", StringAttr),
    "dict": ("a dictionary", DictionaryAttr),
}
"""Kind to how an error names it and the attribute class that stores it."""


def to_attr(kind: str, value: Any) -> Attribute:
    """Return the attribute that stores a Python value of a table kind."""
    kind = kind.removesuffix("?")
    if kind in ("i32", "angle"):
        return integer(value, 32)
    if kind == "bool":
        return integer(int(value), 1)
    if kind == "i32s":
        return integers(32, *value)
    if kind == "elem":
        return element_type(value) if isinstance(value, str) else value
    if kind == "dict":
        return _dictionary(value)
    return StringAttr(value)


def _dictionary(value: Any) -> Attribute:
    """Ints become i64, the width of sizes; attributes stay as they are."""
    if not isinstance(value, Mapping):
        return value
    return DictionaryAttr({k: v if isinstance(v, Attribute) else integer(v, 64) for k, v in value.items()})


def from_attr(attr: Attribute) -> Any:
    """Return the Python value an attribute stores."""
    if isinstance(attr, IntegerAttr):
        return bool(attr.value.data) if attr.type == i1 else attr.value.data
    if isinstance(attr, StringAttr | IntAttr):
        return attr.data
    if isinstance(attr, DenseArrayBase):
        return tuple(attr.get_values())
    if isinstance(attr, ArrayAttr):
        return tuple(from_attr(a) for a in attr.data)
    if isinstance(attr, DictionaryAttr):
        return {key: from_attr(a) for key, a in attr.data.items()}
    if isinstance(attr, TypeAttribute):
        return str(attr)
    return attr


class TableOp(Operation, metaclass=PlainChecks):
    """An operation of a row of the table, as the rules read it: its row and its attributes as Python values."""

    spec: ClassVar[OpSpec]

    @classmethod
    def __subclasshook__(cls, other: type) -> bool:
        """Return whether a class is derived from this one; left to itself, an abstract class asks all its
        subclasses."""
        return cls in other.__mro__

    @property
    def attrs(self) -> dict[str, Any]:
        """Attributes as Python values, ready to be passed to the rule."""
        kinds = self.spec.attrs
        if not kinds:
            return {}
        return {key: from_attr(self.attributes[key]) for key in kinds if key in self.attributes}
