"""Launches of rows that may begin before those ahead of them have ended: chains give what they give one by one."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import flydsl.ops as ops

pytestmark = [pytest.mark.gpu, pytest.mark.torch]
SHAPES = ((256, 1024), (3000, 1048))
"""Rows and their length."""
ROUNDS = 60


@pytest.fixture(scope="module")
def cuda_torch(torch: ModuleType) -> ModuleType:
    if not torch.cuda.is_available():
        pytest.skip("this torch has no CUDA")
    return torch


def chain(torch: ModuleType, given: list[Any], after: Callable[[Any], Any]) -> list[Any]:
    """Results and gradients of ops that follow each other, ``after`` being called with what each gives.

    Products let the next launch begin at once; what torch writes before and behind an op must not get in its way.
    """
    x, matrix, weight, labels = given
    shape, inner = weight.shape, x.detach().clone()
    leaves = [tensor.detach().requires_grad_() for tensor in (x, matrix, weight)]
    x, matrix, weight = leaves
    h = after(ops.rms_norm(after(ops.linear(x, matrix)), shape, weight, 1e-5))
    normed, added = ops.add_rms_norm(h, after(ops.linear(h, matrix)), weight, 1e-5)
    gated = after(ops.swiglu(after(normed), after(added)))
    chances = after(ops.softmax(after(ops.linear(gated, matrix))))
    loss = after(ops.cross_entropy(after(ops.layer_norm(chances + added, shape, weight, weight)), labels))
    loss.backward()
    with torch.no_grad():
        for _ in range(3):  # read and written in the same place by launches that follow each other
            inner.copy_(after(ops.linear(inner, matrix)))
            other = after(ops.softmax(inner))
            inner.zero_()
            inner.add_(after(ops.rms_norm(other, shape, weight, 1e-5)))
            del other
    return [h.detach(), gated.detach(), loss.detach(), inner, *(leaf.grad for leaf in leaves)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_chains_of_dependent_launches(shape: tuple[int, int], cuda_torch: ModuleType) -> None:
    torch = cuda_torch
    rows, length = shape
    made = {"device": "cuda", "dtype": torch.bfloat16}
    matrix, weight = torch.randn(length, length, **made) / length**0.5, torch.rand(length, **made) + 0.5
    labels = torch.randint(0, length, (rows,), device="cuda")

    def one_by_one(result: Any) -> Any:
        torch.cuda.synchronize()
        if result.requires_grad:
            result.register_hook(lambda _: torch.cuda.synchronize())
        return result

    inputs = [torch.randn(rows, length, **made) for _ in range(3)]
    wanted = [chain(torch, [x, matrix, weight, labels], one_by_one) for x in inputs]
    found = [chain(torch, [inputs[i % 3], matrix, weight, labels], lambda result: result) for i in range(ROUNDS)]
    torch.cuda.synchronize()
    for i, results in enumerate(found):
        for place, (a, b) in enumerate(zip(results, wanted[i % 3], strict=True)):
            assert torch.equal(a, b), f"result {place} of round {i} differs in {int((a != b).sum())} places"
