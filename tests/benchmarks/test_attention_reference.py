"""What the attention benchmark holds gradients of long sequences against is what autograd finds at once."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

from tests.conftest import REPOSITORY

torch: Any = pytest.importorskip("torch", reason="the reference is of torch tensors")


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_some_queries_at_a_time(causal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "2")  # the benchmark lowers it for its process, without a GPU
    for name in ("attention", "timing"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    benchmark = importlib.import_module("attention")
    shapes = ((3, 20, 8), (3, 20, 8), (20, 8), (20, 8))
    dout, *leaves = (torch.randn(shape, dtype=torch.float64) for shape in shapes)
    q, k, v = (leaf.requires_grad_() for leaf in leaves)
    scores = q @ k.T * 8**-0.5
    if causal:
        scores = scores.masked_fill(torch.ones(20, 20).triu(1).bool(), float("-inf"))
    expected = torch.autograd.grad(scores.softmax(-1) @ v, (q, k, v), dout)
    found = benchmark.exact_gradients(dout, *(x.detach() for x in (q, k, v)), causal, count=7)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)
