"""Products that native code makes again (`compiler/calls/native_replay.py`): nothing is looked at but what tells that a
call is like one before, and nothing is done but what that one did."""

from __future__ import annotations

from typing import Any

from flydsl.compiler.calls.native_call import calls_are_native
from flydsl.compiler.calls.native_replay import Lanes, Recorded, Replay, call_facts
from flydsl.compiler.outlets.compiled_function import CompiledFunction
from flydsl.compiler.outlets.recorded_launch import recorded_launch
from flydsl.kernels.blocks.inputs import stream_reader


def keep_call(
    lanes: Lanes, call: Any, arguments: tuple[Any, ...], given: tuple[Any, ...], numbers: tuple[Any, ...] = (),
    made: Any = None,
) -> None:  # fmt: skip
    """Have a call made again by ``lanes.again(*given, *numbers)``, on torch's current stream and with other memory.

    It was one of compiled code with these arguments, among them the tensors that are ``given`` and one that was
    ``made``; a new one like that is returned, or else a tuple of nothing.
    """
    if not isinstance(call, CompiledFunction) or not calls_are_native():
        return
    facts = call_facts()(*given, *numbers)
    if facts is None or lanes.find(facts):
        return
    lanes.open()
    lanes.keep(facts, _replay(call, arguments, given, made))


def _replay(call: CompiledFunction, arguments: tuple[Any, ...], given: tuple[Any, ...], made: Any) -> Replay | None:
    """Return what repeats a call, or None where two of its tensors begin at one place, or it cannot be repeated."""
    buffers = given if made is None else (*given, made)
    tensors = {id(tensor): tensor for tensor in buffers if tensor is not None}.values()
    places = {tensor.data_ptr(): (_place(buffers, tensor), 0) for tensor in tensors}
    launched = recorded_launch(call, arguments, {}, places.get) if len(places) == len(tensors) else None
    facts = call_facts()(*given)
    if launched is None or facts is None:
        return None
    device = next(iter(tensors)).device.index
    likes = () if made is None else (_without_memory(made),)
    shown = tuple(range(len(given), len(buffers)))
    return Replay(Recorded(facts, len(given), likes, (launched,), shown, bool(shown), None, stream_reader(), device))


def _place(buffers: tuple[Any, ...], tensor: Any) -> int:
    return next(place for place, buffer in enumerate(buffers) if buffer is tensor)


def _without_memory(tensor: Any) -> Any:
    like = tensor.new_empty_strided(tensor.shape, tensor.stride())
    like.untyped_storage().resize_(0)
    return like
