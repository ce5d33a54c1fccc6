"""Float conversions LLVM has no instruction for, as private branch-free functions: integers, or a GPU's intrinsics.

Generated per format pair, rounding mode and lane count from ``float_formats``. Both directions are exact:
widening loses nothing, and narrowing rounds once, straight from the source's bits (no detour through an
intermediate type, which would round twice).
"""

from __future__ import annotations

from flydsl.codegen.floats.float_formats import FORMATS, FloatFormat
from flydsl.codegen.floats.four_bit_lanes import cut_four_bits, in_pairs, pack_four_bits
from flydsl.codegen.floats.narrow_bits import Bits, helper_text
from flydsl.codegen.floats.narrow_instructions import narrowed_codes, widened_numbers
from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.llvm_types import BF16, int_scalar
from flydsl.codegen.module_scope import ModuleScope

_LLVM_NAMES = {"f64": "double", "f32": "float", "f16": "half", "bf16": BF16}
_F32 = FORMATS["f32"]


def narrowing_function(
    scope: ModuleScope, source: str, dest: str, lanes: int, rounding: str = "to_nearest_even", saturate: bool = False
) -> str:
    """Return the symbol of a helper from ``f32`` or ``f64`` to a shorter format.

    ``saturate`` keeps overflow and infinity at the largest finite value, as the GPUs' conversion
    instructions can; without it the result is what ``ml_dtypes`` gives.
    """
    name = f"fly.{source}_to_{dest}.{rounding}{'.sat' if saturate else ''}{f'.v{lanes}' if lanes else ''}"
    conversion = scope.narrow_conversions.get(dest)

    def build(symbol: str) -> str:
        if conversion is not None and source == "f32" and rounding == "to_nearest_even" and not saturate:
            bits = Bits(FunctionEmitter(scope, {}), _F32.bits, lanes)
            codes = narrowed_codes(bits, conversion, FORMATS[dest], "%x")
            return helper_text(bits.out, symbol, bits.of("float"), bits.of(f"i{FORMATS[dest].bits}"), codes)
        bits = Bits(FunctionEmitter(scope, {}), FORMATS[source].bits, lanes)
        return _narrowing_text(symbol, FORMATS[source], FORMATS[dest], bits, rounding, saturate)

    return scope.helper(name, build)


def widening_function(scope: ModuleScope, source: str, lanes: int) -> str:
    """Return the symbol of a helper from a narrow format to f32."""
    name = f"fly.{source}_to_f32{f'.v{lanes}' if lanes else ''}"
    conversion = scope.narrow_conversions.get(source)

    def build(symbol: str) -> str:
        bits = Bits(FunctionEmitter(scope, {}), _F32.bits, lanes)
        if conversion is None:
            return _widening_text(symbol, FORMATS[source], bits)
        numbers = widened_numbers(bits, conversion, FORMATS[source], "%x")
        return helper_text(bits.out, symbol, bits.of(f"i{FORMATS[source].bits}"), bits.of("float"), numbers)

    return scope.helper(name, build)


def _narrowing_text(symbol: str, source: FloatFormat, dest: FloatFormat, b: Bits, rounding: str, saturate: bool) -> str:
    argument, storage = b.of(_LLVM_NAMES[source.name]), b.of(f"i{dest.bits}")
    raw = b.cast("bitcast", argument, "%x", b.type)
    magnitude = b.op("and", raw, source.magnitude_mask)
    sign = b.op("lshr", raw, source.bits - 1)
    code = _round_code(b, source, dest, magnitude, sign, rounding)
    code = _limit_code(b, source, dest, code, magnitude, sign, "toward_zero" if saturate else rounding, saturate)
    is_nan = b.test("ugt", magnitude, source.infinity or 0)
    code = _finish_code(b, dest, code, magnitude, sign, is_nan)
    if in_pairs(int_scalar(dest.bits, b.lanes)):
        result = pack_four_bits(b.out, code, b.width, b.lanes)
    else:
        result = b.cast("trunc", b.type, code, storage)
    if dest.name in _LLVM_NAMES:
        result = b.cast("bitcast", storage, result, b.of(_LLVM_NAMES[dest.name]))
        storage = b.of(_LLVM_NAMES[dest.name])
    return helper_text(b.out, symbol, argument, storage, result)


def _round_code(b: Bits, source: FloatFormat, dest: FloatFormat, magnitude: str, sign: str, rounding: str) -> str:
    """Return the magnitude rounded to the destination's grid, as a code that may lie past the largest.

    The significand with its hidden bit is cut at the destination's last place; a value below the
    destination's smallest normal is cut higher up. Adding the rounded significand to the exponent field
    lets a carry run into the exponent, which is the right answer for every boundary.
    """
    field = b.op("lshr", magnitude, source.mantissa_bits)
    is_normal = b.test("ne", field, 0)
    fraction = b.op("and", magnitude, (1 << source.mantissa_bits) - 1)
    hidden = b.pick(is_normal, 1 << source.mantissa_bits, 0)
    significand = b.op("or", fraction, hidden)
    exponent = b.op("sub", b.call("umax", field, 1), source.bias - dest.bias)
    below = b.call("smax", b.op("sub", b.const(1), exponent), 0)
    # Past the significand's length everything rounds alike, and LLVM shifts must stay below the width.
    cut = b.call("umin", b.op("add", below, source.mantissa_bits - dest.mantissa_bits), source.mantissa_bits + 2)
    base = b.op("sub", b.call("smax", exponent, 1), 1)
    rounded = b.op("lshr", b.op("add", significand, _rounding_bias(b, significand, cut, sign, rounding)), cut)
    code = b.op("add", b.op("shl", base, dest.mantissa_bits), rounded)
    if dest.has_sign:
        return code
    # The lowest code is no zero but a power of two: what is no larger stays there in every mode.
    return b.pick(b.test("ugt", magnitude, _power_of_two(source, -dest.bias)), code, 0)


def _power_of_two(fmt: FloatFormat, exponent: int) -> int:
    """Return the code of 2**exponent, which may be subnormal."""
    field = exponent + fmt.bias
    return field << fmt.mantissa_bits if field > 0 else 1 << (fmt.mantissa_bits - 1 + field)


def _rounding_bias(b: Bits, significand: str, cut: str, sign: str, rounding: str) -> str:
    """Return what to add before cutting ``cut`` low bits off, for each rounding mode."""
    if rounding == "toward_zero":
        return b.const(0)
    unit = b.op("shl", b.const(1), cut)
    half = b.op("lshr", unit, 1)
    if rounding == "to_nearest_away":
        return half
    if rounding == "to_nearest_even":
        odd = b.op("and", b.op("lshr", significand, cut), 1)
        return b.op("add", b.op("sub", half, 1), odd)
    away = b.op("sub", unit, 1)
    grows = b.test("ne" if rounding == "downward" else "eq", sign, 0)
    return b.pick(grows, away, 0)


def _limit_code(
    b: Bits, source: FloatFormat, dest: FloatFormat, code: str, magnitude: str, sign: str, rounding: str, saturate: bool
) -> str:
    """Codes past the largest finite one: what overflow gives, or the largest when rounding towards it."""
    past = b.test("ugt", code, dest.largest)
    if rounding.startswith("to_nearest"):
        return b.pick(past, dest.overflow, code)
    if rounding == "toward_zero":
        code = b.pick(past, dest.largest, code)
    else:
        grows = b.test("ne" if rounding == "downward" else "eq", sign, 0)
        code = b.pick(past, b.pick(grows, dest.overflow, dest.largest), code)
    if saturate:
        return code
    is_infinite = b.test("eq", magnitude, source.infinity or 0)
    return b.pick(is_infinite, dest.overflow, code)


def _finish_code(b: Bits, dest: FloatFormat, code: str, magnitude: str, sign: str, is_nan: str) -> str:
    """Put sign and NaN on a magnitude code."""
    if not dest.has_sign:
        is_zero = b.test("eq", magnitude, 0)
        is_negative = b.test("ne", sign, 0)
        outside = b.out.assign(f"or {b.flag} {is_zero}, {is_negative}")
        outside = b.out.assign(f"or {b.flag} {outside}, {is_nan}")
        return b.pick(outside, dest.nan, code)
    sign_bit = b.op("shl", sign, dest.bits - 1)
    if not dest.fnuz:
        return b.op("xor", b.pick(is_nan, dest.nan, code), sign_bit)
    # Zero and NaN carry no sign; the unsigned test is true for codes 1 .. largest.
    signed = b.test("ult", b.op("sub", code, 1), dest.largest)
    code = b.op("or", code, b.pick(signed, sign_bit, 0))
    return b.pick(is_nan, dest.nan, code)


def _widening_text(symbol: str, source: FloatFormat, b: Bits) -> str:
    storage, result = b.of(f"i{source.bits}"), b.of("float")
    codes = cut_four_bits(b.out, "%x", b.lanes) if in_pairs(int_scalar(source.bits, b.lanes)) else "%x"
    raw = b.cast("zext", storage, codes, b.type)
    magnitude = b.op("and", raw, source.magnitude_mask)
    value = b.op("shl", magnitude, _F32.mantissa_bits - source.mantissa_bits)
    value = b.op("add", value, (_F32.bias - source.bias) << _F32.mantissa_bits)
    if source.has_sign:
        value = b.pick(b.test("ult", magnitude, 1 << source.mantissa_bits), _tiny_value(b, source, magnitude), value)
    else:
        value = b.pick(b.test("eq", magnitude, 0), 1 << (_F32.mantissa_bits - 1), value)
    value = _widened_specials(b, source, value, raw, magnitude)
    wide = b.cast("bitcast", b.type, value, result)
    return helper_text(b.out, symbol, storage, result, wide)


def _tiny_value(b: Bits, source: FloatFormat, magnitude: str) -> str:
    """Bits of a subnormal: its fraction counts units of the last place. Exact, and normal in f32, so a
    GPU that flushes subnormals gives the same."""
    counted = b.cast("uitofp", b.type, magnitude, b.of("float"))
    exponent = 1 - source.bias - source.mantissa_bits
    unit = f"0x{(exponent + 1023) << 52:016X}"
    scale = f"splat (float {unit})" if b.lanes else unit
    product = b.out.assign(f"fmul {b.of('float')} {counted}, {scale}")
    return b.cast("bitcast", b.of("float"), product, b.type)


def _widened_specials(b: Bits, source: FloatFormat, value: str, raw: str, magnitude: str) -> str:
    infinity, nan = _F32.infinity or 0, _F32.nan
    if not source.has_sign:
        return b.pick(b.test("eq", raw, source.nan), nan, value)
    if source.infinity is not None:
        value = b.pick(b.test("eq", magnitude, source.infinity), infinity, value)
        value = b.pick(b.test("ugt", magnitude, source.infinity), nan, value)
    elif source.nan <= source.magnitude_mask:
        value = b.pick(b.test("eq", magnitude, source.nan), nan, value)
    sign = b.op("shl", b.op("lshr", raw, source.bits - 1), 31)
    value = b.op("or", value, sign)
    return b.pick(b.test("eq", raw, source.nan), nan | 1 << 31, value) if source.fnuz else value
