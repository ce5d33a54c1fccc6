"""Numbers of any type in and out of a kernel on the host device, as raw bits.

A value travels as 64-bit words, so one array carries every type. Inside the kernel it is made from its bits, and
turned back into them, with public operations only. What cannot be done directly:

    six-bit floats    the language has no six-bit integer to reinterpret them as, and memory has no place for one
                      (they are not Storable), so they travel as float32, which holds each exactly
    Float4E2M1FN      not Storable either; reinterpreted as Int4, which travels widened
    Boolean, Int4     not reinterpreted: compared with zero, and truncated
    Index             has no fixed bits, so it is converted to and from Uint64
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.unit.expr import operator_table as table

WORDS = 2
"""Words an operand is passed as: low, high."""
WORD_BITS = 64
_WORD_MASK = (1 << WORD_BITS) - 1
_UNSIGNED = {8: fx.Uint8, 16: fx.Uint16, 32: fx.Uint32, 64: fx.Uint64}
_SIX_BIT = (fx.Float6E2M3FN, fx.Float6E3M2FN)

# In a kernel


def from_words(dtype: Any, low: Any, high: Any) -> Any:
    """The run-time value of a type whose bits are two Uint64 words."""
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
    """The bits of a value as one Uint64, or as two for 128-bit types."""
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


# Outside


def word_count(dtype: Any) -> int:
    """How many words ``to_words`` gives for a type."""
    return WORDS if dtype.width == 128 else 1


def _travel_type(dtype: Any) -> np.dtype[Any]:
    """The NumPy type whose bits stand for a float type outside the kernel."""
    return np.dtype(np.float32) if dtype in _SIX_BIT else table.numpy_type(dtype)


def float_array(dtype: Any, values: Sequence[float]) -> np.ndarray:
    """Values a float type holds exactly, as an array of the type they travel in."""
    with np.errstate(all="ignore"):
        return np.array(values, np.float64).astype(table.numpy_type(dtype)).astype(_travel_type(dtype))


def words(dtype: Any, values: Sequence[float]) -> np.ndarray:
    """Numbers as words: one row of two for each."""
    if dtype in table.FLOATS:
        numbers = float_array(dtype, values)
        bits = [int(code) for code in numbers.view(f"u{numbers.itemsize}")]
    else:
        bits = [int(value) & ((1 << dtype.width) - 1) for value in values]
    return np.array([[code & _WORD_MASK, code >> WORD_BITS] for code in bits], np.uint64)


def floats_of(dtype: Any, column: np.ndarray) -> np.ndarray:
    """The floats whose words a kernel wrote, in the type they travel in."""
    kind = _travel_type(dtype)
    mask = (1 << min(dtype.width, 8)) - 1 if kind.itemsize == 1 else (1 << (8 * kind.itemsize)) - 1
    return (column & np.uint64(mask)).astype(f"u{kind.itemsize}").view(kind)


def nearest_bfloat16(values: np.ndarray) -> np.ndarray:
    """Doubles rounded once: to odd in float32, whose extra digits then decide every tie rightly."""
    single = values.astype(np.float32)
    back = single.astype(np.float64)
    bits = single.view(np.uint32).copy()
    finite = np.isfinite(values) & np.isfinite(single)
    bits[finite & (np.abs(back) > np.abs(values))] -= 1
    bits[finite & (back != values)] |= 1
    return bits.view(np.float32).astype(ml_dtypes.bfloat16)


# Elementwise kernels

THREADS = 256


def call(function: Any, *args: Any) -> None:
    """Run a jit function on the arrays as they are."""
    function(*args)


def elementwise(function: Any, inputs: np.ndarray, rows: int, dtype: Any, run: Any = call) -> np.ndarray:
    """`function` on each column of `inputs` (operands, elements): its list of results as columns of (rows, elements).

    A thread takes one element; `function` sees run-time scalars of the type of `inputs`. ``run`` says where.
    """
    operands, count = inputs.shape
    blocks = -(-count // THREADS)
    padded = np.ascontiguousarray(np.pad(inputs, ((0, 0), (0, blocks * THREADS - count)), mode="edge"))
    out = np.zeros((rows, blocks * THREADS), dtype)

    @flyc.kernel
    def each_element(inputs: fx.Tensor, out: fx.Tensor):
        i = fx.block_idx.x * THREADS + fx.thread_idx.x
        found = function(*[inputs[k, i] for k in fx.range_constexpr(operands)])
        for row in fx.range_constexpr(rows):
            out[row, i] = found[row]

    @flyc.jit
    def launch(inputs: fx.Tensor, out: fx.Tensor):
        each_element(inputs, out).launch(grid=(blocks, 1, 1), block=(THREADS, 1, 1))

    run(launch, padded, out)
    return out[:, :count]
