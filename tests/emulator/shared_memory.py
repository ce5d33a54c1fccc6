"""Instructions of shared memory: accesses, transposing reads, permutes of lanes by its crossbar, atomics."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.emulator.accesses import ATOMICS, SIZES, Element, Target, element_of, shared_places, target_of
from tests.emulator.arena import Fault
from tests.emulator.disassembly import Instruction
from tests.emulator.operands import file_of, reader
from tests.emulator.wave import NONSENSE, Wave

Run = Callable[[Wave], Any]


def _shared(one: Instruction) -> Run | None:
    found = re.fullmatch(r"ds_(read2st64|write2st64|read2|write2|load_2addr_stride64|store_2addr_stride64|load_2addr|"
                         r"store_2addr|read|write|load|store)_(?!addtid|tr)(\w+)", one.name)  # fmt: skip
    if found is None:
        return None
    verb, kind = found[1], found[2]
    loads, both = verb.startswith(("read", "load")), "2" in verb
    if both:
        element = Element(SIZES[kind])
        step = element.size * (64 if "64" in verb else 1)
        offsets = [one.number(name) * step for name in ("offset0", "offset1")]
    else:
        element, offsets = element_of(f"ds_read_{kind}"), [one.number("offset")]
    at = reader(one.operands[1 if loads else 0], "u")
    if loads:
        first = target_of(one.operands[0])
        targets = [Target(first.file, first.first + element.words * part) for part in range(len(offsets))]
    else:
        targets = [target_of(text) for text in one.operands[1 : 1 + len(offsets)]]

    def run(w: Wave) -> None:
        mask, lds = w.mask.copy(), w.group.lds
        base = at(w)[mask].astype(np.int64)
        places = [shared_places(w, base + offset, element.size) for offset in offsets]
        if loads:
            for target in targets:
                target.spoil(w, element, mask)

            def land() -> None:
                for target, place in zip(targets, places, strict=True):
                    target.keep(w, element, mask, lds[place])
        else:
            rows = [target.take(w, element, mask).copy() for target in targets]

            def land() -> None:
                for row, place in zip(rows, places, strict=True):
                    lds[place] = row

        w.later("ds", land)

    return run


def _permutes(one: Instruction) -> Run | None:
    """Lanes that read, or write, each other's registers by way of the shared memory's crossbar."""
    if one.name not in ("ds_bpermute_b32", "ds_permute_b32", "ds_swizzle_b32"):
        return None
    target = target_of(one.operands[0])
    first, offset = reader(one.operands[1], "u"), one.number("offset") if "swizzle" not in one.name else 0
    second = reader(one.operands[2], "u") if len(one.operands) > 2 else None

    def run(w: Wave) -> None:
        mask = w.mask.copy()
        if second is None:
            data, where = first(w).copy(), _swizzled(one, w.lanes)
            found = np.where(mask[where], data[where], 0)
        else:
            lanes = w.lanes - 1
            where, data = (
                (first(w) + np.uint32(offset) >> np.uint32(2) & np.uint32(lanes)).astype(int),
                second(w).copy(),
            )
            if one.name == "ds_bpermute_b32":
                found = np.where(mask[where], data[where], 0)
            else:
                found = np.zeros(w.lanes, np.uint32)
                found[where[mask]] = data[mask]
        file_of(w, target.file)[target.first, mask] = NONSENSE
        w.later("ds", lambda: _put(w, target, mask, found))

    return run


def _put(w: Wave, target: Target, mask: np.ndarray, found: np.ndarray) -> None:
    file_of(w, target.file)[target.first, mask] = found[mask].astype(np.uint32)


def _swizzled(one: Instruction, lanes: int) -> np.ndarray:
    pattern, lane = one.modifiers["offset"], np.arange(lanes)
    inner = pattern.removeprefix("swizzle(").removesuffix(")")
    if pattern.isdigit() or pattern.startswith("0x"):
        code = int(pattern, 0)
        if code >> 15:
            return (lane & ~3) + np.array([code >> 2 * place & 3 for place in range(4)])[lane & 3]
        keep, add, turn = code & 31, code >> 5 & 31, code >> 10 & 31
        return lane & ~31 | ((lane & 31 & keep | add) ^ turn)
    kind, *given = [part.strip() for part in inner.split(",")]
    if kind == "SWAP":
        return lane ^ int(given[0])
    if kind == "QUAD_PERM":
        return (lane & ~3) + np.array([int(part) for part in given])[lane & 3]
    if kind == "REVERSE":
        return lane ^ (int(given[0]) - 1)
    if kind == "BROADCAST":
        return (lane & ~(int(given[0]) - 1)) + int(given[1])
    if kind == "BITMASK_PERM":
        where = lane.copy()
        for bit, letter in enumerate(reversed(given[0].strip("'\""))):
            own = lane >> bit & 1
            wanted = {"0": 0 * own, "1": 0 * own + 1, "p": own, "i": 1 - own}[letter]
            where = where & ~(1 << bit) | wanted << bit
        return where
    raise NotImplementedError(one.text)


_SHAREDATOMICS = {"add_u32": "add", "sub_u32": "sub", "max_i32": "smax", "min_i32": "smin", "max_u32": "umax",
                   "min_u32": "umin", "and_b32": "and", "or_b32": "or", "add_f32": "add_f32", "xor_b32": "xor",
                   "pk_add_f16": "pk_add_f16", "pk_add_bf16": "pk_add_bf16"}  # fmt: skip


def _shared_atomic(one: Instruction) -> Run | None:
    found = re.fullmatch(r"ds_(\w+?)(_rtn)?(_[iufb]\d+|_f16|_bf16)", one.name)
    kind = (found[1] + found[3]) if found else ""
    if kind not in _SHAREDATOMICS:
        return None
    number, size, act = ATOMICS[_SHAREDATOMICS[kind]]
    returns = bool(found and found[2])
    at, given = reader(one.operands[1 if returns else 0], "u"), target_of(one.operands[2 if returns else 1])
    into, offset, element = target_of(one.operands[0]) if returns else None, one.number("offset"), Element(size)

    def run(w: Wave) -> None:
        mask, lds = w.mask.copy(), w.group.lds
        places = shared_places(w, at(w)[mask].astype(np.int64) + offset, size)
        data = given.take(w, element, mask).copy()
        if into:
            into.spoil(w, element, mask)

        def land() -> None:
            old = np.zeros((len(places), size), np.uint8)
            for lane, place in enumerate(places):
                old[lane] = lds[place]
                lds[place] = np.ascontiguousarray(act(lds[place].view(number), data[lane].view(number))).view(np.uint8)
            if into:
                into.keep(w, element, mask, old)

        w.later("ds", land)

    return run


# Transposing reads -----------------------------------------------------------------------------


def _turned_blocks(data: np.ndarray, together: int, number: Any, each: int) -> np.ndarray:
    """Lanes hold a block of `each` rows by `together` columns, row after row; each gets a column."""
    block = data.view(number).reshape(-1, each, together)
    return np.ascontiguousarray(block.swapaxes(1, 2)).reshape(-1, each)


def _turned_bytes(data: np.ndarray) -> np.ndarray:
    """Of 16 lanes, each gets one byte of four neighbours, and of the four that lie eight lanes further."""
    lane, value = np.arange(16)[:, None], np.arange(8)
    chosen = lane % 8 + 32 * (lane // 8) + 8 * (value % 4) + 64 * (value // 4)
    return np.ascontiguousarray(data.reshape(-1, 128)[:, chosen]).reshape(-1, 8)


_TURNED: dict[str, tuple[int, Callable[[np.ndarray], np.ndarray]]] = {
    "ds_read_b64_tr_b16": (8, lambda data: _turned_blocks(data, 16, np.uint16, 4)),
    "ds_read_b64_tr_b8": (8, lambda data: _turned_blocks(data, 16, np.uint8, 8)),
    "ds_load_tr16_b128": (16, lambda data: _turned_blocks(data, 8, np.uint16, 8)),
    "ds_load_tr8_b64": (8, _turned_bytes),
}
"""Name -> (bytes of a lane, what lanes get of what they read)."""


def _turning_read(one: Instruction) -> Run | None:
    if one.name not in _TURNED:
        return None
    size, turned = _TURNED[one.name]
    target, at, offset, element = (
        target_of(one.operands[0]),
        reader(one.operands[1], "u"),
        one.number("offset"),
        Element(size),
    )

    def run(w: Wave) -> None:
        if not w.full:
            raise Fault(f"{one.text} where lanes do not run")
        lds, places = w.group.lds, shared_places(w, at(w).astype(np.int64) + offset, size)
        target.spoil(w, element, w.mask)
        everyone = w.mask.copy()
        w.later(
            "ds", lambda: target.keep(w, element, everyone, turned(lds[places]).view(np.uint8).reshape(w.lanes, size))
        )

    return run


def shared_instruction(one: Instruction) -> Run | None:
    """What an instruction of shared memory does; None where it is none that is known."""
    return _turning_read(one) or _permutes(one) or _shared(one) or _shared_atomic(one)
