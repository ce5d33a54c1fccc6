"""The native form of a cached call: the same answers as the generated Python, and nothing read wrongly."""

from __future__ import annotations

import ctypes
import math
import sys
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError
from flydsl.compiler.calls import native_call

torch = pytest.importorskip("torch", reason="native calls read torch tensors")


@flyc.kernel
def scale_kernel(A: fx.Tensor, B: fx.Tensor, s: fx.Float32, n: fx.Int32):
    i = fx.block_idx.x * 64 + fx.thread_idx.x
    if i < n:
        B[i] = A[i] * s


def make() -> Any:
    @flyc.jit
    def scale(A: fx.Tensor, B: fx.Tensor, s: fx.Float32, n: fx.Int32, c: fx.Constexpr, stream: fx.Stream = None):
        scale_kernel(A, B, s, n).launch(grid=((n + 63) // 64, 1, 1), block=(64, 1, 1), stream=stream)

    return scale


@pytest.fixture
def scale() -> Iterator[Any]:
    if not native_call.dlpack_reader():
        pytest.skip("this torch does not give DLPack's functions away")
    yield make()


def is_native(launch: Any) -> bool:
    return isinstance(getattr(launch, "__self__", None), native_call.Table)


def test_second_call_is_native_and_right(scale: Any) -> None:
    for n in (1, 7, 64, 1000):
        a, b = torch.randn(n), torch.full((n,), float("nan"))
        scale(a, b, 2.5, n, 3)
        assert is_native(scale._version.path.latest)
        b.fill_(float("nan"))
        scale(a, b, 2.5, n, 3)
        assert torch.equal(b, a * 2.5)


def test_bound_call_is_native_and_right(scale: Any) -> None:
    a, b = torch.randn(64), torch.zeros(64)
    bound = flyc.compile(scale, a, b, 2.0, 64, 3)
    bound(a, b, 3.0, 64, "ignored")
    assert is_native(bound._launch)
    assert torch.equal(b, a * 3)
    by_handle = flyc.compile(scale, a, b, 2.0, 64, 3, 0)  # the stream as a number
    by_handle(a, b, 5.0, 64, 3, 0)
    assert is_native(by_handle._launch) and torch.equal(b, a * 5)
    with pytest.raises(FlyDSLError, match="no stream handle"):
        by_handle(a, b, 5.0, 64, 3, -1)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda a: a.double(),
        lambda a: a.reshape(8, 8),
        lambda a: torch.randn(128)[::2],
        lambda a: torch.view_as_complex(torch.randn(64, 2)).conj().imag,
        lambda a: a.numpy().astype("f8"),
        lambda a: None,
        lambda a: 5,
    ],
    ids=["dtype", "rank", "stride", "negated", "numpy dtype", "None", "int"],
)
def test_other_arrays_are_refused_by_bound_calls(scale: Any, spoil: Any) -> None:
    a, b = torch.randn(64), torch.zeros(64)
    bound = flyc.compile(scale, a, b, 2.0, 64, 3)
    b.zero_()
    with pytest.raises(FlyDSLError):
        bound(spoil(a), b, 2.0, 64, 3)
    assert not b.any()


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, 2**70, 1.5, "64"])
def test_numbers_that_do_not_fit_are_refused(scale: Any, number: Any) -> None:
    a, b = torch.randn(64), torch.zeros(64)
    bound = flyc.compile(scale, a, b, 2.0, 64, 3)
    b.zero_()
    with pytest.raises(FlyDSLError):
        bound(a, b, 2.0, number, 3)
    assert not b.any()


@pytest.mark.parametrize("number", [1e39, -1e39, float("inf"), float("-inf")])
def test_a_float_beyond_f32_is_refused_and_infinity_is_not(scale: Any, number: float) -> None:
    a, b = torch.ones(64), torch.zeros(64)
    bound = flyc.compile(scale, a, b, 2.0, 64, 3)
    b.zero_()
    for call in (bound, scale, scale):
        if math.isinf(number):
            call(a, b, number, 64, 3)
            assert torch.equal(b, torch.full_like(b, number))
            continue
        with pytest.raises(ValueError, match=r"e\+39 does not fit Float32"):
            call(a, b, number, 64, 3)
        assert not b.any()
        scale(a, torch.zeros(64), 2.0, 64, 3)


def test_jit_call_with_other_arguments_compiles_for_them(scale: Any) -> None:
    a, b = torch.randn(64), torch.zeros(64)
    scale(a, b, 2.0, 64, 3)
    scale(a, b, 2.0, 64, 3)
    wide, out = torch.randn(64).double(), torch.zeros(64).double()
    scale(wide, out, 2.0, 64, 3)
    torch.testing.assert_close(out, wide * 2)
    scale(a, b, 4.0, 64, 5)
    assert torch.equal(b, a * 4)
    assert len(scale.specialisations) == 3


def test_parameters_and_offset_views(scale: Any) -> None:
    a, b = torch.nn.Parameter(torch.randn(64), requires_grad=False), torch.zeros(80)
    for _ in range(3):
        b.zero_()
        scale(a, b[5:69], 2.0, 64, 3)
        assert torch.equal(b[5:69], a.data * 2)
        assert not b[:5].any() and not b[69:].any()


def test_wrong_number_of_arguments(scale: Any) -> None:
    a, b = torch.randn(64), torch.zeros(64)
    bound = flyc.compile(scale, a, b, 2.0, 64, 3)
    b.zero_()
    with pytest.raises(FlyDSLError):
        bound(a, b)


def test_many_threads_at_once(scale: Any) -> None:
    bound = flyc.compile(scale, torch.randn(64), torch.zeros(64), 2.0, 64, 3)
    wrong: list[float] = []

    def work(factor: float) -> None:
        a, b = torch.randn(64), torch.zeros(64)
        for _ in range(500):
            bound(a, b, factor, 64, 3)
            if not torch.equal(b, a * factor):
                wrong.append(factor)

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_adaptors_are_native_and_follow_their_marks(scale: Any) -> None:
    a, b = torch.randn(64), torch.zeros(64)
    wrapped = flyc.from_torch_tensor(a)
    bound = flyc.compile(scale, wrapped, b, 2.0, 64, 3)
    bound(wrapped, b, 3.0, 64, 3)
    assert is_native(bound._launch) and torch.equal(b, a * 3)
    other = torch.randn(64)
    bound(flyc.from_torch_tensor(other), b, 3.0, 64, 3)  # another key object with the same content
    assert torch.equal(b, other * 3)
    b.zero_()
    for wrong in (flyc.from_torch_tensor(torch.randn(32)), flyc.from_torch_tensor(a.double())):
        with pytest.raises(FlyDSLError):
            bound(wrong, b, 3.0, 64, 3)
    assert not b.any()
    for _ in range(2):
        scale(wrapped, b, 2.0, 64, 3)
        scale(flyc.from_torch_tensor(a).mark_layout_dynamic(), b, 2.0, 64, 3)
    assert len(scale.specialisations) == 2 and torch.equal(b, a * 2)


def test_references_are_given_back(scale: Any) -> None:
    a, b = torch.randn(64), torch.zeros(64)
    wrapped = flyc.from_torch_tensor(a)
    bound = flyc.compile(scale, wrapped, b, 2.0, 64, 3)
    held = (wrapped, wrapped.key, a, b)
    before = [sys.getrefcount(x) for x in held]
    for _ in range(100):
        bound(wrapped, b, 2.0, 64, 3)
    assert [sys.getrefcount(x) for x in held] == before


def test_a_thread_has_a_place_for_what_fails() -> None:
    """It is looked up where another thread has launched since, not at every launch."""
    looked: list[int] = []
    reports: list[int] = []
    place, status = threading.local(), [0]

    class Local:
        @property
        def report(self) -> int:
            looked.append(threading.get_ident())
            return place.report

    def new_report() -> int:
        place.words = (ctypes.c_int64 * 7)()
        place.report = ctypes.addressof(place.words)
        return place.report

    def launch_it(_: Any, report: int) -> int:
        reports.append(report)
        return status[0]

    def fail(number: int) -> None:
        raise RuntimeError(f"status {number}")

    entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)(launch_it)
    names = {"entry": entry, "local": Local(), "new_report": new_report, "fail": fail}
    launch = native_call._launch(native_call._Plan(""), SimpleNamespace(launch_names=lambda: names), 0, -1)
    assert launch(()) is True and launch(()) is True and launch((1,)) is False
    worker = threading.Thread(target=lambda: [launch(()) for _ in range(2)])
    worker.start()
    worker.join()
    status[0] = 5
    with pytest.raises(RuntimeError, match="status 5"):
        launch(())
    assert len(looked) == 3 and len(reports) == 5
    assert reports[0] == reports[1] == reports[4] and reports[2] == reports[3] != reports[0]
