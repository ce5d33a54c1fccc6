"""Registers as the original's passes leave them.

fly-convert-atom-call-to-ssa-form takes register operands that are one run into vectors and leaves other calls on
memory. fly-promote-regmem-to-vectorssa makes one vector of each allocation, which begins as poison; accesses are
slices of it. The compiler's own forms take every operand, and cut allocations where accesses begin and end.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, VectorType, i1, i32, i64
from xdsl.dialects.ub import PoisonOp
from xdsl.ir import Attribute, Operation, Region, SSAValue

from flydsl.dialects.fly.ops import FlyOp
from flydsl.dialects.fly.types import MemRefType, element_type, payload_of, type_of, vector_type
from flydsl.dialects.upstream import integers
from flydsl.layout.algebra import coalesce
from flydsl.layout.layout import Layout
from flydsl.passes.promote_regmem_to_vectorssa import Access, Allocation, Promoter
from flydsl.passes.shared.insertion import Inserter
from flydsl.passes.shared.walk import function_bodies, take_out
from flydsl.tools.original_forms.conversion import memory_type

# Calls of atoms --------------------------------------------------------------------------------

SEGMENTS = "operandSegmentSizes"
"""The attribute of a copy on vectors that says which of atom, source, destination and predicate it has."""


def _run(view: SSAValue) -> int | None:
    """Return how many elements a register operand has, if they are one run; None for others."""
    type_ = view.type
    if not isinstance(type_, MemRefType) or type_.data.iter.space != "register":
        return None
    layout = type_.data.layout
    if not isinstance(layout, Layout) or not layout.is_static:
        return None
    flat = coalesce(layout)
    single = isinstance(flat.shape, int) and (flat.stride == 1 or flat.shape == 1)
    return flat.shape if single else None


class _Calls:
    def __init__(self, region: Region) -> None:
        self.at = Inserter(region.blocks[0])

    def region(self, region: Region) -> None:
        for block in region.blocks:
            for op in list(block.ops):
                for inner in op.regions:
                    self.region(inner)
                if isinstance(op, FlyOp) and op.spec.name in ("copy_atom_call", "mma_atom_call"):
                    self.at.anchor = op
                    changed = self.copy(op) if op.spec.name == "copy_atom_call" else self.mma(op)
                    if changed:
                        take_out(op)

    def pointer(self, view: SSAValue) -> SSAValue:
        made = view.owner
        if isinstance(made, FlyOp) and made.spec.name == "make_view":
            return made.operands[0]
        return self.at.fly("get_iter", [view], [type_of(payload_of(view.type).iter)])

    def vector(self, view: SSAValue) -> Attribute:
        count = _run(view)
        assert count is not None
        return vector_type(count, payload_of(view.type).iter.elem)

    def read(self, view: SSAValue) -> SSAValue:
        return self.at.fly("ptr.load", [self.pointer(view)], [self.vector(view)])

    def copy(self, op: FlyOp) -> bool:
        atom, source, target, *pred = op.operands
        from_run, to_run = _run(source) is not None, _run(target) is not None
        if not from_run and not to_run:
            return False
        operands = [atom, self.read(source) if from_run else source]
        flag = [self.at.fly("ptr.load", [self.pointer(pred[0])], [i1])] if pred else []
        if to_run and flag:
            operands.append(self.read(target))  # what stays where the predicate is false
        elif not to_run:
            operands.append(target)
        sizes = {SEGMENTS: DenseArrayBase.from_list(i32, [1, 1, len(operands) - 2, len(flag)])}
        results = [self.vector(target)] if to_run else []
        made = self.at.fly("copy_atom_call_ssa", [*operands, *flag], results, sizes)
        if to_run:
            self.at.fly("ptr.store", [made, self.pointer(target)])
        return True

    def mma(self, op: FlyOp) -> bool:
        atom, target, *operands = op.operands
        if any(_run(operand) is None for operand in (target, *operands)):
            return False
        values = [self.read(operand) for operand in operands]
        made = self.at.fly("mma_atom_call_ssa", [atom, *values], [self.vector(target)])
        self.at.fly("ptr.store", [made, self.pointer(target)])
        return True


def convert_atom_call_to_ssa_form(module: Operation) -> None:
    """Run the pass on a module."""
    for body in function_bodies(module):
        _Calls(body).region(body)


# Registers -------------------------------------------------------------------------------------


class _Whole(Allocation):
    """An allocation that is one vector."""

    def cut(self) -> None:
        self.cuts = [0, self.size]

    def too_wide(self) -> bool:
        return self.size == 0

    def piece_type(self, index: int) -> Attribute:
        return VectorType(memory_type(self.elem), [self.size])


class _Promoter(Promoter):
    allocation = _Whole

    def _op(self, op: Operation) -> None:
        super()._op(op)
        found = self.allocations.get(op)
        if found is not None:
            self._set((found.number, 0), self.at.add(PoisonOp(found.piece_type(0))).results[0])

    def _load(self, allocation: Allocation, access: Access) -> None:
        result = access.op.results[0]
        value = self._value(allocation, 0)
        kind: Any = value.type
        if not isinstance(result.type, VectorType):
            position = {"static_position": integers(64, access.offset)}
            value = self.at.op("vector.extract", [value], [kind.element_type], position)
        elif access.count < allocation.size:
            where = {"offsets": access.offset, "sizes": access.count, "strides": 1}
            piece = VectorType(kind.element_type, [access.count])
            value = self.at.op("vector.extract_strided_slice", [value], [piece], _numbers(where))
        result.replace_all_uses_with(self._as(value, result.type))

    def _store(self, allocation: Allocation, access: Access) -> None:
        value = access.op.operands[0]
        elem = memory_type(allocation.elem)
        if not isinstance(value.type, VectorType):
            whole = self._value(allocation, 0)
            position = {"static_position": integers(64, access.offset)}
            value = self.at.op("vector.insert", [self._as(value, elem), whole], [whole.type], position)
        else:
            value = self._as(value, VectorType(elem, [access.count]))
            if access.count < allocation.size:
                whole = self._value(allocation, 0)
                where = _numbers({"offsets": access.offset, "strides": 1})
                value = self.at.op("vector.insert_strided_slice", [value, whole], [whole.type], where)
        self._set((allocation.number, 0), value)

    def _as(self, value: SSAValue, kind: Attribute) -> SSAValue:
        """Return a value as another type of the same bits: floats below 16 bits are integers in registers."""
        if value.type == kind:
            return value
        if kind == element_type("i1"):
            return self.at.op("arith.trunci", [value], [kind])
        if value.type == element_type("i1"):
            return self.at.op("arith.extui", [value], [kind])
        name = "vector.bitcast" if isinstance(kind, VectorType) else "arith.bitcast"
        return self.at.op(name, [value], [kind])


def _numbers(where: dict[str, int]) -> dict[str, Attribute]:
    return {name: ArrayAttr([IntegerAttr(number, i64)]) for name, number in where.items()}


def promote_regmem_to_vectorssa(module: Operation) -> None:
    """Run the pass on a module."""
    for body in function_bodies(module):
        _Promoter(body).run()
