"""Walks over the sums of 16 x 16 matrix instructions, for kernels that store C themselves.

Lane ``l`` of a wave has, of each 16 x 16 block, column ``l % 16`` and rows ``4 * (l // 16)`` to ``4 * (l // 16) + 3``.
`default_epilog` goes through these rows; `c_shuffle_epilog` puts the tile into LDS first, from where neighbouring
threads store neighbouring elements. Callbacks are traced in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flydsl.expr as fx

BLOCK, ROWS = 16, 4


def default_epilog(*, m_repeat: int, lane_div_16: Any, bx_m: Any, body_row: Callable[..., None]) -> None:
    """Call ``body_row(mi=, ii=, row_in_tile=, row=)`` for each row of the lane: ``row`` counts from C's first row.

    ``m_repeat`` is the number of blocks down the tile, ``bx_m`` the tile's first row.
    """
    for mi in range(m_repeat):
        for ii in range(ROWS):
            row_in_tile = mi * BLOCK + lane_div_16 * ROWS + ii
            body_row(mi=mi, ii=ii, row_in_tile=row_in_tile, row=bx_m + row_in_tile)


def c_shuffle_epilog(
    *, tile_m: int, tile_n: int, e_vec: int, m_repeat: int, num_acc_n: int, tid: Any, lane_div_16: Any,
    lane_mod_16: Any, n_tile_base: Any, bx_m: Any, by_n: Any, lds_out: Any, value_at: Callable[[int, int, int], Any],
    store: Callable[..., None], block_size: int = 256, nlane: int = 32,
) -> None:  # fmt: skip
    """The tile row by row: ``store(row=, col=, value=)`` gets ``e_vec`` neighbours of a row of C.

    ``value_at(mi, ii, ni)`` is what the lane has of row ``ii`` of block ``(mi, ni)``; ``n_tile_base`` is the wave's
    first column in the tile, ``by_n`` the tile's in C. ``lds_out`` is a pointer to ``tile_m * tile_n`` elements in LDS
    that nobody reads any more. A row is stored by ``nlane`` threads.
    """
    check_shuffle(tile_m, tile_n, e_vec, block_size, nlane)
    dtype = lds_out.dtype

    def write_row(mi: int, ii: int, row_in_tile: Any, row: Any) -> None:
        for ni in range(num_acc_n):
            column = n_tile_base + (ni * BLOCK + lane_mod_16)
            lds_out[row_in_tile * tile_n + column] = value_at(mi, ii, ni).to(dtype)

    default_epilog(m_repeat=m_repeat, lane_div_16=lane_div_16, bx_m=bx_m, body_row=write_row)
    fx.barrier()
    down, lane, across = block_size // nlane, tid % nlane, nlane * e_vec
    width = e_vec * dtype.width // 8
    for r in range(tile_m // down):
        for c in range(tile_n // across):
            row, column = r * down + tid // nlane, c * across + lane * e_vec
            start = (lds_out + (row * tile_n + column)).aligned(width)
            store(row=bx_m + row, col=by_n + column, value=fx.make_view(start, fx.make_layout(e_vec, 1)).load())


def check_shuffle(tile_m: int, tile_n: int, e_vec: int, block_size: int, nlane: int) -> None:
    """Refuse tiles that threads cannot share evenly."""
    if block_size % nlane:
        raise ValueError(f"block_size = {block_size} is no multiple of nlane = {nlane}, the threads of a row")
    if e_vec not in (2, 4, 8):
        raise ValueError(f"e_vec is 2, 4 or 8 neighbours of a row, got {e_vec}")
    for name, size, step in (("tile_m", tile_m, block_size // nlane), ("tile_n", tile_n, nlane * e_vec)):
        if size <= 0 or size % step:
            raise ValueError(f"{name} must be a positive multiple of {step}, got {size}")


def mfma_epilog(*, use_cshuffle: bool, **given: Any) -> None:
    """`c_shuffle_epilog` or `default_epilog`, with its arguments."""
    (c_shuffle_epilog if use_cshuffle else default_epilog)(**given)
