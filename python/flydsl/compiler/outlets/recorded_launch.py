"""A call of a jit function as a launch that can be repeated with other memory (`calls/native_replay.py`)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from flydsl.compiler.arguments.adapting import Adapted
from flydsl.compiler.arguments.kinds import ScalarArgument, TensorArgument
from flydsl.compiler.artifacts.artifact import Executable
from flydsl.compiler.calls.native_replay import Launched
from flydsl.compiler.options.hints import hint_scope
from flydsl.compiler.outlets.jit_call import jit_call


def recorded_launch(
    function: Any, arguments: Sequence[Any], place_of: Callable[[int], tuple[int, int] | None]
) -> Launched | None:
    """The launch that a call makes, or None where it cannot be repeated natively; nothing is launched here.

    ``place_of`` says in which buffer an address lies, and how many bytes behind its start.
    """
    wanted = jit_call("a recorded call", function, arguments, {})
    with hint_scope(wanted.hints):
        hints = wanted.function.effective_hints()
    call = wanted.function.adapted_call(wanted.args, wanted.kwargs)
    executable = wanted.function.executable(call, hints)
    if type(executable) is not Executable or executable.artifact.prints:
        return None
    pointers, stream, first = [], len(call.numbers) - 1, 0
    for argument in call.arguments:
        if not isinstance(argument, Adapted):
            continue
        inner = argument.argument
        if argument.is_stream:
            stream = first
        elif isinstance(inner, TensorArgument):
            place = place_of(inner.view.pointer)
            if place is None:
                return None
            pointers.append((first, *place))
        elif not isinstance(inner, ScalarArgument):
            return None
        first += len(inner.abi())
    format_ = executable.artifact.argument_format
    return Launched(
        executable,
        executable.launch_names()["pack"](*call.numbers),
        _offset(format_, stream),
        tuple((_offset(format_, field), buffer, bytes_) for field, buffer, bytes_ in pointers),
    )


def _offset(format_: str, field: int) -> int:
    """The byte at which a field of the argument block begins."""
    return struct.calcsize("@" + format_[: field + 1]) - struct.calcsize("@" + format_[field])
