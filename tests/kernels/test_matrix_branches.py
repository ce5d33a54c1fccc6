"""Matrix instructions in branches: a wave takes part as a whole or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.support import random_data

WAVE, WAVES, SIDE = 64, 4, 16
KEPT = 5.0


@flyc.jit
def product(a: Any, b: Any, c: Any, takes_part: Any) -> None:
    """c = a b^T + 5 in a branch, c = 5 beside it; a wave each."""
    mma = fx.make_tiled_mma(
        fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16)), fx.make_layout((1, 1, 1), (0, 0, 0))
    )
    mine = mma.get_slice(fx.thread_idx.x % WAVE)
    fa, fb, fc = mma.make_fragment_A(a), mma.make_fragment_B(b), mma.make_fragment_C(c)
    half, single = (fx.make_copy_atom(fx.UniversalCopy(kind.width), kind) for kind in (fx.Float16, fx.Float32))
    fx.copy(half, mine.partition_A(a), fa)
    fx.copy(half, mine.partition_B(b), fb)
    fc.fill(KEPT)
    if takes_part:
        fx.gemm(mma, fc, fa, fb, fc)
    fx.copy(single, fc, mine.partition_C(c))


def run(kernel: Any, threads: int = WAVE * WAVES) -> tuple[np.ndarray, np.ndarray]:
    @flyc.jit
    def host(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
        kernel(a, b, c).launch(grid=1, block=threads)

    rng = random_data.generator()
    a, b = (rng.normal(size=(SIDE, SIDE)).astype(np.float16) for _ in range(2))
    c = np.full((WAVES, SIDE, SIDE), np.nan, np.float32)
    host(*(flyc.from_dlpack(x) for x in (a, b, c)))
    return c, a.astype(np.float64) @ b.astype(np.float64).T + KEPT


@pytest.fixture(autouse=True)
def target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")


def test_some_waves_multiply_and_the_others_do_not() -> None:
    @flyc.kernel
    def kernel(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
        wave = fx.thread_idx.x // WAVE
        product(a, b, c[wave, None, None], wave % 2 == 1)

    c, expected = run(kernel)
    np.testing.assert_array_equal(c[::2], KEPT)
    np.testing.assert_allclose(c[1::2], np.stack([expected, expected]), rtol=1e-3, atol=1e-3)


def test_waves_multiply_as_often_as_their_number_says() -> None:
    @flyc.kernel
    def kernel(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
        wave = fx.thread_idx.x // WAVE
        for i in range(wave + 1):
            product(a, b, c[wave, None, None], i == 0)

    c, expected = run(kernel)
    np.testing.assert_allclose(c[0], expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(c[1:], KEPT)  # the last turn of each other wave


def test_part_of_a_wave_is_an_error_that_names_the_line_and_the_reason() -> None:
    @flyc.kernel
    def kernel(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
        product(a, b, c[fx.thread_idx.x // WAVE, None, None], fx.thread_idx.x < WAVE + 1)

    with pytest.raises(RuntimeError, match="reached by only part of a wave") as error:
        run(kernel)
    assert "fx.gemm(mma, fc, fa, fb, fc)" in str(error.value)


def test_a_block_that_ends_inside_a_wave_is_another_error() -> None:
    @flyc.kernel
    def kernel(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
        product(a, b, c[fx.thread_idx.x // WAVE, None, None], fx.thread_idx.x < WAVE)

    with pytest.raises(RuntimeError, match="the block ends inside one"):
        run(kernel, WAVE + 8)
