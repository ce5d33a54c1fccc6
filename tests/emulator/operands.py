"""Operands of instructions as functions of a wave: what is read, as an array of lanes or a number, and written."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tests.emulator.wave import EXEC, M0, NULL, TTMP, VCC, Wave

Reader = Callable[[Wave], Any]
Writer = Callable[[Wave, Any], None]

KINDS: dict[str, Any] = {
    "u": np.uint32, "i": np.int32, "f": np.float32, "h": np.float16, "w": np.uint16, "s": np.int16, "q": np.uint64,
    "l": np.int64, "d": np.float64, "b": np.uint16,
}  # fmt: skip
"""Letter of a type -> what NumPy calls it. ``b`` is bf16, as bits."""
_NAMED = {
    "vcc": VCC, "vcc_lo": VCC, "vcc_hi": VCC + 1, "exec": EXEC, "exec_lo": EXEC, "exec_hi": EXEC + 1, "m0": M0,
    "null": NULL,
}  # fmt: skip
_REGISTER = re.compile(r"(v|s|a|ttmp)(?:(\d+)|\[(\d+)(?::(\d+))?\])(\.[lh])?$")


class Register(NamedTuple):
    file: str
    """``v``, ``a`` or ``s``."""
    number: int
    words: int
    high: bool = False
    """Whether it is the upper half."""


def register(text: str) -> Register | None:
    if text in _NAMED:
        return Register("s", _NAMED[text], 2 if text in ("vcc", "exec") else 1)
    found = _REGISTER.match(text)
    if found is None:
        return None
    first = int(found[2] or found[3])
    words = int(found[4]) - first + 1 if found[4] else 1
    if found[1] == "ttmp":
        return Register("s", TTMP + first, words)
    return Register(found[1], first, words, found[5] == ".h")


def constant(text: str, kind: str) -> int | None:
    """The bits of a constant of a type, None where the text is none."""
    if re.fullmatch(r"-?\d+\.\d+(e[+-]?\d+)?", text):
        form = {"h": "e", "w": "e", "s": "e", "d": "d", "q": "d", "l": "d"}.get(kind, "f")
        bits = int.from_bytes(struct.pack("<" + form, float(text)), "little")
        if kind == "b":
            bits = int.from_bytes(struct.pack("<f", float(text)), "little") >> 16
        if float(text) == 0.15915494:  # 1 / (2 pi), as each type has it
            bits = {"e": 0x3118, "f": 0x3E22F983, "d": 0x3FC45F306DC9C882}[form]
        return bits
    if re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)", text):
        number = int(text, 0)
        if "0x" in text and number <= 0xFFFFFFFF:  # a literal of 32 bits
            if kind == "d":
                number <<= 32
            elif kind == "l" and number >> 31:
                number -= 1 << 32
        return number
    return None


def scalar_reader(text: str, words: int = 1, kind: str = "u") -> Callable[[Wave], int]:
    """A number that all lanes share, without sign."""
    if text in ("scc", "src_scc"):
        return lambda w: w.scc
    if text in ("vccz", "src_vccz"):
        return lambda w: int(w.scalar(VCC, w.lanes // 32) == 0)
    if text in ("execz", "src_execz"):
        return lambda w: int(w.exec == 0)
    if text == "null":
        return lambda w: 0
    place = register(text)
    if place is None:
        bits = constant(text, "q" if words == 2 and kind not in "dl" else kind)
        if bits is None:
            raise NotImplementedError(f"the operand {text}")
        value = bits & (1 << 32 * words) - 1
        return lambda w: value
    number = place.number
    if place.file != "s":
        raise NotImplementedError(f"the vector {text} as a scalar")
    if words == 1:
        return lambda w: w.s[number]
    return lambda w: w.scalar(number, words)


def scalar_writer(text: str, words: int = 1) -> Callable[[Wave, int], None]:
    place = register(text)
    assert place is not None and place.file == "s", text
    number = place.number
    return lambda w, value: w.set_scalar(number, value, words)


# Vectors ---------------------------------------------------------------------------------------


def _halves(file: np.ndarray, number: int, high: bool) -> np.ndarray:
    return file.view(np.uint16)[number, int(high) :: 2]


def file_of(wave: Wave, name: str) -> np.ndarray:
    return wave.v if name == "v" else wave.a


def reader(text: str, kind: str, high: bool = False) -> Reader:
    """Lanes of a source without its signs; of 16 bits the upper half where that is asked for."""
    wanted = KINDS[kind]
    size = np.dtype(wanted).itemsize
    place = register(text)
    if place is None or place.file == "s":
        take = scalar_reader(text, max(size // 4, 1), kind)
        carrier = np.uint64 if size == 8 else np.uint32
        # An inline constant of 16 bits has zeros above it; registers and literals have halves.
        shift = 16 if high and size == 2 else 0

        def of_scalar(w: Wave) -> Any:
            full = np.full(w.lanes, take(w) >> shift & (1 << 8 * max(size, 4)) - 1, carrier)
            return full.view(wanted) if size != 2 else full.astype(np.uint16).view(wanted)

        return of_scalar
    number, file = place.number, place.file
    if size == 4:
        if file == "v" and kind in "ufi":
            return {"u": lambda w: w.v[number], "f": lambda w: w.f[number], "i": lambda w: w.i[number]}[kind]
        return lambda w: file_of(w, file)[number].view(wanted)
    if size == 2:
        upper = high or place.high
        return lambda w: _halves(file_of(w, file), number, upper).copy().view(wanted)

    def of_pair(w: Wave) -> Any:
        low, top = (file_of(w, file)[number + word].astype(np.uint64) for word in range(2))
        return (low | top << np.uint64(32)).view(wanted)

    return of_pair


def writer(text: str, kind: str, *, keeps_high: bool = False, high: bool = False) -> Writer:
    """Writes the lanes that run. A result of 16 bits has zeros above it, or leaves what is there."""
    size = np.dtype(KINDS[kind]).itemsize
    place = register(text)
    assert place is not None and place.file in "va", text
    number, file = place.number, place.file

    def whole(w: Wave, value: np.ndarray) -> None:
        at = file_of(w, file)[number]
        np.copyto(at, value.view(np.uint32), where=w.mask)

    def half(w: Wave, value: np.ndarray) -> None:
        bits = value.view(np.uint16)
        if keeps_high or high or place.high:
            np.copyto(_halves(file_of(w, file), number, high or place.high), bits, where=w.mask)
        else:
            np.copyto(file_of(w, file)[number], bits.astype(np.uint32), where=w.mask)

    def pair(w: Wave, value: np.ndarray) -> None:
        bits = value.view(np.uint64)
        for word in range(2):
            part = (bits >> np.uint64(32 * word)).astype(np.uint32)
            np.copyto(file_of(w, file)[number + word], part, where=w.mask)

    return {2: half, 4: whole, 8: pair}[size]
