"""A tensor's elements as one vector: as few and as wide accesses as its layout allows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from xdsl.dialects.builtin import UnitAttr, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from flydsl.dialects.fly import rules
from flydsl.dialects.fly.types import element_type, vector_type
from flydsl.dialects.upstream import integers
from flydsl.layout import coords
from flydsl.layout import int_tuple as it
from flydsl.layout.accesses import Access, accesses, distinct, offsets, spots
from flydsl.layout.tensor import Tensor
from flydsl.passes.shared.insertion import Inserter
from flydsl.passes.shared.ssa_leaf import WIDEST_BYTES, SsaPointer
from flydsl.passes.shared.walk import KEPT, sanitizes
from flydsl.target.dtype import storage_bytes, width_bits

Mask = Sequence[int]
"""Which predicate of a vector of them decides about each element."""


def runs(offsets: Sequence[Any]) -> list[tuple[int, int]]:
    """Return (first, count) of maximal stretches of consecutive static offsets."""
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(offsets):
        count = 1
        while (
            at + count < len(offsets)
            and isinstance(offsets[at], int)
            and isinstance(offsets[at + count], int)
            and offsets[at + count] == offsets[at] + count
        ):
            count += 1
        found.append((at, count))
        at += count
    return found


def _offset(tensor: Tensor, position: int) -> Any:
    return it.leaves(coords.crd2idx(position, tensor.layout))[0]


def element_accesses(tensor: Tensor, mask: Mask | None = None, writes: bool = False) -> list[Access]:
    """Return the accesses that move a tensor in memory: `layout.accesses` with what is known of its pointer."""
    pointer = tensor.iter
    size = storage_bytes(pointer.elem)
    widest = WIDEST_BYTES if width_bits(pointer.elem) >= 8 else size
    return accesses(spots(tensor.layout), size, pointer.align, widest, mask, writes, pointer.swizzle is not None)


def _register_accesses(tensor: Tensor) -> list[Access]:
    layout = tensor.layout
    found = offsets(layout) if layout.is_static else [_offset(tensor, i) for i in range(rules.size(tensor))]
    return [Access(tuple(range(first, first + count)), 0) for first, count in runs(found)]


def _start(tensor: Tensor, access: Access) -> SsaPointer:
    """Return where an access begins. Its offset is worked out here, the pointer when its value is asked for."""
    start = tensor.iter.add_offset(_offset(tensor, access.positions[0]))
    start.offset()
    return start


def _load_access(at: Inserter, tensor: Tensor, access: Access, start: SsaPointer) -> SSAValue:
    elem, count = tensor.iter.elem, len(access.positions)
    type_ = vector_type(count, elem) if count > 1 else element_type(elem)
    return at.fly("ptr.load", [start.value()], [type_])


def load_elements(at: Inserter, tensor: Tensor) -> SSAValue:
    """Return all elements of a memory tensor as a vector."""
    made = _register_accesses(tensor) if tensor.iter.space == "register" else element_accesses(tensor)
    pieces = [(_load_access(at, tensor, a, _start(tensor, a)), len(a.positions)) for a in made]
    return _in_order(at, concatenate(at, pieces, tensor.iter.elem), made, tensor)


def _in_order(at: Inserter, found: SSAValue, made: Sequence[Access], tensor: Tensor) -> SSAValue:
    """Return what accesses loaded, one after the other, as the elements in their order; those in one spot were loaded
    once."""
    where = {position: i for i, position in enumerate(p for access in made for p in access.positions)}
    count = rules.size(tensor)
    if len(where) < count:
        here = spots(tensor.layout)
        leader = distinct(here, keep_last=False)
        where = {position: where[leader[spot]] for position, spot in enumerate(here)}
    picks = [where[position] for position in range(count)]
    if picks == list(range(count)) and len(where) == count and _length(found) == count:
        return found
    return shuffle(at, found, found, picks, tensor.iter.elem)


def _length(vector: SSAValue) -> int:
    return vector.type.get_shape()[0]  # type: ignore[union-attr]


def concatenate(at: Inserter, pieces: list[tuple[SSAValue, int]], elem: str, *, vectors_only: bool = False) -> SSAValue:
    """Scalars and vectors of one element type joined into one vector; ``vectors_only``: all of them are vectors."""
    total = sum(count for _, count in pieces)
    if len(pieces) == 1 and total > 1:
        return pieces[0][0]
    if not vectors_only and all(count == 1 for _, count in pieces):
        return at.op("vector.from_elements", [value for value, _ in pieces], [vector_type(total, elem)])
    vectors = [(value if vectors_only else as_vector(at, value, count, elem), count) for value, count in pieces]
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
    """Return the same bits as another scalar or vector type; bits that were cast before are taken from where they
    came."""
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
    """Write a vector over all elements of a memory tensor; of those in one spot the last one stays."""
    made = _register_accesses(tensor) if tensor.iter.space == "register" else element_accesses(tensor, writes=True)
    for access in made:
        at.fly("ptr.store", [picked(at, vector, access.positions, tensor.iter.elem), _start(tensor, access).value()])


def picked(at: Inserter, vector: SSAValue, positions: Sequence[int], elem: str) -> SSAValue:
    """Some elements of a vector: a scalar when just one."""
    first, count = positions[0], len(positions)
    if tuple(positions) == tuple(range(first, first + count)):
        return piece(at, vector, first, count, elem)
    return shuffle(at, vector, vector, positions, elem)


# Under a mask ----------------------------------------------------------------------------------


def _masked_accesses(tensor: Tensor, mask: Mask, writes: bool) -> list[Access]:
    """Return the accesses, none of which two predicates decide about; elements in one spot stay apart if theirs
    differ."""
    if len(set(mask)) > 1 and len(set(spots(tensor.layout))) < len(mask):
        return [Access((position,), 0) for position in range(len(mask))]
    return element_accesses(tensor, mask, writes)


def _by_flag(made: Sequence[Access], mask: Mask) -> list[tuple[int, list[Access]]]:
    """Accesses that follow each other under one predicate, so that stores to one spot stay in their order."""
    return [(flag, list(group)) for flag, group in groupby(made, lambda access: mask[access.positions[0]])]


def load_masked(at: Inserter, tensor: Tensor, flags: SSAValue, mask: Mask, other: SSAValue) -> SSAValue:
    """Return all elements as a vector; where a predicate is false memory is not read and the element is that of
    ``other``."""
    elem = tensor.iter.elem
    if tensor.iter.space == "register":
        return select_elements(at, flags, mask, load_elements(at, tensor), other, elem)
    pieces: list[tuple[SSAValue, int]] = []
    order: list[Access] = []
    for flag, group in _by_flag(_masked_accesses(tensor, mask, writes=False), mask):
        positions = tuple(p for access in group for p in access.positions)
        starts = [_start(tensor, access) for access in group]

        def load(group: list[Access] = group, starts: list[SsaPointer] = starts) -> SSAValue:
            made = [_load_access(at, tensor, *pair) for pair in zip(group, starts, strict=True)]
            return concatenate(at, [(value, len(a.positions)) for value, a in zip(made, group, strict=True)], elem)

        kept = as_vector(at, picked(at, other, positions, elem), len(positions), elem)
        value = at.when(extract(at, flags, flag, "i1"), load, kept)
        assert value is not None
        pieces.append((value, len(positions)))
        order.append(Access(positions, 0))
    joined = pieces[0][0] if len(pieces) == 1 else concatenate(at, pieces, elem, vectors_only=True)
    return _in_order(at, joined, order, tensor)


def store_masked(at: Inserter, vector: SSAValue, tensor: Tensor, flags: SSAValue, mask: Mask) -> None:
    """Write the elements of a vector whose predicate holds."""
    elem = tensor.iter.elem
    if tensor.iter.space == "register":
        held = held_elements(at, tensor)
        store_elements(at, select_elements(at, flags, mask, vector, held, elem), tensor)
        return
    for flag, group in _by_flag(_masked_accesses(tensor, mask, writes=True), mask):
        starts = [_start(tensor, access) for access in group]

        def store(group: list[Access] = group, starts: list[SsaPointer] = starts) -> None:
            for access, start in zip(group, starts, strict=True):
                at.fly("ptr.store", [picked(at, vector, access.positions, elem), start.value()])

        at.when(extract(at, flags, flag, "i1"), store, None)


def select_elements(
    at: Inserter, flags: SSAValue, mask: Mask, then: SSAValue, otherwise: SSAValue, elem: str
) -> SSAValue:
    """Element by element one of two vectors, or all of one where there is a single predicate."""
    if _length(flags) == 1:
        condition = extract(at, flags, 0, "i1")
    else:
        condition = flags if list(mask) == list(range(_length(flags))) else shuffle(at, flags, flags, mask, "i1")
    return at.op("arith.select", [condition, then, otherwise], [then.type])


def held_elements(at: Inserter, tensor: Tensor) -> SSAValue:
    """Return what registers hold now, to be put back where a predicate is false: it may be nothing yet."""
    assert at.anchor is not None
    before = at.anchor.prev_op
    value = load_elements(at, tensor)
    if sanitizes(at.anchor):
        op = before.next_op if before is not None else at.anchor.parent.first_op  # type: ignore[union-attr]
        while op is not None and op is not at.anchor:
            op.attributes[KEPT] = UnitAttr()
            op = op.next_op
    return value
