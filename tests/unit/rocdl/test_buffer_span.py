"""A buffer reaches 4 GiB forwards: layouts that go further are refused, while compiling or at the launch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError

SPAN = 1 << 32
"""Bytes that a 32-bit offset reaches."""


@flyc.kernel
def second_row_kernel(x: fx.Tensor, out: fx.Tensor):
    rows = fx.rocdl.make_buffer_tensor(x)
    out[0] = rows[1, 0]


@flyc.jit
def second_row(x: fx.Tensor, out: fx.Tensor):
    second_row_kernel(x, out).launch()


@flyc.kernel
def second_slice_kernel(x: fx.Tensor, out: fx.Tensor):
    out[0] = fx.rocdl.make_buffer_tensor(x[1, None])[0]


@flyc.jit
def second_slice(x: fx.Tensor, out: fx.Tensor):
    second_slice_kernel(x, out).launch()


@flyc.kernel
def column_kernel(x: fx.Tensor, out: fx.Tensor):
    out[0] = fx.rocdl.make_buffer_tensor(x[None, 0])[1]


@flyc.jit
def column(x: fx.Tensor, out: fx.Tensor):
    column_kernel(x, out).launch()


@flyc.kernel
def sixth_kernel(x: fx.Tensor, out: fx.Tensor):
    out[0] = fx.rocdl.make_buffer_tensor(x)[5]


@flyc.jit
def sixth(x: fx.Tensor, out: fx.Tensor):
    sixth_kernel(x, out).launch()


@flyc.jit
def sixth_swizzled(x: fx.Tensor, out: fx.Tensor):
    layout = fx.make_composed_layout(fx.make_swizzle(1, 0, 2), 0, fx.make_layout(8, 1))
    sixth_kernel(fx.make_view(fx.get_iter(x), layout), out).launch()


@pytest.fixture(scope="module")
def memory() -> np.ndarray[Any, Any]:
    """More than a buffer spans; pages that nothing touches take no memory."""
    return np.zeros(SPAN // 4 + 64, np.int32)


@pytest.fixture(params=["gfx942", "gfx1201", "gfx1250"], autouse=True)
def arch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", request.param)


def rows_of(memory: np.ndarray[Any, Any], pitch: int) -> np.ndarray[Any, Any]:
    """Two rows of four elements, so many bytes from each other; the second begins with a 9."""
    memory[pitch // 4] = 9
    return as_strided(memory, (2, 4), (pitch, 4))


@pytest.mark.parametrize("known", [flyc.from_dlpack, lambda x: x], ids=["static", "run-time"])
class TestSpan:
    """What holds for layouts known while compiling holds for those that a launch brings."""

    def test_the_last_bytes_that_an_offset_reaches_are_read(self, known: Any, memory: Any) -> None:
        out = np.full(1, -1, np.int32)
        second_row(known(rows_of(memory, SPAN - 16)), out)
        assert out[0] == 9

    @pytest.mark.parametrize("pitch", [SPAN - 12, SPAN + 16])
    def test_a_layout_that_goes_further_is_refused_with_the_bytes(self, known: Any, memory: Any, pitch: int) -> None:
        out = np.full(1, -1, np.int32)
        x = rows_of(memory, pitch)
        said = f"a buffer spans 4 GiB, and the last element is {pitch + 12} bytes away"
        with pytest.raises(FlyDSLError, match=said) as refused:
            second_row(known(x), out)
        assert "rows = fx.rocdl.make_buffer_tensor(x)" in str(refused.value) and out[0] == -1
        second_slice(known(x), out)  # the advice: a buffer of a part
        assert out[0] == 9

    def test_a_part_that_goes_further_is_refused(self, known: Any, memory: Any) -> None:
        out = np.full(1, -1, np.int32)
        with pytest.raises(FlyDSLError, match=f"the last element is {SPAN + 16} bytes away"):
            column(known(rows_of(memory, SPAN + 16)), out)
        assert out[0] == -1

    def test_an_extent_of_1_has_no_stride_to_go_backwards(self, known: Any, memory: Any) -> None:
        out = np.full(1, -1, np.int32)
        memory[5] = 6
        sixth(known(as_strided(memory, (1, 8), (-32, 4))), out)
        assert out[0] == 6

    def test_a_layout_that_goes_backwards_is_refused(self, known: Any, memory: Any) -> None:
        out = np.full(1, -1, np.int32)
        x = memory[:8].reshape(4, 2)[::-1]
        with pytest.raises(FlyDSLError, match="before its first element, and a stride is -2"):
            second_row(known(x), out)
        assert out[0] == -1


def test_a_swizzled_argument_becomes_a_buffer() -> None:
    out = np.full(1, -1, np.int32)
    sixth_swizzled(np.arange(8, dtype=np.int32), out)
    assert out[0] == 4
