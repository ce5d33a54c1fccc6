"""Elementwise formulas written with Python's operators, as one private LLVM function each.

A `Value` is one number a lane. Arithmetic on values writes lines of LLVM text, once for a scalar or for all lanes
of a vector, without flags: LLVM may neither reorder nor fuse them, so a formula gives the same bits on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import Float32Type, Float64Type

from flydsl.base.records import dataclass, field
from flydsl.codegen.module_scope import ModuleScope
from flydsl.codegen.reading.literals import float_literal

_FLOATS = {"float": Float32Type(), "double": Float64Type()}
_BITS = {"float": "i32", "double": "i64"}
_VIEWED = {bits: kind for kind, bits in _BITS.items()}
_ATTRIBUTES = "alwaysinline nounwind willreturn memory(none)"

Body = Callable[..., "Value"]
"""From the values of the arguments to that of the result."""


@dataclass
class Formula:
    """The lines written so far; ``lanes`` is 0 for scalars."""

    lanes: int
    lines: list[str] = field(default_factory=list)

    def of(self, kind: str) -> str:
        """Return the LLVM type of a value of ``float``, ``double``, ``i32``, ``i64`` or ``i1``."""
        return f"<{self.lanes} x {kind}>" if self.lanes else kind

    def literal(self, number: float, kind: str) -> str:
        """Return a constant, the same in every lane."""
        element = float_literal(number, _FLOATS[kind]) if kind in _FLOATS else str(int(number))
        element = ("true" if number else "false") if kind == "i1" else element
        return f"splat ({kind} {element})" if self.lanes else element

    def assign(self, kind: str, expression: str) -> Value:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {expression}")
        return Value(self, kind, name)


@dataclass(frozen=True, eq=False)
class Value:
    """A number a lane; plain Python numbers among the operands become constants of the same kind."""

    formula: Formula
    kind: str
    text: str

    # Arithmetic: floats and integers alike.

    def __add__(self, other: Value | float) -> Value:
        return self._binary("add", other)

    def __sub__(self, other: Value | float) -> Value:
        return self._binary("sub", other)

    def __mul__(self, other: Value | float) -> Value:
        return self._binary("mul", other)

    def __rsub__(self, other: float) -> Value:
        return self.constant(other) - self

    def __rtruediv__(self, other: float) -> Value:
        return self.constant(other) / self

    def __truediv__(self, other: Value | float) -> Value:
        return self._binary("div", other)

    def __neg__(self) -> Value:
        return self.formula.assign(self.kind, f"fneg {self.formula.of(self.kind)} {self.text}")

    def __floordiv__(self, other: int) -> Value:
        return self._instruction("udiv", other)

    def __and__(self, other: Value | int) -> Value:
        return self._instruction("and", other)

    def __or__(self, other: Value | int) -> Value:
        return self._instruction("or", other)

    def __xor__(self, other: Value | int) -> Value:
        return self._instruction("xor", other)

    def __invert__(self) -> Value:
        return self ^ -1

    def __lshift__(self, other: int) -> Value:
        return self._instruction("shl", other)

    def __rshift__(self, other: int) -> Value:
        """The sign moves in from the left."""
        return self._instruction("ashr", other)

    def fma(self, factor: Value | float, addend: Value | float) -> Value:
        """``self * factor + addend``, rounded once."""
        return self._call("llvm.fma", factor, addend)

    def sqrt(self) -> Value:
        return self._call("llvm.sqrt")

    def whole(self) -> Value:
        """Return the nearest whole number."""
        return self._call("llvm.roundeven")

    def magnitude(self) -> Value:
        return self._call("llvm.fabs")

    def with_sign_of(self, other: Value) -> Value:
        return self._call("llvm.copysign", other)

    # Comparisons, all false for NaN, and choices by them.

    def below(self, other: Value | float) -> Value:
        return self._compare("olt", "slt", other)

    def above(self, other: Value | float) -> Value:
        return self._compare("ogt", "sgt", other)

    def equals(self, other: Value | float) -> Value:
        return self._compare("oeq", "eq", other)

    def select(self, if_true: Value | float, if_false: Value | float) -> Value:
        """Return one of two in each lane; at least one of them is a value."""
        other = if_true if isinstance(if_true, Value) else if_false
        assert isinstance(other, Value)
        type_ = self.formula.of(other.kind)
        choices = ", ".join(f"{type_} {other.operand(choice)}" for choice in (if_true, if_false))
        return self.formula.assign(other.kind, f"select {self.formula.of('i1')} {self.text}, {choices}")

    # Other kinds.

    def bits(self) -> Value:
        """Return a float's bits as an integer."""
        return self._cast("bitcast", _BITS[self.kind])

    def viewed(self) -> Value:
        """Return the float that an integer's bits are."""
        return self._cast("bitcast", _VIEWED[self.kind])

    def wide(self) -> Value:
        return self._cast("fpext", "double")

    def narrow(self) -> Value:
        return self._cast("fptrunc", "float")

    def low_word(self) -> Value:
        return self._cast("trunc", "i32")

    def counted(self, kind: str) -> Value:
        """Return an integer's number as a float."""
        return self._cast("sitofp", kind)

    def constant(self, number: float) -> Value:
        return Value(self.formula, self.kind, self.formula.literal(number, self.kind))

    def operand(self, other: Value | float) -> str:
        """Return the text of an operand beside this one."""
        return other.text if isinstance(other, Value) else self.formula.literal(other, self.kind)

    def _binary(self, word: str, other: Value | float) -> Value:
        return self._instruction(f"f{word}" if self.kind in _FLOATS else word, other)

    def _instruction(self, opcode: str, other: Value | float) -> Value:
        return self.formula.assign(
            self.kind, f"{opcode} {self.formula.of(self.kind)} {self.text}, {self.operand(other)}"
        )

    def _compare(self, floats: str, ints: str, other: Value | float) -> Value:
        test = f"fcmp {floats}" if self.kind in _FLOATS else f"icmp {ints}"
        return self.formula.assign("i1", f"{test} {self.formula.of(self.kind)} {self.text}, {self.operand(other)}")

    def _call(self, callee: str, *others: Value | float) -> Value:
        type_ = self.formula.of(self.kind)
        arguments = ", ".join(f"{type_} {text}" for text in (self.text, *map(self.operand, others)))
        return self.formula.assign(self.kind, f"call {type_} @{callee}({arguments})")

    def _cast(self, opcode: str, kind: str) -> Value:
        before, after = self.formula.of(self.kind), self.formula.of(kind)
        return self.formula.assign(kind, f"{opcode} {before} {self.text} to {after}")


def polynomial(x: Value, coefficients: Sequence[float]) -> Value:
    """Return the sum of ``coefficients[i] * x ** i``, two or more of them, highest power first."""
    *rest, below, highest = coefficients
    total = x.fma(highest, below)
    for coefficient in reversed(rest):
        total = total.fma(x, coefficient)
    return total


def formula_function(scope: ModuleScope, name: str, lanes: int, arity: int, body: Body) -> str:
    """Return the symbol of the function of f32 that ``body`` computes; it is written on first use."""

    def build(symbol: str) -> str:
        formula = Formula(lanes)
        type_ = formula.of("float")
        result = body(*(Value(formula, "float", f"%x{i}") for i in range(arity)))
        head = ", ".join(f"{type_} %x{i}" for i in range(arity))
        lines = "\n".join([*formula.lines, f"  ret {type_} {result.text}"])
        return f"define private {type_} {symbol}({head}) {_ATTRIBUTES} {{\n{lines}\n}}"

    return scope.helper(f"fly.{name}.f32" + (f".x{lanes}" if lanes else ""), build)
