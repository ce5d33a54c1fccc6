"""The float formats of the element types, as numbers.

Each row was checked against ml_dtypes over all its codes (tests/codegen/test_narrow_floats.py). Special
codes are written without the sign bit, except where the sign bit itself is the special code.
"""

from __future__ import annotations

from flydsl.base.records import dataclass


@dataclass(frozen=True)
class FloatFormat:
    """One binary float format.

    ``largest`` is the code of the largest finite value, ``infinity`` its code or None where there is
    none, ``nan`` the code conversions produce, ``overflow`` what a value past the largest rounds to.
    ``fnuz`` formats have one unsigned zero, and their only NaN sits where minus zero would be.
    ``has_sign`` false is E8M0: powers of two only, no zero.
    """

    name: str
    exponent_bits: int
    mantissa_bits: int
    bias: int
    largest: int
    infinity: int | None
    nan: int
    overflow: int
    fnuz: bool = False
    has_sign: bool = True

    @property
    def bits(self) -> int:
        return self.exponent_bits + self.mantissa_bits + self.has_sign

    @property
    def magnitude_mask(self) -> int:
        """All bits but the sign."""
        return (1 << (self.exponent_bits + self.mantissa_bits)) - 1


def _ieee(name: str, exponent: int, mantissa: int, bias: int) -> FloatFormat:
    infinity = ((1 << exponent) - 1) << mantissa
    return FloatFormat(name, exponent, mantissa, bias, infinity - 1, infinity, infinity | 1 << (mantissa - 1), infinity)


def _fnuz(name: str, exponent: int, mantissa: int, bias: int) -> FloatFormat:
    sign = 1 << (exponent + mantissa)
    return FloatFormat(name, exponent, mantissa, bias, sign - 1, None, sign, sign, fnuz=True)


def _finite(name: str, exponent: int, mantissa: int, bias: int) -> FloatFormat:
    """Return no infinity and no NaN: overflow stays at the largest value, NaN becomes a zero of the other sign."""
    sign = 1 << (exponent + mantissa)
    return FloatFormat(name, exponent, mantissa, bias, sign - 1, None, sign, sign - 1)


FORMATS: dict[str, FloatFormat] = {
    entry.name: entry
    for entry in (
        _ieee("f64", 11, 52, 1023),
        _ieee("f32", 8, 23, 127),
        _ieee("f16", 5, 10, 15),
        _ieee("bf16", 8, 7, 127),
        _ieee("f8E5M2", 5, 2, 15),
        _ieee("f8E4M3", 4, 3, 7),
        _ieee("f8E3M4", 3, 4, 3),
        FloatFormat("f8E4M3FN", 4, 3, 7, largest=0x7E, infinity=None, nan=0x7F, overflow=0x7F),
        _fnuz("f8E4M3FNUZ", 4, 3, 8),
        _fnuz("f8E5M2FNUZ", 5, 2, 16),
        _fnuz("f8E4M3B11FNUZ", 4, 3, 11),
        FloatFormat("f8E8M0FNU", 8, 0, 127, largest=0xFE, infinity=None, nan=0xFF, overflow=0xFF, has_sign=False),
        _finite("f6E2M3FN", 2, 3, 1),
        _finite("f6E3M2FN", 3, 2, 3),
        _finite("f4E2M1FN", 2, 1, 1),
    )
}

# MLIR's arith.roundingmode, in its numbering.
ROUNDING_MODES = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")
