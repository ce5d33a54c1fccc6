"""What arrays hold that traced code reads: their bytes, compared at every call, since elements change in place.

Arrays of up to a mebibyte are compared byte by byte. A larger one that can be written is known by identity alone, with
a warning; a torch tensor tells by its version whether torch has changed it.
"""

from __future__ import annotations

import ctypes
import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MOST_BYTES = 1 << 20
"""Bytes that are compared; sixteen thousand take about a microsecond."""


@dataclass(frozen=True)
class Content:
    """What an array holds, and how to see whether it still does."""

    text: str
    """Its elements and form; empty if they are not known."""
    read: Callable[[Any], Any] | None
    """What to compare at each call; None for what cannot change, or for what nothing tells of."""
    size: int
    is_seen: bool
    """Whether a change in place can be noticed."""


def content_of(value: Any) -> Content | None:
    """The content of a bytearray, a NumPy array of numbers or a torch tensor; None for other values."""
    if type(value) is bytearray:
        return _of_bytes(value)
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and type(value) is numpy.ndarray and not value.dtype.hasobject:
        return _of_numpy(value)
    if torch is not None and isinstance(value, torch.Tensor):
        return _of_torch(value)
    return None


FORM = frozenset({"dtype", "element_size", "itemsize", "nbytes", "ndim", "numel", "shape", "size", "stride", "strides"})
"""Attributes that tell nothing of the elements."""


def form_of(value: Any) -> str:
    """All that these tell, as text."""
    if isinstance(value, bytearray):
        return str(len(value))
    strides = value.stride() if hasattr(value, "stride") else value.strides
    return f"{value.dtype} {tuple(value.shape)} {tuple(strides)}"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _of_bytes(value: bytearray) -> Content:
    if len(value) > MOST_BYTES:
        return Content("", None, len(value), False)
    return Content(_digest(bytes(value)), bytes, len(value), True)


def _of_numpy(value: Any) -> Content:
    small = value.nbytes <= MOST_BYTES
    fixed = _is_fixed(value)
    form = f"{value.dtype.str} {value.dtype.descr if value.dtype.fields else ''} {value.shape}"
    text = f"{form} {_digest(value.tobytes())}" if small else ""
    return Content(text, type(value).tobytes if small and not fixed else None, value.nbytes, small or fixed)


def _is_fixed(value: Any) -> bool:
    """Whether nobody can write an array: it is read-only, and so is whatever its memory belongs to."""
    while value is not None:
        if isinstance(value, bytes):
            return True
        if not hasattr(value, "flags") or value.flags.writeable:
            return False
        value = value.base
    return True


def _of_torch(value: Any) -> Content:
    size = value.numel() * value.element_size()
    try:
        readable = value.device.type == "cpu" and value.is_contiguous() and size <= MOST_BYTES
        if readable:
            form = f"{value.dtype} {tuple(value.shape)}"
            return Content(f"{form} {_digest(_tensor_bytes(value)[2])}", _tensor_bytes, size, True)
        return Content("", _tensor_version, size, True)
    except Exception:  # tensors without storage or without a version
        return Content("", None, size, False)


def _tensor_version(value: Any) -> tuple[int, int]:
    return value._version, value.data_ptr()


def _tensor_bytes(value: Any) -> tuple[int, int, bytes]:
    """The version is not enough: what is no part of torch writes without it."""
    pointer = value.data_ptr()
    version = 0 if value.is_inference() else value._version
    return version, pointer, ctypes.string_at(pointer, value.numel() * value.element_size())
