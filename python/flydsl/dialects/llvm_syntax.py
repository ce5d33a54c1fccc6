"""llvm operations on vectors as well as scalars, where xDSL admits only scalars, and in upstream's syntax.

Each class is xDSL's own operation with another verifier or other text.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr, VectorType, i1, i64
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

_PREDICATES = ("_false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
               "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "_true")  # fmt: skip


def _flag_type(type_: Attribute) -> Attribute:
    return VectorType(i1, type_.get_shape()) if isinstance(type_, VectorType) else i1


def _print_dictionary(op: Operation, printer: Printer) -> None:
    """Attributes, among them the fast-math flags where there are any."""
    shown = dict(op.attributes)
    flags = op.properties.get("fastmathFlags")
    if isinstance(flags, llvm.FastMathAttr) and flags.data:
        shown["fastmathFlags"] = flags
    printer.print_op_attributes(shown)


def _parse_dictionary(parser: Parser) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    attributes = parser.parse_optional_attr_dict()
    return {"fastmathFlags": attributes.pop("fastmathFlags", llvm.FastMathAttr("none"))}, attributes


class FCmpOp(llvm.FCmpOp):
    """``llvm.fcmp "olt" %a, %b : vector<4xf32>``"""

    def verify_(self) -> None:
        left, right = (operand.type for operand in self.operands)
        if left != right or self.results[0].type != _flag_type(left):
            raise VerifyException(f"llvm.fcmp of {left} and {right} gives no {self.results[0].type}")

    def print(self, printer: Printer) -> None:
        predicate = self.properties["predicate"]
        assert isinstance(predicate, IntegerAttr)
        printer.print_string(f' "{_PREDICATES[predicate.value.data]}" ')
        printer.print_list(self.operands, printer.print_ssa_value)
        _print_dictionary(self, printer)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        at = parser.pos
        word = parser.parse_str_literal()
        if word not in _PREDICATES:
            parser.raise_error(f"llvm.fcmp compares by {', '.join(_PREDICATES)}, not by '{word}'", at)
        unresolved = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        properties, attributes = _parse_dictionary(parser)
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        properties["predicate"] = IntegerAttr(_PREDICATES.index(word), i64)
        return cls.create(
            operands=parser.resolve_operands(unresolved, [type_] * len(unresolved), at),
            result_types=[_flag_type(type_)],
            properties=properties,
            attributes=attributes,
        )


class SelectOp(llvm.SelectOp):
    """``llvm.select %c, %a, %b : vector<4xi1>, vector<4xf32>``"""

    def verify_(self) -> None:
        condition, first, second = (operand.type for operand in self.operands)
        if first != second or first != self.results[0].type or condition not in (i1, _flag_type(first)):
            raise VerifyException(f"llvm.select by {condition} chooses between two values of one type, not {first}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        _print_dictionary(self, printer)
        printer.print_string(" : ")
        printer.print_list([operand.type for operand in self.operands[:2]], printer.print_attribute)

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        at = parser.pos
        unresolved = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        properties, attributes = _parse_dictionary(parser)
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        if len(unresolved) != 3 or len(types) != 2:
            parser.raise_error("llvm.select takes a condition and two values, and states two types", at)
        return cls.create(
            operands=parser.resolve_operands(unresolved, [types[0], types[1], types[1]], at),
            result_types=[types[1]],
            properties=properties,
            attributes=attributes,
        )


_ASM_DIALECTS = ("att", "intel")


class InlineAsmOp(llvm.InlineAsmOp):
    """``llvm.inline_asm has_side_effects {note} "nop", "" : () -> ()``; xDSL has the attributes last."""

    def print(self, printer: Printer) -> None:
        for word in ("has_side_effects", "is_align_stack"):
            if word in self.properties:
                printer.print_string(f" {word}")
        dialect = self.properties.get("asm_dialect")
        if isinstance(dialect, IntegerAttr):
            printer.print_string(f" asm_dialect = {_ASM_DIALECTS[dialect.value.data]}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_string_literal(self.asm_string.data)
        printer.print_string(", ")
        printer.print_string_literal(self.constraints.data)
        if self.operands:
            printer.print_string(" ")
            printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_string(" : ")
        printer.print_function_type([o.type for o in self.operands], [r.type for r in self.results])

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        properties: dict[str, Attribute] = {"tail_call_kind": llvm.TailCallKindAttr(llvm.TailCallKind.NONE)}
        for word in ("has_side_effects", "is_align_stack"):
            if parser.parse_optional_keyword(word) is not None:
                properties[word] = UnitAttr()
        if parser.parse_optional_keyword("asm_dialect") is not None:
            parser.parse_punctuation("=")
            properties["asm_dialect"] = IntegerAttr(_ASM_DIALECTS.index(parser.parse_identifier()), i64)
        attributes = parser.parse_optional_attr_dict()
        properties["asm_string"] = StringAttr(parser.parse_str_literal())
        parser.parse_punctuation(",")
        properties["constraints"] = StringAttr(parser.parse_str_literal())
        at = parser.pos
        unresolved = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        parser.parse_punctuation(":")
        kind = parser.parse_function_type()
        return cls.create(
            operands=parser.resolve_operands(unresolved or [], kind.inputs.data, at),
            result_types=list(kind.outputs.data),
            properties=properties,
            attributes=attributes,
        )


LLVM_OPS: tuple[type[Operation], ...] = (FCmpOp, SelectOp, InlineAsmOp)
"""The classes that replace xDSL's of the same name."""
