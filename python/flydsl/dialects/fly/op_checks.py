"""Verification of fly operations: operand kinds, attributes, and the result types the rules give.

Whatever is wrong with an operation ends in a `VerifyException` that names it: a rule that stumbles
over operands no rule expects is reported too, never passed on as an error of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerType, StringAttr
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from flydsl.base.errors import FlyDSLError
from flydsl.dialects.fly import types as ft
from flydsl.dialects.fly.explicit_checks import EXPLICIT_CHECKS
from flydsl.dialects.fly.op_attributes import ATTRIBUTE_CLASSES, TableOp
from flydsl.dialects.fly.op_table import OpSpec
from flydsl.dialects.fly.type_difference import difference

# What an operand of a fly operation may be: named kinds, so that a row of the table can state them ----


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
    """Return what a kind asks for, when ``type_`` is something else."""
    words, admitted = KINDS[kind]
    return None if isinstance(type_, admitted) else words


OPERAND_WORDS = ("a", "b", "c", "d")
"""The operands of a matrix instruction."""

Infer = Callable[[OpSpec, Sequence[Attribute], Mapping[str, Any]], list[Attribute]]


def check_op(op: TableOp, infer: Infer) -> None:
    """Raise a `VerifyException` unless everything about an operation is as its row says."""
    _check_operands(op)
    _check_attributes(op)
    try:
        own = EXPLICIT_CHECKS.get(op.spec.name)
        if own is not None:
            own(op)
        if op.spec.result != "explicit":
            _check_results(op, infer(op.spec, [o.type for o in op.operands], op.attrs))
    except VerifyException:
        raise
    except FlyDSLError as error:
        raise VerifyException(f"{op.name}: {error.message}") from error
    except Exception as error:
        raise VerifyException(f"{op.name} has no answer for {_signature(op)}") from error


def _signature(op: TableOp) -> str:
    return "(" + ", ".join(str(o.type) for o in op.operands) + ")"


def _check_operands(op: TableOp) -> None:
    low, high = op.spec.operands
    count = len(op.operands)
    if not low <= count <= high:
        expected = str(low) if low == high else f"{low} or more" if high > 99 else f"{low} to {high}"
        raise VerifyException(f"{op.name} takes {expected} operands, got {count}: {_signature(op)}")
    for index, operand in enumerate(op.operands):
        words = mismatch(op.spec.kind_of_operand(index), operand.type)
        if words is not None:
            raise VerifyException(f"{op.name} takes {words} as operand {index}, got {operand.type}")


def _check_attributes(op: TableOp) -> None:
    for key, kind in (op.spec.attrs or {}).items():
        words, cls = ATTRIBUTE_CLASSES[kind.removesuffix("?")]
        attr = op.attributes.get(key)
        if attr is None:
            if not kind.endswith("?"):
                raise VerifyException(f"{op.name} needs the attribute '{key}', {words}")
        elif not isinstance(attr, cls):
            raise VerifyException(f"{op.name}: the attribute '{key}' must be {words}, got {attr}")
        elif isinstance(attr, StringAttr) and kind == "word" and attr.data not in OPERAND_WORDS:
            raise VerifyException(f"{op.name}: the operand is one of {', '.join(OPERAND_WORDS)}, not '{attr.data}'")
    if op.regions or op.successors:
        raise VerifyException(f"{op.name} has neither regions nor successors")


def _check_results(op: TableOp, expected: Sequence[Attribute]) -> None:
    found = op.result_types
    if len(expected) != len(found):
        raise VerifyException(f"{op.name} has {len(expected)} results, but {len(found)} are written")
    for want, have in zip(expected, found, strict=True):
        if want != have:
            note = difference(want, have)
            raise VerifyException(
                f"{op.name} gives {want}, but the result type written is {have}" + (f" ({note})" if note else "")
            )
