"""`flyc.sanitize`: checks on what kernels do to memory, made while they run on the virtual GPU."""

from __future__ import annotations

from contextlib import AbstractContextManager

from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError
from flydsl.compiler.messages.diagnostics import located
from flydsl.target.family import family

CHECKS = ("bounds", "race", "uninit", "barrier", "async")
"""The checks that `sanitize` turns on by itself, in the order of their bits."""
ON_REQUEST = ("modes",)
"""Checks that call mistakes what layouts allow: an index past its mode's extent, at an address inside the array."""


@located
def sanitize(*checks: str) -> AbstractContextManager[None]:
    """Run kernels inside with these sanitizers, or with all: "bounds", "race", "uninit", "barrier", "async".

    Only when it is named, "modes" also holds every index of an element access to the extent of its own mode.

    The set replaces the one outside, which is back afterwards. It holds for the whole process, like the variable
    ``FLYDSL_SANITIZE`` that it sets, so every thread that launches meanwhile is checked too.
    """
    for check in checks:
        if not isinstance(check, str):
            raise DslTypeError(f"sanitize takes the names of checks, got {check!r}", hint='write sanitize("race")')
        if check not in (*CHECKS, *ON_REQUEST):
            raise DslValueError(f"there is no sanitizer {check!r}", hint=f"use {', '.join((*CHECKS, *ON_REQUEST))}")
    return knobs.scope({knobs.SANITIZE: frozenset(checks or CHECKS)})


def check_device(kind: str) -> None:
    """Refuse to run unchecked what was meant to be checked."""
    if not family(kind).virtual and knobs.SANITIZE.get():
        raise DslRuntimeError(
            f"sanitizers check kernels on the virtual GPU, and this call would run on {kind}",
            hint="pass arrays of the host (FLYDSL_RUNTIME_KIND=host), or turn FLYDSL_SANITIZE off",
        )
