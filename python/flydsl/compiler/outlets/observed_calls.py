"""Calls of compiled code as somebody watches them: which function was called with what, while a block runs.

Calls are not slower for it at other times: their classes have other `__call__` methods as long as somebody watches.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from flydsl.compiler.artifacts.artifact import Executable
from flydsl.compiler.jit_function import JitFunction
from flydsl.compiler.outlets.compiled_function import CompiledFunction


class _Watching(threading.local):
    """What this thread tells of its calls; None: nothing."""

    note: Callable[[Any, tuple[Any, ...], dict[str, Any]], None] | None = None
    unknown: Callable[[], None] | None = None
    inside = False


_watching = _Watching()
_lock = threading.Lock()
_blocks = 0
_PLAIN: dict[type, Any] = {kind: kind.__call__ for kind in (JitFunction, CompiledFunction)}
_launch = Executable.launch


def _watched(kind: type) -> Callable[..., Any]:
    plain = _PLAIN[kind]

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        note = _watching.note
        if note is None or _watching.inside:
            return plain(self, *args, **kwargs)
        note(self, args, kwargs)
        _watching.inside = True
        try:
            return plain(self, *args, **kwargs)
        finally:
            _watching.inside = False

    return call


def _watched_launch(self: Executable, numbers: Any) -> None:
    if _watching.unknown is not None and not _watching.inside:
        _watching.unknown()
    _launch(self, numbers)


def _switch(on: bool) -> None:
    global _blocks
    with _lock:
        _blocks += 1 if on else -1
        watched = _blocks > 0
        for kind, plain in _PLAIN.items():
            kind.__call__ = _watched(kind) if watched else plain
        Executable.launch = _watched_launch if watched else _launch


@contextmanager
def observed_calls(
    note: Callable[[Any, tuple[Any, ...], dict[str, Any]], None], unknown: Callable[[], None]
) -> Generator[None, None, None]:
    """Inside the block, ``note`` is told of this thread's calls before they are made: the jit function or the compiled
    one, and the arguments. ``unknown`` is told that code was launched otherwise, as `flyc.compile` does.
    """
    _switch(True)
    _watching.note, _watching.unknown = note, unknown
    try:
        yield
    finally:
        _watching.note = _watching.unknown = None
        _switch(False)
