"""Structs and unions: several values under one name, as kernel arguments, as loop state and in shared memory.

A struct value is frozen. Its numbers cross kernel arguments and region edges as run-time values; what must stay known
while tracing is declared ``Constexpr``, and then belongs to the type: ``Tile(n=4, x=1)`` is a value of ``Tile[n=4]``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, NoReturn, Self, cast, get_args

from flydsl.base.errors import DslFrozenInstanceError, DslTypeError
from flydsl.expr.memory.array import Array, unaligned
from flydsl.expr.memory.composite import MISSING, Composite, Field, annotated_fields, checked_fields, subscript_fields
from flydsl.expr.memory.storable import byte_offset, is_number_type, peek_from_ptr, poke_into_ptr, type_name
from flydsl.expr.numeric import Numeric, operand
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.trace.abi_slots import AbiSlot, holds
from flydsl.expr.trace.constexpr_key import constexpr_key
from flydsl.expr.trace.context import bare_values, is_tracing
from flydsl.expr.trace.host_argument import c_abi_spec, cache_signature, get_ir_types
from flydsl.expr.values.handle import describe
from flydsl.expr.values.numpy_scalar import python_value
from flydsl.expr.vector import Vector

_FITTING: Mapping[Any, tuple[type, ...]] = {int: (int,), float: (int, float), bool: (bool,), str: (str,)}
_OWN = ("__init__", "__new__", "__setattr__", "__delattr__", "replace")


class Struct(Composite):
    """The base of every struct, and the inline form ``Struct["a":T, "b":U]`` or ``Struct[T, U]``."""

    _constants: ClassVar[Mapping[str, Any]] = {}
    _origin: ClassVar[Any] = None

    def __class_getitem__(cls, item: Any) -> type[Struct]:
        if cls is not Struct:
            return _subscripted(cls, item)
        return _inline_struct(tuple(subscript_fields(item)))

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if cls is Struct:
            raise DslTypeError("fx.Struct has no fields", hint="decorate a class with @fx.struct")
        given = _bound(cls, args, kwargs)
        values = {field.name: _converted(cls, field, given[field.name]) for field in cls._fields}
        self = object.__new__(_specialised(cls, values))
        vars(self).update(values)
        return self

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed."""
        return type(self)(**{**vars(self), **changes})

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise DslFrozenInstanceError(
            f"cannot assign to field '{name}' of {type(self).__name__}: structs are frozen",
            hint=f"write s = s.replace({name}=...)",
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise DslFrozenInstanceError(f"cannot delete field '{name}' of {type(self).__name__}: structs are frozen")

    def __iter__(self) -> Iterator[Any]:
        return iter([vars(self)[field.name] for field in self._fields])

    def __repr__(self) -> str:
        return f"{_origin(type(self)).__name__}({', '.join(f'{f.name}={vars(self)[f.name]!r}' for f in self._fields)})"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        return all(_same(vars(self)[field.name], vars(other)[field.name]) for field in self._fields)

    def __hash__(self) -> int:
        return hash((type(self), tuple(_hashed(vars(self)[field.name]) for field in self._fields)))

    @classmethod
    def __coerce__(cls, value: Any) -> Any:
        """Return a value of this type: one that is there already, or the fields of one as a tuple, a list or a dict."""
        if isinstance(value, cls):
            return value
        if isinstance(value, Mapping):
            return cls(**value)
        if isinstance(value, (tuple, list)):
            return cls(*value)
        raise DslTypeError(f"{cls.__name__} expects {cls.__name__}, got {describe(value)}")

    @classmethod
    def __specialize_for_value__(cls, value: Any) -> type[Any]:
        """Return the type of a value: this one with its Constexpr fields set."""
        return type(cls.__coerce__(value))

    # Crossing regions and kernel arguments

    def __extract_to_ir_values__(self) -> list[Any]:
        return [value for part in self._run_time() for value in _ir_values(part)]

    @classmethod
    def __construct_from_ir_values__(cls, values: Sequence[Any], exemplar: Any = None) -> Any:
        rest = iter(values)
        built = {}
        for field in cls._fields:
            old = cls._constants.get(field.name) if exemplar is None else vars(exemplar)[field.name]
            built[field.name] = old if field.is_constexpr else _rebuilt(field, old, rest)
        return cls(**built)

    def _run_time(self) -> list[Any]:
        return [vars(self)[field.name] for field in self._fields if not field.is_constexpr]

    # Crossing from the host

    def __get_ir_types__(self) -> list[Any]:
        return get_ir_types(self._run_time())

    def __cache_signature__(self) -> Any:
        return (type(self), tuple(cache_signature(part) for part in self._run_time()))

    def __c_abi_spec__(self) -> list[AbiSlot]:
        return [slot for part in self._run_time() for slot in c_abi_spec(part)]

    # Memory

    @classmethod
    def __peek_from_ptr__(cls, ptr: Pointer) -> Any:
        _check_specialised(cls)
        offsets = cls._offsets()
        read = {f.name: peek_from_ptr(f.type, byte_offset(ptr, offsets[f.name])) for f in cls._stored()}
        return cls(**{**cls._constants, **read})

    @classmethod
    def __poke_into_ptr__(cls, ptr: Pointer, value: Any) -> None:
        if not isinstance(value, cls):
            raise DslTypeError(f"a {cls.__name__} is stored here, got {describe(value)}")
        offsets = cls._offsets()
        for field in cls._stored():
            poke_into_ptr(field.type, byte_offset(ptr, offsets[field.name]), vars(value)[field.name])


class Union(Composite):
    """The base of every union: fields that share their memory. It exists in storage only."""

    _overlapping = True

    def __class_getitem__(cls, item: Any) -> type[Union]:
        if cls is not Union:
            raise DslTypeError(f"{cls.__name__} already has its fields", hint="only fx.Union itself takes a subscript")
        return _inline_union(tuple(subscript_fields(item)))

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise _no_value(cls)

    @classmethod
    def __peek_from_ptr__(cls, ptr: Pointer) -> NoReturn:
        raise _no_value(cls)

    @classmethod
    def __poke_into_ptr__(cls, ptr: Pointer, value: Any) -> NoReturn:
        raise _no_value(cls)


def _no_value(cls: type) -> DslTypeError:
    return DslTypeError(
        f"{cls.__name__} is a union: it lies in storage and has no value form of its own",
        hint="peek or poke one of its fields: storage.field.peek()",
    )


# Making types ----------------------------------------------------------------------------------


def struct(cls: type) -> Any:
    """Make a class body of annotations a struct; its methods stay."""
    if not isinstance(cls, type):
        raise DslTypeError(f"@fx.struct decorates a class, got {describe(cls)}")
    inherited = cls._fields if issubclass(cls, Struct) else ()
    for name in _OWN:
        if name in vars(cls):
            raise DslTypeError(f"{cls.__name__} defines {name}, which a struct has already", hint="use a class method")
    return _declared(cls, Struct, [*inherited, *annotated_fields(cls, 2)])


def union(cls: type) -> Any:
    """Make a class body of annotations a union."""
    if not isinstance(cls, type):
        raise DslTypeError(f"@fx.union decorates a class, got {describe(cls)}")
    fields = annotated_fields(cls, 2)
    _refuse_constexpr(cls.__name__, fields)
    return _declared(cls, Union, fields)


def _declared(cls: type, base: type[Composite], fields: list[Field]) -> Any:
    facts = {name: getattr(cls, name) for name in ("__module__", "__qualname__", "__doc__")}
    bases = (cls,) if issubclass(cls, base) else (cls, base)
    return type(cls.__name__, bases, {**facts, "_fields": checked_fields(cls.__name__, fields)})


@cache
def _inline_struct(fields: tuple[Field, ...]) -> type[Struct]:
    name = f"Struct[{', '.join(map(str, fields))}]"
    return cast("type[Struct]", type(name, (Struct,), {"_fields": checked_fields("Struct", fields)}))


@cache
def _inline_union(fields: tuple[Field, ...]) -> type[Union]:
    _refuse_constexpr("Union", fields)
    name = f"Union[{', '.join(map(str, fields))}]"
    return cast("type[Union]", type(name, (Union,), {"_fields": checked_fields("Union", fields)}))


def _refuse_constexpr(owner: str, fields: Sequence[Field]) -> None:
    for field in fields:
        if field.is_constexpr:
            raise DslTypeError(f"field '{field.name}' of {owner} is Constexpr, and a union holds only memory")


def _origin(cls: type[Struct]) -> Any:
    """Return the struct as declared, without its Constexpr values."""
    return cls._origin or cls


def _specialised(cls: type[Struct], values: Mapping[str, Any]) -> type[Any]:
    """Return the type of these Constexpr values; the declared type itself when it has none."""
    constants = {field.name: values[field.name] for field in cls._fields if field.is_constexpr}
    origin = _origin(cls)
    if not constants:
        return cls
    key = tuple(constexpr_key(value) for value in constants.values())
    made = origin.__dict__.get("__fly_made__")
    if made is None:
        made = {}
        origin.__fly_made__ = made
    if key not in made:
        name = f"{origin.__name__}[{', '.join(f'{n}={v}' for n, v in constants.items())}]"
        facts = {"__module__": origin.__module__, "__doc__": origin.__doc__, "_constants": constants, "_origin": origin}
        made[key] = type(name, (origin,), facts)
    return made[key]


def _subscripted(cls: type[Struct], item: Any) -> type[Any]:
    """``Tile["n":4]``: the type with its Constexpr fields set, which is what memory can hold."""
    parts = item if isinstance(item, tuple) else (item,)
    given = {part.start: part.stop for part in parts if isinstance(part, slice)}
    wanted = [field.name for field in cls._fields if field.is_constexpr]
    if not wanted or list(given) != wanted:
        raise DslTypeError(
            f"{cls.__name__} takes {', '.join(wanted) or 'nothing'} in its subscript",
            hint=f'write {cls.__name__}["{wanted[0]}":4]' if wanted else "it already has its fields",
        )
    return _specialised(cls, given)


def _check_specialised(cls: type[Struct]) -> None:
    missing = [f.name for f in cls._fields if f.is_constexpr and f.name not in cls._constants]
    if missing:
        raise DslTypeError(
            f"{cls.__name__} cannot be read from memory: the Constexpr {', '.join(missing)} is not there",
            hint=f'give it in the type: {cls.__name__}["{missing[0]}":4]',
        )


# Field values ----------------------------------------------------------------------------------


def _bound(cls: type[Struct], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Values by field name: positional, then keywords, then what the type and the defaults say."""
    names = [field.name for field in cls._fields]
    words = f"its fields are {', '.join(map(str, cls._fields)) or 'none'}"
    if len(args) > len(names):
        raise DslTypeError(f"{cls.__name__}: expected {len(names)} field(s), got {len(args)} values", hint=words)
    given = dict(zip(names, args))
    for name, value in kwargs.items():
        if name not in names or name in given:
            wrong = "multiple values for" if name in given else "unexpected"
            raise DslTypeError(f"{wrong} field '{name}' of {cls.__name__}", hint=words)
        given[name] = value
    for field in cls._fields:
        default = cls._constants.get(field.name, field.default)
        if given.setdefault(field.name, default) is MISSING:
            raise DslTypeError(f"{cls.__name__} is missing required field '{field.name}'", hint=words)
    return given


def _converted(cls: type, field: Field, value: Any) -> Any:
    if field.is_constexpr:
        constexpr_key(value)  # refuses what cannot be part of a type
        return _constant(cls, field, python_value(value))
    kind = unaligned(field.type)
    if is_number_type(kind):
        value = python_value(value)
        if operand(value) is None:
            raise _wrong(cls, field, value)
        return _number(cls, field, kind, value)
    if hasattr(kind, "lanes"):  # Float32x4 and its kind are objects, not classes
        return _vector(cls, field, kind, value)
    if isinstance(kind, type) and issubclass(kind, Union):
        raise _no_value(kind)
    # On the host a struct holds what a jit function would be given: an array where a kernel sees a tensor.
    held = not is_tracing() and not issubclass(kind, (Composite, Array)) if isinstance(kind, type) else True
    if not held and not isinstance(value, kind):
        raise _wrong(cls, field, value)
    return value


def _constant(cls: type, field: Field, value: Any) -> Any:
    """Return a compile-time value of a field, as its annotation says; ``Constexpr[float]`` takes whole numbers too."""
    wanted = get_args(field.type)
    kind: Any = wanted[0] if len(wanted) == 1 else None
    if kind in _FITTING and isinstance(value, (bool, int, float, str)) and not isinstance(value, _FITTING[kind]):
        raise DslTypeError(f"field '{field.name}' of {cls.__name__} expects {kind.__name__}, got {value!r}")
    return value


def _vector(cls: type, field: Field, kind: Any, value: Any) -> Any:
    """Return a vector of a field: one of its type, or what makes one."""
    if isinstance(value, Vector):
        if value.numel != kind.lanes or value.dtype is not kind.dtype:
            raise _wrong(cls, field, value)
        return value
    numbers = value if isinstance(value, (tuple, list)) else [value]
    if any(operand(python_value(number)) is None for number in numbers):
        raise _wrong(cls, field, value)
    return kind(value)


def _number(cls: type, field: Field, kind: Any, value: Any) -> Any:
    """Return a number as a field. On the host it is an argument of a call, and must be one that the type can hold."""
    number = kind(value)
    if not is_tracing() and isinstance(value, (int, float)):
        if (kind.is_integer and isinstance(value, float)) or not holds(number, value):
            wanted = "an int" if kind.is_integer else "a number"
            raise DslTypeError(
                f"field '{field.name}' of {cls.__name__} is a {kind}, which cannot hold {value!r}",
                hint=f"pass {wanted} that fits, or declare the field with another type",
            )
    return number


def _wrong(cls: type, field: Field, value: Any) -> DslTypeError:
    return DslTypeError(
        f"field '{field.name}' of {cls.__name__} expects {type_name(unaligned(field.type))}, got {describe(value)}",
        hint=f"pass a {type_name(unaligned(field.type))}",
    )


def _same(a: object, b: object) -> bool:
    """Return whether two fields hold the same: equal where both are known, one value where they are known at run
    time."""
    if not isinstance(a, Numeric):
        return a is b or (a == b) is True
    if not isinstance(b, Numeric) or type(a) is not type(b):
        return False
    if a.is_static() and b.is_static():
        return a.value == b.value
    return a.is_static() == b.is_static() and bare_values(a)[0] is bare_values(b)[0]


def _hashed(value: object) -> int:
    if isinstance(value, Numeric):
        return hash(value.value) if value.is_static() else id(bare_values(value)[0])
    return hash(value) if isinstance(value, Hashable) else id(value)


def _ir_values(value: Any) -> list[Any]:
    return bare_values(value) if hasattr(value, "__extract_to_ir_values__") else []


def _rebuilt(field: Field, old: Any, values: Iterator[Any]) -> Any:
    """Return a field made like the old one from the next SSA values."""
    kind = unaligned(field.type)
    if old is None or is_number_type(kind):
        return kind.__construct_from_ir_values__([next(values)], None)
    count = len(_ir_values(old))
    if count == 0:
        return old
    return type(old).__construct_from_ir_values__([next(values) for _ in range(count)], old)


# Questions -------------------------------------------------------------------------------------


def is_composite_type(dsl_type: Any) -> bool:
    """Return whether this is a struct or a union type."""
    return isinstance(dsl_type, type) and issubclass(dsl_type, (Struct, Union)) and dsl_type not in (Struct, Union)


def is_struct_type(dsl_type: Any) -> bool:
    """Return whether a type was made by `struct` or `Struct[...]`."""
    return is_composite_type(dsl_type) and issubclass(dsl_type, Struct)


def is_specializable_struct_type(dsl_type: Any) -> bool:
    """Return whether this is a struct type with Constexpr fields, so that each set of their values is a type of its
    own."""
    return is_struct_type(dsl_type) and any(
        field.is_constexpr or is_specializable_struct_type(unaligned(field.type)) for field in dsl_type._fields
    )


__all__ = [
    "Struct", "Union", "is_composite_type", "is_specializable_struct_type", "is_struct_type", "struct", "union",
]  # fmt: skip
