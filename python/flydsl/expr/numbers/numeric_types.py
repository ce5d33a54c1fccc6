"""The facts of every number format, in one table.

Promotion, conversion, folding and emission work on these records; the classes a kernel author sees
(`fx.Int32`, ...) each carry one. Records compare by identity, which keeps them cheap dictionary keys.
"""

from __future__ import annotations

from enum import Enum

from flydsl.base.records import dataclass, field
from flydsl.expr.values.ir_types import IrType


class Specials(Enum):
    """What a float format spends its extreme codes on (the suffix letters of its name)."""

    IEEE = "infinities and NaNs in the top exponent"
    FN = "no infinity; NaN is the code with all exponent and mantissa bits set"
    FNUZ = "no infinity and no negative zero; NaN is the code of negative zero"
    FINITE = "neither infinity nor NaN"
    SCALE = "unsigned powers of two; no zero; NaN is the top code"


@dataclass(frozen=True, eq=False, slots=True)
class FloatFormat:
    """Bit layout of a float: sign (absent in SCALE), exponent, mantissa."""

    exponent: int
    mantissa: int
    bias: int
    specials: Specials

    @property
    def min_exponent(self) -> int:
        """Exponent of the smallest normal number (of the smallest number, in SCALE)."""
        return -self.bias if self.specials is Specials.SCALE else 1 - self.bias

    @property
    def max_code(self) -> int:
        """The code of the largest finite positive number."""
        top = (1 << (self.exponent + self.mantissa)) - 1
        match self.specials:
            case Specials.IEEE:
                return top - (1 << self.mantissa)
            case Specials.FN | Specials.SCALE:
                return top - 1
            case Specials.FNUZ | Specials.FINITE:
                return top

    @property
    def max_exponent(self) -> int:
        return (self.max_code >> self.mantissa) - self.bias

    def holds(self, other: FloatFormat) -> bool:
        """Return whether every finite value of `other` is exactly a value of this format."""
        if self.specials is Specials.SCALE and other is not self:
            return False
        smallest = self.min_exponent - self.mantissa
        return (
            self.mantissa >= other.mantissa
            and self.max_exponent >= other.max_exponent
            and smallest <= other.min_exponent - other.mantissa
        )


@dataclass(frozen=True, eq=False, slots=True)
class NumberFormat:
    """One number type: its names on the Python, IR and NumPy sides, and its bits."""

    name: str
    ir_type: IrType
    width: int
    signed: bool
    numpy_name: str | None
    layout: FloatFormat | None = None
    is_index: bool = False
    is_float: bool = field(init=False)
    is_integer: bool = field(init=False)
    is_boolean: bool = field(init=False)
    is_narrow_float: bool = field(init=False)
    """A float too narrow for hardware to compute in: arithmetic happens in f32."""

    def __post_init__(self) -> None:
        is_float = self.layout is not None
        object.__setattr__(self, "is_float", is_float)
        object.__setattr__(self, "is_integer", not is_float)
        object.__setattr__(self, "is_boolean", self.width == 1)
        object.__setattr__(self, "is_narrow_float", is_float and self.width < 16)

    @property
    def summary(self) -> str:
        """What the type holds, in a sentence: the docstring of its class."""
        if self.layout is None:
            return f"{'A signed' if self.signed else 'An unsigned'} integer of {self.width} bits."
        bits = f"{self.layout.exponent} bits of exponent and {self.layout.mantissa} of mantissa"
        return f"A float of {self.width} bits, {bits}; {self.layout.specials.value}."

    def __repr__(self) -> str:
        return self.name


def _integer(name: str, width: int, signed: bool, numpy_name: str | None) -> NumberFormat:
    return NumberFormat(name, IrType(f"i{width}"), width, signed, numpy_name)


def _float(
    name: str, ir: str, numpy_name: str, exponent: int, mantissa: int, bias: int, kind: Specials
) -> NumberFormat:
    width = exponent + mantissa + (kind is not Specials.SCALE)
    return NumberFormat(name, IrType(ir), width, True, numpy_name, FloatFormat(exponent, mantissa, bias, kind))


BOOLEAN = _integer("Boolean", 1, False, "bool")
INT4 = _integer("Int4", 4, True, "int4")
INT8 = _integer("Int8", 8, True, "int8")
INT16 = _integer("Int16", 16, True, "int16")
INT32 = _integer("Int32", 32, True, "int32")
INT64 = _integer("Int64", 64, True, "int64")
INT128 = _integer("Int128", 128, True, None)
UINT8 = _integer("Uint8", 8, False, "uint8")
UINT16 = _integer("Uint16", 16, False, "uint16")
UINT32 = _integer("Uint32", 32, False, "uint32")
UINT64 = _integer("Uint64", 64, False, "uint64")
UINT128 = _integer("Uint128", 128, False, None)
INDEX = NumberFormat("Index", IrType("index"), 64, False, "uint64", is_index=True)

# fmt: off
FLOAT16 = _float("Float16", "f16", "float16", 5, 10, 15, Specials.IEEE)
BFLOAT16 = _float("BFloat16", "bf16", "bfloat16", 8, 7, 127, Specials.IEEE)
FLOAT32 = _float("Float32", "f32", "float32", 8, 23, 127, Specials.IEEE)
FLOAT64 = _float("Float64", "f64", "float64", 11, 52, 1023, Specials.IEEE)
FLOAT8E5M2 = _float("Float8E5M2", "f8E5M2", "float8_e5m2", 5, 2, 15, Specials.IEEE)
FLOAT8E4M3 = _float("Float8E4M3", "f8E4M3", "float8_e4m3", 4, 3, 7, Specials.IEEE)
FLOAT8E4M3FN = _float("Float8E4M3FN", "f8E4M3FN", "float8_e4m3fn", 4, 3, 7, Specials.FN)
FLOAT8E4M3FNUZ = _float("Float8E4M3FNUZ", "f8E4M3FNUZ", "float8_e4m3fnuz", 4, 3, 8, Specials.FNUZ)
FLOAT8E5M2FNUZ = _float("Float8E5M2FNUZ", "f8E5M2FNUZ", "float8_e5m2fnuz", 5, 2, 16, Specials.FNUZ)
FLOAT8E4M3B11FNUZ = _float("Float8E4M3B11FNUZ", "f8E4M3B11FNUZ", "float8_e4m3b11fnuz", 4, 3, 11, Specials.FNUZ)
FLOAT8E8M0FNU = _float("Float8E8M0FNU", "f8E8M0FNU", "float8_e8m0fnu", 8, 0, 127, Specials.SCALE)
FLOAT6E2M3FN = _float("Float6E2M3FN", "f6E2M3FN", "float6_e2m3fn", 2, 3, 1, Specials.FINITE)
FLOAT6E3M2FN = _float("Float6E3M2FN", "f6E3M2FN", "float6_e3m2fn", 3, 2, 3, Specials.FINITE)
FLOAT4E2M1FN = _float("Float4E2M1FN", "f4E2M1FN", "float4_e2m1fn", 2, 1, 1, Specials.FINITE)
# fmt: on

FORMATS: tuple[NumberFormat, ...] = (
    BOOLEAN,
    *(INT4, INT8, INT16, INT32, INT64, INT128),
    *(UINT8, UINT16, UINT32, UINT64, UINT128),
    INDEX,
    *(FLOAT16, BFLOAT16, FLOAT32, FLOAT64),
    *(FLOAT8E5M2, FLOAT8E4M3, FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2FNUZ, FLOAT8E4M3B11FNUZ, FLOAT8E8M0FNU),
    *(FLOAT6E2M3FN, FLOAT6E3M2FN, FLOAT4E2M1FN),
)

# An IR integer has no sign, so its text names the signed format: it comes first above, so it is set last here.
BY_IR_TYPE: dict[str, NumberFormat] = {f.ir_type: f for f in reversed(FORMATS)}
