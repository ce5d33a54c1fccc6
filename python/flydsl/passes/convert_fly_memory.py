"""Fly pointers and universal atoms as LLVM pointers, loads and stores: what every target shares.

Used by convert-fly-to-rocdl and convert-fly-to-nvvm, which add their own atoms. Runs after
fly-promote-regmem-to-vectorssa. Address spaces: generic 0, global 1, shared 3, register 5.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import IntegerAttr, StringAttr, SymbolRefAttr, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Operation

from flydsl.base.errors import LoweringError
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly.ops import FlyOp, allocation_size
from flydsl.dialects.fly.types import payload_of
from flydsl.dialects.upstream import op_class
from flydsl.passes.shared import buffer_pointers
from flydsl.passes.shared.matrix_atoms import lower_matrix
from flydsl.passes.shared.memory_conversion import AtomRule, Handler, MemoryConversion, llvm_pointer, memory_type
from flydsl.passes.shared.universal_atoms import UNIVERSAL_ATOMS
from flydsl.passes.shared.walk import BEGIN_REGISTERS, KEPT, MARK, functions, sanitizes
from flydsl.target.copy_rocdl import BufferCopy

# Pointers --------------------------------------------------------------------------------------


def _make_ptr(conv: MemoryConversion, op: FlyOp) -> None:
    info = payload_of(op.results[0].type)
    if len(op.operands) == 1 and isinstance(op.operands[0].type, LLVMPointerType):
        _retyped(conv, op)
        return
    if info.space == pl.BUFFER_DESC and BufferCopy in conv.atoms:
        buffer_pointers.make_buffer_pointer(conv, op)
        return
    count = allocation_size(op)
    if count is None:
        raise LoweringError("a pointer of this kind needs a target that has it")
    if count >= 2**31:
        raise LoweringError(f"{count} elements are more than the registers of a thread can be")
    properties = {"elem_type": memory_type(info.elem), "alignment": IntegerAttr(max(info.align, 16), i64)}
    # At the top of the function: an alloca inside a loop would take new stack in every iteration.
    alloca = op_class("llvm.alloca").create(
        operands=[conv.at.constant("i32", count)], result_types=[llvm_pointer("register")], properties=properties
    )
    conv.replace(op, conv.at.at_entry(alloca), info)
    if sanitizes(conv.function):
        alloca.location = op.location
        alloca.attributes |= {MARK: op.attributes[MARK]} if MARK in op.attributes else {}
        conv.at.op(BEGIN_REGISTERS, [alloca.results[0]])


def _get_dyn_shared(conv: MemoryConversion, op: FlyOp) -> None:
    """The block of shared memory whose size the launch gives."""
    info = payload_of(op.results[0].type)
    name = {"global_name": SymbolRefAttr(pl.DYNAMIC_SHARED)}
    conv.replace(op, conv.at.op("llvm.mlir.addressof", [], [llvm_pointer("shared")], name), info)


def _add_offset(conv: MemoryConversion, op: FlyOp) -> None:
    pointer, offset = op.operands
    info = conv.info(pointer)
    moved = payload_of(op.results[0].type)
    amount = payload_of(offset.type)
    if isinstance(amount, int):
        conv.replace(op, conv.moved(pointer, info, [], amount), moved)
        return
    made = offset.owner
    if not (isinstance(made, FlyOp) and len(made.operands) == 1):
        raise LoweringError(
            f"the offset {offset.type} is not one run-time number", hint="run fly-layout-lowering first"
        )
    conv.replace(op, conv.moved(pointer, info, [made.operands[0]], 0), moved)


def _retyped(conv: MemoryConversion, op: FlyOp) -> None:
    """recast_iter, apply_swizzle, a pointer made of LLVM's: the same address, known differently."""
    info = payload_of(op.results[0].type)
    pointer = op.operands[0]
    if info.space == pl.BUFFER_DESC:
        conv.replace(op, buffer_pointers.joined(conv, *buffer_pointers.parts(conv, pointer)), info)
        return
    # A value is known in one way only, so a second name is made for it.
    same = conv.at.op("llvm.bitcast", [pointer], [pointer.type])
    if MARK in op.attributes:
        same.owner.attributes[MARK] = op.attributes[MARK]
    conv.replace(op, same, info)


def _inttoptr(conv: MemoryConversion, op: FlyOp) -> None:
    info = payload_of(op.results[0].type)
    conv.replace(op, conv.at.op("llvm.inttoptr", [op.operands[0]], [llvm_pointer(info.space)]), info)


def _ptrtoint(conv: MemoryConversion, op: FlyOp) -> None:
    conv.replace(op, conv.at.op("llvm.ptrtoint", [op.operands[0]], [op.results[0].type]))


def _to_llvm_ptr(conv: MemoryConversion, op: FlyOp) -> None:
    wanted, pointer = op.results[0].type, op.operands[0]
    conv.replace(op, pointer if pointer.type == wanted else conv.at.op("llvm.addrspacecast", [pointer], [wanted]))


def _ptr_load(conv: MemoryConversion, op: FlyOp) -> None:
    pointer = op.operands[0]
    value = conv.load(pointer, conv.info(pointer), op.results[0].type)
    if KEPT in op.attributes:
        made = value.owner
        assert isinstance(made, Operation)
        load = made if made.name == "llvm.load" else made.operands[0].owner
        assert isinstance(load, Operation)
        load.attributes[KEPT] = op.attributes[KEPT]
    conv.replace(op, value)


def _ptr_store(conv: MemoryConversion, op: FlyOp) -> None:
    value, pointer = op.operands
    conv.store(value, pointer, conv.info(pointer))
    conv.dead.append(op)


def _print(conv: MemoryConversion, op: FlyOp) -> None:
    conv.at.op("gpu.printf", list(op.operands), [], {"format": op.attributes.get("format", StringAttr(""))})
    conv.dead.append(op)


def _later(conv: MemoryConversion, op: FlyOp) -> None:
    """Values that only describe; their users read the description."""
    conv.dead.append(op)


# Atoms -----------------------------------------------------------------------------------------


def _atom_call(conv: MemoryConversion, op: FlyOp) -> None:
    instruction = payload_of(op.operands[0].type).op
    # Matrix instructions describe their own call, so one rule serves every table, none of which is loaded here.
    rule = conv.atoms.get(type(instruction)) or (lower_matrix if hasattr(instruction, "intrinsic") else None)
    if rule is None:
        raise LoweringError(f"{instruction} does not exist on this target")
    rule(conv, op, instruction)
    conv.dead.append(op)


HANDLERS: dict[str, Handler] = {
    "make_ptr": _make_ptr,
    "add_offset": _add_offset,
    "recast_iter": _retyped,
    "apply_swizzle": _retyped,
    "inttoptr": _inttoptr,
    "ptrtoint": _ptrtoint,
    "to_llvm_ptr": _to_llvm_ptr,
    "get_dyn_shared": _get_dyn_shared,
    "get_buffer_rsrc": buffer_pointers.buffer_rsrc,
    "ptr.load": _ptr_load,
    "ptr.store": _ptr_store,
    "print": _print,
    **dict.fromkeys(("copy_atom_call_ssa", "mma_atom_call_ssa"), _atom_call),
    **dict.fromkeys(("static", "make_int_tuple", "make_view", "make_copy_atom", "make_mma_atom"), _later),
    "atom.set_value": _later,
}


def convert_fly_memory(module: Operation, atoms: Mapping[type, AtomRule], extra: Mapping[str, Handler]) -> None:
    """Convert every function of a module with a target's atoms and operations."""
    for function in list(functions(module)):
        MemoryConversion(function, {**UNIVERSAL_ATOMS, **atoms}, {**HANDLERS, **extra}).run()
