"""The walk that turns fly pointers into LLVM pointers: where each lies, and how memory is read and written.

`convert_fly_memory.py` has what becomes of each operation; the atoms of each target are written with this too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from xdsl.dialects.arith import ShLIOp
from xdsl.dialects.builtin import FunctionType, IntAttr, IntegerAttr, IntegerType, VectorType, i8, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, Operation, Region, SSAValue

from flydsl.base.errors import FlyDSLError, LoweringError
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly.ops import FlyOp
from flydsl.dialects.fly.types import PtrType, element_type, payload_of, vector_type
from flydsl.dialects.upstream import integer, integers, ops_of, replace_uses
from flydsl.passes.shared import buffer_pointers
from flydsl.passes.shared.insertion import Inserter
from flydsl.passes.shared.known_bits import shift_of
from flydsl.passes.shared.ssa_leaf import EXACT, PREDICATE, WIDEST_BYTES, SsaInt, register
from flydsl.passes.shared.vector_access import concatenate, piece
from flydsl.passes.shared.walk import located, mark_swizzle, sanitizes, take_out
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
    """Return the type an element has in memory: bytes for bools, plain integers for narrow floats."""
    if width_bits(elem) < 8 and elem != "i1":
        raise LoweringError(f"{elem} is narrower than a byte and cannot be addressed", hint="pack it into i8 elements")
    if is_float(elem) and elem not in _LLVM_FLOATS:
        return element_type(f"i{storage_bytes(elem) * 8}")
    return i8 if elem == "i1" else element_type(elem)


Handler = Callable[["MemoryConversion", FlyOp], None]
AtomRule = Callable[["MemoryConversion", FlyOp, Any], None]


class MemoryConversion:
    """One walk over a function. ``atoms`` maps instruction classes to how a call becomes code."""

    def __init__(self, function: Operation, atoms: Mapping[type, AtomRule], handlers: Mapping[str, Handler]) -> None:
        self.function = function
        self.body = function.regions[0]
        self.at = Inserter(self.body.blocks[0])
        self.atoms = atoms
        self.handlers = handlers
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
            for op in ops_of(block):
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
        """Return what is known of a pointer value."""
        return self.infos[pointer]

    def replace(self, op: FlyOp, value: SSAValue, info: pl.Pointer | None = None) -> None:
        if info is not None:
            self.infos[value] = info
        replace_uses(op.results[0], value)
        self.dead.append(op)

    # Memory accesses ---------------------------------------------------------------------------

    def address(self, pointer: SSAValue, info: pl.Pointer) -> SSAValue:
        """Return the pointer to access through: a swizzled one permutes its byte address."""
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
        """Return the type a value has in memory."""
        in_memory = memory_type(info.elem)
        if not isinstance(type_, VectorType):
            return in_memory
        return type_ if type_.element_type == in_memory else VectorType(in_memory, type_.get_shape())

    def from_memory(self, raw: SSAValue, type_: Attribute, info: pl.Pointer) -> SSAValue:
        """Return what was read as the type it has in registers: every byte but zero is true, as to torch and NumPy."""
        if raw.type == type_ or info.elem != "i1":
            return raw if raw.type == type_ else self.at.op("arith.bitcast", [raw], [type_])
        zero = self.at.zeros(type_.get_shape()[0], "i8") if isinstance(type_, VectorType) else self.at.constant("i8", 0)
        return self.at.op("arith.cmpi", [raw, zero], [type_], PREDICATE["ne"])

    def to_memory(self, value: SSAValue, info: pl.Pointer) -> SSAValue:
        """Return a value as the type it has in memory."""
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
        """Return (first, count) of the elements of a value that one access moves: all, unless a swizzle takes them
        apart."""
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
        """Return the pointer a constant number of elements on, and what is known of it."""
        if offset == 0:
            return pointer, info
        return self.moved(pointer, info, [], offset), info.add_offset(offset)

    def moved(self, pointer: SSAValue, info: pl.Pointer, by: list[SSAValue], constant: int) -> SSAValue:
        """Return the address ``by[0]`` elements on, or ``constant`` when ``by`` is empty."""
        if info.space == pl.BUFFER_DESC:
            return buffer_pointers.moved(self, pointer, info, by, constant)
        if not by and not -(2**31) < constant < 2**31:
            by = [self.at.constant("i64", constant)]
        unit, made = memory_type(info.elem), by[0].owner if by and info.space == "global" else None
        if isinstance(made, ShLIOp) and made.properties["overflowFlags"] == EXACT["overflowFlags"]:
            twos, size = shift_of(made), storage_bytes(info.elem)
            if twos is not None and size << twos <= WIDEST_BYTES:  # an exact multiple is a number of wider elements
                by, unit = [made.operands[0]], IntegerType(8 * size << twos)
        properties = {
            "rawConstantIndices": integers(32, _GEP_DYNAMIC if by else constant),
            "elem_type": unit,
            "noWrapFlags": integer(0, 32),
        }
        return self.at.op("llvm.getelementptr", [pointer, *by], [pointer.type], properties)
