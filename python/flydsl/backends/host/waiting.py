"""Blocks that wait in a loop for what other blocks, or other ranks, write.

Such a loop reads memory in its condition. The kernel then tells the scheduler (`native/src/host_ranks.h`) after each
look in vain, so that others run, and when it goes on. Before an atomic write, which others may wait for, the scheduler
may let them run first: that is how different orders of events come about.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Operation

from flydsl.backends.host.thread_loops import Workgroup
from flydsl.backends.launcher import site_of
from flydsl.base.native_names import SITE_BASE, SPIN, STEP
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import address_space
from flydsl.codegen.reading.op_view import int_prop
from flydsl.dialects.upstream import walked

NEVER, PERHAPS, CERTAINLY = range(3)
_READS = {"llvm.load": 0, "llvm.atomicrmw": 0, "llvm.cmpxchg": 0}
"""Operations that read memory to the operand that is their pointer."""
_ATOMIC = ("llvm.atomicrmw", "llvm.cmpxchg", "llvm.store")
_OWN_SPACES = (3, 5)
"""Shared memory and registers, which no other block writes."""
WAITS = """\
a block waits here forever
let every block that is waited for be launched, and signal it before it waits itself"""


def waits(op: Operation) -> bool:
    """Return whether a loop goes on until memory that others write has some value."""
    return op.name == "scf.while" and any(True for _ in _looks(op))


def _looks(loop: Operation) -> Iterator[Operation]:
    for op in loop.regions[0].walk():
        if op.name in _READS:
            pointer = op.operands[_READS[op.name]].type
            if isinstance(pointer, LLVMPointerType) and address_space(pointer) not in _OWN_SPACES:
                yield op


def waiting_kind(kernel: Operation) -> int:
    """Return whether blocks of a kernel wait for others: certainly if a loop has an atomic look, perhaps with a plain
    one."""
    looks = [op for loop in walked(kernel) if loop.name == "scf.while" for op in _looks(loop)]
    if not looks:
        return NEVER
    return CERTAINLY if any(is_atomic(op) for op in looks) else PERHAPS


def is_atomic(op: Operation) -> bool:
    return op.name in ("llvm.atomicrmw", "llvm.cmpxchg") or int_prop(op, "ordering") > 0


class Waiting:
    """Writes the calls of one kernel."""

    def __init__(self, wg: Workgroup) -> None:
        self.wg = wg
        self.kind = waiting_kind(wg.op)

    def open(self) -> None:
        if self.kind:
            self.wg.module.scope.declare(SPIN, "void", ["ptr", "i32"])
            self.wg.module.scope.declare(STEP, "void", ["ptr"])

    def looked(self, loop: Operation, launch: str) -> None:
        """A loop begins another iteration: what it waits for is not there."""
        if not waits(loop):
            return
        self.wg.sites.append(site_of(loop, WAITS))
        site = SITE_BASE + len(self.wg.sites) - 1
        if self.wg.apart:
            self.wg.body.line(f"call void @fly.look(ptr %run, ptr {launch}, ptr @{SPIN}, i32 {site})")
        else:
            self.wg.body.line(f"call void @{SPIN}(ptr {launch}, i32 {site})")

    def went_on(self, loop: Operation, launch: str) -> None:
        """A loop has ended."""
        if waits(loop):
            if self.wg.apart:
                self.wg.body.line("call void @fly.progress(ptr %run)")
            self.step(launch)

    def step(self, launch: str) -> None:
        if self.kind:
            self.wg.body.line(f"call void @{STEP}(ptr {launch})")

    def rules(self, plain: dict[str, Rule], launch: str) -> dict[str, Rule]:
        """Return the rules of operations that others may wait for."""

        def stepping(name: str) -> Rule:
            def rule(emitter: FunctionEmitter, op: Operation) -> None:
                pointer = op.operands[1 if name == "llvm.store" else 0].type
                own = isinstance(pointer, LLVMPointerType) and address_space(pointer) in _OWN_SPACES
                if is_atomic(op) and not own:
                    self.step(launch)
                plain[name](emitter, op)

            return rule

        return {name: stepping(name) for name in _ATOMIC if name in plain} if self.kind else {}
