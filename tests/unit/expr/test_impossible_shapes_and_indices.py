"""Sizes that no register tensor or layout has, and constant indices that no element has, are refused while tracing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslIndexError, DslTypeError, DslValueError, FlyDSLError


def _trace(body: Callable[..., Any], x: Any, n: int = 3) -> None:
    """Run a kernel that does ``body(x, n)``, on one thread."""

    @flyc.kernel
    def kernel(x: fx.Tensor, n: fx.Int32):
        body(x, n)

    @flyc.jit
    def launch(x: fx.Tensor, n: fx.Int32):
        kernel(x, n).launch(block=1)

    launch(x, n)


@pytest.mark.parametrize("shape", [lambda x, n: n, lambda x, n: x.shape[0], lambda x, n: (n, 4), lambda x, n: x.shape])
def test_registers_of_a_run_time_size(shape: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(DslTypeError, match=r"a register tensor needs a static shape, got .*\?[\s\S]*Constexpr"):
        _trace(lambda x, n: fx.make_rmem_tensor(shape(x, n), fx.Float32), np.zeros((4, 4), np.float32))


@pytest.mark.parametrize("shape", [0, -4, (4, 0), (2, (3, -1)), fx.make_layout((4, 0), (1, 4))])
def test_registers_of_no_size(shape: Any) -> None:
    with pytest.raises(DslValueError, match=r"a shape cannot have the extent (0|-\d)[\s\S]*use 1 or more"):
        _trace(lambda x, n: fx.make_rmem_tensor(shape, fx.Float32), np.zeros(4, np.float32))


@pytest.mark.parametrize(
    "make",
    [
        lambda: fx.make_layout(-4, 1),
        lambda: fx.make_layout((2, -1), (1, 2)),
        lambda: fx.make_ordered_layout((2, -1), (0, 1)),
        lambda: fx.make_identity_layout((2, -1)),
        lambda: fx.make_identity_tensor(-1),
    ],
)
def test_a_layout_of_a_negative_extent(make: Callable[[], Any]) -> None:
    with pytest.raises(DslValueError, match="a shape cannot have the extent -"):
        make()
    assert fx.size(fx.make_layout(0, 1)) == 0, "an empty array has a layout too"


def _registers(shape: Any) -> Any:
    return fx.make_rmem_tensor(shape, fx.Float32)


_NO_MATCH = "no error"
_CASES: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "register before the start": (lambda x, n: _registers(4)[-1], "index -1 .*extent is 4.*\n[\\s\\S]*write 3 "),
    "register past the end": (lambda x, n: _registers(4)[4], "index 4 .*extent is 4\n[\\s\\S]*use 0 to 3"),
    "mode of a register tensor": (lambda x, n: _registers((4, 2))[0, 2], "index 2 of mode 1 .*extent is 2"),
    "flat index": (lambda x, n: _registers((4, 2))[8], "index 8 of the tensor .*extent is 8"),
    "nested mode": (lambda x, n: _registers(((2, 2), 2))[(1, 2), 0], "index 2 of mode 0, 1 "),
    "flat index of a nested mode": (lambda x, n: _registers(((2, 2), 2))[4, 0], "index 4 of mode 0 .*extent is 4"),
    "view of registers": (lambda x, n: _registers((4, 2))[None, 2], "index 2 of mode 1 "),
    "store": (lambda x, n: x.__setitem__((4, 0), 1.0), "index 4 of mode 0 .*extent is 4"),
    "static number": (lambda x, n: x[fx.Int32(4), n], "index 4 of mode 0 "),
    "extent": (lambda x, n: x[x.shape[0], n], "index 4 of mode 0 "),
    "negative store": (lambda x, n: x.__setitem__((0, -1), 1.0), "index -1 of mode 1 .*\n[\\s\\S]*write 5 "),
    "last element": (lambda x, n: x[3, 5], _NO_MATCH),
    "last, flat": (lambda x, n: x[23], _NO_MATCH),
    "last of a nested mode": (lambda x, n: _registers(((2, 2), 2))[3, 1], _NO_MATCH),
    "run-time index": (lambda x, n: x[n, 0], _NO_MATCH),
    "view of memory": (lambda x, n: x[None, 6], _NO_MATCH),
    "negative view": (lambda x, n: x[-1, None], "index -1 of mode 0 .*\n[\\s\\S]*write 3 "),
    "negative view by its function": (lambda x, n: fx.slice(x, (-1, None)), "index -1 of mode 0 .*\n[\\s\\S]*write 3 "),
    "view of memory by its function": (lambda x, n: fx.slice(x, (None, 6)), _NO_MATCH),
    "negative index beside a slice": (lambda x, n: x[1:3, -2], "index -2 of mode 1 .*\n[\\s\\S]*write 5 "),
    "store into a negative view": (lambda x, n: x.__setitem__((slice(None), -1), 1.0), "index -1 of mode 1 "),
    "coordinates": (lambda x, n: fx.make_identity_tensor((4, 2))[5, -1], _NO_MATCH),
    "layout": (lambda x, n: fx.make_layout((4, 2), (1, 4))(0, 2), _NO_MATCH),
}


@pytest.mark.parametrize("name", _CASES)
def test_a_constant_index(name: str) -> None:
    body, expected = _CASES[name]
    x = flyc.from_dlpack(np.zeros((4, 6), np.float32))
    if expected is _NO_MATCH:
        _trace(body, x)
        return
    with pytest.raises(DslIndexError, match=expected):
        _trace(body, x)


def test_a_negative_index_beside_run_time_extents() -> None:
    with pytest.raises(DslIndexError, match=r"index -1 of mode 1 .*\n[\s\S]*write t.shape\[1\] - 1 "):
        _trace(lambda x, n: x[0, -1], np.zeros((4, 6), np.float32))
    with pytest.raises(DslIndexError, match=r"index -2 of the tensor .*\n[\s\S]*write fx.size\(t\) - 1 "):
        _trace(lambda x, n: x[-2], np.zeros(4, np.float32))
    with pytest.raises(DslIndexError, match=r"index -1 of mode 0 .*\n[\s\S]*write t.shape\[0\] - 1 "):
        _trace(lambda x, n: x[-1, :], np.zeros((4, 6), np.float32))
    _trace(lambda x, n: x[100 * n - 300], np.zeros(4, np.float32))


TABLE = np.arange(4, dtype=np.float32)


def test_a_global_array_indexed_at_run_time() -> None:
    def body(x: Any, n: Any) -> None:
        x[0] = TABLE[2]
        x[1] = TABLE[n]

    with pytest.raises(FlyDSLError, match=r"read now, while the kernel is traced[\s\S]*as an fx.Tensor") as raised:
        _trace(body, np.zeros(4, np.float32))
    assert isinstance(raised.value, IndexError)


def test_an_index_error_of_pythons_own_stays_what_it_is() -> None:
    def body(x: Any, n: Any) -> None:
        x[0] = [1.0, 2.0][5]

    with pytest.raises(IndexError, match="list index out of range") as raised:
        _trace(body, np.zeros(4, np.float32))
    assert not isinstance(raised.value, FlyDSLError)
