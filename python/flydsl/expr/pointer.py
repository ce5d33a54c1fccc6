"""Pointers: typed addresses, counted in elements."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from flydsl.base.errors import DslTypeError
from flydsl.dialects.fly.payload import Pointer as PointerPayload
from flydsl.expr.context import current
from flydsl.expr.element import element_class
from flydsl.expr.handle import Handle, apply, from_value, handle_for
from flydsl.expr.hardware_enums import AddressSpace
from flydsl.expr.int_tuple import IntTuple
from flydsl.expr.numeric import Numeric
from flydsl.expr.vector import Vector


@handle_for(PointerPayload)
class Pointer(Handle):
    """An address of elements of one type in one address space."""

    __slots__ = ()
    kind: ClassVar[str] = "pointer"

    @property
    def dtype(self) -> type[Numeric]:
        """The number type of the elements."""
        return element_class(self.payload.elem)

    element_type = dtype
    value_type = dtype

    @property
    def address_space(self) -> Any:
        """The memory it points into."""
        return AddressSpace.named(self.payload.space)

    memspace = address_space

    @property
    def alignment(self) -> int:
        """Alignment in bytes."""
        return self.payload.align

    @property
    def llvm_ptr(self) -> Any:
        """The pointer as a value of LLVM."""
        return current().fly("to_llvm_ptr", [self.ir_value()], None, "!llvm.ptr")

    def load(self, dtype: Any = None) -> Any:
        """One element; with a vector type (``Float32x4``), as many as it has lanes."""
        if dtype is not None and hasattr(dtype, "lanes"):
            text = f"vector<{dtype.lanes}x{dtype.dtype.ir_type}>"
            return Vector(current().fly("ptr.load", [self.ir_value()], None, text), dtype=dtype.dtype)
        elem = dtype or self.dtype
        return elem(current().fly("ptr.load", [self.ir_value()], None, str(elem.ir_type)))

    def store(self, value: Any) -> None:
        """Store a number or vector here."""
        value = value if isinstance(value, Vector) else self.dtype(value)
        current().fly("ptr.store", [value.ir_value(), self.ir_value()])

    def __getitem__(self, offset: Any) -> Any:
        return (self + offset).load()

    def __iter__(self) -> NoReturn:
        raise DslTypeError(
            f"a loop cannot go through what {self} points to: a pointer does not say how many elements there are",
            hint="write `for i in range(n)` and p[i]",
        )

    def __setitem__(self, offset: Any, value: Any) -> None:
        (self + offset).store(value)

    def __add__(self, offset: Any) -> Pointer:
        return apply("add_offset", self, offset)

    def __sub__(self, offset: Any) -> Pointer:
        return apply("add_offset", self, IntTuple.from_python(0) - offset)

    def view(self, layout: Any) -> Any:
        """A tensor that starts here."""
        return apply("make_view", self, layout)

    def recast(self, payload: PointerPayload) -> Pointer:
        """The same address with another pointer type."""
        return from_value(current().fly("recast_iter", [self.ir_value()], None, payload))
