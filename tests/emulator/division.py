"""The three instructions around a division's reciprocal: scaling, taking it back, and what is no ordinary quotient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.emulator.disassembly import Instruction
from tests.emulator.lanes import lane_mask
from tests.emulator.operands import reader, scalar_writer, writer
from tests.emulator.sources import result, signs, source
from tests.emulator.wave import VCC, Wave

Run = Callable[[Wave], Any]


def _scales(one: Instruction, generation: float, lanes: int) -> Run:
    """The first step of a division: an operand that is far from one is scaled, which the last but one takes back."""
    keep, out = writer(one.operands[0], "f"), scalar_writer(one.operands[1], lanes // 32)
    takes = [reader(signs(text, "f")[0], "f") for text in one.operands[2:5]]

    def run(w: Wave) -> None:
        scaled, below, above = (take(w).astype(np.float64) for take in takes)
        exponents = [np.frexp(np.where(np.isfinite(x), x, 1.0))[1] for x in (below, above)]
        tiny = 2.0**-126
        up, down = scaled * 2.0**64, scaled * 2.0**-64
        with np.errstate(all="ignore"):
            inverse, quotient = np.abs(1 / below) < tiny, np.abs(above / below) < tiny
        far = exponents[1] - exponents[0] >= 96
        cases = [
            (far, True, np.where(scaled == below, up, scaled)),
            (np.abs(below) < tiny, False, up),
            (inverse & quotient, True, np.where(scaled == below, up, scaled)),
            (inverse, False, down),
            (quotient, True, np.where(scaled == above, up, scaled)),
            (exponents[1] + 126 <= 23, False, up),
        ]
        value, flag, open_ = scaled, np.zeros(w.lanes, bool), np.ones(w.lanes, bool)
        zero = (below == 0) | (above == 0)
        value, open_ = np.where(zero, np.nan, value), open_ & ~zero
        for case, sets, replaced in cases:
            hit = open_ & case
            value, flag, open_ = np.where(hit, replaced, value), flag | hit & sets, open_ & ~hit
        out(w, lane_mask(w, flag))
        keep(w, value.astype(np.float32))

    return run


def _takes_back(one: Instruction, generation: float, lanes: int) -> Run:
    keep, takes = result(one, "f", generation), [source(one, place, "f") for place in range(3)]

    def run(w: Wave) -> None:
        a, b, c = (take(w).astype(np.float64) for take in takes)
        value, scale = a * b + c, np.where(np.abs(c) > 1, 2.0**64, 2.0**-64)
        keep(w, np.where(w.mask_of(VCC), value * scale, value).astype(np.float32))

    return run


def _fixes(one: Instruction, generation: float, lanes: int) -> Run:
    """The last step of a division: what is no ordinary quotient."""
    keep, takes = result(one, "f", generation), [source(one, place, "f") for place in range(3)]

    def run(w: Wave) -> None:
        value, below, above = (take(w) for take in takes)
        sign = np.where(np.signbit(below) ^ np.signbit(above), np.float32(-1), np.float32(1))
        found = np.abs(value) * sign
        found = np.where((below == 0) | np.isinf(above), np.float32(np.inf) * sign, found)
        found = np.where(np.isinf(below) | (above == 0), np.float32(0) * sign, found)
        nothing = (below == 0) & (above == 0) | np.isinf(below) & np.isinf(above) | np.isnan(below) | np.isnan(above)
        keep(w, np.where(nothing, np.float32(np.nan), found).astype(np.float32))

    return run


INSTRUCTIONS: dict[str, Callable[[Instruction, float, int], Run]] = {
    "v_div_scale_f32": _scales, "v_div_fmas_f32": _takes_back, "v_div_fixup_f32": _fixes,
}  # fmt: skip
