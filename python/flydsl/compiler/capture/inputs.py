"""The inputs of a compilation: everything a traced function takes from around it, in one record.

A walk follows a function into all it can reach: helpers through globals, closures, modules and classes, and the values
they read (`walk.py`). Those are constants of the compiled code. The walk writes their fingerprint, which is part of the
key on disk and the same in every process, unless it says in `opaque` why it cannot be; and it fills the guard that each
call passes in memory. Variables of the environment are known when they have been read, and belong to it from then on.
"""

from __future__ import annotations

import dataclasses
import enum
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib import import_module
from importlib.util import resolve_name
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from flydsl.base import code_reads, environment_reads, libraries
from flydsl.base.errors import DslTypeError
from flydsl.base.lazy import lazy_module
from flydsl.compiler.arguments.adapting import Adapted
from flydsl.compiler.capture import values
from flydsl.compiler.capture.walk import Cursor, Reader, ValueWalk
from flydsl.compiler.messages.shown_value import shown

if TYPE_CHECKING:
    from flydsl.base import log
else:
    log = lazy_module("flydsl.base.log")

_said: set[str] = set()
_MOST_WALKS = 64
"""Sets of classes behind an object for which it is remembered what their functions read."""
_REACHES_GLOBALS = frozenset({"globals", "locals", "vars", "eval", "exec"})


class Walk(ValueWalk):
    """Makes fingerprints of functions, and of all that is not one."""

    writes_matter = True
    """Whether a function that assigns globals can only be known by its identity."""

    # Functions and what they read -----------------------------------------------------------------

    def _function(self, function: FunctionType) -> str:
        self.functions.append(function)
        self.guard.function(function)
        reads = code_reads.code_reads(function.__code__)
        self._taken |= reads.taken
        self._content |= reads.content
        self._computes_names |= reads.computes_names
        if reads.writes_globals and self.writes_matter:
            self._opaque.append(f"{function.__qualname__}() assigns globals while it is traced")
        reader = Reader(function, reads)
        before, self._at = self._at, Cursor(reader)
        self._scope = self._scope or function.__globals__
        parts = [f"function {function.__qualname__} {code_reads.code_digest(function.__code__)}"]
        parts.append(self._inside(function.__defaults__, f"{function.__name__}.__defaults__", None))
        parts += [self._keyword_defaults(function), self._closure(function)]
        parts += [f"{name}={self._global(function.__globals__, name)}" for name in reads.globals]
        parts += self._computed_globals(function, reads)
        parts += [self._import(function, name, level) for name, level in reads.imports]
        parts.append(self._annotations(function))
        if function.__dict__:
            held = {k: v for k, v in function.__dict__.items() if k != "__wrapped__" or k in self._taken}
            self._guard_mapping(function, function.__dict__, dict, f"{function.__name__}.\0")
            parts.append(f"attributes {{{self._items(self._steady(function, held), function.__name__)}}}")
        if reader.finds_modules:
            parts.append(self._modules_by_name(reads))
        if reads.computes_names and reader.modules:
            self._opaque.append(f"{function.__qualname__}() may read attributes of a module by computed names")
        self._at = before
        return " | ".join(parts)

    def _keyword_defaults(self, function: FunctionType) -> str:
        defaults = function.__kwdefaults__
        if not defaults:
            return "{}"
        label = f"{function.__name__}.__kwdefaults__"
        self._guard_mapping(defaults, defaults, dict, f"{label}[\0]")
        return f"{{{self._items(defaults, label)}}}"

    def _closure(self, function: FunctionType) -> str:
        texts = []
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            if id(cell) in self._volatile:
                self._opaque.append(f"the variable {name} changes while it is traced")
                continue
            value = values.content_of_cell(cell)
            how = "{1}({0})" if value is values.MISSING else "{0}.cell_contents"
            self.guard.item(cell, "\0", name, how, (cell, values.content_of_cell), value)
            bound = value is not values.MISSING
            texts.append(f"{name}={self._variable(value, name, name)}" if bound else f"{name} unbound")
        return f"closure({', '.join(texts)})"

    def _global(self, scope: dict[str, Any], name: str) -> str:
        """Return what a name means in a module; names of this package's modules are covered by its digest."""
        module = str(scope.get("__name__"))
        if libraries.is_ours(module) and getattr(sys.modules.get(module), "__dict__", None) is scope:
            return "ours"
        if name in self._volatile.get(id(scope), ()):
            self._opaque.append(f"the global {name} changes while it is traced")
            return "volatile"
        label = name if scope is self._scope else f"{module}.{name}"
        value = scope.get(name, values.MISSING)
        if not isinstance(value, ModuleType) or libraries.known_module(value) is None:  # nobody assigns to `fx`
            self.guard.name(scope, name, label)
        return self._builtin(scope, name) if value is values.MISSING else self._variable(value, label, name)

    def _builtin(self, scope: dict[str, Any], name: str) -> str:
        builtins = scope.get("__builtins__")
        builtins = vars(builtins) if isinstance(builtins, ModuleType) else builtins
        if not isinstance(builtins, dict):
            return "not a global"
        self.guard.name(builtins, name, name)
        return self._inside(builtins[name], name, None) if name in builtins else "not a global"

    def _variable(self, value: Any, label: str, name: str) -> str:
        """Return what a global or closure variable holds; of a module, what is taken from it."""
        reads = self._at.reader.reads
        chains = reads.chains.get(name) if reads is not None else None
        if isinstance(value, ModuleType):
            return self._module(value, chains)
        form = bool(chains) and all(chain[:1] and chain[0] in code_reads.FORM for chain in chains)
        if form and values.content_of(value) is not None:
            return self._form(value, f"{self._at.label} (its shape or type)")
        return self._inside(value, label, None)

    def _computed_globals(self, function: FunctionType, reads: code_reads.CodeReads) -> list[str]:
        """Globals that a function may reach through `globals()` and its like: those that its texts speak of."""
        used = _REACHES_GLOBALS.intersection(reads.globals)
        if not used:
            return []
        words = dict.fromkeys(word for text in reads.strings for word in re.findall(r"[^\W\d]\w*", text))
        found = [word for word in words if word in function.__globals__ and word not in reads.globals]
        if not found and not used.isdisjoint({"globals", "eval", "exec"}):
            self.unseen.append(f"globals that {function.__qualname__}() reads by computed names")
        return [f"{name}={self._global(function.__globals__, name)}" for name in found]

    def _annotations(self, function: FunctionType) -> str:
        before, self._judges = self._judges, False
        try:
            return f"annotations {{{self._items(function.__annotations__, function.__name__)}}}"
        finally:
            self._judges = before

    # Modules --------------------------------------------------------------------------------------

    def _import(self, function: FunctionType, name: str, level: int) -> str:
        """Return a module that the function imports when it runs: imported now, since running it would."""
        try:
            package = function.__globals__.get("__package__") or ""
            full = resolve_name("." * level + name, package) if level else name
            if level < 0 or not full:
                raise ImportError(name)
            module = import_module(full)
            top = sys.modules[full.partition(".")[0]]
            texts = [self._module(module)] if libraries.is_known(full) else [self._module(module), self._module(top)]
            return f"import {full} {' '.join(texts)}"
        except DslTypeError:
            raise
        except Exception as error:  # a user's module may raise anything; tracing will raise it again
            self._opaque.append(f"{function.__qualname__}() imports {name!r}, which failed: {error}")
            return f"import {name} {id(function)}"

    def _module(self, module: ModuleType, chains: Iterable[tuple[str, ...]] | None = None) -> str:
        """Return a module, with the values that the function at hand takes from it.

        ``chains`` are the attributes it takes, if that is known; else it may be any that it takes from anything.
        """
        known, reader = libraries.known_module(module), self._at.reader
        head = f"module {known or module.__name__}"
        if libraries.is_ours(known) or reader.reads is None:
            return head
        if chains is None or () in chains:
            if id(module) in reader.modules:
                return head
            reader.modules.add(id(module))
            chains = [(name,) for name in reader.reads.attributes if known is None or name in vars(module)]
        if known is None:
            return f"{head} {{{', '.join(self._of_module(module, {chain[0] for chain in chains}))}}}"
        texts = [self._of_library(module, chain) for chain in sorted(chains)]
        return " ".join((head, *dict.fromkeys(filter(None, texts))))

    def _of_module(self, module: ModuleType, names: set[str]) -> Iterator[str]:
        """Yield the values of a user's module under some names; those it does not have it may still answer for
        itself."""
        scope = vars(module)
        for name in sorted(names):
            if name in scope:
                yield f"{name}={self._global(scope, name)}"
        answers = scope.get("__getattr__")
        if answers is not None and not names.issubset(scope):
            self._opaque.append(f"{module.__name__} answers for names in its __getattr__")
            yield f"__getattr__={self._global(scope, '__getattr__')}"

    def _of_library(self, module: ModuleType, chain: tuple[str, ...]) -> str:
        """Return what attributes, each of the one before, take from a library."""
        owner, name, *rest = (module, *chain)
        label = f"{owner.__name__}.{name}"
        if name not in vars(owner):  # made when it is asked for
            self._judge(owner.__name__, name)
            return ""
        value = vars(owner)[name]
        if isinstance(value, ModuleType):
            return self._module(value, [tuple(rest)] if rest else None)
        if value is sys.modules:
            self._opaque.append(f"modules are read from {label}")
            self.imports_by_name = self._at.reader.finds_modules = True
            return ""
        if type(value) in values.LEAVES or isinstance(value, (tuple, list, dict, set, bytearray)):
            self.guard.name(vars(owner), name, label)
            return f"{label}={self._inside(tuple(value) if isinstance(value, tuple) else value, label, None)}"
        if libraries.is_array_type(value) or (values.library_value(value) is not None and not callable(value)):
            return ""
        self._judge(owner.__name__, name)
        self.guard.name(vars(owner), name, label)
        if isinstance(value, FunctionType) and not libraries.is_known(value.__module__ or ""):  # somebody put it there
            return f"{label}={self._inside(value, label, None)}"
        return ""

    def _modules_by_name(self, reads: code_reads.CodeReads) -> str:
        """Return the modules that a function takes from `sys.modules` or imports by name: those that its texts name."""
        found = [(text, sys.modules[text]) for text in reads.strings if text in sys.modules]
        if not found:
            self.unseen.append("modules that it finds by computed names")
        return " ".join(f"{text} {self._module(module)}" for text, module in found)


class Walked(NamedTuple):
    """Some roots at one time: their fingerprint, the guard of it, and the walk, which keeps them alive."""

    text: str
    guard: values.Guard
    walk: Walk


class Inputs:
    """The surroundings of one function, and of the arguments it was compiled for."""

    def __init__(self, func: Callable[..., Any], on_check: Callable[[values.Check], None] | None = None) -> None:
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
        self.same: values.Check
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
            self.same = _both(self.same, environment_reads.check_of(self._environment))
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
                log.get_logger(__name__).warning("%s; pass it as an argument, or see docs/cache.md", text)

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
        """Return a walk for arguments of the function, which knows what the function reads of them."""
        walk = Walk()
        walk.learn(self._own.walk)
        return walk

    def unchanged(self) -> bool:
        """Return whether code compiled before is still right."""
        return self.same() or self.matches()

    def walked_now(self) -> Walked | None:
        """Return the function's surroundings as they are, for several to compare with; None if only this one can."""
        return None if self._volatile else self._walked([self._func])

    def matches(self, now: Walked | None = None) -> bool:
        """Return whether everything is equal to what it was, be it in other objects; ``now`` is how it is, if known."""
        if not environment_reads.still_holds(self._environment):
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
        """Return what is different now, in the user's words."""
        now = environment_reads.values_of(self._environment)
        found = [
            f"the environment variable {name} is {_set_to(now.get(name))}, was {_set_to(self._environment.get(name))}"
            for name in dict.fromkeys((*self._environment, *now))
            if name != environment_reads.EVERYTHING and now.get(name) != self._environment.get(name)
        ]
        changed = (*self._own.guard.changes(), *self._brought.guard.changes())
        return found + [f"captured {text}" for text in dict.fromkeys(changed)]

    def also(self, values: Iterable[Any]) -> None:
        """Follow the code behind arguments: compile-time functions, and classes of objects whose methods are used."""
        new = [root for value in values for root in code_behind(value) if libraries.known_name(root) is None]
        new = [root for root in dict.fromkeys(new) if not any(root is known for known in self._code)]
        if new:
            self._code += new
            self._take(self._own, self._walked(self._code))

    def walks_of(self, classes: frozenset[Any]) -> list[ValueWalk]:
        """Walks of the function and of some classes and functions, to know which attributes they read."""
        found = self._walks.get(classes)
        if found is None:
            if len(self._walks) >= _MOST_WALKS:
                self._walks.clear()
            walk = Walk(self._volatile)
            for root in classes:
                walk.text(root)
            walk.lines  # noqa: B018  # follows what was met
            found = self._walks[classes] = [self._own.walk, walk]
        return found

    def also_reads(self, environment: Mapping[str, str | None]) -> None:
        """Variables of the environment that code made from it has read."""
        if environment:
            self._environment.update(environment)
            self._take(self._own, self._brought)

    def after_tracing(self) -> bool:
        """Return whether tracing left all as it was. What it changed is from now on guarded no more, but all else is.

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


def _both(first: values.Check, second: values.Check) -> values.Check:
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
        if type(value) in values.LEAVES or id(value) in seen:
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
    if libraries.is_known(type(value).__module__):
        return []
    try:
        return list(object.__getattribute__(value, "__dict__").values())
    except AttributeError:
        return []
