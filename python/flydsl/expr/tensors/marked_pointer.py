"""Pointers that say which allocation they belong to, for the sanitizers' reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl.base import knobs
from flydsl.base.lazy import lazy_module
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.trace.context import current
from flydsl.expr.trace.shared_ledger import Allocation
from flydsl.expr.values.handle import from_value

if TYPE_CHECKING:
    import json
else:
    json = lazy_module("json")

_MARK = "fly.mark"


def marked_field(pointer: Pointer, offset: int, size: int, name: str) -> Pointer:
    """Return a marked start of memory, marked again for a field in it; just the pointer where no mark is around it."""
    owner = getattr(pointer.ir_value(), "owner", None) if knobs.SANITIZE.get() else None
    mark = getattr(owner, "attributes", {}).get(_MARK)
    facts = {} if mark is None else json.loads(mark.data)
    inside = "size" in facts and facts["start"] <= offset and offset + size <= facts["start"] + facts["size"]
    if not inside:
        return pointer
    path = f"{facts['field']}.{name}" if "field" in facts else name
    emitter: Any = current()
    narrower = {**facts, "start": offset, "size": size, "field": path}
    return from_value(emitter.marked_pointer(pointer.ir_value(), json.dumps(narrower)))


def marked_pointer(pointer: Pointer, allocation: Allocation) -> Pointer:
    """Return the start of a block of memory, marked with a piece of it; just the pointer when no sanitizer is on."""
    if not knobs.SANITIZE.get():
        return pointer
    place = allocation.location
    facts = {
        "what": allocation.what,
        "start": allocation.offset,
        "size": allocation.size,
        "file": place.file if place else "",
        "line": place.line if place else 0,
    }
    emitter: Any = current()
    return from_value(emitter.marked_pointer(pointer.ir_value(), json.dumps(facts)))
