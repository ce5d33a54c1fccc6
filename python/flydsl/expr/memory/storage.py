"""Storage: a place in memory that holds a value of a known type."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, cast

from flydsl.base.errors import DslFrozenInstanceError, DslTypeError
from flydsl.expr.memory.array import Array, unaligned
from flydsl.expr.memory.composite import Composite
from flydsl.expr.memory.storable import (
    byte_offset,
    check_storable,
    dsl_size_of,
    peek_from_ptr,
    poke_into_ptr,
    type_name,
)
from flydsl.expr.tensors.marked_pointer import marked_field
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.values.handle import describe, from_value


class Storage:
    """``Storage[T](ptr)``: a T at an address. ``peek`` reads it, ``poke`` writes it, ``.field`` is a field's storage.

    The address is a base and a constant number of bytes, added where the storage is used: taking fields costs
    nothing, and a storage is as usable in a branch or loop as its base is.
    """

    __slots__ = ("_base", "_offset", "_views")

    _views: dict[str, Any]
    """What ``s.field = s.field.peek()`` put in the place of a field's storage."""
    _type: ClassVar[Any] = None
    _base: Pointer | None
    _offset: int

    def __class_getitem__(cls, dsl_type: Any) -> type[Storage]:
        check_storable(dsl_type, "Storage")
        return _storage_type(dsl_type)

    def __init__(self, base: Pointer | None, offset: int = 0) -> None:
        """``None`` for a storage that tells of its fields and lies nowhere."""
        if self._type is None:
            raise DslTypeError("Storage needs the type it holds", hint="write fx.Storage[T](ptr)")
        if not isinstance(base, Pointer) and base is not None:
            raise DslTypeError(f"a storage lies at a pointer, got {describe(base)}", hint="take it with fx.get_iter(t)")
        object.__setattr__(self, "_base", base)
        object.__setattr__(self, "_offset", offset)
        object.__setattr__(self, "_views", {})

    def peek(self) -> Any:
        """Return the value that is here: numbers are loaded, arrays are views."""
        return peek_from_ptr(self._type, self._address())

    def poke(self, value: Any) -> None:
        """Write a value here."""
        poke_into_ptr(self._type, self._address(), value)

    @property
    def _target_type(self) -> Any:
        """The type of the value that lies at this place."""
        return self._type

    @property
    def _prebuilt(self) -> dict[str, Any]:
        """Fields that a view was put in the place of."""
        return self._views

    def _address(self) -> Pointer:
        if self._base is None:
            raise DslTypeError(f"a Storage of {type_name(self._type)} at None lies nowhere", hint="give it a pointer")
        return byte_offset(self._base, self._offset)

    def __getattr__(self, name: str) -> Any:
        kind = unaligned(self._type)
        if name in self._views:
            return self._views[name]
        if isinstance(kind, type) and issubclass(kind, Composite):
            for field in kind._fields:
                if field.name == name:
                    return self._field(kind, field)
        if name in ("ptr", "view", "dtype", "length") and issubclass(kind, Array):
            return getattr(self.peek(), name)
        if name in ("ptr", "_ptr"):
            return self._address()
        known = [field.name for field in getattr(kind, "_fields", ())]
        has = ", ".join([*known, "peek", "poke"])
        raise AttributeError(f"a Storage of {type_name(self._type)} has no field '{name}'; it has {has}")

    def _field(self, owner: Any, field: Any) -> Any:
        if not field.is_constexpr:
            offset = self._offset + owner._offsets()[field.name]
            base = self._base
            if base is not None:
                base = marked_field(base, offset, dsl_size_of(field.type), field.name)
            return Storage[field.type](base, offset)
        if field.name in owner._constants:
            return owner._constants[field.name]
        raise AttributeError(f"'{field.name}' is a Constexpr of {owner.__name__}: compile-time only, and not in memory")

    def __setattr__(self, name: str, value: Any) -> None:
        fields = {field.name: field.type for field in getattr(unaligned(self._type), "_fields", ())}
        if isinstance(value, Array) and name in fields and isinstance(value, unaligned(fields[name])):
            self._views[name] = value  # a view is where it was: nothing is written
            return
        raise DslFrozenInstanceError(
            f"cannot assign to '{name}' of a Storage", hint=f"write storage.{name}.poke(value)"
        )

    def _array(self) -> Array:
        if not issubclass(unaligned(self._type), Array):
            raise DslTypeError(f"a Storage of {type_name(self._type)} has no elements", hint="only arrays are indexed")
        return self.peek()

    def __getitem__(self, index: Any) -> Any:
        return self._array()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._array()[index] = value

    def __repr__(self) -> str:
        return f"{type(self).__name__}(at {self._base} + {self._offset})"

    def __extract_to_ir_values__(self) -> list[Any]:
        return [] if self._base is None else [self._base.ir_value()]

    @classmethod
    def __construct_from_ir_values__(cls, values: list[Any], exemplar: Any = None) -> Storage:
        return cls(from_value(values[0]) if values else None, 0 if exemplar is None else exemplar._offset)


@cache
def _storage_type(dsl_type: Any) -> type[Storage]:
    facts = {"__slots__": (), "_type": dsl_type}
    return cast("type[Storage]", type(f"Storage[{type_name(dsl_type)}]", (Storage,), facts))


__all__ = ["Storage"]
