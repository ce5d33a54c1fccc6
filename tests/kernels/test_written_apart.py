"""Arrays that kernels write and whose elements lie apart: to reshape them is to copy them, and the copy alone would be
written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.kernels.attention.flash_attn import build_flash_attn_func_module
from flydsl.kernels.attention.qk_norm_rope import flydsl_qk_norm_rope_quant
from flydsl.kernels.comm.custom_all_reduce_kernel import make_allreduce_kernels
from flydsl.kernels.gemm.mxfp4_preshuffle import launch_gemm

BF16 = ml_dtypes.bfloat16


def padded(*shape: int, dtype: Any = np.float16) -> np.ndarray:
    """An array whose rows are parts of longer ones."""
    return np.zeros((*shape[:-1], shape[-1] + 32), dtype)[..., : shape[-1]]


def attend_in_sequences() -> None:
    q, starts = np.zeros((16, 2, 64), np.float16), np.array([0, 8, 16], np.int32)
    out = np.zeros((2, 20, 2, 64), np.float16)[:, :8]
    build_flash_attn_func_module(2, 64, cu_seqlens_q=starts)(q, q, q, out, 2, 8)


def multiply_in_batches() -> None:
    a, scales = np.zeros((2, 32, 128), np.uint8), np.zeros((2, 32, 8), np.uint8)
    out = padded(2, 32, 128, dtype=BF16)
    launch_gemm(out, a, a, scales, scales, 32, 128, None, 128, 256, 32, 128, 256, batch=2)


def normalise() -> None:
    q, tables = np.zeros((2, 512), BF16), (np.ones((4, 32), np.float32), np.zeros((4, 32), np.float32))
    sizes = {"num_q_heads": 2, "head_dim": 256, "rope_head_dim": 64}
    kv, weight, positions = np.zeros((2, 256), BF16), np.ones(256, BF16), np.zeros(2, np.int64)
    flydsl_qk_norm_rope_quant(q, kv, weight, *tables, positions, **sizes, q_out=padded(2, 512, dtype=BF16))


def reduce() -> None:
    run = make_allreduce_kernels(N=64, dtype_str="f16", world_size=2)["run_1stage_arr"]
    run(np.zeros((2, 32), np.float16), padded(2, 32), None, None, 1)


@pytest.mark.parametrize("call", [attend_in_sequences, multiply_in_batches, normalise, reduce])
def test_they_are_refused(call: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    with pytest.raises(ValueError, match=r"is written, and its elements lie apart: pass contiguous memory"):
        call()
