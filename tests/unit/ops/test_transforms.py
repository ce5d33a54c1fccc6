"""Ops under forward-mode differentiation and the transforms of torch.func: torch computes them, nothing is dropped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import flydsl.ops as ops

torch: Any = pytest.importorskip("torch", reason="torch's transforms are of its tensors")
functional = torch.nn.functional
pytestmark = [
    pytest.mark.filterwarnings("ignore:flydsl.ops:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),  # of torch's own formulas
]
TARGETS = torch.tensor([3, 0, 7])
WEIGHT = torch.linspace(-1, 1, 8)
OPS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "softmax": (ops.softmax, lambda x: torch.softmax(x, -1)),
    "rms_norm": (lambda x: ops.rms_norm(x, (8,), WEIGHT), lambda x: functional.rms_norm(x, (8,), WEIGHT)),
    "layer_norm": (lambda x: ops.layer_norm(x, (8,), WEIGHT), lambda x: functional.layer_norm(x, (8,), WEIGHT)),
    "add_rms_norm": (lambda x: ops.add_rms_norm(x, x, WEIGHT)[0], lambda x: functional.rms_norm(2 * x, (8,), WEIGHT)),
    "swiglu": (lambda x: ops.swiglu(x, x), lambda x: functional.silu(x) * x),
    "linear": (lambda x: ops.linear(x, x), lambda x: functional.linear(x, x)),
    "matmul": (lambda x: ops.matmul(x, x.mT), lambda x: torch.matmul(x, x.mT)),
    "cross_entropy": (lambda x: ops.cross_entropy(x, TARGETS), lambda x: functional.cross_entropy(x, TARGETS)),
}
"""An op of a matrix -> ours, torch's."""


def tangent(function: Callable[[Any], Any], x: Any) -> Any:
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        return forward.unpack_dual(function(forward.make_dual(x, torch.cos(x)))).tangent


TRANSFORMS: dict[str, Callable[[Callable[[Any], Any], Any], Any]] = {
    "tangent": tangent,
    "jvp": lambda function, x: torch.func.jvp(function, (x,), (torch.cos(x),))[1],
    "grad": lambda function, x: torch.func.grad(lambda given: torch.sin(function(given)).sum())(x),
    "vmap": lambda function, x: torch.func.vmap(function)(torch.stack([x, 2 * x])),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", OPS)
def test_what_torch_does_to_functions(name: str, transform: str) -> None:
    ours, theirs = OPS[name]
    x = torch.randn(3, 8)
    found, expected = (TRANSFORMS[transform](function, x) for function in (ours, theirs))
    torch.testing.assert_close(found, expected)


def test_a_call_beside_them_is_a_kernel_s() -> None:
    x = torch.randn(3, 8)
    tangent(ops.softmax, x)
    assert "torch.func" not in ops.explain("softmax", x)
