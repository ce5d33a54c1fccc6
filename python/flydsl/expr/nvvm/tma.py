"""TMA: asynchronous copies of whole boxes between global and shared memory by one thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.numeric import Int16, Int32
from flydsl.expr.nvvm.barriers import issue, shared_address
from flydsl.expr.nvvm.tensor_map import TensorMap
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.tensors.tensor import pointer_of
from flydsl.expr.trace.context import Value
from flydsl.layout import recast
from flydsl.layout.swizzle import ComposedLayout, Swizzle
from flydsl.target.copy_nvvm import L2Priority
from flydsl.target.dtype import storage_bytes
from flydsl.target.mma_warpgroup import SWIZZLE_MODES
from flydsl.target.tensor_map import REDUCTIONS

Reduction = Literal["add", "min", "max"]
"""What the copy engine combines with memory."""

BULK_STEP = 16
"""Bytes that copies move at least, and where they start: at multiples of them."""


def checked_map(tensor_map: Any) -> TensorMap:
    """Return a tensor map as it is; anything else is refused."""
    if not isinstance(tensor_map, TensorMap):
        raise DslTypeError(
            f"TMA takes a tensor map, got {type(tensor_map).__name__}",
            hint="make it in the jit function: fx.nvvm.make_tensor_map(tensor, box)",
        )
    return tensor_map


def _place(tensor_map: TensorMap, place: Any, what: str) -> Value:
    """Return the address of a box in shared memory; memory seen through another swizzle than the map's is refused."""
    found, wanted = _swizzle(place), SWIZZLE_MODES[tensor_map.facts.swizzle].swizzle
    if found is not None and found != wanted:
        raise DslValueError(
            f"{what} is swizzled by {found}, but the tensor map by {wanted} ({tensor_map.facts.swizzle})",
            hint="view it through fx.apply_swizzle(ptr, map.swizzle), or make the map with the other swizzle",
        )
    return shared_address(place, what)


def _swizzle(place: Any) -> Any:
    """Return the swizzle that a place is seen through, in bytes: its pointer's, or that of a composed layout."""
    payload = getattr(place, "payload", None)
    layout, pointer = getattr(payload, "layout", None), getattr(payload, "iter", payload)
    if isinstance(layout, ComposedLayout) and isinstance(layout.inner, Swizzle):
        return recast.in_parts(layout.inner, storage_bytes(pointer.elem))  # type: ignore[union-attr]
    return layout.inner if isinstance(layout, ComposedLayout) else getattr(pointer, "swizzle", None)


def _coordinates(tensor_map: TensorMap, coord: Sequence[Any]) -> list[Value]:
    """Coordinates of the box's first element, from the tensor's order to TMA's."""
    parts = list(coord) if isinstance(coord, (tuple, list)) else [coord]
    if len(parts) != tensor_map.facts.rank:
        raise DslValueError(f"the map has {tensor_map.facts.rank} modes, the coordinate {len(parts)}")
    first, size = parts[tensor_map.order[0]], storage_bytes(tensor_map.facts.elem)
    if isinstance(first, int) and first * size % BULK_STEP:
        raise DslValueError(
            f"a box starts {first * size} bytes into the fastest mode; TMA needs a multiple of {BULK_STEP}",
            hint=f"start at a multiple of {BULK_STEP // size} elements",
        )
    return [Int32(parts[mode]).ir_value() for mode in tensor_map.order]


def _target_coordinates(tensor_map: TensorMap, coord: Sequence[Any]) -> list[Value]:
    """Of a box that leaves shared memory: it may end outside the tensor, not start before it."""
    parts = coord if isinstance(coord, (tuple, list)) else [coord]
    if any(isinstance(part, int) and part < 0 for part in parts):
        raise DslValueError(
            f"a box is written to {tuple(parts)}, but TMA cannot write a box that starts before the tensor",
            hint="start at 0 or later; parts beyond the tensor's end are dropped, and loads may start before it",
        )
    return _coordinates(tensor_map, coord)


def tma_load(
    tensor_map: Any,
    coord: Sequence[Any],
    dst: Any,
    barrier: Any,
    *,
    multicast: Any = None,
    l2: L2Priority | None = None,
) -> None:
    """Copy the box at ``coord`` to shared memory; its bytes complete a phase of ``barrier``.

    ``multicast`` is a mask of blocks of the cluster that get the box, each at the same place of its own memory.
    What lies outside the tensor arrives as zero. ``l2`` is how long L2 keeps the box
    (``evict_first``, ``evict_last``, …); None leaves it to itself. ``dst`` is aligned to 128 bytes, and the box
    starts at a multiple of 16 bytes along the fastest mode; the virtual GPU reports what is not.
    """
    source = checked_map(tensor_map)
    operands = [_place(source, dst, "the destination"), source.address(), shared_address(barrier, "an mbarrier")]
    rank = source.facts.rank
    if multicast is None:
        issue(f"tma.load.{rank}d", [*operands, *_coordinates(source, coord)], l2=l2)
        return
    mask = Int16(multicast).ir_value()
    issue(f"tma.load.multicast.{rank}d", [*operands, mask, *_coordinates(source, coord)], l2=l2)


def tma_store(tensor_map: Any, src: Any, coord: Sequence[Any], *, l2: L2Priority | None = None) -> None:
    """Copy a box of shared memory to ``coord``; parts beyond the tensor's end are dropped. Part of a bulk group.

    A box cannot start before the tensor: the hardware ends the kernel then, and the virtual GPU reports it.
    """
    target = checked_map(tensor_map)
    operands = [_place(target, src, "the source"), target.address()]
    issue(f"tma.store.{target.facts.rank}d", [*operands, *_target_coordinates(target, coord)], l2=l2)


def checked_reduction(op: Reduction, elem: str | None = None) -> Reduction:
    """Return a reduction that the copy engine has, of an element where one is named."""
    if op not in REDUCTIONS:
        raise DslValueError(f"TMA has no reduction '{op}'", hint=f"use {', '.join(REDUCTIONS)}")
    if elem is not None and elem not in REDUCTIONS[op]:
        raise DslValueError(f"TMA has no '{op}' of {elem}", hint=f"it has it of {', '.join(REDUCTIONS[op])}")
    return op


def tma_reduce(
    tensor_map: Any, src: Any, coord: Sequence[Any], op: Reduction = "add", *, l2: L2Priority | None = None
) -> None:
    """Combine a box of shared memory into the tensor: ``add``, ``min`` or ``max``."""
    target = checked_map(tensor_map)
    checked_reduction(op, target.facts.elem)
    operands = [_place(target, src, "the source"), target.address()]
    issue(f"tma.reduce.{op}.{target.facts.rank}d", [*operands, *_target_coordinates(target, coord)], l2=l2)


def _bytes(size: Any) -> Value:
    """Bytes of a bulk copy: a multiple of 16."""
    if isinstance(size, int) and (size <= 0 or size % BULK_STEP):
        raise DslValueError(f"a bulk copy moves a multiple of {BULK_STEP} bytes, got {size}")
    return Int32(size).ir_value()


def _run(size: Any) -> int:
    """Bytes that a bulk copy moves in one run; of a size known at run time no swizzle keeps enough together."""
    return size if isinstance(size, int) else 1 << 32


def _global_address(place: Any, what: str, size: Any) -> Value:
    pointer = pointer_of(place, _run(size), plain="a bulk copy")
    if not isinstance(pointer, Pointer) or pointer.payload.space != "global":
        raise DslTypeError(f"{what} of a bulk copy must lie in global memory, got {place!r}")
    return pointer.flat_llvm_ptr


def bulk_load(src: Any, dst: Any, size: Any, barrier: Any, *, l2: L2Priority | None = None) -> None:
    """Copy ``size`` contiguous bytes of global to shared memory; they complete a phase of ``barrier``.

    Addresses and size are multiples of 16 bytes. No tensor map is needed. ``l2`` as for `tma_load`.
    """
    place = shared_address(dst, "the destination", _run(size), plain="a bulk copy")
    source = _global_address(src, "the source", size)
    issue("bulk.load", [place, source, _bytes(size), shared_address(barrier, "an mbarrier")], l2=l2)


def bulk_prefetch(src: Any, size: Any) -> None:
    """Bring ``size`` contiguous bytes of global memory into L2; nothing waits for them. Multiples of 16 bytes."""
    issue("bulk.prefetch", [_global_address(src, "the source", size), _bytes(size)])


def discard(place: Any) -> None:
    """Say that nobody needs the 128 bytes at a multiple of 128 any more: L2 need not write them to memory."""
    issue("discard", [_global_address(place, "the line", 128)])


def bulk_store(src: Any, dst: Any, size: Any, *, l2: L2Priority | None = None) -> None:
    """Copy ``size`` contiguous bytes of shared to global memory. Part of a bulk group. ``l2`` as for `tma_load`."""
    place = shared_address(src, "the source", _run(size), plain="a bulk copy")
    target = _global_address(dst, "the destination", size)
    issue("bulk.store", [place, target, _bytes(size)], l2=l2)


def bulk_reduce(src: Any, dst: Any, size: Any, op: Reduction = "add", *, l2: L2Priority | None = None) -> None:
    """Combine ``size`` contiguous bytes of shared memory into global memory: ``add``, ``min`` or ``max``.

    What the bytes are, the destination says. Part of a bulk group. ``l2`` as for `tma_load`.
    """
    place = shared_address(src, "the source", _run(size), plain="a bulk copy")
    target = _global_address(dst, "the destination", size)
    elem = checked_elem(op, dst)
    issue(f"bulk.reduce.{op}.{elem}", [place, target, _bytes(size)], l2=l2)


def checked_elem(op: Reduction, dst: Any) -> str:
    """Return the element that a destination holds, if the copy engine combines such."""
    elem = pointer_of(dst).payload.elem
    checked_reduction(op, elem)
    return elem


def tma_commit_group() -> None:
    """Close the group of stores issued so far."""
    issue("bulk.commit_group", [])


def tma_wait_group(pending: int = 0, *, read: bool = False) -> None:
    """Wait until at most ``pending`` groups are unfinished; with ``read``, until they have read their source."""
    if type(pending) is not int or pending < 0:
        raise DslValueError(f"the number of groups must be a Python int of at least 0, got {pending!r}")
    issue("bulk.wait_group.read" if read else "bulk.wait_group", [], (pending,))


def prefetch_tensor_map(tensor_map: Any) -> None:
    """Bring a map into the cache before its first copy."""
    issue("prefetch.tensormap", [checked_map(tensor_map).address()])


__all__ = [
    "bulk_load", "bulk_prefetch", "bulk_reduce", "bulk_store", "discard", "prefetch_tensor_map", "tma_commit_group",
    "tma_load", "tma_reduce", "tma_store", "tma_wait_group",
]  # fmt: skip
