"""Both stages of a mixture of experts, and what comes before and behind them."""

from __future__ import annotations

from typing import Any

from amd_kernels.case import CDNA, EVERY, NEW, Array, Case, Size
from flydsl.kernels.moe.a16w4 import compile_gemm1_a16w4_port
from flydsl.kernels.moe.blockscale_2stage import compile_moe_blockscale_gemm1
from flydsl.kernels.moe.mixed_2stage import compile_mixed_moe_gemm1, compile_mixed_moe_gemm2
from flydsl.kernels.moe.moe_gemm_2stage.moe_reduce import compile_moe_reduction
from flydsl.kernels.moe.moe_gemm_2stage.stages import compile_moe_gemm1, compile_moe_gemm2
from flydsl.kernels.moe.topk_gating import build_topk_gating_softmax_module

INTER, EXPERTS, TOPK, TOKENS, UNITS = 2048, 8, 2, 64, 8
SHAPE: dict[str, Any] = {"inter_dim": INTER, "experts": EXPERTS, "topk": TOPK}
ELEMENT = {"bf16": "bfloat16", "fp8": "int8", "int4": "int8"}


def order(rows: int) -> tuple[Any, ...]:
    """Entries, their experts, their weights, and how many there are."""
    return Array((rows,), "int32"), Array((UNITS,), "int32"), Array((rows,), "float32"), Array((2,), "int32", rows)


def plain(stage: int, in_dtype: str, archs: tuple[str, ...] = CDNA) -> Case:
    def make(arch: str, size: Size) -> Any:
        model, tile_m, wide = size.k, 64, 2 if stage == 1 else 1
        columns, depth = (INTER, model) if stage == 1 else (model, INTER)
        options = {**SHAPE, "model_dim": model, "tile_m": tile_m, "tile_n": 128, "in_dtype": in_dtype,
                   "tile_k": 64 if in_dtype == "bf16" else 128}  # fmt: skip
        run = compile_moe_gemm1(doweight_stage1=False, **options) if stage == 1 else compile_moe_gemm2(
            doweight_stage2=True, **options
        )  # fmt: skip
        weights = depth // 2 if in_dtype == "int4" else depth
        element = ELEMENT[in_dtype]
        x = Array((TOKENS if stage == 1 else TOKENS * TOPK, depth), element)
        w = Array((EXPERTS * wide * columns, weights), element)
        out = Array((TOKENS, TOPK, columns) if stage == 1 else (TOKENS, columns), "float16")
        scales = Array((x.shape[0],), "float32"), Array((w.shape[0],), "float32")
        return run, (out, x, w, *scales, *order(tile_m * UNITS), TOKENS, columns, depth, UNITS)

    return Case(f"moe stage {stage} {in_dtype} 64x128", archs, make)


def in_blocks(arch: str, size: Size) -> Any:
    model = size.k
    run = compile_moe_blockscale_gemm1(
        **SHAPE, model_dim=model, tile_m=32, tile_n=128, tile_k=128, doweight_stage1=False
    )
    x, w = Array((TOKENS, model), "int8"), Array((EXPERTS * 2 * INTER, model), "int8")
    scales = Array((model // 128 * TOKENS,), "float32"), Array((w.shape[0] // 128 * (model // 128),), "float32")
    out = Array((TOKENS, TOPK, INTER), "float16")
    return run, (out, x, w, *scales, *order(32 * UNITS), TOKENS, INTER, model, UNITS)


def mixed(stage: int, a_dtype: str) -> Case:
    def make(arch: str, size: Size) -> Any:
        model, rows = size.k, 32 * UNITS
        options = {**SHAPE, "model_dim": model, "tile_m": 32, "tile_n": 128, "tile_k": 256, "a_dtype": a_dtype}
        columns, depth = (INTER, model) if stage == 1 else (model, INTER)
        x = Array((TOKENS * (1 if stage == 1 else TOPK), depth // 2 if a_dtype == "fp4" else depth), "uint8")
        w = Array((EXPERTS * (2 if stage == 1 else 1) * columns, depth // 2), "uint8")
        scales = Array((rows * depth // 32,), "uint8"), Array((w.shape[0] * depth // 32,), "uint8")
        if stage == 1:
            run = compile_mixed_moe_gemm1(**options, doweight_stage1=False, out_dtype=a_dtype)
            out = Array((TOKENS, TOPK, columns // 2 if a_dtype == "fp4" else columns), "uint8")
            behind: tuple[Any, ...] = (None, Array((rows * columns // 32,), "uint8"))
        else:
            run = compile_mixed_moe_gemm2(**options, doweight_stage2=True, out_dtype="bf16")
            out, behind = Array((TOKENS, columns), "bfloat16"), (None,)
        return run, (out, x, w, *scales, *order(rows), *behind, TOKENS, columns, depth, UNITS)

    return Case(f"moe stage {stage} {a_dtype} x fp4 32x128", NEW, make)


def four_bits(kind: str) -> Case:
    """The first stage of bf16 rows with weights of four bits."""

    def make(arch: str, size: Size) -> Any:
        model, rows, wide = size.k, 32 * UNITS, EXPERTS * 2 * INTER
        run = compile_gemm1_a16w4_port(32, D_HIDDEN=model, D_INTER=INTER, NE=EXPERTS, TOPK=TOPK, w_dtype=kind)
        scales = Array((wide, model // 32), "uint8" if kind == "mxfp4" else "bfloat16")
        entries, experts, _, count = order(rows)
        x, w = Array((TOKENS, model), "bfloat16"), Array((wide, model // 2), "int8")
        out = Array((rows, INTER), "bfloat16")
        return run.launcher, (x, w, scales, experts, count, entries, TOKENS, UNITS, 1.0, 1.0, 0.0, out)

    return Case(f"moe stage 1 bf16 x {kind} 32x64", CDNA, make)


def gating(arch: str, size: Size) -> Any:
    run = build_topk_gating_softmax_module(256, 8)
    found = Array((size.m, 8), "int32")
    return run, (Array((size.m, 256), "bfloat16"), Array((size.m, 8), "float32"), found, found, size.m)


def reduction(arch: str, size: Size) -> Any:
    run = compile_moe_reduction(topk=8, model_dim=size.k)
    return run, (Array((size.m, 8, size.k), "float16"), Array((size.m, size.k), "float16"), None, size.m)


CASES = (
    plain(1, "bf16"),
    plain(1, "fp8"),
    plain(1, "int4"),
    plain(2, "bf16"),
    plain(2, "fp8"),
    Case("moe stage 1 blockscale fp8 32x128", CDNA, in_blocks),
    mixed(1, "fp4"),
    mixed(1, "fp8"),
    mixed(2, "fp4"),
    four_bits("mxfp4"),
    four_bits("int4"),
    Case("moe gating, 8 of 256", EVERY, gating),
    Case("moe reduction, 8 slots", EVERY, reduction),
)
