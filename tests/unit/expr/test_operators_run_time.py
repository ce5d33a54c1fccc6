"""Every operator on every pair of types at run time: the emitted operations, evaluated, give the table's results."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.expr import operator_table as table
from tests.unit.expr.evaluating import Evaluator, evaluating, signed
from tests.unit.expr.operator_table import Case

SYMBOL_TYPES = [(symbol, lhs) for symbol in table.OPERATORS for lhs in table.TYPES]
IDS = [f"{lhs}{symbol}" for symbol, lhs in SYMBOL_TYPES]


def run_time(emitter: Evaluator, dtype: Any, number: Any) -> Any:
    return dtype.__construct_from_ir_values__([emitter.value(dtype.ir_type, number)])


def number_of(result: Any) -> Any:
    value = result.value
    if not hasattr(value, "type"):
        return value
    is_signed_integer = result.dtype in table.SIGNED
    return signed(value.type, value.number) if is_signed_integer else value.number


@pytest.mark.parametrize(("symbol", "lhs"), SYMBOL_TYPES, ids=IDS)
def test_emitted_operations_compute_the_same(symbol: str, lhs: Any) -> None:
    for rhs in table.TYPES:
        case = table.case(symbol, lhs, rhs, at_run_time=True)
        if case.error is None:
            check(case)


def check(case: Case) -> None:
    """Both operands at run time, then each of them static: a static divisor takes another path."""
    tolerance = 2**-22 if case.symbol == "**" else 0.0
    with evaluating() as emitter:
        for (a, b), wanted in zip(case.samples, case.expected):
            x, y = run_time(emitter, case.lhs, a), run_time(emitter, case.rhs, b)
            for left, right in ((x, y), (x, case.rhs(b)), (case.lhs(a), y)):
                got = number_of(case.function(left, right))
                assert table.same(got, wanted, tolerance=tolerance), (
                    f"{left}={a} {case.symbol} {right}={b} computes {got}, not {wanted}"
                )
