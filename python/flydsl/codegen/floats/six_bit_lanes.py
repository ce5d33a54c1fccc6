"""Vectors of six-bit floats read from, and written as, the bytes that hold them: four in three, lowest lane first.

A bitcast says the same, but LLVM 22 mixes up the lane counts when it meets one next to a mask (VectorCombine makes an
`and` of a 4-lane and a 3-lane vector). So bytes are joined to words and lanes cut out of them by shifts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.llvm_types import Scalar

SIX = 6
_LANES, _BYTES = 4, 3


def unpack_six_bits(emitter: FunctionEmitter, typed: str, lanes: int) -> str:
    """Return a vector's bits as ``lanes`` lanes of six."""
    groups = lanes // _LANES
    source = f"<{groups * _BYTES} x i8>"
    data = _recast(emitter, typed, source)
    words = f"<{groups} x i32>"
    parts: list[str] = []
    for place in range(_BYTES):
        picked = pick_lanes(emitter, source, data, range(place, groups * _BYTES, _BYTES))
        parts.append(emitter.assign(f"zext <{groups} x i8> {picked} to {words}"))
    word = _join(emitter, words, parts, 8)
    cut = [_shift(emitter, "lshr", words, word, SIX * place) for place in range(_LANES)]
    flat = _interleave(emitter, groups, "i32", cut)
    return emitter.assign(f"trunc <{lanes} x i32> {flat} to <{lanes} x i6>")


def pack_six_bits(emitter: FunctionEmitter, typed: str, lanes: int, result: str) -> str:
    """Lanes of six bits as another vector type of the same width."""
    groups = lanes // _LANES
    words, flat = f"<{groups} x i32>", f"<{lanes} x i32>"
    wide = emitter.assign(f"zext {typed} to {flat}")
    parts = [pick_lanes(emitter, flat, wide, range(place, lanes, _LANES)) for place in range(_LANES)]
    word = _join(emitter, words, parts, SIX)
    cut: list[str] = []
    for place in range(_BYTES):
        moved = _shift(emitter, "lshr", words, word, 8 * place)
        cut.append(emitter.assign(f"trunc {words} {moved} to <{groups} x i8>"))
    packed = _interleave(emitter, groups, "i8", cut)
    return _recast(emitter, f"<{groups * _BYTES} x i8> {packed}", result)


def straddles_bytes(source: Scalar, dest: Scalar) -> bool:
    """Return whether a cast between these vectors moves six-bit lanes in or out of wider ones."""
    return bool(source.lanes and dest.lanes) and (source.bits == SIX) != (dest.bits == SIX)


def _recast(emitter: FunctionEmitter, typed: str, result: str) -> str:
    type_, text = typed.rsplit(" ", 1)
    return text if type_ == result else emitter.assign(f"bitcast {typed} to {result}")


def _shift(emitter: FunctionEmitter, opcode: str, type_: str, text: str, amount: int) -> str:
    return emitter.assign(f"{opcode} {type_} {text}, splat (i32 {amount})") if amount else text


def _join(emitter: FunctionEmitter, type_: str, parts: Sequence[str], bits: int) -> str:
    """Parts side by side in one word, the first in the lowest bits."""
    word = parts[0]
    for place, part in enumerate(parts[1:], start=1):
        word = emitter.assign(f"or {type_} {word}, {_shift(emitter, 'shl', type_, part, bits * place)}")
    return word


def pick_lanes(emitter: FunctionEmitter, type_: str, text: str, lanes: Iterable[int]) -> str:
    return shuffle_lanes(emitter, type_, text, "poison", lanes)


def shuffle_lanes(emitter: FunctionEmitter, type_: str, left: str, right: str, lanes: Iterable[int]) -> str:
    mask = [f"i32 {lane}" for lane in lanes]
    return emitter.assign(f"shufflevector {type_} {left}, {type_} {right}, <{len(mask)} x i32> <{', '.join(mask)}>")


def _interleave(emitter: FunctionEmitter, groups: int, element: str, parts: Sequence[str]) -> str:
    """Lane g of each part in turn; three or four parts."""
    type_, pair = f"<{groups} x {element}>", f"<{2 * groups} x {element}>"
    low = shuffle_lanes(emitter, type_, parts[0], parts[1], range(2 * groups))
    high = shuffle_lanes(emitter, type_, parts[2], parts[-1], range(2 * groups))
    return shuffle_lanes(emitter, pair, low, high, [k * groups + g for g in range(groups) for k in range(len(parts))])
