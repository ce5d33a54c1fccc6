"""`ops.scaled_dot_product_attention` on the virtual GPU: NumPy arrays and torch's CPU tensors, against float64."""

from __future__ import annotations

import warnings
from types import ModuleType

import ml_dtypes
import numpy as np
import pytest

from flydsl import ops


def reference(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None, causal: bool, scale: float
) -> np.ndarray:
    wide_q, wide_k, wide_v = (x.astype(np.float64) for x in (q, k, v))
    group = q.shape[1] // k.shape[1]
    wide_k, wide_v = (np.repeat(x, group, axis=1) for x in (wide_k, wide_v))
    scores = wide_q @ wide_k.swapaxes(-1, -2) * scale
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    if causal:
        scores = np.where(np.tri(scores.shape[-2], scores.shape[-1], dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ wide_v


@pytest.mark.torch
def test_arrays_and_tensors(torch: ModuleType, rng: np.random.Generator) -> None:
    for shape, keys, heads, causal, masked in (
        ((1, 2, 7, 64), 33, 2, False, True),
        ((2, 4, 40, 64), 40, 2, True, False),
    ):
        q = rng.standard_normal(shape).astype(np.float16)
        k, v = (rng.standard_normal((shape[0], heads, keys, shape[3])).astype(np.float16) for _ in range(2))
        mask = rng.random((shape[2], keys)) < 0.8 if masked else None
        if mask is not None:
            mask[:, 0] = True
        options = {"is_causal": causal, "enable_gqa": heads != shape[1], "scale": 0.2}
        expected = reference(q, k, v, mask, causal, 0.2)
        found = ops.scaled_dot_product_attention(q, k, v, mask, **options)
        assert np.abs(found - expected).max() < 3e-3 * np.abs(expected).max()
        tensors = [torch.from_numpy(x) for x in (q, k, v)]
        seen = None if mask is None else torch.from_numpy(mask)
        again = ops.scaled_dot_product_attention(*tensors, seen, **options)
        np.testing.assert_array_equal(again.numpy(), found)


@pytest.mark.torch
def test_what_has_no_kernel_is_left_to_torch(torch: ModuleType) -> None:
    x = torch.zeros(1, 1, 4, 64, requires_grad=True, dtype=torch.float16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        ops.scaled_dot_product_attention(x, x, x).sum().backward()
    assert x.grad is not None
    flat = x.detach()
    assert "gradient" in ops.explain("scaled_dot_product_attention", x, x, x)
    assert "differ for these lengths" in ops.explain(
        "scaled_dot_product_attention", flat, flat[:, :, :2], flat[:, :, :2], is_causal=True
    )
    assert "runs FlyDSL's kernels" in ops.explain("scaled_dot_product_attention", flat, flat, flat)
    with pytest.raises(TypeError, match="attention is for f16 and bf16"):
        ops.scaled_dot_product_attention(*[np.zeros((1, 1, 2, 64), np.float32)] * 3)
    both = np.zeros((1, 1, 2, 64), np.float16)
    with pytest.raises(TypeError, match="a mask and is_causal=True exclude each other"):
        ops.scaled_dot_product_attention(both, both, both, np.ones((2, 2), bool), is_causal=True)
    odd = np.zeros((1, 1, 2, 40), ml_dtypes.bfloat16)
    with pytest.raises(TypeError, match="multiples of 32 up to 256 long, got 40"):
        ops.scaled_dot_product_attention(odd, odd, odd)


@pytest.mark.torch
def test_traced_by_torch(torch: ModuleType, rng: np.random.Generator) -> None:
    q, k, v = (torch.from_numpy(rng.standard_normal((1, 2, 7, 64)).astype(np.float16)) for _ in range(3))
    ops.register_operators()
    traced = torch.compile(
        lambda q, k, v: 2 * ops.scaled_dot_product_attention(q, k, v, is_causal=True),
        fullgraph=True,
        backend="aot_eager",
    )
    np.testing.assert_array_equal(traced(q, k, v), 2 * ops.scaled_dot_product_attention(q, k, v, is_causal=True))
