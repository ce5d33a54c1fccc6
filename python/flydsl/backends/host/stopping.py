"""Places where a running kernel can be stopped: its beginning, and every loop that may take long.

A kernel looks at one word of its launch (`native/src/host_pool.c`): a load and a branch that is never taken. Loops that
LLVM may vectorise must not hold one, so a counted loop is cut into stretches, with a look before each of them; one that
is known to be short has none.
"""

from __future__ import annotations

from xdsl.ir import Operation, Region

from flydsl.backends.host.thread_loops import Workgroup
from flydsl.backends.host.waiting import Waiting
from flydsl.backends.launcher import site_of
from flydsl.base.native_names import SITE_BASE
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import type_text
from flydsl.codegen.reading.op_view import flag_prop
from flydsl.codegen.rules.rules_scf import emit_for, emit_stretch, emit_while
from flydsl.native.constants import DIMS_LAUNCH, LAUNCH_ATTENTION_AT, LAUNCH_CHECK_IN_AT
from flydsl.passes.shared.known_bits import constant_of

STRETCH = 4096
"""Iterations of a loop between two looks: microseconds of a thread, milliseconds of a workgroup of 1,024."""


class Stopping:
    """Writes the looks of one kernel."""

    def __init__(self, wg: Workgroup) -> None:
        self.wg = wg
        self.waiting = Waiting(wg)
        self._launch = ""

    def open(self) -> None:
        """At the beginning of the function: find the launch, and look a first time."""
        body = self.wg.body
        place = body.assign(f"getelementptr i64, ptr %dims, i64 {DIMS_LAUNCH}")
        self._launch = body.assign(f"load ptr, ptr {place}")
        self.waiting.open()
        body.rules = {**body.rules, **self.waiting.rules(dict(body.rules), self._launch)}
        self.look(self.wg.op)

    def iteration(self, op: Operation) -> None:
        """A loop that only the running kernel can end begins another iteration."""
        self.look(op)
        self.waiting.looked(op, self._launch)

    def left(self, op: Operation) -> None:
        """Such a loop has ended."""
        self.waiting.went_on(op, self._launch)

    def meet(self) -> None:
        """All threads are at a barrier: in a kernel that waits, other blocks may run first."""
        self.waiting.step(self._launch)

    def look(self, op: Operation) -> None:
        """Leave with a status that leads to this operation's line, if the launch is to be stopped."""
        body, sites = self.wg.body, self.wg.sites
        sites.append(site_of(op, "the kernel was stopped here"))
        word = body.assign(f"getelementptr i8, ptr {self._launch}, i64 {LAUNCH_ATTENTION_AT}")
        attention = body.assign(f"load atomic i32, ptr {word} monotonic, align 4")
        wanted = body.assign(f"icmp ne i32 {attention}, 0")
        rarely = body.assign(f"call i1 @llvm.expect.i1(i1 {wanted}, i1 false)")
        ask, stop, on = (body.fresh_label(part) for part in ("ask", "stop", "on"))
        body.branch_if(rarely, ask, on)
        body.start_block(ask)
        place = body.assign(f"getelementptr i8, ptr {self._launch}, i64 {LAUNCH_CHECK_IN_AT}")
        check_in = body.assign(f"load ptr, ptr {place}")
        status = body.assign(f"call i32 {check_in}(ptr {self._launch}, i32 {SITE_BASE + len(sites) - 1})")
        body.branch_if(body.assign(f"icmp ne i32 {status}, 0"), stop, on)
        body.start_block(stop)
        body.line(f"ret i32 {status}")
        body.start_block(on)

    # Loops of one thread ---------------------------------------------------------------------------------------------

    def rules(self) -> dict[str, Rule]:
        return {"scf.for": self._for, "scf.while": self._while}

    def _while(self, emitter: FunctionEmitter, op: Operation) -> None:
        emit_while(emitter, op, lambda: self.iteration(op))
        self.left(op)

    def _for(self, emitter: FunctionEmitter, op: Operation) -> None:
        if _iterations(op) <= STRETCH:
            emit_for(emitter, op)
        else:
            self._in_stretches(emitter, op)

    def _in_stretches(self, emitter: FunctionEmitter, op: Operation) -> None:
        counter, carried = op.regions[0].block.args[0], op.regions[0].block.args[1:]
        type_, less = type_text(counter.type), "ult" if flag_prop(op, "unsignedCmp") else "slt"
        shift = max(STRETCH // _iterations_inside(op.regions[0]), 1).bit_length() - 1
        lower, upper, step = (emitter.operand(value) for value in op.operands[:3])
        initial = [emitter.operand(value) for value in op.operands[3:]]
        head, stretch, done = (emitter.fresh_label(f"stretch.{part}") for part in ("head", "body", "done"))
        before = emitter.current_label
        emitter.branch(head)
        emitter.start_block(head)
        names = [emitter.fresh("from"), *(emitter.fresh("v") for _ in carried)]
        slots = [emitter.reserve_line() for _ in names]
        emitter.branch_if(emitter.assign(f"icmp {less} {type_} {names[0]}, {upper}"), stretch, done)
        emitter.start_block(stretch)
        self.look(op)
        size = emitter.assign(f"call {type_} @llvm.ushl.sat.{type_}({type_} {step}, {type_} {shift})")
        left = emitter.assign(f"sub {type_} {upper}, {names[0]}")
        far = emitter.assign(f"icmp ugt {type_} {left}, {size}")
        there = emitter.assign(f"add {type_} {names[0]}, {size}")
        end = emitter.assign(f"select i1 {far}, {type_} {there}, {type_} {upper}")
        emit_stretch(emitter, op, (names[0], end, step), names[1:])
        latch = emitter.current_label
        after = [emitter.operand(counter), *(emitter.operand(result) for result in op.results)]
        emitter.branch(head)
        types = [type_, *(type_text(value.type) for value in carried)]
        for slot, name, kind, first, again in zip(slots, names, types, [lower, *initial], after, strict=True):
            emitter.fill_phi(slot, name, kind, [(first, before), (again, latch)])
        emitter.start_block(done)
        for result, name in zip(op.results, names[1:], strict=True):
            emitter.bind(result, name)


def _iterations(op: Operation) -> int:
    """Return how many iterations a counted loop and those inside take between two looks; too many, where that is
    unknown."""
    lower, upper, step = (constant_of(o) for o in op.operands[:3])
    if lower is None or upper is None or not step:
        return STRETCH + 1
    return max(upper - lower + step - 1, 0) // step * _iterations_inside(op.regions[0])


def _iterations_inside(region: Region) -> int:
    """Iterations within one iteration of a loop, itself counted as one. Loops that look themselves do not count."""
    total = 1
    for op in region.block.ops:
        if op.name == "scf.for":
            iterations = _iterations(op)
            total += iterations if iterations <= STRETCH else 0
        else:
            total += sum(_iterations_inside(inner) - 1 for inner in op.regions if inner.blocks)
    return total
