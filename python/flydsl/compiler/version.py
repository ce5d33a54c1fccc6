"""Versions: what a jit function was compiled to while its surroundings were in one state.

Code is right as long as everything the function reads is what it was. A few states are kept in memory, so that a
program that goes to and fro between two values of a setting compiles for each of them once. Threads may be in different
states at the same time, since there are variables that each has for itself: a call stays with the version it found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.compiler.call_path import CallPath
from flydsl.compiler.captured import Captured
from flydsl.compiler.specialisation import Key

_MOST_VERSIONS = 8
"""States whose code is kept: the one that was not used for longest goes."""


class Outdated(Exception):
    """The version at hand is not for the state as it is now: something changed while its lock was waited for."""


class Version:
    """The code for one state of what a function reads."""

    __slots__ = ("captured", "compiled", "compiled_only", "path", "paths", "reason", "same")

    def __init__(self, path: CallPath, func: Callable[..., Any] | None, reason: str | None = None) -> None:
        self.same: Callable[[], bool] = _never
        """Whether this is quickly seen to be still the state. Asked at every call."""
        self.captured = Captured(func, self._check_with) if func is not None else None
        """The state; None for the version before the first call, which is of use to nobody."""
        self.reason = reason
        """Why there is another version, for whoever compiles for it first."""
        self.compiled: dict[Key, Any] = {}
        self.compiled_only: set[Key] = set()
        """Compiled, and not loaded: see COMPILE_ONLY."""
        self.path = path
        self.paths: dict[Any, CallPath] = {}
        """Launch functions by the state of environment and hints."""

    def _check_with(self, same: Callable[[], bool]) -> None:
        self.same = same


class Versions:
    """The versions of one function, the one used last first. Whoever calls holds the function's lock."""

    def __init__(self, func: Callable[..., Any], new_path: Callable[[], CallPath]) -> None:
        self._func = func
        self._new_path = new_path
        self._kept: list[Version] = []
        self.first = Version(new_path(), None)

    def now(self) -> Version:
        """The version for the state as it is: one that is there already, or a new one."""
        found = self._find()
        if found is None:
            found = Version(self._new_path(), self._func, self._reason())
        self._kept = [found, *(other for other in self._kept if other is not found)][:_MOST_VERSIONS]
        return found

    def _find(self) -> Version | None:
        found = next((version for version in self._kept if version.same()), None)
        if found is not None:
            return found
        now = None
        for version in self._kept:
            captured = version.captured
            assert captured is not None
            now = now or captured.described_now()
            if captured.matches(now):
                return version
        return None

    def _reason(self) -> str | None:
        """What is different from the version used last, in words; None where there is none."""
        captured = self._kept[0].captured if self._kept else None
        if captured is None:
            return None
        return "; ".join(captured.changes()) or "something that the function captures has changed"

    @property
    def size(self) -> int:
        """Specialisations in memory."""
        return sum(len(version.compiled) for version in self._kept)


def _never() -> bool:
    return False
