"""Functions of gfx1250's tensor data mover: descriptors by hand, loads, stores, waits.

`make_tdm_atom` does the same with tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flydsl.base.errors import DslValueError
from flydsl.expr import gpu
from flydsl.expr.numeric import Index, Int32, Int64, Uint32
from flydsl.expr.rocdl.memory.addresses import global_pointer, pointer_in
from flydsl.expr.rocdl.memory.tensor_descriptor import Options, TensorDescriptor, issue, pack, tile_descriptor
from flydsl.expr.tensors.ops_memory import ptrtoint
from flydsl.expr.trace.intrinsic import call, constant, operand_as, require
from flydsl.target.tensor_descriptor import (
    GATHER_FIRST_WORD,
    GATHER_MOST,
    GROUPS,
    VALID_TYPE,
    element_code,
    padding_codes,
    warp_split,
)

_CDNA5 = ("cdna5",)
PREFETCH_SCOPE_SE, PREFETCH_SCOPE_DEVICE = 8, 16
"""Cache bits of a prefetch: into the cache of the shader engine, or of the device."""


def _integer(value: Any) -> Any:
    return Int64(value) if isinstance(value, Index) else value


def make_tensor_descriptor_2d(
    global_ptr: Any, lds_memref: Any, global_offset: Sequence[Any], tensor_shape: Sequence[Any], strides: Sequence[Any],
    tile_shape: Sequence[int], elem_bytes: int = 2, pad_interval: int = 0, pad_amount: int = 0, num_warps: int = 1,
    *, workgroup_mask: Any = 0, cache_policy: int = 0, pred: Any = 1, lds_byte_offset: Any = 0,
    atomic_barrier_enable: bool = False, atomic_barrier: Any = None, early_timeout: bool = False,
    oob_outer_bound: Any = None, valid_inner: Any = None,
) -> TensorDescriptor:  # fmt: skip
    """Return the descriptor of a tile of rows: (outer, inner) offsets, strides and sizes in elements.

    ``tensor_shape`` is how much of the tensor there is from the tile's start. ``oob_outer_bound`` gives the number of
    rows of the whole tensor instead, ``valid_inner`` the columns from the tile's start. ``num_warps`` waves share the
    tile; ``pad_amount`` elements are left free in LDS after every ``pad_interval``.
    """
    offsets = [_integer(x) for x in global_offset]
    steps = [_integer(x) for x in strides]
    outer, inner = (_integer(x) for x in tensor_shape)
    if oob_outer_bound is not None:
        outer = Int32(oob_outer_bound) - Int32(offsets[0])
    if valid_inner is not None:
        inner = valid_inner
    if atomic_barrier_enable and atomic_barrier is None:
        raise DslValueError(
            "the descriptor signals a barrier in LDS, which is not given", hint="pass atomic_barrier=ptr"
        )
    barrier = None if atomic_barrier is None else ptrtoint(pointer_in(atomic_barrier, "shared", "the barrier"))
    options = Options(
        elem_bytes, num_warps, pad_interval, pad_amount, workgroup_mask, early_timeout, cache_policy, barrier, pred
    )
    start = Int64(offsets[0]) * Int64(steps[0]) + Int64(offsets[1])
    lds_bytes = 0 if lds_byte_offset is None else _integer(lds_byte_offset)
    return tile_descriptor(global_ptr, lds_memref, tuple(tile_shape), (outer, inner), steps, options, start, lds_bytes)


def make_tensor_gather_descriptor(
    global_ptr: Any, lds_memref: Any, row_indices: Sequence[Any], row_width: int, tensor_dim0: Any, tensor_dim1: Any,
    stride: Any, elem_bytes: int = 1, pad_interval: int = 0, pad_amount: int = 0, index_size: int = 32,
    gather_tile_dim1: Any = None, lds_byte_offset: Any = None, global_byte_offset: Any = None, workgroup_mask: Any = 0,
) -> TensorDescriptor:  # fmt: skip
    """Return the descriptor of rows picked by number: up to 8 numbers of 32 bits or 16 of 16 bits.

    Each row has ``row_width`` elements in LDS. ``tensor_dim0`` and ``tensor_dim1`` are the width and the number of
    rows of the tensor; rows with a higher number arrive as zeros.
    """
    require("the tensor data mover", "rocm", _CDNA5)
    if index_size not in GATHER_MOST or not 1 <= len(row_indices) <= GATHER_MOST[index_size]:
        raise DslValueError(
            f"a gather takes up to 8 rows of 32-bit numbers or 16 of 16-bit ones, got {len(row_indices)}"
        )
    codes = padding_codes(pad_interval, pad_amount, elem_bytes)
    address = Int64(ptrtoint(pointer_in(global_ptr, "global", "the tensor")))
    place = Int32(ptrtoint(pointer_in(lds_memref, "shared", "the tile in LDS")))
    fields: dict[str, Any] = {
        "count": 1, "gather": 1, "gather_wide": int(index_size == 32), "type": VALID_TYPE,
        "global_address": address if global_byte_offset is None else address + Int64(global_byte_offset),
        "lds_address": place if lds_byte_offset is None else place + Int32(lds_byte_offset),
        "data_size": element_code(elem_bytes), "workgroup_mask": workgroup_mask, "dim0": _integer(tensor_dim0),
        "dim1": _integer(tensor_dim1), "tile0": row_width, "stride0": _integer(stride),
        "tile1": len(row_indices) if gather_tile_dim1 is None else gather_tile_dim1,
    }  # fmt: skip
    if codes is not None:
        fields |= {"pad_enable": 1, "pad_interval": codes[0], "pad_amount": codes[1]}
    words = list(pack(fields))
    per_word = 32 // index_size
    for index, row in enumerate(row_indices):
        word, part = GATHER_FIRST_WORD + index // per_word, index % per_word
        number = Uint32(_integer(row))
        number = number & 0xFFFF if per_word == 2 else number
        moved = number << 16 if part else number
        words[word] = moved if part == 0 else Uint32(words[word]) | moved
    return TensorDescriptor(tuple(words), 3, codes is not None)


def tensor_load_2d(desc: TensorDescriptor, cache_policy: int | None = None) -> None:
    """Fetch a descriptor's tile into LDS; wait with `tensor_wait`."""
    issue(desc, False, cache_policy)


def tensor_store_2d(desc: TensorDescriptor, cache_policy: int | None = None) -> None:
    """Write a tile from LDS to where its descriptor says; wait with `tensor_wait`."""
    issue(desc, True, cache_policy)


tensor_load_gather, tensor_store_gather = tensor_load_2d, tensor_store_2d


def tensor_load_to_lds(dgroup0: Any, dgroup1: Any, dgroup2: Any, dgroup3: Any, cache_policy: int = 0) -> None:
    """The load itself, on the four groups of a descriptor's words."""
    _raw("load.to.lds", (dgroup0, dgroup1, dgroup2, dgroup3), cache_policy)


def tensor_store_from_lds(dgroup0: Any, dgroup1: Any, dgroup2: Any, dgroup3: Any, cache_policy: int = 0) -> None:
    """The store itself, on the four groups of a descriptor's words."""
    _raw("store.from.lds", (dgroup0, dgroup1, dgroup2, dgroup3), cache_policy)


def _raw(name: str, groups: Sequence[Any], cache_policy: int) -> None:
    require("the tensor data mover", "rocm", _CDNA5)
    operands = [
        operand_as(group, f"vector<{n}xi32>", "a tensor instruction") for group, n in zip(groups, GROUPS, strict=True)
    ]
    call(f"llvm.amdgcn.tensor.{name}", [*operands, constant("i32", cache_policy, "the cache policy", 0, 31)])


def tensor_wait(count: int = 0) -> None:
    """Wait until at most ``count`` tile copies of this wave are outstanding."""
    require("tensor_wait", "rocm", _CDNA5)
    call("llvm.amdgcn.s.wait.tensorcnt", [constant("i16", count, "the count", 0, 63)])


# Moving a descriptor on ------------------------------------------------------------------------


def update_tensor_descriptor_2d_addr(desc: TensorDescriptor, new_global_addr: Any) -> TensorDescriptor:
    """Return the same descriptor for a tile at another global address."""
    return desc.with_fields(global_address=Int64(_integer(new_global_addr)))


def update_tensor_descriptor_2d_lds_addr(desc: TensorDescriptor, new_lds_addr: Any) -> TensorDescriptor:
    """Return the same descriptor for another place in LDS."""
    return desc.with_fields(lds_address=Int32(new_lds_addr))


def add_addr_with_carry(base_addr_lo: Any, base_addr_hi: Any, delta: Any) -> tuple[Int32, Int32]:
    """Return the two words of a descriptor's global address moved by some bytes; the bits above the address stay."""
    low, high = Uint32(base_addr_lo), Uint32(base_addr_hi)
    address = (Int64(high & 0x1FFFFFF) << 32 | Int64(low)) + Int64(_integer(delta))
    kept = high & 0xFE000000
    return Int32(address), Int32(Uint32(address >> 32) & 0x1FFFFFF | kept)


def compute_padding_encoding(pad_interval: int, pad_amount: int, elem_bytes: int = 2) -> tuple[int, int]:
    """Return the fields (interval, amount) of a descriptor for padding counted in elements."""
    codes = padding_codes(pad_interval, pad_amount, elem_bytes)
    if codes is None:
        raise DslValueError("padding needs an interval and an amount above zero")
    return codes


def compute_warp_distribution(tile_shape: Sequence[int], num_warps: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return (waves along each dimension, each wave's part of the tile)."""
    return warp_split(tuple(tile_shape), num_warps)


def l2_prefetch_tile(
    global_ptr: Any, global_offset: Sequence[Any], tile_shape: Sequence[int], strides: Sequence[Any],
    elem_bytes: int = 2, num_warps: int = 1, wave_id: Any = None, thread_id: Any = None, block_threads: int = 256,
    scope: int = PREFETCH_SCOPE_SE,
) -> None:  # fmt: skip
    """Ask for a tile's rows in the cache before they are used: thread i touches row i, modulo the rows."""
    require("a prefetch into the cache", "rocm", _CDNA5)
    if thread_id is None:
        thread_id = gpu.thread_idx.x
    row = Int32(_integer(thread_id)) % tile_shape[0]
    steps = [_integer(x) for x in strides]
    offset = (Int64(_integer(global_offset[0])) + Int64(row)) * Int64(steps[0]) + Int64(_integer(global_offset[1]))
    base = Int64(ptrtoint(pointer_in(global_ptr, "global", "the tensor"))) + offset * elem_bytes
    call("llvm.amdgcn.global.prefetch", [global_pointer(base), constant("i32", scope, "the cache bits", 0, 31)])


__all__ = [
    "TensorDescriptor", "add_addr_with_carry", "compute_padding_encoding", "compute_warp_distribution",
    "l2_prefetch_tile", "make_tensor_descriptor_2d", "make_tensor_gather_descriptor", "tensor_load_2d",
    "tensor_load_gather", "tensor_load_to_lds", "tensor_store_2d", "tensor_store_from_lds", "tensor_store_gather",
    "tensor_wait", "update_tensor_descriptor_2d_addr", "update_tensor_descriptor_2d_lds_addr",
]  # fmt: skip
