"""Addresses and small moves of a preshuffle GEMM, for kernels that compute them by hand.

Shuffled weights lie as [N/16][K/Kp][16][Kp], where Kp elements fill 16 bytes; `shuffle_weight` of the preshuffle GEMM
makes them. Rows of A in LDS have their 16-byte pieces exchanged by the row (`swizzle_xor16`), so that lanes that read
one column meet no bank twice. A *pack* is the eight bytes along K that a lane gives to an instruction of depth 32.
"""

from __future__ import annotations

from typing import Any

import flydsl.expr as fx

BLOCK, PIECE_BYTES, PACK_BYTES = 16, 16, 8
NIBBLES = 8
"""Weights of four bits in a word: byte j has weight j below and weight j + 4 above."""


# Where things lie ----------------------------------------------------------------------------------------------------


def make_preshuffle_b_layout(n: Any, k: Any, elem_bytes: int = 1, k_major: bool = False) -> fx.Layout:
    """Return (n, k) -> the offset of B[n, k] in shuffled weights, in elements; ``k_major`` is that of
    `shuffle_weight`."""
    piece = PIECE_BYTES // elem_bytes
    if k_major:
        block, pieces = 4 * BLOCK * piece, (piece, 4, k // (4 * piece))
        return fx.make_layout(((BLOCK, n // BLOCK), pieces), ((piece, block), (1, BLOCK * piece, n // BLOCK * block)))
    return fx.make_layout(((BLOCK, n // BLOCK), (piece, k // piece)), ((piece, BLOCK * k), (1, BLOCK * piece)))


def make_preshuffle_scale_layout(rows: Any, groups: Any) -> fx.Layout:
    """Return (row, group of 32 along K) -> the offset of a shuffled E8M0 scale: 32 rows and 8 groups make 256 bytes."""
    across = 256 * (groups // 8)
    return fx.make_layout(((BLOCK, 2, rows // 32), (4, 2, groups // 8)), ((4, 1, across), (64, 2, 256)))


def crd2idx(crd: Any, layout: fx.Layout) -> Any:
    """Return the number a layout has for a coordinate."""
    return fx.get_scalar(fx.crd2idx(crd, layout))


def lds_row_major_idx(row: Any, column: Any, stride: Any, base: Any = 0) -> Any:
    """Return where an element of a row-major tile lies."""
    return base + row * stride + column


def split_row_major_2d(index: Any, columns: Any) -> tuple[Any, Any]:
    """Row and column of an element of a row-major matrix."""
    return index // columns, index % columns


def tile_chunk_coord_i32(
    thread: Any, i: int, total_threads: int, tile_k_words: int, chunk_words: int = 4
) -> tuple[Any, Any]:
    """Row and first word of the chunk that a thread copies in turn ``i``; neighbours copy neighbouring chunks."""
    return split_row_major_2d((i * total_threads + thread) * chunk_words, tile_k_words)


def swizzle_xor16(row: Any, column_bytes: Any, k_blocks16: int) -> Any:
    """Return where byte ``column_bytes`` of a row of ``k_blocks16`` pieces of 16 bytes lies in the row."""
    if k_blocks16 < 1 or k_blocks16 & (k_blocks16 - 1):
        raise ValueError(f"a row has a power of two of 16-byte pieces to exchange, got {k_blocks16}")
    return column_bytes ^ ((row % k_blocks16) * PIECE_BYTES)


def xcd_remap_bx_by(bx: Any, by: Any, gx: Any, gy: Any, xcd_swizzle: int, xcds: int = 8) -> tuple[Any, Any]:
    """Return the tile of block (bx, by) of a gx x gy grid: each chiplet gets groups of ``xcd_swizzle`` rows of tiles.

    Zero leaves blocks where they are. It is one to one where the number of blocks is a multiple of the chiplets'.
    """
    if xcd_swizzle == 0:
        return bx, by
    index = bx * gy + by
    index = index % xcds * (gx * gy // xcds) + index // xcds
    first = index // (xcd_swizzle * gy) * xcd_swizzle
    rows, rest = _least(gx - first, xcd_swizzle), index % (xcd_swizzle * gy)
    return first + rest % rows, rest // rows


def _least(a: Any, b: int) -> Any:
    return min(a, b) if isinstance(a, int) else fx.min(a, fx.Int32(b))


# Global memory --------------------------------------------------------------------------------------------------------


def buffer_copy_gmem16_dwordx4(source: Any, word: Any) -> fx.Vector:
    """Return four neighbouring words from a buffer resource, or from a tensor through one that ends with it; zeros
    behind."""
    resource = fx.buffer_ops.create_buffer_resource(source, max_size=False) if isinstance(source, fx.Tensor) else source
    return fx.buffer_ops.buffer_load(resource, word, 4, fx.Int32)


def _bytes(memory: Any) -> fx.Pointer:
    return fx.recast_iter(fx.Int8, fx.get_iter(memory) if isinstance(memory, fx.Tensor) else memory)


def _load(memory: Any, place: Any, kind: Any, count: int = 1) -> Any:
    """Numbers at a place in bytes, which is a multiple of their size."""
    start = fx.recast_iter(kind, (_bytes(memory) + place).aligned(kind.width // 8 * count))
    return start[0] if count == 1 else fx.make_view(start, fx.make_layout(count, 1)).load()


def load_b_pack_k32(b: Any, layout: fx.Layout, n: Any, k: Any, elem_bytes: int = 1) -> fx.Int64:
    """Return the pack of B[n, k...] from shuffled weights; ``k`` is a multiple of the elements of a pack."""
    return _load(b, crd2idx((n, k), layout) * elem_bytes, fx.Int64)


def load_b_raw_w4a16(b: Any, layout: fx.Layout, n: Any, k: Any) -> fx.Int32:
    """Eight weights of four bits, B[n, k] to B[n, k + 7], from shuffled weights packed by ``pack_int4``."""
    return _load(b, crd2idx((n, k), layout) // 2, fx.Int32)


def unpack_b_w4a16(word: Any, dtype: Any = fx.BFloat16) -> fx.Vector:
    """Return the eight weights of a word, -8 to 7, as 16-bit floats."""
    word = fx.Int32(word)
    shifts = [8 * (i % 4) + 4 * (i // 4) for i in range(NIBBLES)]
    return fx.Vector.from_elements([((word << (28 - at)) >> 28).to(fx.Float32) for at in shifts], fx.Float32).to(dtype)


def unpack_b_w4a16_groupwise(word: Any, scale: Any, dtype: Any = fx.BFloat16) -> fx.Vector:
    """Return the same, each times the scale of its group in f32, rounded once."""
    return (unpack_b_w4a16(word, fx.Float32) * fx.Float32(scale)).to(dtype)


def extract_bf16_scale(pair: Any, index: Any) -> fx.Float32:
    """Return one of the two bf16 scales in a word, as f32."""
    return (fx.shrui(fx.Int32(pair), index * 16) << 16).bitcast(fx.Float32)


# LDS ------------------------------------------------------------------------------------------------------------------


def _place(row: Any, column_bytes: Any, row_bytes: int) -> Any:
    return lds_row_major_idx(row, swizzle_xor16(row, column_bytes, row_bytes // PIECE_BYTES), row_bytes)


def _store(lds: Any, row: Any, column_bytes: Any, words: Any, row_bytes: int, count: int) -> None:
    start = (_bytes(lds) + _place(row, column_bytes, row_bytes)).aligned(4 * count)
    view = fx.make_view(fx.recast_iter(fx.Int32, start), fx.make_layout(count, 1))
    view.store(words if isinstance(words, fx.Vector) else fx.Vector.from_elements([words], fx.Int32))


def lds_store_4b_xor16(lds: Any, row: Any, column_bytes: Any, words: Any, *, row_bytes: int) -> None:
    """A word of a row to its exchanged place. ``lds`` is the tile's start, ``row_bytes`` the bytes of its rows."""
    _store(lds, row, column_bytes, words, row_bytes, 1)


def lds_store_8b_xor16(lds: Any, row: Any, column_bytes: Any, words: Any, *, row_bytes: int) -> None:
    """Two words, from a byte that is a multiple of 8."""
    _store(lds, row, column_bytes, words, row_bytes, 2)


def lds_store_16b_xor16(lds: Any, row: Any, column_bytes: Any, words: Any, *, row_bytes: int) -> None:
    """Four words, a whole piece."""
    _store(lds, row, column_bytes, words, row_bytes, 4)


def lds_load_pack_k32(lds: Any, row: Any, column_bytes: Any, *, row_bytes: int) -> fx.Int64:
    """Return the pack of a row from byte ``column_bytes`` on, a multiple of 8."""
    return _load(lds, _place(row, column_bytes, row_bytes), fx.Int64)
