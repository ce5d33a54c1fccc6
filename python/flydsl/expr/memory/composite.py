"""What structs and unions share: named, typed fields laid out by the rules of C."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.base.records import dataclass
from flydsl.expr.memory.array import Align, Array, unaligned
from flydsl.expr.memory.storable import check_storable, dsl_align_of, dsl_size_of, is_number_type, round_up, type_name
from flydsl.expr.numeric import Numeric
from flydsl.expr.trace.constexpr import is_constexpr

RESERVED = ("replace", "peek", "poke")
MISSING: Any = object()


@dataclass(frozen=True)
class Field:
    """One field: its declared type and, if it has one, its default."""

    name: str
    type: Any
    default: Any = MISSING

    @property
    def is_constexpr(self) -> bool:
        """Whether the value belongs to the type instead of to memory."""
        return is_constexpr(self.type)

    def __str__(self) -> str:
        return f"{self.name}: {type_name(self.type)}"


class _OfTheType:
    """An attribute of a class that is told from the class."""

    def __init__(self, tell: Callable[[Any], Any]) -> None:
        self._tell = tell

    def __get__(self, value: Any, cls: type) -> Any:
        return self._tell(cls)


class Composite:
    """A type made of fields. ``_fields`` holds them in the order they were written."""

    __slots__ = ()

    _fields: ClassVar[tuple[Field, ...]] = ()
    _overlapping: ClassVar[bool] = False

    _schema_frozen: ClassVar[bool] = True
    """Fields are fixed when the type is made."""
    __dsl_field_defs__ = _OfTheType(lambda cls: cls._fields)
    __dsl_display_name__ = _OfTheType(lambda cls: cls.__name__)
    __dsl_base_type__ = _OfTheType(lambda cls: getattr(cls, "_origin", None) or cls)

    @classmethod
    def _stored(cls) -> list[Field]:
        """Return the fields that occupy memory; refuses the first that cannot."""
        found = [field for field in cls._fields if not field.is_constexpr]
        for field in found:
            check_storable(field.type, f"field '{field.name}' of {cls.__name__}")
        return found

    @classmethod
    def _offsets(cls) -> dict[str, int]:
        """Return where each stored field starts, in bytes."""
        at, offsets = 0, {}
        for field in cls._stored():
            at = 0 if cls._overlapping else round_up(at, dsl_align_of(field.type))
            offsets[field.name] = at
            at += dsl_size_of(field.type)
        return offsets

    @classmethod
    def __dsl_align_of__(cls) -> int:
        return max((dsl_align_of(field.type) for field in cls._stored()), default=1)

    @classmethod
    def __dsl_size_of__(cls) -> int:
        offsets = cls._offsets()
        end = max((offsets[field.name] + dsl_size_of(field.type) for field in cls._stored()), default=0)
        return round_up(end, cls.__dsl_align_of__())


def checked_fields(owner: str, fields: Sequence[Field]) -> tuple[Field, ...]:
    """Fields with names and types that a composite can have."""
    if not fields:
        raise DslValueError(f"{owner} needs at least one field", hint="write a: fx.Int32 in its body")
    seen: set[str] = set()
    for field in fields:
        if field.name in RESERVED or (field.name.startswith("_") and not _is_position(field.name)):
            raise DslValueError(
                f"'{field.name}' cannot be a field of {owner}: the name is reserved for the struct itself",
                hint=f"a name must not start with underscore, and {', '.join(RESERVED)} are taken",
            )
        if field.name in seen:
            raise DslValueError(f"{owner} has a duplicate field: two are named '{field.name}'")
        seen.add(field.name)
        _check_field_type(owner, field)
    return tuple(fields)


def _is_position(name: str) -> bool:
    """``_0``, ``_1``, …: the fields of ``Struct[T, U]``."""
    return name[1:].isdecimal()


def _check_field_type(owner: str, field: Field) -> None:
    kind = unaligned(field.type)
    known = field.is_constexpr or is_number_type(kind) or hasattr(kind, "lanes")
    if not known and isinstance(kind, type) and not issubclass(kind, Numeric):  # fx.Integer is a family of types
        known = issubclass(kind, Composite) or hasattr(kind, "__construct_from_ir_values__")
    if kind in (Array, Align) or not known:
        raise DslTypeError(
            f"field '{field.name}' of {owner} has the type {type_name(field.type)}, which is no fx type",
            hint="use fx.Int32, fx.Float32, fx.Array[T, n], a struct, or fx.Constexpr[int]",
        )


def subscript_fields(item: Any) -> list[Field]:
    """Return the fields of ``Struct["a":T, U]``; one without a name is called by its position, ``_1``."""
    parts = item if isinstance(item, tuple) else (item,)
    for part in parts:
        if not isinstance(part, slice):
            continue
        if not isinstance(part.start, str) or part.step is not None:
            raise DslTypeError(f'a field is written "name":type, got {part!r}', hint='write Struct["a":T, "b":U]')
        if part.start.startswith("_"):
            raise DslValueError(f"'{part.start}' cannot be a field: a name must not start with underscore")
    return [
        Field(part.start, part.stop) if isinstance(part, slice) else Field(f"_{i}", part)
        for i, part in enumerate(parts)
    ]


def annotated_fields(cls: type, depth: int) -> list[Field]:
    """Return the fields a class body annotates; ``depth`` frames up is where it was written."""
    fields = []
    for name, annotation in inspect.get_annotations(cls).items():
        if isinstance(annotation, str):
            annotation = _evaluated(cls, name, annotation, depth + 1)
        if name.startswith("_"):
            raise DslValueError(f"'{name}' cannot be a field of {cls.__name__}: it must not start with underscore")
        fields.append(Field(name, annotation, vars(cls).get(name, MISSING)))
    return fields


def _evaluated(cls: type, name: str, text: str, depth: int) -> Any:
    """Return a text annotation (``from __future__ import annotations``) in the scope of its class body."""
    scope = vars(sys.modules[cls.__module__]) if cls.__module__ in sys.modules else {}
    frame = sys._getframe(depth)
    try:
        return eval(text, {**scope, **frame.f_globals}, frame.f_locals)
    except Exception as error:
        message = f"field '{name}' of {cls.__name__}: the type {text!r} cannot be resolved ({error})"
        raise DslTypeError(message, hint="define or import the type before the struct") from None
