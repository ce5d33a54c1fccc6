"""Registers that an instruction takes one by one are vectors again before the host sees them.

wgmma and the wait for it pass up to 128 accumulators as scalars, taken from a vector and put back into one. The host
has them in memory anyway; moving them through scalars would only cost compile time.

    %s = asm(extract %v[0], extract %v[1], …) ; %w = from_elements(extractvalue %s[0], …)   ->   %w = asm(%v)
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from flydsl.backends.host.fibers import ptx_name
from flydsl.codegen.op_view import ints_prop
from flydsl.passes.canonicalize import drop_dead
from flydsl.passes.matrix_atoms import INSTRUCTION

_WGMMA = "!fly_nvvm.sm90.wgmma"
_PASSED = "wgmma.wait_group"


def rejoin_vectors(kernel: Operation) -> None:
    """Run on the body of a kernel."""
    for op in list(kernel.walk()):
        if op.name != "llvm.inline_asm" or not op.results:
            continue
        name = op.attributes.get(INSTRUCTION)
        if ptx_name(op) == _PASSED or (isinstance(name, StringAttr) and name.data.startswith(_WGMMA)):
            _join(op)
    for region in kernel.regions:
        drop_dead(region)


def _source(values: Sequence[SSAValue]) -> SSAValue | None:
    """The vector whose elements these are, in order."""
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
    """The `from_elements` that puts all fields of a struct back into a vector."""
    fields = [use.operation for use in op.results[0].uses]
    users = {use.operation for field in fields for result in field.results for use in result.uses}
    if not all(field.name == "llvm.extractvalue" for field in fields) or len(users) != 1:
        return None
    (user,) = users
    return user if user.name == "vector.from_elements" and len(user.operands) == len(fields) else None


def _join(op: Operation) -> None:
    """An instruction that takes its accumulators last, and gives them, as one vector."""
    rebuilt = _rebuilt(op)
    if rebuilt is None:
        return
    count = len(rebuilt.operands)
    vector = _source(op.operands[-count:])
    if vector is None:
        return
    joined = type(op).create(
        operands=[*op.operands[:-count], vector],
        result_types=[vector.type],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
    )
    joined.location = op.location
    assert op.parent is not None
    op.parent.insert_op_before(joined, op)
    rebuilt.results[0].replace_all_uses_with(joined.results[0])
    _erase(rebuilt, op)


def _erase(rebuilt: Operation, op: Operation) -> None:
    fields = [use.operation for use in op.results[0].uses]
    for dead in (rebuilt, *fields, op):
        dead.detach()
        dead.erase(safe_erase=False)
