"""What a timing depends on.

The *problem* is what the user solves and where: values of the key arguments, element types and stride patterns of all
tensors, the arch and the device. A shipped configuration is found by it. The *build* is how the code came about: the
source, the settings, the versions, the hints. Timings on disk are found by both, so a changed kernel is tuned anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any

from flydsl.autotune.call import Call
from flydsl.base import knobs
from flydsl.base.errors import DslTypeError
from flydsl.base.toolchain import processor_text, toolchain_text
from flydsl.compiler.cache.compiled_code import backend_texts
from flydsl.compiler.capture.inputs import Inputs, Walk
from flydsl.compiler.jit_function import JitFunction
from flydsl.expr.numeric import Numeric
from flydsl.runtime.array_view import ArrayView
from flydsl.target.family import family

Problem = tuple[tuple[str, str], ...]
"""What was called with, as pairs of texts: quick to make and to compare."""


def problem_of(call: Call, key: Sequence[str]) -> Problem:
    """Return the problem a call solves."""
    parts: list[tuple[str, str]] = []
    for name in key:
        view = call.views.get(name)
        parts.append((name, _tensor(view) if view is not None else _value(name, call.by_name.get(name))))
    for name, view in call.views.items():
        parts.append((f"{name} (type)", f"{view.elem}:{_pattern(view)}"))
    device = call.device
    parts.append(("arch", device.target.arch))
    parts.append(("device", _device_name(device)))
    return tuple(parts)


def _tensor(view: ArrayView) -> str:
    return f"{view.elem}[{','.join(map(str, view.shape))}]"


def _pattern(view: ArrayView) -> str:
    """Return the strides as far as they choose code: 0, 1, or another."""
    return ",".join(str(stride) if stride in (0, 1) else "s" for stride in view.strides)


def _value(name: str, value: Any) -> str:
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if value is None or isinstance(value, (bool, int, float, str, tuple, list, Numeric)):
        return repr(value)  # tells True, 1 and 1.0 apart
    if type(value).__repr__ is object.__repr__:
        raise DslTypeError(
            f"the key argument '{name}' is a {type(value).__name__}, which has no text to be found by",
            hint="name arguments that are numbers, texts, types or tensors, or give the class a __repr__",
        )
    return repr(value)


@cache
def _device_name(device: Any) -> str:
    """Return the make of a device, without its number."""
    return f"{device.kind}: {getattr(device, 'name', 'virtual')}"


def build_of(function: JitFunction, captured: Inputs, device: Any) -> dict[str, Any]:
    """Return how the code of a function comes about here and now, for the key of its timings."""
    build = {
        "function": f"{function.func.__module__}.{function.func.__qualname__}",
        "source": digest(captured.text),
        "toolchain": toolchain_text().splitlines(),
        "settings": [list(pair) for pair in knobs.code_settings()],
        "hints": repr(function.effective_hints()),
    }
    walk = Walk()
    if texts := backend_texts(device.target, walk):
        build["backend"] = digest("\n".join([*texts, *walk.lines]))
    # The virtual GPU is this machine's processor.
    return build | ({"processor": digest(processor_text())} if family(device.kind).virtual else {})


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
