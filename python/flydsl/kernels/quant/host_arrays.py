"""Tensors of PyTorch, on any device, as arrays of NumPy and back, for what is computed on the host; names of types."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

SHORT = {
    "i8": "int8", "i4": "int4", "fp8": "float8_e4m3fn", "fp8_fnuz": "float8_e4m3fnuz", "bf8": "float8_e5m2",
    "f32": "float32", "fp32": "float32", "f16": "float16", "fp16": "float16", "bf16": "bfloat16",
}  # fmt: skip
"""Names of types here -> those that NumPy, ml_dtypes and PyTorch have."""
PAIRS = "float4_e2m1fn_x2"
"""PyTorch's type of bytes that hold two numbers."""


def name_of(dtype: Any) -> str:
    """Return a type's name without its library: of NumPy, of PyTorch, or a name of `SHORT`."""
    text = str(dtype)
    if isinstance(dtype, str) or text.startswith("torch."):
        return SHORT.get(text, text.removeprefix("torch."))
    return np.dtype(dtype).name


def held_as(dtype: Any) -> np.dtype[Any]:
    """Return the type of arrays of NumPy that hold a type: integers of less than 8 bits are held in bytes."""
    name = name_of(dtype)
    if name in ("int4", PAIRS):
        name = "int8" if name == "int4" else "uint8"
    return np.dtype(getattr(ml_dtypes, name, name))


def as_numpy(x: Any) -> np.ndarray:
    """Return a tensor's elements as an array of NumPy, and anything else as one."""
    if not hasattr(x, "data_ptr"):
        return np.asarray(x)
    import torch

    line = x.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    return line.view(held_as(x.dtype)).reshape(tuple(x.shape))


def as_f32(x: Any) -> np.ndarray:
    """Return numbers as an array of NumPy in f32."""
    return as_numpy(x).astype(np.float32)


def beside(like: Any, array: np.ndarray) -> Any:
    """Return an array of NumPy as it is, or as a tensor where ``like`` lies if that is one."""
    if not hasattr(like, "data_ptr"):
        return array
    import torch

    line = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    kind = getattr(torch, array.dtype.name)
    return torch.from_numpy(line).view(kind).reshape(array.shape).to(like.device)
