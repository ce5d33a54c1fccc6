"""Elements of a matrix operand, read from the packed registers of lanes and widened to the sums' type, as vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from flydsl.base.errors import LoweringError
from flydsl.codegen.floats.narrow_floats import narrowing_function, widening_function
from flydsl.codegen.module_scope import ModuleScope
from flydsl.target.dtype import is_float
from flydsl.target.mma_facts import ROUNDED_F32, elem_bits

_LLVM_SCALARS = {"f16": "half", "f32": "float", "f64": "double", "i32": "i32"}
"""Elements that LLVM loads as they are."""


class Assigning(Protocol):
    """A writer of LLVM text."""

    def assign(self, text: str) -> str: ...


def stored_kind(elem: str) -> str:
    """Return what LLVM loads an element as: its bits, where it has no such type."""
    return _LLVM_SCALARS.get(elem, f"i{elem_bits(elem)}")


def read_elements(text: Assigning, kind: str, base: str, steps: Sequence[int]) -> str:
    """Return the elements that lie so many elements after ``base``."""
    type_, found = f"<{len(steps)} x {kind}>", "poison"
    if tuple(steps) == tuple(range(len(steps))):
        return text.assign(f"load {type_}, ptr {base}, align 1")
    for lane, step in enumerate(steps):
        place = text.assign(f"getelementptr {kind}, ptr {base}, i64 {step}")
        number = text.assign(f"load {kind}, ptr {place}, align 1")
        found = text.assign(f"insertelement {type_} {found}, {kind} {number}, i64 {lane}")
    return found


def cut_element(text: Assigning, bits: int, base: str, place: str) -> str:
    """Return the element below a byte that starts ``place`` bits after ``base``, cut out of two bytes."""
    start = text.assign(f"getelementptr i8, ptr {base}, i64 {text.assign(f'lshr i64 {place}, 3')}")
    inside = text.assign(f"trunc i64 {text.assign(f'and i64 {place}, 7')} to i16")
    moved = text.assign(f"lshr i16 {text.assign(f'load i16, ptr {start}, align 1')}, {inside}")
    return text.assign(f"bitcast i{bits} {text.assign(f'trunc i16 {moved} to i{bits}')} to <1 x i{bits}>")


def widened(scope: ModuleScope, text: Assigning, elem: str, raw: str, lanes: int, acc: str, signed: bool) -> str:
    """Return so many elements, as they were read, as numbers of the type ``acc``."""
    kind, words, floats = stored_kind(elem), f"<{lanes} x i32>", f"<{lanes} x float>"
    if elem in ROUNDED_F32:
        # The multiplier reads the upper 19 bits of the register.
        bits = text.assign(f"and {words} {raw}, splat (i32 -8192)")
        raw, kind = text.assign(f"bitcast {words} {bits} to {floats}"), "float"
    elif elem == "bf16":
        bits = text.assign(f"zext <{lanes} x i16> {raw} to {words}")
        bits = text.assign(f"shl {words} {bits}, splat (i32 16)")
        raw, kind = text.assign(f"bitcast {words} {bits} to {floats}"), "float"
    elif is_float(elem) and elem not in _LLVM_SCALARS:
        call = f"call {floats} {widening_function(scope, elem, lanes)}(<{lanes} x {kind}> {raw})"
        raw, kind = text.assign(call), "float"
    elif kind not in ("i4", "i8", *_LLVM_SCALARS.values()):
        raise LoweringError(f"matrix operands of {elem} have no host form")
    if kind == acc:
        return raw
    word = "fpext" if not kind.startswith("i") else "sext" if signed else "zext"
    return text.assign(f"{word} <{lanes} x {kind}> {raw} to <{lanes} x {acc}>")


def narrowed(scope: ModuleScope, text: Assigning, elem: str, numbers: str, lanes: int, acc: str) -> str:
    """Return sums rounded to the type of the result, with their type."""
    type_, sums = f"<{lanes} x {stored_kind(elem)}>", f"<{lanes} x {acc}> {numbers}"
    if elem == "bf16":
        call = f"call {type_} {narrowing_function(scope, 'f32', elem, lanes)}({sums})"
        return f"{type_} {text.assign(call)}"
    word = "trunc" if acc.startswith("i") else "fptrunc"
    return sums if stored_kind(elem) == acc else f"{type_} {text.assign(f'{word} {sums} to {type_}')}"
