"""What entry functions ask of tensors of PyTorch and NumPy alike."""

from __future__ import annotations

from typing import Any

import flydsl.expr as fx

TYPES: dict[str, Any] = {"bfloat16": fx.BFloat16, "float16": fx.Float16}
HOST_BLOCKS = 4
"""Persistent blocks on the virtual GPU, which has no multiprocessors to fill."""


def multiprocessors(tensor: Any) -> int:
    """How many blocks run at a time where the tensor is."""
    if not getattr(tensor, "is_cuda", False):
        return HOST_BLOCKS
    import torch

    return torch.cuda.get_device_properties(tensor.device).multi_processor_count


def type_of(q: Any, k: Any, v: Any) -> Any:
    names = [str(tensor.dtype).removeprefix("torch.") for tensor in (q, k, v)]
    if len(set(names)) > 1:
        raise ValueError(f"q is {names[0]}, k is {names[1]} and v is {names[2]}: give all the same type")
    if names[0] not in TYPES:
        raise ValueError(f"q is {names[0]}; this kernel takes {', '.join(TYPES)}")
    return TYPES[names[0]]


def strides(tensor: Any) -> tuple[int, ...]:
    """In elements."""
    if callable(getattr(tensor, "stride", None)):
        return tuple(tensor.stride())
    return tuple(step // tensor.itemsize for step in tensor.strides)


def broadcast(tensor: Any, shape: tuple[int, ...]) -> Any:
    if hasattr(tensor, "expand"):
        return tensor.expand(shape)
    import numpy as np

    return np.broadcast_to(tensor, shape)


def contiguous(tensor: Any) -> Any:
    return tensor.contiguous() if hasattr(tensor, "contiguous") else tensor.copy()


def as_bias(mask: Any) -> Any:
    """What is added to scores for a mask of truth values: nothing where it holds, minus infinity elsewhere."""
    if not str(mask.dtype).endswith("bool"):
        return mask
    bias = empty_beside(mask, tuple(mask.shape), "float32")
    bias[mask] = 0.0
    bias[~mask] = float("-inf")
    return bias


def empty_beside(like: Any, shape: tuple[int, ...], dtype: str | None = None) -> Any:
    """An uninitialised array beside ``like``."""
    if hasattr(like, "new_empty"):
        import torch

        return like.new_empty(shape, dtype=getattr(torch, dtype) if dtype else like.dtype)
    import numpy as np

    return np.empty(shape, dtype or like.dtype)


def stream_of(tensor: Any, stream: Any) -> Any:
    """The stream that was given, or torch's current one."""
    if stream is not None or not getattr(tensor, "is_cuda", False):
        return stream
    import torch

    return torch.cuda.current_stream(tensor.device)
