"""fly-mark-memory: notes beside tensors what a report about their memory should say.

Runs first, and only when a sanitizer is on. A view of shared memory starts at a marked pointer, which lowering keeps as
a value of its own; register allocations are marked where they stand.

    %t = fly.make_view(%p, %l)   ->   %q = fly.recast_iter(%p) {fly.mark = "{\"layout\": …}"}
                                      %t = fly.make_view(%q, %l)
"""

from __future__ import annotations

import json
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly.ops import OP_CLASSES, FlyOp
from flydsl.dialects.fly.payload import is_static_payload
from flydsl.dialects.fly.types import FlyType, payload_of
from flydsl.dialects.upstream import walked
from flydsl.layout import int_tuple as it
from flydsl.layout.layout import Layout
from flydsl.layout.tensor import Tensor
from flydsl.passes.shared.walk import MARK, functions


def view_facts(tensor: Tensor) -> dict[str, Any] | None:
    """Layout and element type of a tensor, for a mark; None when its layout is not known or not flat."""
    layout = tensor.layout
    if not isinstance(layout, Layout) or not is_static_payload(layout):
        return None
    shape, stride = (part if isinstance(part, tuple) else (part,) for part in (layout.shape, layout.stride))
    leaves = [(it.leaves(s), it.leaves(d)) for s, d in zip(shape, stride, strict=True)]
    if not all(isinstance(n, int) for s, d in leaves for n in (*s, *d)):
        return None
    return {"layout": [[list(s), list(d)] for s, d in leaves], "text": str(layout), "elem": tensor.iter.elem}


def _mark(tensor: Any) -> StringAttr | None:
    if not (isinstance(tensor, Tensor) and isinstance(tensor.iter, pl.Pointer)):
        return None
    facts = view_facts(tensor)
    return None if facts is None else StringAttr(json.dumps(facts))


def _mark_op(op: FlyOp) -> None:
    if len(op.results) != 1 or not isinstance(op.results[0].type, FlyType):
        return
    tensor = payload_of(op.results[0].type)
    if op.spec.name in ("memref.alloca", "make_fragment_like", "mma.make_fragment"):
        if (mark := _mark(tensor)) is not None:
            op.attributes[MARK] = mark
    elif op.spec.name == "make_view" and isinstance(tensor.iter, pl.Pointer) and tensor.iter.space == "shared":
        mark = _mark(tensor)
        if mark is None or op.parent is None:
            return
        pointer = op.operands[0]
        same = OP_CLASSES["recast_iter"].create(
            operands=[pointer], result_types=[pointer.type], attributes={MARK: mark}
        )
        same.location = op.location
        op.parent.insert_op_before(same, op)
        op.operands[0] = same.results[0]


def mark_memory(module: Operation) -> None:
    """Run the pass on a module."""
    for function in functions(module):
        for op in walked(function):
            if isinstance(op, FlyOp):
                _mark_op(op)
