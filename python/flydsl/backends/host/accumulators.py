"""Following the accumulators of `wgmma` through a kernel.

Between a product and the wait for it, registers may go to further products, to waits, and from place to place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Operation, SSAValue

from flydsl.backends.device_code import instruction_of
from flydsl.backends.host.fibers import ptx_name
from flydsl.passes.shared.matrix_atoms import INSTRUCTION

REGISTER = 4
"""Bytes of a register."""
PRODUCT = "!fly_nvvm.sm90.wgmma"
_WAIT = "wgmma.wait_group"
_MOVES = frozenset({
    "vector.extract", "vector.insert", "vector.shuffle", "vector.shape_cast", "vector.bitcast", "vector.from_elements",
    "vector.extract_strided_slice", "vector.insert_strided_slice", "vector.to_elements", "llvm.bitcast",
    "arith.bitcast", "builtin.unrealized_conversion_cast", "llvm.extractvalue", "llvm.insertvalue", "llvm.store",
    "scf.yield", "llvm.insertelement", "llvm.extractelement",
})  # fmt: skip
_POINTER_STEPS = ("llvm.getelementptr", "llvm.bitcast", "llvm.addrspacecast", "builtin.unrealized_conversion_cast")


def is_product(op: Operation) -> bool:
    name = op.attributes.get(INSTRUCTION)
    return isinstance(name, StringAttr) and name.data.startswith(PRODUCT)


def _takes_accumulators(op: Operation) -> bool:
    return is_product(op) or ptx_name(op) == _WAIT


def moves_accumulators(op: Operation) -> bool:
    """Return whether a load only feeds products, waits and moves, or a store only puts back what those gave."""
    if op.name == "llvm.store":
        return any(_takes_accumulators(source) for source in _sources(op.operands[0], set()))
    return bool(op.results) and all(_takes_accumulators(user) or _keeps(user) for user in _users(op, set()))


def _keeps(op: Operation) -> bool:
    """Return whether an operation stores into registers that are memory."""
    if op.name != "llvm.store":
        return False
    owner = op.operands[1].owner
    while isinstance(owner, Operation) and owner.name in _POINTER_STEPS:
        owner = owner.operands[0].owner
    return isinstance(owner, Operation) and owner.name == "llvm.alloca"


def drops_accumulators(op: Operation) -> bool:
    """Return whether what a load reads may not matter: it goes to a wait, or to a product that may forget it (scale_d
    0)."""
    return moves_accumulators(op) and not any(_adds(user) for user in _users(op, set()))


def _adds(op: Operation) -> bool:
    """Return whether a product surely adds to what its accumulators hold."""
    if not is_product(op):
        return False
    facts: Any = instruction_of(op)
    owner = op.operands[[slot.role for slot in facts.inline_asm().slots].index("scale_d")].owner
    value = owner.properties.get("value") if isinstance(owner, Operation) else None
    return isinstance(value, IntegerAttr) and value.value.data == 1


def accumulator_memory(op: Operation) -> SSAValue | None:
    """Return the pointer that a product's accumulators are loaded from, where registers are memory."""
    loads = (source for source in _sources(op.operands[-1], set()) if source.name == "llvm.load")
    found = next(loads, None)
    return None if found is None else found.operands[0]


def _users(op: Operation, seen: set[Operation]) -> Iterator[Operation]:
    """Yield who uses the results of an operation at last, behind moves."""
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
    """Yield the operations that a value comes from, through moves."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner in seen:
        return
    seen.add(owner)
    if owner.name in _MOVES:
        for operand in owner.operands:
            yield from _sources(operand, seen)
    else:
        yield owner
