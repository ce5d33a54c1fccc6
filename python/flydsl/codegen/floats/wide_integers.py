"""Conversions between floats and integers of more than 64 bits, as private branch-free functions.

LLVM converts these by library calls that no GPU has and a Python process may lack. Here 128-bit values are only
shifted, compared and negated; what rounds is a conversion of 64 bits, once.
"""

from __future__ import annotations

from flydsl.codegen.floats.float_formats import FORMATS
from flydsl.codegen.floats.narrow_bits import Bits, helper_text
from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.llvm_types import Scalar
from flydsl.codegen.module_scope import ModuleScope

WORD = 64
"""Bits of the widest integer that every machine converts itself."""
_F64_DIGITS = 53
_LLVM_NAMES = {"f32": "float", "f64": "double"}


def from_wide_integer(scope: ModuleScope, source: Scalar, signed: bool, dest: str, exact: bool) -> str:
    """Return the symbol of a helper from a wide integer to ``f32`` or ``f64``.

    With ``exact`` the result has not been rounded to nearest: bits that f64 does not hold are folded into its last
    one (rounding to odd), so that rounding it to any shorter type is right.
    """
    kind = f"{'s' if signed else 'u'}{source.bits}"
    name = f"fly.{kind}_to_{dest}{'.odd' if exact else ''}{f'.v{source.lanes}' if source.lanes else ''}"

    def build(symbol: str) -> str:
        out = FunctionEmitter(scope, {})
        wide, word = Bits(out, source.bits, source.lanes), Bits(out, WORD, source.lanes)
        sign = wide.op("ashr", "%x", source.bits - 1) if signed else wide.const(0)
        magnitude = wide.op("sub", wide.op("xor", "%x", sign), sign) if signed else "%x"
        top, shift = _leading_bits(wide, magnitude, _F64_DIGITS if exact else WORD)
        low = wide.cast("trunc", wide.type, top, word.type)
        number = _scaled(word, low, wide.cast("trunc", wide.type, shift, word.type), dest)
        float_type = word.of(_LLVM_NAMES[dest])
        if signed:
            negated = out.assign(f"fneg {float_type} {number}")
            arms = f"{float_type} {negated}, {float_type} {number}"
            number = out.assign(f"select {wide.flag} {wide.test('ne', sign, 0)}, {arms}")
        return helper_text(out, symbol, wide.type, float_type, number)

    return scope.helper(name, build)


def _leading_bits(b: Bits, magnitude: str, keep: int) -> tuple[str, str]:
    """Return the ``keep`` leading bits, the last of them set where a lower one was, and by how much they were moved."""
    zeros = b.out.call(b.type, "@llvm.ctlz", [f"{b.type} {magnitude}", "i1 false"])
    shift = b.out.call(b.type, "@llvm.usub.sat", [f"{b.type} {b.const(b.width - keep)}", f"{b.type} {zeros}"])
    top = b.op("lshr", magnitude, shift)
    lost = b.test("ne", b.op("shl", top, shift), magnitude)
    return b.op("or", top, b.cast("zext", b.flag, lost, b.type)), shift


def _scaled(b: Bits, number: str, shift: str, dest: str) -> str:
    """Return an unsigned word times a power of two as a float; the conversion rounds, the product is exact."""
    fmt, type_ = FORMATS[dest], b.of(_LLVM_NAMES[dest])
    converted = b.cast("uitofp", b.type, number, type_)
    power = b.op("shl", b.op("add", shift, fmt.bias), fmt.mantissa_bits)
    if fmt.bits < b.width:
        power = b.cast("trunc", b.type, power, b.of(f"i{fmt.bits}"))
    factor = b.cast("bitcast", b.of(f"i{fmt.bits}"), power, type_)
    return b.out.assign(f"fmul {type_} {converted}, {factor}")


def to_wide_integer(scope: ModuleScope, source: str, dest: Scalar, signed: bool) -> str:
    """Return the symbol of a helper from ``f32`` or ``f64`` to a wide integer: the nearest number towards zero, NaN
    zero."""
    kind = f"{'s' if signed else 'u'}{dest.bits}"
    name = f"fly.{source}_to_{kind}{f'.v{dest.lanes}' if dest.lanes else ''}"

    def build(symbol: str) -> str:
        out, fmt = FunctionEmitter(scope, {}), FORMATS[source]
        float_type = f"<{dest.lanes} x {_LLVM_NAMES[source]}>" if dest.lanes else _LLVM_NAMES[source]
        b, wide = Bits(out, fmt.bits, dest.lanes), Bits(out, dest.bits, dest.lanes)
        raw = b.cast("bitcast", float_type, "%x", b.type)
        magnitude = b.op("and", raw, fmt.magnitude_mask)
        whole = _whole_part(b, wide, magnitude, source)
        # The first power of two that the type does not hold; infinity lies past it, and NaN past infinity.
        limit = (fmt.bias + dest.bits - signed) << fmt.mantissa_bits
        past = b.test("uge", magnitude, min(limit, fmt.infinity or 0))
        whole = wide.pick(past, (1 << (dest.bits - signed)) - 1, whole)
        negative = b.test("slt", raw, 0)
        below = wide.op("sub", wide.const(0), whole) if signed else wide.const(0)
        if signed:
            below = wide.pick(past, 1 << (dest.bits - 1), below)
        result = wide.pick(negative, below, whole)
        result = wide.pick(b.test("ugt", magnitude, fmt.infinity or 0), 0, result)
        return helper_text(out, symbol, float_type, wide.type, result)

    return scope.helper(name, build)


def _whole_part(b: Bits, wide: Bits, magnitude: str, source: str) -> str:
    """Return the number of a finite magnitude without its fraction; any number where it does not fit."""
    fmt = FORMATS[source]
    fraction = b.op("and", magnitude, (1 << fmt.mantissa_bits) - 1)
    # A subnormal gets a hidden bit it does not have; its exponent moves that out with the rest.
    significand = b.op("or", fraction, 1 << fmt.mantissa_bits)
    exponent = b.op("sub", b.op("lshr", magnitude, fmt.mantissa_bits), fmt.bias + fmt.mantissa_bits)
    right = b.call("umin", b.call("smax", b.op("sub", b.const(0), exponent), 0), fmt.mantissa_bits + 1)
    left = b.call("umin", b.call("smax", exponent, 0), wide.width - 1)
    kept = b.cast("zext", b.type, b.op("lshr", significand, right), wide.type)
    return wide.op("shl", kept, b.cast("zext", b.type, left, wide.type))
