"""What a tiled mma demands of a tile's extents: whole multiples of what its threads cover together.

Dividing rounds up, as predicated copies want it of tensors in global memory. A product has no predicate: it would
multiply what lies behind the tile.
"""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import LayoutError
from flydsl.layout.layout import Layout
from flydsl.layout.tile import Tile
from flydsl.layout.tv import OPERAND_MODES, tile_size_mnk


def check_mma_extents(
    layout: Layout, operand: str, shape_mnk: tuple[int, int, int], atom_layout: Layout, permutation: Tile | None
) -> None:
    """Refuse a static extent of an operand's tile that the tiled mma does not divide."""
    sizes = tile_size_mnk(shape_mnk, atom_layout, permutation)
    for mode, index in zip(layout.modes(), OPERAND_MODES[operand], strict=False):
        extent = mode.size()
        for step in (sizes[index], shape_mnk[index] * atom_layout[index].size()):
            if isinstance(extent, int) and isinstance(step, int) and extent % step:
                raise LayoutError(_refusal(layout, operand, "MNK"[index], extent, step), hint=_advice(extent, step))


def _refusal(layout: Layout, operand: str, letter: str, extent: int, step: int) -> str:
    covered = -(-extent // step) * step
    return (
        f"the tiled mma covers {step} of {letter} at once, which does not divide the {extent} of operand "
        f"{operand.upper()}, {layout}: the product would take in {covered}"
    )


def _advice(extent: int, step: int) -> str:
    covered = -(-extent // step) * step
    return (
        f"make the tile {covered} long and fill what is beyond {extent} with zeros, or choose an instruction or an "
        "atom layout that divides it"
    )


def is_operand_tile(tensor: Any) -> bool:
    """Whether a tensor is a tile that a product reads or writes as it lies: one in shared memory or registers."""
    return getattr(tensor.iter, "space", None) in ("shared", "register")
