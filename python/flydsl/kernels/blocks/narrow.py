"""Numbers of 8 bits for rows: how a row's scale is chosen and how its elements are rounded.

Integers are cut off toward zero, not rounded: that is the contract of FlyDSL's quantisers, and numbers that have a mean
lose half a code of it. "i8_rounded", for those who multiply the codes, and 8-bit floats are rounded to nearest, ties to
even, and stay within what the format holds.
"""

from __future__ import annotations

from collections.abc import Iterable
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
    """Elements, divided by their scale already, in a format; the store may take them as bytes."""
    if quant == "fp8":
        return e4m3_of(vector)
    top = LARGEST[quant]
    inside = fx.math.clampf(vector, -top, top)
    return (fx.math.roundeven(inside) if quant == "i8_rounded" else inside).to(FORMATS[quant])


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
