"""What a buffer descriptor reaches: the offset of a lane has 32 bits, so a buffer spans at most 4 GiB, forwards.

A layout that goes further would read other elements, or none; what a launch brings `passes/shared/buffer_span.py` asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from flydsl.layout import leaf as lf

OUT_OF_REACH = "index the tensor itself, or make buffers of parts of it that span less"
"""What to do with a tensor that goes further."""


def require_reach(extents: Iterable[Any], strides: Iterable[Any], size: int, require: Callable[..., None]) -> None:
    """Require that every element of a layout, of so many bytes each, lies where offsets reach: ``require(truth, text,
    number)`` is given truth values, and what is wrong, with which number in the text, where one does not hold."""
    last: Any = 0
    for extent, stride in zip(extents, strides, strict=True):
        forwards = lf.either(lf.less(extent, 2), lf.less(-1, stride))
        require(forwards, "nothing of a buffer lies before its first element, and a stride is {}", stride)
        last = last + (extent - 1) * stride
    last = last * size
    require(lf.less(last, 1 << 32), "a buffer spans 4 GiB, and the last element is {} bytes away", last)
