"""LLVM's memory instructions, one line each, as operations of the llvm dialect."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, IntAttr, IntegerAttr, StringAttr, i32, i64
from xdsl.dialects.llvm import GEP_USE_SSA_VAL, LLVMPointerType
from xdsl.ir import Attribute, Operation, SSAValue

from flydsl.codegen.reading.line_reader import LineReader
from flydsl.codegen.reading.text_cursor import TextCursor
from flydsl.codegen.rules.rules_llvm_memory import ORDERINGS


def _access_properties(cursor: TextCursor) -> dict[str, Attribute]:
    properties: dict[str, Attribute] = {"ordering": IntegerAttr(0, i64)}
    while cursor.accept(","):
        if cursor.accept("align"):
            properties["alignment"] = IntegerAttr(cursor.number(), i64)
        else:
            cursor.fail(f"'{cursor.peek()}' says something about an access that has no property")
    return properties


def read_load(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    result = cursor.type()
    cursor.expect(",")
    return at.add("llvm.load", [at.typed(cursor)], [result], _access_properties(cursor))


def read_store(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    value = at.typed(cursor)
    cursor.expect(",")
    return at.add("llvm.store", [value, at.typed(cursor)], [], _access_properties(cursor))


def read_alloca(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    properties: dict[str, Attribute] = {"elem_type": cursor.type()}
    size: SSAValue | None = None
    pointer = LLVMPointerType()
    while cursor.accept(","):
        if cursor.accept("align"):
            properties["alignment"] = IntegerAttr(cursor.number(), i64)
        elif cursor.accept("addrspace"):
            cursor.expect("(")
            pointer = LLVMPointerType(IntAttr(cursor.number()))
            cursor.expect(")")
        else:
            size = at.typed(cursor)
    return at.add("llvm.alloca", [size or at.constant(i64, "1")], [pointer], properties)


def read_getelementptr(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    bits = sum({"inbounds": 1, "nusw": 2, "nuw": 4}[word] for word in cursor.take_all(("inbounds", "nusw", "nuw")))
    properties: dict[str, Attribute] = {"elem_type": cursor.type(), "noWrapFlags": IntegerAttr(bits, i32)}
    cursor.expect(",")
    operands = [at.typed(cursor)]
    indices: list[int] = []
    while cursor.accept(","):
        type_ = cursor.type()
        if cursor.peek().startswith("%"):
            operands.append(at.value(cursor, type_))
            indices.append(GEP_USE_SSA_VAL)
        else:
            indices.append(cursor.number())
    properties["rawConstantIndices"] = DenseArrayBase.from_list(i32, indices)
    return at.add("llvm.getelementptr", operands, [operands[0].type], properties)


def read_fence(at: LineReader, cursor: TextCursor, opcode: str) -> Operation:
    properties: dict[str, Attribute] = {}
    if cursor.accept("syncscope"):
        cursor.expect("(")
        properties["syncscope"] = StringAttr(cursor.take().strip('"'))
        cursor.expect(")")
    properties["ordering"] = IntegerAttr(ORDERINGS.index(cursor.take()), i64)
    return at.add("llvm.fence", [], [], properties)
