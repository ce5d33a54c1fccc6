"""fly-promote-regmem-to-vectorssa: register memory becomes vector values.

Runs after fly-convert-atom-call-to-ssa-form: registers are `make_ptr` allocations read and written
at constant offsets. An allocation is cut where vector accesses begin and end; each piece becomes a
value carried through `scf.for`, `scf.if` and `scf.while`. A register pointer that is used any other
way (a run-time offset, a cast, an access across other control flow) stays memory, and so does a very
wide piece that is written element by element.

    %p = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}}
    fly.ptr.store(%v, %p)                   ->   uses of %w become %v
    %w = fly.ptr.load(%p) -> vector<4xf32>
"""

from __future__ import annotations

from itertools import pairwise

from xdsl.dialects.builtin import VectorType
from xdsl.dialects.scf import YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from flydsl.base.records import dataclass, field
from flydsl.dialects.fly.ops import FlyOp, allocation_size
from flydsl.dialects.fly.types import element_type, payload_of, vector_type
from flydsl.dialects.upstream import integers, ops_of, replace_uses, walked
from flydsl.passes.shared.insertion import Inserter
from flydsl.passes.shared.vector_access import as_vector, concatenate, extract, shuffle
from flydsl.passes.shared.walk import function_bodies, take_out

Slot = tuple[int, int]
"""(allocation number, piece number)."""

_MOST_ELEMENTS = 1 << 16  # a thread has a few hundred registers; more than this stays in memory
_STRUCTURED = ("scf.for", "scf.if", "scf.while")
_WIDEST = 256
"""Elements of a vector that may be written one by one: LLVM copies it, and looks at all that were written, each time.
No thread has more registers of one kind either."""


@dataclass
class Access:
    op: FlyOp
    offset: int
    count: int


@dataclass
class Allocation:
    """One promotable allocation: element type, accesses, and the cuts between its pieces."""

    number: int
    op: Operation
    elem: str
    size: int
    accesses: list[Access] = field(default_factory=list)
    steps: list[Operation] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)

    def cut(self) -> None:
        points = {0, self.size}
        for access in self.accesses:
            if access.count > 1:
                points |= {access.offset, access.offset + access.count}
        if len(points) == 2 and all(access.count == 1 for access in self.accesses):
            points = set(range(self.size + 1))
        self.cuts = sorted(points)

    def too_wide(self) -> bool:
        """Return whether a vector would be written element by element for longer than is good for it."""
        written = [0] * (len(self.cuts) - 1)
        for access in self.accesses:
            if access.count == 1 and not access.op.results:
                written[self.piece_at(access.offset)] += 1
        return any(count > _WIDEST // 4 and last - first > _WIDEST
                   for count, (first, last) in zip(written, pairwise(self.cuts), strict=True))  # fmt: skip

    def pieces(self, access: Access) -> range:
        """Return the pieces that an access touches."""
        return range(self.piece_at(access.offset), self.piece_at(access.offset + access.count - 1) + 1)

    def piece_type(self, index: int) -> Attribute:
        count = self.cuts[index + 1] - self.cuts[index]
        return vector_type(count, self.elem) if count > 1 else element_type(self.elem)

    def piece_at(self, offset: int) -> int:
        low, high = 0, len(self.cuts) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.cuts[middle] <= offset else (low, middle)
        return low


def _constant_offset(op: FlyOp) -> int | None:
    payload = payload_of(op.operands[1].type)
    return payload if isinstance(payload, int) else None


def _collect(pointer: SSAValue, offset: int, into: Allocation) -> bool:
    """Note every access through a register pointer; False when it is used any other way."""
    for use in pointer.uses:
        op = use.operation
        if not isinstance(op, FlyOp):
            return False
        name = op.spec.name
        if name == "add_offset":
            step = _constant_offset(op)
            into.steps.append(op)
            if step is None or not _collect(op.results[0], offset + step, into):
                return False
        elif name == "ptr.load" or (name == "ptr.store" and use.index == 1):
            value = op.results[0] if name == "ptr.load" else op.operands[0]
            count = value.type.get_shape()[0] if isinstance(value.type, VectorType) else 1
            if offset < 0 or offset + count > into.size:
                return False
            into.accesses.append(Access(op, offset, count))
        elif name == "make_view" and not op.results[0].uses:
            into.steps.append(op)
        else:
            return False
    return True


def _followed(access: Operation, allocation: Operation) -> bool:
    """Return whether only control flow that this pass follows lies between an allocation and an access to it."""
    block = access.parent
    while block is not None and block is not allocation.parent:
        around = block.parent_op()
        if around is None or around.name not in _STRUCTURED or len(block.parent.blocks) > 1:  # type: ignore[union-attr]
            return False
        block = around.parent
    return block is not None


class Promoter:
    """Walks a function once, holding the current value of every slot."""

    allocation: type[Allocation] = Allocation

    def __init__(self, body: Region) -> None:
        self.body = body
        self.at = Inserter(body.blocks[0])
        self.allocations: dict[Operation, Allocation] = {}
        self.by_access: dict[Operation, tuple[Allocation, Access]] = {}
        self.current: dict[Slot, SSAValue] = {}
        self._undo: list[tuple[Slot, SSAValue | None]] = []
        """What `current` held before each change, so that a region's changes can be taken back."""
        self.dead: list[Operation] = []

    def run(self) -> None:
        self._find(self.body)
        if not self.allocations:
            return
        self._region(self.body)
        for op in self.dead:
            op.detach()
        for op in self.dead:
            op.erase(safe_erase=False)

    def _find(self, region: Region) -> None:
        for block in region.blocks:
            for op in ops_of(block):
                if isinstance(op, FlyOp) and op.spec.name == "make_ptr":
                    size = allocation_size(op)
                    if size is not None and size <= _MOST_ELEMENTS:
                        self._consider(op, size)
                for inner in op.regions:
                    self._find(inner)

    def _consider(self, op: FlyOp, size: int) -> None:
        allocation = self.allocation(len(self.allocations), op, payload_of(op.results[0].type).elem, size)
        if _collect(op.results[0], 0, allocation) and all(_followed(a.op, op) for a in allocation.accesses):
            allocation.cut()
            if allocation.too_wide():
                return
            self.allocations[op] = allocation
            for access in allocation.accesses:
                self.by_access[access.op] = (allocation, access)

    # Walking -----------------------------------------------------------------------------------

    def _region(self, region: Region) -> None:
        for block in region.blocks:
            for op in ops_of(block):
                self._op(op)

    def _op(self, op: Operation) -> None:
        self.at.anchor = op
        if op in self.by_access:
            allocation, access = self.by_access[op]
            (self._load if op.results else self._store)(allocation, access)
            self.dead.append(op)
        elif op in self.allocations:
            self.dead += [*reversed(self.allocations[op].steps), op]
            self._forget(self.allocations[op])
        elif op.regions:
            self._structured(op)

    def _forget(self, allocation: Allocation) -> None:
        """An allocation inside a loop starts anew in every iteration."""
        for index in range(len(allocation.cuts) - 1):
            if (allocation.number, index) in self.current:
                self._set((allocation.number, index), None)

    def _set(self, slot: Slot, value: SSAValue | None) -> None:
        self._undo.append((slot, self.current.get(slot)))
        if value is None:
            del self.current[slot]
        else:
            self.current[slot] = value

    def _take_back(self, mark: int) -> None:
        """Make `current` what it was when ``mark`` changes had been made."""
        while len(self._undo) > mark:
            slot, value = self._undo.pop()
            if value is None:
                self.current.pop(slot, None)
            else:
                self.current[slot] = value

    def _value(self, allocation: Allocation, index: int) -> SSAValue:
        slot = (allocation.number, index)
        found = self.current.get(slot)
        if found is None:
            found = self.at.undefined(allocation.piece_type(index))
            self._set(slot, found)
        return found

    def _load(self, allocation: Allocation, access: Access) -> None:
        pieces: list[tuple[SSAValue, int]] = []
        at, end = access.offset, access.offset + access.count
        while at < end:
            index = allocation.piece_at(at)
            first, last = allocation.cuts[index], allocation.cuts[index + 1]
            value, width = self._value(allocation, index), last - first
            taken = min(end, last) - at
            if taken < width:
                value = self._part(value, at - first, taken, allocation.elem)
            pieces.append((value, taken))
            at += taken
        result = access.op.results[0]
        if isinstance(result.type, VectorType):
            whole = concatenate(self.at, pieces, allocation.elem)
        else:
            whole = pieces[0][0]
        replace_uses(result, whole)

    def _part(self, value: SSAValue, first: int, count: int, elem: str) -> SSAValue:
        if count == 1:
            return extract(self.at, value, first, elem)
        return shuffle(self.at, value, value, range(first, first + count), elem)

    def _store(self, allocation: Allocation, access: Access) -> None:
        stored = access.op.operands[0]
        vector = isinstance(stored.type, VectorType)
        at, end = access.offset, access.offset + access.count
        while at < end:
            index = allocation.piece_at(at)
            first, last = allocation.cuts[index], allocation.cuts[index + 1]
            taken = min(end, last) - at
            part = stored
            if vector and (taken < access.count or last - first == 1):
                part = self._part(stored, at - access.offset, taken, allocation.elem)
            if taken < last - first:
                part = self._inserted(allocation, index, part, at - first, taken)
            self._set((allocation.number, index), part)
            at += taken

    def _inserted(self, allocation: Allocation, index: int, part: SSAValue, first: int, count: int) -> SSAValue:
        whole = self._value(allocation, index)
        if count == 1 and not isinstance(part.type, VectorType):
            position = {"static_position": integers(64, first)}
            return self.at.op("vector.insert", [part, whole], [whole.type], position)
        width = whole.type.get_shape()[0]  # type: ignore[union-attr]
        mask = [width + i - first if first <= i < first + count else i for i in range(width)]
        return shuffle(self.at, whole, as_vector(self.at, part, count, allocation.elem), mask, allocation.elem)

    # Structured control flow -------------------------------------------------------------------

    def _stored_in(self, op: Operation) -> list[tuple[Allocation, int]]:
        """Slots that a structured operation writes and that exist around it."""
        inside: set[Operation] = set(walked(op))
        slots: dict[Slot, tuple[Allocation, int]] = {}
        for inner in inside:
            found = self.by_access.get(inner)
            if found is None or inner.results:
                continue
            allocation, access = found
            if allocation.op in inside:
                continue
            for index in allocation.pieces(access):
                slots[allocation.number, index] = (allocation, index)
        return [slots[key] for key in sorted(slots)]

    def _structured(self, op: Operation) -> None:
        slots = self._stored_in(op)
        if not slots:
            mark = len(self._undo)
            for region in op.regions:
                self._region(region)
                self._take_back(mark)
            return
        self.at.anchor = op
        inits = [self._value(allocation, index) for allocation, index in slots]
        regions = [op.detach_region(region) for region in list(op.regions)]
        mark = len(self._undo)
        carries_arguments = op.name != "scf.if"
        for region in regions:
            self._carry(region, slots, inits, carries_arguments)
            self._take_back(mark)
        operands = [*op.operands, *inits] if carries_arguments else list(op.operands)
        types = [*op.result_types, *(v.type for v in inits)]
        new = type(op).create(operands=operands, result_types=types, properties=op.properties,
                              attributes=op.attributes, regions=regions)  # fmt: skip
        new.location = op.location
        assert op.parent is not None
        op.parent.insert_op_before(new, op)
        for old, result in zip(op.results, new.results, strict=False):
            replace_uses(old, result)
        take_out(op)
        for (allocation, index), result in zip(slots, new.results[len(op.results) :], strict=True):
            self._set((allocation.number, index), result)

    def _carry(
        self, region: Region, slots: list[tuple[Allocation, int]], inits: list[SSAValue], arguments: bool
    ) -> None:
        """Give a region the slots' values on entry and have it hand over their values at its end."""
        if not region.blocks:
            region.add_block(Block([YieldOp.create()]))
        block = region.blocks[0]
        if arguments:
            for (allocation, index), init in zip(slots, inits, strict=True):
                self._set((allocation.number, index), block.insert_arg(init.type, len(block.args)))
        self._region(region)
        last = block.last_op
        assert last is not None
        self.at.anchor = last
        last.operands = [*last.operands, *(self._value(allocation, index) for allocation, index in slots)]


def promote_regmem_to_vectorssa(module: Operation) -> None:
    """Run the pass on a module."""
    for body in function_bodies(module):
        Promoter(body).run()
