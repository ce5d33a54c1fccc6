"""The registers a matrix instruction reads, lane after lane in the arrays of a workgroup.

An operand is one SSA value, or several that the instruction takes in pieces (`mma.sync`). A value in an array of its
own is read there; one that is the same for all threads, and one in pieces, is first written side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from flydsl.base.records import dataclass
from flydsl.codegen.llvm_types import type_text
from flydsl.target.mma_facts import Intrinsic

if TYPE_CHECKING:
    from flydsl.backends.host.workgroup import WorkgroupEmitter

WHOLE = "fly.whole"
"""The attribute that names the operands which come as one vector though the instruction has them in pieces."""


@dataclass(frozen=True)
class LaneRegisters:
    """One operand of all threads: the array that holds it and the bytes of one lane."""

    key: Any
    type: str
    bytes: int

    def address(self, wg: WorkgroupEmitter, thread: str) -> str:
        return wg.slots.address(self.key, self.type, thread)


def lane_registers(wg: WorkgroupEmitter, op: Operation, call: Intrinsic) -> dict[str, LaneRegisters]:
    """The registers of every operand and state field of a matrix operation, by role."""
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
    return {role: _array(wg, op, role, parts) for role, parts in given.items()}


def result_registers(wg: WorkgroupEmitter, result: SSAValue) -> LaneRegisters:
    """Where the instruction puts what it computes."""
    type_ = type_text(result.type)
    return LaneRegisters(result, type_, wg.slots.reserve(result, type_).bytes)


def _array(wg: WorkgroupEmitter, op: Operation, role: str, parts: Sequence[SSAValue]) -> LaneRegisters:
    if len(parts) == 1 and not wg.plan.is_uniform(parts[0]):
        return result_registers(wg, parts[0])
    sizes = [wg.slots.reserve(part, type_text(part.type)).bytes for part in parts]
    type_ = f"[{sum(sizes)} x i8]"
    key = ("matrix operand", op, role)
    wg.slots.reserve(key, type_)

    def copy() -> None:
        place, at = wg.slots.address(key, type_, wg.thread_number), 0
        for part, size in zip(parts, sizes, strict=True):
            target = wg.body.assign(f"getelementptr i8, ptr {place}, i64 {at}")
            wg.body.line(f"store {type_text(part.type)} {wg.value(part)}, ptr {target}, align 1")
            at += size

    wg.over_threads(copy)
    return LaneRegisters(key, type_, sum(sizes))
