"""What every matrix instruction has in common: register types, the call that issues it, self-checks.

Vendor tables build on these records. A record checks itself when it is made, so a wrong row fails
on import, and no row can name registers that do not hold its operands.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from flydsl.base.errors import DslValueError
from flydsl.base.records import dataclass
from flydsl.layout.layout import Layout
from flydsl.target.dtype import FLOAT_WIDTHS, width_bits
from flydsl.target.target import Target

_MLIR_OF_LLVM = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}
_LLVM_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}
_LLVM_OF_ELEM = {"f16": "half", "bf16": "bfloat", "f32": "float", "f64": "double", "i32": "i32"}

ROUNDED_F32 = ("tf32",)
"""Multiplier formats that read 32-bit float registers and drop the low bits."""


@dataclass(frozen=True)
class RegisterType:
    """``count`` LLVM scalars of type ``elem`` in registers: ``<4 x half>``, or plain ``i64`` for one."""

    count: int
    elem: str

    @property
    def bits(self) -> int:
        return self.count * (_LLVM_BITS.get(self.elem) or int(self.elem[1:]))

    @property
    def llvm(self) -> str:
        return self.elem if self.count == 1 else f"<{self.count} x {self.elem}>"

    @property
    def mlir(self) -> str:
        scalar = _MLIR_OF_LLVM.get(self.elem, self.elem)
        return scalar if self.count == 1 else f"vector<{self.count}x{scalar}>"

    @property
    def mangled(self) -> str:
        """The suffix an overloaded LLVM intrinsic carries for this type: ``v4f16``."""
        scalar = _MLIR_OF_LLVM.get(self.elem, self.elem)
        return scalar if self.count == 1 else f"v{self.count}{scalar}"

    def __str__(self) -> str:
        return self.llvm


I1, I16, I32, I64 = (RegisterType(1, f"i{bits}") for bits in (1, 16, 32, 64))


def accumulator(elem: str, count: int) -> RegisterType:
    """``count`` accumulators of an element type."""
    return RegisterType(count, _LLVM_OF_ELEM[elem])


@dataclass(frozen=True)
class Slot:
    """One argument of an intrinsic: part of operand ``a``, ``b`` or ``c``, a state field, or an immediate.

    ``part`` counts the registers of an operand that is passed in pieces. An immediate has a
    ``value``; ``attr`` is the attribute that carries it in the MLIR dialect, empty where the
    dialect's operation takes it as a constant operand or not at all.
    """

    role: str
    type: RegisterType
    part: int = 0
    value: int | None = None
    attr: str = ""


def immediate(type: RegisterType, value: int, attr: str = "") -> Slot:
    return Slot("imm", type, value=int(value), attr=attr)


@dataclass(frozen=True)
class Intrinsic:
    """How LLVM issues an instruction: the mangled name, the results and every argument in order.

    More than one result is a struct of them. ``dialect_op`` is the upstream MLIR operation, empty
    where there is none of its own.
    """

    name: str
    results: tuple[RegisterType, ...]
    slots: tuple[Slot, ...]
    dialect_op: str = ""

    def __post_init__(self) -> None:
        for slot in self.slots:
            assert (slot.role == "imm") == (slot.value is not None), f"{self.name}: {slot}"

    @property
    def result_type(self) -> str:
        types = [r.llvm for r in self.results]
        return types[0] if len(types) == 1 else "{ " + ", ".join(types) + " }"

    @property
    def declaration(self) -> str:
        return f"declare {self.result_type} @{self.name}({', '.join(slot.type.llvm for slot in self.slots)})"

    def operand(self, role: str) -> tuple[RegisterType, ...]:
        """Return the registers of one operand, in order."""
        return tuple(slot.type for slot in self.slots if slot.role == role)


FNUZ_TWINS = {"f8E4M3FN": "f8E4M3FNUZ", "f8E5M2": "f8E5M2FNUZ"}
"""The 8-bit floats of OCP and those of gfx942 that its MFMA reads in their place."""


def fragment_elem(elem: str) -> str:
    """Return the type an operand's elements have in memory and registers: tf32 is stored as f32."""
    return "f32" if elem in ROUNDED_F32 else elem


def elem_bits(elem: str) -> int:
    return width_bits(fragment_elem(elem))


def is_signed_int(elem: str) -> bool:
    return elem.startswith("i") and elem not in FLOAT_WIDTHS


def signature(m: int, n: int, k: int, a: str, b: str, c: str) -> str:
    """``16x16x16, (f16, f16) -> f32``, as instruction types and messages spell it."""
    return f"{m}x{n}x{k}, ({a}, {b}) -> {c}"


def check_values(
    what: str, layouts: tuple[Layout, Layout, Layout], registers: Iterable[int], bits: Iterable[int]
) -> None:
    """Each operand's values per thread fill its registers exactly."""
    for layout, held, width in zip(layouts, registers, bits, strict=True):
        assert layout[1].size() * width == held, f"{what}: {layout} does not fill {held} bits"


def no_such_instruction(family: str, wanted: str, valid: Iterable[str]) -> DslValueError:
    """Return the refusal of a (shape, type) pair, listing those that exist."""
    return DslValueError(f"there is no {family} {wanted}", hint=f"valid: {_listing(valid)}")


def not_on_this_target(family: str, wanted: str, target: Target, valid: Iterable[str]) -> DslValueError:
    """Return the refusal of a (shape, type) pair for one target, listing those it has."""
    return _missing(f"{family} {wanted}", target, valid)


def not_on_target(op: object, target: Target, valid: Iterable[str]) -> DslValueError:
    """Return the refusal of an instruction that exists, but not here."""
    return _missing(str(op), target, valid)


def _missing(what: str, target: Target, valid: Iterable[str]) -> DslValueError:
    listed = _listing_of(tuple(valid))
    hint = f"{target} has: {listed}" if listed else f"{target} has no instruction of this family"
    return DslValueError(f"{target} has no {what}", hint=hint)


@cache
def _listing_of(signatures: tuple[str, ...]) -> str:
    return _listing(signatures)


def _listing(signatures: Iterable[str]) -> str:
    """Signatures grouped by their types: ``(f16, f16) -> f32: 16x16x16, 32x32x8; …``."""
    shapes: dict[str, set[str]] = {}
    for text in signatures:
        shape, _, types = text.partition(", ")
        shapes.setdefault(types, set()).add(shape)
    return "; ".join(f"{types}: {', '.join(sorted(found, key=_extents))}" for types, found in shapes.items())


def _extents(shape: str) -> list[int]:
    return [int(extent) for extent in shape.split("x")]
