"""Gradients of long norms on a real Hopper GPU against float64: rows of one block, of clusters of up to 16, and of all
blocks together."""

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
        (311_117, "bfloat16"), (120_000, "float32"), (230_003, "float16"), (262_144, "bfloat16"),
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


def test_blocks_of_two_launches_that_wait_for_each_other(torch: ModuleType) -> None:
    """Launches of two streams, each of which takes all multiprocessors, come one after the other: neither waits for
    blocks that the other leaves no room for."""
    made = {"device": "cuda", "dtype": torch.bfloat16}
    x, dy = (torch.randn(24, 240_001, **made) for _ in range(2))
    weights = [torch.randn(240_001, **made) for _ in range(2)]
    want = gradients(ops.layer_norm, x, weights, dy)
    streams = [torch.cuda.Stream() for _ in range(2)]
    torch.cuda.synchronize()
    found = []
    for _ in range(20):
        for stream in streams:
            with torch.cuda.stream(stream):
                found.append(gradients(ops.layer_norm, x, weights, dy))
    torch.cuda.synchronize()
    for got in found:
        assert all(torch.equal(one, other) for one, other in zip(got, want, strict=True))


def test_a_graph_of_a_launch_whose_blocks_wait_for_each_other(torch: ModuleType) -> None:
    made = {"device": "cuda", "dtype": torch.bfloat16}
    x, dy = (torch.randn(40, 225_001, **made) for _ in range(2))
    weights = [torch.randn(225_001, **made) for _ in range(2)]
    gradients(ops.layer_norm, x, weights, dy)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = gradients(ops.layer_norm, x, weights, dy)
    for _ in range(3):
        for tensor in (x, dy, *weights):
            tensor.normal_()
        for tensor in found:
            tensor.fill_(float("nan"))
        graph.replay()
        want = gradients(ops.layer_norm, x, weights, dy)
        assert all(torch.equal(one, other) for one, other in zip(found, want, strict=True))
