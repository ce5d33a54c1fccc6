"""Numbers of 8 bits for rows: how a row's scale is chosen and how its elements are rounded.

Integers are cut off toward zero, not rounded: that is the contract of FlyDSL's quantisers, and numbers that have a mean
lose half a code of it. "i8_rounded", for those who multiply the codes, and 8-bit floats are rounded to nearest, ties to
even, and stay within what the format holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import flydsl.expr as fx
from flydsl.kernels.blocks.activation import inverse
from flydsl.kernels.blocks.reduce import maximum

LARGEST = {"i8": 127.0, "fp8": 448.0, "fp8_fnuz": 240.0, "bf8": 57344.0, "i8_rounded": 127.0}
SMALLEST_SCALE = 2.0**-126
FORMATS: dict[str, Any] = {
    "i8": fx.Int8, "fp8": fx.Float8E4M3FN, "fp8_fnuz": fx.Float8E4M3FNUZ, "bf8": fx.Float8E5M2, "i8_rounded": fx.Int8,
}  # fmt: skip


def largest_magnitude(vectors: Iterable[Any]) -> Any:
    """Return the largest absolute value of this thread's elements."""
    return reduce(maximum, (abs(vector).reduce("maximumf") for vector in vectors))


def row_scale(top: Any, quant: str) -> tuple[Any, Any]:
    """Return (scale, 1 / scale) for elements of up to ``top``: what the format's largest number stands for; 1 for
    zeros.

    It is the smallest normal number at least, since the inverse of a subnormal one may be infinite.
    """
    exact = top * (1.0 / LARGEST[quant]) if _is_quick(quant) else top / LARGEST[quant]
    scale = (exact < SMALLEST_SCALE).select(fx.Float32(SMALLEST_SCALE), exact)
    scale = (top == 0.0).select(fx.Float32(1.0), scale)
    return scale, inverse(scale) if _is_quick(quant) else 1.0 / scale


def _is_quick(quant: str) -> bool:
    """Return whether the last bit of a scale may be another one: of codes that are rounded, but not of those that are
    cut off, which the row's largest element itself could miss."""
    return quant != "i8" and fx.nvvm.is_target()


def quantised(vector: Any, quant: str) -> Any:
    """Elements, divided by their scale already, in a format."""
    if quant == "fp8":
        return e4m3_of(vector)
    top = LARGEST[quant]
    inside = fx.math.clampf(vector, -top, top)
    return (fx.math.roundeven(inside) if quant == "i8_rounded" else inside).to(FORMATS[quant])


def codes_in(array: Any, kind: Any) -> Any:
    """Return an array that codes of a type are written to: bytes are seen as that type, and so are 8-bit floats where
    codes are bytes themselves, since to convert the numbers would cut them off. Wider types hold the numbers."""
    if array.dtype is kind or array.dtype.width != 8:
        return array
    if array.dtype not in (fx.Int8, fx.Uint8) and kind is not fx.Uint8:
        names = kind.__name__, array.dtype.__name__
        raise TypeError("results are {}, and the array that they go to holds {}: pass one of that type, or of bytes"
                        .format(*names))  # fmt: skip
    return fx.make_view(fx.recast_iter(kind, fx.get_iter(array)), array.layout)


def e4m3_of(vector: Any) -> Any:
    """Elements as `Float8E4M3FN`, those beyond 448 as 448; Hopper has an instruction for two of them."""
    if fx.nvvm.max_cluster_size() > 1 and isinstance(vector, fx.Vector) and vector.numel % 2 == 0:
        pairs = [fx.nvvm.cvt_e4m3x2(vector[i], vector[i + 1]) for i in range(0, vector.numel, 2)]
        return fx.Vector.from_elements(pairs, fx.Int16).bitcast(fx.Float8E4M3FN)
    return fx.math.clampf(vector, -LARGEST["fp8"], LARGEST["fp8"]).to(fx.Float8E4M3FN)


def number_of_e8m0(code: Any) -> Any:
    """Return 2^(code - 127) in f32, of an exponent of eight bits; 255 is no number."""
    code = fx.Int32(code)
    least, most = code == 0, code == 255
    bits = least.select(fx.Int32(0x400000), most.select(fx.Int32(0x7FC00000), code << 23))
    return bits.bitcast(fx.Float32)


@dataclass(frozen=True)
class _Halves:
    """A type of 16 bits, of which a word has two: where exponents are, and what a power of two is multiplied by to have
    steps of its half. ``below`` are bits, from bit ``shift`` on, that say how many steps there are below."""

    exponents: int
    magic: float
    shift: int
    below: int


_HALVES: dict[Any, _Halves] = {
    fx.BFloat16: _Halves(0x7F807F80, 2.0**6 + 3, 6, 0x03FF03FF), fx.Float16: _Halves(0x7C007C00, 2.0**9, 9, 0x003F003F),
}  # fmt: skip


def scaled_e2m1(vector: Any, inverse: Any, are_numbers: Any) -> Any:
    """Eight or four elements, times a power of two, as codes of `Float4E2M1FN`, two in a byte, those beyond 6 as 6; all
    of them are numbers or none, and become -0 then.

    The format has 0, 0.5, 1, 1.5, 2, 3, 4 and 6, so that steps are half of the power of two below, and of 1 at least.
    A sum with so much of that power that the type has no smaller steps is rounded to them: its last bits count them,
    and its exponent those below. Eight elements of 16 bits take half the instructions of f32.
    """
    if not fx.nvvm.is_target():
        return fx.math.clampf(vector * inverse, -6.0, 6.0).to(fx.Float4E2M1FN).bitcast(fx.Uint8)
    word = _codes(vector * inverse) if vector.dtype is fx.Float32 else _codes_of_halves(_scaled(vector, inverse))
    word = are_numbers.select(word, fx.Uint32(0x88888888)).to(fx.Uint32 if vector.numel == 8 else fx.Uint16)
    return fx.Vector.from_elements([word]).bitcast(fx.Uint8)


def _scaled(vector: Any, power: Any) -> Any:
    """Return elements times a power of two, which in f16 is two of them: it may be beyond what the type holds, and
    beyond both where elements are zeros."""
    if vector.dtype is fx.BFloat16:
        return vector * power.to(fx.BFloat16)
    most = 2.0**15
    further = fx.min(fx.max(power / most, 1.0), most)
    return vector * fx.min(power, most).to(fx.Float16) * further.to(fx.Float16)


def _codes(vector: Any) -> Any:
    """Return a word of codes of f32. With three powers more than 2^22 the last bits of sums begin at 0."""
    inside = abs(vector).minimumf(fx.Vector.filled(vector.numel, 6.0, fx.Float32))
    powers = [
        fx.max(bits & 0x7F800000, fx.Uint32(0x3F800000)).bitcast(fx.Float32) for bits in inside.bitcast(fx.Uint32)
    ]
    word = fx.Uint32(0)
    for place, power in enumerate(powers):
        total = fx.math.fma(power, fx.Float32(2.0**22 + 3), inside[place]).bitcast(fx.Uint32)
        code = (total + (total >> 22)) & 7 | vector[place].bitcast(fx.Uint32) >> 28 & 8
        word = word | code << 4 * place
    return word


def _codes_of_halves(vector: Any) -> Any:
    """Return a word of codes of eight elements of 16 bits, two of which are computed at once in the halves of words."""
    kind = _HALVES[vector.dtype]
    six, one, magic = (fx.Vector.filled(8, value, vector.dtype) for value in (6.0, 1.0, kind.magic))
    inside = abs(vector).minimumf(six)
    power = (inside.bitcast(fx.Uint32) & kind.exponents).bitcast(vector.dtype).maximumf(one)
    total = fx.math.fma(power, magic, inside).bitcast(fx.Uint32)
    codes = (total + (total >> kind.shift & kind.below)) & 0x00070007 | vector.bitcast(fx.Uint32) >> 12 & 0x00080008
    low, high = codes[0] | codes[1] << 8, codes[2] | codes[3] << 8
    return (low | low >> 12) & 0xFFFF | (high | high >> 12) << 16
