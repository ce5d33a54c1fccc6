"""What an attribute of a raw operation may be given as, by the kind its row names, and the enumerations for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum, IntFlag
from typing import Any

from xdsl.dialects.arith import IntegerOverflowAttr
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, StringAttr, UnitAttr, i32, i64
from xdsl.dialects.llvm import FastMathAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute as IrAttribute

from flydsl._mlir.attributes import Attribute, python_value
from flydsl._mlir.types import type_text
from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.dialects.parts import ir_type
from flydsl.expr.enum import CmpFPredicate, CmpIPredicate, FastMathFlags
from flydsl.expr.numbers.fastmath import parse_flags, scoped_attrs
from flydsl.expr.values.known import plain, shown


class AtomicOrdering(IntEnum):
    """How an atomic access is ordered with others, numbered as in LLVM."""

    not_atomic = 0
    unordered = 1
    monotonic = 2
    acquire = 4
    release = 5
    acq_rel = 6
    seq_cst = 7


AtomicBinOp = IntEnum(
    "AtomicBinOp",
    "xchg add sub _and nand _or _xor max min umax umin fadd fsub fmax fmin uinc_wrap udec_wrap usub_cond usub_sat "
    "fmaximum fminimum",
    start=0,
)
AtomicBinOp.__doc__ = "What an atomic read-modify-write does, numbered as in LLVM."


class IntegerOverflowFlags(IntFlag):
    """What is promised of an integer operation."""

    none = 0
    nsw = 1
    nuw = 2


class GEPNoWrapFlags(IntFlag):
    """What is promised of an address."""

    none = 0
    inbounds = 3
    nusw = 2
    nuw = 4


class AsmDialect(IntEnum):
    """How inline assembly is spelt."""

    AD_ATT = 0
    AD_Intel = 1


_WORDS = {"att": 0, "intel": 1}


def _inside(text: str) -> str:
    """``fast`` of ``#arith.fastmath<fast>``; any other text itself."""
    return text[text.index("<") + 1 : -1] if text.startswith("#") and "<" in text else text


def _known(value: Any) -> Any:
    """Return a number or word known while tracing."""
    if isinstance(value, Attribute) and not isinstance(value.value, (int, float, str)):
        return _inside(value.text)
    found = plain(python_value(value))
    if not isinstance(found, (bool, int, float, str)):
        raise DslTypeError(f"an attribute must be known while tracing, got {shown(value)}")
    return found


def _number(value: Any) -> int:
    found = _known(value)
    if not isinstance(found, int):
        raise DslTypeError(f"expected an integer that is part of the instruction, got {found!r}")
    return found


def _integer(type_: Any) -> Callable[[Any], IrAttribute | None]:
    return lambda value: None if value is None else IntegerAttr(_number(value), type_)


def _ints(value: Any) -> list[int]:
    if isinstance(value, Attribute):
        items = getattr(value.ir, "get_values", None)
        value = list(items()) if items is not None else [_number(item) for item in value.value]
    return [_number(item) for item in value]


def _array(value: Sequence[Any]) -> IrAttribute:
    return ArrayAttr([IntegerAttr(number, i64) for number in _ints(value)])


def _flags(value: Any) -> FastMathFlags | None:
    """Fast-math flags; None leaves it to the innermost `fastmath()` block."""
    if value is None:
        scoped = scoped_attrs()
        return None if scoped is None else parse_flags(scoped["fastmath"])
    if isinstance(value, Attribute):
        return parse_flags(_inside(value.text))
    return parse_flags(_inside(value) if isinstance(value, str) else value)


def _fastmath(value: Any) -> str | None:
    flags = _flags(value)
    return None if not flags else flags.text


def _llvm_fastmath(value: Any) -> IrAttribute:
    flags = _flags(value)
    if not flags:
        return FastMathAttr("none")
    return FastMathAttr("fast" if flags is FastMathFlags.fast else [FastMathFlag(f) for f in flags.text.split(",")])


def _overflow_bits(value: Any) -> int:
    if value is None:
        return 0
    found = _known(value)
    if isinstance(found, int):
        return int(found)
    bits = 0
    for word in found.split(","):
        if word.strip() not in IntegerOverflowFlags.__members__:
            raise DslValueError(f"unknown overflow flag {word.strip()!r}", hint="the flags are: none nsw nuw")
        bits |= IntegerOverflowFlags[word.strip()]
    return bits


def _overflow(value: Any) -> IrAttribute | None:
    from xdsl.dialects.arith import IntegerOverflowFlag

    bits = _overflow_bits(value)
    chosen = [flag for bit, flag in ((1, IntegerOverflowFlag.NSW), (2, IntegerOverflowFlag.NUW)) if bits & bit]
    return IntegerOverflowAttr(chosen) if chosen else None


def _predicate(kinds: type[CmpIPredicate] | type[CmpFPredicate]) -> Callable[[Any], str]:
    names = list(dict.fromkeys(member.value for member in kinds))

    def chosen(value: Any) -> str:
        found = _known(value)
        word = names[found] if isinstance(found, int) and 0 <= found < len(names) else str(found).lower()
        if word not in names:
            raise DslValueError(f"unknown predicate {value!r}", hint=f"the predicates are: {' '.join(names)}")
        return word

    return chosen


def _predicate_number(kinds: type[CmpIPredicate] | type[CmpFPredicate]) -> Callable[[Any], IrAttribute]:
    """Return the predicate as LLVM's comparisons store it."""
    names, chosen = list(dict.fromkeys(member.value for member in kinds)), _predicate(kinds)
    return lambda value: IntegerAttr(names.index(chosen(value)), i64)


def _numbered(kinds: type[IntEnum]) -> Callable[[Any], IrAttribute | None]:
    """Return a member of an enumeration, its name or its number."""

    def chosen(value: Any) -> IrAttribute | None:
        if value is None:
            return None
        found = _known(value)
        if isinstance(found, str):
            word = found if found in kinds.__members__ else f"_{found}"
            if word not in kinds.__members__:
                raise DslValueError(f"unknown {kinds.__name__} {found!r}", hint=" ".join(kinds.__members__))
            found = kinds[word]
        return IntegerAttr(int(found), i64)

    return chosen


def _asm_dialect(value: Any) -> IrAttribute | None:
    if value is None:
        return None
    found = _known(value)
    return IntegerAttr(_WORDS.get(found, 0) if isinstance(found, str) else int(found), i64)


def _word(value: Any) -> str:
    """Return the name of an enumeration's member, as IR spells it."""
    text = value.text if isinstance(value, Attribute) else str(getattr(value, "value", value))
    return _inside(text).rpartition(" ")[2].lower()


def _text(value: Any) -> IrAttribute | None:
    found = None if value is None else python_value(value)
    return StringAttr(str(getattr(found, "value", found))) if found else None


KINDS: dict[str, Callable[[Any], Any]] = {
    "number": _number,
    "i64": _integer(i64),
    "i32": _integer(i32),
    "i32s": lambda value: DenseArrayBase.from_list(i32, _ints(value)),
    "i64s": _ints,
    "places": _ints,
    "array": _array,
    "unit": lambda value: UnitAttr() if value else None,
    "str": _text,
    "type": lambda value: ir_type(type_text(value)),
    "fastmath": _fastmath,
    "llvm_fastmath": _llvm_fastmath,
    "overflow": _overflow,
    "llvm_overflow": lambda value: IntegerAttr(_overflow_bits(value), i32),
    "gep_flags": lambda value: IntegerAttr(0 if value is None else _number(value), i32),
    "rounding": lambda value: None if value is None else _word(value),
    "cmpi": _predicate(CmpIPredicate),
    "cmpf": _predicate(CmpFPredicate),
    "cmpi_number": _predicate_number(CmpIPredicate),
    "cmpf_number": _predicate_number(CmpFPredicate),
    "ordering": _numbered(AtomicOrdering),
    "binop": _numbered(AtomicBinOp),
    "asm_dialect": _asm_dialect,
    "kind": _word,
    "dimension": _word,
    "mode": _word,
    "drop": lambda value: None,
}
"""Kind to the function that takes what a caller gives and returns what the emitter stores; None is left out."""
