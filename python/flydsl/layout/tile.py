"""Tile: a divisor for each mode of a layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flydsl.base.errors import DslValueError
from flydsl.layout.layout import Layout


@dataclass(frozen=True, slots=True)
class Tile:
    """Modes are an extent, None (leave that mode alone), a layout, or a nested tile.

    A leaf tile has one mode and divides a whole layout instead of its first mode.
    """

    modes: tuple[Any, ...]
    is_leaf: bool = False

    def __post_init__(self) -> None:
        for mode in self.modes:
            if isinstance(mode, bool) or not (mode is None or isinstance(mode, (int, Layout, Tile))):
                raise DslValueError(
                    f"a tile mode must be an int, None, a layout or a nested tile, got {mode!r}",
                    hint="tiles are static; pass sizes as Constexpr",
                )
            if isinstance(mode, int) and mode < 1:
                raise DslValueError(f"a tile extent must be positive, got {mode}")

    @property
    def rank(self) -> int:
        return len(self.modes)

    def __str__(self) -> str:
        body = "|".join(_mode_text(mode) for mode in self.modes)
        return body if self.is_leaf else f"[{body}]"

    __repr__ = __str__


def _mode_text(mode: Any) -> str:
    return "*" if mode is None else str(mode)


def mode_layout(mode: Any) -> Layout:
    """The layout a tile mode composes with: an extent n is n:1."""
    return Layout(mode, 1) if isinstance(mode, int) else mode
