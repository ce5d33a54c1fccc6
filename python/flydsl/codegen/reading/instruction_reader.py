"""LLVM instructions, one line each, as operations of the llvm dialect.

The rules of this package say once what an operation means in LLVM, as text. Passes that convert to the llvm
dialect run the same rules and read the lines back with this, so the dialect and the text cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.dialects.llvm import (
    CallingConventionAttr,
    FastMathAttr,
    LLVMStructType,
    LLVMVoidType,
    OverflowAttr,
    OverflowFlag,
    TailCallKind,
    TailCallKindAttr,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from flydsl.codegen.reading.line_reader import LineReader
from flydsl.codegen.reading.memory_reader import read_alloca, read_fence, read_getelementptr, read_load, read_store
from flydsl.codegen.reading.text_cursor import TextCursor
from flydsl.codegen.rules.rules_arith import CMPF_PREDICATES, CMPI_PREDICATES
from flydsl.codegen.rules.rules_llvm import RULES

_FAST = ("fast", "reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn")
_INT_BINARY = ("add", "sub", "mul", "shl", "udiv", "sdiv", "urem", "srem", "and", "or", "xor", "lshr", "ashr")
_OVERFLOWING = ("add", "sub", "mul", "shl")
_FLOAT_BINARY = ("fadd", "fsub", "fmul", "fdiv", "frem")
_CASTS = (
    *("trunc", "zext", "sext", "fptrunc", "fpext", "fptosi", "fptoui", "sitofp", "uitofp"),
    *("ptrtoint", "inttoptr", "bitcast", "addrspacecast"),
)
_OVERFLOW_BITS = {"nsw": 1, "nuw": 2}
_FLAG_PROPERTIES = {"exact": "isExact", "disjoint": "isDisjoint", "nneg": "nonNeg"}
# Intrinsics whose last argument the dialect keeps as a property.
_IMMEDIATES = {"ctlz": "is_zero_poison", "cttz": "is_zero_poison", "abs": "is_int_min_poison"}


# Arithmetic ------------------------------------------------------------------------------------


def _fast(cursor: TextCursor) -> FastMathAttr:
    words = cursor.take_all(_FAST)
    if "fast" in words or len(words) == len(_FAST) - 1:
        return FastMathAttr("fast")
    return FastMathAttr([FastMathFlag(word) for word in words]) if words else FastMathAttr("none")


def _flags(cursor: TextCursor, opcode: str) -> dict[str, Attribute]:
    words = cursor.take_all(("nsw", "nuw", "exact", "disjoint", "nneg"))
    properties: dict[str, Attribute] = {}
    if opcode == "trunc":  # xDSL keeps the flags of this one as an attribute of their own
        properties["overflowFlags"] = OverflowAttr([OverflowFlag(word) for word in words])
    elif opcode in _OVERFLOWING:
        properties["overflowFlags"] = IntegerAttr(sum(_OVERFLOW_BITS.get(word, 0) for word in words), i32)
    for word in words:
        if word in _FLAG_PROPERTIES:
            properties[_FLAG_PROPERTIES[word]] = UnitAttr()
    return properties


def _int_binary(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    properties = _flags(cursor, opcode)
    type_ = cursor.type()
    left = at.value(cursor, type_)
    cursor.expect(",")
    return at.add(f"llvm.{opcode}", [left, at.value(cursor, type_)], [type_], properties)


def _float_binary(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    properties = {"fastmathFlags": _fast(cursor)}
    type_ = cursor.type()
    left = at.value(cursor, type_)
    cursor.expect(",")
    return at.add(f"llvm.{opcode}", [left, at.value(cursor, type_)], [type_], properties)


def _float_unary(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    properties = {"fastmathFlags": _fast(cursor)} if opcode == "fneg" else {}
    type_ = cursor.type()
    return at.add(f"llvm.{opcode}", [at.value(cursor, type_)], [type_], properties)


def _cast(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    properties = _flags(cursor, opcode)
    if opcode in ("fpext", "fptrunc"):
        cursor.take_all(_FAST)
    value = at.typed(cursor)
    cursor.expect("to")
    return at.add(f"llvm.{opcode}", [value], [cursor.type()], properties)


def _compare(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    predicates = CMPI_PREDICATES if opcode == "icmp" else CMPF_PREDICATES
    properties: dict[str, Attribute] = {"fastmathFlags": _fast(cursor)} if opcode == "fcmp" else {}
    properties["predicate"] = IntegerAttr(predicates.index(cursor.take()), i64)
    type_ = cursor.type()
    left = at.value(cursor, type_)
    cursor.expect(",")
    right = at.value(cursor, type_)
    result = VectorType(i1, type_.get_shape()) if isinstance(type_, VectorType) else i1
    return at.add(f"llvm.{opcode}", [left, right], [result], properties)


def _select(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    properties = {"fastmathFlags": _fast(cursor)}
    operands = [at.typed(cursor)]
    while cursor.accept(","):
        operands.append(at.typed(cursor))
    return at.add("llvm.select", operands, [operands[1].type], properties)


# Vectors and aggregates ------------------------------------------------------------------------


def _elements(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    operands = [at.typed(cursor)]
    while cursor.accept(","):
        operands.append(at.typed(cursor))
    vector = operands[0].type
    assert isinstance(vector, VectorType)
    result = vector.element_type if opcode == "extractelement" else vector
    return at.add(f"llvm.{opcode}", operands, [result])


def _shuffle(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    first = at.typed(cursor)
    cursor.expect(",")
    second = at.typed(cursor)
    cursor.expect(",")
    type_ = cursor.type()
    assert isinstance(type_, VectorType) and isinstance(first.type, VectorType)
    mask = [0] * type_.get_shape()[0]
    if not cursor.accept("zeroinitializer"):
        cursor.expect("<")
        mask = cursor.listed(">", lambda: _mask_entry(cursor))
    result = VectorType(first.type.element_type, [len(mask)])
    return at.add("llvm.shufflevector", [first, second], [result], {"mask": DenseArrayBase.from_list(i32, mask)})


def _mask_entry(cursor: TextCursor) -> int:
    cursor.type()
    return -1 if cursor.accept("poison") else cursor.number()


def _member_type(type_: Attribute, position: list[int]) -> Attribute:
    for index in position:
        type_ = type_.types.data[index] if isinstance(type_, LLVMStructType) else type_.type  # type: ignore[union-attr]
    return type_


def _members(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    operands = [at.typed(cursor)]
    cursor.expect(",")
    if opcode == "insertvalue":
        operands.append(at.typed(cursor))
        cursor.expect(",")
    position = cursor.listed("", cursor.number)
    container = operands[0].type
    result = container if opcode == "insertvalue" else _member_type(container, position)
    properties = {"position": DenseArrayBase.from_list(i64, position)}
    # The operation lists the container first, like the instruction.
    return at.add(f"llvm.{opcode}", operands, [result], properties)


# Calls -----------------------------------------------------------------------------------------


def _call(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    flags = _fast(cursor)
    result = cursor.type()
    name = cursor.take()[1:].strip('"')
    cursor.expect("(")
    arguments = cursor.listed(")", lambda: _argument(at, cursor))
    results = [] if isinstance(result, LLVMVoidType) else [result]
    if not name.startswith("llvm."):
        return at.add("llvm.call", arguments, results, _call_properties(name, flags, len(arguments)))
    if name in at.dialect_ops:
        return at.add(at.dialect_ops[name], arguments, results)
    short = name.removeprefix("llvm.")
    if f"llvm.intr.{short}" in RULES:
        return _intrinsic_op(at, short, arguments, results, flags)
    properties: dict[str, Attribute] = {
        "intrin": StringAttr(name),
        "fastmathFlags": flags,
        "op_bundle_sizes": DenseArrayBase.from_list(i32, []),
        "operandSegmentSizes": DenseArrayBase.from_list(i32, [len(arguments), 0]),
    }
    return at.add("llvm.call_intrinsic", arguments, results, properties)


def _argument(at: LineReader, cursor: TextCursor) -> SSAValue:
    type_ = cursor.type()
    if cursor.accept("align"):
        cursor.number()
    return at.value(cursor, type_)


def _call_properties(name: str, flags: FastMathAttr, count: int) -> dict[str, Attribute]:
    return {
        "callee": SymbolRefAttr(name),
        "fastmathFlags": flags,
        "CConv": CallingConventionAttr("ccc"),
        "TailCallKind": TailCallKindAttr(TailCallKind.NONE),
        "op_bundle_sizes": DenseArrayBase.from_list(i32, []),
        "operandSegmentSizes": DenseArrayBase.from_list(i32, [count, 0]),
    }


def _intrinsic_op(
    at: LineReader, short: str, arguments: list[SSAValue], results: list[Attribute], flags: FastMathAttr
) -> Operation:
    properties: dict[str, Attribute] = {}
    if short in _IMMEDIATES:
        last = arguments.pop().owner
        assert isinstance(last, Operation)
        properties[_IMMEDIATES[short]] = last.properties["value"]
    element = results[0].element_type if results and isinstance(results[0], VectorType) else (results or [i1])[0]
    if not isinstance(element, (IntegerType, LLVMStructType)):
        properties["fastmathFlags"] = flags
    return at.add(f"llvm.intr.{short}", arguments, results, properties)


def _return(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    return at.add("llvm.return", [] if cursor.accept("void") else [at.typed(cursor)], [])


def _unreachable(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    return at.add("llvm.unreachable", [], [])


_READERS: dict[str, Callable[[LineReader, TextCursor, str], Operation]] = {
    **dict.fromkeys(_INT_BINARY, _int_binary),
    **dict.fromkeys(_FLOAT_BINARY, _float_binary),
    **dict.fromkeys(_CASTS, _cast),
    **dict.fromkeys(("fneg", "freeze"), _float_unary),
    **dict.fromkeys(("icmp", "fcmp"), _compare),
    **dict.fromkeys(("extractelement", "insertelement"), _elements),
    **dict.fromkeys(("extractvalue", "insertvalue"), _members),
    "select": _select,
    "shufflevector": _shuffle,
    "call": _call,
    "load": read_load,
    "store": read_store,
    "alloca": read_alloca,
    "getelementptr": read_getelementptr,
    "fence": read_fence,
    "ret": _return,
    "unreachable": _unreachable,
}


def read_line(at: LineReader, line: str) -> None:
    """One instruction, with or without a result."""
    cursor = TextCursor(line)
    name = ""
    if cursor.peek().startswith("%"):
        name = cursor.take()
        cursor.expect("=")
    opcode = cursor.take()
    reader = _READERS.get(opcode)
    if reader is None:
        cursor.fail(f"'{opcode}' is no instruction that the rules write")
    op = reader(at, cursor, opcode)
    if name:
        at.values[name] = op.results[0]
