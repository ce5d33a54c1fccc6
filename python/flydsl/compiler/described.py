"""Values as text: two values with the same description make the same code.

A description follows a function into everything it can reach: helpers through globals, closures, modules and classes,
the values they read, and the values those are made of. It is the same in every process, so it can be part of a key on
disk. What cannot be described by content is *opaque*: its description holds its identity, which is good for this
process only, and the key is not used on disk.

While it walks, the describer notes where it read what (`watches.py`), for the check that each call makes.
"""

from __future__ import annotations

import copyreg
import enum
import re
import struct
import sys
import threading
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from importlib import import_module
from importlib.util import resolve_name
from types import (
    BuiltinFunctionType,
    CodeType,
    EllipsisType,
    FunctionType,
    MappingProxyType,
    ModuleType,
    NoneType,
)
from typing import Any

from flydsl.base.own_code import is_own_module
from flydsl.compiler.array_content import FORM, content_of, form_of
from flydsl.compiler.code_reads import CodeReads, code_digest, code_reads
from flydsl.compiler.known_code import is_known, known_module, known_name
from flydsl.compiler.library_uses import LibraryUse, use_of
from flydsl.compiler.object_state import container_base, is_generated, is_immutable, library_value, slots_of, state_of
from flydsl.compiler.outside import IMPORTERS, is_library_type, looks_outside
from flydsl.compiler.watches import Watches

_MOST_NODES = 5000
_OF_THE_CALLER = (ContextVar, threading.local)
"""Types whose values are others in each thread or context."""
_REACHES_GLOBALS = frozenset({"globals", "locals", "vars", "eval", "exec"})
_CONTAINERS = (list, dict, set, frozenset, deque, OrderedDict, defaultdict, MappingProxyType)
_LONGEST = 1000
"""Items of one container beyond which it is opaque: a table that long is data, not a setting."""


_ABSENT = object()
_WIDE = 1 << 64
"""Integers beyond it are written in hexadecimal, since decimal digits have a limit."""


def _float_text(value: float) -> str:
    return f"float {value.hex()}" if value == value else f"float nan {struct.pack('<d', value).hex()}"


_LEAVES: Mapping[type, Callable[[Any], str]] = {
    bool: lambda v: f"bool {v}",
    int: lambda v: f"int {v}" if -_WIDE < v < _WIDE else f"int {v:#x}",
    float: _float_text,
    complex: lambda v: f"complex {_float_text(v.real)} {_float_text(v.imag)}",
    str: lambda v: f"str {v!r}",
    bytes: lambda v: f"bytes {v!r}",
    NoneType: lambda v: "None",
    EllipsisType: lambda v: "Ellipsis",
    range: lambda v: f"range {v.start} {v.stop} {v.step}",
    CodeType: lambda v: f"code {code_digest(v)}",
}

_PARTS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("flydsl.compiler.kernel_function", "KernelFunction"): ("func", "name", "known_block_size"),
    ("flydsl.compiler.kernel_function", "BoundKernel"): ("kernel", "instance"),
    ("flydsl.compiler.jit_function", "JitFunction"): ("func",),  # inlined, where its hints mean nothing
    ("flydsl.compiler.jit_function", "BoundJit"): ("function", "instance"),
    ("flydsl.autotune.tuner", "Autotuner"): ("fn",),
    ("functools", "partial"): ("func", "args", "keywords"),
    ("builtins", "method"): ("__func__", "__self__"),
    ("builtins", "property"): ("fget", "fset", "fdel"),
    ("builtins", "staticmethod"): ("__func__",),
    ("builtins", "classmethod"): ("__func__",),
    ("builtins", "slice"): ("start", "stop", "step"),
    ("functools", "cached_property"): ("func",),
    ("functools", "_lru_cache_wrapper"): ("__wrapped__",),
}
"""Attributes that say all about an object, by the module and name of its type."""

_BUILTIN_METHODS = ("wrapper_descriptor", "method_descriptor", "classmethod_descriptor")
"""Types of the methods of built-in classes."""

_CLASS_MACHINERY = frozenset({
    "__dict__", "__weakref__", "__doc__", "__module__", "__abstractmethods__", "_abc_impl", "__dataclass_params__",
    "__dataclass_fields__", "__match_args__", "__orig_bases__", "__parameters__", "__firstlineno__",
    "__static_attributes__", "__slotnames__", "__annotate__", "__annotate_func__", "__annotations_cache__",
    "__fly_made__",
})  # fmt: skip
"""Entries of a class that follow from the others."""


class Describer:
    """Describes values one after the other; a value met again is named by its number."""

    writes_matter = True
    """Whether a function that assigns globals can only be known by its identity."""

    def __init__(
        self,
        volatile: Mapping[int, frozenset[Any]] = MappingProxyType({}),
        volatile_names: frozenset[tuple[int, str]] = frozenset(),
    ) -> None:
        self.opaque: list[str] = []
        """Why this description is good for this process only."""
        self.unseen: list[str] = []
        """What may change without any later call noticing."""
        self.functions: list[FunctionType] = []
        self.watches = Watches()
        self.imports_by_name = False
        """Whether a function may import modules while it is traced that nothing here could know of."""
        self._lines: list[str] = []
        self._volatile = volatile
        self._volatile_names = volatile_names
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []
        self._reads: CodeReads | None = None
        self._attributes: frozenset[str] = frozenset()
        self._modules: set[int] = set()
        self._scope: dict[str, Any] | None = None
        self._label = ""
        self._name: str | None = None
        """The attribute or key under which the value at hand was found; None for one that code reads itself."""
        self._all_names: set[str] = set()
        self._computes_names = False
        self._arrays: list[tuple[int, Any, str, str | None]] = []
        self._judges = True
        self._finds_modules = False
        """Whether the function at hand does."""

    @property
    def lines(self) -> list[str]:
        """What the texts refer to by number."""
        arrays, self._arrays = self._arrays, []
        for place, value, label, name in arrays:  # only now is it known which names all the functions read
            unread = name is not None and not self._computes_names and name not in self._all_names
            self._lines[place] += f" {type(value).__name__}" if unread else self._array(value, label)
        return self._lines

    def text(self, value: Any) -> str:
        """The description of a value; what it refers to by number is in ``lines``."""
        leaf = _LEAVES.get(type(value))
        if leaf is not None:
            return leaf(value)
        if type(value) is tuple:
            return f"({''.join(self.text(item) + ', ' for item in value)})"
        if isinstance(value, ModuleType):
            return self._module(value)
        number = self._numbers.get(id(value))
        if number is not None:
            return f"#{number}"
        if isinstance(value, (type, FunctionType, BuiltinFunctionType)):
            name = known_name(value)
            if name is not None:
                if not is_library_type(value):
                    self._judge(value.__module__, value.__qualname__)
                return name
        if len(self._numbers) > _MOST_NODES:
            return self._opaque(value, "is too large")
        number = self._numbers[id(value)] = len(self._numbers)
        self._kept.append(value)
        self._lines.append("")
        place = len(self._lines) - 1
        self._lines[place] = f"#{number} ="
        if content_of(value) is not None:
            self._arrays.append((place, value, self._label, self._name))
        else:
            self._lines[place] += f" {self._node(value)}"
        return f"#{number}"

    def _inside(self, value: Any, label: str, name: str | None) -> str:
        """The description of a part of a value, which a user would call by the label."""
        before = self._label, self._name
        self._label, self._name = label, name
        try:
            return self.text(value)
        finally:
            self._label, self._name = before

    def _judge(self, module: str, path: str) -> None:
        """Note a function or class of a library that may look at more than its arguments."""
        if self._judges and looks_outside(module, path):
            self.opaque.append(f"{module}.{path} may give something else at the next start")
        if (module, path) in IMPORTERS:
            self.imports_by_name = self._finds_modules = True

    def _type_of(self, value: Any) -> str:
        """The type of an instance, which is no sign that its class is called."""
        before, self._judges = self._judges, False
        try:
            return self.text(type(value))
        finally:
            self._judges = before

    def _opaque(self, value: Any, why: str) -> str:
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        self.opaque.append(f"a {kind} {why}")
        self._kept.append(value)
        return f"opaque {kind} {id(value)}"

    def _node(self, value: Any) -> str:
        kind = type(value)
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, enum.Enum):
            return f"{self._type_of(value)}.{value.name} {self.text(value.value)}"
        if kind in _CONTAINERS:
            return self._container(value)
        if isinstance(value, _OF_THE_CALLER):
            return self._of_the_caller(value)
        parts = _PARTS.get((kind.__module__, kind.__qualname__))
        if parts is not None:
            return self._parts(value, parts)
        if kind.__module__ in ("typing", "types") and hasattr(value, "__args__"):
            parts = (getattr(value, name, None) for name in ("__origin__", "__args__", "__metadata__"))
            return f"alias {kind.__name__} {self.text(tuple(parts))}"
        if kind.__module__ == "typing" and hasattr(value, "__name__"):  # a TypeVar, or a name like Any
            return f"typing {value.__name__}"
        if kind.__name__ in (*_BUILTIN_METHODS, "builtin_function_or_method"):
            owner = getattr(value, "__objclass__" if kind.__name__ in _BUILTIN_METHODS else "__self__", None)
            if isinstance(owner, type):
                return f"method {self.text(owner)} {value.__name__}"
        special = library_value(value)
        return special if special is not None else self._instance(value)

    # Functions and what they read -----------------------------------------------------------------

    def _function(self, function: FunctionType) -> str:
        self.functions.append(function)
        self.watches.function(function)
        code = function.__code__
        reads = code_reads(code)
        self._all_names |= reads.taken
        self._computes_names |= reads.computes_names
        for name in reads.escapes:
            self.opaque.append(f"{function.__qualname__}() uses {name}(), whose effect cannot be followed")
        if reads.writes_globals and self.writes_matter:
            self.opaque.append(f"{function.__qualname__}() assigns globals while it is traced")
        before = self._reads, self._attributes, self._modules, self._scope, self._label, self._name
        around, self._finds_modules = self._finds_modules, False
        self._reads, self._attributes, self._modules = reads, reads.attributes, set()
        self._scope = self._scope or function.__globals__
        try:
            head = f"function {function.__qualname__} {code_digest(code)}"
            label = f"{function.__name__}.__defaults__"
            parts = [head, self._inside(function.__defaults__, label, None), self._keyword_defaults(function)]
            parts.append(self._closure(function))
            parts += [f"{name}={self._global(function.__globals__, name)}" for name in reads.globals]
            parts += self._computed_globals(function, reads)
            parts += [self._import(function, name, level) for name, level in reads.imports]
            parts.append(self._annotations(function))
            if function.__dict__:
                extra = {k: v for k, v in function.__dict__.items() if k != "__wrapped__"}
                loose = self._volatile.get(id(function))
                self.watches.mapping(function, function.__dict__, f"{function.__name__}.{{}}", keys=False, loose=loose)
                parts.append(f"attributes {{{self._items(self._steady(function, extra), function.__name__)}}}")
            if self._finds_modules:
                parts.append(self._modules_by_name())
            if reads.computes_names and self._modules:
                self.opaque.append(f"{function.__qualname__}() may read attributes of a module by computed names")
        finally:
            self._reads, self._attributes, self._modules, self._scope, self._label, self._name = before
            self._finds_modules = around
        return " | ".join(parts)

    def _keyword_defaults(self, function: FunctionType) -> str:
        defaults = function.__kwdefaults__
        if not defaults:
            return "{}"
        label = f"{function.__name__}.__kwdefaults__"
        self.watches.mapping(defaults, defaults, f"{label}[{{}}]", keys=False, loose=self._volatile.get(id(defaults)))
        return f"{{{self._items(defaults, label)}}}"

    def _closure(self, function: FunctionType) -> str:
        texts = []
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            if id(cell) in self._volatile:
                self.opaque.append(f"the variable {name} changes while it is traced")
                continue
            self.watches.cell(cell, name)
            try:
                value = cell.cell_contents
            except ValueError:  # not bound yet
                texts.append(f"{name} unbound")
                continue
            texts.append(f"{name}={self._variable(value, name, name)}")
        return f"closure({', '.join(texts)})"

    def _global(self, scope: dict[str, Any], name: str) -> str:
        if (id(scope), name) in self._volatile_names:
            self.opaque.append(f"the global {name} changes while it is traced")
            return "volatile"
        label = name if scope is self._scope else f"{scope.get('__name__')}.{name}"
        value = scope.get(name, _ABSENT)
        if not isinstance(value, ModuleType) or known_module(value) is None:  # nobody gives `fx` another meaning
            self.watches.name(scope, name, label)
        return "not a global" if value is _ABSENT else self._variable(value, label, name)

    def _variable(self, value: Any, label: str, name: str) -> str:
        """What a global or closure variable holds; of a library's module, what is taken from it."""
        if isinstance(value, ModuleType) and self._reads is not None and known_module(value) is not None:
            return self._library(value, self._reads.chains.get(name))
        chains = self._reads.chains.get(name, ()) if self._reads is not None else ()
        if chains and all(chain[:1] and chain[0] in FORM for chain in chains) and content_of(value) is not None:
            return f"{type(value).__name__} {self.watches.data(value, form_of, f'{label} (its shape or type)')}"
        return self._inside(value, label, None)

    def _computed_globals(self, function: FunctionType, reads: CodeReads) -> list[str]:
        """Globals that a function may reach through `globals()` and its like: those that its texts speak of."""
        if _REACHES_GLOBALS.isdisjoint(reads.escapes):
            return []
        words = dict.fromkeys(word for text in reads.strings for word in re.findall(r"[^\W\d]\w*", text))
        found = [word for word in words if word in function.__globals__ and word not in reads.globals]
        if not found and not {"globals", "eval", "exec"}.isdisjoint(reads.escapes):
            self.unseen.append(f"globals that {function.__qualname__}() reads by computed names")
        return [f"{name}={self._global(function.__globals__, name)}" for name in found]

    def _annotations(self, function: FunctionType) -> str:
        before, self._judges = self._judges, False
        try:
            return f"annotations {{{self._items(function.__annotations__, function.__name__)}}}"
        finally:
            self._judges = before

    def _import(self, function: FunctionType, name: str, level: int) -> str:
        """A module that the function imports when it runs: imported now, since running it would."""
        try:
            package = function.__globals__.get("__package__") or ""
            full = resolve_name("." * level + name, package) if level else name
            if level < 0 or not full:
                raise ImportError(name)
            module = import_module(full)
            if is_known(full):
                known = known_module(module) is not None and not is_own_module(full)
                return f"import {full} {self._library(module, None)}" if known else f"import {full}"
            top = sys.modules[full.partition(".")[0]]
            return f"import {full} {self.text(module)} {self.text(top)}"
        except Exception as error:  # a user's module may raise anything; tracing will raise it again
            self.opaque.append(f"{function.__qualname__}() imports {name!r}, which failed: {error}")
            return f"import {name} {id(function)}"

    def _module(self, module: ModuleType) -> str:
        if known_module(module) is not None:
            return self._library(module, None)
        if id(module) in self._modules:
            return f"module {module.__name__}"
        self._modules.add(id(module))
        scope = vars(module)
        read = sorted(name for name in self._attributes if name in scope)
        return f"module {module.__name__} {{{', '.join(f'{name}={self._global(scope, name)}' for name in read)}}}"

    # What is taken from libraries -----------------------------------------------------------------

    def _library(self, module: ModuleType, chains: Iterable[tuple[str, ...]] | None) -> str:
        """A module that is known by its name, with the values that the function at hand takes from it.

        ``chains`` are the attributes it takes, if that is known; else it may be any that it takes from anything.
        """
        head = f"module {known_module(module)}"
        if is_own_module(module.__name__) or self._reads is None:
            return head
        if chains is None or () in chains:
            if id(module) in self._modules:
                return head
            self._modules.add(id(module))
            chains = [(name,) for name in self._attributes if name in vars(module)]
        texts = [self._library_use(module, chain) for chain in sorted(chains)]
        return " ".join((head, *dict.fromkeys(filter(None, texts))))

    def _library_use(self, module: ModuleType, chain: tuple[str, ...]) -> str:
        use, owner, name, value = use_of(module, chain)
        label = f"{owner.__name__}.{name}"
        if use is LibraryUse.MODULE:
            return self._library(value, None)
        if use is LibraryUse.CALLABLE:
            self._judge(owner.__name__, name)
        if use is LibraryUse.MODULES:
            self.opaque.append(f"modules are read from {label}")
            self.imports_by_name = self._finds_modules = True
        if use is LibraryUse.SETTING:
            return f"{label}={self.text(value)}"
        if use is LibraryUse.DATA:
            self.watches.name(vars(owner), name, label)
            return f"{label}={self._inside(value, label, None)}"
        return ""

    def _modules_by_name(self) -> str:
        """The modules that a function takes from `sys.modules` or imports by name: those that its texts name."""
        assert self._reads is not None
        found = [(text, sys.modules[text]) for text in self._reads.strings if text in sys.modules]
        if not found:
            self.unseen.append("modules that it finds by computed names")
        return " ".join(f"{text} {self._module(module)}" for text, module in found)

    # Classes, instances, containers ---------------------------------------------------------------

    def _class(self, cls: type) -> str:
        head = f"class {cls.__qualname__} {self.text(cls.__bases__)} {self.text(type(cls))}"
        if issubclass(cls, enum.Enum):
            label = cls.__name__
            members = {name: member.value for name, member in cls.__members__.items()}
            methods = {k: v for k, v in vars(cls).items() if isinstance(v, (FunctionType, property, classmethod))}
            return f"{head} members {{{self._items(members, label)}}} {{{self._items(methods, label)}}}"
        # Pickling leaves this list in a class: have it there before we look.
        copyreg._slotnames(cls)  # pyright: ignore[reportAttributeAccessIssue]
        loose = self._volatile.get(id(cls))
        self.watches.mapping(cls, vars(cls), f"{cls.__name__}.{{}}", keys=False, loose=loose)
        entries = {name: value for name, value in vars(cls).items() if name not in _CLASS_MACHINERY}
        entries = self._steady(cls, entries)
        if "__dataclass_fields__" in vars(cls):
            head += f" {vars(cls)['__dataclass_params__']} ({self._fields(cls)})"
            entries = {name: value for name, value in entries.items() if not is_generated(name, value)}
            entries.pop("__annotations__", None)
        texts = (f"{name}={self._entry(value, f'{cls.__name__}.{name}', name)}" for name, value in entries.items())
        return f"{head} {{{', '.join(texts)}}}"

    def _fields(self, cls: type) -> str:
        """The fields of a dataclass, which its generated methods follow from."""
        texts = []
        for field in vars(cls)["__dataclass_fields__"].values():
            flags = (field.init, field.repr, field.hash, field.compare, field.kw_only)
            parts = self.text((field.name, field.type, field.default, field.default_factory, *flags))
            texts.append(parts)
        return ", ".join(texts)

    def _entry(self, value: Any, label: str, name: str) -> str:
        """An entry of a class; a slot is no more than its name."""
        if type(value).__name__ in ("member_descriptor", "getset_descriptor", "_tuplegetter"):
            return "slot"
        return self._inside(value, label, name)

    def _steady(self, owner: Any, parts: dict[Any, Any]) -> dict[Any, Any]:
        """What an object holds but for what changes whenever something is traced."""
        changing = self._volatile.get(id(owner))
        if not changing:
            return parts
        self.opaque.append(f"{self._label or type(owner).__name__} changes while it is traced")
        return {key: value for key, value in parts.items() if key not in changing}

    def _container(self, value: Any) -> str:
        """The items of a container, read past whatever a class derived from it overrides."""
        base = container_base(value)
        kind, items = type(value).__name__, base.__len__(value)
        if items > _LONGEST:
            return self._opaque(value, f"has {items} items")
        if issubclass(base, (dict, MappingProxyType)):
            return f"{kind} {self._mapping(value, base)}"
        if id(value) in self._volatile:
            return self._opaque(value, "changes while it is traced")
        items = tuple(base.__iter__(value))
        view = value if type(value) is base else _Items(value, base)
        self.watches.view(value, view, f"{self._label}[{{}}]")
        if base in (set, frozenset):
            if not all(type(item) in _LEAVES for item in items):
                return self._opaque(value, "has items without an order")
            return f"{kind} {sorted(map(self.text, items))}"
        texts = (self._inside(item, f"{self._label}[{index}]", self._name) for index, item in enumerate(items))
        return f"{kind} [{', '.join(texts)}]"

    def _mapping(self, value: Any, base: Any) -> str:
        loose = self._volatile.get(id(value))
        self.watches.mapping(value, value, f"{self._label}[{{}}]", loose=loose)
        factory = self.text(value.default_factory) if base is defaultdict else "None"
        items = self._steady(value, dict(zip(base.keys(value), base.values(value))))
        texts = [f"{self.text(key)}: {self._item(key, item)}" for key, item in items.items()]
        return f"{factory} {{{', '.join(texts)}}}"

    def _item(self, key: Any, item: Any) -> str:
        """A value in a mapping, by the name under which code may ask for it."""
        label = f"{self._label}[{key!r}]" if type(key) in _LEAVES else self._label
        return self._inside(item, label, key if type(key) is str else self._name)

    def _array(self, value: Any, label: str) -> str:
        """An array that traced code reads: by its bytes, or by identity if they are too many."""
        content = content_of(value)
        assert content is not None
        volatile = id(value) in self._volatile
        seen = self.watches.data(value, content.read, label) if content.read is not None and not volatile else None
        if content.text and not volatile:
            return f" {type(value).__name__} {content.text}"
        if not content.is_seen:
            self.unseen.append(f"elements of '{label}', an array of {content.size} bytes, written in place")
        known = len(self.opaque)
        text = self._opaque(value, f"has {content.size} bytes")
        return f" {text} {seen}" if len(self.opaque) > known else f" {text}"

    def _of_the_caller(self, value: Any) -> str:
        """What each thread or context has for itself."""
        if isinstance(value, ContextVar):
            self.watches.data(value, _context_value, self._label)
            held = value.get(_ABSENT)
            return f"context variable {value.name} {'unset' if held is _ABSENT else self.text(held)}"
        self.watches.local_mapping(value, _own_attributes, f"{self._label}.{{}}")
        return f"{self._type_of(value)} {{{self._items(_own_attributes(value), self._label)}}}"

    def _items(self, mapping: Mapping[str, Any], label: str) -> str:
        return ", ".join(f"{name}={self._inside(value, f'{label}.{name}', name)}" for name, value in mapping.items())

    def _parts(self, value: Any, names: Iterable[str]) -> str:
        texts = [f"{name}={self.text(getattr(value, name, None))}" for name in names]
        signature = getattr(value, "signature", None)
        if type(value).__name__ == "KernelFunction":
            texts.append(f"parameters {self.text(tuple(getattr(signature, 'annotations', ())))}")
        return f"{type(value).__module__}.{type(value).__qualname__}({', '.join(texts)})"

    def _instance(self, value: Any) -> str:
        state = state_of(value)
        if state is None:
            return self._opaque(value, "cannot be described by its content")
        fields, slots, base = state
        label = self._label or type(value).__name__
        if not is_immutable(type(value)):
            if fields is not None:
                self.watches.mapping(value, fields, f"{label}.{{}}", loose=self._volatile.get(id(value)))
            changing = self._volatile.get(id(value), ())
            steady = {name: slot for name, slot in slots_of(value).items() if name not in changing}
            self.watches.slots(value, steady, f"{label}.{{}}")
        content = self._items(self._steady(value, {**slots, **(fields or {})}), label)
        held = self._container(value) if container_base(value) is not None else self.text(base)
        return f"instance {self._type_of(value)} {held} {{{content}}}"


class _Items:
    """The items of a container of a derived class, past what the class overrides."""

    def __init__(self, value: Any, base: Any) -> None:
        self._value, self._base = value, base

    def __iter__(self) -> Any:
        return self._base.__iter__(self._value)

    def __contains__(self, item: object) -> bool:
        return any(other is item for other in self)

    def __len__(self) -> int:
        return self._base.__len__(self._value)


def _context_value(variable: ContextVar[Any]) -> Any:
    return _Identity(variable.get(_ABSENT))


class _Identity:
    """Equal to itself for one object only."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.value is self.value

    __hash__ = None  # type: ignore[assignment]


def _own_attributes(value: Any) -> dict[str, Any]:
    return threading.local.__getattribute__(value, "__dict__")
