"""Experts with scales for 32 elements, biases and limits on the virtual GPU, against float64 of the numbers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.kernels.gemm.preshuffle_gemm import shuffle_weight
from flydsl.kernels.moe import references
from flydsl.kernels.moe.mixed_2stage import GateMode, compile_mixed_moe_gemm1, compile_mixed_moe_gemm2
from flydsl.kernels.moe.moe_gemm_2stage.moe_reduce import compile_moe_reduction
from flydsl.kernels.moe.mxfp_moe.host import flydsl_mxfp4_gemm1, flydsl_mxfp4_gemm2
from flydsl.kernels.moe.mxfp_moe.mx_rows import build_silu_and_mul_fq_module, moe_mxfp4_sort, scale_place
from flydsl.kernels.quant.formats import dequantize_mx, quantize_mx
from flydsl.kernels.quant.shuffles import e8m0_shuffle, shuffle_scale_w4, shuffle_weight_w4
from tests.support.experts import Sizes, cosine, guarded, order_of, random_ids, rows_of, untouched, weights_of
from tests.support.turns import in_turns

MODEL, INTER, EXPERTS, TOPK = 512, 256, 4, 2
MX = {"fp4": "mxfp4", "fp8": "mxfp8", "mxfp8": "mxfp8"}


def unsorted(scales: np.ndarray, order: references.Order, tokens: int) -> np.ndarray:
    """Scales of rows of the order, as [T, topk, K / 32]."""
    groups = scales.shape[1]
    out = np.zeros((tokens, TOPK, groups), np.uint8)
    for row, word in enumerate(order.ids[: order.num_valid[0]]):
        token, slot = word & 0xFFFFFF, word >> 24
        if token < tokens:
            out[token, slot] = scales.ravel()[scale_place(row, np.arange(groups), groups)]
    return out


def requantised(numbers: np.ndarray, quant: str) -> np.ndarray:
    return dequantize_mx(*quantize_mx(numbers, quant), quant)


@pytest.mark.parametrize(
    ("a_dtype", "b_dtype", "tile_m", "mode"),
    [("fp4", "fp4", 32, GateMode.SEPARATED), ("fp8", "fp4", 64, GateMode.INTERLEAVE),
     ("mxfp8", "mxfp8", 16, GateMode.SEPARATED)], ids=str,
)  # fmt: skip
def test_a_layer(
    a_dtype: str, b_dtype: str, tile_m: int, mode: GateMode, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first stage gives quantised rows with scales in the order, which the second takes as they are."""
    monkeypatch.setenv("ARCH", "gfx950")
    tokens, unit = 41, max(32, tile_m)
    sizes = Sizes(tokens, EXPERTS, TOPK, MODEL, INTER, unit)
    ids, weights = random_ids(sizes)
    order = order_of(ids, weights, sizes)
    x, sx = quantize_mx(rng.standard_normal((tokens, MODEL)), MX[a_dtype])
    w1, s1 = quantize_mx(rng.standard_normal((EXPERTS * 2 * INTER, MODEL)) / 20, MX[b_dtype])
    w2, s2 = quantize_mx(rng.standard_normal((EXPERTS * MODEL, INTER)) / 16, MX[b_dtype])
    wide1 = dequantize_mx(w1, s1, MX[b_dtype]).reshape(EXPERTS, 2 * INTER, MODEL)
    wide2 = dequantize_mx(w2, s2, MX[b_dtype]).reshape(EXPERTS, MODEL, INTER)
    turns = mode is GateMode.INTERLEAVE
    first = shuffle_weight_w4(w1.reshape(EXPERTS, -1, w1.shape[1]), gate_up=True) if turns else shuffle_weight(w1)
    dims: dict[str, Any] = {"model_dim": MODEL, "inter_dim": INTER, "experts": EXPERTS, "topk": TOPK, "tile_m": tile_m,
                            "tile_n": 64, "tile_k": 256, "a_dtype": a_dtype, "b_dtype": b_dtype}  # fmt: skip
    listed = (order.ids, order.expert_ids, order.weights, order.num_valid)
    scales = moe_mxfp4_sort(sx, order.ids, order.num_valid, tokens)
    out_dtype = a_dtype.removeprefix("mx")
    codes = np.full((tokens, TOPK, INTER // (2 if out_dtype == "fp4" else 1)), 0xEE, np.uint8)
    out_scale = np.full((-(-len(order.ids) // 32) * 32, INTER // 32), 0xEE, np.uint8)
    run = compile_mixed_moe_gemm1(**dims, doweight_stage1=False, out_dtype=out_dtype, gate_mode=mode)
    run(codes, x, first, scales, shuffle_scale_w4(s1, EXPERTS, turns), *listed, None, out_scale, tokens, INTER, MODEL,
        len(order.expert_ids))  # fmt: skip
    inner = dequantize_mx(codes, unsorted(out_scale, order, tokens), MX[a_dtype])
    want = references.stage1(dequantize_mx(x, sx, MX[a_dtype]), wide1, ids)
    assert cosine(inner, requantised(want, MX[a_dtype])) > 0.9995

    y, whole = guarded((tokens, MODEL), np.float32, 0.0)
    second = compile_mixed_moe_gemm2(**dims, doweight_stage2=True, out_dtype="f32")
    second(y, codes, shuffle_weight(w2), out_scale, shuffle_scale_w4(s2, EXPERTS), *listed, None, tokens, MODEL, INTER,
           len(order.expert_ids))  # fmt: skip
    want = references.reduce_slots(references.stage2(inner, wide2, ids, weights))
    np.testing.assert_allclose(y, want, atol=1e-5 * np.abs(want).max())
    assert untouched(whole)


def test_groups_have_no_bank_conflicts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of 32 bits in LDS, of which a lane quantises 32."""
    monkeypatch.setenv("ARCH", "gfx950")
    run = compile_mixed_moe_gemm1(
        model_dim=512, inter_dim=128, experts=1, topk=1, tile_m=32, tile_n=128, tile_k=256, doweight_stage1=False,
        a_dtype="fp4", b_dtype="fp4", out_dtype="fp4",
    )  # fmt: skip
    out, x, w, scales = (np.zeros(shape, np.uint8) for shape in ((32, 1, 64), (32, 256), (256, 256), 8192))
    zeros, numbers = np.zeros(32, np.int32), np.zeros(32, np.float32)
    order = (zeros, zeros, numbers, np.full(2, 32, np.int32))
    report = flyc.lds_report(run, out, x, w, scales, scales, *order, None, scales, 32, 128, 512, 1)
    assert {row.kind for row in report.rows if row.executed} == {"read", "write"}
    assert report.extra_cycles == 0, str(report)


@pytest.mark.parametrize(
    ("a_dtype", "b_dtype", "options"),
    [("fp4", "fp4", {"k_batch": 2, "gate_mode": GateMode.MOCK_GATE_ONLY}), ("fp8", "fp4", {"k_batch": 2}),
     ("mxfp8", "mxfp8", {"a_scale_one": True, "gate_mode": GateMode.INTERLEAVE}),
     ("fp8", "fp4", {"model_dim_pad": 192})], ids=str,
)  # fmt: skip
def test_parts_of_k_padding_and_rows_without_scales(
    a_dtype: str, b_dtype: str, options: dict[str, Any], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    sizes = Sizes(19, EXPERTS, TOPK, MODEL, INTER, 32)
    ids, weights = random_ids(sizes)
    order, split = order_of(ids, weights, sizes), options.get("k_batch", 1) > 1
    turns, pad = options.get("gate_mode") is GateMode.INTERLEAVE, options.get("model_dim_pad", 0)
    numbers = rng.standard_normal((19, MODEL))
    numbers[:, MODEL - pad :] = 0
    x, sx = quantize_mx(numbers, MX[a_dtype])
    least = 6000 if options.get("a_scale_one") else 20  # codes alone are large numbers
    w1, s1 = quantize_mx(rng.standard_normal((EXPERTS * 2 * INTER, MODEL)) / least, MX[b_dtype])
    scales = moe_mxfp4_sort(sx, order.ids, order.num_valid, 19)
    if options.get("a_scale_one"):
        sx, scales = np.full_like(sx, 127), None
    laid = w1.reshape(EXPERTS, 2, -1, 16, w1.shape[1]).swapaxes(1, 2).reshape(w1.shape) if turns else w1
    out, whole = guarded((19, TOPK, INTER * (2 if split else 1)), np.float32 if split else ml_dtypes.bfloat16, 0.0)
    run = compile_mixed_moe_gemm1(
        model_dim=MODEL, inter_dim=INTER, experts=EXPERTS, topk=TOPK, tile_m=32, tile_n=64, tile_k=256,
        doweight_stage1=False, a_dtype=a_dtype, b_dtype=b_dtype, out_dtype="bf16", **options,
    )  # fmt: skip
    run(out, x, shuffle_weight(laid), scales, shuffle_scale_w4(s1, EXPERTS, turns), order.ids, order.expert_ids,
        order.weights, order.num_valid, None, None, 19, INTER, MODEL, len(order.expert_ids))  # fmt: skip
    wide = dequantize_mx(x, sx, MX[a_dtype]), dequantize_mx(w1, s1, MX[b_dtype]).reshape(EXPERTS, -1, MODEL)
    want = references.stage1(*wide, ids)
    if split:
        want = references.stage2(np.repeat(wide[0][:, None], TOPK, 1), wide[1], ids)
    bound = (1e-5 if split else 2.0**-8) * np.abs(want).max()
    assert np.abs(out.astype(np.float64) - want).max() <= bound and untouched(whole)


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_bias_and_limits(arch: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    sizes = Sizes(21, EXPERTS, TOPK, 256, 128)
    ids, weights = random_ids(sizes)
    order = order_of(ids, weights, sizes)
    listed = (order.ids, order.expert_ids, order.weights, order.num_valid)
    x = rows_of(rng.standard_normal((21, 256)).astype(np.float32) * 4, "fp8", arch)
    w1 = weights_of(rng.standard_normal((EXPERTS, 256, 256)).astype(np.float32) / 8, "fp8", arch)
    w2 = weights_of(rng.standard_normal((EXPERTS, 256, 128)).astype(np.float32) / 12, "fp16", arch)
    b1, b2 = (rng.standard_normal((EXPERTS, 256)).astype(np.float32) for _ in range(2))
    dims: dict[str, Any] = {"model_dim": 256, "inter_dim": 128, "experts": EXPERTS, "topk": TOPK, "tile_m": 16,
                            "tile_n": 64, "tile_k": 128, "enable_bias": True}  # fmt: skip
    a2 = np.full((21, TOPK, 128), np.nan, np.float16)
    run = compile_mixed_moe_gemm1(
        **dims, doweight_stage1=False, a_dtype="fp8", b_dtype="fp8", act="swiglu", swiglu_limit=3.0
    )
    run(a2, x.codes, w1.codes, x.scale, w1.scale, *listed, b1, None, 21, 128, 256, len(order.expert_ids))
    want = references.stage1(x.numbers, w1.numbers, ids, act="swiglu", limit=3.0, bias=b1)
    assert np.abs(a2 - want).max() < 2.0**-9 * np.abs(want).max()
    y = np.zeros((21, 256), np.float32)
    run = compile_mixed_moe_gemm2(**dims, doweight_stage2=True, a_dtype="fp16", b_dtype="fp16", out_dtype="f32")
    run(y, a2, w2.codes, None, None, *listed, b2, 21, 256, 128, len(order.expert_ids))
    want = references.reduce_slots(references.stage2(a2, w2.numbers, ids, weights, bias=b2))
    np.testing.assert_allclose(y, want, atol=1e-4)
    with pytest.raises(ValueError, match="compiled with enable_bias=True"):
        run(y, a2, w2.codes, None, None, *listed, None, 21, 256, 128, len(order.expert_ids))


@pytest.mark.parametrize("gui", [False, True])
def test_gates_behind_a_split_stage(gui: bool, rng: np.random.Generator) -> None:
    sizes = Sizes(19, EXPERTS, TOPK, unit=32)
    ids, weights = random_ids(sizes)
    order = order_of(ids, weights, sizes)
    x = rng.standard_normal((19, TOPK, 2 * INTER)).astype(ml_dtypes.bfloat16)
    bias = rng.standard_normal((EXPERTS, 2 * INTER)).astype(np.float32)
    parts = x.astype(np.float64) + bias[ids]
    if gui:
        turned = parts.reshape(19, TOPK, -1, 2, 16)
        parts = np.concatenate([turned[..., g, :].reshape(19, TOPK, -1) for g in range(2)], -1)
    gate, up = np.split(parts, 2, -1)
    want = references.gated(gate, up, "swiglu")
    for quant, size in (("none", 2), ("fp8", 1), ("fp4", 0.5)):
        out = np.zeros((19, TOPK, int(INTER * size)), np.uint8)
        scale = np.zeros((-(-len(order.ids) // 32) * 32, INTER // 32), np.uint8)
        run = build_silu_and_mul_fq_module(INTER, TOPK, quant, gui, "swiglu", True)
        target = np.zeros((19, TOPK, INTER), ml_dtypes.bfloat16) if quant == "none" else out
        run(x, target, scale, order.ids, order.num_valid, ids, bias, 19, len(order.ids))
        got = target if quant == "none" else dequantize_mx(out, unsorted(scale, order, 19), MX[quant])
        assert cosine(got, want if quant == "none" else requantised(want, MX[quant])) > 0.9995


@pytest.mark.parametrize("quant", ["fp4", "fp8"])
@pytest.mark.parametrize("tokens", [64, 41])
def test_scales_of_rows_that_are_no_multiple_of_256(
    quant: str, tokens: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eights of scales are padded: the last ones of a row were written over those of the next 32 rows."""
    monkeypatch.setenv("ARCH", "gfx950")
    inter = 32 * int(rng.choice([n for n in range(1, 24) if n % 8]))
    groups, ids = inter // 32, np.arange(tokens, dtype=np.int32)
    eights, blocks = -(-groups // 8), -(-tokens // 32)
    room = 256 * blocks * eights
    x = (rng.standard_normal((tokens, 2 * inter)) * 2.0 ** rng.integers(-9, 4, (tokens, 1))).astype(ml_dtypes.bfloat16)
    out, whole = (np.zeros(shape, np.uint8) for shape in ((tokens, inter // (2 if quant == "fp4" else 1)), room + 64))
    valid = np.array([tokens, tokens], np.int32)
    run = build_silu_and_mul_fq_module(inter, 1, quant)
    run(x, out, whole[:room].reshape(-1, 8), ids, valid, None, None, tokens, tokens)
    n, j = np.divmod(np.arange(tokens * groups), groups)
    place = ((((n // 32 * eights + j // 8) * 4 + j % 4) * 16 + n % 16) * 2 + j // 4 % 2) * 2 + n // 16 % 2
    got = dequantize_mx(out, whole[place].reshape(tokens, groups), MX[quant])
    gate, up = x[:, :inter].astype(np.float64), x[:, inter:].astype(np.float64)
    want = requantised(gate / (1 + np.exp(-gate)) * up, MX[quant])
    assert min(cosine(mine, exact) for mine, exact in zip(got, want)) > 0.999
    whole[place] = 0
    assert not whole.any(), "bytes of padding are not written, nor any behind"
    with pytest.raises(RuntimeError, match=f"out_scale_sorted has {room - 1} elements, and the kernel uses {room}"):
        run(x, out, whole[: room - 1], ids, valid, None, None, tokens, tokens)


def test_bad_choices_are_refused() -> None:
    dims: dict[str, Any] = {"model_dim": 512, "inter_dim": 256, "experts": 4, "topk": 2, "tile_m": 32, "tile_n": 64,
                            "tile_k": 256, "doweight_stage1": False}  # fmt: skip
    for change, message in (
        ({"a_dtype": "fp8", "b_dtype": "int4"}, "a_dtype and b_dtype are fp8 and fp8"),
        ({"tile_k": 128}, "tile_k must be a positive multiple of 256"),
        ({"act": "relu"}, "act must be one of silu, swiglu"),
        ({"out_dtype": "fp6"}, "out_dtype must be one of"),
    ):
        with pytest.raises(ValueError, match=message):
            compile_mixed_moe_gemm1(**{**dims, **change})
    for change, message in (
        ({"k_batch": 3}, "k_batch must divide 512 elements into tiles of 256, got 3"),
        ({"model_dim_pad": 512}, "padding of 512 of 512 elements"),
        ({"gate_mode": GateMode.MOCK_GATE_ONLY}, "as k_batch above 1 does"),
        ({"a_dtype": "fp8", "b_dtype": "fp8", "a_scale_one": True}, "rows without scales, are for scales of 32"),
    ):
        with pytest.raises(ValueError, match=message):
            compile_mixed_moe_gemm1(**{**dims, **change})
    with pytest.raises(NotImplementedError, match="gates alone have no kernel"):
        compile_mixed_moe_gemm1(**dims, gate_mode=GateMode.GATE_ONLY)
    with pytest.raises(ValueError, match="block_size must be a multiple of 32"):
        moe_mxfp4_sort(np.zeros((1, 8), np.uint8), np.zeros(4, np.int32), np.zeros(2, np.int32), 1, 16)
    with pytest.raises(ValueError, match="there are scales of 1 tokens, and token_num is 2"):
        moe_mxfp4_sort(np.zeros((1, 8), np.uint8), np.zeros(4, np.int32), np.zeros(2, np.int32), 2)
    x, out, ids = np.zeros((4, 128), ml_dtypes.bfloat16), np.zeros((4, 64), ml_dtypes.bfloat16), np.zeros(8, np.int32)
    run, valid = build_silu_and_mul_fq_module(64, 2, "none"), np.zeros(2, np.int32)
    for short in ((x[:3], out, None, ids), (x, out[:3], None, ids), (x, out, None, ids[:7])):
        with pytest.raises(RuntimeError, match=r"(x|out|sorted_ids) has \d+ elements, and the kernel uses"):
            run(*short, valid, None, None, 2, 8)
    with pytest.raises(ValueError, match="quant_mode is fp4, fp8 or none"):
        build_silu_and_mul_fq_module(64, 2, "fp6")


def check_codes(
    want: np.ndarray, inner: Any, inner_scale: Any, w2: Any, s2: Any, order: Any, tokens: int, shared: dict[str, Any]
) -> None:
    """The second stage that ends in codes: scales apart, or behind the codes of a row, which a reduction reads."""
    apart = "nonatomic_mxfp4" if shared["a_dtype"] == "fp4" else "nonatomic_fp8"
    quant, size = ("mxfp4", MODEL // 2) if apart == "nonatomic_mxfp4" else ("mxfp8", MODEL)
    scale = np.zeros((tokens * TOPK, MODEL // 32), np.uint8)
    behind = np.zeros((tokens * TOPK, MODEL + MODEL // 8), np.uint8)
    codes = np.zeros((tokens * TOPK, size), np.uint8)
    for epilog, out, out_scale in ((apart, codes, scale), ("nonatomic_fp8", behind, None)):
        flydsl_mxfp4_gemm2(
            inter_sorted_quant=inner, inter_sorted_shuffled_scale=inner_scale, w2_u8=shuffle_weight(w2),
            w2_scale_u8=e8m0_shuffle(s2), sorted_token_ids=order.ids, sorted_weights=order.weights, flat_out=out,
            M_logical=tokens, max_sorted=len(order.ids), epilog=epilog, flat_out_scale=out_scale, **shared,
        )  # fmt: skip
    assert cosine(dequantize_mx(codes, scale, quant), requantised(want, quant)) > 0.995
    y = np.full((tokens, MODEL), np.nan, ml_dtypes.bfloat16)
    compile_moe_reduction(topk=TOPK, model_dim=MODEL, dtype_str="fp8")(behind, y, None, tokens)
    exact = dequantize_mx(behind[:, :MODEL].copy(), behind[:, MODEL : MODEL + MODEL // 32].copy(), "mxfp8")
    exact = exact.reshape(tokens, TOPK, -1).sum(1)
    assert np.abs(y.astype(np.float64) - exact).max() <= 2.0**-8 * np.abs(exact).max()
    assert cosine(y, want.sum(1)) > 0.99


@pytest.mark.parametrize(("BM", "a_dtype", "inline"), [(16, "fp4", True), (32, "fp8", False)])
def test_inner_rows_in_the_order(
    BM: int, a_dtype: str, inline: bool, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole layers by the names of mxfp_moe, which the original expects to fail."""
    monkeypatch.setenv("ARCH", "gfx950")
    tokens, quant, unit = 23, MX[a_dtype], max(BM, 32)
    sizes = Sizes(tokens, EXPERTS, TOPK, MODEL, INTER, unit)
    ids, weights = random_ids(sizes)
    order = order_of(ids, weights, sizes)
    hidden = rng.standard_normal((tokens, MODEL)).astype(ml_dtypes.bfloat16)
    x, sx = quantize_mx(hidden, quant)
    w1, s1 = quantize_mx(rng.standard_normal((EXPERTS * 2 * INTER, MODEL)) / 20)
    w2, s2 = quantize_mx(rng.standard_normal((EXPERTS * MODEL, INTER)) / 16)
    rows = -(-len(order.ids) // 32) * 32
    inner = np.zeros((rows, INTER // (2 if a_dtype == "fp4" else 1)), np.uint8)
    inner_scale, listed = np.zeros((rows, INTER // 32), np.uint8), order.ids & 0xFFFFFF
    shared: dict[str, Any] = {"sorted_expert_ids": order.expert_ids, "cumsum_tensor": order.num_valid, "BM": BM,
                              "NE": EXPERTS, "D_HIDDEN": MODEL, "D_INTER": INTER, "topk": TOPK, "a_dtype": a_dtype,
                              "use_nt": False}  # fmt: skip
    flydsl_mxfp4_gemm1(
        a_quant=None if inline else x,
        a_scale_sorted_shuffled=None if inline else moe_mxfp4_sort(sx, listed, order.num_valid, tokens),
        w1_u8=shuffle_weight(w1), w1_scale_u8=e8m0_shuffle(s1), m_indices=listed, inter_sorted_quant=inner,
        inter_sorted_shuffled_scale=inner_scale, hidden_states=hidden, n_tokens=tokens, inline_quant=inline, **shared,
    )  # fmt: skip
    wide1 = dequantize_mx(w1, s1).reshape(EXPERTS, 2 * INTER, MODEL)
    wide2 = dequantize_mx(w2, s2).reshape(EXPERTS, MODEL, INTER)
    first = requantised(references.stage1(dequantize_mx(x, sx, quant), wide1, ids), quant)
    want = references.stage2(first, wide2, ids, weights)
    for epilog, shape in in_turns((("atomic", (tokens, MODEL)), ("nonatomic", (tokens, TOPK, MODEL)))):
        y = np.zeros(shape, ml_dtypes.bfloat16)
        flydsl_mxfp4_gemm2(
            inter_sorted_quant=inner, inter_sorted_shuffled_scale=inner_scale, w2_u8=shuffle_weight(w2),
            w2_scale_u8=e8m0_shuffle(s2), sorted_token_ids=order.ids, sorted_weights=order.weights, flat_out=y,
            M_logical=tokens, max_sorted=len(order.ids), epilog=epilog, **shared,
        )  # fmt: skip
        assert cosine(y, want.sum(1) if epilog == "atomic" else want) > 0.999
    check_codes(want, inner, inner_scale, w2, s2, order, tokens, shared)
    with pytest.raises(NotImplementedError, match="BM is one of"):
        flydsl_mxfp4_gemm2(**dict.fromkeys(
            ("inter_sorted_quant", "inter_sorted_shuffled_scale", "w2_u8", "w2_scale_u8", "sorted_token_ids",
             "sorted_weights", "flat_out"), None), M_logical=1, max_sorted=1, **{**shared, "BM": 48})  # fmt: skip
