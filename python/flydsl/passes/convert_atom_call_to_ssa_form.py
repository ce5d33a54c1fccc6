"""fly-convert-atom-call-to-ssa-form: register operands of atom calls become vector values.

Runs after fly-layout-lowering: every atom call works on views of static layout. A register side is
read into a vector before the call and its result written back after it; a memory side stays a view.

    fly.copy_atom_call(%atom, %global, %reg)  ->  %v = fly.copy_atom_call_ssa(%atom, %global) -> vector<4xf32>
                                                  fly.ptr.store(%v, %reg_ptr)
"""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, Region, SSAValue

from flydsl.base.errors import FlyDSLError, LoweringError
from flydsl.dialects.fly import rules
from flydsl.dialects.fly.ops import FlyOp
from flydsl.dialects.fly.types import payload_of, vector_type
from flydsl.dialects.upstream import ops_of
from flydsl.layout.tensor import Tensor
from flydsl.passes.shared.insertion import Inserter
from flydsl.passes.shared.ssa_leaf import SsaPointer
from flydsl.passes.shared.vector_access import cast_bits, held_elements, load_elements, store_elements
from flydsl.passes.shared.walk import function_bodies, located
from flydsl.target.copy_ops import UniversalAtomic
from flydsl.target.dtype import register_type, width_bits


class ToSsa:
    def __init__(self, region: Region) -> None:
        self.at = Inserter(region.blocks[0])

    def region(self, region: Region) -> None:
        for block in region.blocks:
            self.at.enter()
            for op in ops_of(block):
                for inner in op.regions:
                    self.region(inner)
                if isinstance(op, FlyOp) and op.spec.name in ("copy_atom_call", "mma_atom_call"):
                    self.call(op)
            self.at.leave()

    def call(self, op: FlyOp) -> None:
        self.at.anchor = op
        try:
            (self.copy if op.spec.name == "copy_atom_call" else self.mma)(op)
        except FlyDSLError as error:
            raise located(error, op) from error
        op.detach()
        op.erase(safe_erase=False)

    def tensor(self, view: SSAValue) -> Tensor:
        """Return a view as the tensor behind its `make_view`."""
        made = view.owner
        if not (isinstance(made, FlyOp) and made.spec.name == "make_view"):
            raise LoweringError(f"{view.type} is not made here by make_view", hint="run fly-layout-lowering first")
        info = payload_of(view.type)
        return Tensor(SsaPointer(self.at, made.operands[0], info.iter), info.layout)

    def load(self, view: SSAValue) -> SSAValue:
        return load_elements(self.at, self.tensor(view))

    def as_elements(self, value: SSAValue, view: SSAValue, other: SSAValue) -> SSAValue:
        """Return a view's elements as bits of another view's: registers may hold them as another type."""
        have, want = (payload_of(side.type).iter.elem for side in (view, other))
        if register_type(have) == register_type(want):
            return value
        bits = rules.size(payload_of(view.type)) * width_bits(have)
        return cast_bits(self.at, value, vector_type(bits // width_bits(want), want))

    def copy(self, op: FlyOp) -> None:
        atom, src, dst, *pred = op.operands
        flag = [self._flag(pred[0])] if pred else []
        from_register = payload_of(src.type).iter.space == "register"
        to_register = payload_of(dst.type).iter.space == "register"
        if getattr(payload_of(atom.type).op, "direct", False):
            self.at.fly("copy_atom_call_ssa", [atom, src, dst, *flag])
            return
        if from_register and to_register:
            if isinstance(payload_of(atom.type).op, UniversalAtomic):
                raise LoweringError("an atomic combines into memory, but its destination is a register")
            value = self.as_elements(self.load(src), src, dst)
            if flag:
                value = self.at.op(
                    "arith.select", [flag[0], value, held_elements(self.at, self.tensor(dst))], [value.type]
                )
            store_elements(self.at, value, self.tensor(dst))
            return
        if from_register:
            self.at.fly("copy_atom_call_ssa", [atom, self.as_elements(self.load(src), src, dst), dst, *flag])
            return
        loaded = self._load_by_atom(atom, src, dst if to_register else None, flag)
        if to_register:
            store_elements(self.at, self.as_elements(loaded, src, dst), self.tensor(dst))
        else:
            self.at.fly("copy_atom_call_ssa", [atom, loaded, dst, *flag])

    def _load_by_atom(self, atom: SSAValue, src: SSAValue, keep: SSAValue | None, flag: list[SSAValue]) -> SSAValue:
        """A predicated load gives what the destination held where the predicate is false.

        A copy from memory to memory holds nothing yet; zero stands in, and is not stored either.
        """
        info = payload_of(src.type)
        counts = payload_of(atom.type).counts
        held = rules.size(info) if counts[0] == counts[1] else counts[1]
        type_ = vector_type(held, info.iter.elem)
        if not flag:
            return self.at.fly("copy_atom_call_ssa", [atom, src], [type_])
        if keep is not None:
            old = self.as_elements(held_elements(self.at, self.tensor(keep)), keep, src)
        else:
            old = self.at.zeros(held, info.iter.elem)
        return self.at.fly("copy_atom_call_ssa", [atom, src, old, *flag], [type_])

    def _flag(self, pred: SSAValue) -> SSAValue:
        pointer = self.tensor(pred).iter
        return self.at.fly("ptr.load", [pointer.value()], [i1])

    def mma(self, op: FlyOp) -> None:
        atom, d, a, b, c = op.operands
        # An instruction that reads a tile from shared memory itself gets the view.
        values = [x if payload_of(x.type).iter.space == "shared" else self.load(x) for x in (a, b, c)]
        result = self.at.fly("mma_atom_call_ssa", [atom, *values], [values[2].type])
        store_elements(self.at, self.as_elements(result, c, d), self.tensor(d))


def convert_atom_call_to_ssa_form(module: Operation) -> None:
    """Run the pass on a module."""
    for body in function_bodies(module):
        ToSsa(body).region(body)
