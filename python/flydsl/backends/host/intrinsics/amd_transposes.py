"""Transposing reads of LDS (gfx950): 16 lanes read a row each, and every lane gets its column of the block.

The rows' granules, numbered in lane order, are cut into groups of 16; lane t of the sixteen takes the t-th granule
of every group. For 16-bit granules that is lane 4v + t/4, place t mod 4, as value v.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Operation

from flydsl.backends.host.access_kinds import READ
from flydsl.backends.host.collectives import lane_parts
from flydsl.backends.host.intrinsics.entry import Behaviour, HostIntrinsic, gather
from flydsl.codegen.llvm_types import type_text

if TYPE_CHECKING:
    from flydsl.backends.host.workgroup import WorkgroupEmitter

LANES = 16
"""Lanes that exchange granules."""


def _row(wg: WorkgroupEmitter, op: Operation, thread: str, bits: int) -> str:
    """The bits behind another thread's address; zero where that thread does not run."""
    body, pointer = wg.body, op.operands[0]
    type_ = type_text(pointer.type)
    exists = body.assign(f"icmp ult i64 {thread}, {wg.threads}")
    safe = body.assign(f"select i1 {exists}, i64 {thread}, i64 {wg.thread_number}")
    if wg.mask is not None:
        exists = body.assign(f"and i1 {exists}, {wg.mask_bit(safe)}")
        safe = body.assign(f"select i1 {exists}, i64 {safe}, i64 {wg.thread_number}")
    place = body.operand(pointer) if wg.plan.is_uniform(pointer) else wg.slots.load(pointer, safe)
    found = body.assign(f"load i{bits}, {type_} {place}, align 4")
    return body.assign(f"select i1 {exists}, i{bits} {found}, i{bits} 0")


def _transpose(granularity: int, bits: int) -> Behaviour:
    count = bits // granularity

    def run(wg: WorkgroupEmitter, op: Operation) -> None:
        body, pointer = wg.body, op.operands[0]
        own = body.operand(pointer) if wg.plan.is_uniform(pointer) else wg.slots.load(pointer, wg.thread_number)
        wg.access(op, pointer, f"{type_text(pointer.type)} {own}", bits // 8, READ)
        lane, start = lane_parts(wg)
        inside = body.assign(f"and i64 {lane}, {LANES - 1}")
        first = body.assign(f"add i64 {start}, {body.assign(f'sub i64 {lane}, {inside}')}")
        total = f"i{bits}"
        result = "0"
        for index in range(count):
            number = body.assign(f"add i64 {inside}, {LANES * index}")
            source = body.assign(f"add i64 {first}, {body.assign(f'udiv i64 {number}, {count}')}")
            row = _row(wg, op, source, bits)
            place = body.assign(f"mul i64 {body.assign(f'urem i64 {number}, {count}')}, {granularity}")
            cast = "zext" if bits > 64 else "bitcast"
            shift = body.assign(f"{cast} i64 {place} to {total}")
            granule = body.assign(
                f"and {total} {body.assign(f'lshr {total} {row}, {shift}')}, {(1 << granularity) - 1}"
            )
            moved = body.assign(f"shl {total} {granule}, {granularity * index}")
            result = body.assign(f"or {total} {result}, {moved}")
        body.bind(op.results[0], body.assign(f"bitcast {total} {result} to {type_text(op.results[0].type)}"))

    return run


_READS = {"tr4.b64": (4, 64), "tr6.b96": (6, 96), "tr8.b64": (8, 64), "tr16.b64": (16, 64)}
"""Instruction to (bits of a granule, bits a lane reads)."""

ENTRIES: dict[str, HostIntrinsic] = {
    f"llvm.amdgcn.ds.read.{name}": gather(_transpose(*facts)) for name, facts in _READS.items()
}
