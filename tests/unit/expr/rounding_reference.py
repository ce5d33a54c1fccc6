"""Rounding of float32 to any shorter format in each mode, from the definition of the modes alone.

The values of a format are listed with their codes; a number is placed between two neighbours, and the mode chooses
one. Past the largest value the mode decides whether the number overflows. Only the list of codes comes from NumPy
and ml_dtypes, no conversion.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import ml_dtypes
import numpy as np

MODES = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")


@dataclass(frozen=True)
class Codes:
    """The non-negative values of a format in ascending order: the code of the k-th is k."""

    dtype: np.dtype[Any]
    bits: int
    infinity: int | None
    """The code that overflow gives: infinity, NaN where there is none, or None where it stays at the largest value."""
    has_sign: bool = True

    @cached_property
    def values(self) -> np.ndarray:
        count = 1 << (self.bits - self.has_sign)
        unsigned = np.arange(count, dtype=f"u{self.dtype.itemsize}").view(self.dtype).astype(np.float64)
        return unsigned[np.isfinite(unsigned)]

    @property
    def has_negative_zero(self) -> bool:
        return self.has_sign and "fnuz" not in self.dtype.name

    def rounded(self, numbers: np.ndarray, mode: str) -> np.ndarray:
        """The codes of finite or infinite float32 numbers (no NaN); for an unsigned format, of positive ones."""
        exact = np.abs(numbers.astype(np.float64))
        negative = np.signbit(numbers)
        magnitude = self._magnitude(exact, negative, mode)
        sign = negative.astype(np.int64) << (self.bits - 1)
        if not self.has_sign:
            return magnitude
        if self.has_negative_zero:
            return magnitude | sign
        return np.where((magnitude == 0) | (magnitude == self.infinity), magnitude, magnitude | sign)

    def _magnitude(self, exact: np.ndarray, negative: np.ndarray, mode: str) -> np.ndarray:
        values = self.values
        top = values.size - 1
        below = np.clip(np.searchsorted(values, exact, side="right") - 1, 0, top)
        above = np.minimum(below + 1, top)
        # Past the largest value the next step would be as far again; a nearest mode measures against it.
        step = values[top] - values[top - 1] if self.has_sign else values[top]
        upper = np.where(below == top, values[top] + step, values[above])
        middle = (values[below] + upper) / 2
        if not self.has_sign:
            # Between its two lowest powers, where float32 is subnormal, ml_dtypes always takes the upper one.
            middle = np.where(below == 0, values[0], middle)
        grows = self._grows(exact, below, values[below], middle, negative, mode)
        over = top if self.infinity is None else self.infinity
        rounded = np.where(grows, np.where(below == top, over, above), below)
        return np.where(np.isinf(exact), over, rounded)

    def _grows(
        self, exact: np.ndarray, below: np.ndarray, low: np.ndarray, middle: np.ndarray, negative: np.ndarray, mode: str
    ) -> np.ndarray:
        """Whether the magnitude goes to the neighbour away from zero."""
        between = exact > low
        if mode == "to_nearest_even":
            odd = below & 1 == 1 if self.has_sign else below > 0  # a mantissa of one digit is odd
            return (exact > middle) | ((exact == middle) & odd)
        if mode == "to_nearest_away":
            return between & (exact >= middle)
        if mode == "toward_zero":
            return np.zeros(exact.shape, bool)
        return between & (negative if mode == "downward" else ~negative)


def _ieee(name: str) -> Codes:
    dtype = np.dtype(name) if hasattr(np, name) else np.dtype(getattr(ml_dtypes, name))
    infinity = np.array(np.inf, dtype).view(f"u{dtype.itemsize}")
    return Codes(dtype, 8 * dtype.itemsize, int(infinity))


def _narrow(name: str, bits: int, infinity: int | None, has_sign: bool = True) -> Codes:
    return Codes(np.dtype(getattr(ml_dtypes, name)), bits, infinity, has_sign)


FORMATS: dict[str, Codes] = {
    "Float16": _ieee("float16"),
    "BFloat16": _ieee("bfloat16"),
    "Float8E5M2": _ieee("float8_e5m2"),
    "Float8E4M3": _ieee("float8_e4m3"),
    "Float8E4M3FN": _narrow("float8_e4m3fn", 8, 0x7F),
    "Float8E4M3FNUZ": _narrow("float8_e4m3fnuz", 8, 0x80),
    "Float8E5M2FNUZ": _narrow("float8_e5m2fnuz", 8, 0x80),
    "Float8E4M3B11FNUZ": _narrow("float8_e4m3b11fnuz", 8, 0x80),
    "Float8E8M0FNU": _narrow("float8_e8m0fnu", 8, 0xFF, has_sign=False),
    "Float6E2M3FN": _narrow("float6_e2m3fn", 6, None),
    "Float6E3M2FN": _narrow("float6_e3m2fn", 6, None),
    "Float4E2M1FN": _narrow("float4_e2m1fn", 4, None),
}
