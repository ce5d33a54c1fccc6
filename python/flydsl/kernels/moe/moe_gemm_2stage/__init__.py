"""A mixture of experts in two products on AMD's matrix cores, and the sum over a token's experts."""

from flydsl.kernels.moe.moe_gemm_2stage.moe_reduce import MoeGemm2Mode, compile_moe_gemm2_ex, compile_moe_reduction
from flydsl.kernels.moe.moe_gemm_2stage.stages import compile_moe_gemm1, compile_moe_gemm2

__all__ = [
    "MoeGemm2Mode", "compile_moe_gemm1", "compile_moe_gemm2", "compile_moe_gemm2_ex", "compile_moe_reduction",
]  # fmt: skip
