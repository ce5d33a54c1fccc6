"""The examples of the language reference, one by one, read as text."""

from __future__ import annotations

import pytest

from flydsl.base.errors import LayoutError
from flydsl.layout import algebra, build, coords, divide, product, recast, structure, tv
from flydsl.layout import int_tuple as it
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import Basis, Unknown
from flydsl.layout.swizzle import ComposedLayout, Swizzle
from flydsl.layout.tensor import Tensor
from flydsl.layout.text import parse_int_tuple, parse_layout, parse_tile
from flydsl.layout.tile import Tile

L = parse_layout

# Construction and queries ------------------------------------------------------------------------


def test_layouts_need_congruent_tuples() -> None:
    assert str(Layout((4, (8, 2)), (1, (4, 32)))) == "(4,(8,2)):(1,(4,32))"
    with pytest.raises(LayoutError):
        Layout((4, 8), 1)
    with pytest.raises(LayoutError):
        Layout((4,), 1)


@pytest.mark.parametrize(
    ("shape", "order", "expected"),
    [
        ((4, 8), (0, 1), "(4,8):(1,4)"),
        ((4, 8), (1, 0), "(4,8):(8,1)"),
        ((4, 8), 0, "(4,8):(1,4)"),
        ((2, 3, 4), (2, 0, 1), "(2,3,4):(12,1,3)"),
        ((2, (3, 4)), (1, 0), "(2,(3,4)):(12,(1,3))"),
        ((2, (3, 4)), (0, (2, 1)), "(2,(3,4)):(1,(8,2))"),
        ((2, 3, 4), (0, 0, 1), "(2,3,4):(1,1,6)"),
    ],
)
def test_ordered_layouts(shape: object, order: object, expected: str) -> None:
    assert str(build.make_ordered_layout(shape, order)) == expected


def test_ordered_layouts_put_static_orders_before_dynamic_ones() -> None:
    assert str(build.make_ordered_layout((2, 3, 4), (Unknown(), 5, Unknown()))) == "(2,3,4):(3,1,6)"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("(4,8):(1,100)", "(4,8):(1,4)"),
        ("(4,8):(100,1)", "(4,8):(8,1)"),
        ("(4,(2,8)):(0,(80,3))", "(4,(2,8)):(0,(8,1))"),
    ],
)
def test_layouts_like_another(source: str, expected: str) -> None:
    assert str(build.make_layout_like(L(source))) == expected


def test_identity_layouts() -> None:
    assert str(build.make_identity_layout((4, 8))) == "(4,8):(1E0,1E1)"
    assert str(build.make_identity_layout((4, (2, 3)))) == "(4,(2,3)):(1E0,(1E1E0,1E1E1))"
    assert str(build.make_identity_layout(8)) == "8:1"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("((8,1),2,3):((1,0),48,8)", "((8,1),2,3):((1,0),24,8)"),
        ("((4,1),4,1):((64,0),1024,0)", "((4,1),4,1):((1,0),4,0)"),
        ("(4,8):(8,1)", "(4,8):(1,4)"),
        ("((2,4),3):((0,5),1)", "((2,4),3):((0,1),4)"),
        ("8:3", "8:1"),
        ("((2,4)):((8,1))", "((2,4)):((1,2))"),
    ],
)
def test_fragment_layouts(source: str, expected: str) -> None:
    assert str(build.make_fragment_layout_like(L(source))) == expected


def test_queries() -> None:
    layout = L("((2,4),8):((1,2),8)")
    assert (layout.rank, layout.depth, layout.size()) == (2, 2, 64)
    assert it.rank(7) == 1 and it.depth(7) == 0 and it.depth((1, 2)) == 1
    assert it.has_none((1, (None, 2)))
    assert it.weakly_congruent((1, 2), ((1, 2), 3)) and not it.congruent((1, 2), ((1, 2), 3))
    assert L("(4,8):(1,5)").cosize() == 1 + 3 + 35
    assert L("(4,8):(1E0,1E1)").cosize() == 32
    assert coords.coshape(L("(4,8):(1E0,2E1)")) == (4, 15)
    assert coords.coprofile(L("(4,8):(1E0,1E1E1)")) == (0, (0, 0))
    assert L("(4,8):(-1,4)").cosize() == 1 - 3 + 28


# Coordinates -------------------------------------------------------------------------------------


def test_coordinate_maps() -> None:
    rows = L("(4,8):(8,1)")
    assert rows(3, 5) == 29
    assert rows(5) == 9
    assert L("(4,8):(1,4)")(40) == 40, "the last mode takes what is left, past the end"
    assert coords.idx2crd(5, rows) == (0, 5)
    assert coords.get_1d_coord(5, rows) == 20
    assert coords.get_flat_coord(13, L("((2,4),8):((1,2),8)")) == (5, 1)
    assert coords.crd2idx((3, 5), ComposedLayout(Swizzle(1, 0, 3), 0, rows)) == 29 ^ 1
    assert coords.crd2idx(9, Swizzle(1, 0, 3)) == 8


# Structure ---------------------------------------------------------------------------------------


def test_structure() -> None:
    layout = L("(2,(3,4),5):(60,(20,5),1)")
    assert str(structure.get(layout, 1)) == "(3,4):(20,5)"
    assert str(structure.take(layout, 1, 3)) == "((3,4),5):((20,5),1)"
    assert str(structure.take(layout, 2, 3)) == "5:1"
    assert str(structure.select(layout, [2, 0])) == "(5,2):(1,60)"
    assert structure.group((128, 64), 0, 2) == ((128, 64),)
    assert structure.append((2, 3), 4) == (2, 3, 4)
    assert structure.append(2, 1, 3) == (2, 1, 1)
    assert structure.prepend((2, 3), 1, 4) == (1, 1, 2, 3)
    assert structure.zip_((1, 2), (3, 4)) == ((1, 3), (2, 4))
    assert str(layout(1, None, None)) == "((3,4),5):((20,5),1)"
    assert str(layout(None, (1, None), 2)) == "(2,4):(60,5)"
    assert structure.dice((4, 8, 2), (None, 3, 1)) == (8, 2)


# Tuples ------------------------------------------------------------------------------------------


def test_tuple_arithmetic() -> None:
    assert it.add((1, (2, 3)), (4, (5, 6), 7)) == (5, (7, 9), 7)
    assert it.product((2, (3, 4))) == 24
    assert it.product_each((2, (3, 4))) == (2, 12)
    assert it.product_like(((2, 3), 4), (1, 1)) == (6, 4)
    assert it.shape_div((6, 4), (3, 8)) == (2, 1)
    assert it.shape_div((3, 4), 6) == (1, 2)
    assert it.shape_div(12, (3, 2)) == 2
    assert it.ceil_div((7, 5), (2, 5)) == (4, 1)
    assert it.elem_less((1, 2), (2, 3)) is True
    assert it.elem_less((1, 2, 3), (2, 3)) is False
    assert it.equal((1, (2, 3)), (1, 2, 3)) is False
    assert it.equal(Basis(1, (0,)), Basis(1, (1,))) is False
    with pytest.raises(LayoutError):
        it.shape_div(6, 4)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (it.add, "?{div=2}"),
        (it.sub, "?{div=2}"),
        (it.mod, "?{div=2}"),
        (it.mul, "?{i64 div=24}"),
        (it.div, "?"),
        (it.ceil_div, "?"),
    ],
)
def test_divisibility_of_run_time_leaves(function: object, expected: str) -> None:
    assert callable(function)
    assert str(function(Unknown(32, 4), Unknown(32, 6))) == expected


# The algebra -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("(2,(1,6)):(1,(6,2))", "12:1"),
        ("(4,1):(7,3)", "4:7"),
        ("(1,1):(5,6)", "1:0"),
        ("1:5", "1:5"),
        ("(?,4):(1,?)", "(?,4):(1,?)"),
        ("(4,?):(1,4)", "(4,?):(1,4)"),
    ],
)
def test_coalesce(layout: str, expected: str) -> None:
    assert str(algebra.coalesce(L(layout))) == expected


def test_coalesce_by_pattern() -> None:
    layout = L("((2,4),(2,2),(1,3)):((1,2),(8,16),(0,5))")
    assert str(algebra.coalesce(layout, (1, 1))) == "(8,4,(1,3)):(1,8,(0,5))"
    assert str(algebra.coalesce(layout, 1)) == "(32,3):(1,5)"


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("(6,2):(8,2)", "(4,3):(3,1)", "((2,2),3):((24,2),8)"),
        ("20:2", "(5,4):(4,1)", "(5,4):(8,2)"),
        ("(10,2):(16,4)", "(5,4):(1,5)", "(5,(2,2)):(16,(80,4))"),
        ("(4,8):(1,4)", "8:0", "8:0"),
        ("(4,8):(1,5)", "(1,2):(7,2)", "(1,2):(0,2)"),
    ],
)
def test_composition(a: str, b: str, expected: str) -> None:
    assert str(algebra.composition(L(a), L(b))) == expected


def test_composition_goes_on_past_a_trailing_mode_of_extent_1() -> None:
    assert str(algebra.composition(L("(4,1):(1,16)"), L("(4,4):(1,4)"))) == "(4,4):(1,16)"
    assert str(algebra.composition(L("(6,1):(1,6)"), L("7:1"))) == "7:1"


def test_composition_with_a_tile() -> None:
    layout = L("(8,(4,4),3):(1,(8,40),200)")
    assert str(algebra.composition(layout, parse_tile("[4|*]"))) == "(4,(4,4),3):(1,(8,40),200)"
    assert str(algebra.composition(layout, parse_tile("[*|(2,4):(2,4)]"))) == "(8,(2,4),3):(1,(16,40),200)"
    with pytest.raises(LayoutError):
        algebra.composition(layout, 4)
    with pytest.raises(LayoutError):
        algebra.composition(layout, (4, 4))


@pytest.mark.parametrize(
    ("layout", "limit", "expected"),
    [
        ("4:1", 24, "6:4"),
        ("(2,4):(1,6)", 24, "3:2"),
        ("6:4", 24, "4:1"),
        ("4:2", None, "2:1"),
        ("8:0", 24, "24:1"),
        ("(2,2):(1,6)", 24, "(3,2):(2,12)"),
    ],
)
def test_complement(layout: str, limit: int | None, expected: str) -> None:
    assert str(algebra.complement(L(layout), limit)) == expected


@pytest.mark.parametrize(
    ("layout", "expected"),
    [("(4,8):(8,1)", "(8,4):(4,1)"), ("(4,8):(1,5)", "4:1"), ("4:2", "1:0"), ("(4,?):(1,?{div=8})", "4:1")],
)
def test_right_inverse(layout: str, expected: str) -> None:
    assert str(algebra.right_inverse(L(layout))) == expected


@pytest.mark.parametrize(("layout", "expected"), [("(4,8):(1,5)", "(5,8):(1,4)"), ("4:2", "(2,4):(0,1)")])
def test_left_inverse(layout: str, expected: str) -> None:
    assert str(algebra.left_inverse(L(layout))) == expected


def test_divides() -> None:
    assert str(divide.logical_divide(L("64:1"), L("4:1"))) == "(4,16):(1,4)"
    layout, tile = L("(10,(4,6)):(31,(53,2))"), parse_tile("[5:2|(2,4):(1,2)]")
    assert str(divide.logical_divide(layout, tile)) == "((5,2),((2,(2,2)),3)):((62,31),((53,(106,2)),4))"
    assert str(divide.zipped_divide(layout, tile)) == "((5,(2,(2,2))),(2,3)):((62,(53,(106,2))),(31,4))"
    assert str(divide.tiled_divide(layout, tile)) == "((5,(2,(2,2))),2,3):((62,(53,(106,2))),31,4)"
    assert str(divide.flat_divide(layout, tile)) == "(5,(2,(2,2)),2,3):(62,(53,(106,2)),31,4)"
    assert str(divide.logical_divide(L("(8,6):(1,8)"), parse_tile("[*|3]"))) == "(8,(3,2)):(1,(8,24))"
    assert str(divide.logical_divide(L("(8,6):(6,1)"), parse_tile("16"))) == "((8,2),3):((6,1),2)"
    assert str(divide.zipped_divide(L("(10,7):(7,1)"), parse_tile("[4|4]"))) == "((4,4),(3,2)):((7,1),(28,4))"
    assert (
        str(divide.zipped_divide(L("(?,?{div=4}):(?{i64},1)"), parse_tile("[16|4]")))
        == "((16,4),(?,?)):((?{i64},1),(?{i64 div=16},4))"
    )


def test_products() -> None:
    assert str(product.logical_product(L("(2,2):(4,1)"), L("6:1"))) == "((2,2),(2,3)):((4,1),(2,8))"
    a, b = L("(4,8):(1,4)"), L("(2,2):(1,2)")
    assert str(product.blocked_product(a, b)) == "((4,2),(8,2)):((1,32),(4,64))"
    assert str(product.raked_product(a, b)) == "((2,4),(2,8)):((32,1),(64,4))"
    assert str(product.zipped_product(a, b)) == "((4,8),(2,2)):((1,4),(32,64))"
    assert str(product.tiled_product(a, b)) == "((4,8),2,2):((1,4),32,64)"
    assert str(product.flat_product(a, b)) == "(4,8,2,2):(1,4,32,64)"
    assert str(product.blocked_product(L("4:1"), L("(2,3):(1,2)"))) == "((4,2),(1,3)):((1,4),(0,8))"
    assert str(product.tile_to_shape(a, (8, 24), (1, 0))) == "((4,2),(8,3)):((1,96),(4,32))"


@pytest.mark.parametrize(
    ("layout", "old", "new", "expected"),
    [
        ("(8,4):(1,8)", 32, 16, "(16,4):(1,16)"),
        ("(8,4):(-1,8)", 32, 16, "(16,4):(-1,16)"),
        ("(8,4):(1,8)", 16, 32, "(4,4):(1,4)"),
        ("(4,8):(0,1)", 8, 32, "(4,2):(0,1)"),
        ("(8,?):(1,?{div=8})", 16, 64, "(2,?):(1,?{div=2})"),
        ("(4,2):(1,4)", 24, 16, "(6,2):(1,6)"),
        ("(5,2):(2,16)", 8, 32, "(3,2):(1,4)"),
    ],
)
def test_recast(layout: str, old: int, new: int, expected: str) -> None:
    # 24 to 16: two old elements make one of 48 bits, which makes three new ones.
    assert str(recast.recast_layout(L(layout), old, new)) == expected


# Swizzles ----------------------------------------------------------------------------------------


def test_swizzles() -> None:
    swizzle = Swizzle(3, 3, 3)
    assert [swizzle(64 * row) for row in range(9)] == [64 * row + 8 * (row % 8) for row in range(8)] + [512]
    assert swizzle.period == 512
    shared = ComposedLayout(swizzle, 0, L("(8,64):(64,1)"))
    assert shared(2, 0) == 128 + 16
    assert str(shared(3, None)) == "S<3,3,3> o 192 o 64:1"
    assert recast.recast_layout(shared, 16, 32).inner == Swizzle(3, 2, 3)
    assert recast.recast_layout(shared, 16, 8).inner == Swizzle(3, 4, 3)


# Tiled operations --------------------------------------------------------------------------------


def test_thread_value_layouts() -> None:
    tile, layout = tv.make_layout_tv(L("(2,4):(4,1)"), L("(2,2):(2,1)"))
    assert tile == (4, 8)
    assert str(layout) == "((4,2),(2,2)):((8,2),(4,1))"


def test_copy_partitions() -> None:
    tile, layout = tv.make_layout_tv(L("(32,8):(8,1)"), L("(1,8):(8,1)"))
    atom = L("(1,8):(0,1)")
    part = tv.partition_copy(Tensor(0, L("(128,64):(64,1)")), layout, Tile(tile), atom, atom, 9)
    assert (part.iter, str(part.layout)) == (64 + 8, "((8,1),4,1):((1,0),2048,0)")


def test_mma_partitions() -> None:
    c = L("((16,4),(4,1)):((16,4),(1,16))")
    threads, atoms = L("64:1"), L("(1,4,1):(0,1,0)")
    assert str(tv.thr_layout_vmnk(threads, atoms)) == "(64,1,4,1):(1,0,64,0)"
    assert tv.tile_size_mnk((16, 16, 4), atoms, None) == (16, 64, 4)
    part = tv.partition_mma(Tensor(0, L("(64,64):(64,1)")), "c", (16, 16, 4), c, threads, atoms, None, 70)
    assert (part.iter, str(part.layout)) == (22, "((4,1),4,1):((64,0),1024,0)")
    assert str(build.make_fragment_layout_like(part.layout)) == "((4,1),4,1):((1,0),4,0)"


def test_text_of_tuples() -> None:
    assert it.to_text((4, (8, Unknown()), None)) == "(4,(8,?),*)"
    assert parse_int_tuple("(4)") == (4,) and parse_int_tuple("4") == 4
