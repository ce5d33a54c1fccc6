"""Optional flags of arith and llvm ops (fast math, overflow, exactness) as LLVM instruction text.

Every function returns either nothing or flags followed by one space, ready to stand before a type.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Data, Operation

from flydsl.codegen.reading.op_view import flag_prop, prop

# Bit positions of MLIR's enumerations, for ops written in generic form with a number.
_OVERFLOW_BITS = {1: "nsw", 2: "nuw"}
_FASTMATH_BITS = {1: "reassoc", 2: "nnan", 4: "ninf", 8: "nsz", 16: "arcp", 32: "contract", 64: "afn"}
_ALL_FASTMATH = frozenset(_FASTMATH_BITS.values())

_cache: dict[tuple[Attribute, int], str] = {}


def fastmath_text(op: Operation) -> str:
    """Fast-math flags of an arith, math or llvm op."""
    attr = op.properties.get("fastmath") or op.properties.get("fastmathFlags")
    if attr is None:
        attr = op.attributes.get("fastmath") or op.attributes.get("fastmathFlags")
    return _flags_text(attr, _FASTMATH_BITS)


def has_fastmath(op: Operation, flag: str) -> bool:
    """Return whether one fast-math flag is set, on its own or as part of ``fast``."""
    words = fastmath_text(op).split()
    return flag in words or "fast" in words


def overflow_text(op: Operation) -> str:
    """``nsw``/``nuw`` of an integer op."""
    return _flags_text(prop(op, "overflowFlags"), _OVERFLOW_BITS)


def exact_text(op: Operation) -> str:
    """``exact`` of a division or right shift, ``disjoint`` of an or, ``nneg`` of a widening."""
    if not op.properties and not op.attributes:
        return ""
    if flag_prop(op, "isExact"):
        return "exact "
    if flag_prop(op, "isDisjoint"):
        return "disjoint "
    return "nneg " if flag_prop(op, "nonNeg") or flag_prop(op, "nneg") else ""


def _flags_text(attr: Attribute | None, names: dict[int, str]) -> str:
    if attr is None:
        return ""
    key = (attr, len(names))
    found = _cache.get(key)
    if found is None:
        found = _cache[key] = _build_flags(attr, names)
    return found


def _build_flags(attr: Attribute, names: dict[int, str]) -> str:
    if isinstance(attr, IntegerAttr):
        words = [word for bit, word in names.items() if attr.value.data & bit]
    elif isinstance(attr, Data):
        chosen = {str(flag) for flag in cast("Data[Iterable[object]]", attr).data}
        words = [word for word in names.values() if word in chosen]
    else:
        words = []
    if _ALL_FASTMATH.issubset(words):
        return "fast "
    return "".join(f"{word} " for word in words)
