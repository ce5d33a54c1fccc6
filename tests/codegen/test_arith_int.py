"""Integer arith ops on every width, scalar and vector, against exact Python integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.codegen.mlir_run import DTYPES, X86, Elementwise, Suite, all_predicates, llvm_text

COUNT = 512
TYPES = ("i8", "i16", "i32", "i64", "index")
SHAPES = (0, 4)


def wrap(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def unsigned(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


def truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def ceil_unsigned(a: int, b: int, n: int) -> int:
    return -(-unsigned(a, n) // unsigned(b, n))


# Each takes (a, b, width) as signed integers and returns any integer equal to the result modulo 2^width.
BINARY: dict[str, Callable[[int, int, int], int]] = {
    "addi": lambda a, b, n: a + b,
    "subi": lambda a, b, n: a - b,
    "muli": lambda a, b, n: a * b,
    "andi": lambda a, b, n: a & b,
    "ori": lambda a, b, n: a | b,
    "xori": lambda a, b, n: a ^ b,
    "minsi": lambda a, b, n: min(a, b),
    "maxsi": lambda a, b, n: max(a, b),
    "minui": lambda a, b, n: min(unsigned(a, n), unsigned(b, n)),
    "maxui": lambda a, b, n: max(unsigned(a, n), unsigned(b, n)),
}
DIVISIONS: dict[str, Callable[[int, int, int], int]] = {
    "divsi": lambda a, b, n: truncated(a, b),
    "divui": lambda a, b, n: unsigned(a, n) // unsigned(b, n),
    "remsi": lambda a, b, n: a - b * truncated(a, b),
    "remui": lambda a, b, n: unsigned(a, n) % unsigned(b, n),
    "floordivsi": lambda a, b, n: a // b,
    "ceildivsi": lambda a, b, n: -((-a) // b),
    "ceildivui": ceil_unsigned,
}
SHIFTS: dict[str, Callable[[int, int, int], int]] = {
    "shli": lambda a, b, n: a << b,
    "shrsi": lambda a, b, n: a >> b,
    "shrui": lambda a, b, n: unsigned(a, n) >> b,
}
PREDICATES: dict[str, Callable[[int, int, int], int]] = {
    "eq": lambda a, b, n: a == b,
    "ne": lambda a, b, n: a != b,
    "slt": lambda a, b, n: a < b,
    "sle": lambda a, b, n: a <= b,
    "sgt": lambda a, b, n: a > b,
    "sge": lambda a, b, n: a >= b,
    "ult": lambda a, b, n: unsigned(a, n) < unsigned(b, n),
    "ule": lambda a, b, n: unsigned(a, n) <= unsigned(b, n),
    "ugt": lambda a, b, n: unsigned(a, n) > unsigned(b, n),
    "uge": lambda a, b, n: unsigned(a, n) >= unsigned(b, n),
}
EXTENDED = {
    "addui_extended": ("i1", lambda a, b, n: (a + b, unsigned(a, n) + unsigned(b, n) >> n)),
    "mului_extended": ("", lambda a, b, n: (a * b, unsigned(a, n) * unsigned(b, n) >> n)),
    "mulsi_extended": ("", lambda a, b, n: (a * b, a * b >> n)),
}


def samples(element: str, seed: int) -> np.ndarray:
    """Random values with the corner cases of the width among them."""
    dtype = DTYPES[element]
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    values = np.random.default_rng(seed).integers(low, high, COUNT, dtype=dtype, endpoint=True)
    corners = np.array([0, 1, -1, low, high, low + 1, high - 1, 2, -2, 7, -7], dtype)
    for shift in range(corners.size):
        at = shift * corners.size
        values[at : at + corners.size] = corners if seed % 2 else np.roll(corners, shift)
    return values


def divisors(element: str, numerators: np.ndarray) -> np.ndarray:
    """No zero, and no -1 under the lowest value: both are undefined."""
    values = samples(element, 2)
    values[values == 0] = 3
    values[(values == -1) & (numerators == np.iinfo(values.dtype).min)] = 5
    return values


@pytest.fixture(scope="module", params=SHAPES, ids=["scalar", "vector"])
def suite(request: pytest.FixtureRequest) -> Suite:
    lanes, functions = request.param, []
    for element in TYPES:
        for op in (*BINARY, *DIVISIONS, *SHIFTS):
            body = f"%r = arith.{op} %a, %b : {{T}}"
            functions.append(Elementwise(f"{op}_{element}", [element] * 2, [element], body, lanes))
        compare = all_predicates("cmpi", len(PREDICATES), lanes)
        functions.append(Elementwise(f"cmpi_{element}", [element] * 2, ["i16"], compare, lanes))
        for op, (second, _) in EXTENDED.items():
            flag = "vector<4xi1>" if lanes else "i1"
            results = f"({{T}}, {flag if second else '{T}'})"
            body = f'%r, %s = "arith.{op}"(%a, %b) : ({{T}}, {{T}}) -> {results}'
            functions.append(Elementwise(f"{op}_{element}", [element] * 2, [element, second or element], body, lanes))
    return Suite(functions)


def expected(reference: Callable[[int, int, int], int], a: np.ndarray, b: np.ndarray) -> np.ndarray:
    bits = a.dtype.itemsize * 8
    return np.array([wrap(int(reference(int(x), int(y), bits)), bits) for x, y in zip(a, b)], a.dtype)


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("op", BINARY)
def test_binary_ops_wrap_around(suite: Suite, op: str, element: str) -> None:
    a, b = samples(element, 1), samples(element, 2)
    np.testing.assert_array_equal(suite.run(f"{op}_{element}", a, b), expected(BINARY[op], a, b))


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("op", DIVISIONS)
def test_divisions_round_as_named(suite: Suite, op: str, element: str) -> None:
    a = samples(element, 1)
    b = divisors(element, a)
    np.testing.assert_array_equal(suite.run(f"{op}_{element}", a, b), expected(DIVISIONS[op], a, b))


@pytest.mark.parametrize("lanes", SHAPES)
def test_divisions_never_stop_an_x86_program(lanes: int) -> None:
    """Written as x86 needs it, -1 divides the lowest value too; what zero gives is not looked at."""
    functions = [
        Elementwise(f"{op}_{element}", [element] * 2, [element], f"%r = arith.{op} %a, %b : {{T}}", lanes)
        for op in DIVISIONS
        for element in TYPES
    ]
    suite = Suite(functions, triple=X86)
    for op, reference in DIVISIONS.items():
        for element in TYPES:
            a, b = samples(element, 1), samples(element, 2)
            defined = b != 0
            got = suite.run(f"{op}_{element}", a, b)
            want = expected(reference, a[defined], b[defined])
            np.testing.assert_array_equal(got[defined], want, err_msg=f"{op} {element}")
            text = llvm_text(suite.functions[f"{op}_{element}"].text(), X86)
            assert ("umax" if op.endswith("ui") else "icmp ult") in text


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("op", SHIFTS)
def test_shifts(suite: Suite, op: str, element: str) -> None:
    a = samples(element, 1)
    b = np.random.default_rng(3).integers(0, a.dtype.itemsize * 8, a.size).astype(a.dtype)
    np.testing.assert_array_equal(suite.run(f"{op}_{element}", a, b), expected(SHIFTS[op], a, b))


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("predicate", PREDICATES)
def test_comparisons(suite: Suite, predicate: str, element: str) -> None:
    a, b = samples(element, 1), samples(element, 2)
    got = suite.run(f"cmpi_{element}", a, b) >> list(PREDICATES).index(predicate) & 1
    np.testing.assert_array_equal(got.astype(bool), expected(PREDICATES[predicate], a, b).astype(bool))


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("op", EXTENDED)
def test_extended_results(suite: Suite, op: str, element: str) -> None:
    a, b = samples(element, 1), samples(element, 2)
    reference = EXTENDED[op][1]
    got = suite.run_all(f"{op}_{element}", a, b)
    for position, array in enumerate(got):
        want = expected(lambda x, y, n, at=position: reference(x, y, n)[at], a, b)
        np.testing.assert_array_equal(array, want.astype(array.dtype))


def test_floor_division_by_a_power_of_two_is_a_shift() -> None:
    body = "%k = arith.constant 16 : {T}\n%r = arith.floordivsi %a, %k : {T}"
    function = Elementwise("f", ["i32"], ["i32"], body)
    assert "ashr i32" in llvm_text(function.text())
    values = samples("i32", 1)
    np.testing.assert_array_equal(Suite([function]).run("f", values), values // 16)


def test_flags_reach_the_instruction() -> None:
    text = llvm_text(
        """
        func.func @f(%a: i32, %b: i32) -> i32 {
          %0 = arith.addi %a, %b overflow<nsw, nuw> : i32
          %1 = "arith.shrui"(%0, %b) {isExact} : (i32, i32) -> i32
          %2 = "llvm.or"(%1, %b) <{isDisjoint}> : (i32, i32) -> i32
          func.return %2 : i32
        }"""
    )
    assert "add nsw nuw i32" in text
    assert "lshr exact i32" in text
    assert "or disjoint i32" in text
