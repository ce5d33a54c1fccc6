"""Which values threads of a workgroup may disagree on, and whether a barrier lies behind such a one.

On AMD's GPUs a barrier counts waves, wherever they are: waves may take different branches with barriers in them, or one
barrier more. Such a kernel cannot run in step. All others do, because that is faster; so this looks from the side of
what is known to differ, and takes what is loaded from one address, or carried by a loop that all take alike, as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation, Region, SSAValue

from flydsl.backends.host.intrinsics.table import host_intrinsic, intrinsic_name
from flydsl.backends.host.plan import meets
from flydsl.dialects.upstream import ops_of, walked

_PER_THREAD = frozenset(
    {"gpu.thread_id", "gpu.lane_id", "gpu.subgroup_id", "llvm.alloca", "llvm.atomicrmw", "llvm.cmpxchg"}
)
_CONTROL = {"scf.if": 1, "scf.for": 3, "scf.while": 0}
"""Structured control flow to how many of its first operands decide where threads go."""
_BARRIERS = frozenset({"llvm.amdgcn.s.barrier", "llvm.amdgcn.s.barrier.wait", "asm.barrier"})


def is_barrier(op: Operation) -> bool:
    """Return whether an operation is a barrier of the workgroup."""
    return op.name == "gpu.barrier" or intrinsic_name(op) in _BARRIERS


def barrier_diverges(kernel: Operation) -> bool:
    """Return whether waves may come to different barriers, or to a different number of them."""
    barriers = [op for op in walked(kernel) if is_barrier(op)]
    if not any(parent.name in _CONTROL for op in barriers for parent in _around(op, kernel)):
        return False
    differing = Differing(kernel.regions[0])
    return any(differing.decides(parent) for op in barriers for parent in _around(op, kernel))


def _around(op: Operation, kernel: Operation) -> Iterator[Operation]:
    parent = op.parent_op()
    while parent is not None and parent is not kernel:
        yield parent
        parent = parent.parent_op()


class Differing:
    """The values of a kernel that may differ from thread to thread."""

    def __init__(self, body: Region) -> None:
        self.values: set[SSAValue] = set()
        before = -1
        while before != len(self.values):  # what a loop carries comes around
            before = len(self.values)
            self._walk(body)

    def decides(self, op: Operation) -> bool:
        """Return whether threads may go different ways here."""
        if op.name == "scf.while":
            condition = op.regions[0].block.last_op
            return condition is not None and condition.operands[0] in self.values
        return any(o in self.values for o in op.operands[: _CONTROL.get(op.name, 0)])

    def _walk(self, region: Region) -> None:
        for block in region.blocks:
            for op in ops_of(block):
                for inner in op.regions:
                    self._walk(inner)
                if op.name in _CONTROL:
                    self._control(op)
                elif self._differs(op):
                    self.values.update(op.results)

    def _differs(self, op: Operation) -> bool:
        if op.name in _PER_THREAD or meets(op) or any(o in self.values for o in op.operands):
            return True
        entry = host_intrinsic(op)
        return entry is not None and not entry.pure and not op.operands

    def _control(self, op: Operation) -> None:
        if self.decides(op):
            self.values.update(op.results)
            self.values.update(arg for region in op.regions for block in region.blocks for arg in block.args)
        ends = [region.block.last_op for region in op.regions if region.blocks]
        yields: list[Sequence[SSAValue]] = [end.operands for end in ends if end is not None]
        if op.name == "scf.if":
            for arm in yields:
                self._flow(arm, op.results)
        elif op.name == "scf.for":
            carried = op.regions[0].block.args[1:]
            for values in (op.operands[3:], *yields):
                self._flow(values, carried)
                self._flow(values, op.results)
        else:
            before, after = (region.block.args for region in op.regions)
            self._flow(op.operands, before)
            self._flow(yields[0][1:], after)
            self._flow(yields[0][1:], op.results)
            self._flow(yields[1], before)

    def _flow(self, values: Sequence[SSAValue], targets: Sequence[SSAValue]) -> None:
        self.values.update(target for value, target in zip(values, targets, strict=True) if value in self.values)
