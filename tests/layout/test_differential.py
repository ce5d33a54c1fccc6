"""The static algebra against pycute, on thousands of random layouts.

What must be equal is compared as it is written, except the stride of a mode of extent 1, which never takes a step (we
write 0). Where the two may differ, the comment says why and the functions are compared, index by index. pycute asserts
where we raise LayoutError; where only one of them refuses, the answer of the other is held against the definition.

pycute gets layouts throughout: its short cuts for plain ints are wrong (`logical_product(layout, int)` divides,
`complement(int, n)` drops n).
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from flydsl.base.errors import LayoutError
from flydsl.layout import algebra, coords, divide, product, structure
from flydsl.layout import int_tuple as it
from flydsl.layout.layout import Layout, join
from flydsl.layout.swizzle import ComposedLayout, Swizzle
from flydsl.layout.tile import Tile
from tests.layout import strategies as some
from tests.layout.strategies import Choices, applied, table, without_unit_strides


def theirs(value: Any, pycute: ModuleType) -> Any:
    """A layout, an extent or a tile as pycute writes it."""
    if isinstance(value, Tile):
        return tuple(theirs(mode, pycute) for mode in value.modes)
    return pycute.Layout(value, 1) if isinstance(value, int) else pycute.Layout(value.shape, value.stride)


def ours(layout: Any) -> Layout:
    return Layout(layout.shape, layout.stride)


def answer(function: Callable[..., Any], *args: Any) -> Any:
    """What the function gives, or None where it refuses."""
    try:
        return function(*args)
    except LayoutError:
        return None


def their_answer(function: Callable[..., Any], *args: Any) -> Layout | None:
    """As above. A complement of extent 0, which pycute gives for overlapping strides, divides by zero later on."""
    try:
        return ours(function(*args))
    except (AssertionError, ZeroDivisionError):
        return None


def stays_inside(a: Layout, b: Layout) -> bool:
    return max(table(b)) < a.size()


def ends_in_unit(layout: Layout) -> bool:
    return layout.flat()[-1][0] == 1


def same_text(a: Layout, b: Layout) -> bool:
    return without_unit_strides(a) == without_unit_strides(b)


# Composition -------------------------------------------------------------------------------------


def check_composition(a: Layout, b: Layout, pycute: ModuleType) -> None:
    mine = answer(algebra.composition, a, b)
    his = their_answer(pycute.composition, theirs(a, pycute), theirs(b, pycute))
    if mine is None:
        # pycute does not check that the steps fill a mode a whole number of times, and loses elements instead.
        assert his is None or table(his) != applied(a, b)
        return
    assert mine.size() == b.size()
    # Past a's end we go on along a's last mode, even one of extent 1; pycute forgets such a mode when it coalesces.
    if stays_inside(a, b) or not ends_in_unit(a):
        assert table(mine) == applied(a, b)
        assert his is None or same_text(mine, his)


def divisible_pair(choices: Choices) -> tuple[Layout, Layout]:
    a = some.any_layout(choices)
    b = some.tiler(a, choices)
    return a, Layout(b, 1) if isinstance(b, int) else b


@some.thousands(2500)
@given(pair=some.pairs(some.any_layout, some.any_layout))
def test_composition_of_any_two_layouts(pycute: ModuleType, pair: tuple[Layout, Layout]) -> None:
    check_composition(*pair, pycute)


@some.thousands(1500)
@given(pair=some.decoded(divisible_pair, size=32))
def test_composition_with_a_layout_that_mostly_divides(pycute: ModuleType, pair: tuple[Layout, Layout]) -> None:
    check_composition(*pair, pycute)


@some.thousands(500)
@given(pair=some.decoded(some.layout_and_tile, size=32))
def test_composition_with_a_tile(pycute: ModuleType, pair: tuple[Layout, Tile]) -> None:
    a, tile = pair
    mine = answer(algebra.composition, a, tile)
    his = their_answer(pycute.composition, theirs(a, pycute), theirs(tile, pycute))
    divided = zip(a.modes(), [Layout(t, 1) if isinstance(t, int) else t for t in tile.modes], strict=False)
    if mine is not None and his is not None and all(stays_inside(mode, t) for mode, t in divided):
        assert same_text(mine, his)


# Complement, coalesce, inverses -------------------------------------------------------------------


@some.thousands(1500)
@given(layout=some.LAYOUTS, limit=st.sampled_from([1, 7, 24, 64, 100, 256, 1024]))
def test_complement(pycute: ModuleType, layout: Layout, limit: int) -> None:
    for bound in ((), (limit,)):
        mine = answer(algebra.complement, layout, *bound)
        his = their_answer(pycute.complement, theirs(layout, pycute), *bound)
        if mine is None:
            # Overlapping strides, which pycute answers with modes of extent 0.
            assert his is None or his.size() == 0
        else:
            assert mine == his


@some.thousands(1000)
@given(layout=some.LAYOUTS, ranks=st.integers(0, 4))
def test_coalesce(pycute: ModuleType, layout: Layout, ranks: int) -> None:
    mine = algebra.coalesce(layout)
    assert table(mine) == table(layout)
    # A layout of one leaf is returned as it is: only 1:d tells, which pycute writes 1:0.
    assert same_text(mine, ours(pycute.coalesce(theirs(layout, pycute))))
    profile = (1,) * min(ranks, layout.rank)
    by_mode = algebra.coalesce(layout, profile)
    assert table(by_mode) == table(layout)
    if profile:
        assert same_text(by_mode, ours(pycute.coalesce(theirs(layout, pycute), profile)))


def distinct_strides(layout: Layout) -> bool:
    strides = [stride for extent, stride in layout.flat() if extent > 1]
    return len(set(strides)) == len(strides)


@some.thousands(1500)
@given(layout=some.LAYOUTS)
def test_right_inverse(pycute: ModuleType, layout: Layout) -> None:
    mine = algebra.right_inverse(layout)
    his = ours(pycute.right_inverse(theirs(layout, pycute)))
    assert applied(layout, mine) == list(range(mine.size()))
    # pycute stops at the first stride that does not fit, also at one too small; we look on past it and may find more.
    assert mine.size() >= his.size()
    if mine.size() == his.size() and distinct_strides(layout):
        assert mine == his


@some.thousands(1500)
@given(layout=some.LAYOUTS)
def test_left_inverse(pycute: ModuleType, layout: Layout) -> None:
    mine = answer(algebra.left_inverse, layout)
    his = their_answer(pycute.left_inverse, theirs(layout, pycute))
    everything = list(range(layout.size()))
    if mine is None:
        assert his is None or applied(his, layout) != everything
        return
    # Only what a left inverse does to indices of the layout is fixed. For those in its gaps pycute's counts on, and
    # where a padded layout has gaps that do not divide, it stops before them and is no left inverse at all.
    assert applied(mine, layout) == everything


# Divides -----------------------------------------------------------------------------------------


DIVIDES = ("logical_divide", "zipped_divide", "tiled_divide")


def check_refusal(layout: Layout, tiler: Any, pycute: ModuleType) -> None:
    """pycute refuses too, or its answer is not what the definition asks for, or leaves elements out."""
    tiler = Layout(tiler, 1) if isinstance(tiler, int) else tiler
    his = their_answer(pycute.logical_divide, theirs(layout, pycute), theirs(tiler, pycute))
    if his is not None and his.size() >= layout.size():
        rest = ours(pycute.complement(theirs(tiler, pycute), layout.size()))
        assert rest.size() == 0 or table(his) != applied(layout, join([tiler, rest]))


def divides_exactly(layout: Layout, tiler: Any) -> bool:
    tiler = Layout(tiler, 1) if isinstance(tiler, int) else tiler
    return stays_inside(layout, join([tiler, algebra.complement(tiler, layout.size())]))


def check_divides(layout: Layout, tiler: Any, exact: bool, pycute: ModuleType) -> None:
    for name in DIVIDES:
        mine = getattr(divide, name)(layout, tiler)
        his = their_answer(getattr(pycute, name), theirs(layout, pycute), theirs(tiler, pycute))
        # Past the end of the layout, see check_composition.
        if exact and his is not None:
            assert same_text(mine, his), name
    zipped = divide.zipped_divide(layout, tiler)
    assert divide.flat_divide(layout, tiler) == join([*zipped[0].modes(), *zipped[1].modes()])


@some.thousands(1500)
@given(pair=some.decoded(some.layout_and_tiler, size=32))
def test_divides_by_a_layout(pycute: ModuleType, pair: tuple[Layout, Layout]) -> None:
    layout, tiler = pair
    mine = answer(divide.logical_divide, layout, tiler)
    if mine is None:
        check_refusal(layout, tiler, pycute)
        return
    exact = divides_exactly(layout, tiler)
    if exact or not ends_in_unit(layout):
        assert table(mine) == applied(layout, join([tiler, algebra.complement(tiler, layout.size())]))
    check_divides(layout, tiler, exact, pycute)


@some.thousands(1500)
@given(pair=some.decoded(some.layout_and_tile, size=32))
def test_divides_by_a_tile(pycute: ModuleType, pair: tuple[Layout, Tile]) -> None:
    layout, tile = pair
    by_mode = list(zip(layout.modes(), tile.modes, strict=False))
    if answer(divide.logical_divide, layout, tile) is None:
        for mode, tiler in by_mode:
            if answer(divide.logical_divide, mode, Tile((tiler,), is_leaf=True)) is None:
                check_refusal(mode, tiler, pycute)
        return
    check_divides(layout, tile, all(divides_exactly(mode, tiler) for mode, tiler in by_mode), pycute)


# Products ----------------------------------------------------------------------------------------


PRODUCTS = ("logical_product", "zipped_product", "tiled_product")


def copies(a: Layout, b: Layout, pycute: ModuleType) -> list[Any] | None:
    """Where the copies of ``a`` start, by definition; None where pycute has no complement of ``a``."""
    starts = their_answer(pycute.complement, theirs(a, pycute), a.size() * b.cosize())
    return None if starts is None or starts.size() == 0 else applied(starts, b)


@some.thousands(1500)
@given(pair=some.pairs(some.any_layout, some.any_layout))
def test_products(pycute: ModuleType, pair: tuple[Layout, Layout]) -> None:
    a, b = pair
    starts = copies(a, b, pycute)
    mine = answer(product.logical_product, a, b)
    if mine is None:
        his = their_answer(pycute.logical_product, theirs(a, pycute), theirs(b, pycute))
        assert his is None or starts is None or table(his[1]) != starts
        return
    assert mine[0] == a
    assert table(mine[1]) == starts
    for name in PRODUCTS:
        his = their_answer(getattr(pycute, name), theirs(a, pycute), theirs(b, pycute))
        assert his is None or same_text(getattr(product, name)(a, b), his), name


@some.thousands(1000)
@given(pair=some.pairs(some.any_layout, some.any_layout))
def test_products_that_pycute_lacks(pair: tuple[Layout, Layout]) -> None:
    """flat, blocked and raked hold the parts of the logical product of the operands, padded to one rank, by name."""
    a, b = pair
    logical = answer(product.logical_product, a, b)
    if logical is None:
        assert answer(product.flat_product, a, b) is None
        return
    assert product.flat_product(a, b) == join([*a.modes(), *logical[1].modes()]) or not isinstance(b.shape, tuple)
    blocked, raked = product.blocked_product(a, b), product.raked_product(a, b)
    assert blocked.rank == raked.rank == max(a.rank, b.rank)
    one = Layout(1, 0)
    for index in range(blocked.rank):
        from_a = a[index] if index < a.rank else one
        assert blocked[index][0] == raked[index][1] == from_a
        assert blocked[index][1] == raked[index][0]
        expected = logical[1] if not isinstance(b.shape, tuple) else logical[1][index] if index < b.rank else one
        if isinstance(b.shape, tuple) or index == 0:
            assert blocked[index][1] == expected


# Coordinates, tuples, swizzles -------------------------------------------------------------------


@some.thousands(1000)
@given(layout=some.LAYOUTS, index=st.integers(0, 1 << 34))
def test_coordinates(pycute: ModuleType, layout: Layout, index: int) -> None:
    his = theirs(layout, pycute)
    for linear in (index % layout.size(), index):
        assert layout(linear) == his(linear)
    full = pycute.idx2crd(index % layout.size(), layout.shape)
    assert layout(full) == his(full) == layout(index % layout.size())
    # pycute divides by a stride of 0; we do so for no mode of extent 1, and refuse the others.
    if all(stride for _, stride in layout.flat()):
        assert coords.idx2crd(index, layout) == pycute.idx2crd(index, layout.shape, layout.stride)
    compact = Layout(layout.shape, it.compact_strides(layout.shape))
    assert compact.stride == pycute.int_tuple.prefix_product(layout.shape)
    assert coords.idx2crd(index % layout.size(), compact) == full
    assert layout.size() == his.size()
    assert layout.cosize() == his.cosize()


def layout_and_slice(choices: Choices) -> tuple[Layout, Any]:
    layout = some.any_layout(choices)

    def coordinate(shape: Any) -> Any:
        kind = choices.below(3)
        if kind == 0:
            return None
        if isinstance(shape, tuple) and kind == 1:
            return tuple(coordinate(part) for part in shape)
        return choices.below(it.product(shape))

    return layout, tuple(coordinate(part) for part in it.modes(layout.shape))


@some.thousands(750)
@given(pair=some.decoded(layout_and_slice, size=32))
def test_slice(pycute: ModuleType, pair: tuple[Layout, Any]) -> None:
    layout, coord = pair
    if not isinstance(layout.shape, tuple):
        layout = join([layout])
    # pycute keeps the tuple around a single mode; ours is that mode itself.
    shape, stride = (pycute.int_tuple.slice_(coord, part) for part in (layout.shape, layout.stride))
    if it.has_none(coord):
        assert structure.slice_(layout, coord) == Layout(it.unwrap(shape), it.unwrap(stride))
    else:
        assert answer(structure.slice_, layout, coord) is None


@some.thousands(750)
@given(pair=some.pairs(some.any_layout, some.any_layout))
def test_shape_div(pycute: ModuleType, pair: tuple[Layout, Layout]) -> None:
    a, b = pair[0].shape, pair[1].size()
    try:
        his = pycute.int_tuple.shape_div(a, b)
    except AssertionError:
        return
    assert answer(it.shape_div, a, b) == his


@some.thousands(750)
@given(
    bits=st.integers(0, 4),
    base=st.integers(0, 4),
    extra=st.integers(0, 3),
    down=st.booleans(),
    layout=some.COMPACT,
    offset=st.integers(0, 4096),
)
def test_swizzle(pycute: ModuleType, bits: int, base: int, extra: int, down: bool, layout: Layout, offset: int) -> None:
    shift = max(bits + extra, 1) * (-1 if down else 1)  # pycute's shift by 0 never returns
    mine, his = Swizzle(bits, base, shift), pycute.Swizzle(bits, base, shift)
    assert mine(offset) == his(offset)
    assert mine.period == his.size()
    composed = pycute.ComposedLayout(his, offset, theirs(layout, pycute))
    assert table(ComposedLayout(mine, offset, layout)) == [composed(i) for i in range(layout.size())]
