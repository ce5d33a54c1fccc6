"""Where in shared memory a pointer leads, as far as the code around it tells."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Operation, SSAValue

from flydsl.passes.shared.known_bits import known_zeros

BLOCK_ALIGN = 1024
"""Every block of shared memory starts at a multiple of these bytes."""
_CASTS = ("llvm.bitcast", "llvm.addrspacecast", "builtin.unrealized_conversion_cast")
_DYNAMIC = -(2**31)


def known_start(pointer: SSAValue, modulus: int) -> int | None:
    """Return the address in shared memory of a pointer, modulo a power of two up to `BLOCK_ALIGN`; None if it is not
    known."""
    found = known_base(pointer, modulus)
    if found is None or not isinstance(found[0].owner, Operation):
        return None
    return found[1]


def known_base(pointer: SSAValue, modulus: int) -> tuple[SSAValue, int] | None:
    """Return the argument or block of shared memory that a pointer is moved from, and by how much, modulo a power of
    two."""
    total = 0
    while True:
        op = pointer.owner
        if not isinstance(op, Operation) or op.name == "llvm.mlir.addressof":
            return pointer, total % modulus
        if op.name == "llvm.getelementptr":
            step = _step(op, modulus)
            if step is None:
                return None
            total += step
        elif op.name not in _CASTS:
            return None
        pointer = op.operands[0]


def constant_moves(pointer: SSAValue, unit: int) -> tuple[SSAValue, int]:
    """Return the pointer that this one is some constant multiple of ``unit`` bytes behind, and how many bytes that
    are."""
    total = 0
    while isinstance(op := pointer.owner, Operation) and op.name == "llvm.getelementptr":
        size, indices = getattr(op.properties["elem_type"], "size", None), op.properties["rawConstantIndices"]
        if not isinstance(size, int) or not isinstance(indices, DenseArrayBase) or len(indices) != 1:
            break
        constant = int(indices.get_values()[0])
        if constant == _DYNAMIC or constant < 0 or constant * size % unit:
            break
        total += constant * size
        pointer = op.operands[0]
    return pointer, total


def _step(op: Operation, modulus: int) -> int | None:
    """Bytes that an address is moved by, modulo a power of two."""
    size, indices = getattr(op.properties["elem_type"], "size", None), op.properties["rawConstantIndices"]
    if not isinstance(size, int) or not isinstance(indices, DenseArrayBase) or len(indices) != 1:
        return None
    constant = indices.get_values()[0]
    if constant != _DYNAMIC:
        return int(constant) * size % modulus
    zeros = known_zeros(op.operands[1])
    granule = (~zeros & (zeros + 1)) * size  # the lowest bit that may be set
    return 0 if zeros and granule % modulus == 0 else None
