"""A tensor's elements as one vector: as few and as wide accesses as its layout allows."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from flydsl.dialects.fly import rules
from flydsl.dialects.fly.types import element_type, vector_type
from flydsl.dialects.upstream import integers
from flydsl.layout import coords
from flydsl.layout import int_tuple as it
from flydsl.layout.tensor import Tensor
from flydsl.passes.shared.insertion import Inserter
from flydsl.passes.shared.ssa_leaf import SsaPointer
from flydsl.target.dtype import storage_bytes, width_bits

WIDEST_BYTES = 16
"""The widest access of one thread to memory; registers have no such limit."""


def runs(offsets: list[Any], longest: int) -> list[tuple[int, int]]:
    """(first, count) of maximal stretches of consecutive static offsets, each a power of two long."""
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(offsets):
        count = 1
        while (
            count < longest
            and at + count < len(offsets)
            and isinstance(offsets[at], int)
            and isinstance(offsets[at + count], int)
            and offsets[at + count] == offsets[at] + count
        ):
            count += 1
        count = 1 << (count.bit_length() - 1) if longest < 1 << 16 else count
        found.append((at, count))
        at += count
    return found


def element_offsets(tensor: Tensor) -> tuple[SsaPointer, list[Any]]:
    """A base pointer and each element's offset from it, in column-major coordinate order."""
    offsets = [it.leaves(coords.crd2idx(i, tensor.layout))[0] for i in range(rules.size(tensor))]
    return tensor.iter, offsets


def _longest(tensor: Tensor) -> int:
    if tensor.iter.space == "register":
        return 1 << 16
    size = storage_bytes(tensor.iter.elem)
    return max(WIDEST_BYTES // size, 1) if width_bits(tensor.iter.elem) >= 8 else 1


def _dynamic_runs(tensor: Tensor, offsets: list[Any]) -> list[tuple[int, int]]:
    """Runs along a leading contiguous mode when other strides are known only at run time."""
    if all(isinstance(o, int) for o in offsets):
        return runs(offsets, _longest(tensor))
    flat = tensor.layout.flat() if hasattr(tensor.layout, "flat") else []
    lead = next(((s, d) for s, d in flat if s != 1), (1, 0))
    if lead[1] != 1 or not isinstance(lead[0], int):
        return [(i, 1) for i in range(len(offsets))]
    step = 1
    while step * 2 <= _longest(tensor) and lead[0] % (step * 2) == 0:
        step *= 2
    return [(i, step) for i in range(0, len(offsets), step)]


def load_elements(at: Inserter, tensor: Tensor) -> SSAValue:
    """All elements of a memory tensor as a vector."""
    base, offsets = element_offsets(tensor)
    elem = base.elem
    pieces: list[tuple[SSAValue, int]] = []
    for first, count in _dynamic_runs(tensor, offsets):
        pointer = base.add_offset(offsets[first])
        type_ = vector_type(count, elem) if count > 1 else element_type(elem)
        pieces.append((at.fly("ptr.load", [pointer.value()], [type_]), count))
    return concatenate(at, pieces, elem)


def concatenate(at: Inserter, pieces: list[tuple[SSAValue, int]], elem: str) -> SSAValue:
    """Scalars and vectors of one element type joined into one vector."""
    total = sum(count for _, count in pieces)
    if len(pieces) == 1 and total > 1:
        return pieces[0][0]
    if all(count == 1 for _, count in pieces):
        return at.op("vector.from_elements", [value for value, _ in pieces], [vector_type(total, elem)])
    vectors = [(as_vector(at, value, count, elem), count) for value, count in pieces]
    while len(vectors) > 1:
        paired = [_join(at, *vectors[i : i + 2], elem) for i in range(0, len(vectors) - 1, 2)]
        vectors = paired + vectors[len(paired) * 2 :]
    return vectors[0][0]


def as_vector(at: Inserter, value: SSAValue, count: int, elem: str) -> SSAValue:
    return value if count > 1 else at.op("vector.from_elements", [value], [vector_type(1, elem)])


def _join(at: Inserter, a: tuple[SSAValue, int], b: tuple[SSAValue, int], elem: str) -> tuple[SSAValue, int]:
    total = a[1] + b[1]
    return shuffle(at, a[0], b[0], range(total), elem), total


def shuffle(at: Inserter, a: SSAValue, b: SSAValue, mask: Any, elem: str) -> SSAValue:
    picks = list(mask)
    properties = {"mask": integers(64, *picks)}
    return at.op("vector.shuffle", [a, b], [vector_type(len(picks), elem)], properties)


def cast_bits(at: Inserter, value: SSAValue, type_: Attribute) -> SSAValue:
    """The same bits as another scalar or vector type; bits that were cast before are taken from where they came."""
    if value.type == type_:
        return value
    made = value.owner
    if isinstance(made, Operation) and made.name == "vector.bitcast" and made.operands[0].type == type_:
        return made.operands[0]
    both = isinstance(value.type, VectorType) and isinstance(type_, VectorType)
    return at.op("vector.bitcast" if both else "llvm.bitcast", [value], [type_])


def extract(at: Inserter, vector: SSAValue, index: int, elem: str) -> SSAValue:
    properties = {"static_position": integers(64, index)}
    return at.op("vector.extract", [vector], [element_type(elem)], properties)


def piece(at: Inserter, vector: SSAValue, first: int, count: int, elem: str) -> SSAValue:
    """Elements [first, first + count) of a vector: a scalar when just one."""
    length = vector.type.get_shape()[0]  # type: ignore[union-attr]
    if count == length:
        return extract(at, vector, 0, elem) if count == 1 else vector
    if count == 1:
        return extract(at, vector, first, elem)
    return shuffle(at, vector, vector, range(first, first + count), elem)


def store_elements(at: Inserter, vector: SSAValue, tensor: Tensor) -> None:
    """Write a vector over all elements of a memory tensor."""
    base, offsets = element_offsets(tensor)
    for first, count in _dynamic_runs(tensor, offsets):
        pointer = base.add_offset(offsets[first])
        at.fly("ptr.store", [piece(at, vector, first, count, base.elem), pointer.value()])
