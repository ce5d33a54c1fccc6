"""Numbers of any type in and out of a kernel on the host device, as raw bits.

A value travels as two 64-bit words, low and high, so one array carries every type. Inside the kernel it is made from
its bits with public operations only. Six-bit floats are the exception: the language has no six-bit integer to
reinterpret them as (nor can memory hold them, see ``Storable``), so they travel as float32, which holds each exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import flydsl.expr as fx
from tests.unit.expr import operator_table as table

WORDS = 2
WORD_BITS = 64
_UNSIGNED = {8: fx.Uint8, 16: fx.Uint16, 32: fx.Uint32, 64: fx.Uint64}
_SIX_BIT = (fx.Float6E2M3FN, fx.Float6E3M2FN)


def from_words(dtype: Any, low: Any, high: Any) -> Any:
    """In a kernel: the run-time value of a type whose bits are two Uint64 words."""
    if dtype.width == 128:
        return (fx.Uint128(low) | (fx.Uint128(high) << WORD_BITS)).to(dtype)
    if dtype is fx.Boolean:
        return low != 0
    if dtype in _SIX_BIT:
        return low.to(fx.Uint32).bitcast(fx.Float32).to(dtype)
    if dtype is fx.Float4E2M1FN:
        return low.to(fx.Int4).bitcast(dtype)
    return low.to(_UNSIGNED[dtype.width]).bitcast(dtype) if dtype.is_float else low.to(dtype)


def to_words(number: Any) -> list[Any]:
    """In a kernel: the bits of a value as one Uint64, or as two for 128-bit types."""
    dtype = number.dtype
    if dtype.width == 128:
        bits = number.to(fx.Uint128)
        return [bits.to(fx.Uint64), (bits >> WORD_BITS).to(fx.Uint64)]
    if dtype in _SIX_BIT:
        number = number.to(fx.Float32)
    elif dtype is fx.Float4E2M1FN:
        number = number.bitcast(fx.Int4)
    if number.dtype.is_float:
        number = number.bitcast(_UNSIGNED[number.dtype.width])
    return [number.to(fx.Uint64)]


def words_of(dtype: Any) -> int:
    """How many words ``to_words`` gives for a type."""
    return 2 if dtype.width == 128 else 1


def travel_type(dtype: Any) -> Any:
    """The NumPy type whose bits stand for a float type outside the kernel."""
    return np.dtype(np.float32) if dtype in _SIX_BIT else table.numpy_type(dtype)


def bits_of(dtype: Any, value: float) -> int:
    """The bits that stand for a value outside the kernel."""
    if dtype not in table.FLOATS:
        return int(value) & ((1 << dtype.width) - 1)
    number = np.array(value, np.float64).astype(table.numpy_type(dtype)).astype(travel_type(dtype))
    return int(number.view(f"u{number.itemsize}")) & ((1 << (8 * number.itemsize)) - 1)


def value_of(dtype: Any, words: list[int]) -> Any:
    """The number that ``to_words`` gave the words of."""
    bits = sum(word << (WORD_BITS * place) for place, word in enumerate(words))
    if dtype not in table.FLOATS:
        return table.in_integer(dtype, bits)
    kind = travel_type(dtype)
    mask = (1 << dtype.width) - 1 if kind.itemsize == 1 else (1 << (8 * kind.itemsize)) - 1
    return float(np.array(bits & mask, f"u{kind.itemsize}").view(kind).astype(np.float64))


def word_pair(dtype: Any, value: float) -> list[int]:
    bits = bits_of(dtype, value)
    return [bits & ((1 << WORD_BITS) - 1), bits >> WORD_BITS]
