"""Instructions with two numbers in a register, or in two registers side by side, and those that mix widths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.emulator.arithmetic import bf16_bits, fused, fused_half
from tests.emulator.disassembly import Instruction
from tests.emulator.operands import Reader, reader, register, writer
from tests.emulator.sources import signed, signs, source
from tests.emulator.wave import EXEC, VCC, Wave

Run = Callable[[Wave], Any]


def _pairs_of_f32(one: Instruction, generation: float, lanes: int) -> Run:
    name = one.name.removeprefix("v_pk_")
    act = {"mul_f32": lambda a, b: a * b, "add_f32": lambda a, b: a + b, "fma_f32": fused, "mov_b32": None}[name]
    place, count = register(one.operands[0]), len(one.operands) - 1
    assert place is not None
    low = one.numbers("op_sel", [0] * count)
    high = low if act is None else one.numbers("op_sel_hi", [1] * count)  # a move has one half of each source
    negative = [one.numbers(f"neg_{part}", [0] * count) for part in ("lo", "hi")]

    def word(text: str, which: int) -> Reader:
        held = register(text)
        if held is None:
            return reader(text, "f")
        number = held.number + which
        return reader(f"{held.file}{number}" if held.file != "s" else _scalar_name(number), "f")

    takes = [[word(one.operands[1 + at], chosen[at]) for at in range(count)] for chosen in (low, high)]
    keeps = [writer(f"{place.file}{place.number + part}", "f") for part in range(2)]

    def run(w: Wave) -> None:
        made = []
        for part in range(2):
            given = [-take(w) if negative[part][at] else take(w).copy() for at, take in enumerate(takes[part])]
            made.append(given[part] if act is None else act(*given))
        for keep, value in zip(keeps, made, strict=True):
            keep(w, value)

    return run


def _scalar_name(number: int) -> str:
    return {VCC: "vcc_lo", VCC + 1: "vcc_hi", EXEC: "exec_lo", EXEC + 1: "exec_hi"}.get(number, f"s{number}")


_HALVES: dict[str, tuple[str, Any]] = {
    "add_f16": ("h", lambda a, b: a + b), "mul_f16": ("h", lambda a, b: a * b), "fma_f16": ("h", fused_half),
    "max_f16": ("h", np.fmax), "min_f16": ("h", np.fmin), "max_num_f16": ("h", np.fmax), "min_num_f16": ("h", np.fmin),
    "maximum_f16": ("h", np.maximum), "minimum_f16": ("h", np.minimum),
    "maximum3_f16": ("h", lambda a, b, c: np.maximum(np.maximum(a, b), c)),
    "add_u16": ("w", lambda a, b: a + b), "sub_u16": ("w", lambda a, b: a - b), "sub_i16": ("s", lambda a, b: a - b),
    "add_i16": ("s", lambda a, b: a + b), "mul_lo_u16": ("w", lambda a, b: a * b), "max_u16": ("w", np.maximum),
    "min_u16": ("w", np.minimum), "max_i16": ("s", np.maximum), "min_i16": ("s", np.minimum),
    "mad_u16": ("w", lambda a, b, c: a * b + c),
    "lshlrev_b16": ("w", lambda a, b: b << (a & np.uint16(15))),
    "lshrrev_b16": ("w", lambda a, b: b >> (a & np.uint16(15))),
    "ashrrev_i16": ("s", lambda a, b: b >> (a & np.int16(15))),
}  # fmt: skip


def _pairs_of_halves(one: Instruction, generation: float, lanes: int) -> Run:
    kind, act = _HALVES[one.name.removeprefix("v_pk_")]
    count = len(one.operands) - 1
    chosen = one.numbers("op_sel", [0] * count), one.numbers("op_sel_hi", [1] * count)
    negative = [one.numbers(f"neg_{part}", [0] * count) for part in ("lo", "hi")]
    takes = [[reader(one.operands[1 + at], kind, high=halves[at] == 1) for at in range(count)] for halves in chosen]
    keep = writer(one.operands[0], "u")

    def run(w: Wave) -> None:
        made = []
        for part in range(2):
            given = [-take(w) if negative[part][at] else take(w) for at, take in enumerate(takes[part])]
            made.append(np.ascontiguousarray(act(*given)).view(np.uint16).astype(np.uint32))
        keep(w, made[0] | made[1] << np.uint32(16))

    return run


def _wide(take: Reader) -> Reader:
    """The reader of bf16 as f32."""
    return lambda w: (take(w).astype(np.uint32) << np.uint32(16)).view(np.float32)


def _mixed(one: Instruction, generation: float, lanes: int) -> Run:
    """a * b + c of f32 and halves of registers, rounded to f32 or into a half of a register."""
    count, to_half = 3, "mix_f32" not in one.name
    brain = "b" if one.name.endswith("bf16") else "h"
    high, half = one.numbers("op_sel", [0] * count), one.numbers("op_sel_hi", [0] * count)
    takes = []
    for at in range(count):
        text, negated, sized, _ = signs(one.operands[1 + at], "f")
        kind = brain if half[at] else "f"
        take = reader(text, kind, high=bool(half[at] and high[at]))
        takes.append(signed(_wide(take) if kind == "b" else take, "f", negated, sized))
    keep = writer(one.operands[0], brain if to_half else "f", keeps_high=True, high="mixhi" in one.name)

    def run(w: Wave) -> None:
        a, b, c = (take(w).astype(np.float64) for take in takes)
        total = (a * b + c).astype(np.float32)
        keep(w, total if not to_half else bf16_bits(total) if brain == "b" else total.astype(np.float16))

    return run


def _dots(one: Instruction, generation: float, lanes: int) -> Run:
    """Two products of halves beside a sum of f32."""
    kind = "b" if "bf16" in one.name else "h"
    takes = [[reader(one.operands[1 + at], kind, high=bool(part)) for at in range(2)] for part in range(2)]
    third = source(one, 2, "f")
    keep = writer(one.operands[0], "f")

    def wide(value: Any) -> Any:
        found = (value.astype(np.uint32) << np.uint32(16)).view(np.float32) if kind == "b" else value
        return found.astype(np.float64)

    def run(w: Wave) -> None:
        total = third(w).astype(np.float64)
        for part in takes:
            total = total + wide(part[0](w)) * wide(part[1](w))
        keep(w, total.astype(np.float32))

    return run


INSTRUCTIONS: dict[str, Callable[[Instruction, float, int], Run]] = {
    **dict.fromkeys((f"v_pk_{kind}" for kind in ("mul_f32", "add_f32", "fma_f32", "mov_b32")), _pairs_of_f32),
    **dict.fromkeys((f"v_pk_{kind}" for kind in _HALVES), _pairs_of_halves),
    **dict.fromkeys(("v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16"), _mixed),
    **dict.fromkeys(("v_fma_mix_f32_bf16", "v_fma_mixlo_bf16", "v_fma_mixhi_bf16"), _mixed),
    **dict.fromkeys(("v_dot2_f32_f16", "v_dot2_f32_bf16", "v_dot2c_f32_f16"), _dots),
}  # fmt: skip
