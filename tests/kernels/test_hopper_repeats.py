"""Products that native code makes again: which calls are, and what of other calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compiler.calls.native_replay import Lanes
from flydsl.kernels.gemm import hopper_grouped, hopper_matmul
from flydsl.kernels.gemm.hopper import repeats
from flydsl.kernels.gemm.hopper.operands import Bound, KeptCalls
from flydsl.kernels.gemm.hopper.plan import PackedKind
from flydsl.kernels.gemm.hopper.repeats import keep_call
from flydsl.ops.tensor_memory import know_tensors

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
    kept, x, y = Lanes(), torch.randn(N), torch.empty(N)
    assert kept.again(x, y, "relu") is None
    keep_call(kept, compiled, (x, y, None), (x, y), ("relu",))
    for _ in range(2):
        other, result = torch.randn(N), torch.empty(N)
        assert kept.again(other, result, "relu") == () and torch.equal(result, 2 * other)
    for call in ((x, y), (x, y, "none"), (x[: N // 2], y, "relu"), (x.double(), y, "relu"), (x, x, "relu")):
        assert kept.again(*call) is None


def test_what_is_cloned_lazily_is_not_written_with_its_clone(compiled: Any) -> None:
    """Tensors that are yet to be written share memory; the one that is gets its own, whichever it is."""
    assert know_tensors("cpu")
    kept, x, y = Lanes(), torch.randn(N), torch.empty(N)
    keep_call(kept, compiled, (x, y, None), (x, y))
    for number in range(2):
        pair = [first := torch.zeros(N), torch._lazy_clone(first)]
        assert kept.again(x, pair[number]) == ()
        assert torch.equal(pair[number], 2 * x) and not pair[1 - number].any()


def test_calls_that_make_their_result(compiled: Any) -> None:
    kept, x, y = Lanes(), torch.randn(N), torch.empty(N)
    keep_call(kept, compiled, (x, y, None), (x,), made=y)
    first, second = kept.again(x), kept.again(x)
    assert torch.equal(first, 2 * x) and torch.equal(second, first) and first.data_ptr() != second.data_ptr()


def test_calls_that_are_not_made_again(compiled: Any) -> None:
    """Of what is not compiled for good, of two tensors of one memory, and of tensors that have no facts."""
    kept, x, y = Lanes(), torch.randn(N), torch.empty(N)
    keep_call(kept, double, (x, y, None), (x, y))
    keep_call(kept, compiled, (x, x.view(N), None), (x, x.view(N)))
    odd = torch.randn(N + 1)[1:]
    keep_call(kept, compiled, (odd, y, None), (odd, y))
    assert kept.again(x, y) is None and kept.again(odd, y) is None


class Noted:
    """Lanes that were asked for calls, the first of which they do not know, and what was to be kept in them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: Any, lanes: str) -> None:
        self.asked: list[Any] = []
        self.kept: list[Any] = []
        monkeypatch.setattr(module, lanes, self)
        monkeypatch.setattr(module, "keep_call", self.keep)

    def again(self, *given: Any) -> Any:
        self.asked.append(given)
        return None if len(self.asked) == 1 else ()

    def keep(self, lanes: Any, call: Any, arguments: Any, given: Any, numbers: Any = ()) -> None:
        assert lanes is self
        self.kept.append((*given, *numbers))

    def was_asked_for_what_it_keeps(self) -> bool:
        return len(self.kept) == 1 and all(x is y for x, y in zip(self.asked[0], self.kept[0], strict=True))


def test_products_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where numbers are those of the code and the stream is torch's; arrays have the places that they were kept in."""
    a, b, c, bias = (np.zeros(shape, np.float16) for shape in ((8, 16), (16, 8), (8, 8), (8,)))
    noted = Noted(monkeypatch, hopper_matmul, "_WRITTEN")
    monkeypatch.setattr(hopper_matmul, "_launched", lambda given, *_: (None, given))
    for _ in range(2):
        hopper_matmul.hopper_gemm(a, b, c, bias, activation="relu")
    assert noted.was_asked_for_what_it_keeps()
    others: list[dict[str, Any]] = [{"alpha": 2.0}, {"beta": 1.0, "D": c}, {"stream": 5}, {"config": object()}]
    for how in others:
        hopper_matmul.hopper_gemm(a, b, c, bias, activation="relu", **how)
    assert len(noted.asked) == 2 and len(noted.kept) == 1


def test_other_products_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of groups, and those of weights of 4 bits."""
    a, b, c = (np.zeros(shape, np.float16) for shape in ((8, 16), (2, 16, 8), (8, 8)))
    sizes = np.array([4, 4], np.int32)
    calls: list[tuple[Any, str, str, Callable[..., None]]] = [
        (
            hopper_grouped,
            "_AGAIN",
            "_call_for",
            lambda **how: hopper_grouped.hopper_grouped_gemm(a, b, c, sizes, **how),
        ),
        (hopper_matmul, "_LINEAR4", "_linear4_for", lambda **how: hopper_matmul.hopper_linear4(a, b, c, c, **how)),
    ]
    for module, lanes, made, call in calls:
        noted = Noted(monkeypatch, module, lanes)
        monkeypatch.setattr(module, made, lambda *_: lambda *_: None)
        monkeypatch.setattr(module, "_CALLS", KeptCalls())
        for _ in range(2):
            call()
        assert noted.was_asked_for_what_it_keeps()
        for how in ({"stream": 5}, {"config": object()}):
            call(**how)
        assert len(noted.asked) == 2 and len(noted.kept) == 1


@pytest.mark.parametrize("rows", [1, 8, 9])
def test_weights_of_four_bits_are_compiled_for_good(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for few rows, whose kernel is another one: calls of what is compiled for good are made again."""
    monkeypatch.setattr(hopper_matmul, "multiprocessors", lambda device: 132)
    x, y, scales = (np.zeros(shape, np.float16) for shape in ((rows, 128), (rows, 64), (64, 1)))
    packed = np.zeros((1, 2, 512), np.int32)
    made = hopper_matmul._linear4_for((x, packed, y, scales, None, None), PackedKind("int4", 128), "none", None, 0)
    assert isinstance(made, Bound)
