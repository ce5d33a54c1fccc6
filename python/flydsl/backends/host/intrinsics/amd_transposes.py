"""Transposing reads of LDS (gfx950, gfx1250): lanes read a row each, and every lane gets its column of the block.

The rows' granules are numbered in lane order; `TRANSPOSES` says which of them are a lane's values.
"""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.backends.host.collectives import lane_parts
from flydsl.backends.host.intrinsics.entry import Behaviour, HostIntrinsic, gather
from flydsl.backends.host.thread_loops import READ, Workgroup
from flydsl.codegen.llvm_types import type_text
from flydsl.layout import int_tuple as it
from flydsl.layout.layout import Layout
from flydsl.target.copy_rocdl import TRANSPOSES

SHARED = "ptr addrspace(3)"


def _row(wg: Workgroup, op: Operation, thread: str) -> tuple[str, str]:
    """Return (address that another thread gave, whether that thread runs); one's own address where it does not."""
    body, pointer = wg.body, op.operands[0]
    exists = body.assign(f"icmp ult i64 {thread}, {wg.threads}")
    safe = body.assign(f"select i1 {exists}, i64 {thread}, i64 {wg.thread_number}")
    if wg.mask is not None:
        exists = body.assign(f"and i1 {exists}, {wg.mask_bit(safe)}")
        safe = body.assign(f"select i1 {exists}, i64 {safe}, i64 {wg.thread_number}")
    return body.operand(pointer) if wg.plan.is_uniform(pointer) else wg.slots.load(pointer, safe), exists


def _byte(wg: Workgroup, pointer: str, index: str) -> str:
    body = wg.body
    found = body.assign(f"load i8, {SHARED} {body.assign(f'getelementptr i8, {SHARED} {pointer}, i64 {index}')}")
    return body.assign(f"zext i8 {found} to i32")


def _granule(wg: Workgroup, op: Operation, thread: str, bit: str, granularity: int, row_bytes: int) -> str:
    """Return the bits of a granule in another thread's row; zero from a thread that does not run."""
    body = wg.body
    pointer, exists = _row(wg, op, thread)
    first = body.assign(f"lshr i64 {bit}, 3")
    second = body.assign(f"call i64 @llvm.umin.i64(i64 {body.assign(f'add i64 {first}, 1')}, i64 {row_bytes - 1})")
    low, high = _byte(wg, pointer, first), _byte(wg, pointer, second)
    both = body.assign(f"or i32 {low}, {body.assign(f'shl i32 {high}, 8')}")
    inside = body.assign(f"trunc i64 {body.assign(f'and i64 {bit}, 7')} to i32")
    code = body.assign(f"and i32 {body.assign(f'lshr i32 {both}, {inside}')}, {(1 << granularity) - 1}")
    return body.assign(f"select i1 {exists}, i32 {code}, i32 0")


def _number(wg: Workgroup, lane: str, mode: Layout) -> str:
    """Return where a lane's granules begin: the value at ``lane`` of a layout over lanes."""
    body, total, below = wg.body, "0", 1
    for size, stride in zip(it.leaves(mode.shape), it.leaves(mode.stride), strict=True):
        digit = body.assign(f"urem i64 {body.assign(f'udiv i64 {lane}, {below}')}, {size}")
        total = body.assign(f"add i64 {total}, {body.assign(f'mul i64 {digit}, {stride}')}")
        below *= int(size)
    return total


def _transpose(granularity: int, bits: int, destination: Layout) -> Behaviour:
    count = bits // granularity
    lanes, values = destination[0], destination[1]
    group = lanes.size()

    def run(wg: Workgroup, op: Operation) -> None:
        body, pointer = wg.body, op.operands[0]
        own = body.operand(pointer) if wg.plan.is_uniform(pointer) else wg.slots.load(pointer, wg.thread_number)
        wg.access(op, pointer, f"{SHARED} {own}", bits // 8, READ)
        lane, start = lane_parts(wg)
        inside = body.assign(f"and i64 {lane}, {group - 1}")
        first = body.assign(f"add i64 {start}, {body.assign(f'sub i64 {lane}, {inside}')}")
        mine = _number(wg, inside, lanes)
        words = ["0"] * (bits // 32)
        for index in range(count):
            number = body.assign(f"add i64 {mine}, {values(index)}")
            source = body.assign(f"add i64 {first}, {body.assign(f'udiv i64 {number}, {count}')}")
            bit = body.assign(f"mul i64 {body.assign(f'urem i64 {number}, {count}')}, {granularity}")
            code = _granule(wg, op, source, bit, granularity, bits // 8)
            word, place = divmod(index * granularity, 32)
            words[word] = body.assign(f"or i32 {words[word]}, {body.assign(f'shl i32 {code}, {place}')}")
            if place + granularity > 32:
                rest = body.assign(f"lshr i32 {code}, {32 - place}")
                words[word + 1] = body.assign(f"or i32 {words[word + 1]}, {rest}")
        vector, type_ = "poison", f"<{bits // 32} x i32>"
        for index, word in enumerate(words):
            vector = body.assign(f"insertelement {type_} {vector}, i32 {word}, i32 {index}")
        body.bind(op.results[0], body.assign(f"bitcast {type_} {vector} to {type_text(op.results[0].type)}"))

    return run


ENTRIES: dict[str, HostIntrinsic] = {
    f"llvm.amdgcn.ds.{verb}.tr{granularity}.b{bits}": gather(_transpose(granularity, bits, layout))
    for verb, generation in (("read", "cdna4"), ("load", "cdna5"))
    for (granularity, bits), layout in TRANSPOSES[generation].items()
}
