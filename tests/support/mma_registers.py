"""Operands of matrix instructions as the 32-bit words of each thread's registers, and back.

Elements are packed without gaps, the first in the lowest bits, whatever their width.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flydsl.target.dtype import width_bits
from flydsl.target.mma_facts import fragment_elem
from tests.support.mma_reference import NUMPY_TYPES, Array


def numpy_type(elem: str) -> Any:
    return NUMPY_TYPES[fragment_elem(elem)]


def element_bits(values: Array, elem: str) -> Array:
    """The bit pattern of each element, in a uint64."""
    width = width_bits(fragment_elem(elem))
    held = np.ascontiguousarray(values, dtype=numpy_type(elem))
    raw = held.view(f"u{held.dtype.itemsize}").astype(np.uint64)
    return raw & np.uint64((1 << width) - 1)


def pack(values: Array, elem: str) -> Array:
    """(threads, values) of elements as (threads, words) of int32."""
    width = width_bits(fragment_elem(elem))
    places = np.arange(width, dtype=np.uint64)
    stream = (element_bits(values, elem)[:, :, None] >> places) & np.uint64(1)
    flat = stream.reshape(len(values), -1).astype(np.uint8)
    return np.packbits(flat, axis=1, bitorder="little").view(np.int32)


def unpack(words: Array, elem: str) -> Array:
    """(threads, words) of int32 as (threads, values) of elements as wide as a byte or more."""
    return np.ascontiguousarray(words).view(numpy_type(elem))
