"""Types by name, as kernels spell them: ``SwizzleType.get(3, 4, 3)``, ``PointerType.get(...)``.

A type here is the payload that describes its values. ``fx.static`` turns a payload without run-time parts into a value;
``fx.make_ptr``, ``fx.inttoptr``, ``fx.recast_iter`` and ``fx.memref_alloca`` take pointer and memref types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.dialects.fly import payload as pl
from flydsl.expr.element import element_name
from flydsl.expr.handle import Handle, describe
from flydsl.expr.hardware_enums import AddressSpace, SyncScope
from flydsl.expr.int_tuple import IntTuple
from flydsl.expr.ops_atom import UniversalAtomic, UniversalCopy, UniversalFMA
from flydsl.expr.ops_layout import make_tile
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import Basis
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
    raise DslTypeError(f"expected an address space, got {describe(space)}", hint="use fx.AddressSpace.Global")


def _path(modes: int | Sequence[int]) -> tuple[int, ...]:
    return (modes,) if isinstance(modes, int) else tuple(modes)


class IntTupleType:
    @staticmethod
    def get(value: Any) -> Any:
        """A nested tuple of ints."""
        return _tuple(value)


class LayoutType:
    @staticmethod
    def get(shape: Any, stride: Any) -> Layout:
        return Layout(_tuple(shape), _tuple(stride))


class ComposedLayoutType:
    @staticmethod
    def get(inner: Any, offset: Any, outer: Any) -> ComposedLayout:
        return ComposedLayout(_payload(inner), _tuple(offset), _payload(outer))


class SwizzleType:
    @staticmethod
    def get(mask: int, base: int, shift: int) -> Swizzle:
        return Swizzle(mask, base, shift)


class CoordSwizzleType:
    @staticmethod
    def get(mask: int, base_row: int, mode_row: int | Sequence[int], base_col: int,
            mode_col: int | Sequence[int]) -> CoordSwizzle:  # fmt: skip
        return CoordSwizzle(mask, base_row, _path(mode_row), base_col, _path(mode_col))


class TileType:
    @staticmethod
    def get(modes: Any) -> Tile:
        parts = modes if isinstance(modes, (list, tuple)) else (modes,)
        return make_tile(*parts).payload


class PointerType:
    @staticmethod
    def get(elem_type: Any, address_space: Any = AddressSpace.Global, alignment: int | None = None,
            swizzle: Any = None) -> pl.Pointer:  # fmt: skip
        return pl.Pointer(element_name(elem_type), _space(address_space), alignment or 0, _payload(swizzle))


class MemRefType:
    @staticmethod
    def get(elem_type: Any, layout: Any, address_space: Any = AddressSpace.Register,
            alignment: int | None = None) -> Tensor:  # fmt: skip
        return Tensor(PointerType.get(elem_type, address_space, alignment), _payload(layout))


class CoordTensorType:
    @staticmethod
    def get(base: Any, layout: Any) -> Tensor:
        return Tensor(_tuple(base), _payload(layout))


class CopyAtomType:
    @staticmethod
    def get(op: Any, val_bits: int) -> pl.CopyAtom:
        return pl.CopyAtom(op, val_bits)


class MmaAtomType:
    @staticmethod
    def get(op: Any) -> pl.MmaAtom:
        return pl.MmaAtom(op)


class CopyOpUniversalCopyType:
    @staticmethod
    def get(bits: int) -> Any:
        return UniversalCopy(bits)


class CopyOpUniversalAtomicType:
    @staticmethod
    def get(op: Any, val_type: Any, syncscope: SyncScope = SyncScope.System) -> Any:
        return UniversalAtomic(op, val_type, syncscope)


class MmaOpUniversalFMAType:
    @staticmethod
    def get(elem_type: Any) -> Any:
        return UniversalFMA(elem_type)


class TiledCopyType:
    @staticmethod
    def get(atom: Any, layout_tv: Any, tile: Any) -> pl.TiledCopy:
        return pl.TiledCopy(_payload(atom), _payload(layout_tv), _payload(tile))


class TiledMmaType:
    @staticmethod
    def get(atom: Any, atom_layout: Any, permutation: Any = None) -> pl.TiledMma:
        return pl.TiledMma(_payload(atom), _payload(atom_layout), _payload(permutation))


class BasisType:
    @staticmethod
    def get(value: Any, modes: int | Sequence[int]) -> Basis:
        return Basis(value, _path(modes))


def E(*modes: int) -> Any:
    """The unit vector along a mode: ``E(0) * 2`` is ``2E0``; ``E()`` is 1."""
    return Basis(1, modes) if modes else 1


def is_generic_address_space(space: Any, which: AddressSpace | None = None) -> bool:
    """Whether a space is one that every target has; with ``which``, whether it is that one."""
    return space == which if which is not None else isinstance(space, AddressSpace)


def is_target_address_space(space: Any) -> bool:
    """Whether a space belongs to one target, such as a buffer descriptor's."""
    return not isinstance(space, AddressSpace) and _space(space) not in pl.MEMORY_SPACES


__all__ = [
    "Basis", "BasisType", "ComposedLayoutType", "CoordSwizzleType", "CoordTensorType", "CopyAtomType",
    "CopyOpUniversalAtomicType", "CopyOpUniversalCopyType", "E", "IntTupleType", "LayoutType", "MemRefType",
    "MmaAtomType", "MmaOpUniversalFMAType", "PointerType", "SwizzleType", "TileType", "TiledCopyType", "TiledMmaType",
    "is_generic_address_space", "is_target_address_space",
]  # fmt: skip
