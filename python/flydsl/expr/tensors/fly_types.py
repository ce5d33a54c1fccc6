"""Types by name, as kernels spell them: ``SwizzleType.get(3, 4, 3)``, ``PointerType.get(...)``.

A type here is the payload that describes its values. ``fx.static`` turns a payload without run-time parts into a value;
``fx.make_ptr``, ``fx.inttoptr``, ``fx.recast_iter`` and ``fx.memref_alloca`` take pointer and memref types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.dialects.fly import payload as pl
from flydsl.expr.atoms.hardware_enums import AddressSpace, SyncScope
from flydsl.expr.atoms.ops_atom import UniversalAtomic, UniversalCopy, UniversalFMA
from flydsl.expr.tensors.element import element_name
from flydsl.expr.tensors.ops_layout import make_tile
from flydsl.expr.values.handle import Handle, describe
from flydsl.expr.values.int_tuple import IntTuple
from flydsl.expr.values.ir_types import NarrowingMeta
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import Basis, DynInt
from flydsl.layout.swizzle import ComposedLayout, CoordSwizzle, Swizzle
from flydsl.layout.tensor import Tensor
from flydsl.layout.tile import Tile


def _payload(value: Any) -> Any:
    return value.payload if isinstance(value, Handle) else value


def _tuple(value: Any) -> Any:
    return _payload(IntTuple.from_python(value))


def _space(space: Any) -> str:
    if isinstance(space, AddressSpace):
        return space.ir_name
    if isinstance(space, str):
        return space
    if isinstance(space, int) and not isinstance(space, bool):
        if space not in list(AddressSpace):
            known = ", ".join(f"{member.value} is {member.name}" for member in AddressSpace)
            raise DslValueError(f"there is no address space {space}", hint=f"of the spaces, {known}")
        return AddressSpace(space).ir_name
    raise DslTypeError(f"expected an address space, got {describe(space)}", hint="use fx.AddressSpace.Global")


def _path(modes: int | Sequence[int]) -> tuple[int, ...]:
    return (modes,) if isinstance(modes, int) else tuple(modes)


class _FlyType(metaclass=NarrowingMeta):
    """Types whose values one payload describes."""

    payloads: ClassVar[tuple[type, ...]] = ()

    @classmethod
    def admits(cls, type_: Any) -> bool:
        """Return whether this is a type of the class."""
        return isinstance(type_, cls.payloads)


class IntTupleType(_FlyType):
    """The type of an int tuple."""

    payloads = (int, tuple, DynInt, Basis)

    @staticmethod
    def get(value: Any) -> Any:
        """Return a nested tuple of ints."""
        return _tuple(value)


class LayoutType(_FlyType):
    """The type of a layout."""

    payloads = (Layout,)

    @staticmethod
    def get(shape: Any, stride: Any) -> Layout:
        """Return the layout of a shape and strides."""
        return Layout(_tuple(shape), _tuple(stride))


class ComposedLayoutType(_FlyType):
    """The type of a composed layout."""

    payloads = (ComposedLayout,)

    @staticmethod
    def get(inner: Any, offset: Any, outer: Any) -> ComposedLayout:
        """c -> inner(offset + outer(c))."""
        return ComposedLayout(_payload(inner), _tuple(offset), _payload(outer))


class SwizzleType(_FlyType):
    """The type of a swizzle."""

    payloads = (Swizzle,)

    @staticmethod
    def get(mask: int, base: int, shift: int) -> Swizzle:
        """x -> x ^ ((x >> shift) & (mask bits from base))."""
        return Swizzle(mask, base, shift)


class CoordSwizzleType(_FlyType):
    """The type of a swizzle of coordinates."""

    payloads = (CoordSwizzle,)

    @staticmethod
    def get(mask: int, base_row: int, mode_row: int | Sequence[int], base_col: int,
            mode_col: int | Sequence[int]) -> CoordSwizzle:  # fmt: skip
        """Return a swizzle of one coordinate by another."""
        return CoordSwizzle(mask, base_row, _path(mode_row), base_col, _path(mode_col))


class TileType(_FlyType):
    """The type of a tile."""

    payloads = (Tile,)

    @staticmethod
    def get(modes: Any) -> Tile:
        """Return a tile of one mode, or of a list of them."""
        parts = modes if isinstance(modes, (list, tuple)) else (modes,)
        return make_tile(*parts).payload


class PointerType(_FlyType):
    """The type of a pointer."""

    payloads = (pl.Pointer,)

    @staticmethod
    def get(elem_ty: Any, address_space: Any = AddressSpace.Global, alignment: int | None = None,
            swizzle: Any = None) -> pl.Pointer:  # fmt: skip
        """Return a pointer to elements of a type."""
        return pl.Pointer(element_name(elem_ty), _space(address_space), alignment or 0, _payload(swizzle))


class MemRefType(_FlyType):
    """The type of a tensor over memory."""

    @classmethod
    def admits(cls, type_: Any) -> bool:
        """Return whether this is a type of the class."""
        return isinstance(type_, Tensor) and isinstance(type_.iter, pl.Pointer)

    @staticmethod
    def get(elem_ty: Any, layout: Any, address_space: Any = AddressSpace.Register,
            alignment: int | None = None) -> Tensor:  # fmt: skip
        """Return a tensor of elements of a type."""
        return Tensor(PointerType.get(elem_ty, address_space, alignment), _payload(layout))


class CoordTensorType(_FlyType):
    """The type of a coordinate tensor."""

    @classmethod
    def admits(cls, type_: Any) -> bool:
        """Return whether this is a type of the class."""
        return isinstance(type_, Tensor) and not isinstance(type_.iter, pl.Pointer)

    @staticmethod
    def get(base: Any, layout: Any) -> Tensor:
        """Coordinates from a base along a layout."""
        return Tensor(_tuple(base), _payload(layout))


class CopyAtomType(_FlyType):
    """The type of a copy atom."""

    payloads = (pl.CopyAtom,)

    @staticmethod
    def get(copy_op: Any, val_bits: int) -> pl.CopyAtom:
        """Return the atom of a copy operation on values of some bits."""
        return pl.CopyAtom(copy_op, val_bits)


class MmaAtomType(_FlyType):
    """The type of a matrix atom."""

    payloads = (pl.MmaAtom,)

    @staticmethod
    def get(mma_op: Any) -> pl.MmaAtom:
        """Return the atom of a matrix operation."""
        return pl.MmaAtom(mma_op)


class CopyOpUniversalCopyType:
    """The operation behind `UniversalCopy`."""

    @staticmethod
    def get(bits: int) -> Any:
        """Return a copy of some bits."""
        return UniversalCopy(bits)


class CopyOpUniversalAtomicType:
    """The operation behind `UniversalAtomic`."""

    @staticmethod
    def get(op: Any, val_type: Any, syncscope: SyncScope = SyncScope.System) -> Any:
        """Return an atomic operation on a number type."""
        return UniversalAtomic(op, val_type, syncscope)


class MmaOpUniversalFMAType:
    """The operation behind `UniversalFMA`."""

    @staticmethod
    def get(elem_type: Any) -> Any:
        """Return a multiply-add of a number type."""
        return UniversalFMA(elem_type)


class TiledCopyType(_FlyType):
    """The type of a tiled copy."""

    payloads = (pl.TiledCopy,)

    @staticmethod
    def get(atom: Any, layout_tv: Any, tile: Any) -> pl.TiledCopy:
        """Return an atom over a TV layout and a tile."""
        return pl.TiledCopy(_payload(atom), _payload(layout_tv), _payload(tile))


class TiledMmaType(_FlyType):
    """The type of a tiled mma."""

    payloads = (pl.TiledMma,)

    @staticmethod
    def get(atom: Any, atom_layout: Any, permutation: Any = None) -> pl.TiledMma:
        """Return an atom over a layout of atoms."""
        return pl.TiledMma(_payload(atom), _payload(atom_layout), _payload(permutation))


class BasisType:
    """The type of a scaled unit vector."""

    @staticmethod
    def get(value: Any, modes: int | Sequence[int]) -> Basis:
        """Return a multiple of a unit vector."""
        return Basis(value, _path(modes))


def E(*modes: int) -> Any:
    """Return the unit vector along a mode: ``E(0) * 2`` is ``2E0``; ``E()`` is 1."""
    return Basis(1, modes) if modes else 1


def is_generic_address_space(space: Any, which: AddressSpace | None = None) -> bool:
    """Return whether a space is one that every target has; with ``which``, whether it is that one."""
    return space == which if which is not None else isinstance(space, AddressSpace)


def is_target_address_space(space: Any) -> bool:
    """Return whether a space belongs to one target, such as a buffer descriptor's."""
    return not isinstance(space, AddressSpace) and _space(space) not in pl.MEMORY_SPACES


__all__ = [
    "Basis", "BasisType", "ComposedLayoutType", "CoordSwizzleType", "CoordTensorType", "CopyAtomType",
    "CopyOpUniversalAtomicType", "CopyOpUniversalCopyType", "E", "IntTupleType", "LayoutType", "MemRefType",
    "MmaAtomType", "MmaOpUniversalFMAType", "PointerType", "SwizzleType", "TileType", "TiledCopyType", "TiledMmaType",
    "is_generic_address_space", "is_target_address_space",
]  # fmt: skip
