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
import hashlib
import struct
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
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

from flydsl.compiler.code_reads import code_digest, code_reads
from flydsl.compiler.known_code import is_known, known_module, known_name
from flydsl.compiler.object_state import is_generated, is_immutable, library_value, state_of
from flydsl.compiler.watches import Watches

_MOST_NODES = 5000
_MOST_BYTES = 1 << 16
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

    def __init__(
        self, volatile: frozenset[int] = frozenset(), volatile_names: frozenset[tuple[int, str]] = frozenset()
    ) -> None:
        self.lines: list[str] = []
        self.opaque: list[str] = []
        """Why this description is good for this process only."""
        self.functions: list[FunctionType] = []
        self.watches = Watches()
        self._volatile = volatile
        self._volatile_names = volatile_names
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []
        self._attributes: frozenset[str] = frozenset()
        self._modules: set[int] = set()

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
                return name
        if len(self._numbers) > _MOST_NODES or id(value) in self._volatile:
            return self._opaque(value, "changes while it is traced" if id(value) in self._volatile else "is too large")
        number = self._numbers[id(value)] = len(self._numbers)
        self._kept.append(value)
        self.lines.append("")
        place = len(self.lines) - 1
        self.lines[place] = f"#{number} = {self._node(value)}"
        return f"#{number}"

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
            return f"{self.text(kind)}.{value.name} {self.text(value.value)}"
        if kind in _CONTAINERS:
            return self._container(value)
        if kind is bytearray or (
            kind.__module__ == "numpy" and kind.__name__ == "ndarray" and not value.dtype.hasobject
        ):
            return self._data(value)
        parts = _PARTS.get((kind.__module__, kind.__qualname__))
        if parts is not None:
            return self._parts(value, parts)
        if kind.__module__ in ("typing", "types") and hasattr(value, "__args__"):
            parts = (getattr(value, name, None) for name in ("__origin__", "__args__", "__metadata__"))
            return f"alias {kind.__name__} {self.text(tuple(parts))}"
        if kind.__module__ == "typing" and hasattr(value, "__name__"):  # a TypeVar, or a name like Any
            return f"typing {value.__name__}"
        owner = getattr(value, "__objclass__" if kind.__name__ in _BUILTIN_METHODS else "__self__", None)
        if kind.__name__ in (*_BUILTIN_METHODS, "builtin_function_or_method") and isinstance(owner, type):
            return f"method {self.text(owner)} {value.__name__}"
        special = library_value(value)
        return special if special is not None else self._instance(value)

    # Functions and what they read -----------------------------------------------------------------

    def _function(self, function: FunctionType) -> str:
        self.functions.append(function)
        self.watches.function(function)
        code = function.__code__
        reads = code_reads(code)
        for name in reads.escapes:
            self.opaque.append(f"{function.__qualname__}() uses {name}(), whose effect cannot be followed")
        if reads.writes_globals:
            self.opaque.append(f"{function.__qualname__}() assigns globals while it is traced")
        before = self._attributes, self._modules
        self._attributes, self._modules = reads.attributes, set()
        try:
            head = f"function {function.__qualname__} {code_digest(code)}"
            parts = [head, self.text(function.__defaults__), self._keyword_defaults(function)]
            parts.append(self._closure(function))
            parts += [f"{name}={self._global(function.__globals__, name)}" for name in reads.globals]
            parts += [self._import(function, name, level) for name, level in reads.imports]
            parts.append(self._annotations(function))
            if function.__dict__:
                extra = {k: v for k, v in function.__dict__.items() if k != "__wrapped__"}
                self.watches.view(function, function.__dict__.values())
                parts.append(f"attributes {{{self._items(extra)}}}")
            if reads.computes_names and self._modules:
                self.opaque.append(f"{function.__qualname__}() may read attributes of a module by computed names")
        finally:
            self._attributes, self._modules = before
        return " | ".join(parts)

    def _keyword_defaults(self, function: FunctionType) -> str:
        defaults = function.__kwdefaults__
        if not defaults:
            return "{}"
        self.watches.view(function, defaults.values())
        return f"{{{self._items(defaults)}}}"

    def _closure(self, function: FunctionType) -> str:
        texts = []
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            if id(cell) in self._volatile:
                self.opaque.append(f"the variable {name} changes while it is traced")
                continue
            try:
                texts.append(f"{name}={self.text(cell.cell_contents)}")
            except ValueError:  # not bound yet
                texts.append(f"{name} unbound")
        return f"closure({', '.join(texts)})"

    def _global(self, scope: dict[str, Any], name: str) -> str:
        if (id(scope), name) in self._volatile_names:
            self.opaque.append(f"the global {name} changes while it is traced")
            return "volatile"
        value = scope.get(name, _ABSENT)
        if not isinstance(value, ModuleType) or known_module(value) is None:  # nobody gives `fx` another meaning
            self.watches.name(scope, name)
        return "not a global" if value is _ABSENT else self.text(value)

    def _annotations(self, function: FunctionType) -> str:
        return f"annotations {{{self._items(function.__annotations__)}}}"

    def _import(self, function: FunctionType, name: str, level: int) -> str:
        """A module that the function imports when it runs: imported now, since running it would."""
        try:
            package = function.__globals__.get("__package__") or ""
            full = resolve_name("." * level + name, package) if level else name
            if level < 0 or not full:
                raise ImportError(name)
            if is_known(full):
                return f"import {full}"
            module = import_module(full)
            top = sys.modules[full.partition(".")[0]]
            return f"import {full} {self.text(module)} {self.text(top)}"
        except Exception as error:  # a user's module may raise anything; tracing will raise it again
            self.opaque.append(f"{function.__qualname__}() imports {name!r}, which failed: {error}")
            return f"import {name} {id(function)}"

    def _module(self, module: ModuleType) -> str:
        name = known_module(module)
        if name is not None:
            return f"module {name}"
        if id(module) in self._modules:
            return f"module {module.__name__}"
        self._modules.add(id(module))
        scope = vars(module)
        read = sorted(name for name in self._attributes if name in scope)
        return f"module {module.__name__} {{{', '.join(f'{name}={self._global(scope, name)}' for name in read)}}}"

    # Classes, instances, containers ---------------------------------------------------------------

    def _class(self, cls: type) -> str:
        head = f"class {cls.__qualname__} {self.text(cls.__bases__)} {self.text(type(cls))}"
        if issubclass(cls, enum.Enum):
            members = {name: member.value for name, member in cls.__members__.items()}
            methods = {k: v for k, v in vars(cls).items() if isinstance(v, (FunctionType, property, classmethod))}
            return f"{head} members {{{self._items(members)}}} {{{self._items(methods)}}}"
        # Pickling leaves this list in a class: have it there before we look.
        copyreg._slotnames(cls)  # pyright: ignore[reportAttributeAccessIssue]
        self.watches.view(cls, vars(cls).values())
        entries = {name: value for name, value in vars(cls).items() if name not in _CLASS_MACHINERY}
        if "__dataclass_fields__" in vars(cls):
            head += f" {vars(cls)['__dataclass_params__']} ({self._fields(cls)})"
            entries = {name: value for name, value in entries.items() if not is_generated(name, value)}
            entries.pop("__annotations__", None)
        return f"{head} {{{', '.join(f'{name}={self._entry(value)}' for name, value in entries.items())}}}"

    def _fields(self, cls: type) -> str:
        """The fields of a dataclass, which its generated methods follow from."""
        texts = []
        for field in vars(cls)["__dataclass_fields__"].values():
            flags = (field.init, field.repr, field.hash, field.compare, field.kw_only)
            parts = self.text((field.name, field.type, field.default, field.default_factory, *flags))
            texts.append(parts)
        return ", ".join(texts)

    def _entry(self, value: Any) -> str:
        """An entry of a class; a slot is no more than its name."""
        if type(value).__name__ in ("member_descriptor", "getset_descriptor", "_tuplegetter"):
            return "slot"
        return self.text(value)

    def _container(self, value: Any) -> str:
        kind = type(value).__name__
        if len(value) > _LONGEST:
            return self._opaque(value, f"has {len(value)} items")
        if kind in ("set", "frozenset"):
            if not all(type(item) in _LEAVES for item in value):
                return self._opaque(value, "has items without an order")
            self.watches.view(value, value)
            return f"{kind} {sorted(map(self.text, value))}"
        if kind in ("list", "deque"):
            self.watches.view(value, value)
            return f"{kind} [{', '.join(map(self.text, value))}]"
        self.watches.mapping(value, value)
        factory = self.text(getattr(value, "default_factory", None))
        return f"{kind} {factory} {{{', '.join(f'{self.text(k)}: {self.text(v)}' for k, v in value.items())}}}"

    def _data(self, value: Any) -> str:
        """Bytes, or an array of numbers."""
        size = len(value) if isinstance(value, bytearray) else value.nbytes
        if size > _MOST_BYTES:
            return self._opaque(value, f"has {size} bytes")
        content = self.watches.data(value)
        shape = "" if isinstance(value, bytearray) else f"{self.text(value.dtype)} {value.shape}"
        return f"{type(value).__name__} {shape} {hashlib.sha256(content).hexdigest()}"

    def _items(self, mapping: Mapping[str, Any]) -> str:
        return ", ".join(f"{name}={self.text(value)}" for name, value in mapping.items())

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
        if not is_immutable(type(value)):
            if fields is not None:
                self.watches.mapping(value, fields)
            self.watches.slots(value, slots)
        content = self._items({**slots, **(fields or {})})
        return f"instance {self.text(type(value))} {self.text(base)} {{{content}}}"
