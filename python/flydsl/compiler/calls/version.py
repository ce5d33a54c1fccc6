"""Versions: what a jit function was compiled to while its surroundings were in one state.

Code is right as long as everything the function reads is what it was. A few states are kept in memory, so that a
program that goes to and fro between two values of a setting compiles for each of them once. Threads may be in different
states at the same time, since there are variables that each has for itself: a call stays with the version it found.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from flydsl.compiler.calls.call_path import CallPath
from flydsl.compiler.calls.specialisation import Key
from flydsl.compiler.capture.inputs import Inputs

_MOST_VERSIONS = 8
"""States whose code is kept: the one that was not used for longest goes."""
MOST_SPECIALISATIONS = 512
"""Specialisations of one state that are kept, likewise."""


class Outdated(Exception):
    """The version at hand is not for the state as it is now: something changed while its lock was waited for."""


class Version:
    """The code for one state of what a function reads."""

    __slots__ = ("_order", "compiled", "compiled_only", "inputs", "path", "paths", "reason", "same")

    def __init__(self, path: CallPath, func: Callable[..., Any] | None, reason: str | None = None) -> None:
        self.same: Callable[[], bool] = _never
        """Whether this is quickly seen to be still the state. Asked at every call."""
        self.inputs = Inputs(func, self._check_with) if func is not None else None
        """The state; None for the version before the first call, which is of use to nobody."""
        self.reason = reason
        """Why there is another version, for whoever compiles for it first."""
        self.compiled: dict[Key, Any] = {}
        self._order: OrderedDict[int, Key] = OrderedDict()
        """Keys by the id of their code, the one used last at the end."""
        self.compiled_only: set[Key] = set()
        """Compiled, and not loaded: see COMPILE_ONLY."""
        self.path = path
        self.paths: dict[Any, CallPath] = {}
        """Launch functions by the state of environment and hints."""

    def keep(self, key: Key, executable: Any) -> None:
        """Keep the code of a specialisation, and drop the one that was not used for longest if there are too many."""
        self.compiled[key] = executable
        self._order[id(executable)] = key
        while len(self._order) > MOST_SPECIALISATIONS:
            dropped = self.compiled.pop(self._order.popitem(last=False)[1])
            for path in (self.path, *self.paths.values()):
                path.forget(dropped)

    def used(self, executable: Any) -> None:
        """Note a call of some code."""
        with suppress(KeyError):  # another thread may have dropped it
            self._order.move_to_end(id(executable))

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
            inputs = version.inputs
            assert inputs is not None
            now = now or inputs.walked_now()
            if inputs.matches(now):
                return version
        return None

    def _reason(self) -> str | None:
        """What is different from the version used last, in words; None where there is none."""
        inputs = self._kept[0].inputs if self._kept else None
        if inputs is None:
            return None
        return "; ".join(inputs.changes()) or "something that the function captures has changed"

    @property
    def size(self) -> int:
        """Specialisations in memory."""
        return sum(len(version.compiled) for version in self._kept)


def _never() -> bool:
    return False
