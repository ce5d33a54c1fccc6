"""Leaf arithmetic: the integers a layout is made of, whatever their kind.

A leaf is a Python ``int``, a :class:`DynInt` (an integer known only at run time) or a
:class:`Basis` (a scaled unit vector of a coordinate space). The algebra calls the functions of
this file and never asks which kind it holds. Two kinds of :class:`DynInt` exist: :class:`Unknown`
here, which knows only its width and divisibility and serves type inference, and an SSA integer in
the lowering pass, which also emits code. Both take their result width and divisibility from
:class:`DynInt`, so inference and lowering cannot disagree.

Widths: a product is 64-bit unless the caller proves that it fits 32 (``fits32=True``), a sum is as
wide as its widest term. Division and remainder round as Python's do.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from math import gcd
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeGuard, TypeVar

from flydsl.base.errors import LayoutError
from flydsl.base.records import dataclass

if TYPE_CHECKING:

    def is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
        """Return whether a value is a tuple of others and no leaf."""
        ...
else:
    is_tuple = tuple.__instancecheck__  # without a frame of Python

INT32_LIMIT = 1 << 31

_UNDECIDED: ContextVar[list[str] | None] = ContextVar("_UNDECIDED", default=None)
"""Where inference notes what must be checked later, while somebody asks."""


T = TypeVar("T")


class DynInt:
    """An integer known at run time: a width (32 or 64) and a divisor it is known to have."""

    __slots__ = ()
    width: int
    div: int

    def emit(self, op: str, args: tuple[Leaf, ...], width: int, div: int) -> DynInt:
        """Make the result of ``op`` over ``args``."""
        raise NotImplementedError

    def require(self, text: str, numbers: tuple[Any, ...], hint: str) -> None:
        """Have this truth value checked before the code that relies on it runs; inference notes that it must be."""
        if (notes := _UNDECIDED.get()) is not None:
            notes.append(text)

    def __add__(self, other: Leaf) -> Leaf:
        return add(self, other)

    def __radd__(self, other: Leaf) -> Leaf:
        return add(other, self)

    def __sub__(self, other: Leaf) -> Leaf:
        return sub(self, other)

    def __rsub__(self, other: Leaf) -> Leaf:
        return sub(other, self)

    def __mul__(self, other: Leaf) -> Leaf:
        return mul(self, other)

    def __rmul__(self, other: Leaf) -> Leaf:
        return mul(other, self)

    def __floordiv__(self, other: Leaf) -> Leaf:
        return floordiv(self, other)

    def __mod__(self, other: Leaf) -> Leaf:
        return mod(self, other)


@dataclass(frozen=True, slots=True)
class Unknown(DynInt):
    """A run-time integer as the type system sees it: ``?``, ``?{i64}``, ``?{div=4}``."""

    width: int = 32
    div: int = 1

    def __post_init__(self) -> None:
        if self.width not in (32, 64):
            raise LayoutError(f"a run-time leaf is 32 or 64 bits wide, not {self.width}", hint="widen it first")
        if self.div < 1:
            raise LayoutError(f"a divisor must be positive, got {self.div}", hint="1 says that nothing is known")

    def emit(self, op: str, args: tuple[Leaf, ...], width: int, div: int) -> DynInt:
        return Unknown(width, div)

    def __str__(self) -> str:
        notes = [note for note, on in (("i64", self.width == 64), (f"div={self.div}", self.div > 1)) if on]
        return "?" + ("{" + " ".join(notes) + "}" if notes else "")

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class Basis:
    """``value`` times the unit vector reached by ``modes``: ``2E0E1`` is 2 along mode (0, 1)."""

    value: int | DynInt
    modes: tuple[int, ...]

    def __str__(self) -> str:
        return str(self.value) + "".join(f"E{m}" for m in self.modes)

    __repr__ = __str__

    def __mul__(self, other: Any) -> Leaf:
        return mul(self, other)

    __rmul__ = __mul__


Leaf: TypeAlias = "int | DynInt | Basis"


def is_static(leaf: Leaf) -> bool:
    """Return whether the leaf is known while compiling."""
    if isinstance(leaf, Basis):
        return is_static(leaf.value)
    return isinstance(leaf, int)


def equals(leaf: Any, number: int) -> bool:
    """Return whether the leaf is certainly ``number``. A run-time leaf is never certain."""
    return isinstance(leaf, int) and leaf == number


def divisor(leaf: Leaf | None) -> int:
    """Return the largest number the leaf is known to be a multiple of (0 for a static zero)."""
    if isinstance(leaf, Basis):
        return divisor(leaf.value)
    if not isinstance(leaf, (int, DynInt)):
        refuse(leaf)
    return abs(leaf) if isinstance(leaf, int) else leaf.div


def is_divisible(leaf: Leaf, number: int) -> bool:
    """Return whether the leaf is certainly a multiple of ``number``."""
    return divisor(leaf) % number == 0 if number else False


def width_of(leaf: Leaf | None) -> int:
    """32 or 64: how wide a register this leaf needs."""
    if isinstance(leaf, Basis):
        return width_of(leaf.value)
    if isinstance(leaf, int):
        return 32 if -INT32_LIMIT <= leaf < INT32_LIMIT else 64
    if not isinstance(leaf, DynInt):
        refuse(leaf)
    return leaf.width


def refuse(leaf: Any) -> NoReturn:
    """Raise for what stands where an integer must: a wildcard, a tuple, a basis element."""
    shown = "*" if leaf is None else str(leaf)
    raise LayoutError(f"an integer is needed where {shown} stands", hint="coordinates and extents are integers")


def _emit(op: str, args: tuple[Any, ...], width: int, div: int) -> DynInt:
    """Return the result of the run-time kind among ``args``; a divisor of 0 (nothing is known of it) becomes 1."""
    for arg in args:
        if not isinstance(arg, (int, DynInt)):
            refuse(arg)
    kind = next(a for a in args if isinstance(a, DynInt))
    return kind.emit(op, args, width, max(div, 1))


def _widest(*leaves: Leaf) -> int:
    return max(width_of(leaf) for leaf in leaves)


def add(a: Any, b: Any) -> Any:
    """Return ``a + b``. Basis leaves add only along the same mode; use tuples for whole coordinates."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if equals(a, 0):
        return b
    if equals(b, 0):
        return a
    if isinstance(a, Basis) or isinstance(b, Basis):
        return _along_one_mode(add, a, b)
    return _emit("add", (a, b), _widest(a, b), gcd(divisor(a), divisor(b)))


def sub(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    if equals(b, 0):
        return a
    if isinstance(a, Basis) or isinstance(b, Basis):
        return _along_one_mode(sub, a, b)
    return _emit("sub", (a, b), _widest(a, b), gcd(divisor(a), divisor(b)))


def mul(a: Any, b: Any, *, fits32: bool = False) -> Any:
    """Return ``a * b``, 64-bit unless ``fits32`` says that the product is known to fit 32."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if isinstance(a, Basis) or isinstance(b, Basis):
        if isinstance(a, Basis) and isinstance(b, Basis):
            raise LayoutError(f"two basis strides cannot be multiplied: {a} * {b}", hint="scale a basis by a number")
        basis, factor = (a, b) if isinstance(a, Basis) else (b, a)
        return 0 if equals(factor, 0) else Basis(mul(basis.value, factor, fits32=fits32), basis.modes)
    if equals(a, 0) or equals(b, 0):
        return 0
    if equals(a, 1):
        return b
    if equals(b, 1):
        return a
    return _emit("mul", (a, b), _widest(a, b) if fits32 else 64, divisor(a) * divisor(b))


def floordiv(a: Any, b: Any) -> Any:
    """Return ``a // b``, rounding down."""
    if isinstance(a, Basis):
        return Basis(floordiv(a.value, b), a.modes)
    if isinstance(a, int) and isinstance(b, int):
        if b == 0:
            raise LayoutError(f"division of {a} by zero", hint="an extent or a stride is 0 here")
        return a // b
    if equals(b, 1):
        return a
    if equals(a, 0):
        return 0
    return _emit("floordiv", (a, b), _widest(a, b), _quotient_divisor(a, b))


def mod(a: Any, b: Any) -> Any:
    """Return ``a % b``, with the sign of ``b``."""
    if isinstance(a, int) and isinstance(b, int):
        if b == 0:
            raise LayoutError(f"remainder of {a} by zero", hint="an extent or a stride is 0 here")
        return a % b
    if equals(b, 1) or equals(a, 0):
        return 0
    if isinstance(b, int) and b and isinstance(a, DynInt) and a.div % b == 0:
        return 0
    return _emit("mod", (a, b), _widest(a, b), gcd(divisor(a), divisor(b)))


def ceil_div(a: Any, b: Any) -> Any:
    """``-(-a // b)``: how many ``b`` cover ``a``."""
    if isinstance(a, int) and isinstance(b, int):
        if b == 0:
            raise LayoutError(f"division of {a} by zero", hint="an extent or a stride is 0 here")
        return -(-a // b)
    if equals(b, 1):
        return a
    if equals(a, 0):
        return 0
    if isinstance(b, int) and is_divisible(a, b):
        return floordiv(a, b)
    return _emit("ceildiv", (a, b), _widest(a, b), 1)


def minimum(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    if a is b:
        return a
    return _emit("min", (a, b), _widest(a, b), gcd(divisor(a), divisor(b)))


def maximum(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b)
    if a is b:
        return a
    return _emit("max", (a, b), _widest(a, b), gcd(divisor(a), divisor(b)))


def absolute(a: Any) -> Any:
    """Return the magnitude; a run-time leaf (an extent or a stride of unknown sign) is taken as it is."""
    if isinstance(a, Basis):
        return Basis(absolute(a.value), a.modes)
    return abs(a) if isinstance(a, int) else a


def bit_and(a: Any, b: Any) -> Any:
    """Return ``a & b``. Low bits that are zero on either side are zero in the result."""
    if isinstance(a, int) and isinstance(b, int):
        return a & b
    if equals(a, 0) or equals(b, 0):
        return 0
    return _emit("and", (a, b), _widest(a, b), max(_power_of_two(divisor(leaf)) for leaf in (a, b)))


def bit_xor(a: Any, b: Any) -> Any:
    """Return ``a ^ b``. Low bits that are zero on both sides stay zero."""
    if isinstance(a, int) and isinstance(b, int):
        return a ^ b
    if equals(a, 0):
        return b
    if equals(b, 0):
        return a
    return _emit("xor", (a, b), _widest(a, b), _common_power_of_two(divisor(a), divisor(b)))


def shift_left(a: Any, bits: int) -> Any:
    if isinstance(a, int):
        return a << bits
    return a if bits == 0 else _emit("shl", (a, bits), a.width, a.div << bits)


def shift_right(a: Any, bits: int) -> Any:
    if isinstance(a, int):
        return a >> bits
    return a if bits == 0 else _emit("shr", (a, bits), a.width, _quotient_divisor(a, 1 << bits))


# Truth values: a Python bool when all is static, else what the run-time kind makes of it ---------


def less(a: Any, b: Any) -> Any:
    """Return whether ``a < b``: a truth value, which may be known only at run time."""
    if isinstance(a, int) and isinstance(b, int):
        return a < b
    return _emit("lt", (a, b), 32, 1)


def same(a: Any, b: Any) -> Any:
    """Return whether ``a == b``: a truth value, which may be known only at run time."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    return _emit("eq", (a, b), 32, 1)


def both(a: Any, b: Any) -> Any:
    """Logical and of two truth values from :func:`less`, :func:`same` or this function."""
    if isinstance(a, bool):
        return b if a else False
    if isinstance(b, bool):
        return a if b else False
    return _emit("logical_and", (a, b), 32, 1)


def either(a: Any, b: Any) -> Any:
    """Logical or of two truth values."""
    if isinstance(a, bool):
        return True if a else b
    if isinstance(b, bool):
        return True if b else a
    return _emit("logical_or", (a, b), 32, 1)


def divides(b: Any, a: Any) -> Any:
    """Return whether ``a`` is a multiple of ``b``; known divisors decide it where they can."""
    return True if isinstance(b, int) and is_divisible(a, b) else same(mod(a, b), 0)


def chosen(truth: Any, a: Any, b: Any) -> Any:
    """Return ``a`` where the truth value holds, else ``b``."""
    if isinstance(truth, bool):
        return a if truth else b
    return truth.emit("select", (truth, a, b), _widest(a, b), max(gcd(divisor(a), divisor(b)), 1))


def with_notes(function: Callable[[], T]) -> tuple[T, list[str]]:
    """Return what a function of the algebra gives, and what it requires that is not decided yet."""
    notes: list[str] = []
    token = _UNDECIDED.set(notes)
    try:
        return function(), notes
    finally:
        _UNDECIDED.reset(token)


def require(truth: Any, text: str, numbers: tuple[Any, ...], hint: str) -> None:
    """Refuse a layout operation unless ``truth`` holds: now if that is known, else before the code runs.

    ``text`` says what is wrong, with a ``{}`` for each of the ``numbers``.
    """
    if isinstance(truth, DynInt):
        truth.require(text, numbers, hint)
    elif not truth:
        raise LayoutError(text.format(*numbers), hint=hint)


def _quotient_divisor(a: Leaf, b: Leaf) -> int:
    known = divisor(a)
    return known // b if isinstance(b, int) and b > 0 and known % b == 0 else 1


def _power_of_two(number: int) -> int:
    """Return the largest power of two that divides a number."""
    return number & -number


def _common_power_of_two(a: int, b: int) -> int:
    powers = [_power_of_two(x) for x in (a, b) if x]
    return min(powers) if powers else 1


def _along_one_mode(op: Callable[[Any, Any], Any], a: Any, b: Any) -> Basis:
    if isinstance(a, Basis) and isinstance(b, Basis) and a.modes == b.modes:
        return Basis(op(a.value, b.value), a.modes)
    raise LayoutError(f"basis leaves of different modes cannot be combined: {a} and {b}", hint="use coordinates")
