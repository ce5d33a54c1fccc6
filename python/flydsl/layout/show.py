"""Pictures of layouts: a grid of text for a terminal, or an SVG for a notebook or a document.

Rows are mode 0, columns the other modes; a layout of one mode is one row. `grid` and `svg` write into each cell the
index that a layout, plain or composed, gives for the coordinate. `tv_grid` and `tv_svg` show a tile and which thread
holds which of its elements as which value: ``T3V1``. Pictures are bounded; a note says what was left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.base.errors import LayoutError
from flydsl.base.records import dataclass
from flydsl.layout import int_tuple as it
from flydsl.layout.int_tuple import IntTuple
from flydsl.layout.leaf import is_tuple

TEXT_ROWS, TEXT_WIDTH = 40, 120
SVG_ROWS, SVG_COLUMNS = 32, 64

PALETTE = (
    "#aec7e8", "#ffbb78", "#98df8a", "#ff9896", "#c5b0d5", "#c49c94", "#f7b6d2", "#dbdb8d",
    "#9edae5", "#d9d9d9", "#8dd3c7", "#ffffb3", "#bebada", "#fdb462", "#b3de69", "#fccde5",
)  # fmt: skip
BLANK = "#ffffff"


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    colour: str = BLANK
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Picture:
    """What to draw; cells are made on demand, so a large layout costs what is shown of it."""

    title: str
    rows: Any
    columns: Any
    cell: Callable[[int, int], _Cell]

    @property
    def extents(self) -> tuple[int, int]:
        return it.product(self.rows), it.product(self.columns)


def grid(layout: Any, *, rows: int = TEXT_ROWS, width: int = TEXT_WIDTH) -> str:
    """Return the indices of a layout as lines of text, at most ``rows`` by ``width`` characters."""
    return _as_text(_indices(layout), rows, width)


def svg(layout: Any, *, rows: int = SVG_ROWS, columns: int = SVG_COLUMNS) -> str:
    """Return the indices of a layout as an SVG picture; equal colours are equal indices modulo 16."""
    return _as_svg(_indices(layout), rows, columns)


def typst_table(layout: Any, *, color: bool = False, rows: int = SVG_ROWS, columns: int = SVG_COLUMNS) -> str:
    """Return the indices of a layout as a table in Typst's language; colours as in `svg`."""
    picture = _indices(layout)
    height, width = (min(extent, most) for extent, most in zip(picture.extents, (rows, columns), strict=True))
    lines = [f"// {picture.title}", f"#table(columns: {width}, align: center + horizon,"]
    for row in range(height):
        cells = [picture.cell(row, column) for column in range(width)]
        shown = [f'table.cell(fill: rgb("{c.colour}"))[{c.text}]' if color else f"[{c.text}]" for c in cells]
        lines.append("  " + ", ".join(shown) + ",")
    return "\n".join([*lines, ")"])


def tv_grid(layout_tv: Any, tile_shape: IntTuple, *, rows: int = TEXT_ROWS, width: int = TEXT_WIDTH) -> str:
    """Return who holds each element of a tile, as lines of text."""
    return _as_text(_holders(layout_tv, tile_shape), rows, width)


def tv_svg(layout_tv: Any, tile_shape: IntTuple, *, rows: int = SVG_ROWS, columns: int = SVG_COLUMNS) -> str:
    """Return who holds each element of a tile, as an SVG picture with a colour for each thread."""
    return _as_svg(_holders(layout_tv, tile_shape), rows, columns)


# What to draw ------------------------------------------------------------------------------------


def _require_static(layout: Any) -> None:
    if not getattr(layout, "is_static", False) or not hasattr(layout, "shape"):
        raise LayoutError(
            f"cannot draw {layout}: only a layout whose numbers are all known has a picture",
            hint="give it a static shape and static strides; compose a swizzle with a layout",
        )


def _sides(shape: IntTuple) -> tuple[Any, Any]:
    """Return the shapes of the rows and of the columns."""
    modes = it.modes(shape)
    if len(modes) < 2:
        return 1, it.unwrap(modes)
    return modes[0], it.unwrap(modes[1:])


def _indices(layout: Any) -> _Picture:
    _require_static(layout)
    rows, columns = _sides(layout.shape)
    across = it.product(rows)

    def cell(row: int, column: int) -> _Cell:
        # The linear coordinate runs through mode 0 first, whatever the nesting.
        index = layout(row + across * column)
        return _Cell(it.to_text(index), PALETTE[sum(it.leaves(index)) % len(PALETTE)])

    return _Picture(str(layout), rows, columns, cell)


def _holders(layout_tv: Any, tile_shape: IntTuple) -> _Picture:
    _require_static(layout_tv)
    size = it.product(tile_shape)
    if it.rank(layout_tv.shape) != 2:
        raise LayoutError(f"{layout_tv} has no thread and value mode", hint="give a layout of two modes")
    threads, values = (it.product(mode) for mode in layout_tv.shape)
    held: dict[int, list[tuple[int, int]]] = {}
    for thread in range(threads):
        for value in range(values):
            place = layout_tv(thread + threads * value)
            if not 0 <= place < size:
                raise LayoutError(
                    f"{layout_tv} puts value {value} of thread {thread} at {place}, past the tile "
                    f"{it.to_text(tile_shape)}",
                    hint="give the tile that the layout was made for",
                )
            held.setdefault(place, []).append((thread, value))
    rows, columns = _sides(tile_shape)
    across = it.product(rows)

    def cell(row: int, column: int) -> _Cell:
        return _holder_cell(held.get(row + across * column, []))

    return _Picture(f"{layout_tv} over {it.to_text(tile_shape)}", rows, columns, cell)


def _holder_cell(holders: list[tuple[int, int]]) -> _Cell:
    """Return the first thread that holds an element; ``+n`` counts the others, and a tool tip lists them."""
    if not holders:
        return _Cell("·")
    names = [f"T{thread}V{value}" for thread, value in holders]
    more = f"+{len(names) - 1}" if len(names) > 1 else ""
    return _Cell(names[0] + more, PALETTE[holders[0][0] % len(PALETTE)], " ".join(names) if more else "")


# What both kinds of picture share ----------------------------------------------------------------


def _label(index: int, shape: IntTuple) -> str:
    """Return the coordinate with this number, as text."""

    def coordinate(part: Any) -> Any:
        nonlocal index
        if is_tuple(part):
            return tuple(coordinate(item) for item in part)
        index, digit = divmod(index, part)
        return digit

    return it.to_text(coordinate(shape))


def _left_out(rows: int, columns: int) -> str:
    hidden = [f"{n} more {what}{'s' * (n > 1)}" for n, what in ((rows, "row"), (columns, "column")) if n > 0]
    return "… " + ", ".join(hidden) if hidden else ""


# Text --------------------------------------------------------------------------------------------


def _as_text(picture: _Picture, max_rows: int, width: int) -> str:
    rows, columns = picture.extents
    shown = range(min(rows, max_rows))
    names = [_label(row, picture.rows) for row in shown]
    margin = max((len(name) for name in names), default=0)
    stripes: list[list[str]] = []
    used = margin + 2
    for column in range(columns):
        stripe = [_label(column, picture.columns), *(picture.cell(row, column).text for row in shown)]
        used += 1 + max(len(text) for text in stripe)
        if used + len(" …") > width and stripes:
            break
        stripes.append(stripe)
    cut = len(stripes) < columns
    lines = [picture.title]
    for name, texts in zip(["", *names], _transposed(stripes, 1 + len(shown)), strict=True):
        lines.append((f"{name:>{margin}} | " + " ".join(texts)).rstrip() + (" …" if cut else ""))
    lines.insert(2, "-" * (margin + 1) + "+" + "-" * max(len(lines[1]) - margin - 2, 0))
    note = _left_out(rows - len(shown), columns - len(stripes))
    return "\n".join([*lines, note] if note else lines)


def _transposed(stripes: list[list[str]], height: int) -> list[list[str]]:
    """Columns of equal width, read line by line."""
    padded = [[text.rjust(max(map(len, stripe))) for text in stripe] for stripe in stripes]
    return [[stripe[line] for stripe in padded] for line in range(height)]


# SVG ---------------------------------------------------------------------------------------------

_ROW, _LETTER, _PAD = 22, 7, 8
"""Pixels: the height of a row, the width of a letter, the space beside a text."""


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _as_svg(picture: _Picture, max_rows: int, max_columns: int) -> str:
    rows, columns = (min(extent, most) for extent, most in zip(picture.extents, (max_rows, max_columns), strict=True))
    cells = [[picture.cell(row, column) for column in range(columns)] for row in range(rows)]
    row_names = [_label(row, picture.rows) for row in range(rows)]
    column_names = [_label(column, picture.columns) for column in range(columns)]
    texts = [cell.text for line in cells for cell in line]
    wide = _LETTER * max((len(text) for text in [*texts, *column_names]), default=1) + _PAD
    margin = _LETTER * max((len(name) for name in row_names), default=1) + _PAD
    note = _left_out(picture.extents[0] - rows, picture.extents[1] - columns)
    width = max(margin + wide * columns, _LETTER * len(picture.title)) + _PAD
    height = _ROW * (rows + 2 + bool(note)) + _PAD
    body = [_text(_PAD // 2, 0, picture.title, "start")]
    body += [_text(margin + wide * i + wide // 2, 1, name) for i, name in enumerate(column_names)]
    for i, (name, line) in enumerate(zip(row_names, cells, strict=True)):
        body.append(_text(margin // 2, i + 2, name))
        body += [_drawn(cell, margin + wide * j, i + 2, wide) for j, cell in enumerate(line)]
    if note:
        body.append(_text(_PAD // 2, rows + 2, note, "start"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="monospace" font-size="11" text-anchor="middle"><title>{_escaped(picture.title)}</title>'
        + "".join(body) + "</svg>"
    )  # fmt: skip


def _text(x: int, line: int, text: str, anchor: str = "") -> str:
    where = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x}" y="{_ROW * line + 15}"{where}>{_escaped(text)}</text>'


def _drawn(cell: _Cell, x: int, line: int, wide: int) -> str:
    note = f"<title>{_escaped(cell.note)}</title>" if cell.note else ""
    place = f'x="{x}" y="{_ROW * line}" width="{wide}" height="{_ROW}"'
    box = f'<rect {place} fill="{cell.colour}" stroke="#555">{note}</rect>'
    return box + _text(x + wide // 2, line, cell.text)
