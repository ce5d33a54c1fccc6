"""LLVM text as tokens, and the types in it as xDSL types: the other direction of `llvm_types`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type, IntAttr, IntegerType, VectorType
from xdsl.dialects.llvm import LLVMArrayType, LLVMPointerType, LLVMStructType, LLVMVoidType
from xdsl.ir import Attribute

from flydsl.base.errors import LoweringError
from flydsl.codegen.llvm_types import BF16

_TOKEN = re.compile(
    r"""\s*( c?"[^"]*"                    # a string
           | [@%]"[^"]*" | [@%][-\w$.]+   # a global or local name
           | ![-\w$.]* | \#\d+            # metadata, attribute groups
           | -?0x[HKLMR]?[0-9A-Fa-f]+ | -?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?
           | [A-Za-z_][\w.]*
           | \.\.\. | [<>\[\](){},=:*] )""",
    re.VERBOSE,
)
_INTEGER = re.compile(r"i(\d+)")
_FLOATS: dict[str, Attribute] = {
    "half": Float16Type(),
    "bfloat": BFloat16Type(),
    BF16: BFloat16Type(),
    "float": Float32Type(),
    "double": Float64Type(),
    "void": LLVMVoidType(),
}

T = TypeVar("T")


class TextCursor:
    """A line of LLVM text, read token by token."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = self._split(text)
        self.at = 0

    def _split(self, text: str) -> list[str]:
        found, at = [], 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                self.fail(f"cannot read from column {at + 1} on")
            found.append(match[1])
            at = match.end()
        return found

    def fail(self, reason: str) -> NoReturn:
        raise LoweringError(f"{reason}, in the LLVM text\n    {self.text.strip()}")

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        found = self.peek()
        self.at += 1
        return found

    def accept(self, token: str) -> bool:
        """Take a token if it comes next."""
        if self.peek() != token:
            return False
        self.at += 1
        return True

    def expect(self, token: str) -> None:
        if not self.accept(token):
            self.fail(f"expected '{token}', found '{self.peek()}'")

    def take_all(self, known: Sequence[str]) -> list[str]:
        """Return the words of a set that come next, such as flags."""
        found = []
        while self.peek() in known:
            found.append(self.take())
        return found

    def number(self) -> int:
        return int(self.take())

    # Types -------------------------------------------------------------------------------------

    def type(self) -> Attribute:
        """Return the type that comes next."""
        word = self.take()
        if word in _FLOATS:
            return _FLOATS[word]
        match = _INTEGER.fullmatch(word)
        if match is not None:
            return IntegerType(int(match[1]))
        if word == "ptr":
            return self._pointer()
        if word in "<[":
            count = self.number()
            self.expect("x")
            element = self.type()
            self.expect(">" if word == "<" else "]")
            return VectorType(element, [count]) if word == "<" else LLVMArrayType(count, element)
        if word == "{":
            return LLVMStructType.from_type_list(self.listed("}", self.type))
        self.fail(f"'{word}' is no type")

    def _pointer(self) -> LLVMPointerType:
        if not self.accept("addrspace"):
            return LLVMPointerType()
        self.expect("(")
        space = self.number()
        self.expect(")")
        return LLVMPointerType(IntAttr(space)) if space else LLVMPointerType()

    def listed(self, close: str, read: Callable[[], T]) -> list[T]:
        """Comma-separated things up to a closing token."""
        found: list[T] = []
        while not self.accept(close):
            found.append(read())
            self.accept(",")
        return found
