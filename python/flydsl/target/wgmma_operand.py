"""From the layout of a tile in shared memory to the descriptor that wgmma reads it by.

Canonical layouts: PTX ISA 9.7.15.5.1.2, "Shared Memory Matrix Layout". A tile fits if every element lies where
the descriptor's two strides and its swizzle mode put it; that is checked element by element, once per layout.
"""

from __future__ import annotations

from functools import cache

from flydsl.base.errors import LoweringError
from flydsl.base.records import dataclass
from flydsl.layout.layout import Layout
from flydsl.layout.swizzle import Swizzle
from flydsl.target.mma_warpgroup import SWIZZLE_MODES

CHUNK = 16
"""Bytes that always stay together."""
ROWS = 8
"""Rows of a core matrix."""


@dataclass(frozen=True)
class TileStrides:
    """The two strides of a descriptor, in bytes, and the name of its swizzle mode."""

    leading: int
    stride: int
    mode: str


def mode_of(swizzle: Swizzle | None) -> str | None:
    """Return the swizzle mode whose permutation of byte addresses this is."""
    if swizzle is None:
        return "none"
    return next((name for name, mode in SWIZZLE_MODES.items() if mode.swizzle == swizzle), None)


def row_bits(mode: str) -> int:
    """Return the bits of an address that say in which row of an atom it lies; 0 without a swizzle, where rows are
    chunks."""
    row = SWIZZLE_MODES[mode].row_bytes
    return 0 if row == CHUNK else (ROWS - 1) * row


def check_start(address: int, mode: str, name: str) -> None:
    """Refuse a tile whose place in shared memory, modulo the largest atom, no descriptor of ours says.

    A descriptor counts in chunks, and the swizzle in rows of an atom, of which a tile must start with the first. It
    may start anywhere in that row: so K is stepped through.
    """
    if address % CHUNK:
        raise LoweringError(
            f"wgmma reads {name} from a multiple of {CHUNK} bytes, and this tile starts {address % CHUNK} bytes past "
            "one",
            hint=f"let tiles start at multiples of {CHUNK} bytes",
        )
    if address & row_bits(mode):
        atom, row = ROWS * SWIZZLE_MODES[mode].row_bytes, SWIZZLE_MODES[mode].row_bytes
        raise LoweringError(
            f"wgmma reads {name} with {mode} swizzle from the first row of an atom of {atom} bytes, and this tile "
            f"starts {address % atom} bytes into one, in row {address % atom // row}",
            hint=f"align the tile to {atom} bytes: fx.Array[dtype, count, {atom}]",
        )


@cache
def tile_strides(layout: Layout, elem_bytes: int, swizzle: Swizzle | None, major: str) -> TileStrides:
    """Return the strides of an operand tile (MN, K) of static layout; an error names what does not fit."""
    mode = mode_of(swizzle)
    if mode is None:
        known = ", ".join(f"{m.swizzle} ({name})" for name, m in SWIZZLE_MODES.items() if name != "none")
        raise LoweringError(f"wgmma does not know the swizzle {swizzle}", hint=f"it reads {known}, or none")
    rows, depth = layout[0].size(), layout[1].size()
    place = _k_major if major == "k" else _mn_major
    leading, stride = _sampled(layout, elem_bytes, mode, major)
    down, across = ([mode_(index) * elem_bytes for index in range(mode_.size())] for mode_ in (layout[0], layout[1]))
    for row in range(rows):
        for k in range(depth):
            found = down[row] + across[k]
            wanted = place(row, k, elem_bytes, SWIZZLE_MODES[mode].row_bytes, leading, stride)
            if found != wanted:
                raise LoweringError(
                    f"wgmma cannot describe the {major.upper()}-major tile {layout} with {mode} swizzle: element "
                    f"({row}, {k}) lies {found} bytes in, where a descriptor puts it at {wanted}",
                    hint=_advice(mode, major, elem_bytes),
                )
    return TileStrides(leading, stride, mode)


def _advice(mode: str, major: str, elem_bytes: int) -> str:
    row = SWIZZLE_MODES[mode].row_bytes
    across = "K" if major == "k" else "M or N"
    return (
        f"lay rows of {row // elem_bytes} elements along {across} {row} bytes apart, in groups of {ROWS}, "
        "as a TMA box with the same swizzle writes them"
    )


def _sampled(layout: Layout, elem_bytes: int, mode: str, major: str) -> tuple[int, int]:
    """Return (leading, stride) offsets read off the layout where it is large enough to show them."""
    rows, depth = layout[0].size(), layout[1].size()
    width = SWIZZLE_MODES[mode].row_bytes // elem_bytes

    def at(row: int, k: int) -> int:
        return layout((row, k)) * elem_bytes if row < rows and k < depth else 0

    if major == "k":
        leading = at(0, CHUNK // elem_bytes) if mode == "none" else CHUNK
        return leading, at(ROWS, 0)
    if mode == "none":
        return at(0, ROWS), at(width, 0)
    return at(width, 0), at(0, ROWS)


def _k_major(row: int, k: int, elem_bytes: int, row_bytes: int, leading: int, stride: int) -> int:
    chunk, inside = divmod(k * elem_bytes, CHUNK)
    step = leading if row_bytes == CHUNK else CHUNK
    return row // ROWS * stride + row % ROWS * row_bytes + chunk * step + inside


def _mn_major(row: int, k: int, elem_bytes: int, row_bytes: int, leading: int, stride: int) -> int:
    block, inside = divmod(row * elem_bytes, row_bytes)
    if row_bytes == CHUNK:  # without a swizzle the two strides change places
        leading, stride = stride, leading
    return block * leading + inside + k // ROWS * stride + k % ROWS * row_bytes
