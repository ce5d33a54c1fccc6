"""Random layouts for Hypothesis, and how the layout tests look at a layout: by listing what it does.

A layout is decoded from one byte string, a decision a byte: one draw instead of a dozen makes ten thousand examples
affordable, and a failing one still shrinks, byte by byte, to the first choice of each decision.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st

from flydsl.layout import int_tuple as it
from flydsl.layout.layout import Layout, from_flat
from flydsl.layout.tile import Tile

EXTENTS = (1, 2, 3, 4, 8, 6, 5, 12, 16)
STRIDES = (0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64)
GAPS = (1, 1, 2, 3, 4)

T = TypeVar("T")


def thousands(count: int) -> settings:
    """So many examples in `make thorough`, a fifth of them in every other run, which draws others each time."""
    return settings(max_examples=count if os.environ.get("FLYDSL_TEST_ALL") else count // 5)


class Choices:
    """A byte string read as decisions; past its end every decision is the first choice."""

    def __init__(self, data: bytes) -> None:
        self.bytes = iter(data)

    def below(self, count: int) -> int:
        return next(self.bytes, 0) % count

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def flag(self) -> bool:
        return self.below(2) == 1

    def order(self, count: int) -> list[int]:
        left = list(range(count))
        return [left.pop(self.below(len(left))) for _ in range(count)]


def decoded(decode: Callable[[Choices], T], size: int = 16) -> st.SearchStrategy[T]:
    return st.binary(min_size=size, max_size=size).map(lambda data: decode(Choices(data)))


# Layouts -----------------------------------------------------------------------------------------


def assemble(pairs: list[tuple[Any, Any]], choices: Choices) -> Layout:
    """The layout of these (extent, stride) pairs, with up to two pairs of neighbours wrapped into one mode."""
    shape, stride = ([pair[i] for pair in pairs] for i in (0, 1))
    for _ in range(choices.below(3)):
        if len(shape) > 1:
            at = choices.below(len(shape) - 1)
            for items in (shape, stride):
                items[at : at + 2] = [(items[at], items[at + 1])]
    if len(shape) == 1 and choices.below(4):
        return Layout(shape[0], stride[0])
    return Layout(tuple(shape), tuple(stride))


def extents(choices: Choices, max_size: int) -> list[int]:
    found = [choices.pick(EXTENTS) for _ in range(1 + choices.below(4))]
    while it.product(tuple(found)) > max_size:
        found.pop()
    return found


def spread_strides(shape: list[int], gaps: Sequence[int], choices: Choices) -> list[int]:
    strides = [0] * len(shape)
    reach = 1
    for mode in choices.order(len(shape)):
        strides[mode] = reach * choices.pick(gaps)
        reach = strides[mode] * shape[mode]
    return strides


def spread_layout(choices: Choices, gaps: Sequence[int] = GAPS, max_size: int = 128) -> Layout:
    """Injective: each stride is a multiple of what the modes before it reach."""
    shape = extents(choices, max_size)
    return assemble(list(zip(shape, spread_strides(shape, gaps, choices))), choices)


def compact_layout(choices: Choices) -> Layout:
    """A bijection onto [0, size): the strides count through the modes in some order."""
    return spread_layout(choices, gaps=(1,))


def free_layout(choices: Choices) -> Layout:
    """Any strides: overlapping, padded, zero."""
    return assemble([(extent, choices.pick(STRIDES)) for extent in extents(choices, 128)], choices)


def any_layout(choices: Choices) -> Layout:
    return choices.pick((compact_layout, spread_layout, free_layout))(choices)


LAYOUTS = decoded(any_layout)


def small_layout(choices: Choices) -> Layout:
    return spread_layout(choices, max_size=16)


COMPACT = decoded(compact_layout)
SPREAD = decoded(spread_layout)


def pairs(first: Callable[[Choices], Any], second: Callable[[Choices], Any]) -> st.SearchStrategy[tuple[Any, Any]]:
    return decoded(lambda choices: (first(choices), second(choices)), size=32)


# Tiles that fit a layout -------------------------------------------------------------------------


def tiler(mode: Layout, choices: Choices) -> int | Layout:
    """A divisor of one mode: an extent, or a layout of one or two modes, that mostly divides it."""
    size = mode.size()
    if choices.below(8) == 0:
        return 1 + choices.below(size + 2)
    extent = choices.pick([n for n in range(1, size + 1) if size % n == 0])
    if choices.flag():
        return extent
    rest = size // extent
    step = choices.pick([n for n in range(1, rest + 1) if rest % n == 0])
    if choices.flag():
        return Layout(extent, step)
    rest //= step
    more = choices.pick([n for n in range(1, rest + 1) if rest % n == 0])
    return Layout((extent, more), (step, step * extent))


def tile(layout: Layout, choices: Choices) -> Tile:
    """A tile over the leading modes of a layout."""
    return Tile(tuple(tiler(mode, choices) for mode in layout.modes()[: 1 + choices.below(layout.rank)]))


def layout_and_tiler(choices: Choices) -> tuple[Layout, Layout]:
    layout = any_layout(choices)
    divisor = tiler(layout, choices)
    return layout, Layout(divisor, 1) if isinstance(divisor, int) else divisor


def layout_and_tile(choices: Choices) -> tuple[Layout, Tile]:
    layout = any_layout(choices)
    return layout, tile(layout, choices)


# Looking at layouts ------------------------------------------------------------------------------


def table(layout: Any) -> list[Any]:
    """What the layout gives for every linear coordinate, in order."""
    if not isinstance(layout, Layout) or not all(isinstance(stride, int) for stride in it.leaves(layout.stride)):
        return [layout(i) for i in range(it.product(layout.shape))]
    # Most of the tests' time would go into calling the layout; test_laws checks that calls give the same.
    indices = [0]
    for extent, stride in layout.flat():
        indices = [index + step * stride for step in range(extent) for index in indices]
    return indices


def applied(a: Layout, b: Layout) -> list[Any]:
    """a after b, by looking up every element; past a's end, a extrapolates."""
    inside = table(a)
    return [inside[index] if 0 <= index < len(inside) else a(index) for index in table(b)]


def coordinates(shape: Any) -> Iterator[Any]:
    """Every full coordinate of a shape, first mode fastest: the order of the linear coordinate."""
    if not isinstance(shape, tuple):
        yield from range(shape)
        return
    # product() runs its last factor fastest.
    for backwards in product(*(list(coordinates(part)) for part in reversed(shape))):
        yield tuple(reversed(backwards))


def without_unit_strides(layout: Layout) -> Layout:
    """A mode of extent 1 has no step, so implementations differ in the stride they print for it: make it 0."""
    stride = it.map_leaves(lambda s, d: 0 if s == 1 else d, layout.shape, layout.stride)
    return Layout(layout.shape, stride)


def flattened(layout: Layout) -> Layout:
    return from_flat(layout.flat())
