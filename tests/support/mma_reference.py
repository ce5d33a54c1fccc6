"""Matrix instructions executed with NumPy, from any fact table: what each thread's registers hold afterwards.

Operands travel as matrices of values (``float32``, ``float64`` or ``int64``), column-major over (M, K), (N, K) and
(M, N); `distribute` deals them out to threads by a thread/value layout, `collect` reads them back. `execute` multiplies
as hardware does: floats accumulate in f32 in the order of K and are rounded to the accumulator's type at the end,
doubles in f64, integers exactly and then modulo 2**32.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from flydsl.layout.layout import Layout

Array = np.ndarray[Any, np.dtype[Any]]

NUMPY_TYPES: dict[str, Any] = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn, "f6E3M2FN": ml_dtypes.float6_e3m2fn, "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "i64": np.int64, "i32": np.int32, "i8": np.int8, "ui8": np.uint8, "i4": np.int8, "ui4": np.uint8,
}  # fmt: skip
"""Element name to the NumPy type that holds its values; 4-bit integers sit in bytes."""

TF32_MASK = np.uint32(0xFFFFE000)
"""The bits of an f32 that a tf32 multiplier reads."""


@cache
def positions(layout: Layout) -> Array:
    """The index of every (thread, value), as an array of that shape: a layout adds up over its modes."""
    threads, values = (np.array([mode(i) for i in range(mode.size())], dtype=np.int64) for mode in layout.modes())
    return threads[:, None] + values[None, :]


def operand_shapes(op: Any) -> tuple[tuple[int, ...], ...]:
    """Shapes of A, B and C; blocks are a slowest extra extent."""
    m, n, k = op.shape_mnk
    tail = () if op.blocks == 1 else (op.blocks,)
    return (m, k, *tail), (n, k, *tail), (m, n, *tail)


def distribute(matrix: Array, layout: Layout) -> Array:
    """Each thread's values of a matrix, one row a thread."""
    return matrix.ravel(order="F")[positions(layout)]


def collect(registers: Array, layout: Layout, shape: tuple[int, ...]) -> Array:
    """The matrix that threads hold together; threads that hold the same element must agree on it."""
    where = positions(layout)
    flat = np.zeros(int(np.prod(shape)), dtype=registers.dtype)
    flat[where] = registers
    same = flat[where] == registers
    both_nan = (flat[where] != flat[where]) & (registers != registers)
    assert np.all(same | both_nan), "two threads hold different values of one element"
    return flat.reshape(shape, order="F")


def random_operands(op: Any, seed: int = 0) -> tuple[Array, Array, Array]:
    """A, B and C of an instruction, with values its types can hold."""
    rng = np.random.default_rng(seed)
    shapes = operand_shapes(op)
    return tuple(random_matrix(rng, shape, _meaning(op, i)) for i, shape in enumerate(shapes))  # type: ignore[return-value]


def random_matrix(rng: np.random.Generator, shape: tuple[int, ...], elem: str) -> Array:
    dtype = NUMPY_TYPES[elem]
    if elem in ("i4", "i8", "ui4", "ui8", "i32"):
        low, high = {"i4": (-8, 8), "ui4": (0, 16), "i8": (-128, 128), "ui8": (0, 256), "i32": (-1000, 1000)}[elem]
        return rng.integers(low, high, size=shape).astype(dtype)
    return rng.standard_normal(shape).astype(np.float32).astype(dtype)


def _meaning(op: Any, operand: int) -> str:
    """The element type of an operand, with the sign that integer WMMA states apart from it."""
    elem = op.elem_types[operand]
    if operand < 2 and hasattr(op, "sign_a") and elem in ("i8", "i4"):
        return elem if (op.sign_a, op.sign_b)[operand] else f"u{elem}"
    return elem


def _multiplied(values: Array, elem: str) -> Array:
    """An operand as the multipliers read it, in f64 (which holds every product of two of them exactly) or i64."""
    if np.issubdtype(values.dtype, np.integer):
        return values.astype(np.int64)
    if elem == "tf32":
        values = (np.ascontiguousarray(values, dtype=np.float32).view(np.uint32) & TF32_MASK).view(np.float32)
    return values.astype(np.float32).astype(np.float64) if values.dtype != np.float64 else values


def scale_matrix(op: Any, operand: str, scales: Array) -> Array:
    """The factors 2**(e - 127) over (rows, K) from each lane's scale bytes (lanes x bytes, uint8)."""
    rows = op.m if operand == "a" else op.n
    layout, wanted = op.scale_tv(operand), op.scale_bytes(operand)
    exponents = np.zeros(rows * op.k // op.block_size, dtype=np.int64)
    for lane in op.scale_lanes(operand):
        for index, byte in enumerate(wanted):
            exponents[layout(lane, index)] = scales[lane, byte]
    factors = np.exp2(exponents.astype(np.float64) - 127)
    return np.repeat(factors.reshape((rows, -1), order="F"), op.block_size, axis=1)


def multiply(
    op: Any, a: Array, b: Array, c: Array, scale_a: Array | None = None, scale_b: Array | None = None
) -> Array:
    """D = A B^T + C on whole matrices; scales are factors over (rows, K)."""
    wide_a, wide_b = _multiplied(a, op.elem_a), _multiplied(b, op.elem_b)
    if scale_a is not None and scale_b is not None:
        wide_a, wide_b = wide_a * scale_a, wide_b * scale_b
    exact = wide_a.dtype == np.int64
    step = np.int64 if exact else (np.float64 if op.elem_types[2] == "f64" else np.float32)
    total = c.astype(step)
    for k in range(op.shape_mnk[2]):
        product = wide_a[:, None, k] * wide_b[None, :, k]
        total = (total.astype(product.dtype) + product).astype(step)
    return _accumulated(op, total)


def _accumulated(op: Any, total: Array) -> Array:
    if total.dtype != np.int64:
        return total.astype(NUMPY_TYPES[op.elem_types[2]])
    if getattr(op, "clamp", False):
        return np.clip(total, -(2**31), 2**31 - 1).astype(np.int32)
    return (total & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def execute(op: Any, a: Array, b: Array, c: Array, scale_a: Array | None = None, scale_b: Array | None = None) -> Array:
    """Each thread's accumulators after the instruction, from each thread's registers (threads x values).

    A scaled instruction also takes each lane's scale bytes (lanes x bytes).
    """
    tv = op.tv_layouts()
    whole = [
        collect(regs, layout, shape) for regs, layout, shape in zip((a, b, c), tv, operand_shapes(op), strict=True)
    ]
    factors: list[Array | None] = [None, None]
    if scale_a is not None and scale_b is not None:
        factors = [scale_matrix(op, "a", scale_a), scale_matrix(op, "b", scale_b)]
    return distribute(multiply(op, *whole, *factors), tv[2])
