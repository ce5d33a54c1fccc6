"""Every operator on every pair of types, folded while tracing, against NumPy and ml_dtypes."""

from __future__ import annotations

import pytest

from tests.unit.expr import operator_table as table
from tests.unit.expr.operator_table import Case

SYMBOL_TYPES = [(symbol, lhs) for symbol in table.OPERATORS for lhs in table.TYPES]


@pytest.mark.parametrize(("symbol", "lhs"), SYMBOL_TYPES, ids=[f"{lhs}{symbol}" for symbol, lhs in SYMBOL_TYPES])
def test_operator_folds_as_the_machine_computes(symbol: str, lhs: object) -> None:
    for rhs in table.TYPES:
        check(table.case(symbol, lhs, rhs))


def check(case: Case) -> None:
    if case.error is not None:
        with pytest.raises(case.error):
            case.function(case.lhs(1), case.rhs(1))
        return
    assert case.samples, f"{case.name} has no sample with a defined result"
    tolerance = 2**-22 if case.symbol == "**" else 0.0
    for (a, b), wanted in zip(case.samples, case.expected):
        result = case.function(case.lhs(a), case.rhs(b))
        assert type(result) is case.result, f"{case.name} gives {type(result)}, not {case.result}"
        assert result.is_static()
        assert table.same(result.value, wanted, tolerance=tolerance), (
            f"{case.lhs}({a}) {case.symbol} {case.rhs}({b}) gives {result.value}, not {wanted}"
        )


@pytest.mark.parametrize("symbol", table.UNARY)
@pytest.mark.parametrize("dtype", table.TYPES, ids=str)
def test_unary(symbol: str, dtype: object) -> None:
    function = table.UNARY[symbol]
    is_boolean = dtype is table.n.Boolean
    if (is_boolean and symbol in ("-", "abs")) or (dtype in table.FLOATS and symbol == "~"):
        with pytest.raises(TypeError):
            function(dtype(1))  # type: ignore[operator]
        return
    for value in table.samples_of(dtype):
        result = function(dtype(value))  # type: ignore[operator]
        exact = function(value)
        wanted = table.in_float(dtype, exact) if dtype in table.FLOATS else table.in_integer(dtype, exact)
        assert type(result) is dtype
        assert table.same(result.value, wanted), f"{symbol}{dtype}({value})"


def test_the_table_has_every_cell() -> None:
    assert sum(1 for _ in table.cases()) == len(table.OPERATORS) * len(table.TYPES) ** 2
    assert {cls.__name__ for cls in table.TYPES} == {fmt.name for fmt in table.n.nt.FORMATS}
