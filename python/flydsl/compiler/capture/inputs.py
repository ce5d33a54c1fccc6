"""The inputs of a compilation: everything a traced function takes from around it, in one record.

Globals, closure variables, helpers and the values they read are constants of the compiled code. The record has their
fingerprint, which is part of the key on disk, and the guard that each call passes in memory; both come from one walk.
Variables of the environment are known when they have been read (`environment.py`), and belong to it from then on.
"""

from __future__ import annotations

import dataclasses
import enum
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import FunctionType, MethodType
from typing import Any, NamedTuple

from flydsl.base.log import get_logger
from flydsl.compiler.arguments.adapting import Adapted
from flydsl.compiler.capture.environment import EVERYTHING, check_of, still_holds, values_of
from flydsl.compiler.capture.fingerprint import Walk
from flydsl.compiler.capture.guard import Check, Guard
from flydsl.compiler.capture.instance import InstanceKey
from flydsl.compiler.capture.libraries import is_known, known_name
from flydsl.compiler.capture.values import LEAVES
from flydsl.compiler.capture.walk import ValueWalk
from flydsl.compiler.messages.shown_value import shown

_log = get_logger(__name__)
_said: set[str] = set()
_MOST_WALKS = 64
"""Sets of classes behind an object for which it is remembered what their functions read."""


class Walked(NamedTuple):
    """Some roots at one time: their fingerprint, the guard of it, and the walk, which keeps them alive."""

    text: str
    guard: Guard
    walk: Walk


class Inputs:
    """The surroundings of one function, and of the arguments it was compiled for."""

    def __init__(self, func: Callable[..., Any], on_check: Callable[[Check], None] | None = None) -> None:
        """``on_check`` is told of every new check that calls are to make, as `same`."""
        self._func = func
        self._on_check = on_check
        self._code: list[Any] = []
        """Functions and classes that arguments brought along; no part of the function's own fingerprint."""
        self._volatile: dict[int, frozenset[Any]] = {}
        """What tracing itself changes, by the id of what holds it: the keys or names there."""
        self._kept: list[Any] = []
        self._walks: dict[frozenset[Any], list[ValueWalk]] = {}
        self._environment: dict[str, str | None] = {}
        self.same: Check
        """Whether everything is still the same object: the quick half of `unchanged`, made for every call."""
        self._take(self._walked([func]), self._walked([]))
        self._say()

    def _walked(self, roots: list[Any]) -> Walked:
        walk = Walk(self._volatile)
        heads = [walk.text(root) for root in roots]
        text = "\n".join([*heads, *walk.lines])
        walk.guard.seal()
        return Walked(text, walk.guard, walk)

    def _take(self, own: Walked, brought: Walked) -> None:
        self._own, self._brought = own, brought
        self.same = own.guard.holds
        if self._code:
            self.same = _both(self.same, brought.guard.holds)
        if self._environment:
            self.same = _both(self.same, check_of(self._environment))
        if self._on_check is not None:
            self._on_check(self.same)

    def _say(self) -> None:
        """Say what no call can notice, once."""
        walk = self._own.walk
        said = [f"does not notice a later change of {what}" for what in dict.fromkeys(walk.unseen)]
        said += [f"knows {what}, by its identity: no change inside it is noticed, and the code is not kept on disk"
                 for what in dict.fromkeys(walk.by_identity)]  # fmt: skip
        for text in (f"'{self._func.__name__}' {what}" for what in said):
            if text not in _said:
                _said.add(text)
                _log.warning("%s; pass it as an argument, or see docs/cache.md", text)

    @property
    def text(self) -> str:
        """The same in every process for the same surroundings, unless there is a reason against it in ``opaque``."""
        return self._own.text

    @property
    def opaque(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._own.walk.opaque))

    @property
    def functions(self) -> tuple[FunctionType, ...]:
        """The user's functions that were reached, in an order that is the same in every process."""
        return tuple(self._own.walk.functions)

    def argument_walk(self) -> Walk:
        """A walk for arguments of the function, which knows what the function reads of them."""
        walk = Walk()
        walk.learn(self._own.walk)
        return walk

    def unchanged(self) -> bool:
        """Whether code compiled before is still right."""
        return self.same() or self.matches()

    def walked_now(self) -> Walked | None:
        """The function's surroundings as they are, for several to compare with; None if only this one can."""
        return None if self._volatile else self._walked([self._func])

    def matches(self, now: Walked | None = None) -> bool:
        """Whether everything is equal to what it was, be it in other objects; ``now`` is how it is, if known."""
        if not still_holds(self._environment):
            return False
        own = now if now is not None and not self._volatile else self._walked([self._func])
        if own.text != self._own.text:
            return False
        brought = self._walked(self._code)
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
        changed = (*self._own.guard.changes(), *self._brought.guard.changes())
        return found + [f"captured {text}" for text in dict.fromkeys(changed)]

    def also(self, values: Iterable[Any]) -> None:
        """Follow the code behind arguments: compile-time functions, and classes of objects whose methods are used."""
        new = [root for value in values for root in code_behind(value) if known_name(root) is None]
        new = [root for root in dict.fromkeys(new) if not any(root is known for known in self._code)]
        if new:
            self._code += new
            self._take(self._own, self._walked(self._code))

    def instance_key(self, instance: Any) -> Any:
        """The key of the object that a jit method belongs to."""
        return InstanceKey(self._walks_of).of(instance)

    def _walks_of(self, code: frozenset[Any]) -> list[ValueWalk]:
        """Walks of the function and of some classes and functions, to know which attributes they read."""
        found = self._walks.get(code)
        if found is None:
            if len(self._walks) >= _MOST_WALKS:
                self._walks.clear()
            walk = Walk(self._volatile)
            for root in code:
                walk.text(root)
            walk.lines  # noqa: B018  # follows what was met
            found = self._walks[code] = [self._own.walk, walk]
        return found

    def also_reads(self, environment: Mapping[str, str | None]) -> None:
        """Variables of the environment that code made from it has read."""
        if environment:
            self._environment.update(environment)
            self._take(self._own, self._brought)

    def after_tracing(self) -> bool:
        """Whether tracing left all as it was. What it changed is from now on guarded no more, but all else is.

        A list that a kernel appends to while it is traced must not make every call compile again.
        """
        if self._own.walk.imports_by_name:  # there may be modules now that were not there before
            self._take(self._walked([self._func]), self._walked(self._code))
        if self._own.guard.holds() and self._brought.guard.holds():
            return True
        before = (self._own, self._brought)
        own, brought = self._walked([self._func]), self._walked(self._code)
        if (own.text, brought.text) == (self._own.text, self._brought.text):
            self._take(own, brought)
            return True
        for part in before:
            for owner, keys in part.guard.changed_parts().items():
                self._volatile[owner] = self._volatile.get(owner, frozenset()) | keys
        self._take(self._walked([self._func]), self._walked(self._code))
        self._kept.append(before)  # what is known by identity has to stay alive
        return False


def _both(first: Check, second: Check) -> Check:
    return lambda: first() and second()


def _set_to(value: str | None) -> str:
    return "not set" if value is None else shown(value)


# Arguments -----------------------------------------------------------------------------------------------------------


def code_behind(value: Any) -> list[Any]:
    """Functions and classes that an argument, adapted or known at compile time, brings along."""
    if isinstance(value, Adapted):
        parts = [getattr(value.argument, name, None) for name in ("kind", "dsl_type", "adaptor")]
        return [part if isinstance(part, type) else type(part) for part in parts if part is not None]
    found: dict[Any, None] = {}
    seen: dict[int, Any] = {}
    queue = deque([value])
    while queue:
        value = queue.popleft()
        if type(value) in LEAVES or id(value) in seen:
            continue
        seen[id(value)] = value
        if isinstance(value, (FunctionType, type)):
            found[value] = None
            continue
        found[type(value)] = None
        if not isinstance(value, enum.Enum):
            queue.extend(_parts_of(value))
    return list(found)


def _parts_of(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return list(value)
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if type(value) is dict:
        return list(value.values())
    if type(value).__module__.startswith("flydsl.compiler."):  # a kernel or a jit function
        return [part for part in (vars(value).get("func"), vars(value).get("instance")) if part is not None]
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    if is_known(type(value).__module__):
        return []
    try:
        return list(object.__getattribute__(value, "__dict__").values())
    except AttributeError:
        return []
