"""Tensors of more than 2**31 elements on a real Hopper GPU: the first and the last rows against float64."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import flydsl.ops as ops

pytestmark = [pytest.mark.gpu, pytest.mark.torch]


@pytest.fixture
def large(torch: ModuleType) -> Any:
    """Make bf16 tensors of random numbers in place, and give their memory back behind the test."""
    if not torch.cuda.is_available() or torch.cuda.get_device_properties(0).total_memory < 48 << 30:
        pytest.skip("a GPU of 48 GiB or more is wanted")
    yield lambda *shape: torch.empty(shape, device="cuda", dtype=torch.bfloat16).normal_()
    torch.cuda.empty_cache()


def error(found: Any, expected: Any) -> float:
    return float((found.detach().double() - expected).abs().max() / expected.abs().max())


ROWS: dict[str, tuple[tuple[int, int], Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    "softmax": ((70_001, 32_768), ops.softmax, lambda _, x: x.softmax(-1)),
    "short softmax": ((68_000_001, 33), ops.softmax, lambda _, x: x.softmax(-1)),
    "odd layer_norm": (
        (530_001, 4097), lambda x: ops.layer_norm(x, (4097,)), lambda f, x: f.layer_norm(x, (4097,)),
    ),
    "swiglu": ((70_001, 32_768), ops.swiglu, lambda f, x: f.silu(x[:, :16_384]) * x[:, 16_384:]),
}  # fmt: skip
"""Name -> (shape, ours, torch's of its functional module and float64)."""


@pytest.mark.parametrize("name", ROWS)
def test_rows(name: str, large: Any, torch: ModuleType) -> None:
    shape, ours, theirs = ROWS[name]
    x = large(*shape)
    rows = [0, shape[0] // 2, shape[0] - 2, shape[0] - 1]
    assert error(ours(x)[rows], theirs(torch.nn.functional, x[rows].double())) < 8e-3


def test_gradients_of_rows(large: Any, torch: ModuleType) -> None:
    x, target = large(70_001, 32_768), torch.randint(0, 32_768, (70_001,), device="cuda")
    ends = [0, 70_000]
    few = x[ends].double().requires_grad_()
    torch.nn.functional.cross_entropy(few, target[ends], reduction="sum").backward()
    x.requires_grad_()
    ops.cross_entropy(x, target, reduction="sum").backward()
    assert error(x.grad[ends], few.grad) < 8e-3


@pytest.mark.parametrize(
    ("m", "n", "k"), [(530_001, 1024, 4096), (70_000, 32_768, 256), (3, 300_001, 8192), (300, 270_001, 8191)]
)
def test_products(m: int, n: int, k: int, large: Any) -> None:
    """Of x, of the result, of weights for few rows, and of weights whose rows begin anywhere."""
    x, w = large(m, k), large(n, k)
    y, ends = ops.linear(x, w), [0, m // 2, m - 1]
    for columns in (slice(0, 64), slice(n - 64, n)):
        assert error(y[ends, columns], x[ends].double() @ w[columns].double().T) < 8e-3


def test_attention(large: Any) -> None:
    window, (b, h, s, d) = 500, (16, 32, 36_000, 128)
    q, k, v = (large(b, h, s, d) for _ in range(3))
    out = ops.attention(q, k, v, window=(window, 0))
    for batch, head, row in ((0, 0, s // 2), (b - 1, h - 1, s - 1)):
        seen = slice(row - window, row + 1)
        scores = q[batch, head, row].double() @ k[batch, head, seen].double().T * d**-0.5
        assert error(out[batch, head, row], scores.softmax(-1) @ v[batch, head, seen].double()) < 8e-3


def test_pages(large: Any, torch: ModuleType) -> None:
    pages, size, kv, d, length = 40_000, 64, 8, 128, 500
    keys, values, q = large(pages, size, kv, d), large(pages, size, kv, d), large(4, 16, d)
    table = torch.randint(pages - 100, pages, (4, 8), device="cuda", dtype=torch.int32)
    out = ops.paged_attention(q, keys, values, table, torch.full((4,), length, device="cuda", dtype=torch.int32))
    mine = [cache[table[-1].long()].flatten(0, 1)[:length, -1].double() for cache in (keys, values)]
    assert error(out[-1, -1], (q[-1, -1].double() @ mine[0].T * d**-0.5).softmax(-1) @ mine[1]) < 8e-3


def test_groups(large: Any, torch: ModuleType) -> None:
    groups, k, n = 300, 4096, 2048
    a, b = large(2 * groups, k), large(groups, k, n)
    ends = torch.arange(2, 2 * groups + 1, 2, device="cuda", dtype=torch.int32)
    assert error(ops.grouped_mm(a, b, offs=ends)[-2:], a[-2:].double() @ b[-1].double()) < 8e-3
