"""How many elements two layouts have side by side in both."""

from __future__ import annotations

from typing import Any

from flydsl.layout.algebra import coalesce, composition, static_right_inverse
from flydsl.layout.layout import Layout


def max_common_layout(a: Layout, b: Layout) -> Layout:
    """The longest run of coordinates that is contiguous from index 0 in both layouts."""
    inverse = static_right_inverse(b)
    common = coalesce(composition(a, inverse))
    first = common[0]
    if first.stride == 1 and isinstance(first.shape, int):
        return composition(inverse, first)
    return Layout(1, 0)


def max_common_vector(a: Layout, b: Layout) -> Any:
    """The length of that run: the widest access a copy from one to the other may use."""
    return max_common_layout(a, b).size()
