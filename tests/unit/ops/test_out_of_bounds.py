"""Numbers that name what is not there, where operators of torch meet them; and targets of `cross_entropy`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.ops as ops

CLASSES = [0, 9, -5, 2**40, 1]


@pytest.fixture(autouse=True)
def _target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_classes_where_torch_traces(torch: Any) -> None:
    """As with torch's own function, where a graph is made or runs; ignored ones are no classes."""
    from torch.fx.experimental.proxy_tensor import make_fx

    ops.register_operators()
    torch._dynamo.reset()
    x, right, wrong = torch.randn(5, 8), torch.tensor([0, 7, -100, 3, 1]), torch.tensor(CLASSES)

    def run_operator(x: Any, target: Any) -> Any:
        return torch.ops.flydsl.cross_entropy(x, target, -100, 1, 0.0)[0]

    def run_ours(x: Any, target: Any) -> Any:
        return ops.cross_entropy(x, target)

    def run_theirs(x: Any, target: Any) -> Any:
        return torch.nn.functional.cross_entropy(x, target)

    for function in (run_ours, run_theirs):
        traced: list[Callable[..., Any]] = [torch.compile(function, fullgraph=True, backend="aot_eager")]
        traced += [make_fx(function)(x, right)] + [run_operator] * (function is run_ours)
        for call in traced:
            torch.testing.assert_close(call(x, right), torch.nn.functional.cross_entropy(x, right))
            with pytest.raises(IndexError, match="Target 9 is out of bounds"):
                call(x, wrong)
        for make in (make_fx(function), lambda *given: torch.jit.trace(function, given, check_trace=False)):  # noqa: B023
            with pytest.raises(IndexError, match="Target 9 is out of bounds"):
                make(x, wrong)


@pytest.mark.torch
def test_places_that_operators_are_given(torch: Any) -> None:
    def ints(*numbers: int) -> Any:
        return torch.tensor(numbers, dtype=torch.int32)

    operators: Any = torch.ops.flydsl
    ops.register_operators()
    q, cache, half = (torch.zeros(*shape).half() for shape in ((2, 4, 32), (5, 16, 1, 32), (4, 16)))
    groups, flat, ids = torch.zeros(2, 16, 8).half(), torch.zeros(5, 2, 32).half(), (ints(0, 1)[:, None], ints(1, 1))
    weights = ops.moe_weights(torch.zeros(2, 128, 64).half(), torch.zeros(2, 64, 64).half())
    prepared = weights.w1, weights.w2, None, None, ints(1, 1, 1), "plain", weights.arch, False
    x, logits, plain = (torch.zeros(*shape).half() for shape in ((2, 64), (2, 3), (2, 128, 64)))
    chosen = ids[0], torch.ones(2, 1)
    table, page, lengths = ids[0], ints(5, 0)[:, None], ints(17, 1)
    starts = ints(0, 9)
    for call, error, words in (
        (lambda: operators.paged_attention(q, cache, cache, page, ids[1], None, 1.0, -1, 0.0, 1.0, 1.0), IndexError,
         "page 5 is out of bounds: the cache has 5"),
        (lambda: operators.paged_attention(q, cache, cache, table, lengths, None, 1.0, -1, 0.0, 1.0, 1.0), IndexError,
         "context_lens are 0 to 16"),
        (lambda: operators.mla_decode(q, cache[:, :, 0], -page, ids[1], 32, 1.0, 1.0), IndexError, "page -5 is out"),
        (lambda: operators.mla_decode(q, cache[:, :, 0], table, -lengths, 32, 1.0, 1.0), IndexError, "got -17 to -1"),
        (lambda: operators.grouped_mm(half, groups, ints(2, 5)), IndexError, "offs say where groups of 4 rows end"),
        (lambda: operators.grouped_mm(half, groups, ints(3, 2)), ValueError, "offs must not decrease"),
        (lambda: operators.attention(*[flat] * 3, None, None, None, starts, starts, False, 1.0, -1, -1, 0.0, -1, -1,
                                     False), IndexError, "cu_seqlens_q lie within 5 tokens, got 0 to 9"),
        (lambda: operators.moe(x, *chosen, *prepared), ValueError, "names 3 experts, and there are weights of 2"),
        (lambda: operators.moe_routed(x, logits, *prepared, 1, True), ValueError, "names 3 experts"),
        (lambda: operators.moe_trained(x, *chosen, plain, groups.reshape(2, 8, 16)[:, :, :1], ints(1, 1, 1), "sm_90a"),
         ValueError, "names 3 experts"),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            call()


@pytest.mark.torch
def test_pages_in_compiled_code(torch: Any) -> None:
    ops.register_operators()
    torch._dynamo.reset()
    q, cache = torch.zeros(2, 4, 32).half(), torch.zeros(5, 16, 1, 32).half()
    tables, lengths = torch.zeros(2, 1, dtype=torch.int32), torch.ones(2, dtype=torch.int32)
    call = torch.compile(lambda *given: ops.paged_attention(q, cache, cache, *given), backend="aot_eager")
    assert not call(tables, lengths).any()
    with pytest.raises(IndexError, match="page 5 is out of bounds"):
        call(tables + 5, lengths)


# Targets -------------------------------------------------------------------------------------------------------------


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:flydsl.ops.cross_entropy leaves this:RuntimeWarning")
def test_probabilities_of_any_type(torch: Any) -> None:
    """Those that torch takes, and the errors that it has for others."""
    names = ("float32", "float16", "bfloat16", "float64", "int64", "int32", "uint8", "bool", "complex64")
    x, chances = torch.randn(3, 8), torch.rand(3, 8)
    given = [(x.to(getattr(torch, a)), chances.to(getattr(torch, b))) for a in names[:3] for b in names]
    given += [(x, chances[:, :1]), (x, chances[:, :1].long()), (x[0], torch.tensor([3])), (x[0], torch.tensor([1, 2]))]
    for logits, target in given:
        outcomes = []
        for function in (ops.cross_entropy, torch.nn.functional.cross_entropy):
            try:
                outcomes.append(function(logits, target))
            except (RuntimeError, ValueError) as error:
                outcomes.append((type(error), str(error)))
        torch.testing.assert_close(*outcomes) if isinstance(outcomes[1], torch.Tensor) else None
        assert isinstance(outcomes[1], torch.Tensor) or outcomes[0] == outcomes[1], (logits.dtype, target.dtype)
    for target, error, words in (
        (chances.numpy(), TypeError, "as probabilities of classes have, have no kernel"),
        (np.zeros((3, 1), int), ValueError, r"Expected logits \(N, C\) and N targets"),
    ):
        with pytest.raises(error, match=words):
            ops.cross_entropy(x.numpy(), target)


@pytest.mark.parametrize("kind", [">i8", ">i4", "<i4", "u1"])
def test_targets_in_any_order_of_bytes(kind: str, rng: np.random.Generator) -> None:
    x, labels = rng.standard_normal((4, 8)).astype(np.float32), np.array([1, 2, 7, 0])
    assert ops.cross_entropy(x, labels.astype(kind)) == ops.cross_entropy(x, labels)
    with pytest.raises(IndexError, match="Target 8 is out of bounds"):
        ops.cross_entropy(x, (labels + 1).astype(kind))
