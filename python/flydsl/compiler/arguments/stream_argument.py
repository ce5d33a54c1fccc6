"""The stream a call's launches are queued on: None, a raw handle, or a stream object such as torch's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flydsl.base.attributes import attribute
from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.trace.stream import Stream

_HANDLES = ("cuda_stream", "ptr", "handle")
"""Where stream objects keep their handle: torch, CuPy, Numba and others."""
_ADDRESS_LIMIT = 1 << 64


class StreamArgument:
    """A stream handle, and the CUDA device it belongs to where the stream says so."""

    __slots__ = ("device", "handle")

    def __init__(self, value: Any) -> None:
        self.handle = stream_handle(value)
        self.device = stream_device(value)

    def signature(self) -> tuple[Any, ...]:
        return ("stream",)

    def ir_types(self) -> list[Any]:
        return ["!llvm.ptr"]

    def construct(self, values: list[Any]) -> Any:
        return Stream(values[0])

    def abi(self) -> str:
        return "P"

    def pack(self) -> Sequence[int]:
        return (self.handle,)

    def views(self) -> list[Any]:
        return []


def unwrapped(value: Any) -> Any:
    """What is inside an `fx.Stream`."""
    while isinstance(value, Stream):
        value = value.value
    return value


def stream_handle(value: Any) -> int:
    """The driver's handle of a stream; refuses what is none."""
    value = unwrapped(value)
    if value is None:
        return 0
    if isinstance(value, int) and not isinstance(value, bool):
        if not 0 <= value < _ADDRESS_LIMIT:
            raise DslValueError(f"{value} is no stream handle", hint="pass stream.cuda_stream, or the stream itself")
        return value
    for name in _HANDLES:
        handle = attribute(value, name)
        handle = attribute(handle, "value", handle)  # Numba keeps a ctypes pointer
        if isinstance(handle, int):
            return handle
    raise DslTypeError(f"{type(value).__name__} is no stream", hint="pass None, a raw handle, or a torch stream")


def stream_device(value: Any) -> int | None:
    """The number of the CUDA device a stream object belongs to; None where nothing says."""
    value = unwrapped(value)
    index = attribute(value, "device_index")
    return index if isinstance(index, int) and index >= 0 else None


def check_stream_device(stream: int | None, kind: str, index: int) -> None:
    """Refuse a stream object of another device than the call's."""
    if stream is None or (kind == "cuda" and stream == index) or kind == "rocm":
        return
    place = "the host" if kind == "host" else f"{kind}:{index}"
    raise DslValueError(
        f"the stream belongs to cuda:{stream}, but the call runs on {place}",
        hint="pass a stream of the device that holds the arrays, or None",
    )
