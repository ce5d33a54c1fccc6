"""Coordinates and places of a layout as numbers: FlyDSL's `layout_utils`."""

from __future__ import annotations

from typing import Any

import flydsl.expr as fx
from flydsl.kernels.by_hand.preshuffle_addresses import crd2idx


def idx2crd(index: Any, layout: fx.Layout) -> tuple[Any, ...]:
    """Return the coordinate of a place, a number for each extent of the layout."""
    return tuple(fx.get_leaves(fx.idx2crd(index, layout)))


def get(coordinate: Any, mode: int) -> Any:
    """Return the number in a mode of a coordinate, shape or stride."""
    return fx.get(coordinate, mode)


__all__ = ["crd2idx", "get", "idx2crd"]
