"""Pictures of layouts: what is in them, and that large ones stay small."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import chain, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from flydsl.base.errors import LayoutError
from flydsl.layout import show, tv
from flydsl.layout.layout import Layout
from flydsl.layout.swizzle import Swizzle
from flydsl.layout.text import parse_composed, parse_layout

SVG = "{http://www.w3.org/2000/svg}"


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def cells(text: str) -> list[list[str]]:
    """The body of a grid, split at spaces."""
    return [line.split("|")[1].split() for line in lines(text) if "|" in line][1:]


def boxes(picture: str) -> list[tuple[str, str]]:
    """The colour and text of every cell, in drawing order: row by row."""
    root = ElementTree.fromstring(picture)
    assert root.tag == f"{SVG}svg"
    children = list(root)
    return [
        (element.attrib["fill"], after.text or "")
        for element, after in pairwise(children)
        if element.tag == f"{SVG}rect"
    ]


# Text --------------------------------------------------------------------------------------------


def test_grid_of_a_matrix() -> None:
    assert lines(show.grid(Layout((3, 4), (4, 1)))) == [
        "(3,4):(4,1)",
        "  | 0 1  2  3",
        "--+----------",
        "0 | 0 1  2  3",
        "1 | 4 5  6  7",
        "2 | 8 9 10 11",
    ]


def test_grid_of_one_mode_is_one_row() -> None:
    assert cells(show.grid(Layout(4, 3))) == [["0", "3", "6", "9"]]
    assert cells(show.grid(Layout((4,), (3,)))) == [["0", "3", "6", "9"]]


def test_grid_names_nested_coordinates() -> None:
    picture = show.grid(parse_layout("((2,2),(3,2)):((1,4),(8,2))"))
    assert lines(picture)[1].split() == ["|", "(0,0)", "(1,0)", "(2,0)", "(0,1)", "(1,1)", "(2,1)"]
    assert lines(picture)[5] == "(0,1) |     4    12    20     6    14    22"


def test_grid_of_more_modes_spreads_them_over_the_columns() -> None:
    layout = Layout((2, 2, 3), (6, 3, 1))
    body = cells(show.grid(layout))
    assert body == [[str(layout(row, i, j)) for j in range(3) for i in range(2)] for row in range(2)]


def test_grid_of_a_swizzled_layout() -> None:
    swizzled = parse_composed("S<2,0,2> o 0 o (4,4):(4,1)")
    assert cells(show.grid(swizzled)) == [[str(4 * row + (column ^ row)) for column in range(4)] for row in range(4)]


def test_grid_of_coordinates() -> None:
    assert cells(show.grid(parse_layout("(2,2):(1E0,1E1)"))) == [["(0,0)", "(0,1)"], ["(1,0)", "(1,1)"]]


def test_large_grids_are_cut() -> None:
    picture = show.grid(Layout((100_000, 70_000), (70_000, 1)))
    assert len(lines(picture)) <= show.TEXT_ROWS + 4
    assert max(map(len, lines(picture))) <= show.TEXT_WIDTH
    assert lines(picture)[3].endswith("…")
    small = show.grid(Layout((8, 16), (16, 1)), rows=7, width=40)
    assert max(map(len, lines(small))) <= 40
    assert lines(small)[-1] == "… 1 more row, 7 more columns"


@pytest.mark.parametrize("text", ["(0,4):(1,1)", "(4,0):(1,1)", "0:1"])
def test_empty_layouts_have_empty_pictures(text: str) -> None:
    layout = parse_layout(text)
    assert lines(show.grid(layout))[0] == text
    assert boxes(show.svg(layout)) == []


# SVG ---------------------------------------------------------------------------------------------


def test_svg_has_a_box_for_every_element() -> None:
    layout = Layout((4, 8), (8, 1))
    drawn = boxes(show.svg(layout))
    assert [text for _, text in drawn] == [str(index) for index in range(32)]
    assert [colour for colour, _ in drawn] == [show.PALETTE[index % 16] for index in range(32)]
    assert layout._repr_svg_() == show.svg(layout)


def test_svg_of_a_swizzled_layout() -> None:
    swizzled = parse_composed("S<2,0,2> o 0 o (4,4):(4,1)")
    picture = show.svg(swizzled)
    assert [int(text) for _, text in boxes(picture)] == [4 * r + (c ^ r) for r in range(4) for c in range(4)]
    assert ElementTree.fromstring(picture).findtext(f"{SVG}title") == str(swizzled)
    assert swizzled._repr_svg_() == picture


def test_svg_is_bounded() -> None:
    picture = show.svg(Layout((4096, 4096), (4096, 1)))
    assert len(boxes(picture)) == show.SVG_ROWS * show.SVG_COLUMNS
    assert len(picture) < 400_000
    texts = [element.text for element in ElementTree.fromstring(picture).iter(f"{SVG}text")]
    assert "… 4064 more rows, 4032 more columns" in texts
    assert len(boxes(show.svg(Layout((8, 8), (1, 8)), rows=2, columns=3))) == 6


# Threads and values ------------------------------------------------------------------------------


def test_thread_value_grid() -> None:
    tile, layout = tv.make_layout_tv(Layout((2, 4), (4, 1)), Layout((2, 2), (2, 1)))
    body = cells(show.tv_grid(layout, tile))
    assert body[0] == ["T0V0", "T0V1", "T1V0", "T1V1", "T2V0", "T2V1", "T3V0", "T3V1"]
    assert body[1] == ["T0V2", "T0V3", "T1V2", "T1V3", "T2V2", "T2V3", "T3V2", "T3V3"]
    assert body[2][0] == "T4V0"
    assert sorted(chain(*body)) == sorted(f"T{t}V{v}" for t in range(8) for v in range(4))


def test_thread_value_svg_colours_by_thread() -> None:
    tile, layout = tv.make_layout_tv(Layout((2, 4), (4, 1)), Layout((2, 2), (2, 1)))
    drawn = boxes(show.tv_svg(layout, tile))
    assert len(drawn) == 32
    colours: dict[str, set[str]] = {}
    for colour, text in drawn:
        colours.setdefault(text[1 : text.index("V")], set()).add(colour)
    assert all(len(used) == 1 for used in colours.values())
    assert len(set.union(*colours.values())) == len(colours) == 8


def test_elements_held_twice_or_never() -> None:
    """The operand of an instruction that keeps the same data in both halves of the wave, and a tile with a gap."""
    doubled = parse_layout("((4,2),2):((1,0),4)")
    assert cells(show.tv_grid(doubled, (4, 2)))[1] == ["T1V0+1", "T1V1+1"]
    notes = [element.text for element in ElementTree.fromstring(show.tv_svg(doubled, (4, 2))).iter(f"{SVG}title")]
    assert "T1V0 T5V0" in notes
    assert cells(show.tv_grid(Layout((2, 2), (1, 4)), (2, 3))) == [["T0V0", "·", "T0V1"], ["T1V0", "·", "T1V1"]]
    assert boxes(show.tv_svg(Layout((2, 2), (1, 4)), (2, 3)))[1] == (show.BLANK, "·")


def test_a_flat_tile_is_one_row() -> None:
    assert cells(show.tv_grid(Layout((2, 2), (2, 1)), 4)) == [["T0V0", "T0V1", "T1V0", "T1V1"]]


# Refusals ----------------------------------------------------------------------------------------


def test_what_has_no_picture_is_refused_politely() -> None:
    for dynamic in (parse_layout("(4,?):(1,4)"), parse_composed("S<1,0,2> o ? o 4:1"), Swizzle(1, 0, 2)):
        for draw in (show.grid, show.svg, lambda layout: show.tv_grid(layout, (4, 4))):
            with pytest.raises(LayoutError, match="cannot draw") as caught:
                draw(dynamic)
            assert str(dynamic) in caught.value.message
    assert parse_layout("?:1")._repr_svg_() is None
    with pytest.raises(LayoutError, match="past the tile") as caught:
        show.tv_grid(Layout((2, 2), (1, 8)), (2, 2))
    assert "value 1 of thread 0 at 8" in caught.value.message
    with pytest.raises(LayoutError, match="thread and value"):
        show.tv_svg(Layout(8, 1), 8)


def test_importing_the_algebra_stays_cheap(repository: Path) -> None:
    """Pictures are rare; their needs are not loaded with every kernel."""
    heavy = ("xml", "html", "json", "numpy", "xdsl", "matplotlib")
    code = f"import sys, flydsl.layout.layout; print([name for name in {heavy!r} if name in sys.modules])"
    environment = {**os.environ, "PYTHONPATH": str(repository / "python")}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert run.stdout.strip() == "[]"
