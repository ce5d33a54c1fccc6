"""The algebra against its own definitions, by listing every element."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given, settings

from flydsl.base.errors import LayoutError
from flydsl.layout import algebra, build, coords, divide, product, recast, structure
from flydsl.layout import int_tuple as it
from flydsl.layout.accesses import offsets
from flydsl.layout.layout import Layout, join
from flydsl.layout.swizzle import ComposedLayout, CoordSwizzle, Swizzle
from flydsl.layout.tensor import Tensor
from flydsl.layout.text import parse_layout
from flydsl.layout.tile import Tile
from tests.layout import strategies as some
from tests.layout.strategies import Choices, applied, coordinates, table

NESTED = [
    "((2,(3,2)),4):((1,(8,2)),24)",
    "(((2,2),(2,2)),((2,2),(2,2))):(((1,4),(16,64)),((2,8),(32,128)))",
    "(4,(1,(1,8))):(8,(0,(7,1)))",
    "((4)):((2))",
    "(3,1,5):(5,9,1)",
]


# Evaluation --------------------------------------------------------------------------------------


@settings(max_examples=300)
@given(layout=some.LAYOUTS)
def test_an_index_is_the_sum_of_steps(layout: Layout) -> None:
    expected = [
        sum(c * d for c, d in zip(it.leaves(crd), it.leaves(layout.stride), strict=True))
        for crd in coordinates(layout.shape)
    ]
    assert table(layout) == [layout(i) for i in range(layout.size())] == expected
    assert [layout(crd) for crd in coordinates(layout.shape)] == expected == list(offsets(layout))
    assert layout.size() == len(expected)
    assert layout.cosize() == max(expected) + 1


@pytest.mark.parametrize("text", NESTED)
def test_partly_nested_coordinates(text: str) -> None:
    layout = parse_layout(text)
    expected = iter(table(layout))
    sizes = tuple(it.product(part) for part in it.modes(layout.shape))
    for by_mode in coordinates(sizes):
        assert layout(by_mode) == next(expected)


@settings(max_examples=200)
@given(layout=some.COMPACT)
def test_idx2crd_undoes_crd2idx(layout: Layout) -> None:
    for crd in coordinates(layout.shape):
        index = layout(crd)
        found = coords.idx2crd(index, layout)
        assert found == crd
        assert layout(coords.get_1d_coord(index, layout)) == index
        flat = coords.get_flat_coord(index, layout)
        assert layout(flat) == index
        assert not isinstance(layout.shape, tuple) or len(flat) == layout.rank


def test_negative_strides() -> None:
    backwards = Layout((4, 2), (-1, 8))
    assert table(backwards) == [0, -1, -2, -3, 8, 7, 6, 5]
    # The largest index is not where the last coordinate is: the surface asks for strides as they stand.
    assert backwards.cosize() == 6
    assert algebra.coalesce(Layout((2, 4), (-1, -2))) == Layout(8, -1)
    assert table(algebra.composition(Layout(8, -3), Layout((2, 4), (4, 1)))) == [
        Layout(8, -3)(i) for i in (0, 4, 1, 5, 2, 6, 3, 7)
    ]
    assert algebra.composition(Layout(20, 2), Layout(5, -1)) == Layout(5, -2)
    assert divide.logical_divide(Layout(8, -1), Layout(4, 1)) == Layout((4, 2), (-1, -4))
    assert recast.recast_layout(Layout((8, 4), (-1, 8)), 32, 16) == Layout((16, 4), (-1, 16))
    with pytest.raises(LayoutError, match="backwards"):
        algebra.composition(Layout((4, 2), (1, 8)), Layout(2, -1))


EMPTY = [Layout(0, 1), Layout((0, 4), (1, 0)), Layout((4, 0), (1, 4)), Layout((3, (0, 2)), (1, (3, 3)))]


@pytest.mark.parametrize("empty", EMPTY, ids=str)
def test_empty_layouts_stay_empty(empty: Layout) -> None:
    assert empty.size() == empty.cosize() == 0
    assert algebra.coalesce(empty).size() == 0
    assert algebra.composition(empty, empty).size() == 0
    assert algebra.composition(Layout((4, 8), (8, 1)), Layout((2, 0), (1, 2))).size() == 0
    assert algebra.composition(empty, Layout(2, 1)).size() == 2
    assert build.make_layout_like(empty).shape == empty.shape
    assert build.make_fragment_layout_like(empty).shape == empty.shape
    assert recast.recast_layout(empty, 16, 8).size() == 0
    assert divide.logical_divide(empty, Layout(2, 1)).size() == 0
    tile = Tile(tuple(2 for _ in empty.modes()))
    for name in ("logical_divide", "zipped_divide", "tiled_divide", "flat_divide"):
        assert getattr(divide, name)(empty, tile).size() == 0
    assert coords.crd2idx(0, empty) == 0


def test_large_layouts_need_64_bits() -> None:
    rows, columns = 100_000, 50_000
    big = Layout((rows, columns), (columns, 1))
    assert big.size() == big.cosize() == 5_000_000_000
    assert big(rows - 1, columns - 1) == 4_999_999_999
    assert coords.idx2crd(4_999_999_999, big) == (rows - 1, columns - 1)
    tiled = divide.zipped_divide(big, Tile((16, 25)))
    assert tiled.size() == big.size()
    assert tiled((15, 24), (rows // 16 - 1, columns // 25 - 1)) == 4_999_999_999
    assert algebra.right_inverse(big).size() == big.size()
    assert algebra.composition(big, algebra.right_inverse(big)) == Layout((columns, rows), (1, columns))
    assert algebra.complement(Layout(4, 1), big.size()) == Layout(1_250_000_000, 4)


# Composition and divides -------------------------------------------------------------------------


@settings(max_examples=150)
@given(pair=some.pairs(some.compact_layout, some.compact_layout), third=some.COMPACT)
def test_composition_is_associative(pair: tuple[Layout, Layout], third: Layout) -> None:
    try:
        inner = algebra.composition(pair[1], third)
        outer = algebra.composition(pair[0], pair[1])
        left, right = algebra.composition(outer, third), algebra.composition(pair[0], inner)
    except LayoutError:
        return
    if max(table(third)) < pair[1].size() and max(table(pair[1])) < pair[0].size():
        assert table(left) == table(right) == [pair[0](pair[1](third(i))) for i in range(third.size())]


def test_composition_with_basis_strides_walks_the_named_modes() -> None:
    layout = Layout(((4, 2), 8), ((16, 1), 2))
    identity = build.make_identity_layout(((2, 4), 8))
    moved = Layout(((2, 4), (2, 4)), ((it.Basis(1, (0,)), it.Basis(2, (0,))), (it.Basis(4, (1,)), it.Basis(1, (1,)))))
    expected = [layout(c[0] % 2 + 2 * (c[0] // 2), 4 * (c[1] % 2) + c[1] // 2) for c in coordinates((8, 8))]
    assert table(algebra.composition(layout, moved)) == expected
    assert [identity((i, j)) for i, j in coordinates((8, 8))] == [((i % 2, i // 2), j) for i, j in coordinates((8, 8))]


def exact_pair(choices: Choices) -> tuple[Layout, Tile]:
    """An injective layout and a tile whose modes divide its modes."""
    layout = some.spread_layout(choices)
    divisors = [choices.pick([n for n in range(1, m.size() + 1) if m.size() % n == 0]) for m in layout.modes()]
    return layout, Tile(tuple(divisors))


DIVIDES: list[Callable[[Any, Any], Any]] = [
    divide.logical_divide,
    divide.zipped_divide,
    divide.tiled_divide,
    divide.flat_divide,
]


@pytest.mark.parametrize("divided_by", DIVIDES, ids=lambda f: f.__name__)
@settings(max_examples=150)
@given(pair=some.decoded(exact_pair, size=32))
def test_every_element_is_in_one_tile(divided_by: Callable[[Any, Any], Any], pair: tuple[Layout, Tile]) -> None:
    layout, tile = pair
    try:
        divided = divided_by(layout, tile)
    except LayoutError:
        assume(False)
    assert sorted(table(divided)) == sorted(table(layout))


@settings(max_examples=300)
@given(pair=some.decoded(exact_pair, size=32))
def test_tile_and_rest_lead_back_to_the_coordinate(pair: tuple[Layout, Tile]) -> None:
    layout, tile = pair
    try:
        zipped = divide.zipped_divide(layout, tile)
    except LayoutError:
        assume(False)
    sizes = tuple(tile.modes)
    counts = tuple(mode.size() // n for mode, n in zip(layout.modes(), sizes, strict=True))
    for inside in coordinates(sizes):
        for which in coordinates(counts):
            whole = tuple(i + n * w for i, n, w in zip(inside, sizes, which, strict=True))
            assert zipped(inside, which) == layout(whole if isinstance(layout.shape, tuple) else whole[0])


def test_the_four_divides_order_the_same_parts() -> None:
    layout = Layout((10, (4, 6), 5), (31, (53, 2), 3000))
    tile = Tile((Layout(5, 2), Layout((2, 4), (1, 2))))
    first, second, extra = divide.logical_divide(layout, tile).modes()
    tiles, rests = [first[0], second[0]], [first[1], second[1], extra]
    assert divide.zipped_divide(layout, tile) == join([join(tiles), join(rests)])
    assert divide.tiled_divide(layout, tile) == join([join(tiles), *rests])
    assert divide.flat_divide(layout, tile) == join([*tiles, *rests])


def test_nested_tiles_divide_nested_modes() -> None:
    layout = Layout(((8, 6), 10), ((1, 8), 48))
    tile = Tile((Tile((4, 3)), 5))
    logical = divide.logical_divide(layout, tile)
    assert logical == Layout((((4, 2), (3, 2)), (5, 2)), (((1, 4), (8, 24)), (48, 240)))
    zipped = divide.zipped_divide(layout, tile)
    assert zipped == Layout((((4, 3), 5), ((2, 2), 2)), (((1, 8), 48), ((4, 24), 240)))
    assert sorted(table(zipped)) == sorted(table(layout))


def test_a_divide_of_a_tensor_or_composed_layout_divides_the_layout_inside() -> None:
    layout, tile = Layout((8, 8), (8, 1)), Tile((4, 2))
    swizzled = ComposedLayout(Swizzle(2, 0, 3), 5, layout)
    for divided_by in DIVIDES:
        plain = divided_by(layout, tile)
        assert divided_by(swizzled, tile) == ComposedLayout(Swizzle(2, 0, 3), 5, plain)
        assert divided_by(Tensor((0, 0), layout), tile) == Tensor((0, 0), plain)


# Complement, products, inverses ------------------------------------------------------------------


@settings(max_examples=300)
@given(layout=some.LAYOUTS)
def test_complement_is_disjoint_and_ordered(layout: Layout) -> None:
    limit = 4 * layout.cosize()
    try:
        rest = algebra.complement(layout, limit)
    except LayoutError:
        return
    starts = table(rest)
    assert starts == sorted(set(starts))
    inside = set(table(layout))
    reached = {i + start for i in inside for start in starts}
    assert len(reached) == len(inside) * len(starts)
    # Copies of a layout without padding leave no index below the limit out.
    strides = sorted((d, s) for s, d in algebra.coalesce(layout).flat() if d and s > 1)
    if all(big[0] % (small[0] * small[1]) == 0 for small, big in pairwise(strides)):
        assert reached >= set(range(limit))


@settings(max_examples=200)
@given(pair=some.pairs(some.small_layout, some.small_layout))
def test_products_repeat_without_overlap(pair: tuple[Layout, Layout]) -> None:
    a, b = pair
    try:
        logical = product.logical_product(a, b)
    except LayoutError:
        assume(False)
    everything = sorted(table(logical))
    assert len(set(everything)) == a.size() * b.size()
    first = table(a)
    for copy in range(b.size()):
        start = logical[1](copy)
        assert [logical(i, copy) for i in range(a.size())] == [i + start for i in first]
    for name in ("zipped", "tiled", "flat", "blocked", "raked"):
        assert sorted(table(getattr(product, f"{name}_product")(a, b))) == everything, name


def test_rank_one_blocked_products() -> None:
    """A copy mode that a gap splits in two stays one mode."""
    assert product.blocked_product(Layout(4, 2), Layout(6, 1)) == Layout(((4, (2, 3)),), ((2, (1, 8)),))
    assert product.raked_product(Layout(4, 2), Layout(6, 1)) == Layout((((2, 3), 4),), (((1, 8), 2),))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_tile_to_shape_covers_the_shape(order: tuple[int, int]) -> None:
    block = Layout((8, 4), (4, 1))
    covered = product.tile_to_shape(block, (32, 12), order)
    assert it.product_each(covered.shape) == (32, 12)
    assert sorted(table(covered)) == list(range(32 * 12))
    assert covered[0][0] == block[0] and covered[1][0] == block[1]
    fastest = covered[order.index(0)][1]
    assert fastest.stride == block.size()
    padded = product.tile_to_shape(block, (30, 9), order)
    assert it.product_each(padded.shape) == (32, 12)
    swizzled = product.tile_to_shape(ComposedLayout(Swizzle(1, 0, 2), 0, block), (32, 12), order)
    assert swizzled == ComposedLayout(Swizzle(1, 0, 2), 0, covered)


@settings(max_examples=200)
@given(layout=some.COMPACT)
def test_inverses_of_a_bijection(layout: Layout) -> None:
    right, left = algebra.right_inverse(layout), algebra.left_inverse(layout)
    everything = list(range(layout.size()))
    assert applied(layout, right) == applied(right, layout) == applied(left, layout) == everything


def test_inverse_of_a_padded_layout() -> None:
    padded = Layout((4, 8), (1, 5))
    left = algebra.left_inverse(padded)
    assert [left(i) for i in table(padded)] == list(range(32))
    assert algebra.right_inverse(padded) == Layout(4, 1)
    # A padded tile in shared memory can be repeated, but nothing can be divided by it without losing elements.
    assert product.logical_product(padded, Layout(2, 1)) == Layout(((4, 8), 2), ((1, 5), 40))
    with pytest.raises(LayoutError, match="32 of 40"):
        divide.logical_divide(Layout(40, 1), padded)


# Recast ------------------------------------------------------------------------------------------


def bits_covered(layout: Layout, width: int) -> set[int]:
    return {index * width + bit for index in table(layout) for bit in range(width)}


@settings(max_examples=200)
@given(layout=some.SPREAD)
def test_recast_keeps_addresses(layout: Layout) -> None:
    narrow = recast.recast_layout(layout, 32, 8)
    assert recast.recast_layout(narrow, 8, 32) == layout
    if any(stride == 1 and extent > 1 for extent, stride in layout.flat()):
        assume(sum(stride == 1 for _, stride in layout.flat()) == 1)
        assert bits_covered(narrow, 8) == bits_covered(layout, 32)


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("(16,4):(1,16)", 16, 32, "(8,4):(1,8)"),
        ("(4,16):(16,1)", 8, 128, "(4,1):(1,1)"),
        ("(8,3):(1,64)", 16, 128, "(1,3):(1,8)"),
        ("(8,3):(1,0)", 16, 32, "(4,3):(1,0)"),
        ("(32,4):(1,32)", 6, 32, "(6,4):(1,6)"),
    ],
)
def test_recast_upward(text: str, old: int, new: int, expected: str) -> None:
    assert str(recast.recast_layout(parse_layout(text), old, new)) == expected


def test_recast_of_a_swizzled_layout_keeps_addresses() -> None:
    elements = ComposedLayout(Swizzle(3, 3, 3), 16, Layout((8, 64), (64, 1)))
    pairs = recast.recast_layout(elements, 16, 32)
    assert pairs == ComposedLayout(Swizzle(3, 2, 3), 8, Layout((8, 32), (32, 1)))
    for row, column in coordinates((8, 32)):
        assert pairs(row, column) * 2 == elements(row, 2 * column)
    assert recast.recast_layout(pairs, 32, 16) == elements


# Slices, and putting modes together --------------------------------------------------------------


@settings(max_examples=200)
@given(layout=some.LAYOUTS)
def test_slice_and_dice_split_a_layout(layout: Layout) -> None:
    assume(isinstance(layout.shape, tuple) and layout.rank > 1)
    for kept in range(layout.rank):
        coord = tuple(None if mode == kept else part.size() - 1 for mode, part in enumerate(layout.modes()))
        row, fixed = structure.slice_(layout, coord), structure.dice(layout, coord)
        offset = fixed(tuple(c for c in coord if c is not None) if layout.rank > 2 else coord[1 - kept])
        whole = [layout(tuple(i if c is None else c for c in coord)) for i in range(layout[kept].size())]
        assert [offset + i for i in table(row)] == whole
        moved = structure.slice_(Tensor(0, layout), coord)
        assert [moved.iter + i for i in table(moved.layout)] == whole
        swizzled = ComposedLayout(Swizzle(2, 1, 3), 7, layout)
        assert table(structure.slice_(swizzled, coord)) == [Swizzle(2, 1, 3)(7 + i) for i in whole]
        twice = structure.slice_(ComposedLayout(Swizzle(1, 2, 2), 5, swizzled), coord)
        assert table(twice) == [Swizzle(1, 2, 2)(5 + Swizzle(2, 1, 3)(7 + i)) for i in whole]


def test_none_inside_a_nested_coordinate_drops_the_wrapper() -> None:
    layout = Layout(((2, 3), (4, 5)), ((1, 2), (6, 24)))
    assert layout((0, None), 3) == Layout(3, 2)
    assert layout((0, None), (None, 1)) == Layout((3, 4), (2, 6))
    assert layout(None, 3) == Layout((2, 3), (1, 2))
    assert structure.dice(layout, ((0, None), (None, 1))) == Layout((2, 5), (1, 24))


@settings(max_examples=100)
@given(layout=some.LAYOUTS)
def test_grouping_and_choosing_modes(layout: Layout) -> None:
    rank = layout.rank
    assert table(structure.group(layout, 0, rank)) == table(layout)
    assert structure.select(layout, list(range(rank))) == it_unwrapped(layout)
    assert structure.take(layout, 0, 1) == structure.get(layout, 0) == layout[0]
    longer = structure.append(layout, Layout(2, 1000))
    assert table(longer) == [i + 1000 * copy for copy in range(2) for i in table(layout)]
    assert structure.append(layout, Layout(1, 0), rank + 2).rank == rank + 2
    assert structure.prepend(layout, Layout(2, 7)).modes()[1:] == layout.modes()
    assert structure.zip_(layout, layout).modes() == [join([mode, mode]) for mode in layout.modes()]


def it_unwrapped(layout: Layout) -> Layout:
    return layout[0] if layout.rank == 1 else layout


# Making layouts ----------------------------------------------------------------------------------


@settings(max_examples=200)
@given(layout=some.LAYOUTS)
def test_layout_like_is_compact_in_the_same_order(layout: Layout) -> None:
    like = build.make_layout_like(layout)
    held = [(s, d) for (s, d), (_, old) in zip(like.flat(), layout.flat(), strict=True) if old != 0]
    assert sorted(table(Layout(tuple(s for s, _ in held) or 1, tuple(d for _, d in held) or 0))) == list(
        range(it.product(tuple(s for s, _ in held)))
    )
    assert all(new == 0 for (_, new), (_, old) in zip(like.flat(), layout.flat(), strict=True) if old == 0)
    both = sorted((old, new) for (s, new), (_, old) in zip(like.flat(), layout.flat(), strict=True) if old and s > 1)
    assert [new for _, new in both] == sorted(new for _, new in both)


@settings(max_examples=200)
@given(layout=some.LAYOUTS)
def test_fragment_layout_has_a_register_for_every_value(layout: Layout) -> None:
    fragment = build.make_fragment_layout_like(layout)
    assert fragment.shape == layout.shape
    held = fragment
    if layout.rank > 1:
        # Only in mode 0 does a stride of 0 mean that several values share a register.
        shared = algebra.filter_zeros(layout[0]).shape
        held = Layout((shared, *fragment.shape[1:]), fragment.stride)
    assert sorted(table(held)) == list(range(held.size()))


@settings(max_examples=100)
@given(layout=some.COMPACT)
def test_ordered_layout_rebuilds_a_compact_one(layout: Layout) -> None:
    if isinstance(layout.shape, tuple):
        by_stride = build.make_ordered_layout(layout.shape, layout.stride, distinct=True)
        assert some.without_unit_strides(by_stride) == some.without_unit_strides(layout)
    assert build.make_ordered_layout(layout.shape, 0).stride == it.compact_strides(layout.shape)


def test_identity_layouts_give_the_coordinate() -> None:
    identity = build.make_identity_layout((4, (2, 3)))
    assert [identity(crd) for crd in coordinates((4, (2, 3)))] == list(coordinates((4, (2, 3))))
    assert identity.cosize() == 24
    assert coords.coshape(identity) == (4, (2, 3))
    assert coords.coprofile(identity) == (0, (0, 0))


# Swizzles ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("swizzle", [Swizzle(3, 3, 3), Swizzle(2, 0, 4), Swizzle(2, 1, -3), Swizzle(0, 4, 3)], ids=str)
def test_a_swizzle_permutes_each_period(swizzle: Swizzle) -> None:
    image = [swizzle(i) for i in range(2 * swizzle.period)]
    assert sorted(image[: swizzle.period]) == list(range(swizzle.period))
    assert image[swizzle.period :] == [i + swizzle.period for i in image[: swizzle.period]]
    assert [swizzle(i) for i in image] == list(range(2 * swizzle.period))


def test_a_coordinate_swizzle_moves_columns_by_row() -> None:
    swizzle = CoordSwizzle(2, 1, (0,), 0, (1, 1))
    for row, (low, high) in coordinates((8, (3, 4))):
        assert swizzle((row, (low, high))) == (row, (low, high ^ ((row >> 1) & 3)))
    moved = ComposedLayout(CoordSwizzle(2, 0, (0,), 0, (1,)), (0, 0), build.make_identity_layout((8, 4)))
    composed = ComposedLayout(Layout((8, 4), (4, 1)), (0, 0), moved)
    assert [composed(row, column) for row, column in coordinates((8, 4))] == [
        4 * row + (column ^ (row & 3)) for row, column in coordinates((8, 4))
    ]
