"""Fingerprints of functions: two functions with the same fingerprint make the same code.

A fingerprint follows a function into everything it can reach: helpers through globals, closures, modules and classes,
and the values they read (`walk.py`). It is the same in every process, so it can be part of a key on disk, unless it
says in `opaque` why it cannot.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import resolve_name
from types import FunctionType, ModuleType
from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.compiler.capture import libraries, values
from flydsl.compiler.capture.code import FORM, CodeReads, code_digest, code_reads
from flydsl.compiler.capture.guard import MISSING
from flydsl.compiler.capture.walk import Cursor, Reader, ValueWalk

_REACHES_GLOBALS = frozenset({"globals", "locals", "vars", "eval", "exec"})


class Walk(ValueWalk):
    """Makes fingerprints of functions, and of all that is not one."""

    writes_matter = True
    """Whether a function that assigns globals can only be known by its identity."""

    # Functions and what they read -----------------------------------------------------------------

    def _function(self, function: FunctionType) -> str:
        self.functions.append(function)
        self.guard.function(function)
        reads = code_reads(function.__code__)
        self._taken |= reads.taken
        self._content |= reads.content
        self._computes_names |= reads.computes_names
        if reads.writes_globals and self.writes_matter:
            self._opaque.append(f"{function.__qualname__}() assigns globals while it is traced")
        reader = Reader(function, reads)
        before, self._at = self._at, Cursor(reader)
        self._scope = self._scope or function.__globals__
        parts = [f"function {function.__qualname__} {code_digest(function.__code__)}"]
        parts.append(self._inside(function.__defaults__, f"{function.__name__}.__defaults__", None))
        parts += [self._keyword_defaults(function), self._closure(function)]
        parts += [f"{name}={self._global(function.__globals__, name)}" for name in reads.globals]
        parts += self._computed_globals(function, reads)
        parts += [self._import(function, name, level) for name, level in reads.imports]
        parts.append(self._annotations(function))
        if function.__dict__:
            held = {name: value for name, value in function.__dict__.items() if name != "__wrapped__"}
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
            self.guard.cell(cell, name)
            try:
                value = cell.cell_contents
            except ValueError:  # not bound yet
                texts.append(f"{name} unbound")
                continue
            texts.append(f"{name}={self._variable(value, name, name)}")
        return f"closure({', '.join(texts)})"

    def _global(self, scope: dict[str, Any], name: str) -> str:
        """What a name means in a module; names of this package's modules are covered by its digest."""
        module = str(scope.get("__name__"))
        if libraries.is_ours(module) and getattr(sys.modules.get(module), "__dict__", None) is scope:
            return "ours"
        if name in self._volatile.get(id(scope), ()):
            self._opaque.append(f"the global {name} changes while it is traced")
            return "volatile"
        label = name if scope is self._scope else f"{module}.{name}"
        value = scope.get(name, MISSING)
        if not isinstance(value, ModuleType) or libraries.known_module(value) is None:  # nobody assigns to `fx`
            self.guard.name(scope, name, label)
        return self._builtin(scope, name) if value is MISSING else self._variable(value, label, name)

    def _builtin(self, scope: dict[str, Any], name: str) -> str:
        builtins = scope.get("__builtins__")
        builtins = vars(builtins) if isinstance(builtins, ModuleType) else builtins
        if not isinstance(builtins, dict):
            return "not a global"
        self.guard.name(builtins, name, name)
        return self._inside(builtins[name], name, None) if name in builtins else "not a global"

    def _variable(self, value: Any, label: str, name: str) -> str:
        """What a global or closure variable holds; of a module, what is taken from it."""
        reads = self._at.reader.reads
        chains = reads.chains.get(name) if reads is not None else None
        if isinstance(value, ModuleType):
            return self._module(value, chains)
        if chains and all(chain[:1] and chain[0] in FORM for chain in chains) and values.content_of(value) is not None:
            return self._form(value, label)
        return self._inside(value, label, None)

    def _computed_globals(self, function: FunctionType, reads: CodeReads) -> list[str]:
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
        """A module that the function imports when it runs: imported now, since running it would."""
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
        """A module, with the values that the function at hand takes from it.

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
        """The values of a user's module under some names; those it does not have it may still answer for itself."""
        scope = vars(module)
        for name in sorted(names):
            if name in scope:
                yield f"{name}={self._global(scope, name)}"
        answers = scope.get("__getattr__")
        if answers is not None and not names.issubset(scope):
            self._opaque.append(f"{module.__name__} answers for names in its __getattr__")
            yield f"__getattr__={self._global(scope, '__getattr__')}"

    def _of_library(self, module: ModuleType, chain: tuple[str, ...]) -> str:
        """What attributes, each of the one before, take from a library."""
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

    def _modules_by_name(self, reads: CodeReads) -> str:
        """The modules that a function takes from `sys.modules` or imports by name: those that its texts name."""
        found = [(text, sys.modules[text]) for text in reads.strings if text in sys.modules]
        if not found:
            self.unseen.append("modules that it finds by computed names")
        return " ".join(f"{text} {self._module(module)}" for text, module in found)
