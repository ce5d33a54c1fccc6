"""Coalesce, composition, complement and inverses.

Written once over leaves of any kind: what is undecidable because a leaf is known only at run time
is left as it is (nothing merges, nothing is refused), and the arithmetic goes through `leaf`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.base.errors import LayoutError
from flydsl.layout import int_tuple as it
from flydsl.layout import leaf as lf
from flydsl.layout.coords import cosize
from flydsl.layout.int_tuple import IntTuple
from flydsl.layout.layout import Layout, from_flat, join
from flydsl.layout.leaf import Basis, DynInt, is_tuple
from flydsl.layout.structure import on_layout
from flydsl.layout.tile import Tile, mode_layout

Pairs = list[tuple[Any, Any]]


# Coalesce --------------------------------------------------------------------------------------


def _merges(extent: Any, stride: IntTuple, next_extent: Any, next_stride: Any) -> bool:
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


def coalesce(value: Any, profile: IntTuple = None) -> Any:
    """Merge neighbouring modes that count on; with a profile, inside each of its leaves only."""
    return on_layout(value, lambda layout: _coalesce_layout(layout, profile))


def _coalesce_layout(layout: Layout, profile: IntTuple) -> Layout:
    if is_tuple(profile):
        modes = layout.modes()
        if len(profile) > len(modes):
            raise LayoutError(
                f"the pattern {it.to_text(profile)} has more modes than {layout}",
                hint=f"give at most {len(modes)} modes",
            )
        done = [_coalesce_layout(mode, part) for mode, part in zip(modes, profile, strict=False)]
        return join(done + modes[len(profile) :])
    if not is_tuple(layout.shape):
        return layout
    return from_flat(_coalesced(layout.flat()))


def filter_zeros(layout: Layout) -> Layout:
    """Modes of stride 0 become extent 1."""
    shape = it.map_leaves(lambda s, d: 1 if lf.equals(d, 0) else s, layout.shape, layout.stride)
    return Layout(shape, layout.stride)


# Composition -----------------------------------------------------------------------------------


def composition(a: Any, b: Any) -> Any:
    """Return the layout c -> a(b(c)). A tile composes mode by mode."""
    return on_layout(a, lambda layout: _compose(layout, b))


def _compose(a: Layout, b: Any) -> Layout:
    if isinstance(b, Tile):
        return _compose_tile(a, b)
    if not isinstance(b, Layout):
        raise LayoutError(f"cannot compose {a} with {b!r}", hint="the right side is a layout or a tile")
    if any(isinstance(stride, Basis) for stride in it.leaves(b.stride)):
        walks: dict[tuple[int, ...], _Walk] = {}
        return _map_modes(b, lambda s, d: _compose_basis(walks, s, d, a, b))
    walk = _Walk(a, b)
    return _map_modes(b, lambda s, d: _compose_leaf(walk, s, d))


def _compose_tile(a: Layout, tile: Tile) -> Layout:
    if tile.is_leaf:
        return a if tile.modes[0] is None else _compose(a, mode_layout(tile.modes[0]))
    modes = a.modes()
    if tile.rank > len(modes):
        raise LayoutError(f"the tile {tile} has more modes than {a}", hint=f"give at most {len(modes)} modes")
    done = [mode if t is None else _compose(mode, mode_layout(t)) for mode, t in zip(modes, tile.modes, strict=False)]
    return join(done + modes[tile.rank :])


def _map_modes(b: Layout, leaf: Callable[[Any, Any], Layout]) -> Layout:
    if not is_tuple(b.shape):
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


_FITTING = "choose a tile whose extents divide the layout's"


class _Walk:
    """A's modes, and how far the modes of B, which are composed one by one, together step inside each of them."""

    def __init__(self, a: Layout, b: Layout) -> None:
        self.pairs = _extrapolating(a)
        self.used: list[Any] = [0] * len(self.pairs)
        self.a, self.b = a, b

    def require(self, truth: Any, text: str, *numbers: Any, hint: str = _FITTING) -> None:
        lf.require(truth, "cannot compose {} with {}: " + text, (self.a, self.b, *numbers), hint)

    def has_room(self, index: int, taken: int, step: Any) -> bool:
        """Return whether what is known says that another ``taken`` steps stay inside mode ``index``."""
        reached = lf.add(self.used[index], lf.mul(taken - 1, step))
        return isinstance(reached, int) and reached < lf.divisor(self.pairs[index][0])

    def use(self, index: int, taken: Any, step: Any) -> None:
        """B takes this much of mode ``index``. Past its end the sum would carry, which no layout can say."""
        extent, before = self.pairs[index][0], self.used[index]
        known = lf.equals(before, 0) or (isinstance(taken, int) and self.has_room(index, taken, step))
        self.used[index] = reached = lf.add(before, lf.mul(lf.sub(taken, 1), step))
        if not known:
            self.require(
                lf.less(reached, extent), "its modes together step past the mode of extent {}", extent,
                hint="compose with modes that do not overlap inside a mode of the layout",
            )  # fmt: skip

    def take(self, index: int, count: Any, left: Any, step: Any) -> Any:
        """Return how many of the ``left`` steps mode ``index``, which has ``count`` of them, takes."""
        if isinstance(left, int) and lf.is_divisible(count, left) and self.has_room(index, left, step):
            taken = left
        elif isinstance(count, int) and lf.is_divisible(left, count):
            taken = count
        else:
            taken = lf.minimum(count, left)
            if isinstance(taken, DynInt):
                taken = lf.maximum(taken, 1)  # of an empty layout nothing is left
            self.require(
                lf.divides(taken, left), "{} of {} elements fill a mode, and {} does not divide {}",
                taken, left, taken, left,
            )  # fmt: skip
        self.use(index, taken, step)
        return taken

    def steps(self, index: int, step: Any, left: Any) -> tuple[Any, Any]:
        """Return how many steps mode ``index`` has, and the step through the mode after it.

        A step must divide a mode or be a multiple of it, unless it never leaves the mode.
        """
        extent = self.pairs[index][0]
        count = lf.ceil_div(extent, step)
        if isinstance(step, int) and lf.is_divisible(extent, step):
            return count, 1
        if isinstance(extent, DynInt):
            self.require(lf.less(0, extent), "a mode of extent {} has nothing to step through", extent)
        inside = lf.both(lf.less(step, extent), lf.less(left, lf.add(count, 1)))
        fits = lf.either(lf.divides(extent, step), lf.either(lf.divides(step, extent), inside))
        self.require(fits, "a step of {} does not fit the mode of extent {}", step, extent)
        return count, lf.ceil_div(step, extent)

    def end(self, left: Any) -> None:
        """The last mode goes on without an end, but one of extent 1 is none: then the mode before it goes on."""
        extent = self.pairs[-1][0]
        if isinstance(extent, DynInt):
            goes_on = lf.either(lf.less(1, extent), lf.less(left, 2))
            self.require(goes_on, "{} elements are left for the last mode, of extent {}", left, extent)


def _compose_basis(walks: dict[tuple[int, ...], _Walk], extent: Any, stride: IntTuple, a: Layout, b: Layout) -> Layout:
    """A basis stride names the mode of ``a`` it steps along."""
    if lf.equals(stride, 0):
        return Layout(extent, 0)
    if not isinstance(stride, Basis):
        raise LayoutError(
            f"cannot compose {a} with {b}: it mixes plain and basis strides", hint="use basis strides in every mode"
        )
    if stride.modes not in walks:
        walks[stride.modes] = _Walk(_mode_at(a, stride.modes, b), b)
    return _compose_leaf(walks[stride.modes], extent, stride.value)


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


def _compose_leaf(walk: _Walk, extent: Any, stride: IntTuple) -> Layout:
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
            f"cannot compose {walk.a} with {walk.b}: the stride {stride} walks backwards over several modes",
            hint="walk backwards over a layout of one mode, or coalesce it first",
        )
    walk.require(lf.less(0, stride), "the stride {} does not walk forwards over several modes", stride)
    found: Pairs = []
    left, step = extent, stride
    for index, (_, mode_stride) in enumerate(pairs[:-1]):
        if lf.equals(left, 1):
            break
        count, next_step = walk.steps(index, step, left)
        if not lf.equals(count, 1):
            taken = walk.take(index, count, left, step)
            found.append((taken, lf.mul(step, mode_stride)))
            left = lf.floordiv(left, taken)
        step = next_step
    if not lf.equals(left, 1) or not found:
        walk.end(left)
        found.append((left, lf.mul(step, pairs[-1][1])))
    return from_flat(found)


# Complement ------------------------------------------------------------------------------------


def complement(value: Any, n: Any = None) -> Any:
    """Return where copies of a layout have to start so that together they reach the indices below ``n`` once each."""
    return on_layout(value, lambda layout: _complement(layout, n))


def _complement(layout: Layout, n: Any) -> Layout:
    pairs = _coalesced(filter_zeros(layout).flat())
    limit = cosize(from_flat(pairs)) if n is None else it.product(n)
    if not pairs:
        return from_flat(_coalesced([(limit, 1)]))
    ordered = _sorted_by_stride(pairs, layout)
    found: Pairs = []
    reach: Any = 1
    for (extent, stride), above in zip(ordered, [*(d for _, d in ordered[1:]), limit], strict=True):
        _check_run(extent, stride, reach, above, layout)
        found.append((lf.floordiv(stride, reach), reach))  # what is left over (padding) stays unused
        reach = lf.mul(stride, extent)
    found.append((lf.ceil_div(limit, reach), reach))
    return from_flat(_coalesced(found))


def _check_run(extent: Any, stride: IntTuple, reach: Any, above: Any, layout: Layout) -> None:
    """Modes must not overlap. One of extent 1, which has no run, must leave the runs below and above it alone."""
    lf.require(
        lf.both(lf.less(0, stride), lf.less(reach, lf.add(stride, 1))),
        "{} has no complement: its modes overlap (a stride of {} inside a run of {})",
        (layout, stride, reach),
        "give every mode a stride past the run of the modes below it",
    )
    if isinstance(extent, DynInt):
        between = lf.both(lf.divides(reach, stride), lf.divides(stride, above))
        lf.require(
            lf.either(lf.less(1, extent), lf.both(lf.same(extent, 1), between)),
            "{} has no complement: of its mode {}:{} only the run of several elements is known to fit",
            (layout, extent, stride),
            "leave modes of extent 0 or 1 out of the layout, or make their extents known while compiling",
        )


def _sorted_by_stride(pairs: Pairs, layout: Layout) -> Pairs:
    """Order modes by their strides, which have to be static; a single mode may be dynamic."""
    if len(pairs) == 1 and isinstance(pairs[0][1], DynInt):
        return pairs
    if not all(isinstance(stride, int) and stride > 0 for _, stride in pairs):
        raise LayoutError(
            f"{layout} has no complement here: its strides must be static and positive",
            hint="divide by a static tile, or mark fewer strides dynamic",
        )
    return sorted(pairs, key=lambda pair: pair[1])


# Inverses --------------------------------------------------------------------------------------


def _with_positions(layout: Layout) -> list[tuple[Any, Any, Any]]:
    """Return (stride, extent, position of the mode in the coordinate), the smallest stride first."""
    position: Any = 1
    found: list[tuple[Any, Any, Any]] = []
    for extent, stride in _coalesced(layout.flat()):
        found.append((stride, extent, position))
        position = lf.mul(position, extent)
    # Strides known only at run time have no order: they come last, and who cares refuses them.
    return sorted(found, key=lambda item: (0, item[0]) if isinstance(item[0], int) else (1, 0))


def right_inverse(value: Any) -> Any:
    """R with A(R(i)) == i, for as many i from 0 as A reaches without a gap."""
    return on_layout(value, _right_inverse)


def _right_inverse(layout: Layout) -> Layout:
    found: Pairs = []
    reach: Any = 1
    for stride, extent, position in _with_positions(layout):
        if isinstance(stride, DynInt):
            _refuse_stride(layout, stride, reach)
        elif isinstance(stride, Basis):
            continue
        elif isinstance(reach, int) and lf.is_static(extent):
            if stride == reach:
                found.append((extent, position))
                reach *= extent
        else:
            found.append((_counted_on(layout, stride, extent, reach), position))
            reach = lf.mul(reach, found[-1][0])
    return from_flat(_coalesced(found))


def _counted_on(layout: Layout, stride: int, extent: Any, reach: Any) -> Any:
    """Return the extent of a mode that goes on where the run before it ends, 1 of one that leaves a gap."""
    lf.require(
        lf.less(reach, stride + 1),
        "{} has no right inverse here: its modes overlap (a stride of {} inside a run of {})",
        (layout, stride, reach),
        "give every mode a stride past the run of the modes below it",
    )
    return lf.chosen(lf.same(stride, reach), extent, 1)


def _refuse_stride(layout: Layout, stride: IntTuple, reach: Any = 0) -> None:
    """A stride known only at run time may count on, unless its divisor says that it cannot."""
    if not isinstance(reach, int) or reach % lf.divisor(stride) == 0:
        raise LayoutError(
            f"{layout} has no inverse while compiling: its stride {stride} is known only at run time",
            hint="make the strides known while compiling: pass flyc.from_dlpack(x), or give the layout static strides",
        )


def left_inverse(value: Any) -> Any:
    """L with L(A(i)) == i for every coordinate i."""
    return on_layout(value, _left_inverse)


def _left_inverse(layout: Layout) -> Layout:
    found: Pairs = []
    previous, position, reach = 1, 0, 1
    last = (1, 0)
    for stride, extent, place in _with_positions(layout):
        if not isinstance(stride, int):
            _refuse_stride(layout, stride)
        lf.require(
            lf.both(lf.less(reach, stride + 1), stride % previous == 0),
            "{} has no left inverse: the stride {} lies inside a run of {} or is no multiple of the stride {} below it",
            (layout, stride, reach, previous),
            "give every mode a positive stride, a multiple of the next smaller one and past its run",
        )
        lf.require(
            lf.is_static(extent) or lf.less(1, extent),
            "{} has no left inverse here: its mode of stride {} is of extent {}",
            (layout, stride, extent),
            "leave modes of extent 0 or 1 out of the layout, or make their extents known while compiling",
        )
        found.append((stride // previous, position))
        previous, position, reach = stride, place, lf.mul(stride, extent)
        last = (extent, place)
    return from_flat(_coalesced([*found, last]))
