"""The descriptor of gfx1250's tensor data mover: where each field lies in its twenty words, and what padding encodes.

Groups of 4, 8, 4 and 4 words. Dimension 0 is the fastest and has stride 1; ``stride0`` steps dimension 1, and so on.
Group 0 says what and where; group 1 holds the first two dimensions and the flags; groups 2 and 3 hold dimensions 2 to
4, or, in gather mode, the numbers of the rows to fetch. Checked against upstream MLIR's `amdgpu.make_dma_descriptor`.
"""

from __future__ import annotations

from math import gcd, prod

from flydsl.base.errors import DslValueError
from flydsl.base.records import dataclass

GROUPS = (4, 8, 4, 4)
WORDS = sum(GROUPS)
MOST_RANK = 5
VALID_TYPE = 2
"""The descriptor's type field."""


@dataclass(frozen=True)
class Piece:
    """``bits`` bits of a field, from its bit ``low`` on, at bit ``place`` of a word."""

    word: int
    place: int
    bits: int
    low: int = 0


def _split(word: int, low_bits: int, high_bits: int) -> tuple[Piece, Piece]:
    """Return a field that starts in the upper half of a word and goes on at the bottom of the next one."""
    return Piece(word, 32 - low_bits, low_bits), Piece(word + 1, 0, high_bits, low_bits)


FIELDS: dict[str, tuple[Piece, ...]] = {
    "count": (Piece(0, 0, 2),),
    "gather_wide": (Piece(0, 30, 1),),
    "gather": (Piece(0, 31, 1),),
    "lds_address": (Piece(1, 0, 32),),
    "global_address": (Piece(2, 0, 32), Piece(3, 0, 25, 32)),
    "type": (Piece(3, 30, 2),),
    "workgroup_mask": (Piece(4, 0, 16),),
    "data_size": (Piece(4, 16, 2),),
    "barrier_enable": (Piece(4, 18, 1),),
    "iterate_enable": (Piece(4, 19, 1),),
    "pad_enable": (Piece(4, 20, 1),),
    "early_timeout": (Piece(4, 21, 1),),
    "pad_interval": (Piece(4, 22, 3),),
    "pad_amount": (Piece(4, 25, 7),),
    "barrier_address": (Piece(5, 0, 16),),
    "dim0": _split(5, 16, 16),
    "dim1": _split(6, 16, 16),
    "tile0": (Piece(7, 16, 16),),
    "tile1": (Piece(8, 0, 16),),
    "tile2": (Piece(8, 16, 16),),
    "stride0": (Piece(9, 0, 32), Piece(10, 0, 16, 32)),
    "stride1": _split(10, 16, 32),
    "dim2": (Piece(12, 0, 32),),
    "dim3": (Piece(13, 0, 32),),
    "stride2": (Piece(14, 0, 32), Piece(15, 0, 16, 32)),
    "tile3": (Piece(15, 16, 16),),
    "stride3": (Piece(16, 0, 32), Piece(17, 0, 16, 32)),
    "dim4": _split(17, 16, 16),
    "tile4": (Piece(18, 16, 16),),
}

GATHER_FIRST_WORD = 12
"""Where the row numbers of gather mode begin, to the end of the descriptor."""
GATHER_MOST = {32: 8, 16: 16}
"""Bits of a row number to how many fit."""


def element_code(elem_bytes: int) -> int:
    """Return the data size field of an element of 1, 2, 4 or 8 bytes."""
    if elem_bytes not in (1, 2, 4, 8):
        raise DslValueError(f"the tensor data mover moves elements of 1, 2, 4 or 8 bytes, not {elem_bytes}")
    return elem_bytes.bit_length() - 1


def padding_codes(interval: int, amount: int, elem_bytes: int) -> tuple[int, int] | None:
    """Return the fields for ``amount`` elements left free in LDS after every ``interval``; None for no padding.

    The hardware counts 4-byte words: intervals of 2, 4, ... 256 of them, amounts of 1 to 128.
    """
    if interval == 0 or amount == 0:
        return None
    words, spare = interval * elem_bytes / 4, amount * elem_bytes / 4
    what = (
        f"gfx1250 TDM: padding (interval={interval}, amount={amount} elements at {8 * elem_bytes}-bit) is not encodable"
    )
    if words != int(words) or int(words) not in (2 << code for code in range(8)):
        raise DslValueError(
            f"{what}: after every {interval * elem_bytes} bytes",
            hint="the interval is a power of two from 8 to 1024 bytes",
        )
    if spare != int(spare) or not 1 <= spare <= 128:
        raise DslValueError(
            f"{what}: of {amount * elem_bytes} bytes",
            hint="it is a multiple of 4 bytes, at most 512",
        )
    return int(words).bit_length() - 2, int(spare) - 1


def warp_split(tile: tuple[int, ...], num_warps: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return (waves along each dimension, each wave's part of the tile), slowest dimension first.

    Each wave fetches one piece that is contiguous in LDS, so a dimension is split only if those before it are split
    down to single rows.
    """
    waves: list[int] = []
    part: list[int] = []
    left = num_warps
    for extent in tile:
        whole = all(size == 1 for size in part)
        share = gcd(left, extent) if whole else 1
        waves.append(share)
        part.append(extent // share)
        left //= share
    if left != 1:
        raise DslValueError(
            f"{num_warps} waves cannot share a tile of {tile}", hint="its rows must be a multiple of the waves"
        )
    assert prod(waves) == num_warps
    return tuple(waves), tuple(part)
