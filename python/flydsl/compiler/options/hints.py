"""What a caller may ask of the compiler beside the arguments: compile hints, and `flyc.sanitize`.

Hints come from three places, the later ones winning: the function's own ``compile_hints``, a
``CompilationContext.compile_hints({...})`` block around the call, and ``flyc.compile[{...}](fn, ...)``. Hints are part
of the key of every specialisation, so changing one compiles again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError
from flydsl.compiler.messages.diagnostics import located
from flydsl.expr.enum import FastMathFlags
from flydsl.expr.numbers.fastmath import parse_flags
from flydsl.target.family import family

Hints = tuple[tuple[str, Any], ...]
"""Checked hints in the order of their names, hashable: the form that is part of a key."""

_UNSAFE = FastMathFlags.reassoc | FastMathFlags.arcp | FastMathFlags.contract | FastMathFlags.afn
"""What unsafe_fp_math allows: rewriting sums and quotients, but not forgetting about NaN and infinity."""


def _count(name: str, least: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if type(value) is not int:
            raise DslTypeError(f"the hint {name} must be an int, got {value!r}", hint=f"write {{{name!r}: 2}}")
        if value < least:
            raise DslValueError(f"the hint {name} must be {least} or more, got {value}")
        return value

    return check


def _switch(name: str) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:
        if type(value) is not bool:
            raise DslTypeError(f"the hint {name} must be True or False, got {value!r}")
        return value

    return check


def _options(value: Any) -> tuple[tuple[str, bool | int | str], ...]:
    if not isinstance(value, Mapping):
        raise DslTypeError(
            f"the hint llvm_options must be a dict, got {type(value).__name__}",
            hint='write {"llvm_options": {"amdgpu-early-inline-all": True}}',
        )
    for name, setting in value.items():
        if not isinstance(name, str) or not name.strip("-"):
            raise DslTypeError(f"an LLVM option has a name, got {name!r}")
        if not isinstance(setting, (bool, int, str)):
            raise DslTypeError(f"the LLVM option {name} is set to {setting!r}", hint="give a bool, an int or a str")
    return tuple(sorted((name.lstrip("-"), setting) for name, setting in value.items()))


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "waves_per_eu": _count("waves_per_eu", 0),
    "maxnreg": _count("maxnreg", 1),
    "fast_fp_math": _switch("fast_fp_math"),
    "unsafe_fp_math": _switch("unsafe_fp_math"),
    "fastmath": lambda value: parse_flags(value).text,
    "llvm_options": _options,
}
"""Every hint and what turns its value into the form kept in the key."""


def check_mapping(hints: Any) -> Mapping[str, Any]:
    """Hints as a caller wrote them; refuses what is no dict."""
    if not isinstance(hints, Mapping):
        raise DslTypeError(
            f"compile hints must be a dict, got {type(hints).__name__}",
            hint='it expects a dict, such as flyc.compile[{"waves_per_eu": 2}]',
        )
    return hints


def checked(hints: Mapping[str, Any]) -> Hints:
    """Return the hints, each checked; None leaves a hint out."""
    found = []
    for name in sorted(map(str, check_mapping(hints))):
        if name not in _CHECKS:
            raise DslValueError(f"unknown compile hint {name!r}", hint=f"the hints are: {', '.join(_CHECKS)}")
        if hints[name] is not None:
            found.append((name, _CHECKS[name](hints[name])))
    return tuple(found)


def as_mapping(hints: Hints) -> dict[str, Any]:
    """Checked hints as a caller could have written them."""
    found = dict(hints)
    return found | {"llvm_options": dict(found["llvm_options"])} if "llvm_options" in found else found


class _Scope(threading.local):
    hints: dict[str, Any] | None = None


_scope = _Scope()


def scoped() -> dict[str, Any] | None:
    """Return the hints of the blocks this thread is in; None outside any."""
    return _scope.hints


@contextmanager
def hint_scope(hints: Mapping[str, Any]) -> Iterator[None]:
    """Merge hints, which the caller has checked, into those of compilations of this thread inside the block."""
    before = _scope.hints
    _scope.hints = {**(before or {}), **hints}
    try:
        yield
    finally:
        _scope.hints = before


# What they do --------------------------------------------------------------------------------------------------------


def math_flags(hints: Hints) -> FastMathFlags:
    """Return the flags every float operation gets unless the kernel gives its own; ``fastmath`` overrides
    ``fast_fp_math``."""
    found = dict(hints)
    flags = parse_flags(found.get("fastmath", "fast" if found.get("fast_fp_math") else "none"))
    return flags | _UNSAFE if found.get("unsafe_fp_math") else flags


def kernel_attributes(hints: Hints) -> dict[str, Any]:
    """Attributes of every kernel, whatever its target; a backend adds its own."""
    found = dict(hints)
    attributes: dict[str, Any] = {}
    if found.get("maxnreg"):
        attributes["fly.maxnreg"] = found["maxnreg"]
    if found.get("fast_fp_math"):
        attributes["fly.flush_denormals"] = 1
    return attributes


def option_settings(hints: Hints) -> tuple[tuple[str, bool | int | str], ...]:
    """LLVM's own options of a compilation."""
    return dict(hints).get("llvm_options", ())


# Sanitizers -----------------------------------------------------------------------------------------------------------

CHECKS = ("bounds", "race", "uninit", "barrier", "async")
"""The checks that `sanitize` turns on by itself, in the order of their bits."""
ON_REQUEST = ("modes",)
"""Checks that call mistakes what layouts allow: an index past its mode's extent, at an address inside the array."""
ALONE = ("ranks",)
"""Checks that no other runs beside: what ranks do to each other's memory, while their launches take turns."""


@located
def sanitize(*checks: str) -> AbstractContextManager[None]:
    """Run kernels inside with these sanitizers, or with all: "bounds", "race", "uninit", "barrier", "async".

    Only when it is named, "modes" also holds every index of an element access to the extent of its own mode. "ranks"
    checks what virtual ranks do to each other's memory, and nothing else beside.

    The set replaces the one outside, which is back afterwards. It holds for the whole process, like the variable
    ``FLYDSL_SANITIZE`` that it sets, so every thread that launches meanwhile is checked too.
    """
    for check in checks:
        if not isinstance(check, str):
            raise DslTypeError(f"sanitize takes the names of checks, got {check!r}", hint='write sanitize("race")')
        if check not in (known := (*CHECKS, *ON_REQUEST, *ALONE)):
            raise DslValueError(f"there is no sanitizer {check!r}", hint=f"use {', '.join(known)}")
        if check in ALONE and len(checks) > 1:
            raise DslValueError(f'the sanitizer "{check}" runs alone', hint="run the program once for each")
    return knobs.scope({knobs.SANITIZE: frozenset(checks or CHECKS)})


def check_device(kind: str) -> None:
    """Refuse to run unchecked what was meant to be checked."""
    if not family(kind).virtual and knobs.SANITIZE.get():
        raise DslRuntimeError(
            f"sanitizers check kernels on the virtual GPU, and this call would run on {kind}",
            hint="pass arrays of the host (FLYDSL_RUNTIME_KIND=host), or turn FLYDSL_SANITIZE off",
        )
