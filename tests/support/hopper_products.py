"""Products for the Hopper GEMM, and float64's opinion of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import erf
from typing import Any

import ml_dtypes
import numpy as np

from flydsl.kernels.gemm.hopper.plan import GemmConfig
from flydsl.kernels.gemm.hopper_matmul import hopper_gemm
from tests.support import random_data

TYPES: dict[str, Any] = {
    "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2, "s8": np.int8, "u8": np.uint8,
}  # fmt: skip
ROUNDING = {"bf16": 2**-8, "f16": 2**-11, "f32": 2**-22, "e4m3": 2**-4}
LEAST = {"e4m3": 2**-10}
"""Half of the least number that is not zero."""

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Product:
    """Extents, which of the matrices have their other mode contiguous (B has, like weights), types, epilogue.

    ``extras`` are scales, a bias, alpha, beta and D; ``offset`` is by how many elements memory starts late; ``mean`` is
    that of the numbers of A and B.
    """

    m: int
    n: int
    k: int
    batches: int = 0
    a_transposed: bool = False
    b_transposed: bool = True
    c_transposed: bool = False
    a: str = "bf16"
    b: str = "bf16"
    c: str = "bf16"
    activation: str = "none"
    extras: bool = False
    offset: int = 0
    mean: float = 0.0

    def of(self, **changes: Any) -> Product:
        return replace(self, **changes)

    @property
    def batch(self) -> tuple[int, ...]:
        return (self.batches,) if self.batches else ()


def drawn(product: Product, rows: int, columns: int, kind: str, transposed: bool) -> Array:
    rng, shape = random_data.generator(), (*product.batch, *((columns, rows) if transposed else (rows, columns)))
    many = int(np.prod(shape)) + product.offset
    numbers = rng.integers(0, 100, many) if kind in ("s8", "u8") else rng.normal(product.mean, 1.0, many)
    made = numbers.astype(TYPES[kind])[product.offset :].reshape(shape)
    return made.swapaxes(-1, -2) if transposed else made


def activated(x: Array, name: str) -> Array:
    """The activations in float64, written independently of the kernels'."""
    if name == "swiglu":
        return x[..., ::2] / (1 + np.exp(-x[..., ::2])) * x[..., 1::2]
    if name == "relu":
        return np.where(x > 0, x, 0.0)
    if name == "silu":
        return x / (1 + np.exp(-x))
    if name == "gelu":
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    if name == "gelu_erf":
        return 0.5 * x * (1 + np.vectorize(erf, otypes=[float])(x / np.sqrt(2)))
    return x


def guarded(product: Product) -> tuple[Array, Array]:
    """C, poisoned, and the memory around it: rows before and behind, and columns beside."""
    n = product.n // 2 if product.activation == "swiglu" else product.n
    rows, columns = (n, product.m) if product.c_transposed else (product.m, n)
    whole = np.full((*product.batch, rows + 2, columns + 32), np.nan, np.float32).astype(TYPES[product.c])
    c = whole[..., 1:-1, 16 + product.offset : 16 + product.offset + columns]
    return c.swapaxes(-1, -2) if product.c_transposed else c, whole


def run(product: Product, config: GemmConfig | None, a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Compute; what float64 expects, and the sum of the terms' magnitudes."""
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    expected, magnitude = wide_a @ wide_b, np.abs(wide_a) @ np.abs(wide_b)
    given: dict[str, Any] = {"activation": product.activation, "config": config}
    if product.extras:
        rng = random_data.generator()
        rows, bias = (rng.standard_normal(extent).astype(np.float32) for extent in (product.m, product.n))
        one, D = np.full(1, 0.75, np.float32), rng.standard_normal(expected.shape).astype(TYPES["bf16"])
        given |= {"alpha": 0.37, "beta": -1.5, "D": D, "row_scale": rows, "column_scale": one, "bias": bias}
        expected = 0.37 * 0.75 * rows[:, None] * expected + bias - 1.5 * D.astype(np.float64)
        magnitude = magnitude * np.abs(rows)[:, None] + np.abs(bias) + 2 * np.abs(D.astype(np.float64))
    hopper_gemm(a, b, c, **given)
    if product.activation == "swiglu":  # an error of either factor counts as much as the other one is large
        slopes = 1.1 + np.abs(expected)
        magnitude = magnitude[..., ::2] * slopes[..., 1::2] + magnitude[..., 1::2] * slopes[..., ::2]
    return activated(expected, product.activation), magnitude


def check(product: Product, config: GemmConfig | None) -> None:
    """The product by the kernel is right in every element, and nothing beside C is written."""
    a = drawn(product, product.m, product.k, product.a, product.a_transposed)
    b = drawn(product, product.k, product.n, product.b, product.b_transposed)
    c, whole = guarded(product)
    expected, magnitude = run(product, config, a, b, c)
    # Half a unit of the result's rounding, and what sums in f32 and the activation's slope may add.
    bound = ROUNDING[product.c] * np.abs(expected) + LEAST.get(product.c, 0) + 4e-6 * (magnitude + 1)
    error = np.abs(c.astype(np.float64) - expected)
    assert (error <= bound).all(), (product, config, float((error / bound).max()))
    assert np.isnan(whole.astype(np.float32)).sum() == whole.size - c.size


def check_bits(product: Product, config: GemmConfig) -> None:
    """Another run gives the same bits."""
    a = drawn(product, product.m, product.k, product.a, product.a_transposed)
    b = drawn(product, product.k, product.n, product.b, product.b_transposed)
    results = []
    for _ in range(2):
        c, _ = guarded(product)
        hopper_gemm(a, b, c, config=config)
        results.append(c.tobytes())
    assert results[0] == results[1]
