"""The four divides: a layout split into tiles and what enumerates the tiles."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import LayoutError
from flydsl.layout import int_tuple as it
from flydsl.layout import leaf as lf
from flydsl.layout.algebra import complement, composition
from flydsl.layout.layout import Layout, join
from flydsl.layout.leaf import DynInt
from flydsl.layout.structure import on_layout
from flydsl.layout.tile import Tile, mode_layout


def logical_divide(value: Any, tiler: Any) -> Any:
    """Split a layout into (tile, rest), or each mode of it where a tile names several; None leaves a mode alone."""
    return on_layout(value, lambda layout: _logical(layout, tiler))


def _logical(layout: Layout, tiler: Any) -> Layout:
    if isinstance(tiler, Layout):
        try:
            size = layout.size()
            rest = complement(tiler, size)
            _check_covers(tiler, size, rest)
            return composition(layout, join([tiler, rest]))
        except LayoutError as error:
            raise LayoutError(f"cannot divide {layout} by {tiler}: {error.message}", hint=error.hint) from error
    if not isinstance(tiler, Tile):
        raise LayoutError(f"cannot divide {layout} by {tiler!r}", hint="the divisor is a layout or a tile")
    if tiler.is_leaf:
        return _divide_mode(layout, tiler.modes[0])
    modes = layout.modes()
    if tiler.rank > len(modes):
        raise LayoutError(f"the tile {tiler} has more modes than {layout}", hint=f"give at most {len(modes)} modes")
    done = [_divide_mode(mode, t) for mode, t in zip(modes, tiler.modes, strict=False)]
    return join(done + modes[tiler.rank :])


def _check_covers(tiler: Layout, size: Any, rest: Layout) -> None:
    """A padded divisor, such as (4,8):(1,5), would leave elements in no tile."""
    *gaps, (copies, reach) = rest.flat()
    filled = lf.mul(tiler.size(), it.product(tuple(extent for extent, _ in gaps)))
    if isinstance(copies, DynInt) and (filled is reach or (tiler.is_static and filled == reach)):
        return  # the copies lie side by side, and there are enough of them
    covered = lf.mul(filled, copies)
    lf.require(
        lf.less(size, lf.add(covered, 1)),
        "copies of the divisor reach {} of {} elements",
        (covered, size),
        "give the divisor strides that are multiples of the run below them",
    )


def _divide_mode(mode: Layout, divisor: Any) -> Layout:
    if divisor is None:
        return mode
    return _logical(mode, divisor if isinstance(divisor, Tile) else mode_layout(divisor))


def _split_pairs(layout: Layout, tiler: Any) -> tuple[list[Layout], list[Layout]]:
    """Sort the (tile, rest) pairs of a divided layout into all tiles and all rests."""
    tiles: list[Layout] = []
    rests: list[Layout] = []
    modes = layout.modes()
    for mode, divisor in zip(modes, tiler.modes, strict=False):
        if divisor is None:
            raise LayoutError(
                f"a zipped divide needs a divisor for every mode it names, but {tiler} has none for {mode}",
                hint="use logical_divide, which keeps such a mode, or name only the leading modes",
            )
        if isinstance(divisor, Tile) and not divisor.is_leaf:
            inner_tiles, inner_rests = _split_pairs(mode, divisor)
            tiles.append(join(inner_tiles))
            rests.append(join(inner_rests))
        else:
            tiles.append(mode[0])
            rests.append(mode[1])
    return tiles, rests + modes[tiler.rank :]


def _halves(layout: Layout, tiler: Any) -> tuple[Layout, Layout]:
    """Return (all tiles, all rests); a layout or a leaf tile divides the layout as a whole."""
    if isinstance(tiler, Tile) and tiler.is_leaf and tiler.modes[0] is None:
        raise LayoutError(
            f"a zipped divide of {layout} needs a divisor, but the tile is {tiler}", hint="give an extent or a layout"
        )
    divided = _logical(layout, tiler)
    if isinstance(tiler, Tile) and not tiler.is_leaf:
        tiles, rests = _split_pairs(divided, tiler)
        return join(tiles), join(rests)
    return divided[0], divided[1]


def zipped_divide(value: Any, tiler: Any) -> Any:
    """Return the logical divide with modes ((tile 0, tile 1, …), (rest 0, rest 1, …))."""
    return on_layout(value, lambda layout: join(list(_halves(layout, tiler))))


def tiled_divide(value: Any, tiler: Any) -> Any:
    """Return ((tile_0, tile_1, …), rest_0, rest_1, …)"""

    def divide(layout: Layout) -> Layout:
        tile, rest = _halves(layout, tiler)
        return join([tile, *rest.modes()])

    return on_layout(value, divide)


def flat_divide(value: Any, tiler: Any) -> Any:
    """Return (tile_0, tile_1, …, rest_0, rest_1, …)"""

    def divide(layout: Layout) -> Layout:
        tile, rest = _halves(layout, tiler)
        return join([*tile.modes(), *rest.modes()])

    return on_layout(value, divide)
