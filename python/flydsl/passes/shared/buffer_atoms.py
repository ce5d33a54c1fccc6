"""AMD's copy atoms as rocdl intrinsics: buffer copies and atomics, copies into LDS, transposing LDS reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, VectorType, i8, i32
from xdsl.ir import Attribute, Block, SSAValue

from flydsl.base.errors import LoweringError
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly import rules
from flydsl.dialects.fly.ops import FlyOp
from flydsl.dialects.fly.types import element_type, vector_type
from flydsl.dialects.upstream import replace_uses
from flydsl.layout.algebra import coalesce
from flydsl.passes.shared import buffer_pointers
from flydsl.passes.shared.intrinsic_call import atom_state, call_intrinsic
from flydsl.passes.shared.memory_conversion import AtomRule, MemoryConversion
from flydsl.passes.shared.ssa_leaf import SsaInt, register
from flydsl.passes.shared.universal_atoms import check_whole, contiguous, under
from flydsl.passes.shared.vector_access import cast_bits, extract
from flydsl.passes.shared.walk import is_pure
from flydsl.target.copy_rocdl import BufferAtomic, BufferCopy, BufferCopyLds, LdsReadTrans
from flydsl.target.dtype import is_float, storage_bytes


def _expect_buffer(info: pl.Pointer, what: str) -> None:
    if info.space != pl.BUFFER_DESC:
        raise LoweringError(
            f"a buffer instruction needs a buffer tensor as {what}, which lies in {info.space} memory",
            hint="wrap it first: t = fx.rocdl.make_buffer_tensor(t)",
        )


def _scalar_offset(conv: MemoryConversion, op: FlyOp, elem: str) -> SSAValue | None:
    """``soffset`` of the atom's state, from elements to bytes."""
    value = atom_state(op.operands[0]).get("soffset")
    if value is None:
        return None
    width = value.type.width.data  # type: ignore[union-attr]
    return register(conv.at, SsaInt(conv.at, value, width) * storage_bytes(elem), 32)


# Copies ----------------------------------------------------------------------------------------


def _buffer_copy(conv: MemoryConversion, op: FlyOp, instruction: BufferCopy) -> None:
    if op.results:
        _, source, *rest = op.operands
        pointer, info, layout = conv.view(source)
        _expect_buffer(info, "its source")
        contiguous(layout, rules.size(layout), "source")
        value = _when_loaded(conv, rest, lambda: _loaded(conv, op, pointer, info, instruction))
        replace_uses(op.results[0], value)
        return
    _, value, target, *flag = op.operands
    pointer, info, layout = conv.view(target)
    _expect_buffer(info, "its destination")
    contiguous(layout, rules.size(layout), "destination")
    soffset = _scalar_offset(conv, op, info.elem)
    stored = conv.to_memory(value, info)
    under(conv, flag, lambda: buffer_pointers.store(conv, stored, pointer, info.elem, soffset, instruction.cache))


def _loaded(conv: MemoryConversion, op: FlyOp, pointer: SSAValue, info: pl.Pointer, copy: BufferCopy) -> SSAValue:
    type_ = op.results[0].type
    soffset = _scalar_offset(conv, op, info.elem)
    raw = buffer_pointers.load(conv, pointer, conv.stored_type(type_, info), info.elem, soffset, copy.cache)
    return conv.from_memory(raw, type_, info)


def _when_loaded(conv: MemoryConversion, rest: Any, load: Callable[[], SSAValue]) -> SSAValue:
    """Return a load, or under a predicate a load and what was there before."""
    if not rest:
        return load()
    value = conv.at.when(rest[1], load, rest[0])
    assert value is not None
    return value


# Copies into LDS -------------------------------------------------------------------------------


def _lds_copy(conv: MemoryConversion, op: FlyOp, instruction: BufferCopyLds) -> None:
    """Each wave writes its lanes' data side by side from the address of its first lane."""
    _, source, target, *flag = op.operands
    pointer, info, layout = conv.view(source)
    place, place_info, place_layout = conv.view(target)
    if place_info.space != "shared":
        raise LoweringError(
            f"{instruction} writes to shared memory, but its destination is {place_info.space} memory",
            hint="give it a tile of fx.SharedAllocator; for registers use fx.copy without an atom",
        )
    if place_info.swizzle is not None:
        raise LoweringError(
            f"{instruction} writes a wave's data side by side, so its destination cannot be swizzled per lane",
            hint="swizzle the source's coordinates instead",
        )
    for side, what in ((layout, "source"), (place_layout, "destination")):
        contiguous(side, rules.size(side), what)
    if instruction.from_buffer:
        _expect_buffer(info, "its source")
    under(conv, flag, lambda: _emit_lds_copy(conv, op, instruction, (pointer, info), place))


def _emit_lds_copy(
    conv: MemoryConversion, op: FlyOp, instruction: BufferCopyLds, source: tuple[SSAValue, pl.Pointer], place: SSAValue
) -> None:
    at, (pointer, info) = conv.at, source
    state = atom_state(op.operands[0])
    size, zero = at.constant("i32", instruction.bits // 8), at.constant("i32", 0)
    # The hardware takes the base from a scalar register: the wave's first lane says where, unless all lanes agree.
    first = at.op("llvm.ptrtoint", [place], [i32])
    base = place
    if not _is_uniform(place):
        first = call_intrinsic(at, "llvm.amdgcn.readfirstlane", [first], [i32])
        base = at.op("llvm.inttoptr", [first], [place.type])
    immediate = state.get("imm_offset", zero)
    varying = not _encodable(immediate)
    if varying:
        # Both sides move by it, as they do by the instruction's own offset.
        wide = conv.at.op("arith.addi", [first, _as_i32(conv, immediate)], [i32], at.wrapping)
        base = at.op("llvm.inttoptr", [wide], [place.type])
    if not instruction.from_buffer:
        if varying:
            pointer = at.op("llvm.getelementptr", [pointer, immediate], [pointer.type], _BYTES)
        call_intrinsic(at, "llvm.amdgcn.global.load.lds", [pointer, base, size, zero if varying else immediate, zero])
        return
    descriptor, offset = buffer_pointers.parts(conv, pointer)
    if varying:
        offset = at.op("arith.addi", [offset, _as_i32(conv, immediate)], [i32], at.wrapping)
        immediate = zero
    soffset = _scalar_offset(conv, op, info.elem) or zero
    # Every copy into LDS is asynchronous; the forms differ in how a kernel waits for them.
    name = "llvm.amdgcn.raw.ptr.buffer.load.lds"
    call_intrinsic(at, name, [descriptor, base, size, offset, soffset, immediate, zero])


_SAME_FOR_ALL = ("llvm.mlir.addressof", "gpu.block_id", "gpu.grid_dim", "gpu.block_dim")


def _is_uniform(value: SSAValue) -> bool:
    """Return whether a value is the same for all lanes of a wave: arithmetic on arguments, block numbers and first
    lanes."""
    owner = value.owner
    if isinstance(owner, Block):
        kernel = owner.parent_op()
        return kernel is not None and kernel.name == "gpu.func"
    if owner.regions:
        return False
    name = owner.properties.get("intrin")
    if isinstance(name, StringAttr):
        return name.data == "llvm.amdgcn.readfirstlane"
    if owner.name in _SAME_FOR_ALL or isinstance(owner, ConstantOp):
        return True
    return is_pure(owner) and bool(owner.operands) and all(_is_uniform(operand) for operand in owner.operands)


_MOST_IMMEDIATE = 4095
_BYTES = {"elem_type": i8, "rawConstantIndices": DenseArrayBase.from_list(i32, [-(2**31)])}


def _encodable(offset: SSAValue) -> bool:
    """Return whether the instruction's own offset field can hold a number of bytes."""
    owner = offset.owner
    value = owner.value if isinstance(owner, ConstantOp) else None
    return offset.type == i32 and isinstance(value, IntegerAttr) and 0 <= value.value.data <= _MOST_IMMEDIATE


def _as_i32(conv: MemoryConversion, value: SSAValue) -> SSAValue:
    return register(conv.at, SsaInt(conv.at, value, value.type.width.data), 32)  # type: ignore[union-attr]


# Atomics ---------------------------------------------------------------------------------------

_ATOMICS = {"add": "fadd", "pk_add": "fadd", "max": "smax", "min": "smin"}


def _buffer_atomic(conv: MemoryConversion, op: FlyOp, instruction: BufferAtomic) -> None:
    if op.results:
        raise LoweringError("a buffer atomic combines registers into memory; it gives nothing back")
    _, value, target, *flag = op.operands
    pointer, info, layout = conv.view(target)
    _expect_buffer(info, "its destination")
    soffset = _scalar_offset(conv, op, info.elem)
    under(conv, flag, lambda: _combine(conv, value, (pointer, info, layout), instruction, soffset))


def atomic_name(instruction: BufferAtomic) -> str:
    """Return what LLVM calls the operation."""
    name = _ATOMICS[instruction.op]
    if is_float(instruction.elem) and name != "fadd":
        return f"f{instruction.op}"
    return "umin" if instruction.elem.startswith("u") else name


def _combine(
    conv: MemoryConversion, value: SSAValue, target: tuple[Any, Any, Any], instruction: BufferAtomic,
    soffset: SSAValue | None,
) -> None:  # fmt: skip
    pointer, info, layout = target
    zero, name = conv.at.constant("i32", 0), atomic_name(instruction)
    step = 2 if instruction.op == "pk_add" else 1
    for index in range(0, rules.size(layout), step):
        place, _ = conv.element(pointer, info, layout(index))
        if step == 2:
            pair = [extract(conv.at, value, index + i, info.elem) for i in range(2)]
            data = conv.at.op("vector.from_elements", pair, [vector_type(2, info.elem)])
        else:
            data = extract(conv.at, value, index, info.elem)
        descriptor, offset = buffer_pointers.parts(conv, place)
        operands = [data, descriptor, offset, soffset or zero, zero]
        call_intrinsic(conv.at, f"llvm.amdgcn.raw.ptr.buffer.atomic.{name}", operands, [data.type])


# Transposing reads -----------------------------------------------------------------------------


def _lds_read_trans(conv: MemoryConversion, op: FlyOp, instruction: LdsReadTrans) -> None:
    _, source, *rest = op.operands
    if not op.results or rest:
        raise LoweringError(f"{instruction} reads shared memory into registers, without a predicate")
    pointer, info, layout = conv.view(source)
    if info.space != "shared":
        raise LoweringError(
            f"{instruction} reads shared memory, but its source is {info.space} memory",
            hint="copy the tile into shared memory first",
        )
    flat, count = coalesce(layout), rules.size(layout)
    if not (flat.shape == count and flat.stride == 1):
        raise LoweringError(
            f"{instruction} reads rows of {count} neighbouring elements, but a row of this tile lies at {layout}",
            hint="the tile is contiguous along its other mode: fx.copy without an atom reads it as it is; to be "
            "transposed it is laid out the other way",
        )
    verb = "read" if instruction.generation == "cdna4" else "load"
    width = 16 if instruction.granularity == 16 else 32
    check_whole(info, instruction.bits // 8)
    registers: Attribute = VectorType(element_type(f"i{width}"), [instruction.bits // width])
    name = f"llvm.amdgcn.ds.{verb}.tr{instruction.granularity}.b{instruction.bits}"
    raw = call_intrinsic(conv.at, name, [conv.address(pointer, info)], [registers])
    type_ = op.results[0].type
    value = cast_bits(conv.at, raw, conv.stored_type(type_, info))
    replace_uses(op.results[0], conv.from_memory(value, type_, info))


ROCDL_ATOMS: dict[type, AtomRule] = {
    BufferCopy: _buffer_copy,
    BufferCopyLds: _lds_copy,
    BufferAtomic: _buffer_atomic,
    LdsReadTrans: _lds_read_trans,
}
