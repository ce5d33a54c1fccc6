"""Following the accumulators of `wgmma` through a kernel: who only moves them, and which products no fence comes before.

Between a product and the wait for it, registers may go to further products, to waits, and from place to place. And a
product reads registers that other instructions wrote only behind a fence (PTX ISA, `wgmma.fence`).
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from flydsl.backends.host.fibers import ptx_name
from flydsl.passes.matrix_atoms import INSTRUCTION

REGISTER = 4
"""Bytes of a register."""
PRODUCT = "!fly_nvvm.sm90.wgmma"
FENCE = "llvm.nvvm.wgmma.fence"
_WAIT = "wgmma.wait_group"
_MOVES = frozenset({
    "vector.extract", "vector.insert", "vector.shuffle", "vector.shape_cast", "vector.bitcast", "vector.from_elements",
    "vector.extract_strided_slice", "vector.insert_strided_slice", "vector.to_elements", "llvm.bitcast",
    "arith.bitcast", "builtin.unrealized_conversion_cast", "llvm.extractvalue", "llvm.insertvalue", "llvm.store",
    "scf.yield", "llvm.insertelement", "llvm.extractelement",
})  # fmt: skip


def is_product(op: Operation) -> bool:
    name = op.attributes.get(INSTRUCTION)
    return isinstance(name, StringAttr) and name.data.startswith(PRODUCT)


def _takes_accumulators(op: Operation) -> bool:
    return is_product(op) or ptx_name(op) == _WAIT


def moves_accumulators(op: Operation) -> bool:
    """Whether a load only feeds products, waits and moves, or a store only puts back what those gave."""
    if op.name == "llvm.store":
        return any(_takes_accumulators(source) for source in _sources(op.operands[0], set()))
    return bool(op.results) and all(_takes_accumulators(user) or user.name == "llvm.store" for user in _users(op, set()))


def _users(op: Operation, seen: set[Operation]) -> Iterator[Operation]:
    """Who uses the results of an operation at last, behind moves."""
    for result in op.results:
        for use in result.uses:
            user = use.operation
            if user.name in _MOVES and user.results:
                if user not in seen:
                    seen.add(user)
                    yield from _users(user, seen)
            else:
                yield user


def _sources(value: SSAValue, seen: set[Operation]) -> Iterator[Operation]:
    """The operations that a value comes from, through moves."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner in seen:
        return
    seen.add(owner)
    if owner.name in _MOVES:
        for operand in owner.operands:
            yield from _sources(operand, seen)
    else:
        yield owner
