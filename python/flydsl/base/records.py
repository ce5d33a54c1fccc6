"""Dataclasses that cost little to define: the decorator, `field` and `replace` of `dataclasses`.

The standard library writes the source of half a dozen methods for every class and compiles it when the class is
defined, which is most of what it costs to import a package of small classes (0.7 ms a class on a Neoverse N1, measured
2026-11). Here comparing, hashing and printing are closures over the fields' names, and only `__init__` is compiled,
when a class is first instantiated. What `dataclasses.fields`, `asdict` and `is_dataclass` look at is made when they ask
for it.
"""

from __future__ import annotations

import sys
from abc import update_abstractmethods
from collections.abc import Callable, Sequence
from importlib import import_module
from operator import attrgetter
from reprlib import recursive_repr
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

T = TypeVar("T")


class _Missing:
    """The type of `MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


class Field:
    """What a class says of one field."""

    __slots__ = ("compare", "default", "default_factory", "hash", "init", "kw_only", "name", "repr", "type")

    def __init__(self, default: Any, factory: Any, init: bool, repr: bool, compare: bool, hash: bool | None) -> None:
        self.default, self.default_factory = default, factory
        self.init, self.repr, self.compare = init, repr, compare
        self.hash = compare if hash is None else hash
        self.name, self.type, self.kw_only = "", None, False


def _field(
    *, default: Any = MISSING, default_factory: Any = MISSING, init: bool = True, repr: bool = True,
    compare: bool = True, hash: bool | None = None,
) -> Any:  # fmt: skip
    """Return a field with more than a type and a default."""
    return Field(default, default_factory, init, repr, compare, hash)


def _dataclass(
    cls: Any = None, /, *, init: bool = True, repr: bool = True, eq: bool = True, frozen: bool = False,
    slots: bool = False,
) -> Any:  # fmt: skip
    """Return the decorator of `dataclasses`, with the options that this package uses."""
    if cls is None:

        def decorate(found: type) -> type:
            return _made(found, slots, init=init, repr=repr, eq=eq, frozen=frozen)

        return decorate
    return _made(cls, slots, init=init, repr=repr, eq=eq, frozen=frozen)


def _replace(value: T, /, **changes: Any) -> T:
    """Return a copy of a value with some fields changed."""
    fields: dict[str, Field] = cast("Any", value).__record_fields__
    for name, one in fields.items():
        if not one.init:
            if name in changes:
                raise ValueError(f"field {name} is declared with init=False, replace() cannot change it")
        elif name not in changes:
            changes[name] = getattr(value, name)
    return value.__class__(**changes)


# Fields --------------------------------------------------------------------------------------------------------------


def _fields_of(cls: type) -> dict[str, Field]:
    """Return the fields of a class by name: those of its bases, then its own, whose defaults become its attributes."""
    fields: dict[str, Field] = {}
    for base in cls.__mro__[-1:0:-1]:
        own = vars(base)
        if "__record_fields__" in own:
            fields |= own["__record_fields__"]
        elif "__dataclass_fields__" in own:  # made by `dataclasses` itself
            fields |= {one.name: _from_standard(one) for one in sys.modules["dataclasses"].fields(base)}
    for name, kind in cls.__annotations__.items():
        one = _own_field(cls, name, kind)
        if _is_class_variable(kind):
            continue
        if type(one.default).__hash__ is None:
            raise ValueError(f"{cls.__name__}.{name} has a default that can change; use default_factory")
        fields[name] = one
    return fields


def _own_field(cls: type, name: str, kind: Any) -> Field:
    given = getattr(cls, name, MISSING)
    if isinstance(given, Field):
        one = given
    elif type(given).__module__ == "dataclasses" and type(given).__name__ == "Field":
        one = _from_standard(given)
    else:
        one = _field(default=MISSING if isinstance(given, MemberDescriptorType) else given)
    if one.default is not given:
        if one.default is not MISSING:
            setattr(cls, name, one.default)
        elif name in vars(cls):
            delattr(cls, name)
    one.name, one.type = name, kind
    return one


def _is_class_variable(kind: Any) -> bool:
    if isinstance(kind, str):
        return kind.partition("[")[0].rpartition(".")[2].strip() == "ClassVar"
    return kind is ClassVar or getattr(kind, "__origin__", None) is ClassVar


def _from_standard(one: Any) -> Field:
    missing = sys.modules["dataclasses"].MISSING
    default, factory = (MISSING if d is missing else d for d in (one.default, one.default_factory))
    made = Field(default, factory, one.init, one.repr, one.compare, one.hash)
    made.name, made.type, made.kw_only = one.name, one.type, one.kw_only is True
    return made


def _standard_twin(cls: type, fields: dict[str, Field], options: dict[str, bool]) -> Any:
    """Return a class by `dataclasses` with the same fields and options: what its functions want to know of this one."""
    dataclasses = import_module("dataclasses")

    def standard(one: Field) -> Any:
        given = {k: v for k in ("default", "default_factory") if (v := getattr(one, k)) is not MISSING}
        given |= {name: getattr(one, name) for name in ("init", "repr", "compare", "hash", "kw_only")}
        return dataclasses.field(**given)

    return dataclasses.make_dataclass(
        cls.__name__, [(one.name, one.type, standard(one)) for one in fields.values()], **options
    )


class _OfTwin:
    """An attribute that `dataclasses` gives its classes, taken from the twin when somebody asks for it."""

    def __init__(self, name: str, cls: type, fields: dict[str, Field], options: dict[str, bool]) -> None:
        self.name, self.of = name, (cls, fields, options)

    def __get__(self, instance: Any, owner: type) -> Any:
        found = getattr(_standard_twin(*self.of), self.name)
        setattr(self.of[0], self.name, found)
        return found


# Classes -------------------------------------------------------------------------------------------------------------


def _made(cls: type, slots: bool, **options: bool) -> type:
    fields = _fields_of(cls)
    frozen = options["frozen"]
    if slots:
        cls = _with_slots(cls, fields, frozen)
    own = vars(cls)
    made: dict[str, Any] = {
        "__match_args__": tuple(one.name for one in fields.values() if one.init and not one.kw_only)
    }
    if options["init"]:
        made["__init__"] = _init_later(cls, fields, frozen, slots)
        made["__signature__"] = _Signature()
    if options["repr"]:
        made["__repr__"] = _repr_of([one.name for one in fields.values() if one.repr])
    if frozen:
        made["__setattr__"], made["__delattr__"] = _refusals(cls, frozenset(fields))
    if options["eq"]:
        made["__eq__"] = _eq_of(_tuple_of([one.name for one in fields.values() if one.compare]))
        if own.get("__hash__") is None:  # where there is an __eq__ and no __hash__, Python has put None
            hashed = [one.name for one in fields.values() if one.hash]
            cls.__hash__ = _hash_of(_tuple_of(hashed)) if frozen else None  # type: ignore[assignment]
    for name, value in made.items():
        if name not in own:
            setattr(cls, name, value)
    cast("Any", cls).__record_fields__ = fields
    for name in ("__dataclass_fields__", "__dataclass_params__"):
        setattr(cls, name, _OfTwin(name, cls, fields, options))
    return cast("type", update_abstractmethods(cls))


def _with_slots(cls: type, fields: dict[str, Field], frozen: bool) -> type:
    """Return the class anew with slots for its own fields; a class cannot be given slots once it is there."""
    inherited = {name for base in cls.__mro__[1:] for name in getattr(base, "__slots__", ())}
    body = {name: value for name, value in vars(cls).items() if name not in fields}
    body["__slots__"] = tuple(name for name in fields if name not in inherited)
    for name in ("__dict__", "__weakref__"):
        body.pop(name, None)
    if frozen:  # what copying and pickling do by themselves assigns to the fields
        body.setdefault("__getstate__", _state)
        body.setdefault("__setstate__", _set_state)
    made = type(cls)(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    return made


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__record_fields__]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__record_fields__, state, strict=True):
        object.__setattr__(self, name, value)


# Methods -------------------------------------------------------------------------------------------------------------


def _tuple_of(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    if names:
        get = attrgetter(names[0])
        return lambda value: (get(value),)
    return lambda value: ()


def _eq_of(get: Callable[[Any], Any]) -> Callable[..., Any]:
    def equal(self: Any, other: Any) -> Any:
        return get(self) == get(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _hash_of(get: Callable[[Any], Any]) -> Callable[[Any], int]:
    def hashed(self: Any) -> int:
        return hash(get(self))

    return hashed


def _repr_of(names: Sequence[str]) -> Callable[[Any], str]:
    @recursive_repr("...")
    def shown(self: Any) -> str:
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return shown


def _refusals(cls: type, names: frozenset[str]) -> tuple[Callable[..., None], Callable[..., None]]:
    def refuse(self: Any, name: str, what: str) -> None:
        if type(self) is cls or name in names:
            raise import_module("dataclasses").FrozenInstanceError(f"cannot {what} field {name!r}")

    def assign(self: Any, name: str, value: Any) -> None:
        refuse(self, name, "assign to")
        super(cls, self).__setattr__(name, value)

    def delete(self: Any, name: str) -> None:
        refuse(self, name, "delete")
        super(cls, self).__delattr__(name)

    return assign, delete


def _init_later(cls: Any, fields: dict[str, Field], frozen: bool, slots: bool) -> Callable[..., None]:
    """Return an `__init__` that is replaced by a compiled one when it is first called."""

    def first(self: Any, *args: Any, **kwargs: Any) -> None:
        made = _compiled_init(cls, fields, frozen, slots)
        if cls.__dict__.get("__init__") is first:
            cls.__init__ = made
        made(self, *args, **kwargs)

    first.compiled = lambda: _compiled_init(cls, fields, frozen, slots)  # type: ignore[attr-defined]
    return first


def _compiled_init(cls: type, fields: dict[str, Field], frozen: bool, slots: bool) -> Callable[..., None]:
    scope: dict[str, Any] = {"__name__": cls.__module__, "_set": object.__setattr__, "_MISSING": MISSING}
    parameters, by_name = ["self"], ["*"]
    lines: list[str] = []
    for name, one in fields.items():
        if one.default is not MISSING:
            scope[f"_default_{name}"] = one.default
        value = name if one.init else f"_default_{name}"
        if one.default_factory is not MISSING:
            scope[f"_make_{name}"] = one.default_factory
            value = f"_make_{name}()" + (f" if {name} is _MISSING else {name}" if one.init else "")
        elif not one.init and not (slots and one.default is not MISSING):
            continue  # the class has the default, or `__post_init__` sets it
        if one.init:
            default = "_MISSING" if one.default_factory is not MISSING else f"_default_{name}"
            (by_name if one.kw_only else parameters).append(f"{name}={default}" if default in scope else name)
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters += by_name if len(by_name) > 1 else []
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"]), scope)
    made = scope["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {name: one.type for name, one in fields.items() if one.init} | {"return": None}
    return made


class _Signature:
    """`__signature__` of a class, for `help` and editors: that of the `__init__` to be compiled."""

    def __get__(self, instance: Any, owner: type) -> Any:
        inspect, init = import_module("inspect"), vars(owner).get("__init__")
        if init is None:
            raise AttributeError("__signature__")
        signature = inspect.signature(init.compiled() if hasattr(init, "compiled") else init)
        return signature.replace(parameters=list(signature.parameters.values())[1:])


if TYPE_CHECKING:  # what checkers know of the originals holds of these
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    dataclass, field, replace = _dataclass, _field, _replace
