"""Raw vector builders under the original's import path."""

from __future__ import annotations

from flydsl.expr.vector import bitcast, broadcast, extract, from_elements

__all__ = ["bitcast", "broadcast", "extract", "from_elements"]
