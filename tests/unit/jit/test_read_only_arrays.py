"""Arrays that must not be written: read freely, refused where the code writes, by every path and for every kind."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslValueError
from flydsl.compiler.arguments.tensor_adaptor import TensorAdaptor
from flydsl.compiler.calls.launch_code import numpy_header
from flydsl.runtime import array_view
from tests.support import random_data
from tests.support.cuda_recording import Recording, forget_devices
from tests.support.only_dlpack import OnlyDlpack
from tests.unit.jit.kernels import copying

ROWS, COLUMNS = 5, 7
REFUSED = "'y' of .*the array is read-only, and the code writes it"


def matrix() -> np.ndarray:
    return random_data.generator().standard_normal((ROWS, COLUMNS)).astype(np.float32)


def locked(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


class OldDlpack(OnlyDlpack):
    """A producer of before DLPack 1.0, which takes no version."""

    def __dlpack__(self, stream: Any = None) -> Any:  # type: ignore[override]
        return self.array.__dlpack__()


class Interface:
    """An array of which only `__array_interface__` is known."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__

    def __getattr__(self, name: str) -> Any:
        if name in ("itemsize", "dtype", "shape", "strides", "ndim"):
            return getattr(self.array, name)
        raise AttributeError(name)


class Subclass(np.ndarray):
    """An array type that somebody derived from NumPy's."""


def mapped(folder: Path, mode: Any) -> np.ndarray:
    path = folder / "numbers"
    matrix().tofile(path)
    return np.memmap(path, np.float32, mode, shape=(ROWS, COLUMNS))


READ_ONLY: dict[str, Callable[[Path], Any]] = {
    "locked": lambda _: locked(matrix()),
    "a locked view": lambda _: locked(matrix()[:, :]),
    "a file mapped for reading": lambda folder: mapped(folder, "r"),
    "a broadcast row": lambda _: np.broadcast_to(matrix()[0], (ROWS, COLUMNS)),
    "bytes": lambda _: np.frombuffer(matrix().tobytes(), np.float32).reshape(ROWS, COLUMNS),
    "a derived type": lambda _: locked(matrix().view(Subclass)),
    "DLPack": lambda _: OnlyDlpack(locked(matrix())),
    "the array interface": lambda _: Interface(locked(matrix())),
    "an adaptor": lambda _: flyc.from_dlpack(locked(matrix())),
    "an adaptor with marks": lambda _: flyc.from_dlpack(locked(matrix())).mark_layout_dynamic(),
    "an adaptor of DLPack": lambda _: flyc.from_dlpack(OnlyDlpack(locked(matrix()))),
}


def numbers_of(value: Any) -> np.ndarray:
    while not isinstance(value, np.ndarray):
        value = value.source if isinstance(value, TensorAdaptor) else value.array
    return np.asarray(value)


@pytest.mark.parametrize("kind", READ_ONLY)
def test_every_kind_is_read_and_not_written(kind: str, tmp_path: Path) -> None:
    """By a first call, by the code of cached calls, and bound."""
    copy, value = copying(), READ_ONLY[kind](tmp_path)
    before, out = numbers_of(value).copy(), np.empty((ROWS, COLUMNS), np.float32)
    bound = flyc.compile(copy, value, out, ROWS, COLUMNS)
    for call in (copy, copy, bound, bound):
        out[:] = np.nan
        call(value, out, ROWS, COLUMNS)
        np.testing.assert_array_equal(out, before)
    with pytest.raises(DslValueError, match=REFUSED):
        flyc.compile(copy, out, value, ROWS, COLUMNS)  # it launches once
    other = flyc.compile(copy, out, matrix(), ROWS, COLUMNS)
    out[:] = 4
    for call in (copy, copy, other, other):
        with pytest.raises(DslValueError, match=REFUSED) as error:
            call(out, value, ROWS, COLUMNS)
        assert "kernels.py" in str(error.value) and "y[row, column] = x[row, column]" in str(error.value)
        assert error.value.hint is not None and "a.copy()" in error.value.hint
        np.testing.assert_array_equal(numbers_of(value), before)


WRITABLE: dict[str, Callable[[Path], Any]] = {
    "an array": lambda _: matrix(),
    "a file mapped for writing": lambda folder: mapped(folder, "r+"),
    "a file mapped as a copy": lambda folder: mapped(folder, "c"),
    "DLPack": lambda _: OnlyDlpack(matrix()),
    "old DLPack": lambda _: OldDlpack(matrix()),
    "the array interface": lambda _: Interface(matrix()),
    "an adaptor": lambda _: flyc.from_dlpack(matrix()),
    "a view of a locked array's unlocked base": lambda _: matrix()[:, :],
}


@pytest.mark.parametrize("kind", WRITABLE)
def test_what_may_be_written_is(kind: str, tmp_path: Path) -> None:
    copy, value = copying(), WRITABLE[kind](tmp_path)
    bound = flyc.compile(copy, matrix(), value, ROWS, COLUMNS)
    for call in (copy, copy, bound, bound):
        x = locked(matrix())
        call(x, value, ROWS, COLUMNS)
        np.testing.assert_array_equal(numbers_of(value), x)


def test_an_old_dlpack_producer_cannot_hand_out_read_only_data() -> None:
    with pytest.raises(TypeError, match="does not hand out its data"):
        copying()(OldDlpack(locked(matrix())), matrix(), ROWS, COLUMNS)


def test_arrays_are_locked_and_unlocked_between_calls() -> None:
    copy, x, y = copying(), matrix(), matrix()
    bound = flyc.compile(copy, x, y, ROWS, COLUMNS)
    for out in (y, flyc.from_dlpack(y)):
        for call in (copy, bound):
            for _ in range(2):
                y.flags.writeable = True
                y[:] = np.nan
                call(x, out, ROWS, COLUMNS)
                np.testing.assert_array_equal(y, x)
                y.flags.writeable = False
                with pytest.raises(DslValueError, match=REFUSED):
                    call(x, out, ROWS, COLUMNS)
        y.flags.writeable = True
        bound = flyc.compile(copy, x, flyc.from_dlpack(y), ROWS, COLUMNS)


def test_without_a_look_at_the_header_of_numpys_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the struct is another one than we know, the public interface says the same."""
    assert numpy_header() is not None
    monkeypatch.setattr("flydsl.compiler.calls.launch_code.numpy_header", lambda: None)
    copy, x, y = copying(), locked(matrix()), matrix()
    for _ in range(3):
        y[:] = np.nan
        copy(x, y, ROWS, COLUMNS)
        np.testing.assert_array_equal(y, x)
    locked(y)
    with pytest.raises(DslValueError, match=REFUSED):
        copy(x, y, ROWS, COLUMNS)


def test_one_array_read_and_written() -> None:
    copy, x = copying(), matrix()
    copy(x, x, ROWS, COLUMNS)
    view = x.view()
    copy(locked(view), x, ROWS, COLUMNS)  # the output may be written, whatever else points there
    for source in (view, x):
        with pytest.raises(DslValueError, match=REFUSED):
            copy(source, view, ROWS, COLUMNS)
    locked(x)
    with pytest.raises(DslValueError, match=REFUSED):
        copy(x, x, ROWS, COLUMNS)


def test_the_fields_of_a_struct() -> None:
    @fx.struct
    class Inner:
        scale: fx.Float32
        y: fx.Tensor

    @fx.struct
    class Work:
        x: fx.Tensor
        count: fx.Int32
        inner: Inner

    @flyc.kernel
    def kernel(work: Work):
        i = fx.thread_idx.x
        if i < work.count:
            work.inner.y[i] = work.x[i] * work.inner.scale

    @flyc.jit
    def run(n: fx.Int64, work: Work):
        kernel(work).launch(block=(16, 1, 1))

    x, y = locked(random_data.generator().standard_normal(16).astype(np.float32)), np.zeros(16, np.float32)
    work = Work(x=x, count=16, inner=Inner(scale=2.0, y=y))
    bound = flyc.compile(run, 1, work)
    for call in (run, run, bound, bound):
        y[:] = np.nan
        call(1, work)
        np.testing.assert_array_equal(y, x * 2)
    locked(y)
    for call in (run, run, bound, bound):
        with pytest.raises(DslValueError, match=r"'work' of .*the array in field 'inner.y' is read-only"):
            call(1, work)


def test_a_method_and_keywords() -> None:
    @flyc.kernel
    def scale(x: fx.Tensor, y: fx.Tensor, factor: fx.Constexpr[int]):
        y[fx.thread_idx.x] = x[fx.thread_idx.x] * factor

    class Layer:
        factor = 3

        @flyc.jit
        def apply(self, x: fx.Tensor, y: fx.Tensor):
            scale(x, y, self.factor).launch(block=(8, 1, 1))

    x, y = locked(np.arange(8, dtype=np.int32)), np.zeros(8, np.int32)
    Layer().apply(x=x, y=y)
    np.testing.assert_array_equal(y, x * 3)
    with pytest.raises(DslValueError, match="'y' of 'apply'"):
        Layer().apply(y=locked(y), x=x)


def test_only_the_specialisation_that_writes_refuses() -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor, out: fx.Tensor, back: fx.Constexpr[bool]):
        i = fx.thread_idx.x
        out[i] = x[i] + y[i]
        if fx.const_expr(back):
            x[i] = y[i]

    @flyc.jit
    def run(x: fx.Tensor, y: fx.Tensor, out: fx.Tensor, back: fx.Constexpr[bool]):
        kernel(x, y, out, back).launch(block=(8, 1, 1))

    x, y, out = locked(np.arange(8)), locked(np.arange(8)), np.zeros(8, np.int64)
    for _ in range(2):
        run(x, y, out, False)
        with pytest.raises(DslValueError, match="'x' of 'run'"):
            run(x, y, out, True)
    np.testing.assert_array_equal(out, x + y)


def test_the_host_part_writes() -> None:
    @flyc.jit
    def run(x: fx.Tensor, y: fx.Tensor):
        y[1] = x[0] + 1

    x, y = locked(np.full(2, 4, np.int32)), np.zeros(2, np.int32)
    run(x, y)
    assert y.tolist() == [0, 5]
    with pytest.raises(DslValueError, match="'y' of 'run'"):
        run(x, locked(y))


def test_an_address_that_goes_where_nobody_can_follow() -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        y[0] = fx.Int64(fx.ptrtoint(fx.get_iter(x)))

    @flyc.jit
    def run(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(block=(1, 1, 1))

    x, y = np.zeros(2, np.int64), np.zeros(2, np.int64)
    run(x, y)
    assert y[0] == x.ctypes.data
    with pytest.raises(DslValueError, match=r"'x' of 'run': .* may write it: here its address goes where"):
        run(locked(x), y)


def test_lds_report_launches_too() -> None:
    with pytest.raises(DslValueError, match=REFUSED):
        flyc.lds_report(copying(), matrix(), locked(matrix()), ROWS, COLUMNS)


def test_with_sanitizers() -> None:
    copy, x, y = copying(), locked(matrix()), matrix()
    with flyc.sanitize():
        for _ in range(2):
            copy(x, y, ROWS, COLUMNS)
        with pytest.raises(DslValueError, match=REFUSED):
            copy(x, locked(y), ROWS, COLUMNS)
    np.testing.assert_array_equal(y, x)


def test_a_pickle_keeps_the_check() -> None:
    x, y = locked(matrix()), matrix()
    again = pickle.loads(pickle.dumps(flyc.compile(copying(), x, y, ROWS, COLUMNS)))
    again(x, y, ROWS, COLUMNS)
    for _ in range(2):
        with pytest.raises(DslValueError, match=REFUSED):
            again(x, locked(y), ROWS, COLUMNS)


# On a GPU ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recording]:
    yield Recording(tmp_path, monkeypatch)
    forget_devices()


class CudaArray:
    """An array in a GPU's memory, as CuPy and Numba describe it."""

    def __init__(self, pointer: int, read_only: bool) -> None:
        self.__cuda_array_interface__ = {
            "typestr": "<f4", "shape": (ROWS, COLUMNS), "data": (pointer, read_only), "strides": None, "version": 3,
        }  # fmt: skip


def test_arrays_on_a_gpu(recording: Recording) -> None:
    recording.devices("9.0", "9.0")  # the stand-in says that memory is on the second
    copy = copying()
    x, y, z = CudaArray(1 << 40, True), CudaArray((1 << 40) + 4096, False), CudaArray((1 << 40) + 8192, True)
    bound = flyc.compile(copy, x, y, ROWS, COLUMNS)
    for call in (copy, copy, bound, bound):
        call(x, y, ROWS, COLUMNS)
    count = len(recording.launches())
    assert count == 5
    for call in (copy, copy, bound, bound):
        with pytest.raises(DslValueError, match=REFUSED):
            call(x, z, ROWS, COLUMNS)
        with pytest.raises(DslValueError, match=REFUSED):
            call(x, flyc.from_dlpack(z), ROWS, COLUMNS)
    assert len(recording.launches()) == count


def test_arrays_that_go_to_a_gpu_and_back(recording: Recording) -> None:
    """What a kernel wrote into the copy of a read-only array could not come back."""
    copy, x, y, z = copying(), locked(matrix()), matrix(), locked(matrix())
    with flyc.current_device().arrays(x, y, z) as (dx, dy, dz):
        bound = flyc.compile(copy, dx, dy, ROWS, COLUMNS)
        for call in (copy, copy, bound, bound):
            call(dx, dy, ROWS, COLUMNS)
            with pytest.raises(DslValueError, match=REFUSED):
                call(dx, dz, ROWS, COLUMNS)
    assert len(recording.launches()) == 5


# Other processes -----------------------------------------------------------------------------------------------------

PROGRAM = """
import sys
import numpy as np
import flydsl.compiler as flyc
import flydsl.expr as fx

@flyc.kernel
def add_kernel(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor):
    i = fx.block_idx.x * 64 + fx.thread_idx.x
    C[i] = A[i] + B[i]

@flyc.jit
def add(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, n: fx.Int32):
    add_kernel(A, B, C).launch(grid=(n // 64, 1, 1), block=(64, 1, 1))

path = sys.argv[1]
np.arange(640, dtype=np.float32).tofile(path)
a = np.memmap(path, np.float32, "r")
if "writable first" in sys.argv:
    c = np.full(640, np.nan, np.float32)
    add(a, a, c, 640)
    assert (c == 2 * np.arange(640)).all()
for _ in range(2):
    try:
        add(a, a, a, 640)
    except ValueError as error:
        assert "argument 'C' of 'add': the array is read-only" in str(error), error
        assert "C[i] = A[i] + B[i]" in str(error), error
    else:
        raise SystemExit("it was not refused")
assert (np.fromfile(path, np.float32) == np.arange(640)).all()
print("refused", add.cache_info().hits, add.cache_info().misses)
"""


def test_a_file_mapped_for_reading_does_not_end_the_process(tmp_path: Path) -> None:
    """The second start finds the code on disk, and what it writes beside it."""
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    environment = {
        **os.environ,
        "FLYDSL_RUNTIME_CACHE_DIR": str(tmp_path / "cache"),
        "FLYDSL_RUNTIME_ENABLE_CACHE": "1",
    }
    seen = []
    for more in ((), (), ("writable first",)):
        done = subprocess.run(
            [sys.executable, str(script), str(tmp_path / "numbers"), *more], env=environment, capture_output=True,
            text=True, timeout=240,
        )  # fmt: skip
        assert done.returncode == 0, (done.returncode, done.stderr)
        seen.append(done.stdout.split())
    assert [words[0] for words in seen] == ["refused"] * 3
    assert [int(words[2]) for words in seen] == [1, 0, 0], "misses: the first start compiles, the others do not"


# Views ---------------------------------------------------------------------------------------------------------------


def test_flags_of_dlpack() -> None:
    for array in (matrix(), locked(matrix())):
        view = array_view.of(OnlyDlpack(array))
        assert view is not None
        assert (view.pointer, view.shape, view.strides) == (array.ctypes.data, (ROWS, COLUMNS), (COLUMNS, 1))
        assert view.writable == array.flags.writeable


def test_a_copy_that_dlpack_hands_out_is_not_written() -> None:
    """What the code would write would be lost."""

    class Copied(OnlyDlpack):
        def __dlpack__(self, **options: Any) -> Any:
            return self.array.__dlpack__(**options, copy=True)

    view = array_view.of(Copied(matrix()))
    assert view is not None and not view.writable
