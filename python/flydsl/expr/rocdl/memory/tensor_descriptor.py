"""Descriptors of gfx1250's tensor data mover, built from numbers known while tracing or at run time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.base.records import dataclass, replace
from flydsl.expr.arith import maxsi
from flydsl.expr.numeric import Int32, Int64, Numeric, Uint32, Uint64
from flydsl.expr.rocdl.lanes import wave_id
from flydsl.expr.rocdl.memory.addresses import pointer_in
from flydsl.expr.tensors.ops_memory import ptrtoint
from flydsl.expr.trace.context import Value
from flydsl.expr.trace.intrinsic import call, constant, require
from flydsl.expr.vector import Vector
from flydsl.target.tensor_descriptor import (
    FIELDS,
    GROUPS,
    MOST_RANK,
    VALID_TYPE,
    WORDS,
    element_code,
    padding_codes,
    warp_split,
)

Number = Any
"""A Python int or a run-time integer."""


@dataclass(frozen=True)
class TensorDescriptor:
    """The words of a descriptor; ``padded`` is whether it leaves gaps in LDS, which only loads can."""

    words: tuple[Number, ...]
    rank: int
    padded: bool = False
    cache_policy: int = 0

    def group(self, index: int) -> Vector:
        """Return one of the four groups of words, as the instruction takes it."""
        start = sum(GROUPS[:index])
        return Vector.from_elements([Int32(word) for word in self.words[start : start + GROUPS[index]]], Int32)

    def with_fields(self, **fields: Number) -> TensorDescriptor:
        """Return the same descriptor with some fields replaced."""
        touched = {piece.word for name in fields for piece in FIELDS[name]}
        words = list(self.words)
        for name, value in fields.items():
            for piece in FIELDS[name]:
                keep = 0xFFFFFFFF & ~(((1 << piece.bits) - 1) << piece.place)
                words[piece.word] = _or(_and(words[piece.word], keep), _part(name, value, piece))
        assert touched
        return replace(self, words=tuple(words))


def _and(word: Number, mask: int) -> Number:
    return word & mask if isinstance(word, int) else Uint32(word) & mask if mask else 0


def _or(left: Number, right: Number) -> Number:
    if isinstance(left, int) and isinstance(right, int):
        return left | right
    if isinstance(left, int) and left == 0:
        return right
    if isinstance(right, int) and right == 0:
        return left
    return Uint32(left) | Uint32(right)


def _part(name: str, value: Number, piece: Any) -> Number:
    """Return the bits of a field that go into one word, in their place."""
    mask = (1 << piece.bits) - 1
    found = value.value if isinstance(value, Numeric) and value.is_static() else value
    if isinstance(found, int):
        if found < 0 or found >> sum(p.bits for p in FIELDS[name]):
            raise DslValueError(f"{found} does not fit the field {name} of a tensor descriptor")
        return ((found >> piece.low) & mask) << piece.place
    wide = Uint64(value) if value.width == 64 else Uint32(value)
    if piece.low >= wide.width:
        return 0
    moved = Uint32(wide >> piece.low if piece.low else wide)
    if piece.bits < 32:
        moved = moved & mask
    return moved << piece.place if piece.place else moved


def pack(fields: Mapping[str, Number]) -> tuple[Number, ...]:
    """Return the twenty words of a descriptor with these fields."""
    words: list[Number] = [0] * WORDS
    for name, value in fields.items():
        for piece in FIELDS[name]:
            words[piece.word] = _or(words[piece.word], _part(name, value, piece))
    return tuple(words)


@dataclass(frozen=True)
class Options:
    """What a descriptor says beside places and sizes; padding counts elements."""

    elem_bytes: int
    num_warps: int = 1
    pad_interval: int = 0
    pad_amount: int = 0
    workgroup_mask: Number = 0
    early_timeout: bool = False
    cache_policy: int = 0
    barrier: Number | None = None
    pred: Number = 1


def _flags(options: Options) -> dict[str, Number]:
    codes = padding_codes(options.pad_interval, options.pad_amount, options.elem_bytes)
    found: dict[str, Number] = {
        "count": options.pred, "type": VALID_TYPE, "data_size": element_code(options.elem_bytes),
        "workgroup_mask": options.workgroup_mask, "early_timeout": int(options.early_timeout),
    }  # fmt: skip
    if codes is not None:
        found |= {"pad_enable": 1, "pad_interval": codes[0], "pad_amount": codes[1]}
    if options.barrier is not None:
        found |= {"barrier_enable": 1, "barrier_address": _and(Int32(options.barrier) >> 3, 0xFFFF)}
    return found


def _wave_offsets(waves: Sequence[int], part: Sequence[int]) -> list[Number]:
    """Return where this wave's part of a tile begins along each dimension, slowest first."""
    if prod(waves) == 1:
        return [0] * len(waves)
    number, offsets = wave_id() % prod(waves), []
    for index, (count, size) in enumerate(zip(waves, part, strict=True)):
        inner = prod(waves[index + 1 :])
        offsets.append((number // inner % count) * size if count > 1 else 0)
    return offsets


def _times(left: Number, right: Number) -> Number:
    if any(isinstance(x, int) and x == 0 for x in (left, right)):
        return 0
    return left * right if isinstance(left, int) and isinstance(right, int) else Int64(left) * Int64(right)


def _plus(left: Number, right: Number) -> Number:
    if isinstance(right, int) and right == 0:
        return left
    if isinstance(left, int) and left == 0:
        return right
    return left + right if isinstance(left, int) and isinstance(right, int) else Int64(left) + Int64(right)


def _remaining(extent: Number, offset: Number) -> Number:
    """Return how much of an extent lies behind an offset, never below zero."""
    if isinstance(offset, int) and isinstance(extent, int):
        return max(extent - offset, 0)
    return maxsi(Int32(extent) - Int32(offset), Int32(0))


def _padded_bytes(elements: Number, options: Options) -> Number:
    """Bytes in LDS from a tile's start to an element, padding counted in."""
    plain = _times(elements, options.elem_bytes)
    if not options.pad_interval or not options.pad_amount:
        return plain
    if isinstance(elements, int):
        gaps: Number = elements // options.pad_interval
    else:
        gaps = Int64(elements) // options.pad_interval
    return _plus(plain, _times(gaps, options.pad_amount * options.elem_bytes))


def tile_descriptor(
    source: Any, lds: Any, tile: Sequence[int], extents: Sequence[Number], strides: Sequence[Number], options: Options,
    offset: Number = 0, lds_bytes: Number = 0,
) -> TensorDescriptor:  # fmt: skip
    """Return the descriptor of a tile, dimensions slowest first: extents count from the tile's start, the last stride
    is 1."""
    require("the tensor data mover", "rocm", ("cdna5",))
    rank = len(tile)
    if not 1 <= rank <= MOST_RANK or not len(extents) == len(strides) == rank:
        raise DslValueError(f"a tile has 1 to {MOST_RANK} dimensions with an extent and a stride each, got {tile}")
    if not isinstance(strides[-1], int) or strides[-1] != 1:
        raise DslValueError(f"the tensor data mover needs stride 1 in the last dimension, got {strides[-1]}")
    waves, part = warp_split(tuple(tile), options.num_warps)
    starts = _wave_offsets(waves, part)
    elements: Number = offset
    linear: Number = 0
    for index, (start, stride) in enumerate(zip(starts, strides, strict=True)):
        elements = _plus(elements, _times(start, stride))
        linear = _plus(linear, _times(start, prod(tile[index + 1 :])))
    if options.pad_interval and options.num_warps > 1 and prod(part) % options.pad_interval:
        raise DslValueError(
            f"each of {options.num_warps} waves fetches {prod(part)} elements, no multiple of the padding interval "
            f"{options.pad_interval}"
        )
    address = Int64(ptrtoint(pointer_in(source, "global", "the tensor")))
    place = Int32(ptrtoint(pointer_in(lds, "shared", "the tile in LDS")))
    inner = _plus(_padded_bytes(linear, options), lds_bytes)
    fields = _flags(options) | {
        "global_address": _plus(address, _times(elements, options.elem_bytes)),
        "lds_address": place if isinstance(inner, int) and inner == 0 else place + Int32(inner),
    }
    for index in range(rank):
        dim = rank - 1 - index
        fields[f"dim{dim}"] = _remaining(extents[index], starts[index])
        fields[f"tile{dim}"] = part[index]
        if dim > 0:
            fields[f"stride{dim - 1}"] = strides[index]
    return TensorDescriptor(pack(fields), rank, bool(options.pad_interval and options.pad_amount), options.cache_policy)


def issue(descriptor: TensorDescriptor, store: bool, cache_policy: int | None = None) -> None:
    """The instruction: a tile into LDS, or out of it."""
    require("the tensor data mover", "rocm", ("cdna5",))
    if not isinstance(descriptor, TensorDescriptor):
        raise DslTypeError(f"expected a tensor descriptor, got {type(descriptor).__name__}")
    if store and descriptor.padded:
        raise DslValueError(
            "the tensor data mover leaves gaps in LDS only when it loads",
            hint="make a descriptor without padding for the store",
        )
    name = "store.from.lds" if store else "load.to.lds"
    policy = descriptor.cache_policy if cache_policy is None else cache_policy
    code = constant("i32", policy, "the cache policy", 0, 31)
    if descriptor.rank <= 2:
        operands: list[Value] = [descriptor.group(i).ir_value() for i in range(2)]
        call(f"llvm.amdgcn.tensor.{name}.d2", [*operands, code])
        return
    call(f"llvm.amdgcn.tensor.{name}", [*(descriptor.group(i).ir_value() for i in range(4)), code])
