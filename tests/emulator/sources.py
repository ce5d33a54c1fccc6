"""Sources of the vector unit with their signs, halves and parts, and results with what is done to them on the way."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.emulator.disassembly import Instruction
from tests.emulator.lanes import dpp
from tests.emulator.operands import KINDS, Reader, reader, writer
from tests.emulator.wave import Wave

_FLOATS = "fhdb"
_SELECTED = {
    "DWORD": (0, 32), "WORD_0": (0, 16), "WORD_1": (16, 16), **{f"BYTE_{n}": (8 * n, 8) for n in range(4)},
}  # fmt: skip

# Sources ---------------------------------------------------------------------------------------


def signs(text: str, kind: str) -> tuple[str, bool, bool, bool]:
    """(a source without its signs, whether it is negated, whether its size is taken, whether its sign is extended)."""
    negated = sized = extended = False
    if found := re.fullmatch(r"(?:neg\((.*)\)|-(?=[vsa|t\[])(.*))", text):
        text, negated = found[1] or found[2], True
    if found := re.fullmatch(r"\|(.*)\||abs\((.*)\)", text):
        text, sized = found[1] or found[2], True
    if found := re.fullmatch(r"sext\((.*)\)", text):
        text, extended = found[1], True
    return text, negated, sized, extended


def _selected(take: Reader, selector: str, extended: bool, kind: str) -> Reader:
    """A part of each word of a source, as sub-dword addressing has it."""
    shift, width = _SELECTED[selector]
    wanted = KINDS[kind]

    def read(w: Wave) -> Any:
        bits = take(w) >> np.uint32(shift)
        if width < 32:
            bits = bits & np.uint32((1 << width) - 1)
            if extended:
                bits = ((bits ^ np.uint32(1 << width - 1)) - np.uint32(1 << width - 1)).astype(np.uint32)
        return bits.astype(np.uint16).view(wanted) if np.dtype(wanted).itemsize == 2 else bits.view(wanted)

    return read


def signed(take: Reader, kind: str, negated: bool, sized: bool) -> Reader:
    if not (negated or sized):
        return take
    if kind not in _FLOATS:
        raise NotImplementedError("a sign of an integer")
    if sized:
        return lambda w: -np.abs(take(w)) if negated else np.abs(take(w))
    return lambda w: -take(w)


def source(one: Instruction, place: int, kind: str) -> Reader:
    """The reader of a source by its place among the sources, without what data-parallel primitives do to it."""
    text, negated, sized, extended = signs(one.operands[place + 1], kind)
    if one.form == "sdwa":
        take = _selected(reader(text, "u"), one.modifiers.get(f"src{place}_sel", "DWORD"), extended, kind)
    else:
        halves = one.numbers("op_sel", [0, 0, 0, 0])
        take = reader(text, kind, high=np.dtype(KINDS[kind]).itemsize == 2 and halves[place] == 1)
    return signed(take, kind, negated, sized)


def moved_source(one: Instruction, kind: str, lanes: int) -> Callable[[Wave], tuple[Any, np.ndarray]]:
    """The first source of an instruction with data-parallel primitives, and the lanes that are written."""
    text, negated, sized, _ = signs(one.operands[1], kind)
    move, wanted = dpp(one, lanes), KINDS[kind]
    take = reader(text, "u" if np.dtype(wanted).itemsize == 4 else kind)
    held: list[Any] = []
    with_signs = signed(lambda w: held[0], kind, negated, sized)

    def read(w: Wave) -> tuple[Any, np.ndarray]:
        bits, written = move(w, take(w))
        held[:] = [bits.view(wanted)]
        return with_signs(w), written

    return read


# Results ---------------------------------------------------------------------------------------


def result(one: Instruction, kind: str, generation: float) -> Callable[[Wave, Any], None]:
    """The writer of a result, with what the instruction does to it on the way."""
    high = np.dtype(KINDS[kind]).itemsize == 2 and one.form != "sdwa" and _last_half(one)
    keep = writer(one.operands[0], kind, keeps_high=generation > 9, high=high)
    if one.form == "sdwa":
        keep = _placed(one, kind)
    scale = {"2": 2.0, "4": 4.0}.get(one.modifiers.get("mul", "")) or (0.5 if one.modifiers.get("div") == "2" else None)
    if scale:
        within = keep
        keep = lambda w, value: within(w, (value * value.dtype.type(scale)))  # noqa: E731
    if "clamp" in one.modifiers and one.name not in CLAMPED:
        if kind not in _FLOATS:
            raise NotImplementedError(f"clamp of integers: {one.text}")
        inner = keep
        keep = lambda w, value: inner(w, np.clip(np.nan_to_num(value, nan=0.0), 0, 1).astype(value.dtype))  # noqa: E731
    return keep


CLAMPED: dict[str, Callable[[Any, Any], Any]] = {
    "v_sub_u32": lambda a, b: np.where(a < b, np.uint32(0), a - b),
    "v_add_u32": lambda a, b: np.where(a + b < a, np.uint32(0xFFFFFFFF), a + b),
}
"""Integers that stay within what 32 bits hold."""


def _last_half(one: Instruction) -> bool:
    if "op_sel" not in one.modifiers:
        return False
    given = one.numbers("op_sel", [])
    return len(given) >= len(one.operands) and given[len(one.operands) - 1] == 1


def _placed(one: Instruction, kind: str) -> Callable[[Wave, Any], None]:
    """Writes into a part of each word, as sub-dword addressing has it."""
    shift, width = _SELECTED[one.modifiers.get("dst_sel", "DWORD")]
    unused = one.modifiers.get("dst_unused", "UNUSED_PAD")
    old, keep = reader(one.operands[0], "u"), writer(one.operands[0], "u")
    field = np.uint32((1 << width) - 1)

    def write(w: Wave, value: Any) -> None:
        bits = value.view(np.uint16).astype(np.uint32) if value.itemsize == 2 else value.view(np.uint32)
        part = (bits & field) << np.uint32(shift)
        if unused == "UNUSED_PRESERVE":
            part = part | old(w) & np.uint32(~(int(field) << shift) & 0xFFFFFFFF)
        elif unused != "UNUSED_PAD":
            raise NotImplementedError(one.text)
        keep(w, part)

    return write
