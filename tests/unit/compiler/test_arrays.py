"""Arrays a jit function accepts: NumPy, torch, anything with DLPack; strided, offset, narrow and empty ones."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError
from tests.support.only_dlpack import OnlyDlpack


@flyc.kernel
def double_kernel(x: fx.Tensor, y: fx.Tensor):
    i, j = fx.thread_idx.x, fx.block_idx.x
    y[j, i] = x[j, i] + x[j, i]


@flyc.jit
def double(x: fx.Tensor, y: fx.Tensor, rows: fx.Int32, columns: fx.Int32):
    double_kernel(x, y).launch(grid=(rows, 1, 1), block=(columns, 1, 1))


DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.int8, np.uint8, np.int16, np.int32, np.int64]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
def test_every_element_type(dtype: Any) -> None:
    x = np.arange(12).reshape(3, 4).astype(dtype)
    y = np.zeros((3, 4), dtype)
    double(x, y, 3, 4)
    np.testing.assert_array_equal(y, x + x)


def test_bytes_have_a_sign() -> None:
    x = np.array([[200, 100]], np.uint8)
    y = np.zeros((1, 2), np.int32)
    double(x, y, 1, 2)
    assert y.tolist() == [[400 - 512, -56]]


def test_strided_offset_and_transposed_views() -> None:
    base = np.arange(200, dtype=np.float32).reshape(10, 20)
    for x in (base[2:5, 3:7], base[::3, 5:9], base.T[4:7, ::1], base[:, ::-1][1:4, 2:6][:, ::-1]):
        rows, columns = x.shape
        y = np.zeros((rows, columns), np.float32)
        double(x, y, rows, columns)
        np.testing.assert_array_equal(y, x * 2)


def test_negative_strides_through_from_dlpack() -> None:
    base = np.arange(12, dtype=np.float32).reshape(3, 4)
    x = base[::-1, ::-1]
    y = np.zeros((3, 4), np.float32)
    double(flyc.from_dlpack(x), flyc.from_dlpack(y), 3, 4)
    np.testing.assert_array_equal(y, x * 2)


def test_dlpack_alone_is_enough() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    y = np.zeros((2, 3), np.float32)
    double(OnlyDlpack(x), y, 2, 3)
    np.testing.assert_array_equal(y, x * 2)


def test_an_adaptor_serves_several_specialisations() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    adaptor = flyc.from_dlpack(x)
    for dtype in (np.float32, np.float64):
        y = np.zeros((2, 3), dtype)
        double(adaptor, y, 2, 3)
        np.testing.assert_array_equal(y, x * 2)


def test_torch_tensors(torch: ModuleType) -> None:
    for dtype in (torch.float32, torch.bfloat16, torch.int32, torch.uint8):
        x = torch.arange(12).reshape(3, 4).to(dtype)
        y = torch.zeros(3, 4, dtype=dtype)
        double(x, y, 3, 4)
        assert torch.equal(y, x + x)
        z = torch.zeros(4, 3, dtype=dtype).T
        double(flyc.from_torch_tensor(x), flyc.from_dlpack(z), 3, 4)
        assert torch.equal(z, x + x)


def test_torch_parameters(torch: ModuleType) -> None:
    x = torch.nn.Parameter(torch.ones(2, 2))
    y = torch.zeros(2, 2)
    double(x, y, 2, 2)
    assert torch.equal(y, torch.full((2, 2), 2.0))


# Arrays whose own description is wrong -------------------------------------------------------------------------------


class Foreign:
    """An array with a DLPack answer of its own."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __dlpack__(self, **options: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_bad_dlpack_is_explained() -> None:
    y = np.zeros((2, 3), np.float32)
    used = np.zeros((2, 3), np.float32).__dlpack__()
    used_up = np.from_dlpack(_Handing(used))
    for answer in (None, 5, KeyError("gone"), ValueError(""), np.ones(3), used):
        with pytest.raises(
            FlyDSLError, match=r"(?s)argument 'x': Foreign does not hand out its data: \S.*DLPack capsule"
        ):
            double(Foreign(answer), y, 2, 3)
    assert used_up.shape == (2, 3)


class _Handing:
    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


GOOD = {"shape": (2, 3), "typestr": "<f4", "data": (4096, False), "version": 3}
BAD_INTERFACES: list[tuple[Any, str]] = [
    (None, "cannot be read"),
    ({}, "'typestr' is missing"),
    ({**GOOD, "shape": 3}, "cannot be read"),
    ({name: GOOD[name] for name in ("shape", "typestr")}, "'data' is missing"),
    ({name: GOOD[name] for name in ("data", "typestr")}, "'shape' is missing"),
    ({**GOOD, "data": 4096}, "cannot be read"),
    ({**GOOD, "data": ("x", False)}, "are ints"),
    ({**GOOD, "shape": ("a",)}, "are ints"),
    ({**GOOD, "typestr": "f"}, "cannot be read"),
    ({**GOOD, "strides": (4,)}, "differ in rank"),
    ({**GOOD, "data": (0, False)}, "has no storage"),
]


@pytest.mark.parametrize(("interface", "words"), BAD_INTERFACES)
def test_a_bad_cuda_array_interface_is_explained(interface: Any, words: str) -> None:
    class Source:
        __cuda_array_interface__ = interface

    with pytest.raises(FlyDSLError, match=f"argument 'x'.*{words}"):
        double(Source(), np.zeros((2, 3), np.float32), 2, 3)
