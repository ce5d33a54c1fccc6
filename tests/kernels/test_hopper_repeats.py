"""Products that native code makes again: which calls are, and what of other calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.gemm import hopper_matmul
from flydsl.kernels.gemm.hopper import repeats
from flydsl.kernels.gemm.hopper.repeats import Repeats

torch: Any = pytest.importorskip("torch", reason="calls on torch tensors are made again")
N = 64


@flyc.kernel
def double_kernel(A: fx.Tensor, B: fx.Tensor):
    B[fx.thread_idx.x] = A[fx.thread_idx.x] * 2.0


@flyc.jit
def double(A: fx.Tensor, B: fx.Tensor, stream: fx.Stream = None):  # pyright: ignore[reportArgumentType]
    double_kernel(A, B).launch(grid=(1, 1, 1), block=(N, 1, 1), stream=stream)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setattr(repeats, "stream_reader", lambda: lambda _: None)
    return flyc.compile(double, torch.randn(N), torch.randn(N), None)


def test_calls_with_other_memory(compiled: Any) -> None:
    kept, x, y = Repeats(), torch.randn(N), torch.empty(N)
    assert kept.again(x, y, "relu") is None
    kept.keep(compiled, (x, y, None), (x, y), ("relu",))
    for _ in range(2):
        other, result = torch.randn(N), torch.empty(N)
        assert kept.again(other, result, "relu") == () and torch.equal(result, 2 * other)
    for call in ((x, y), (x, y, "none"), (x[: N // 2], y, "relu"), (x.double(), y, "relu"), (x, x, "relu")):
        assert kept.again(*call) is None


def test_calls_that_make_their_result(compiled: Any) -> None:
    kept, x, y = Repeats(), torch.randn(N), torch.empty(N)
    kept.keep(compiled, (x, y, None), (x,), made=y)
    first, second = kept.again(x), kept.again(x)
    assert torch.equal(first, 2 * x) and torch.equal(second, first) and first.data_ptr() != second.data_ptr()


def test_calls_that_are_not_made_again(compiled: Any) -> None:
    """Of what is not compiled for good, of two tensors of one memory, and of tensors that have no facts."""
    kept, x, y = Repeats(), torch.randn(N), torch.empty(N)
    kept.keep(double, (x, y, None), (x, y))
    kept.keep(compiled, (x, x.view(N), None), (x, x.view(N)))
    odd = torch.randn(N + 1)[1:]
    kept.keep(compiled, (odd, y, None), (odd, y))
    assert kept.again(x, y) is None and kept.again(odd, y) is None


def test_products_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where numbers are those of the code and the stream is torch's; arrays have the places that they were kept in."""
    a, b, c, bias = (np.zeros(shape, np.float16) for shape in ((8, 16), (16, 8), (8, 8), (8,)))
    asked: list[Any] = []
    kept: list[Any] = []

    class Noted:
        def again(self, *given: Any) -> Any:
            asked.append(given)
            return None if len(asked) == 1 else ()

        def keep(self, call: Any, arguments: Any, given: Any, numbers: Any) -> None:
            kept.append((*given, *numbers))

    monkeypatch.setattr(hopper_matmul, "_WRITTEN", Noted())
    monkeypatch.setattr(hopper_matmul, "_launched", lambda given, *_: (None, given))
    for _ in range(2):
        hopper_matmul.hopper_gemm(a, b, c, bias, activation="relu")
    assert len(kept) == 1 and all(x is y for x, y in zip(asked[0], kept[0], strict=True))
    others: list[dict[str, Any]] = [{"alpha": 2.0}, {"beta": 1.0, "D": c}, {"stream": 5}, {"config": object()}]
    for how in others:
        hopper_matmul.hopper_gemm(a, b, c, bias, activation="relu", **how)
    assert len(asked) == 2 and len(kept) == 1
