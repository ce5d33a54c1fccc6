"""Vectors of four-bit elements, cut out of the words that hold them and put together as bytes of two.

A plain `zext`, `trunc` or `extractelement` says the same, but LLVM for AMD GPUs takes a word apart into elements of
four bits, and puts one together, by way of the stack. So whoever reads elements reads words, and whoever makes them
makes bytes; between the two they stay `<n x i4>`, whose casts from and to words LLVM folds. An odd number of lanes
fills no bytes and is left to LLVM.
"""

from __future__ import annotations

from flydsl.codegen.floats.six_bit_lanes import pick_lanes, shuffle_lanes
from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.llvm_types import Scalar

FOUR = 4
_WORDS = (32, 16, 8)


def in_pairs(scalar: Scalar) -> bool:
    """Return whether these are lanes of four bits that fill bytes."""
    return scalar.bits == FOUR and scalar.lanes > 0 and scalar.lanes % 2 == 0


def cut_four_bits(emitter: FunctionEmitter, text: str, lanes: int) -> str:
    """Return the same lanes, each by a shift of its word."""
    type_, spread, each = f"<{lanes} x i{FOUR}>", f"<{lanes} x i32>", _word_bits(lanes) // FOUR
    words = _words(emitter, text, lanes)
    picked = pick_lanes(emitter, f"<{lanes // each} x i32>", words, (lane // each for lane in range(lanes)))
    shifts = ", ".join(f"i32 {lane % each * FOUR}" for lane in range(lanes))
    moved = emitter.assign(f"lshr {spread} {picked}, <{shifts}>")
    return emitter.assign(f"trunc {spread} {moved} to {type_}")


def one_of_four_bits(emitter: FunctionEmitter, text: str, lanes: int, lane: int) -> str:
    """Return one lane, by a shift of its word."""
    each = _word_bits(lanes) // FOUR
    words = _words(emitter, text, lanes)
    word = emitter.assign(f"extractelement <{lanes // each} x i32> {words}, i32 {lane // each}")
    moved = emitter.assign(f"lshr i32 {word}, {lane % each * FOUR}")
    return emitter.assign(f"trunc i32 {moved} to i{FOUR}")


def pack_four_bits(emitter: FunctionEmitter, text: str, bits: int, lanes: int) -> str:
    """Return the low four bits of wider integers, as lanes of four."""
    type_, half = f"<{lanes} x i{bits}>", f"<{lanes // 2} x i{bits}>"
    low, high = (pick_lanes(emitter, type_, text, range(first, lanes, 2)) for first in (0, 1))
    low = emitter.assign(f"and {half} {low}, splat (i{bits} 15)")
    high = emitter.assign(f"shl {half} {high}, splat (i{bits} {FOUR})")
    joined = emitter.assign(f"or {half} {low}, {high}")
    if bits > 8:
        joined = emitter.assign(f"trunc {half} {joined} to <{lanes // 2} x i8>")
    return emitter.assign(f"bitcast <{lanes // 2} x i8> {joined} to <{lanes} x i{FOUR}>")


def registers_of_four_bits(emitter: FunctionEmitter, text: str, lanes: int) -> list[str]:
    """Registers of eight lanes, the last filled up with zeros."""
    have, count = lanes // 2, -(-lanes // 8)
    data = emitter.assign(f"bitcast <{lanes} x i{FOUR}> {text} to <{have} x i8>")
    filled = shuffle_lanes(
        emitter, f"<{have} x i8>", data, "zeroinitializer", (min(at, have) for at in range(4 * count))
    )
    words = emitter.assign(f"bitcast <{4 * count} x i8> {filled} to <{count} x i32>")
    return [emitter.assign(f"extractelement <{count} x i32> {words}, i32 {place}") for place in range(count)]


def first_of_four_bits(emitter: FunctionEmitter, typed: str, count: int, lanes: int) -> str:
    """Return the first lanes of as many registers."""
    data = emitter.assign(f"bitcast {typed} to <{4 * count} x i8>")
    kept = pick_lanes(emitter, f"<{4 * count} x i8>", data, range(lanes // 2))
    return emitter.assign(f"bitcast <{lanes // 2} x i8> {kept} to <{lanes} x i{FOUR}>")


def _word_bits(lanes: int) -> int:
    return next(bits for bits in _WORDS if lanes * FOUR % bits == 0)


def _words(emitter: FunctionEmitter, text: str, lanes: int) -> str:
    """Return the words that lanes fill, in registers of 32 bits."""
    bits = _word_bits(lanes)
    count = lanes * FOUR // bits
    words = emitter.assign(f"bitcast <{lanes} x i{FOUR}> {text} to <{count} x i{bits}>")
    return words if bits == 32 else emitter.assign(f"zext <{count} x i{bits}> {words} to <{count} x i32>")
