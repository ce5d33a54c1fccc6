"""AMD's operations between the lanes of a wave: readlane, DPP, the LDS permutes, ballot."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation

from flydsl.backends.host.collectives import ballot, lane_parts, read_lane
from flydsl.backends.host.intrinsics.entry import HostIntrinsic, gather, immediate, meeting, thread
from flydsl.backends.host.thread_loops import Workgroup
from flydsl.codegen.llvm_types import type_text
from flydsl.codegen.reading.op_view import fail
from flydsl.target.dpp import ROW, DppControl, dpp_control


def _value_of(wg: Workgroup, value: Any, place: str) -> str:
    """Return the value that thread number ``place`` holds; zero where that thread does not run."""
    return wg.body.operand(value) if wg.plan.is_uniform(value) else read_lane(wg, value, place)


def _of_lane(wg: Workgroup, op: Operation, value: Any, lane: str) -> None:
    """Bind the result to ``value`` of a lane of the current wave."""
    _, first = lane_parts(wg)
    wg.body.bind(op.results[0], _value_of(wg, value, wg.body.assign(f"add i64 {first}, {lane}")))


def _wide(wg: Workgroup, text: str, mask: int) -> str:
    return wg.body.assign(f"and i64 {wg.body.assign(f'zext i32 {text} to i64')}, {mask}")


# Reads -----------------------------------------------------------------------------------------


def _readlane(wg: Workgroup, op: Operation) -> None:
    """The register of a lane, zero for one that is not in the branch; what was there before it is read there."""
    value, lane = op.operands
    _of_lane(wg, op, value, _wide(wg, wg.body.operand(lane), wg.target.wave_size - 1))


def _bpermute(wg: Workgroup, op: Operation) -> None:
    """The address counts bytes, four to a lane, and wraps at the wave's end."""
    address, value = op.operands
    lane = wg.body.assign(f"lshr i32 {wg.body.operand(address)}, 2")
    _of_lane(wg, op, value, _wide(wg, lane, wg.target.wave_size - 1))


def _swizzle(wg: Workgroup, op: Operation) -> None:
    """ds_swizzle: the pattern's upper bits say how its lower ones name a lane of the same 32."""
    body, pattern = wg.body, immediate(op, 1)
    lane, _ = lane_parts(wg)
    inside = body.assign(f"and i64 {lane}, 31")
    if pattern >= _FOURIER:
        source = _fourier(wg, inside, pattern & 31)
    elif pattern >= _ROTATE:
        amount, mask = pattern >> 5 & 31, pattern & 31
        moved = body.assign(f"add i64 {inside}, {32 - amount if pattern >> 10 & 1 else amount}")
        turned, fixed = body.assign(f"and i64 {moved}, {31 & ~mask}"), body.assign(f"and i64 {inside}, {mask}")
        source = body.assign(f"or i64 {turned}, {fixed}")
    elif pattern & 0x8000:
        if pattern & 0x7F00:
            fail(op, f"the swizzle pattern {pattern:#x} is none that ds_swizzle has")
        source = _quad(wg, inside, pattern & 0xFF)
    else:
        kept = body.assign(f"and i64 {inside}, {pattern & 31}")
        source = body.assign(f"xor i64 {body.assign(f'or i64 {kept}, {pattern >> 5 & 31}')}, {pattern >> 10 & 31}")
    half = body.assign(f"and i64 {lane}, 32")
    _of_lane(wg, op, op.operands[0], body.assign(f"or i64 {half}, {source}"))


_ROTATE, _FOURIER = 0xC000, 0xE000


def _fourier(wg: Workgroup, lane: str, mask: int) -> str:
    """Return the lane's five bits in reverse, moved down by as many as ``mask`` keeps in place."""
    body = wg.body
    turned = "0"
    for bit in range(5):
        one = body.assign(f"and i64 {body.assign(f'lshr i64 {lane}, {bit}')}, 1")
        turned = body.assign(f"or i64 {turned}, {body.assign(f'shl i64 {one}, {4 - bit}')}")
    lower = body.assign(f"lshr i64 {turned}, {mask.bit_count()}")
    return body.assign(f"or i64 {lower}, {body.assign(f'and i64 {lane}, {mask}')}")


def _quad(wg: Workgroup, lane: str, pattern: int) -> str:
    """Return the lane of the same four that two bits of ``pattern`` name."""
    body = wg.body
    place = body.assign(f"shl i64 {body.assign(f'and i64 {lane}, 3')}, 1")
    picked = body.assign(f"and i64 {body.assign(f'lshr i64 {pattern}, {place}')}, 3")
    return body.assign(f"or i64 {body.assign(f'and i64 {lane}, -4')}, {picked}")


# DPP -------------------------------------------------------------------------------------------


def _dpp(wg: Workgroup, op: Operation) -> None:
    """A lane takes another lane's value, keeps ``old`` where a mask excludes it, and takes zero or ``old`` where
    the source does not exist."""
    body = wg.body
    old, value = op.operands[:2]
    control = dpp_control(immediate(op, 2), wg.target)
    row_mask, bank_mask, bound = (immediate(op, index) for index in (3, 4, 5))
    type_ = type_text(op.results[0].type)
    lane, first = lane_parts(wg)
    source, exists = _dpp_source(wg, control, lane)
    place = body.assign(f"add i64 {first}, {source}")
    place = body.assign(f"select i1 {exists}, i64 {place}, i64 {wg.thread_number}")
    there = body.assign(f"icmp ult i64 {place}, {wg.threads}")
    if wg.mask is not None:
        safe = body.assign(f"select i1 {there}, i64 {place}, i64 {wg.thread_number}")
        there = body.assign(f"and i1 {there}, {wg.mask_bit(safe)}")
    valid = body.assign(f"and i1 {exists}, {there}")
    found = _value_of(wg, value, place)
    missing = f"{type_} zeroinitializer" if bound else f"{type_} {body.operand(old)}"
    chosen = body.assign(f"select i1 {valid}, {type_} {found}, {missing}")
    written = _dpp_written(wg, lane, row_mask, bank_mask)
    if written is not None:
        chosen = body.assign(f"select i1 {written}, {type_} {chosen}, {type_} {body.operand(old)}")
    body.bind(op.results[0], chosen)


def _dpp_source(wg: Workgroup, control: DppControl, lane: str) -> tuple[str, str]:
    """Return (source lane, whether it lies where the control may read) of the current lane."""
    body = wg.body
    inside = body.assign(f"and i64 {lane}, {control.group - 1}")
    if control.kind == "quad":
        return _quad(wg, lane, control.amount), "true"
    if control.kind == "share":
        return body.assign(f"or i64 {body.assign(f'and i64 {lane}, {-control.group}')}, {control.amount}"), "true"
    if control.kind == "xor":
        return body.assign(f"xor i64 {lane}, {control.amount}"), "true"
    if control.kind == "rotate":
        moved = body.assign(f"add i64 {inside}, {control.amount % control.group}")
        wrapped = body.assign(f"and i64 {moved}, {control.group - 1}")
        return body.assign(f"or i64 {body.assign(f'and i64 {lane}, {-control.group}')}, {wrapped}"), "true"
    if control.kind == "shift":
        moved = body.assign(f"add i64 {inside}, {control.amount}")
        exists = body.assign(f"icmp ult i64 {moved}, {control.group}")
        return body.assign(f"add i64 {lane}, {control.amount}"), exists
    # Broadcast: the last lane of each group goes to the group after it.
    start = body.assign(f"and i64 {lane}, {-control.group}")
    exists = body.assign(f"icmp uge i64 {start}, {control.group}")
    return body.assign(f"sub i64 {start}, 1"), exists


def _dpp_written(wg: Workgroup, lane: str, row_mask: int, bank_mask: int) -> str | None:
    """Return whether the current lane is written: rows of 16 lanes, banks of four lanes in each row."""
    if row_mask == 15 and bank_mask == 15:
        return None
    body = wg.body
    row = body.assign(f"lshr i64 {lane}, {ROW.bit_length() - 1}")
    bank = body.assign(f"and i64 {body.assign(f'lshr i64 {lane}, 2')}, 3")
    bits = [
        body.assign(f"trunc i64 {body.assign(f'lshr i64 {mask}, {place}')} to i1")
        for mask, place in ((row_mask, row), (bank_mask, bank))
    ]
    return body.assign(f"and i1 {bits[0]}, {bits[1]}")


def _mov_dpp(wg: Workgroup, op: Operation) -> None:
    fail(op, "mov.dpp leaves lanes undefined", hint="use update_dpp, which says what they keep")


# Permutes of a whole row or half ---------------------------------------------------------------


def _permlane(across: bool) -> Any:
    """permlane16 and permlanex16: each lane of a row picks a lane of its row, or of the other one."""

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
        _of_lane(wg, op, op.operands[1], body.assign(f"or i64 {row}, {picked}"))

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
            theirs = [_value_of(wg, value, partner) for value in (first, second)]
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
    "llvm.amdgcn.ds.swizzle": gather(_swizzle),
    "llvm.amdgcn.update.dpp": gather(_dpp, 1),
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
