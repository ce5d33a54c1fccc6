"""Replays: calls like one that was made before, repeated with no more than they need.

A call of an op with tensors of some shapes and types checks its arguments; the second one is recorded: which results
and temporary arrays it made, and which compiled kernels it launched with which of them (`recordings.py`). Further calls
with such tensors on a GPU allocate and launch the same, by native code (`compiler/calls/native_replay.py`). What a
replay cannot do goes the long way.
"""

from __future__ import annotations

from typing import Any

from flydsl.compiler.calls.native_call import calls_are_native
from flydsl.compiler.calls.native_replay import call_facts


def can_replay(tensor: Any) -> bool:
    """The virtual GPU has none: what it compiles for may change from call to call."""
    return tensor.is_cuda


def facts_of(tensors: tuple[Any, ...], numbers: tuple[Any, ...]) -> bytes | None:
    """Return what calls that repeat one have in common with it, or None where there is no replay."""
    if not all(tensor is None or can_replay(tensor) for tensor in tensors) or not calls_are_native():
        return None
    return call_facts()(*tensors, *numbers)
