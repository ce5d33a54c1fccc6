"""Tensors read where torch keeps what they are: as its own reader reads them, or not at all."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import flydsl.ops as ops
from flydsl.compiler.calls.native_call import address_in, interpreter
from flydsl.compiler.calls.native_replay import call_facts
from flydsl.ops import replays, tensor_memory, torch_side
from flydsl.ops.table import TABLE

torch: Any = pytest.importorskip("torch", reason="tensors are torch's")


def know(memory: Any) -> None:
    """Have native code read tensors by this, or by torch's reader."""
    address = tensor_memory._address("fly_know_tensors")
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(None if memory is None else ctypes.addressof(memory))


@pytest.fixture
def memory() -> Iterator[Any]:
    assert tensor_memory.know_tensors("cpu")
    yield tensor_memory._KNOWN[-1]
    know(tensor_memory._KNOWN[-1])


def reads(memory: Any, tensor: Any) -> bool:
    """Whether a tensor is read where it lies, and as torch's reader reads it."""
    alike = ctypes.PYFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p, ctypes.py_object)(
        tensor_memory._address("fly_reads_alike")
    )
    return alike(ctypes.addressof(memory), address_in(interpreter()), tensor)


def tensors() -> dict[str, tuple[Any, bool]]:
    """Tensors, and whether they are read where they lie."""
    base, learned = torch.randn(4, 6, 8), torch.randn(6, 4, requires_grad=True)
    freed, cloned = torch.empty(64), torch.randn(3, 4)
    freed.untyped_storage().resize_(0)
    with torch.inference_mode():
        inferred = torch.randn(5, 3)
    return {
        "whole": (base, True), "a view": (base[1:, ::2, 3], True), "transposed": (base.transpose(0, 2), True),
        "expanded": (torch.randn(3, 1).expand(3, 5), True), "a number": (torch.tensor(3.0), True),
        "five dimensions": (torch.randn(1, 2, 3, 4, 5), True), "six": (torch.randn(1, 2, 3, 1, 2, 3), False),
        "a parameter": (torch.nn.Parameter(base), True), "computed": (learned * 2, True), "inferred": (inferred, True),
        "integers": (torch.arange(7), True), "truths": (torch.ones(3, dtype=torch.bool)[1:], True),
        "complex": (torch.randn(3, dtype=torch.complex64), False),
        "bytes": (torch.zeros(9).to(torch.float8_e5m2), True),
        "negative": (torch.randn(8, dtype=torch.complex64).conj().imag, False), "freed": (freed, False),
        "nothing": (torch.empty(0, 3), False), "sparse": (base.to_sparse(), False),
        "another device": (torch.empty(3, device="meta"), False),
        "of numpy": (torch.from_numpy(base.numpy()[2:]), True),
        "set": (torch.empty(0).set_(base.untyped_storage(), 8, (2, 3), (3, 1)), True),
        "cloned when written": (torch._lazy_clone(torch.randn(7)), False),
        "which has such a clone": (cloned, torch._lazy_clone(cloned) is None),
    }  # fmt: skip


@pytest.mark.parametrize("case", tensors())
def test_tensors_are_read_as_torch_reads_them(case: str, memory: Any) -> None:
    tensor, known = tensors()[case]
    assert reads(memory, tensor) is known
    facts = call_facts()
    found = facts(tensor)
    know(None)
    assert facts(tensor) == found


def test_tensors_in_transforms_are_not_plain(memory: Any) -> None:
    found: list[bool] = []

    def noted(x: Any) -> Any:
        found.append(reads(memory, x))
        return x.sum()

    x = torch.randn(3, 4)
    torch.func.vmap(noted)(x)
    torch.func.grad(noted)(x)
    torch.func.functionalize(noted)(x)
    assert found == [False] * 3


@pytest.mark.parametrize("name", ["_cdata", "untyped_storage", "storage_offset", "stride", "_lazy_clone"])
def test_what_is_not_found_is_left_to_the_reader(name: str, memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a torch that keeps things elsewhere, or does not say where."""
    other: Callable[..., Any] = lambda tensor: SimpleNamespace(_cdata=7, data_ptr=lambda: 7)  # noqa: E731
    if name == "_lazy_clone":
        monkeypatch.setattr(torch, name, torch.clone)
    else:
        monkeypatch.setattr(torch.Tensor, name, 7 if name == "_cdata" else other)
    monkeypatch.setattr(tensor_memory, "_KNOWN", known := [])
    assert not tensor_memory.know_tensors.__wrapped__("cpu") and not known


def test_tensors_are_known_whatever_calls_want(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first call may be one without gradients, and that of the host not the first of all."""
    assert tensor_memory.know_tensors.__wrapped__("cpu") and tensor_memory._KNOWN[-1] is memory
    monkeypatch.setattr(tensor_memory, "_KNOWN", known := [])
    for mode in (torch.inference_mode, torch.no_grad):
        known.clear()
        with mode():
            assert tensor_memory.know_tensors.__wrapped__("cpu") and len(known) == 1


@pytest.mark.parametrize("known", [True, False])
def test_gradients_are_asked_for_either_way(known: bool, memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Autograd may know of tensors that want none: views, and those that did want one."""
    monkeypatch.setattr(replays, "can_replay", lambda tensor: True)
    lanes = TABLE["swiglu"].op.lanes
    lanes.forget()
    know(memory if known else None)
    plain, view, former = torch.randn(3, 8), torch.randn(4, 8)[1:], torch.randn(3, 8, requires_grad=True)
    learned = torch.randn(3, 8, requires_grad=True)
    for _ in range(3):
        y = ops.swiglu(plain, former)
        assert y.requires_grad
        for one, other in ((plain, view), (view, plain), (plain, learned.detach())):
            assert not ops.swiglu(one, other).requires_grad
        assert ops.swiglu(view, learned * 2).requires_grad and ops.swiglu(learned, plain).requires_grad
    former.requires_grad_(False)
    assert not ops.swiglu(plain, former).requires_grad and lanes.again(plain, former, "silu") is not None
    lanes.forget()


@pytest.mark.parametrize("known", [True, False])
def test_views_of_what_came_to_want_a_gradient(known: bool, memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the view itself says so."""
    monkeypatch.setattr(replays, "can_replay", lambda tensor: True)
    know(memory if known else None)
    weight = torch.randn(8, requires_grad=True)
    for change in (
        lambda base: base.index_copy_(0, torch.arange(8), torch.randn(8, 8) * weight),
        lambda base: base.mul_(weight), lambda base: base[4:].copy_(weight.expand(4, 8)),
        lambda base: base.requires_grad_(),
    ):  # fmt: skip
        base = torch.randn(8, 8)
        view = base[:4]
        for _ in range(3):
            assert not ops.softmax(view).requires_grad
        change(base)
        found = ops.softmax(view)
        assert found.requires_grad == torch.softmax(view, -1).requires_grad is True
        for wanted in (weight, base):
            if wanted.is_leaf and wanted.requires_grad:
                slopes = [torch.autograd.grad(y.square().sum(), wanted, allow_unused=True, retain_graph=True)[0]
                          for y in (found, torch.softmax(view, -1))]  # fmt: skip
                assert (slopes[0] is None) == (slopes[1] is None)
                assert slopes[1] is None or torch.allclose(slopes[0], slopes[1], atol=1e-6)
    TABLE["softmax"].op.lanes.forget()


@pytest.mark.parametrize("repeated", [True, False])
def test_inference_that_asks_for_gradients(repeated: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are none, as with torch's functions."""
    monkeypatch.setattr(replays, "can_replay", lambda tensor: repeated)
    x, weight = torch.randn(4, 8, requires_grad=True), torch.ones(8)
    for _ in range(3):
        assert ops.softmax(x).requires_grad
        with torch.inference_mode(), torch.enable_grad():
            for y in (ops.softmax(x), ops.rms_norm(x, (8,), weight)):
                assert y.is_inference() and not y.requires_grad
    TABLE["softmax"].op.lanes.forget()


def test_contexts_that_are_not_as_they_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls with a gradient are not repeated then, and have it all the same."""
    monkeypatch.setattr(replays, "can_replay", lambda tensor: True)
    monkeypatch.setattr(torch_side, "reference_place", lambda *_: None)
    lanes = TABLE["softmax"].op.lanes
    lanes.forget()
    x = torch.randn(3, 8, requires_grad=True)
    for _ in range(3):
        found, want = (torch.autograd.grad(y[:, 0].sum(), x)[0] for y in (ops.softmax(x), torch.softmax(x, -1)))
        torch.testing.assert_close(found, want)
    assert lanes.again(x, -1) is None
    lanes.forget()


def test_the_place_of_a_reference() -> None:
    class Slotted:
        __slots__ = ("one", "two")

    class Other:
        pass

    assert [tensor_memory.reference_place(Slotted(), name) for name in ("one", "two")] == [16, 24]
    assert tensor_memory.reference_place(Other(), "one") is None
