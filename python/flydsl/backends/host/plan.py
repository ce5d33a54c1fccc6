"""What the workgroup emitter must know before it writes a kernel.

A *run* is a stretch of operations that every thread executes without looking at another; it becomes
one loop over threads. Runs end where threads meet. The plan says, for each value, whether it is the
same for all threads (emitted once, outside loops), cheap to compute again in each run, or kept in an
array indexed by thread because another run reads it.

Runs also end before a store to shared memory that may touch what they load, since threads of a GPU go on in step
(`analysis/shared_accesses.py`); and where they get long, and control flow with a long body is taken out as if
threads met in it: LLVM takes time that grows with the square of a loop's body, in its vectoriser and its schedulers.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from flydsl.backends.host.analysis.shared_accesses import SharedOrder, touches_shared
from flydsl.backends.host.collectives import GATHERS, MEETINGS, Behaviour
from flydsl.backends.host.intrinsics.table import CALLS, host_intrinsic
from flydsl.backends.host.matrix import multiply
from flydsl.dialects.upstream import ops_of, walked
from flydsl.passes.canonicalize import is_pure
from flydsl.passes.shared.matrix_atoms import INSTRUCTION

_PER_THREAD = frozenset({"gpu.thread_id", "gpu.lane_id", "gpu.subgroup_id"})
_LIFTED = frozenset({"scf.for", "scf.if", "scf.while"})
LONGEST_RUN = 512
"""Operations of a loop over threads from which on it ends where few values are needed later. Of 4,000 lines, which are
12,000 operations, LLVM takes 13 s in one loop and 1.4 s in loops of this length (Neoverse N1, LLVM 22)."""
_MOST_KEPT = 64
"""Values that a loop may hand to the next for getting long. Each is a store and a load, so there is to be at most one
for thirty-two operations, and LLVM compares the places of all of them."""
_LONGEST_BODY = 8 * LONGEST_RUN
"""Operations of control flow that is not taken out of the loops."""
_MOST_REPEATED = 64
"""Operations that are rather computed again in another run than kept for it."""


def meeting_of(op: Operation) -> Behaviour | None:
    """Return what is done between thread loops for an operation, if it is of that kind."""
    if INSTRUCTION in op.attributes:
        return multiply
    entry = host_intrinsic(op)
    return MEETINGS.get(op.name) if entry is None else entry.run if entry.kind == "meeting" else None


def gathered(op: Operation) -> int | None:
    """Return the operand that an operation reads from other threads, if it is of that kind."""
    entry = host_intrinsic(op)
    if entry is not None:
        return entry.gathered if entry.kind == "gather" else None
    return 0 if op.name in GATHERS else None


def meets(op: Operation) -> bool:
    """Return whether the operation itself involves other threads."""
    if op.name not in CALLS:  # most are of this kind, and each is asked several times
        return op.name in GATHERS or op.name in MEETINGS or INSTRUCTION in op.attributes
    return gathered(op) is not None or meeting_of(op) is not None


def _is_pure(op: Operation) -> bool:
    entry = host_intrinsic(op)
    return is_pure(op) if entry is None else entry.pure


class _Needed:
    """How many of a block's values are needed from an operation on, asked in the order of the operations."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._number = {op: index for index, op in enumerate(ops_of(block))}
        self._until: list[int] = []
        """A heap of the numbers of the operations that need each value last."""

    def add(self, values: Iterable[SSAValue]) -> None:
        for value in values:
            last = max((self._number.get(self._outermost(use.operation), -1) for use in value.uses), default=-1)
            heappush(self._until, last)

    def at(self, op: Operation) -> int:
        while self._until and self._until[0] < self._number[op]:
            heappop(self._until)
        return len(self._until)

    def _outermost(self, op: Operation) -> Operation:
        """Return the block's own operation that one is in."""
        while op.parent is not self._block and (around := op.parent_op()) is not None:
            op = around
        return op


class Plan:
    """The analysis of one kernel body."""

    def __init__(self, body: Region) -> None:
        self._meeting_inside: dict[Operation, bool] = {}
        self.uniform: set[SSAValue] = set(body.blocks[0].args)
        self.run_of: dict[Operation, int] = {}
        self.kept: set[SSAValue] = set()
        self.starts: set[Operation] = set()
        """Operations that begin a run because the one before got long."""
        self._cost: dict[SSAValue, int] = {}
        """Operations that it takes to compute a value again; a value that cannot be is not in it."""
        self._sizes: dict[Operation, int] = {}
        self._runs = self._length = 0
        self._order = SharedOrder(body.blocks[0]) if touches_shared(body) else None
        self._mark_uniform(body.blocks[0])
        self._assign(body.blocks[0])
        self.single = len(set(self.run_of.values())) <= 1 and not any(
            self.meeting_inside(op) or self.lifted(op) for op in body.blocks[0].ops
        )
        """Whether the kernel is one loop over threads."""
        if not self.single:
            self._find_kept(body.blocks[0])

    # Meetings ----------------------------------------------------------------------------------

    def meeting_inside(self, op: Operation) -> bool:
        """Return whether an operation or anything inside it involves other threads."""
        found = self._meeting_inside.get(op)
        if found is None:
            inner = (o for region in op.regions for block in region.blocks for o in ops_of(block))
            found = meets(op) or any(self.meeting_inside(o) for o in inner)
            self._meeting_inside[op] = found
        return found

    def lifted(self, op: Operation) -> bool:
        """Return whether structured control flow must be taken out of the thread loop."""
        if op.name not in _LIFTED:
            return False
        if self._size(op) > _LONGEST_BODY or self.meeting_inside(op):
            return True
        return self._order is not None and self._order.conflict_inside(op)

    def _size(self, op: Operation) -> int:
        """Return how many operations there are in one, itself included."""
        if not op.regions:
            return 1
        found = self._sizes.get(op)
        if found is None:
            inner = (self._size(o) for region in op.regions for block in region.blocks for o in ops_of(block))
            found = self._sizes[op] = 1 + sum(inner)
        return found

    # Uniform values ----------------------------------------------------------------------------

    def is_uniform(self, value: SSAValue) -> bool:
        return value in self.uniform

    def uniform_bounds(self, op: Operation) -> bool:
        return all(self.is_uniform(o) for o in op.operands[:3])

    def _mark_uniform(self, block: Block) -> None:
        for op in ops_of(block):
            if self.lifted(op):
                if op.name == "scf.for" and self.uniform_bounds(op):
                    self.uniform.add(op.regions[0].block.args[0])
                for region in op.regions:
                    for inner in region.blocks:
                        self._mark_uniform(inner)
            elif op.results and not op.regions and self._is_uniform_op(op):
                self.uniform.update(op.results)

    def _is_uniform_op(self, op: Operation) -> bool:
        if op.name in _PER_THREAD or meets(op):
            return False
        known = _is_pure(op) or op.name in ("llvm.mlir.addressof", "gpu.block_id", "gpu.block_dim", "gpu.grid_dim")
        return known and all(self.is_uniform(o) for o in op.operands)

    # Runs --------------------------------------------------------------------------------------

    def emitted_once(self, op: Operation) -> bool:
        """Return whether an operation at the level of the workgroup is written outside thread loops."""
        return bool(op.results) and not op.regions and op.results[0] in self.uniform  # then all of them are

    def _new_run(self) -> None:
        self._runs += 1
        self._length = 0
        if self._order is not None:
            self._order.loaded = []

    def _assign(self, block: Block) -> None:
        self._new_run()
        needed = _Needed(block) if len(ops_of(block)) > LONGEST_RUN else None
        for op in ops_of(block):
            if self.emitted_once(op):
                continue
            if self.lifted(op):
                for region in op.regions:
                    for inner in region.blocks:
                        self._assign(inner)
                self._new_run()
            elif meeting_of(op) is not None:
                self._new_run()
                self.run_of[op] = self._runs
                self._new_run()
            else:
                if gathered(op) is not None:
                    self._new_run()
                elif self._order is not None and self._order.overwrites(op):
                    self._new_run()
                    self.starts.add(op)
                elif needed is not None and op is not block.last_op and self._is_long(op, needed):
                    self._new_run()
                    self.starts.add(op)
                self._assign_whole(op)
                if self._order is not None:
                    self._order.add(op)
                if needed is not None:
                    needed.add(result for result in op.results if not self.repeatable(result))

    def _is_long(self, op: Operation, needed: _Needed) -> bool:
        """Return whether a run had better end before an operation."""
        length = self._length + self._size(op)
        return length > LONGEST_RUN and needed.at(op) <= min(length // 32, _MOST_KEPT)

    def _assign_whole(self, op: Operation) -> None:
        self._length += self._size(op)
        for inner in walked(op):
            self.run_of[inner] = self._runs
            if inner.name in _PER_THREAD or (_is_pure(inner) and not meets(inner)):
                cost = self._cost_of(inner)
                if cost is not None:
                    self._cost.update(dict.fromkeys(inner.results, cost))

    def _cost_of(self, op: Operation) -> int | None:
        total = 1
        for operand in op.operands:
            if operand in self.uniform:
                continue
            cost = self._cost.get(operand)
            if cost is None:
                return None
            total += cost
        return total if total <= _MOST_REPEATED else None

    # Values kept between runs ------------------------------------------------------------------

    def repeatable(self, value: SSAValue) -> bool:
        """Return whether a value is a little pure arithmetic on thread indices and uniform values."""
        return value in self.uniform or value in self._cost

    def _find_kept(self, block: Block) -> None:
        for op in ops_of(block):
            if self.emitted_once(op):
                continue
            if self.lifted(op):
                self._keep_boundary(op)
                for region in op.regions:
                    for inner in region.blocks:
                        self._find_kept(inner)
                continue
            for inner in walked(op):
                self._keep_operands(inner)

    def _keep_boundary(self, op: Operation) -> None:
        """Results and carried values of lifted control flow live in arrays."""
        self.kept.update(r for r in op.results if r not in self.uniform)
        for region in op.regions:
            for block in region.blocks:
                self.kept.update(a for a in block.args if a not in self.uniform)
        for operand in op.operands:
            self._keep(operand)
        if op.name == "scf.while" and (condition := op.regions[0].block.last_op) is not None:
            # Who goes on is decided in a loop of its own, behind the one that computes the condition.
            self._keep(condition.operands[0])

    def _keep_operands(self, op: Operation) -> None:
        run, met = self.run_of.get(op), meets(op)
        for operand in op.operands:
            if operand in self.uniform:
                continue
            if met:
                self.kept.add(operand)
            elif isinstance(operand, OpResult):
                if run is None or self.run_of.get(operand.op) != run:
                    self._keep(operand)
            elif operand.owner.parent_op() not in self.run_of:
                self._keep(operand)

    def _keep(self, value: SSAValue) -> None:
        if not self.repeatable(value):
            self.kept.add(value)
