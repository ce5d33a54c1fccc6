"""Waits, priorities and scheduling hints: the host does things in order, so nothing is left to do.

Their operands are still checked, because the hardware encodes them in the instruction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Operation

from flydsl.backends.host.collectives import barrier
from flydsl.backends.host.intrinsics.entry import Behaviour, HostIntrinsic, immediate, meeting, thread

if TYPE_CHECKING:
    from flydsl.backends.host.workgroup import WorkgroupEmitter


def _checked(operands: int) -> Behaviour:
    def run(wg: WorkgroupEmitter, op: Operation) -> None:
        for index in range(operands):
            immediate(op, index)

    return run


_OPERANDS = {
    "s.waitcnt": 1, "s.wait.loadcnt": 1, "s.wait.storecnt": 1, "s.wait.dscnt": 1, "s.wait.kmcnt": 1,
    "s.wait.expcnt": 1, "s.wait.asynccnt": 1, "s.wait.tensorcnt": 1, "sched.barrier": 1, "sched.group.barrier": 3,
    "iglp.opt": 1, "s.setprio": 1, "s.sleep": 1, "s.nop": 1, "wave.barrier": 0, "s.setreg": 2, "global.prefetch": 0,
}  # fmt: skip
"""Instruction to the number of operands it encodes."""

ENTRIES: dict[str, HostIntrinsic] = {
    **{f"llvm.amdgcn.{name}": thread(_checked(count)) for name, count in _OPERANDS.items()},
    "llvm.amdgcn.s.barrier": meeting(barrier),
}
