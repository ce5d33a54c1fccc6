"""Pointers: typed addresses, counted in elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn

from flydsl.base.errors import DslTypeError
from flydsl.base.records import replace
from flydsl.dialects.fly.payload import Pointer as PointerPayload
from flydsl.expr.atoms.hardware_enums import AddressSpace
from flydsl.expr.numeric import Numeric
from flydsl.expr.tensors.element import element_class
from flydsl.expr.tensors.typed_access import as_elements, load_as, store_bits, stored_form
from flydsl.expr.trace.context import as_seen_outside, current
from flydsl.expr.values.handle import Handle, apply, from_value, handle_for
from flydsl.expr.values.int_tuple import IntTuple

LLVM_SPACES = {"generic": "!llvm.ptr", "register": "!llvm.ptr", "global": "!llvm.ptr<1>", "shared": "!llvm.ptr<3>"}
"""LLVM's pointer type of each memory that has addresses."""


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
        """The pointer as a value of LLVM, in its own address space."""
        return as_seen_outside(self._as_llvm(self.payload.space))

    @property
    def flat_llvm_ptr(self) -> Any:
        """The pointer as a value of LLVM that does not say which memory it points into."""
        return as_seen_outside(self._as_llvm("generic"))

    def _as_llvm(self, space: str) -> Any:
        if space not in LLVM_SPACES:
            raise DslTypeError(
                f"a pointer to {space} memory has no address of its own", hint="use fx.buffer_ops for it"
            )
        return current().fly("to_llvm_ptr", [self.ir_value()], None, LLVM_SPACES[space])

    def load(self, dtype: Any = None) -> Any:
        """Return one element, or what lies here read as ``dtype``: a number or vector type, or an IR type
        (``T.f32x4``)."""
        return load_as(self, self.dtype if dtype is None else dtype)

    def store(self, value: Any) -> None:
        """Store a number or vector here, converted to the elements; a pointer to bytes takes any type as it is."""
        store_bits(self, stored_form(self, value))

    def __getitem__(self, offset: Any) -> Any:
        return (self + offset).load()

    def __iter__(self) -> NoReturn:
        raise DslTypeError(
            f"a loop cannot go through what {self} points to: a pointer does not say how many elements there are",
            hint="write `for i in range(n)` and p[i]",
        )

    def __setitem__(self, offset: Any, value: Any) -> None:
        store_bits(self + offset, as_elements(self, value))

    def _equals(self, other: Handle) -> Any:
        """Return whether the addresses are the same, which the running kernel knows; other memory is never the same."""
        space = self.payload.space
        if not isinstance(other, Pointer) or other.payload.space != space or space not in ("global", "shared"):
            return False
        return apply("ptrtoint", self) == apply("ptrtoint", other)

    def __add__(self, offset: Any) -> Pointer:
        return apply("add_offset", self, offset)

    __radd__ = __add__

    def __sub__(self, offset: Any) -> Pointer:
        return apply("add_offset", self, IntTuple.from_python(0) - offset)

    def __dsl_place__(self, indices: Sequence[Any]) -> Pointer:
        """Return where a vector of the elements from an index on begins."""
        if len(indices) != 1:
            raise DslTypeError(f"a pointer takes one index, got {len(indices)}", hint="the offset counted in elements")
        return self + indices[0]

    def aligned(self, alignment: int) -> Pointer:
        """Return the same address, which the caller knows to be a multiple of so many bytes."""
        return self.recast(replace(self.payload, align=alignment))

    def view(self, layout: Any) -> Any:
        """Return a tensor that starts here."""
        return apply("make_view", self, layout)

    def recast(self, payload: PointerPayload) -> Pointer:
        """Return the same address with another pointer type."""
        return from_value(current().fly("recast_iter", [self.ir_value()], None, payload))
