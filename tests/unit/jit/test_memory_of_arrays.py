"""Arrays whose memory is missing, was cut, moved or reshaped: each path follows or refuses, and reads nothing stale."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError
from flydsl.compiler.calls import launch_code, native_call
from tests.support import random_data
from tests.support.only_dlpack import OnlyDlpack

N = 400


@flyc.kernel
def copy_kernel(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
    i = fx.block_idx.x * 64 + fx.thread_idx.x
    if i < n:
        y[i] = x[i]


def make_copy() -> Any:
    @flyc.jit
    def copy(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        copy_kernel(x, y, n).launch(grid=((n + 63) // 64, 1, 1), block=(64, 1, 1))

    return copy


def paths(x: Any, y: Any) -> list[Callable[..., Any]]:
    """The jit function new, the same with a cached path for such arguments, and the compiled function."""
    fresh, cached = make_copy(), make_copy()
    for _ in range(3):
        cached(x, y, N)
    bound = flyc.compile(cached, x, y, N)
    bound(x, y, N)
    return [fresh, cached, bound]


def refused_everywhere(value: Any, x: Any, y: Any, words: str) -> None:
    for call in paths(x, y):
        y[:] = -1
        with pytest.raises(FlyDSLError, match=f"(?s)argument 'x'.*{words}"):
            call(value, y, N)
        assert (y == -1).all()


# No memory -----------------------------------------------------------------------------------------------------------


def freed(torch: ModuleType, offset: int) -> Any:
    tensor = torch.ones(N + offset)[offset:]
    tensor.untyped_storage().resize_(0)
    return tensor


@pytest.mark.parametrize("offset", [0, 5, 1 << 20, 1 << 22])
def test_a_freed_storage(torch: ModuleType, offset: int) -> None:
    """torch's pointer to it is the offset, not null: beyond the first page too."""
    x, y = torch.randn(N), torch.zeros(N)
    refused_everywhere(freed(torch, offset), x, y, "has no storage.*flyc.torch_op")
    numbers = np.zeros(N, np.float32)  # beside a NumPy array, the call is generated Python
    refused_everywhere(freed(torch, offset), x, numbers, "has no storage")


def test_a_view_that_is_negated_when_it_is_read(torch: ModuleType) -> None:
    """Memory holds the opposite of such numbers."""
    x = torch.randn(N)
    for y in (torch.zeros(N), np.zeros(N, np.float32)):
        refused_everywhere(torch._neg_view(x), x, y, "lazily negated.*resolve_neg")


def test_a_storage_that_was_cut(torch: ModuleType) -> None:
    tensor = torch.ones(N)
    tensor.untyped_storage().resize_(40)
    with pytest.raises(ValueError, match=r"argument 'x': the tensor's storage holds 40 bytes.*reach 1600"):
        make_copy()(tensor, torch.zeros(N), N)
    with pytest.raises(ValueError, match="holds 40 bytes"):
        flyc.from_torch_tensor(tensor)


@pytest.mark.parametrize("beside", ["torch", "numpy"])
def test_a_low_heap_makes_calls_neither_wrong_nor_slow(
    torch: ModuleType, beside: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where memory may lie as low as an offset in a storage, the quick way tells one from the other."""
    for module in (native_call, launch_code):
        monkeypatch.setattr(module, "LOWEST_ADDRESS", (1 << 63) - 1)
    copy, base = make_copy(), torch.randn(N + 8)
    y = torch.zeros(N) if beside == "torch" else np.zeros(N, np.float32)
    bound = flyc.compile(copy, base[:N], y, N)
    copy(base[:N], y, N)
    for quick in (copy._version.path.latest, bound._launch):
        for x in (base[:N], base[8:], base[4 : N + 4]):
            y[:] = -1
            assert quick((x, y, N)) and torch.equal(torch.as_tensor(y), x)
        for offset in (0, 4, 1 << 22, 1 << 26):
            y[:] = -1
            assert not quick((freed(torch, offset), y, N)) and (y == -1).all()
    for offset in (0, 4, 1 << 22, 1 << 26):
        refused_everywhere(freed(torch, offset), base[:N], y, "has no storage")


def test_tensors_of_tracing(torch: ModuleType) -> None:
    fake_tensor = pytest.importorskip("torch._subclasses.fake_tensor", reason="fake tensors are private to torch")
    x, y = torch.randn(N), torch.zeros(N)
    with fake_tensor.FakeTensorMode():
        fake = torch.ones(N)
    refused_everywhere(fake, x, y, "FakeTensor.*flyc.torch_op")
    calls = paths(x, y)

    def body(value: Any) -> Any:
        for call in calls:
            with pytest.raises(FlyDSLError, match=r"(?s)argument 'x'.*no (storage|plain memory).*flyc.torch_op"):
                call(value, y, N)
        return value * 2

    torch.func.functionalize(body)(torch.ones(N))
    torch.func.vmap(body)(torch.ones(2, N))
    torch.func.grad(lambda value: body(value).sum())(torch.ones(N))


def test_wrapper_tensors(torch: ModuleType) -> None:
    class Wrapper(torch.Tensor):
        @staticmethod
        def __new__(cls: Any, inner: Any) -> Any:
            return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

        @classmethod
        def __torch_dispatch__(cls, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

    class Raising(torch.Tensor):
        def data_ptr(self) -> int:
            raise ValueError("ask somebody else")

    x, y = torch.randn(N), torch.zeros(N)
    refused_everywhere(Wrapper(torch.ones(N)), x, y, "no (storage|plain memory)")
    refused_everywhere(torch.ones(N).as_subclass(Raising), x, y, "ask somebody else")


def test_empty_tensors_need_no_memory(torch: ModuleType) -> None:
    x, y = torch.randn(N), torch.zeros(N)
    for call in paths(x, y):
        for _ in range(2):
            call(torch.empty(0), torch.empty(0), 0)
    assert torch.equal(x, y)


# Empty arrays of NumPy -----------------------------------------------------------------------------------------------


def test_an_empty_batch_is_no_specialisation_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    @flyc.kernel
    def rows_kernel(x: fx.Tensor, y: fx.Tensor):
        y[fx.block_idx.x, fx.thread_idx.x] = x[fx.block_idx.x, fx.thread_idx.x]

    @flyc.jit
    def rows(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        rows_kernel(x, y).launch(grid=(n, 1, 1), block=(6, 1, 1))

    x = random_data.generator().standard_normal((4, 6)).astype(np.float32)
    rows(x, np.zeros_like(x), 4)
    bound = flyc.compile(rows, x, np.zeros_like(x), 4)
    monkeypatch.setenv("FLYDSL_JIT", "strict")
    for shape in ((0, 6), (4, 0), (0, 0)):
        empty = np.zeros(shape, np.float32)
        assert 0 in empty.strides
        for call in (rows, rows, bound, bound):
            call(empty, empty, 0)
    for call in (rows, bound):
        y = np.full_like(x, np.nan)
        call(x, y, 4)
        np.testing.assert_array_equal(y, x)
    assert len(rows.specialisations) == 1
    assert flyc.TensorSpec((4, 0), "float32").strides == (64, 1)
    column = np.asfortranarray(x)[:, :0]
    assert column.strides[0] == 4, "strides that say something stay"
    monkeypatch.delenv("FLYDSL_JIT")
    rows(column, column, 0)
    assert "strides is (1, ?), was (?, 1)" in rows.specialisations[-1].why


def test_an_empty_batch_of_torch(torch: ModuleType) -> None:
    @flyc.jit
    def nothing(x: fx.Tensor):
        pass

    for shape in ((4, 6), (0, 6), (4, 0), (0, 0)):
        for _ in range(2):
            nothing(torch.zeros(shape))
    assert len(nothing.specialisations) == 1


def test_an_empty_array_wrapped() -> None:
    adaptor = flyc.from_dlpack(np.zeros((0, 6), np.float32))
    assert "(0,6):(6,1)" in repr(adaptor)


# Memory that moved ---------------------------------------------------------------------------------------------------


def junk(make: Callable[[], Any]) -> list[Any]:
    """Arrays that take the place of memory given back."""
    gc.collect()
    return [make() for _ in range(50)]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.usefixtures("young_heap")
def test_a_torch_tensor_given_other_data(torch: ModuleType, dynamic: bool) -> None:
    x, y = torch.full((N,), 3.0), torch.zeros(N)
    adaptor = flyc.from_torch_tensor(x)
    if dynamic:
        adaptor.mark_layout_dynamic()
    calls = paths(adaptor, y)
    for value in (5.0, 7.0):
        x.data = torch.full((N,), value)
        kept = junk(lambda: torch.full((N,), 9.0))
        for call in calls:
            y.fill_(-1)
            call(adaptor, y, N)
            assert torch.equal(y, torch.full((N,), value)), (call, y)
        del kept


@pytest.mark.usefixtures("young_heap")
def test_a_numpy_array_resized() -> None:
    x, y = np.full(N, 3, np.float32), np.zeros(N, np.float32)
    fixed, free = flyc.from_dlpack(x), flyc.from_dlpack(x).mark_layout_dynamic()
    fixed_calls, free_calls = paths(fixed, y), paths(free, y)
    x.resize(1 << 20, refcheck=False)
    x[:] = 4
    kept = junk(lambda: np.full(N, 9, np.float32))
    for call in free_calls:
        y[:] = -1
        call(free, y, N)
        assert (y == 4).all()
    for call in fixed_calls:
        y[:] = -1
        with pytest.raises(ValueError, match=re.escape("extent 0 is 1048576 and was 400")):
            call(fixed, y, N)
        assert (y == -1).all()
    del kept


def test_a_torch_tensor_resized(torch: ModuleType) -> None:
    x, y = torch.full((N,), 3.0), torch.zeros(N)
    fixed, even = flyc.from_torch_tensor(x), flyc.from_torch_tensor(x).mark_shape_dynamic(0, divisibility=8)
    fixed_calls, even_calls = paths(fixed, y), paths(even, y)
    x.resize_(N - 1)
    for adaptor, calls, words in ((fixed, fixed_calls, "and was 400"), (even, even_calls, "and was a multiple of 8")):
        for call in calls:
            with pytest.raises(ValueError, match=f"extent 0 is 399 {words}"):
                call(adaptor, y, N)
    x.resize_(N // 2)
    x.fill_(6.0)
    for call in even_calls:
        y.fill_(-1)
        call(even, y, N // 2)
        assert (y[: N // 2] == 6).all() and (y[N // 2 :] == -1).all()


def test_a_wrapped_tensor_loses_its_storage(torch: ModuleType) -> None:
    x, y = torch.ones(N + 7)[7:], torch.zeros(N)
    adaptor = flyc.from_torch_tensor(x)
    calls = paths(adaptor, y)
    x.untyped_storage().resize_(0)
    for call in calls:
        with pytest.raises(FlyDSLError, match="has no storage"):
            call(adaptor, y, N)


def test_alignment_is_checked_again(torch: ModuleType) -> None:
    base = torch.randn(N + 64)
    start = -(base.data_ptr() // 4) % 16
    x, y = base[start : start + N], torch.zeros(N)
    adaptor = flyc.from_torch_tensor(x, assumed_align=64)
    calls = paths(adaptor, y)
    x.data = base[start + 1 : start + 1 + N]
    for call in calls:
        with pytest.raises(ValueError, match="not aligned to assumed_align=64"):
            call(adaptor, y, N)


@pytest.mark.usefixtures("young_heap")
def test_another_array_behind_dlpack() -> None:
    source, y = OnlyDlpack(np.full(N, 3, np.float32)), np.zeros(N, np.float32)
    adaptor = flyc.from_dlpack(source)
    calls = paths(adaptor, y)
    source.array = np.full(N, 5, np.float32)
    kept = junk(lambda: np.full(N, 9, np.float32))
    for call in calls:
        y[:] = -1
        call(adaptor, y, N)
        assert (y == 5).all()
    source.array = np.full(N, 5, np.float64)
    for call in calls:
        with pytest.raises(ValueError, match="not what it was when it was wrapped: its elements or its rank"):
            call(adaptor, y, N)
    del kept


def test_adaptors_over_arrays_of_several_libraries_take_turns(torch: ModuleType) -> None:
    copy = make_copy()
    sources: list[Any] = [
        torch.randn(N),
        random_data.generator().standard_normal(N).astype(np.float32),
        OnlyDlpack(random_data.generator().standard_normal(N).astype(np.float32)),
    ]
    bound = flyc.compile(copy, flyc.from_dlpack(sources[0]), np.zeros(N, np.float32), N)
    for _ in range(3):
        for source in sources:
            for call in (copy, bound):
                y = np.full(N, np.nan, np.float32)
                call(flyc.from_dlpack(source), y, N)
                np.testing.assert_array_equal(y, np.asarray(getattr(source, "array", source)))
    assert len(copy.specialisations) == 1


@pytest.mark.parametrize("wrap", [lambda array: array, flyc.from_dlpack], ids=["raw", "wrapped"])
def test_a_masked_array_is_refused_also_after_a_plain_one(wrap: Callable[[Any], Any]) -> None:
    x, y = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    masked = np.ma.masked_array(x, mask=x > 3)
    for call in paths(x, y):
        call(x, y, N)
        y[:] = 0
        with pytest.raises(FlyDSLError, match="would lose its mask"):
            call(wrap(masked), y, N)
        assert not y.any()
