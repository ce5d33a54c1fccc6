"""Every operator on every pair of types, executed in kernels on the host device, against NumPy and ml_dtypes.

One kernel per pair of types applies all operators to all samples: both operands at run time, then either of them
known while tracing. A thread holds one pair of samples, and packs the bits of all its results into vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from tests.unit.expr import on_host
from tests.unit.expr import operator_table as table
from tests.unit.expr.operator_table import Case

MODES = ("run-time, run-time", "static, run-time", "run-time, static")
LANES = 16
"""Words a thread stores at once."""
CHUNKS = 14
"""Tests per left type, so that workers share the load."""

Cell = tuple[str, Any, Any, str]
Samples = tuple[tuple[Any, Any], ...]


@dataclass(frozen=True)
class Column:
    """One operator in one mode; ``static`` is the number known while tracing."""

    case: Case
    mode: str
    static: Any = None

    @property
    def cell(self) -> Cell:
        return self.case.symbol, self.case.lhs, self.case.rhs, self.mode

    @property
    def static_side(self) -> int | None:
        return {"static, run-time": 0, "run-time, static": 1}.get(self.mode)

    def apply(self, x: Any, y: Any) -> Any:
        """In a kernel: the operator on two run-time values, one of them replaced in a static mode."""
        if self.static_side == 0:
            x = self.case.lhs(self.static)
        elif self.static_side == 1:
            y = self.case.rhs(self.static)
        return self.case.function(x, y)

    def applies_to(self) -> list[int]:
        """The threads whose samples are the operands: all, or those that hold the static number."""
        side = self.static_side
        if side is None:
            return list(range(len(self.case.samples)))
        return [t for t, pair in enumerate(self.case.samples) if repr(pair[side]) == repr(self.static)]


def columns_of(case: Case) -> Iterator[Column]:
    """The modes of a case. A static divisor picks the instructions, so each is tried; else one number in turn."""
    yield Column(case, MODES[0])
    for side, mode in enumerate(MODES[1:]):
        values = list(dict.fromkeys(pair[side] for pair in case.samples))
        if not (side == 1 and case.symbol in ("//", "%")):
            turn = [*table.OPERATORS].index(case.symbol) + table.TYPES.index(case.lhs) + table.TYPES.index(case.rhs)
            values = [values[turn % len(values)]]
        for value in values:
            yield Column(case, mode, value)


class PairKernel:
    """All operators on one pair of types."""

    def __init__(self, lhs: Any, rhs: Any) -> None:
        cases = [table.case(symbol, lhs, rhs, at_run_time=True) for symbol in table.OPERATORS]
        self.refused = [case for case in cases if case.error is not None]
        self.columns = [column for case in cases if case.error is None for column in columns_of(case)]
        # Operators that are defined for the same samples share their operands.
        whole = tuple(product(table.samples_of(lhs), table.samples_of(rhs)))
        self.sets: dict[Samples, int] = {whole: 0}
        for column in self.columns:
            self.sets.setdefault(column.case.samples, len(self.sets))
        self.threads = len(whole)
        self.lhs, self.rhs = lhs, rhs
        self.executed: set[Cell] = set()

    def inputs(self) -> np.ndarray:
        """Words of (set, thread, operand); threads past the end of a set repeat its first pair."""
        array = np.zeros((len(self.sets), self.threads, 2 * on_host.WORDS), np.uint64)
        for samples, place in self.sets.items():
            padded = [samples[t] if t < len(samples) else samples[0] for t in range(self.threads)]
            array[place, :, : on_host.WORDS] = on_host.words(self.lhs, [a for a, _ in padded])
            array[place, :, on_host.WORDS :] = on_host.words(self.rhs, [b for _, b in padded])
        return array

    def trace(self, operands: list[tuple[Any, Any]]) -> list[Any]:
        """In the kernel: every refused case must raise, the others give words."""
        for case in self.refused:
            self._refuse(case, *operands[0])
        found: list[Any] = []
        for column in self.columns:
            result = column.apply(*operands[self.sets[column.case.samples]])
            assert type(result) is column.case.result, f"{column.case.name} gives {type(result)}"
            assert not result.is_static()
            found += on_host.to_words(result)
        return found + [fx.Uint64(0)] * (-len(found) % LANES or (0 if found else LANES))

    def _refuse(self, case: Case, x: Any, y: Any) -> None:
        assert case.error is not None
        static = case.lhs(case_sample(case.lhs)), case.rhs(case_sample(case.rhs))
        for mode, left, right in zip(MODES, (x, static[0], x), (y, y, static[1])):
            with pytest.raises(case.error):
                case.function(left, right)
            self.executed.add((case.symbol, case.lhs, case.rhs, mode))

    def run(self) -> np.ndarray:
        """Words of (word, thread)."""
        count = sum(on_host.word_count(column.case.result) for column in self.columns)
        rows = max(1, -(-count // LANES))
        out = np.zeros((rows, self.threads, LANES), np.uint64)
        launcher(self, rows)(flyc.from_dlpack(self.inputs()), flyc.from_dlpack(out))
        return out.transpose(0, 2, 1).reshape(rows * LANES, self.threads)

    def check(self) -> None:
        out, place, memory = self.run(), 0, Wanted()
        for column in self.columns:
            count = on_host.word_count(column.case.result)
            check_column(column, out[place : place + count], memory)
            self.executed.add(column.cell)
            place += count


def case_sample(dtype: Any) -> Any:
    return table.samples_of(dtype)[1]


def launcher(pair: PairKernel, rows: int) -> Any:
    count, threads = len(pair.sets), pair.threads

    @flyc.kernel
    def apply_operators(inputs: fx.Tensor, out: fx.Tensor):
        t = fx.thread_idx.x
        operands = []
        for s in fx.range_constexpr(count):
            bits = inputs[s, t, None].load()
            x = on_host.from_words(pair.lhs, bits[0], bits[1])
            y = on_host.from_words(pair.rhs, bits[2], bits[3])
            operands.append((x, y))
        found = pair.trace(operands)
        for row in fx.range_constexpr(rows):
            out[row, t, None].store(fx.Vector.from_elements(found[row * LANES : (row + 1) * LANES]))

    @flyc.jit
    def launch(inputs: fx.Tensor, out: fx.Tensor):
        apply_operators(inputs, out).launch(grid=(1, 1, 1), block=(threads, 1, 1))

    return launch


# Comparison with the table


class Wanted:
    """Expected results as arrays, made once per case."""

    def __init__(self) -> None:
        self._known: dict[int, np.ndarray] = {}

    def floats(self, case: Case) -> np.ndarray:
        return self._of(case, lambda: on_host.float_array(case.result, case.expected))

    def words(self, case: Case) -> np.ndarray:
        return self._of(case, lambda: on_host.words(case.result, case.expected))

    def _of(self, case: Case, make: Any) -> np.ndarray:
        if id(case) not in self._known:
            self._known[id(case)] = make()
        return self._known[id(case)]


def check_column(column: Column, out: np.ndarray, memory: Wanted) -> None:
    case, threads = column.case, column.applies_to()
    assert threads, f"{case.name}: no sample for {column}"
    if case.result in table.FLOATS:
        got, want = on_host.floats_of(case.result, out[0, threads]), memory.floats(case)[threads]
        good = same_floats(case, threads, got, want)
    else:
        want = memory.words(case)[threads]
        mask = np.uint64((1 << min(case.result.width, on_host.WORD_BITS)) - 1)
        got = out[:, threads].T & mask
        good = (got == want[:, : got.shape[1]]).all(axis=1)
    if not good.all():
        bad = int(np.flatnonzero(~good)[0])
        a, b = case.samples[threads[bad]]
        raise AssertionError(
            f"{case.lhs}({a}) {case.symbol} {case.rhs}({b}) [{column.mode}] gives {got[bad]}, not {want[bad]}"
        )


def same_floats(case: Case, threads: list[int], got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Bit for bit but for the payload of NaN, the sign of a zero from `//` or `%`, and the last places of `**`."""
    bits = f"u{got.itemsize}"
    wide_got, wide_want = got.astype(np.float64), want.astype(np.float64)
    good = (got.view(bits) == want.view(bits)) | (np.isnan(wide_got) & np.isnan(wide_want))
    if case.symbol in ("//", "%"):
        good |= (wide_got == 0) & (wide_want == 0)
    if case.symbol == "**":
        with np.errstate(all="ignore"):
            good |= np.abs(wide_got - wide_want) <= np.abs(wide_want) * power_tolerance(case, threads)
    return good


def power_tolerance(case: Case, threads: list[int]) -> np.ndarray:
    """Two units in the last place; an integer power multiplies, and each step may add half of one."""
    unit = 2.0**-52 if case.result is fx.Float64 else 2.0**-23
    exponents = [abs(case.samples[t][1]) if case.rhs in table.INTEGERS else 0 for t in threads]
    return unit * np.array([2 + min(int(e), 1 << 10) / 2 for e in exponents])


# The tests


def chunk(index: int) -> tuple[Any, ...]:
    return table.TYPES[index::CHUNKS]


PARAMETERS = [(lhs, index) for lhs in table.TYPES for index in range(CHUNKS)]


@pytest.mark.parametrize(("lhs", "index"), PARAMETERS, ids=[f"{lhs}-{index}" for lhs, index in PARAMETERS])
def test_operators(lhs: Any, index: int, monkeypatch: pytest.MonkeyPatch) -> None:
    executed: set[Cell] = set()
    for rhs in chunk(index):
        # The verifier between passes takes most of the time; like operations meet it in the kernels of equal types.
        monkeypatch.setenv(knobs.DEBUG_ENABLE_VERIFIER.name, str(int(lhs is rhs)))
        pair = PairKernel(lhs, rhs)
        pair.check()
        executed |= pair.executed
    assert executed == set(product(table.OPERATORS, [lhs], chunk(index), MODES)), "a cell was not executed"


def test_no_cell_is_missing() -> None:
    """The tests above assert what they execute; together that is the whole product."""
    covered = [(lhs, rhs) for lhs, index in PARAMETERS for rhs in chunk(index)]
    assert sorted(map(str, covered)) == sorted(map(str, product(table.TYPES, table.TYPES)))


# Operators of one operand


def unary_cases() -> list[tuple[str, Any]]:
    return [(symbol, dtype) for symbol in table.UNARY for dtype in table.TYPES]


def refuses(symbol: str, dtype: Any) -> bool:
    is_sign = symbol in ("-", "abs")
    return (dtype is fx.Boolean and is_sign) or (dtype in table.FLOATS and symbol == "~")


def test_unary_operators() -> None:
    """All in one kernel: a row of words per operator and type, a thread per sample."""
    given = [case for case in unary_cases() if not refuses(*case)]
    threads = max(len(table.samples_of(dtype)) for dtype in table.TYPES)
    inputs = np.zeros((len(given), threads, on_host.WORDS), np.uint64)
    for row, (_, dtype) in enumerate(given):
        samples = table.samples_of(dtype)
        inputs[row, : len(samples)] = on_host.words(dtype, samples)
    out = np.zeros_like(inputs)

    @flyc.kernel
    def apply_unary(inputs: fx.Tensor, out: fx.Tensor):
        t = fx.thread_idx.x
        for row in fx.range_constexpr(len(given)):
            symbol, dtype = given[row]
            bits = inputs[row, t, None].load()
            found = table.UNARY[symbol](on_host.from_words(dtype, bits[0], bits[1]))
            assert type(found) is dtype
            for place, word in enumerate(on_host.to_words(found)):
                out[row, t, place] = word

    @flyc.jit
    def launch(inputs: fx.Tensor, out: fx.Tensor):
        apply_unary(inputs, out).launch(grid=(1, 1, 1), block=(threads, 1, 1))

    launch(flyc.from_dlpack(inputs), flyc.from_dlpack(out))
    for row, (symbol, dtype) in enumerate(given):
        check_unary(symbol, dtype, out[row])


def check_unary(symbol: str, dtype: Any, out: np.ndarray) -> None:
    samples = table.samples_of(dtype)
    exact = [table.UNARY[symbol](value) for value in samples]
    if dtype in table.FLOATS:
        got, want = on_host.floats_of(dtype, out[: len(samples), 0]), on_host.float_array(dtype, exact)
        np.testing.assert_array_equal(got.astype(np.float64), want.astype(np.float64), err_msg=f"{symbol}{dtype}")
        return
    count = on_host.word_count(dtype)
    mask = np.uint64((1 << min(dtype.width, on_host.WORD_BITS)) - 1)
    got, want = out[: len(samples), :count] & mask, on_host.words(dtype, exact)[:, :count]
    np.testing.assert_array_equal(got, want, err_msg=f"{symbol}{dtype}")


def test_refused_unary_operators() -> None:
    refused = [case for case in unary_cases() if refuses(*case)]

    @flyc.kernel
    def refuse(words: fx.Tensor):
        low = words[fx.thread_idx.x]
        for symbol, dtype in refused:
            with pytest.raises(TypeError):
                table.UNARY[symbol](on_host.from_words(dtype, low, low))

    @flyc.jit
    def launch(words: fx.Tensor):
        refuse(words).launch(grid=(1, 1, 1), block=(1, 1, 1))

    launch(np.ones(1, np.uint64))
