"""The attention benchmark: what it holds gradients of long sequences against is what autograd finds at once, and all
head sizes that kernels take are measured."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

from tests.conftest import REPOSITORY

torch: Any = pytest.importorskip("torch", reason="the reference is of torch tensors")


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "2")  # the benchmark lowers it for its process, without a GPU
    for name in ("attention", "timing"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("attention")


@pytest.mark.parametrize("part", ["forward", "gradients", "fp8"])
def test_all_head_sizes(part: str, benchmark: Any) -> None:
    cases = benchmark.cases_of(part, benchmark.SHAPES, seed=1, quick=False)
    assert {shape.d for (shape,) in cases} == {64, 128, 192, 256}


@pytest.mark.parametrize("part", ["decode", "latent"])
def test_caches_are_drawn_beside_the_named_ones(part: str, benchmark: Any) -> None:
    once, again, others = (benchmark.cases_of(part, benchmark.SHAPES, seed, quick=False) for seed in (1, 1, 2))
    named = len(benchmark.DECODES if part == "decode" else benchmark.LATENTS)
    assert once == again and once[:named] == others[:named] and not set(once[named:]) & set(others[named:])


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_some_queries_at_a_time(causal: bool, benchmark: Any) -> None:
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
