"""Whole functions, declarations and constants of LLVM text as operations of the llvm dialect.

What rules ask of a module besides their own lines: conversion helpers, library functions, texts to print.
"""

from __future__ import annotations

import re

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, StringAttr, UnitAttr, i32
from xdsl.dialects.llvm import LinkageAttr, LLVMFunctionType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from flydsl.base.errors import LoweringError
from flydsl.codegen.function_signature import NO_MEMORY
from flydsl.codegen.module_scope import ModuleScope
from flydsl.codegen.reading.instruction_reader import read_line
from flydsl.codegen.reading.line_reader import LineReader
from flydsl.codegen.reading.text_cursor import TextCursor
from flydsl.dialects.llvm_functions import llvm_function
from flydsl.dialects.upstream import op_class

_LABEL = re.compile(r"([-\w$.]+):\s*$")
_GLOBAL = re.compile(r'@([-\w$.]+) = private addrspace\((\d+)\) constant \[(\d+) x i8\] c"(.*)"', re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2})")
Phi = tuple[str, Attribute, dict[str, str]]
"""A phi: its name, its type, and the text of its value by predecessor."""

_KEPT_WORDS = ("alwaysinline", "nounwind", "willreturn", "noinline")
"""Attributes of helpers that matter before LLVM infers the others."""


def read_extras(scope: ModuleScope) -> dict[str, Operation]:
    """Everything that rules asked a module for, by symbol."""
    found: dict[str, Operation] = {}
    for text in scope.global_texts():
        op = _read_global(text)
        found[op.properties["sym_name"].data] = op  # type: ignore[union-attr]
    for text in (*scope.declaration_texts(), *scope.helper_texts()):
        op = _read_function(text)
        found[op.properties["sym_name"].data] = op  # type: ignore[union-attr]
    return found


def _read_global(text: str) -> Operation:
    match = _GLOBAL.match(text)
    if match is None:
        raise LoweringError(f"a global that a rule asked for has no form in the llvm dialect: {text}")
    name, space, count, escaped = match.groups()
    data = _ESCAPE.sub(lambda m: bytes([int(m[1], 16)]), escaped.encode())
    elem = TextCursor(f"[{count} x i8]").type()
    properties: dict[str, Attribute] = {
        "sym_name": StringAttr(name),
        "global_type": elem,
        "linkage": LinkageAttr("private"),
        "constant": UnitAttr(),
        "addr_space": IntegerAttr(int(space), i32),
        "value": StringAttr(data.decode("latin-1")),
    }
    return op_class("llvm.mlir.global").create(properties=properties, regions=[Region()])


def _read_function(text: str) -> Operation:
    head, _, rest = text.partition("{\n")
    cursor = TextCursor(head)
    declared = cursor.take() == "declare"
    linkage = "private" if cursor.accept("private") else "external"
    result = cursor.type()
    name = cursor.take()[1:].strip('"')
    cursor.expect("(")
    parameters = cursor.listed(")", lambda: (cursor.type(), cursor.take() if cursor.peek().startswith("%") else ""))
    words: list[Attribute] = [StringAttr(word) for word in head.split() if word in _KEPT_WORDS]
    if NO_MEMORY.text in head:
        words.append(ArrayAttr([StringAttr(NO_MEMORY.key), StringAttr(NO_MEMORY.value)]))
    type_ = LLVMFunctionType([kind for kind, _ in parameters], result)
    body = Region() if declared else _read_body(rest.rsplit("}", 1)[0], parameters)
    return llvm_function(name, type_, body, linkage, words)


def _read_body(text: str, parameters: list[tuple[Attribute, str]]) -> Region:
    parts = _split_blocks(text)
    blocks: dict[str, Block] = {}
    phis: dict[str, list[Phi]] = {}
    for index, (label, lines) in enumerate(parts):
        phis[label] = [_phi(line) for line in lines if " phi " in line]
        kinds = [kind for kind, _ in parameters] if index == 0 else [kind for _, kind, _ in phis[label]]
        blocks[label] = Block(arg_types=kinds)
    reader = LineReader()
    reader.entry = next(iter(blocks.values()))
    for (_, name), argument in zip(parameters, reader.entry.args, strict=True):
        reader.values[name] = argument
    for label, entries in phis.items():
        reader.values |= {name: blocks[label].args[i] for i, (name, _, _) in enumerate(entries)}
    for label, lines in parts:
        reader.block = blocks[label]
        for line in lines:
            if line.lstrip().startswith("br "):
                _branch(reader, line, label, blocks, phis)
            elif " phi " not in line:
                read_line(reader, line)
    return Region(list(blocks.values()))


def _split_blocks(text: str) -> list[tuple[str, list[str]]]:
    parts: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        label = _LABEL.match(line)
        if label is not None:
            parts.append((label[1], []))
        elif line.strip():
            if not parts:
                parts.append(("entry", []))
            parts[-1][1].append(line)
    return parts


def _phi(line: str) -> Phi:
    cursor = TextCursor(line)
    name = cursor.take()
    cursor.expect("=")
    cursor.expect("phi")
    type_ = cursor.type()
    incoming: dict[str, str] = {}
    while cursor.accept("["):
        value = cursor.take()
        cursor.expect(",")
        incoming[cursor.take()[1:]] = value
        cursor.expect("]")
        cursor.accept(",")
    return name, type_, incoming


def _branch(reader: LineReader, line: str, label: str, blocks: dict[str, Block], phis: dict[str, list[Phi]]) -> None:
    targets = re.findall(r"label %([-\w$.]+)", line)

    def passed(target: str) -> list[SSAValue]:
        return [reader.named(incoming[label], kind) for _, kind, incoming in phis[target]]

    if len(targets) == 1:
        op = op_class("llvm.br").create(operands=passed(targets[0]), successors=[blocks[targets[0]]])
    else:
        cursor = TextCursor(line)
        cursor.expect("br")
        condition = reader.typed(cursor)
        arguments = [passed(target) for target in targets]
        sizes = [1, len(arguments[0]), len(arguments[1])]
        op = op_class("llvm.cond_br").create(
            operands=[condition, *arguments[0], *arguments[1]],
            successors=[blocks[target] for target in targets],
            properties={"operandSegmentSizes": DenseArrayBase.from_list(i32, sizes)},
        )
    assert reader.block is not None
    reader.block.add_op(op)
