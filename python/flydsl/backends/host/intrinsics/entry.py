"""The record of one intrinsic's behaviour on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import Operation

from flydsl.backends.host.thread_loops import Workgroup
from flydsl.base.records import dataclass
from flydsl.codegen.reading.op_view import fail

Behaviour = Callable[[Workgroup, Operation], None]
Kind = Literal["thread", "gather", "meeting"]


@dataclass(frozen=True)
class HostIntrinsic:
    """``gathered`` is the operand that a gather reads from other threads; ``pure`` work may be done again."""

    kind: Kind
    run: Behaviour
    gathered: int = 0
    pure: bool = False


def thread(run: Behaviour, *, pure: bool = False) -> HostIntrinsic:
    """Run by each thread for itself."""
    return HostIntrinsic("thread", run, pure=pure)


def gather(run: Behaviour, operand: int = 0) -> HostIntrinsic:
    """Reads ``operand`` of other threads."""
    return HostIntrinsic("gather", run, operand)


def meeting(run: Behaviour) -> HostIntrinsic:
    """Done once for the workgroup or each wave, between thread loops."""
    return HostIntrinsic("meeting", run)


def immediate(op: Operation, index: int) -> int:
    """Return an operand that the instruction encodes, which must be a constant."""
    owner = op.operands[index].owner
    value = owner.properties.get("value") if isinstance(owner, ConstantOp) else None
    if not isinstance(value, IntegerAttr):
        fail(op, f"operand {index} of this instruction is part of its encoding and must be a constant")
    number = value.value.data
    return number & 1 if value.type == i1 else number  # true is -1 as a signed bit
