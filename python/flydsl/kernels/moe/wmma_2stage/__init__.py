"""A mixture of experts on gfx1250: two products of gathered rows, and one of rows that lie by expert."""

from flydsl.kernels.moe.moe_gemm_2stage.moe_reduce import MoeGemm2Mode, compile_moe_reduction
from flydsl.kernels.moe.wmma_2stage.stages import compile_moe_gemm1, compile_moe_gemm2, compile_moe_gemm2_ex

__all__ = [
    "MoeGemm2Mode", "compile_moe_gemm1", "compile_moe_gemm2", "compile_moe_gemm2_ex", "compile_moe_reduction",
]  # fmt: skip
