"""The key of winners in memory, made anew for every call of a tuned function: so it must cost next to nothing.

It tells apart what :mod:`flydsl.autotune.key` tells apart, and maybe more. Arrays of NumPy and torch are only asked for
their type, shape and strides, which is quicker than to look for their memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from flydsl.autotune.call import Call
from flydsl.autotune.key import problem_of
from flydsl.base import knobs
from flydsl.compiler.jit_function import JitFunction
from flydsl.compiler.options.hints import scoped

Reader = Callable[[Any], tuple[Any, Any]]
"""Gives what always counts about an argument, and what counts if it is a key argument."""

_settings = knobs.watcher(
    (*(k for k in knobs.TABLE.values() if k.affects_code), knobs.ARCH, knobs.GPU_ARCH, knobs.RUNTIME_KIND)
)


def quick_key(call: Call, key: Sequence[str]) -> Any:
    """Return what tells the problem of a call apart from others of its function, here and now."""
    parts: list[Any] = []
    for name, value in call.given.items():
        reader = _reader_of(type(value))
        if reader is None:
            return (problem_of(call, key), _settings_now(call.function))
        always, as_key = reader(value)
        parts.append((name, always, as_key) if name in key else (name, always))
    return (tuple(parts), _settings_now(call.function))


def _settings_now(function: JitFunction) -> tuple[Any, ...]:
    """Return what around a call decides about its code."""
    hinted = function.compile_hints or scoped()
    return (tuple(_settings()), function.effective_hints() if hinted else ())


@cache
def _reader_of(kind: type) -> Reader | None:
    """Return how arguments of a type are read, None where only the long way will do; no array library is imported to
    tell."""
    if kind in (bool, int, str, type(None)):
        return lambda value: (None, (kind, value))
    if kind is float:
        return lambda value: (None, repr(value))  # a NaN is not equal to itself
    if kind.__name__ == "Stream":
        return lambda value: (None, None)
    if (kind.__module__, kind.__name__) == ("numpy", "ndarray"):
        return _numpy_facts
    if any((base.__module__, base.__name__) == ("torch", "Tensor") for base in kind.__mro__):
        return _torch_facts
    return None


def _numpy_facts(array: Any) -> tuple[Any, Any]:
    size = array.itemsize
    pattern = tuple([1 if step == size else 0 if step == 0 else 2 for step in array.strides])
    return (array.dtype, pattern), array.shape


def _torch_facts(tensor: Any) -> tuple[Any, Any]:
    pattern = tuple([step if step == 1 or step == 0 else 2 for step in tensor.stride()])
    return (tensor.dtype, tensor.device, pattern), tensor.shape
