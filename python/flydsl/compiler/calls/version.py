"""Versions: what a jit function was compiled to while its surroundings were in one state, and the path of cached calls.

Code is right as long as everything the function reads is what it was. A few states are kept in memory, so that a
program that goes to and fro between two values of a setting compiles for each of them once. Threads may be in different
states at the same time, since there are variables that each has for itself: a call stays with the version it found.

`launch_code.py` writes a function for each specialisation and each combination of Python types it is called with. The
one that served last is tried first; it refuses arguments that are not its own. Then those are tried that were made for
arguments of the same types, element types and compile-time values. What none of them takes goes the full way.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from flydsl.base import knobs
from flydsl.compiler.arguments.tensor_adaptor import TensorAdaptor
from flydsl.compiler.calls.call import Key
from flydsl.compiler.calls.launch_code import Launch
from flydsl.compiler.capture.inputs import Inputs

# Paths ----------------------------------------------------------------------------------------------------------------

_MOST = 16
"""Launch functions kept for arguments that look alike; the oldest goes first."""


def _look(value: Any) -> Any:
    """Return what tells arguments apart at a glance."""
    kind = value.__class__
    if kind is TensorAdaptor:
        return value.key, value.source.__class__
    if kind is int or kind is float or value is None:
        return kind
    return kind, getattr(value, "dtype", None)


class CallPath:
    """Launch functions of one jit function under one state of the environment and of the hints."""

    __slots__ = ("_alike", "_constant", "environment", "hints", "latest", "scoped")

    def __init__(self, constexpr: list[bool], environment: knobs.Watch, hints: dict[str, Any], scoped: Any) -> None:
        self._constant = constexpr
        self.environment = environment
        self.hints = dict(hints)
        self.scoped = scoped
        self.latest: Launch = _nothing
        self._alike: dict[Any, list[tuple[Any, Launch]]] = {}

    def holds(self, hints: dict[str, Any], scoped: Any) -> bool:
        """Return whether the environment and the hints are still those of this path."""
        return self.environment.unchanged() and hints == self.hints and scoped == self.scoped

    def launch_another(self, args: tuple[Any, ...]) -> Any:
        """Launch with a function made for arguments that look like these: its code, or None if none takes them."""
        try:
            alike = self._alike.get(self._looks(args), ())
        except Exception:  # a compile-time value that cannot be hashed, or an object with strange attributes
            return None
        for executable, launch in alike:
            if launch(args):
                self.latest = launch
                return executable
        return None

    def forget(self, executable: Any) -> None:
        """Drop the launch functions of some code."""
        for looks, alike in list(self._alike.items()):
            kept = [pair for pair in alike if pair[0] is not executable]
            if len(kept) == len(alike):
                continue
            if any(launch is self.latest for _, launch in alike):
                self.latest = _nothing
            self._alike[looks] = kept
            if not kept:
                del self._alike[looks]

    def knows(self, args: tuple[Any, ...], executable: Any) -> bool:
        """Return whether there is a function already for this code and arguments that look like these."""
        try:
            return any(known is executable for known, _ in self._alike.get(self._looks(args), ()))
        except Exception:
            return True

    def add(self, args: tuple[Any, ...], executable: Any, launch: Launch) -> None:
        """Keep a launch function for arguments like these."""
        looks = self._looks(args)
        self._alike[looks] = [(executable, launch), *self._alike.get(looks, ())][:_MOST]
        self.latest = launch

    def _looks(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            [
                (value.__class__, value) if fixed else _look(value)
                for value, fixed in zip(args, self._constant, strict=True)
            ]
        )


def _nothing(args: tuple[Any, ...]) -> bool:
    return False


# Versions -------------------------------------------------------------------------------------------------------------

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
        """Return the version for the state as it is: one that is there already, or a new one."""
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
        """Return what is different from the version used last, in words; None where there is none."""
        inputs = self._kept[0].inputs if self._kept else None
        if inputs is None:
            return None
        return "; ".join(inputs.changes()) or "something that the function captures has changed"

    @property
    def size(self) -> int:
        """How many specialisations are in memory."""
        return sum(len(version.compiled) for version in self._kept)


def _never() -> bool:
    return False
