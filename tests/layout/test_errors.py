"""Every refusal names what was combined and says what to do instead."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flydsl.base.errors import DslIndexError, DslValueError, FlyDSLError, LayoutError
from flydsl.layout import algebra, build, coords, divide, product, recast, structure, tv
from flydsl.layout import int_tuple as it
from flydsl.layout import leaf as lf
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import Basis, Unknown
from flydsl.layout.swizzle import ComposedLayout, CoordSwizzle, Swizzle
from flydsl.layout.tensor import Tensor
from flydsl.layout.text import parse_layout, parse_tile
from flydsl.layout.tile import Tile

L, T = parse_layout, parse_tile
VECTOR = L("(1,4):(0,1)")

Case = tuple[Callable[[], Any], list[str], str]

# What is refused, what the message must name, and a word of the advice.
LAYOUT_ERRORS: dict[str, Case] = {
    "shape and stride": (lambda: Layout((4, (2, 3)), (1, 2)), ["(4,(2,3))", "(1,2)"], "nested the same way"),
    "step that does not fit": (
        lambda: algebra.composition(L("(6,4):(1,8)"), L("3:4")),
        ["(6,4):(1,8)", "3:4", "step of 4", "extent 6"],
        "divide the layout",
    ),
    "steps that do not fill": (
        lambda: algebra.composition(L("(6,8):(8,1)"), L("5:3")),
        ["(6,8):(8,1)", "5:3", "2 does not divide 5"],
        "divide the layout",
    ),
    "steps that carry": (
        lambda: algebra.composition(L("(8,2):(1,16)"), L("(2,2):(4,4)")),
        ["(8,2):(1,16)", "(2,2):(4,4)", "extent 8"],
        "do not overlap",
    ),
    "steps backwards": (
        lambda: algebra.composition(L("(4,2):(1,8)"), L("4:-1")),
        ["(4,2):(1,8)", "4:-1", "backwards"],
        "one mode",
    ),
    "steps along a mode that is not there": (
        lambda: algebra.composition(L("(4,2):(1,8)"), L("4:1E2")),
        ["(4,2):(1,8)", "4:1E2", "[2]"],
        "basis strides",
    ),
    "mixed strides in a composition": (
        lambda: algebra.composition(L("(4,2):(1,8)"), L("(2,2):(1E0,1)")),
        ["(4,2):(1,8)", "(2,2):(1E0,1)"],
        "basis strides",
    ),
    "composition with an int": (lambda: algebra.composition(L("8:1"), 4), ["8:1", "4"], "layout or a tile"),
    "composition with a long tile": (
        lambda: algebra.composition(L("(8,2):(1,8)"), T("[4|2|2]")),
        ["(8,2):(1,8)", "[4|2|2]"],
        "at most 2",
    ),
    "coalesce pattern": (
        lambda: algebra.coalesce(L("(8,2):(1,8)"), (1, 1, 1)),
        ["(1,1,1)", "(8,2):(1,8)"],
        "at most 2",
    ),
    "complement of overlapping modes": (
        lambda: algebra.complement(L("(4,4):(1,2)"), 64),
        ["(4,4):(1,2)", "overlap", "stride of 2"],
        "past the run",
    ),
    "complement of dynamic strides": (lambda: algebra.complement(L("(4,4):(1,?)")), ["(4,4):(1,?)"], "static"),
    "complement of a basis": (lambda: algebra.complement(L("4:1E0")), ["4:1E0"], "static"),
    "complement backwards": (lambda: algebra.complement(L("4:-1")), ["4:-1"], "static"),
    "left inverse": (lambda: algebra.left_inverse(L("(4,4):(1,2)")), ["(4,4):(1,2)", "stride 2"], "positive stride"),
    "divide by overlapping modes": (
        lambda: divide.logical_divide(L("64:1"), L("(4,4):(1,2)")),
        ["64:1", "(4,4):(1,2)", "overlap"],
        "past the run",
    ),
    "divide that does not fit": (
        lambda: divide.zipped_divide(L("((5,3),8):((3,1),15)"), T("[4|8]")),
        ["(5,3):(3,1)", "4:1"],
        "divide the layout",
    ),
    "divide by a padded layout": (
        lambda: divide.tiled_divide(L("40:1"), L("(4,8):(1,5)")),
        ["40:1", "(4,8):(1,5)", "32 of 40"],
        "multiples",
    ),
    "divide by an int": (lambda: divide.logical_divide(L("8:1"), 4), ["8:1", "4"], "layout or a tile"),
    "divide by a long tile": (lambda: divide.flat_divide(L("8:1"), T("[4|2]")), ["[4|2]", "8:1"], "at most 1"),
    "none in a zipped divide": (
        lambda: divide.zipped_divide(L("(8,6):(1,8)"), T("[4|*]")),
        ["[4|*]", "6:8"],
        "logical_divide",
    ),
    "zipped divide by none": (lambda: divide.zipped_divide(L("8:1"), T("*")), ["8:1", "*"], "extent"),
    "product of overlapping modes": (
        lambda: product.logical_product(L("(4,4):(1,2)"), L("2:1")),
        ["(4,4):(1,2)", "2:1", "overlap"],
        "past the run",
    ),
    "product that does not fit": (
        lambda: product.blocked_product(L("4:6"), L("8:1")),
        ["(4):(6)", "(8):(1)", "6 of 8"],
        "divide the layout",
    ),
    "tile to a shape of another rank": (
        lambda: product.tile_to_shape(L("(4,4):(4,1)"), (8, 8, 8), (0, 1, 2)),
        ["(8,8,8)", "(4,4)"],
        "every mode",
    ),
    "order": (lambda: build.make_ordered_layout((4, 8), (0, 1, 2)), ["(0,1,2)", "(4,8)"], "one rank"),
    "coordinate": (lambda: L("(4,8):(1,4)")((1, 2, 3)), ["(1,2,3)", "(4,8):(1,4)"], "2 coordinates"),
    "nested coordinate": (lambda: L("(4,8):(1,4)")((1, (2, 3))), ["(1,(2,3))", "(4,8):(1,4)"], "2 coordinates"),
    "index over stride 0": (lambda: coords.idx2crd(5, L("(4,8):(1,0)")), ["5", "(4,8):(1,0)"], "slice"),
    "mixed strides": (lambda: L("(4,8):(1E0,1)")((1, 2)), ["(4,8):(1E0,1)", "2"], "basis strides"),
    "codomain of a swizzle": (
        lambda: coords.coprofile(CoordSwizzle(1, 0, (0,), 0, (1,))),
        ["CS<1,0,[0],0,[1]>"],
        "offset",
    ),
    "slice": (lambda: structure.slice_(L("(4,8):(1,4)"), (None, 1, 2)), ["(*,1,2)", "(4,8):(1,4)"], "None"),
    "slice that keeps nothing": (lambda: structure.slice_(L("(4,8):(1,4)"), (1, 2)), ["(4,8):(1,4)", "(1,2)"], "None"),
    "dice": (lambda: structure.dice(L("(4,8):(1,4)"), (None, (1, 2))), ["(*,(1,2))", "(4,8):(1,4)"], "None"),
    "select": (lambda: structure.select(L("(4,8):(1,4)"), []), ["(4,8):(1,4)"], "at least one"),
    "append to a tensor": (
        lambda: structure.append(Tensor((0, 0), L("(4,8):(1E0,1E1)")), L("1:0")),
        ["(0,0) -> (4,8):(1E0,1E1)"],
        "layout",
    ),
    "rank": (lambda: structure.append((2, 3), 1, 65536), ["(2,3)", "65536"], "4096"),
    "zip": (lambda: structure.zip_(L("(4,8):(1,4)"), L("3:1")), ["(4,8):(1,4)", "3:1", "2 and 1"], "append"),
    "recast of a stride": (
        lambda: recast.recast_layout(L("(4,8):(3,12)"), 16, 32),
        ["(4,8):(3,12)", "stride 3"],
        "vector",
    ),
    "recast of a swizzle": (
        lambda: recast.recast_layout(ComposedLayout(Swizzle(2, 0, 3), 0, L("(4,8):(8,1)")), 16, 32),
        ["S<2,0,3>", "2"],
        "power of two",
    ),
    "recast to nothing": (lambda: recast.recast_layout(L("4:1"), 16, 0), ["4:1", "16", "0"], "positive"),
    "swizzle": (lambda: Swizzle(3, 3, 2), ["mask 3", "shift 2"], "overlap"),
    "coordinate swizzle": (lambda: CoordSwizzle(1, 0, (0,), 0, (2,))((1, 2)), ["[2]", "(1,2)"], "coordinates"),
    "tuples of different nesting": (lambda: it.add((1, 2), (1, (2, 3))), ["2", "(2,3)"], "same nesting"),
    "comparison": (lambda: it.elem_less((1, 2), 3), ["(1,2)", "3"], "same nesting"),
    "shape_div": (lambda: it.shape_div((6, 5), (2, 3)), ["5", "3"], "ceil_div"),
    "ceil_div": (lambda: it.ceil_div((6, 5), (2, 3, 4)), ["(6,5)", "(2,3,4)"], "every mode"),
    "product_like": (lambda: it.product_like((6, 5), (1, (1, 1))), ["5", "(1,1)"], "guide"),
    "division by zero": (lambda: lf.floordiv(5, 0), ["5", "zero"], "0"),
    "remainder by zero": (lambda: lf.mod(5, 0), ["5", "zero"], "0"),
    "ceiling by zero": (lambda: lf.ceil_div(5, 0), ["5", "zero"], "0"),
    "product of bases": (lambda: lf.mul(Basis(1, (0,)), Basis(2, (1,))), ["1E0", "2E1"], "number"),
    "sum of bases": (lambda: lf.add(Basis(1, (0,)), Basis(2, (1,))), ["1E0", "2E1"], "coordinates"),
    "width of a leaf": (lambda: Unknown(16), ["16"], "widen"),
    "divisor of a leaf": (lambda: Unknown(32, 0), ["0"], "1"),
    "threads with gaps": (lambda: tv.make_layout_tv(L("4:2"), L("2:1")), ["4:2", "2:1"], "compact"),
    "dynamic values": (lambda: tv.make_layout_tv(L("4:1"), L("?:1")), ["4:1", "?:1"], "static"),
    "tile of a higher rank": (
        lambda: tv.partition_copy(Tensor(0, L("64:1")), L("(2,4):(4,1)"), T("[4|2]"), VECTOR, VECTOR, 0),
        ["[4|2]", "64:1"],
        "rank",
    ),
    "operand of rank 1": (
        lambda: tv.partition_mma(Tensor(0, L("64:1")), "a", (1, 1, 1), VECTOR, L("1:0"), L("(1,1,1):(0,0,0)"), None, 0),
        ["operand A", "64:1"],
        "block tensor",
    ),
    "retile of a swizzled tensor": (
        lambda: tv.retile(Tensor(0, ComposedLayout(Swizzle(1, 0, 1), 0, L("4:1"))), VECTOR, T("4"), VECTOR),
        ["S<1,0,1> o 0 o 4:1"],
        "fragment",
    ),
}

OTHER_ERRORS: dict[str, tuple[type[FlyDSLError], Callable[[], Any], list[str], str]] = {
    "mode of a layout": (DslIndexError, lambda: L("(4,8):(1,4)")[2], ["mode 2", "(4,8):(1,4)"], "0 to 1"),
    "get": (DslIndexError, lambda: structure.get((4, 8), 2), ["mode 2", "(4,8)"], "count from 0"),
    "take": (DslIndexError, lambda: structure.take(L("(4,8):(1,4)"), 1, 3), ["[1, 3)", "(4,8):(1,4)"], "half open"),
    "group": (DslIndexError, lambda: structure.group((4, 8), 1, 1), ["[1, 1)", "(4,8)"], "half open"),
    "tile mode": (DslValueError, lambda: Tile((4, "x")), ["'x'"], "Constexpr"),
    "tile extent": (DslValueError, lambda: Tile((4, 0)), ["0"], "None"),
    "dynamic tile": (DslValueError, lambda: Tile((L("?:1"),)), ["?:1"], "static"),
    "leaf tile of two": (DslValueError, lambda: Tile((4, 2), is_leaf=True), ["[4, 2]"], "make_tile"),
}


@pytest.mark.parametrize("case", LAYOUT_ERRORS)
def test_layout_errors(case: str) -> None:
    refused, named, advice = LAYOUT_ERRORS[case]
    with pytest.raises(LayoutError) as caught:
        refused()
    check_message(caught.value, named, advice)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("case", OTHER_ERRORS)
def test_other_errors(case: str) -> None:
    kind, refused, named, advice = OTHER_ERRORS[case]
    with pytest.raises(kind) as caught:
        refused()
    check_message(caught.value, named, advice)


def check_message(error: FlyDSLError, named: list[str], advice: str) -> None:
    for part in named:
        assert part in error.message, f"{error.message!r} does not name {part}"
    assert error.hint is not None and advice in error.hint
    assert f"help: {error.hint}" in str(error)


@pytest.mark.parametrize("text", ["(4,8", "4,8", "(4,x):1", "4:", "?{i16}:1", "?{div=}:1", "", "(4,8):(1,4) x"])
def test_bad_text_is_shown_with_its_column(text: str) -> None:
    with pytest.raises(LayoutError) as caught:
        parse_layout(text)
    assert repr(text)[1:-1] in caught.value.message
    assert caught.value.hint


def test_every_refusal_gives_advice(repository: Path) -> None:
    """A raise without a hint is a message that leaves the reader alone."""
    bare: list[str] = []
    for path in sorted((repository / "python/flydsl/layout").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
                if not any(keyword.arg == "hint" for keyword in node.exc.keywords):
                    bare.append(f"{path.name}:{node.lineno}")
    assert bare == []
