"""AMD's operations between the lanes of a wave: readlane, DPP, the LDS permutes, ballot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from flydsl.backends.host.collectives import ballot, lane_parts, permute, read_lane
from flydsl.backends.host.intrinsics.entry import HostIntrinsic, gather, immediate, meeting, thread
from flydsl.backends.host.matrix_lanes import place_table
from flydsl.backends.host.thread_loops import Workgroup
from flydsl.codegen.llvm_types import type_text
from flydsl.codegen.reading.op_view import fail
from flydsl.target.dpp import ROW, dpp_control


def _of_lane(wg: Workgroup, op: Operation, value: SSAValue, lane: str, missing: str = "zeroinitializer") -> None:
    """Bind the result to ``value`` of a lane of the current wave, or to ``missing`` if that lane does not run."""
    _, first = lane_parts(wg)
    wg.body.bind(op.results[0], read_lane(wg, value, wg.body.assign(f"add i64 {first}, {lane}"), missing))


def _wide(wg: Workgroup, text: str, mask: int) -> str:
    return wg.body.assign(f"and i64 {wg.body.assign(f'zext i32 {text} to i64')}, {mask}")


# Reads -----------------------------------------------------------------------------------------


def _readlane(wg: Workgroup, op: Operation) -> None:
    """The register of a lane, zero for one that is not in the branch; what was there before it is read there."""
    value, lane = op.operands
    if wg.plan.is_uniform(value):
        wg.body.bind(op.results[0], wg.body.operand(value))
    else:
        _of_lane(wg, op, value, _wide(wg, wg.body.operand(lane), wg.target.wave_size - 1))


def _bpermute(wg: Workgroup, op: Operation) -> None:
    """The address counts bytes, four to a lane, and wraps at the wave's end."""
    address, value = op.operands
    lane = wg.body.assign(f"lshr i32 {wg.body.operand(address)}, 2")
    _of_lane(wg, op, value, _wide(wg, lane, wg.target.wave_size - 1))


# Moves in an order that the instruction's encoding says -----------------------------------------

_ZERO, _OLD = -1, -2
"""Instead of the lane that a lane reads: what it gets without reading."""


def _move(wg: Workgroup, op: Operation, value: SSAValue, sources: Sequence[int], old: SSAValue | None = None) -> None:
    """Each lane takes ``value`` of its source; of one that does not run it takes ``old``, or zero without it."""
    body, result, type_ = wg.body, op.results[0], type_text(op.results[0].type)
    order = [lane + len(sources) if source < 0 else source for lane, source in enumerate(sources)]
    others = {source for source in sources if source < 0}
    if len(others) < 2 and permute(wg, result, value, op.operands[0] if _OLD in others else None, order):
        return
    table = place_table(body.scope, tuple(sources))

    def each() -> None:
        lane, first = lane_parts(wg)
        source = body.assign(f"load i32, ptr {body.assign(f'getelementptr i32, ptr @{table}, i64 {lane}')}")
        reads = body.assign(f"icmp sge i32 {source}, 0")
        place = body.assign(f"add i64 {first}, {body.assign(f'zext i32 {source} to i64')}")
        place = body.assign(f"select i1 {reads}, i64 {place}, i64 {wg.thread_number}")
        there = body.assign(f"icmp ult i64 {place}, {wg.threads}")
        if wg.mask is not None:
            safe = body.assign(f"select i1 {there}, i64 {place}, i64 {wg.thread_number}")
            there = body.assign(f"and i1 {there}, {wg.mask_bit(safe)}")
        missing = "zeroinitializer" if old is None else wg.value(old)
        found = f"{type_} {read_lane(wg, value, place)}, {type_} {missing}"
        chosen = body.assign(f"select i1 {body.assign(f'and i1 {reads}, {there}')}, {found}")
        if _OLD in others:
            left = body.assign(f"icmp eq i32 {source}, {_OLD}")
            chosen = body.assign(f"select i1 {left}, {type_} {wg.value(op.operands[0])}, {type_} {chosen}")
        wg.slots.store(result, chosen, wg.thread_number)

    wg.over_threads(each)


def _swizzle(wg: Workgroup, op: Operation) -> None:
    """ds_swizzle: the pattern's upper bits say how its lower ones name a lane of the same 32."""
    pattern = immediate(op, 1)
    if 0x8000 <= pattern < _ROTATE and pattern & 0x7F00:
        fail(op, f"the swizzle pattern {pattern:#x} is none that ds_swizzle has")
    _move(wg, op, op.operands[0], [_swizzled(pattern, lane) for lane in range(wg.target.wave_size)])


_ROTATE, _FOURIER = 0xC000, 0xE000


def _swizzled(pattern: int, lane: int) -> int:
    inside, kept = lane & 31, lane & pattern & 31
    if pattern >= _FOURIER:  # five bits in reverse, moved down by as many as stay in place
        source = int(f"{inside:05b}"[::-1], 2) >> (pattern & 31).bit_count() | kept
    elif pattern >= _ROTATE:
        amount = pattern >> 5 & 31
        source = inside + (-amount if pattern >> 10 & 1 else amount) & 31 & ~pattern | kept
    elif pattern & 0x8000:
        source = inside & -4 | pattern >> 2 * (lane & 3) & 3
    else:
        source = (kept | pattern >> 5 & 31) ^ pattern >> 10 & 31
    return lane & 32 | source


def _dpp(wg: Workgroup, op: Operation) -> None:
    """A lane takes another lane's value, keeps ``old`` where a mask excludes it, and takes zero or ``old`` where
    the source does not exist."""
    control = dpp_control(immediate(op, 2), wg.target)
    row_mask, bank_mask, bound = (immediate(op, index) for index in (3, 4, 5))
    sources = [_ZERO if bound else _OLD] * wg.target.wave_size
    for lane in range(len(sources)):
        if not row_mask >> lane // ROW & bank_mask >> lane % ROW // 4 & 1:
            sources[lane] = _OLD
        elif (source := control.source(lane)) is not None:
            sources[lane] = source
    _move(wg, op, op.operands[1], sources, None if bound else op.operands[0])


def _mov_dpp(wg: Workgroup, op: Operation) -> None:
    fail(op, "mov.dpp leaves lanes undefined", hint="use update_dpp, which says what they keep")


# Permutes of a whole row or half ---------------------------------------------------------------


def _permlane(across: bool) -> Any:
    """permlane16 and permlanex16: each lane of a row picks a lane of its row, or of the other one. From one that does
    not run it gets zero by bound_ctrl, and otherwise keeps what it had."""

    def run(wg: Workgroup, op: Operation) -> None:
        body = wg.body
        lane, _ = lane_parts(wg)
        low, high = (body.assign(f"zext i32 {body.operand(op.operands[i])} to i64") for i in (2, 3))
        pattern = body.assign(f"or i64 {low}, {body.assign(f'shl i64 {high}, 32')}")
        place = body.assign(f"shl i64 {body.assign(f'and i64 {lane}, 15')}, 2")
        picked = body.assign(f"and i64 {body.assign(f'lshr i64 {pattern}, {place}')}, 15")
        row = body.assign(f"and i64 {lane}, 48")
        if across:
            row = body.assign(f"xor i64 {row}, 16")
        missing = "zeroinitializer" if immediate(op, 5) else body.operand(op.operands[0])
        _of_lane(wg, op, op.operands[1], body.assign(f"or i64 {row}, {picked}"), missing)

    return run


# Meetings --------------------------------------------------------------------------------------


def _readfirstlane(wg: Workgroup, op: Operation) -> None:
    """The value of the lowest active lane, given to all."""
    body, value, result = wg.body, op.operands[0], op.results[0]
    type_ = type_text(result.type)
    found, place = body.fresh("first"), body.fresh("found")
    body.entry_line(f"{found} = alloca {type_}, align 16")
    body.entry_line(f"{place} = alloca i1, align 1")

    def each() -> None:
        known = body.assign(f"load i1, ptr {place}")
        before = body.assign(f"load {type_}, ptr {found}")
        chosen = body.assign(f"select i1 {known}, {type_} {before}, {type_} {wg.value(value)}")
        body.line(f"store {type_} {chosen}, ptr {found}")
        body.line(f"store i1 true, ptr {place}")

    wg.by_wave(
        lambda: body.line(f"store i1 false, ptr {place}"),
        each,
        lambda: wg.slots.store(result, body.assign(f"load {type_}, ptr {found}"), wg.thread_number),
    )


def _permute(wg: Workgroup, op: Operation) -> None:
    """ds_permute: a lane sends its value to another. The highest lane wins; a lane nobody sends to gets zero."""
    body, wave = wg.body, wg.target.wave_size
    address, value = op.operands
    table = body.fresh("sent")
    body.entry_line(f"{table} = alloca [{wave} x i32], align 16")

    def each() -> None:
        lane = body.assign(f"lshr i32 {wg.value(address)}, 2")
        place = body.assign(f"getelementptr i32, ptr {table}, i64 {_wide(wg, lane, wave - 1)}")
        body.line(f"store i32 {wg.value(value)}, ptr {place}")

    def end() -> None:
        lane, _ = lane_parts(wg)
        place = body.assign(f"getelementptr i32, ptr {table}, i64 {lane}")
        wg.slots.store(op.results[0], body.assign(f"load i32, ptr {place}"), wg.thread_number)

    wg.by_wave(lambda: body.line(f"store [{wave} x i32] zeroinitializer, ptr {table}"), each, end)


def _swap(rows: int) -> Any:
    """permlane swaps: odd groups of ``rows`` lanes of the first value and even ones of the second change places."""

    def run(wg: Workgroup, op: Operation) -> None:
        body, type_ = wg.body, "{ i32, i32 }"
        first, second = op.operands[:2]

        def each() -> None:
            lane, start = lane_parts(wg)
            odd = body.assign(f"icmp ne i64 {body.assign(f'and i64 {lane}, {rows}')}, 0")
            partner = body.assign(f"add i64 {start}, {body.assign(f'xor i64 {lane}, {rows}')}")
            mine = [wg.value(value) for value in (first, second)]
            theirs = [read_lane(wg, value, partner) for value in (first, second)]
            # An odd lane of the first takes the second's of its partner; an even lane of the second the first's.
            low = body.assign(f"select i1 {odd}, i32 {theirs[1]}, i32 {mine[0]}")
            high = body.assign(f"select i1 {odd}, i32 {mine[1]}, i32 {theirs[0]}")
            pair = body.assign(f"insertvalue {type_} poison, i32 {low}, 0")
            both = body.assign(f"insertvalue {type_} {pair}, i32 {high}, 1")
            wg.slots.store(op.results[0], both, wg.thread_number)

        wg.over_threads(each)

    return run


# Lane numbers ----------------------------------------------------------------------------------


def _count_below(high: bool) -> Any:
    """mbcnt: how many of a mask's bits belong to lanes below this one; the mask covers one half of the wave."""

    def run(wg: Workgroup, op: Operation) -> None:
        body = wg.body
        mask, base = (body.operand(x) for x in op.operands)
        lane, _ = lane_parts(wg)
        inside = body.assign(f"sub i64 {lane}, 32") if high else lane
        clamped = body.assign(f"call i64 @llvm.smax.i64(i64 {inside}, i64 0)")
        clamped = body.assign(f"call i64 @llvm.smin.i64(i64 {clamped}, i64 32)")
        below = body.assign(f"sub i64 {body.assign(f'shl i64 1, {clamped}')}, 1")
        bits = body.assign(f"and i32 {mask}, {body.assign(f'trunc i64 {below} to i32')}")
        count = body.assign(f"call i32 @llvm.ctpop.i32(i32 {bits})")
        body.bind(op.results[0], body.assign(f"add i32 {count}, {base}"))

    return run


ENTRIES: dict[str, HostIntrinsic] = {
    "llvm.amdgcn.readlane": gather(_readlane),
    "llvm.amdgcn.ds.bpermute": gather(_bpermute, 1),
    "llvm.amdgcn.ds.swizzle": meeting(_swizzle),
    "llvm.amdgcn.update.dpp": meeting(_dpp),
    "llvm.amdgcn.mov.dpp": gather(_mov_dpp),
    "llvm.amdgcn.permlane16": gather(_permlane(False), 1),
    "llvm.amdgcn.permlanex16": gather(_permlane(True), 1),
    "llvm.amdgcn.readfirstlane": meeting(_readfirstlane),
    "llvm.amdgcn.ds.permute": meeting(_permute),
    "llvm.amdgcn.permlane16.swap": meeting(_swap(16)),
    "llvm.amdgcn.permlane32.swap": meeting(_swap(32)),
    "llvm.amdgcn.ballot": meeting(ballot),
    "llvm.amdgcn.mbcnt.lo": thread(_count_below(False)),
    "llvm.amdgcn.mbcnt.hi": thread(_count_below(True)),
}
