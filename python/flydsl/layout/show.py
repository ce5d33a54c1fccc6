"""Pictures of layouts (text grid, SVG)."""

from __future__ import annotations

from typing import Any


def svg(layout: Any) -> str | None:
    return None
