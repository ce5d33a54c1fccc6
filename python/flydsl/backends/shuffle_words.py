"""Values of any width as the 32-bit words that lanes exchange."""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.llvm_types import type_text
from flydsl.codegen.reading.op_view import fail

_FLOATS = {"half": 16, "bfloat": 16, "%bf16": 16, "float": 32, "double": 64}


def _bits(type_: str, op: Operation) -> int:
    if type_.startswith("<"):
        count, _, elem = type_[1:-1].partition(" x ")
        return int(count) * _bits(elem, op)
    if type_ in _FLOATS:
        return _FLOATS[type_]
    if type_.startswith("i"):
        return int(type_[1:])
    fail(op, f"a value of type {type_} cannot be exchanged between lanes")


def to_words(emitter: FunctionEmitter, op: Operation) -> list[str]:
    """The first operand as 32-bit words, the last one padded."""
    type_ = type_text(op.operands[0].type)
    bits = _bits(type_, op)
    padded = -(-bits // 32) * 32
    text = emitter.operand(op.operands[0])
    whole = text if type_ == f"i{bits}" else emitter.assign(f"bitcast {type_} {text} to i{bits}")
    if padded != bits:
        whole = emitter.assign(f"zext i{bits} {whole} to i{padded}")
    if padded == 32:
        return [whole]
    count = padded // 32
    vector = emitter.assign(f"bitcast i{padded} {whole} to <{count} x i32>")
    return [emitter.assign(f"extractelement <{count} x i32> {vector}, i32 {i}") for i in range(count)]


def from_words(emitter: FunctionEmitter, words: list[str], op: Operation) -> str:
    """A value of the first result's type from its words."""
    type_ = type_text(op.results[0].type)
    bits, count = _bits(type_, op), len(words)
    whole = words[0]
    if count > 1:
        vector = "poison"
        for index, word in enumerate(words):
            vector = emitter.assign(f"insertelement <{count} x i32> {vector}, i32 {word}, i32 {index}")
        whole = emitter.assign(f"bitcast <{count} x i32> {vector} to i{count * 32}")
    if count * 32 != bits:
        whole = emitter.assign(f"trunc i{count * 32} {whole} to i{bits}")
    return whole if type_ == f"i{bits}" else emitter.assign(f"bitcast i{bits} {whole} to {type_}")
