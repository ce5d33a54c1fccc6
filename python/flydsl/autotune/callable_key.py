"""How the key of timings names a clock or a check that the user wrote: by its code and the values it reads.

A name would not do: two lambdas of a module have the same. So it is described as a kernel is (`compiler/capture`),
with three differences. A clock may write while it measures, a list of times or a counter; that is its record, no
setting, and a clock that has run is the one it was. It may hold a buffer, to flush a cache with, which counts by its
form. And it looks at the time, which is another at every start.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from types import MethodType
from typing import Any

from flydsl.autotune.key import digest
from flydsl.base.records import dataclass
from flydsl.compiler.capture.inputs import Walk

_MOST = 256
"""Callables that are remembered; one that was forgotten and has written meanwhile is measured with anew."""


@dataclass(frozen=True)
class CallableKey:
    """What stands for a callable in a key."""

    text: str
    opaque: tuple[str, ...]
    """Why it is good for this process only; empty where it is good on disk."""


class _Walk(Walk):
    writes_matter = False

    def _judge(self, module: str, path: str) -> None:
        """A clock is there to look at something else at every start."""

    def _unseen_array(self, value: Any, what: str) -> str:
        return self._identity(value, what)

    def _identity(self, value: Any, why: str) -> str:
        shape, dtype = (getattr(value, name, None) for name in ("shape", "dtype"))
        if shape is None or dtype is None or isinstance(value, type):
            return super()._identity(value, why)
        return f"buffer {type(value).__qualname__} {dtype} {tuple(shape)}"


class _Now:
    """A callable as it is now."""

    def __init__(self, function: Any) -> None:
        walk = _Walk()
        head = walk.text(function)
        self.text = "\n".join([head, *walk.lines])
        walk.guard.seal()
        self._walk = walk  # keeps alive what the text names by identity
        self.opaque = tuple(dict.fromkeys(walk.opaque))
        self.untouched = walk.guard.holds


@dataclass
class _Known:
    key: CallableKey
    latest: _Now
    """As it was when it last was described or had run."""


_known: OrderedDict[tuple[int, ...], _Known] = OrderedDict()


def callable_key(function: Callable[..., Any]) -> CallableKey:
    """Return the key of a callable as it is; what it wrote itself since it was first seen makes no difference."""
    identity = _identity(function)
    known = _known.get(identity)
    if known is not None:
        if known.latest.untouched() or _Now(function).text == known.latest.text:
            return known.key
    now = _Now(function)
    key = CallableKey(f"{_name_of(function)} {digest(now.text)}", now.opaque)
    _known[identity] = _Known(key, now)
    while len(_known) > _MOST:
        _known.popitem(last=False)
    return key


def has_run(function: Callable[..., Any]) -> None:
    """Take what a callable has written since `callable_key` for its own doing."""
    known = _known.get(_identity(function))
    if known is not None and not known.latest.untouched():
        known.latest = _Now(function)


def _identity(function: Any) -> tuple[int, ...]:
    # A bound method is another object each time it is asked for.
    return (id(function.__self__), id(function.__func__)) if isinstance(function, MethodType) else (id(function),)


def _name_of(function: Any) -> str:
    """For those who read the file."""
    return f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__qualname__)}"
