"""What a traced function takes from around it: globals, closure variables, helpers and the values they read.

They are constants of the compiled code. A call checks that they are what they were when the code was compiled, so that
changing one compiles again; the description of them is part of the key of compiled code on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, NamedTuple

from flydsl.compiler.adapted import Adapted
from flydsl.compiler.described import Describer
from flydsl.compiler.known_code import known_name
from flydsl.compiler.watches import Watches


def code_behind(value: Any) -> list[Any]:
    """Functions and classes whose code an argument of a traced function brings along."""
    if isinstance(value, (FunctionType, type)):
        return [value]
    if not isinstance(value, Adapted):
        return [type(value)]
    argument = value.argument
    parts = [getattr(argument, name, None) for name in ("kind", "dsl_type", "adaptor")]
    return [part if isinstance(part, type) else type(part) for part in parts if part is not None]


class Described(NamedTuple):
    """Some roots at one time: their text, where it was read, and who described them and keeps them alive."""

    text: str
    watches: Watches
    describer: Describer


class Captured:
    """The surroundings of one function, and of the arguments it was compiled for."""

    def __init__(self, func: Callable[..., Any]) -> None:
        self._func = func
        self._code: list[Any] = []
        """Functions and classes that arguments brought along; no part of the function's own description."""
        self._volatile: frozenset[int] = frozenset()
        self._volatile_names: frozenset[tuple[int, str]] = frozenset()
        self._take(self._described([func]), self._described([]))

    def _described(self, roots: list[Any]) -> Described:
        describer = Describer(self._volatile, self._volatile_names)
        heads = [describer.text(root) for root in roots]
        describer.watches.seal()
        return Described("\n".join([*heads, *describer.lines]), describer.watches, describer)

    def _take(self, own: Described, brought: Described) -> None:
        self._own, self._brought = own, brought
        self._own_unchanged, self._brought_unchanged = own.watches.unchanged, brought.watches.unchanged

    @property
    def text(self) -> str:
        """The same in every process for the same surroundings, unless there is a reason against it in ``opaque``."""
        return self._own.text

    @property
    def opaque(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._own.describer.opaque))

    @property
    def functions(self) -> tuple[FunctionType, ...]:
        """The user's functions that were reached, in an order that is the same in every process."""
        return tuple(self._own.describer.functions)

    def unchanged(self) -> bool:
        """Whether code compiled before is still right. Once it is not, it stays so for every thread that asks."""
        if self._own_unchanged() and (not self._code or self._brought_unchanged()):
            return True
        own, brought = self._described([self._func]), self._described(self._code)
        if own.text != self._own.text or brought.text != self._brought.text:
            return False
        self._take(own, brought)
        return True

    def also(self, values: Iterable[Any]) -> None:
        """Watch the code behind arguments: compile-time functions, and classes of objects whose methods are used."""
        new = [root for value in values for root in code_behind(value) if known_name(root) is None]
        new = [root for root in dict.fromkeys(new) if not any(root is known for known in self._code)]
        if new:
            self._code += new
            self._take(self._own, self._described(self._code))

    def after_tracing(self) -> bool:
        """Whether tracing left all as it was. What it changed is from now on compared by identity.

        A list that a kernel appends to while it is traced must not make every call compile again.
        """
        if self.unchanged():
            return True
        before = (self._own, self._brought)
        self._volatile = self._volatile.union(*(part.watches.changed_owners() for part in before))
        self._volatile_names = self._volatile_names.union(*(part.watches.changed_names() for part in before))
        self._take(self._described([self._func]), self._described(self._code))
        self._kept = before  # what is known by identity has to stay alive
        return False
