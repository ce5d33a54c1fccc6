"""Flags in memory: atomic loads and stores, signals and waits, for threads of other blocks and of other ranks."""

from __future__ import annotations

from typing import Any, Literal

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.base.records import dataclass
from flydsl.dialects.fly import rules
from flydsl.expr.atoms import atomics
from flydsl.expr.atoms.atomics import Order, Scope, llvm_address
from flydsl.expr.numeric import Boolean, Numeric
from flydsl.expr.trace.context import Value, current
from flydsl.expr.values.handle import apply
from flydsl.target.sync_scopes import looks_acquire

Until = Literal["at_least", "equal", "differs"]
_LOADS = ("relaxed", "acquire", "seq_cst")
_STORES = ("relaxed", "release", "seq_cst")
_UNTIL = ("at_least", "equal", "differs")


@dataclass(frozen=True)
class _Flag:
    """A number in memory that is read and written as one: its address, its type, and who sees it so."""

    address: Value
    dtype: type[Numeric]
    scope: str

    def load(self, order: str) -> Numeric:
        bits = f"i{self.dtype.width}"
        raw = current().op("llvm.load", [self.address], bits, self._attributes(order))
        return self.dtype(raw if not self.dtype.is_float else current().op("arith.bitcast", [raw], self._text))

    def store(self, value: Any, order: str) -> None:
        raw = self.dtype(value).ir_value()
        if self.dtype.is_float:
            raw = current().op("arith.bitcast", [raw], f"i{self.dtype.width}")
        current().op("llvm.store", [raw, self.address], None, self._attributes(order))

    @property
    def _text(self) -> str:
        return str(self.dtype.ir_type)

    def _attributes(self, order: str) -> dict[str, Any]:
        found = {"ordering": atomics.ORDERS[order], "alignment": self.dtype.width // 8}
        return found | ({"syncscope": self.scope} if self.scope else {})


def _flag(what: str, view: Any, at: Any, order: str, orders: tuple[str, ...], scope: str | None) -> _Flag:
    current().require_kernel(what)
    if order not in orders:
        raise DslValueError(f"{what} has no order {order!r}", hint=f"choose one of {', '.join(orders)}")
    place = atomics.place_of(view, at)
    access = atomics.access_of("exchange", place, order, scope)
    if rules.size(place.payload) != 1:
        raise DslTypeError(
            f"{what} is of one element, and {place} has more", hint="give the coordinate of one element with at="
        )
    return _Flag(llvm_address(apply("get_iter", place)), access.dtype, access.scope)


def atomic_load(view: Any, *, at: Any = None, order: Order = "relaxed", scope: Scope | None = None) -> Any:
    """Read one element as one step; with ``acquire`` this thread then sees what was written before a release there."""
    return _flag("an atomic load", view, at, order, _LOADS, scope).load(order)


def atomic_store(
    view: Any, value: Any, *, at: Any = None, order: Order = "relaxed", scope: Scope | None = None
) -> None:
    """Write one element as one step; with ``release`` who acquires it sees what this thread wrote before."""
    _flag("an atomic store", view, at, order, _STORES, scope).store(value, order)


def signal(view: Any, value: Any, *, at: Any = None, order: Order = "release", scope: Scope = "system") -> None:
    """Write a number that others wait for: all that this thread wrote before is seen by whoever `wait`s for it.

    What other threads of the block wrote is only covered if ``fx.barrier()`` lies between. ``scope`` says how far the
    signal is to be seen: another rank needs "system", another block of the same device "device".
    """
    _flag("a signal", view, at, order, _STORES, scope).store(value, order)


def wait(
    view: Any,
    value: Any,
    *,
    at: Any = None,
    until: Until = "at_least",
    order: Order = "acquire",
    scope: Scope = "system",
) -> Any:
    """Wait until an element of memory, which another block or rank writes, has come to a value; what it is then.

    "at_least" takes integers as counters that may wrap: it is enough that the element is at most half the range ahead.
    Behind it this thread sees what was written before the `signal`; other threads of the block do behind a
    ``fx.barrier()``.
    """
    if until not in _UNTIL:
        raise DslValueError(f"a wait has no condition {until!r}", hint=f"choose one of {', '.join(_UNTIL)}")
    flag = _flag("a wait", view, at, order, _LOADS, scope)
    if until == "at_least" and (flag.dtype.is_float or flag.dtype.width < 32):
        raise DslTypeError(f"a counter is an integer of 32 or 64 bits, not {flag.dtype}", hint='or wait until="equal"')
    wanted = flag.dtype(value)
    in_loop = order if order == "relaxed" or looks_acquire(current().target.backend) else "relaxed"

    def condition(_: Any) -> tuple[Value, list[Value]]:
        found = flag.load(in_loop)
        return _missing(found, wanted, until).ir_value(), [found.ir_value()]

    (found,) = current().while_([], condition, lambda _: [])
    if in_loop != order:
        atomics.fence(scope, order)
    return flag.dtype(found)


def _missing(found: Any, wanted: Any, until: str) -> Boolean:
    if until == "equal":
        return found != wanted
    if until == "differs":
        return found == wanted
    signed = atomics.signed_like(type(wanted))
    return signed(found - wanted) < 0


__all__ = ["atomic_load", "atomic_store", "signal", "wait"]
