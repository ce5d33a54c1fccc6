"""Array: a fixed number of equal elements in memory. Align: a type that starts on a coarser boundary."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, cast

from flydsl.base.errors import DslIndexError, DslTypeError, DslValueError, UnsupportedError
from flydsl.expr.memory.storable import (
    check_storable,
    dsl_align_of,
    dsl_size_of,
    is_number_type,
    peek_from_ptr,
    poke_into_ptr,
    type_name,
    typed_pointer,
)
from flydsl.expr.numeric import Numeric
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.values.handle import from_value
from flydsl.expr.values.known import plain, shown


def checked_alignment(alignment: Any, natural: int, what: str) -> int:
    """Return an alignment in bytes: a power of two, and no less than the type itself needs."""
    alignment = plain(alignment)
    if isinstance(alignment, bool) or not isinstance(alignment, int):
        raise DslTypeError(f"the alignment of {what} must be an int, got {alignment!r}", hint="write a power of two")
    if alignment < 1 or alignment & (alignment - 1):
        raise DslValueError(f"the alignment of {what} must be positive and a power of two, got {alignment}")
    if alignment < natural:
        raise DslValueError(
            f"{what} is aligned to {natural} bytes by itself, {alignment} is less", hint=f"use {natural} or more"
        )
    return alignment


class Array:
    """``Array[fx.Float32, 64]`` is 64 floats in memory; an instance is the place where they lie.

    ``a[i]`` loads, ``a[i] = x`` stores, ``a.view(layout)`` is a tensor over the elements.
    """

    __slots__ = ("ptr",)

    dtype: ClassVar[type[Numeric]]
    length: ClassVar[int]
    alignment: ClassVar[int]

    def __class_getitem__(cls, item: Any) -> type[Array]:
        if cls is not Array:
            raise DslTypeError(f"{cls.__name__} already has its element type and length")
        parts: tuple[Any, ...] = item if isinstance(item, tuple) else (item,)
        if len(parts) not in (2, 3):
            raise DslTypeError(
                "Array takes an element type and a length: Array[dtype, size]", hint="write fx.Array[fx.Float32, 64]"
            )
        dtype, length = parts[0], plain(parts[1])
        if not is_number_type(dtype):
            raise DslTypeError(f"the element type of an Array must be a Numeric subclass, got {type_name(dtype)}")
        check_storable(dtype, "Array")
        if isinstance(length, bool) or not isinstance(length, int):
            raise DslTypeError(
                f"the length of an Array must be a positive integer known while tracing, got {shown(length)}",
                hint="use a Constexpr size, or the size of a static layout: fx.cosize(layout)",
            )
        if length < 1:
            raise DslTypeError(f"the length of an Array must be a positive integer, got {length}")
        natural = dsl_align_of(dtype)
        return _array_type(dtype, length, checked_alignment(parts[2], natural, "the Array") if parts[2:] else natural)

    def __init__(self, ptr: Pointer) -> None:
        if type(self) is Array:
            raise DslTypeError("Array needs an element type and a length", hint="write fx.Array[fx.Float32, 64](ptr)")
        self.ptr: Pointer = typed_pointer(ptr, self.dtype)

    def _at(self, index: Any) -> Pointer:
        index = plain(index)
        if isinstance(index, int) and not 0 <= index < self.length:
            raise DslIndexError(f"index {index} of {type(self).__name__}", hint=f"use 0 to {self.length - 1}")
        return self.ptr + index

    def __getitem__(self, index: Any) -> Any:
        return self._at(index).load()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._at(index).store(value)

    def __len__(self) -> int:
        return self.length

    def view(self, layout: Any) -> Any:
        """Return a tensor over the elements."""
        return self.ptr.view(layout)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(at {self.ptr})"

    def __extract_to_ir_values__(self) -> list[Any]:
        return [self.ptr.ir_value()]

    @classmethod
    def __construct_from_ir_values__(cls, values: list[Any], exemplar: Any = None) -> Array:
        return cls(from_value(values[0]))

    @classmethod
    def __dsl_size_of__(cls) -> int:
        return dsl_size_of(cls.dtype) * cls.length

    @classmethod
    def __dsl_align_of__(cls) -> int:
        return cls.alignment

    @classmethod
    def __peek_from_ptr__(cls, ptr: Pointer) -> Array:
        return cls(ptr)

    @classmethod
    def __poke_into_ptr__(cls, ptr: Pointer, value: Any) -> None:
        raise UnsupportedError(
            f"a whole {cls.__name__} cannot be poked",
            hint="write its elements, or copy into peek().view(layout)",
        )


@cache
def _array_type(dtype: Any, length: int, alignment: int) -> type[Array]:
    tail = "" if alignment == dsl_align_of(dtype) else f", {alignment}"
    facts = {"__slots__": (), "dtype": dtype, "length": length, "alignment": alignment}
    return cast("type[Array]", type(f"Array[{dtype.__name__}, {length}{tail}]", (Array,), facts))


class Align:
    """``Align[T, n]`` is T on an n-byte boundary: a field starts there, and its size stays T's."""

    inner: ClassVar[Any]
    alignment: ClassVar[int]

    def __class_getitem__(cls, item: Any) -> type[Align]:
        if cls is not Align or not isinstance(item, tuple) or len(item) != 2:
            raise DslTypeError(
                "Align takes a type and a number of bytes: Align[Type, N]", hint="write fx.Align[fx.Float32, 16]"
            )
        inner, alignment = item
        check_storable(inner, "Align")
        return _align_type(inner, checked_alignment(alignment, dsl_align_of(inner), type_name(inner)))

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Values have no alignment, so this makes a value of the type inside."""
        if cls is Align:
            raise DslTypeError("Align is a type, not a value", hint="write fx.Align[fx.Float32, 16]")
        return cls.inner(*args, **kwargs)

    @classmethod
    def __dsl_size_of__(cls) -> int:
        return dsl_size_of(cls.inner)

    @classmethod
    def __dsl_align_of__(cls) -> int:
        return cls.alignment

    @classmethod
    def __peek_from_ptr__(cls, ptr: Pointer) -> Any:
        return peek_from_ptr(cls.inner, ptr)

    @classmethod
    def __poke_into_ptr__(cls, ptr: Pointer, value: Any) -> None:
        poke_into_ptr(cls.inner, ptr, value)


@cache
def _align_type(inner: Any, alignment: int) -> type[Align]:
    name = f"Align[{type_name(inner)}, {alignment}]"
    return cast("type[Align]", type(name, (Align,), {"inner": inner, "alignment": alignment}))


def unaligned(dsl_type: Any) -> Any:
    """Return the type inside any ``Align``."""
    while isinstance(dsl_type, type) and issubclass(dsl_type, Align):
        dsl_type = dsl_type.inner
    return dsl_type


__all__ = ["Align", "Array"]
