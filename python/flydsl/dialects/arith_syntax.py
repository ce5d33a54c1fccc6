"""arith operations on vectors as well as scalars: xDSL admits only scalars for these.

Each class is xDSL's own operation with another verifier, and with upstream's syntax where that
depends on the operands being vectors.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerAttr, IntegerType, VectorType, i1, i32, i64
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException


def _element(type_: Attribute) -> Attribute:
    return type_.element_type if isinstance(type_, VectorType) else type_


def _like(type_: Attribute, element: Attribute) -> Attribute:
    """``element``, in a vector of the shape ``type_`` has, if it is one."""
    return VectorType(element, type_.get_shape()) if isinstance(type_, VectorType) else element


def _kind(type_: Attribute) -> str:
    element = _element(type_)
    if isinstance(element, IndexType):
        return "index"
    return "int" if isinstance(element, IntegerType) else "float" if isinstance(element, AnyFloat) else "other"


def _width(type_: Attribute) -> int:
    element = _element(type_)
    if isinstance(element, IntegerType):
        return element.width.data
    return element.bitwidth if isinstance(element, AnyFloat) else 64


# The order is that of MLIR's enumeration, whose number the attribute stores.
ROUNDING_MODES = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")


def _print_flags(op: Operation, printer: Printer) -> None:
    flags = op.properties.get("fastmath")
    if isinstance(flags, arith.FastMathFlagsAttr) and flags.data:
        printer.print_string(" fastmath")
        flags.print_parameter(printer)


def _parse_flags(parser: Parser) -> arith.FastMathFlagsAttr | None:
    if parser.parse_optional_keyword("fastmath") is None:
        return None
    return arith.FastMathFlagsAttr(arith.FastMathFlagsAttr.parse_parameter(parser))


# Casts -----------------------------------------------------------------------------------------


class _Cast(Operation):
    """A conversion element by element: which kinds it takes and gives, and how their widths compare."""

    kinds: tuple[str, str]
    grows: bool | None = None

    def verify_(self) -> None:
        if len(self.operands) != 1 or len(self.results) != 1:
            raise VerifyException(f"{self.name} converts one value to one value")
        before, after = self.operands[0].type, self.results[0].type
        if _like(before, _element(after)) != after:
            raise VerifyException(f"{self.name} keeps the shape: {before} became {after}")
        if (_kind(before), _kind(after)) != self.kinds and not self._either_way(before, after):
            raise VerifyException(f"{self.name} makes {self.kinds[1]} of {self.kinds[0]}, not {after} of {before}")
        if self.grows is not None and (_width(after) > _width(before)) != self.grows:
            raise VerifyException(f"{self.name} makes {'wider' if self.grows else 'narrower'}: {before} became {after}")
        if self.grows is False and _width(after) == _width(before):
            raise VerifyException(f"{self.name} makes narrower: {before} became {after}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        rounding = self.properties.get("roundingmode")
        if isinstance(rounding, IntegerAttr):
            printer.print_string(f" {ROUNDING_MODES[rounding.value.data]}")
        _print_flags(self, printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)
        printer.print_string(" to ")
        printer.print_attribute(self.results[0].type)

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        operand = parser.parse_unresolved_operand()
        properties: dict[str, Attribute] = {}
        for number, word in enumerate(ROUNDING_MODES):
            if parser.parse_optional_keyword(word) is not None:
                properties["roundingmode"] = IntegerAttr(number, i32)
        if (flags := _parse_flags(parser)) is not None:
            properties["fastmath"] = flags
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        value = parser.resolve_operand(operand, parser.parse_type())
        parser.parse_keyword("to")
        return cls.create(
            operands=[value], result_types=[parser.parse_type()], properties=properties, attributes=attributes
        )

    def _either_way(self, before: Attribute, after: Attribute) -> bool:
        return "index" in self.kinds and (_kind(after), _kind(before)) == self.kinds


class ExtSIOp(_Cast, arith.ExtSIOp):
    kinds, grows = ("int", "int"), True


class ExtUIOp(_Cast, arith.ExtUIOp):
    kinds, grows = ("int", "int"), True


class TruncIOp(_Cast, arith.TruncIOp):
    kinds, grows = ("int", "int"), False


class ExtFOp(_Cast, arith.ExtFOp):
    kinds, grows = ("float", "float"), True


class TruncFOp(_Cast, arith.TruncFOp):
    """``arith.truncf %x downward : f32 to f16``"""

    kinds, grows = ("float", "float"), False


class SIToFPOp(_Cast, arith.SIToFPOp):
    kinds = ("int", "float")


class UIToFPOp(_Cast, arith.UIToFPOp):
    kinds = ("int", "float")


class FPToSIOp(_Cast, arith.FPToSIOp):
    kinds = ("float", "int")


class FPToUIOp(_Cast, arith.FPToUIOp):
    kinds = ("float", "int")


class IndexCastOp(_Cast, arith.IndexCastOp):
    kinds = ("index", "int")


# Comparisons and choice ------------------------------------------------------------------------


class _Comparison(Operation):
    """``arith.cmpi slt, %a, %b : vector<4xi32>``, which gives a vector of i1."""

    words: tuple[str, ...]

    def verify_(self) -> None:
        if len(self.operands) != 2 or len(self.results) != 1:
            raise VerifyException(f"{self.name} compares two values")
        left, right = (o.type for o in self.operands)
        if left != right:
            raise VerifyException(f"{self.name} compares values of one type, not {left} and {right}")
        if self.results[0].type != _like(left, i1):
            raise VerifyException(f"{self.name} of {left} gives {_like(left, i1)}, not {self.results[0].type}")

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        at = parser.pos
        word = parser.parse_identifier()
        if word not in cls.words:
            parser.raise_error(f"{cls.name} compares by {', '.join(cls.words)}, not by '{word}'", at)
        parser.parse_punctuation(",")
        first = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        second = parser.parse_unresolved_operand()
        properties: dict[str, Attribute] = {"predicate": IntegerAttr(cls.words.index(word), i64)}
        if cls is CmpfOp:
            properties["fastmath"] = _parse_flags(parser) or arith.FastMathFlagsAttr("none")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        operands = parser.resolve_operands([first, second], [type_, type_], at)
        return cls.create(
            operands=operands, result_types=[_like(type_, i1)], properties=properties, attributes=attributes
        )


class CmpiOp(_Comparison, arith.CmpiOp):
    words = tuple(arith.CMPI_COMPARISON_OPERATIONS)


class CmpfOp(_Comparison, arith.CmpfOp):
    words = tuple(arith.CMPF_COMPARISON_OPERATIONS)

    def print(self, printer: Printer) -> None:
        predicate = self.properties["predicate"]
        assert isinstance(predicate, IntegerAttr)
        printer.print_string(f" {self.words[predicate.value.data]}, ")
        printer.print_list(self.operands, printer.print_ssa_value)
        _print_flags(self, printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)


class SelectOp(arith.SelectOp):
    """``arith.select %c, %a, %b : vector<4xi1>, vector<4xf32>``; the first type is left out when it is i1."""

    def verify_(self) -> None:
        if len(self.operands) != 3 or len(self.results) != 1:
            raise VerifyException(f"{self.name} chooses between two values by a third")
        condition, first, second = (o.type for o in self.operands)
        if first != second or first != self.results[0].type:
            raise VerifyException(f"{self.name} chooses between values of one type, not {first} and {second}")
        if condition not in (i1, _like(first, i1)):
            raise VerifyException(
                f"{self.name} of {first} takes i1 or {_like(first, i1)} as its condition, not {condition}"
            )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        types = [o.type for o in self.operands[:2]]
        printer.print_list(types[1:] if types[0] == i1 else types, printer.print_attribute)

    @classmethod
    def parse(cls, parser: Parser) -> SelectOp:
        at = parser.pos
        operands = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        condition = types[0] if len(types) == 2 else i1
        values = parser.resolve_operands(operands, [condition, types[-1], types[-1]], at)
        return cls.create(operands=values, result_types=[types[-1]], attributes=attributes)


ARITH_OPS: tuple[type[Operation], ...] = (
    ExtSIOp,
    ExtUIOp,
    TruncIOp,
    ExtFOp,
    TruncFOp,
    SIToFPOp,
    UIToFPOp,
    FPToSIOp,
    FPToUIOp,
    IndexCastOp,
    CmpiOp,
    CmpfOp,
    SelectOp,
)
"""The classes that replace xDSL's of the same name."""
