"""Every matrix instruction of every target, through a one-wave kernel on the virtual GPU, against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr.element import element_class
from flydsl.target.mma_catalogue import matrix_instructions
from flydsl.target.mma_cdna import MfmaScale
from flydsl.target.mma_rdna import WmmaScale
from flydsl.target.mma_warpgroup import Wgmma
from flydsl.target.target import known_archs, parse_target

NUMPY: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "tf32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i32": np.int32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
}

LATER = (MfmaScale, WmmaScale, Wgmma)
"""Scaled forms need their scale state, warpgroup forms shared-memory descriptors: other tests, with their lowering."""


def instructions(arch: str) -> list[Any]:
    """Those whose operands can be addressed in memory and whose layouts cover one block."""
    found = []
    for op in matrix_instructions(parse_target(arch)):
        if isinstance(op, LATER) or getattr(op, "blocks", 1) > 1:
            continue
        if all(elem in NUMPY for elem in op.elem_types):
            found.append(op)
    return found


@flyc.kernel
def one_wave(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, D: fx.Tensor, tiled: fx.TiledMma):
    thread = tiled.get_slice(fx.thread_idx.x)
    fragments = []
    for tensor, part, make in (
        (A, thread.partition_A, tiled.make_fragment_A),
        (B, thread.partition_B, tiled.make_fragment_B),
        (C, thread.partition_C, tiled.make_fragment_C),
    ):
        fragment = make(tensor)
        width = tensor.dtype.width
        fx.copy(fx.make_copy_atom(fx.UniversalCopy(width), width), part(tensor), fragment)
        fragments.append(fragment)
    rA, rB, rC = fragments
    fx.gemm(tiled, rC, rA, rB, rC)
    fx.copy(fx.make_copy_atom(fx.UniversalCopy(D.dtype.width), D.dtype.width), rC, thread.partition_C(D))


def launcher(op: Any) -> Any:
    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, D: fx.Tensor):
        tiled = fx.make_tiled_mma(fx.make_mma_atom(op), fx.make_layout((1, 1, 1), (0, 0, 0)))
        one_wave(A, B, C, D, tiled).launch(grid=(1, 1, 1), block=(op.thr_layout().size(), 1, 1))

    return run


def random_matrix(rows: int, columns: int, elem: str) -> np.ndarray:
    rng = np.random.default_rng()
    if elem == "i8":
        return rng.integers(-128, 128, (rows, columns)).astype(np.int8)
    if elem == "i32":
        return rng.integers(-1000, 1000, (rows, columns)).astype(np.int32)
    return rng.standard_normal((rows, columns)).astype(NUMPY[elem])


def as_read(values: np.ndarray, elem: str) -> np.ndarray:
    """What the multiplier sees: tf32 drops the low 13 bits."""
    if elem == "tf32":
        values = (values.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return values.astype(np.int64 if elem.startswith("i") else np.float64)


TOLERANCE = {"f32": 2e-6, "f16": 2e-3, "bf16": 1e-2, "f64": 1e-14, "i32": 0.0}


@pytest.mark.parametrize("arch", known_archs())
def test_every_matrix_instruction(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    # The verifier is exercised by other tests; here it would only repeat itself a hundred times.
    monkeypatch.setenv("FLYDSL_DEBUG_ENABLE_VERIFIER", "0")
    chosen = instructions(arch)
    assert len(chosen) >= 3, arch
    for op in chosen:
        m, n, k = op.shape_mnk
        ea, eb, ec = op.elem_types
        a, b, c = random_matrix(m, k, ea), random_matrix(n, k, eb), random_matrix(m, n, ec)
        d = np.zeros((m, n), NUMPY[ec])
        launcher(op)(*[flyc.from_dlpack(x) for x in (a, b, c, d)])
        expected = as_read(a, ea) @ as_read(b, eb).T + as_read(c, ec)
        error = np.abs(d.astype(expected.dtype) - expected).max() / np.abs(expected).max()
        assert error <= TOLERANCE[ec], (str(op), error)


def test_element_classes_cover_the_table() -> None:
    for elem in NUMPY:
        if elem != "tf32":
            assert element_class(elem).width == np.dtype(NUMPY[elem]).itemsize * 8


def test_an_instruction_the_target_lacks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx1201")
    matrix = np.zeros((16, 16), np.float16)
    with pytest.raises(ValueError, match="gfx1201 has no") as caught:
        launcher(instructions("gfx942")[0])(matrix, matrix, matrix, matrix)
    assert "no instruction of this family" in str(caught.value)
