"""A call of compiled code as a launch that can be repeated with other memory (`calls/native_replay.py`)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flydsl.compiler.arguments.argument_form import ConstantForm, Form, NoneForm, ScalarForm, StreamForm, TensorForm
from flydsl.compiler.artifacts.artifact import Executable
from flydsl.compiler.calls.native_replay import Launched
from flydsl.compiler.outlets.compiled_function import CompiledFunction
from flydsl.compiler.outlets.jit_call import jit_call
from flydsl.native.constants import REPLAY_ALIGNMENT

_KNOWN = (TensorForm, ScalarForm, StreamForm, ConstantForm, NoneForm)


def recorded_launch(
    function: Any, arguments: Sequence[Any], options: Mapping[str, Any],
    place_of: Callable[[int], tuple[int, int] | None],
) -> Launched | None:  # fmt: skip
    """Return the launch that a call makes, or None where it cannot be repeated natively; nothing is launched here.

    ``function`` is a jit function or a compiled one. ``place_of`` says in which buffer an address lies, and how many
    bytes behind its start.
    """
    executable, forms, values = _parts(function, arguments, options)
    if type(executable) is not Executable or executable.artifact.prints:
        return None
    if not all(isinstance(form, _KNOWN) for form in forms):
        return None
    numbers, pointers, stream = [], [], -1
    for form, value in zip(forms, values, strict=True):
        if isinstance(form, (ConstantForm, NoneForm)):
            continue
        first = len(numbers)
        numbers += form.numbers(value)
        if isinstance(form, StreamForm):
            stream = first
        elif isinstance(form, TensorForm):
            place = place_of(int(numbers[first]))
            if place is None or form.align > REPLAY_ALIGNMENT:
                return None
            pointers.append((first, *place))
    if stream < 0:
        stream = len(numbers)
        numbers.append(0)
    format_ = executable.artifact.argument_format
    return Launched(
        executable,
        executable.launch_names()["pack"](*numbers),
        _offset(format_, stream),
        tuple((_offset(format_, field), buffer, bytes_) for field, buffer, bytes_ in pointers),
    )


def _parts(
    function: Any, arguments: Sequence[Any], options: Mapping[str, Any]
) -> tuple[Any, Sequence[Form], Sequence[Any]]:
    """Return (the code, what each parameter accepts, what it is given)."""
    if isinstance(function, CompiledFunction):
        return function.parts(tuple(arguments))
    wanted = jit_call("a recorded call", function, arguments, options)
    call = wanted.function.adapted_call(wanted.args, wanted.kwargs)
    executable = wanted.function.executable(call, wanted.function.effective_hints())
    return executable, call.forms(executable.artifact), call.values


def _offset(format_: str, field: int) -> int:
    """Return the byte at which a field of the argument block begins."""
    return struct.calcsize("@" + format_[: field + 1]) - struct.calcsize("@" + format_[field])
