"""ldmatrix and stmatrix on the virtual Hopper GPU: which lane gets which element of which row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from tests.support import random_data
from tests.unit.nvvm.running import Shared, run

nvvm = fx.nvvm


def held(matrix: np.ndarray[Any, Any], transposed: bool) -> np.ndarray[Any, Any]:
    """The two elements that each of 32 lanes has of an 8x8 matrix: row lane // 4, columns from lane % 4 * 2."""
    return (matrix.T if transposed else matrix).reshape(32, 2)


def rows_of(count: int) -> np.ndarray[Any, Any]:
    return random_data.generator().integers(-(2**15), 2**15, (count, 8, 8), np.int16)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix(count: int, transposed: bool) -> None:
    """Rows lie in a mixed-up order, 9 pieces of 16 bytes apart, and two warps load different matrices."""

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        words = Shared().words(2 * 32 * 72, fx.Int16)
        thread = fx.thread_idx.x
        warp, lane = thread // 32, thread % 32
        for i in fx.range_constexpr(8):
            words[(warp * 32 + (lane * 5) % 32) * 72 + i] = a[warp, lane, i]
        fx.barrier()
        row = (warp * 32 + (lane % (8 * count)) * 5 % 32) * 72
        found = nvvm.ldmatrix(fx.get_iter(words) + row, count, transposed=transposed)
        for i in fx.range_constexpr(count):
            out[warp, i, lane] = found[i]

    matrices = np.stack([rows_of(4), rows_of(4)])
    out = np.zeros((2, count, 32), np.int32)
    run(body, matrices.reshape(2, 32, 8), out, threads=64)
    for warp in range(2):
        for i in range(count):
            found = out[warp, i].view(np.int16).reshape(32, 2)
            np.testing.assert_array_equal(found, held(matrices[warp, i], transposed))


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_stmatrix(count: int, transposed: bool) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        words = Shared().words(32 * 40, fx.Int16)
        lane = fx.thread_idx.x
        for i in fx.range_constexpr(40):
            words[lane * 40 + i] = -7
        fx.barrier()
        row = lane % (8 * count) * 40
        nvvm.stmatrix(fx.get_iter(words) + row, [a[i, lane] for i in range(count)], transposed=transposed)
        fx.barrier()
        for i in fx.range_constexpr(40):
            out[lane, i] = words[lane * 40 + i]

    matrices = rows_of(count)
    words = np.stack([held(m, transposed).reshape(-1).copy().view(np.int32) for m in matrices])
    out = np.zeros((32, 40), np.int16)
    run(body, words, out, threads=32)
    np.testing.assert_array_equal(out[: 8 * count, :8], matrices.reshape(-1, 8))
    assert (out[:, 8:] == -7).all() and (out[8 * count :] == -7).all()


def test_ampere_loads_matrices_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_80")
    test_ldmatrix(4, True)


def test_a_vector_is_stored_by_its_words() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        words = Shared().words(64, fx.Int16)
        lane = fx.thread_idx.x
        pair = fx.Vector.from_elements([a[lane * 2], a[lane * 2 + 1]], fx.Int16)
        nvvm.stmatrix(fx.get_iter(words) + lane % 8 * 8, pair)
        fx.barrier()
        for i in fx.range_constexpr(2):
            out[lane * 2 + i] = words[lane * 2 + i]

    a, out = rows_of(1).reshape(-1), np.zeros(64, np.int16)
    run(body, a, out)
    np.testing.assert_array_equal(out, a)


def test_what_matrix_moves_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    def three(out: fx.Tensor) -> None:
        nvvm.ldmatrix(Shared().words(64, fx.Int16), 3)

    def outside(out: fx.Tensor) -> None:
        nvvm.ldmatrix(out, 1)

    def swizzled(out: fx.Tensor) -> None:
        place = fx.apply_swizzle(Shared().pointer(64, fx.Int16), fx.static(fx.SwizzleType.get(3, 4, 3)))
        nvvm.ldmatrix(place, 1)

    def store(out: fx.Tensor) -> None:
        nvvm.stmatrix(Shared().words(64, fx.Int16), [0])

    out = np.zeros(64, np.int16)
    with pytest.raises(ValueError, match="ldmatrix moves 1, 2, 4 matrices, not 3"):
        run(three, out)
    with pytest.raises(TypeError, match="takes a pointer to shared memory"):
        run(outside, out)
    with pytest.raises(TypeError, match="takes plain addresses"):
        run(swizzled, out)
    monkeypatch.setenv("ARCH", "sm_80")
    with pytest.raises(ValueError, match="sm_80 does not have stmatrix"):
        run(store, out)
