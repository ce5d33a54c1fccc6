"""What the workgroup emitter must know before it writes a kernel.

A *run* is a stretch of operations that every thread executes without looking at another; it becomes
one loop over threads. Runs end where threads meet. The plan says, for each value, whether it is the
same for all threads (emitted once, outside loops), cheap to compute again in each run, or kept in an
array indexed by thread because another run reads it.
"""

from __future__ import annotations

from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from flydsl.backends.host.collectives import GATHERS, MEETINGS, Behaviour
from flydsl.backends.host.intrinsics.table import host_intrinsic
from flydsl.backends.host.matrix import multiply
from flydsl.passes.canonicalize import is_pure
from flydsl.passes.matrix_atoms import INSTRUCTION

_PER_THREAD = frozenset({"gpu.thread_id", "gpu.lane_id", "gpu.subgroup_id"})
_LIFTED = frozenset({"scf.for", "scf.if", "scf.while"})


def meeting_of(op: Operation) -> Behaviour | None:
    """What is done between thread loops for an operation, if it is of that kind."""
    if INSTRUCTION in op.attributes:
        return multiply
    entry = host_intrinsic(op)
    return MEETINGS.get(op.name) if entry is None else entry.run if entry.kind == "meeting" else None


def gathered(op: Operation) -> int | None:
    """The operand that an operation reads from other threads, if it is of that kind."""
    entry = host_intrinsic(op)
    if entry is not None:
        return entry.gathered if entry.kind == "gather" else None
    return 0 if op.name in GATHERS else None


def meets(op: Operation) -> bool:
    """Whether the operation itself involves other threads."""
    return gathered(op) is not None or meeting_of(op) is not None


def _is_pure(op: Operation) -> bool:
    entry = host_intrinsic(op)
    return is_pure(op) if entry is None else entry.pure


class Plan:
    """The analysis of one kernel body."""

    def __init__(self, body: Region) -> None:
        self._meeting_inside: dict[Operation, bool] = {}
        self.uniform: set[SSAValue] = set(body.blocks[0].args)
        self.run_of: dict[Operation, int] = {}
        self.kept: set[SSAValue] = set()
        self._repeatable: dict[SSAValue, bool] = {}
        self._runs = 0
        self.single = not self.has_meeting(body)
        self._mark_uniform(body.blocks[0])
        self._assign(body.blocks[0])
        if not self.single:
            self._find_kept(body.blocks[0])

    # Meetings ----------------------------------------------------------------------------------

    def has_meeting(self, region: Region) -> bool:
        return any(self.meeting_inside(op) for block in region.blocks for op in block.ops)

    def meeting_inside(self, op: Operation) -> bool:
        """Whether an operation or anything inside it involves other threads."""
        found = self._meeting_inside.get(op)
        if found is None:
            found = meets(op) or any(self.has_meeting(region) for region in op.regions)
            self._meeting_inside[op] = found
        return found

    def lifted(self, op: Operation) -> bool:
        """Whether structured control flow must be taken out of the thread loop."""
        return op.name in _LIFTED and self.meeting_inside(op)

    # Uniform values ----------------------------------------------------------------------------

    def is_uniform(self, value: SSAValue) -> bool:
        return value in self.uniform

    def uniform_bounds(self, op: Operation) -> bool:
        return all(self.is_uniform(o) for o in op.operands[:3])

    def _mark_uniform(self, block: Block) -> None:
        for op in block.ops:
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
        """Whether an operation at the level of the workgroup is written outside thread loops."""
        return bool(op.results) and not op.regions and all(r in self.uniform for r in op.results)

    def _assign(self, block: Block) -> None:
        self._runs += 1
        for op in block.ops:
            if self.emitted_once(op):
                continue
            if self.lifted(op):
                for region in op.regions:
                    for inner in region.blocks:
                        self._assign(inner)
                self._runs += 1
            elif meeting_of(op) is not None:
                self._runs += 1
                self.run_of[op] = self._runs
                self._runs += 1
            else:
                if gathered(op) is not None:
                    self._runs += 1
                self._assign_whole(op)

    def _assign_whole(self, op: Operation) -> None:
        for inner in op.walk():
            self.run_of[inner] = self._runs

    # Values kept between runs ------------------------------------------------------------------

    def repeatable(self, value: SSAValue) -> bool:
        """Whether a value is pure arithmetic on thread indices and uniform values."""
        if value in self.uniform:
            return True
        found = self._repeatable.get(value)
        if found is None:
            owner = value.owner
            found = (
                isinstance(owner, Operation)
                and (owner.name in _PER_THREAD or (_is_pure(owner) and not meets(owner)))
                and not isinstance(value, BlockArgument)
                and all(self.repeatable(o) for o in owner.operands)
            )
            self._repeatable[value] = found
        return found

    def _find_kept(self, block: Block) -> None:
        for op in block.ops:
            if self.emitted_once(op):
                continue
            if self.lifted(op):
                self._keep_boundary(op)
                for region in op.regions:
                    for inner in region.blocks:
                        self._find_kept(inner)
                continue
            for inner in op.walk():
                self._keep_operands(inner)

    def _keep_boundary(self, op: Operation) -> None:
        """Results and carried values of lifted control flow live in arrays."""
        self.kept.update(r for r in op.results if r not in self.uniform)
        for region in op.regions:
            for block in region.blocks:
                self.kept.update(a for a in block.args if a not in self.uniform)
        for operand in op.operands:
            self._keep(operand, force=False)
        if op.name == "scf.while" and (condition := op.regions[0].block.last_op) is not None:
            # Who goes on is decided in a loop of its own, behind the one that computes the condition.
            self._keep(condition.operands[0], force=False)

    def _keep_operands(self, op: Operation) -> None:
        run = self.run_of.get(op)
        for operand in op.operands:
            if operand in self.uniform:
                continue
            owner = operand.owner
            defined = self.run_of.get(owner) if isinstance(owner, Operation) else None
            inside = isinstance(owner, Block) and owner.parent_op() in self.run_of
            if meets(op):
                self._keep(operand, force=True)
            elif not inside and (defined is None or defined != run):
                self._keep(operand, force=False)

    def _keep(self, value: SSAValue, *, force: bool) -> None:
        if value in self.uniform:
            return
        if force or not self.repeatable(value):
            self.kept.add(value)
