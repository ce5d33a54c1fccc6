"""Atoms as the original's convert-fly-to-rocdl leaves them: their state in a struct, their calls on vectors or memory.

%a = fly.make_copy_atom      ->  llvm.mlir.undef, and llvm.insertvalue of a zero for each field
fly.atom.set_value           ->  llvm.insertvalue
fly.mma_atom_call            ->  llvm.load of each operand, the instruction, llvm.store
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr, IntegerType, VectorType, i32
from xdsl.dialects.ub import PoisonOp
from xdsl.ir import Attribute, Operation, SSAValue

from flydsl.base.errors import LoweringError
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly import rules
from flydsl.dialects.fly.ops import OP_CLASSES, FlyOp
from flydsl.dialects.fly.types import MemRefType, element_type, payload_of, vector_type
from flydsl.passes.shared.buffer_atoms import atomic_name
from flydsl.passes.shared.buffer_pointers import words_type
from flydsl.passes.shared.matrix_atoms import register_attr
from flydsl.passes.shared.universal_atoms import UNIVERSAL_ATOMS, contiguous
from flydsl.target.copy_ops import UniversalAtomic, UniversalCopy
from flydsl.target.copy_rocdl import BufferAtomic, BufferCopy, BufferCopyLds, LdsReadTrans
from flydsl.target.copy_tensor import TensorCopy
from flydsl.target.dtype import storage_bytes, width_bits
from flydsl.target.mma_facts import Intrinsic
from flydsl.target.mma_ops import UniversalFma
from flydsl.tools.original_forms.conversion import (
    POINTER_HANDLERS,
    Atom,
    Conversion,
    convert,
    converted,
    memory_type,
    state_index,
    state_types,
)

# State -----------------------------------------------------------------------------------------

_EXTENT, _STRIDE = 0x7FFFFFFF, -(2**31)
"""No bound, and the stride that the tensor's own layout has: what a tensor copy begins with."""


def _first_value(atom: Atom, index: int) -> int:
    if not isinstance(atom.op, TensorCopy) or not 1 <= index <= 9:
        return 0
    return _EXTENT if index <= 5 else _STRIDE


def _make_atom(conv: Conversion, op: FlyOp) -> None:
    payload = payload_of(op.results[0].type)
    atom = payload.atom if isinstance(payload, (pl.TiledCopy, pl.TiledMma)) else payload
    if not isinstance(atom, (pl.CopyAtom, pl.MmaAtom)):
        conv.dead.append(op)
        return
    value = conv.at.undefined(converted(op.results[0].type))
    for index, kind in enumerate(state_types(atom)):
        value = conv.with_field(value, index, conv.at.constant(str(kind), _first_value(atom, index)))
    conv.set(op, value)


def _tiled(conv: Conversion, op: FlyOp) -> None:
    """A tiled operation is its atom."""
    conv.set(op, conv.value(op.operands[0]))


def _set_value(conv: Conversion, op: FlyOp) -> None:
    atom, value = op.operands
    struct: Any = conv.value(atom)
    index = state_index(conv.atom(atom), op.attrs["field"])
    conv.set(op, conv.with_field(struct, index, _as_field(conv, conv.value(value), struct.type.types.data[index])))


def _as_field(conv: Conversion, value: SSAValue, kind: IntegerType) -> SSAValue:
    if value.type == kind:
        return value
    width: Any = getattr(value.type, "width", None)
    if width is None or width.data == kind.width.data:
        return _cast(conv, value, kind)
    return conv.at.op("arith.extsi" if width.data < kind.width.data else "arith.trunci", [value], [kind])


def _cast(conv: Conversion, value: SSAValue, kind: Attribute) -> SSAValue:
    return value if value.type == kind else conv.at.op("llvm.bitcast", [value], [kind])


# Copies ----------------------------------------------------------------------------------------


def _flag(conv: Conversion, pred: SSAValue) -> SSAValue:
    if not isinstance(conv.type(pred), MemRefType):
        return conv.value(pred)
    pointer, info, _ = conv.view(pred)
    return conv.load(pointer, info, element_type("i1"))


def _when(conv: Conversion, flag: list[SSAValue], emit: Callable[[], SSAValue | None], old: SSAValue | None) -> Any:
    if not flag:
        return emit()
    return conv.at.when(flag[0], emit, old)


class _Side:
    """One side of a copy: a vector that the call is given or gives, or memory."""

    def __init__(self, conv: Conversion, value: SSAValue | None, result: SSAValue | None) -> None:
        self.conv = conv
        self.in_memory = value is not None and isinstance(conv.type(value), MemRefType)
        self.given = None if value is None else conv.value(value)
        self.kind = None if result is None else converted(result.type)
        if self.given is not None:
            self.kind = self.given.type
        if self.in_memory:
            assert value is not None
            self.pointer, self.info, self.layout = conv.view(value)
            count = rules.size(self.layout)
            elem = memory_type(self.info.elem)
            self.kind = VectorType(elem, [count]) if count > 1 else elem

    @property
    def is_buffer(self) -> bool:
        return self.in_memory and self.info.space == pl.BUFFER_DESC


def _copy(conv: Conversion, op: FlyOp) -> None:
    atom, source, *rest = op.operands
    instruction = conv.atom(atom).op
    rule = _COPIES.get(type(instruction))
    if rule is None:
        raise LoweringError(f"{instruction} does not exist on this target")
    segments = op.attributes.get("operandSegmentSizes")
    predicated = segments.get_values()[3] if isinstance(segments, DenseArrayBase) else len(rest) == 2
    flag = [_flag(conv, rest.pop())] if predicated else []
    result = op.results[0] if op.results else None
    old = conv.value(rest[0]) if result is not None and rest else None
    if result is not None and flag and old is None:
        old = conv.at.add(PoisonOp(converted(result.type))).results[0]
    target = _Side(conv, None if result is not None else rest[0], result)
    made = _when(conv, flag, lambda: rule(conv, op, instruction, _Side(conv, source, None), target), old)
    if result is not None:
        assert made is not None
        conv.types[result] = result.type
        conv.set(op, _cast(conv, made, converted(result.type)))
    else:
        conv.dead.append(op)


def _universal(conv: Conversion, op: FlyOp, instruction: UniversalCopy, source: _Side, target: _Side) -> Any:
    value = source.given
    align = instruction.bits // 8
    if source.in_memory:
        contiguous(source.layout, rules.size(source.layout), "source")
        kind = source.kind if target.in_memory or target.kind is None else target.kind
        assert kind is not None
        value = conv.load(source.pointer, source.info, kind, max(source.info.align, align))
    assert value is not None
    if not target.in_memory:
        return value
    contiguous(target.layout, rules.size(target.layout), "destination")
    conv.store(value, target.pointer, target.info, max(target.info.align, align))
    return None


def _bytes(conv: Conversion, count: SSAValue, elem: str) -> SSAValue:
    """Return a number of elements as bytes."""
    if width_bits(elem) <= 8:
        return count
    return conv.at.op("arith.muli", [count, conv.at.constant("i32", storage_bytes(elem))], [i32], conv.at.wrapping)


def _buffer_operands(conv: Conversion, op: FlyOp, side: _Side, cache: int) -> list[SSAValue]:
    """Descriptor, the lane's offset, the wave's, and the cache modifier."""
    if not side.is_buffer:
        raise LoweringError(
            f"a buffer instruction needs a buffer tensor, and one side lies in {side.info.space} memory",
            hint="wrap it first: t = fx.rocdl.make_buffer_tensor(t)",
        )
    elem = side.info.elem
    descriptor, offset = conv.field(side.pointer, 0), conv.field(side.pointer, 1)
    common = conv.state(op.operands[0], 0)
    return [
        descriptor, _bytes(conv, offset, elem), _bytes(conv, common, elem), conv.at.constant("i32", cache),
    ]  # fmt: skip


def _words(side: _Side) -> Attribute:
    return words_type(rules.size(side.layout) * width_bits(side.info.elem))


def _buffer_copy(conv: Conversion, op: FlyOp, instruction: BufferCopy, source: _Side, target: _Side) -> Any:
    if source.is_buffer:
        operands = _buffer_operands(conv, op, source, instruction.cache)
        value = conv.at.op("rocdl.raw.ptr.buffer.load", operands, [_words(source)])
        if not target.in_memory:
            assert target.kind is not None
            return _cast(conv, value, target.kind)
        conv.store(value, target.pointer, target.info)
        return None
    words = _words(target) if target.in_memory else None
    if words is None or not target.is_buffer:
        raise LoweringError(f"{instruction} moves between a buffer and registers")
    if source.in_memory:
        value = conv.load(source.pointer, source.info, words)
    else:
        assert source.given is not None
        value = _cast(conv, source.given, words)
    operands = _buffer_operands(conv, op, target, instruction.cache)
    conv.at.op("rocdl.raw.ptr.buffer.store", [value, *operands])
    return None


def _buffer_copy_lds(conv: Conversion, op: FlyOp, instruction: BufferCopyLds, source: _Side, target: _Side) -> Any:
    if not source.in_memory or not target.in_memory or target.info.space != "shared":
        raise LoweringError(f"{instruction} writes from memory to shared memory")
    size = conv.at.constant("i32", instruction.bits // 8)
    offset = conv.state(op.operands[0], 1)
    if not source.is_buffer:
        zero = conv.at.constant("i32", 0)
        conv.at.op("rocdl.global.load.lds", [source.pointer, target.pointer, size, offset, zero])
        return None
    descriptor, lane, common, cache = _buffer_operands(conv, op, source, 0)
    operands = [descriptor, target.pointer, size, lane, common, offset, cache]
    conv.at.op("rocdl.raw.ptr.buffer.load.lds", operands)
    return None


def _buffer_atomic(conv: Conversion, op: FlyOp, instruction: BufferAtomic, source: _Side, target: _Side) -> Any:
    count = 2 if instruction.op == "pk_add" else 1
    kind = vector_type(count, instruction.elem) if count > 1 else element_type(instruction.elem)
    if source.in_memory:
        value = conv.load(source.pointer, source.info, kind)
    else:
        assert source.given is not None
        value = _cast(conv, source.given, kind)
    if not target.in_memory:
        raise LoweringError("a buffer atomic combines registers into memory; it gives nothing back")
    operands = _buffer_operands(conv, op, target, 0)
    name = f"rocdl.raw.ptr.buffer.atomic.{atomic_name(instruction)}"
    conv.at.op(name, [value, *operands], [kind])
    return None


def _lds_read_trans(conv: Conversion, op: FlyOp, instruction: LdsReadTrans, source: _Side, target: _Side) -> Any:
    if not source.in_memory or source.info.space != "shared":
        raise LoweringError(f"{instruction} reads shared memory into registers")
    verb = "read" if instruction.generation == "cdna4" else "load"
    width = 16 if instruction.granularity == 16 else 32
    registers = VectorType(element_type(f"i{width}"), [instruction.bits // width])
    name = f"rocdl.ds.{verb}.tr{instruction.granularity}.b{instruction.bits}"
    value = conv.at.op(name, [conv.address(source.pointer, source.info)], [registers])
    if not target.in_memory:
        assert target.kind is not None
        return _cast(conv, value, target.kind)
    conv.store(value, target.pointer, target.info)
    return None


def _universal_atomic(conv: Conversion, op: FlyOp, instruction: UniversalAtomic, source: _Side, target: _Side) -> Any:
    if not target.in_memory:
        raise LoweringError("an atomic combines registers into memory; it gives nothing back")
    value = source.given
    if source.in_memory:
        count = rules.size(source.layout)
        value = conv.load(source.pointer, source.info, vector_type(count, source.info.elem))
    assert value is not None
    stand_in = OP_CLASSES["copy_atom_call_ssa"].create(operands=[op.operands[0], value, op.operands[2]])
    UNIVERSAL_ATOMS[UniversalAtomic](conv, stand_in, instruction)  # type: ignore[arg-type]
    stand_in.drop_all_references()
    return None


_COPIES: dict[type, Callable[..., Any]] = {
    UniversalCopy: _universal,
    UniversalAtomic: _universal_atomic,
    BufferCopy: _buffer_copy,
    BufferCopyLds: _buffer_copy_lds,
    BufferAtomic: _buffer_atomic,
    LdsReadTrans: _lds_read_trans,
}


# Matrix instructions ---------------------------------------------------------------------------

_IMMEDIATES = {False: ("cbsz", "abid", "blgp"), True: ("cbsz", "blgp", "opselA", "opselB")}
"""Names of the numbers that LLVM's intrinsic takes after the operands, plain and scaled."""
_WORDS = ("fmtA", "fmtB", "modC", "scaleAType", "fmtScaleA", "scaleBType", "fmtScaleB")
"""Immediates of a scaled WMMA that are always written."""


def _mma(conv: Conversion, op: FlyOp) -> None:
    atom, *rest = op.operands
    target, a, b, c = rest if len(rest) == 4 else (None, *rest)
    instruction = conv.atom(atom).op
    if isinstance(instruction, UniversalFma):
        value = _fma(conv, instruction, target, (a, b, c))
    elif hasattr(instruction, "intrinsic"):
        value = _issue(conv, op, instruction.intrinsic(), (a, b, c))
    else:
        raise LoweringError(f"{instruction} does not exist on this target")
    if target is None:
        conv.types[op.results[0]] = op.results[0].type
        conv.set(op, _cast(conv, value, converted(op.results[0].type)))
        return
    pointer, info, _ = conv.view(target)
    conv.store(value, pointer, info, align=0)
    conv.dead.append(op)


def _operand(conv: Conversion, value: SSAValue, kind: Attribute) -> SSAValue:
    if isinstance(conv.type(value), MemRefType):
        pointer, info, _ = conv.view(value)
        return conv.load(pointer, info, kind, align=0)
    return _cast(conv, conv.value(value), kind)


def _issue(conv: Conversion, op: FlyOp, call: Intrinsic, operands: tuple[SSAValue, ...]) -> SSAValue:
    scaled = any(slot.role == "scale_a" for slot in call.slots)
    names = iter(_IMMEDIATES[scaled])
    if len(call.results) > 1 or any(len(call.operand(role)) > 1 for role in "abc") or not call.dialect_op:
        raise LoweringError(f"{call.name} has no operation of its own here", hint="run with --as-compiled")
    values = [_operand(conv, v, register_attr(call.operand(role)[0])) for role, v in zip("abc", operands, strict=True)]
    if scaled:
        values += [conv.state(op.operands[0], index) for index in range(2)]
    properties: dict[str, Attribute] = {}
    for slot in call.slots:
        if slot.role != "imm":
            continue
        name, number = slot.attr or next(names), slot.value
        assert number is not None
        if slot.attr and slot.type.bits == 1:
            properties |= {name: BoolAttr.from_bool(True)} if number else {}
        elif not slot.attr or number or (name in _WORDS and scaled):
            properties[name] = IntegerAttr(number, i32)
    if scaled and call.dialect_op.startswith("rocdl.wmma"):
        properties = {"fmtA": IntegerAttr(4, i32), "fmtB": IntegerAttr(4, i32)} | properties
    return conv.at.op(call.dialect_op, values, [register_attr(result) for result in call.results], properties)


def _fma(
    conv: Conversion, instruction: UniversalFma, target: SSAValue | None, operands: tuple[SSAValue, ...]
) -> SSAValue:
    kinds = [element_type(e) for e in (instruction.elem_a, instruction.elem_b, instruction.elem_c)]
    if target is None:
        values = [conv.value(v) for v in operands]
    else:
        values = [_operand(conv, v, VectorType(kind, [1])) for v, kind in zip(operands, kinds, strict=True)]
    end = VectorType(kinds[2], [1]) if target is not None else values[2].type
    stand_in = OP_CLASSES["mma_atom_call_ssa"].create(operands=[values[0], *values], result_types=[end])
    before: Any = conv.at.anchor
    UNIVERSAL_ATOMS[UniversalFma](conv, stand_in, instruction)  # type: ignore[arg-type]
    made: Operation = before.prev_op
    stand_in.drop_all_references()
    return made.results[0]


HANDLERS = POINTER_HANDLERS | {
    **dict.fromkeys(("make_copy_atom", "make_mma_atom", "static"), _make_atom),
    **dict.fromkeys(("make_tiled_copy", "make_tiled_mma"), _tiled),
    "atom.set_value": _set_value,
    **dict.fromkeys(("copy_atom_call", "copy_atom_call_ssa"), _copy),
    **dict.fromkeys(("mma_atom_call", "mma_atom_call_ssa"), _mma),
}


def convert_fly_to_rocdl(module: Operation) -> None:
    """Run the pass on a module."""
    convert(module, HANDLERS)
