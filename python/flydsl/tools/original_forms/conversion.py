"""convert-fly-to-rocdl as the original has it: values of every fly type that has a run-time form become LLVM's.

    memref, ptr           !llvm.ptr<n>; a buffer descriptor !llvm.struct<(ptr<8>, i32)>
    atoms                 a struct of their state, empty for most
    floats below 16 bits  integers

Unlike the compiler's own form, each value is converted where it stands: a constant offset is an `arith.constant` in
front of its `llvm.getelementptr`, an atom's state is carried in its struct, and calls of atoms may be on memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import FunctionType, IntegerAttr, VectorType, i8, i32, i64
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, Operation, Region, SSAValue

from flydsl.base.errors import FlyDSLError, LoweringError
from flydsl.base.records import dataclass
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly.ops import FlyOp, allocation_size
from flydsl.dialects.fly.types import FlyType, MemRefType, PtrType, element_type, payload_of
from flydsl.dialects.upstream import integer, integers, op_class
from flydsl.layout import coords
from flydsl.layout.leaf import INT32_LIMIT, DynInt
from flydsl.passes.shared.async_marks import resolve_async_marks
from flydsl.passes.shared.insertion import Inserter
from flydsl.passes.shared.memory_conversion import llvm_pointer
from flydsl.passes.shared.ssa_leaf import SsaInt, register
from flydsl.passes.shared.walk import functions, located, take_out
from flydsl.target.copy_tensor import TensorCopy
from flydsl.target.dtype import is_float, storage_bytes, width_bits
from flydsl.tools.original_forms import layouts, shared_globals

_GEP_DYNAMIC = -(2**31)
_LLVM_FLOATS = ("f16", "bf16", "f32", "f64")
_ORDERING = {"ordering": IntegerAttr(0, i64)}

TENSOR_COPY_STATE = (*[i32] * 6, *[i64] * 5)
"""Mask, five extents, four strides, offset."""
TENSOR_COPY_FIELDS = (
    "workgroup_mask", *(f"extent_{i}" for i in range(5)), *(f"stride_{i}" for i in range(4)), "imm_offset",
)  # fmt: skip


Atom = pl.CopyAtom | pl.MmaAtom


def memory_type(elem: str) -> Attribute:
    """Return the type an element has in memory: bytes for bools, integers for narrow floats."""
    if elem == "i1":
        return i8
    return element_type(f"i{width_bits(elem)}") if is_float(elem) and elem not in _LLVM_FLOATS else element_type(elem)


def state_types(atom: Atom) -> list[Attribute]:
    """Return the fields of an atom's run-time state."""
    instruction = atom.op
    if isinstance(instruction, TensorCopy):
        return list(TENSOR_COPY_STATE)
    known = getattr(instruction, "state_types", {})
    return [element_type(known.get(field, "i32")) for field in instruction.state]


def state_index(atom: Atom, field: str) -> int:
    """Return where a field of an atom's state is in its struct."""
    fields = TENSOR_COPY_FIELDS if isinstance(atom.op, TensorCopy) else atom.op.state
    if field not in fields:
        known = ", ".join(fields) or "none"
        raise LoweringError(f"{atom.op} has no state {field!r}", hint=f"its state is {known}")
    return fields.index(field)


def converted(type_: Attribute) -> Attribute:
    """Return the type that a value of this type has afterwards."""
    if isinstance(type_, (PtrType, MemRefType)):
        info = type_.data.iter if isinstance(type_, MemRefType) else type_.data
        return llvm_pointer(info.space)
    if isinstance(type_, FlyType):
        payload = type_.data
        atom = payload.atom if isinstance(payload, (pl.TiledCopy, pl.TiledMma)) else payload
        if isinstance(atom, (pl.CopyAtom, pl.MmaAtom)):
            return LLVMStructType.from_type_list(state_types(atom))
        return type_
    if isinstance(type_, VectorType):
        elem = converted(type_.element_type)
        return type_ if elem == type_.element_type else VectorType(elem, type_.get_shape())
    name = str(type_)
    return memory_type(name) if name.startswith("f") and name not in _LLVM_FLOATS and is_float(name) else type_


class _Inline(Inserter):
    """Constants stand in front of what needs them."""

    def constant(self, elem: str, value: int | float) -> SSAValue:
        type_ = element_type(elem)
        attribute = IntegerAttr(int(value), type_)  # type: ignore[arg-type]
        return self.add(ConstantOp.create(result_types=[type_], properties={"value": attribute})).results[0]

    def undefined(self, type_: Attribute) -> SSAValue:
        return self.add(op_class("llvm.mlir.undef").create(result_types=[type_])).results[0]


@dataclass
class _Moved:
    """A pointer some elements on: by a run-time number, then by a constant."""

    op: FlyOp
    base: SSAValue
    by: list[SSAValue]
    constant: int | None


class Conversion:
    """One walk over a function. Results of fly operations stay in place, with what they became beside them."""

    def __init__(self, function: Operation, handlers: dict[str, Callable[[Conversion, FlyOp], None]]) -> None:
        self.function = function
        self.handlers = handlers
        self.at = _Inline(function.regions[0].blocks[0])
        self.became: dict[SSAValue, SSAValue] = {}
        self.moved: dict[SSAValue, _Moved] = {}
        self.types: dict[SSAValue, Attribute] = {}
        """What values that were retyped in place were before."""
        self.dead: list[Operation] = []

    def run(self) -> None:
        self._region(self.function.regions[0])
        for op in reversed(self.dead):
            if all(result.first_use is None for result in op.results):  # a function may return a layout
                take_out(op)

    def _region(self, region: Region) -> None:
        for block in region.blocks:
            for argument in block.args:
                self._retype(argument)
            for op in list(block.ops):
                self.at.anchor = op
                if isinstance(op, FlyOp):
                    self._fly(op)
                else:
                    self._other(op)
                for inner in op.regions:
                    self._region(inner)

    def _retype(self, value: SSAValue) -> None:
        new = converted(value.type)
        if new != value.type:
            self.types[value] = value.type
            value._type = new

    def _fly(self, op: FlyOp) -> None:
        handler = self.handlers.get(op.spec.name)
        try:
            if handler is None:
                raise LoweringError(f"{op.name} has no lowering for this target", hint="run fly-layout-lowering first")
            handler(self, op)
        except FlyDSLError as error:
            raise located(error, op) from error

    def _other(self, op: Operation) -> None:
        keeps_floats = op.name.startswith(("arith.", "math.")) and op.name != "arith.bitcast"
        for index, operand in enumerate(op.operands):
            value = self.value(operand)
            before = self.type(operand)
            if keeps_floats and not isinstance(before, FlyType) and before != value.type:
                value = self.at.op("arith.bitcast", [value], [before])
            if value is not operand:
                op.operands[index] = value
        if not keeps_floats:
            for result in op.results:
                self._retype(result)
            return
        self.at.anchor = op.next_op
        for result in op.results:
            if converted(result.type) != result.type and op.next_op is not None:
                self.types[result] = result.type
                self.became[result] = self.at.op("arith.bitcast", [result], [converted(result.type)])

    # Values ------------------------------------------------------------------------------------

    def type(self, value: SSAValue) -> Attribute:
        """Return the type a value had in the input."""
        return self.types.get(value, value.type)

    def payload(self, value: SSAValue) -> Any:
        return payload_of(self.type(value))

    def value(self, value: SSAValue) -> SSAValue:
        """Return what a value of the input became."""
        found = self.became.get(value)
        if found is None and value in self.moved:
            found = self.became[value] = self._step(self.moved[value])
        return value if found is None else found

    def set(self, op: FlyOp, value: SSAValue) -> None:
        self.became[op.results[0]] = value
        self.dead.append(op)

    def atom(self, value: SSAValue) -> Any:
        """Return the atom that a value is, or that it repeats."""
        payload = self.payload(value)
        return payload.atom if isinstance(payload, (pl.TiledCopy, pl.TiledMma)) else payload

    def state(self, atom: SSAValue, index: int) -> SSAValue:
        """Return a field of the state of an atom."""
        return self.field(self.value(atom), index)

    def field(self, struct: SSAValue, index: int) -> SSAValue:
        kind: Any = struct.type
        return self.at.op("llvm.extractvalue", [struct], [kind.types.data[index]], {"position": integers(64, index)})

    def with_field(self, struct: SSAValue, index: int, value: SSAValue) -> SSAValue:
        position = {"position": integers(64, index)}
        return self.at.op("llvm.insertvalue", [struct, value], [struct.type], position)

    # Pointers ----------------------------------------------------------------------------------

    def _step(self, moved: _Moved) -> SSAValue:
        """Return the pointer where its `add_offset` stands: the run-time step first, the constant one last."""
        anchor, self.at.anchor = self.at.anchor, moved.op
        elem = self.payload(moved.op.operands[0]).elem
        place = self.value(moved.base)
        if moved.by:
            total = moved.by[0]
            for other in moved.by[1:]:
                total = self._sum(total, other)
            place = self.advanced(place, elem, total)
        if moved.constant is not None:
            index = "i32" if -INT32_LIMIT <= moved.constant < INT32_LIMIT else "i64"
            place = self.advanced(place, elem, self.at.constant(index, moved.constant))
        self.at.anchor = anchor
        return place

    def _sum(self, one: SSAValue, other: SSAValue) -> SSAValue:
        widest: Any = max((one.type, other.type), key=lambda t: t.width.data)  # type: ignore[union-attr]
        pair = [v if v.type == widest else self.at.op("arith.extsi", [v], [widest]) for v in (one, other)]
        return self.at.op("arith.addi", pair, [widest], self.at.wrapping)

    def advanced(self, pointer: SSAValue, elem: str, by: SSAValue) -> SSAValue:
        """Return the address some elements on."""
        properties = {
            "rawConstantIndices": integers(32, _GEP_DYNAMIC),
            "elem_type": memory_type(elem),
            "noWrapFlags": integer(0, 32),
        }
        return self.at.op("llvm.getelementptr", [pointer, by], [pointer.type], properties)

    def element(self, pointer: SSAValue, info: pl.Pointer, offset: int) -> tuple[SSAValue, pl.Pointer]:
        """Return the pointer a constant number of elements on, and what is known of it."""
        if offset == 0:
            return pointer, info
        return self.advanced(pointer, info.elem, self.at.constant("i32", offset)), info.add_offset(offset)

    def view(self, value: SSAValue) -> tuple[SSAValue, pl.Pointer, Any]:
        """Pointer, what is known of it, and layout of a tensor."""
        tensor = self.payload(value)
        return self.value(value), tensor.iter, tensor.layout

    def address(self, pointer: SSAValue, info: pl.Pointer) -> SSAValue:
        """Return the pointer to access through: a swizzled one permutes its byte address."""
        if info.swizzle is None:
            return pointer
        width = 32 if info.space == "shared" else 64
        raw = self.at.op("llvm.ptrtoint", [pointer], [element_type(f"i{width}")])
        moved = register(self.at, info.swizzle(SsaInt(self.at, raw, width)), width)
        return self.at.op("llvm.inttoptr", [moved], [pointer.type])

    # Memory ------------------------------------------------------------------------------------

    def load(self, pointer: SSAValue, info: pl.Pointer, type_: Attribute, align: int | None = None) -> SSAValue:
        wanted = converted(type_)
        stored = _in_memory(wanted, info.elem)
        properties = _ORDERING | ({} if align == 0 else {"alignment": integer(align or info.align, 64)})
        raw = self.at.op("llvm.load", [self.address(pointer, info)], [stored], properties)
        return raw if stored == wanted else self.at.op("arith.trunci", [raw], [wanted])

    def store(self, value: SSAValue, pointer: SSAValue, info: pl.Pointer, align: int | None = None) -> None:
        stored = _in_memory(value.type, info.elem)
        if stored != value.type:
            value = self.at.op("arith.extui", [value], [stored])
        properties = _ORDERING | ({} if align == 0 else {"alignment": integer(align or info.align, 64)})
        self.at.op("llvm.store", [value, self.address(pointer, info)], [], properties)


def _in_memory(type_: Attribute, elem: str) -> Attribute:
    if elem != "i1":
        return type_
    return VectorType(i8, type_.get_shape()) if isinstance(type_, VectorType) else i8


# Operations ------------------------------------------------------------------------------------


def _make_ptr(conv: Conversion, op: FlyOp) -> None:
    info = payload_of(op.results[0].type)
    if len(op.operands) == 1 and isinstance(op.operands[0].type, LLVMPointerType):
        conv.set(op, conv.value(op.operands[0]))
        return
    if info.space == pl.BUFFER_DESC:
        pointer, stride, records, flags = (conv.value(o) for o in op.operands)
        descriptor = conv.at.op("rocdl.make.buffer.rsrc", [pointer, stride, records, flags], [llvm_pointer_8()])
        whole = conv.at.undefined(llvm_pointer(info.space))
        whole = conv.with_field(whole, 0, descriptor)
        conv.set(op, conv.with_field(whole, 1, conv.at.constant("i32", 0)))
        return
    count = allocation_size(op)
    if count is None:
        raise LoweringError("a pointer of this kind needs a target that has it")
    if info.space == "shared":
        conv.set(op, shared_globals.static_block(conv.at, conv.function, count * storage_bytes(info.elem), info.align))
        return
    conv.set(op, _registers(conv, count, info.elem))


def llvm_pointer_8() -> Attribute:
    """Return the type of a bare buffer descriptor."""
    kind: Any = llvm_pointer(pl.BUFFER_DESC)
    return kind.types.data[0]


def _registers(conv: Conversion, count: int, elem: str) -> SSAValue:
    if count >= 2**31:
        raise LoweringError(f"{count} elements are more than the registers of a thread can be")
    size = conv.at.constant("i64", count)
    return conv.at.op("llvm.alloca", [size], [llvm_pointer("register")], {"elem_type": memory_type(elem)})


def _alloca(conv: Conversion, op: FlyOp) -> None:
    tensor = payload_of(op.results[0].type)
    conv.set(op, _registers(conv, max(coords.cosize(tensor.layout), 1), tensor.iter.elem))


def _get_dyn_shared(conv: Conversion, op: FlyOp) -> None:
    conv.set(op, shared_globals.dynamic_block(conv.at, conv.function))


def _same(conv: Conversion, op: FlyOp) -> None:
    """The same address, known differently."""
    conv.set(op, conv.value(op.operands[0]))


def _add_offset(conv: Conversion, op: FlyOp) -> None:
    pointer, offset = op.operands
    info = conv.payload(pointer)
    amount = conv.payload(offset)
    made = offset.owner
    by = [conv.value(o) for o in made.operands] if isinstance(made, FlyOp) else []
    if not isinstance(amount, int) and len(by) != 1:
        raise LoweringError(
            f"the offset {offset.type} is not one run-time number", hint="run fly-layout-lowering first"
        )
    if info.space == pl.BUFFER_DESC:
        conv.set(op, _buffer_moved(conv, conv.value(pointer), by, amount))
        return
    conv.dead.append(op)
    conv.moved[op.results[0]] = _joined(conv, op, pointer, by, amount)


def _joined(conv: Conversion, op: FlyOp, pointer: SSAValue, by: list[SSAValue], amount: int | DynInt) -> _Moved:
    """Return a step after another: constants add up, and so do run-time numbers; a constant goes behind a run-time
    number."""
    inner = conv.moved.get(pointer)
    if inner is None:
        return _Moved(op, pointer, [], amount) if isinstance(amount, int) else _Moved(op, pointer, by, None)
    if isinstance(amount, int):
        if inner.constant is not None:
            return _Moved(op, inner.base, inner.by, inner.constant + amount)
        return _Moved(op, pointer, [], amount)
    if inner.constant is None:
        return _Moved(op, inner.base, [*inner.by, *by], None)
    if pointer.get_user_of_unique_use() is not None:
        return _Moved(op, inner.base, [*inner.by, *by], inner.constant)
    return _Moved(op, pointer, by, None)


def _buffer_moved(conv: Conversion, pointer: SSAValue, by: list[SSAValue], amount: int | DynInt) -> SSAValue:
    step = conv.at.constant("i32", amount) if isinstance(amount, int) else by[0]
    if step.type != i32:
        step = conv.at.op("arith.trunci", [step], [i32])
    total = conv.at.op("arith.addi", [conv.field(pointer, 1), step], [i32], conv.at.wrapping)
    return conv.with_field(pointer, 1, total)


def _inttoptr(conv: Conversion, op: FlyOp) -> None:
    conv.set(op, conv.at.op("llvm.inttoptr", [conv.value(op.operands[0])], [converted(op.results[0].type)]))


def _ptrtoint(conv: Conversion, op: FlyOp) -> None:
    conv.set(op, conv.at.op("llvm.ptrtoint", [conv.value(op.operands[0])], [op.results[0].type]))


def _to_llvm_ptr(conv: Conversion, op: FlyOp) -> None:
    wanted, pointer = op.results[0].type, conv.value(op.operands[0])
    same = pointer.type == wanted
    conv.set(op, pointer if same else conv.at.op("llvm.addrspacecast", [pointer], [wanted]))


def _get_buffer_rsrc(conv: Conversion, op: FlyOp) -> None:
    conv.set(op, conv.field(conv.value(op.operands[0]), 0))


def _ptr_load(conv: Conversion, op: FlyOp) -> None:
    info = conv.payload(op.operands[0])
    conv.types[op.results[0]] = op.results[0].type
    conv.set(op, conv.load(conv.value(op.operands[0]), info, op.results[0].type))


def _ptr_store(conv: Conversion, op: FlyOp) -> None:
    value, pointer = op.operands
    conv.store(conv.value(value), conv.value(pointer), conv.payload(pointer))
    conv.dead.append(op)


def _print(conv: Conversion, op: FlyOp) -> None:
    conv.at.op("gpu.printf", [conv.value(o) for o in op.operands], [], {"format": op.attributes["format"]})
    conv.dead.append(op)


def _later(conv: Conversion, op: FlyOp) -> None:
    """Values that only describe; their users read the description."""
    conv.dead.append(op)


POINTER_HANDLERS: dict[str, Callable[[Conversion, FlyOp], None]] = {
    "make_ptr": _make_ptr,
    "memref.alloca": _alloca,
    "get_dyn_shared": _get_dyn_shared,
    "add_offset": _add_offset,
    **dict.fromkeys(("recast_iter", "apply_swizzle", "make_view", "get_iter"), _same),
    "inttoptr": _inttoptr,
    "ptrtoint": _ptrtoint,
    "to_llvm_ptr": _to_llvm_ptr,
    "get_buffer_rsrc": _get_buffer_rsrc,
    "ptr.load": _ptr_load,
    "ptr.store": _ptr_store,
    "print": _print,
    **dict.fromkeys(("make_int_tuple", "make_shape", "make_stride", "make_coord", "make_layout", "get_layout"), _later),
}


def convert(module: Operation, handlers: dict[str, Callable[[Conversion, FlyOp], None]]) -> None:
    """Convert every function of a module, signatures of declarations too."""
    for function in list(functions(module, declared=True)):
        if function.regions[0].blocks:
            if any(isinstance(op, FlyOp) and op.spec.name not in handlers for op in function.walk()):
                layouts.lower_function(function)  # operations on tensors become those on pointers
            Conversion(function, handlers).run()
        kind = function.properties["function_type"]
        if isinstance(kind, FunctionType):
            function.properties["function_type"] = FunctionType.from_lists(
                [converted(t) for t in kind.inputs.data], [converted(t) for t in kind.outputs.data]
            )
    resolve_async_marks(module)
