"""Matrix instructions whose products need more room than the accumulator: block-scaled ones, and saturating integers.

A scaled operand is a value of at most five significant bits times 2**(e - 127), e one E8M0 byte for a block of K; the
byte 0xFF is NaN. Two such factors multiply exactly in double precision, whatever their scales, so A and B are scaled
in double, and each step rounds the sum to f32 once, as the accumulator is. Saturating integers sum in i64 and are
clamped to the range of i32 at the end.
"""

from __future__ import annotations

from typing import Any

from flydsl.backends.host.matrix_lanes import LoopText, describe, gather, place_table, scatter
from flydsl.backends.host.matrix_registers import Combine, columns_type, dense_product
from flydsl.codegen.module_scope import ModuleScope

_NEGATE, _MAGNITUDE = 1, 2
"""Bits of ``mod_c``: the accumulator is read negated, or as its magnitude (negated afterwards if both)."""

_NAN_BYTE = 255
_QUIET_NAN = "0x7FF8000000000000"


def has_wide_sums(facts: Any) -> bool:
    """Return whether an instruction is of this kind."""
    return bool(facts.state) or getattr(facts, "clamp", False)


def wide_text(scope: ModuleScope, facts: Any, lane_bytes: list[int], symbol: str) -> str:
    """Return a function of A, B, C, D and, for a scaled instruction, the scales of A and B."""
    m, n, k = facts.shape_mnk
    scaled = bool(facts.state)
    wide, acc = ("double", "float") if scaled else ("i64", "i64")
    operands = describe(facts, lane_bytes)
    text = LoopText()
    for name, size, type_ in (("%A", m * k, wide), ("%B", k * n, wide), ("%D", m * n, acc)):
        text.line(f"{name} = alloca [{size} x {type_}], align 64")
    for operand, place, name, type_ in zip(
        operands[:3], ("%a", "%b", "%c"), ("%A", "%B", "%D"), (wide, wide, acc), strict=True
    ):
        gather(scope, text, operand, place, name, type_)
    if scaled:
        for role, dense, size in (("a", "%A", lane_bytes[4]), ("b", "%B", lane_bytes[5])):
            _apply_scales(scope, text, facts, role, dense, size)
        if modifier := getattr(facts, "mod_c", 0):
            text.change("float", "%D", m * n, lambda number: _modified(text, modifier, number))
    dense_product(text, (m, n, k), ("%A", "%B", "%D"), (wide, acc), _wide_sum(text, n, wide))
    if not scaled:
        text.change("i64", "%D", m * n, lambda number: _clamped(text, number))
    scatter(scope, text, operands[3], "%d", "%D", acc)
    text.line("ret void")
    parameters = "ptr %a, ptr %b, ptr %c, ptr %d" + (", ptr %sa, ptr %sb" if scaled else "")
    return text.function(f"void {symbol}({parameters}) noinline")


# Scales ----------------------------------------------------------------------------------------


def scale_sources(facts: Any, role: str, lane_bytes: int) -> tuple[int, ...]:
    """For each (row, block of K), blocks innermost, the byte of the lanes' scale registers that holds its exponent."""
    rows = facts.m if role == "a" else facts.n
    blocks = facts.k // facts.block_size
    found = [0] * (rows * blocks)
    layout = facts.scale_tv(role)
    for lane in facts.scale_lanes(role):
        for index, byte in enumerate(facts.scale_bytes(role)):
            row, block = layout(lane, index) % rows, layout(lane, index) // rows
            found[row * blocks + block] = lane * lane_bytes + byte
    return tuple(found)


def _apply_scales(scope: ModuleScope, text: LoopText, facts: Any, role: str, dense: str, lane_bytes: int) -> None:
    """Multiply A (row-major) or B (K by N) by the factors of its blocks."""
    rows, k, block_size = (facts.m if role == "a" else facts.n), facts.k, facts.block_size
    blocks = k // block_size
    table = place_table(scope, scale_sources(facts, role, lane_bytes))

    def one(index: str) -> None:
        row, block = text.assign(f"udiv i64 {index}, {blocks}"), text.assign(f"urem i64 {index}, {blocks}")
        factor = _factor(text, table, f"%s{role}", index)
        first = text.assign(f"mul i64 {block}, {block_size}")

        def element(at: str) -> None:
            column = text.assign(f"add i64 {first}, {at}")
            major, minor, extent = (row, column, k) if role == "a" else (column, row, rows)
            position = text.assign(f"add i64 {text.assign(f'mul i64 {major}, {extent}')}, {minor}")
            place = text.assign(f"getelementptr double, ptr {dense}, i64 {position}")
            product = text.assign(f"fmul double {text.assign(f'load double, ptr {place}')}, {factor}")
            text.line(f"store double {product}, ptr {place}")

        text.loop(block_size, element)

    text.loop(rows * blocks, one)


def _factor(text: LoopText, table: str, scales: str, index: str) -> str:
    """2**(e - 127) of the byte that the table names, NaN for 0xFF."""
    source = text.assign(f"load i32, ptr {text.assign(f'getelementptr i32, ptr @{table}, i64 {index}')}")
    offset = text.assign(f"zext i32 {source} to i64")
    byte = text.assign(f"load i8, ptr {text.assign(f'getelementptr i8, ptr {scales}, i64 {offset}')}, align 1")
    exponent = text.assign(f"add i64 {text.assign(f'zext i8 {byte} to i64')}, {1023 - 127}")
    number = text.assign(f"bitcast i64 {text.assign(f'shl i64 {exponent}, 52')} to double")
    nan = text.assign(f"icmp eq i8 {byte}, {_NAN_BYTE - 256}")
    return text.assign(f"select i1 {nan}, double {_QUIET_NAN}, double {number}")


def _modified(text: LoopText, modifier: int, number: str) -> str:
    if modifier & _MAGNITUDE:
        number = text.assign(f"call float @llvm.fabs.f32(float {number})")
    return text.assign(f"fneg float {number}") if modifier & _NEGATE else number


# The product -----------------------------------------------------------------------------------


def _wide_sum(text: LoopText, n: int, wide: str) -> Combine:
    """Products are exact in the wide type; a float's sum is rounded to f32 after each."""
    type_, floats = columns_type(n, wide), columns_type(n, "float")

    def combine(left: str, right: str, before: str) -> str:
        if wide == "i64":
            return text.assign(f"add {type_} {before}, {text.assign(f'mul {type_} {left}, {right}')}")
        product = text.assign(f"fmul {type_} {left}, {right}")
        total = text.assign(f"fadd {type_} {text.assign(f'fpext {floats} {before} to {type_}')}, {product}")
        return text.assign(f"fptrunc {type_} {total} to {floats}")

    return combine


def _clamped(text: LoopText, number: str) -> str:
    low = text.assign(f"call i64 @llvm.smax.i64(i64 {number}, i64 {-(2**31)})")
    return text.assign(f"call i64 @llvm.smin.i64(i64 {low}, i64 {2**31 - 1})")
