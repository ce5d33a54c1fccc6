"""Waits, priorities and scheduling hints: the host does most things in order, so little is left to do.

Copies into LDS are the exception: they land when their counter is waited for (`asynchrony`). Operands are checked in
any case, because the hardware encodes them in the instruction. Inline assembly is read here: the host runs what
consists of such instructions and barriers, or of nothing, and refuses any other with its line.
"""

from __future__ import annotations

import re

from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Operation

from flydsl.backends.host.asynchrony import ENGINE, GROUPS
from flydsl.backends.host.collectives import barrier
from flydsl.backends.host.intrinsics.entry import Behaviour, HostIntrinsic, immediate, meeting, thread
from flydsl.backends.host.thread_loops import Workgroup
from flydsl.codegen.llvm_types import type_text
from flydsl.codegen.reading.op_view import text_prop
from flydsl.target.wait_counts import WAIT_FIELDS, decode_wait, wait_generation


def _checked(operands: int) -> Behaviour:
    def run(wg: Workgroup, op: Operation) -> None:
        for index in range(operands):
            immediate(op, index)

    return run


def _wait_counts(wg: Workgroup, op: Operation) -> None:
    """s_waitcnt: vmcnt counts copies into LDS, in order, among the other operations on vector memory."""
    word, generation = immediate(op, 0), wait_generation(wg.target.generation)
    count = decode_wait(word, generation)["vmcnt"]
    most = next(field.most for field in WAIT_FIELDS[generation] if field.name == "vmcnt")
    if wg.asynchrony is not None and count < most:
        wg.work.call("copy_wait", wg.work.queue(GROUPS), f"i64 {count}")


def _wait_async(wg: Workgroup, op: Operation) -> None:
    count = immediate(op, 0)
    if wg.asynchrony is not None:
        wg.work.call("copy_wait", wg.work.queue(GROUPS), f"i64 {count}")


def _wait_tensor(wg: Workgroup, op: Operation) -> None:
    """A wave's tiles wait in the queue of its first thread."""
    count = immediate(op, 0)
    if wg.asynchrony is not None:
        first = wg.body.assign(f"and i64 {wg.thread_number}, -{wg.target.wave_size}")
        wg.work.call("copy_wait", wg.work.queue(ENGINE, first), f"i64 {count}")


def _check_modes(wg: Workgroup, op: Operation) -> None:
    if wg.sanitizer is not None:
        wg.sanitizer.check_modes(op)


_OPERANDS = {
    "s.wait.loadcnt": 1, "s.wait.storecnt": 1, "s.wait.dscnt": 1, "s.wait.kmcnt": 1,
    "s.wait.expcnt": 1, "sched.barrier": 1, "sched.group.barrier": 3,
    "iglp.opt": 1, "s.setprio": 1, "s.sleep": 1, "s.nop": 1, "wave.barrier": 0, "s.setreg": 2, "global.prefetch": 0,
}  # fmt: skip
"""Instruction to the number of operands it encodes."""

_BARRIER = "llvm.amdgcn.s.barrier"
_ASM_BARRIER, _ASM_NOTHING, _ASM_IDENTITY = "asm.barrier", "asm.nothing", "asm.identity"
IDLE = re.compile(
    r"s_nop|s_waitcnt\w*|s_wait_\w+|s_sleep|s_setprio|s_delay_alu|s_sethalt|s_clause|buffer_(inv|wbl2|gl\w+_inv)|"
    r"global_(inv|wb|wbinv)|s_(i|d)cache_\w+"
)
"""Instructions that wait for, order or hint at other work, which on the host is done already."""
_PASSED = re.compile(r"(=\w+,)+(\d+,?)+(,?~\{\w+\})*")
"""Constraints of assembly whose results lie in the registers of its operands."""


def assembly_name(op: Operation) -> str:
    """Return what inline assembly that is no instruction of the PTX table does: a name of the table, or one it
    lacks."""
    text, constraints = (text_prop(op, name) for name in ("asm_string", "constraints"))
    found = [part.split()[0] for part in re.split(r"[\n;]", re.sub(r"//.*|/\*.*?\*/", "", text)) if part.strip()]
    rest = [name for name in found if not IDLE.fullmatch(name)]
    if op.results:
        return _ASM_IDENTITY if not found and _is_passed(op, constraints) else f"asm.{' '.join(found) or 'value'}"
    if rest == ["s_barrier"]:
        return _ASM_BARRIER
    return f"asm.{' '.join(rest)}" if rest else _ASM_NOTHING


def _is_passed(op: Operation, constraints: str) -> bool:
    """Return whether every result is the operand of the same number."""
    tied = [int(part) for part in constraints.split(",") if part.isdigit()]
    return _PASSED.fullmatch(constraints) is not None and tied == list(range(len(op.operands)))


def _idle_assembly(wg: Workgroup, op: Operation) -> None:
    """Assembly that waits for some memory operations, we cannot tell which, waits for all copies."""
    if wg.asynchrony is not None and "s_wait" in text_prop(op, "asm_string"):
        for kind in (GROUPS, ENGINE):
            wg.work.call("copy_wait_all", wg.work.queue(kind), "i64 1")


def _identity(wg: Workgroup, op: Operation) -> None:
    body, result = wg.body, op.results[0]
    if not isinstance(result.type, LLVMStructType):
        body.bind(result, wg.value(op.operands[0]))
        return
    made, type_ = "poison", type_text(result.type)
    for index, operand in enumerate(op.operands):
        made = body.assign(f"insertvalue {type_} {made}, {type_text(operand.type)} {wg.value(operand)}, {index}")
    body.bind(result, made)


ENTRIES: dict[str, HostIntrinsic] = {
    **{f"llvm.amdgcn.{name}": thread(_checked(count)) for name, count in _OPERANDS.items()},
    "fly.check.modes": thread(_check_modes),
    "llvm.amdgcn.s.waitcnt": thread(_wait_counts),
    "llvm.amdgcn.s.wait.asynccnt": thread(_wait_async),
    "llvm.amdgcn.s.wait.tensorcnt": thread(_wait_tensor),
    _BARRIER: meeting(barrier),
    _ASM_BARRIER: meeting(barrier),
    _ASM_NOTHING: thread(_idle_assembly),
    _ASM_IDENTITY: thread(_identity),
}
