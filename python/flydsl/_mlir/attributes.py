"""Attributes of the raw layer: values that an operation carries in its text.

Where our IR has the attribute it is in ``ir``; one that says nothing about what runs here, such as an alias scope, is
kept as text, so that a program may make and pass it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.context import Context
from xdsl.dialects import builtin
from xdsl.ir import Attribute as IrAttribute
from xdsl.parser import Parser

from flydsl._mlir.types import type_text
from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.dialects.parts import ir_type
from flydsl.dialects.registry import load_all
from flydsl.expr.values.ir_types import IrType


class Attribute:
    """An attribute by its text, and its form in our IR where there is one."""

    def __init__(self, text: str, ir: IrAttribute | None = None, value: Any = None) -> None:
        self.text = text
        self.ir = ir
        self.value = value

    @staticmethod
    def parse(text: str, context: Any = None) -> Attribute:
        """Return the attribute that MLIR text names."""
        context = Context(allow_unregistered=True)
        load_all(context)
        try:
            found = Parser(context, text).parse_attribute()
        except Exception:  # xDSL's parser has exceptions of several families
            if not text.lstrip().startswith(("#", "[")):
                raise DslValueError(f"'{text}' is no attribute") from None
            return Attribute(text)
        return from_ir(found, text)

    @property
    def type(self) -> IrType | None:
        """The type of the value it holds, if it has one."""
        found = getattr(self.ir, "type", None)
        return None if found is None else IrType(str(found))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Attribute({self.text})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attribute) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


def from_ir(found: IrAttribute, text: str = "") -> Attribute:
    """Our IR's attribute as one of this layer."""
    held = getattr(getattr(found, "value", None), "data", getattr(found, "data", None))
    kinds = {builtin.IntegerAttr: IntegerAttr, builtin.FloatAttr: FloatAttr, builtin.StringAttr: StringAttr,
             builtin.ArrayAttr: ArrayAttr}  # fmt: skip
    kind = next((ours for theirs, ours in kinds.items() if isinstance(found, theirs)), Attribute)
    made = kind.__new__(kind)
    Attribute.__init__(made, str(found) if kind is not Attribute or not text else text, found, held)
    return made


class IntegerAttr(Attribute):
    """An integer of a type: ``value``."""

    @staticmethod
    def get(type: Any, value: int) -> Attribute:
        """Return the attribute of a number, which must fit the type as a signed one."""
        text, number = type_text(type), int(value)
        width = 64 if text == "index" else getattr(text, "width", 0)
        low = -(1 << (width - 1)) if width else 0
        high = 1 if width == 1 else (1 << (width - 1)) - 1 if width else 0
        if not low <= number <= high:
            raise DslValueError(f"{value} does not fit {text} as a signed number", hint=f"it holds {low} to {high}")
        return from_ir(builtin.IntegerAttr(number, ir_type(text)))  # type: ignore[arg-type]


class FloatAttr(Attribute):
    """A float of a type: ``value``."""

    @staticmethod
    def get(type: Any, value: float, loc: Any = None) -> Attribute:
        """Return the attribute of a number."""
        return from_ir(builtin.FloatAttr(float(value), ir_type(type_text(type))))  # type: ignore[arg-type]

    @staticmethod
    def get_f32(value: float) -> Attribute:
        """Return an f32."""
        return FloatAttr.get("f32", value)


class BoolAttr(Attribute):
    """True or False."""

    @staticmethod
    def get(value: bool) -> Attribute:
        """Return the attribute of a truth value."""
        return from_ir(builtin.IntegerAttr(-1 if value else 0, builtin.i1))


class StringAttr(Attribute):
    """A text: ``value``. Called with an attribute it is that attribute, if it holds a text."""

    def __new__(cls, attribute: Attribute | None = None) -> Any:
        if attribute is None:
            return super().__new__(cls)
        if not isinstance(attribute, StringAttr):
            raise DslValueError(f"{attribute} is no text")
        return attribute

    def __init__(self, attribute: Attribute | None = None) -> None: ...

    @staticmethod
    def get(value: str) -> Attribute:
        """Return the attribute of a text."""
        return from_ir(builtin.StringAttr(value))


class UnitAttr(Attribute):
    """An attribute that says something by being there."""

    @staticmethod
    def get() -> Attribute:
        """Return the attribute."""
        return from_ir(builtin.UnitAttr(), "unit")


class TypeAttr(Attribute):
    """A type as an attribute."""

    @staticmethod
    def get(type: Any) -> Attribute:
        """Return the attribute of a type."""
        text = type_text(type)
        return Attribute(text, ir_type(text), text)


class ArrayAttr(Attribute):
    """A list of attributes."""

    @staticmethod
    def get(items: Sequence[Attribute]) -> Attribute:
        """Return the attribute of a list; one with parts that our IR does not have is kept as text."""
        parts = [item.ir for item in items if item.ir is not None]
        if len(parts) == len(items):
            return from_ir(builtin.ArrayAttr(parts))
        return Attribute(f"[{', '.join(map(str, items))}]", None, list(items))


class DenseElementsAttr(Attribute):
    """The elements of a vector."""

    @staticmethod
    def get_splat(type: Any, element: Attribute) -> Attribute:
        """Return a vector with one number in every lane."""
        if not isinstance(element, (IntegerAttr, FloatAttr)):
            raise DslTypeError(f"a splat is made of a number's attribute, got {element!r}")
        made = builtin.DenseIntOrFPElementsAttr.from_list(ir_type(type_text(type)), [element.value])  # type: ignore[arg-type]
        return from_ir(made)


class FlatSymbolRefAttr(Attribute):
    """The name of a symbol."""

    @staticmethod
    def get(name: str) -> Attribute:
        """Return the attribute of a name."""
        return from_ir(builtin.SymbolRefAttr(name), f"@{name}")


def python_value(value: Any) -> Any:
    """Return the number or text an attribute holds; anything else as it is."""
    return value.value if isinstance(value, Attribute) and value.value is not None else value
