"""The products of CDNA."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from amd_kernels.case import CDNA, FP8, NEW, Array, Case, Size
from flydsl.kernels.gemm.blockscale_preshuffle_gemm import compile_blockscale_preshuffle_gemm
from flydsl.kernels.gemm.fp8_gemm import compile_fp8_gemm_4w, compile_fp8_gemm_8w
from flydsl.kernels.gemm.hgemm_splitk import compile_hgemm_kernel
from flydsl.kernels.gemm.mxfp4_preshuffle import compile_fp4_gemm_4w, compile_preshuffle_gemm_w4
from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm
from flydsl.kernels.gemm.preshuffle_w4a16 import compile_preshuffle_gemm_w4a16

ELEMENT = {"fp16": "float16", "bf16": "bfloat16", "int8": "int8", "int4": "int8"}
Tile = tuple[int, int, int]
Made = tuple[Any, tuple[Any, ...]]


def shape_of(tile: Tile) -> str:
    return "x".join(map(str, tile))


def half(tile: Tile, archs: tuple[str, ...], large: bool = False, peer: str = "", **options: Any) -> Case:
    def make(arch: str, size: Size) -> Made:
        m, n, k = size
        counters = Array((256,), "int32")
        arrays = [Array(shape, "float16") for shape in ((m, n), (m, k), (n, k), (n,))]
        return compile_hgemm_kernel("f16", n, k, *tile, **options), (*arrays, m, counters, counters)

    shown = "".join(f" {key.lower()}={value}" for key, value in options.items())
    return Case(f"hgemm f16 {shape_of(tile)}{shown}", archs, make, large, peer)


def preshuffle(in_dtype: str, tile: Tile, archs: tuple[str, ...], large: bool = False, copied: bool = False,
               peer: str = "") -> Case:  # fmt: skip
    def make(arch: str, size: Size) -> Made:
        m, n, k = size
        element, numbers = FP8[arch] if in_dtype == "fp8" else ELEMENT[in_dtype], Array((n,), "float32")
        depth = k // 2 if in_dtype == "int4" else k
        gemm = compile_preshuffle_gemm(N=n, K=k, tile_m=tile[0], tile_n=tile[1], tile_k=tile[2], in_dtype=in_dtype,
                                       out_dtype="fp16", use_async_copy=copied)  # fmt: skip
        arrays = (Array((m, n), "float16"), Array((m, k), element), Array((n, depth), element))
        return gemm, (*arrays, numbers, numbers, numbers, m, n)

    name = f"preshuffle {in_dtype} {shape_of(tile)}" + (", copied" if copied else "")
    return Case(name, archs, make, large, peer)


def block_scaled(a_dtype: str, b_dtype: str, tile: Tile, large: bool = False, peer: str = "") -> Case:
    def make(arch: str, size: Size) -> Made:
        m, n, k = size
        a, b = (k // 2 if dtype == "fp4" else k for dtype in (a_dtype, b_dtype))
        scales = Array((max(m, n), k // 32), "uint8")
        gemm = compile_preshuffle_gemm_w4(N=n, K=k, tile_m=tile[0], tile_n=tile[1], tile_k=tile[2], a_dtype=a_dtype,
                                          b_dtype=b_dtype, use_async_copy=True)  # fmt: skip
        arrays = (Array((m, n), "bfloat16"), Array((m, a), "uint8"), Array((n, b), "uint8"))
        return gemm, (*arrays, scales, scales, scales, m, n)

    return Case(f"preshuffle {a_dtype} x {b_dtype} {shape_of(tile)}", NEW, make, large, peer)


def rows_scaled(compile_gemm: Callable[..., Any], arch: str, size: Size) -> Made:
    m, n, k = size
    operands = (Array((m, k), FP8[arch]), Array((n, k), FP8[arch]), Array((m, n), "bfloat16"))
    return compile_gemm(K=k), (*operands, Array((m,), "float32"), Array((n,), "float32"), m, n)


def four_bits(_: str, size: Size) -> Made:
    m, n, k = size
    operands = (Array((m, k // 2), "uint8"), Array((n, k // 2), "uint8"), Array((m, n), "bfloat16"))
    scales = Array((max(m, n), k // 32), "uint8")
    return compile_fp4_gemm_4w(K=k), (*operands, scales, scales, m, n)


def blocks(arch: str, size: Size) -> Made:
    m, n, k = size
    gemm = compile_blockscale_preshuffle_gemm(N=n, K=k, tile_m=64, tile_n=128, tile_k=128, use_async_copy=arch in NEW)
    scales = (Array((k // 128, m), "float32"), Array((n // 128, k // 128), "float32"))
    return gemm, (Array((m, n), "bfloat16"), Array((m, k), FP8[arch]), Array((n, k), FP8[arch]), *scales, m, n)


def grouped(_: str, size: Size) -> Made:
    m, n, k = size
    numbers = Array((k // 32, n), "float32")
    gemm = compile_preshuffle_gemm_w4a16(N=n, K=k, tile_m=64, tile_n=128, tile_k=128)
    operands = (Array((m, n), "bfloat16"), Array((m, k), "bfloat16"), Array((n, k // 2), "int8"))
    return gemm, (*operands, numbers, numbers, numbers, m, n)


CASES = (
    half((256, 256, 64), NEW, large=True, peer="f16 256x256x64, 8 waves", BLOCK_N_WARPS=4),
    half((128, 128, 64), CDNA, peer="f16 128x128x64, 4 waves"),
    half((32, 64, 64), CDNA, peer="f16 32x64x64, 4 waves, 4 stages", STAGES=4, SPLIT_K=2),
    preshuffle("fp16", (128, 128, 64), ("gfx942",), peer="f16 128x128x64, 4 waves"),
    preshuffle("fp16", (128, 128, 64), NEW, copied=True, peer="f16 128x128x64, 4 waves"),
    preshuffle("bf16", (128, 256, 64), NEW, large=True, copied=True, peer="bf16 128x256x64, 4 waves"),
    preshuffle("fp8", (128, 256, 128), NEW, large=True, copied=True, peer="fp8 128x256x128, 4 waves"),
    preshuffle("fp8", (128, 128, 128), ("gfx942",), peer="fp8 128x128x128, 4 waves"),
    preshuffle("int8", (128, 128, 128), ("gfx942",), peer="int8 128x128x128, 4 waves"),
    preshuffle("int8", (128, 128, 128), NEW, copied=True, peer="int8 128x128x128, 4 waves"),
    preshuffle("int4", (64, 128, 128), CDNA),
    Case("w4a16 64x128x128", CDNA, grouped),
    Case("blockscale fp8 64x128x128", CDNA, blocks, peer="blockscale 64x128x128, 4 waves"),
    block_scaled("fp4", "fp4", (128, 256, 256), large=True, peer="mxfp4 128x256x256, 4 waves"),
    block_scaled("fp6", "fp4", (64, 128, 256)),
    block_scaled("fp8", "fp4", (64, 128, 256), peer="mxfp8_fp4 64x128x256, 4 waves"),
    block_scaled("fp8", "fp8", (64, 128, 256), peer="mxfp8 64x128x256, 4 waves"),
    Case("fp8, 4 waves 256x256x128", NEW, partial(rows_scaled, compile_fp8_gemm_4w), True, "fp8 256x256x128, 4 waves"),
    Case("fp8, 8 waves 256x256x128", NEW, partial(rows_scaled, compile_fp8_gemm_8w), True, "fp8 256x256x128, 8 waves"),
    Case("fp4, 4 waves 128x256x256", NEW, four_bits, True, "mxfp4 128x256x256, 4 waves"),
)
