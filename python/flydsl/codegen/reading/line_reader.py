"""Where instructions that are read go, and which values the names and literals in them stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    SymbolRefAttr,
    VectorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from flydsl.codegen.reading.text_cursor import TextCursor
from flydsl.codegen.reading.text_literals import WORDS, read_constant
from flydsl.dialects.upstream import op_class

_WIDEST_DENSE = 64
"""Bits of the widest integer that xDSL packs into a dense constant."""


class LineReader:
    """Reads instructions into a block: where they go, and which values the names in them stand for."""

    def __init__(self, dialect_ops: Mapping[str, str] | None = None) -> None:
        self.values: dict[str, SSAValue] = {}
        self.dialect_ops = dialect_ops or {}
        self.anchor: Operation | None = None
        self.block: Block | None = None
        self.entry: Block | None = None
        self._constants: dict[tuple[Attribute, str], SSAValue] = {}
        self._last_constant: Operation | None = None

    # Where operations go -----------------------------------------------------------------------

    def add(self, name: str, operands: list[SSAValue], results: list[Attribute], properties: Any = None) -> Operation:
        op = op_class(name).create(operands=operands, result_types=results, properties=properties or {})
        if self.anchor is not None:
            assert self.anchor.parent is not None
            op.location = self.anchor.location
            self.anchor.parent.insert_op_before(op, self.anchor)
        else:
            assert self.block is not None
            self.block.add_op(op)
        return op

    def constant(self, type_: Attribute, text: str) -> SSAValue:
        """Return a literal as a value: one operation at the top of the function for each."""
        found = self._constants.get((type_, text))
        if found is None:
            op = self._constant_op(type_, text)
            assert self.entry is not None
            if self._last_constant is not None:
                self.entry.insert_op_after(op, self._last_constant)
            elif self.entry.first_op is not None:
                self.entry.insert_op_before(op, self.entry.first_op)
            else:
                self.entry.add_op(op)
            self._last_constant = op
            found = self._constants[type_, text] = op.results[0]
        return found

    def drop_unused_constants(self) -> None:
        """Remove constants that ended up as properties of what uses them."""
        for value in self._constants.values():
            owner = value.owner
            if not value.uses and isinstance(owner, Operation):
                owner.detach()
                owner.erase()
        self._constants.clear()
        self._last_constant = None

    def first_after_constants(self) -> Operation:
        """Return where a line for the top of the function goes: it may use the constants there."""
        assert self.entry is not None
        found = self._last_constant.next_op if self._last_constant is not None else self.entry.first_op
        assert found is not None
        return found

    def _constant_op(self, type_: Attribute, text: str) -> Operation:
        word = _same_in_all_lanes(text)
        if word in WORDS:
            return op_class(WORDS[word]).create(result_types=[type_])
        if text.startswith("@"):
            symbol = SymbolRefAttr(text[1:].strip('"'))
            return op_class("llvm.mlir.addressof").create(result_types=[type_], properties={"global_name": symbol})
        scalar = type_.element_type if isinstance(type_, VectorType) else type_
        if text == "zeroinitializer" and not isinstance(scalar, IntegerType) and not hasattr(scalar, "pack"):
            return op_class("llvm.mlir.zero").create(result_types=[type_])
        value = read_constant(TextCursor(text), type_)
        assert isinstance(value, (IntegerAttr, FloatAttr, DenseIntOrFPElementsAttr))
        return op_class("llvm.mlir.constant").create(result_types=[type_], properties={"value": value})

    # Lines -------------------------------------------------------------------------------------

    def value(self, cursor: TextCursor, type_: Attribute) -> SSAValue:
        """Return the operand that comes next: a name, or a literal of the type."""
        if cursor.peek().startswith("%"):
            return self.values[cursor.take()]
        text = _literal_text(cursor)
        return self._wide_splat(type_, text) if _too_wide(type_) else self.constant(type_, text)

    def _wide_splat(self, type_: Attribute, text: str) -> SSAValue:
        """Return a vector of integers that no dense attribute of xDSL holds, from one scalar."""
        assert isinstance(type_, VectorType)
        cursor = TextCursor(text)
        cursor.expect("splat")
        cursor.expect("(")
        element = cursor.type()
        scalar = self.constant(element, cursor.take())
        first = [self.constant(type_, "poison"), scalar, self.constant(i64, "0")]
        one = self.add("llvm.insertelement", first, [type_]).results[0]
        mask = DenseArrayBase.from_list(i32, [0] * type_.get_shape()[0])
        return self.add("llvm.shufflevector", [one, one], [type_], {"mask": mask}).results[0]

    def typed(self, cursor: TextCursor) -> SSAValue:
        type_ = cursor.type()
        return self.value(cursor, type_)

    def named(self, text: str, type_: Attribute) -> SSAValue:
        """Return what the text that a rule gave a result stands for."""
        return self.values[text] if text.startswith("%") else self.constant(type_, text)


def _too_wide(type_: Attribute) -> bool:
    element = type_.element_type if isinstance(type_, VectorType) else None
    return isinstance(element, IntegerType) and element.width.data > _WIDEST_DENSE


def _same_in_all_lanes(text: str) -> str:
    """Return a word such as ``poison``, also when it is written once for every lane."""
    if not text.startswith(("<", "splat")):
        return text
    words = {part.split()[-1] for part in text.strip("<>() ").split(",")}
    return words.pop() if len(words) == 1 else text


def _literal_text(cursor: TextCursor) -> str:
    """Return the tokens of one literal, which may hold brackets."""
    taken = [cursor.take()]
    follow = taken[0] in ("splat", "bitcast", "getelementptr")
    if follow:
        taken.append(cursor.take())
    depth = 1 if taken[-1] in "<([{" else 0
    while depth:
        token = cursor.take()
        depth += (token in ("<", "(", "[", "{")) - (token in (">", ")", "]", "}"))
        taken.append(token)
    return " ".join(taken)
