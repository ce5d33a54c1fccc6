"""Keys of compiled code: everything that decides what a specialisation compiles to, as text.

The first part is about the function: this package and its libraries, the function and all it reaches. The second is
about one specialisation: target, processor, settings, hints, the types of arguments and the values of compile-time
ones. A key is its text; digests of the text name the directory and the file, and the text itself lies in the file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import FunctionType
from typing import Any

from flydsl.base import knobs
from flydsl.base.own_code import own_file
from flydsl.base.records import dataclass
from flydsl.compiler.arguments.adapting import Adapted
from flydsl.compiler.backends.registry import backend_for, is_own
from flydsl.compiler.backends.toolchain import processor_text, toolchain_text
from flydsl.compiler.capture.fingerprint import Walk
from flydsl.compiler.capture.inputs import Inputs, code_behind
from flydsl.target.target import Target

SUFFIX = ".flydsl"
_SEPARATOR = "\n\n"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class CacheKey:
    """The key of one artifact on disk."""

    name: str
    function: str
    specialisation: str
    functions: tuple[FunctionType, ...] = ()
    """The user's functions in it, whose places in source files an artifact may name."""
    target: str = ""
    device: str = ""
    """What the code is for; the text says so too."""

    @property
    def text(self) -> str:
        return self.function + _SEPARATOR + self.specialisation

    @cached_property
    def directory(self) -> str:
        safe = re.sub(r"\W", "_", self.name, flags=re.ASCII)[:64]
        return f"{safe}_{_digest(self.function)[:32]}"

    @cached_property
    def file(self) -> str:
        return _digest(self.text)[:16] + SUFFIX


def place_of(text: str) -> tuple[str, str]:
    """(end of the directory's name, file name) under which a key of this text is kept."""
    function = text.partition(_SEPARATOR)[0]
    return f"_{_digest(function)[:32]}", _digest(text)[:16] + SUFFIX


def settings_text(device: str) -> str:
    """Kind of device, processor and the environment's settings, as lines of a key."""
    lines = [f"device {device}", f"processor {processor_text()}"]
    lines += [f"{name}={value!r}" for name, value in knobs.code_settings()]
    return "\n".join(lines)


def _parts(argument: Any) -> tuple[Any, ...]:
    """What code depends on of an argument: a compile-time value, or what is known of a run-time one."""
    if not isinstance(argument, Adapted):
        return ("constant", argument)
    constants = getattr(argument.argument, "constants", None)  # of a struct
    return ("argument", argument.argument.signature(), *code_behind(argument), constants)


def backend_texts(target: Target, walk: Walk) -> list[str]:
    """A backend that is not this package's: its class by content, and what it says of itself."""
    backend = backend_for(target)
    return [] if is_own(backend) else [f"backend {walk.text(type(backend))} {backend.hash()}"]


def key_of(
    name: str, inputs: Inputs, arguments: Iterable[Any], hints: Mapping[str, Any], device: Any
) -> tuple[CacheKey | None, tuple[str, ...]]:
    """The key of a specialisation; or None and the reasons why it can only be known within this process."""
    walk = inputs.argument_walk()
    texts = [walk.text(_parts(argument)) for argument in arguments]
    target, hint_text = walk.text(device.target), walk.text(dict(hints))
    texts += backend_texts(device.target, walk)
    reasons = (*inputs.opaque, *walk.opaque)
    if reasons:
        return None, reasons
    function = f"{toolchain_text()}\n{inputs.text}"
    if knobs.DEBUG_ENABLE_DEBUG_INFO.get() or knobs.SANITIZE.get():  # then paths and lines are in the code itself
        places = (f"{f.__code__.co_filename}:{f.__code__.co_firstlineno}" for f in inputs.functions)
        function += "\n" + "\n".join([own_file(""), *places])
    lines = [settings_text(device.kind), f"target {target}", f"hints {hint_text}", *texts, *walk.lines]
    functions = (*inputs.functions, *walk.functions)
    text = function.replace(_SEPARATOR, "\n")
    return CacheKey(name, text, "\n".join(lines), functions, device.target.arch, device.kind), ()
