"""Experts with rows of bf16 and weights of few bits on the virtual GPU; rows between the stages lie by expert."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.kernels.gemm.preshuffle_gemm import pack_int4, shuffle_weight
from flydsl.kernels.moe import references
from flydsl.kernels.moe.a16w4 import compile_gemm1_a16w4_port, compile_gemm2_a16w4_port
from flydsl.kernels.quant.formats import dequantize_mx, quantize_mx
from flydsl.kernels.quant.shuffles import shuffle_scale_w4
from tests.support.experts import Operand, Sizes, guarded, order_of, random_ids, untouched

BF16 = ml_dtypes.bfloat16
BETA, LINBETA, LIMIT = 2.0, 1.5, 3.0


def in_turns(rows: np.ndarray, experts: int) -> np.ndarray:
    """Blocks of 16 rows of gate and up in turns."""
    return rows.reshape(experts, 2, -1, 16, rows.shape[-1]).swapaxes(1, 2).reshape(rows.shape)


def weights_of(w: np.ndarray, kind: str, turns: bool) -> Operand:
    experts, depth = w.shape[0], w.shape[-1]

    def ordered(rows: np.ndarray) -> np.ndarray:
        return in_turns(rows, experts) if turns else rows

    flat = w.reshape(-1, depth)
    if kind == "bf16":
        return Operand(shuffle_weight(ordered(flat.astype(BF16))), None, w.astype(BF16).astype(np.float64))
    if kind == "mxfp4":
        codes, scale = quantize_mx(flat)
        numbers = dequantize_mx(codes, scale).reshape(w.shape)
        return Operand(shuffle_weight(ordered(codes)), shuffle_scale_w4(scale, experts, turns), numbers)
    groups = flat.reshape(-1, depth // 32, 32)
    scale = (np.abs(groups).max(-1) / 7).astype(BF16)
    codes = np.clip(np.rint(groups / scale.astype(np.float32)[..., None]), -8, 7).astype(np.int8)
    numbers = (codes * scale.astype(np.float64)[..., None]).reshape(w.shape)
    return Operand(pack_int4(shuffle_weight(ordered(codes.reshape(flat.shape)))), ordered(scale).copy(), numbers)


def gated(gate: np.ndarray, up: np.ndarray, act: str) -> np.ndarray:
    if act == "silu":
        return references.gated(gate, up)
    gate, up = np.minimum(gate, LIMIT), np.clip(up, -LIMIT, LIMIT)
    return BETA * np.tanh(gate / BETA) / (1 + np.exp(-gate)) * LINBETA * np.tanh(up / LINBETA)


@pytest.mark.parametrize(
    ("arch", "kind", "turns", "act"),
    [("gfx950", "mxfp4", False, "silu"), ("gfx942", "mxfp4", True, "situv2"), ("gfx942", "int4", True, "silu"),
     ("gfx950", "bf16", True, "situv2")],
)  # fmt: skip
def test_a_layer(
    arch: str, kind: str, turns: bool, act: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both stages; one case gives addresses instead of arrays."""
    monkeypatch.setenv("ARCH", arch)
    sizes = Sizes(int(rng.integers(1, 40)), 5, 2, 256, 256, 32)
    ids, weights = random_ids(sizes)
    order = order_of(ids, weights, sizes)
    blocks = len(order.expert_ids)
    order.ids[order.num_valid[0] :] = 0  # what lies behind the last block
    x = rng.standard_normal((sizes.tokens, 256)).astype(BF16)
    w1 = weights_of(rng.standard_normal((5, 512, 256)).astype(np.float32) / 8, kind, turns)
    w2 = weights_of(rng.standard_normal((5, 256, 256)).astype(np.float32) / 16, kind, False)

    def given(array: Any) -> Any:
        return array.ctypes.data if kind == "mxfp4" and turns and array is not None else array

    inner, whole = guarded((len(order.ids), 256), BF16)
    numbers = (BETA, 1 / BETA, LINBETA, 1 / LINBETA, -LIMIT, LIMIT)
    first = compile_gemm1_a16w4_port(
        32, D_HIDDEN=256, D_INTER=256, NE=5, TOPK=2, act=act, w_dtype=kind,
        w_layout="guinterleave" if turns else "standard",
    )  # fmt: skip
    arrays = (x, w1.codes, w1.scale, order.expert_ids, order.num_valid, order.ids)
    first(*map(given, arrays), sizes.tokens, blocks, *numbers, given(inner))
    sums = references.stage2(np.repeat(x.astype(np.float64)[:, None], 2, 1), w1.numbers, ids)
    want = gated(sums[..., :256], sums[..., 256:], act)
    listed = order.ids[: order.num_valid[0]]
    there = np.flatnonzero(listed & 0xFFFFFF < sizes.tokens)
    token, slot = listed[there] & 0xFFFFFF, listed[there] >> 24
    rounding = 2.0**-6 if kind == "int4" else 2.0**-8  # numbers of int4 are rounded to bf16 before they are multiplied
    assert np.abs(inner[there].astype(np.float64) - want[token, slot]).max() <= rounding * np.abs(want).max()
    assert untouched(whole) and np.isnan(np.delete(inner, there, 0).astype(np.float32)).all(), "padding has no rows"

    y, whole = guarded((sizes.tokens, 256), BF16, 0.0)
    second = compile_gemm2_a16w4_port(32, NE=5, N_OUT=256, D_INTER=256, w_dtype=kind)
    arrays = (inner, w2.codes, w2.scale, order.expert_ids, order.num_valid, order.ids, order.weights)
    second(*map(given, arrays), sizes.tokens, blocks, given(y))
    rows = np.zeros((sizes.tokens, 2, 256))
    rows[token, slot] = inner[there].astype(np.float64)
    want = references.reduce_slots(references.stage2(rows, w2.numbers, ids, weights))
    assert np.abs(y.astype(np.float64) - want).max() <= 2.0**-6 * np.abs(want).max() and untouched(whole)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"D_HIDDEN": 384}, "D_HIDDEN must be a positive multiple of 256, got 384"),
        ({"k_wave": 2, "D_HIDDEN": 256}, "D_HIDDEN must be a positive multiple of 512, got 256"),
        ({"D_INTER": 192, "TILE_N": 64}, "D_INTER must be a multiple of 128, got 192"),
        ({"BM": 24}, "BM must be a positive multiple of 16, got 24"),
        ({"k_wave": 3, "D_HIDDEN": 768}, "k_wave is one of 1, 2, 4, got 3"),
        ({"act": "relu"}, "act is one of silu, situv2"),
        ({"w_dtype": "fp8"}, "w_dtype is one of mxfp4, int4, bf16"),
        ({"w_layout": "other"}, "w_layout is one of standard, guinterleave"),
        ({"D_HIDDEN": 384, "TILE_K": 128}, "D_HIDDEN must be a multiple of 256 for mxfp4, got 384"),
    ],
)
def test_bad_choices_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(AssertionError) as error:
        compile_gemm1_a16w4_port(**{"BM": 32, "D_HIDDEN": 256, "D_INTER": 256, "NE": 4, "TOPK": 2, **change})
    assert message in str(error.value)


def test_arrays_that_end_too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies behind them was read and written."""
    monkeypatch.setenv("ARCH", "gfx942")
    first = compile_gemm1_a16w4_port(32, D_HIDDEN=256, D_INTER=256, NE=2, TOPK=2, w_dtype="int4")
    second = compile_gemm2_a16w4_port(32, NE=2, N_OUT=256, D_INTER=256, w_dtype="int4")
    ids, numbers = np.zeros(32, np.int32), (1.0, 1.0, 1.0, 1.0, 0.0, 0.0)
    x, inner, weights = np.zeros((3, 256), BF16), np.zeros((32, 256), BF16), np.zeros(32, np.float32)
    for gated, call in ((2, first), (1, second)):
        w, of_w = np.zeros(2 * 256 * 128 * gated, np.int8), np.zeros(2 * 256 * 8 * gated, BF16)
        rows, name = (x, "the array of rows") if gated == 2 else (x, "out")

        def run(rows: Any, w: Any, of_w: Any, gated: int = gated, call: Any = call) -> None:
            if gated == 2:
                call(rows, w, of_w, ids, ids, ids, 3, 0, *numbers, inner)
            else:
                call(inner, w, of_w, ids, ids, ids, weights, 3, 0, rows)

        run(rows, w, of_w)
        for short, what in (((rows[:2], w, of_w), name), ((rows, w[:-1], of_w), "the array of weights"),
                            ((rows, w, of_w[:-1]), "the array of scales of weights")):  # fmt: skip
            with pytest.raises(RuntimeError, match=rf"{what} has \d+ elements, and the kernel uses"):
                run(*short)
