"""The numbers that a value is handed to compiled code as: one slot per number, a `struct` character and the number.

The launcher reads a slot by the IR type it belongs to, so a slot must have that type's size and kind. An adaptor that a
user wrote may get this wrong; it is checked here, before a wrong number reaches a kernel.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import isfinite
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.dialects.fly.payload import Pointer
from flydsl.expr.numeric import Numeric, Uint8, Uint16
from flydsl.layout.int_tuple import leaves
from flydsl.layout.leaf import DynInt
from flydsl.layout.tensor import Tensor

AbiSlot = tuple[str, "int | float"]

POINTER = "P"
_FORMATS: dict[str, str] = {
    "i1": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "index": "q", "f16": "e", "f32": "f", "f64": "d",
}  # fmt: skip
_AS_BITS: dict[int, tuple[str, type[Numeric]]] = {8: ("B", Uint8), 16: ("H", Uint16)}
"""Widths of floats that `struct` has no character for, which are passed as their bits."""
_INTEGERS = "bBhHiIlLqQnN"
_SIZES: dict[str, int] = {letter: struct.calcsize(letter) for letter in _INTEGERS}


def number_format(dtype: type[Numeric]) -> str:
    """Return the `struct` character that a number of a type is passed as."""
    form = _FORMATS.get(str(dtype.ir_type))
    if form is not None:
        return form if dtype.is_float or dtype.signed or form == "?" else form.upper()
    if dtype.is_float and dtype.width in _AS_BITS:
        return _AS_BITS[dtype.width][0]
    raise DslTypeError(f"{dtype} cannot be passed from the host", hint="pass an Int32, Int64 or Float32")


def number_value(number: Numeric) -> int | float:
    """Return what stands in the slot of a number known on the host."""
    dtype = type(number)
    if dtype.is_float and str(dtype.ir_type) not in _FORMATS:
        return number.bitcast(_AS_BITS[dtype.width][1]).value
    return number.value


def holds(number: Numeric, value: int | float) -> bool:
    """Return whether a number stands for this value: an integer for itself, a finite float for a finite one."""
    if type(number).is_integer:
        return number.value == value
    return isfinite(number.value) or (isinstance(value, float) and not isfinite(value))


def format_of_type(kind: Any) -> str:
    """Return the character of the slot of an IR type; every type that is no number is an address."""
    return _FORMATS.get(str(kind), POINTER)


# Checking -----------------------------------------------------------------------------------------------------------


def check_slots(owner: str, types: Sequence[Any], slots: Any) -> list[AbiSlot]:
    """Return the slots of a value, if they are what its IR types need; ``owner`` is whose they are, for the message."""
    found = [_checked_pair(owner, slot) for slot in _listed(owner, slots)]
    wanted = [letters for kind in types for letters in slot_letters(owner, kind)]
    shown = ", ".join(map(str, types)) or "none"
    if len(found) != len(wanted):
        raise DslTypeError(
            f"the __c_abi_spec__ of {owner} has {_count(len(found), 'entry', 'entries')}, "
            f"its IR types ({shown}) need {len(wanted)}",
            hint=f"give one (character, number) per type: {_example(wanted)}",
        )
    for index, ((form, number), letters) in enumerate(zip(found, wanted, strict=True)):
        if form not in letters:
            raise DslTypeError(
                f"entry {index} of the __c_abi_spec__ of {owner} has the format {form!r}, "
                f"which is not how its IR types ({shown}) are passed",
                hint=f"write {_example(wanted)}",
            )
        _check_number(owner, index, form, number)
    return found


def _listed(owner: str, slots: Any) -> list[Any]:
    try:
        return list(slots)
    except TypeError:
        raise DslTypeError(
            f"the __c_abi_spec__ of {owner} is a {type(slots).__name__}", hint='return a list such as [("f", 2.5)]'
        ) from None


def _checked_pair(owner: str, slot: Any) -> AbiSlot:
    if not isinstance(slot, (tuple, list)) or len(slot) != 2 or not isinstance(slot[0], str):
        raise DslTypeError(
            f"the __c_abi_spec__ of {owner} has the entry {slot!r}",
            hint='an entry is a pair of a `struct` character and a number, such as ("f", 2.5)',
        )
    return slot[0], slot[1]


def slot_letters(owner: str, kind: Any) -> list[str]:
    """For each slot of an IR type the characters it may have, the usual one first."""
    if isinstance(kind, Pointer):
        return [POINTER]
    if isinstance(kind, Tensor):
        parts = [*leaves(kind.layout.shape), *leaves(kind.layout.stride)]
        return [POINTER, *(_of_width(leaf.width // 8) for leaf in parts if isinstance(leaf, DynInt))]
    text = str(kind)
    form = _FORMATS.get(text)
    if form is not None:
        return [_of_width(_SIZES[form]) if form in _SIZES else form]
    if text.startswith("!llvm.ptr"):
        return [POINTER + "QN"]
    if text == "bf16":
        return ["H"]
    if text.startswith("f8"):
        return ["B"]
    raise DslTypeError(
        f"{owner} has the IR type {text}, which cannot be passed from the host",
        hint=f"use {', '.join(_FORMATS)}, bf16, f8…, !llvm.ptr, or the payload of a pointer or tensor",
    )


def _of_width(size: int) -> str:
    letters = [letter for letter in _INTEGERS if _SIZES[letter] == size]
    return "".join(sorted(letters, key=lambda letter: letter in "lL"))


def _check_number(owner: str, index: int, form: str, number: Any) -> None:
    try:
        struct.pack(form, number)
    except (struct.error, TypeError, OverflowError) as error:
        raise DslValueError(
            f"entry {index} of the __c_abi_spec__ of {owner}, {(form, number)!r}, cannot be packed: {error}",
            hint="the number must be one that the `struct` module packs with this character",
        ) from None


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _example(wanted: Sequence[str]) -> str:
    return "[" + ", ".join(f'("{letters[0]}", …)' for letters in wanted) + "]"
