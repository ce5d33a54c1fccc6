"""Fly pointers and universal atoms as LLVM pointers, loads and stores: what every target shares.

Used by convert-fly-to-rocdl and convert-fly-to-nvvm, which add their own atoms. Runs after
fly-promote-regmem-to-vectorssa. Address spaces: generic 0, global 1, shared 3, register 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from xdsl.dialects.builtin import (
    FunctionType,
    IntAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    VectorType,
    i8,
    i64,
)
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.dialects.scf import YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from flydsl.base.errors import FlyDSLError, LoweringError
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly.ops import FlyOp, allocation_size
from flydsl.dialects.fly.types import PtrType, element_type, payload_of, vector_type
from flydsl.dialects.upstream import integer, integers, op_class
from flydsl.passes.mark_memory import BEGIN_REGISTERS, KEPT, MARK, mark_swizzle, sanitizes
from flydsl.passes.shared import buffer_pointers
from flydsl.passes.shared.insertion import Inserter
from flydsl.passes.shared.matrix_atoms import lower_matrix
from flydsl.passes.shared.source_location import located
from flydsl.passes.shared.ssa_leaf import SsaInt, register
from flydsl.passes.shared.universal_atoms import UNIVERSAL_ATOMS, AtomRule
from flydsl.passes.shared.vector_access import concatenate, piece
from flydsl.passes.shared.walk import functions, take_out
from flydsl.target.copy_rocdl import BufferCopy
from flydsl.target.dtype import is_float, storage_bytes, width_bits

ADDRESS_SPACES = {"generic": 0, "global": 1, "shared": 3, "register": 5}

_LLVM_FLOATS = ("f16", "bf16", "f32", "f64")
_GEP_DYNAMIC = -(2**31)
_ORDERING_NONE = {"ordering": IntegerAttr(0, i64)}


@cache
def llvm_pointer(space: str) -> Attribute:
    if space == pl.BUFFER_DESC:
        return buffer_pointers.BUFFER_POINTER
    if space not in ADDRESS_SPACES:
        raise LoweringError(f"the address space {space} does not exist on this target")
    number = ADDRESS_SPACES[space]
    return LLVMPointerType(IntAttr(number)) if number else LLVMPointerType()


def memory_type(elem: str) -> Attribute:
    """The type an element has in memory: bytes for bools, plain integers for narrow floats."""
    if width_bits(elem) < 8 and elem != "i1":
        raise LoweringError(f"{elem} is narrower than a byte and cannot be addressed", hint="pack it into i8 elements")
    if elem == "i1":
        return i8
    if is_float(elem) and elem not in _LLVM_FLOATS:
        return element_type(f"i{storage_bytes(elem) * 8}")
    return element_type(elem)


Handler = Callable[["MemoryConversion", FlyOp], None]


class MemoryConversion:
    """One walk over a function. ``atoms`` maps instruction classes to how a call becomes code."""

    def __init__(self, function: Operation, atoms: Mapping[type, AtomRule], extra: Mapping[str, Handler]) -> None:
        self.function = function
        self.body = function.regions[0]
        self.at = Inserter(self.body.blocks[0])
        self.atoms = {**UNIVERSAL_ATOMS, **atoms}
        self.handlers = {**HANDLERS, **extra}
        self.dead: list[Operation] = []

    def run(self) -> None:
        self.infos: dict[SSAValue, pl.Pointer] = {}
        self.buffers: dict[SSAValue, tuple[SSAValue, SSAValue]] = {}
        self._region(self.body)
        for op in reversed(self.dead):
            take_out(op)
        self._retype_signature()

    def _retype_signature(self) -> None:
        before = self.function.properties["function_type"]
        if not isinstance(before, FunctionType):  # an llvm.func has LLVM's types already
            return
        results = [llvm_pointer(t.data.space) if isinstance(t, PtrType) else t for t in before.outputs.data]
        arguments = [argument.type for argument in self.body.blocks[0].args]
        self.function.properties["function_type"] = FunctionType.from_lists(arguments, results)

    def _region(self, region: Region) -> None:
        for block in region.blocks:
            for argument in block.args:
                self.retype(argument)
            self.at.enter()
            for op in list(block.ops):
                if isinstance(op, FlyOp):
                    self._op(op)
                else:
                    for result in op.results:
                        self.retype(result)
                for inner in op.regions:
                    self._region(inner)
            self.at.leave()

    def retype(self, value: SSAValue) -> None:
        """A fly pointer carried by other operations becomes an LLVM pointer in place."""
        if isinstance(value.type, PtrType):
            self.infos[value] = value.type.data
            value._type = llvm_pointer(value.type.data.space)

    def _op(self, op: FlyOp) -> None:
        self.at.anchor = op
        handler = self.handlers.get(op.spec.name)
        try:
            if handler is None:
                raise LoweringError(f"{op.name} has no lowering for this target")
            handler(self, op)
        except FlyDSLError as error:
            raise located(error, op) from error

    def info(self, pointer: SSAValue) -> pl.Pointer:
        """What is known of a pointer value."""
        return self.infos[pointer]

    def replace(self, op: FlyOp, value: SSAValue, info: pl.Pointer | None = None) -> None:
        if info is not None:
            self.infos[value] = info
        op.results[0].replace_all_uses_with(value)
        self.dead.append(op)

    # Memory accesses ---------------------------------------------------------------------------

    def address(self, pointer: SSAValue, info: pl.Pointer) -> SSAValue:
        """The pointer to access through: a swizzled one permutes its byte address."""
        if info.swizzle is None:
            return pointer
        width = 32 if info.space == "shared" else 64
        raw = self.at.op("llvm.ptrtoint", [pointer], [element_type(f"i{width}")])
        moved = info.swizzle(SsaInt(self.at, raw, width))
        place = self.at.op("llvm.inttoptr", [register(self.at, moved, width)], [llvm_pointer(info.space)])
        if sanitizes(self.function):
            mark_swizzle(place.owner, info.swizzle)
        return place

    def stored_type(self, type_: Attribute, info: pl.Pointer) -> Attribute:
        """The type a value has in memory."""
        in_memory = memory_type(info.elem)
        if not isinstance(type_, VectorType):
            return in_memory
        return type_ if type_.element_type == in_memory else VectorType(in_memory, type_.get_shape())

    def from_memory(self, raw: SSAValue, type_: Attribute, info: pl.Pointer) -> SSAValue:
        """What was read as the type it has in registers."""
        if raw.type == type_:
            return raw
        return self.at.op("arith.trunci" if info.elem == "i1" else "arith.bitcast", [raw], [type_])

    def to_memory(self, value: SSAValue, info: pl.Pointer) -> SSAValue:
        """A value as the type it has in memory."""
        stored = self.stored_type(value.type, info)
        if stored == value.type:
            return value
        return self.at.op("arith.extui" if info.elem == "i1" else "arith.bitcast", [value], [stored])

    def load(self, pointer: SSAValue, info: pl.Pointer, type_: Attribute) -> SSAValue:
        pieces = self._pieces(info, type_)
        if len(pieces) > 1:
            parts = [(self._load_piece(pointer, info, first, count), count) for first, count in pieces]
            return concatenate(self.at, parts, info.elem)
        stored = self.stored_type(type_, info)
        if info.space == pl.BUFFER_DESC:
            raw = buffer_pointers.load(self, pointer, stored, info.elem)
        else:
            align = {"alignment": integer(info.align, 64)}
            raw = self.at.op("llvm.load", [self.address(pointer, info)], [stored], _ORDERING_NONE | align)
        return self.from_memory(raw, type_, info)

    def _pieces(self, info: pl.Pointer, type_: Attribute) -> list[tuple[int, int]]:
        """(first, count) of the elements of a value that one access moves: all, unless a swizzle takes them apart."""
        total = type_.get_shape()[0] if isinstance(type_, VectorType) else 1
        count = total if info.swizzle is None else min(max(info.align // storage_bytes(info.elem), 1), total)
        return [(first, min(count, total - first)) for first in range(0, total, count)]

    def _load_piece(self, pointer: SSAValue, info: pl.Pointer, first: int, count: int) -> SSAValue:
        place, known = self.element(pointer, info, first)
        return self.load(place, known, vector_type(count, info.elem) if count > 1 else element_type(info.elem))

    def store(self, value: SSAValue, pointer: SSAValue, info: pl.Pointer) -> None:
        pieces = self._pieces(info, value.type)
        if len(pieces) > 1:
            for first, count in pieces:
                place, known = self.element(pointer, info, first)
                self.store(piece(self.at, value, first, count, info.elem), place, known)
            return
        value = self.to_memory(value, info)
        if info.space == pl.BUFFER_DESC:
            buffer_pointers.store(self, value, pointer, info.elem)
            return
        align = {"alignment": integer(info.align, 64)}
        self.at.op("llvm.store", [value, self.address(pointer, info)], [], _ORDERING_NONE | align)

    def view(self, value: SSAValue) -> tuple[SSAValue, pl.Pointer, Any]:
        """Pointer, what is known of it, and layout of a view."""
        made = value.owner
        if not (isinstance(made, FlyOp) and made.spec.name == "make_view"):
            raise LoweringError(f"{value.type} is not made here by make_view", hint="run fly-layout-lowering first")
        tensor = payload_of(value.type)
        return made.operands[0], tensor.iter, tensor.layout

    def element(self, pointer: SSAValue, info: pl.Pointer, offset: int) -> tuple[SSAValue, pl.Pointer]:
        """The pointer a constant number of elements on, and what is known of it."""
        if offset == 0:
            return pointer, info
        return self.moved(pointer, info, [], offset), info.add_offset(offset)

    def moved(self, pointer: SSAValue, info: pl.Pointer, by: list[SSAValue], constant: int) -> SSAValue:
        """The address ``by[0]`` elements on, or ``constant`` when ``by`` is empty."""
        if info.space == pl.BUFFER_DESC:
            return buffer_pointers.moved(self, pointer, info, by, constant)
        if not by and not -(2**31) < constant < 2**31:
            by = [self.at.constant("i64", constant)]
        properties = {
            "rawConstantIndices": integers(32, _GEP_DYNAMIC if by else constant),
            "elem_type": memory_type(info.elem),
            "noWrapFlags": integer(0, 32),
        }
        return self.at.op("llvm.getelementptr", [pointer, *by], [pointer.type], properties)

    # Conditional code --------------------------------------------------------------------------

    def when(self, flag: SSAValue, then: Callable[[], SSAValue | None], otherwise: SSAValue | None) -> SSAValue | None:
        """Emit ``then`` under a predicate; its value, or ``otherwise`` where the predicate is false."""
        anchor = self.at.anchor
        block = Block([end := YieldOp.create()])
        if anchor is not None:
            end.location = anchor.location
        self.at.anchor = end
        self.at.enter()
        result = then()
        self.at.leave()
        self.at.anchor = anchor
        end.operands = [] if result is None else [result]
        orelse = Region() if otherwise is None else Region(Block([YieldOp.create(operands=[otherwise])]))
        types = [] if result is None else [result.type]
        op = op_class("scf.if").create(operands=[flag], result_types=types, regions=[Region(block), orelse])
        self.at.add(op)
        return op.results[0] if types else None


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
    properties = {"elem_type": memory_type(info.elem), "alignment": IntegerAttr(max(info.align, 16), i64)}
    # At the top of the function: an alloca inside a loop would take new stack in every turn.
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
        MemoryConversion(function, atoms, extra).run()
