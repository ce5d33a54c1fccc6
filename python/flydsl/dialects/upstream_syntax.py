"""Text of upstream's that xDSL lacks: packed structs, operations on vectors, and the instructions of rocdl.

Read in every form `fly-opt` takes; printed by `MlirPrinter`. An operation of rocdl whose immediates are attributes has
them in its own row here, as the original's version of MLIR writes them:

    rocdl.mfma.f32.16x16x4f32 %a, %b, %c, 0, 0, 0 : (f32, f32, vector<4xf32>) -> vector<4xf32>
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DenseArrayBase, IntAttr, IntegerAttr, StringAttr, VectorType, i32
from xdsl.dialects.llvm import LLVMArrayType, LLVMPointerType, LLVMStructType, parse_llvm_type
from xdsl.dialects.ub import UB
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer

from flydsl.base.records import dataclass
from flydsl.dialects.registry import IrContext, load_all
from flydsl.dialects.upstream import integers, op_class

# Structs ---------------------------------------------------------------------------------------


@irdl_attr_definition
class PackedStructType(ParametrizedAttribute, TypeAttribute):
    """``!llvm.struct<packed (i32, i64)>``: no gaps between the fields. The parser meets all structs under this name."""

    name = "llvm.struct"
    struct_name: StringAttr
    types: ArrayAttr[Attribute]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{_fields(self)}>")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Any:
        return [_parse_struct(parser)]

    @classmethod
    def new(cls, params: Sequence[Attribute]) -> Any:
        return params[0]


StructType = LLVMStructType | PackedStructType


def _parse_struct(parser: AttrParser) -> StructType:
    parser.parse_characters("<", " in LLVM struct")
    name = parser.parse_optional_str_literal()
    if name is not None:
        parser.parse_characters(",", " after type")
    packed = parser.parse_optional_keyword("packed") is not None
    fields = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_field(parser))
    parser.parse_characters(">", " to close LLVM struct parameters")
    return (PackedStructType if packed else LLVMStructType)(StringAttr(name or ""), ArrayAttr(fields))


def _parse_field(parser: AttrParser) -> Attribute:
    return _parse_struct(parser) if parser.parse_optional_keyword("struct") else parse_llvm_type(parser)


def packed(types: list[Attribute]) -> PackedStructType:
    """Return a packed struct of these types."""
    return PackedStructType(StringAttr(""), ArrayAttr(types))


def struct_text(type_: StructType) -> str:
    """Return a struct as upstream writes it: types of the llvm dialect inside it without their prefix."""
    return f"!llvm.struct<{_fields(type_)}>"


def _fields(type_: StructType) -> str:
    inner = [
        f"struct<{_fields(field)}>" if isinstance(field, StructType) else str(field).removeprefix("!llvm.")
        for field in type_.types.data
    ]
    name = f'"{type_.struct_name.data}", ' if type_.struct_name.data else ""
    return f"{name}{'packed ' if isinstance(type_, PackedStructType) else ''}({', '.join(inner)})"


# Rows ------------------------------------------------------------------------------------------

_FORMATS = ("fp8_e4m3", "fp8_e5m2", "fp6_e2m3", "fp6_e3m2", "fp4_e2m1")
_WORDS: dict[str, tuple[str, ...]] = {
    "format": _FORMATS,
    "mod": ("none", "neg", "abs", "negabs"),
    "row": ("row0", "row1"),
    "scale": ("e8", "e5m3", "e4m3"),
}
"""Kinds of immediates that are written as words, in the order of their numbers."""


@dataclass(frozen=True)
class _Row:
    """How an operation is written.

    ``slots``: ``%`` an operand, ``cbsz`` a number, ``cbsz:format`` a word, ``modC=mod`` a word after its name,
    ``[permutation]`` a list of numbers. ``types``: ``function`` for all of them, or a template of what follows the
    colon, in which ``0`` is the type of an operand and ``r`` that of the result. ``fixed``: types of operands that are
    not written.
    """

    slots: tuple[str, ...]
    types: str = "function"
    fixed: tuple[Attribute, ...] = ()


_MFMA = _Row(("%", "%", "%", "cbsz", "abid", "blgp"))
_MFMA_SCALE = _Row(("%", "%", "%", "cbsz:format", "blgp:format", "opselA", "%", "opselB", "%"))
_WMMA = _Row(("%", "%", "%"))
_WMMA_SCALE = _Row((
    "%", "%", "%", "%", "%", "fmtA=format", "fmtB=format", "modC=mod", "scaleAType=row", "fmtScaleA=scale",
    "scaleBType=row", "fmtScaleB=scale",
))  # fmt: skip
_DESCRIPTOR, _SHARED = LLVMPointerType(IntAttr(8)), LLVMPointerType(IntAttr(3))
_EXACT: dict[str, _Row] = {
    "vector.extract_strided_slice": _Row(("%",), "0 to r"),
    "vector.insert_strided_slice": _Row(("%", "%"), "0 into r"),
    "vector.shape_cast": _Row(("%",), "0 to r"),
    "vector.transpose": _Row(("%", "[permutation]"), "0 to r"),
    "llvm.addrspacecast": _Row(("%",), "0 to r"),
    "rocdl.raw.ptr.buffer.load": _Row(("%",) * 4, "r", (_DESCRIPTOR, i32, i32, i32)),
    "rocdl.raw.ptr.buffer.store": _Row(("%",) * 5, "0", (_DESCRIPTOR, i32, i32, i32)),
    "rocdl.raw.ptr.buffer.load.lds": _Row(("%",) * 7, "", (_DESCRIPTOR, _SHARED, *[i32] * 5)),
}


@cache
def row_of(name: str) -> _Row | None:
    """Return how an operation is written, or None where it has no row."""
    if name.startswith("rocdl.mfma"):
        return _MFMA_SCALE if ".scale." in name else _MFMA
    if name.startswith("rocdl.wmma"):
        return _WMMA_SCALE if ".scale" in name else _WMMA
    if name.startswith("rocdl.raw.ptr.buffer.atomic."):
        return _EXACT["rocdl.raw.ptr.buffer.store"]
    return _EXACT.get(name)


def _name_of(slot: str) -> str:
    return slot.strip("[]").split(":")[0].split("=")[0]


# Printing --------------------------------------------------------------------------------------


def printable(op: Operation) -> _Row | None:
    """Return the row that an operation fits: one of another version of MLIR, say, has its immediates among its
    operands."""
    row = row_of(op.name)
    if row is None or op.regions or len(op.operands) != row.slots.count("%"):
        return None
    known = op.properties | op.attributes
    return row if all(_name_of(slot) in known for slot in row.slots if slot != "%") else None


def print_row(op: Operation, row: _Row, printer: Printer) -> None:
    """Everything behind the operation's name."""
    known = op.properties | op.attributes
    operands = iter(op.operands)
    for index, slot in enumerate(row.slots):
        printer.print_string(", " if index else " ")
        if slot == "%":
            printer.print_ssa_value(next(operands))
        else:
            printer.print_string(_immediate(slot, known.pop(_name_of(slot))))
    shown = {name: known[name] for name in sorted(known) if known[name] != BoolAttr.from_bool(False)}
    printer.print_op_attributes(shown)
    if row.types:
        printer.print_string(" : ")
        _print_types(op, row, printer)


def _immediate(slot: str, value: Attribute) -> str:
    if isinstance(value, DenseArrayBase):
        return str(list(value.get_values()))
    assert isinstance(value, IntegerAttr)
    number = value.value.data
    name, _, kind = slot.replace("=", ":").partition(":")
    if not kind:
        return str(number)
    words = _WORDS[kind]
    word = words[number] if 0 <= number < len(words) else str(number)
    return f"{name} = {word}" if "=" in slot else word


def _print_types(op: Operation, row: _Row, printer: Printer) -> None:
    if row.types == "function":
        printer.print_function_type([o.type for o in op.operands], [r.type for r in op.results])
        return
    for index, part in enumerate(row.types.split()):
        printer.print_string(" " if index else "")
        if part in ("0", "r"):
            printer.print_attribute((op.operands if part == "0" else op.results)[0].type)
        else:
            printer.print_string(part)


# Parsing ---------------------------------------------------------------------------------------


def _parse_row(cls: type[Operation], row: _Row, parser: Parser) -> Operation:
    at = parser.pos
    unresolved, properties = [], {}
    for index, slot in enumerate(row.slots):
        if index:
            parser.parse_punctuation(",")
        if slot == "%":
            unresolved.append(parser.parse_unresolved_operand())
        else:
            properties[_name_of(slot)] = _parse_immediate(slot, parser)
    attributes = parser.parse_optional_attr_dict()
    operands, results = _parse_types(cls.name, row, parser)
    if len(operands) != len(unresolved):
        parser.raise_error(f"{cls.name} takes {len(unresolved)} operands, and states {len(operands)} types", at)
    values = parser.resolve_operands(unresolved, operands, at)
    return cls.create(operands=values, result_types=results, properties=properties | attributes)


def _parse_immediate(slot: str, parser: Parser) -> Attribute:
    if slot.startswith("["):
        numbers = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
        return integers(64, *numbers)
    name, _, kind = slot.replace("=", ":").partition(":")
    if "=" in slot:
        parser.parse_keyword(name)
        parser.parse_punctuation("=")
    if not kind or (number := parser.parse_optional_integer()) is not None:
        return IntegerAttr(parser.parse_integer() if not kind else number, i32)  # type: ignore[arg-type]
    at = parser.pos
    word = parser.parse_identifier()
    if word not in _WORDS[kind]:
        parser.raise_error(f"'{name}' is one of {', '.join(_WORDS[kind])}, not '{word}'", at)
    return IntegerAttr(_WORDS[kind].index(word), i32)


def _parse_types(name: str, row: _Row, parser: Parser) -> tuple[list[Attribute], list[Attribute]]:
    if not row.types:
        return list(row.fixed), []
    parser.parse_punctuation(":")
    if row.types == "function":
        found = parser.parse_function_type()
        return list(found.inputs.data), list(found.outputs.data)
    seen: dict[str, Attribute] = {}
    for part in row.types.split():
        if part in ("0", "r"):
            seen[part] = parser.parse_type()
        else:
            parser.parse_keyword(part)
    first = [seen["0"]] if "0" in seen else []
    more = [seen["r"]] if name == "vector.insert_strided_slice" else []
    results = [seen["r"]] if "r" in seen else first if ".atomic." in name else []
    return [*first, *more, *row.fixed], results


def _print_elements(op: Operation, printer: Printer) -> None:
    """``vector.from_elements %a, %b : vector<2xf32>``"""
    printer.print_string(" ")
    printer.print_list(op.operands, printer.print_ssa_value)
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_attribute(op.results[0].type)


def _parse_elements(cls: type[Operation], parser: Parser) -> Operation:
    at = parser.pos
    unresolved = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    type_ = parser.parse_type()
    if not isinstance(type_, VectorType):
        parser.raise_error(f"vector.from_elements gives a vector, not {type_}", at)
    values = parser.resolve_operands(unresolved, [type_.element_type] * len(unresolved), at)
    return cls.create(operands=values, result_types=[type_], attributes=attributes)


FROM_ELEMENTS = "vector.from_elements"


def _parse_field_access(cls: type[Operation], parser: Parser) -> Operation:
    """``llvm.extractvalue`` and ``llvm.insertvalue``, whose structs may be packed."""
    at = parser.pos
    unresolved = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
    indices = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
    )
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    whole = found = parser.parse_type()
    for index in indices:
        if isinstance(found, LLVMArrayType):
            found = found.type
        elif isinstance(found, StructType) and 0 <= index < len(found.types.data):
            found = found.types.data[index]
        else:
            parser.raise_error(f"{found} has no field {index}", at)
    reads = cls.name == "llvm.extractvalue"
    if len(unresolved) != (1 if reads else 2):
        parser.raise_error(f"{cls.name} takes {1 if reads else 2} operands, not {len(unresolved)}", at)
    if reads:
        operands = [parser.resolve_operand(unresolved[0], whole)]
    else:  # the struct is the first operand, but is written second
        operands = [parser.resolve_operand(unresolved[1], whole), parser.resolve_operand(unresolved[0], found)]
    return cls.create(
        operands=operands,
        result_types=[found if reads else whole],
        properties={"position": integers(64, *indices)},
        attributes=attributes,
    )


WHILE = "scf.while"


def _print_while(op: Operation, printer: Printer) -> None:
    """``scf.while : () -> () {`` for a loop that carries nothing in."""
    printer.print_string(" : ")
    printer.print_function_type([], [result.type for result in op.results])
    for index, region in enumerate(op.regions):
        printer.print_string(" do " if index else " ")
        printer.print_region(region)
    if op.attributes:
        printer.print_op_attributes(op.attributes, print_keyword=True)


def _parse_while(cls: type[Operation], parser: Parser) -> Operation:
    if parser.parse_optional_punctuation(":") is None:
        return op_class(WHILE).parse(parser)
    at = parser.pos
    kind = parser.parse_function_type()
    if kind.inputs.data:
        parser.raise_error("scf.while states types of operands that it does not have", at)
    before = parser.parse_region()
    parser.parse_keyword("do")
    regions = [before, parser.parse_region()]
    attributes = parser.parse_optional_attr_dict_with_keyword()
    return cls.create(
        result_types=list(kind.outputs.data), regions=regions, attributes={} if attributes is None else attributes.data
    )


_PARSERS: dict[str, Any] = {
    WHILE: _parse_while,
    FROM_ELEMENTS: _parse_elements,
    "llvm.extractvalue": _parse_field_access,
    "llvm.insertvalue": _parse_field_access,
}


def printer_of(op: Operation) -> Callable[[Operation, Printer], None] | None:
    """Return what prints the rest of an operation in upstream's words, or None where xDSL does."""
    if op.name == FROM_ELEMENTS:
        return _print_elements
    if op.name == WHILE and not op.operands:
        return _print_while
    row = printable(op)
    return None if row is None else lambda op, printer: print_row(op, row, printer)


# The context -----------------------------------------------------------------------------------


@cache
def _reading(name: str) -> type[Operation] | None:
    """Return the class of an operation with a parser for its row."""
    row = row_of(name)
    if name in _PARSERS:
        parse: Any = classmethod(_PARSERS[name])
    elif row is not None:
        parse = classmethod(lambda cls, parser: _parse_row(cls, row, parser))  # type: ignore[arg-type]
    else:
        return None
    return type(op_class(name).__name__, (op_class(name),), {"parse": parse, "__slots__": ()})


class _Reading(IrContext):
    """A context whose parser knows the text of this file."""

    def get_optional_op(self, name: str, *, dialect_stack: Sequence[str] = ()) -> type[Operation] | None:
        return _reading(name) or super().get_optional_op(name, dialect_stack=dialect_stack)

    def get_optional_type(self, name: str) -> Any:
        return PackedStructType if name == "llvm.struct" else super().get_optional_type(name)


def reading_context(allow_unregistered: bool) -> IrContext:
    """Return a context that knows every dialect of our pipelines, and upstream's text."""
    context = _Reading(allow_unregistered=allow_unregistered)
    load_all(context)
    context.load_dialect(UB)
    return context
