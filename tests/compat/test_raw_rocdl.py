"""AMD's instructions by their names in the rocdl dialect and as intrinsics of LLVM, on the targets that have them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl._mlir.dialects import arith, fly, llvm, rocdl, vector
from flydsl.base.errors import TargetError
from flydsl.expr.typing import T
from tests.unit.rocdl.running import launch

THREADS = 64


def test_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")

    def body(t: Any, x: Any, out: Any) -> None:
        value = x[t].ir_value()
        out[t, 0] = fx.Int32(rocdl.readfirstlane(T.i32, value))
        out[t, 1] = fx.Int32(rocdl.readlane(T.i32, value, arith.constant(T.i32, 5)))
        mirrored = arith.muli(arith.subi(arith.constant(T.i32, 63), t.ir_value()), arith.constant(T.i32, 4))
        out[t, 2] = fx.Int32(rocdl.ds_bpermute(T.i32, mirrored, value))
        old = arith.constant(T.i32, -1)
        out[t, 3] = fx.Int32(rocdl.update_dpp(T.i32, old, value, 0x111, 0xF, 0xF, False))
        even = arith.cmpi("eq", arith.andi(value, arith.constant(T.i32, 1)), arith.constant(T.i32, 0))
        bits = rocdl.ballot(T.i64, even)
        out[t, 4] = fx.Int32(arith.trunci(T.i32, bits))
        dpp = [
            old,
            value,
            *(arith.constant(T.i32, n) for n in (0x111, 15, 15)),
            arith.constant(ir.IntegerType.get_signless(1), 1),
        ]
        out[t, 5] = fx.Int32(llvm.call_intrinsic(T.i32, "llvm.amdgcn.update.dpp.i32", dpp, [], []))

    x, out = np.arange(THREADS, dtype=np.int32) * 3 + 1, np.zeros((THREADS, 6), np.int32)
    launch(body, x, out)
    shifted = np.roll(x, 1)
    first = np.arange(THREADS) % 16 == 0
    np.testing.assert_array_equal(out[:, 0], x[0])
    np.testing.assert_array_equal(out[:, 1], x[5])
    np.testing.assert_array_equal(out[:, 2], x[::-1])
    np.testing.assert_array_equal(out[:, 3], np.where(first, -1, shifted))
    np.testing.assert_array_equal(out[:, 4].view(np.uint32), 0xAAAAAAAA)
    np.testing.assert_array_equal(out[:, 5], np.where(first, 0, shifted))


def test_halves_of_a_wave_change_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    pair = "!llvm.struct<(i32, i32)>"

    def body(t: Any, x: Any, out: Any) -> None:
        both = rocdl.permlane32_swap(ir.Type.parse(pair), x[t].ir_value(), (x[t] * 2).ir_value(), False, False)
        assert isinstance(both, ir.Value) and both.type == pair
        for index in fx.range_constexpr(2):
            out[t, index] = fx.Int32(llvm.extractvalue(T.i32, both, [index]))

    x, out = np.arange(THREADS, dtype=np.int32) + 1, np.zeros((THREADS, 2), np.int32)
    launch(body, x, out)
    np.testing.assert_array_equal(out[:, 0], np.concatenate([x[:32], 2 * x[:32]]))
    np.testing.assert_array_equal(out[:, 1], np.concatenate([x[32:], 2 * x[32:]]))


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1201"])
def test_packed_conversions(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    dtype = ml_dtypes.float8_e4m3fnuz if arch == "gfx942" else ml_dtypes.float8_e4m3fn

    def body(t: Any, x: Any, out: Any, back: Any) -> None:
        word = arith.constant(T.i32, 0)
        for half in fx.range_constexpr(2):
            parts = [x[t, 2 * half + i].ir_value() for i in range(2)]
            word = rocdl.cvt_pk_fp8_f32(T.i32, parts[0], parts[1], word, bool(half))
        out[t] = fx.Int32(word)
        for half in fx.range_constexpr(2):
            pair = rocdl.cvt_pk_f32_fp8(ir.VectorType.get([2], T.f32), word, bool(half))
            for i in fx.range_constexpr(2):
                back[t, 2 * half + i] = fx.Float32(vector.extract(pair, static_position=[i], dynamic_position=[]))

    x = np.random.default_rng(2).uniform(-6, 6, (THREADS, 4)).astype(np.float32)
    out, back = np.zeros(THREADS, np.int32), np.zeros((THREADS, 4), np.float32)
    launch(body, x, out, back)
    expected = x.astype(dtype)
    np.testing.assert_array_equal(out, expected.view(np.int32).reshape(-1))
    np.testing.assert_array_equal(back, expected.astype(np.float32))


def test_fast_functions_and_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")

    def body(t: Any, x: Any, out: Any, words: Any) -> None:
        value = x[t].ir_value()
        out[t, 0] = fx.Float32(rocdl.exp2(T.f32, value))
        out[t, 1] = fx.Float32(rocdl.rcp(T.f32, value))
        out[t, 2] = fx.Float32(llvm.call_intrinsic(T.f32, "llvm.amdgcn.rcp.f32", [value], [], []))
        out[t, 3] = fx.Float32(llvm.call_intrinsic(T.f32, "llvm.amdgcn.exp2.f32", [value], [], []))
        high, low = arith.constant(T.i32, 0x07060504), arith.constant(T.i32, 0x03020100)
        selector = arith.constant(T.i32, 0x06040200)
        words[t] = fx.Int32(llvm.call_intrinsic(T.i32, "llvm.amdgcn.perm", [high, low, selector], [], []))
        rocdl.sched_barrier(0)
        rocdl.s_setprio(1)
        rocdl.s_waitcnt(0)

    x = np.random.default_rng(2).uniform(0.5, 4, THREADS).astype(np.float32)
    out, words = np.zeros((THREADS, 4), np.float32), np.zeros(THREADS, np.int32)
    launch(body, x, out, words)
    y = x.astype(np.float64)
    np.testing.assert_allclose(out, np.stack([np.exp2(y), 1 / y, 1 / y, np.exp2(y)], 1), rtol=1e-6)
    np.testing.assert_array_equal(words, 0x06040200)


def mfma_operands(t: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Lane t has four halves of row t mod 16 of each matrix, from column 4 (t / 16) on."""
    four = ir.VectorType.get([4], T.f16)
    rows = [[m[t % 16, t // 16 * 4 + i].ir_value() for i in range(4)] for m in (a, b)]
    return vector.from_elements(four, rows[0]), vector.from_elements(four, rows[1])


@pytest.mark.parametrize("form", ["list", "class"])
def test_a_matrix_instruction(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")

    def body(t: Any, a: Any, b: Any, c: Any) -> None:
        accumulator = ir.VectorType.get([4], T.f32)
        zero = arith.constant(accumulator, 0.0)
        first, second = mfma_operands(t, a, b)
        if fx.const_expr(form == "list"):
            found = rocdl.mfma_f32_16x16x16f16(accumulator, [first, second, zero, 0, 0, 0])
        else:
            found = rocdl.mfma_f32_16x16x16f16(accumulator, first, second, zero, 0, 0, 0).result
        for i in fx.range_constexpr(4):
            c[t // 16 * 4 + i, t % 16] = found[i]

    rng = np.random.default_rng(4)
    a, b = (rng.integers(-4, 5, (16, 16)).astype(np.float16) for _ in range(2))
    c = np.zeros((16, 16), np.float32)
    launch(body, a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)


def test_a_scaled_product_of_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    """fp8 in eight words a lane, and one scale for each row, all powers of two."""
    monkeypatch.setenv("ARCH", "gfx950")

    def body(t: Any, a: Any, b: Any, c: Any, scales: Any) -> None:
        eight, accumulator = ir.VectorType.get([8], T.i32), ir.VectorType.get([4], T.f32)
        rows = [vector.from_elements(eight, [m[t % 16, t // 16 * 8 + i].ir_value() for i in range(8)]) for m in (a, b)]
        zero, byte = arith.constant(accumulator, 0.0), [scales[i, t % 16].ir_value() for i in range(2)]
        operands = [rows[0], rows[1], zero, 0, 0, 0, byte[0], 0, byte[1]]
        found = rocdl.mfma_scale_f32_16x16x128_f8f6f4(accumulator, operands)
        for i in fx.range_constexpr(4):
            c[t // 16 * 4 + i, t % 16] = found[i]

    rng = np.random.default_rng(5)
    a, b = (rng.integers(-4, 5, (16, 128)).astype(ml_dtypes.float8_e4m3fn) for _ in range(2))
    exponents = rng.integers(-2, 3, (2, 16))
    c = np.zeros((16, 16), np.float32)
    launch(body, a.view(np.int32), b.view(np.int32), c, (exponents + 127).astype(np.int32))
    scale = np.exp2(exponents.astype(np.float64))
    expected = (a.astype(np.float64) * scale[0][:, None]) @ (b.astype(np.float64) * scale[1][:, None]).T
    np.testing.assert_allclose(c, expected, rtol=1e-6)


@pytest.mark.parametrize("arch", ["gfx1201", "gfx1250"])
def test_a_wmma_on_its_targets(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the atom, whose layouts say who holds what; the call itself is by values."""
    monkeypatch.setenv("ARCH", arch)
    depth = 16 if arch == "gfx1201" else 32

    def body(t: Any, a: Any, b: Any, c: Any) -> None:
        atom = fx.make_mma_atom(fx.rocdl.WMMA(16, 16, depth, fx.Float16))
        tiled = fx.make_tiled_mma(atom, fx.make_layout((1, 1, 1), (1, 1, 1)))
        thread = tiled.thr_slice(t)
        parts = [thread.partition_A(a), thread.partition_B(b), thread.partition_C(c)]
        held = [part.load() for part in parts[:2]]
        accumulator = ir.VectorType.get([8], T.f32)
        zero = arith.constant(accumulator, 0.0)
        found = fly.mma_atom_call_ssa([accumulator], atom, held[0], held[1], zero)
        for i in fx.range_constexpr(8):
            parts[2][i] = found[i]

    rng = np.random.default_rng(4)
    a, b = (rng.integers(-4, 5, (16, depth)).astype(np.float16) for _ in range(2))
    c = np.zeros((16, 16), np.float32)
    launch(body, *(flyc.from_dlpack(array) for array in (a, b, c)), threads=32)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)


def test_what_a_target_lacks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")

    def body(t: Any, x: Any) -> None:
        x[t] = fx.Int32(rocdl.readfirstlane(T.i32, x[t].ir_value()))

    with pytest.raises(TargetError, match="readfirstlane is an instruction of AMD GPUs"):
        launch(body, np.zeros(THREADS, np.int32))
    monkeypatch.setenv("ARCH", "gfx942")
    pair = ir.Type.parse("!llvm.struct<(i32, i32)>")

    def by_name(t: Any, x: Any) -> None:
        flag = arith.constant(T.i1, 0)
        value = x[t].ir_value()
        llvm.call_intrinsic(pair, "llvm.amdgcn.permlane32.swap", [value, value, flag, flag], [], [])

    def by_row(t: Any, x: Any) -> None:
        rocdl.permlane32_swap(pair, x[t].ir_value(), x[t].ir_value(), False, False)

    for wrong in (by_name, by_row):
        with pytest.raises(TargetError, match="gfx942 does not have permlane32_swap"):
            launch(wrong, np.zeros(THREADS, np.int32))


def test_an_atom_takes_words_for_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operands of an fp8 product as two words each; the result is a vector of the accumulators."""
    monkeypatch.setenv("ARCH", "gfx942")

    def body(t: Any, a: Any, b: Any, c: Any) -> None:
        atom = fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 32, fx.Float8E4M3FNUZ))
        pair, four = ir.VectorType.get([2], T.i32), ir.VectorType.get([4], T.f32)
        held = [vector.from_elements(pair, [m[t % 16, t // 16 * 2 + i].ir_value() for i in range(2)]) for m in (a, b)]
        found = fly.mma_atom_call_ssa([four], atom, *held, arith.constant(four, 0.0))
        for i in fx.range_constexpr(4):
            c[t // 16 * 4 + i, t % 16] = found[i]

    rng = np.random.default_rng(4)
    a, b = (rng.integers(-4, 5, (16, 32)).astype(ml_dtypes.float8_e4m3fnuz) for _ in range(2))
    c = np.zeros((16, 16), np.float32)
    launch(body, a.view(np.int32), b.view(np.int32), c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
