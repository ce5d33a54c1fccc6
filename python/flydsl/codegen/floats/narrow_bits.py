"""Integer instructions on the bits of numbers, for scalars and vectors alike."""

from __future__ import annotations

from flydsl.base.records import dataclass
from flydsl.codegen.function_emitter import FunctionEmitter

_ATTRIBUTES = "alwaysinline nounwind willreturn memory(none)"
"""Of a helper function that only computes."""


@dataclass
class Bits:
    """Writes integer instructions on lanes of one width."""

    out: FunctionEmitter
    width: int
    lanes: int

    @property
    def type(self) -> str:
        return self.of(f"i{self.width}")

    @property
    def flag(self) -> str:
        return self.of("i1")

    def of(self, element: str) -> str:
        return f"<{self.lanes} x {element}>" if self.lanes else element

    def const(self, value: int) -> str:
        value &= (1 << self.width) - 1
        signed = value - (1 << self.width) if value >> (self.width - 1) else value
        return f"splat (i{self.width} {signed})" if self.lanes else str(signed)

    def op(self, opcode: str, left: str, right: str | int) -> str:
        other = self.const(right) if isinstance(right, int) else right
        return self.out.assign(f"{opcode} {self.type} {left}, {other}")

    def call(self, name: str, left: str, right: int) -> str:
        return self.out.call(self.type, f"@llvm.{name}", [f"{self.type} {left}", f"{self.type} {self.const(right)}"])

    def test(self, predicate: str, left: str, right: str | int) -> str:
        other = self.const(right) if isinstance(right, int) else right
        return self.out.assign(f"icmp {predicate} {self.type} {left}, {other}")

    def pick(self, condition: str, when_true: str | int, when_false: str | int) -> str:
        arms = [self.const(arm) if isinstance(arm, int) else arm for arm in (when_true, when_false)]
        text = f"select {self.flag} {condition}, {self.type} {arms[0]}, {self.type} {arms[1]}"
        return self.out.assign(text)

    def cast(self, opcode: str, source: str, text: str, target: str) -> str:
        return self.out.assign(f"{opcode} {source} {text} to {target}")


def helper_text(out: FunctionEmitter, symbol: str, argument: str, result: str, text: str) -> str:
    """Return the definition of a helper of one argument, ``%x``, whose body is written; ``text`` is what it returns."""
    body = f"{out.body_text()}\n  ret {result} {text}"
    return f"define private {result} {symbol}({argument} %x) {_ATTRIBUTES} {{\n{body}\n}}"
