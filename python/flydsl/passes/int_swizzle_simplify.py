"""fly-int-swizzle-simplify: shortens the and/shift/xor sequences that swizzles leave behind.

A swizzle moves some bits of an index onto others with xor. Where adding a constant to the index
carries nothing (the bits of the constant are known to be zero in the index), the constant goes
through: swz(x + c) is swz(x) xor swz(c), and plainly swz(x) + c when c lies below the bits a
swizzle touches. So accesses that differ by constants share one swizzle:

    swz(x * 64 + 8)   ->   swz(x * 64) xor 8
    swz(x * 64 + 3)   ->   swz(x * 64) + 3, which becomes the constant offset of the access

A swizzle whose source bits are known to be zero goes away. Runs after fly-layout-lowering; leaves
other arithmetic alone, except that `x & 0`, `x ^ 0` and shifts by 0 are folded.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, Region, SSAValue

from flydsl.layout.swizzle import Swizzle
from flydsl.passes.insertion import Inserter
from flydsl.passes.known_bits import constant_of, known_zeros, width_of
from flydsl.passes.walk import function_bodies

_SHIFTS = {"arith.shrsi": 1, "arith.shli": -1}


@dataclass(frozen=True)
class _Swizzled:
    """``index ^ shift(index & mask)``, found in the IR."""

    index: SSAValue
    mask: SSAValue
    amount: SSAValue
    shift: str

    def of_constant(self, number: int) -> int:
        """What the swizzle makes of a constant index."""
        mask, amount = constant_of(self.mask), constant_of(self.amount)
        assert mask is not None and amount is not None
        low = (mask & -mask).bit_length() - 1
        signed = amount * _SHIFTS[self.shift]
        return Swizzle(mask.bit_count(), low - max(signed, 0), signed)(number)

    def lowest_bit(self) -> int:
        """The lowest bit that the swizzle changes."""
        mask, amount = constant_of(self.mask), constant_of(self.amount)
        assert mask is not None and amount is not None
        return (mask & -mask).bit_length() - 1 - amount * _SHIFTS[self.shift]


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
    if mask is None or mask <= 0 or constant_of(shift.operands[1]) is None:
        return None
    contiguous = (mask // (mask & -mask) + 1).bit_count() == 1
    return _Swizzled(index, masked.operands[1], shift.operands[1], shift.name) if contiguous else None


class _Simplifier:
    def __init__(self, body: Region) -> None:
        self.at = Inserter(body.blocks[0])

    def region(self, region: Region) -> None:
        for block in region.blocks:
            self.at.enter()
            for op in list(block.ops):
                for inner in op.regions:
                    self.region(inner)
                self.at.anchor = op
                same = self.simplified(op)
                if same is not None:
                    op.results[0].replace_all_uses_with(same)
                    op.detach()
                    op.erase(safe_erase=False)
            self.at.leave()

    def simplified(self, op: Operation) -> SSAValue | None:
        """The value that can stand for the result of ``op``."""
        swizzled = _swizzled(op)
        if swizzled is not None:
            return self.through_constant(swizzled)
        if op.name == "arith.andi":
            return self.masked(op)
        if op.name in ("arith.xori", "arith.shli", "arith.shrsi") and constant_of(op.operands[1]) == 0:
            return op.operands[0]
        return None

    def masked(self, op: Operation) -> SSAValue | None:
        """``x & mask`` where no bit of the mask can be set in x, or where the mask takes nothing away."""
        mask = constant_of(op.operands[1])
        if mask is None or mask < 0:
            return None
        zeros = known_zeros(op.operands[0])
        if mask & ~zeros == 0:
            return self.at.constant(f"i{width_of(op.operands[0])}", 0)
        return op.operands[0] if ~mask & ~zeros & ((1 << width_of(op.operands[0])) - 1) == 0 else None

    def through_constant(self, found: _Swizzled) -> SSAValue | None:
        added = found.index.owner
        if not (isinstance(added, Operation) and added.name == "arith.addi"):
            return None
        base, constant = added.operands[0], constant_of(added.operands[1])
        if constant is None or constant <= 0 or constant & ~known_zeros(base):
            return None
        swizzled = self.swizzle(base, found)
        moved = found.of_constant(constant)
        name = "arith.addi" if constant < 1 << found.lowest_bit() else "arith.xori"
        return self.arith(name, swizzled, self.at.constant(f"i{width_of(base)}", moved))

    def swizzle(self, index: SSAValue, like: _Swizzled) -> SSAValue:
        """The same swizzle of another index, once in this region."""
        key = (index, like.mask, like.amount, like.shift)
        known = self.at.remembered(key)
        if known is None:
            bits = self.arith(like.shift, self.arith("arith.andi", index, like.mask), like.amount)
            known = self.at.remember(key, self.arith("arith.xori", index, bits))
        return known

    def arith(self, name: str, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.at.op(name, [a, b], [a.type], self.at.properties(name))


def int_swizzle_simplify(module: Operation) -> None:
    """Run the pass on a module."""
    for body in function_bodies(module):
        _Simplifier(body).region(body)
