"""Which bits of an integer value are certainly zero, read off the arithmetic that makes it."""

from __future__ import annotations

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Operation, SSAValue

_DEPTH = 8
"""How far back to look; offsets are a few operations deep, and the answer may always be 'nothing'."""


def constant_of(value: SSAValue) -> int | None:
    """Return the integer a value certainly is."""
    owner = value.owner
    if isinstance(owner, ConstantOp):
        attr = owner.properties["value"]
        if isinstance(attr, IntegerAttr):
            return attr.value.data
    return None


def width_of(value: SSAValue) -> int:
    """Bits of an integer value; 0 for anything else."""
    if isinstance(value.type, IntegerType):
        return value.type.width.data
    return 64 if isinstance(value.type, IndexType) else 0


def shift_of(op: Operation) -> int | None:
    """By how many bits an operation certainly shifts; a shift as wide as the number or wider means nothing."""
    amount = constant_of(op.operands[1]) if len(op.operands) == 2 else None
    return amount if amount is not None and 0 <= amount < width_of(op.operands[0]) else None


def known_zeros(value: SSAValue, depth: int = _DEPTH) -> int:
    """Return a mask of the bits that are zero whatever happens at run time."""
    width = width_of(value)
    everything = (1 << width) - 1
    constant = constant_of(value)
    if constant is not None:
        return ~constant & everything
    owner = value.owner
    if depth == 0 or not isinstance(owner, Operation) or not owner.name.startswith("arith."):
        return 0
    parts = [known_zeros(operand, depth - 1) for operand in owner.operands[:2] if width_of(operand)]
    if len(parts) == 2:
        return _of_two(owner, parts[0], parts[1], everything)
    return _of_cast(owner, parts[0], width) if parts else 0


def _of_two(op: Operation, a: int, b: int, everything: int) -> int:
    amount = shift_of(op)
    if op.name == "arith.andi":
        return a | b
    if op.name in ("arith.ori", "arith.xori"):
        return a & b
    if op.name == "arith.shli" and amount is not None:
        return (a << amount | ((1 << amount) - 1)) & everything
    if op.name == "arith.shrsi" and amount is not None:
        sign = (everything + 1) >> 1
        return a >> amount | (everything & ~(everything >> amount) if a & sign else 0)
    if op.name == "arith.addi":
        # Without a common one there is no carry, so a bit is set only where one of them has it.
        return a & b if a | b == everything else _low_ones(a & b)
    if op.name == "arith.muli":
        return (1 << min(_count_low_ones(a) + _count_low_ones(b), everything.bit_length())) - 1
    return 0


def _of_cast(op: Operation, inner: int, width: int) -> int:
    before = width_of(op.operands[0])
    everything = (1 << width) - 1
    if width <= before:
        return inner & everything if op.name in ("arith.trunci", "arith.index_cast") else 0
    sign_is_zero = inner >> (before - 1) & 1
    if op.name == "arith.extui" or (op.name in ("arith.extsi", "arith.index_cast") and sign_is_zero):
        return inner | (everything & ~((1 << before) - 1))
    return inner & ~(1 << (before - 1)) if op.name in ("arith.extsi", "arith.index_cast") else 0


def _count_low_ones(mask: int) -> int:
    return (~mask & (mask + 1)).bit_length() - 1


def _low_ones(mask: int) -> int:
    return (1 << _count_low_ones(mask)) - 1


# Powers of two that a value is a multiple of -----------------------------------------------------

_MOST_TWOS = 12
"""A multiple of 4096 is more than any access or swizzle asks for."""
_LEAST = frozenset({"arith.addi", "arith.subi", "arith.ori", "arith.xori"})
_SAME = frozenset({"arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast"})


def known_twos(value: SSAValue, depth: int = _DEPTH) -> int:
    """Return how often two certainly divides an integer.

    It is asked for every run-time coordinate, so it looks at no more of the arithmetic than it must: a sum with an odd
    term is known at once.
    """
    constant = constant_of(value)
    if constant is not None:
        return min((constant & -constant).bit_length() - 1, _MOST_TWOS) if constant else _MOST_TWOS
    owner = value.owner
    if depth == 0 or not isinstance(owner, Operation) or not owner.operands:
        return 0
    if owner.name in _SAME:
        return known_twos(owner.operands[0], depth - 1)
    if owner.name == "arith.shli":
        by = shift_of(owner)
        return 0 if by is None else min(known_twos(owner.operands[0], depth - 1) + by, _MOST_TWOS)
    if owner.name in _LEAST:
        last = known_twos(owner.operands[1], depth - 1)
        return min(last, known_twos(owner.operands[0], depth - 1)) if last else 0
    if owner.name in ("arith.muli", "arith.andi"):
        first, last = (known_twos(operand, depth - 1) for operand in owner.operands)
        return min(first + last, _MOST_TWOS) if owner.name == "arith.muli" else max(first, last)
    return 0
