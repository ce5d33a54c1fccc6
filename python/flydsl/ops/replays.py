"""Replays: calls like one that was made before, repeated with no more than they need.

A call of an op with tensors of some shapes and types checks its arguments, and is recorded: which results and temporary
arrays it made, and which compiled kernels it launched with which of them. Further calls with such tensors on a GPU
allocate and launch the same, by native code (`compiler/calls/native_replay.py`). What a replay cannot do goes the long
way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.compiler.calls.native_replay import Recorded, Replay, call_facts, fits, lookup, replays_are_native
from flydsl.compiler.outlets.recorded_launch import recorded_launch
from flydsl.ops import arrays

_MOST = 1024
"""Lanes of an op that are kept."""


def can_replay(tensor: Any) -> bool:
    """The virtual GPU has none: what it compiles for may change from call to call."""
    return tensor.is_cuda


def facts_of(tensors: tuple[Any, ...], numbers: tuple[Any, ...]) -> bytes | None:
    """What calls that repeat one have in common with it, or None where there is no replay."""
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
        self._known: dict[bytes, tuple[Any, ...]] = {}

    def find(self, facts: bytes) -> Any:
        """What was last kept under these facts, or None."""
        found = self._known.get(facts)
        return None if found is None else found[2]

    def keep(self, facts: bytes, bare: Replay | None, graded: Any, lane: Any) -> None:
        """Have further calls with these facts replayed: without a gradient, and by ``graded`` with one."""
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[facts] = (None if bare is None else bare.table, graded, lane, bare)

    def open(self, tensors: int, apply: Any, not_now: Any) -> None:
        """Begin to answer; see `native_replay.lookup`."""
        if self.again is _nothing and replays_are_native():
            self.again = lookup(self._known, tensors, apply, not_now)

    def forget(self) -> None:
        self._known.clear()

    def __len__(self) -> int:
        return len(self._known)


class Recording:
    """What a call of an op made and launched."""

    def __init__(self, given: tuple[Any, ...]) -> None:
        self.buffers = list(given)
        self.calls: list[tuple[Any, tuple[Any, ...]]] = []
        starts = [tensor.data_ptr() for tensor in {id(t): t for t in given if t is not None}.values()]
        # Two tensors of one memory would be taken for one in calls where they are two.
        self.usable = len({*starts}) == len(starts)

    def made(self, tensor: Any) -> None:
        self.buffers.append(tensor)

    def refuse(self) -> None:
        """Something was done that is no launch."""
        self.usable = False

    def launched(self, function: Any, arguments: tuple[Any, ...]) -> None:
        self.calls.append((function, arguments))

    def place(self, address: int) -> tuple[int, int] | None:
        """In which buffer an address lies, and how far behind its start."""
        found = {}
        for index, buffer in enumerate(self.buffers):
            if buffer is None or not buffer.numel():
                continue
            distance = address - buffer.data_ptr()
            if distance == 0:
                return index, 0
            steps = zip(buffer.shape, buffer.stride(), strict=True)
            last = sum((extent - 1) * step for extent, step in steps) * buffer.element_size()
            if 0 < distance <= last:
                found[id(buffer)] = index, distance
        return next(iter(found.values())) if len(found) == 1 else None

    def number(self, tensor: Any) -> int | None:
        """Which buffer a tensor is."""
        return next((index for index, buffer in enumerate(self.buffers) if buffer is tensor), None)


def _pattern(made: Any) -> Any:
    """A tensor like one that was made, without memory."""
    pattern = made.new_empty(made.shape)
    pattern.untyped_storage().resize_(0)
    return pattern


def recorded(
    op: Any, arguments: tuple[Any, ...], *, kept: bool = True, saved: Callable[..., Any] | None = None,
    alone: bool = False, returned: int | None = None,
) -> tuple[tuple[Any, ...], Replay | None]:  # fmt: skip
    """(all results of an op, what repeats it or None).

    The replay returns the first ``returned`` results, ``alone`` the first one; and, if ``saved`` is given, a pair of
    that and of the arrays that it names, given arguments and results.
    """
    given = arguments[: op.tensors]
    recording = Recording(given)
    arrays.recording.by = recording
    try:
        results = op.run(*arguments, kept=kept)
    finally:
        arrays.recording.by = None
    if not recording.usable or not recording.calls:
        return results, None
    facts = facts_of(given, ())
    launches = [recorded_launch(function, values, recording.place) for function, values in recording.calls]
    shown = [recording.number(result) for result in results[:returned]]
    beside = None if saved is None else [recording.number(value) for value in saved(arguments, results)]
    if facts is None or None in launches or None in shown or None in (beside or ()):
        return results, None
    device = next(tensor for tensor in given if tensor is not None)
    call = Recorded(
        facts, len(given), tuple(map(_pattern, recording.buffers[len(given) :])),
        tuple(launches), tuple(shown), alone, None if beside is None else tuple(beside),  # type: ignore[arg-type]
        *arrays.stream_source(device),
    )  # fmt: skip
    return results, Replay(call) if fits(call) else None
