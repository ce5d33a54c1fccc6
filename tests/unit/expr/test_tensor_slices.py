"""Python slices of tensors, their transposes, layouts without strides, and numbers as tilers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslTypeError, LayoutError

ROWS, COLUMNS = 6, 8


def _run(body: Callable[..., Any], *, static: bool) -> np.ndarray:
    kernel = flyc.kernel(body)

    @flyc.jit
    def host(a: fx.Tensor, out: fx.Tensor):
        kernel(a, out).launch(block=(4, 1, 1))

    a, out = np.arange(ROWS * COLUMNS, dtype=np.int32).reshape(ROWS, COLUMNS), np.full((4, 8), -1, np.int32)
    host(*((flyc.from_dlpack(a), flyc.from_dlpack(out)) if static else (a, out)))
    return out


@pytest.mark.parametrize("static", [False, True])
def test_slices_are_numpy_s(static: bool) -> None:
    def body(a: fx.Tensor, out: fx.Tensor):
        t = fx.thread_idx.x
        out[t, 0:2] = a[t, t : t + 2].load()
        out[t, 2] = a[1:, 2][t]
        out[t, 3] = a[-2:, -3:][1, 0]
        out[t, 4] = a[2:4, :][1, t]
        out[t, 5] = a[:, 1:5][t, 3]
        out[t, 6] = a.T[1:, t][2]
        out[t, 7] = fx.size(a[1:3, 2:6])

    found, a, t = _run(body, static=static), np.arange(48).reshape(ROWS, COLUMNS), np.arange(4)
    np.testing.assert_array_equal(found[:, 0], a[t, t])
    np.testing.assert_array_equal(found[:, 1], a[t, t + 1])
    np.testing.assert_array_equal(found[:, 2], a[1:, 2][t])
    assert (found[:, 3] == a[-2:, -3:][1, 0]).all()
    np.testing.assert_array_equal(found[:, 4], a[2:4, :][1, t])
    np.testing.assert_array_equal(found[:, 5], a[:, 1:5][t, 3])
    np.testing.assert_array_equal(found[:, 6], a.T[1:, :][2, t])
    assert (found[:, 7] == 8).all()


def test_extents_that_are_known_stay_known() -> None:
    shapes: list[str] = []

    def body(a: fx.Tensor, out: fx.Tensor):
        t = fx.thread_idx.x
        shapes.extend(str(view.layout) for view in (a[t, t + 1 : t + 5], a[1:3, 2:], a[:2, 7], a[t:, 0]))

    _run(body, static=True)
    assert shapes[:3] == ["4:1", "(2,6):(8,1)", "2:8"] and shapes[3].startswith("?")


def test_ends_are_clamped_where_the_extent_is_known() -> None:
    layouts: list[str] = []

    def body(a: fx.Tensor, out: fx.Tensor):
        layouts.extend(str(view.layout) for view in (a[4:100, 0], a[-100:2, 0]))

    _run(body, static=True)
    assert layouts == ["2:8", "2:8"]


def test_coordinate_tensors_are_sliced_too() -> None:
    def body(a: fx.Tensor, out: fx.Tensor):
        t = fx.thread_idx.x
        places = fx.make_identity_tensor((ROWS, COLUMNS))
        i, j = places[2:, 1:4][t, 2].unpack()
        out[t, 0] = i * 10 + j

    assert _run(body, static=True)[:, 0].tolist() == [23, 33, 43, 53]


@pytest.mark.parametrize(
    ("take", "error", "words"),
    [
        (lambda a: a[0, ::2], DslTypeError, "steps by 1"),
        (lambda a: a[0:2], LayoutError, "1 coordinates do not fit the 2 modes"),
        (lambda a: a[0, 3:3], LayoutError, "has no elements"),
        (lambda a: a[0, "x":], DslTypeError, "from integer to integer"),
        (lambda a: fx.zipped_divide(a, (2, 4))[0:1, 0], LayoutError, "nested"),
    ],
)
def test_refused(take: Callable[[Any], Any], error: type[Exception], words: str) -> None:
    def body(a: fx.Tensor, out: fx.Tensor):
        take(a)

    with pytest.raises(error, match=words):
        _run(body, static=True)


def test_layouts_without_strides_are_compact() -> None:
    assert str(fx.make_layout((4, 8))) == "(4,8):(1,4)"
    assert str(fx.make_layout((4, (2, 3)))) == "(4,(2,3)):(1,(4,8))"
    assert str(fx.make_layout(5)) == "5:1"


def test_a_number_divides_like_a_layout() -> None:
    layout = fx.make_layout(24, 1)
    assert fx.zipped_divide(layout, 4) == fx.zipped_divide(layout, fx.make_layout(4, 1))
    assert fx.logical_divide(layout, fx.Int32(6)) == fx.logical_divide(layout, fx.make_layout(6, 1))
