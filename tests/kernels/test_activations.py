"""Activations of single numbers and of vectors, on targets of both makers, beside NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from flydsl.kernels.blocks.activation import ACTIVATIONS, inverse, powers_of_e, powers_of_two, sigmoid
from tests.support.hopper_products import activated

BASE = 2.5
FUNCTIONS: dict[str, tuple[Any, Any]] = {
    **{name: (function, lambda x, name=name: activated(x, name)) for name, function in ACTIVATIONS.items()},
    "sigmoid": (sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    "inverse": (inverse, lambda x: 1 / x),
    "powers_of_two": (powers_of_two, lambda x: 2.0**x),
    "powers_of_e": (lambda x: powers_of_e(x, BASE), lambda x: np.exp(x - BASE)),
}


def results_of(function: Any, x: np.ndarray, width: int) -> np.ndarray:
    """Return a function of each element, of so many at a time; 0 stands for single numbers."""

    @flyc.kernel
    def each(X: fx.Tensor, Y: fx.Tensor):
        if fx.const_expr(width):
            pieces = [fx.logical_divide(array, fx.make_layout(width, 1))[None, fx.thread_idx.x] for array in (X, Y)]
            pieces[1].store(function(pieces[0].load()))
        else:
            Y[fx.thread_idx.x] = function(X[fx.thread_idx.x])

    @flyc.jit
    def run(X: fx.Tensor, Y: fx.Tensor):
        each(X, Y).launch(grid=(1, 1, 1), block=(x.size // max(width, 1), 1, 1))

    y = np.full_like(x, np.nan)
    run(x, y)
    return y


@pytest.mark.parametrize("width", [0, 4], ids=["numbers", "vectors"])
@pytest.mark.parametrize("arch", ["sm_90a", "gfx942"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_activations_take_numbers_too(name: str, arch: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.ARCH.name, arch)
    function, expected = FUNCTIONS[name]
    x = np.concatenate([np.linspace(-9.0, 9.0, 62), [1e-3, -1e-3]]).astype(np.float32)
    np.testing.assert_allclose(results_of(function, x, width), expected(x.astype(np.float64)), rtol=1e-5, atol=2e-6)
