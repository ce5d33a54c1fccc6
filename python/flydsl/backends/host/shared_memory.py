"""Shared memory (LDS) on the host: the first bytes of a workgroup's scratch.

Addresses inside it count from 0, as on the device: a shared pointer turned into a 32-bit integer is
its offset, and back.
"""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Operation

from flydsl.backends.host.analysis.shared_accesses import BEYOND, SharedBounds, is_shared
from flydsl.backends.host.fibers import COUNTERS
from flydsl.backends.host.slots import BUFFER_DESCRIPTOR, aligned_up
from flydsl.backends.host.thread_loops import Workgroup
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import type_text
from flydsl.dialects.fly.payload import DYNAMIC_SHARED

ALIGN = 1024


class SharedMemory:
    """The shared globals of a gpu module and where each lies in scratch."""

    def __init__(self, globals_: dict[str, int]) -> None:
        self.sizes = globals_
        self.offsets: dict[str, int] = {}
        at = 0
        for name, size in globals_.items():
            at = -(-at // ALIGN) * ALIGN
            self.offsets[name] = at
            at += size
        self.static_end = at
        self.static_bytes = -(-at // ALIGN) * ALIGN
        self.base = "%scratch"
        self.end = "%scratch"
        self.counters = "%scratch"
        """Where counters of barriers lie, behind shared memory and before the arrays of threads."""
        self.held = "0"
        """Bytes that the kernel has; what lies behind them is no shared memory."""

    def open(self, wg: Workgroup) -> None:
        """Name the start of shared memory and put the per-thread arrays behind it."""
        body = wg.body
        dynamic_slot = body.assign("getelementptr i64, ptr %dims, i64 6")
        dynamic = body.assign(f"load i64, ptr {dynamic_slot}")
        total = body.assign(f"add i64 {dynamic}, {self.static_bytes}")
        self.end = body.assign(f"getelementptr i8, ptr %scratch, i64 {total}")
        none = body.assign(f"icmp eq i64 {dynamic}, 0")
        self.held = body.assign(f"select i1 {none}, i64 {self.static_end}, i64 {total}")
        behind = aligned_up(body, total)
        self.counters = wg.slots.origin = body.assign(f"getelementptr i8, ptr %scratch, i64 {behind}")
        if wg.apart:
            wg.slots.origin = body.assign(f"getelementptr i8, ptr {self.counters}, i64 {COUNTERS}")
        self.base = body.assign("ptrtoint ptr %scratch to i64")

    def holds(self, body: FunctionEmitter, pointer: str, size: int) -> str:
        """Return whether so many bytes from a shared address on lie in what the kernel has."""
        offset = body.assign(f"sub i64 {body.assign(f'ptrtoint ptr addrspace(3) {pointer} to i64')}, {self.base}")
        inside = body.assign(f"icmp sle i64 {offset}, {body.assign(f'sub i64 {self.held}, {size}')}")
        return body.assign(f"and i1 {inside}, {body.assign(f'icmp sge i64 {offset}, 0')}")

    def check_end(self, wg: Workgroup, op: Operation, end: str) -> None:
        """Report an access, by its line, that ends behind shared memory; ``end`` counts from its start."""
        body = wg.body
        held = body.assign(f"sub i64 {body.assign(f'ptrtoint ptr {self.end} to i64')}, {self.base}")
        wg.fail_if(body.assign(f"icmp ugt i64 {end}, {held}"), op, BEYOND)

    def rules(self, wg: Workgroup) -> dict[str, Rule]:
        def address_of(body: FunctionEmitter, op: Operation) -> None:
            name = op.properties["global_name"].root_reference.data  # type: ignore[union-attr]
            offset = self.static_bytes if name == DYNAMIC_SHARED else self.offsets[name]
            place = body.assign(f"getelementptr i8, ptr %scratch, i64 {offset}")
            body.bind(op.results[0], body.assign(f"addrspacecast ptr {place} to {type_text(op.results[0].type)}"))

        default_to_int, default_to_ptr = wg.module.rules["llvm.ptrtoint"], wg.module.rules["llvm.inttoptr"]

        def to_int(body: FunctionEmitter, op: Operation) -> None:
            if type_text(op.operands[0].type) == BUFFER_DESCRIPTOR:
                body.bind(op.results[0], body.operand(op.operands[0]))  # a number already
                return
            if not is_shared(op.operands[0].type):
                default_to_int(body, op)
                return
            raw = body.assign(f"ptrtoint {body.typed(op.operands[0])} to i64")
            offset = body.assign(f"sub i64 {raw}, {self.base}")
            wanted = type_text(op.results[0].type)
            body.bind(op.results[0], offset if wanted == "i64" else body.assign(f"trunc i64 {offset} to {wanted}"))

        def to_ptr(body: FunctionEmitter, op: Operation) -> None:
            if type_text(op.results[0].type) == BUFFER_DESCRIPTOR:
                body.bind(op.results[0], body.operand(op.operands[0]))
                return
            if not is_shared(op.results[0].type):
                default_to_ptr(body, op)
                return
            given = type_text(op.operands[0].type)
            offset = body.operand(op.operands[0])
            wide = offset if given == "i64" else body.assign(f"sext {given} {offset} to i64")  # so that steps wrap
            raw = body.assign(f"add i64 {self.base}, {wide}")
            body.bind(op.results[0], body.assign(f"inttoptr i64 {raw} to {type_text(op.results[0].type)}"))

        made: dict[str, Rule] = {"llvm.mlir.addressof": address_of, "llvm.ptrtoint": to_int, "llvm.inttoptr": to_ptr}
        known = wg.op.attributes.get("gpu.known_block_size")
        block = list(known.get_values()) if isinstance(known, DenseArrayBase) else None
        self.bounds = SharedBounds(wg, self.offsets, self.static_end, block)
        return made | self.bounds.rules(dict(wg.module.rules))
