"""What a traced function takes from around it: globals, closure variables, helpers and the values they read.

They are constants of the compiled code. A call checks that they are what they were when the code was compiled, so that
changing one compiles again; the description of them is part of the key of compiled code on disk. Variables of the
environment are known when they have been read (`environment_reads.py`), and belong to it from then on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any, NamedTuple

from flydsl.base.log import get_logger
from flydsl.compiler.code_behind import code_behind
from flydsl.compiler.described import Describer
from flydsl.compiler.environment_reads import EVERYTHING, check_of, still_holds, values_of
from flydsl.compiler.known_code import known_name
from flydsl.compiler.shown_value import shown
from flydsl.compiler.watches import Watches

_log = get_logger(__name__)
_said: set[str] = set()


class Described(NamedTuple):
    """Some roots at one time: their text, where it was read, and who described them and keeps them alive."""

    text: str
    watches: Watches
    describer: Describer


CALLS_IN_PYTHON = 20
"""After these, calls are checked by native code: loading it is worth a thousand calls' checks, not those of a few."""


class Captured:
    """The surroundings of one function, and of the arguments it was compiled for."""

    def __init__(self, func: Callable[..., Any], on_check: Callable[[Callable[[], bool]], None] | None = None) -> None:
        """``on_check`` is told of every new check that calls are to make, as `same`."""
        self._func = func
        self._on_check = on_check
        self._code: list[Any] = []
        """Functions and classes that arguments brought along; no part of the function's own description."""
        self._volatile: dict[int, frozenset[Any]] = {}
        """What tracing itself changes, by the id of what holds it: the keys or names there."""
        self._volatile_names: frozenset[tuple[int, str]] = frozenset()
        self._kept: list[Any] = []
        self._environment: dict[str, str | None] = {}
        self._checks = threading.Lock()
        self.same: Callable[[], bool]
        """Whether everything is still the same object: the quick half of `unchanged`, made for every call."""
        self._take(self._described([func]), self._described([]))
        self._warn()

    def _described(self, roots: list[Any]) -> Described:
        describer = Describer(self._volatile, self._volatile_names)
        heads = [describer.text(root) for root in roots]
        text = "\n".join([*heads, *describer.lines])
        describer.watches.seal()
        return Described(text, describer.watches, describer)

    def _take(self, own: Described, brought: Described) -> None:
        self._own, self._brought = own, brought
        calls, check = 0, self._check()

        def counted() -> bool:
            nonlocal calls
            calls += 1
            if calls >= CALLS_IN_PYTHON:
                own.watches.quicken()
                brought.watches.quicken()
                self._use(self._check(), instead_of=counted)
            return check()

        self._use(counted)

    def _check(self) -> Callable[[], bool]:
        parts = [self._own.watches.unchanged]
        if self._code:
            parts.append(self._brought.watches.unchanged)
        if self._environment:
            parts.append(check_of(self._environment))
        return parts[0] if len(parts) == 1 else lambda: all(part() for part in parts)

    def _use(self, check: Callable[[], bool], instead_of: Callable[[], bool] | None = None) -> None:
        """Let calls make this check; one that was made for ``instead_of`` comes too late if that is gone."""
        with self._checks:
            if instead_of is not None and self.same is not instead_of:
                return
            self.same = check
            if self._on_check is not None:
                self._on_check(check)

    def _warn(self) -> None:
        """Say what no call can notice, once."""
        for what in dict.fromkeys(self._own.describer.unseen):
            text = f"'{self._func.__name__}' does not notice a later change of {what}"
            if text not in _said:
                _said.add(text)
                _log.warning("%s; pass it as an argument, or see docs/cache.md", text)

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
        """Whether code compiled before is still right."""
        return self.same() or self.matches()

    def described_now(self) -> Described | None:
        """The function's surroundings as they are, for several to compare with; None if only this one can."""
        return None if self._volatile or self._volatile_names else self._described([self._func])

    def matches(self, now: Described | None = None) -> bool:
        """Whether everything is equal to what it was, be it in other objects; ``now`` is how it is, if known."""
        if not still_holds(self._environment):
            return False
        own = now if now is not None and not self._volatile and not self._volatile_names else None
        own = own or self._described([self._func])
        if own.text != self._own.text:
            return False
        brought = self._described(self._code)
        if brought.text != self._brought.text:
            return False
        self._take(own, brought)
        return True

    def changes(self) -> list[str]:
        """What is different now, in the user's words."""
        now = values_of(self._environment)
        found = [
            f"the environment variable {name} is {_set_to(now.get(name))}, was {_set_to(self._environment.get(name))}"
            for name in dict.fromkeys((*self._environment, *now))
            if name != EVERYTHING and now.get(name) != self._environment.get(name)
        ]
        changed = (*self._own.watches.changes(), *self._brought.watches.changes())
        return found + [f"captured {text}" for text in dict.fromkeys(changed)]

    def also(self, values: Iterable[Any]) -> None:
        """Watch the code behind arguments: compile-time functions, and classes of objects whose methods are used."""
        new = [root for value in values for root in code_behind(value) if known_name(root) is None]
        new = [root for root in dict.fromkeys(new) if not any(root is known for known in self._code)]
        if new:
            self._code += new
            self._take(self._own, self._described(self._code))

    def also_reads(self, environment: Mapping[str, str | None]) -> None:
        """Variables of the environment that code made from it has read."""
        if environment:
            self._environment.update(environment)
            self._take(self._own, self._brought)

    def after_tracing(self) -> bool:
        """Whether tracing left all as it was. What it changed is from now on watched no more, but all else is.

        A list that a kernel appends to while it is traced must not make every call compile again.
        """
        if self._own.describer.imports_by_name:  # there may be modules now that were not there before
            self._take(self._described([self._func]), self._described(self._code))
        if self._own.watches.unchanged() and self._brought.watches.unchanged():
            return True
        before = (self._own, self._brought)
        own, brought = self._described([self._func]), self._described(self._code)
        if (own.text, brought.text) == (self._own.text, self._brought.text):
            self._take(own, brought)
            return True
        for part in before:
            for owner, keys in part.watches.changed_parts().items():
                self._volatile[owner] = self._volatile.get(owner, frozenset()) | keys
        self._volatile_names = self._volatile_names.union(*(part.watches.changed_names() for part in before))
        self._take(self._described([self._func]), self._described(self._code))
        self._kept.append(before)  # what is known by identity has to stay alive
        return False


def _set_to(value: str | None) -> str:
    return "not set" if value is None else shown(value)
