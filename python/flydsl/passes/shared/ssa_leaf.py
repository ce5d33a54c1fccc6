"""The third kind of integer: a leaf that is an SSA value and emits `arith` when computed with.

Width and divisibility of results come from `layout.leaf`, as they do for the abstract kind, so a
lowered value has exactly the type that was inferred for it.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.arith import CMPI_COMPARISON_OPERATIONS, IntegerOverflowAttr, IntegerOverflowFlag
from xdsl.dialects.builtin import IntegerAttr, i1, i32, i64
from xdsl.ir import SSAValue

from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly.ops import to_attr
from flydsl.dialects.fly.types import element_type, type_of
from flydsl.layout import leaf as lf
from flydsl.layout.leaf import Basis, DynInt, Unknown
from flydsl.passes.shared.insertion import Inserter
from flydsl.passes.shared.launch_conditions import subject
from flydsl.target.dtype import storage_bytes

_KNOWN = "flyc.from_dlpack(x) makes the extents and strides of an array known while compiling"
_NO_OVERFLOW = {"overflowFlags": IntegerOverflowAttr("none")}
EXACT = {"overflowFlags": IntegerOverflowAttr([IntegerOverflowFlag.NSW])}
WIDEST_BYTES = 16
"""The widest access of one thread to memory; registers have no such limit."""
PREDICATE = {name: {"predicate": IntegerAttr(i, i64)} for i, name in enumerate(CMPI_COMPARISON_OPERATIONS)}
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
    by it takes the two apart, so that neighbouring accesses differ by a constant only. ``made`` is how it came about:
    an operation and what it was done to.
    """

    __slots__ = ("at", "base", "div", "made", "tail", "value", "width")

    def __init__(self, at: Inserter, value: SSAValue, width: int, div: int = 1) -> None:
        self.at = at
        self.value = value
        self.width = width
        self.div = div
        self.base: SsaInt = self
        self.tail = 0
        self.made: tuple[str, tuple[Any, ...]] = ("", ())

    def emit(self, op: str, args: tuple[Any, ...], width: int, div: int) -> SsaInt:
        key = (op, width, *(a if isinstance(a, int) else id(a.value) for a in args))
        found = self.at.remembered(key)
        if found is None:
            found = self.at.remember(key, SsaInt(self.at, _emit(self.at, op, args, width), width, div))
            found._remember_sum(op, args)
            found.made = (op, args)
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
        attributes = {"message": to_attr("str", f"{text}\n{hint}\n{_KNOWN}")}
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


def _twos(leaf: int | SsaInt, most: int) -> int:
    """Return how often two divides a leaf made of sums and of products with constants, ``most`` times or less."""
    if isinstance(leaf, int):
        return min((leaf & -leaf).bit_length() - 1, most) if leaf else most
    op, args = leaf.made
    if op == "mul" and any(isinstance(a, int) for a in args):
        first = _twos(args[0], most)
        return first + _twos(args[1], most - first)
    return _twos(args[1], _twos(args[0], most)) if op == "add" else 0


def _quotient(leaf: int | SsaInt, twos: int) -> int | SsaInt:
    """Divide a leaf by a power of two that is in what it was made of, without a division."""
    if twos == 0 or isinstance(leaf, int):
        return leaf >> twos if isinstance(leaf, int) else leaf
    op, (a, b) = leaf.made
    if op == "add":
        return lf.add(_quotient(a, twos), _quotient(b, twos))
    first = _twos(a, twos)
    return lf.mul(_quotient(a, first), _quotient(b, twos - first), fits32=True)


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
    return at.op("arith.cmpi", [register(at, a, width) for a in args], [i1], PREDICATE[predicate])


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
    more = at.op("arith.cmpi", [low, at.constant(f"i{width}", 0)], [i1], PREDICATE["ne"])
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
        offset = self.offset()
        if offset is not None:
            value, info = self._step(value, info, self.moved, offset)
        if self.tail:
            value, _ = self._step(value, info, self.tail, None)
        return value

    def offset(self) -> SSAValue | None:
        """Return the run-time offset, if there is one; it is worked out here, once.

        A sum of multiples of some power of two is that of the quotients, times the power: what is widened to an address
        is scaled where it is added, so each term spares an instruction. The product is exact, as layouts are.
        """
        if isinstance(self.moved, int):
            return None
        is_narrow_sum = self.space == "global" and self.moved.width == 32 and self.moved.made[0] == "add"
        twos = _twos(self.moved, (WIDEST_BYTES // storage_bytes(self.elem)).bit_length() - 1) if is_narrow_sum else 0
        if twos < 1:
            return self.moved.value
        key = ("units", id(self.moved.value), twos)
        if (found := self.at.remembered(key)) is None:
            units = [register(self.at, _quotient(self.moved, twos), 32), self.at.constant("i32", twos)]
            found = self.at.remember(key, self.at.op("arith.shli", units, [i32], EXACT))
        return found

    def _step(self, value: SSAValue, info: pl.Pointer, by: Any, offset: SSAValue | None) -> tuple[SSAValue, pl.Pointer]:
        moved, key = info.add_offset(by), ("offset", id(value), by if offset is None else id(offset))
        found = self.at.remembered(key)
        if found is None:
            if offset is None:
                step = self.at.static(by)
            else:
                step = self.at.fly("make_int_tuple", [offset], [type_of(Unknown(by.width, by.div))])
            found = self.at.remember(key, self.at.fly("add_offset", [value, step], [type_of(moved)]))
        return found, moved
