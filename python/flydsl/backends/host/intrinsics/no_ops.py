"""Waits, priorities and scheduling hints: the host does most things in order, so little is left to do.

Copies into LDS are the exception: they land when their counter is waited for (`asynchrony`). Operands are checked in
any case, because the hardware encodes them in the instruction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Operation

from flydsl.backends.host.asynchrony import ENGINE, GROUPS
from flydsl.backends.host.collectives import barrier
from flydsl.backends.host.intrinsics.entry import Behaviour, HostIntrinsic, immediate, meeting, thread
from flydsl.target.wait_counts import WAIT_FIELDS, decode_wait, wait_generation

if TYPE_CHECKING:
    from flydsl.backends.host.workgroup import WorkgroupEmitter


def _checked(operands: int) -> Behaviour:
    def run(wg: WorkgroupEmitter, op: Operation) -> None:
        for index in range(operands):
            immediate(op, index)

    return run


def _wait_counts(wg: WorkgroupEmitter, op: Operation) -> None:
    """s_waitcnt: vmcnt counts copies into LDS, in order, among the other operations on vector memory."""
    word, generation = immediate(op, 0), wait_generation(wg.target.generation)
    count = decode_wait(word, generation)["vmcnt"]
    most = next(field.most for field in WAIT_FIELDS[generation] if field.name == "vmcnt")
    if wg.asynchrony is not None and count < most:
        wg.work.call("copy_wait", wg.work.queue(GROUPS), f"i64 {count}")


def _wait_async(wg: WorkgroupEmitter, op: Operation) -> None:
    count = immediate(op, 0)
    if wg.asynchrony is not None:
        wg.work.call("copy_wait", wg.work.queue(GROUPS), f"i64 {count}")


def _wait_tensor(wg: WorkgroupEmitter, op: Operation) -> None:
    """A wave's tiles wait in the queue of its first thread."""
    count = immediate(op, 0)
    if wg.asynchrony is not None:
        first = wg.body.assign(f"and i64 {wg.thread_number}, -{wg.target.wave_size}")
        wg.work.call("copy_wait", wg.work.queue(ENGINE, first), f"i64 {count}")


def _check_modes(wg: WorkgroupEmitter, op: Operation) -> None:
    if wg.sanitizer is not None:
        wg.sanitizer.check_modes(op)


_OPERANDS = {
    "s.wait.loadcnt": 1, "s.wait.storecnt": 1, "s.wait.dscnt": 1, "s.wait.kmcnt": 1,
    "s.wait.expcnt": 1, "sched.barrier": 1, "sched.group.barrier": 3,
    "iglp.opt": 1, "s.setprio": 1, "s.sleep": 1, "s.nop": 1, "wave.barrier": 0, "s.setreg": 2, "global.prefetch": 0,
}  # fmt: skip
"""Instruction to the number of operands it encodes."""

ENTRIES: dict[str, HostIntrinsic] = {
    **{f"llvm.amdgcn.{name}": thread(_checked(count)) for name, count in _OPERANDS.items()},
    "fly.check.modes": thread(_check_modes),
    "llvm.amdgcn.s.waitcnt": thread(_wait_counts),
    "llvm.amdgcn.s.wait.asynccnt": thread(_wait_async),
    "llvm.amdgcn.s.wait.tensorcnt": thread(_wait_tensor),
    "llvm.amdgcn.s.barrier": meeting(barrier),
}
