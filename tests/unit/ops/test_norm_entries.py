"""Norms under FlyDSL's names, functions of tensors and arrays: results, statistics, gradients, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from flydsl.ops.layernorm_entries import layernorm, layernorm_bwd, layernorm_fwd
from flydsl.ops.rmsnorm_entries import (
    fused_add_rmsnorm,
    rmsnorm,
    rmsnorm_autotuned,
    rmsnorm_bwd,
    rmsnorm_direct,
    rmsnorm_fwd,
)

SHAPE, N, EPS = (3, 5, 72), 72, 1e-4
TYPES = [("float32", "float32"), ("bfloat16", "bfloat16"), ("float16", "float32")]
"""Of rows and weights."""


def tensors(torch: Any, dtype: str, weight: str) -> list[Any]:
    """x, residual, w and b, which want gradients, and a gradient of the results."""
    kinds = [getattr(torch, name) for name in (dtype, dtype, weight, weight)]
    shapes = (SHAPE, SHAPE, (N,), (N,))
    given = [torch.randn(shape, dtype=kind, requires_grad=True) for shape, kind in zip(shapes, kinds, strict=True)]
    return [*given, torch.randn(SHAPE, dtype=kinds[0])]


def close(torch: Any, got: Any, want: Any, like: Any) -> None:
    assert got.dtype == like.dtype and got.shape == like.shape
    relative, absolute = (1e-4, 1e-4) if like.dtype == torch.float32 else (3e-2, 6e-2)
    torch.testing.assert_close(got.double(), want.detach(), rtol=relative, atol=absolute)


def exact(torch: Any, function: Callable[..., Any], inputs: list[Any], dy: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the result of a function in float64, and its gradients."""
    wide = [value.detach().double().requires_grad_() for value in inputs]
    found = function(*wide)
    return found, torch.autograd.grad(found, wide, dy.double())


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
@pytest.mark.parametrize(("dtype", "weight"), TYPES)
def test_layernorm(torch: Any, dtype: str, weight: str, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    x, _, w, b, dy = tensors(torch, dtype, weight)
    functional = torch.nn.functional
    want, gradients = exact(torch, lambda x, w, b: functional.layer_norm(x, (N,), w, b, EPS), [x, w, b], dy)
    y = layernorm(x, w, b, EPS)
    close(torch, y, want, x)
    alone, mean, rstd = layernorm_fwd(x, w, b, EPS)
    assert torch.equal(alone, y) and not alone.requires_grad
    close(torch, mean, x.double().mean(-1), torch.empty(SHAPE[:-1]))
    close(torch, rstd, (x.double().var(-1, unbiased=False) + EPS).rsqrt(), torch.empty(SHAPE[:-1]))
    for found in (torch.autograd.grad(y, (x, w, b), dy), layernorm_bwd(dy, x, w, mean, rstd)):
        for got, right, like in zip(found, gradients, (x, w, b), strict=True):
            close(torch, got, right, like)
    _, dw, db = layernorm_bwd(dy, x, None, mean, rstd)
    assert dw is None and db.shape == (N,) and db.dtype == x.dtype


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
@pytest.mark.parametrize(("dtype", "weight"), TYPES)
def test_rmsnorm(torch: Any, dtype: str, weight: str, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    x, residual, w, _, dy = tensors(torch, dtype, weight)
    functional = torch.nn.functional
    want, gradients = exact(torch, lambda x, w: functional.rms_norm(x, (N,), w, EPS), [x, w], dy)
    y = rmsnorm(x, w, EPS)
    close(torch, y, want, x)
    alone, rstd = rmsnorm_fwd(x, w, EPS)
    assert torch.equal(alone, y) and not alone.requires_grad
    close(torch, rstd, ((x.double() ** 2).mean(-1) + EPS).rsqrt(), torch.empty(SHAPE[:-1]))
    for found in (torch.autograd.grad(y, (x, w), dy), rmsnorm_bwd(dy, x, w, rstd)):
        for got, right, like in zip(found, gradients, (x, w), strict=True):
            close(torch, got, right, like)
    close(torch, rmsnorm_bwd(dy, x, w, rstd, residual.detach())[0], gradients[0] + residual.double(), x)
    assert rmsnorm_bwd(dy, x, None, rstd)[1] is None


@pytest.mark.parametrize(("dtype", "weight"), TYPES)
def test_a_sum_and_its_norm(torch: Any, dtype: str, weight: str) -> None:
    x, residual, w, _, dy = tensors(torch, dtype, weight)
    y, added = fused_add_rmsnorm(x, residual, w, EPS)
    assert torch.equal(added, x + residual)
    functional = torch.nn.functional
    want, (by_sum, by_weight) = exact(torch, lambda s, w: functional.rms_norm(s, (N,), w, EPS), [x + residual, w], dy)
    close(torch, y, want, x)
    found = torch.autograd.grad((y, added), (x, residual, w), (dy, dy))
    for got, right, like in zip(found, (by_sum + dy, by_sum + dy, by_weight), (x, residual, w), strict=True):
        close(torch, got, right, like)
    assert torch.equal(fused_add_rmsnorm(x, residual, w, EPS, prenorm=False), y)


@pytest.mark.parametrize(("dtype", "weight"), TYPES)
@pytest.mark.parametrize("entry", [rmsnorm_direct, rmsnorm_autotuned])
def test_launches_alone(torch: Any, entry: Callable[..., Any], dtype: str, weight: str) -> None:
    x, _, w, _, _ = tensors(torch, dtype, weight)
    want, out = rmsnorm_fwd(x, w, EPS)[0], torch.empty(SHAPE, dtype=x.dtype)
    got = entry(x, w, EPS)
    assert torch.equal(got, want) and not got.requires_grad
    assert entry(x, w, EPS, out) is out and torch.equal(out, want)
    close(torch, entry(x), torch.nn.functional.rms_norm(x.double(), (N,), None, 1e-5), x)
    with pytest.raises(ValueError, match="out of rms_norm must be"):
        entry(x, w, EPS, out[:1])


def test_blocks_are_measured_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "1")
    x = rng.standard_normal((4, 1024)).astype(np.float32)
    y = rmsnorm_autotuned(x, None, 2e-5)
    np.testing.assert_allclose(y, x / np.sqrt((x**2).mean(1, keepdims=True) + 2e-5), rtol=1e-4, atol=1e-5)


def test_arrays_of_numpy(rng: np.random.Generator) -> None:
    x, w, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((4, N), N, N))
    y, mean, rstd = layernorm_fwd(x, w, b)
    centred = x - x.mean(1, keepdims=True)
    np.testing.assert_allclose(y, centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * w + b, 1e-4, 1e-5)
    np.testing.assert_array_equal(layernorm(x, w, b), y)
    np.testing.assert_allclose(layernorm_bwd(np.ones_like(x), x, w, mean, rstd)[2], np.full(N, 4.0))
    added = fused_add_rmsnorm(x, x, w)[1]
    np.testing.assert_array_equal(added, 2 * x)


def test_no_rows() -> None:
    x, w = np.zeros((0, N), np.float32), np.ones(N, np.float32)
    y, rstd = rmsnorm_fwd(x, w)
    assert y.shape == (0, N) and rstd.shape == (0,)
    dx, dw = rmsnorm_bwd(x, x, w, rstd)
    assert dx.shape == (0, N) and not dw.any()


def test_what_is_refused(rng: np.random.Generator) -> None:
    x, w, half = np.zeros((4, N), np.float32), np.ones(N, np.float32), np.ones(N, np.float16)
    rows = np.ones(4, np.float32)
    refused: list[tuple[type[Exception], str, Callable[[], Any]]] = [
        (ValueError, "the weight of f32 rows is f32, got 'f16'", lambda: rmsnorm(x, half)),
        (ValueError, "the weight of f32 rows is f32, got 'f16'", lambda: layernorm(x, w, half)),
        (ValueError, "the weight of f16 rows is f16 or f32, got 'float64'",
         lambda: rmsnorm_fwd(x.astype(np.float16), w.astype(np.float64))),
        (ValueError, "weight and bias have one type", lambda: layernorm_fwd(x.astype(np.float16), w, half)),
        (RuntimeError, "Expected weight to be of same shape", lambda: rmsnorm_direct(x, w[:9])),
        (TypeError, "a norm has no kernel for this: elements of float64", lambda: rmsnorm_fwd(x.astype(np.float64))),
        (ValueError, r"dy has the shape of x, \(4, 72\), got \(3, 72\)", lambda: rmsnorm_bwd(x[:3], x, w, rows)),
        (ValueError, "dresidual has the shape of x", lambda: rmsnorm_bwd(x, x, w, rows, x[:3])),
        (ValueError, r"statistics are one for each row, \(4,\)", lambda: layernorm_bwd(x, x, w, rows, rows[:3])),
        (TypeError, "as mean, got None", lambda: layernorm_bwd(x, x, w, None, rows)),
        (TypeError, "dy has the type of x, float32, got", lambda: rmsnorm_bwd(x.astype(np.float16), x, w, rows)),
        (TypeError, "dresidual has the type of x", lambda: rmsnorm_bwd(x, x, w, rows, x.astype(np.float64))),
        (TypeError, r"statistics are f32, got \['float64'\]", lambda: rmsnorm_bwd(x, x, w, rows.astype(np.float64))),
        (ValueError, "x and residual are alike",
         lambda: fused_add_rmsnorm(x.astype(np.float16), x.astype(np.float16)[:3], w)),
    ]  # fmt: skip
    for error, said, call in refused:
        with pytest.raises(error, match=said):
            call()
