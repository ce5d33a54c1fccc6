"""Every kernel and example takes inputs that must not be written, and refuses such an output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.base.errors import DslValueError
from flydsl.kernels.gemm.hopper_matmul import hopper_gemm
from flydsl.kernels.gemm.naive import build_naive_gemm_module
from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm, shuffle_weight
from flydsl.kernels.gemm.tiled import build_tiled_gemm_module
from flydsl.kernels.norm.layernorm import build_layernorm_module
from flydsl.kernels.norm.rmsnorm import build_rmsnorm_module
from flydsl.kernels.norm.softmax import build_softmax_module
from tests.kernels.examples import load

Array = np.ndarray[Any, Any]
M, N, K = 33, 64, 128
ROW, MATRIX, WEIGHTS = (K,), (M, K), (N, K)


def wide(*arrays: Array) -> list[Array]:
    return [array.astype(np.float64) for array in arrays]


def softmax(out: Array, x: Array) -> Array:
    build_softmax_module(M, K, "f32")(x, out, M)
    (x,) = wide(x)
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def rmsnorm(out: Array, x: Array, gamma: Array) -> Array:
    build_rmsnorm_module(K, "f32")(x, gamma, out, M)
    x, gamma = wide(x, gamma)
    return x / np.sqrt((x**2).mean(1, keepdims=True) + 1e-5) * gamma


def layernorm(out: Array, x: Array, gamma: Array, beta: Array) -> Array:
    build_layernorm_module(K, "f32")(x, gamma, beta, out, M)
    x, gamma, beta = wide(x, gamma, beta)
    centred = x - x.mean(1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * gamma + beta


def product(a: Array, b: Array) -> Array:
    a, b = wide(a, b)
    return a @ b.T


def naive(out: Array, a: Array, b: Array) -> Array:
    build_naive_gemm_module()(a, b, out, M, N, K)
    return product(a, b)


def tiled(out: Array, a: Array, b: Array) -> Array:
    build_tiled_gemm_module(N, K, "f32", 64, 64)(a, b, out, M)
    return product(a, b)


def hopper(out: Array, a: Array, b: Array) -> Array:
    hopper_gemm(a, b.T, out)
    return product(a, b)


def preshuffled(out: Array, a: Array, b: Array) -> Array:
    gemm = compile_preshuffle_gemm(
        N=N, K=K, in_dtype="fp16", out_dtype="fp16", tile_m=32, tile_n=64, tile_k=64, epilogue="bias"
    )
    shuffled, scale_a, scale_b, bias = shuffle_weight(b), *(np.ones(n, np.float32) for n in (M, N, N))
    for array in (shuffled, scale_a, scale_b, bias):
        array.flags.writeable = False
    gemm(out, a, shuffled, scale_a, scale_b, bias, M, N)
    return product(a, b) + 1


def vector_add(out: Array, a: Array, b: Array) -> Array:
    load("01-vectorAdd").vector_add(a, b, out, 4096)
    return np.add(*wide(a, b))


def matrix_add(out: Array, a: Array, b: Array) -> Array:
    load("01-vectorAdd").matrix_add(a, b, out, M, K)
    return np.add(*wide(a, b))


def copy_rows(out: Array, a: Array) -> Array:
    load("02-tiledCopy").copy_rows(a, out, 64, 128)
    return a


def matmul(out: Array, a: Array, b: Array) -> Array:
    load("03-tiledMma").matmul(a, b, out, 64, 64, 64, "cdna3")
    return product(a, b)


@dataclass(frozen=True)
class Case:
    """A kernel: ``run(out, *inputs)`` launches it and gives what it should have written."""

    run: Callable[..., Array]
    arch: str
    shape: tuple[int, ...]
    inputs: list[tuple[int, ...]]
    dtype: Any = np.float32
    out_dtype: Any = np.float32
    tolerance: float = 1e-5
    broadcast: bool = True
    """Whether rows of an input may lie on top of each other."""


GPUS = ("gfx942", "gfx1250", "sm_90a")
HALF, BRAIN = np.float16, ml_dtypes.bfloat16
CASES: dict[str, Case] = {
    **{
        f"{run.__name__}-{arch}": Case(run, arch, MATRIX, [MATRIX, *[ROW] * rows])
        for rows, run in enumerate((softmax, rmsnorm, layernorm))
        for arch in GPUS
    },
    **{f"{run.__name__}-{arch}": Case(run, arch, (M, N), [MATRIX, WEIGHTS]) for run in (naive, tiled) for arch in GPUS},
    **{
        f"{run.__name__}-{arch}": Case(run, arch, shape, [shape, shape])
        for run, shape in ((vector_add, (4096,)), (matrix_add, MATRIX))
        for arch in GPUS
    },
    "copy_rows": Case(copy_rows, "gfx942", (64, 128), [(64, 128)]),
    "matmul": Case(matmul, "gfx942", (64, 64), [(64, 64), (64, 64)], HALF),
    # TMA has no steps of 0 bytes, and the preshuffled product reads each input as one piece of memory.
    "hopper": Case(hopper, "sm_90a", (M, N), [MATRIX, WEIGHTS], BRAIN, BRAIN, 2**-8, broadcast=False),
    "preshuffled": Case(preshuffled, "gfx942", (M, N), [MATRIX, WEIGHTS], HALF, HALF, 2**-10, broadcast=False),
}


def locked(array: Array, folder: Path) -> Array:
    array.flags.writeable = False
    return array


def mapped(array: Array, folder: Path) -> Array:
    path = folder / f"{len(list(folder.iterdir()))}"
    array.tofile(path)
    return np.memmap(path, array.dtype, "r", shape=array.shape)


def broadcast(array: Array, folder: Path) -> Array:
    """Matrices whose rows are one row; a vector cannot be, since its elements would not be neighbours."""
    return np.broadcast_to(array[0], array.shape) if array.ndim > 1 else locked(array, folder)


LOCKS: dict[str, Callable[[Array, Path], Array]] = {"locked": locked, "mapped": mapped, "broadcast": broadcast}


@pytest.mark.parametrize(
    ("name", "lock"), [(name, lock) for name in CASES for lock in LOCKS if lock != "broadcast" or CASES[name].broadcast]
)
def test_read_only_inputs(
    name: str, lock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    case = CASES[name]
    monkeypatch.setenv("ARCH", case.arch)
    inputs = [LOCKS[lock](rng.standard_normal(shape).astype(case.dtype), tmp_path) for shape in case.inputs]
    assert not any(array.flags.writeable for array in inputs)
    before = [array.copy() for array in inputs]
    out = np.full(case.shape, np.nan, case.out_dtype)
    wanted = case.run(out, *inputs)
    assert np.abs(out.astype(np.float64) - wanted).max() <= case.tolerance * max(1.0, np.abs(wanted).max())
    for array, old in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(array, old)
    out[:] = 7
    with pytest.raises(DslValueError, match="the array is read-only, and the code writes it"):
        case.run(locked(out, tmp_path), *inputs)
    assert (out == 7).all()
