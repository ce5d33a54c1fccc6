"""Tiles of heads in shared memory as `wgmma` reads them, and the maps by which TMA fills them."""

from __future__ import annotations

from typing import Any

import flydsl.expr as fx


def chunk_of(d: int, width: int = 16) -> int:
    """Elements of a row of shared memory: a head is stored as columns of so many, as wide as TMA's swizzle."""
    return max(chunk for chunk in (1024 // width, 512 // width, 256 // width) if d % chunk == 0)


def swizzle_of(chunk: int, width: int = 16) -> str:
    """TMA's swizzle of such rows."""
    return f"{chunk * width // 8}B"


def tiles_of(
    ptr: Any, swizzle: Any, rows: int, d: int, stages: int, transposed: bool = False, width: int = 16,
    columns: int | None = None,
) -> Any:  # fmt: skip
    """Stages of a tile (rows, d) in columns of `chunk_of` elements, or (d, rows).

    ``columns`` are more than d where products take so many.
    """
    chunk = chunk_of(d, width)
    shape, stride = (rows, (chunk, (columns or d) // chunk)), (chunk, (1, rows * chunk))
    if transposed:
        shape, stride = shape[::-1], stride[::-1]
    return fx.make_view(fx.apply_swizzle(ptr, swizzle), fx.make_layout((*shape, stages), (*stride, rows * d)))


def head_map(tensor: Any, rows: int, d: int) -> Any:
    """Map (batch, heads, rows, d) for boxes of ``rows`` whole heads, stored in columns of `chunk_of` elements."""
    width = tensor.dtype.width
    chunk = chunk_of(d, width)
    (batch, heads, length, columns), (by_batch, by_head, by_row, _) = (
        [fx.get_scalar(leaf) for leaf in fx.get_leaves(part)] for part in (tensor.shape, tensor.stride)
    )
    layout = fx.make_layout((batch, heads, columns // chunk, length, chunk), (by_batch, by_head, chunk, by_row, 1))
    box, swizzle = (1, 1, d // chunk, rows, chunk), swizzle_of(chunk, width)
    return fx.nvvm.make_tensor_map(fx.make_view(fx.get_iter(tensor), layout), box, swizzle)
