"""Every kernel of the library for AMD GPUs, as `isa_quality.py` shows it and the tests hold it to its numbers."""

from amd_kernels import attention, gemm, moe, rows, wmma

CASES = (*gemm.CASES, *wmma.CASES, *attention.CASES, *moe.CASES, *rows.CASES)
