"""Raw vector builders under the original's import path."""

from __future__ import annotations

from flydsl.expr.vector import CombiningKind, bitcast, broadcast, extract, from_elements

__all__ = ["CombiningKind", "bitcast", "broadcast", "extract", "from_elements"]
