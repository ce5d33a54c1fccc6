"""Block-scaled matrix instructions: which byte scales what, extreme and NaN scales, atom state, errors, code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslTypeError, DslValueError, LoweringError
from flydsl.target.mma_cdna import SCALED_FORMATS, MfmaScale
from flydsl.target.mma_rdna import Wmma, WmmaScale
from tests.kernels.test_matrix_atoms import exact_product
from tests.support import mma_reference as reference
from tests.support.mma_code import code_of
from tests.support.mma_reference import Array
from tests.support.mma_registers import element_bits, pack
from tests.support.mma_waves import launcher, run_wave

F8, F6, F4 = "f8E4M3FN", "f6E3M2FN", "f4E2M1FN"


def registers_of(op: Any, matrices: tuple[Array, ...], scales: list[Array]) -> list[Array]:
    dealt = [reference.distribute(x, tv) for x, tv in zip(matrices, op.tv_layouts(), strict=True)]
    return dealt + [s.view(f"i{s.shape[1]}") for s in scales]


def random_scales(op: Any, rng: np.random.Generator, low: int = 120, high: int = 136) -> list[Array]:
    count = 8 if op.state_types["scale_a"] == "i64" else 4
    return [rng.integers(low, high, size=(op.thr_layout().size(), count)).astype(np.uint8) for _ in "ab"]


VARIANTS: list[tuple[str, Any]] = [
    *(
        ("gfx950", MfmaScale(*shape, F8, F4, opsel_a=a, opsel_b=3 - a))
        for shape in ((16, 16, 128), (32, 32, 64))
        for a in range(4)
    ),
    *(
        ("gfx1250", WmmaScale(16, 16, 128, F6, F8, opsel_a=a, opsel_b=1 - a, block_size=block))
        for a in (0, 1)
        for block in (16, 32)
    ),
    *(("gfx1250", WmmaScale(32, 16, 128, F4, F4, opsel_b=b, block_size=block)) for b in (0, 1) for block in (16, 32)),
    *(("gfx1250", WmmaScale(16, 16, 128, F4, F6, mod_c=mod_c, reuse_a=True, reuse_b=True)) for mod_c in range(4)),
]


@pytest.mark.parametrize("arch", ["gfx950", "gfx1250"])
def test_selectors_and_modifiers(arch: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """All bytes and lanes differ, so a wrong selection is a wrong result."""
    monkeypatch.setenv("ARCH", arch)
    ops = [op for name, op in VARIANTS if name == arch]
    matrices = [reference.random_operands(op, int(rng.integers(2**31))) for op in ops]
    scales = [random_scales(op, rng) for op in ops]
    found = run_wave(ops, [registers_of(op, m, s) for op, m, s in zip(ops, matrices, scales, strict=True)])
    for op, (a, b, c), given, got in zip(ops, matrices, scales, found, strict=True):
        modifier = getattr(op, "mod_c", 0)
        c = np.abs(c) if modifier & 2 else c
        c = -c if modifier & 1 else c
        factors = [reference.scale_matrix(op, role, s) for role, s in zip("ab", given, strict=True)]
        wanted, sizes = exact_product(op, a, b, c, factors)
        matrix = reference.collect(got, op.tv_layouts()[2], c.shape)
        assert np.all(np.abs(matrix - wanted) <= sizes * 2.0**-24 * (op.k + 2)), str(op)


@pytest.mark.parametrize(
    ("arch", "op"),
    [
        ("gfx950", MfmaScale(16, 16, 128, F4, F4, opsel_a=2)),
        ("gfx1250", WmmaScale(16, 16, 128, F4, F4)),
        ("gfx1250", WmmaScale(16, 16, 128, F4, F4, block_size=16)),
    ],
    ids=str,
)
def test_extreme_scales(arch: str, op: Any, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """2**127 times 2**-127 is 1, though neither operand fits f32 on its own way; the byte 0xFF is NaN."""
    monkeypatch.setenv("ARCH", arch)
    a, b, _ = reference.random_operands(op, int(rng.integers(2**31)))
    c = np.zeros((op.m, op.n), np.float32)
    scales = random_scales(op, rng, 127, 128)
    scales[0][:], scales[1][:] = 254, 0
    wanted, _ = exact_product(op, a, b, c, [])
    [got] = run_wave([op], [registers_of(op, (a, b, c), scales)])
    matrix = reference.collect(got, op.tv_layouts()[2], c.shape)
    assert np.array_equal(matrix, wanted.astype(np.float32))
    lane = list(op.scale_lanes("a"))[5]
    scales[0][lane, op.scale_bytes("a")[0]] = 255
    [got] = run_wave([op], [registers_of(op, (a, b, c), scales)])
    matrix = reference.collect(got, op.tv_layouts()[2], c.shape)
    assert np.isnan(matrix[5]).all(), "the NaN scale reaches its whole row"
    assert np.array_equal(np.delete(matrix, 5, 0), np.delete(wanted, 5, 0).astype(np.float32))


# A multiplication of several tiles --------------------------------------------------------------

M, N, K = 32, 32, 256
ATOM = (16, 16, 128)


def scaled_gemm() -> Any:
    """f8 A times f4 B, both row-major over K; one scale a row and 32 columns, four of them in an Int32."""

    @flyc.kernel
    def multiply(A: fx.Tensor, B: fx.Tensor, SA: fx.Tensor, SB: fx.Tensor, D: fx.Tensor):
        atom = fx.make_mma_atom(fx.rocdl.cdna4.MFMA_Scale(*ATOM, fx.Float8E4M3FN, fx.Float4E2M1FN))
        lane, wave = fx.thread_idx.x % 64, fx.thread_idx.x // 64
        row, group = lane % 16, lane // 16
        rD = fx.make_rmem_tensor((4, 1, N // 16), fx.Float32)
        rD.store(fx.full((4, 1, N // 16), 0.0, fx.Float32))
        for step in fx.range_constexpr(K // 128):
            rA = fx.make_rmem_tensor(32, fx.Float8E4M3FN)
            for half in fx.range_constexpr(2):
                for i in fx.range_constexpr(16):
                    rA[half * 16 + i] = A[wave * 16 + row, step * 128 + half * 64 + group * 16 + i]
            for n in fx.range_constexpr(N // 16):
                words = fx.make_rmem_tensor(4, fx.Int32)
                for i in fx.range_constexpr(4):
                    words[i] = B[n * 16 + row, step * 16 + group * 4 + i]
                rB = fx.make_rmem_tensor(32, fx.Float4E2M1FN)
                rB.store(words.load().bitcast(fx.Float4E2M1FN))
                part = rD[None, 0, n]
                scale_a = SA[wave * 16 + row, step] >> (group * 8)
                scale_b = SB[n * 16 + row, step] >> (group * 8)
                fx.gemm(atom, part, rA, rB, part, scale_a=scale_a, scale_b=scale_b)
        for n in fx.range_constexpr(N // 16):
            for v in fx.range_constexpr(4):
                D[wave * 16 + group * 4 + v, n * 16 + row] = rD[v, 0, n]

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, SA: fx.Tensor, SB: fx.Tensor, D: fx.Tensor):
        multiply(A, B, SA, SB, D).launch(grid=(1, 1, 1), block=(128, 1, 1))

    return run


def test_scaled_gemm(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    a = rng.standard_normal((M, K)).astype(ml_dtypes.float8_e4m3fn)
    b = (rng.standard_normal((N, K)) * 2).astype(ml_dtypes.float4_e2m1fn)
    sa, sb = (rng.integers(120, 134, size=(rows, K // 32)).astype(np.uint8) for rows in (M, N))
    d = np.full((M, N), np.nan, np.float32)
    packed = pack(b, F4)
    scaled_gemm()(flyc.from_dlpack(a), packed, sa.view(np.int32), sb.view(np.int32), d)
    wide = [x.astype(np.float64) * np.repeat(np.exp2(s.astype(float) - 127), 32, 1) for x, s in ((a, sa), (b, sb))]
    wanted, sizes = wide[0] @ wide[1].T, np.abs(wide[0]) @ np.abs(wide[1]).T
    assert np.all(np.abs(d - wanted) <= sizes * 2.0**-24 * K)


@pytest.mark.parametrize(
    ("arch", "op"), [("gfx950", MfmaScale(16, 16, 128, F8, F8)), ("gfx950", MfmaScale(32, 32, 64, F8, F8)),
                     ("gfx1250", WmmaScale(16, 16, 128, F8, F8, block_size=16))], ids=str,
)  # fmt: skip
def test_scaled_tiles(arch: str, op: Any, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """8-bit operands partitioned from memory; the tiled mma is the kernel's argument, the scales each thread's own."""
    monkeypatch.setenv("ARCH", arch)

    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor, SA: fx.Tensor, SB: fx.Tensor, D: fx.Tensor, tiled: fx.TiledMma):
        thread = tiled.get_slice(fx.thread_idx.x)
        rA, rB, rD = tiled.make_fragment_A(A), tiled.make_fragment_B(B), tiled.make_fragment_C(D)
        byte = fx.make_copy_atom(fx.UniversalCopy8b(), 8)
        fx.copy(byte, thread.partition_A(A), rA)
        fx.copy(byte, thread.partition_B(B), rB)
        rD.fill(0)
        fx.gemm(tiled, rD, rA, rB, rD, scale_a=SA[fx.thread_idx.x], scale_b=SB[fx.thread_idx.x])
        fx.copy(fx.make_copy_atom(fx.UniversalCopy32b(), 32), rD, thread.partition_C(D))

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, SA: fx.Tensor, SB: fx.Tensor, D: fx.Tensor):
        tiled = fx.make_tiled_mma(fx.make_mma_atom(op), fx.make_layout((1, 1, 1), (0, 0, 0)))
        kernel(A, B, SA, SB, D, tiled).launch(grid=(1, 1, 1), block=(op.thr_layout().size(), 1, 1))

    a, b, _ = reference.random_operands(op, int(rng.integers(2**31)))
    scales, d = random_scales(op, rng), np.full((op.m, op.n), np.nan, np.float32)
    words = [np.ascontiguousarray(s).view(f"i{s.shape[1]}").ravel() for s in scales]
    run(flyc.from_dlpack(a), flyc.from_dlpack(b), *words, flyc.from_dlpack(d))
    factors = [reference.scale_matrix(op, role, s) for role, s in zip("ab", scales, strict=True)]
    wanted, sizes = exact_product(op, a, b, np.zeros_like(d), factors)
    assert np.all(np.abs(d - wanted) <= sizes * 2.0**-24 * (op.k + 2))


# State -----------------------------------------------------------------------------------------

ONE = 0x7F7F7F7F
OP = MfmaScale(16, 16, 128, F8, F8)


def with_state(call: Any) -> Any:
    """A kernel of ones: every sum is 128 times the scales; ``call`` issues the instruction."""

    @flyc.kernel
    def kernel(out: fx.Tensor):
        atom = fx.make_mma_atom(OP)
        rA, rB = (fx.make_rmem_tensor(32, fx.Float8E4M3FN) for _ in "ab")
        rC = fx.make_rmem_tensor(4, fx.Float32)
        for tensor, dtype in ((rA, fx.Float8E4M3FN), (rB, fx.Float8E4M3FN)):
            tensor.store(fx.full(32, 1.0, dtype))
        rC.store(fx.full(4, 0.0, fx.Float32))
        call(atom, rC, rA, rB)
        for v in fx.range_constexpr(4):
            out[fx.thread_idx.x, v] = rC[v]

    @flyc.jit
    def run(out: fx.Tensor):
        kernel(out).launch(grid=(1, 1, 1), block=(64, 1, 1))

    return run


def by_keyword(atom: Any, c: Any, a: Any, b: Any) -> None:
    fx.gemm(atom, c, a, b, c, scale_a=ONE, scale_b=fx.Int32(0x80808080 - 2**32))


def by_set_value(atom: Any, c: Any, a: Any, b: Any) -> None:
    first = atom.set_value("scale_a", fx.Uint32(ONE))
    fx.mma_atom_call(first.set_value({"scale_b": 0x80808080}), c, a, b, c)


def by_bytes(atom: Any, c: Any, a: Any, b: Any) -> None:
    scaled = fx.atom_set_value(atom, "scale_a", fx.full(4, 127, fx.Uint8))
    fx.mma_atom_call(scaled, c, a, b, c, scale_b=fx.full(4, 128, fx.Uint8))


def by_thread(atom: Any, c: Any, a: Any, b: Any) -> None:
    """A run-time value, and one set twice: the last counts."""
    none = fx.Int32(fx.thread_idx.x) * 0
    twice = atom.set_value("scale_a", 0).set_value("scale_a", none + ONE)
    fx.gemm(twice, c, a, b, c, scale_b=none + fx.Int32(0x80808080 - 2**32))


@pytest.mark.parametrize("call", [by_keyword, by_set_value, by_bytes, by_thread])
def test_ways_to_set_state(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    out = np.full((64, 4), np.nan, np.float32)
    with_state(call)(out)
    assert np.all(out == 256.0), "scales of 1 and 2 over 128 ones"


def missing(atom: Any, c: Any, a: Any, b: Any) -> None:
    fx.gemm(atom, c, a, b, c, scale_a=ONE)


def wrong_type(atom: Any, c: Any, a: Any, b: Any) -> None:
    fx.gemm(atom, c, a, b, c, scale_a=ONE, scale_b=fx.Float32(1.0))


def too_wide(atom: Any, c: Any, a: Any, b: Any) -> None:
    fx.gemm(atom, c, a, b, c, scale_a=1 << 32, scale_b=ONE)


def too_few_bytes(atom: Any, c: Any, a: Any, b: Any) -> None:
    fx.gemm(atom, c, a, b, c, scale_a=fx.full(2, 127, fx.Uint8), scale_b=ONE)


def no_such_field(atom: Any, c: Any, a: Any, b: Any) -> None:
    fx.gemm(atom, c, a, b, c, scale_a=ONE, scale_b=ONE, scale_c=ONE)


def wrong_element(atom: Any, c: Any, a: Any, b: Any) -> None:
    other = fx.make_rmem_tensor(32, fx.Float8E5M2)
    other.store(fx.full(32, 1.0, fx.Float8E5M2))
    fx.gemm(atom, c, other, b, c, scale_a=ONE, scale_b=ONE)


def wrong_count(atom: Any, c: Any, a: Any, b: Any) -> None:
    short = fx.make_rmem_tensor(16, fx.Float8E4M3FN)
    short.store(fx.full(16, 1.0, fx.Float8E4M3FN))
    fx.mma_atom_call(atom, c, short, b, c, scale_a=ONE, scale_b=ONE)


MISTAKES: list[tuple[Any, type[Exception], str]] = [
    (missing, LoweringError, "needs its 'scale_b', which nobody set"),
    (wrong_type, DslTypeError, "'scale_b' of .* is an i32, got Float32"),
    (too_wide, DslValueError, "more than 32 bits"),
    (too_few_bytes, DslTypeError, "has 32 bits"),
    (no_such_field, DslValueError, "has no field 'scale_c'"),
    (wrong_element, DslTypeError, "takes a of f8E4M3FN, but this tensor holds f8E5M2"),
    (wrong_count, DslValueError, "holds 32 values of a"),
]


@pytest.mark.parametrize(("call", "kind", "said"), MISTAKES, ids=[call.__name__ for call, _, _ in MISTAKES])
def test_mistakes(call: Any, kind: type[Exception], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    with pytest.raises(kind, match=said) as caught:
        with_state(call)(np.zeros((64, 4), np.float32))
    assert "test_scaled_matrix_atoms.py" in str(caught.value), "the user's line"


def test_state_through_a_loop_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")

    @flyc.kernel
    def kernel(out: fx.Tensor, count: fx.Int32):
        atom = fx.make_mma_atom(OP).set_value({"scale_a": ONE, "scale_b": ONE})
        rA, rB = (fx.make_rmem_tensor(32, fx.Float8E4M3FN) for _ in "ab")
        rC = fx.make_rmem_tensor(4, fx.Float32)
        for _ in range(count):
            fx.gemm(atom, rC, rA, rB, rC)
            atom = atom.set_value("scale_a", count)
        out[fx.thread_idx.x, 0] = rC[0]

    @flyc.jit
    def run(out: fx.Tensor, count: fx.Int32):
        kernel(out, count).launch(grid=(1, 1, 1), block=(64, 1, 1))

    with pytest.raises(RuntimeError, match="comes through a loop"):
        run(np.zeros((64, 4), np.float32), 2)


def launched_with(set_outside: bool) -> Any:
    """An atom made by the jit function and passed to a kernel that scales it in a run-time loop."""

    @flyc.kernel
    def kernel(atom: fx.MmaAtom, out: fx.Tensor, count: fx.Int32):
        rA, rB = (fx.make_rmem_tensor(32, fx.Float8E4M3FN) for _ in "ab")
        rC = fx.make_rmem_tensor(4, fx.Float32)
        for tensor in (rA, rB):
            tensor.store(fx.full(32, 1.0, fx.Float8E4M3FN))
        rC.store(fx.full(4, 0.0, fx.Float32))
        for turn in range(count):
            fx.gemm(atom, rC, rA, rB, rC, scale_a=ONE, scale_b=fx.Int32(ONE) + fx.Int32(turn))
        out[fx.thread_idx.x] = rC[0]

    @flyc.jit
    def run(out: fx.Tensor, count: fx.Int32):
        atom = fx.make_mma_atom(OP)
        if set_outside:
            atom = atom.set_value("scale_a", count)
        kernel(atom, out, count).launch(grid=(1, 1, 1), block=(64, 1, 1))

    return run


def test_an_atom_is_an_argument_but_its_state_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    out = np.full(64, np.nan, np.float32)
    launched_with(set_outside=False)(out, 3)
    assert np.all(out == 128 * (1 + 2 + 4))
    with pytest.raises(LoweringError, match="through a loop, a branch or an argument"):
        launched_with(set_outside=True)(out, 3)


# Code ------------------------------------------------------------------------------------------


def test_formats_and_selectors_in_the_code(tmp_path: Path) -> None:
    """cbsz and blgp carry the formats; op_sel and op_sel_hi the two bits of each selector."""
    for a, code_a in SCALED_FORMATS.items():
        for b, code_b in ((F8, 0), (F4, 4)):
            text = code_of("gfx950", (MfmaScale(16, 16, 128, a, b, opsel_a=code_a % 4, opsel_b=3),), tmp_path)
            [line] = re.findall(r"v_mfma_scale.*", text)
            low, high = code_a % 4 & 1, code_a % 4 >> 1
            assert f"op_sel:[{low},1,0] op_sel_hi:[{high},1,0]" in line
            assert (f"cbsz:{code_a}" in line) == bool(code_a), line
            assert (f"blgp:{code_b}" in line) == bool(code_b), line


def test_modifiers_in_the_code_of_gfx1250(tmp_path: Path) -> None:
    op = WmmaScale(16, 16, 128, F6, F4, opsel_a=1, mod_c=1, reuse_a=True, block_size=16)
    [line] = re.findall(r"v_wmma_scale16.*", code_of("gfx1250", (op,), tmp_path))
    for part in ("matrix_a_fmt:MATRIX_FMT_BF6", "matrix_b_fmt:MATRIX_FMT_FP4", "matrix_a_scale:MATRIX_SCALE_ROW1",
                 "neg_lo:[0,0,1]", "matrix_a_reuse"):  # fmt: skip
        assert part in line, line


# Saturation and signs of integers --------------------------------------------------------------


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
def test_clamp_and_signs(arch: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setenv("ARCH", arch)
    generation = "rdna3" if arch == "gfx1100" else "rdna4"
    ops = [
        Wmma(generation, 16, 16, 16, elem, elem, "i32", sign_a=sa, sign_b=sb, clamp=clamp)
        for elem in ("i8", "i4") for sa in (False, True) for sb in (False, True) for clamp in (False, True)
    ]  # fmt: skip
    cases = []
    for op in ops:
        a, b, c = reference.random_operands(op, int(rng.integers(2**31)))
        c[:8], c[8:] = 2**31 - 5, -(2**31)
        cases.append([reference.distribute(x, tv) for x, tv in zip((a, b, c), op.tv_layouts(), strict=True)])
    assert element_bits(cases[0][0], "i8").max() < 256
    for op, given, got in zip(ops, cases, run_wave(ops, cases, launcher(ops)), strict=True):
        assert np.array_equal(got, reference.execute(op, *given)), str(op)
