"""Numbers of 8 bits for rows: how a row's scale is chosen and how its elements are rounded.

Integers are cut off toward zero, not rounded: that is the contract of FlyDSL's quantisers. 8-bit floats are rounded to
nearest, ties to even, and stay within what the format holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

import flydsl.expr as fx
from flydsl.kernels.blocks.reduce import maximum

LARGEST = {"i8": 127.0, "fp8": 448.0, "fp8_fnuz": 240.0, "bf8": 57344.0}
FORMATS: dict[str, Any] = {
    "i8": fx.Int8, "fp8": fx.Float8E4M3FN, "fp8_fnuz": fx.Float8E4M3FNUZ, "bf8": fx.Float8E5M2,
}  # fmt: skip


def largest_magnitude(vectors: Iterable[Any]) -> Any:
    """The largest absolute value of this thread's elements."""
    return reduce(maximum, (abs(vector).reduce("maximumf") for vector in vectors))


def row_scale(top: Any, quant: str) -> tuple[Any, Any]:
    """(scale, 1 / scale) for elements of up to ``top``: what the format's largest number stands for; 1 for zeros."""
    nothing = top == 0.0
    scale = nothing.select(fx.Float32(1.0), top / LARGEST[quant])
    return scale, 1.0 / scale


def quantised(vector: Any, quant: str) -> Any:
    """Elements, divided by their scale already, in a format; the store may take them as bytes."""
    top = LARGEST[quant]
    inside = fx.math.clampf(vector, -top, top)
    return inside.to(FORMATS[quant])
