"""Replays: calls like one that was made before, repeated with no more than they need.

The first call of an op with tensors of some shapes and types checks its arguments, and is recorded: which results and
temporary arrays it made, and which compiled kernels it launched with which of them. Further calls with such tensors on
a GPU allocate and launch the same, by a function that is written for it and kernels that `flyc.compile` bound. What a
replay cannot do goes the long way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flydsl.compiler as flyc
from flydsl.ops import arrays

REPLAYS: dict[Any, Any] = {}
_MOST = 4096
_PATTERN = 4096
"""Bytes of a tensor at most that a replay keeps as a pattern for new ones."""
_PLAIN = (int, float, str, bool, tuple, type(None))
"""Types of arguments beside tensors that may be part of a key."""


def can_replay(tensor: Any) -> bool:
    """The virtual GPU has none: what it compiles for may change from call to call."""
    return tensor.is_cuda


def replay_key(op: Any, out: Any, tensors: tuple[Any, ...], numbers: tuple[Any, ...]) -> Any:
    """What calls of one replay have in common, or None where there is none: tracing, arrays of the host, strides."""
    torch = arrays.TORCH
    if torch is None or out is not None or torch.compiler.is_compiling():
        return None
    facts = [op.name, numbers]
    if len({*map(id, tensors)}) < len(tensors):  # calls that give a tensor twice have replays of their own
        places = [*map(id, tensors)]
        facts.append(tuple(map(places.index, places)))
    for number in numbers:
        if not isinstance(number, _PLAIN):
            return None
    for tensor in tensors:
        if tensor is None:
            facts.append(None)
        elif isinstance(tensor, torch.Tensor) and can_replay(tensor) and tensor.is_contiguous():
            facts += (tensor.shape, tensor.dtype, tensor.get_device())
        else:
            return None
    return tuple(facts)


class Recording:
    """What a call of an op made and launched."""

    def __init__(self, given: list[Any], twice: bool) -> None:
        """``twice`` says that calls which repeat it give the same tensor twice where this one does."""
        self.buffers = list(given)
        self.given = len(given)
        self.calls: list[tuple[Any, list[Any]]] = []
        there = [tensor for tensor in given if tensor is not None]
        starts = [tensor.data_ptr() for tensor in ({id(t): t for t in there}.values() if twice else there)]
        # Two tensors of one memory would be taken for one in calls where they are two.
        self.usable = len({*starts}) == len(starts) and not any(start % arrays.ALIGNMENT for start in starts)

    def made(self, tensor: Any) -> None:
        self.buffers.append(tensor)

    def refuse(self) -> None:
        """Something was done that is no launch."""
        self.usable = False

    def launched(self, function: Any, arguments: tuple[Any, ...]) -> None:
        self.calls.append((function, list(arguments)))
        for value in arguments:
            if hasattr(value, "data_ptr") and self.place(value) is None:
                self.refuse()

    def place(self, value: Any) -> int | None:
        """Which buffer a tensor is, or is a view of."""
        for index, buffer in enumerate(self.buffers):
            if buffer is not None and buffer.data_ptr() == value.data_ptr() and buffer.numel() == value.numel():
                return index
        return None


def replay_of(recording: Recording, results: tuple[Any, ...]) -> Callable[..., Any]:
    """A function of the tensors that were given: all results, or None if a tensor does not begin at 16 bytes."""
    torch = arrays.met_torch()
    first = next(tensor for tensor in recording.buffers if tensor is not None)
    stream = arrays.stream_of(first)
    raw_stream = torch._C._cuda_getCurrentRawStream if first.is_cuda else arrays.raw_stream
    scope: dict[str, Any] = {
        "empty": torch.empty, "empty_like": torch.empty_like, "stream_of": raw_stream, "device": first.device,
    }  # fmt: skip
    names = [f"t{index}" for index in range(len(recording.buffers))]
    given = names[: recording.given]
    there = [name for name, buffer in zip(given, recording.buffers, strict=False) if buffer is not None]
    pointers = " | ".join(f"{name}.data_ptr()" for name in there)
    lines = [
        f"def replay({', '.join(given)}):",
        f"    if ({pointers}) & {arrays.ALIGNMENT - 1}:",
        "        return None",
    ]
    for index in range(recording.given, len(names)):
        lines.append(f"    {names[index]} = {_new(recording, index, scope)}")
    for number, (function, arguments) in enumerate(recording.calls):
        scope[f"call{number}"] = flyc.compile(function, *arguments, stream)
        shown = ", ".join(_written(recording, value, f"c{number}_{at}", scope) for at, value in enumerate(arguments))
        lines.append(f"    call{number}({shown}, stream_of({first.device.index}))")
    found = [names[place] for result in results if (place := recording.place(result)) is not None]
    lines.append(f"    return ({', '.join(found)},)")
    exec("\n".join(lines), scope)
    return scope["replay"]


def _new(recording: Recording, index: int, scope: dict[str, Any]) -> str:
    """A new tensor as it is written in a replay: like one that is given or, if it is small, like one that is kept for
    it, which takes half the time of naming its shape and type."""
    made = recording.buffers[index]
    for place, given in enumerate(recording.buffers[: recording.given]):
        if given is not None and given.shape == made.shape and given.dtype == made.dtype:
            return f"empty_like(t{place})"
    if made.numel() * made.element_size() <= _PATTERN:
        scope[f"like{index}"] = made.new_empty(made.shape)
        return f"empty_like(like{index})"
    scope[f"type{index}"] = made.dtype
    return f"empty({tuple(made.shape)}, dtype=type{index}, device=device)"


def _written(recording: Recording, value: Any, name: str, scope: dict[str, Any]) -> str:
    """An argument of a launch as it is written in a replay: a buffer, a view of one, or a constant."""
    place = recording.place(value) if hasattr(value, "data_ptr") else None
    if place is None:
        scope[name] = value
        return name
    same = recording.buffers[place].shape == value.shape
    return f"t{place}" if same else f"t{place}.view({tuple(value.shape)})"


def recorded(
    op: Any, arguments: tuple[Any, ...], *, kept: bool = True, twice: bool = False
) -> tuple[tuple[Any, ...], Callable[..., Any] | None]:
    """(all results of an op, what repeats it or None)."""
    recording = Recording(list(arguments[: op.tensors]), twice)
    arrays.recording.by = recording
    try:
        results = op.run(*arguments, kept=kept)
    finally:
        arrays.recording.by = None
    return results, replay_of(recording, results) if recording.usable and recording.calls else None


def keep(key: Any, replay: Any) -> None:
    """Have further calls with this key replayed."""
    if len(REPLAYS) >= _MOST:
        REPLAYS.clear()
    REPLAYS[key] = replay
