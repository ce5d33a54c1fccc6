"""AMD's scaled conversions on the host: elements out of their registers, times or over the scale, and back in.

The arithmetic is done in double precision, where the scale, a power of two, changes no bit of a significand; the only
rounding is the one to the result.
"""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.backends.host.intrinsics.entry import Behaviour, HostIntrinsic, immediate, thread
from flydsl.backends.host.thread_loops import Workgroup
from flydsl.codegen.floats.narrow_floats import narrowing_function, widening_function
from flydsl.codegen.llvm_types import BF16, type_text
from flydsl.target.scaled_conversions import BITS, FORMATS, SCALED_CONVERSIONS, ScaledConversion

_LLVM = {"f32": "float", "f16": "half", "bf16": BF16}


def _scale(wg: Workgroup, value: str, inverse: bool) -> str:
    """2 to the scale's exponent, or to its opposite, as a double."""
    body = wg.body
    bits = body.assign(f"bitcast float {value} to i32")
    field = body.assign(f"and i32 {body.assign(f'lshr i32 {bits}, 23')}, 255")
    exponent = body.assign(f"sub i32 {field}, 127")
    if inverse:
        exponent = body.assign(f"sub i32 0, {exponent}")
    biased = body.assign(f"zext i32 {body.assign(f'add i32 {exponent}, 1023')} to i64")
    return body.assign(f"bitcast i64 {body.assign(f'shl i64 {biased}, 52')} to double")


def _wide_elements(wg: Workgroup, texts: list[tuple[str, str]], wide: str) -> list[str]:
    """Return the elements of wide operands (type, text) as doubles."""
    body, found = wg.body, []
    for type_, text in texts:
        count = int(type_[1:].split(" ")[0]) if type_[0] == "<" else 1
        for index in range(count):
            one = body.assign(f"extractelement {type_} {text}, i32 {index}") if type_[0] == "<" else text
            found.append(body.assign(f"fpext {_as_float(wg, one, wide)} to double"))
    return found


def _as_float(wg: Workgroup, value: str, wide: str) -> str:
    """Return a wide value with a type that LLVM extends: bf16 is the upper half of an f32."""
    if wide != "bf16":
        return f"{_LLVM[wide]} {value}"
    body = wg.body
    low = body.assign(f"zext i16 {body.assign(f'bitcast {BF16} {value} to i16')} to i32")
    high = body.assign(f"shl i32 {low}, 16")
    return f"float {body.assign(f'bitcast i32 {high} to float')}"


def _rounded(wg: Workgroup, value: str, wide: str) -> str:
    """Return a double as a wide value."""
    if wide != "bf16":
        return wg.body.assign(f"fptrunc double {value} to {_LLVM[wide]}")
    function = narrowing_function(wg.body.scope, "f64", "bf16", 0)
    return wg.body.assign(f"call {BF16} {function}(double {value})")


def _register_words(wg: Workgroup, type_: str, text: str) -> list[str]:
    """Return the 32-bit words of packed registers."""
    body, count = wg.body, _size(type_) // 32
    if count == 1:
        return [body.assign(f"bitcast {type_} {text} to i32")]
    return [body.assign(f"extractelement {type_} {text}, i32 {index}") for index in range(count)]


def _from_words(wg: Workgroup, words: list[str], type_: str) -> str:
    body = wg.body
    if len(words) == 1:
        return body.assign(f"bitcast i32 {words[0]} to {type_}")
    result = "poison"
    for index, word in enumerate(words):
        result = body.assign(f"insertelement {type_} {result}, i32 {word}, i32 {index}")
    return result


def _narrow_elements(wg: Workgroup, words: list[str], narrow: str, start: int, count: int) -> list[str]:
    """``count`` elements of packed bits, from the bit ``start`` on, as doubles."""
    body, bits = wg.body, BITS[narrow]
    found = []
    for index in range(count):
        word, place = divmod(start + index * bits, 32)
        moved = body.assign(f"lshr i32 {words[word]}, {place}")
        if place + bits > 32:
            moved = body.assign(f"or i32 {moved}, {body.assign(f'shl i32 {words[word + 1]}, {32 - place}')}")
        code = body.assign(f"trunc i32 {moved} to i{bits}")
        value = body.assign(f"call float {widening_function(body.scope, FORMATS[narrow], 0)}(i{bits} {code})")
        found.append(body.assign(f"fpext float {value} to double"))
    return found


def _size(type_: str) -> int:
    if type_[0] != "<":
        return {"float": 32, "half": 16, BF16: 16}.get(type_) or int(type_[1:])
    count, elem = type_[1:-1].split(" x ")
    return int(count) * _size(elem)


def _packed(wg: Workgroup, values: list[str], narrow: str, words: list[str], start: int) -> list[str]:
    """Doubles rounded and put into the bits of ``words`` from the bit ``start`` on."""
    body, bits = wg.body, BITS[narrow]
    function = narrowing_function(body.scope, "f64", FORMATS[narrow], 0, saturate=narrow in ("fp6", "bf6", "fp4"))
    kept = ~(((1 << (bits * len(values))) - 1) << start)
    result = [body.assign(f"and i32 {word}, {kept >> 32 * index & 0xFFFFFFFF}") for index, word in enumerate(words)]
    for index, value in enumerate(values):
        code = body.assign(f"zext i{bits} {body.assign(f'call i{bits} {function}(double {value})')} to i32")
        word, place = divmod(start + index * bits, 32)
        result[word] = body.assign(f"or i32 {result[word]}, {body.assign(f'shl i32 {code}, {place}')}")
        if place + bits > 32:
            rest = body.assign(f"lshr i32 {code}, {32 - place}")
            result[word + 1] = body.assign(f"or i32 {result[word + 1]}, {rest}")
    return result


def _to_wide(facts: ScaledConversion) -> Behaviour:
    """Narrow elements times the scale: one or two of a chosen part of a register, or all of several."""

    def run(wg: Workgroup, op: Operation) -> None:
        body, type_ = wg.body, type_text(op.results[0].type)
        old = facts.operands[0] == "vector<2xf16>"
        source = op.operands[1 if old else 0]
        scale = _scale(wg, body.operand(op.operands[2 if old else 1]), inverse=False)
        many = type_[0] == "<" and not old
        count = int(type_[1:].split(" ")[0]) if many else 1
        part = 0 if len(facts.operands) == 2 else immediate(op, 3 if old else 2)
        start = part * (16 if facts.operands[-1] == "flag" and not old else 8)
        words = _register_words(wg, type_text(source.type), body.operand(source))
        values = _narrow_elements(wg, words, facts.source, start, count)
        scaled = [body.assign(f"fmul double {value}, {scale}") for value in values]
        cut = [_rounded(wg, value, facts.to) for value in scaled]
        if old:
            place = immediate(op, 4)
            body.bind(
                op.results[0],
                body.assign(f"insertelement {type_} {body.operand(op.operands[0])}, half {cut[0]}, i32 {place}"),
            )
            return
        if not many:
            body.bind(op.results[0], cut[0])
            return
        result = "poison"
        for index, value in enumerate(cut):
            result = body.assign(f"insertelement {type_} {result}, {_LLVM[facts.to]} {value}, i32 {index}")
        body.bind(op.results[0], result)

    return run


def _to_narrow(facts: ScaledConversion) -> Behaviour:
    """Wide elements over the scale, into part of a register that keeps its other bits, or into whole registers."""
    partial = facts.operands[-1] == "flag" or facts.operands[-1].startswith("sel")

    def run(wg: Workgroup, op: Operation) -> None:
        body, type_ = wg.body, type_text(op.results[0].type)
        sources = op.operands[1:-2] if partial else op.operands[:-1]
        texts = [(type_text(value.type), body.operand(value)) for value in sources]
        scale = _scale(wg, body.operand(op.operands[-2 if partial else -1]), inverse=True)
        values = [body.assign(f"fmul double {x}, {scale}") for x in _wide_elements(wg, texts, facts.source)]
        words, start = ["0"] * (_size(type_) // 32), 0
        if partial:
            words = _register_words(wg, type_text(op.operands[0].type), body.operand(op.operands[0]))
            start = immediate(op, len(op.operands) - 1) * (16 if facts.operands[-1] == "flag" else 8)
        body.bind(op.results[0], _from_words(wg, _packed(wg, values, facts.to, words, start), type_))

    return run


def _behaviour(facts: ScaledConversion) -> Behaviour | None:
    """None where the virtual GPU has no form: random rounding, byte scales, and interleaved sources."""
    if facts.random or not facts.name.startswith("cvt_scalef32_") or "2xpk16" in facts.name:
        return None
    return _to_narrow(facts) if facts.to in BITS else _to_wide(facts)


ENTRIES: dict[str, HostIntrinsic] = {
    facts.intrinsic: thread(run, pure=True)
    for facts in SCALED_CONVERSIONS.values()
    if (run := _behaviour(facts)) is not None
}
