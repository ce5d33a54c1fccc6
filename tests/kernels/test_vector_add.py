"""Sums of vectors by blocks and widths that the caller chooses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flydsl.kernels.vector_add import vecAdd
from tests.support.turns import in_turns

GUARDS = 5


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201", "sm_90a"])
def test_vectors_of_any_length(arch: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setenv("ARCH", arch)
    for block, width in in_turns([(64, 1), (256, 2), (256, 4), (64, 8), (32, 12)], 3):
        for n in (0, 1, 1000, 5001):
            a, b = (rng.standard_normal(n + GUARDS).astype(np.float32) for _ in range(2))
            c = np.full(n + GUARDS, np.nan, np.float32)
            vecAdd(a, b, c, n, n + 1, block, width)
            np.testing.assert_array_equal(c[:n], a[:n] + b[:n])
            assert np.isnan(c[n:]).all()


def test_vectors_that_begin_between_accesses(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    a, b = (rng.standard_normal((40, 33)).astype(np.float32) for _ in range(2))
    c = np.full_like(a, np.nan)
    vecAdd(a, b, c, a.size, a.size, 64, 4)
    np.testing.assert_array_equal(c, a + b)
    c = np.full(1001, np.nan, np.float32)
    vecAdd(a.reshape(-1)[1:], b.reshape(-1), c[1:], 1000, 1000, 64, 4)
    np.testing.assert_array_equal(c[1:], a.reshape(-1)[1:1001] + b.reshape(-1)[:1000])


def test_the_last_elements_take_no_wide_access(monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole vector takes two loads of 16 bytes and a store, its elements by themselves twelve accesses."""
    monkeypatch.setenv("ARCH", "sm_90a")
    x = np.zeros(64, np.float32)
    vecAdd(x, x, x.copy(), 64, 7, 64, 4)
    wide, narrow = (kernel.instructions for kernel in vecAdd.specialisations[-1].kernels)
    assert (wide["global loads"], narrow["global loads"]) == (2 + 8, 8 + 8)


def test_tensors(torch: Any) -> None:
    a, b, c = torch.randn(7, 9), torch.randn(7, 9), torch.zeros(7, 9)
    vecAdd(a, b, c, 63, 63, 64, 4)
    assert torch.equal(c, a + b)


@pytest.mark.parametrize(
    ("error", "said", "n", "block", "width", "kind"),
    [
        (RuntimeError, "A has 8 elements, and the kernel uses 9", 9, 64, 4, np.float32),
        (RuntimeError, "A has 8 elements, and the kernel uses -1", -1, 64, 4, np.float32),
        (ValueError, "vec_width is 1, 2, 4 or a multiple of 4, got 3", 8, 64, 3, np.float32),
        (ValueError, "vec_width is 1, 2, 4 or a multiple of 4, got 0", 8, 64, 0, np.float32),
        (ValueError, "block_dim is 1 to 1024 threads, got 2048", 8, 2048, 4, np.float32),
        (TypeError, "an array holds Float16, and the kernel was built for Float32", 8, 64, 4, np.float16),
    ],
)
def test_what_is_refused(error: type[Exception], said: str, n: int, block: int, width: int, kind: Any) -> None:
    x = np.zeros(8, kind)
    with pytest.raises(error, match=said):
        vecAdd(x, x, x.copy(), n, n, block, width)
