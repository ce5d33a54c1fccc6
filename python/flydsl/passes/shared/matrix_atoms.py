"""Matrix atoms as the target's operations: one rule for every instruction that a fact table describes.

The operation is the upstream dialect's own where it has one, and `llvm.call_intrinsic` otherwise. The
attribute ``fly.instruction`` says which instruction it is, for back ends that look it up in the table.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr, StringAttr, VectorType
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, SSAValue

from flydsl.base.errors import LoweringError
from flydsl.dialects.fly.ops import FlyOp
from flydsl.dialects.fly.types import element_type, payload_of, vector_type
from flydsl.dialects.upstream import integers, op_class
from flydsl.passes.shared.intrinsic_call import atom_state, call_properties
from flydsl.passes.shared.memory_conversion import MemoryConversion
from flydsl.passes.shared.vector_access import cast_bits, extract
from flydsl.target.mma_facts import Intrinsic, RegisterType, Slot

INSTRUCTION = "fly.instruction"


def register_attr(type_: RegisterType) -> Attribute:
    text = type_.mlir
    if text.startswith("vector<"):
        count, elem = text[7:-1].split("x", 1)
        return vector_type(int(count), elem)
    return element_type(text)


def as_registers(conv: MemoryConversion, value: SSAValue, slots: list[Slot]) -> list[SSAValue]:
    """Return an operand's vector as the registers the instruction reads it from."""
    whole = [register_attr(slot.type) for slot in slots]
    if len(slots) == 1:
        return [cast_bits(conv.at, value, whole[0])]
    total = sum(slot.type.bits for slot in slots)
    first = slots[0].type
    joined = cast_bits(conv.at, value, vector_type(total // first.bits, _int_of(first)))
    parts = [extract(conv.at, joined, index, _int_of(first)) for index in range(len(slots))]
    return [cast_bits(conv.at, part, type_) for part, type_ in zip(parts, whole, strict=True)]


def _int_of(type_: RegisterType) -> str:
    return f"i{type_.bits}"


def _operands(conv: MemoryConversion, op: FlyOp, call: Intrinsic) -> tuple[list[SSAValue], dict[str, Attribute]]:
    atom, a, b, c = op.operands
    given = {role: iter(as_registers(conv, value, [s for s in call.slots if s.role == role]))
             for role, value in (("a", a), ("b", b), ("c", c))}  # fmt: skip
    state = _scales(conv, atom_state(atom), call) if payload_of(atom.type).op.state else {}
    values: list[SSAValue] = []
    attributes: dict[str, Attribute] = {}
    for slot in call.slots:
        if slot.role in given:
            values.append(next(given[slot.role]))
        elif slot.value is None:
            values.append(_field(state, slot, payload_of(atom.type).op))
        elif slot.attr:
            attributes[slot.attr] = IntegerAttr(slot.value, element_type(slot.type.mlir))  # type: ignore[arg-type]
        else:
            values.append(conv.at.constant(slot.type.mlir, slot.value))
    return values, attributes


_ONE = 0x7F
"""1.0 as an exponent of E8M0."""


def _scales(conv: MemoryConversion, state: dict[str, SSAValue], call: Intrinsic) -> dict[str, SSAValue]:
    """Return the state of an atom. Two scales that are constant zeros, or that nobody set, mean no scaling, as on the
    chip."""
    slots = [slot for slot in call.slots if slot.role in ("scale_a", "scale_b")]
    if not slots or not all(_is_zero(state.get(slot.role)) for slot in slots):
        return state
    ones = {slot.role: conv.at.constant(slot.type.mlir, _ones(slot.type.bits)) for slot in slots}
    return {**state, **ones}


def _is_zero(value: SSAValue | None) -> bool:
    if value is None:
        return True
    made = value.owner
    return isinstance(made, ConstantOp) and isinstance(made.value, IntegerAttr) and made.value.value.data == 0


def _ones(bits: int) -> int:
    return int.from_bytes([_ONE] * (bits // 8), "little")


def _field(state: dict[str, SSAValue], slot: Slot, instruction: Any) -> SSAValue:
    """Return the value of a state field, such as the scales of A."""
    value = state.get(slot.role)
    if value is None:
        raise LoweringError(
            f"{instruction} needs its '{slot.role}', which nobody set",
            hint=f"give it to the call: gemm(..., {slot.role}=...), or set it: atom.set_value('{slot.role}', ...)",
        )
    if str(value.type) != slot.type.mlir:
        raise LoweringError(f"'{slot.role}' of {instruction} is an {slot.type.mlir}, got {value.type}")
    return value


def lower_matrix(conv: MemoryConversion, op: FlyOp, instruction: Any) -> None:
    """Issue a matrix instruction on the vectors of its operands."""
    call: Intrinsic = instruction.intrinsic()
    values, attributes = _operands(conv, op, call)
    kinds = [register_attr(r) for r in call.results]
    several = len(kinds) > 1
    # An operation with several results is a call of the intrinsic, which returns a struct of them.
    name = "llvm.call_intrinsic" if several or not call.dialect_op else call.dialect_op
    properties: dict[str, Attribute] = dict(attributes)
    if name == "llvm.call_intrinsic":
        properties |= call_properties(call.name, len(values))
    made = op_class(name).create(
        operands=values,
        result_types=[LLVMStructType.from_type_list(kinds)] if several else kinds,
        properties=properties,
        attributes={INSTRUCTION: StringAttr(str(instruction))},
    )
    conv.at.add(made)
    op.results[0].replace_all_uses_with(from_registers(conv, made.results[0], kinds, op.results[0].type))


def from_registers(conv: MemoryConversion, result: SSAValue, kinds: list[Attribute], wanted: Attribute) -> SSAValue:
    """Return what an instruction returned as the vector that the fragment holds."""
    return cast_bits(conv.at, _joined(conv, result, kinds) if len(kinds) > 1 else result, wanted)


def _joined(conv: MemoryConversion, struct: SSAValue, kinds: list[Attribute]) -> SSAValue:
    """Return the registers of a struct as one vector."""
    fields = []
    for index, kind in enumerate(kinds):
        position = {"position": integers(64, index)}
        fields.append(conv.at.op("llvm.extractvalue", [struct], [kind], position))
    if not isinstance(kinds[0], VectorType):
        return conv.at.op("vector.from_elements", fields, [VectorType(kinds[0], [len(fields)])])
    elem, count = kinds[0].element_type, kinds[0].get_shape()[0]
    scalars = [extract(conv.at, field, i, str(elem)) for field in fields for i in range(count)]
    return conv.at.op("vector.from_elements", scalars, [VectorType(elem, [len(scalars)])])
