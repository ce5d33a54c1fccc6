"""Recordings: what a call of an op made and launched, as `replays.py` repeats it.

Launches are watched where they are made (`compiler/outlets/observed_calls.py`), and so is what torch does: new tensors
and views of tensors can be made again; a call that has torch compute, copy or fill anything cannot be repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from flydsl.compiler.calls.native_replay import Recorded, Replay, Stocked, fits
from flydsl.compiler.outlets.observed_calls import observed_calls
from flydsl.compiler.outlets.recorded_launch import recorded_launch
from flydsl.kernels.blocks.counters import counter_addresses
from flydsl.native import constants as native
from flydsl.ops import arrays

_NEW = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")
"""torch's operators that make tensors and write nothing."""
_VIEWS = (
    "_reshape_alias", "_unsafe_view", "alias", "as_strided", "detach", "expand", "permute", "select", "slice",
    "squeeze", "t", "transpose", "unsqueeze", "view",
)  # fmt: skip
"""Those that look at memory in another way."""


PART_ALIGNMENT = native.STOCK_UNIT
"""Bytes: parts of a stock share no line of a cache."""
MOST_PARTS, STOCK_BYTES = 32, 1 << 16
"""Of a stock at most. A call that keeps more for its gradient takes the GPU longer than a new tensor takes the host."""


class Recording:
    """What a call of an op made and launched."""

    def __init__(self, given: tuple[Any, ...]) -> None:
        self.buffers = list(given)
        self.calls: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = []
        starts = [tensor.data_ptr() for tensor in {id(t): t for t in given if t is not None}.values()]
        # Two tensors of one memory would be taken for one in calls where they are two.
        self.usable = len({*starts}) == len(starts)
        self.first = next(tensor for tensor in given if tensor is not None)
        self.counts = False
        """Whether launches have a counter of a stream (`counters.py`)."""

    def noticed(self, operator: str, result: Any) -> None:
        """An operator of torch was called."""
        if operator in _NEW:
            self.buffers.append(result)
        elif operator not in _VIEWS:
            self.refuse()

    def refuse(self) -> None:
        """Something was done that cannot be repeated."""
        self.usable = False

    def launched(self, function: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
        self.calls.append((function, arguments, options))

    def place(self, address: int) -> tuple[int, int] | None:
        """In which buffer an address lies, and how far behind its start; a counter is behind all others."""
        if address in counter_addresses(self.first.device.index).values():
            self.counts = True
            return len(self.buffers), 0
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
        """Return which buffer a tensor is."""
        return next((index for index, buffer in enumerate(self.buffers) if buffer is tensor), None)


@cache
def _listening() -> Any:
    """Return the mode of torch that tells a recording of its operators."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Listening(TorchDispatchMode):
        def __init__(self, recording: Recording) -> None:
            super().__init__()
            self._recording = recording

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            self._recording.noticed(func._schema.name.partition("::")[2], result)
            return result

    return Listening


def _pattern(made: Any) -> Any:
    """Return a tensor like one that was made, without memory."""
    pattern = made.new_empty_strided(made.shape, made.stride())
    pattern.untyped_storage().resize_(0)
    return pattern


def stock_of(array: Any) -> tuple[int, int]:
    """Return how many arrays like one are made at once, and the bytes of each; too large ones are made one by one."""
    bytes_ = max(-(-array.numel() * array.element_size() // PART_ALIGNMENT), 1) * PART_ALIGNMENT
    return max(min(MOST_PARTS, STOCK_BYTES // bytes_), 1), bytes_


def _stocked(buffer: int | None, array: Any) -> Stocked | None:
    """Return the stock of which a replay takes an array that is kept for the gradient alone, if it does."""
    parts, bytes_ = stock_of(array)
    return Stocked(buffer, parts, bytes_) if buffer is not None and parts > 1 else None


def _whole(stocked: Stocked, part: Any) -> Any:
    """Return a tensor of all parts of a stock."""
    return part.new_empty(stocked.parts * stocked.bytes // part.element_size())


def _capture_question(launched: Any) -> int:
    """Return the address of the driver's function that says whether a stream is captured; 0 where none can be."""
    device = launched.executable.device
    return device.capture_question() if hasattr(device, "capture_question") else 0


def recorded(
    op: Any, arguments: tuple[Any, ...], facts: bytes | None, *, kept: bool = True,
    saved: Callable[..., Any] | None = None, alone: bool = False, returned: int | None = None, own: int | None = None,
) -> tuple[tuple[Any, ...], Replay | None]:  # fmt: skip
    """Return (all results of an op, what repeats it or None); ``facts`` are those of its tensors.

    The replay returns the first ``returned`` results, ``alone`` the first one; and, if ``saved`` is given, a pair of
    that and of the arrays that it names, given arguments and results. Of these the result of number ``own``, which must
    be among them, is nobody else's, and a part of a stock instead if it is small.
    """
    given = arguments[: op.tensors]
    recording = Recording(given)
    with observed_calls(recording.launched, recording.refuse), _listening()(recording):
        results = op.run(*arguments, kept=kept)
    if not recording.usable or not recording.calls or facts is None:
        return results, None
    launches = [recorded_launch(*call, recording.place) for call in recording.calls]
    shown = [recording.number(result) for result in results[:returned]]
    beside = None if saved is None else [recording.number(value) for value in saved(arguments, results)]
    if None in launches or None in shown or None in (beside or ()):
        return results, None
    made = recording.buffers[len(given) :]
    stocked = None if own is None or beside is None else _stocked(recording.number(results[own]), results[own])
    if stocked is not None:
        made[stocked.buffer - len(given)] = _whole(stocked, results[own])
        beside = [number for number in beside or () if number != stocked.buffer]
    call = Recorded(
        facts, len(given), tuple(map(_pattern, made)),
        tuple(launches), tuple(shown), alone, None if beside is None else tuple(beside),  # type: ignore[arg-type]
        *arrays.stream_source(recording.first),
        counter_addresses(recording.first.device.index) if recording.counts else None,
        _capture_question(launches[0]), stocked,
    )  # fmt: skip
    return results, Replay(call) if fits(call) else None
