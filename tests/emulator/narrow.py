"""Conversions to and from numbers of eight and four bits."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from tests.emulator.arithmetic import bf16_bits
from tests.emulator.disassembly import Instruction
from tests.emulator.operands import file_of, reader, register, writer
from tests.emulator.sources import signs, source
from tests.emulator.wave import Wave

Run = Callable[[Wave], Any]


def _to_eight_bits(one: Instruction, generation: float, lanes: int) -> Run:
    """Two f32 to two bytes in one half of a register, whose other half stays."""
    takes = [source(replace(one, modifiers={}), at, "f") for at in range(2)]  # op_sel is the result's
    keep = writer(one.operands[0], "w", keeps_high=True, high=_last_half_of(one))
    attribute = "fp8" if "fp8" in one.name else "bf8"

    def run(w: Wave) -> None:
        kind = getattr(w.group, attribute)
        low, high = (take(w).astype(kind).view(np.uint8).astype(np.uint16) for take in takes)
        keep(w, low | high << np.uint16(8))

    return run


def _last_half_of(one: Instruction) -> bool:
    return one.numbers("op_sel", [0, 0, 0])[2] == 1


def _of_eight_bits(one: Instruction, generation: float, lanes: int) -> Run:
    """A byte of each lane to f32, or two of a half to two registers."""
    attribute, both = "fp8" if "fp8" in one.name else "bf8", "_pk_" in one.name
    take, place = reader(signs(one.operands[1], "u")[0], "u"), register(one.operands[0])
    assert place is not None
    select = one.modifiers.get("src0_sel", "BYTE_0")
    first = int(select[-1]) * (2 if "WORD" in select else 1) if select != "DWORD" else 0
    halves = one.numbers("op_sel", [0, 0])
    if both:
        first += 2 * halves[0]
    elif "op_sel" in one.modifiers:
        first = halves[0] * 2 + halves[1] if generation < 12 else halves[0] + 2 * halves[1]
    first = one.number("byte_sel", first)
    keeps = [writer(f"{place.file}{place.number + part}", "f") for part in range(2 if both else 1)]

    def run(w: Wave) -> None:
        kind, bits = getattr(w.group, attribute), take(w).copy()  # results may lie over the source
        for part, keep in enumerate(keeps):
            codes = (bits >> np.uint32(8 * (first + part)) & np.uint32(255)).astype(np.uint8)
            keep(w, codes.view(kind).astype(np.float32))

    return run


_FOUR = ml_dtypes.float4_e2m1fn


def _power(bits: Any) -> Any:
    """The power of two in a scale, of which nothing else counts."""
    return np.exp2((bits.view(np.uint32) >> np.uint32(23) & np.uint32(255)).astype(np.float64) - 127)


def _to_four_bits(one: Instruction, generation: float, lanes: int) -> Run:
    """Two f32 over a scale to two codes in one byte of a register, whose other bytes stay."""
    takes = [reader(signs(text, "f")[0], "f") for text in one.operands[1:4]]
    halves, old, keep = one.numbers("op_sel", [0, 0, 0, 0]), reader(one.operands[0], "u"), writer(one.operands[0], "u")
    shift = np.uint32(8 * (halves[2] + 2 * halves[3]))

    def run(w: Wave) -> None:
        low, high, scale = (take(w) for take in takes)
        codes = [(x / _power(scale)).astype(_FOUR).view(np.uint8).astype(np.uint32) for x in (low, high)]
        keep(w, old(w) & ~(np.uint32(255) << shift) | (codes[0] | codes[1] << np.uint32(4)) << shift)

    return run


def _of_four_bits(one: Instruction, generation: float, lanes: int) -> Run:
    """Two codes of a byte times a scale to halves of a register."""
    take, scale, keep = reader(one.operands[1], "u"), reader(one.operands[2], "f"), writer(one.operands[0], "u")
    halves = one.numbers("op_sel", [0, 0, 0])
    shift = np.uint32(8 * (halves[0] + 2 * halves[1]))

    def run(w: Wave) -> None:
        byte, factor, made = take(w) >> shift, _power(scale(w)), []
        for part in range(2):
            codes = (byte >> np.uint32(4 * part) & np.uint32(15)).astype(np.uint8)
            value = (codes.view(_FOUR).astype(np.float64) * factor).astype(np.float32)
            half = bf16_bits(value) if "bf16" in one.name else value.astype(np.float16).view(np.uint16)
            made.append(half.astype(np.uint32))
        keep(w, made[0] | made[1] << np.uint32(16))

    return run


def _eight_at_once(one: Instruction, generation: float, lanes: int) -> Run:
    """Eight numbers over a scale to as many codes, one behind the other."""
    names = re.fullmatch(r"v_cvt_scalef32_pk8_(fp4|fp8|bf8)_(f32|f16|bf16)", one.name)
    assert names is not None
    source, target = register(one.operands[1]), register(one.operands[0])
    assert source is not None and target is not None
    scale, bits = reader(one.operands[2], "f"), 4 if names[1] == "fp4" else 8

    def run(w: Wave) -> None:
        words = np.ascontiguousarray(file_of(w, source.file)[source.number : source.number + source.words].T)
        given = words.view({"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}[names[2]])
        kind = _FOUR if bits == 4 else getattr(w.group, names[1])
        scaled = (given.astype(np.float64) / _power(scale(w))[:, None]).astype(np.float32)
        codes = scaled.astype(kind).view(np.uint8).astype(np.uint64)
        whole = (codes << np.arange(0, 8 * bits, bits, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
        for word in range(target.words):
            part = (whole >> np.uint64(32 * word)).astype(np.uint32)
            np.copyto(file_of(w, target.file)[target.number + word], part, where=w.mask)

    return run


INSTRUCTIONS: dict[str, Callable[[Instruction, float, int], Run]] = {
    **dict.fromkeys(("v_cvt_pk_fp8_f32", "v_cvt_pk_bf8_f32"), _to_eight_bits),
    **dict.fromkeys(("v_cvt_f32_fp8", "v_cvt_f32_bf8", "v_cvt_pk_f32_fp8", "v_cvt_pk_f32_bf8"), _of_eight_bits),
    "v_cvt_scalef32_pk_fp4_f32": _to_four_bits,
    **dict.fromkeys((f"v_cvt_scalef32_pk8_{a}_{b}" for a in ("fp4", "fp8", "bf8") for b in ("f32", "f16", "bf16")),
                    _eight_at_once),
    **dict.fromkeys(("v_cvt_scalef32_pk_bf16_fp4", "v_cvt_scalef32_pk_f16_fp4"), _of_four_bits),
}  # fmt: skip
