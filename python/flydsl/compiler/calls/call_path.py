"""The path of a cached call: from arguments to a launch with no more than a few reads of each argument.

`launch_code.py` writes a function for each specialisation and each combination of Python types it is called with. The
one that served last is tried first; it refuses arguments that are not its own. Then those are tried that were made for
arguments of the same types, element types and compile-time values. What none of them takes goes the full way.
"""

from __future__ import annotations

from typing import Any

from flydsl.base import knobs
from flydsl.compiler.arguments.tensor_adaptor import TensorAdaptor
from flydsl.compiler.calls.launch_code import Launch

_MOST = 16
"""Launch functions kept for arguments that look alike; the oldest goes first."""


def _look(value: Any) -> Any:
    """What tells arguments apart at a glance."""
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
        """Whether the environment and the hints are still those of this path."""
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
        """Whether there is a function already for this code and arguments that look like these."""
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
