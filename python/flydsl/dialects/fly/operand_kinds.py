"""What an operand of a fly operation may be: named kinds, so that a row of the table can state them."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute

from flydsl.dialects.fly import types as ft

_LAYOUTS = (ft.LayoutType, ft.ComposedLayoutType)
_TENSORS = (ft.MemRefType, ft.CoordTensorType)
_MAPS = (*_LAYOUTS, ft.SwizzleType, ft.CoordSwizzleType)

KINDS: dict[str, tuple[str, tuple[type[Attribute], ...]]] = {
    "any": ("any value", (Attribute,)),
    "IT": ("an int tuple", (ft.IntTupleType,)),
    "L": ("a layout", (ft.LayoutType,)),
    "composed": ("a composed layout", (ft.ComposedLayoutType,)),
    "NL": ("a layout or composed layout", _LAYOUTS),
    "TL": ("a memref or coordinate tensor", _TENSORS),
    "LL": ("a layout, composed layout or tensor", (*_LAYOUTS, *_TENSORS)),
    "IT|L": ("an int tuple or layout", (ft.IntTupleType, ft.LayoutType)),
    "IT|NL": ("an int tuple, layout or composed layout", (ft.IntTupleType, *_LAYOUTS)),
    "IT|LL": ("an int tuple, layout, composed layout or tensor", (ft.IntTupleType, *_LAYOUTS, *_TENSORS)),
    "map": ("a layout, composed layout or swizzle", _MAPS),
    "divisor": ("a layout or a tile", (ft.LayoutType, ft.TileType)),
    "tile": ("a tile", (ft.TileType,)),
    "swizzle": ("a swizzle", (ft.SwizzleType,)),
    "start": ("a pointer or an int tuple", (ft.PtrType, ft.IntTupleType)),
    "ptr": ("a pointer", (ft.PtrType,)),
    "memref": ("a memref", (ft.MemRefType,)),
    "copy atom": ("a copy atom", (ft.CopyAtomType,)),
    "mma atom": ("an mma atom", (ft.MmaAtomType,)),
    "atom": ("an atom", (ft.CopyAtomType, ft.MmaAtomType)),
    "copy": ("a copy atom or tiled copy", (ft.CopyAtomType, ft.TiledCopyType)),
    "mma": ("an mma atom or tiled mma", (ft.MmaAtomType, ft.TiledMmaType)),
    "tiled copy": ("a tiled copy", (ft.TiledCopyType,)),
    "tiled mma": ("a tiled mma", (ft.TiledMmaType,)),
    "int": ("an integer", (IntegerType,)),
}
"""Kind to the words an error uses for it and the types it admits."""


def mismatch(kind: str, type_: Attribute) -> str | None:
    """What a kind asks for, when ``type_`` is something else."""
    words, admitted = KINDS[kind]
    return None if isinstance(type_, admitted) else words
