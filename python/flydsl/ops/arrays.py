"""Arrays of NumPy and tensors of PyTorch by the same few functions. Torch is never imported here, only met."""

from __future__ import annotations

import sys
from math import gcd, prod
from typing import Any

import ml_dtypes
import numpy as np

from flydsl.compiler.backends.base import chosen_target
from flydsl.kernels.blocks.inputs import address_of, current_stream, lies_whole, stream_reader

ALIGNMENT = 16
"""Bytes that kernels move at once where rows are multiples of them."""
NAMES: dict[Any, str] = {
    np.dtype(np.float32): "f32", np.dtype(np.float16): "f16", np.dtype(ml_dtypes.bfloat16): "bf16",
}  # fmt: skip
"""Element types that row kernels take, by what they are called there; those of torch are added when it is met."""
_NUMPY = {
    "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8, "i32": np.int32,
    "i64": np.int64, "u8": np.uint8,
    "fp8": ml_dtypes.float8_e4m3fn, "fp8_fnuz": ml_dtypes.float8_e4m3fnuz, "bf8": ml_dtypes.float8_e5m2,
}  # fmt: skip
_TORCH: dict[str, Any] = {}
_TENSOR_NAMES: dict[Any, str] = {}
"""Types of tensors alone: torch's tracing looks them up, and NumPy's types are nothing that it follows."""
TORCH: Any = sys.modules.get("torch")
"""The torch module, once somebody has imported it."""


def met_torch() -> Any:
    """Return the torch module, which must have been imported by whoever made a tensor."""
    global TORCH, is_followed, is_ordered, is_traced, is_transformed
    if TORCH is None:
        TORCH = sys.modules["torch"]
    torch = TORCH
    if is_traced is _never:
        is_followed, is_traced, is_transformed = _questions(torch)
        is_ordered = torch._C._get_deterministic_algorithms
    if not _TORCH:
        names = {
            "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i8": "int8", "i32": "int32", "i64": "int64",
            "u8": "uint8",
            "fp8": "float8_e4m3fn", "fp8_fnuz": "float8_e4m3fnuz", "bf8": "float8_e5m2",
        }  # fmt: skip
        _TORCH.update({name: getattr(torch, own) for name, own in names.items()})
        _TENSOR_NAMES.update({_TORCH[name]: name for name in ("f32", "f16", "bf16")})
        NAMES.update(_TENSOR_NAMES)
    return torch


def is_array(x: Any) -> bool:
    """Return whether it is an array of NumPy; the others are tensors."""
    return isinstance(x, np.ndarray)


def is_tensor(x: Any) -> bool:
    torch = TORCH if TORCH is not None else sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def how_to_be_dense(x: Any) -> str | None:
    """Return what to make of a sparse, nested or masked one, or None where all there is lies in memory at strides."""
    if is_array(x):
        masked = type(x) is not np.ndarray and isinstance(x, np.ma.MaskedArray)
        return "got one with a mask: pass x.filled(0.0)" if masked else None
    if x.is_nested:
        return "got a nested one: pass torch.nested.to_padded_tensor(x, 0.0)"
    return None if x.layout is met_torch().strided else f"got one of layout {x.layout}: pass x.to_dense()"


def is_lazy(x: Any) -> bool:
    """Return whether a tensor's memory does not have its numbers: negative ones have a sign of their own, some zeros no
    memory."""
    return not is_array(x) and (x.is_neg() or x._is_zerotensor())


def type_name(x: Any) -> str | None:
    """Return what row kernels call the element type, or None if they do not take it."""
    if is_array(x):
        return NAMES.get(x.dtype)
    if not _TENSOR_NAMES:
        met_torch()
    return _TENSOR_NAMES.get(x.dtype)


def empty_like(x: Any) -> Any:
    """Return a new array of the same shape and type, row-major."""
    return np.empty(x.shape, x.dtype) if is_array(x) else x.new_empty(x.shape)


def launch(function: Any, x: Any, *arguments: Any) -> None:
    """Launch on torch's current stream of the device of ``x``; the stream is the last argument of the function."""
    function(*arguments, stream_of(x))


def empty(x: Any, shape: tuple[Any, ...], dtype: str | None = None) -> Any:
    """Return a new array beside another."""
    if is_array(x):
        return np.empty(shape, x.dtype if dtype is None else _NUMPY[dtype])
    return x.new_empty(shape) if dtype is None else x.new_empty(shape, dtype=_kind(dtype))


def _kind(dtype: str) -> Any:
    if not _TORCH:
        met_torch()
    return _TORCH[dtype]


def rows(x: Any) -> Any:
    """Return an array as a matrix of its last dimension's rows: a view where memory allows it, else a copy.

    Rows begin at multiples of the widest piece, of up to 16 bytes, that divides them: kernels move as much at once. An
    array of no dimension is a row of one element.
    """
    if not x.shape:
        x = x.reshape(1)
    length = x.shape[-1]
    matrix = x if len(x.shape) == 2 else x.reshape(-1, length) if length else x.reshape(prod(x.shape[:-1]), 0)
    size = matrix.dtype.itemsize
    piece = gcd(length * size, ALIGNMENT)
    if is_array(matrix):
        step, unit = matrix.strides
        address = matrix.ctypes.data
    else:
        step, unit = (stride * size for stride in matrix.stride())
        address = matrix.data_ptr()
    if unit == size and address % piece == 0 and (step % piece == 0 or matrix.shape[0] < 2):
        return matrix
    return copied(matrix)


def line(x: Any, length: int) -> Any:
    """Return a vector that goes with every row, as a contiguous array of one dimension."""
    flat = x.reshape(length)
    return flat if lies_whole(flat) and begins_well(flat) else copied(flat)


def has_odd_steps(x: Any) -> bool:
    """Return whether elements lie no multiples of one apart, as fields of NumPy's records may."""
    return is_array(x) and any(step % x.itemsize for step in x.strides)


def begins_well(x: Any) -> bool:
    """Return whether an array begins at a multiple of the widest access."""
    return address_of(x) % ALIGNMENT == 0


def copied(x: Any) -> Any:
    """Return a copy, row-major."""
    return np.array(x, order="C") if is_array(x) else x.clone(memory_format=met_torch().contiguous_format)


def numbers(x: Any) -> Any:
    """Return an array of one number a row, flat."""
    return x if len(x.shape) == 1 else x.reshape(-1)


def count_rows(x: Any) -> int:
    return prod(x.shape[:-1])


def stream_of(x: Any) -> Any:
    """Torch's current stream on the device of a tensor; None elsewhere."""
    return current_stream(None if is_array(x) or not x.is_cuda else x.device.index)


def stream_source(tensor: Any) -> tuple[Any, int | None]:
    """Return a function that gives torch's current stream for a tensor's device, and what it is asked with."""
    return (stream_reader(), tensor.device.index) if tensor.is_cuda else (current_stream, None)


def _never() -> bool:
    return False


def asked_for_order() -> bool:
    return TORCH is not None and TORCH.are_deterministic_algorithms_enabled()


def _questions(torch: Any) -> tuple[Any, Any, Any]:
    """Return `is_followed`, and `is_traced` and `is_transformed` made of torch's own functions."""
    compiler, forward = torch.compiler, torch.autograd.forward_ad
    is_compiling, is_followed = compiler.is_compiling, compiler.is_dynamo_compiling
    inside_functions, modes = torch._C._are_functorch_transforms_active, torch._C._len_torch_dispatch_stack
    is_recorded = torch._C._is_tracing  # by torch.jit.trace

    def traced() -> bool:
        # `is_compiling` in parts, since it asks for TorchScript too, which takes as long again.
        followed = is_followed() or compiler._is_compiling_flag or forward._current_level >= 0
        return followed or modes() > 0 or is_recorded()

    def transformed() -> bool:
        return not is_compiling() and (forward._current_level >= 0 or inside_functions())

    return is_followed, traced, transformed


is_followed: Any = _never
"""Whether torch's compiler reads this code. Calls that are repeated ask for the rest of `is_traced` themselves."""
is_ordered: Any = asked_for_order
"""Whether torch was asked for deterministic results; its compiler follows `asked_for_order` alone."""
is_traced: Any = _never
"""Whether torch traces this call, a mode of its dispatcher watches it, or it is followed forward: nothing may be asked
of the machine, or repeated."""
is_transformed: Any = _never
"""Whether tensors may be more than memory: with tangents of forward-mode differentiation, or in `torch.func`."""


def wants_gradient(*values: Any) -> bool:
    """Return whether autograd would keep what is computed of some arrays, None or others that have no gradient."""
    if not any(getattr(value, "requires_grad", False) for value in values):
        return False
    return met_torch().is_grad_enabled() and (is_followed() or not met_torch().is_inference_mode_enabled())


def arch_of(x: Any) -> str:
    """Return the target whose kernels run on this array."""
    if is_array(x) or not x.is_cuda:
        return chosen_target().arch
    torch = met_torch()
    if torch.version.hip is not None:
        return torch.cuda.get_device_properties(x.device).gcnArchName.split(":")[0]
    major, minor = torch.cuda.get_device_capability(x.device)
    return "sm_90a" if (major, minor) == (9, 0) else f"sm_{major}{minor}"


def shares_memory(a: Any, b: Any) -> bool:
    """Return whether two views begin at one place."""
    return address_of(a) == address_of(b)


def steps(x: Any) -> tuple[int, ...]:
    """Strides as the library counts them, bytes or elements."""
    return x.strides if is_array(x) else x.stride()


def same_view(a: Any, b: Any) -> bool:
    """Return whether two arrays have each element in the same place."""
    return shares_memory(a, b) and a.shape == b.shape and steps(a) == steps(b) and a.dtype == b.dtype


def meets_itself(x: Any) -> bool:
    """Return whether elements of an array may share memory: a step is no longer than all that shorter ones span, and
    there are more than two that span each other, or two with a multiple of both inside of both extents."""
    unit = x.dtype.itemsize if is_array(x) else 1
    modes = sorted((abs(step), extent) for step, extent in zip(steps(x), x.shape, strict=True))
    reach, met = unit - 1, 0  # modes of which one may meet those before it
    for number, (step, extent) in enumerate(modes, 1):
        if extent > 1 and step <= reach:
            met = number
        reach += (extent - 1) * step
    spanning = [mode for mode in modes[:met] if mode[1] > 1]
    if len(spanning) != 2 or 0 in x.shape or any(step % unit for step, _ in spanning):
        return bool(spanning) and 0 not in x.shape
    (step, extent), (other, other_extent) = spanning
    shared = gcd(step, other) or 1
    return other // shared < extent and step // shared < other_extent


def overlap(a: Any, b: Any) -> bool:
    """Return whether the memory that one array spans has a byte of what the other spans."""
    (first, end), (other, other_end) = span(a), span(b)
    return first < other_end and other < end


def span(x: Any) -> tuple[int, int]:
    """Return where an array begins and ends in memory; strides may be negative."""
    start, unit = (x.ctypes.data, 1) if is_array(x) else (x.data_ptr(), x.element_size())
    if 0 in x.shape:
        return start, start
    reach = [(extent - 1) * step * unit for extent, step in zip(x.shape, steps(x), strict=True)]
    return start + sum(min(part, 0) for part in reach), start + sum(max(part, 0) for part in reach) + x.dtype.itemsize


def filled(x: Any, value: float) -> None:
    """Set all elements."""
    x[...] = value


def copy_into(out: Any, x: Any) -> None:
    if is_array(out):
        np.copyto(out, x, casting="same_kind")
    else:
        out.copy_(x)
