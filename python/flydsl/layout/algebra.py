"""Coalesce, composition, complement and inverses.

Written once over leaves of any kind: what is undecidable because a leaf is known only at run time
is left as it is (nothing merges, nothing is refused), and the arithmetic goes through `leaf`.
"""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import LayoutError
from flydsl.layout import int_tuple as it
from flydsl.layout import leaf as lf
from flydsl.layout.coords import cosize
from flydsl.layout.layout import Layout, from_flat, join
from flydsl.layout.leaf import Basis, DynInt
from flydsl.layout.structure import on_layout
from flydsl.layout.tile import Tile, mode_layout

Pairs = list[tuple[Any, Any]]


# Coalesce --------------------------------------------------------------------------------------


def _merges(extent: Any, stride: Any, next_extent: Any, next_stride: Any) -> bool:
    parts = (extent, stride, next_extent, next_stride)
    return all(lf.is_static(part) for part in parts) and lf.mul(extent, stride) == next_stride


def _coalesced(pairs: Pairs) -> Pairs:
    merged: Pairs = []
    for extent, stride in pairs:
        if lf.equals(extent, 1):
            continue
        if merged and _merges(*merged[-1], extent, stride):
            merged[-1] = (lf.mul(merged[-1][0], extent), merged[-1][1])
        else:
            merged.append((extent, stride))
    return merged


def coalesce(value: Any, profile: Any = None) -> Any:
    """Merge neighbouring modes that count on; with a profile, inside each of its leaves only."""
    return on_layout(value, lambda layout: _coalesce_layout(layout, profile))


def _coalesce_layout(layout: Layout, profile: Any) -> Layout:
    if isinstance(profile, tuple):
        modes = layout.modes()
        if len(profile) > len(modes):
            raise LayoutError(
                f"the pattern {it.to_text(profile)} has more modes than {layout}",
                hint=f"give at most {len(modes)} modes",
            )
        done = [_coalesce_layout(mode, part) for mode, part in zip(modes, profile, strict=False)]
        return join(done + modes[len(profile) :])
    if not isinstance(layout.shape, tuple):
        return layout
    return from_flat(_coalesced(layout.flat()))


def filter_zeros(layout: Layout) -> Layout:
    """Modes of stride 0 become extent 1."""
    shape = it.map_leaves(lambda s, d: 1 if lf.equals(d, 0) else s, layout.shape, layout.stride)
    return Layout(shape, layout.stride)


# Composition -----------------------------------------------------------------------------------


def composition(a: Any, b: Any) -> Any:
    """The layout c -> a(b(c)). A tile composes mode by mode."""
    return on_layout(a, lambda layout: _compose(layout, b))


def _compose(a: Layout, b: Any) -> Layout:
    if isinstance(b, Tile):
        return _compose_tile(a, b)
    if not isinstance(b, Layout):
        raise LayoutError(f"cannot compose {a} with {b!r}", hint="the right side is a layout or a tile")
    if any(isinstance(stride, Basis) for stride in it.leaves(b.stride)):
        walks: dict[tuple[int, ...], _Walk] = {}
        return _map_modes(b, lambda s, d: _compose_basis(walks, s, d, a, b))
    walk = _Walk(a)
    return _map_modes(b, lambda s, d: _compose_leaf(walk, s, d, a, b))


def _compose_tile(a: Layout, tile: Tile) -> Layout:
    if tile.is_leaf:
        return a if tile.modes[0] is None else _compose(a, mode_layout(tile.modes[0]))
    modes = a.modes()
    if tile.rank > len(modes):
        raise LayoutError(f"the tile {tile} has more modes than {a}", hint=f"give at most {len(modes)} modes")
    done = [mode if t is None else _compose(mode, mode_layout(t)) for mode, t in zip(modes, tile.modes, strict=False)]
    return join(done + modes[tile.rank :])


def _map_modes(b: Layout, leaf: Any) -> Layout:
    if not isinstance(b.shape, tuple):
        return leaf(b.shape, b.stride)
    return join([_map_modes(mode, leaf) for mode in b.modes()])


def _extrapolating(a: Layout) -> Pairs:
    """A's coalesced modes; a last mode of extent 1 stays, so that indices past A's size go on along it.

    Nothing is ever read through a mode of extent 0, so the modes beside it alone decide the strides.
    """
    flat = a.flat()
    last = flat[-1]
    if len(flat) > 1 and lf.equals(last[0], 1) and not lf.equals(last[1], 0):
        flat[-1] = (2, last[1])
    return _coalesced([pair for pair in flat if not lf.equals(pair[0], 0)]) or [last]


class _Walk:
    """A's modes and how far the modes of B, which are composed one by one, may together still step inside each."""

    def __init__(self, a: Layout) -> None:
        self.pairs = _extrapolating(a)
        self.spare = [extent - 1 if isinstance(extent, int) else None for extent, _ in self.pairs]

    def use(self, index: int, taken: Any, step: Any, a: Layout, b: Layout) -> None:
        """B takes this much of mode ``index``. Past its end the sum would carry, which no layout can say."""
        spare = self.spare[index]
        if spare is None or not (isinstance(taken, int) and isinstance(step, int)):
            return
        self.spare[index] = spare = spare - (taken - 1) * step
        if spare < 0:
            raise LayoutError(
                f"cannot compose {a} with {b}: its modes together step past the mode of extent {self.pairs[index][0]}",
                hint="compose with modes that do not overlap inside a mode of the layout",
            )


def _compose_basis(walks: dict[tuple[int, ...], _Walk], extent: Any, stride: Any, a: Layout, b: Layout) -> Layout:
    """A basis stride names the mode of ``a`` it steps along."""
    if lf.equals(stride, 0):
        return Layout(extent, 0)
    if not isinstance(stride, Basis):
        raise LayoutError(
            f"cannot compose {a} with {b}: it mixes plain and basis strides", hint="use basis strides in every mode"
        )
    if stride.modes not in walks:
        walks[stride.modes] = _Walk(_mode_at(a, stride.modes, b))
    return _compose_leaf(walks[stride.modes], extent, stride.value, a, b)


def _mode_at(a: Layout, path: tuple[int, ...], b: Layout) -> Layout:
    mode = a
    for index in path:
        if index >= mode.rank:
            raise LayoutError(
                f"cannot compose {a} with {b}: it steps along mode {list(path)}, which the layout does not have",
                hint="name modes of the layout in the basis strides",
            )
        mode = mode[index]
    return mode


def _compose_leaf(walk: _Walk, extent: Any, stride: Any, a: Layout, b: Layout) -> Layout:
    """Walk A's modes, taking from each what ``extent`` steps of ``stride`` touch of it."""
    pairs = walk.pairs
    if lf.equals(stride, 0) or lf.equals(extent, 1):
        return Layout(extent, 0)
    if len(pairs) == 1:
        return Layout(extent, lf.mul(stride, pairs[0][1]))
    if lf.equals(extent, 0):
        return Layout(extent, 0)
    if isinstance(stride, int) and stride < 0:
        raise LayoutError(
            f"cannot compose {a} with {b}: the stride {stride} walks backwards over several modes",
            hint="walk backwards over a layout of one mode, or coalesce it first",
        )
    found: Pairs = []
    left, step = extent, stride
    for index, (mode_extent, mode_stride) in enumerate(pairs[:-1]):
        if lf.equals(left, 1):
            break
        count = lf.ceil_div(mode_extent, step)
        next_step = lf.ceil_div(step, mode_extent)
        _check_step(mode_extent, step, left, count, a, b)
        if not lf.equals(count, 1):
            taken = lf.minimum(count, left)
            _check_divides(left, taken, a, b)
            walk.use(index, taken, step, a, b)
            found.append((taken, lf.mul(step, mode_stride)))
            left = lf.floordiv(left, taken)
        step = next_step
    if not lf.equals(left, 1) or not found:
        found.append((left, lf.mul(step, pairs[-1][1])))
    return from_flat(found)


def _check_step(mode_extent: Any, step: Any, left: Any, count: Any, a: Layout, b: Layout) -> None:
    """A step must divide a mode or be a multiple of it, unless it never leaves the mode."""
    if not (isinstance(mode_extent, int) and isinstance(step, int)):
        return
    if step % mode_extent == 0 or mode_extent % step == 0:
        return
    if step < mode_extent and isinstance(left, int) and left <= count:
        return
    raise LayoutError(
        f"cannot compose {a} with {b}: a step of {step} does not fit the mode of extent {mode_extent}",
        hint="choose a tile whose extents divide the layout's",
    )


def _check_divides(left: Any, taken: Any, a: Layout, b: Layout) -> None:
    if isinstance(left, int) and isinstance(taken, int) and left % taken:
        raise LayoutError(
            f"cannot compose {a} with {b}: {taken} of {left} elements fill a mode, and {taken} does not divide {left}",
            hint="choose a tile whose extents divide the layout's",
        )


# Complement ------------------------------------------------------------------------------------


def complement(value: Any, n: Any = None) -> Any:
    """The layout of the indices below ``n`` that the layout's copies are to start at."""
    return on_layout(value, lambda layout: _complement(layout, n))


def _complement(layout: Layout, n: Any) -> Layout:
    pairs = _coalesced(filter_zeros(layout).flat())
    limit = cosize(from_flat(pairs)) if n is None else it.product(n)
    if not pairs:
        return from_flat(_coalesced([(limit, 1)]))
    ordered = _sorted_by_stride(pairs, layout)
    found: Pairs = []
    reach: Any = 1
    for extent, stride in ordered:
        found.append((_gap(stride, reach, layout), reach))
        reach = lf.mul(stride, extent)
    found.append((lf.ceil_div(limit, reach), reach))
    return from_flat(_coalesced(found))


def _gap(stride: Any, reach: Any, layout: Layout) -> Any:
    """How many runs fit below the next stride; what is left over (padding) stays unused."""
    if isinstance(stride, int) and isinstance(reach, int) and stride < reach:
        raise LayoutError(
            f"{layout} has no complement: its modes overlap (a stride of {stride} inside a run of {reach})",
            hint="give every mode a stride past the run of the modes below it",
        )
    return lf.floordiv(stride, reach)


def _sorted_by_stride(pairs: Pairs, layout: Layout) -> Pairs:
    """One mode needs no sorting, and may be dynamic."""
    if len(pairs) == 1 and isinstance(pairs[0][1], DynInt):
        return pairs
    if not all(isinstance(stride, int) and stride > 0 for _, stride in pairs):
        raise LayoutError(
            f"{layout} has no complement here: its strides must be static and positive",
            hint="divide by a static tile, or mark fewer strides dynamic",
        )
    return sorted(pairs, key=lambda pair: pair[1])


# Inverses --------------------------------------------------------------------------------------


def _with_positions(layout: Layout) -> list[tuple[int, Any, Any]]:
    """(stride, extent, position of the mode in the coordinate) for static strides, smallest first."""
    position: Any = 1
    found = []
    for extent, stride in _coalesced(layout.flat()):
        if isinstance(stride, int) and lf.is_static(extent):
            found.append((stride, extent, position))
        position = lf.mul(position, extent)
    return sorted(found, key=lambda item: item[0])


def right_inverse(value: Any) -> Any:
    """R with A(R(i)) == i, for as many i from 0 as A reaches without a gap."""
    return on_layout(value, _right_inverse)


def _right_inverse(layout: Layout) -> Layout:
    found: Pairs = []
    reach = 1
    for stride, extent, position in _with_positions(layout):
        if stride == reach:
            found.append((extent, position))
            reach *= extent
    return from_flat(_coalesced(found))


def left_inverse(value: Any) -> Any:
    """L with L(A(i)) == i for every coordinate i."""
    return on_layout(value, _left_inverse)


def _left_inverse(layout: Layout) -> Layout:
    found: Pairs = []
    previous, position, reach = 1, 0, 1
    last = (1, 0)
    for stride, extent, place in _with_positions(layout):
        if stride < reach or stride % previous:
            raise LayoutError(
                f"{layout} has no left inverse: the stride {stride} lies inside a run of {reach} or is no multiple of "
                f"the stride {previous} below it",
                hint="give every mode a positive stride, a multiple of the next smaller one and past its run",
            )
        found.append((stride // previous, position))
        previous, position, reach = stride, place, stride * extent
        last = (extent, place)
    return from_flat(_coalesced([*found, last]))
