"""Rounding at random: bit for bit a model in NumPy on every target, gfx950's instruction, and the mean."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.unit.copies.machine_code import code

TYPES: dict[Any, tuple[Any, int, int]] = {
    fx.BFloat16: (ml_dtypes.bfloat16, 7, -126),
    fx.Float16: (np.float16, 10, -14),
    fx.Float8E4M3FN: (ml_dtypes.float8_e4m3fn, 3, -6),
    fx.Float8E5M2: (ml_dtypes.float8_e5m2, 2, -14),
}
"""Type to NumPy's, the bits of its mantissa, and the exponent of its smallest normal number."""
LANES, THREADS = 4, 64


def rounding(dtype: Any) -> Any:
    @flyc.kernel
    def kernel(x: fx.Tensor, bits: fx.Tensor, out: fx.Tensor):
        values, words, target = (
            fx.make_view(fx.get_iter(t) + fx.thread_idx.x * LANES, fx.make_layout(LANES, 1)) for t in (x, bits, out)
        )
        found = fx.random.stochastic_round(values.load(), dtype, words.load())
        target.store(found.to(fx.Float32))
        target[0] = fx.random.stochastic_round(values[0], dtype, words[0]).to(fx.Float32)

    @flyc.jit
    def launch(x: fx.Tensor, bits: fx.Tensor, out: fx.Tensor):
        kernel(x, bits, out).launch(grid=1, block=THREADS)

    return launch


def model(x: Any, bits: Any, mantissa: int, least: int) -> Any:
    """The neighbour below, or above where the cut-off part and the random part make a whole; in float64."""
    size = np.abs(x.astype(np.float64))
    exponent = np.maximum(np.frexp(size)[1] - 1, least)
    step = np.ldexp(1.0, exponent - mantissa)
    below = np.floor(size / step)
    chance = (bits & ((1 << (23 - mantissa)) - 1)) / 2.0 ** (23 - mantissa)
    return np.copysign((below + (chance + (size / step - below) >= 1)) * step, x)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("arch", ["gfx950", "gfx942", "sm_90a"])
def test_against_a_model(arch: str, dtype: Any, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    kind, mantissa, least = TYPES[dtype]
    low = max(least - mantissa - 2, -120)  # below the smallest number of the type, but for bf16
    x = (rng.choice([-1, 1], 256) * 2.0 ** rng.uniform(low, 6, 256)).astype(np.float32)
    x[:4] = [0.0, 1.0, np.inf, -np.inf] if dtype is not fx.Float8E4M3FN else [0.0, 1.0, -2.5, 3.0]
    bits = rng.integers(0, 1 << 32, 256, np.uint64).astype(np.uint32)
    out = np.full(256, np.nan, np.float32)
    rounding(dtype)(x, bits, out)
    finite = np.where(np.isfinite(x), x, 0)
    want = np.where(np.isfinite(x), model(finite, bits, mantissa, least), x).astype(np.float32)
    np.testing.assert_array_equal(out, want)
    np.testing.assert_array_equal(want, want.astype(kind).astype(np.float32))  # the model gives numbers of the type


def test_the_mean_is_the_value(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    x = np.full(256, 1.0 + 2.0**-9, np.float32)  # a quarter of a step of bf16 above 1
    bits = (np.arange(256, dtype=np.uint32) << 8) | rng.integers(0, 256, 256).astype(np.uint32)
    out = np.zeros(256, np.float32)
    rounding(fx.BFloat16)(x, bits, out)
    assert set(out.tolist()) == {1.0, 1.0 + 2.0**-7} and (out > 1).sum() == 64


def test_the_instruction_of_gfx950() -> None:
    args = (np.zeros(256, np.float32), np.zeros(256, np.uint32), np.zeros(256, np.float32))
    assert "v_cvt_sr_bf16_f32" in code(rounding(fx.BFloat16), args, "gfx950")
    assert "v_cvt_sr_bf16_f32" not in code(rounding(fx.BFloat16), args, "gfx942")


def test_what_cannot_be_rounded_at_random() -> None:
    def refused(value: Any, dtype: Any, bits: Any) -> str:
        @flyc.kernel
        def kernel(x: fx.Tensor):
            fx.random.stochastic_round(value(x), dtype, bits)

        @flyc.jit
        def launch(x: fx.Tensor):
            kernel(x).launch(grid=1, block=1)

        with pytest.raises((TypeError, ValueError)) as caught:
            launch(np.zeros(4, np.float32))
        return str(caught.value)

    assert "makes an f32 a narrower float, not Float64" in refused(lambda x: x[0], fx.Float64, fx.Uint32(1))
    assert "fx.random.randint(seed, offset)" in refused(lambda x: x[0], fx.BFloat16, fx.Float32(1.0))
