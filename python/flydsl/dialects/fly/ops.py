"""The fly operations as xDSL classes: built from `op_table`, verified by the rules.

The classes derive from `Operation` directly instead of through xDSL's declarative layer: a
hundred declarations would cost a fifth of a second of import time, and every operation here has
the same shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntAttr,
    IntegerAttr,
    StringAttr,
    i1,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.ir import OpTraits
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from flydsl.base.errors import FlyDSLError
from flydsl.dialects.fly.op_table import OP_TABLE, OpSpec
from flydsl.dialects.fly.types import element_type, payload_of, type_of
from flydsl.layout import int_tuple
from flydsl.layout.leaf import DynInt


class FlyOp(Operation):
    """An operation described by a row of the table."""

    spec: ClassVar[OpSpec]

    @property
    def attrs(self) -> dict[str, Any]:
        """Attributes as Python values, ready to be passed to the rule."""
        kinds = self.spec.attrs
        if not kinds:
            return {}
        return {key: from_attr(self.attributes[key]) for key in kinds if key in self.attributes}

    def verify_(self) -> None:
        low, high = self.spec.operands
        if not low <= len(self.operands) <= high:
            expected = str(low) if low == high else f"{low} to {high}"
            raise VerifyException(f"{self.name} takes {expected} operands, got {len(self.operands)}")
        _check_results(self)

    def print(self, printer: Printer) -> None:
        print_fly_op(self, printer)

    @classmethod
    def parse(cls, parser: Parser) -> FlyOp:
        return parse_fly_op(cls, parser)


def infer_types(spec: OpSpec, operand_types: Sequence[Attribute], attrs: Mapping[str, Any]) -> list[Attribute]:
    """Result types of an operation whose results follow from its operands."""
    if spec.result == "none":
        return []
    assert spec.rule is not None, f"{spec.full_name} states its result type"
    answer = spec.rule(*[payload_of(t) for t in operand_types], **attrs)
    if spec.result == "leaf":
        return [_leaf_type(answer)]
    if spec.result == "leaves":
        return [_leaf_type(leaf) for leaf in answer]
    if spec.result == "bool":
        return [i1]
    return [type_of(answer)]


def _leaf_type(leaf: Any) -> Attribute:
    return element_type(f"i{leaf.width if isinstance(leaf, DynInt) else 32}")


def _check_results(op: FlyOp) -> None:
    if op.spec.result == "explicit":
        _check_explicit(op)
        return
    try:
        expected = infer_types(op.spec, [o.type for o in op.operands], op.attrs)
    except FlyDSLError as error:
        raise VerifyException(f"{op.name}: {error.message}") from error
    found = list(op.result_types)
    if expected == found:
        return
    if len(expected) != len(found):
        raise VerifyException(f"{op.name} has {len(expected)} results, but {len(found)} are written")
    for want, have in zip(expected, found, strict=True):
        if want != have:
            raise VerifyException(f"{op.name} gives {want}, but the result type written is {have}{_leaf_note(want, have)}")


def _leaf_note(want: Attribute, have: Attribute) -> str:
    """Which leaf of two payloads differs first, when both have the same structure."""
    pairs = [(payload_of(want), payload_of(have))]
    for name in ("layout", "shape", "stride"):
        pairs += [(getattr(a, name), getattr(b, name)) for a, b in pairs[:] if hasattr(a, name) and hasattr(b, name)]
    for a, b in reversed(pairs):
        if isinstance(a, (int, tuple, DynInt)) and isinstance(b, (int, tuple, DynInt)):
            left, right = int_tuple.leaves(a), int_tuple.leaves(b)
            if len(left) == len(right):
                for index, (x, y) in enumerate(zip(left, right, strict=True)):
                    if x != y:
                        return f" (leaf {index} of {int_tuple.to_text(a)} is {x}, written {y})"
    return ""


def _check_explicit(op: FlyOp) -> None:
    """Operations that state their result: the dynamic leaves must match the operands given."""
    if not op.spec.name.startswith("make_") or op.spec.name not in ("make_int_tuple", "make_shape", "make_stride", "make_coord"):
        return
    leaves = [leaf for leaf in int_tuple.leaves(payload_of(op.results[0].type)) if isinstance(leaf, DynInt)]
    widths = [leaf.width for leaf in leaves]
    given = [payload_of(o.type).width for o in op.operands]
    if widths != given:
        raise VerifyException(
            f"{op.name} fills the run-time leaves of {op.results[0].type}, which need integers of "
            f"{widths} bits, but the operands have {given}"
        )


def _op_class(spec: OpSpec) -> type[FlyOp]:
    traits = OpTraits(tuple) if spec.effect else OpTraits(lambda: (Pure(),))
    return type(spec.name.title().replace("_", "").replace(".", "") + "Op", (FlyOp,), {
        "name": spec.full_name, "spec": spec, "traits": traits, "__slots__": (),
    })  # fmt: skip


OP_CLASSES: dict[str, type[FlyOp]] = {name: _op_class(spec) for name, spec in OP_TABLE.items()}


# Attributes ------------------------------------------------------------------------------------


def to_attr(kind: str, value: Any) -> Attribute:
    """The attribute that stores a Python value of a table kind."""
    if kind in ("i32", "angle"):
        return IntegerAttr(value, i32)
    if kind == "bool":
        return IntegerAttr(int(value), i1)
    if kind == "i32s":
        return DenseArrayBase.from_list(i32, list(value))
    if kind == "elem":
        return element_type(value) if isinstance(value, str) else value
    if kind in ("str", "word"):
        return StringAttr(value)
    return value


def from_attr(attr: Attribute) -> Any:
    """The Python value an attribute stores."""
    if isinstance(attr, IntegerAttr):
        return bool(attr.value.data) if attr.type == i1 else attr.value.data
    if isinstance(attr, StringAttr | IntAttr):
        return attr.data
    if isinstance(attr, DenseArrayBase):
        return tuple(attr.get_values())
    if isinstance(attr, ArrayAttr):
        return tuple(from_attr(a) for a in attr.data)
    if isinstance(attr, TypeAttribute):
        return str(attr)
    return attr


# Syntax ----------------------------------------------------------------------------------------


def _bare(op: FlyOp, item: str) -> str:
    attr = op.attributes[item]
    text = from_attr(attr)
    return f'"{text}"' if op.spec.attrs and op.spec.attrs[item] == "str" else str(text)


def _between_parentheses(op: FlyOp, printer: Printer) -> None:
    first = True

    def separate() -> None:
        nonlocal first
        if not first:
            printer.print_string(", ")
        first = False

    for item in op.spec.form:
        if item.startswith("$"):
            name = item.strip("$=")
            if name in op.attributes:
                separate()
                printer.print_string((f"{name} = " if item.endswith("=") else "") + _bare(op, name))
        else:
            chosen = op.operands if item == "%" else [op.operands[int(item[1:])]]
            for operand in _inside(op, chosen):
                separate()
                printer.print_ssa_value(operand)


def _inside(op: FlyOp, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """The gemm's traversal layout stands behind the parentheses."""
    return operands[:5] if op.spec.name == "gemm" else operands


def print_fly_op(op: FlyOp, printer: Printer) -> None:
    spec = op.spec
    inline = {item.strip("$=") for item in spec.form if item.startswith("$")}
    angle = [key for key, kind in (spec.attrs or {}).items() if kind == "angle" and key in op.attributes]
    for key in angle:
        printer.print_string(f"<{from_attr(op.attributes[key])}>")
    if spec.operands[1] or spec.name in ("get_dyn_shared", "make_ptr"):
        printer.print_string("(")
        _between_parentheses(op, printer)
        printer.print_string(")")
    if spec.name == "gemm" and len(op.operands) == 6:
        printer.print_string(" traversalLayout = ")
        printer.print_ssa_value(op.operands[5])
    rest = {k: v for k, v in op.attributes.items() if k not in inline and k not in angle}
    if rest:
        printer.print_string(" ")
        printer.print_attr_dict(rest)
    printer.print_string(" : ")
    if not spec.operands[1] and spec.name != "make_ptr":
        printer.print_attribute(op.results[0].type)
        return
    _print_signature(op, printer)


def _print_signature(op: FlyOp, printer: Printer) -> None:
    with printer.in_parens():
        printer.print_list([o.type for o in op.operands], printer.print_attribute)
    printer.print_string(" -> ")
    if len(op.results) == 1:
        printer.print_attribute(op.results[0].type)
    else:
        with printer.in_parens():
            printer.print_list([r.type for r in op.results], printer.print_attribute)


def _parse_item(spec: OpSpec, item: str, parser: Parser, attributes: dict[str, Attribute]) -> bool:
    """Parse one bare attribute of the form, if it is there."""
    name = item.strip("$=")
    kind = (spec.attrs or {})[name]
    if item.endswith("="):
        if parser.parse_optional_keyword(name) is None:
            return False
        parser.parse_punctuation("=")
        attributes[name] = to_attr(kind, parser.parse_integer())
    elif kind == "str":
        attributes[name] = StringAttr(parser.parse_str_literal())
    elif kind == "elem":
        found = parser.parse_optional_type()
        if found is None:
            return False
        attributes[name] = found
    else:
        attributes[name] = StringAttr(parser.parse_identifier())
    return True


def _parse_parentheses(spec: OpSpec, parser: Parser, attributes: dict[str, Attribute]) -> list[Any]:
    operands: list[Any] = []
    parser.parse_punctuation("(")
    wanted = list(spec.form)
    while parser.parse_optional_punctuation(")") is None:
        operand = parser.parse_optional_unresolved_operand()
        if operand is not None:
            operands.append(operand)
        else:
            item = next((w for w in wanted if w.startswith("$")), None)
            if item is None:
                parser.raise_error(f"unexpected argument of {spec.full_name}")
            wanted.remove(item)
            if not _parse_item(spec, item, parser, attributes):
                continue
        if parser.parse_optional_punctuation(",") is None:
            parser.parse_punctuation(")")
            break
    return operands


def parse_fly_op(cls: type[FlyOp], parser: Parser) -> FlyOp:
    spec = cls.spec
    attributes: dict[str, Attribute] = {}
    angle = next((key for key, kind in (spec.attrs or {}).items() if kind == "angle"), None)
    if angle is not None and parser.parse_optional_punctuation("<") is not None:
        attributes[angle] = IntegerAttr(parser.parse_integer(), i32)
        parser.parse_punctuation(">")
    bare = not spec.operands[1] and spec.name != "make_ptr"
    unresolved = [] if bare and spec.name != "get_dyn_shared" else _parse_parentheses(spec, parser, attributes)
    if spec.name == "gemm" and parser.parse_optional_keyword("traversalLayout") is not None:
        parser.parse_punctuation("=")
        unresolved.append(parser.parse_unresolved_operand())
    attributes |= parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    if bare:
        return cls.create(result_types=[_stated_type(spec, parser, attributes)], attributes=attributes)
    at = parser.pos
    types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    if len(types) != len(unresolved):
        parser.raise_error(f"{len(unresolved)} operands but {len(types)} operand types", at)
    parser.parse_punctuation("->")
    results = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    if results is None:
        results = [parser.parse_type()]
    operands = parser.resolve_operands(unresolved, types, at)
    return cls.create(operands=operands, result_types=results, attributes=attributes)


def _stated_type(spec: OpSpec, parser: Parser, attributes: dict[str, Attribute]) -> Attribute:
    """The result type behind the colon; an instruction type there means the atom made of it."""
    stated = parser.parse_type()
    payload = payload_of(stated)
    if spec.name == "make_copy_atom" and "valBits" in attributes and hasattr(payload, "bits"):
        from_instruction = _copy_atom_type(payload, from_attr(attributes["valBits"]))
        return from_instruction
    return stated


def _copy_atom_type(instruction: Any, val_bits: int) -> Attribute:
    from flydsl.dialects.fly.payload import CopyAtom

    return type_of(CopyAtom(instruction, val_bits))
