"""Fingerprints of data: numbers, texts, containers, classes, objects and arrays, as text.

A value that cannot change is written as it is. Everything else is numbered when it is first met, and what it holds is
written when its turn comes, so that cycles and chains of any length end. What has no content that can be seen is known
by its identity, and `opaque` has the reason; what could change without any sign of it is refused.

While it walks, a `ValueWalk` notes where it read what, for the guard that each call passes (`values.py`).
"""

from __future__ import annotations

import copyreg
import dataclasses
import enum
import io
import reprlib
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MappingProxyType, ModuleType, SimpleNamespace
from typing import Any

from flydsl.base import code_reads, libraries
from flydsl.base.errors import DslTypeError
from flydsl.base.own_code import is_own_module
from flydsl.base.records import dataclass, field
from flydsl.compiler.capture import values
from flydsl.compiler.messages.diagnostics import definition_of

_MOST_NODES = 20_000
_MOST_NESTED = 20
"""Tuples within tuples that are written in one line."""
_HEAP_TYPE = 1 << 9
"""The flag of classes that are written in Python."""
_OF_THE_CALLER = (ContextVar, threading.local)
"""Types whose values are others in each thread or context."""
_IMPORTERS = frozenset({("importlib", "import_module"), ("builtins", "__import__")})
"""Functions that give modules by name."""
_OF_BUILTIN_CLASSES = ("wrapper_descriptor", "method_descriptor", "classmethod_descriptor")
_SLOTS = ("member_descriptor", "getset_descriptor", "_tuplegetter", "CField")
_ENUM_MEMBER = frozenset({"_value_", "_name_", "__objclass__", "_sort_order_", "_hashable_values_"})
_CLASS_MACHINERY = frozenset({
    "__dict__", "__weakref__", "__doc__", "__module__", "__abstractmethods__", "_abc_impl", "__dataclass_params__",
    "__dataclass_fields__", "__match_args__", "__orig_bases__", "__parameters__", "__firstlineno__",
    "__static_attributes__", "__slotnames__", "__annotate__", "__annotate_func__", "__annotations_cache__",
    "__fly_made__",
})  # fmt: skip
"""Entries of a class that follow from the others."""

Names = frozenset[str] | None
"""The attributes and keys under which a value was found; None for one that code reads itself."""


@dataclass
class Reader:
    """The function on whose behalf values are read."""

    function: FunctionType | None = None
    reads: code_reads.CodeReads | None = None
    modules: set[int] = field(default_factory=set)
    """Modules that were seen on its behalf."""
    finds_modules: bool = False
    """Whether it gets modules by name."""


@dataclass(frozen=True)
class Cursor:
    """The place that a walk through captured values has reached."""

    reader: Reader
    label: str = ""
    """How a user would call the value at hand."""
    names: Names = None


class ValueWalk:
    """Makes fingerprints of values, one after the other; a value met again is named by its number."""

    def __init__(self, volatile: Mapping[int, frozenset[Any]] = MappingProxyType({})) -> None:
        """``volatile``: what tracing itself changes, by the id of what holds it."""
        self.functions: list[FunctionType] = []
        self.guard = values.Guard()
        self.unseen: list[str] = []
        """What may change without any later call noticing."""
        self.by_identity: list[str] = []
        """What is known by its identity alone."""
        self._taken: set[str] = set()
        """Names of attributes that functions take."""
        self._content: set[str] = set()
        """Those from which they take more than the shape or type of an array."""
        self._computes_names = False
        self.imports_by_name = False
        """Whether a function may import modules while it is traced that nothing here could know of."""
        self._opaque: list[str] = []
        self._lines: list[str] = []
        self._volatile = volatile
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []
        self._queue: deque[tuple[int, Any, Cursor]] = deque()
        self._late: deque[tuple[int, Any, Cursor]] = deque()
        self._at = Cursor(Reader())
        self._scope: dict[str, Any] | None = None
        self._judges = True

    def _function(self, function: FunctionType) -> str:
        raise NotImplementedError

    def _module(self, module: ModuleType) -> str:
        raise NotImplementedError

    # The walk -------------------------------------------------------------------------------------

    @property
    def lines(self) -> list[str]:
        """What the texts refer to by number."""
        self._finish()
        return self._lines

    @property
    def opaque(self) -> list[str]:
        """Why the texts are good for this process only."""
        self._finish()
        return self._opaque

    def takes(self, names: Names) -> bool:
        """Return whether a function may read what is found under these names."""
        return names is None or self._computes_names or not names.isdisjoint(self._taken)

    def takes_content(self, names: Names) -> bool:
        """Return whether a function may read more of an array found there than its shape or type."""
        return names is None or self._computes_names or not names.isdisjoint(self._content)

    def learn(self, other: ValueWalk) -> None:
        """Let the functions of another walk be among those that may read."""
        self._taken |= other._taken
        self._content |= other._content
        self._computes_names |= other._computes_names

    def _finish(self) -> None:
        """Follow what was met; last what counts only if it is read, when the names of all functions are known."""
        before = self._at
        while self._queue or self._late:
            late = not self._queue
            place, value, self._at = (self._late if late else self._queue).popleft()
            text = self._late_text(value) if late else self._node(value)
            if text is None:
                self._late.append((place, value, self._at))
            else:
                self._lines[place] += f" {text}"
        self._at = before

    def text(self, value: Any, nested: int = 0) -> str:
        """Fingerprint a value, ``nested`` in so many tuples; what it refers to by number is in ``lines``."""
        if (leaf := values.LEAVES.get(type(value))) is not None:
            return leaf(value)
        if type(value) is CodeType:
            return f"code {code_reads.code_digest(value)}"
        if type(value) is tuple and nested < _MOST_NESTED:
            return f"({''.join(self.text(item, nested + 1) + ', ' for item in value)})"
        if isinstance(value, ModuleType):
            return self._module(value)
        if (number := self._numbers.get(id(value))) is not None:
            return f"#{number}"
        if isinstance(value, (type, FunctionType, BuiltinFunctionType)):
            name = libraries.known_name(value)
            if name is not None:
                if not libraries.is_array_type(value):
                    self._judge(value.__module__, value.__qualname__)
                return name
        if len(self._numbers) > _MOST_NODES:
            raise self._refused(f"more than {_MOST_NODES} objects", "pass what it needs as an argument")
        number = self._numbers[id(value)] = len(self._numbers)
        self._kept.append(value)
        self._lines.append(f"#{number} =")
        self._queue.append((number, value, self._at))
        return f"#{number}"

    def _inside(self, value: Any, label: str, names: Names) -> str:
        """Return the fingerprint of a part of a value, which a user would call by the label."""
        before, self._at = self._at, Cursor(self._at.reader, label, names)
        try:
            return self.text(value)
        finally:
            self._at = before

    def _judge(self, module: str, path: str) -> None:
        """Note a function or class of a library that may look at more than its arguments."""
        if self._judges and not libraries.is_steady(module, path):
            self._opaque.append(f"{module}.{path} may give something else at the next start")
        if (module, path) in _IMPORTERS:
            self.imports_by_name = self._at.reader.finds_modules = True

    def _unjudged(self, value: Any) -> str:
        """Return the text of a type that is mentioned, which is no sign that it is called."""
        before, self._judges = self._judges, False
        try:
            return self.text(value)
        finally:
            self._judges = before

    def _node(self, value: Any) -> str | None:
        """Return what a numbered value is; None if that is to be seen when all else has been."""
        kind = type(value)
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, enum.Enum):
            return self._member(value)
        if kind is tuple:
            return f"tuple ({''.join(self.text(item) + ', ' for item in value)})"
        if values.is_object_array(value) or values.container_of(kind) is kind:
            return self._container(value)
        if isinstance(value, _OF_THE_CALLER):
            return self._of_the_caller(value)
        if (parts := values.parts_of(kind)) is not None:
            return self._parts(value, parts)
        if kind.__module__ in ("typing", "types") and hasattr(value, "__args__"):
            parts = (getattr(value, name, None) for name in ("__origin__", "__args__", "__metadata__"))
            return f"alias {kind.__name__} {self._unjudged(tuple(parts))}"
        if kind.__module__ == "typing" and hasattr(value, "__name__"):  # a TypeVar, or a name like Any
            return f"typing {value.__name__}"
        if kind.__name__ in _OF_BUILTIN_CLASSES:
            return f"method {self.text(value.__objclass__)} {value.__name__}"
        if kind.__name__ in values.BOUND and not isinstance(value.__self__, (ModuleType, type(None))):
            return f"method {self.text(value.__self__)} {value.__name__}"
        if values.content_of(value) is not None:
            return None
        special = values.library_value(value)
        return special if special is not None else self._instance(value)

    # Classes and instances ------------------------------------------------------------------------

    def _class(self, cls: type) -> str:
        head = f"class {cls.__qualname__} {self._unjudged(cls.__bases__)} {self._unjudged(type(cls))}"
        # Pickling leaves this list in a class: have it there before we look.
        copyreg._slotnames(cls)  # pyright: ignore[reportAttributeAccessIssue]
        self._guard_mapping(cls, vars(cls), MappingProxyType, f"{cls.__name__}.\0")
        self.guard.item(cls, f"{cls.__name__}.\0", "__bases__", "{0}.__bases__", (cls,), cls.__bases__)
        if issubclass(cls, enum.Enum):
            members = tuple(cls.__members__.values())
            # That none is given more attributes, at a lower price than by looking at all it has.
            held = tuple(map(vars, members))
            self.guard.data(held, lambda held: [*map(len, held)], f"{cls.__name__} (attributes of its members)")
            methods = {k: v for k, v in vars(cls).items() if isinstance(v, (FunctionType, property, classmethod))}
            return f"{head} members {self.text(members)} {{{self._items(methods, cls.__name__)}}}"
        entries = {name: value for name, value in vars(cls).items() if name not in _CLASS_MACHINERY}
        entries = self._steady(cls, entries)
        if "__dataclass_fields__" in vars(cls):
            head += f" {vars(cls)['__dataclass_params__']} ({self._fields(cls)})"
            entries = {name: value for name, value in entries.items() if not _is_generated(name, value)}
            entries.pop("__annotations__", None)
        texts = (
            f"{name}={'slot' if type(value).__name__ in _SLOTS else self._attribute(value, cls.__name__, name)}"
            for name, value in entries.items()
        )
        return f"{head} {{{', '.join(texts)}}}"

    def _fields(self, cls: type) -> str:
        """Return the fields of a dataclass, which its generated methods follow from."""
        texts = []
        for entry in vars(cls)["__dataclass_fields__"].values():
            flags = (entry.init, entry.repr, entry.hash, entry.compare, entry.kw_only)
            kind = self._unjudged(entry.type)
            texts.append(f"{kind} {self.text((entry.name, entry.default, entry.default_factory, *flags))}")
        return ", ".join(texts)

    def _member(self, member: enum.Enum) -> str:
        """Return a member of an enum, with the attributes it was given beside its value."""
        held = {name: value for name, value in vars(member).items() if name not in _ENUM_MEMBER}
        label = f"{type(member).__name__}.{member.name}"
        if held:
            self._guard_mapping(member, vars(member), dict, f"{label}.\0")
        more = f" {{{self._items(self._steady(member, held), label)}}}" if held else ""
        return f"{self._unjudged(type(member))}.{member.name} {self._inside(member.value, label, None)}{more}"

    def _instance(self, value: Any) -> str | None:
        state = _state_of(value)
        if state is None:
            return None
        fields, slots, base = state
        label = self._at.label or type(value).__name__
        if not _is_immutable(type(value)):
            if fields is not None:
                self._guard_mapping(value, fields, dict, f"{label}.\0")
            for name, slot in self._steady(value, values.slots_of(value)).items():
                self.guard.item(value, f"{label}.\0", name, "{0}({1})", (slot.__get__, value), slot.__get__(value))
            self.guard.item(value, f"the class of {label}", "", "{0}({1})", (type, value), type(value))
        content = self._items(self._steady(value, {**slots, **(fields or {})}), label)
        held = self._container(value) if values.container_of(type(value)) is not None else self.text(base)
        return None if held is None else f"instance {self._unjudged(type(value))} {held} {{{content}}}"

    def _of_the_caller(self, value: Any) -> str:
        """Return what each thread or context has for itself."""
        label = self._at.label
        if isinstance(value, ContextVar):
            held = value.get(values.MISSING)
            self.guard.item(value, "\0", label, "{0}.get({1})", (value, values.MISSING), held)
            text = "unset" if held is values.MISSING else self._inside(held, label, None)
            return f"context variable {value.name} {text}"
        self.guard.local(value, _own_attributes, f"{label}.\0")
        return f"{self._unjudged(type(value))} {{{self._items(_own_attributes(value), label)}}}"

    def _parts(self, value: Any, names: Iterable[str]) -> str:
        texts = [f"{name}={self.text(getattr(value, name, None))}" for name in names]
        signature = getattr(value, "signature", None)
        if type(value).__name__ == "KernelFunction":
            texts.append(f"parameters {self._unjudged(tuple(getattr(signature, 'annotations', ())))}")
        return f"{type(value).__module__}.{type(value).__qualname__}({', '.join(texts)})"

    def _items(self, mapping: Mapping[str, Any], label: str) -> str:
        return ", ".join(f"{name}={self._attribute(value, label, name)}" for name, value in mapping.items())

    def _attribute(self, value: Any, label: str, name: str) -> str:
        return self._inside(value, f"{label}.{name}", frozenset({name}))

    def _guard_mapping(self, owner: Any, mapping: Any, kind: Any, label: str) -> None:
        self.guard.mapping(owner, mapping, kind, label, self._volatile.get(id(owner)))

    def _steady(self, owner: Any, parts: dict[Any, Any]) -> dict[Any, Any]:
        """Return what an object holds but for what changes whenever something is traced."""
        changing = self._volatile.get(id(owner))
        if not changing:
            return parts
        self._opaque.append(f"{self._at.label or type(owner).__name__} changes while it is traced")
        return {key: value for key, value in parts.items() if key not in changing}

    # Containers -----------------------------------------------------------------------------------

    def _container(self, value: Any) -> str | None:
        """Read the items of a container past whatever a class derived from it overrides; None if they are too many."""
        base, kind = values.container_of(type(value)), type(value).__name__
        if (value.size if base is None else base.__len__(value)) > values.MOST_ITEMS:
            return None
        if base is not None and issubclass(base, (dict, MappingProxyType)):
            return f"{kind} {self._mapping(value, base)}"
        if id(value) in self._volatile:
            return self._identity(value, "changes while it is traced")
        label = self._at.label
        read = partial(base.__iter__, value) if base is not None else lambda: value.ravel().tolist()
        items = self.guard.items(value, read, label) if base is not frozenset else tuple(read())
        if base in (set, frozenset):
            return f"{kind} {self._without_order(items)}"
        texts = (self._inside(item, f"{label}[{index}]", self._at.names) for index, item in enumerate(items))
        return f"{kind} {value.shape if base is None else ''}[{', '.join(texts)}]"

    def _without_order(self, items: tuple[Any, ...]) -> str:
        texts = [self._inside(item, self._at.label, self._at.names) for item in items]
        if any("#" in text for text, item in zip(texts, items) if type(item) not in values.LEAVES):
            self._opaque.append("a set has items without an order")
            return f"{sorted(map(id, items))} {texts}"
        return str(sorted(texts))

    def _mapping(self, value: Any, base: Any) -> str:
        self._guard_mapping(value, value, base, f"{self._at.label}[\0]")
        factory = self.text(value.default_factory) if base is defaultdict else "None"
        items = self._steady(value, dict(zip(base.keys(value), base.values(value))))
        texts = [f"{self.text(key)}: {self._item(key, item)}" for key, item in items.items()]
        return f"{factory} {{{', '.join(texts)}}}"

    def _item(self, key: Any, item: Any) -> str:
        """Return a value in a mapping, by the name under which code may ask for it."""
        at = self._at
        label = f"{at.label}[{key!r}]" if type(key) in values.LEAVES else at.label
        return self._inside(item, label, at.names | {key} if at.names is not None and type(key) is str else at.names)

    # What counts only if it is read -----------------------------------------------------------------

    def _late_text(self, value: Any) -> str:
        """Return an array, or what has no content that could be compared: its type, if no function asks for it."""
        if not self.takes(self._at.names):
            return type(value).__name__
        content = values.content_of(value)
        if content is not None:
            if not self.takes_content(self._at.names):
                return self._form(value, f"{self._at.label} (its shape)")
            return self._array(value, content)
        if values.container_of(type(value)) is not None or values.is_object_array(value):
            hint = "make it a tuple or a NumPy array, or pass what the kernel needs as an argument"
            raise self._refused(f"a {type(value).__name__} of more than {values.MOST_ITEMS} items", hint)
        if isinstance(value, Iterator) and not isinstance(value, io.IOBase):
            raise self._refused(f"an iterator ({type(value).__name__}), which each reading changes", "make it a tuple")
        return self._identity(value, "cannot be described by its content")

    def _array(self, value: Any, content: values.Content) -> str:
        """Return an array that traced code reads: by its bytes, or by identity if they are too many."""
        label, changing = self._at.label, id(value) in self._volatile
        if not content.is_seen and not changing:
            many = content.size > values.MOST_BYTES
            why = f"an array of more than {values.MOST_BYTES} bytes" if many else "memory with pointers"
            return self._unseen_array(value, f"{why} that can be written")
        seen = self.guard.data(value, content.read, label) if content.read is not None and not changing else None
        fields = values.attributes_of(value) if type(value).__module__.partition(".")[0] != "torch" else None
        more = ""
        if fields:
            names = self._at.names
            texts = [f"{name}={self._inside(item, f'{label}.{name}', names)}" for name, item in fields.items()]
            more = f" {{{', '.join(texts)}}}"
            self._guard_mapping(value, fields, dict, f"{label}.\0")
        if content.data is not None and not changing:
            return f"{self._unjudged(type(value))} {content.form} {values.digest_of(content.data(value))}{more}"
        return f"{self._identity(value, f'has {content.size} bytes')} {seen}{more}"

    def _form(self, value: Any, label: str) -> str:
        """Return an array of which only the shape or type is read."""
        return f"{type(value).__name__} {self.guard.data(value, values.form_of, label)}"

    def _unseen_array(self, value: Any, what: str) -> str:
        raise self._refused(what, "make it read-only (array.flags.writeable = False) or pass it as an argument")

    def _identity(self, value: Any, why: str) -> str:
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        self._opaque.append(f"a {kind} {why}")
        if self._at.label and "while it is traced" not in why:
            self.by_identity.append(f"'{self._at.label}', a {kind}")
        self._kept.append(value)
        return f"identity {kind} {id(value)}"

    def _refused(self, what: str, hint: str) -> DslTypeError:
        function, label = self._at.reader.function, self._at.label
        who = f"'{function.__name__}'" if function is not None else "a traced function"
        where = f"'{label}', " if label else ""
        message = f"{who} reads {where}{what}; a later change of it could not be noticed"
        return DslTypeError(message, hint=hint, location=definition_of(function) if function is not None else None)


def _own_attributes(value: Any) -> dict[str, Any]:
    return threading.local.__getattribute__(value, "__dict__")


# Objects --------------------------------------------------------------------------------------------------------------


def _is_immutable(cls: type) -> bool:
    """Return whether instances never change: values of this package and of `dataclasses`, and frozen dataclasses."""
    parameters = getattr(cls, "__dataclass_params__", None)
    ours = is_own_module(cls.__module__) or cls.__module__ == "dataclasses"
    return ours or bool(parameters and parameters.frozen)


_GENERATORS = ("dataclasses", "flydsl.base.records")
_GENERATED = frozenset({
    "__init__", "__repr__", "__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__setattr__", "__delattr__",
    "__getstate__", "__setstate__", "__replace__",
})  # fmt: skip


def _is_generated(name: str, value: Any) -> bool:
    """Return whether an entry of a dataclass is a method that `dataclasses` wrote."""
    if name not in _GENERATED or not isinstance(value, FunctionType):
        return False
    if value.__code__.co_filename == reprlib.__file__:  # from Python 3.13 on, what it wrote is inside
        value = getattr(value, "__wrapped__", value)
    return value.__code__.co_filename in ("<string>", dataclasses.__file__)


_BASES: Mapping[type, Callable[[Any], Any]] = {
    tuple: lambda value: tuple.__getitem__(value, slice(None)),
    str: lambda value: str.__getitem__(value, slice(None)),
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    int: int.__pos__,
    float: float.__pos__,
}
"""How to get at the value of a built-in type within a subclass, past whatever the subclass overrides."""


def _state_of(value: Any) -> tuple[dict[str, Any] | None, dict[str, Any], Any] | None:
    """Return (attributes, slots, value as a built-in type) of an instance, or None if it may hold more than these.

    The items of a container are not among them.
    """
    cls = type(value)
    base = next((value_of(value) for plain, value_of in _BASES.items() if isinstance(value, plain)), None)
    plain = (*_BASES, *values.CONTAINERS)
    if base is None and cls is not SimpleNamespace and values.container_of(cls) is None:
        if _copies_its_own_way(cls) or not _is_python_class(value):
            return None
    elif cls is not SimpleNamespace and not all(p in (object, *plain) or p.__flags__ & _HEAP_TYPE for p in cls.__mro__):
        return None
    slots = {name: slot.__get__(value) for name, slot in values.slots_of(value).items()}
    return values.attributes_of(value), slots, base


def _copies_its_own_way(cls: type) -> bool:
    """Return whether a class says itself what an instance consists of: there may be more to it than attributes."""
    state = cls.__getstate__
    own = state is not object.__getstate__ and getattr(state, "__module__", "") not in _GENERATORS
    own = own or cls.__reduce__ is not object.__reduce__ or cls.__reduce_ex__ is not object.__reduce_ex__
    return own or hasattr(cls, "__getnewargs__") or hasattr(cls, "__getnewargs_ex__")


def _is_python_class(value: Any) -> bool:
    """Return whether all an instance holds is in its attributes and slots: classes written in C may hold more."""
    try:
        object.__reduce_ex__(value, 2)
    except Exception:  # a class with hidden state, or with its own idea of copying
        return False
    return all(part is object or part.__flags__ & _HEAP_TYPE for part in type(value).__mro__)
