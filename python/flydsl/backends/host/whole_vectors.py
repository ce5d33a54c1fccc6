"""Registers that an instruction takes one by one are vectors again before the host sees them.

wgmma and the wait for it pass up to 128 accumulators as scalars, taken from a vector and put back into one; mma.sync
passes each operand in pieces of 32 bits. The host has them in memory anyway; moving them through scalars would only
cost compile time, a loop over threads for each operand of each product.

    %s = asm(extract %v[0], extract %v[1], …) ; %w = from_elements(extractvalue %s[0], …)   ->   %w = asm(%v)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import StringAttr, VectorType
from xdsl.ir import Operation, SSAValue

from flydsl.backends.device_code import instruction_of
from flydsl.backends.host.fibers import ptx_name
from flydsl.backends.host.matrix_registers import WHOLE
from flydsl.codegen.reading.op_view import ints_prop
from flydsl.dialects.upstream import walked
from flydsl.passes.canonicalize import drop_dead
from flydsl.passes.shared.matrix_atoms import INSTRUCTION
from flydsl.target.mma_facts import Intrinsic

_WGMMA = "!fly_nvvm.sm90.wgmma"
_PASSED = "wgmma.wait_group"


def rejoin_vectors(kernel: Operation) -> None:
    """Run on the body of a kernel."""
    for op in walked(kernel):
        name = op.attributes.get(INSTRUCTION)
        if op.name == "llvm.call_intrinsic" and name is not None:
            _join_registers(op)
        if op.name != "llvm.inline_asm" or not op.results:
            continue
        if ptx_name(op) == _PASSED or (isinstance(name, StringAttr) and name.data.startswith(_WGMMA)):
            _join(op)
    for region in kernel.regions:
        drop_dead(region)


def _source(values: Sequence[SSAValue]) -> SSAValue | None:
    """Return the vector whose elements these are, in order."""
    first = values[0].owner
    if not (isinstance(first, Operation) and first.name == "vector.extract"):
        return None
    vector = first.operands[0]
    for index, value in enumerate(values):
        made = value.owner
        if not (isinstance(made, Operation) and made.name == "vector.extract" and made.operands[0] is vector):
            return None
        if tuple(ints_prop(made, "static_position")) != (index,):
            return None
    shape = vector.type.get_shape()  # type: ignore[union-attr]
    return vector if tuple(shape) == (len(values),) else None


def _rebuilt(op: Operation) -> Operation | None:
    """Return the `from_elements` that puts all fields of a struct back into a vector, in order."""
    fields = [use.operation for use in op.results[0].uses]
    if not fields or not all(field.name == "llvm.extractvalue" for field in fields):
        return None
    users = {user for field in fields for user in _joins(field)}
    if len(users) != 1:
        return None
    (user,) = users
    if user.name != "vector.from_elements" or [_position(o) for o in user.operands] != _positions(op):
        return None
    return user


def _joins(field: Operation) -> Iterator[Operation]:
    """Yield what a field of a struct is put into, element by element where it is a vector itself."""
    for use in field.results[0].uses:
        if use.operation.name == "vector.extract":
            yield from (inner.operation for inner in use.operation.results[0].uses)
        else:
            yield use.operation


def _position(element: SSAValue) -> tuple[int, ...]:
    """Return the field that an element of a joined vector comes from, and which element of that field."""
    made = element.owner
    if isinstance(made, Operation) and made.name == "vector.extract":
        return (*_position(made.operands[0]), *ints_prop(made, "static_position"))
    if isinstance(made, Operation) and made.name == "llvm.extractvalue":
        return tuple(ints_prop(made, "position"))
    return ()


def _positions(op: Operation) -> list[tuple[int, ...]]:
    """Return every element of every field of a struct, in order."""
    found: list[tuple[int, ...]] = []
    for field, type_ in enumerate(op.results[0].type.types):  # type: ignore[union-attr]
        if isinstance(type_, VectorType):
            found += [(field, element) for element in range(type_.get_shape()[0])]
        else:
            found.append((field,))
    return found


def _join(op: Operation) -> None:
    """An instruction that takes its accumulators last, and gives them, as one vector."""
    rebuilt = _rebuilt(op)
    if rebuilt is None:
        return
    count = len(rebuilt.operands)
    vector = _source([_before_casts(value) for value in op.operands[-count:]])
    if vector is None:
        return
    origin = _before_casts(vector)
    if isinstance(origin.type, VectorType) and origin.type.get_shape() == (count,):
        vector = origin  # of registers too, whatever they are taken for
    joined = type(op).create(
        operands=[*op.operands[:-count], vector],
        result_types=[rebuilt.results[0].type],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
    )
    joined.location = op.location
    assert op.parent is not None
    op.parent.insert_op_before(joined, op)
    rebuilt.results[0].replace_all_uses_with(joined.results[0])
    _erase(rebuilt, op)


def _join_registers(op: Operation) -> None:
    """A product whose operands come in pieces takes the vectors they are pieces of, and gives one where it can."""
    call: Intrinsic = instruction_of(op).intrinsic()  # type: ignore[union-attr]
    roles = [slot.role for slot in call.slots if not slot.attr]
    pieces = {role: [v for v, r in zip(op.operands, roles, strict=True) if r == role] for role in ("a", "b", "c")}
    wholes = {role: _bits_of(parts) for role, parts in pieces.items() if len(parts) > 1}
    joined = {role: whole for role, whole in wholes.items() if whole is not None}
    rebuilt = _rebuilt(op) if len(call.results) > 1 else None
    if not joined and rebuilt is None:
        return
    operands: dict[object, SSAValue] = {}
    for number, (value, role) in enumerate(zip(op.operands, roles, strict=True)):
        operands.setdefault(role if role in joined else number, joined.get(role, value))
    new = type(op).create(
        operands=list(operands.values()),
        result_types=[op.results[0].type if rebuilt is None else rebuilt.results[0].type],
        properties=dict(op.properties),
        attributes={**op.attributes, WHOLE: StringAttr(" ".join(joined))},
    )
    new.location = op.location
    assert op.parent is not None
    op.parent.insert_op_before(new, op)
    if rebuilt is not None:
        rebuilt.results[0].replace_all_uses_with(new.results[0])
        _erase(rebuilt, op)
    else:
        op.results[0].replace_all_uses_with(new.results[0])
        op.detach()
        op.erase(safe_erase=False)


def _bits_of(parts: Sequence[SSAValue]) -> SSAValue | None:
    """Return the vector whose bits the parts are, in order, whatever types they were cast to on the way."""
    vector = _source([_before_casts(part) for part in parts])
    if vector is None:
        return None
    origin = _before_casts(vector)
    # Elements below a byte are packed in memory, but not counted so.
    bits = getattr(origin.type.element_type, "bitwidth", 0) if isinstance(origin.type, VectorType) else 0
    return origin if bits >= 8 else vector


def _before_casts(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, Operation) and value.owner.name in ("vector.bitcast", "llvm.bitcast"):
        value = value.owner.operands[0]
    return value


def _erase(rebuilt: Operation, op: Operation) -> None:
    fields = [use.operation for use in op.results[0].uses]
    elements = [use.operation for field in fields for use in field.results[0].uses if use.operation is not rebuilt]
    for dead in (rebuilt, *elements, *fields, op):
        dead.detach()
        dead.erase(safe_erase=False)
