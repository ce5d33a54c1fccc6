"""What surrounds wgmma on the host: groups of products, and the wait that hands accumulators out.

A product lands when a wave of its warpgroup waits for the group (`native/src/async_work.c`). Until then registers hold
handles, which pass through moves, loops and further products unchanged and are no numbers to anybody else.
"""

from __future__ import annotations

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue

from flydsl.backends.host.accumulators import REGISTER
from flydsl.backends.host.intrinsics.entry import Behaviour, HostIntrinsic, meeting
from flydsl.backends.host.intrinsics.nvidia_copies import asm_number
from flydsl.backends.host.matrix_registers import result_registers
from flydsl.backends.host.thread_loops import Workgroup
from flydsl.codegen.llvm_types import type_text


def _registers(value: SSAValue) -> int:
    return value.type.get_shape()[0] if isinstance(value.type, VectorType) else 1


def _of_waves(function: str) -> Behaviour:
    """Return what each wave does once: close its group, show its registers to products."""

    def run(wg: Workgroup, op: Operation) -> None:
        if wg.asynchrony is not None:
            wg.work.call(function, f"i64 {wg.work.thread(wg.first)}", f"i64 {wg.present()}")

    return run


def _wait(wg: Workgroup, op: Operation) -> None:
    """Registers pass through; those whose products have landed become numbers."""
    result = result_registers(wg, op.results[0])

    def pass_on() -> None:
        place, at = result.address(wg, wg.thread_number), 0
        for operand in op.operands:
            target = wg.body.assign(f"getelementptr i8, ptr {place}, i64 {at}")
            wg.body.line(f"store {type_text(operand.type)} {wg.value(operand)}, ptr {target}, align {REGISTER}")
            at += REGISTER * _registers(operand)

    wg.over_threads(pass_on)
    if wg.asynchrony is not None:
        wg.work.call(
            "product_wait", f"i64 {wg.work.thread(wg.first)}", f"i64 {wg.present()}", f"i64 {asm_number(op)}",
            f"ptr {result.address(wg, wg.first)}", f"i64 {result.bytes}",
            f"i64 {sum(_registers(operand) for operand in op.operands)}",
        )  # fmt: skip


ENTRIES: dict[str, HostIntrinsic] = {
    "ptx.wgmma.wait_group": meeting(_wait),
    "llvm.nvvm.wgmma.fence": meeting(_of_waves("product_fence")),
    "llvm.nvvm.wgmma.commit_group": meeting(_of_waves("product_commit")),
}
