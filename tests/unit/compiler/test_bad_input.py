"""Bad input: each mistake is a FlyDSLError that names the kernel's line and the fix."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError

ONES = np.ones(1024, np.float32)


@flyc.kernel
def copy_kernel(A: fx.Tensor, C: fx.Tensor):
    atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
    tiles = [fx.logical_divide(t, fx.make_layout(4, 1))[None, fx.thread_idx.x] for t in (A, C)]
    fragment = fx.make_fragment_like(tiles[0])
    fx.copy(atom, tiles[0], fragment)  # LINE copy
    fx.copy(atom, fragment, tiles[1])


@flyc.jit
def copy_all(A: fx.Tensor, C: fx.Tensor, block: fx.Constexpr[int]):
    copy_kernel(A, C).launch(grid=(1, 1, 1), block=(block, 1, 1))  # LINE launch


@flyc.jit
def copy_dynamic(A: fx.Tensor, C: fx.Tensor, block: fx.Int32, grid: fx.Int32):
    copy_kernel(A, C).launch(grid=(grid, 1, 1), block=(block, 1, 1))  # LINE dynamic launch


@flyc.kernel
def index_kernel(A: fx.Tensor):
    A[0, 0] = 1.0  # LINE index


@flyc.jit
def index_wrongly(A: fx.Tensor):
    index_kernel(A).launch()


@flyc.jit
def tile_wrongly(A: fx.Tensor):
    layout = fx.make_layout((6, 4), (1, 10))
    fx.composition(layout, fx.make_layout(4, 4))  # LINE tile


@flyc.jit
def complement_wrongly(A: fx.Tensor):
    fx.complement(fx.make_layout((4, 4), (1, 2)), 64)  # LINE complement


@flyc.jit
def zip_wrongly(A: fx.Tensor):
    fx.zipped_divide(A, (None,))  # LINE zipped


@flyc.jit
def tiled_copy_wrongly(A: fx.Tensor):
    atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
    fx.make_tiled_copy_tv(atom, fx.make_layout((4, 1), (1, 0)), fx.make_layout((1, 3), (0, 1)))  # LINE tiled copy


@flyc.kernel
def rank_kernel(A: fx.Tensor):
    atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
    flat = fx.make_rmem_tensor(8, fx.Float32)
    square = fx.make_rmem_tensor((4, 2), fx.Float32)
    fx.copy(atom, flat, square)  # LINE ranks


@flyc.jit
def copy_ranks(A: fx.Tensor):
    rank_kernel(A).launch()


@flyc.kernel
def strided_kernel(A: fx.Tensor):
    atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
    view = fx.make_view(fx.get_iter(A), fx.make_layout(4, 2))
    fx.copy_atom_call(atom, view, fx.make_rmem_tensor(4, fx.Float32))  # LINE strided


@flyc.jit
def copy_strided(A: fx.Tensor):
    strided_kernel(A).launch()


@flyc.kernel
def returning_kernel(A: fx.Tensor):
    return A[0]


@flyc.jit
def return_value(A: fx.Tensor):
    returning_kernel(A).launch()


def line_of(mark: str) -> int:
    source = inspect.getsource(inspect.getmodule(line_of)).splitlines()  # type: ignore[arg-type]
    return next(n for n, text in enumerate(source, 1) if text.endswith(f"# LINE {mark}"))


CASES: list[tuple[str, Callable[[], Any], type[Exception], str | None, list[str]]] = [
    (
        "wrong dtype",
        lambda: copy_all(ONES.astype(np.float64), ONES, 256),
        TypeError,
        None,
        ["Float64", "Float32", ".to(dtype)"],
    ),
    ("wrong rank", lambda: index_wrongly(ONES), ValueError, "index", ["profile mismatch", "(0,0)", "?:1"]),
    ("tile does not divide", lambda: tile_wrongly(ONES), ValueError, "tile", ["(6,4):(1,10)", "4:4", "divide"]),
    ("overlapping complement", lambda: complement_wrongly(ONES), ValueError, "complement", ["(4,4):(1,2)", "overlap"]),
    ("None in zipped divide", lambda: zip_wrongly(ONES), ValueError, "zipped", ["divisor", "*"]),
    ("atom does not divide", lambda: tiled_copy_wrongly(ONES), ValueError, "tiled copy", ["3 values", "4", "narrower"]),
    ("unequal ranks", lambda: copy_ranks(ONES), RuntimeError, "ranks", ["8:1", "(4,2):(1,4)", "rank"]),
    ("strided wide copy", lambda: copy_strided(ONES), RuntimeError, "strided", ["4 neighbouring", "4:2", "narrower"]),
    ("zero block", lambda: copy_all(ONES, ONES, 0), ValueError, "launch", ["block=(0, 1, 1)", "at least one thread"]),
    ("oversized block", lambda: copy_all(ONES, ONES, 2048), ValueError, "launch", ["2048 threads", "1024"]),
    (
        "zero block at run time",
        lambda: copy_dynamic(ONES, ONES, 0, 1),
        RuntimeError,
        "dynamic launch",
        ["(0, 1, 1)", "block="],
    ),
    (
        "big block at run time",
        lambda: copy_dynamic(ONES, ONES, 5000, 1),
        RuntimeError,
        "dynamic launch",
        ["(5000, 1, 1)"],
    ),
    (
        "negative grid at run time",
        lambda: copy_dynamic(ONES, ONES, 1, -1),
        RuntimeError,
        "dynamic launch",
        ["(-1, 1, 1)", "grid="],
    ),
    ("unsupported argument", lambda: copy_all("text", ONES, 256), TypeError, None, ["'A'", "str", "NumPy or torch"]),
    ("unsupported dtype", lambda: copy_all(np.array(["x"]), ONES, 256), TypeError, None, ["'A'", "str", "float32"]),
    ("rank 0", lambda: copy_all(np.float32(3.0), ONES, 256), TypeError, None, ["'A'"]),
    (
        "no unit stride",
        lambda: copy_all(np.zeros((8, 8), np.float32)[::2, ::2], ONES, 2),
        RuntimeError,
        None,
        ["stride 1", "from_dlpack"],
    ),
    ("byte order", lambda: copy_all(ONES.astype(">f4"), ONES, 256), TypeError, None, ["byte order"]),
    ("missing argument", lambda: copy_all(ONES), TypeError, None, ["copy_all", "'C'"]),
    ("returned value", lambda: return_value(ONES), TypeError, None, ["returning_kernel", "tensor argument"]),
]


@pytest.mark.parametrize(
    ("call", "kind", "mark", "words"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_bad_input_is_explained(
    call: Callable[[], Any], kind: type[Exception], mark: str | None, words: list[str]
) -> None:
    with pytest.raises(FlyDSLError) as caught:
        call()
    error = caught.value
    assert isinstance(error, kind)
    for word in words:
        assert word in str(error), str(error)
    assert error.location is not None and error.location.file == __file__
    if mark is not None:
        assert error.location.line == line_of(mark)


def test_kernel_called_outside_a_jit_function() -> None:
    with pytest.raises(FlyDSLError, match="outside a jit function") as caught:
        copy_kernel(ONES, ONES)
    assert isinstance(caught.value, RuntimeError)
    assert "@flyc.jit" in str(caught.value)
    assert caught.value.location is not None and caught.value.location.file == __file__


def test_our_frames_are_not_shown() -> None:
    with pytest.raises(FlyDSLError) as caught:
        copy_all(ONES, ONES, 0)
    files = []
    traceback = caught.value.__traceback__
    while traceback is not None:
        files.append(traceback.tb_frame.f_code.co_filename)
        traceback = traceback.tb_next
    assert len([file for file in files if "/flydsl/" in file]) <= 2, files


def test_a_failed_compile_leaves_nothing_behind() -> None:
    out = np.zeros(1024, np.float32)
    with pytest.raises(FlyDSLError):
        copy_all(ONES, out, 2048)
    copy_all(ONES, out, 256)
    np.testing.assert_array_equal(out, ONES)
