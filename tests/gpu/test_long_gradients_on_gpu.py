"""Gradients of long norms on a real Hopper GPU against float64: rows of one block and of clusters of up to 16."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import flydsl.ops as ops

pytestmark = [pytest.mark.gpu, pytest.mark.torch, pytest.mark.usefixtures("hopper")]
TOLERANCE = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 2e-2}
CASES = [
    (n, dtype, layer)
    for n, dtype in (
        (9_001, "float16"), (23_252, "bfloat16"), (31_001, "bfloat16"), (46_001, "bfloat16"), (40_001, "float32"),
        (80_001, "float16"), (98_304, "bfloat16"), (130_001, "bfloat16"), (176_003, "float32"), (255_551, "float16"),
        (311_117, "bfloat16"),
    )
    for layer in (False, True)
]  # fmt: skip


def gradients(function: Any, x: Any, weights: list[Any], dy: Any) -> list[Any]:
    leaves = [tensor.detach().requires_grad_() for tensor in (x, *weights)]
    function(leaves[0], x.shape[-1:], *leaves[1:], eps=1e-5).backward(dy)
    return [leaf.grad for leaf in leaves]


@pytest.mark.parametrize(("n", "dtype", "layer"), CASES)
def test_gradients_of_long_norms(n: int, dtype: str, layer: bool, torch: ModuleType) -> None:
    """Of one row, of fewer than there are clusters, and of many, with nothing beside rows read; twice the same bits."""
    made = {"device": "cuda", "dtype": getattr(torch, dtype)}
    name = "layer_norm" if layer else "rms_norm"
    ours, theirs = getattr(ops, name), getattr(torch.nn.functional, name)
    for m in (1, 5, 301):
        around = torch.full((m * n + 64,), float("nan"), **made)
        x = around[24 : 24 + m * n].view(m, n).normal_()
        dy, weights = torch.randn(m, n, **made), [torch.randn(n, **made) for _ in range(1 + layer)]
        found = gradients(ours, x, weights, dy)
        wide = [tensor.double() for tensor in (x, *weights, dy)]
        for got, want in zip(found, gradients(theirs, wide[0], wide[1:-1], wide[-1]), strict=True):
            assert float((got.double() - want).abs().max() / want.abs().max()) < TOLERANCE[dtype]
        again = gradients(ours, x, weights, dy)
        assert all(torch.equal(one, other) for one, other in zip(found, again, strict=True))
