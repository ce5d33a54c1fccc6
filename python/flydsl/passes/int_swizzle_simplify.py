"""fly-int-swizzle-simplify: shortens the and/shift/xor sequences that swizzles leave behind.

A swizzle moves some bits of an index onto others with xor. Where adding a constant to the index
carries nothing (the bits of the constant are known to be zero in the index), the constant goes
through it: swz(x + c) is swz(x) ^ swz(c). So accesses that differ by constants share one swizzle:

    swz(64 * x + 8)   ->   swz(64 * x) ^ 8
    swz(64 * x + 3)   ->   swz(64 * x) + 3, where bits 0 and 1 are still free behind the swizzle
    swz(x + 4096)     ->   swz(x) + 4096, whatever x is, where the swizzle ends below bit 12

A swizzle whose source bits are known to be zero goes away. Runs after fly-layout-lowering; leaves
other arithmetic alone, except that masks which take all or nothing away, and xors and shifts by 0,
are folded. The copies of a swizzle it makes, one per region, are for canonicalize to merge.
"""

from __future__ import annotations

from xdsl.dialects.arith import IntegerOverflowAttr, IntegerOverflowFlag
from xdsl.ir import Operation, Region, SSAValue

from flydsl.base.records import dataclass
from flydsl.dialects.upstream import ops_of, replace_uses
from flydsl.passes.shared.insertion import Inserter
from flydsl.passes.shared.known_bits import constant_of, known_zeros, shift_of, width_of
from flydsl.passes.shared.walk import function_bodies

_SHIFTS = ("arith.shrsi", "arith.shli")
_NO_FLAGS = {"overflowFlags": IntegerOverflowAttr("none")}
_NO_CARRY = {"overflowFlags": IntegerOverflowAttr([IntegerOverflowFlag.NSW, IntegerOverflowFlag.NUW])}
"""Of a sum of numbers that have no bit in common."""


@dataclass(frozen=True)
class _Swizzled:
    """``index ^ shift(index & mask)``, found in the IR."""

    index: SSAValue
    mask: SSAValue
    amount: SSAValue
    shift: str

    @property
    def period(self) -> int:
        """A power of two above every bit that the swizzle reads or writes."""
        mask, amount = constant_of(self.mask), constant_of(self.amount)
        assert mask is not None and amount is not None
        return 1 << (mask if self.shift == "arith.shrsi" else mask << amount).bit_length()

    def of_constant(self, number: int) -> int:
        """Return what the swizzle makes of a constant index."""
        mask, amount = constant_of(self.mask), constant_of(self.amount)
        assert mask is not None and amount is not None
        bits = number & mask
        return number ^ (bits >> amount if self.shift == "arith.shrsi" else bits << amount)


def _swizzled(op: Operation) -> _Swizzled | None:
    """Read ``op`` as the last operation of a swizzle."""
    if op.name != "arith.xori":
        return None
    index, moved = op.operands
    shift = moved.owner
    if not (isinstance(shift, Operation) and shift.name in _SHIFTS):
        return None
    masked = shift.operands[0].owner
    if not (isinstance(masked, Operation) and masked.name == "arith.andi" and masked.operands[0] is index):
        return None
    mask = constant_of(masked.operands[1])
    if mask is None or mask <= 0 or shift_of(shift) is None:
        return None
    return _Swizzled(index, masked.operands[1], shift.operands[1], shift.name)


def _constant_added(index: SSAValue) -> tuple[SSAValue, int]:
    """Return an index as another value plus a constant that is not negative."""
    total = 0
    while isinstance(added := index.owner, Operation) and added.name == "arith.addi":
        base, constant = added.operands[0], constant_of(added.operands[1])
        if constant is None:
            base, constant = added.operands[1], constant_of(added.operands[0])
        if constant is None or constant < 0 or (total + constant) >> (width_of(base) - 1):
            break
        index, total = base, total + constant
    return index, total


class _Simplifier:
    def __init__(self, body: Region) -> None:
        self.at = Inserter(body.blocks[0])
        self._zeros: dict[SSAValue, int] = {}

    def zeros(self, value: SSAValue) -> int:
        """Return the bits known to be zero; most accesses of a kernel ask about the same few values."""
        found = self._zeros.get(value)
        if found is None:
            found = self._zeros[value] = known_zeros(value)
        return found

    def region(self, region: Region) -> None:
        for block in region.blocks:
            self.at.enter()
            for op in ops_of(block):
                for inner in op.regions:
                    self.region(inner)
                self.at.anchor = op
                same = self.simplified(op)
                if same is not None:
                    replace_uses(op.results[0], same)
                    op.detach()
                    op.erase(safe_erase=False)
            self.at.leave()

    def simplified(self, op: Operation) -> SSAValue | None:
        """Return the value that can stand for the result of ``op``."""
        swizzled = _swizzled(op)
        if swizzled is not None:
            return self.through_constant(swizzled)
        if op.name == "arith.andi":
            return self.masked(op)
        if op.name in ("arith.xori", *_SHIFTS) and constant_of(op.operands[1]) == 0:
            return op.operands[0]
        return op.operands[0] if op.name in _SHIFTS and constant_of(op.operands[0]) == 0 else None

    def masked(self, op: Operation) -> SSAValue | None:
        """``x & mask`` where no bit of the mask can be set in x, or where the mask takes nothing away."""
        mask = constant_of(op.operands[1])
        if mask is None or mask < 0:
            return None
        zeros = self.zeros(op.operands[0])
        if mask & ~zeros == 0:
            return self.number(op.operands[0], 0)
        return op.operands[0] if ~mask & ~zeros & ((1 << width_of(op.operands[0])) - 1) == 0 else None

    def through_constant(self, found: _Swizzled) -> SSAValue | None:
        base, constant = _constant_added(found.index)
        if not constant:
            return None
        rest = constant % found.period
        if rest and (rest & ~self.zeros(base) or found.of_constant(rest) >> (width_of(base) - 1)):
            # It carries, or is pushed out of the number: only what lies above the swizzle can go through.
            if rest == constant:
                return None
            base = self.at.op("arith.addi", [base, self.number(base, rest)], [base.type], _NO_FLAGS)
            return self.plus(self.swizzle(base, found), constant - rest)
        swizzled = self.swizzle(base, found)
        moved = found.of_constant(rest)
        if moved & ~self.zeros(swizzled):
            swizzled = self.at.op("arith.xori", [swizzled, self.number(base, moved)], [base.type])
            moved = 0
        return self.plus(swizzled, moved + constant - rest)

    def plus(self, value: SSAValue, constant: int) -> SSAValue:
        if not constant:
            return value
        flags = _NO_FLAGS if constant & ~self.zeros(value) else _NO_CARRY
        return self.at.op("arith.addi", [value, self.number(value, constant)], [value.type], flags)

    def number(self, like: SSAValue, value: int) -> SSAValue:
        return self.at.constant(str(like.type), value)

    def swizzle(self, index: SSAValue, like: _Swizzled) -> SSAValue:
        """Return the same swizzle of another index, once in this region."""
        mask = constant_of(like.mask)
        assert mask is not None
        if not mask & ~self.zeros(index):
            return index
        key = (index, like.mask, like.amount, like.shift)
        known = self.at.remembered(key)
        if known is None:
            bits = self.at.op("arith.andi", [index, like.mask], [index.type])
            flags = _NO_FLAGS if like.shift == "arith.shli" else None
            moved = self.at.op(like.shift, [bits, like.amount], [index.type], flags)
            known = self.at.remember(key, self.at.op("arith.xori", [index, moved], [index.type]))
        return known


def int_swizzle_simplify(module: Operation) -> None:
    """Run the pass on a module."""
    for body in function_bodies(module):
        _Simplifier(body).region(body)
