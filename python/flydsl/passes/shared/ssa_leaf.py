"""The third kind of integer: a leaf that is an SSA value and emits `arith` when computed with.

Width and divisibility of results come from `layout.leaf`, as they do for the abstract kind, so a
lowered value has exactly the type that was inferred for it.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.arith import CMPI_COMPARISON_OPERATIONS, IntegerOverflowAttr
from xdsl.dialects.builtin import IntegerAttr, i1, i64
from xdsl.ir import SSAValue

from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly.ops import to_attr
from flydsl.dialects.fly.types import element_type, type_of
from flydsl.layout.leaf import Basis, DynInt, Unknown
from flydsl.passes.shared.insertion import Inserter
from flydsl.passes.shared.launch_conditions import subject

_NO_OVERFLOW = {"overflowFlags": IntegerOverflowAttr("none")}
_PREDICATE = {name: {"predicate": IntegerAttr(i, i64)} for i, name in enumerate(CMPI_COMPARISON_OPERATIONS)}
_PLAIN = {
    "add": ("arith.addi", _NO_OVERFLOW),
    "sub": ("arith.subi", _NO_OVERFLOW),
    "mul": ("arith.muli", _NO_OVERFLOW),
    "floordiv": ("arith.floordivsi", None),
    "ceildiv": ("arith.ceildivsi", None),
    "min": ("arith.minsi", None),
    "max": ("arith.maxsi", None),
    "and": ("arith.andi", None),
    "xor": ("arith.xori", None),
    "shl": ("arith.shli", _NO_OVERFLOW),
    "shr": ("arith.shrsi", None),
}

_LOGICAL = {"logical_and": "arith.andi", "logical_or": "arith.ori"}


class SsaInt(DynInt):
    """A run-time integer in the function being lowered.

    ``base`` and ``tail`` remember a sum with a constant: the value is ``base + tail``. A pointer moved
    by it takes the two apart, so that neighbouring accesses differ by a constant only.
    """

    __slots__ = ("at", "base", "div", "tail", "value", "width")

    def __init__(self, at: Inserter, value: SSAValue, width: int, div: int = 1) -> None:
        self.at = at
        self.value = value
        self.width = width
        self.div = div
        self.base: SsaInt = self
        self.tail = 0

    def emit(self, op: str, args: tuple[Any, ...], width: int, div: int) -> SsaInt:
        key = (op, width, *(a if isinstance(a, int) else id(a.value) for a in args))
        found = self.at.remembered(key)
        if found is None:
            found = self.at.remember(key, SsaInt(self.at, _emit(self.at, op, args, width), width, div))
            found._remember_sum(op, args)
        return found

    def _remember_sum(self, op: str, args: tuple[Any, ...]) -> None:
        constant = next((a for a in args if isinstance(a, int)), None)
        if op == "add" and constant is not None:
            other = next(a for a in args if isinstance(a, SsaInt))
            if other.width == self.width:
                self.base, self.tail = other.base, other.tail + constant

    def as_width(self, width: int) -> SSAValue:
        """Return the value in a register of ``width`` bits."""
        if self.width == width:
            return self.value
        key = ("width", width, id(self.value))
        found = self.at.remembered(key)
        if found is None:
            cast = "arith.extsi" if width > self.width else "arith.trunci"
            found = self.at.remember(key, self.at.op(cast, [self.value], [element_type(f"i{width}")]))
        return found

    def require(self, text: str, numbers: tuple[Any, ...], hint: str) -> None:
        """An operation that `launch_conditions` moves to where the kernel is launched."""
        key = ("require", id(self.value))
        if self.at.remembered(key) is not None:
            return
        shown: list[Any] = [n.value if isinstance(n, Basis) else n for n in numbers]
        values = list(dict.fromkeys(n for n in shown if isinstance(n, SsaInt)))
        text = text.format(*(f"#{values.index(n)}" if isinstance(n, SsaInt) else n for n in shown))
        text = f"{subject(self.at.anchor)}: {text}" if self.at.anchor is not None else text
        attributes = {"message": to_attr("str", f"{text}\n{hint}")}
        self.at.fly("require", [self.value, *(n.as_width(64) for n in values)], [], attributes)
        self.at.remember(key, True)

    def __str__(self) -> str:
        return str(Unknown(self.width, self.div))

    __repr__ = __str__


def register(at: Inserter, leaf: Any, width: int) -> SSAValue:
    """Return a leaf of any kind as an SSA value of ``width`` bits."""
    if isinstance(leaf, SsaInt):
        return leaf.as_width(width)
    return at.constant(f"i{width}", leaf)


def _emit(at: Inserter, op: str, args: tuple[Any, ...], width: int) -> SSAValue:
    if op in ("lt", "eq"):
        return _compare(at, "slt" if op == "lt" else "eq", args)
    if op in _LOGICAL:
        return at.op(_LOGICAL[op], [a.value for a in args], [i1])
    if op == "select":
        pair = [register(at, a, width) for a in args[1:]]
        return at.op("arith.select", [args[0].value, *pair], [element_type(f"i{width}")])
    if isinstance(args[1], int) and args[1] > 0 and args[1] & (args[1] - 1) == 0:
        by_bits = _power_of_two(at, op, args[0], args[1], width)
        if by_bits is not None:
            return by_bits
    if op == "mod":
        return _remainder(at, args, width)
    name, properties = _PLAIN[op]
    return at.op(name, [register(at, a, width) for a in args], [element_type(f"i{width}")], properties)


def _compare(at: Inserter, predicate: str, args: tuple[Any, ...]) -> SSAValue:
    width = max(a.width if isinstance(a, SsaInt) else 32 if -(1 << 31) <= a < 1 << 31 else 64 for a in args)
    return at.op("arith.cmpi", [register(at, a, width) for a in args], [i1], _PREDICATE[predicate])


def _power_of_two(at: Inserter, op: str, value: Any, divisor: int, width: int) -> SSAValue | None:
    """Rounding down is a shift, the remainder a mask; both are right for negative numbers too."""
    type_ = element_type(f"i{width}")
    bits = divisor.bit_length() - 1
    if op not in ("floordiv", "mod", "ceildiv", "mul"):
        return None
    x = register(at, value, width)
    if op == "mul":
        return at.op("arith.shli", [x, at.constant(f"i{width}", bits)], [type_], _NO_OVERFLOW)
    if op == "floordiv":
        return at.op("arith.shrsi", [x, at.constant(f"i{width}", bits)], [type_])
    low = at.op("arith.andi", [x, at.constant(f"i{width}", divisor - 1)], [type_])
    if op == "mod":
        return low
    # Rounding up by adding divisor - 1 first could overflow near the top of the range.
    high = at.op("arith.shrsi", [x, at.constant(f"i{width}", bits)], [type_])
    more = at.op("arith.cmpi", [low, at.constant(f"i{width}", 0)], [i1], _PREDICATE["ne"])
    return at.op("arith.addi", [high, at.op("arith.extui", [more], [type_])], [type_], _NO_OVERFLOW)


def _remainder(at: Inserter, args: tuple[Any, ...], width: int) -> SSAValue:
    """From the quotient, which whoever splits a coordinate asks for next."""
    type_ = element_type(f"i{width}")
    kind = next(a for a in args if isinstance(a, SsaInt))
    quotient = kind.emit("floordiv", args, width, 1).value
    x, y = (register(at, a, width) for a in args)
    return at.op("arith.subi", [x, at.op("arith.muli", [quotient, y], [type_], _NO_OVERFLOW)], [type_], _NO_OVERFLOW)


class SsaPointer:
    """A pointer in the function being lowered: a base value, a run-time and a constant offset.

    Offsets are kept apart until the pointer is used, so that a chain of views ends in one run-time
    step and one constant one.
    """

    __slots__ = ("at", "base", "info", "moved", "origin", "tail")

    def __init__(
        self,
        at: Inserter,
        base: SSAValue,
        origin: pl.Pointer,
        moved: Any = 0,
        tail: int = 0,
        info: pl.Pointer | None = None,
    ) -> None:
        self.at = at
        self.base = base
        self.origin = origin
        self.moved = moved
        self.tail = tail
        self.info = info or origin

    @property
    def elem(self) -> str:
        return self.info.elem

    @property
    def space(self) -> str:
        return self.info.space

    @property
    def align(self) -> int:
        return self.info.align

    @property
    def swizzle(self) -> Any:
        return self.info.swizzle

    def add_offset(self, offset: Any) -> SsaPointer:
        if isinstance(offset, int):
            if offset == 0:
                return self
            moved, tail = self.moved, self.tail + offset
        else:
            moved, tail = offset.base + self.moved, self.tail + offset.tail
        return SsaPointer(self.at, self.base, self.origin, moved, tail, self.info.add_offset(offset))

    def with_swizzle(self, swizzle: Any) -> SsaPointer:
        swizzled = self.info.with_swizzle(swizzle)
        value = self.at.fly("apply_swizzle", [self.value(), self.at.static(swizzle)], [type_of(swizzled)])
        return SsaPointer(self.at, value, swizzled)

    def value(self) -> SSAValue:
        """Return the pointer with its offsets applied: the run-time one, then the constant one."""
        value, info = self.base, self.origin
        if not isinstance(self.moved, int):
            value, info = self._step(value, info, self.moved, ("offset", id(value), id(self.moved.value)))
        if self.tail:
            value, _ = self._step(value, info, self.tail, ("offset", id(value), self.tail))
        return value

    def _step(self, value: SSAValue, info: pl.Pointer, offset: Any, key: Any) -> tuple[SSAValue, pl.Pointer]:
        moved = info.add_offset(offset)
        found = self.at.remembered(key)
        if found is None:
            step = self.at.static(offset) if isinstance(offset, int) else make_tuple(self.at, offset)
            found = self.at.remember(key, self.at.fly("add_offset", [value, step], [type_of(moved)]))
        return found, moved


def make_tuple(at: Inserter, leaf: SsaInt) -> SSAValue:
    """Return a run-time leaf as a value of the int tuple type."""
    return at.fly("make_int_tuple", [leaf.value], [type_of(Unknown(leaf.width, leaf.div))])
