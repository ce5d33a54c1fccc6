"""Every cell of every matrix-instruction table: it runs on the virtual GPU and compiles to exactly that instruction.

A chunk of a target's table is one kernel of one wave (`tests/support/mma_waves.py`). It runs on fresh random operands
against a float64 product, on small integers that every type holds exactly against the exact product, and it is
compiled for the real device, whose code must contain each instruction of the chunk once and no other.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.target.mma_catalogue import matrix_instructions
from flydsl.target.mma_cdna import Mfma
from flydsl.target.mma_nvidia import MmaSync
from flydsl.target.mma_warpgroup import Wgmma
from flydsl.target.target import known_archs, parse_target
from tests.codegen.test_mma_tables import MATRIX_MNEMONIC, expected
from tests.support import mma_reference as reference
from tests.support.mma_code import code_of
from tests.support.mma_reference import NUMPY_TYPES, Array
from tests.support.mma_waves import launcher, run_wave

CHUNK = 13


@cache
def instructions(arch: str) -> tuple[Any, ...]:
    """All of a target's, but the warpgroup's, which reads shared memory and has tests of its own."""
    return tuple(op for op in matrix_instructions(parse_target(arch)) if not isinstance(op, Wgmma))


def chunks() -> list[tuple[str, tuple[Any, ...]]]:
    found = []
    for arch in known_archs():
        ops = instructions(arch)
        found += [(arch, ops[at : at + CHUNK]) for at in range(0, len(ops), CHUNK)]
    return found


CASES = [pytest.param(arch, ops, id=f"{arch}-{index}") for index, (arch, ops) in enumerate(chunks())]


def test_the_chunks_are_the_whole_table() -> None:
    for arch in known_archs():
        tested = [op for name, ops in chunks() if name == arch for op in ops]
        table = [op for op in matrix_instructions(parse_target(arch)) if not isinstance(op, Wgmma)]
        assert Counter(tested) == Counter(table)
        assert tested, arch


# Running ---------------------------------------------------------------------------------------


def scales_of(op: Any, rng: np.random.Generator) -> list[Array]:
    """Each lane's scale bytes of A and B: near 1, so that sums stay comparable."""
    if not op.state:
        return []
    count = 8 if op.state_types["scale_a"] == "i64" else 4
    return [rng.integers(124, 131, size=(op.thr_layout().size(), count)).astype(np.uint8) for _ in "ab"]


def small_integers(op: Any, rng: np.random.Generator) -> tuple[Array, ...]:
    """Operands that every element type holds exactly, with exact sums in every accumulator."""
    shapes = reference.operand_shapes(op)
    values = []
    for index, shape in enumerate(shapes):
        signed = index == 2 or not any(x in op.elem_types[index] for x in ("ui", "i4", "i8"))
        low = -2 if signed else 0
        values.append(rng.integers(low, 3, size=shape).astype(NUMPY_TYPES[op.elem_types[index]]))
    return tuple(values)


def exact_product(op: Any, a: Array, b: Array, c: Array, factors: list[Array]) -> tuple[Array, Array]:
    """D in float64 (or int64), and the sum of magnitudes that bounds its rounding."""
    wide = np.int64 if op.elem_types[2] == "i32" else np.float64
    a, b, c = (reference._multiplied(x, e).astype(wide) for x, e in ((a, op.elem_a), (b, op.elem_b), (c, op.elem_c)))
    if factors:
        a, b = a * factors[0], b * factors[1]
    if op.blocks == 1:
        a, b, c = a[..., None], b[..., None], c[..., None]
    product = np.einsum("mkz,nkz->mnz", a, b) + c
    sizes = np.einsum("mkz,nkz->mnz", np.abs(a), np.abs(b)) + np.abs(c)
    return (product[..., 0], sizes[..., 0]) if op.blocks == 1 else (product, sizes)


EPSILON = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}


def operands_for(op: Any, rng: np.random.Generator, exact: bool) -> tuple[list[Array], Array, Array]:
    """Each thread's registers, then the expected matrix and the bound of its error (zero where sums are exact)."""
    matrices = small_integers(op, rng) if exact else reference.random_operands(op, int(rng.integers(2**31)))
    bytes_ = scales_of(op, rng)
    factors = [reference.scale_matrix(op, role, s) for role, s in zip("ab", bytes_, strict=False)]
    a, b, c = matrices
    wanted, sizes = exact_product(op, a, b, c, factors)
    elem = op.elem_types[2]
    bound = np.zeros_like(sizes) if exact or elem == "i32" else sizes * EPSILON["f64" if elem == "f64" else "f32"]
    bound = bound * (op.shape_mnk[2] + 2)
    if elem in ("f16", "bf16") and not exact:
        bound = bound + np.abs(wanted) * EPSILON[elem] + 2.0**-24
    registers = [reference.distribute(x, tv) for x, tv in zip(matrices, op.tv_layouts(), strict=True)]
    return registers + [s.view(f"i{s.shape[1]}") for s in bytes_], wanted, bound


@pytest.mark.parametrize(("arch", "ops"), CASES)
def test_every_instruction_multiplies(
    arch: str, ops: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    monkeypatch.setenv("ARCH", arch)
    run = launcher(ops)
    for exact in (True, False):
        cases = [operands_for(op, rng, exact) for op in ops]
        found = run_wave(ops, [registers for registers, _, _ in cases], run)
        for op, registers, (_, wanted, bound) in zip(ops, found, cases, strict=True):
            got = reference.collect(registers, op.tv_layouts()[2], reference.operand_shapes(op)[2])
            error = np.abs(got.astype(wanted.dtype) - wanted)
            assert np.all(error <= bound), f"{op}, {'exact' if exact else 'random'} operands: off by {error.max()}"


# Compiling -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("arch", "ops"), CASES)
def test_every_instruction_compiles_to_itself(arch: str, ops: tuple[Any, ...], tmp_path: Path) -> None:
    found = re.findall(MATRIX_MNEMONIC, code_of(arch, ops, tmp_path))
    assert len(found) == len(ops), found
    left = list(found)
    for op in ops:
        match = next((name for name in left if re.match(expected(op), name)), None)
        assert match is not None, f"{op}: {expected(op)} is not among {left}"
        left.remove(match)


# Through tiled multiplications -----------------------------------------------------------------


def whole_bytes(op: Any) -> bool:
    return all(NUMPY_TYPES[elem] and elem not in ("i4", "ui4") and "f4" not in elem and "f6" not in elem
               for elem in op.elem_types)  # fmt: skip


def one_per_shape(arch: str) -> list[Any]:
    """The last instruction of each shape that can be laid over tensors in memory."""
    usable = [op for op in instructions(arch) if op.blocks == 1 and not op.state and whole_bytes(op)]
    return list({op.shape_mnk: op for op in usable}.values())


@flyc.kernel
def tiled_wave(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, D: fx.Tensor, tiled: fx.TiledMma):
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


def tiled_launcher(op: Any) -> Any:
    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, D: fx.Tensor):
        tiled = fx.make_tiled_mma(fx.make_mma_atom(op), fx.make_layout((1, 1, 1), (0, 0, 0)))
        tiled_wave(A, B, C, D, tiled).launch(grid=(1, 1, 1), block=(op.thr_layout().size(), 1, 1))

    return run


@pytest.mark.parametrize("arch", known_archs())
def test_tiled_multiplication(arch: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setenv("ARCH", arch)
    chosen = one_per_shape(arch)
    assert chosen, arch
    for op in chosen:
        a, b, c = small_integers(op, rng)
        d = np.full(c.shape, 77, c.dtype)
        tiled_launcher(op)(*[flyc.from_dlpack(x) for x in (a, b, c, d)])
        wanted, _ = exact_product(op, a, b, c, [])
        assert np.array_equal(d.astype(wanted.dtype), wanted), str(op)


def test_an_instruction_the_target_lacks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx1201")
    matrix = np.zeros((16, 16), np.float16)
    with pytest.raises(ValueError, match="gfx1201 has no") as caught:
        tiled_launcher(Mfma(16, 16, 16, "f16", "f16", "f32"))(matrix, matrix, matrix, matrix)
    assert "no instruction of this family" in str(caught.value)


BLOCKED = Mfma(4, 4, 4, "f16", "f16", "f32")


def test_blocked_instructions_are_not_tiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    matrix = np.zeros((4, 4), np.float16)
    with pytest.raises(ValueError, match="multiplies 16 independent blocks") as caught:
        tiled_launcher(BLOCKED)(matrix, matrix, matrix, matrix)
    assert "mma_atom_call" in str(caught.value)


def test_tf32_drops_the_low_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 + 2**-11 is 1 to the multiplier; 1 + 2**-10 is not."""
    monkeypatch.setenv("ARCH", "sm_80")
    op = MmaSync(16, 8, 8, "tf32", "tf32", "f32")
    ones = [np.ones((32, tv[1].size()), np.float32) for tv in op.tv_layouts()]
    for step, total in ((2.0**-11, 8.0), (2.0**-10, 8.0 + 2.0**-7)):
        a = np.full_like(ones[0], 1 + step)
        [found] = run_wave([op], [[a, ones[1], np.zeros_like(ones[2])]])
        assert np.all(found == np.float32(total))
