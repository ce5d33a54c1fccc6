"""Reading the text form of tuples, layouts, swizzles and tiles: whatever is printed parses back."""

from __future__ import annotations

import re
from typing import Any

from flydsl.base.errors import LayoutError
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import Basis, Unknown
from flydsl.layout.swizzle import ComposedLayout, CoordSwizzle, Swizzle
from flydsl.layout.tile import Tile

_INT = re.compile(r"-?\d+")
_BASIS = re.compile(r"(E\d+)+")
_WIDTH = re.compile(r"i(32|64)")


class _Reader:
    """A position in a text and what may stand there."""

    def __init__(self, text: str, example: str) -> None:
        self.text = text
        self.example = example
        self.at = 0

    def fail(self, expected: str) -> LayoutError:
        message = f"expected {expected} at column {self.at + 1} of '{self.text}'"
        return LayoutError(message, hint=f"write it like {self.example}")

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def take(self, token: str) -> bool:
        self.skip()
        if self.text.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    def need(self, token: str) -> None:
        if not self.take(token):
            raise self.fail(f"'{token}'")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self.skip()
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def done(self) -> None:
        self.skip()
        if self.at != len(self.text):
            raise self.fail("the end")

    def integer(self) -> int:
        found = self.match(_INT)
        if found is None:
            raise self.fail("an integer")
        return int(found[0])

    # Tuples ------------------------------------------------------------------------------------

    def int_tuple(self) -> Any:
        if not self.take("("):
            return self.leaf()
        items: list[Any] = []
        while not self.take(")"):
            items.append(self.int_tuple())
            if not self.take(","):
                self.need(")")
                break
        return tuple(items)

    def leaf(self) -> Any:
        if self.take("*"):
            return None
        value = self.unknown()
        if value is None:
            value = self.integer()
        basis = self.match(_BASIS)
        return Basis(value, tuple(int(m) for m in basis[0][1:].split("E"))) if basis else value

    def unknown(self) -> Unknown | None:
        if not self.take("?"):
            return None
        width, div = 32, 1
        if self.take("{"):
            while not self.take("}"):
                if found := self.match(_WIDTH):
                    width = int(found[1])
                elif self.take("div"):
                    self.need("=")
                    div = self.integer()
                else:
                    raise self.fail("i32, i64, div=N or '}'")
        return Unknown(width, div)

    # Layouts -----------------------------------------------------------------------------------

    def layout(self) -> Layout:
        shape = self.int_tuple()
        self.need(":")
        return Layout(shape, self.int_tuple())

    def swizzle(self) -> Swizzle:
        self.need("S<")
        mask = self.integer()
        self.need(",")
        base = self.integer()
        self.need(",")
        shift = self.integer()
        self.need(">")
        return Swizzle(mask, base, shift)

    def path(self) -> tuple[int, ...]:
        self.need("[")
        modes: list[int] = []
        while not self.take("]"):
            modes.append(self.integer())
            self.take(",")
        return tuple(modes)

    def coord_swizzle(self) -> CoordSwizzle:
        self.need("CS<")
        mask = self.integer()
        self.need(",")
        base_row = self.integer()
        self.need(",")
        row = self.path()
        self.need(",")
        base_col = self.integer()
        self.need(",")
        col = self.path()
        self.need(">")
        return CoordSwizzle(mask, base_row, row, base_col, col)

    def mapping(self) -> Any:
        """Anything that can stand on either side of a composition."""
        if self.take("["):
            inner = self.any_layout()
            self.need("]")
            return inner
        self.skip()
        if self.text.startswith("CS<", self.at):
            return self.coord_swizzle()
        if self.text.startswith("S<", self.at):
            return self.swizzle()
        return self.layout()

    def any_layout(self) -> Any:
        found = self.mapping()
        while self.take("o "):  # without brackets they nest to the left
            offset = self.int_tuple()
            self.need("o ")
            found = ComposedLayout(found, offset, self.mapping())
        return found

    # Tiles -------------------------------------------------------------------------------------

    def tile(self) -> Tile:
        if not self.take("["):
            return Tile((self.tile_mode(),), is_leaf=True)
        modes: list[Any] = []
        while not self.take("]"):
            modes.append(self.tile_mode())
            if not self.take("|"):
                self.need("]")
                break
        return Tile(tuple(modes))

    def tile_mode(self) -> Any:
        self.skip()
        if self.text.startswith("[", self.at):
            return self.tile()
        value = self.int_tuple()
        if self.take(":"):
            return Layout(value, self.int_tuple())
        return value


def _whole(text: str, method: str, example: str) -> Any:
    reader = _Reader(text, example)
    value = getattr(reader, method)()
    reader.done()
    return value


def parse_int_tuple(text: str) -> Any:
    """``(4,(8,?),*)`` and the like."""
    return _whole(text, "int_tuple", "(4,(8,?),*)")


def parse_layout(text: str) -> Layout:
    """``(4,8):(1,4)`` and the like."""
    return _whole(text, "layout", "(4,8):(1,4)")


def parse_swizzle(text: str) -> Swizzle:
    """``S<3,3,3>`` and the like."""
    return _whole(text, "swizzle", "S<3,3,3>")


def parse_coord_swizzle(text: str) -> CoordSwizzle:
    """``CS<3,0,[1],0,[2]>`` and the like."""
    return _whole(text, "coord_swizzle", "CS<3,0,[1],0,[2]>")


def parse_composed(text: str) -> ComposedLayout:
    """``S<3,3,3> o 0 o (4,8):(8,1)`` and the like."""
    value = _whole(text, "any_layout", "S<3,3,3> o 0 o (4,8):(8,1)")
    if not isinstance(value, ComposedLayout):
        raise LayoutError(f"'{text}' is no composed layout", hint="write inner o offset o outer")
    return value


def parse_tile(text: str) -> Tile:
    """``[2:7|(3,6):(1,3)|*|8]`` and the like; without brackets, a tile of one mode."""
    return _whole(text, "tile", "[2:7|(3,6):(1,3)|*|8]")
