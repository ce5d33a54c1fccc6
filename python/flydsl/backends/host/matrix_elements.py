"""One element of a matrix operand, read from the packed registers of a lane and widened to the sums' type."""

from __future__ import annotations

from typing import Protocol

from flydsl.base.errors import LoweringError
from flydsl.codegen.floats.narrow_floats import widening_function
from flydsl.codegen.module_scope import ModuleScope
from flydsl.target.dtype import is_float
from flydsl.target.mma_facts import ROUNDED_F32

LLVM_SCALARS = {"f16": "half", "f32": "float", "f64": "double", "i32": "i32"}
"""Elements that LLVM loads as they are."""

_ODD_BYTES = {6: (4, 3), 4: (2, 1)}
"""Bits of an element to (elements, bytes) of the smallest group that starts on a byte."""


class Assigning(Protocol):
    """A writer of LLVM text."""

    def assign(self, text: str) -> str: ...


def element_offset(text: Assigning, value: str, bits: int) -> str:
    """Return the byte where the group of an element starts; ``value`` is its number in the lane."""
    if bits not in _ODD_BYTES:
        return text.assign(f"mul i64 {value}, {bits // 8}")
    count, size = _ODD_BYTES[bits]
    return text.assign(f"mul i64 {text.assign(f'udiv i64 {value}, {count}')}, {size}")


def read_element(
    scope: ModuleScope, text: Assigning, elem: str, bits: int, address: str, value: str, acc: str, signed: bool
) -> str:
    """Return an element widened to ``acc``; ``address`` is its group's, ``value`` its number in the lane."""
    if elem in ROUNDED_F32:
        # The multiplier reads the upper 19 bits of the register.
        kept = text.assign(f"and i32 {text.assign(f'load i32, ptr {address}, align 1')}, -8192")
        return _wider(text, "float", text.assign(f"bitcast i32 {kept} to float"), acc)
    if elem == "bf16":
        raw = text.assign(f"zext i16 {text.assign(f'load i16, ptr {address}, align 1')} to i32")
        return _wider(text, "float", text.assign(f"bitcast i32 {text.assign(f'shl i32 {raw}, 16')} to float"), acc)
    if elem in LLVM_SCALARS:
        return _wider(text, LLVM_SCALARS[elem], text.assign(f"load {LLVM_SCALARS[elem]}, ptr {address}, align 1"), acc)
    raw = text.assign(f"load i8, ptr {address}, align 1") if bits == 8 else _cut(text, bits, address, value)
    if is_float(elem):
        return _wider(text, "float", text.assign(f"call float {widening_function(scope, elem, 0)}(i{bits} {raw})"), acc)
    if bits not in (4, 8):
        raise LoweringError(f"matrix operands of {elem} have no host form")
    return text.assign(f"{'sext' if signed else 'zext'} i{bits} {raw} to {acc}")


def _cut(text: Assigning, bits: int, address: str, value: str) -> str:
    """Return an element that starts inside a byte, cut out of its group."""
    count, size = _ODD_BYTES[bits]
    group = f"i{size * 8}"
    word = text.assign(f"load {group}, ptr {address}, align 1")
    place = text.assign(f"mul i64 {text.assign(f'urem i64 {value}, {count}')}, {bits}")
    moved = text.assign(f"lshr {group} {word}, {text.assign(f'trunc i64 {place} to {group}')}")
    return text.assign(f"trunc {group} {moved} to i{bits}")


def _wider(text: Assigning, type_: str, number: str, acc: str) -> str:
    if type_ == acc:
        return number
    return text.assign(f"{'sext' if type_.startswith('i') else 'fpext'} {type_} {number} to {acc}")
