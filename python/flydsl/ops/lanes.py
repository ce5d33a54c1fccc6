"""Calls like one that was made before, repeated with no more than they need: a lane.

The first call of an op with tensors of some shapes and types checks its arguments, and is recorded: which results and
temporary arrays it made, and which compiled kernels it launched with which of them. Further calls with such tensors on
a GPU allocate and launch the same, by functions that `flyc.compile` bound. What a lane cannot do goes the long way.
"""

from __future__ import annotations

import sys
from typing import Any

import flydsl.compiler as flyc
from flydsl.ops import arrays

LANES: dict[Any, Any] = {}
_MOST = 4096


def has_lanes(tensor: Any) -> bool:
    """The virtual GPU has none: what it compiles for may change from call to call."""
    return tensor.is_cuda


def lane_key(op: Any, out: Any, tensors: tuple[Any, ...], numbers: tuple[Any, ...]) -> Any:
    """What calls of one lane have in common, or None where there are no lanes: tracing, arrays of the host, strides."""
    torch = sys.modules.get("torch")
    if torch is None or out is not None or torch.compiler.is_compiling():
        return None
    facts: list[Any] = [op.name, *numbers]
    for tensor in tensors:
        if tensor is None:
            facts.append(None)
        elif isinstance(tensor, torch.Tensor) and has_lanes(tensor) and tensor.is_contiguous():
            facts += (tensor.shape, tensor.dtype, tensor.get_device())
        else:
            return None
    key = tuple(facts)
    try:
        hash(key)
    except TypeError:
        return None
    return key


class Recording:
    """What a call of an op made and launched."""

    def __init__(self, given: list[Any]) -> None:
        self.buffers = list(given)
        self.given = len(given)
        self.calls: list[tuple[Any, list[Any]]] = []
        self.usable = all(tensor is None or tensor.data_ptr() % arrays.ALIGNMENT == 0 for tensor in given)

    def made(self, tensor: Any) -> None:
        self.buffers.append(tensor)

    def refuse(self) -> None:
        """Something was done that is no launch."""
        self.usable = False

    def launched(self, function: Any, arguments: tuple[Any, ...]) -> None:
        self.calls.append((function, [self._place(value) for value in arguments]))

    def _place(self, value: Any) -> Any:
        """A number as it is, or where a tensor is found: (buffer, shape of the view or None)."""
        if value is None or not hasattr(value, "data_ptr"):
            return value
        for index, buffer in enumerate(self.buffers):
            if buffer is not None and buffer.data_ptr() == value.data_ptr() and buffer.numel() == value.numel():
                return _Place(index, None if buffer.shape == value.shape else value.shape)
        self.refuse()
        return None


class _Place:
    __slots__ = ("index", "view")

    def __init__(self, index: int, view: Any) -> None:
        self.index, self.view = index, view


class Replay:
    """The launches of a recording on other tensors."""

    def __init__(self, recording: Recording, results: tuple[Any, ...]) -> None:
        self.makers = [(tuple(t.shape), t.dtype, t.device) for t in recording.buffers[recording.given :]]
        self.results = [recording._place(result).index for result in results]
        first = next(tensor for tensor in recording.buffers if tensor is not None)
        self.device, stream = first.device.index, arrays.stream_of(first)
        self.calls = []
        for function, arguments in recording.calls:
            values = [_taken(recording.buffers, value) for value in arguments]
            self.calls.append((flyc.compile(function, *values, stream), arguments))

    def __call__(self, tensors: tuple[Any, ...]) -> tuple[Any, ...]:
        torch = sys.modules["torch"]
        buffers = [*tensors, *(torch.empty(shape, dtype=dtype, device=device) for shape, dtype, device in self.makers)]
        stream = arrays.raw_stream(self.device)
        for function, arguments in self.calls:
            function(*[_taken(buffers, value) for value in arguments], stream)
        return tuple(buffers[index] for index in self.results)


def _taken(buffers: list[Any], value: Any) -> Any:
    if value.__class__ is not _Place:
        return value
    buffer = buffers[value.index]
    return buffer if value.view is None else buffer.view(value.view)


def aligned(tensors: tuple[Any, ...]) -> bool:
    """Whether all tensors begin where wide accesses may."""
    return not any(tensor is not None and tensor.data_ptr() % arrays.ALIGNMENT for tensor in tensors)


def recorded(op: Any, arguments: tuple[Any, ...]) -> tuple[tuple[Any, ...], Replay | None]:
    """(all results of an op, what repeats it or None)."""
    recording = Recording(list(arguments[: op.tensors]))
    arrays.recorder = recording
    try:
        results = op.run(*arguments)
    finally:
        arrays.recorder = None
    return results, Replay(recording, results) if recording.usable and recording.calls else None


def keep(key: Any, lane: Any) -> None:
    """Have further calls with this key take a lane."""
    if len(LANES) >= _MOST:
        LANES.clear()
    LANES[key] = lane
