"""fly-int-swizzle-simplify as the original has it: what is a multiple of the swizzle's period goes through it.

In kernels, ``x ^ ((x & M) >> s)`` where M is one run of m bits above k zeros and s is at most k repeats every 2^(k+m).
Of the addends of x those that are multiples of that are added behind the swizzle:

    swz(i + 512)   ->   swz(i) + 512
"""

from __future__ import annotations

from math import gcd

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from flydsl.base.records import dataclass
from flydsl.dialects.fly.ops import FlyOp
from flydsl.dialects.fly.types import payload_of
from flydsl.layout import int_tuple as it
from flydsl.layout.leaf import Basis, DynInt
from flydsl.passes.shared.insertion import Inserter
from flydsl.passes.shared.known_bits import constant_of, shift_of
from flydsl.passes.shared.walk import functions, take_out

_DEPTH = 16
"""How far back divisibility is looked for."""
_SAME = ("arith.extsi", "arith.extui", "arith.index_cast", "arith.trunci")
_TUPLES = ("make_int_tuple", "make_shape", "make_stride", "make_coord")


@dataclass(frozen=True)
class _Swizzle:
    index: SSAValue
    masked: Operation
    shifted: Operation
    period: int


def _swizzle(op: Operation) -> _Swizzle | None:
    """Read an `arith.xori` as the end of a swizzle, with its operands in either order."""
    if op.name != "arith.xori":
        return None
    for index, moved in (tuple(op.operands), tuple(reversed(op.operands))):
        shifted = moved.owner
        if not isinstance(shifted, Operation) or shifted.name not in ("arith.shrsi", "arith.shrui"):
            continue
        masked = shifted.operands[0].owner
        if not isinstance(masked, Operation) or masked.name != "arith.andi" or index not in masked.operands:
            continue
        other = masked.operands[1] if masked.operands[0] is index else masked.operands[0]
        mask, amount = constant_of(other), shift_of(shifted)
        if mask is None or mask <= 0 or amount is None:
            continue
        zeros = (mask & -mask).bit_length() - 1
        ones = mask >> zeros
        if ones & (ones + 1) == 0 and amount <= zeros:
            return _Swizzle(index, masked, shifted, 1 << mask.bit_length())
    return None


def divisor(value: SSAValue, depth: int = _DEPTH) -> int:
    """Return a number that certainly divides a value; 0 divides nothing but zero."""
    constant = constant_of(value)
    if constant is not None:
        return abs(constant)
    stated = _stated(value)
    owner = value.owner
    if depth == 0 or not isinstance(owner, Operation):
        return stated
    parts = [divisor(operand, depth - 1) for operand in owner.operands[:3]] if owner.name in _KNOWN else []
    if owner.name in ("arith.addi", "arith.subi"):
        found = gcd(*parts)
    elif owner.name == "arith.select":
        found = gcd(*parts[1:])
    elif owner.name == "arith.muli":
        found = parts[0] * parts[1]
    elif owner.name == "arith.shli":
        amount = shift_of(owner)
        found = 1 if amount is None else parts[0] << amount
    else:
        found = parts[0] if parts else 1
    return found * stated // gcd(found, stated) if found else 0


_KNOWN = ("arith.addi", "arith.subi", "arith.select", "arith.muli", "arith.shli", *_SAME)


def _stated(value: SSAValue) -> int:
    """Return what the tuples that a value is put into say about it."""
    found = 1
    for use in value.uses:
        op = use.operation
        if isinstance(op, FlyOp) and op.spec.name in _TUPLES:
            leaves = [
                leaf.value if isinstance(leaf, Basis) else leaf for leaf in it.leaves(payload_of(op.results[0].type))
            ]
            dynamic = [leaf for leaf in leaves if isinstance(leaf, DynInt)]
            div = dynamic[use.index].div if use.index < len(dynamic) else 1
            found = found * div // gcd(found, div)
    return found


def _addends(value: SSAValue) -> list[SSAValue]:
    owner = value.owner
    if isinstance(owner, Operation) and owner.name == "arith.addi":
        return [part for operand in owner.operands for part in _addends(operand)]
    return [value]


def _simplify(at: Inserter, op: Operation, found: _Swizzle) -> bool:
    addends = _addends(found.index)
    outside = [part for part in addends if divisor(part) % found.period == 0]
    if not outside or (len(addends) == 1 and constant_of(addends[0]) == 0):
        return False
    inside = [part for part in addends if part not in outside]
    at.anchor = op
    kind = found.index.type
    if inside:
        rest = _sum(at, inside)
        mask = next(o for o in found.masked.operands if o is not found.index)
        bits = at.op("arith.andi", [rest, mask], [kind])
        moved = at.op(found.shifted.name, [bits, found.shifted.operands[1]], [kind])
        total = at.op("arith.xori", [rest, moved], [kind])
    else:
        zero = ConstantOp.create(result_types=[kind], properties={"value": IntegerAttr(0, kind)})  # type: ignore[arg-type]
        total = at.add(zero).results[0]
    op.results[0].replace_all_uses_with(_sum(at, [total, *outside]))
    for old in (op, found.shifted, found.masked):
        if all(result.first_use is None for result in old.results):
            take_out(old)
    return True


def _sum(at: Inserter, parts: list[SSAValue]) -> SSAValue:
    total = parts[0]
    for part in parts[1:]:
        total = at.op("arith.addi", [total, part], [part.type], at.wrapping)
    return total


def int_swizzle_simplify(module: Operation) -> None:
    """Run the pass on a module."""
    for function in functions(module):
        if function.name != "gpu.func":
            continue
        at = Inserter(function.regions[0].blocks[0])
        for op in list(function.walk()):
            if op.parent is not None and (found := _swizzle(op)) is not None:
                _simplify(at, op, found)
