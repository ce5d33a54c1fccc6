"""Inline assembly of AMD's kernels on the virtual GPU: what each text does, and what is refused."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl._mlir.dialects import arith, fly, gpu, llvm, vector
from flydsl.base.errors import LoweringError
from flydsl.expr.typing import T
from tests.unit.rocdl.running import launch

THREADS = 64
VOID = "!llvm.void"


def shared_words(count: int) -> Any:
    return fx.SharedAllocator().allocate(fx.Array[fx.Int32, count, 16]).ptr


def lds_address(pointer: Any, index: Any) -> Any:
    """The byte address of a word of LDS."""
    return arith.addi(llvm.ptrtoint(T.i32, pointer.llvm_ptr), (index * 4).ir_value())


def test_fences_of_one_and_of_several_values() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        value = x[t].ir_value()
        same = llvm.inline_asm(T.i32, [value], "", "=v,0", has_side_effects=True)
        pair = ir.Type.parse("!llvm.struct<(i32, i32)>")
        both = llvm.InlineAsmOp(res=pair, operands_=[same, value], asm_string="", constraints="=v,=v,0,1").result
        out[t] = fx.Int32(arith.addi(llvm.extractvalue(T.i32, both, [0]), llvm.extractvalue(T.i32, both, [1])))
        assert llvm.inline_asm(None, [], "s_nop 0", "", has_side_effects=True) is not None

    x, out = np.arange(THREADS, dtype=np.int32), np.zeros(THREADS, np.int32)
    launch(body, x, out)
    np.testing.assert_array_equal(out, 2 * x)


@pytest.mark.parametrize("text", ["s_waitcnt lgkmcnt(0)\n\ts_barrier", "s_barrier"])
def test_a_wait_and_a_barrier(text: str) -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        words = shared_words(THREADS)
        llvm.inline_asm(ir.Type.parse(VOID), [lds_address(words, t), x[t].ir_value()], "ds_write_b32 $0, $1", "v,v",
                        has_side_effects=True)  # fmt: skip
        llvm.inline_asm(None, [], text, "", has_side_effects=True)
        out[t] = words[THREADS - 1 - t]

    x, out = np.arange(THREADS, dtype=np.int32) * 5, np.zeros(THREADS, np.int32)
    launch(body, x, out)
    np.testing.assert_array_equal(out, x[::-1])


def test_a_barrier_behind_a_branch() -> None:
    """Both waves come by with 0, so it is a barrier for both; with 1 nobody waits."""

    def body(t: Any, x: Any, out: Any) -> None:
        words = shared_words(2 * THREADS)
        words[t] = x[t]
        text = "s_cmp_eq_u32 $0, 0\ns_cbranch_scc0 1f\ns_barrier\n1:"
        for given in (0, 1):
            llvm.inline_asm(None, [arith.constant(T.i32, given)], text, "s", has_side_effects=True)
        out[t] = words[2 * THREADS - 1 - t]

    x, out = np.arange(2 * THREADS, dtype=np.int32), np.zeros(2 * THREADS, np.int32)
    launch(body, x, out, threads=2 * THREADS)
    np.testing.assert_array_equal(out, x[::-1])


@pytest.mark.parametrize("words", [2, 4])
def test_a_wide_store(words: int) -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        kind = ir.VectorType.get([words], T.i32)
        value = vector.from_elements(kind, [x[t, i].ir_value() for i in range(words)])
        base = fly.extract_aligned_pointer_as_index(ir.Type.parse("!llvm.ptr<1>"), out)
        marks = [-2147483648]
        place = llvm.GEPOp(ir.Type.parse("!llvm.ptr<1>"), base, [(t * words).ir_value()], marks, T.i32, None).result
        text = f"global_store_dwordx{words} $0, $1, off sc0 sc1"
        llvm.inline_asm(None, [place, value], text, "v,v", has_side_effects=True)

    x, out = np.arange(THREADS * words, dtype=np.int32).reshape(-1, words), np.zeros(THREADS * words, np.int32)
    launch(body, x, out)
    np.testing.assert_array_equal(out, x.reshape(-1))


def test_packing_bf16() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        parts = [x[t, i].ir_value() for i in range(2)]
        out[t] = fx.Int32(llvm.inline_asm(T.i32, parts, "v_cvt_pk_bf16_f32 $0, $1, $2", "=v,v,v"))

    x, out = np.random.default_rng(0).normal(size=(THREADS, 2)).astype(np.float32), np.zeros(THREADS, np.int32)
    launch(body, x, out)
    np.testing.assert_array_equal(out, x.astype(ml_dtypes.bfloat16).view(np.int32).reshape(-1))


def test_nibbles_as_floats() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        word = x[t].ir_value()
        out[t, 0] = fx.Float32(llvm.inline_asm(T.f32, [word], "v_cvt_off_f32_i4 $0, $1", "=v,v"))
        text = "v_cvt_off_f32_i4_sdwa $0, $1 src0_sel:BYTE_2"
        out[t, 1] = fx.Float32(llvm.inline_asm(T.f32, [word], text, "=v,v"))

    x = np.random.default_rng(0).integers(0, 1 << 31, THREADS).astype(np.int32)
    out = np.zeros((THREADS, 2), np.float32)
    launch(body, x, out)

    def nibble(word: np.ndarray) -> np.ndarray:
        low = word & 15
        return np.where(low > 7, low - 16, low) / 16

    np.testing.assert_array_equal(out, np.stack([nibble(x), nibble(x >> 16)], 1))


def test_two_masks_and_two_choices() -> None:
    """Columns beyond a row's limit become the least number: two compares, two selects."""
    kind = "!llvm.struct<(i64, i64, i32, i32)>"
    text = (
        "v_cmp_lt_i32_e64 $0, $6, 3\n\tv_cmp_lt_i32_e64 $1, $6, 7\n\t"
        "v_cndmask_b32_e64 $2, $4, $7, $0\n\tv_cndmask_b32_e64 $3, $5, $7, $1"
    )

    def body(t: Any, x: Any, out: Any) -> None:
        operands = [x[t, 0].ir_value(), x[t, 1].ir_value(), (t % 10).ir_value(), arith.constant(T.i32, -99)]
        found = llvm.inline_asm(ir.Type.parse(kind), operands, text, "=s,=s,=v,=v,2,3,v,v,~{vcc}")
        out[t, 0] = fx.Int32(llvm.extractvalue(T.i32, found, [2]))
        out[t, 1] = fx.Int32(llvm.extractvalue(T.i32, found, [3]))

    x, out = np.arange(THREADS * 2, dtype=np.int32).reshape(-1, 2), np.zeros((THREADS, 2), np.int32)
    launch(body, x, out)
    rel = np.arange(THREADS) % 10
    np.testing.assert_array_equal(out, np.stack([np.where(rel < 3, -99, x[:, 0]), np.where(rel < 7, -99, x[:, 1])], 1))


@pytest.mark.parametrize("width", [8, 16])
def test_a_transposing_read(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text does what the function of the language does."""
    monkeypatch.setenv("ARCH", "gfx950")

    def body(t: Any, x: Any, out: Any) -> None:
        words = shared_words(4 + THREADS * 2)
        for i in fx.range_constexpr(2):
            words[4 + t * 2 + i] = x[t, i]
        gpu.barrier()
        pair = ir.VectorType.get([2], T.i32)
        text = f"ds_read_b64_tr_b{width} $0, $1 offset:16"
        found = llvm.inline_asm(pair, [lds_address(words, t * 2)], text, "=v,v,~{memory}", has_side_effects=True)
        read = {8: fx.rocdl.ds_read_tr8_b64, 16: fx.rocdl.ds_read_tr16_b64}[width]
        same = read(T.vec(8, T.i8) if width == 8 else T.vec(4, T.i16), words + (4 + t * 2)).bitcast(fx.Int32)
        for i in fx.range_constexpr(2):
            out[t, i] = found[i]
            out[t, 2 + i] = same[i]

    x, out = (
        np.random.default_rng(1).integers(0, 1 << 30, (THREADS, 2)).astype(np.int32),
        np.zeros((THREADS, 4), np.int32),
    )
    launch(body, x, out)
    np.testing.assert_array_equal(out[:, :2], out[:, 2:])
    assert not np.array_equal(out[:, :2], x)


@pytest.mark.parametrize("form", ["unscaled", "scaled"])
def test_a_product_in_place(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    words = 8 if form == "unscaled" else 4
    unscaled = "v_mfma_f32_16x16x128_f8f6f4 $0, $1, $2, $0", "=a,v,v,0"
    scaled = (
        "v_mfma_scale_f32_16x16x128_f8f6f4 $0, $1, $2, $0, $3, $4 op_sel:[0,0] op_sel_hi:[0,0] cbsz:4 blgp:4",
        "=a,v,v,v,v,0",
    )

    def body(t: Any, a: Any, b: Any, c: Any) -> None:
        kind, accumulator = ir.VectorType.get([words], T.i32), ir.VectorType.get([4], T.f32)
        rows = [
            vector.from_elements(kind, [m[t % 16, t // 16 * words + i].ir_value() for i in range(words)])
            for m in (a, b)
        ]
        start = arith.constant(accumulator, 1.0)
        if fx.const_expr(form == "unscaled"):
            found = llvm.inline_asm(accumulator, [*rows, start], *unscaled)
        else:
            scales = [arith.constant(T.i32, 0x80), arith.constant(T.i32, 0x7E)]
            found = llvm.inline_asm(accumulator, [*rows, *scales, start], *scaled)
        for i in fx.range_constexpr(4):
            c[t // 16 * 4 + i, t % 16] = found[i]

    rng = np.random.default_rng(6)
    c = np.zeros((16, 16), np.float32)
    if form == "unscaled":
        a, b = (rng.integers(-4, 5, (16, 128)).astype(ml_dtypes.float8_e4m3fn) for _ in range(2))
        launch(body, a.view(np.int32), b.view(np.int32), c)
    else:
        codes = [rng.integers(0, 16, (16, 128)) for _ in range(2)]
        packed = [(code[:, ::2] | code[:, 1::2] << 4).astype(np.uint8).view(np.int32) for code in codes]
        table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
        a, b = ((np.where(code > 7, -1, 1) * table[code & 7]) for code in codes)
        launch(body, *packed, c)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64).T + 1, rtol=1e-6)


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_loads_straight_into_lds(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)

    def body(t: Any, x: Any, out: Any) -> None:
        words = shared_words(2 * THREADS)
        rsrc = llvm.bitcast(
            ir.VectorType.get([4], T.i32), llvm.ptrtoint(T.i128, fx.buffer_ops.create_buffer_resource(x))
        )
        start = llvm.ptrtoint(T.i32, words.llvm_ptr)
        text = (
            "s_mov_b32 m0, $0\n\tbuffer_load_dword $1, $2, 0 offen lds\n\t"
            f"s_add_u32 m0, {4 * THREADS}, m0\n\tbuffer_load_dword $1, $2, 0 offen offset:0 lds"
        )
        place = ((THREADS - 1 - t) * 4).ir_value()
        llvm.inline_asm(None, [start, place, rsrc], text, "s,v,s", has_side_effects=True)
        llvm.inline_asm(None, [], "s_waitcnt vmcnt(0)", "", has_side_effects=True)
        gpu.barrier()
        out[t, 0] = words[t]
        out[t, 1] = words[THREADS + t]

    x, out = np.arange(THREADS, dtype=np.int32) * 3, np.zeros((THREADS, 2), np.int32)
    launch(body, x, out)
    np.testing.assert_array_equal(out, np.stack([x[::-1], x[::-1]], 1))


def test_other_texts_are_refused_by_name() -> None:
    def body(t: Any, x: Any) -> None:
        x[t] = fx.Int32(llvm.inline_asm(T.i32, [x[t].ir_value()], "v_bfrev_b32 $0, $1", "=v,v"))

    with pytest.raises(LoweringError, match=r"'v_bfrev_b32 .*' has no form on the virtual GPU"):
        launch(body, np.zeros(THREADS, np.int32))
