"""Recorded calls made again: which calls are alike, what a replay refuses, and what cannot be recorded."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
import flydsl.ops as ops
from flydsl.compiler.calls import native_replay
from flydsl.compiler.calls.native_replay import Launched, Recorded, Replay, call_facts
from flydsl.compiler.outlets.observed_calls import observed_calls
from flydsl.compiler.outlets.recorded_launch import recorded_launch
from flydsl.kernels.blocks import counters
from flydsl.ops import quantizers, recordings, replays
from flydsl.ops.op import Op
from flydsl.ops.table import TABLE

torch: Any = pytest.importorskip("torch", reason="replays are of calls on torch tensors")
N = 64


@flyc.kernel
def scale_kernel(A: fx.Tensor, B: fx.Tensor, s: fx.Float32):
    B[fx.thread_idx.x] = A[fx.thread_idx.x] * s


@flyc.jit
def scale(A: fx.Tensor, B: fx.Tensor, s: fx.Float32, stream: fx.Stream = None):  # pyright: ignore[reportArgumentType]
    scale_kernel(A, B, s).launch(grid=(1, 1, 1), block=(N, 1, 1), stream=stream)


def scaling(launch: Callable[..., Any] | None = None, allocate: Callable[..., Any] | None = None) -> Op:
    """An op of (x, factor) that scales a vector."""
    return Op(
        "scaling", "Tensor x, float s", allocate or (lambda x, s: (x.new_empty(x.shape),)),
        launch or (lambda a, results: scale(a[0], results[0], a[1], None)),
    )  # fmt: skip


def record(op: Op, x: Any, factor: float = 2.0) -> tuple[tuple[Any, ...], Replay | None]:
    return recordings.recorded(op, (x, factor), call_facts()(x), alone=True, returned=1)


@pytest.fixture(scope="module")
def doubled() -> Iterator[Replay]:
    scale(torch.ones(N), torch.empty(N), 2.0, None)
    _, replay = record(scaling(), torch.randn(N))
    assert replay is not None
    yield replay


def test_calls_that_are_alike_and_others() -> None:
    facts = call_facts()
    x, y = torch.randn(4, 8), torch.randn(4, 8)
    assert facts(x, 1, (8,), None, 0.5) == facts(y, 1, torch.Size([8]), None, 0.5)
    assert facts(torch.nn.Parameter(x)) == facts(x)
    base = torch.randn(64)
    others = [
        (x,), (x.double(),), (x.bfloat16(),), (x[:2],), (x.reshape(8, 4),), (x.t(),), (base[:32].view(4, 8)[:, :4],),
        (x, x), (x, y), (x, None), (x, 1), (x, 1.0), (x, True), (x, (1,)), (x, (1, 1)), (x, ()), (x, 0.0), (x, -0.0),
        (x, ""), (x, "mean"), (x, "sum"), (x, "a text of more words"), (x, "m\0ean"),
    ]  # fmt: skip
    keys = [facts(*call) for call in others]
    assert None not in keys and len({*keys}) == len(keys)


def test_calls_that_have_no_replay() -> None:
    facts, base = call_facts(), torch.randn(64)

    class Other(torch.Tensor):
        pass

    freed = torch.empty(64)
    freed.untyped_storage().resize_(0)
    negative = torch.randn(8, dtype=torch.complex64).conj().imag
    assert negative.is_neg()
    for call in (
        (base[1:],), (base.as_subclass(Other),), (freed,), (negative,), ("x" * 4000,), ("\ud800",), (base, [1]),
        (base, ("a",)), (1 << 70,), (base.to_sparse(),), (torch.empty(8, device="meta"),), (None,) * 17,
        tuple(range(400)),
    ):  # fmt: skip
        assert facts(*call) is None, call


def test_a_replay_takes_its_own_tensors_alone(doubled: Replay) -> None:
    x = torch.randn(N)
    first, second = doubled.call(x), doubled.call(x)
    assert torch.equal(first, 2 * x) and torch.equal(second, first) and first.data_ptr() != second.data_ptr()
    x += 1
    assert torch.equal(doubled.call(x), 2 * x)
    for other in (torch.randn(N + 1), torch.randn(N, 1), x.double(), torch.randn(2 * N)[::2], torch.randn(N + 1)[1:]):
        assert doubled.call(other) is None
    assert doubled.call() is None and doubled.call(x, x) is None and doubled.call(1.0) is None


def test_new_tensors_are_those_that_torch_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    """By torch's function for compiled code, without it, and where it makes them on another device."""
    x, quick, asked = torch.randn(N), native_replay.quick_maker("cpu"), []
    assert quick is not None and native_replay.quick_maker("nothing") is None

    def noted(*arguments: Any) -> Any:
        asked.append(quick(*arguments))
        return asked[-1]

    for maker, place, times, own in ((noted, (1, 0), 1, True), (None, (1, 0), 0, False), (noted, (1, 7), 1, False)):
        asked.clear()
        with monkeypatch.context() as patch:
            patch.setattr(native_replay, "quick_maker", lambda _, maker=maker: maker)
            patch.setattr(torch.Tensor, "__dlpack_device__", lambda _, place=place: place)
            _, replay = record(scaling(), x)
        assert replay is not None
        made = replay.call(x)
        assert len(asked) == times and any(made is one for one in asked) is own
        assert type(made) is torch.Tensor and torch.equal(made, 2 * x) and not made.requires_grad
        assert (made.dtype, made.device, made.stride()) == (x.dtype, x.device, x.stride())
        asked.clear()
        made.resize_(2 * N).fill_(1)  # it has memory of its own, as any tensor


def test_results_that_are_saved_or_hidden() -> None:
    """Temporary tensors are nobody's to see, and one may lie inside of another."""

    def launch(arguments: Any, results: Any) -> None:
        middle = results[0].new_empty(3 * N)
        scale(arguments[0], middle[N : 2 * N], arguments[1], None)
        scale(middle[N : 2 * N], results[0], 10.0, None)

    op, x = scaling(launch), torch.randn(N)
    _, replay = recordings.recorded(op, (x, 2.0), call_facts()(x), saved=lambda a, r: (a[0], r[0], a[0]), returned=1)
    assert replay is not None
    given = torch.randn(N)
    (y,), saved = replay.call(given)
    assert torch.equal(y, given * 2 * 10) and [value is given for value in saved] == [True, False, True]
    assert saved[1] is y


def test_what_cannot_be_repeated() -> None:
    x, kept = torch.randn(N), torch.ones(N)

    def computes(arguments: Any, results: Any) -> None:
        results[0].zero_()
        scale(arguments[0], results[0], arguments[1], None)

    def copies(arguments: Any, results: Any) -> None:
        scale(arguments[0].clone(), results[0], arguments[1], None)

    def keeps(arguments: Any, results: Any) -> None:
        scale(kept, results[0], arguments[1], None)

    def compiles(arguments: Any, results: Any) -> None:
        flyc.compile(scale, arguments[0], results[0], arguments[1], None)

    for launch in (computes, copies, keeps, compiles, lambda *_: None):
        assert record(scaling(launch), x)[1] is None
    assert record(scaling(allocate=lambda x, s: (x.clone(),)), x)[1] is None
    assert record(scaling(), x)[1] is not None
    bound = flyc.compile(scale, x, torch.empty(N), 2.0, None)
    _, replay = record(scaling(lambda a, results: bound(a[0], results[0], a[1], None)), x)
    assert replay is not None and torch.equal(replay.call(x + 1), 2 * (x + 1))


def test_calls_are_watched_in_one_thread_and_for_one_block() -> None:
    x, y, found = torch.randn(N), torch.empty(N), []
    with observed_calls(lambda function, *_: found.append(function), lambda: found.append(None)):
        worker = threading.Thread(target=lambda: scale(x, y, 3.0, None))
        worker.start()
        worker.join()
        scale(x, y, 3.0, None)
    scale(x, y, 3.0, None)
    assert found == [scale]


def launched(given: Any, device: Any = None, fail: Any = None) -> Launched:
    """A launch of `scale` from buffer 0 into buffer 1, with another device and another way to fail."""
    result = torch.empty(N)
    places = {given.data_ptr(): (0, 0), result.data_ptr(): (1, 0)}
    plain = recorded_launch(scale, (given, result, 2.0, None), {}, places.get)
    assert plain is not None
    names = {**plain.executable.launch_names(), **({} if fail is None else {"fail": fail[1], "entry": fail[0]})}
    if device is not None:
        names["select"] = None
    executable = SimpleNamespace(launch_names=lambda: names, device=device, artifact=plain.executable.artifact)
    return Launched(executable, plain.block, plain.stream, plain.pointers)


def replay_of(given: Any, launch: Launched, stream_of: Callable[[Any], Any] = lambda _: None) -> Replay:
    facts = call_facts()(given)
    assert facts is not None
    return Replay(Recorded(facts, 1, (torch.empty(N),), (launch,), (1,), True, None, stream_of, None))


def test_the_device_of_a_launch_is_current_and_put_back() -> None:
    x, calls, current = torch.randn(N), [], [3]
    getter, setter = (
        ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(ctypes.c_int32)),
        ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64),
    )

    def get(place: Any) -> int:
        place[0] = current[0]
        return 0

    def set_(device: int) -> int:
        calls.append(device)
        current[0] = device
        return 0 if device != 9 else 1

    functions = getter(get), setter(set_)
    addresses = tuple(ctypes.cast(function, ctypes.c_void_p).value for function in functions)
    for device, before, wanted in ((7, 3, [7, 3]), (3, 3, []), (9, 3, [9])):
        calls.clear()
        current[0] = before
        replay = replay_of(x, launched(x, SimpleNamespace(selection=lambda device=device: (*addresses, device))))
        result = replay.call(x)
        assert calls == wanted
        assert result is None if device == 9 else torch.equal(result, 2 * x)


@flyc.kernel
def count_kernel(A: fx.Tensor, B: fx.Tensor, counter: fx.Tensor):
    B[fx.thread_idx.x] = A[fx.thread_idx.x]
    if fx.thread_idx.x == 0:
        counter[0] = counter[0] + 1


@flyc.jit
def count(A: fx.Tensor, B: fx.Tensor, counter: fx.Tensor, stream: fx.Stream = None):  # pyright: ignore[reportArgumentType]
    count_kernel(A, B, counter).launch(grid=(1, 1, 1), block=(N, 1, 1), stream=stream)


def test_a_counter_is_that_of_the_stream() -> None:
    """A replay asks for it at every call, and is not made where there is none, or the stream is captured."""
    x, result, cells = torch.randn(N), torch.empty(N), [torch.zeros(1, dtype=torch.int32) for _ in range(2)]
    places = {x.data_ptr(): (0, 0), result.data_ptr(): (1, 0), cells[0].data_ptr(): (2, 0)}
    launch = recorded_launch(count, (x, result, cells[0], None), {}, places.get)
    facts, stream, captured = call_facts()(x), [5], [0, 0]
    assert launch is not None and facts is not None
    asked: list[int] = []

    def is_capturing(handle: int, status: Any) -> int:
        asked.append(handle)
        status[0], code = captured
        return code

    native = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64, ctypes.POINTER(ctypes.c_int32))(is_capturing)
    known, address = {5: cells[1].data_ptr()}, ctypes.cast(native, ctypes.c_void_p).value
    assert address is not None
    made = (torch.empty(N),)
    call = Recorded(facts, 1, made, (launch,), (1,), True, None, lambda _: stream[0], None, known, address)
    replay = Replay(call)
    assert torch.equal(replay.call(x), x) and [int(cell) for cell in cells] == [0, 1]
    stream[0] = 6
    assert replay.call(x) is None and [int(cell) for cell in cells] == [0, 1]
    known[6] = cells[0].data_ptr()
    assert torch.equal(replay.call(x), x) and [int(cell) for cell in cells] == [1, 1]
    assert asked == [5, 6, 6]
    for captured[:] in ([1, 0], [0, 906]):
        assert replay.call(x) is None and [int(cell) for cell in cells] == [1, 1]


def test_counters_of_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each stream has one for good; what is captured, or launched on the stream of any thread, gets another."""
    capturing, stream, device = [False], [5], 99
    monkeypatch.setattr(counters, "is_capturing", lambda _: capturing[0])
    monkeypatch.setattr(counters, "current_stream", lambda _: stream[0])
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _: SimpleNamespace(synchronize=lambda: None))
    x = SimpleNamespace(is_cuda=True, device=SimpleNamespace(index=device), new_zeros=torch.zeros)
    known = counters.counter_addresses(device)
    assert not known
    first = counters.counters_of(x)
    assert first.dtype is torch.int32 and not first.any() and counters.counters_of(x) is first
    assert known == {5: first.data_ptr()}
    for other, inside in ((6, False), (2, False), (5, True)):
        stream[0], capturing[0] = other, inside
        assert counters.counters_of(x) is not first
    assert {*known} == {5, 6}


def test_launches_in_graphs_have_counters_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the stock, each a cache line apart, and as long as there are some: nothing is set to zero in the graph then.
    One that needs several, or finds none, gets those that the graph sets to zero. Few are made before any was taken,
    many behind that, and ahead of need."""
    device, made = 98, []

    def zeros(count: int, dtype: Any) -> Any:
        made.append(count)
        return torch.zeros(count, dtype=dtype)

    monkeypatch.setattr(counters, "AHEAD", 2)
    monkeypatch.setattr(counters, "STOCK", 3)
    monkeypatch.setattr(counters, "current_stream", lambda _: 5)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _: SimpleNamespace(synchronize=lambda: None))
    x = SimpleNamespace(is_cuda=True, device=SimpleNamespace(index=device), new_zeros=zeros)
    for capturing, count, wanted in (
        (True, 1, [1]), (False, 1, [64, counters.MOST]), (False, 1, []), (True, 1, []), (True, 3, [3]), (True, 1, []),
        (True, 1, [1]), (False, 1, [96]), (True, 1, []), (False, 1, []), (True, 1, []), (False, 1, [96]),
    ):  # fmt: skip
        made.clear()
        monkeypatch.setattr(counters, "is_capturing", lambda _, answer=capturing: answer)
        found = counters.counters_of(x, count)
        assert made == wanted and found.numel() >= count and not found.any()
    stock, places = counters.Stock(), set()
    for count in (2, 3, 3):
        stock.fill(x)
        stock.fill(x)
        found = [stock.take().data_ptr() for _ in range(count)]
        assert {a - b for a, b in pairwise(found)} == {4 * counters.STEP} and stock.take() is None
        places |= {*found}
    assert len(places) == 8, "a graph still has those that were taken"


def test_errors_are_those_of_the_long_way() -> None:
    x = torch.randn(N)
    entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_void_p)(lambda *_: 5)

    def fail(status: int) -> None:
        raise RuntimeError(f"status {status}")

    def no_stream(_: Any) -> None:
        raise RuntimeError("no stream")

    failing, lost = replay_of(x, launched(x, fail=(entry, fail))), replay_of(x, launched(x), no_stream)
    with pytest.raises(RuntimeError, match="status 5"):
        failing.call(x)
    with pytest.raises(RuntimeError, match="no stream"):
        lost.call(x)


@pytest.fixture
def softmax_lanes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr(replays, "can_replay", lambda tensor: True)
    lanes = TABLE["softmax"].op.lanes
    lanes.forget()
    yield lanes
    lanes.forget()


def test_gradients_are_asked_for_call_by_call(softmax_lanes: Any) -> None:
    """One lane serves calls that want gradients and calls that do not, in any order."""
    x = torch.randn(3, 8)
    learned = x.clone().requires_grad_()
    for _ in range(3):
        for given, wants in ((x, False), (learned, True), (learned.detach(), False)):
            y = ops.softmax(given)
            assert y.requires_grad is wants and (y.grad_fn is not None) is wants
            torch.testing.assert_close(y, torch.softmax(given, -1))
        with torch.no_grad():
            assert not ops.softmax(learned).requires_grad
        with torch.inference_mode():
            assert ops.softmax(x).is_inference()
    assert len(softmax_lanes) == 1 and softmax_lanes.again(learned, -1).requires_grad
    assert softmax_lanes.again(torch.randn(3, 9), -1) is None


@pytest.mark.filterwarnings("ignore:.*torch.jit.trace.*:DeprecationWarning")
def test_calls_that_torch_watches_are_not_repeated(softmax_lanes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a mode of its dispatcher, by torch.jit.trace, by its export, or where it differentiates forward."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watching(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    x, found = torch.randn(3, 8), []

    def watched(given: Any) -> Any:
        found.append(softmax_lanes.again(x, -1))
        return given

    for _ in range(2):
        ops.softmax(x)
    assert softmax_lanes.again(x, -1) is not None
    with Watching():
        watched(x)
    with torch.autograd.forward_ad.dual_level():
        watched(x)
    torch.jit.trace(watched, (x,), check_trace=False)
    with monkeypatch.context() as patch:
        patch.setattr(torch.compiler, "_is_compiling_flag", True)
        watched(x)
    assert found == [None] * len(found) and len(found) >= 4
    assert softmax_lanes.again(x, -1) is not None


def test_calls_take_turns(softmax_lanes: Any) -> None:
    """The last call is known without being looked up, and forgotten with the others."""
    given = [torch.randn(3, n) for n in (8, 16)]
    for x in given * 4:
        torch.testing.assert_close(ops.softmax(x), torch.softmax(x, -1))
    assert all(softmax_lanes.again(x, -1) is not None for x in given)
    softmax_lanes.forget()
    assert softmax_lanes.again(given[1], -1) is None


def test_autograd_is_told_of_what_may_have_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    """And its function does nothing by itself: the other tensors are those of the call that is repeated."""
    monkeypatch.setattr(replays, "can_replay", lambda tensor: True)
    lanes = TABLE["rope"].op.lanes
    lanes.forget()
    x, tables = torch.randn(2, 3, 4, 8, requires_grad=True), [torch.randn(3, 4) for _ in range(2)]
    for count in (3, 3, 1, 1):
        y = ops.rope(x, *tables)
        assert len(y.grad_fn.next_functions) == count
    (lane,) = lanes._known.values()
    assert lane[1](x) is None
    assert lanes.again(x, *tables, False) is not None
    assert lanes.again(x, tables[0], tables[1].clone().requires_grad_(), False) is None
    lanes.forget()


def test_ops_inside_of_ops(softmax_lanes: Any) -> None:
    """What autograd calls on its way may call the same op."""
    x, other = torch.randn(3, 8, requires_grad=True), torch.randn(3, 8, requires_grad=True)
    inner: list[Any] = []

    def pack(saved: Any) -> Any:
        if len(inner) < 4:
            inner.append(None)
            inner[-1] = ops.softmax(other)
        return saved

    for _ in range(3):
        inner.clear()
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
            y = ops.softmax(x)
        torch.testing.assert_close(y, torch.softmax(x, -1))
        for found in inner:
            torch.testing.assert_close(found, torch.softmax(other, -1))
        (slope,) = torch.autograd.grad(y, x, torch.eye(3, 8))
        torch.testing.assert_close(slope, torch.autograd.grad(torch.softmax(x, -1), x, torch.eye(3, 8))[0])


REPEATED: dict[str, tuple[str, Callable[..., Any]]] = {
    "softmax": ("softmax", lambda x, w: ops.softmax(x)),
    "rms_norm": ("rms_norm", lambda x, w: ops.rms_norm(x, w)),
    "rms_norm without weight": ("rms_norm", lambda x, w: ops.rms_norm(x, (8,))),
    "layer_norm": ("layer_norm", lambda x, w: ops.layer_norm(x, (8,), w, w)),
    "layer_norm without weight": ("layer_norm", lambda x, w: ops.layer_norm(x, (8,), None, w)),
    "layer_norm without bias": ("layer_norm", lambda x, w: ops.layer_norm(x, (8,), w)),
    "add_rms_norm": ("add_rms_norm", lambda x, w: ops.add_rms_norm(x, x, w)[0]),
    "add_layer_norm": ("add_layer_norm", lambda x, w: ops.add_layer_norm(x, x, None, w)[0]),
    "swiglu": ("swiglu", lambda x, w: ops.swiglu(x, x)),
}  # fmt: skip


@pytest.mark.parametrize("case", REPEATED)
def test_calls_with_gradients_are_repeated(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results, gradients and calls without them are those of the call before, all by replays."""
    monkeypatch.setattr(replays, "can_replay", lambda tensor: True)
    name, function = REPEATED[case]
    lanes = TABLE[name].op.lanes
    lanes.forget()
    x, w = torch.randn(3, 8, requires_grad=True), torch.randn(8, requires_grad=True)
    found = []
    for _ in range(3):
        y = function(x, w)
        slopes = torch.autograd.grad(y, (x, w), torch.ones_like(y), allow_unused=True)
        with torch.no_grad():
            found.append([y, *(slope for slope in slopes if slope is not None), function(x, w)])
    (lane,) = [kept[2] for kept in lanes._known.values()]
    assert {way: replay is not None for way, replay in lane._kept.items()} == dict.fromkeys(
        ("kept", "gradient", "without"), True
    )
    for again in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(again, found[0], strict=True))
    lanes.forget()


@pytest.mark.parametrize("name", ["add_rms_norm", "add_layer_norm"])
def test_a_sum_has_the_gradients_of_what_is_added(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not those of the norm's weights, however often the call is made."""
    monkeypatch.setattr(replays, "can_replay", lambda tensor: True)
    op = TABLE[name].op
    op.lanes.forget()
    plain, x, w = torch.randn(3, 8), torch.randn(3, 8, requires_grad=True), torch.randn(8, requires_grad=True)
    for first, second, wants in ((plain, plain, False), (x, plain, True), (plain, x, True)) * 3:
        y, added = getattr(ops, name)(first, second, w)
        assert y.requires_grad and added.requires_grad is wants
        (slope,) = torch.autograd.grad(y.sum(), w)
        y, added = getattr(ops, name)(first.detach(), second.detach(), w.detach())
        torch.testing.assert_close(slope, (y / w).sum(0).detach(), rtol=1e-4, atol=1e-4)
        assert not y.requires_grad and not added.requires_grad
    op.lanes.forget()


HEADS: dict[str, Callable[..., Any]] = {
    "as torch has it": lambda q, k, v: ops.scaled_dot_product_attention(q, k, v, is_causal=True),
    "with keys behind each other": lambda q, k, v: ops.scaled_dot_product_attention(q, k[:, :1], v[:, :1],
                                                                                    enable_gqa=True),
    "of a window": lambda q, k, v: ops.attention(q, k, v, window=(2, 0), softcap=5.0),
    "of sequences": lambda q, k, v: ops.attention(*(t[0].transpose(0, 1) for t in (q, k, v)), cu_seqlens_q=STARTS,
                                                  cu_seqlens_k=STARTS, max_seqlen_q=4),
}  # fmt: skip
STARTS = torch.tensor([0, 4, 6], dtype=torch.int32)


@pytest.mark.parametrize("case", HEADS)
def test_attention_is_repeated(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results and gradients are those of the long way, all by replays, also where starts of sequences change."""
    monkeypatch.setattr(replays, "can_replay", lambda tensor: True)
    lanes = TABLE["attention"].op.lanes
    lanes.forget()
    for place in (4, 4, 3):
        STARTS[1] = place
        found = []
        for keeps in (True, False):
            torch.manual_seed(0)
            heads = [torch.randn(1, 2, 6, 32).half().requires_grad_() for _ in range(3)]
            known = {**lanes._known}
            with monkeypatch.context() as patch:
                if not keeps:
                    lanes.forget()
                    patch.setattr(replays, "can_replay", lambda tensor: False)
                y = HEADS[case](*heads)
                given = torch.ones(*y.shape[:-3], y.shape[-2], y.shape[-3], y.shape[-1]).half().transpose(-2, -3)
                slopes = torch.autograd.grad(y, heads, given)
                with torch.no_grad():
                    found.append([y, *slopes, HEADS[case](*heads)])
            lanes._known.update({} if keeps else known)
        assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))
    (lane,) = [kept[2] for kept in lanes._known.values()]
    assert {way: replay is not None for way, replay in lane._kept.items()} == dict.fromkeys(
        ("kept", "gradient", "without"), True
    )
    lanes.forget()


def test_threads_repeat_calls_side_by_side(softmax_lanes: Any) -> None:
    x = torch.randn(3, 8, requires_grad=True)
    want = torch.softmax(x, -1)
    slope = torch.autograd.grad(want, x, torch.eye(3, 8))[0]
    for _ in range(2):
        torch.autograd.grad(ops.softmax(x), x, torch.eye(3, 8))
    wrong: list[Any] = []

    def repeat() -> None:
        for _ in range(40):
            y = ops.softmax(x)
            found = torch.autograd.grad(y, x, torch.eye(3, 8))[0]
            if not (torch.allclose(y, want, atol=1e-6) and torch.allclose(found, slope, atol=1e-6)):
                wrong.append((y, found))

    workers = [threading.Thread(target=repeat) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


FIRST_CALLS = """
import threading, torch, flydsl.ops as ops
x, w = torch.randn(4, 8), torch.randn(8)
calls = [lambda: ops.softmax(x), lambda: ops.swiglu(x, x.clone()), lambda: ops.rms_norm(x, (8,), w),
         lambda: ops.layer_norm(x, (8,))]
together = threading.Barrier(len(calls))

def repeat(call):
    together.wait()
    for _ in range(20):
        call()

threads = [threading.Thread(target=repeat, args=(call,)) for call in calls]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("all are through")
"""


def test_threads_make_first_calls_side_by_side() -> None:
    """Native functions, which each of them makes, stay: Python has no more than their addresses."""
    found = subprocess.run([sys.executable, "-c", FIRST_CALLS], capture_output=True, text=True, timeout=300)
    assert found.stdout == "all are through\n", (found.returncode, found.stderr[-2000:])


def test_both_functions_of_attention_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replays, "can_replay", lambda tensor: True)
    lanes, q = TABLE["attention"].op.lanes, torch.randn(1, 1, 32, 32).bfloat16()
    lanes.forget()
    seen = [ops.scaled_dot_product_attention(q, q, q, is_causal=True) for _ in range(3)][-1]
    all_ = [ops.attention(q, q, q) for _ in range(3)][-1]
    assert len(lanes) == 2 and torch.equal(seen[:, :, 0], q[:, :, 0])
    torch.testing.assert_close(all_, torch.nn.functional.scaled_dot_product_attention(q, q, q), rtol=2e-2, atol=2e-2)
    assert torch.equal(ops.attention(q, q, q, is_causal=True), seen) and len(lanes) == 3
    lanes.forget()


def test_lanes_have_an_end(softmax_lanes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softmax_lanes, "_most", 2)
    for n in (8, 9, 10, 11, 8):
        x = torch.randn(2, n)
        torch.testing.assert_close(ops.softmax(x), torch.softmax(x, -1))
        assert len(softmax_lanes) <= 2


@pytest.mark.parametrize("name", ["quantize_mx", "quantize_blocks", "quantize_per_token", "quantize_per_tensor"])
def test_quantisers_are_repeated(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For each format by itself, with the bits of the long way."""
    monkeypatch.setattr(replays, "can_replay", lambda tensor: True)
    lanes = TABLE[name].op.lanes
    lanes.forget()
    formats = {"quantize_mx": [("mxfp4",), ("mxfp8",)], "quantize_blocks": [((1, 128),), ((128, 128),)]}
    cases = formats.get(name, [("int8",), ("fp8",)])
    wanted: list[Any] = []
    for turn in range(4):
        for how in cases:
            x = torch.randn(128, 128, generator=torch.Generator().manual_seed(turn % 2)).bfloat16()
            with monkeypatch.context() as patch:
                if turn == 3:  # a call that is repeated does not ask
                    patch.delattr(quantizers, "why_not")
                found = getattr(ops, name)(x, *how)
            wanted.append(found)
            like = wanted[-1 - 2 * len(cases)] if turn > 1 else found
            for a, b in zip(found, like, strict=True):
                assert a.dtype == b.dtype and torch.equal(a.view(torch.uint8), b.view(torch.uint8))
    lanes.forget()
