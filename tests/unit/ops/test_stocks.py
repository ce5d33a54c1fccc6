"""Stocks: what repeated calls keep for their gradients is a part of memory that was made for several of them."""

from __future__ import annotations

import ctypes
import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import flydsl.ops as ops
from flydsl.ops import arrays, recordings, replays
from flydsl.ops.named_classes import named_class
from flydsl.ops.table import TABLE

torch: Any = pytest.importorskip("torch", reason="replays are of calls on torch tensors")
CASES: dict[str, tuple[str, Callable[..., Any]]] = {
    "rms_norm": ("rms_norm", lambda x, w: ops.rms_norm(x, w)),
    "rms_norm without weight": ("rms_norm", lambda x, w: ops.rms_norm(x, (8,))),
    "layer_norm": ("layer_norm", lambda x, w: ops.layer_norm(x, (8,), None, w)),
    "add_rms_norm": ("add_rms_norm", lambda x, w: ops.add_rms_norm(x, x, w)[0]),
    "attention": ("attention", lambda x, w: ops.attention(x, x, x)),
}


@pytest.fixture(autouse=True)
def lanes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Calls on the virtual GPU are repeated, and forgotten at the end."""
    monkeypatch.setattr(replays, "can_replay", lambda tensor: True)
    for name, _ in CASES.values():
        TABLE[name].op.lanes.forget()
    yield
    for name, _ in CASES.values():
        TABLE[name].op.lanes.forget()


def given(case: str) -> tuple[Any, Any]:
    x = torch.randn(1, 1, 3, 32).half() if case == "attention" else torch.randn(3, 8)
    return x.requires_grad_(), torch.randn(8, requires_grad=True)


def slopes(y: Any, tensors: tuple[Any, Any], slope: Any = None, **options: Any) -> list[Any]:
    slope = torch.ones_like(y) if slope is None else slope
    found = torch.autograd.grad(y, tensors, slope, allow_unused=True, **options)
    return [one for one in found if one is not None]


def parts(count: int, rows: int = 3) -> list[tuple[Any, int]]:
    """Of so many calls behind those that are recorded: the tensor of each one's stock, and where in it its part is."""
    x, w = torch.randn(rows, 8, requires_grad=True), torch.randn(8)
    return [ops.rms_norm(x, w).grad_fn.part for _ in range(2 + count)][2:]


@pytest.mark.parametrize("case", CASES)
def test_gradients_of_calls_that_share_a_stock(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are those of calls without one: in any order, twice, of slopes that lie apart, and where hooks have copies
    saved."""
    function = CASES[case][1]
    inputs = [given(case) for _ in range(5)]
    with monkeypatch.context() as patch:
        patch.setattr(replays, "can_replay", lambda tensor: False)
        want = [slopes(function(*one), one) for one in inputs]
    for one in inputs[:3]:
        slopes(function(*one), one)
    results = [function(*one) for one in inputs]
    assert len({begin for _, begin in (y.grad_fn.part for y in results)}) == len(results)
    calls = [*zip(results, inputs, want, strict=True)]
    for y, one, expected in calls[::-1] + calls:
        found = slopes(y, one, retain_graph=True)
        assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))
    with torch.autograd.graph.saved_tensors_hooks(lambda saved: saved.clone(), lambda saved: saved.clone()):
        y = function(*inputs[0])
    apart = torch.ones(*y.shape, 2, dtype=y.dtype)[..., 0]
    for a, b in zip(slopes(y, inputs[0], apart), want[0], strict=True):
        torch.testing.assert_close(a, b)
    with pytest.raises(RuntimeError, match="a second time"):
        slopes(y, inputs[0])


@pytest.mark.parametrize("case", CASES)
def test_calls_that_are_made_again_by_a_checkpoint(case: str) -> None:
    """It counts what is saved, which is as much at the first call as at one that is repeated."""
    from torch.utils.checkpoint import checkpoint

    one = given(case)
    CASES[case][1](*one)  # so that the second call is recorded, and the third, which is compared with it, repeated
    found = [slopes(checkpoint(CASES[case][1], *one, use_reentrant=False), one) for _ in range(4)]
    for again in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(again, found[0], strict=True))


@pytest.mark.parametrize("case", CASES)
def test_what_is_saved_must_not_change(case: str) -> None:
    """A stock is nobody else's; tensors that a call is given, and those it returns, are counted as before."""
    function = CASES[case][1]
    x, w = given(case)
    for _ in range(3):
        copy = x * 1.0
        y = function(copy, w)
        with torch.no_grad():
            copy.add_(1)
            if case == "add_rms_norm":  # the sum is what it saves
                y.grad_fn.saved_tensors[0].add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            slopes(y, (x, w))


@pytest.mark.usefixtures("young_heap")
def test_parts_of_a_stock() -> None:
    """Each is taken once, and the memory is given back when neither a call nor the recording has it."""
    most = recordings.MOST_PARTS
    found = parts(most + 2)
    stocks = [stock for stock, _ in found]
    assert [begin // recordings.PART_ALIGNMENT for _, begin in found] == [*range(most), 0, 1]
    assert len({id(stock) for stock in stocks}) == 2 and stocks[0] is stocks[most - 1]
    assert all(begin + 3 * stock.element_size() <= stock.nbytes for stock, begin in found)
    gone = [weakref.ref(stock) for stock in (stocks[0], stocks[-1])]
    del found, stocks
    assert gone[0]() is None and gone[1]() is not None
    TABLE["rms_norm"].op.lanes.forget()
    gc.collect()
    assert gone[1]() is None


def test_what_is_large_has_no_stock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "STOCK_BYTES", 1024)
    assert [begin for _, begin in parts(3, rows=128)] == [0, 512, 0]
    assert parts(2, rows=129) == [None, None]


def test_a_stock_is_that_of_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of another there is a new one, and for each call that a graph captures."""
    stream, captured, asked = [0], [0], []

    def is_capturing(handle: int, status: Any) -> int:
        asked.append(handle)
        status[0] = captured[0]
        return 0

    native = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64, ctypes.POINTER(ctypes.c_int32))(is_capturing)
    address = ctypes.cast(native, ctypes.c_void_p).value
    monkeypatch.setattr(recordings, "_capture_question", lambda _: address)
    monkeypatch.setattr(arrays, "stream_source", lambda _: (lambda _: stream[0], None))
    x, w = torch.randn(3, 8, requires_grad=True), torch.randn(8)
    for _ in range(2):
        ops.rms_norm(x, w)
    found = []
    for stream[0], captured[0] in ((0, 0), (0, 0), (5, 0), (5, 0), (5, 1), (5, 1), (5, 0), (5, 0), (0, 0)):
        found.append(ops.rms_norm(x, w).grad_fn.part)
    assert asked == [5] * 6  # what is no stream of its own cannot be captured
    numbers = [next(i for i, (other, _) in enumerate(found) if other is stock) for stock, _ in found]
    assert numbers == [0, 0, 2, 2, 4, 5, 6, 6, 8]
    assert [begin // recordings.PART_ALIGNMENT for _, begin in found] == [0, 1, 0, 1, 0, 0, 0, 1, 0]


def test_classes_that_tell_c_code_their_attributes() -> None:
    """Those that it is known to ask for, others, and none."""
    made = named_class("Made", dict, {"one": 1, "two": "two", "other": [3]}, ("one", "two"))
    get = ctypes.pythonapi.PyObject_GetAttrString
    get.restype, get.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_char_p]
    assert [get(made, name) for name in (b"one", b"two", b"other")] == [1, "two", [3]]
    assert get(made, b"other") is made.other and made(a=1) == {"a": 1} and made.one == 1
    derived = type(made)("Derived", (made,), {"two": 2})
    assert [get(derived, name) for name in (b"one", b"two", b"other")] == [1, 2, [3]]
    for name in (b"on", b"ones", b""):
        with pytest.raises(AttributeError):
            get(made, name)
