"""`from_c_void_p`: a raw address as an argument; inside the function it is an `fx.Pointer`."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.compiler.messages.diagnostics import located
from flydsl.dialects.fly.payload import Pointer
from flydsl.expr.atoms.hardware_enums import AddressSpace
from flydsl.expr.tensors.element import element_name
from flydsl.target.dtype import storage_bytes


class PointerArgument:
    """An address the caller vouches for: nothing says how much memory is behind it, or on which device."""

    def __init__(self, elem: str, address: int, space: str, align: int) -> None:
        self.address = address
        self.payload = Pointer(elem, space, align)

    def signature(self) -> tuple[Any, ...]:
        return ("pointer", self.payload)

    def ir_types(self) -> list[Any]:
        return [self.payload]

    def construct(self, values: list[Any]) -> Any:
        from flydsl.expr.values.handle import from_value

        return from_value(values[0])

    def abi(self) -> str:
        return "P"

    def pack(self) -> Sequence[int]:
        return (self.address,)

    def views(self) -> list[Any]:
        return []


def address_of(pointer: Any) -> int | None:
    """The address that an int, a `ctypes.c_void_p` or None stands for; None for anything else."""
    address = pointer.value if isinstance(pointer, ctypes.c_void_p) else pointer
    if address is None:
        return 0
    return address if type(address) is int else None


@located
def from_c_void_p(
    element_type: Any, pointer: Any, *, address_space: Any = AddressSpace.Global, assumed_align: int | None = None
) -> PointerArgument:
    """A raw pointer argument from an int or a `ctypes.c_void_p`; its alignment is the element's unless you say more.

    None and 0 are null pointers, which a kernel may take and must not follow.
    """
    elem = element_name(element_type)
    address = address_of(pointer)
    if address is None:
        raise DslTypeError(f"a pointer is an int or a ctypes.c_void_p, got {type(pointer).__name__}")
    space = address_space.ir_name if isinstance(address_space, AddressSpace) else str(address_space)
    if space not in ("global", "generic"):
        raise DslValueError(
            f"a pointer from the host cannot point into {space} memory", hint="use fx.AddressSpace.Global"
        )
    align = storage_bytes(elem) if assumed_align is None else assumed_align
    if type(align) is not int or align < 1 or align & (align - 1):
        raise DslValueError(f"assumed_align must be a power of two, got {align!r}")
    if address % align:
        raise DslValueError(f"the pointer {address:#x} is not aligned to {align} bytes")
    return PointerArgument(elem, address, space, align)
