"""The bounds of `for … in range(…)`: checked, and brought to the one integer type the loop counts in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.base.log import get_logger
from flydsl.expr.numeric import Index, Int32, Int64, Integer, Numeric, Uint32, Uint64, operand
from flydsl.expr.trace.context import Value
from flydsl.expr.values.handle import Handle, describe

_log = get_logger(__name__)
_INT32_RANGE = range(-(2**31), 2**31)


class Bounds(NamedTuple):
    """Start, stop and step, all of the type the loop counts in."""

    start: Numeric
    stop: Numeric
    step: Numeric

    @property
    def counter(self) -> type[Numeric]:
        return type(self.start)

    def counted(self) -> tuple[Bounds, Callable[[Value], Numeric]]:
        """Bounds whose counter cannot pass the last number of its type, and the index that belongs to a counter.

        The index itself where that is plain, else the number of iterations: a step of more than 1 may jump over the end
        of the type, and a step that is not known may be negative or zero, for which Python has iterations or none.
        """
        if self._stays_in_range():
            return self, self.counter
        iterations, start = self.counter(_iterations(self)), self.start
        few = iterations.value >= 0 if iterations.is_static() else self.step.is_static() and abs(self.step.value) > 2
        if few or self.counter.width > 32:
            plain = Bounds(self.counter(0), iterations, self.counter(1))
        else:  # they may be more than there are numbers from 0 on
            least = self.counter(_INT32_RANGE.start)
            plain, start = Bounds(least, least + iterations, self.counter(1)), start - least * self.step
        return plain, lambda number: self.counter(start + self.counter(number) * self.step)

    def _stays_in_range(self) -> bool:
        if not self.step.is_static() or self.step.value < 0:
            return False
        last = (1 << (self.counter.width - 1)) - 1
        # 64 bits count further than any loop runs whose end is not known.
        near = self.stop.value > last - self.step.value + 1 if self.stop.is_static() else self.counter.width <= 32
        return self.step.value == 1 or not near


def _iterations(bounds: Bounds) -> Numeric:
    """Return how often the loop iterates, in unsigned numbers: the way may be as long as the type has values."""
    word = Uint32 if bounds.counter.width == 32 else Uint64
    start, stop, step = bounds
    none = word(0)
    if step.is_static() and step.value < 0:
        start, stop, step = stop, start, -step
    way, stride = (stop > start).select(word(stop) - word(start), none), word(step)
    if not step.is_static():
        down = (start > stop).select(word(start) - word(stop), none)
        way = (step > 0).select(way, (step < 0).select(down, none))
        stride = (step > 0).select(stride, none - stride)
    return (way == none).select(none, (way - word(1)) // stride + word(1))


def loop_bounds(arguments: Sequence[Any], *, index: bool = False) -> Bounds:
    """Return the bounds from the arguments of ``range``; ``index`` asks for a loop that counts in Index."""
    if not 1 <= len(arguments) <= 3:
        raise DslTypeError(f"range() takes 1 to 3 bounds, got {len(arguments)}", hint="write range(start, stop, step)")
    given = [_bound(value) for value in arguments]
    if len(given) == 1:
        given.insert(0, Int32(0))
    if len(given) == 2:
        given.append(Int32(1))
    _check_step(given[2])
    counter = Index if index else _counter_type(given)
    return Bounds(*(counter(value) for value in given))


def _bound(value: Any) -> Numeric:
    if isinstance(value, Handle) and getattr(value, "is_leaf", False):
        value = value.unpack()  # type: ignore[attr-defined]
    number = operand(value)
    if number is None or not isinstance(number, Integer):
        what = str(type(number)) if number is not None else describe(value)
        raise DslTypeError(
            f"the bounds of a run-time range() are integers, got {what}",
            hint="convert it, for example with fx.Int32(x); a Python loop over other things takes range_constexpr() "
            "or any other iterable",
        )
    return number


def _check_step(step: Numeric) -> None:
    if step.is_static() and step.value == 0:
        raise DslValueError("the step of range() is zero", hint="count on by 1 or more, or down by -1 or less")


def _counter_type(bounds: Sequence[Numeric]) -> type[Numeric]:
    if any(isinstance(value, Index) and not value.is_static() for value in bounds):
        _log.info("Index bounds of a range() are converted to Int32; the loop counts in 32 bits")
    wide = any(value.width > 32 and not isinstance(value, Index) for value in bounds)
    overflow = any(b.value not in _INT32_RANGE if b.is_static() else isinstance(b, Uint32) for b in bounds)
    return Int64 if wide or overflow else Int32
