"""Between the registers of lanes and dense matrices: loops that gather elements and scatter results.

Where each (lane, value) belongs comes from the instruction's thread/value layouts, as a constant table.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from flydsl.backends.host.matrix_elements import LLVM_SCALARS, element_offset, read_element
from flydsl.base.records import dataclass
from flydsl.codegen.module_scope import ModuleScope
from flydsl.layout.layout import Layout
from flydsl.target.dtype import width_bits
from flydsl.target.mma_facts import fragment_elem


@dataclass(frozen=True)
class Operand:
    """Where one operand's elements are: bytes between lanes, and each (lane, value)'s place in a dense matrix."""

    elem: str
    lane_bytes: int
    values: int
    places: tuple[int, ...]
    signed: bool = True


class LoopText:
    """Lines of a function with counted loops."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0
        self.label = "entry"

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def assign(self, text: str) -> str:
        self.count += 1
        self.line(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def function(self, head: str) -> str:
        """Return the function of these lines, given what stands before its body."""
        body = "\n".join(self.lines)
        return f"define internal {head} nounwind {{\nentry:\n{body}\n}}"

    def loop(self, extent: int | str, inside: Callable[[str], None]) -> None:
        self.count += 1
        number, before = self.count, self.label
        self.line(f"br label %l{number}")
        self.lines.append(f"l{number}:")
        at = len(self.lines)
        self.lines.append("")
        self.label = f"l{number}"
        inside(f"%i{number}")
        following = self.assign(f"add nuw nsw i64 %i{number}, 1")
        again = self.assign(f"icmp ult i64 {following}, {extent}")
        self.lines[at] = f"  %i{number} = phi i64 [ 0, %{before} ], [ {following}, %{self.label} ]"
        self.line(f"br i1 {again}, label %l{number}, label %e{number}")
        self.lines.append(f"e{number}:")
        self.label = f"e{number}"


@lru_cache(maxsize=64)
def dense_places(layout: Layout, rows: int, columns: int, *, row_major: bool) -> tuple[int, ...]:
    """Return the dense position of each (lane, value), lanes outermost. Layouts count positions column-major."""
    # A layout is linear, so each position is the sum of what the lane and the value contribute.
    lanes, values = ([mode(index) for index in range(mode.size())] for mode in (layout[0], layout[1]))
    found = []
    for lane in lanes:
        for value in values:
            position = lane + value
            block, inside = divmod(position, rows * columns)
            row, column = inside % rows, inside // rows
            dense = row * columns + column if row_major else column * rows + row
            found.append(block * rows * columns + dense)
    return tuple(found)


def describe(facts: Any, lane_bytes: list[int]) -> list[Operand]:
    """Return A, B, C and the result of an instruction, from the bytes a lane has of each."""
    m, n, k = facts.shape_mnk
    layouts = facts.tv_layouts()
    places = (
        dense_places(layouts[0], m, k, row_major=True),
        dense_places(layouts[1], n, k, row_major=False),
        dense_places(layouts[2], m, n, row_major=True),
    )
    elems = (facts.elem_a, facts.elem_b, facts.elem_c)
    found = [
        Operand(elem, size, layout[1].size(), place, signed)
        for elem, size, layout, place, signed in zip(
            elems, lane_bytes[:3], layouts, places, (*signs(facts), True), strict=True
        )
    ]
    return [*found, Operand(elems[2], lane_bytes[3], layouts[2][1].size(), places[2])]


def signs(facts: Any) -> tuple[bool, bool]:
    """Return whether the integers of A and of B are signed: WMMA has flags, others say it in the type."""
    if hasattr(facts, "sign_a"):
        return facts.sign_a, facts.sign_b
    return not facts.elem_a.startswith("u"), not facts.elem_b.startswith("u")


def place_table(scope: ModuleScope, places: tuple[int, ...]) -> str:
    """Return a constant array of positions, shared by equal ones."""
    numbers = ", ".join(map("i32 %d".__mod__, places))
    name = f"fly.places.{scope.text_number(numbers.encode())}"
    scope.add_global(name, f"private unnamed_addr constant [{len(places)} x i32] [{numbers}]")
    return name


def _element_address(text: LoopText, operand: Operand, base: str, index: str, bits: int) -> tuple[str, str]:
    """Return (address, value number) of element ``index``, lanes outermost."""
    lane = text.assign(f"udiv i64 {index}, {operand.values}")
    value = text.assign(f"urem i64 {index}, {operand.values}")
    row = text.assign(f"mul i64 {lane}, {operand.lane_bytes}")
    offset = element_offset(text, value, bits)
    return text.assign(f"getelementptr i8, ptr {base}, i64 {text.assign(f'add i64 {row}, {offset}')}"), value


def _place(text: LoopText, table: str, index: str) -> str:
    found = text.assign(f"load i32, ptr {text.assign(f'getelementptr i32, ptr @{table}, i64 {index}')}")
    return text.assign(f"zext i32 {found} to i64")


def gather(scope: ModuleScope, text: LoopText, operand: Operand, base: str, dense: str, acc: str) -> None:
    """All lanes' elements of an operand at ``base``, widened to ``acc``, into the matrix ``dense``."""
    bits = width_bits(fragment_elem(operand.elem))
    table = place_table(scope, operand.places)

    def one(index: str) -> None:
        address, value = _element_address(text, operand, base, index, bits)
        number = read_element(scope, text, operand.elem, bits, address, value, acc, operand.signed)
        place = _place(text, table, index)
        text.line(f"store {acc} {number}, ptr {text.assign(f'getelementptr {acc}, ptr {dense}, i64 {place}')}")

    text.loop(len(operand.places), one)


def scatter(scope: ModuleScope, text: LoopText, operand: Operand, base: str, dense: str, acc: str) -> None:
    """The matrix ``dense`` of ``acc`` back to the lanes, rounded to the operand's type."""
    table = place_table(scope, operand.places)

    def one(index: str) -> None:
        place = _place(text, table, index)
        number = text.assign(f"load {acc}, ptr {text.assign(f'getelementptr {acc}, ptr {dense}, i64 {place}')}")
        address, _ = _element_address(text, operand, base, index, width_bits(operand.elem))
        _store(text, operand.elem, number, address, acc)

    text.loop(len(operand.places), one)


def _store(text: LoopText, elem: str, number: str, address: str, acc: str) -> None:
    if elem == "bf16":
        text.line(f"store i16 {_to_bf16(text, number)}, ptr {address}, align 1")
        return
    wanted = LLVM_SCALARS[elem]
    if wanted != acc:
        number = text.assign(f"{'trunc' if acc.startswith('i') else 'fptrunc'} {acc} {number} to {wanted}")
    text.line(f"store {wanted} {number}, ptr {address}, align 1")


def _to_bf16(text: LoopText, number: str) -> str:
    """Round to nearest even by hand: not every host has the conversion."""
    raw = text.assign(f"bitcast float {number} to i32")
    odd = text.assign(f"and i32 {text.assign(f'lshr i32 {raw}, 16')}, 1")
    bias = text.assign(f"add i32 {odd}, 32767")
    rounded = text.assign(f"lshr i32 {text.assign(f'add i32 {raw}, {bias}')}, 16")
    nan = text.assign(f"fcmp uno float {number}, {number}")
    quiet = text.assign(f"or i32 {text.assign(f'lshr i32 {raw}, 16')}, 64")
    return text.assign(f"trunc i32 {text.assign(f'select i1 {nan}, i32 {quiet}, i32 {rounded}')} to i16")
