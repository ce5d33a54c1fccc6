"""The registers a matrix instruction reads, lane after lane in the arrays of a workgroup.

An operand is one SSA value, or several that the instruction takes in pieces (`mma.sync`). A value in an array of its
own is read there; one that is the same for all threads, and one in pieces, is first written side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from flydsl.backends.host.matrix_lanes import LoopText
from flydsl.backends.host.thread_loops import Workgroup
from flydsl.base.records import dataclass
from flydsl.codegen.llvm_types import type_text
from flydsl.target.mma_facts import Intrinsic

WHOLE = "fly.whole"
"""The attribute that names the operands which come as one vector though the instruction has them in pieces."""


@dataclass(frozen=True)
class LaneRegisters:
    """One operand of all threads: the array that holds it and the bytes of one lane."""

    key: Any
    type: str
    bytes: int
    shared: SSAValue | None = None
    """What all threads have, where it is written for the thread alone that is looked at."""

    def address(self, wg: Workgroup, thread: str) -> str:
        place = wg.slots.address(self.key, self.type, thread)
        if self.shared is not None:
            wg.body.line(f"store {type_text(self.shared.type)} {wg.value(self.shared)}, ptr {place}, align 1")
        return place


def lane_registers(
    wg: Workgroup, op: Operation, call: Intrinsic, once: tuple[str, ...] = ()
) -> dict[str, LaneRegisters]:
    """Return the registers of every operand and state field of a matrix operation, by role; of ``once`` one lane's."""
    given: dict[str, list[SSAValue]] = {}
    values = iter(op.operands)
    marked = op.attributes.get(WHOLE)
    whole = marked.data.split() if isinstance(marked, StringAttr) else ()
    for slot in call.slots:
        if slot.attr or (slot.role in whole and slot.role in given):
            continue
        value = next(values, None)
        if value is None:  # the rest of an operand that came whole
            break
        if slot.value is None:
            given.setdefault(slot.role, []).append(value)
    return {role: _array(wg, op, role, parts, role in once) for role, parts in given.items()}


def result_registers(wg: Workgroup, result: SSAValue) -> LaneRegisters:
    """Return where the instruction puts what it computes."""
    type_ = type_text(result.type)
    return LaneRegisters(result, type_, wg.slots.reserve(result, type_).bytes)


def _array(wg: Workgroup, op: Operation, role: str, parts: Sequence[SSAValue], once: bool) -> LaneRegisters:
    if len(parts) == 1 and not wg.plan.is_uniform(parts[0]):
        return result_registers(wg, parts[0])
    sizes = [wg.slots.reserve(part, type_text(part.type)).bytes for part in parts]
    type_ = f"[{sum(sizes)} x i8]"
    key = ("matrix operand", op, role)
    wg.slots.reserve(key, type_)
    if once and len(parts) == 1:
        return LaneRegisters(key, type_, sum(sizes), parts[0])

    def copy() -> None:
        place, at = wg.slots.address(key, type_, wg.thread_number), 0
        for part, size in zip(parts, sizes, strict=True):
            target = wg.body.assign(f"getelementptr i8, ptr {place}, i64 {at}")
            wg.body.line(f"store {type_text(part.type)} {wg.value(part)}, ptr {target}, align 1")
            at += size

    wg.over_threads(copy)
    return LaneRegisters(key, type_, sum(sizes))


# The product of dense matrices, as text of a function: the one loop nest of every matrix instruction on the host


Combine = Callable[[str, str, str], str]
"""From vectors of a[m, k], b[k, n] and d[m, n], `columns_type` each, to that of the new d[m, n]."""


def columns_type(n: int, kind: str) -> str:
    """Return the vector of as many of ``n`` columns as are computed at once."""
    return f"<{gcd(n, 16)} x {kind}>"


def dense_product(
    text: LoopText, shape: tuple[int, int, int], bases: tuple[str, str, str], kinds: tuple[str, str], combine: Combine
) -> None:
    """D[m, n] = combine(A[m, k], B[k, n], D[m, n]), columns in vectors, which LLVM makes at its level 0 too, k by k.

    ``bases`` are where A, B and D start; ``kinds`` the types of what is multiplied and of the sums.
    """
    (m, n, k), (factor, total) = shape, kinds
    a, b, d = bases
    factors, totals, zeros = (columns_type(n, kind) for kind in (factor, total, "i32"))

    def row(im: str) -> None:
        a_row = text.assign(f"getelementptr {factor}, ptr {a}, i64 {text.assign(f'mul i64 {im}, {k}')}")
        d_row = text.assign(f"getelementptr {total}, ptr {d}, i64 {text.assign(f'mul i64 {im}, {n}')}")

        def step(ik: str) -> None:
            one = text.assign(f"load {factor}, ptr {text.assign(f'getelementptr {factor}, ptr {a_row}, i64 {ik}')}")
            first = text.assign(f"insertelement {factors} poison, {factor} {one}, i64 0")
            left = text.assign(f"shufflevector {factors} {first}, {factors} poison, {zeros} zeroinitializer")
            b_row = text.assign(f"getelementptr {factor}, ptr {b}, i64 {text.assign(f'mul i64 {ik}, {n}')}")

            def columns(at: str) -> None:
                source = text.assign(f"getelementptr {factors}, ptr {b_row}, i64 {at}")
                place = text.assign(f"getelementptr {totals}, ptr {d_row}, i64 {at}")
                right = text.assign(f"load {factors}, ptr {source}, align 4")
                before = text.assign(f"load {totals}, ptr {place}, align 4")
                text.line(f"store {totals} {combine(left, right, before)}, ptr {place}, align 4")

            text.loop(n // gcd(n, 16), columns)

        text.loop(k, step)

    text.loop(m, row)


def block_product(text: LoopText, acc: str, shape: tuple[int, int, int], block: str) -> None:
    """The product of one of several blocks of the matrices %A, %B and %D, in the accumulator's own precision."""
    m, n, k = shape
    a, b, d = (
        text.assign(f"getelementptr {acc}, ptr {name}, i64 {text.assign(f'mul i64 {block}, {size}')}")
        for name, size in (("%A", m * k), ("%B", k * n), ("%D", m * n))
    )

    def fused(left: str, right: str, before: str) -> str:
        type_ = columns_type(n, acc)
        if acc == "i32":
            return text.assign(f"add {type_} {before}, {text.assign(f'mul {type_} {left}, {right}')}")
        return text.assign(f"call {type_} @llvm.fma({type_} {left}, {type_} {right}, {type_} {before})")

    dense_product(text, shape, (a, b, d), (acc, acc), fused)
