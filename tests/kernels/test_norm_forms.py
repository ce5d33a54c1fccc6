"""What builders of row kernels take: both orders of their numbers, their names, and matrices in one mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.kernels.moe.topk_gating import build_topk_gating_softmax_module
from flydsl.kernels.norm.column_sums import partial_rows
from flydsl.kernels.norm.glu import build_glu_bwd_module, build_glu_module
from flydsl.kernels.norm.layernorm import (
    build_fused_add_layernorm_smoothquant_module,
    build_layernorm_bwd_module,
    build_layernorm_dynamicquant_module,
    build_layernorm_module,
)
from flydsl.kernels.norm.rmsnorm import (
    build_fused_add_rmsnorm_dynamicquant_module,
    build_fused_add_rmsnorm_module,
    build_rmsnorm_bwd_module,
    build_rmsnorm_module,
    build_rmsnorm_smoothquant_module,
)
from flydsl.kernels.norm.softmax import build_softmax_module
from flydsl.kernels.norm.softmax_backward import build_softmax_bwd_module, softmax_bwd_buffered_operands
from flydsl.kernels.quant.device_quant import build_row_quant_module

M, N = 5, 72
NORMS = [build_layernorm_module, build_rmsnorm_module]


def weights_of(build: Any, kind: Any = np.float32) -> list[np.ndarray]:
    return [np.linspace(-1, 1, N).astype(kind) for _ in range(1 + (build is build_layernorm_module))]


@pytest.mark.parametrize("build", NORMS)
def test_names_and_places_of_a_norms_numbers(build: Any, rng: np.random.Generator) -> None:
    x, weights = rng.standard_normal((M, N)).astype(np.float32), weights_of(build)
    found = []
    for run in (
        build(M, N, "f32"), build(N, "f32"), build(M=M, N=N, dtype_str="f32"), build(M, N=N, dtype="f32"),
        build(N, "f32", M=M), build(np.int64(M), np.int64(N), "f32", False, 1e-5, 64, "f32"),
        build(N, "f32", 1e-5, BLOCK_THREADS=64, weight_dtype_str="f32"),
    ):  # fmt: skip
        found.append(np.full_like(x, np.nan))
        run(x, *weights, found[-1], M)
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("build", NORMS)
def test_the_type_of_a_weight_counts(build: Any, rng: np.random.Generator) -> None:
    """It was dropped from its place behind the threads, and did nothing under its name."""
    x = rng.standard_normal((M, N)).astype(ml_dtypes.bfloat16)
    for dtype, weight in (("bf16", "f8"), ("bf16", "f16"), ("f32", "bf16")):
        with pytest.raises(ValueError, match=f"the weight of {dtype} rows is (bf16 or )?f32, got '{weight}'"):
            build(N, dtype, False, 1e-5, 256, weight)
        with pytest.raises(ValueError, match=f"the weight of {dtype} rows"):
            build(N, dtype, weight_dtype_str=weight)
    run = build(N, "bf16", False, 1e-5, 256, "f32")
    y, z = x.copy(), x.copy()
    run(x, *weights_of(build), y, M)
    build(N, "bf16")(x, *weights_of(build), z, M)
    np.testing.assert_allclose(y.astype(np.float32), z.astype(np.float32), rtol=0.02, atol=0.02)
    with pytest.raises(TypeError, match="holds BFloat16, and the kernel was built for Float32"):
        run(x, *weights_of(build, ml_dtypes.bfloat16), y, M)


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        ((M, N, "f32"), {"M": M}, "M is given twice"),
        ((N, "f32"), {"M": "5"}, "M is the number of rows, an integer, got '5'"),
        ((N, "f32"), {"dtype": "f32"}, "dtype is given twice"),
        ((N, "f32", False, 1e-5, 64), {"BLOCK_THREADS": 64}, "BLOCK_THREADS is given twice"),
        ((N, "f32", False, 1e-5, 64, "f32", 1), {}, "eps, threads and its weight's type, and here are 4"),
        ((N, "f32"), {"store_all": True}, "a norm has no option store_all"),
        ((N, "f32", "i8"), {}, "eps is a number added to the variance, got 'i8'"),
    ],
)
def test_numbers_of_a_norm_that_do_not_fit(arguments: tuple[Any, ...], options: dict[str, Any], said: str) -> None:
    for build in NORMS:
        with pytest.raises(TypeError, match=said):
            build(*arguments, **options)


def test_the_format_of_results_stands_behind_the_type(rng: np.random.Generator) -> None:
    x, scale = rng.standard_normal((M, N)).astype(np.float32), np.ones(N, np.float32)
    build: Any = build_layernorm_dynamicquant_module
    for run in (build(M, N, "f32", "fp8"), build(N, "f32", "fp8", 1e-5), build(M=M, N=N, dtype_str="f32",
                quant_dtype_str="fp8")):  # fmt: skip
        codes, scales = np.zeros((M, N), ml_dtypes.float8_e4m3fn), np.zeros(M, np.float32)
        run(x, scale, None, codes, scales, M)
        centred = x - x.mean(1, keepdims=True)
        want = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
        np.testing.assert_allclose(scales, np.abs(want).max(1) / 448, rtol=1e-4)
        np.testing.assert_allclose(codes.astype(np.float32) * scales[:, None], want, rtol=0.07, atol=0.01)
    for other in (build_rmsnorm_smoothquant_module, build_fused_add_rmsnorm_dynamicquant_module,
                  build_fused_add_layernorm_smoothquant_module):  # fmt: skip
        with pytest.raises(ValueError, match=r"quant_dtype_str must be one of i8, .*, got 'i4'"):
            other(M, N, "f32", "i4")
        with pytest.raises(TypeError, match="quant_dtype_str is given twice"):
            other(N, "f32", "i8", quant_dtype_str="i8")
        with pytest.raises(TypeError, match="whose results are quantised stores no statistics"):
            other(N, "f32", True)


def test_a_type_has_two_names() -> None:
    """Builders call it dtype or dtype_str, and take it as either: one launcher, and not twice."""
    of_rows: Any = build_softmax_module
    assert of_rows(M, N, dtype_str="bf16") and of_rows(M=M, N=N, dtype="bf16")
    for build in (build_layernorm_bwd_module, build_rmsnorm_bwd_module, build_softmax_bwd_module, build_glu_module):
        named: Any = build
        assert named(N, "bf16") is named(N, dtype="bf16") or named(N, "bf16") is named(N, dtype_str="bf16")
        assert named(N=N, dtype="f32") and named(N=N, dtype_str="f32")
        with pytest.raises(TypeError, match=r"unexpected keyword argument 'dtype|multiple values for argument 'dtype"):
            named(N, dtype="f32", dtype_str="f32")


def test_operands_that_count_as_kept() -> None:
    found = [softmax_bwd_buffered_operands(n, "bf16") for n in (512, 2000, 16384, 16385, 32768, 32769, 65536)]
    assert found == [2, 2, 2, 1, 1, 0, 0] and softmax_bwd_buffered_operands(N=8192) == 2
    named: Any = softmax_bwd_buffered_operands
    assert named(40000, dtype="f32") == 0
    with pytest.raises(ValueError, match="dtype must be one of"):
        softmax_bwd_buffered_operands(512, "f8")


# Matrices in one mode ------------------------------------------------------------------------------------------------

Matrices = list[np.ndarray]
Call = Callable[[int, Matrices, Matrices, int], Any]
"""A launch for rows of so many elements: sources, targets, rows."""


def line(n: int) -> np.ndarray:
    return np.linspace(0.5, 1.5, n).astype(np.float16)


def each(m: int) -> np.ndarray:
    return np.ones(m, np.float32)


def sums(n: int, m: int, flat: bool) -> np.ndarray:
    return np.zeros((partial_rows(n, m), n), np.float32).reshape(-1 if flat else (-1, n))


CALLS: dict[str, tuple[int, int, Call]] = {
    "softmax": (1, 1, lambda n, x, y, m: build_softmax_module(m, n, "f16")(*x, *y, m)),
    "softmax gradient": (2, 1, lambda n, x, y, m: build_softmax_bwd_module(n, "f16")(*x, *y, m)),
    "rmsnorm": (1, 1, lambda n, x, y, m: build_rmsnorm_module(n, "f16")(*x, line(n), *y, m)),
    "layernorm": (1, 1, lambda n, x, y, m: build_layernorm_module(n, "f16")(*x, line(n), line(n), *y, m)),
    "add": (2, 2, lambda n, x, y, m: build_fused_add_rmsnorm_module(n, "f16")(*x, line(n), *y, m)),
    "codes": (1, 1, lambda n, x, y, m: build_layernorm_dynamicquant_module(n, "f16")(
        *x, line(n), None, y[0].view(np.int8)[: m * n] if y[0].ndim == 1 else y[0].view(np.int8)[:, :n], each(m), m)),
    "rows of codes": (1, 1, lambda n, x, y, m: build_row_quant_module(n, "f16", "i8")(
        *x, y[0].view(np.int8)[: m * n] if y[0].ndim == 1 else y[0].view(np.int8)[:, :n], each(m), m)),
    "layernorm gradient": (2, 1, lambda n, x, y, m: build_layernorm_bwd_module(n, "f16")(
        *x, line(n), each(m), each(m), *y, sums(n, m, y[0].ndim == 1), sums(n, m, y[0].ndim == 1), line(n), line(n),
        m)),
    "rmsnorm gradient": (2, 1, lambda n, x, y, m: build_rmsnorm_bwd_module(n, "f16", True)(
        *x, line(n), each(m), *y, each(n), m)),
    "gated": (2, 1, lambda n, x, y, m: build_glu_module(n, "f16")(*x, *y, m)),
    "gated gradient": (3, 2, lambda n, x, y, m: build_glu_bwd_module(n, "f16")(*x, *y, m)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_matrices_in_one_mode(name: str, arch: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """They gave an error of a layout inside of the kernel."""
    monkeypatch.setenv("ARCH", arch)
    sources, targets, call = CALLS[name]
    for n in (72, 65):
        x = [rng.standard_normal((M, n)).astype(np.float16) for _ in range(sources)]
        found = [[np.zeros((M, n), np.float16) for _ in range(targets)] for _ in range(2)]
        call(n, x, found[0], M)
        call(n, [one.reshape(-1) for one in x], [one.reshape(-1) for one in found[1]], M)
        for want, got in zip(*found, strict=True):
            if "codes" in name:
                want, got = want.view(np.int8)[:, :n], got.reshape(-1).view(np.int8)[: M * n].reshape(M, n)
            np.testing.assert_array_equal(got, want)


def test_logits_in_one_mode(rng: np.random.Generator) -> None:
    logits = rng.standard_normal((M, 24)).astype(np.float32)
    gate = build_topk_gating_softmax_module(24, 4, "f32", True)
    found = [[np.zeros((M, 4), kind) for kind in (np.float32, np.int32, np.int32)] for _ in range(2)]
    gate(logits, *found[0], M)
    gate(logits.reshape(-1), *(one.reshape(-1) for one in found[1]), M)
    for want, got in zip(*found, strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", sorted(name for name in CALLS if "codes" not in name))
def test_lines_of_no_whole_rows_are_refused(name: str) -> None:
    sources, targets, call = CALLS[name]
    x, y = ([np.zeros(M * N, np.float16) for _ in range(count)] for count in (sources, targets))
    with pytest.raises(RuntimeError, match="an array of 359 elements is no whole number of rows of 72"):
        call(N, [x[0][:-1], *x[1:]], y, M)
    with pytest.raises(RuntimeError, match="5 rows of 72 elements are asked for, and a matrix has 4 of 72"):
        call(N, x, [y[0][:-N], *y[1:]], M)
    with pytest.raises(RuntimeError, match="6 rows of 72 elements are asked for, and a matrix has 5 of 72"):
        call(N, x, y, M + 1)
