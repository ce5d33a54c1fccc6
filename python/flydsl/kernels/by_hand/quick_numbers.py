"""Arithmetic of sizes, and of f32 by a GPU's own instructions: FlyDSL's `utils`."""

from __future__ import annotations

from typing import Any

from flydsl.kernels.blocks.activation import inverse, powers_of_two


def cdiv(a: Any, b: Any) -> Any:
    """Return how many parts of ``b`` hold ``a``; both are positive, or a is 0."""
    return (a + b - 1) // b


def align_up(a: Any, b: Any) -> Any:
    """Return the least multiple of ``b`` that is no less than ``a``."""
    return cdiv(a, b) * b


def is_pow2(n: int) -> bool:
    """Return whether a number known while tracing is a power of two."""
    return n > 0 and n & (n - 1) == 0


def exp2_f32_fast(x: Any) -> Any:
    """Return 2^x of a number of f32 or of each element, by one instruction each: tiny results are zero."""
    return powers_of_two(x)


def rcp_f32(x: Any) -> Any:
    """Return 1 / x of a number of f32 or of each element, by one instruction each, to a unit in the last place."""
    return inverse(x)
