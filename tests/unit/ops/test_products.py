"""`ops.matmul`, `linear`, `scaled_mm` and `grouped_mm`: results, gradients, tracing, and what is refused."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.ops as ops
from flydsl.kernels.gemm.hopper.weights import shuffle_weights
from flydsl.ops import op

BF16, E4M3 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn


def close(got: Any, want: Any, terms: int, rounding: float) -> None:
    """Within half a unit of the result's rounding and what f32's sums of random terms may lose."""
    assert got.shape == want.shape
    bound = rounding * np.abs(want) + 1e-5 * terms**0.5
    assert (np.abs(got.astype(float) - want) <= bound).all()


@pytest.mark.parametrize(("arch", "kind"), [("gfx942", BF16), ("gfx1201", np.float16), ("sm_90a", BF16)])
def test_arrays(arch: str, kind: Any, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Layers and matrices of odd extents, by every way to a kernel; weights as they come and transposed."""
    monkeypatch.setenv("ARCH", arch)
    rounding = {BF16: 2**-8, np.float16: 2**-11, np.float32: 1e-6}[kind]
    x, w, b = (rng.standard_normal(shape).astype(kind) for shape in ((2, 3, 33), (21, 33), (21,)))
    wide = x.astype(float) @ w.astype(float).T
    close(ops.linear(x, w, b), wide + b.astype(float), 33, rounding)
    close(ops.matmul(x[0], w.T), wide[0], 33, rounding)
    if arch == "sm_90a" and kind is BF16:
        close(ops.matmul(x, np.stack([w.T, w.T])), wide, 33, rounding)


def test_shapes_of_matmul(rng: np.random.Generator) -> None:
    """Vectors, batches that are broadcast, and nothing to add up, as NumPy has them."""
    for first, second in (
        ((5,), (5,)),
        ((5,), (2, 5, 1)),
        ((2, 1, 3, 5), (3, 5, 1)),
        ((0, 5), (5, 4)),
        ((3, 0), (0, 4)),
    ):
        a, b = (rng.standard_normal(shape).astype(np.float32) for shape in (first, second))
        np.testing.assert_allclose(ops.matmul(a, b), np.matmul(a, b), atol=1e-5)
    a, b, out = (
        rng.standard_normal((3, 5)).astype(np.float32),
        np.ones((5, 4), np.float32),
        np.empty((3, 4), np.float32),
    )
    assert ops.matmul(a, b, out=out) is out
    np.testing.assert_allclose(out, a @ b, atol=1e-5)


def test_scales(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    a, b = (rng.standard_normal(shape).astype(E4M3) for shape in ((5, 160), (24, 160)))
    wide_a, wide_b, bias = a.astype(float), b.astype(float), rng.standard_normal(24).astype(np.float32)
    one, rows, columns = (rng.random(shape).astype(np.float32) for shape in ((1,), (5, 1), (1, 24)))
    close(ops.scaled_mm(a, b.T, one, one, bias), one[0] ** 2 * wide_a @ wide_b.T + bias, 160, 2**-8)
    got = ops.scaled_mm(a, b.T, rows, columns, out_dtype=np.float32)
    close(got, rows * (wide_a @ wide_b.T) * columns, 160, 1e-6)
    of_a, of_b = rng.random((5, 2)).astype(np.float32), rng.random((2, 1)).astype(np.float32)
    spread = of_a.repeat(128, 1)[:, :160], of_b.repeat(128, 0)[:160]
    close(ops.scaled_mm(a, b.T, of_a, of_b), (wide_a * spread[0]) @ (wide_b.T * spread[1]), 160, 2**-8)


def test_groups(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    a, b = (rng.standard_normal(shape).astype(BF16) for shape in ((9, 24), (3, 24, 16)))
    want = np.concatenate([a[:4].astype(float) @ b[0].astype(float), a[4:].astype(float) @ b[2].astype(float)])
    close(ops.grouped_mm(a, b, offs=np.array([4, 4, 9], np.int32)), want, 24, 2**-8)


def test_weights_of_four_bits(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    codes, x = rng.integers(0, 16, (40, 64)), rng.standard_normal((2, 3, 64)).astype(BF16)
    scales, zeros = rng.standard_normal((40, 1)).astype(BF16), np.full((40, 1), 5, BF16)
    weights = (codes - 5) * scales.astype(float)  # of so few rows they are not rounded
    got = ops.linear_int4(x, shuffle_weights(codes), scales, zeros, group_size=64)
    close(got, x.astype(float) @ weights.T, 64, 2**-8)
    assert ops.linear_int4(x[:0], shuffle_weights(codes), scales, group_size=64).shape == (0, 3, 40)
    with pytest.raises(TypeError, match="activations are f16 or bf16"):
        ops.linear_int4(x.astype(np.float32), shuffle_weights(codes), scales)


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    x, narrow, one = np.zeros((4, 8), np.float32), np.zeros((4, 8), E4M3), np.ones(1, np.float32)
    for wrong, error, words in (
        (lambda: ops.matmul(x, x), RuntimeError, r"cannot be multiplied \(4x8 and 4x8\)"),
        (lambda: ops.matmul(np.float32(1) * x[0, 0], x), TypeError, "expected a tensor"),
        (lambda: ops.matmul(np.zeros((2, 4, 8), np.float32), np.zeros((3, 8, 4), np.float32)), RuntimeError,
         r"size of tensor a \(2\) must match the size of tensor b \(3\)"),
        (lambda: ops.matmul(x, x.T.astype(np.float16)), TypeError, "types differ"),
        (lambda: ops.matmul(x, x.T, out=x), ValueError, r"out of matmul must be \(4, 4\)"),
        (lambda: ops.linear(x, x.T), RuntimeError, r"cannot be multiplied \(4x8 and 4x8\)"),
        (lambda: ops.linear(x, x[0]), TypeError, "the weight is no matrix"),
        (lambda: ops.linear(x, x, x[0]), RuntimeError, r"has shape \(4,\), got \(8,\)"),
        (lambda: ops.scaled_mm(x, x.T, one, one), TypeError, "or float8_e4m3fnuz, got float32"),
        (lambda: ops.scaled_mm(narrow, narrow, one, one), RuntimeError, "cannot be multiplied"),
        (lambda: ops.scaled_mm(narrow, narrow.T, np.ones((4, 1), np.float32), one), ValueError, "of rows and columns"),
        (lambda: ops.scaled_mm(narrow, narrow.T, one, one, out_dtype=np.int8), ValueError, "out_dtype must be one of"),
        (lambda: ops.grouped_mm(x, x), TypeError, "groups are rows of a matrix"),
    ):  # fmt: skip
        monkeypatch.setenv("ARCH", "sm_90a")
        with pytest.raises(error, match=words):
            wrong()
    monkeypatch.setenv("ARCH", "gfx942")
    assert ops.explain(ops.grouped_mm, x, x) == (
        "grouped_mm is refused: groups are rows of a matrix, each with a matrix of its own, that end where offs "
        "says, without a bias"
    )


@pytest.mark.torch
def test_gradients_and_tracing(torch: Any) -> None:
    """Results and gradients beside torch's in float64, eager and compiled."""
    ops.register_operators()
    torch._dynamo.reset()
    cases = (  # all products of 12 columns and 12 terms: one kernel
        (ops.linear, torch.nn.functional.linear, ((3, 4, 12), (12, 12), (12,))),
        (ops.linear, torch.nn.functional.linear, ((12, 12), (12, 12))),
        (ops.matmul, torch.matmul, ((2, 1, 12, 12), (2, 12, 12))),
    )
    for ours, theirs, shapes in cases:
        for function in (ours, torch.compile(ours, fullgraph=True, backend="aot_eager")):
            given = [torch.randn(shape, requires_grad=True) for shape in shapes]
            wide = [x.detach().double().requires_grad_() for x in given]
            got, want = function(*given), theirs(*wide)
            torch.testing.assert_close(got.double(), want, rtol=1e-5, atol=1e-5)
            weights = torch.randn_like(got)
            found = torch.autograd.grad(got, given, weights), torch.autograd.grad(want, wide, weights.double())
            for a, b in zip(*found, strict=True):
                torch.testing.assert_close(a.double(), b, rtol=1e-5, atol=1e-5)
    x = torch.randn(12, 12, requires_grad=True)
    ops.linear(x, torch.ones(12, 12)).sum().backward()
    torch.testing.assert_close(x.grad, torch.full((12, 12), 12.0))
    torch.library.opcheck(torch.ops.flydsl.linear.default, (x, torch.randn(12, 12), None))


@pytest.mark.torch
def test_what_is_left_to_torch(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(op, "_warned", set())
    x = torch.randn(3, 8, dtype=torch.float64)
    with pytest.warns(RuntimeWarning, match="flydsl.ops.matmul leaves this to torch: elements of torch.float64"):
        torch.testing.assert_close(ops.matmul(x, x.T), x @ x.T)
    with pytest.warns(RuntimeWarning, match="flydsl.ops.linear leaves this to torch"):
        torch.testing.assert_close(ops.linear(x, x), x @ x.T)
