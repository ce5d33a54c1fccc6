"""Whatever is printed parses back to the same value, with or without spaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flydsl.base.errors import FlyDSLError
from flydsl.layout import int_tuple as it
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import Basis, Unknown
from flydsl.layout.swizzle import ComposedLayout, CoordSwizzle, Swizzle
from flydsl.layout.text import (
    parse_composed,
    parse_coord_swizzle,
    parse_int_tuple,
    parse_layout,
    parse_swizzle,
    parse_tile,
)
from flydsl.layout.tile import Tile

INTS = st.integers(-(1 << 40), 1 << 40)
UNKNOWNS = st.builds(Unknown, st.sampled_from([32, 64]), st.integers(1, 1 << 20))
PATHS = st.lists(st.integers(0, 12), min_size=1, max_size=3).map(tuple)
BASES = st.builds(Basis, st.one_of(INTS, UNKNOWNS), PATHS)
LEAVES = st.one_of(INTS, UNKNOWNS, BASES)


def nested(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=8)


TUPLES = nested(st.one_of(LEAVES, st.none()))


@st.composite
def layouts(draw: st.DrawFn, leaves: st.SearchStrategy[Any] = LEAVES) -> Layout:
    shape = draw(nested(leaves))
    return Layout(shape, it.map_leaves(lambda _: draw(leaves), shape))


SWIZZLES = st.tuples(st.integers(0, 4), st.integers(0, 6), st.integers(0, 4), st.booleans()).map(
    lambda bits: Swizzle(bits[0], bits[1], (bits[0] + bits[2]) * (-1 if bits[3] else 1))
)
COORD_SWIZZLES = st.builds(CoordSwizzle, st.integers(0, 4), st.integers(0, 6), PATHS, st.integers(0, 6), PATHS)
INNER = st.one_of(SWIZZLES, COORD_SWIZZLES, layouts())
COMPOSED = st.recursive(
    st.builds(ComposedLayout, INNER, nested(LEAVES), layouts()),
    lambda composed: st.one_of(
        st.builds(ComposedLayout, composed, nested(LEAVES), layouts()),
        st.builds(ComposedLayout, INNER, nested(LEAVES), composed),
    ),
    max_leaves=3,
)
TILE_MODES = st.one_of(st.none(), st.integers(1, 1 << 20), layouts(st.integers(1, 99)))
TILES = st.one_of(
    TILE_MODES.map(lambda mode: Tile((mode,), is_leaf=True)),
    st.recursive(
        st.lists(TILE_MODES, max_size=4).map(lambda modes: Tile(tuple(modes))),
        lambda tile: st.lists(st.one_of(TILE_MODES, tile), max_size=4).map(lambda modes: Tile(tuple(modes))),
        max_leaves=4,
    ),
)


def check(value: Any, text: str, parse: Callable[[str], Any], data: st.DataObject) -> None:
    assert " " not in text or isinstance(value, ComposedLayout) or "div=" in text
    assert parse(text) == value
    assert hash(parse(text)) == hash(value)
    spaced = data.draw(st.sampled_from([",", ")", "(", ":", "|", "]"]))
    assert parse(f"  {text.replace(spaced, f' {spaced}  ')} ") == value


@settings(max_examples=120)
@given(value=TUPLES, data=st.data())
def test_int_tuples(value: Any, data: st.DataObject) -> None:
    check(value, it.to_text(value), parse_int_tuple, data)


@settings(max_examples=120)
@given(value=layouts(), data=st.data())
def test_layouts(value: Layout, data: st.DataObject) -> None:
    check(value, str(value), parse_layout, data)


@settings(max_examples=50)
@given(value=SWIZZLES, other=COORD_SWIZZLES, data=st.data())
def test_swizzles(value: Swizzle, other: CoordSwizzle, data: st.DataObject) -> None:
    check(value, str(value), parse_swizzle, data)
    check(other, str(other), parse_coord_swizzle, data)


@settings(max_examples=60)
@given(value=COMPOSED, data=st.data())
def test_composed_layouts(value: ComposedLayout, data: st.DataObject) -> None:
    check(value, str(value), parse_composed, data)


@settings(max_examples=120)
@given(value=TILES, data=st.data())
def test_tiles(value: Tile, data: st.DataObject) -> None:
    check(value, str(value), parse_tile, data)


@settings(max_examples=300)
@given(text=st.text("()[]<>{}:,|*?ESCoi64dv=-0123 ", max_size=20))
def test_nonsense_is_refused_politely(text: str) -> None:
    for parse in (parse_int_tuple, parse_layout, parse_swizzle, parse_coord_swizzle, parse_composed, parse_tile):
        try:
            parse(text)
        except FlyDSLError as error:
            assert error.hint


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(4,(8,?),*)", (4, (8, Unknown()), None)),
        ("?{i64}", Unknown(64)),
        ("?{div=4}", Unknown(32, 4)),
        ("?{i64 div=16}", Unknown(64, 16)),
        ("?{ div = 16 i64 }", Unknown(64, 16)),
        ("(1E0,2E0E1)", (Basis(1, (0,)), Basis(2, (0, 1)))),
        ("?{div=2}E1", Basis(Unknown(32, 2), (1,))),
        ("( 4 , 8 )", (4, 8)),
        ("(4)", (4,)),
        ("4", 4),
    ],
)
def test_forms_of_leaves(text: str, value: Any) -> None:
    assert parse_int_tuple(text) == value


def test_printed_forms() -> None:
    assert str(Layout((4, (8, Unknown(64, 16))), (1, (4, 32)))) == "(4,(8,?{i64 div=16})):(1,(4,32))"
    assert str(Tile((Layout(2, 7), Layout((3, 6), (1, 3)), None, 8))) == "[2:7|(3,6):(1,3)|*|8]"
    assert str(Tile((4,))) == "[4]" and str(Tile((4,), is_leaf=True)) == "4"
    assert str(ComposedLayout(Swizzle(3, 3, 3), 0, Layout((4, 8), (8, 1)))) == "S<3,3,3> o 0 o (4,8):(8,1)"
    assert str(CoordSwizzle(3, 0, (1,), 0, (2, 0))) == "CS<3,0,[1],0,[2,0]>"
    inner = ComposedLayout(CoordSwizzle(1, 0, (0,), 0, (1,)), (0, 0), parse_layout("(2,2):(1E0,1E1)"))
    nested_text = "(2,2):(1,2) o (0,0) o [CS<1,0,[0],0,[1]> o (0,0) o (2,2):(1E0,1E1)]"
    assert str(ComposedLayout(Layout((2, 2), (1, 2)), (0, 0), inner)) == nested_text


def test_a_tile_has_one_form() -> None:
    assert Tile((Tile((4,), is_leaf=True), 8)) == Tile((4, 8))
    assert parse_tile("[[4|2]|8]") == Tile((Tile((4, 2)), 8))
    assert parse_tile("[[4]|8]") == Tile((Tile((4,)), 8)) != Tile((4, 8))
