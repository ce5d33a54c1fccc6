"""An extent of a tensor stands wherever a number can: in comparisons, arithmetic, stores and functions of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslTypeError

N = 11

# name: what the kernel stores for thread i, extent n and element x; every entry is Python for plain integers as well.
CASES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "less": lambda i, n, x: fx.arith.select(i < n, 1.0, 0.0),
    "reflected less": lambda i, n, x: fx.arith.select(n <= i, 1.0, 0.0),
    "at most": lambda i, n, x: fx.arith.select(i <= n - 1, 1.0, 0.0),
    "at least": lambda i, n, x: fx.arith.select(i >= n, 1.0, 0.0),
    "the extent": lambda i, n, x: n,
    "converted": lambda i, n, x: fx.Float32(n),
    "sum": lambda i, n, x: i + n,
    "float product": lambda i, n, x: x * n,
    "float literal": lambda i, n, x: 0.5 * n,
    "float difference": lambda i, n, x: n - x,
    "quotient": lambda i, n, x: n / 2,
    "inverse": lambda i, n, x: x / n,
    "negated": lambda i, n, x: -n,
    "floor quotient": lambda i, n, x: (i * 5 - 30) // n,
    "remainder": lambda i, n, x: (i * 5 - 30) % n,
    "minimum": lambda i, n, x: fx.min(i, n),
    "ceildiv": lambda i, n, x: fx.ceildiv(n, i + 1),
}

EXPECTED: dict[str, Callable[[Any, int, Any], Any]] = {
    "less": lambda i, n, x: i < n,
    "reflected less": lambda i, n, x: n <= i,
    "at most": lambda i, n, x: i < n,
    "at least": lambda i, n, x: i >= n,
    "the extent": lambda i, n, x: 0 * i + n,
    "converted": lambda i, n, x: 0 * i + n,
    "sum": lambda i, n, x: i + n,
    "float product": lambda i, n, x: x * n,
    "float literal": lambda i, n, x: 0 * i + 0.5 * n,
    "float difference": lambda i, n, x: n - x,
    "quotient": lambda i, n, x: 0 * i + n / 2,
    "inverse": lambda i, n, x: x / n,
    "negated": lambda i, n, x: 0 * i - n,
    "floor quotient": lambda i, n, x: (i * 5 - 30) // n,
    "remainder": lambda i, n, x: (i * 5 - 30) % n,
    "minimum": lambda i, n, x: np.minimum(i, n),
    "ceildiv": lambda i, n, x: -(-n // (i + 1)),
}


@pytest.mark.parametrize("static", [False, True], ids=["run-time", "static"])
@pytest.mark.parametrize("name", CASES)
def test_an_extent_as_a_number(name: str, static: bool) -> None:
    compute = CASES[name]

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        i = fx.thread_idx.x
        out[i] = compute(i, x.shape[0], x[i % 8])

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(block=16)

    x, out = np.random.default_rng().random(N, dtype=np.float32), np.full(16, np.nan, np.float32)
    launch(flyc.from_dlpack(x) if static else x, out)
    i = np.arange(16)
    np.testing.assert_allclose(out, EXPECTED[name](i, N, x[i % 8].astype(np.float64)), rtol=1e-6)


def test_a_branch_and_a_grid_from_extents() -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        i = fx.block_idx.x * 4 + fx.thread_idx.x
        if i < x.shape[0]:
            out[i] = x[i] + 1.0

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(grid=fx.ceildiv(x.shape[0], 4), block=4)

    x, out = np.random.default_rng().random(N, dtype=np.float32), np.full(N, np.nan, np.float32)
    with flyc.sanitize("bounds"):
        launch(x, out)
    np.testing.assert_array_equal(out, x + np.float32(1))


def test_a_vector_beside_an_extent() -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        fragment = fx.make_rmem_tensor(4, fx.Float32)
        for j in fx.range_constexpr(4):
            fragment[j] = x[j]
        fragment.store(x.shape[0] * fragment.load())
        for j in fx.range_constexpr(4):
            out[j] = fragment[j]

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(block=1)

    x, out = np.random.default_rng().random(N, dtype=np.float32), np.full(4, np.nan, np.float32)
    launch(x, out)
    np.testing.assert_array_equal(out, x[:4] * np.float32(N))


def test_plain_values() -> None:
    rows, columns = fx.make_layout((4, 8), (8, 1)).shape
    assert rows < columns and columns >= 8 and not rows > 4
    assert -rows == -4 and rows / 8 == 0.5 and 9 // rows == 2 and 9 % rows == 1


def test_a_whole_shape_is_not_a_number() -> None:
    shape = fx.make_layout((4, 8), (8, 1)).shape
    with pytest.raises(DslTypeError, match=r"< needs one integer, and \(4,8\) is not one.*[\s\S]*elem_less"):
        assert shape < 3
    with pytest.raises(DslTypeError, match=r"arithmetic with floats needs one integer, and \(4,8\) is not one"):
        shape * 0.5
