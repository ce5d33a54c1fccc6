"""Between the registers of lanes and dense matrices: loops that gather elements and scatter results.

Where each (lane, value) belongs comes from the instruction's thread/value layouts, as a constant table.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import gcd
from typing import Any

from flydsl.backends.host.matrix_elements import cut_element, narrowed, read_elements, stored_kind, widened
from flydsl.base.records import dataclass
from flydsl.codegen.module_scope import ModuleScope
from flydsl.layout.layout import Layout
from flydsl.target.mma_facts import elem_bits


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

    def change(self, kind: str, base: str, count: int, changed: Callable[[str], str]) -> None:
        """Put what is made of each number of a matrix in its place."""

        def one(index: str) -> None:
            place = self.assign(f"getelementptr {kind}, ptr {base}, i64 {index}")
            self.line(f"store {kind} {changed(self.assign(f'load {kind}, ptr {place}'))}, ptr {place}")

        self.loop(count, one)


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


def _place(text: LoopText, table: str, index: str) -> str:
    found = text.assign(f"load i32, ptr {text.assign(f'getelementptr i32, ptr @{table}, i64 {index}')}")
    return text.assign(f"zext i32 {found} to i64")


@lru_cache(maxsize=64)
def _groups(offsets: tuple[int, ...], most: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return where groups of neighbours begin, and how far from there each of a group lies: the largest groups, up to
    ``most``, that are all alike. Four and more without gaps, which one access takes, come first."""
    sizes = [size for size in (16, 8, 4, 2, 1) if size <= most and len(offsets) % size == 0]
    ways = [tuple(range(size)) for size in sizes if size >= 4]
    for steps in (*ways, *(tuple(offset - offsets[0] for offset in offsets[:size]) for size in sizes)):
        starts = offsets[:: len(steps)]
        if all(offset == starts[i // len(steps)] + steps[i % len(steps)] for i, offset in enumerate(offsets)):
            return starts, steps
    raise AssertionError("a group of one is always like the others")


def gather(scope: ModuleScope, text: LoopText, operand: Operand, base: str, dense: str, acc: str) -> None:
    """All lanes' elements of an operand at ``base``, widened to ``acc``, into the matrix ``dense``."""
    bits, kind = elem_bits(operand.elem), stored_kind(operand.elem)
    unit = bits if bits >= 8 else 1
    sources: dict[int, int] = {}
    for number, place in enumerate(operand.places):
        lane, value = divmod(number, operand.values)
        sources[place] = (lane * operand.lane_bytes * 8 + value * bits) // unit
    starts, steps = _groups(tuple(sources[place] for place in range(len(sources))), 16 if bits >= 8 else 1)
    table, lanes = place_table(scope, starts), len(steps)

    def one(index: str) -> None:
        at = _place(text, table, index)
        if bits < 8:
            raw = cut_element(text, bits, base, at)
        else:
            raw = read_elements(text, kind, text.assign(f"getelementptr {kind}, ptr {base}, i64 {at}"), steps)
        numbers = widened(scope, text, operand.elem, raw, lanes, acc, operand.signed)
        place = text.assign(f"getelementptr <{lanes} x {acc}>, ptr {dense}, i64 {index}")
        text.line(f"store <{lanes} x {acc}> {numbers}, ptr {place}, align 4")

    text.loop(len(starts), one)


def scatter(scope: ModuleScope, text: LoopText, operand: Operand, base: str, dense: str, acc: str) -> None:
    """The matrix ``dense`` of ``acc`` back to the lanes, rounded to the operand's type."""
    starts, steps = _groups(operand.places, gcd(operand.values, 16))
    table, lanes = place_table(scope, starts), len(steps)

    def one(index: str) -> None:
        at = text.assign(f"getelementptr {acc}, ptr {dense}, i64 {_place(text, table, index)}")
        numbers = narrowed(scope, text, operand.elem, read_elements(text, acc, at, steps), lanes, acc)
        lane, part = (text.assign(f"{op} i64 {index}, {operand.values // lanes}") for op in ("udiv", "urem"))
        first = text.assign(f"mul i64 {lane}, {operand.lane_bytes}")
        offset = text.assign(
            f"add i64 {first}, {text.assign(f'mul i64 {part}, {lanes * elem_bits(operand.elem) // 8}')}"
        )
        text.line(f"store {numbers}, ptr {text.assign(f'getelementptr i8, ptr {base}, i64 {offset}')}, align 1")

    text.loop(len(starts), one)
