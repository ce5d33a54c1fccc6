"""Which tensor an address belongs to: walking a pointer back to what it was made from.

A pointer is a parameter, a block of shared memory or a register allocation, moved by offsets and carried through
branches and loops. The marks that `passes/mark_memory.py` left on the way say which allocation of a shared block it
is, where that was written, and through which layout it is viewed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from flydsl.backends.host.intrinsics.table import intrinsic_name
from flydsl.base.records import dataclass, replace
from flydsl.codegen.reading.op_view import ints_prop, symbol_prop
from flydsl.passes.shared.walk import MARK, location_of

_SAME_POINTER = ("llvm.bitcast", "llvm.addrspacecast", "builtin.unrealized_conversion_cast", "llvm.freeze")
_INTEGER_STEPS = ("llvm.inttoptr", "llvm.ptrtoint")
_SAME_MEMORY = ("llvm.amdgcn.make.buffer.rsrc", "llvm.amdgcn.readfirstlane", "llvm.amdgcn.readlane")
"""Intrinsics that give a pointer to the same memory as their first operand."""
_DYNAMIC = -(2**31)


@dataclass(frozen=True)
class Root:
    """Where a pointer comes from. ``offset`` is its distance in bytes while that is a constant."""

    space: str
    """argument, shared, register or unknown"""
    key: Any = None
    """The number of the parameter, the symbol of the shared block, or the operation that allocates."""
    offset: int | None = 0
    start: int = 0
    size: int | None = None
    """The part of a shared block that the allocation has; its end is the block's when there is no size."""
    note: tuple[tuple[str, Any], ...] = ()
    """What a report says of it: file, line, what, layout, view."""

    @property
    def facts(self) -> dict[str, Any]:
        return dict(self.note)


UNKNOWN = Root("unknown", offset=None)


class RootFinder:
    """Roots of the pointers of one function."""

    def __init__(self, entry: Block) -> None:
        self.entry = entry
        self._known: dict[SSAValue, Root | None] = {}

    def root(self, value: SSAValue) -> Root:
        """Return where a pointer comes from; `UNKNOWN` if it may come from several places or from none we can see."""
        return self._find(value) or UNKNOWN

    def _find(self, value: SSAValue) -> Root | None:
        """None while a value is being looked at, and for values that are no addresses."""
        if value not in self._known:
            self._known[value] = None
            self._known[value] = self._of_argument(value) if isinstance(value, BlockArgument) else self._of_op(value)
        return self._known[value]

    def _agreed(self, values: Iterable[SSAValue]) -> Root | None:
        """Return the root of all of them that have one."""
        roots = [root for value in values if (root := self._find(value)) is not None]
        if not roots:
            return None
        first = roots[0]
        if any((r.space, r.key, r.start, r.size) != (first.space, first.key, first.start, first.size) for r in roots):
            return UNKNOWN
        return first if all(r == first for r in roots) and len(roots) == 1 else replace(first, offset=None)

    # Block arguments ---------------------------------------------------------------------------

    def _of_argument(self, value: BlockArgument) -> Root | None:
        block = value.owner
        if block is self.entry:
            return Root("argument", value.index) if "ptr" in str(value.type) else UNKNOWN
        op = block.parent_op()
        if op is None:
            return UNKNOWN
        if op.name == "scf.for" and value.index:
            return self._agreed([op.operands[value.index + 2], _yielded(op, 0, value.index - 1)])
        if op.name == "scf.while":
            if block is op.regions[0].block:
                return self._agreed([op.operands[value.index], _yielded(op, 1, value.index)])
            return self._find(_yielded(op, 0, value.index + 1))
        return None if op.name == "scf.for" else UNKNOWN

    # Operations --------------------------------------------------------------------------------

    def _of_op(self, value: SSAValue) -> Root | None:
        op = value.owner
        assert isinstance(op, Operation)
        name = op.name
        if name in _SAME_POINTER:
            return self._marked(op, self._find(op.operands[0]))
        if name == "llvm.getelementptr":
            return self._moved(op)
        if (intrinsic_name(op) or "").startswith(_SAME_MEMORY):
            found = self._find(op.operands[0])
            return None if found is None else replace(found, offset=None)
        if name == "llvm.mlir.addressof":
            return Root("shared", symbol_prop(op, "global_name"))
        if name == "llvm.alloca":
            return self._marked(op, Root("register", op))
        if name in _INTEGER_STEPS or name.startswith("arith."):
            values = op.operands[1:] if name == "arith.select" else op.operands
            found = self._agreed(values)
            return None if found is None else self._swizzled(op, replace(found, offset=None))
        if name in ("scf.if", "scf.for", "scf.while"):
            return self._of_structured(op, list(op.results).index(value))  # type: ignore[arg-type]
        return None if not op.operands else UNKNOWN

    def _of_structured(self, op: Operation, index: int) -> Root | None:
        if op.name == "scf.while":
            return self._find(_yielded(op, 0, index + 1))
        found = [_yielded(op, region, index) for region in range(len(op.regions))]
        return self._agreed([*found, op.operands[3 + index]] if op.name == "scf.for" else found)

    def _moved(self, op: Operation) -> Root | None:
        found = self._find(op.operands[0])
        if found is None or found.offset is None:
            return found
        indices = ints_prop(op, "rawConstantIndices")
        if len(indices) != 1 or indices[0] == _DYNAMIC:
            return replace(found, offset=None)
        return replace(found, offset=found.offset + indices[0] * byte_size(op.properties["elem_type"]))

    def _swizzled(self, op: Operation, found: Root) -> Root:
        mark = op.attributes.get(MARK)
        if not isinstance(mark, StringAttr):
            return found
        return replace(found, note=tuple({**found.facts, **json.loads(mark.data)}.items()))

    def _marked(self, op: Operation, found: Root | None) -> Root | None:
        mark = op.attributes.get(MARK)
        if found is None or found.space not in ("shared", "register") or not isinstance(mark, StringAttr):
            return found
        facts = json.loads(mark.data)
        place = location_of(op)
        if "size" in facts:
            note = {name: facts[name] for name in ("file", "line", "what", "field") if name in facts}
            return replace(found, start=facts["start"], size=facts["size"], note=tuple(note.items()))
        note = found.facts
        if "layout" in note:
            return found
        if found.space == "register" and place is not None:
            note |= {"file": place.file, "line": place.line}
        if found.offset is not None:
            note |= {**facts, "view": found.offset - found.start}
        return replace(found, note=tuple(note.items()))


def _yielded(op: Operation, region: int, index: int) -> SSAValue:
    last = op.regions[region].block.last_op
    assert last is not None
    return last.operands[index]


def byte_size(type_: Attribute) -> int:
    """Bytes that a value takes in memory."""
    element = getattr(type_, "element_type", None)
    if element is not None:
        count = 1
        for extent in type_.get_shape():  # type: ignore[attr-defined]
            count *= extent
        return count * byte_size(element)
    return getattr(type_, "size", 8)
