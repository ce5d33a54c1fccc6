"""Graph capture: launches are recorded, but compiling and loading code would break the recording."""

from __future__ import annotations

import sys

from flydsl.base.errors import DslRuntimeError
from flydsl.compiler.calls.call import Call


def refuse_during_capture(call: Call, name: str) -> None:
    """Raise if a stream of the call is being captured into a graph."""
    if not hasattr(call.device, "is_capturing"):
        return
    if any(call.device.is_capturing(stream) for stream in call.streams()) or _torch_is_capturing():
        raise DslRuntimeError(
            f"'{name}' is not compiled for these arguments, and a graph is being captured",
            hint=f"call {name}.warmup(...) with such arguments before the capture; launching during it is fine",
        )


def _torch_is_capturing() -> bool:
    """Whether torch captures the stream that is current in this thread."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.cuda.is_initialized() and bool(torch.cuda.is_current_stream_capturing())
