"""Fast functions and reductions over a warp, on the virtual GPU and as PTX."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
from tests.support import random_data
from tests.unit.nvvm.running import launcher, ptx, run

nvvm = fx.nvvm

FUNCTIONS: dict[str, tuple[Any, str, float]] = {
    "ex2": (np.exp2, "ex2.approx.ftz.f32", 2e-7),
    "lg2": (np.log2, "lg2.approx.ftz.f32", 2e-6),
    "rcp": (lambda x: 1 / x, "rcp.approx.ftz.f32", 2e-7),
    "rsqrt": (lambda x: 1 / np.sqrt(x), "rsqrt.approx.ftz.f32", 4e-7),
    "tanh": (np.tanh, "tanh.approx.f32", 6e-4),
}
"""Function in float64, instruction, and relative error that the hardware may have."""


def applying(name: str) -> Any:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        thread = fx.thread_idx.x
        out[thread] = getattr(nvvm, name)(a[thread])

    return body


@pytest.mark.parametrize("arch", ["sm_90a", "sm_80"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_fast_functions(name: str, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    exact, instruction, bound = FUNCTIONS[name]
    a, out = random_data.generator().uniform(0.01, 8, 256).astype(np.float32), np.full(256, np.nan, np.float32)
    run(applying(name), a, out, threads=256)
    expected = exact(a.astype(np.float64))
    assert (np.abs(out - expected) <= bound * np.maximum(np.abs(expected), 0.3)).all()
    assert instruction in ptx(launcher(applying(name), 2, threads=256), (a, out), arch)


@pytest.mark.parametrize(
    ("name", "expected"), [("rcp", [np.inf, -np.inf]), ("rsqrt", [np.inf, -np.inf]), ("lg2", [-np.inf] * 2)]
)
def test_fast_functions_take_subnormals_for_zeros(name: str, expected: list[float]) -> None:
    """`.ftz`; what `ex2` gives is flushed too."""
    a, out = np.array([2.0**-127, -(2.0**-130)], np.float32), np.full(2, np.nan, np.float32)
    run(applying(name), a, out, threads=2)
    assert out.tolist() == expected
    run(applying("ex2"), np.array([-126.0, -126.5], np.float32), out, threads=2)
    assert out.tolist() == [2.0**-126, 0.0]


@pytest.mark.parametrize("source", ["f32", "f16x2"])
def test_pairs_of_eight_bits(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounded as the format says, but what is too large stays at its largest number; NaN stays NaN."""

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        thread = fx.thread_idx.x
        pair = [a[2 * thread], a[2 * thread + 1]]
        out[thread] = nvvm.cvt_e4m3x2(*pair if source == "f32" else [fx.Vector.from_elements(pair, fx.Float16)])

    monkeypatch.setenv("ARCH", "sm_90a")
    a = (random_data.generator().standard_normal(128) * 200).astype(np.float32 if source == "f32" else np.float16)
    a[:8] = [0, -0.0, 2**-9, 2**-11, 448, 6e4, -np.inf, np.nan]
    out = np.zeros(64, np.int16)
    run(body, a, out, threads=64)
    expected = np.clip(a, -448, 448).astype(ml_dtypes.float8_e4m3fn)
    np.testing.assert_array_equal(out.view(ml_dtypes.float8_e4m3fn).astype(np.float32), expected.astype(np.float32))
    assert f"cvt.rn.satfinite.e4m3x2.{source}" in ptx(launcher(body, 2, threads=64), (a, out))


@pytest.mark.parametrize(("dtype", "name"), [(fx.Float8E4M3FN, "e4m3"), (fx.Float8E5M2, "e5m2")])
def test_pairs_of_f16(dtype: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every code."""

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        thread = fx.thread_idx.x
        out[thread] = nvvm.cvt_f16x2(a[thread], dtype).bitcast(fx.Int32)[0]

    monkeypatch.setenv("ARCH", "sm_90a")
    a, out = np.arange(256, dtype=np.uint8).view(np.int16), np.zeros(128, np.int32)
    run(body, a, out, threads=128)
    exact = a.view(np.dtype(dtype.numpy_dtype)).astype(np.float16)
    np.testing.assert_array_equal(out.view(np.float16), exact)
    assert f"cvt.rn.f16x2.{name}x2" in ptx(launcher(body, 2, threads=128), (a, out))


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
@pytest.mark.parametrize("op", ["add", "min", "max", "and", "or", "xor"])
def test_redux(op: str, dtype: Any) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        thread = fx.thread_idx.x
        out[thread] = nvvm.redux(a[thread], op)

    a = random_data.generator().integers(-(2**31), 2**31, 96).astype(np.int64).astype(dtype)
    out = np.zeros_like(a)
    run(body, a, out, threads=96)
    combine = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
               "xor": np.bitwise_xor}[op]  # fmt: skip
    np.testing.assert_array_equal(out, np.repeat(combine.reduce(a.reshape(3, 32), axis=1, dtype=dtype), 32))
    sign = {"add": ".s32", "and": ".b32", "or": ".b32", "xor": ".b32"}.get(op, ".s32" if dtype is np.int32 else ".u32")
    assert f"redux.sync.{op}{sign}" in ptx(launcher(body, 2, threads=96), (a, out))


def test_what_redux_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def wide(a: fx.Tensor) -> None:
        a[0] = nvvm.redux(a[0])

    def other(a: fx.Tensor) -> None:
        a[0] = nvvm.redux(a[0], "mul")

    with pytest.raises(TypeError, match="redux takes a 32-bit integer, got Int64"):
        run(wide, np.zeros(1, np.int64))
    with pytest.raises(ValueError, match="unknown operation 'mul'"):
        run(other, np.zeros(1, np.int32))
    monkeypatch.setenv("ARCH", "gfx942")
    with pytest.raises(ValueError, match="redux is an instruction of NVIDIA GPUs"):
        run(wide, np.zeros(1, np.int32))
