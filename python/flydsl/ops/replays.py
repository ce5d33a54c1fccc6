"""Replays: calls like one that was made before, repeated with no more than they need.

A call of an op with tensors of some shapes and types checks its arguments; the second one is recorded: which results
and temporary arrays it made, and which compiled kernels it launched with which of them (`recordings.py`). Further calls
with such tensors on a GPU allocate and launch the same, by native code (`compiler/calls/native_replay.py`). What a
replay cannot do goes the long way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.compiler.calls.native_replay import Replay, call_facts, lookup, replays_are_native

_MOST = 1024
"""Lanes of an op that are kept."""


def can_replay(tensor: Any) -> bool:
    """The virtual GPU has none: what it compiles for may change from call to call."""
    return tensor.is_cuda


def facts_of(tensors: tuple[Any, ...], numbers: tuple[Any, ...]) -> bytes | None:
    """Return what calls that repeat one have in common with it, or None where there is no replay."""
    if not all(tensor is None or can_replay(tensor) for tensor in tensors) or not replays_are_native():
        return None
    return call_facts()(*tensors, *numbers)


def _nothing(*_: Any) -> None:
    return None


class Lanes:
    """The recorded calls of one op.

    ``again(*tensors, *numbers)`` makes a call like one of them, or answers None. It is not for torch's tracing.
    """

    def __init__(self) -> None:
        self.again: Callable[..., Any] = _nothing
        self._changed: Callable[[], None] = _nothing
        self._known: dict[bytes, tuple[Any, ...]] = {}

    def find(self, facts: bytes) -> Any:
        """Return what was last kept under these facts, or None."""
        found = self._known.get(facts)
        return None if found is None else found[2]

    def keep(self, facts: bytes, bare: Replay | None, graded: Any, lane: Any) -> None:
        """Have further calls with these facts replayed: without a gradient, and by ``graded`` with one."""
        if len(self._known) >= _MOST:
            self._known.clear()
        self._changed()
        self._known[facts] = (None if bare is None else bare.table, graded, lane, bare)

    def open(self, tensors: int, derived: int, not_now: Any) -> None:
        """Begin to answer; see `native_replay.lookup`."""
        if self.again is _nothing and replays_are_native():
            self.again, self._changed = lookup(self._known, tensors, derived, not_now)

    def forget(self) -> None:
        self._changed()
        self._known.clear()

    def __len__(self) -> int:
        return len(self._known)
