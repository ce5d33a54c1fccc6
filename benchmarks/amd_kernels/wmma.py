"""The products of RDNA and gfx1250."""

from __future__ import annotations

from typing import Any

from amd_kernels.case import RDNA, Array, Case, Size
from flydsl.kernels.gemm.gemm_fp8fp4_gfx1250 import compile_fp8fp4_gemm
from flydsl.kernels.gemm.rdna_f16_gemm import create_wmma_gemm_module
from flydsl.kernels.gemm.rdna_fp8_preshuffle_gemm import compile_fp8_gemm
from flydsl.kernels.gemm.wmma_gemm_gfx1250 import compile_wmma_gemm_tdm

GFX1250 = ("gfx1250",)


def rdna_half(arch: str, size: Size) -> Any:
    m, n, k = size
    gemm, *_ = create_wmma_gemm_module(m, n, k, "f16", "f16")
    return gemm, tuple(Array(shape, "float16") for shape in ((m, n), (m, k), (n, k)))


def rdna_fp8(tile_m: int, peer: str = "") -> Case:
    def make(arch: str, size: Size) -> Any:
        m, n, k = size
        operands = (Array((m, n), "bfloat16"), Array((m, k // 4), "float32"), Array((n, k // 4), "float32"))
        gemm = compile_fp8_gemm(M=m, N=n, K=k, tile_m=tile_m)
        return gemm, (*operands, Array((m,), "float32"), Array((n,), "float32"))

    return Case(f"rdna fp8 {tile_m}x128x32", ("gfx1201",), make, peer=peer)


def half_ring(tile: tuple[int, int, int], waves: tuple[int, int], peer: str) -> Case:
    def make(arch: str, size: Size) -> Any:
        m, n, k = size
        gemm = compile_wmma_gemm_tdm(K=k, tile_m=tile[0], tile_n=tile[1], tile_k=tile[2], m_warp=waves[0],
                                     n_warp=waves[1])  # fmt: skip
        return gemm, (*(Array(shape, "float16") for shape in ((m, n), (m, k), (k, n))), m, n)

    return Case(f"ring f16 {'x'.join(map(str, tile))}", GFX1250, make, peer=peer)


def narrow_ring(data_format: str, tile: tuple[int, int, int], peer: str, **options: Any) -> Case:
    def make(arch: str, size: Size) -> Any:
        m, n, k = size
        a, b = ((k // 2 if data_format in formats else k) for formats in (("fp4",), ("fp4", "a8w4")))
        by_rows = options.get("scale_mode") == "ptpc"
        scales = [Array((rows,), "float32") if by_rows else Array((rows, k // 32), "uint8") for rows in (m, n)]
        gemm = compile_fp8fp4_gemm(data_format=data_format, K=k, tile_m=tile[0], tile_n=tile[1], tile_k=tile[2],
                                   out_dtype="bf16", **options)  # fmt: skip
        operands = (Array((m, n), "bfloat16"), Array((m, a), "uint8"), Array((n, b), "uint8"))
        return gemm, (*operands, *scales, m, n, a, n)

    shown = "".join(f" {key}={value}" for key, value in options.items())
    return Case(f"ring {data_format} {'x'.join(map(str, tile))}{shown}", GFX1250, make, peer=peer)


CASES = (
    Case("rdna f16 128x128x32", RDNA, rdna_half, peer="f16 128x128x32, 4 waves"),
    rdna_fp8(32, peer="fp8 32x128x32, 4 waves"),
    rdna_fp8(128, peer="fp8 128x128x32, 4 waves"),
    half_ring((256, 256, 128), (2, 4), "f16 256x256x128, 8 waves"),
    half_ring((128, 128, 64), (2, 2), "f16 128x128x64, 4 waves"),
    narrow_ring("fp8", (128, 128, 128), "mxfp8 128x128x128, 4 waves"),
    narrow_ring("fp8", (256, 256, 128), "fp8 256x256x128, 4 waves, 4 stages", scale_mode="ptpc", num_buffers=4),
    narrow_ring("fp4", (256, 256, 256), "mxfp4 256x256x256, 4 waves"),
    narrow_ring("a8w4", (128, 128, 128), "mxfp8_fp4 128x128x128, 4 waves"),
)
