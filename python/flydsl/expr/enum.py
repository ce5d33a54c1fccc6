"""Enumerations that belong to numbers. Members print as the IR spells them."""

from __future__ import annotations

from enum import Flag, StrEnum
from typing import Literal

from flydsl.expr.atoms.hardware_enums import AddressSpace as AddressSpace
from flydsl.expr.atoms.hardware_enums import AtomicOp as AtomicOp
from flydsl.expr.atoms.hardware_enums import CachePolicy as CachePolicy
from flydsl.expr.atoms.hardware_enums import GemmTraversalOrder as GemmTraversalOrder
from flydsl.expr.atoms.hardware_enums import MmaOperand as MmaOperand
from flydsl.expr.atoms.hardware_enums import SyncScope as SyncScope


class CmpIPredicate(StrEnum):
    """How `cmpi` compares: `s` signed, `u` unsigned. `SLT` is another name of `slt`."""

    eq = "eq"
    ne = "ne"
    slt = "slt"
    sle = "sle"
    sgt = "sgt"
    sge = "sge"
    ult = "ult"
    ule = "ule"
    ugt = "ugt"
    uge = "uge"

    EQ = "eq"
    NE = "ne"
    SLT = "slt"
    SLE = "sle"
    SGT = "sgt"
    SGE = "sge"
    ULT = "ult"
    ULE = "ule"
    UGT = "ugt"
    UGE = "uge"


class CmpFPredicate(StrEnum):
    """How `cmpf` compares: `o...` is false when an operand is NaN, `u...` is true. `OGT` is another name of `ogt`."""

    false = "false"
    oeq = "oeq"
    ogt = "ogt"
    oge = "oge"
    olt = "olt"
    ole = "ole"
    one = "one"
    ord = "ord"
    ueq = "ueq"
    ugt = "ugt"
    uge = "uge"
    ult = "ult"
    ule = "ule"
    une = "une"
    uno = "uno"
    true = "true"

    FALSE = AlwaysFalse = "false"
    OEQ = "oeq"
    OGT = "ogt"
    OGE = "oge"
    OLT = "olt"
    OLE = "ole"
    ONE = "one"
    ORD = "ord"
    UEQ = "ueq"
    UGT = "ugt"
    UGE = "uge"
    ULT = "ult"
    ULE = "ule"
    UNE = "une"
    UNO = "uno"
    TRUE = AlwaysTrue = "true"


RoundingName = Literal["to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away"]
ReductionName = Literal["add", "mul", "max", "min", "maxnum", "minnum", "and", "or", "xor"]
AtomicName = Literal["add", "max", "min", "and", "or", "inc", "dec"]
Axis = Literal["x", "y", "z"]
ShuffleName = Literal["xor", "up", "down", "idx"]
"""What may be written for a member of an enumeration, or of a fixed set, as an editor completes it."""


class RoundingMode(StrEnum):
    """Rounding of a float-to-narrower-float conversion."""

    to_nearest_even = "to_nearest_even"
    downward = "downward"
    upward = "upward"
    toward_zero = "toward_zero"
    to_nearest_away = "to_nearest_away"


class ReductionOp(StrEnum):
    """How a vector is folded into one number.

    Of floats, MAX, MAXNUM and MINNUM skip NaN elements; MIN gives NaN when any element is NaN.
    """

    ADD = "add"
    MUL = "mul"
    MAX = "max"
    MIN = "min"
    MAXNUM = "maxnum"
    MINNUM = "minnum"
    AND = "and"
    OR = "or"
    XOR = "xor"


class FastMathFlags(Flag):
    """Liberties a float operation may take; combine with `|`."""

    none = 0
    reassoc = 1
    nnan = 2
    ninf = 4
    nsz = 8
    arcp = 16
    contract = 32
    afn = 64
    fast = 127

    @property
    def text(self) -> str:
        """The attribute text: `"none"`, `"fast"` or flag names separated by commas."""
        if self is FastMathFlags.none:
            return "none"
        if self is FastMathFlags.fast:
            return "fast"
        return ",".join(flag.name for flag in FastMathFlags.fast if flag in self and flag.name)

    def __str__(self) -> str:
        return self.text
