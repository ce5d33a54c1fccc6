"""`ops.scaled_dot_product_attention` on the virtual GPU: NumPy arrays and torch's CPU tensors, against float64."""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl import ops
from tests.support.attention_reference import attend, check, check_gradients, gradients


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


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
    mask = torch.zeros(4, 4, requires_grad=True, dtype=torch.float16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        ops.scaled_dot_product_attention(x, x, x, mask).sum().backward()
    assert x.grad is not None and mask.grad is not None
    flat = x.detach()
    assert "keys and values alone" in ops.explain("scaled_dot_product_attention", x, x, x, mask)
    long = torch.zeros(1, 1, 4, 256, requires_grad=True, dtype=torch.float16)
    assert "runs FlyDSL's kernels" in ops.explain("scaled_dot_product_attention", long, long, long)
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
@pytest.mark.parametrize("arch", ["gfx1100", "gfx1250"])
def test_a_target_without_attention_says_so(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    x, table = np.zeros((1, 1, 4, 64), np.float16), np.zeros((1, 1), np.int32)
    assert f"attention has no kernel for {arch}" in ops.explain("scaled_dot_product_attention", x, x, x)
    for call in (
        lambda: ops.scaled_dot_product_attention(x, x, x),
        lambda: ops.attention(x, x, x),
        lambda: ops.paged_attention(x[:, :, 0], x, x, table, table[0]),
    ):
        with pytest.raises(TypeError, match=f"attention has no kernel for {arch}"):
            call()


def test_gradients(torch: ModuleType, rng: np.random.Generator) -> None:
    """By autograd, of a result whose gradient is one number for all elements; the same traced, and by name."""
    tensors = [
        torch.from_numpy(rng.standard_normal((1, heads, 40, 64)).astype(np.float16)).requires_grad_()
        for heads in (4, 2, 2)
    ]

    def by_torch(q: Any, k: Any, v: Any) -> Any:
        return ops.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)

    q, k, v = (x.detach().numpy() for x in tensors)
    expected = gradients(np.ones_like(q), q, k, v, is_causal=True)
    ops.register_operators()
    traced = torch.compile(by_torch, fullgraph=True, backend="aot_eager")
    for function in (by_torch, traced, lambda q, k, v: ops.attention(q, k, v, is_causal=True, deterministic=True)):
        found = torch.autograd.grad(function(*tensors).sum(), tensors)
        check_gradients([x.numpy() for x in found], expected)


@pytest.mark.torch
def test_sequences_and_windows(torch: ModuleType, rng: np.random.Generator) -> None:
    """What torch's function has no word for; gradients reach the tensors that are asked for."""
    q, k, v = (torch.from_numpy(rng.standard_normal((50, 2, 64)).astype(np.float16)) for _ in range(3))
    starts = torch.tensor([0, 20, 50], dtype=torch.int32)
    k.requires_grad_()
    out = ops.attention(q, k, v, cu_seqlens_q=starts, cu_seqlens_k=starts, max_seqlen_q=30, window=(5, 0))
    (found,) = torch.autograd.grad(out.sum(), [k])
    for first, last in ((0, 20), (20, 50)):
        parts = [x.detach()[None, first:last].transpose(1, 2).numpy() for x in (q, k, v)]
        check(out.detach()[None, first:last].transpose(1, 2).numpy(), None, attend(*parts, window=(5, 0)))
        wanted, bound = gradients(np.ones_like(parts[0]), *parts, window=(5, 0))[1]
        assert (np.abs(found[None, first:last].transpose(1, 2).numpy() - wanted) <= bound).all()
    with pytest.raises(TypeError, match="keys and values alone"):
        ops.attention(q, k, v, alibi_slopes=torch.zeros(2, requires_grad=True))
    with pytest.raises(ValueError, match="each None or not negative"):
        ops.attention(q, k, v, window=(-1, 0))


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


@pytest.mark.torch
def test_paged_caches(torch: ModuleType, rng: np.random.Generator) -> None:
    """Arrays, tensors and traced tensors; a latent cache is one of keys whose first elements are values."""
    cache = rng.standard_normal((5, 16, 1, 96)).astype(np.float16)
    tables, lengths = np.array([[3, 1], [4, 0]], np.int32), np.array([20, 7], np.int32)
    q = rng.standard_normal((2, 4, 96)).astype(np.float16)
    given = (q, cache, cache[..., :64], tables, lengths)
    found = ops.paged_attention(*given, scale=0.1)
    for row, length in enumerate(lengths):
        keys = cache[tables[row]].reshape(1, 1, 32, 96)[:, :, :length]
        check(found[row][None, :, None], None, attend(q[row][None, :, None], keys, keys[..., :64], scale=0.1))
    tensors = [torch.from_numpy(x) for x in (q, cache[:, :, 0], tables, lengths)]
    ops.register_operators()
    for run in (ops.mla_decode, torch.compile(ops.mla_decode, fullgraph=True, backend="aot_eager")):
        np.testing.assert_array_equal(run(*tensors, dv=64, scale=0.1).numpy(), found)
    assert "runs FlyDSL's kernels" in ops.explain("paged_attention", *given)
    with pytest.raises(TypeError, match="attention is for f16 and bf16"):
        ops.paged_attention(q.astype(np.float32), *given[1:])
