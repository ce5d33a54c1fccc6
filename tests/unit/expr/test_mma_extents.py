"""Tiles that a tiled mma does not divide: refused where a product would take in what lies behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import LayoutError
from tests.support import random_data

MMAS: dict[str, tuple[Any, int, int]] = {
    "gfx942": (fx.rocdl.MFMA(16, 16, 16, fx.Float16), 64, 16),
    "sm_90a": (fx.nvvm.MmaSync(16, 8, 16, fx.Float16), 32, 8),
}
"""Instruction, threads and columns, by architecture."""


def product(arch: str, *, predicated: bool = False, atoms: tuple[int, int, int] = (1, 1, 1)) -> Any:
    """C = A times B transposed, by one wave or several, straight from global memory."""
    op, threads, _ = MMAS[arch]
    strides = (1, atoms[0], 0)

    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor):
        mma = fx.make_tiled_mma(fx.make_mma_atom(op), fx.make_layout(atoms, strides))
        mine = mma.get_slice(fx.thread_idx.x)
        half = fx.make_copy_atom(fx.UniversalCopy16b(), fx.Float16)
        if fx.const_expr(predicated):
            a, b = (fx.make_fragment_like(part) for part in (mine.partition_A(A), mine.partition_B(B)))
            inside_a = predicate(mine.partition_A(fx.make_identity_tensor(A.shape)), A)
            inside_b = predicate(mine.partition_B(fx.make_identity_tensor(B.shape)), B)
            a.fill(0)
            b.fill(0)
            fx.copy(half, mine.partition_A(A), a, pred=inside_a)
            fx.copy(half, mine.partition_B(B), b, pred=inside_b)
        else:
            a, b = mma.make_fragment_A(A), mma.make_fragment_B(B)
            fx.copy(half, mine.partition_A(A), a)
            fx.copy(half, mine.partition_B(B), b)
        c = mma.make_fragment_C(C)
        c.fill(0)
        fx.gemm(mma, c, a, b, c)
        fx.copy(fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32), c, mine.partition_C(C))

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor):
        kernel(A, B, C).launch(block=threads * atoms[0] * atoms[1])

    return run


def predicate(where: Any, tensor: Any) -> Any:
    """One bit for every element of a partition: whether it lies in the tensor."""
    inside = fx.make_fragment_like(where, dtype=fx.Boolean)
    for i in fx.range_constexpr(fx.get_scalar(fx.size(where))):
        inside[i] = fx.elem_less(where[i], tensor.shape)
    return inside


def error_of(run: Any, m: int, n: int, k: int) -> float:
    """The largest error of a product of parts of larger matrices: what lies behind them is not zero."""
    rng = random_data.generator()
    a, b = (rng.standard_normal((rows + 8, 80)).astype(np.float16)[:rows, :k] for rows in (m, n))
    c = np.full((m, n), np.nan, np.float32)
    run(*map(flyc.from_dlpack, (a, b, c)))
    return float(np.abs(c - a.astype(np.float64) @ b.astype(np.float64).T).max())


@pytest.mark.parametrize("arch", list(MMAS))
def test_tiles_that_it_divides(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    for k in (16, 48):
        assert error_of(product(arch), 32, 48, k) < 1e-4


@pytest.mark.parametrize("arch", list(MMAS))
@pytest.mark.parametrize(
    ("m", "n", "k", "says"),
    [
        (16, 16, 24, "covers 16 of K at once, which does not divide the 24 of operand A, .* take in 32"),
        (16, 16, 20, "covers 16 of K at once, which does not divide the 20 of operand A, .* take in 32"),
        (16, 16, 8, "covers 16 of K at once, which does not divide the 8 of operand A, .* take in 16"),
        (12, 16, 16, "covers 16 of M at once, which does not divide the 12 of operand A, .* take in 16"),
        (16, 20, 16, r"covers (16|8) of N at once, which does not divide the 20 of operand B, .* take in (32|24)"),
    ],
)
def test_fragments_of_tiles_that_it_does_not_divide(
    arch: str, m: int, n: int, k: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", arch)
    with pytest.raises(LayoutError, match=says):
        error_of(product(arch), m, n, k)


@pytest.mark.parametrize("arch", list(MMAS))
def test_several_waves_cover_more(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """16 rows are enough for one atom, and too few for two side by side."""
    monkeypatch.setenv("ARCH", arch)
    assert error_of(product(arch, atoms=(2, 1, 1)), 32, 16, 16) < 1e-4
    with pytest.raises(LayoutError, match="covers 32 of M at once, which does not divide the 16 of operand A"):
        error_of(product(arch, atoms=(2, 1, 1)), 16, 16, 16)


@pytest.mark.parametrize("arch", list(MMAS))
def test_predicated_copies_may_round_up(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Partitions of global memory cover more than the tensor, and the predicate says how much there is."""
    monkeypatch.setenv("ARCH", arch)
    for k in (20, 24, 40):
        assert error_of(product(arch, predicated=True), 16, 16, k) < 1e-4


def in_shared_memory(rows: int, k: int, operand: str, *, registers: bool = False) -> None:
    """Partition a tile of shared memory or registers."""

    @flyc.kernel
    def kernel(out: fx.Tensor):
        layout = fx.make_layout((rows, k), (64, 1))
        if fx.const_expr(registers):
            tile = fx.make_rmem_tensor(layout, fx.Float16)
        else:
            memory = fx.SharedAllocator().allocate(fx.Array[fx.Float16, 64 * 64, 16]).ptr
            tile = fx.make_view(memory, layout)
        op, _, _ = MMAS["gfx942"]
        mma = fx.make_tiled_mma(fx.make_mma_atom(op), fx.make_layout((1, 1, 1), (0, 0, 0)))
        part = getattr(mma.get_slice(fx.thread_idx.x), f"partition_{operand}")(tile)
        out[0] = fx.Int32(fx.get_scalar(fx.size(part)))

    @flyc.jit
    def run(out: fx.Tensor):
        kernel(out).launch(block=64)

    run(np.zeros(1, np.int32))


@pytest.mark.parametrize("registers", [False, True])
@pytest.mark.parametrize(("operand", "letter"), [("A", "M"), ("B", "N"), ("C", "M")])
def test_partitions_of_shared_memory_and_registers(
    operand: str, letter: str, registers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    in_shared_memory(32, 48, operand, registers=registers)
    with pytest.raises(LayoutError, match=f"covers 16 of {letter} at once, which does not divide the 60 of operand"):
        in_shared_memory(60, 48, operand, registers=registers)
    with pytest.raises(LayoutError, match="at once, which does not divide the 40 of operand"):
        in_shared_memory(32, 40, operand, registers=registers)


def test_shapes_of_partitions() -> None:
    mma = fx.make_tiled_mma(fx.make_mma_atom(fx.UniversalFMA(fx.Float32)), fx.make_layout((4, 4, 1), (1, 4, 0)))
    shape = fx.tiled_mma_partition_shape(fx.MmaOperand.C, mma, fx.make_int_tuple((8, 12)))
    assert str(shape) == "(1,2,3)"
    with pytest.raises(LayoutError, match="covers 4 of N at once, which does not divide the 10 of operand C"):
        fx.tiled_mma_partition_shape(fx.MmaOperand.C, mma, fx.make_int_tuple((8, 10)))
