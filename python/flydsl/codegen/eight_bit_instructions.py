"""Conversions between f32 and 8-bit floats by a GPU's instructions, equal to those by integers in every bit.

The instructions round in-range numbers as everybody does. What they make of overflow, infinity and NaN differs (some
saturate, some by a mode of the wave), so those are chosen here.
"""

from __future__ import annotations

from flydsl.codegen.float_formats import FORMATS, FloatFormat
from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.narrow_bits import Bits
from flydsl.target.eight_bit_floats import EightBitPair

_F32 = FORMATS["f32"]
_SIGN_TO_CODE = _F32.bits - 8


def narrowed_codes(b: Bits, pair: EightBitPair, fmt: FloatFormat, text: str) -> str:
    """The codes (i8, as many as lanes) of f32 numbers."""
    out, lanes = b.out, b.lanes
    raw = b.cast("bitcast", b.of("float"), text, b.type)
    magnitude = b.op("and", raw, _F32.magnitude_mask)
    sign = b.op("and", b.op("lshr", raw, _SIGN_TO_CODE), 0x80)
    found = b.cast("zext", b.of("i8"), _packed(out, pair, _elements(out, text, "float", lanes), lanes), b.type)
    special = b.const(fmt.overflow) if fmt.fnuz else b.op("or", sign, fmt.overflow)
    if fmt.infinity is not None:
        is_nan = b.test("ugt", magnitude, _F32.infinity or 0)
        special = b.op("or", sign, b.pick(is_nan, fmt.nan, fmt.overflow))
    code = b.pick(b.test("uge", magnitude, first_overflow(fmt)), special, found)
    return b.cast("trunc", b.type, code, b.of("i8"))


def first_overflow(fmt: FloatFormat) -> int:
    """The bits of the least f32 that is rounded past a format's largest number."""
    shift = _F32.mantissa_bits - fmt.mantissa_bits
    largest = (fmt.largest << shift) + ((_F32.bias - fmt.bias) << _F32.mantissa_bits)
    # The middle to the next number would go to the even one of the two.
    return largest + (1 << (shift - 1)) + (fmt.largest + 1) % 2


def widened_numbers(b: Bits, pair: EightBitPair, fmt: FloatFormat, text: str) -> str:
    """The f32 numbers of codes."""
    out, lanes = b.out, b.lanes
    numbers = _unpacked(out, pair, _elements(out, text, "i8", lanes), lanes)
    raw = b.cast("zext", b.of("i8"), text, b.type)
    if fmt.fnuz:
        is_nan, nan = b.test("eq", raw, fmt.nan), b.const(_F32.nan | 1 << 31)
    else:
        is_nan = b.test("ugt", b.op("and", raw, fmt.magnitude_mask), fmt.infinity or fmt.largest)
        nan = b.op("or", b.op("shl", b.op("and", raw, 0x80), _SIGN_TO_CODE), _F32.nan)
    bits = b.pick(is_nan, nan, b.cast("bitcast", b.of("float"), numbers, b.type))
    return b.cast("bitcast", b.type, bits, b.of("float"))


def _elements(out: FunctionEmitter, text: str, element: str, lanes: int) -> list[str]:
    if not lanes:
        return [text]
    return [out.assign(f"extractelement <{lanes} x {element}> {text}, i32 {lane}") for lane in range(lanes)]


def _packed(out: FunctionEmitter, pair: EightBitPair, numbers: list[str], lanes: int) -> str:
    """What the instructions make of numbers, as i8."""
    count, register = len(numbers), f"i{8 * pair.codes}"
    padded = [*numbers, *["0.0"] * (-count % pair.codes)]
    registers = []
    for first in range(0, count, pair.codes):
        if pair.codes == 2:
            low, high = padded[first : first + 2]
            registers.append(out.call(register, f"@{pair.narrow}", [f"float {high}", f"float {low}"]))
            continue
        word = "0"
        for half in range(2 if count - first > 2 else 1):
            a, b = padded[first + 2 * half : first + 2 * half + 2]
            flag = "true" if half else "false"
            word = out.call(
                register, f"@{pair.narrow}", [f"float {a}", f"float {b}", f"{register} {word}", f"i1 {flag}"]
            )
        registers.append(word)
    if not lanes:
        return out.assign(f"trunc {register} {registers[0]} to i8")
    return _first_lanes(out, _joined(out, registers, register), f"<{len(registers)} x {register}>", "i8",
                        len(registers) * pair.codes, lanes)  # fmt: skip


def _unpacked(out: FunctionEmitter, pair: EightBitPair, codes: list[str], lanes: int) -> str:
    """The numbers of codes, by the instructions, as f32."""
    register = f"i{8 * pair.codes}"
    found: list[str] = []
    for first in range(0, len(codes), pair.codes):
        group = codes[first : first + pair.codes]
        word = _register(out, group, pair.codes, register)
        for half in range(-(-len(group) // 2)):
            if pair.codes == 2:
                halves = out.call("<2 x half>", f"@{pair.widen}", [f"{register} {word}"])
                two = out.assign(f"fpext <2 x half> {halves} to <2 x float>")
            else:
                flag = "true" if half else "false"
                two = out.call("<2 x float>", f"@{pair.widen}", [f"{register} {word}", f"i1 {flag}"])
            found += [out.assign(f"extractelement <2 x float> {two}, i32 {lane}") for lane in range(2)]
    found = found[: len(codes)]
    return _joined(out, found, "float") if lanes else found[0]


def _register(out: FunctionEmitter, codes: list[str], size: int, register: str) -> str:
    """A register of codes, the first in the lowest byte; zeros fill it up."""
    if len(codes) == 1:
        return out.assign(f"zext i8 {codes[0]} to {register}")
    bytes_ = _joined(out, [*codes, *["0"] * (size - len(codes))], "i8")
    return out.assign(f"bitcast <{size} x i8> {bytes_} to {register}")


def _joined(out: FunctionEmitter, parts: list[str], element: str) -> str:
    vector, type_ = "poison", f"<{len(parts)} x {element}>"
    for lane, part in enumerate(parts):
        vector = out.assign(f"insertelement {type_} {vector}, {element} {part}, i32 {lane}")
    return vector


def _first_lanes(out: FunctionEmitter, vector: str, type_: str, element: str, have: int, lanes: int) -> str:
    """A vector's bits as elements, and of those as many as are wanted."""
    whole = out.assign(f"bitcast {type_} {vector} to <{have} x {element}>")
    if have == lanes:
        return whole
    picks = ", ".join(f"i32 {lane}" for lane in range(lanes))
    wide = f"<{have} x {element}>"
    return out.assign(f"shufflevector {wide} {whole}, {wide} poison, <{lanes} x i32> <{picks}>")
