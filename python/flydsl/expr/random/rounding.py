"""Rounding at random: a float becomes one of its two narrower neighbours, with the chance that makes the mean right."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr import math
from flydsl.expr.numbers.numeric_types import FloatFormat, Specials
from flydsl.expr.numeric import BFloat16, Float32, Numeric, Uint32, as_numeric, resolve_dtype
from flydsl.expr.rocdl.arithmetic import cvt_sr_f32_to_bf16
from flydsl.expr.trace.context import current
from flydsl.expr.vector import Vector

SINGLE_MANTISSA, SINGLE_MIN_EXPONENT = 23, -126


def stochastic_round(value: Any, dtype: type[Numeric], bits: Any) -> Any:
    """Return an f32, or a vector of them, as a narrower float, up or down by random ``bits``: a Uint32 for each.

    The lowest bits are added to what is cut off, and the sum is cut off: so the mean over random bits is the value
    itself, also among subnormal numbers. Infinity and NaN stay. gfx950 has an instruction for bf16.
    """
    target = resolve_dtype(dtype)
    layout = target.format.layout
    if layout is None or layout.mantissa >= SINGLE_MANTISSA or layout.specials is Specials.SCALE:
        raise DslValueError(
            f"rounding at random makes an f32 a narrower float, not {target.__name__}",
            hint="round to fx.BFloat16, fx.Float16 or a float of 8, 6 or 4 bits",
        )
    given = value if isinstance(value, Vector) else as_numeric(value)
    words = bits if isinstance(bits, Vector) else as_numeric(bits)
    if not given.dtype.is_float or words.dtype.is_float or words.dtype.width != 32:
        raise DslTypeError(
            f"rounding at random takes f32 and a 32-bit word for each, got {given.dtype} and {words.dtype}",
            hint="fx.random.randint(seed, offset) gives such words",
        )
    if target is BFloat16 and current().target.generation == "cdna4":
        return _by_instruction(given.to(Float32), words)
    if not isinstance(given, Vector):
        return _rounded(Vector([given.to(Float32)]), Vector([words.to(Uint32)]), layout).to(target)[0]
    spread = words.to(Uint32) if isinstance(words, Vector) else Vector.filled(given.numel, words.to(Uint32))
    found = _rounded(given.to(Float32).reshape(given.numel), spread.reshape(given.numel), layout)
    return found.to(target).reshape(given.shape)


def _by_instruction(value: Any, words: Any) -> Any:
    if not isinstance(value, Vector):
        return cvt_sr_f32_to_bf16(value, words)
    pairs = [cvt_sr_f32_to_bf16(value[i], words[i] if isinstance(words, Vector) else words) for i in range(value.numel)]
    return Vector(Vector.from_elements(pairs, BFloat16), value.shape)


def _rounded(value: Vector, words: Vector, layout: FloatFormat) -> Vector:
    """Return the f32 that are numbers of the narrower format."""
    dropped = SINGLE_MANTISSA - layout.mantissa
    mask = (1 << dropped) - 1
    low = words & Uint32(mask)
    size = math.absf(value)
    moved = ((value.bitcast(Uint32) + low) & Uint32(0xFFFFFFFF ^ mask)).bitcast(Float32)
    if layout.min_exponent > SINGLE_MIN_EXPONENT:
        step = 2.0 ** (layout.min_exponent - layout.mantissa)
        steps = size * (1.0 / step)
        whole = math.floor(steps)
        up = low.to(Float32) * 2.0**-dropped >= 1.0 - (steps - whole)
        few = math.copysign(up.select(whole + 1.0, whole) * step, value)
        moved = (size < 2.0**layout.min_exponent).select(few, moved)
    return (size < float("inf")).select(moved, value)


__all__ = ["stochastic_round"]
