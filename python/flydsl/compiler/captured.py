"""What a traced function takes from around it: globals, closure variables, helpers and the values they read.

They are constants of the compiled code. A call checks that they are what they were when the code was compiled, so that
changing one compiles again; the description of them is part of the key of compiled code on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from flydsl.compiler.described import Describer
from flydsl.compiler.watches import Watches


class Captured:
    """The surroundings of one function, and of the compile-time arguments it was compiled for."""

    def __init__(self, func: Callable[..., Any]) -> None:
        self._roots: list[Any] = [func]
        self._volatile: frozenset[int] = frozenset()
        self._volatile_names: frozenset[tuple[int, str]] = frozenset()
        self._kept: list[Describer] = []
        self._take(*self._described())

    def _described(self) -> tuple[str, Describer]:
        describer = Describer(self._volatile, self._volatile_names)
        heads = [describer.text(root) for root in self._roots]
        describer.watches.seal()
        return "\n".join([*heads, *describer.lines]), describer

    def _take(self, text: str, describer: Describer) -> None:
        self.text = text
        """The same in every process for the same surroundings, unless there is a reason against it in ``opaque``."""
        self.opaque = tuple(dict.fromkeys(describer.opaque))
        self.functions: tuple[FunctionType, ...] = tuple(describer.functions)
        """The user's functions that were reached, in an order that is the same in every process."""
        self._kept = [describer, *self._kept[:1]]  # what a description knows by identity has to stay alive
        self._watches: Watches = describer.watches

    def unchanged(self) -> bool:
        """Whether code compiled before is still right. Once it is not, it stays so for every thread that asks."""
        if self._watches.unchanged():
            return True
        text, describer = self._described()
        if text != self.text:
            return False
        self._take(text, describer)
        return True

    def also(self, values: Iterable[Any]) -> None:
        """Watch compile-time arguments that have surroundings of their own: functions."""
        new = [v for v in values if isinstance(v, FunctionType) and not any(v is root for root in self._roots)]
        if new:
            self._roots += new
            self._take(*self._described())

    def after_tracing(self) -> bool:
        """Whether tracing left all as it was. What it changed is from now on compared by identity.

        A list that a kernel appends to while it is traced must not make every call compile again.
        """
        if self.unchanged():
            return True
        self._volatile |= self._watches.changed_owners()
        self._volatile_names |= self._watches.changed_names()
        self._take(*self._described())
        return False
