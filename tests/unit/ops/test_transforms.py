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


@pytest.mark.parametrize("name", OPS)
def test_gradients_for_several_vectors_at_once(name: str) -> None:
    ours, theirs = OPS[name]
    x = torch.randn(3, 8, requires_grad=True)
    vectors = torch.randn(4, *theirs(x).shape)
    found, expected = (
        torch.autograd.grad(function(x), x, vectors, is_grads_batched=True)[0] for function in (ours, theirs)
    )
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("transform", ["tangent", "jvp", "grad"])
def test_experts_are_followed_too(transform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    x, logits, w1, w2 = (torch.randn(*shape).half() / 4 for shape in ((3, 64), (3, 2), (2, 128, 64), (2, 64, 64)))

    def by_torch(x: Any) -> Any:
        chances = torch.softmax(logits.float(), -1)
        gates = torch.einsum("tm,eim->eti", x, w1).chunk(2, -1)
        rows = torch.einsum("eti,emi->etm", functional.silu(gates[0]) * gates[1], w2)
        return (rows * chances.T[..., None]).sum(0).half()

    found, expected = (
        TRANSFORMS[transform](function, x) for function in (lambda x: ops.moe(x, logits, w1, w2, topk=2), by_torch)
    )
    torch.testing.assert_close(found, expected, atol=1e-2, rtol=1e-2)


def test_a_call_beside_them_is_a_kernel_s() -> None:
    x = torch.randn(3, 8)
    tangent(ops.softmax, x)
    assert "torch.func" not in ops.explain("softmax", x)


@pytest.mark.parametrize("name", OPS)
def test_modes_of_torch_s_dispatcher_see_operators(name: str) -> None:
    """A graph that `make_fx` makes has to compute: launches that it does not see would leave results unwritten."""
    from torch.fx.experimental.proxy_tensor import make_fx

    ours, theirs = OPS[name]
    graph, x = make_fx(lambda x: ours(x))(torch.randn(3, 8)), torch.randn(3, 8)
    assert "torch.ops.flydsl" in graph.code
    torch.testing.assert_close(graph(x), theirs(x))


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@pytest.mark.parametrize("name", OPS)
def test_torchscript_s_tracer_sees_operators(name: str) -> None:
    ours, theirs = OPS[name]
    traced, x = torch.jit.trace(lambda x: ours(x), (torch.randn(3, 8),), check_trace=False), torch.randn(3, 8)
    torch.testing.assert_close(traced(x), theirs(x))


def test_tensors_whose_class_has_a_say() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.testing._internal.two_tensor import TwoTensor

    pair = TwoTensor(torch.randn(3, 8), torch.randn(3, 8))
    torch.testing.assert_close(ops.softmax(pair).b, torch.softmax(pair.b, -1))
    with FakeTensorMode():
        assert ops.softmax(torch.empty(3, 8)).shape == (3, 8)


# Gradients that are not there ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["softmax", "rms_norm", "layer_norm", "swiglu"])
def test_gradients_of_gradients_are_refused_beside_others(name: str) -> None:
    """The second term would be left out of what the first one gives."""
    function, x = OPS[name][0], torch.randn(3, 8, requires_grad=True)
    (first,) = torch.autograd.grad(torch.sin(function(x)).sum(), x, create_graph=True)
    torch.testing.assert_close(first, torch.autograd.grad(torch.sin(OPS[name][1](x)).sum(), x)[0])
    with pytest.raises(RuntimeError, match=r"the gradient of .* has no gradient: detach its arguments, or call"):
        torch.autograd.grad(((x - first) ** 2).sum(), x)


def test_what_has_no_gradient_says_so() -> None:
    x = torch.randn(3, 64, requires_grad=True)
    codes, scales = ops.quantize_per_token(x)
    assert not codes.requires_grad and not ops.quantize_per_token(x.detach())[1].requires_grad
    with pytest.raises(RuntimeError, match="quantize_rows has no gradient: detach its arguments"):
        scales.sum().backward()


def test_gradients_of_rope_s_tables_are_torch_s() -> None:
    x, sin = torch.randn(3, 2, 8), torch.randn(3, 4)
    cos = torch.randn(3, 4, requires_grad=True)
    for _ in range(3):
        (found,) = torch.autograd.grad(ops.rope(x, cos, sin).sum(), cos)
        torch.testing.assert_close(found, (x[..., :4] + x[..., 4:]).sum(1))
