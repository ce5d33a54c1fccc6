"""Calls of every kernel of rows, with arrays of zeros: for tests that read the code of a target."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from flydsl.kernels.attention.rope_cache import build_rope_module
from flydsl.kernels.moe.moe_gemm_2stage.moe_reduce import compile_moe_reduction
from flydsl.kernels.moe.row_order import compile_gather
from flydsl.kernels.moe.topk_gating import build_topk_gating_softmax_module
from flydsl.kernels.norm.column_sums import partial_rows
from flydsl.kernels.norm.cross_entropy import build_cross_entropy_bwd_module, build_cross_entropy_module
from flydsl.kernels.norm.glu import build_glu_bwd_module, build_glu_module
from flydsl.kernels.norm.layernorm import build_layernorm_module
from flydsl.kernels.norm.norm_backward import norm_backward_launcher
from flydsl.kernels.norm.rmsnorm import build_fused_add_rmsnorm_module
from flydsl.kernels.norm.softmax import build_softmax_module
from flydsl.kernels.norm.softmax_backward import build_softmax_bwd_module
from flydsl.kernels.quant.device_quant import (
    build_block_quant_module,
    build_row_quant_module,
    build_tensor_quant_module,
)

DTYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}
ROWS = 64


def launch(name: str, n: int, dtype: str = "bf16") -> Any:
    """Call the launcher of that name for rows of ``n`` elements, and return it."""
    x, codes = np.zeros((ROWS, n), DTYPES[dtype]), np.zeros((ROWS, n), np.int8)
    line, each, one = np.zeros(n, x.dtype), np.zeros(ROWS, np.float32), np.zeros(1, np.float32)
    labels, counter, powers = np.zeros(ROWS, np.int64), np.zeros(1, np.int32), np.zeros((2, ROWS), np.float32)
    words, few = np.zeros((ROWS, n), np.int32), np.zeros((ROWS, 2), np.int32)
    sums = np.zeros((partial_rows(n, ROWS), n), np.float32)
    run, arguments = {
        "softmax": lambda: (build_softmax_module(ROWS, n, dtype), (x, x, ROWS)),
        "softmax_bwd": lambda: (build_softmax_bwd_module(n, dtype), (x, x, x, ROWS)),
        "layernorm": lambda: (build_layernorm_module(n, dtype, True), (x, line, line, x, each, each, ROWS)),
        "add_rmsnorm": lambda: (build_fused_add_rmsnorm_module(n, dtype, True), (x, x, line, x, x, each, ROWS)),
        "norm_bwd": lambda: (
            norm_backward_launcher(True, n, dtype, False, False),
            (x, x, line, each, each, x, None, sums, sums, line, line, ROWS),
        ),
        "glu": lambda: (build_glu_module(n, dtype), (x, x, x, ROWS)),
        "glu_bwd": lambda: (build_glu_bwd_module(n, dtype), (x, x, x, x, x, ROWS)),
        "cross_entropy": lambda: (
            build_cross_entropy_module(n, dtype),
            (x, labels, each, powers, ROWS, -100, 0.0, None, one, one, counter, 1),
        ),
        "cross_entropy_bwd": lambda: (
            build_cross_entropy_bwd_module(n, dtype), (x, labels, powers, one, x, ROWS, -100, 0.0, one)
        ),
        "row_quant": lambda: (build_row_quant_module(n, dtype, "i8"), (x, codes, each, ROWS)),
        "tensor_quant": lambda: (build_tensor_quant_module(n, dtype, "i8"), (x, codes, each, one, ROWS)),
        "block_quant": lambda: (build_block_quant_module(n, dtype), (x, codes, np.zeros((ROWS, n // 128)), ROWS)),
        "square_quant": lambda: (build_block_quant_module(n, dtype, 128), (x, codes, np.zeros((1, n // 128)), ROWS)),
        "rope": lambda: (build_rope_module(1, n, dtype), (x, x[:, : n // 2], x[:, : n // 2], x, ROWS, ROWS)),
        "gating": lambda: (
            build_topk_gating_softmax_module(n, 2), (x, np.zeros((ROWS, 2), np.float32), few, few, ROWS)
        ),
        "gather": lambda: (compile_gather(n), (words, labels.astype(np.int32), words, ROWS)),
        "moe_sum": lambda: (compile_moe_reduction(topk=2, model_dim=n, dtype_str=dtype),
                            (np.zeros((ROWS, 2, n), x.dtype), x, None, ROWS)),
    }[name]()  # fmt: skip
    run(*arguments)
    return run
