"""Environment variables that traced code reads: they decide what code is made, so a later call or start looks again.

`os.environ` gets another class while a function is traced, which notes the names that the tracing thread asks for.
Nothing else tells which variables are read: the name may be computed, and the reader may be a library.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from flydsl.base.own_code import is_own_module
from flydsl.expr.flow import truth

EVERYTHING = ""
"""Stands for all variables, where code goes through them; no variable has this name."""

_NOT_TRACED = ("xdsl", "llvmlite")
"""Packages whose own reads are no part of the traced code. Nor are the compiler's: its settings are in the key."""

_lock = threading.Lock()
_depth = 0
_local = threading.local()


class _Recorded(os._Environ):  # type: ignore[type-arg]
    """`os.environ` while something is traced."""

    def __getitem__(self, key: Any) -> Any:
        try:
            value = super().__getitem__(key)
        except KeyError:
            _note(os.fsdecode(key), None)
            raise
        _note(os.fsdecode(key), os.fsdecode(value))
        return value

    def __iter__(self) -> Iterator[Any]:
        _note(EVERYTHING, None)
        return super().__iter__()

    def __len__(self) -> int:
        _note(EVERYTHING, None)
        return super().__len__()

    def copy(self) -> Any:
        _note(EVERYTHING, None)
        return super().copy()


def _note(name: str, value: str | None) -> None:
    """What was read, unless it was read on behalf of this package. The first read of a variable counts."""
    reads = getattr(_local, "reads", None)
    if reads is None or name in reads:
        return
    frame = sys._getframe(2)
    while frame is not None and (_package(frame) in sys.stdlib_module_names or _passes_on(frame)):
        frame = frame.f_back  # the standard library reads on behalf of others
    if frame is None or not (_package(frame) in _NOT_TRACED or is_own_module(str(frame.f_globals.get("__name__")))):
        reads[name] = value


def _passes_on(frame: FrameType) -> bool:
    """Whether a frame does with a value what the traced code says: `"HOME" in os.environ` is asked by `truth`."""
    return frame.f_globals is globals() or frame.f_globals is vars(truth)


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def _environments() -> list[Any]:
    """The objects through which programs read the environment, unless somebody put something else in their place."""
    found = (os.environ, getattr(os, "environb", None))
    return [each for each in found if type(each) in (os._Environ, _Recorded)]


@contextmanager
def recorded() -> Iterator[dict[str, str | None]]:
    """What this thread reads of the environment inside: values by name, None for a variable that is not set."""
    global _depth
    before, reads = getattr(_local, "reads", None), {}
    _local.reads = reads
    with _lock:
        _depth += 1
        if _depth == 1:
            for each in _environments():
                each.__class__ = _Recorded
    try:
        yield reads
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                for each in _environments():
                    each.__class__ = os._Environ
        _local.reads = before
        if EVERYTHING in reads:
            reads.update(values_of(reads))
        if before is not None:  # tracing within tracing
            before.update({**reads, **before})


def values_of(names: Any) -> dict[str, str | None]:
    """What some variables are set to now, in the order of their names; all of them if `EVERYTHING` is among them."""
    if EVERYTHING in names:
        return {EVERYTHING: None, **dict(sorted(os.environ.items()))}
    return {name: os.environ.get(name) for name in sorted(names)}


def still_holds(values: Mapping[str, str | None]) -> bool:
    """Whether variables are set as they were."""
    return not values or values_of(values) == values


def check_of(values: Mapping[str, str | None]) -> Callable[[], bool]:
    """Whether variables are set as they were, at a cost that every call can bear."""
    data: Any = getattr(os.environ, "_data", None)
    if data is None or EVERYTHING in values:
        return lambda: still_holds(values)
    names = [os.fsencode(name) for name in values]
    texts = [None if value is None else os.fsencode(value) for value in values.values()]
    return lambda: [*map(data.get, names)] == texts
