"""Arrays of another type, or of fewer elements, than a kernel takes: their bits were read as its numbers, or what lies
beside them was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.kernels.gemm.blockscale_preshuffle_gemm import compile_blockscale_preshuffle_gemm
from flydsl.kernels.gemm.fp8_gemm import compile_fp8_gemm_4w
from flydsl.kernels.gemm.gemm_fp8fp4_gfx1250 import compile_fp8fp4_gemm
from flydsl.kernels.gemm.hgemm_splitk import compile_hgemm_kernel
from flydsl.kernels.moe.expert_weights import prepare_experts
from flydsl.kernels.moe.layer import run_experts
from flydsl.kernels.moe.moe_gemm_2stage.moe_reduce import compile_moe_reduction
from flydsl.kernels.moe.row_order import sort_rows
from flydsl.kernels.moe.sorting import moe_softmax_sort_flydsl
from flydsl.kernels.quant.device_quant import build_tensor_quant_module

BF16, FP8 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn
OTHER = r"an array holds \w+, and the kernel was built for (BFloat16|Float32)"


def hgemm(c: Any = BF16) -> None:
    run = compile_hgemm_kernel("bf16", 64, 128, TILE_M=32, TILE_N=64)
    a, b = np.zeros((20, 128), BF16), np.zeros((64, 128), BF16)
    run(np.zeros((20, 64), c), a, b, b[0], 20, *np.zeros((2, 64), np.int32))


def fp8_gemm(c: Any = BF16, scale: Any = np.float32) -> None:
    a, b = np.zeros((20, 128), FP8), np.zeros((64, 128), FP8)
    run = compile_fp8_gemm_4w(K=128, BLOCK_M=64, BLOCK_N=64)
    run(a, b, np.zeros((20, 64), c), np.ones(20, np.float32), np.ones(64, scale), 20, 64)


def blockscale(scale: Any = np.float32) -> None:
    a, b = np.zeros((20, 128), FP8), np.zeros((64, 128), FP8)
    run = compile_blockscale_preshuffle_gemm(N=64, K=128, tile_m=32, tile_n=64, tile_k=128)
    run(np.zeros((20, 64), BF16), a, b, np.ones((1, 20), np.float32), np.ones((1, 1), scale), 20, 64)


def rows_of_gfx1250(scale: Any = np.float32) -> None:
    a, b = np.zeros((20, 256), FP8), np.zeros((64, 256), FP8)
    run = compile_fp8fp4_gemm(
        data_format="fp8", scale_mode="ptpc", K=256, out_dtype="bf16", tile_m=32, tile_n=64, tile_k=128, m_warp=2,
        n_warp=2,
    )  # fmt: skip
    run(np.zeros((20, 64), BF16), a, b, np.ones(20, scale), np.ones(64, np.float32), 20, 64, 256, 64)


PRODUCTS: dict[str, tuple[str, Callable[..., None], dict[str, Any]]] = {
    "hgemm into f32": ("gfx950", hgemm, {"c": np.float32}),
    "fp8 into f32": ("gfx950", fp8_gemm, {"c": np.float32}),
    "fp8 with scales of bf16": ("gfx950", fp8_gemm, {"scale": BF16}),
    "blocks with scales of bf16": ("gfx950", blockscale, {"scale": BF16}),
    "rows with scales of f16": ("gfx1250", rows_of_gfx1250, {"scale": np.float16}),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arch, call, other = PRODUCTS[name]
    monkeypatch.setenv("ARCH", arch)
    call()
    with pytest.raises(TypeError, match=OTHER):
        call(**other)


def test_quantising_without_room_for_the_scale() -> None:
    run, x, codes = build_tensor_quant_module(64, "f16"), np.ones((5, 64), np.float16), np.zeros((5, 64), FP8)
    tops, room = np.zeros(5, np.float32), np.full(4, 7, np.float32)
    with pytest.raises(RuntimeError, match="1 numbers are asked for, and an array has 0"):
        run(x, codes, tops, room[:0], 5)
    assert (room == 7).all()
    for wrong in ((tops.astype(BF16), room), (tops, room.astype(np.float64))):
        with pytest.raises(TypeError, match=OTHER):
            run(x, codes, *wrong, 5)


def test_a_promise_that_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    run = compile_moe_reduction(topk=2, model_dim=64, dtype_str="f16", aligned=True)
    memory = np.zeros(3 * 64 * 3 + 16, np.float16)
    memory = memory[-memory.ctypes.data // 2 % 8 :]
    for begin in (0, 1):
        x, y = memory[begin:][: 3 * 2 * 64].reshape(3, 2, 64), np.zeros((3, 64), np.float16)
        if begin:
            with pytest.raises(RuntimeError, match="were promised to begin at multiples of 16 bytes"):
                run(x, y, None, 3)
        else:
            run(x, y, None, 3)


# Experts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "fp8_blockscale"])
def test_experts_put_together_by_hand(kind: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """Of one set of weights and another, by two launches for few tokens; what scales say, however they lie, counts."""
    monkeypatch.setenv("ARCH", "sm_90a")
    made = lambda *shape: (rng.standard_normal(shape) / 16).astype(BF16)  # noqa: E731
    experts = prepare_experts(made(5, 256, 256), made(5, 256, 128), kind, "sm_90a")
    x, ids = made(4, 256), np.array([[0, 1], [4, 2], [3, 1], [2, 0]], np.int32)
    weights = np.full((4, 2), 0.5, np.float32)

    def result(given: Any) -> np.ndarray:
        y = np.zeros_like(x)
        run_experts(x, ids, weights, given, y)
        return y.astype(np.float64)

    wanted = result(experts)
    for name, other in (("w1", experts.w1[:4]), ("w1", experts.w1[:, :128]), ("w1", experts.w1[..., :128])):
        with pytest.raises(ValueError, match=rf"with w2 of \(5, 256, 128\), {name} is \(5, 256, 256\), got"):
            result(replace(experts, **{name: other}))
    if kind == "plain":
        return
    for name, other, says in (
        ("scale1", experts.scale1[..., :1], r"scale1 is \(5, 2, 2\)"), ("scale2", experts.scale2[:4], "scale2 is"),
        ("scale1", experts.scale1.astype(BF16), "scale1 holds bfloat16"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=says):
            result(replace(experts, **{name: other}))
    scales = {name: np.ascontiguousarray(getattr(experts, name)) for name in ("scale1", "scale2")}
    assert np.abs(result(replace(experts, **scales)) - wanted).max() < 0.02 * np.abs(wanted).max()


def test_scales_of_experts_that_are_no_bytes(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """Their bits were read as exponents, and gave NaN."""
    monkeypatch.setenv("ARCH", "gfx950")
    made = lambda *shape: (rng.standard_normal(shape) / 16).astype(BF16)  # noqa: E731
    experts = prepare_experts(made(2, 512, 256), made(2, 256, 256), "mxfp4", "gfx950")
    x, ids, weights = made(2, 256), np.array([[0], [1]], np.int32), np.ones((2, 1), np.float32)
    for name in ("scale1", "scale2"):
        wide = replace(experts, **{name: getattr(experts, name).astype(np.float32)})
        with pytest.raises(ValueError, match=f"{name} holds float32; scales of mxfp4 are bytes"):
            run_experts(x, ids, weights, wide, np.zeros_like(x))


@pytest.mark.parametrize("tokens", [20, 600])
def test_chosen_experts_that_lie_apart(tokens: int, rng: np.random.Generator) -> None:
    """They are written where their logits are given, and were, in a copy."""
    logits = rng.standard_normal((tokens, 8)).astype(BF16)
    ids, weights = np.full((tokens, 4), -9, np.int32), np.full((tokens, 4), -9, np.float32)
    with pytest.raises(ValueError, match=r"topk_ids of .* is written, and its elements lie apart"):
        sort_rows(ids[:, :2], weights[:, :2], 8, None, None, logits)
    assert (ids == -9).all()


def test_logits_of_fewer_experts(rng: np.random.Generator) -> None:
    ids, weights = np.full((20, 4), -9, np.int32), np.full((20, 4), -9, np.float32)
    order = np.zeros(256, np.int32), np.zeros(256, np.float32), np.zeros(64, np.int32), np.zeros(2, np.int32)
    logits = rng.standard_normal((20, 8)).astype(BF16)
    with flyc.sanitize("bounds"):
        with pytest.raises(ValueError, match=r"logits are \(T, 8\), one for each expert, got \(20, 7\)"):
            moe_softmax_sort_flydsl(logits[:, :7], weights, ids, *order, None, 8, 2, "bf16", 16)
        with pytest.raises(ValueError, match=r"topk_ids of .* lie apart"):
            moe_softmax_sort_flydsl(logits, weights[:, :2], ids[:, :2], *order, None, 8, 2, "bf16", 16)
        whole = ids[:, :2].copy(), weights[:, :2].copy()
        moe_softmax_sort_flydsl(logits, whole[1], whole[0], *order, None, 8, 2, "bf16", 16)
    assert (whole[0] >= 0).all()
