"""Marks of asynchronous copies into LDS (gfx950) as wait counts.

``wait.asyncmark n`` waits for the copies before the last mark but n. The hardware counts the memory operations that
are outstanding, in order, so the wait becomes ``s_waitcnt vmcnt(k)`` with k copies known to follow that mark on every
path. Where that is not known k is smaller than it could be, which waits longer and is never wrong. Part of
convert-fly-to-rocdl; the LLVM in use has no instruction for marks.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation

from flydsl.base.errors import LoweringError
from flydsl.dialects.upstream import walked
from flydsl.passes.shared.insertion import Inserter
from flydsl.passes.shared.intrinsic_call import call_intrinsic
from flydsl.target.wait_counts import encode_wait

MARK, WAIT = "llvm.amdgcn.asyncmark", "llvm.amdgcn.wait.asyncmark"
_COPIES = ("llvm.amdgcn.raw.ptr.buffer.load.lds", "llvm.amdgcn.global.load.lds")
_MOST = 63
"""As high as vmcnt counts."""


def _name(op: Operation) -> str | None:
    found: Any = op.properties.get("intrin")
    return None if found is None else found.data


def _has_mark(op: Operation) -> bool:
    return any(_name(inner) == MARK for inner in walked(op))


def _copies_since(op: Operation | None, block: Block, marks: int, count: int, seen: frozenset[Block]) -> int:
    """Return the least number of copies between ``op``, going backwards, and the mark with ``marks`` others behind
    it."""
    while op is not None:
        if _name(op) == MARK:
            if marks == 0:
                return count
            marks -= 1
        elif _name(op) in _COPIES:
            count += 1
        elif op.regions and _has_mark(op):
            return count
        op = op.prev_op
    parent = block.parent_op()
    if parent is None or parent.name not in ("scf.if", "scf.for"):
        # The kernel's start: there was no such mark, and nothing to wait for. Other loops are not looked into.
        return count if parent is not None and parent.name.startswith("scf.") else _MOST
    outer = parent.parent_block()
    assert outer is not None
    before = _copies_since(parent.prev_op, outer, marks, count, seen)
    if parent.name == "scf.if":
        return before
    if block in seen:
        return count
    return min(before, _copies_since(block.last_op, block, marks, count, seen | {block}))


def _wait(op: Operation) -> None:
    owner = op.operands[0].owner
    number = owner.value if isinstance(owner, ConstantOp) else None
    if not isinstance(number, IntegerAttr):
        raise LoweringError("the number of marks to leave outstanding must be a constant")
    block = op.parent_block()
    assert block is not None
    count = min(_copies_since(op.prev_op, block, number.value.data, 0, frozenset()), _MOST)
    at = Inserter(block)
    at.anchor = op
    call_intrinsic(at, "llvm.amdgcn.s.waitcnt", [at.constant("i32", encode_wait({"vmcnt": count}, "gfx9"))])


def resolve_async_marks(module: Operation) -> None:
    """Replace the waits of a module by wait counts, and drop the marks."""
    found = [op for op in walked(module) if _name(op) in (MARK, WAIT)]
    for op in found:
        if _name(op) == WAIT:
            _wait(op)
    for op in found:
        op.detach()
        op.erase()
