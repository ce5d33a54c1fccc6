"""NVIDIA's multimem instructions on virtual ranks: a loop over the memories of all ranks, before a kernel is planned.

A virtual multicast address (`runtime/symmetric_memory.py`) says where the memory of rank 0 is, how far that of the
next rank lies from it, and how many ranks there are.

    %s = inline_asm "multimem.ld_reduce…"(%a)   ->   %s = scf.for %rank … { load, add }, rounded once
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, IntAttr, IntegerAttr, VectorType, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.dialects.scf import YieldOp
from xdsl.ir import Block, Operation, Region, SSAValue

from flydsl.backends.host.fibers import ptx_name
from flydsl.backends.host.promises import PROMISED
from flydsl.base.native_names import COUNT_SHIFT, STRIDE_BITS, STRIDE_SHIFT
from flydsl.codegen.reading.op_view import ints_prop
from flydsl.dialects.fly.types import vector_type
from flydsl.dialects.upstream import op_class, walked
from flydsl.passes.shared.insertion import Inserter
from flydsl.passes.shared.vector_access import cast_bits, extract
from flydsl.target.ptx import MULTIMEM_BYTES

_PREFIX = "multimem."
_WORDS, _GLOBAL = 4, LLVMPointerType(IntAttr(1))
Each = Callable[[SSAValue, Sequence[SSAValue]], list[SSAValue]]
_KINDS = {"f32": ("f32", 4), "f16x2": ("f16", 8), "bf16x2": ("bf16", 8)}


def expand_multicast(kernel: Operation) -> None:
    """Replace the accesses of a kernel to the memory of all ranks."""
    at = Inserter(kernel.regions[0].blocks[0])
    for op in walked(kernel):
        name = ptx_name(op) or ""
        if name.startswith(_PREFIX):
            at.anchor = op
            kind = _KINDS[name.rpartition(".")[2]]
            _load(at, op, *kind) if op.results else _store(at, op)
            op.detach()
            op.erase(safe_erase=False)


def _load(at: Inserter, op: Operation, elem: str, count: int) -> None:
    words, wide = vector_type(_WORDS, "i32"), vector_type(count, "f32")

    def add(place: SSAValue, total: Sequence[SSAValue]) -> list[SSAValue]:
        load = op_class("llvm.load").create(operands=[place], result_types=[words], properties=_access())
        load.attributes[PROMISED] = IntegerAttr(MULTIMEM_BYTES, i64)
        found = cast_bits(at, at.add(load).results[0], vector_type(count, elem))
        found = found if elem == "f32" else at.op("arith.extf", [found], [wide])
        return [at.op("arith.addf", [*total, found], [wide])]

    # -0 is what changes nothing: the sum of zeros keeps their sign.
    zeros = op_class("arith.constant").create(
        result_types=[wide],
        properties={"value": DenseIntOrFPElementsAttr.from_list(wide, [-0.0])},  # type: ignore[arg-type]
    )
    (total,) = _over_ranks(at, op.operands[0], [at.add(zeros).results[0]], add)
    narrow = total if elem == "f32" else at.op("arith.truncf", [total], [vector_type(count, elem)])
    word = "f32" if elem == "f32" else "i32"
    parts = cast_bits(at, narrow, vector_type(_WORDS, word))
    for use in list(op.results[0].uses):
        user = use.operation
        assert user.name == "llvm.extractvalue", "a struct of words is taken apart where it is made"
        user.results[0].replace_all_uses_with(extract(at, parts, ints_prop(user, "position")[0], word))
        user.detach()
        user.erase()


def _store(at: Inserter, op: Operation) -> None:
    address, *parts = op.operands
    vector = at.op("vector.from_elements", parts, [VectorType(parts[0].type, [_WORDS])])

    def write(place: SSAValue, _: Sequence[SSAValue]) -> list[SSAValue]:
        store = op_class("llvm.store").create(operands=[vector, place], properties=_access())
        store.attributes[PROMISED] = IntegerAttr(MULTIMEM_BYTES, i64)
        at.add(store)
        return []

    _over_ranks(at, address, [], write)


def _access() -> dict[str, IntegerAttr]:
    return {"alignment": IntegerAttr(4, i64), "ordering": IntegerAttr(0, i64)}


def _over_ranks(at: Inserter, address: SSAValue, start: list[SSAValue], each: Each) -> Sequence[SSAValue]:
    """Return a loop over the ranks behind an address; ``each(pointer, carried)`` is emitted in it."""

    def calculated(name: str, a: SSAValue, b: SSAValue | int) -> SSAValue:
        return at.op(name, [a, at.constant("i64", b) if isinstance(b, int) else b], [i64], _PROPERTIES.get(name))

    first = calculated("arith.andi", address, (1 << STRIDE_SHIFT) - 1)
    stride = calculated("arith.andi", calculated("arith.shrui", address, STRIDE_SHIFT), (1 << STRIDE_BITS) - 1)
    count = at.op("arith.index_cast", [calculated("arith.shrui", address, COUNT_SHIFT)], [IndexType()])
    block = Block(arg_types=[IndexType(), *(value.type for value in start)])
    block.add_op(end := YieldOp.create())
    anchor = at.anchor
    assert anchor is not None
    end.location = anchor.location
    bounds = [at.constant("index", 0), count, at.constant("index", 1)]
    loop = op_class("scf.for").create(
        operands=[*bounds, *start], result_types=[value.type for value in start], regions=[Region(block)]
    )
    at.add(loop)
    at.anchor = end
    rank = at.op("arith.index_cast", [block.args[0]], [i64])
    there = calculated("arith.addi", first, calculated("arith.shli", rank, stride))
    end.operands = each(at.op("llvm.inttoptr", [there], [_GLOBAL]), block.args[1:])
    at.anchor = anchor
    return loop.results


_PROPERTIES = {"arith.addi": Inserter.wrapping, "arith.shli": Inserter.wrapping}

__all__ = ["expand_multicast"]
