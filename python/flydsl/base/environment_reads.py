"""Variables of the environment that are read while a function is traced.

Which ones is known only when they are: the name may be computed, and the reader may be a library. So `os.environ` gets
another class meanwhile, which notes what the tracing thread asks for.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from flydsl.base.libraries import top_of
from flydsl.base.own_code import PACKAGE, is_own_module

EVERYTHING = ""
"""Stands for all variables, where code goes through them; no variable has this name."""

_NOT_TRACED = ("xdsl", "llvmlite")
"""Packages whose own reads are no part of the traced code. Nor are the compiler's: its settings are in the key."""

_PASSING_ON = (__name__, f"{PACKAGE}.expr.flow.truth")
"""Modules that do what the traced code says: the latter asks `"HOME" in os.environ`."""

_Plain = os._Environ  # pyright: ignore[reportPrivateUsage]
_lock = threading.Lock()
_depth = 0
_local = threading.local()


class _Recorded(_Plain[Any]):
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
    frame: FrameType | None = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    module = ""
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        # The standard library does what the traced code says, too.
        if top_of(module) not in sys.stdlib_module_names and module not in _PASSING_ON:
            break
        frame = frame.f_back
    if frame is None or not (top_of(module) in _NOT_TRACED or is_own_module(module)):
        reads[name] = value


def _environments() -> list[Any]:
    """Return the objects through which programs read the environment, unless others were put in their place."""
    found = (os.environ, getattr(os, "environb", None))
    return [each for each in found if type(each) in (_Plain, _Recorded)]


@contextmanager
def recorded() -> Generator[dict[str, str | None], None, None]:
    """What this thread reads of the environment inside: values by name, None for a variable that is not set."""
    global _depth
    before: dict[str, str | None] | None = getattr(_local, "reads", None)
    reads: dict[str, str | None] = {}
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
                    each.__class__ = _Plain
        _local.reads = before
        if EVERYTHING in reads:
            reads.update(values_of(reads))
        if before is not None:  # tracing within tracing
            before.update({**reads, **before})


def values_of(names: Any) -> dict[str, str | None]:
    """Return what variables are set to now, in the order of their names; all if `EVERYTHING` is among them."""
    if EVERYTHING in names:
        return {EVERYTHING: None, **dict(sorted(os.environ.items()))}
    return {name: os.environ.get(name) for name in sorted(names)}


def still_holds(values: Mapping[str, str | None]) -> bool:
    """Return whether variables are set as they were."""
    return not values or values_of(values) == values


def check_of(values: Mapping[str, str | None]) -> Callable[[], bool]:
    """Return whether variables are set as they were, at a cost that every call can bear."""
    data: Any = getattr(os.environ, "_data", None)
    if data is None or EVERYTHING in values:
        return lambda: still_holds(values)
    names = [os.fsencode(name) for name in values]
    texts = [None if value is None else os.fsencode(value) for value in values.values()]
    return lambda: [*map(data.get, names)] == texts
