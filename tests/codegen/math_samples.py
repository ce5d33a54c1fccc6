"""Arguments for functions of f32, their float64 references, and the distance between the two."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import ml_dtypes
import numpy as np

Reference = Callable[..., np.ndarray]
SMALLEST, LEAST_NORMAL, LARGEST = 2.0**-149, 2.0**-126, float(np.finfo(np.float32).max)


def _each(function: Callable[[float], float]) -> Reference:
    return np.vectorize(function, otypes=[np.float64])


@dataclass(frozen=True)
class Function:
    """A float64 reference, the accepted error, and the intervals that are looked at closely."""

    reference: Reference
    ulps: float = 1.0
    dense: tuple[tuple[float, float], ...] = ((-4.0, 4.0),)
    arity: int = 1


_LOGARITHM = ((0.0, 4.0), (0.98, 1.02), (0.7, 0.72), (1.41, 1.42), (0.0, 1e-37), (0.0, 1e4))
_TURNS = ((-4.0, 4.0), (-1e-3, 1e-3), (-1e4, 1e4), (-1e9, 1e9), (-(2.0**50), 2.0**50))
_GROWING = ((-1.5, 1.5), (-1e-3, 1e-3), (-20.0, 20.0), (-105.0, 105.0), (88.5, 89.5))
_UNIT = ((-1.0, 1.0), (0.45, 0.55), (0.99, 1.0), (-1.01, -0.99), (-1e-3, 1e-3))

FUNCTIONS: dict[str, Function] = {
    "log2": Function(np.log2, 1.2, _LOGARITHM),
    "log": Function(np.log, 1.2, _LOGARITHM),
    "log10": Function(np.log10, 1.2, _LOGARITHM),
    "log1p": Function(np.log1p, 1.2, ((-1.0, 4.0), (-1e-3, 1e-3), (-1.0, -0.99), (0.0, 1e9))),
    "sin": Function(np.sin, 1.0, _TURNS),
    "cos": Function(np.cos, 1.0, _TURNS),
    "tan": Function(np.tan, 0.51, _TURNS),
    "tanh": Function(np.tanh, 1.7, ((-1.0, 1.0), (0.55, 0.65), (-10.0, 10.0), (-1e-3, 1e-3))),
    "erf": Function(_each(math.erf), 1.6, ((-1.5, 1.5), (0.95, 1.05), (-5.0, 5.0), (-1e-3, 1e-3))),
    "erfc": Function(_each(math.erfc), 0.52, ((-1.5, 1.5), (0.95, 1.05), (-5.0, 11.0), (-1e-3, 1e-3))),
    "powf": Function(np.power, 0.51, ((-4.0, 4.0), (0.99, 1.01), (-130.0, 130.0)), arity=2),
    "expm1": Function(np.expm1, 1.7, _GROWING),
    "sinh": Function(np.sinh, 0.9, _GROWING),
    "cosh": Function(np.cosh, 0.8, _GROWING),
    "asinh": Function(np.arcsinh, 0.51, _GROWING),
    "acosh": Function(np.arccosh, 0.51, ((0.9, 4.0), (1.0, 1.001), (1.0, 1e6))),
    "atanh": Function(np.arctanh, 0.51, _UNIT),
    "atan": Function(np.arctan, 1.5, ((-1.5, 1.5), (-100.0, 100.0), (-1e-3, 1e-3))),
    "atan2": Function(np.arctan2, 1.8, ((-4.0, 4.0), (-1e-3, 1e-3)), arity=2),
    "asin": Function(np.arcsin, 1.3, _UNIT),
    "acos": Function(np.arccos, 1.3, _UNIT),
    "cbrt": Function(np.cbrt, 0.52, ((-8.0, 8.0), (-1e-37, 1e-37))),
}
"""The bound of each is a little above the largest error seen on millions of arguments."""

_EDGES = (
    *(0.0, SMALLEST, 3 * SMALLEST, LEAST_NORMAL - SMALLEST, LEAST_NORMAL, 2.0**-25, 2.0**-24, 2.0**-20, 1e-10, 0.3),
    *(0.5, 0.6, 1 - 2.0**-24, 1.0, 1 + 2.0**-23, 1.5, 2.0, 2.5, 3.0, 4.0, 9.0, 10.0, 17.5, 88.72, 88.73, 89.5, 104.0),
    *(127.0, 128.0, 149.0, 150.0, 151.0, 2.0**23 + 1, 2.0**24 - 1, 2.0**24, 2.0**24 + 2, 2.0**25, 1e10, 2.0**50),
    *(2.0**65, 2.0**86, 2.0**107, 2.0**127, LARGEST, math.inf, math.nan),
)
_NEAR_QUARTER_TURNS = (21999384576.0, 1522788990976.0, 8.11762663906456e22, 4.638183382783466e25, 7.729178919452902e28)
"""The floats nearest to multiples of pi / 2, the last to 2^-29; found by trying every f32 from 2^20 on."""
SPECIAL = np.array([sign * value for value in (*_EDGES, *_NEAR_QUARTER_TURNS) for sign in (1.0, -1.0)], np.float32)


def arguments(name: str, count: int, seed: int | None = None) -> list[np.ndarray]:
    """One array of f32 for each operand: special values (of pairs all), any bits, and the dense intervals."""
    function, random = FUNCTIONS[name], np.random.default_rng(seed)
    special = [grid.ravel() for grid in np.meshgrid(*[SPECIAL] * function.arity)]
    parts = [special, [random_bits(random, count, np.float32) for _ in special]]
    for first, *others in itertools.product(function.dense, repeat=function.arity):
        parts.append([random.uniform(low, high, count).astype(np.float32) for low, high in (first, *others)])
    if name == "powf":
        parts.append(_powers_in_range(random, count))
    return [np.concatenate(operand) for operand in zip(*parts)]


def _powers_in_range(random: np.random.Generator, count: int) -> list[np.ndarray]:
    """Bases of every size, many near one, with exponents whose powers just fit f32, or just do not."""
    log = random.uniform(-1, 1, count) * 10 ** random.uniform(-7, 2, count)
    base = np.exp2(log).astype(np.float32)
    with np.errstate(all="ignore"):  # the infinite powers of one are arguments too
        return [base, (random.uniform(-152, 130, count) / np.log2(base.astype(np.float64))).astype(np.float32)]


def random_bits(random: np.random.Generator, count: int, dtype: type) -> np.ndarray:
    """Numbers of every size, NaN among them."""
    return random.integers(0, 256, count * np.dtype(dtype).itemsize).astype(np.uint8).view(dtype)


def ulps_between(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Errors in units of the last place of the result's type; infinite where a NaN, an infinity or the sign of a zero
    is wrong. Just past the largest number both it and infinity count as near."""
    info = ml_dtypes.finfo(got.dtype)
    limit = 2.0 ** float(info.maxexp)
    rounded = want.astype(got.dtype).astype(np.float64)
    value = np.clip(got.astype(np.float64), -limit, limit)
    exponent = np.floor(np.log2(np.clip(np.abs(want), float(info.smallest_normal), float(info.max))))
    error = np.abs(value - np.clip(want, -limit, limit)) / 2.0 ** (exponent - info.nmant)
    wrong = (np.isnan(value) != np.isnan(want)) | (
        (value == 0) & (rounded == 0) & (np.signbit(value) != np.signbit(want))
    )
    return np.where(wrong, np.inf, np.where(np.isnan(want), 0.0, error))
