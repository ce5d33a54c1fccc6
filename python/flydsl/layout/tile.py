"""Tile: a divisor for each mode of a layout."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslValueError
from flydsl.base.records import dataclass
from flydsl.layout.layout import Layout


@dataclass(frozen=True, slots=True)
class Tile:
    """Modes are an extent, None (leave that mode alone), a layout, or a nested tile.

    A leaf tile has one mode and divides a whole layout instead of its first mode. As a mode of another tile it is that
    mode itself, so a tile has one form only.
    """

    modes: tuple[Any, ...]
    is_leaf: bool = False

    def __post_init__(self) -> None:
        modes = tuple(mode.modes[0] if isinstance(mode, Tile) and mode.is_leaf else mode for mode in self.modes)
        object.__setattr__(self, "modes", modes)
        for mode in modes:
            _check_mode(mode)
        if self.is_leaf and (len(modes) != 1 or isinstance(modes[0], Tile)):
            raise DslValueError(
                f"a leaf tile has one mode, an extent, None or a layout, not {list(modes)}", hint="use make_tile"
            )

    @property
    def rank(self) -> int:
        return len(self.modes)

    def __str__(self) -> str:
        body = "|".join(_mode_text(mode) for mode in self.modes)
        return body if self.is_leaf else f"[{body}]"

    __repr__ = __str__


def _check_mode(mode: Any) -> None:
    if isinstance(mode, bool) or not (mode is None or isinstance(mode, (int, Layout, Tile))):
        raise DslValueError(
            f"a tile mode must be an int, None, a layout or a nested tile, got {mode!r}",
            hint="pass static sizes as Constexpr",
        )
    if isinstance(mode, int) and mode < 1:
        raise DslValueError(f"a tile extent must be positive, got {mode}", hint="use None to leave a mode alone")
    if isinstance(mode, Layout) and not mode.is_static:
        raise DslValueError(f"a tile holds static layouts, got {mode}", hint="pass static sizes as Constexpr")


def _mode_text(mode: Any) -> str:
    return "*" if mode is None else str(mode)


def mode_layout(mode: Any) -> Layout:
    """Return the layout a tile mode composes with: an extent n is n:1."""
    return Layout(mode, 1) if isinstance(mode, int) else mode
