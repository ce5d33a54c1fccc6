"""Compares the counts in scheduling hints with the instructions that are there.

`sched_mfma(4)` and its like ask LLVM for an order of instructions. Nothing says so when a tile has changed and the
hints have not: the scheduler then follows them as far as they go. So, after stage A, each stretch of straight code that
LLVM schedules by itself is counted: from the start of a block, a loop or a branch, or a `sched_barrier(0)`, to the next
such place. Where hints for a kind of instruction are given, their counts must add up to the instructions of that kind.

Accesses narrower than 16 bytes may be put together by LLVM, so for those any count is fine that this could lead to.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from flydsl.base.errors import ScheduleWarning, SourceLocation
from flydsl.base.records import dataclass, field
from flydsl.dialects.upstream import ops_of
from flydsl.passes.shared.known_bits import constant_of
from flydsl.passes.shared.walk import function_bodies, location_of
from flydsl.target.schedule_groups import LDS_READ, LDS_WRITE, LOAD, MATRIX, STORE, counted_kinds, kind_names

_GROUP, _FENCE = "llvm.amdgcn.sched.group.barrier", "llvm.amdgcn.sched.barrier"
_LDS_SPACE, _OWN_SPACE = 3, 5
_WHOLE = 128
"""Bits of the widest access of one instruction; LLVM puts narrower ones together up to there."""

_INTRINSICS: tuple[tuple[str, int], ...] = (
    ("llvm.amdgcn.mfma.", MATRIX),
    ("llvm.amdgcn.smfmac.", MATRIX),
    ("llvm.amdgcn.wmma.", MATRIX),
    ("llvm.amdgcn.swmmac.", MATRIX),
    ("rocdl.mfma.", MATRIX),
    ("rocdl.wmma.", MATRIX),
    ("llvm.amdgcn.raw.ptr.buffer.load", LOAD),
    ("llvm.amdgcn.raw.ptr.buffer.store", STORE),
    ("llvm.amdgcn.global.load", LOAD),
    ("llvm.amdgcn.ds.read.tr", LDS_READ),
    ("llvm.amdgcn.ds.load.tr", LDS_READ),
)
"""How the name of an operation or intrinsic begins -> its kind."""


@dataclass(frozen=True)
class ScheduleMismatch:
    """Hints of one stretch of code that ask for another number of instructions than it has."""

    kinds: int
    asked: int
    least: int
    most: int
    location: SourceLocation | None

    def __str__(self) -> str:
        there = str(self.most) if self.least == self.most else f"{self.least} to {self.most}"
        asked = f"{self.asked} {kind_names(self.kinds)}"
        return f"the scheduling hints here ask for {asked}, and this stretch of code has {there}"


@dataclass
class _Stretch:
    """What was counted between two boundaries: instructions and bits by kind, and the hints."""

    whole: dict[int, int] = field(default_factory=dict)
    narrow: dict[int, list[int]] = field(default_factory=dict)
    hints: list[tuple[int, int, Operation]] = field(default_factory=list)
    others: list[Operation] = field(default_factory=list)
    """What is counted if there are hints."""

    def add(self, kind: int, bits: int) -> None:
        if 0 < bits < _WHOLE:
            self.narrow.setdefault(kind, []).append(bits)
        else:
            self.whole[kind] = self.whole.get(kind, 0) + max(-(-bits // _WHOLE), 1)

    def counts(self, kinds: int) -> tuple[int, int]:
        """Return the fewest and the most instructions of these kinds that LLVM may make."""
        whole = sum(count for kind, count in self.whole.items() if kind & kinds)
        narrow = [bits for kind, bits in self.narrow.items() if kind & kinds]
        return whole + sum(-(-sum(bits) // _WHOLE) for bits in narrow), whole + sum(map(len, narrow))

    def mismatches(self) -> Iterator[ScheduleMismatch]:
        for op in self.others if self.hints else ():
            _count(op, self)
        for kinds, asked, op in self._asked():
            least, most = self.counts(kinds)
            if not least <= asked <= most:
                yield ScheduleMismatch(kinds, asked, least, most, location_of(op))

    def _asked(self) -> list[tuple[int, int, Operation]]:
        """Return the hints added up by what they name; those with kinds in common count together."""
        groups: list[tuple[int, int, Operation]] = []
        for kinds, count, op in self.hints:
            same = [group for group in groups if group[0] & kinds]
            first = same[0][2] if same else op
            for group in same:
                groups.remove(group)
                kinds, count = kinds | group[0], count + group[1]
            groups.append((kinds, count, first))
        return groups


def _intrinsic_name(op: Operation) -> str:
    name: Any = op.properties.get("intrin")
    return op.name if name is None else name.data


def _width(type_: Attribute) -> int:
    """Bits of a value that an access moves; pointers are 64."""
    if isinstance(type_, VectorType):
        count = 1
        for extent in type_.get_shape():
            count *= extent
        return count * _width(type_.element_type)
    width = getattr(type_, "bitwidth", None)
    return width if isinstance(width, int) else 64


def _kind_by_space(pointer: SSAValue, lds: int, elsewhere: int) -> int:
    """Return the kind of a plain access, by what its pointer points into; 0 for a thread's own memory."""
    type_ = pointer.type
    space = getattr(type_.addr_space, "data", 0) if isinstance(type_, LLVMPointerType) else 0
    return {_LDS_SPACE: lds, _OWN_SPACE: 0}.get(space, elsewhere)


def _count(op: Operation, into: _Stretch) -> None:
    if op.name in ("llvm.load", "llvm.store"):
        loads = op.name == "llvm.load"
        moved, pointer = (op.results[0], op.operands[0]) if loads else op.operands[:2]
        kind = _kind_by_space(pointer, *((LDS_READ, LOAD) if loads else (LDS_WRITE, STORE)))
        if kind:
            into.add(kind, _width(moved.type))
        return
    name = _intrinsic_name(op)
    kind = next((kind for start, kind in _INTRINSICS if name.startswith(start)), 0)
    if kind == MATRIX:
        into.add(kind, 0)
    elif kind:
        moved = op.results[0].type if op.results else op.operands[0].type
        into.add(kind, _width(moved) if "lds" not in name else 0)


def _hint(op: Operation, into: _Stretch) -> None:
    mask, size = (constant_of(value) for value in op.operands[:2])
    kinds = counted_kinds(mask) if mask is not None else None
    if kinds is not None and size is not None:
        into.hints.append((kinds, size, op))


def _stretches(block: Block) -> Iterator[_Stretch]:
    now = _Stretch()
    for op in ops_of(block):
        name = _intrinsic_name(op)
        if op.regions or (name == _FENCE and constant_of(op.operands[0]) == 0):
            yield now
            now = _Stretch()
            for region in op.regions:
                yield from _in_region(region)
        elif name == _GROUP:
            _hint(op, now)
        else:
            now.others.append(op)
    yield now


def _in_region(region: Region) -> Iterator[_Stretch]:
    for block in region.blocks:
        yield from _stretches(block)


def schedule_mismatches(module: Operation) -> list[ScheduleMismatch]:
    """Return every mismatch of a module after stage A, each once: unrolled copies of a line say the same."""
    found: dict[ScheduleMismatch, None] = {}
    for body in function_bodies(module):
        for stretch in _in_region(body):
            found.update(dict.fromkeys(stretch.mismatches()))
    return list(found)


# Stale scheduling hints, told as Python warnings that point at the kernel's line --------------


def warn_about_schedules(module: ModuleOp) -> None:
    """One warning a line and compilation for hints that do not match the instructions around them."""
    for found in schedule_mismatches(module):
        place = found.location
        if place is None:
            warnings.warn(str(found), ScheduleWarning, stacklevel=2)
        else:
            warnings.warn_explicit(str(found), ScheduleWarning, place.file, place.line)
