"""Reading an operation without knowing its class: name, properties, source location.

Upstream ops arrive in three shapes: an xDSL class, a class of ``flydsl.dialects``, or an unregistered
op from parsed text. The emitter dispatches by name and reads properties by name, so all three work.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, NoReturn, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    FusedLoc,
    IntegerAttr,
    NameLoc,
    StringAttr,
    SymbolRefAttr,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Data, Operation

from flydsl.base.errors import LoweringError, SourceLocation


def op_name(op: Operation) -> str:
    """Return the op's full name, also for an op whose dialect was not loaded."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def prop(op: Operation, name: str) -> Attribute | None:
    """Return a property by name. Unregistered and generic-form ops keep theirs among the attributes."""
    found = op.properties.get(name)
    return op.attributes.get(name) if found is None else found


def int_prop(op: Operation, name: str, default: int = 0) -> int:
    found = prop(op, name)
    return found.value.data if isinstance(found, IntegerAttr) else default


def flag_prop(op: Operation, name: str) -> bool:
    """Return whether a unit or boolean property is set."""
    found = prop(op, name)
    return found is not None and not (isinstance(found, IntegerAttr) and found.value.data == 0)


def ints_prop(op: Operation, name: str) -> tuple[int, ...]:
    """Return a property holding a list of integers, in any of MLIR's spellings; empty when absent."""
    found = prop(op, name)
    if isinstance(found, DenseArrayBase):
        return tuple(cast("DenseArrayBase[Any]", found).get_values())
    if isinstance(found, DenseIntOrFPElementsAttr):
        return cast("tuple[int, ...]", cast("DenseIntOrFPElementsAttr[Any]", found).get_values())
    if isinstance(found, ArrayAttr):
        items = cast("ArrayAttr[Attribute]", found)
        return tuple(item.value.data for item in items if isinstance(item, IntegerAttr))
    return ()


def keyword_prop(op: Operation, name: str, by_number: Sequence[str] = (), default: str = "") -> str:
    """Return an enumeration property as its keyword, whether stored as enum, string or number."""
    found = prop(op, name)
    if found is None:
        return default
    if isinstance(found, IntegerAttr) and by_number:
        return by_number[found.value.data]
    return keyword(found)


def keyword(attr: Attribute) -> str:
    if isinstance(attr, StringAttr):
        return attr.data
    if isinstance(attr, Data):
        data = cast("Data[object]", attr).data
        return str(data.value) if isinstance(data, Enum) else str(data)
    return str(attr)


def text_prop(op: Operation, name: str, default: str = "") -> str:
    found = prop(op, name)
    return found.data if isinstance(found, StringAttr) else default


def symbol_prop(op: Operation, name: str) -> str | None:
    """Return the leaf name of a symbol reference, or None when the property is absent."""
    found = prop(op, name)
    if isinstance(found, SymbolRefAttr):
        return found.nested_references.data[-1].data if found.nested_references.data else found.root_reference.data
    return found.data if isinstance(found, StringAttr) else None


def source_location(location: Attribute) -> SourceLocation | None:
    """Return where in the user's file an op came from; the innermost file position of a nested location."""
    if isinstance(location, FileLineColLoc):
        return SourceLocation(location.filename.data, location.line.data, location.column.data)
    if isinstance(location, NameLoc):
        return source_location(location.location)
    if isinstance(location, CallSiteLoc):
        return source_location(location.callee)
    if isinstance(location, FusedLoc):
        found = (source_location(part) for part in cast("ArrayAttr[Attribute]", location.locations))
        return next((part for part in found if part is not None), None)
    return None


def fail(op: Operation, reason: str, *, hint: str | None = None) -> NoReturn:
    """Refuse an op: the message names it, its types and the user's line."""
    operands = ", ".join(str(value.type) for value in op.operands)
    results = ", ".join(str(value.type) for value in op.results)
    message = f"'{op_name(op)}' ({operands}) -> ({results}): {reason}"
    raise LoweringError(message, hint=hint, location=source_location(op.location))
