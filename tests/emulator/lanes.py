"""Lanes that read each other: operands by data-parallel primitives, permutes, broadcasts, counts of lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.emulator.arithmetic import ROWS
from tests.emulator.disassembly import Instruction
from tests.emulator.operands import file_of, reader, register, scalar_reader, scalar_writer, writer
from tests.emulator.wave import Wave, mask_from

Run = Callable[[Wave], Any]


def dpp_sources(one: Instruction, lanes: int) -> tuple[np.ndarray, np.ndarray]:
    """(the lane that each lane reads, whether there is one)."""
    lane = np.arange(lanes)
    row, place, valid = lane & ~15, lane & 15, np.ones(lanes, bool)
    for name, value in one.modifiers.items():
        amount = int(value, 0) if value.isdigit() else 0
        if name == "quad_perm":
            return (lane & ~3) + np.array(one.numbers(name, []))[lane & 3], valid
        if name == "dpp8":
            return (lane & ~7) + np.array(one.numbers(name, []))[lane & 7], valid
        if name == "row_shl":
            return row + np.minimum(place + amount, 15), place + amount < 16
        if name == "row_shr":
            return row + np.maximum(place - amount, 0), place >= amount
        if name == "row_ror":
            return row + (place - amount & 15), valid
        if name == "row_mirror":
            return row + 15 - place, valid
        if name == "row_half_mirror":
            return lane ^ 7, valid
        if name in ("row_share", "row_newbcast"):
            return row + amount, valid
        if name == "row_xmask":
            return lane ^ amount, valid
        if name == "row_bcast" and amount == 15:
            return np.maximum(row - 1, 0), row > 0
        if name == "row_bcast" and amount == 31:
            return np.full(lanes, 31), lane > 31
        if name == "wave_shr":
            return np.maximum(lane - 1, 0), lane > 0
        if name == "wave_shl":
            return np.minimum(lane + 1, lanes - 1), lane < lanes - 1
        if name == "wave_ror":
            return lane - 1 & lanes - 1, valid
        if name == "wave_rol":
            return lane + 1 & lanes - 1, valid
    raise NotImplementedError(one.text)


def dpp(one: Instruction, lanes: int) -> Callable[[Wave, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """A function that moves the bits of the first source; it says which lanes are written, too."""
    where, valid = dpp_sources(one, lanes)
    lane = np.arange(lanes)
    rows, banks = one.number("row_mask", 15), one.number("bank_mask", 15)
    enabled = (rows >> (lane >> 4) & 1 & (banks >> (lane >> 2 & 3))).astype(bool)
    zeros, fetches = "bound_ctrl" in one.modifiers, one.number("fi") == 1

    def move(w: Wave, bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        there = valid if fetches else valid & w.mask[where]
        moved = np.where(there, bits[where], 0).astype(bits.dtype)
        return moved, enabled if zeros else enabled & there

    return move


# Instructions ----------------------------------------------------------------------------------


def _first(w: Wave) -> int:
    return int(np.argmax(w.mask)) if w.exec else 0


def _reads_first(one: Instruction) -> Run:
    keep, take = scalar_writer(one.operands[0]), reader(one.operands[1], "u")
    return lambda w: keep(w, int(take(w)[_first(w)]))


def _of_one_number(one: Instruction) -> Run:
    """`v_s_exp_f32` and its like: a function of the vector unit of a scalar register."""
    row = ROWS["v_" + one.name.removeprefix("v_s_")]
    keep, take = scalar_writer(one.operands[0]), reader(one.operands[1], row[1])
    return lambda w: keep(w, int(row[2](take(w)).view(np.uint32)[0]))


def _reads_lane(one: Instruction) -> Run:
    keep, take, which = scalar_writer(one.operands[0]), reader(one.operands[1], "u"), scalar_reader(one.operands[2])
    return lambda w: keep(w, int(take(w)[which(w) & w.lanes - 1]))


def _writes_lane(one: Instruction) -> Run:
    place, take, which = register(one.operands[0]), scalar_reader(one.operands[1]), scalar_reader(one.operands[2])
    assert place is not None

    def run(w: Wave) -> None:
        file_of(w, place.file)[place.number][which(w) & w.lanes - 1] = take(w)

    return run


def _counts(first: int) -> Callable[[Instruction], Run]:
    """How many lanes of a half of a mask are before this one, beside a sum."""

    def decode(one: Instruction) -> Run:
        keep, mask, begin = writer(one.operands[0], "u"), reader(one.operands[1], "u"), reader(one.operands[2], "u")

        def run(w: Wave) -> None:
            before = np.clip(np.arange(w.lanes) - first, 0, 32)
            below = ((1 << before.astype(np.uint64)) - 1).astype(np.uint32)
            keep(w, np.bitwise_count(mask(w) & below).astype(np.uint32) + begin(w))

        return run

    return decode


def _permutes_rows(crossed: bool) -> Callable[[Instruction], Run]:
    """Each lane of a row reads that lane of its row, or of the other one, which eight digits name."""

    def decode(one: Instruction) -> Run:
        keep, take = writer(one.operands[0], "u"), reader(one.operands[1], "u")
        low, high = (scalar_reader(text) for text in one.operands[2:4])
        fetches = one.numbers("op_sel", [0, 0])[0] == 1
        zeros = one.numbers("op_sel", [0, 0])[1] == 1

        def run(w: Wave) -> None:
            selectors = low(w) | high(w) << 32
            lane = np.arange(w.lanes)
            place = np.array([selectors >> 4 * (one_lane & 15) & 15 for one_lane in range(w.lanes)])
            where = ((lane & ~15) ^ (16 if crossed else 0)) + place
            there = np.ones(w.lanes, bool) if fetches else w.mask[where]
            with_mask(w, there | zeros, lambda: keep(w, np.where(there, take(w)[where], np.uint32(0))))

        return run

    return decode


def _swaps(rows: int) -> Callable[[Instruction], Run]:
    """Odd groups of so many lanes of the first register change places with even ones of the second."""

    def decode(one: Instruction) -> Run:
        places = [register(text) for text in one.operands[:2]]
        first, second = (place.number for place in places if place is not None)

        def run(w: Wave) -> None:
            odd = (np.arange(w.lanes) // rows & 1).astype(bool)
            kept = w.v[first].copy()
            w.v[first][odd], w.v[second][~odd] = w.v[second][~odd].copy(), kept[odd]

        return run

    return decode


def with_mask(w: Wave, allowed: np.ndarray, act: Callable[[], None]) -> None:
    """Do something with fewer lanes."""
    mask, full = w.mask, w.full
    w.mask, w.full = mask & allowed, False
    act()
    w.mask, w.full = mask, full


SWAPPED = {"v_permlane32_swap_b32": 32, "v_permlane16_swap_b32": 16}
INSTRUCTIONS: dict[str, Callable[[Instruction], Run]] = {
    "v_readfirstlane_b32": _reads_first, "v_readlane_b32": _reads_lane, "v_writelane_b32": _writes_lane,
    "v_mbcnt_lo_u32_b32": _counts(0), "v_mbcnt_hi_u32_b32": _counts(32),
    "v_permlane16_b32": _permutes_rows(crossed=False), "v_permlanex16_b32": _permutes_rows(crossed=True),
    **dict.fromkeys((f"v_s_{name}_f32" for name in ("exp", "log", "rcp", "rsq", "sqrt")), _of_one_number),
    **{name: _swaps(rows) for name, rows in SWAPPED.items()},
}  # fmt: skip


def lane_mask(w: Wave, bits: np.ndarray) -> int:
    """Answers of lanes as the bits of a scalar register; zeros for those that do not run."""
    return mask_from(bits & w.mask)
