"""C = act(alpha * A @ B + bias) on Hopper for tensors as they come: `hopper_gemm` chooses how the kernel is built.

    hopper_gemm(A, B, C, bias, activation="silu")

A is (M, K) with K contiguous, B is (K, N) with either mode contiguous (``weights.T`` of an (N, K) matrix, too), C is
(M, N) with N contiguous. Rows may lie further apart than they are long.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.activation import ACTIVATIONS
from flydsl.kernels.gemm.hopper_gemm import (
    CONSUMERS,
    HALF_ROWS,
    ROW_BYTES,
    GemmConfig,
    build_hopper_gemm,
    reduce_kernel,
)

TYPES: dict[str, Any] = {
    "bfloat16": fx.BFloat16, "float16": fx.Float16, "float8_e4m3fn": fx.Float8E4M3FN, "float8_e5m2": fx.Float8E5M2,
}  # fmt: skip
STAGES = {256: 4, 128: 6}
"""What fits shared memory, by the columns of a tile."""
SPLIT_STEPS = 8
"""Steps of K that a split has at least: less does not pay for the pass that adds the splits up."""
HOST_SMS = 4
"""Persistent blocks on the virtual GPU, which has no multiprocessors to fill."""


def hopper_gemm(
    A: Any, B: Any, C: Any, bias: Any = None, *, alpha: float = 1.0, activation: str = "none",
    config: GemmConfig | None = None, stream: Any = None,
) -> None:  # fmt: skip
    """Write C = act(alpha * A @ B + bias) for tensors of PyTorch or NumPy, by default on torch's current stream."""
    rows_are_k = _check(A, B, C, bias)
    (m, k), n = A.shape, C.shape[1]
    dtype, out_dtype = _type_of(A, "A"), _type_of(C, "C")
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation must be one of {', '.join(ACTIVATIONS)}, got {activation!r}")
    if m == 0 or n == 0:
        return
    stream = _current_stream(A) if stream is None else stream
    if k == 0:
        given = [C] if bias is None else [C, bias]
        _build_without_products(activation, bias is not None)(*given, alpha, *([] if stream is None else [stream]))
        return
    sms = _multiprocessors(A)
    config = config or choose_config(m, n, k, dtype, sms, rows_are_k, activation)
    if config.b_rows_are_k != rows_are_k or config.activation != activation:
        raise ValueError(f"B and the activation do not fit {config}")
    run = build_hopper_gemm(dtype, out_dtype, config, has_bias=bias is not None, sms=sms)
    given = [A, B if rows_are_k else B.T, C]
    given += [] if bias is None else [bias]
    given += [_workspace(A, (config.splits, m, n))] if config.splits > 1 else []
    run(*given, alpha, *([] if stream is None else [stream]))


def choose_config(m: int, n: int, k: int, dtype: Any, sms: int, rows_are_k: bool, activation: str) -> GemmConfig:
    """Large tiles in clusters where they fill the device; else small ones, and K in parts while blocks are idle."""
    rows = -(-m // (CONSUMERS * HALF_ROWS))
    cluster = 2 if rows > 1 else 1
    tile_n = 256 if rows * -(-n // 256) >= sms else 128
    tiles = -(-rows // cluster) * cluster * -(-n // tile_n)
    steps = -(-k // (ROW_BYTES * 8 // dtype.width))
    splits = 1
    while tiles * splits * 2 <= sms and steps // (splits * 2) >= SPLIT_STEPS:
        splits *= 2
    return GemmConfig(tile_n, STAGES[tile_n], cluster, 8, splits, rows_are_k, activation)


@cache
def _build_without_products(activation: str, has_bias: bool) -> Any:
    """C = act(bias): what is left where K is 0, and TMA has nothing to copy."""

    def launch(C: Any, bias: Any, alpha: Any, stream: Any) -> None:
        m, n = (fx.Int32(fx.get_scalar(fx.get_(C.shape, i))) for i in range(2))
        # No splits to add up: the kernel never reads its first tensor.
        reduce_kernel(C, C, bias, alpha, n, 0, activation).launch(
            grid=(m, fx.ceildiv(n, 256), 1), block=(256, 1, 1), stream=stream
        )

    if has_bias:

        @flyc.jit
        def fill(C: fx.Tensor, bias: fx.Tensor, alpha: fx.Float32, stream: fx.Stream = fx.Stream(None)):
            launch(C, bias, alpha, stream)

    else:

        @flyc.jit
        def fill(C: fx.Tensor, alpha: fx.Float32, stream: fx.Stream = fx.Stream(None)):
            launch(C, None, alpha, stream)

    return fill


# What was given --------------------------------------------------------------------------------------


def _check(A: Any, B: Any, C: Any, bias: Any) -> bool:
    """Refuse what the kernel cannot take; whether B's rows are those of K, with N contiguous."""
    if len(A.shape) != 2 or len(B.shape) != 2 or len(C.shape) != 2:
        raise ValueError(f"A, B and C are matrices, got shapes {tuple(A.shape)}, {tuple(B.shape)}, {tuple(C.shape)}")
    (m, k), n = A.shape, B.shape[1]
    if B.shape[0] != k or tuple(C.shape) != (m, n):
        raise ValueError(
            f"shapes do not fit: A {tuple(A.shape)}, B {tuple(B.shape)}, C {tuple(C.shape)}; "
            "A is (M, K), B is (K, N), C is (M, N)"
        )
    if bias is not None and tuple(bias.shape) != (n,):
        raise ValueError(f"bias has shape {tuple(bias.shape)}, and C has {n} columns")
    if A.dtype != B.dtype:
        raise ValueError(f"A is {A.dtype} and B is {B.dtype}: give both the same type")
    for name, matrix, extent in (("A", A, k), ("C", C, n)):
        if extent > 1 and matrix.shape[0] > 0 and _strides(matrix)[1] != 1:
            raise ValueError(f"{name} must have contiguous rows, and its strides are {_strides(matrix)}")
    if m == 0 or 0 in B.shape:  # nobody reads B
        return False
    down, across = _strides(B)
    if down != 1 and across != 1:
        raise ValueError(f"B must have a contiguous mode, and its strides are {(down, across)}")
    # Where both are 1 one extent is 1: the other stride is that of the rows.
    return across == 1 and not (down == 1 and n == 1)


def _strides(matrix: Any) -> tuple[int, ...]:
    """In elements."""
    if callable(getattr(matrix, "stride", None)):
        return tuple(matrix.stride())
    return tuple(step // matrix.itemsize for step in matrix.strides)


def _type_of(matrix: Any, name: str) -> Any:
    found = TYPES.get(str(matrix.dtype).removeprefix("torch."))
    if found is None:
        raise ValueError(f"{name} is {matrix.dtype}; this kernel multiplies {', '.join(TYPES)}")
    return found


def _multiprocessors(matrix: Any) -> int:
    if not getattr(matrix, "is_cuda", False):
        return HOST_SMS
    import torch

    return torch.cuda.get_device_properties(matrix.device).multi_processor_count


def _current_stream(matrix: Any) -> Any:
    if not getattr(matrix, "is_cuda", False):
        return None
    import torch

    return torch.cuda.current_stream(matrix.device)


def _workspace(like: Any, shape: tuple[int, ...]) -> Any:
    """An uninitialised f32 array beside ``like``."""
    if hasattr(like, "new_empty"):
        import torch

        return like.new_empty(shape, dtype=torch.float32)
    import numpy as np

    return np.empty(shape, np.float32)
