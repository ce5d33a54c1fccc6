"""An emitter that computes what it is asked to emit: the run-time half of the language without a compiler.

Its values carry a number. Each operation is evaluated by its upstream definition on the bits of its operands, apart
from the package's own folding, so that what is emitted can be compared with what is folded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from flydsl.expr import numeric as n
from flydsl.expr.trace.context import tracing
from tests.unit.expr import operator_table as table


@dataclass(frozen=True, eq=False)
class EvaluatedValue:
    """An SSA value with its number: an integer as its unsigned bits, a float as itself."""

    type: str
    number: Any


def width(type: str) -> int:
    return 64 if type == "index" else int(type[1:])


def signed(type: str, bits: int) -> int:
    return bits - (1 << width(type)) if bits >> (width(type) - 1) else bits


def is_float(type: str) -> bool:
    return "f" in type


INTEGER: dict[str, Callable[[str, int, int], int]] = {
    "addi": lambda t, a, b: a + b,
    "subi": lambda t, a, b: a - b,
    "muli": lambda t, a, b: a * b,
    "divui": lambda t, a, b: a // b,
    "remui": lambda t, a, b: a % b,
    "remsi": lambda t, a, b: int(math.copysign(1, signed(t, a))) * (abs(signed(t, a)) % abs(signed(t, b))),
    "floordivsi": lambda t, a, b: signed(t, a) // signed(t, b),
    "shli": lambda t, a, b: a << b,
    "shrui": lambda t, a, b: a >> b,
    "shrsi": lambda t, a, b: signed(t, a) >> b,
    "andi": lambda t, a, b: a & b,
    "ori": lambda t, a, b: a | b,
    "xori": lambda t, a, b: a ^ b,
    "ipowi": lambda t, a, b: signed(t, a) ** signed(t, b),
}


def _divide(a: float, b: float) -> float:
    if b != 0:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _remainder(a: float, b: float) -> float:
    return math.nan if b == 0 or math.isinf(a) else math.fmod(a, b)


FLOAT: dict[str, Callable[[float, float], float]] = {
    "addf": lambda a, b: a + b,
    "subf": lambda a, b: a - b,
    "mulf": lambda a, b: a * b,
    "divf": _divide,
    "remf": _remainder,
    "powf": math.pow,
}
RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def compare_integers(predicate: str, type: str, a: int, b: int) -> int:
    if predicate in ("eq", "ne"):
        return int(RELATIONS[predicate](a, b))
    if predicate[0] == "s":
        a, b = signed(type, a), signed(type, b)
    return int(RELATIONS[predicate[1:]](a, b))


def compare_floats(predicate: str, a: float, b: float) -> int:
    if math.isnan(a) or math.isnan(b):
        return int(predicate[0] == "u")
    return int(RELATIONS[predicate[1:]](a, b))


class Evaluator:
    """Evaluates instead of emitting."""

    target = None

    def value(self, type: str, number: Any) -> EvaluatedValue:
        if is_float(type):
            return EvaluatedValue(type, table.in_float(n.Numeric.from_ir_type(type), number))
        return EvaluatedValue(type, int(number) & ((1 << width(type)) - 1))

    def constant(self, type: str, value: int | float) -> EvaluatedValue:
        return self.value(type, value)

    def type_name(self, value: EvaluatedValue) -> str:
        return value.type

    def op(
        self,
        name: str,
        operands: Sequence[EvaluatedValue],
        result: str | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> EvaluatedValue:
        assert result is not None
        short = name.split(".")[1]
        return self.value(result, self._evaluate(short, operands, result, attrs or {}))

    def _evaluate(self, name: str, operands: Sequence[EvaluatedValue], result: str, attrs: Mapping[str, Any]) -> Any:
        numbers = [operand.number for operand in operands]
        source = operands[0].type
        if name in INTEGER:
            assert operands[0].type == operands[1].type == result and not is_float(result)
            return INTEGER[name](source, *numbers)
        if name in FLOAT:
            assert operands[0].type == operands[1].type == result and is_float(result)
            return FLOAT[name](*numbers)
        if name == "cmpi":
            return compare_integers(attrs["predicate"], source, *numbers)
        if name == "cmpf":
            return compare_floats(attrs["predicate"], *numbers)
        if name == "select":
            assert source == "i1" and operands[1].type == operands[2].type == result
            return numbers[1] if numbers[0] else numbers[2]
        if name == "fpowi":
            return math.pow(numbers[0], signed(operands[1].type, numbers[1]))
        return self._convert(name, source, numbers[0])

    def _convert(self, name: str, source: str, number: Any) -> Any:
        if name == "floor":
            return float(math.floor(number)) if math.isfinite(number) else number
        if name == "roundeven":
            return float(round(number)) if math.isfinite(number) else number
        if name in ("extsi", "sitofp", "index_cast"):
            return signed(source, number)
        assert name in ("extui", "uitofp", "index_castui", "trunci", "extf", "truncf"), name
        return number


@contextmanager
def evaluating() -> Iterator[Evaluator]:
    evaluator = Evaluator()
    with tracing(evaluator):  # type: ignore[arg-type]
        yield evaluator
