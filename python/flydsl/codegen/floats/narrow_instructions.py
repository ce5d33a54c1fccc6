"""Conversions between f32 and narrow floats by a GPU's instructions, equal to those by integers in every bit.

The instructions round in-range numbers as everybody does. What they make of overflow, infinity and NaN differs (some
saturate, some by a mode of the wave), so those are chosen here: behind the instruction for fp8, and before it for a
format without special codes, whose numbers can be brought into range first.
"""

from __future__ import annotations

from flydsl.codegen.floats.float_formats import FORMATS, FloatFormat
from flydsl.codegen.floats.four_bit_lanes import first_of_four_bits, in_pairs, registers_of_four_bits
from flydsl.codegen.floats.narrow_bits import Bits
from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.llvm_types import int_scalar
from flydsl.target.narrow_conversions import PackedConversion

_F32 = FORMATS["f32"]
_SIGN_TO_CODE = _F32.bits - 8
_ONE = "float 1.0"
_ONE_IN_BYTES = f"i32 {_F32.bias}"
"""The scale 1, as f32 and as an exponent in the lowest byte of a register."""


def narrowed_codes(b: Bits, conversion: PackedConversion, fmt: FloatFormat, text: str) -> str:
    """Return the codes, as many as lanes, of f32 numbers."""
    raw = b.cast("bitcast", b.of("float"), text, b.type)
    magnitude = b.op("and", raw, _F32.magnitude_mask)
    if fmt.bits < 8:
        return _packed(b, conversion, fmt, _in_range(b, fmt, raw, magnitude))
    sign = b.op("and", b.op("lshr", raw, _SIGN_TO_CODE), 0x80)
    found = b.cast("zext", b.of("i8"), _packed(b, conversion, fmt, text), b.type)
    special = b.const(fmt.overflow) if fmt.fnuz else b.op("or", sign, fmt.overflow)
    if fmt.infinity is not None:
        is_nan = b.test("ugt", magnitude, _F32.infinity or 0)
        special = b.op("or", sign, b.pick(is_nan, fmt.nan, fmt.overflow))
    code = b.pick(b.test("uge", magnitude, first_overflow(fmt)), special, found)
    return b.cast("trunc", b.type, code, b.of("i8"))


def _as_f32(fmt: FloatFormat, code: int) -> int:
    """Return the bits of a normal number of a format as f32."""
    return (code << (_F32.mantissa_bits - fmt.mantissa_bits)) + ((_F32.bias - fmt.bias) << _F32.mantissa_bits)


def first_overflow(fmt: FloatFormat) -> int:
    """Return the bits of the least f32 that is rounded past a format's largest number."""
    half = 1 << (_F32.mantissa_bits - fmt.mantissa_bits - 1)
    # The middle to the next number would go to the even one of the two.
    return _as_f32(fmt, fmt.largest) + half + (fmt.largest + 1) % 2


def _in_range(b: Bits, fmt: FloatFormat, raw: str, magnitude: str) -> str:
    """Numbers no larger than the format's largest, and zero of the other sign for NaN."""
    sign = b.op("xor", raw, magnitude)
    kept = b.op("or", b.call("umin", magnitude, _as_f32(fmt, fmt.largest)), sign)
    is_nan = b.test("ugt", magnitude, _F32.infinity or 0)
    return b.cast("bitcast", b.type, b.pick(is_nan, b.op("xor", sign, 1 << 31), kept), b.of("float"))


def widened_numbers(b: Bits, conversion: PackedConversion, fmt: FloatFormat, text: str) -> str:
    """Return the f32 numbers of codes."""
    numbers = _unpacked(b, conversion, fmt, text)
    if fmt.bits < 8:
        return numbers
    raw = b.cast("zext", b.of("i8"), text, b.type)
    if fmt.fnuz:
        is_nan, nan = b.test("eq", raw, fmt.nan), b.const(_F32.nan | 1 << 31)
    else:
        is_nan = b.test("ugt", b.op("and", raw, fmt.magnitude_mask), fmt.infinity or fmt.largest)
        nan = b.op("or", b.op("shl", b.op("and", raw, 0x80), _SIGN_TO_CODE), _F32.nan)
    bits = b.pick(is_nan, nan, b.cast("bitcast", b.of("float"), numbers, b.type))
    return b.cast("bitcast", b.type, bits, b.of("float"))


# Registers ---------------------------------------------------------------------------------------


def _packed(b: Bits, conversion: PackedConversion, fmt: FloatFormat, text: str) -> str:
    """Return what the instructions make of numbers, as codes."""
    out, lanes, size = b.out, max(b.lanes, 1), conversion.codes
    numbers = _elements(out, text, "float", b.lanes)
    register, code = f"i{fmt.bits * size}", f"i{fmt.bits}"
    registers = [_fill(out, conversion, register, numbers[at : at + size]) for at in range(0, lanes, size)]
    if not b.lanes:
        return out.assign(f"trunc {register} {registers[0]} to {code}")
    have = f"<{len(registers) * size} x {code}>"
    vector = _joined(out, registers, register)
    if in_pairs(int_scalar(fmt.bits, lanes)):
        return first_of_four_bits(out, f"<{len(registers)} x {register}> {vector}", len(registers), lanes)
    whole = out.assign(f"bitcast <{len(registers)} x {register}> {vector} to {have}")
    if len(registers) * size == lanes:
        return whole
    picks = ", ".join(f"i32 {lane}" for lane in range(lanes))
    return out.assign(f"shufflevector {have} {whole}, {have} poison, <{lanes} x i32> <{picks}>")


def _fill(out: FunctionEmitter, conversion: PackedConversion, register: str, numbers: list[str]) -> str:
    """Return a register of the codes of numbers, as many as it holds or fewer."""
    callee, padded = f"@{conversion.narrow}", [*numbers, *["0.0"] * (conversion.codes - len(numbers))]
    if conversion.form == "pair":
        return out.call(register, callee, [f"float {padded[1]}", f"float {padded[0]}"])
    if conversion.form == "whole":
        return out.call(register, callee, [f"<{len(padded)} x float> {_joined(out, padded, 'float')}", _ONE])
    word = "0"
    for place in range(-(-len(numbers) // 2)):
        two = [f"float {number}" for number in padded[2 * place : 2 * place + 2]]
        if conversion.form == "half":
            word = out.call(register, callee, [*two, f"i32 {word}", f"i1 {'true' if place else 'false'}"])
        else:
            word = out.call(register, callee, [f"i32 {word}", *two, _ONE, f"i32 {place}"])
    return word


def _unpacked(b: Bits, conversion: PackedConversion, fmt: FloatFormat, text: str) -> str:
    """Return the numbers of codes, by the instructions."""
    out, lanes, size = b.out, max(b.lanes, 1), conversion.codes
    if in_pairs(int_scalar(fmt.bits, b.lanes)):
        registers = registers_of_four_bits(out, text, lanes)
    else:
        codes = _elements(out, text, f"i{fmt.bits}", b.lanes)
        registers = [_register(out, codes[at : at + size], size, fmt.bits) for at in range(0, lanes, size)]
    found: list[str] = []
    for place, register in enumerate(registers):
        found += _read(out, conversion, register, min(lanes - place * size, size))
    return _joined(out, found, "float") if b.lanes else found[0]


def _read(out: FunctionEmitter, conversion: PackedConversion, word: str, count: int) -> list[str]:
    """Return the first numbers of a register."""
    callee = f"@{conversion.widen}"
    if conversion.form == "pair":
        halves = out.call("<2 x half>", callee, [f"i16 {word}"])
        return _elements(out, out.assign(f"fpext <2 x half> {halves} to <2 x float>"), "float", 2)[:count]
    if conversion.form == "whole":
        all_ = out.call("<8 x float>", callee, [f"i32 {word}", _ONE_IN_BYTES, "i32 0"])
        return _elements(out, all_, "float", 8)[:count]
    found: list[str] = []
    for place in range(-(-count // 2)):
        more = [f"i1 {'true' if place else 'false'}"] if conversion.form == "half" else [_ONE, f"i32 {place}"]
        found += _elements(out, out.call("<2 x float>", callee, [f"i32 {word}", *more]), "float", 2)
    return found[:count]


def _register(out: FunctionEmitter, codes: list[str], size: int, bits: int) -> str:
    """Return a register of codes, the first in the lowest bits; zeros fill it up."""
    register = f"i{bits * size}"
    if len(codes) == 1:
        return out.assign(f"zext i{bits} {codes[0]} to {register}")
    whole = _joined(out, [*codes, *["0"] * (size - len(codes))], f"i{bits}")
    return out.assign(f"bitcast <{size} x i{bits}> {whole} to {register}")


def _elements(out: FunctionEmitter, text: str, element: str, lanes: int) -> list[str]:
    if not lanes:
        return [text]
    return [out.assign(f"extractelement <{lanes} x {element}> {text}, i32 {lane}") for lane in range(lanes)]


def _joined(out: FunctionEmitter, parts: list[str], element: str) -> str:
    vector, type_ = "poison", f"<{len(parts)} x {element}>"
    for lane, part in enumerate(parts):
        vector = out.assign(f"insertelement {type_} {vector}, {element} {part}, i32 {lane}")
    return vector
