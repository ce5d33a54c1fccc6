"""The textual form of fly operations, written and read from the table; see `op_table` for the forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

from flydsl.base.errors import FlyDSLError
from flydsl.dialects.fly.op_attributes import TableOp, from_attr, to_attr
from flydsl.dialects.fly.op_table import OpSpec
from flydsl.dialects.fly.payload import CopyAtom, MmaAtom
from flydsl.dialects.fly.types import InstructionType, type_of

_TRAVERSAL = "traversalLayout"
"""The gemm's sixth operand stands behind the parentheses, under this name."""


def _kind(spec: OpSpec, attr: str) -> str:
    return (spec.attrs or {})[attr].removesuffix("?")


def _angle(spec: OpSpec) -> str | None:
    """Return the attribute written in angle brackets behind the name: ``fly.append<4>(…)``."""
    return next((key for key in spec.attrs or {} if _kind(spec, key) == "angle"), None)


# Printing --------------------------------------------------------------------------------------


OpT = TypeVar("OpT", bound=TableOp)


def print_fly_op(op: TableOp, printer: Printer) -> None:
    spec = op.spec
    angle = _angle(spec)
    if angle in op.attributes:
        printer.print_string(f"<{from_attr(op.attributes[angle])}>")
    if spec.syntax == "arrow":
        printer.print_string(" ")
        printer.print_list(op.operands, printer.print_ssa_value)
    elif spec.syntax != "bare":
        _print_parentheses(op, printer)
    if spec.name == "gemm" and len(op.operands) == 6:
        printer.print_string(f" {_TRAVERSAL} = ")
        printer.print_ssa_value(op.operands[5])
    shown = {angle, *(item.strip("$=") for item in spec.form)}
    rest = {key: value for key, value in op.attributes.items() if key not in shown}
    if rest:
        printer.print_string(" ")
        printer.print_attr_dict(rest)
    printer.print_string(" : ")
    _print_types(op, printer)


def _print_parentheses(op: TableOp, printer: Printer) -> None:
    shown: list[SSAValue | str] = []
    for item in op.spec.form:
        if not item.startswith("$"):
            chosen = op.operands if item == "%" else [op.operands[int(item[1:])]]
            shown += chosen[:5] if op.spec.name == "gemm" else chosen
        elif (name := item.strip("$=")) in op.attributes:
            shown.append((f"{name} = " if item.endswith("=") else "") + _bare(op, name))

    def one(item: SSAValue | str) -> None:
        if isinstance(item, str):
            printer.print_string(item)
        else:
            printer.print_ssa_value(item)

    with printer.in_parens():
        printer.print_list(shown, one)


def _bare(op: TableOp, name: str) -> str:
    attr = op.attributes[name]
    return str(attr) if _kind(op.spec, name) == "str" else str(from_attr(attr))


def _print_types(op: TableOp, printer: Printer) -> None:
    syntax = op.spec.syntax
    if syntax == "call":
        printer.print_function_type([o.type for o in op.operands], op.result_types)
        return
    if syntax == "arrow":
        printer.print_list([o.type for o in op.operands], printer.print_attribute)
        printer.print_string(" -> ")
    printer.print_list(op.result_types, printer.print_attribute)


# Parsing ---------------------------------------------------------------------------------------


def parse_fly_op(cls: type[OpT], parser: Parser) -> OpT:
    spec = cls.spec
    attributes: dict[str, Attribute] = {}
    angle = _angle(spec)
    if angle is not None and parser.parse_optional_punctuation("<") is not None:
        attributes[angle] = IntegerAttr(parser.parse_integer(), i32)
        parser.parse_punctuation(">")
    unresolved: list[Any] = []
    if spec.syntax == "arrow":
        unresolved = [parser.parse_unresolved_operand()]
    elif spec.syntax != "bare":
        unresolved = _parse_parentheses(spec, parser, attributes)
    if spec.name == "gemm" and parser.parse_optional_keyword(_TRAVERSAL) is not None:
        parser.parse_punctuation("=")
        unresolved.append(parser.parse_unresolved_operand())
    attributes |= parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    at = parser.pos
    types, results = _parse_types(spec, parser, attributes)
    if len(types) != len(unresolved):
        parser.raise_error(f"{len(unresolved)} operands but {len(types)} operand types", at)
    operands = parser.resolve_operands(unresolved, types, at)
    return cls.create(operands=operands, result_types=results, attributes=attributes)


def _parse_parentheses(spec: OpSpec, parser: Parser, attributes: dict[str, Attribute]) -> list[Any]:
    """Operands and bare attributes; an attribute of the form may be left out, operands may not change order."""
    operands: list[Any] = []
    wanted = [item for item in spec.form if item.startswith("$")]

    def one() -> None:
        operand = parser.parse_optional_unresolved_operand()
        if operand is not None:
            operands.append(operand)
            return
        while wanted:
            if _parse_item(spec, wanted.pop(0), parser, attributes):
                return
        parser.raise_error(f"unexpected argument of {spec.full_name}")

    parser.parse_comma_separated_list(parser.Delimiter.PAREN, one)
    return operands


def _parse_item(spec: OpSpec, item: str, parser: Parser, attributes: dict[str, Attribute]) -> bool:
    """Parse one bare attribute of the form, if it is there."""
    name = item.strip("$=")
    kind = _kind(spec, name)
    if item.endswith("="):
        if parser.parse_optional_keyword(name) is None:
            return False
        parser.parse_punctuation("=")
        attributes[name] = to_attr(kind, parser.parse_integer())
        return True
    found: Attribute | None
    if kind == "str":
        text = parser.parse_optional_str_literal()
        found = None if text is None else StringAttr(text)
    elif kind == "elem":
        found = parser.parse_optional_type()
    else:
        word = parser.parse_optional_identifier()
        found = None if word is None else StringAttr(word)
    if found is None:
        return False
    attributes[name] = found
    return True


def _parse_types(
    spec: OpSpec, parser: Parser, attributes: dict[str, Attribute]
) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
    """Operand and result types behind the colon."""
    if spec.syntax in ("bare", "empty"):
        return [], [_stated_type(spec, parser, attributes)]
    if spec.syntax == "arrow":
        types: Sequence[Attribute] = [parser.parse_type()]
    else:
        types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    parser.parse_punctuation("->")
    results = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return types, [parser.parse_type()] if results is None else results


def _stated_type(spec: OpSpec, parser: Parser, attributes: dict[str, Attribute]) -> Attribute:
    """Return the result type of an operation without operands; an instruction there means the atom made of it."""
    at = parser.pos
    stated = parser.parse_type()
    if not isinstance(stated, InstructionType):
        return stated
    if spec.name == "make_mma_atom":
        return type_of(MmaAtom(stated.data))
    if spec.name == "make_copy_atom":
        bits = attributes.get("valBits")
        if not isinstance(bits, IntegerAttr):
            parser.raise_error("a copy atom made of an instruction needs {valBits = … : i32}", at)
        try:
            return type_of(CopyAtom(stated.data, bits.value.data))
        except FlyDSLError as error:
            parser.raise_error(error.message, at)
    return stated
