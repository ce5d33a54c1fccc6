"""What entry functions ask of tensors of PyTorch and NumPy alike."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache, wraps
from inspect import signature
from math import prod
from typing import Any, TypeVar, cast

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compiler.backends.base import chosen_target

Function = TypeVar("Function", bound=Callable[..., Any])
Array = Any
"""A tensor of PyTorch or an array of NumPy."""
TYPES: dict[str, Any] = {"bfloat16": fx.BFloat16, "float16": fx.Float16}
EIGHT_BITS: dict[str, Any] = {"float8_e4m3fn": fx.Float8E4M3FN}
ALIGNMENT = 16
"""Bytes of the widest access, of which addresses are multiples where it is one: NVIDIA's must be."""
HOST_BLOCKS = 4
"""Persistent blocks on the virtual GPU, which has no multiprocessors to fill."""


def multiprocessors(tensor: Array) -> int:
    """Return how many blocks run at a time where the tensor is."""
    return multiprocessors_of(tensor.device.index) if getattr(tensor, "is_cuda", False) else HOST_BLOCKS


@cache
def multiprocessors_of(device: int) -> int:
    """Return how many multiprocessors a GPU of torch's has."""
    import torch

    return torch.cuda.get_device_properties(device).multi_processor_count


def multiprocessors_here(otherwise: int) -> int:
    """Return how many multiprocessors torch's current GPU has, if there is one of NVIDIA's."""
    torch = sys.modules.get("torch")
    if torch is None or torch.version.hip is not None or not torch.cuda.is_available():
        return otherwise
    return multiprocessors_of(torch.cuda.current_device())


def is_for_cuda(tensor: Array) -> bool:
    """Return whether kernels over a tensor are compiled for an NVIDIA GPU: its own, or the one that the virtual GPU
    is."""
    if not getattr(tensor, "is_cuda", False):
        return chosen_target().family.maker == "NVIDIA"
    import torch

    return torch.version.hip is None


def target_of(tensor: Array) -> Any:
    """Return the target whose kernels run on a tensor: that of the GPU where it lies, or of the virtual one."""
    return flyc.current_device().target if getattr(tensor, "is_cuda", False) else chosen_target()


def type_name(tensor: Array) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def type_of(q: Array, k: Array, v: Array, types: dict[str, Any] = TYPES) -> Any:
    names = [type_name(tensor) for tensor in (q, k, v)]
    if len(set(names)) > 1:
        raise ValueError(f"q is {names[0]}, k is {names[1]} and v is {names[2]}: give all the same type")
    if names[0] not in types:
        raise ValueError(f"q is {names[0]}; this kernel takes {', '.join(types)}")
    return types[names[0]]


def strides(tensor: Array) -> tuple[int, ...]:
    """Return the strides of a tensor in elements."""
    if callable(getattr(tensor, "stride", None)):
        return tuple(tensor.stride())
    return tuple(step // tensor.itemsize for step in tensor.strides)


def broadcast(tensor: Array, shape: tuple[int, ...]) -> Any:
    if hasattr(tensor, "expand"):
        return tensor.expand(shape)
    import numpy as np

    return np.broadcast_to(tensor, shape)


def require_whole(*tensors: Any) -> None:
    """Have a launch refuse tensors whose elements do not follow each other in memory, row-major."""
    for tensor in tensors:
        whole, behind = fx.Boolean(True), 1
        for mode in reversed(range(tensor.rank)):
            extent, step = (modes[mode] if tensor.rank > 1 else modes for modes in (tensor.shape, tensor.stride))
            whole = whole & (fx.Boolean(extent == 1) | fx.Boolean(step == behind))
            behind = extent * behind
        fx.require(
            whole | fx.Boolean(behind == 0), "an array of {} elements is taken as it lies, and its elements lie apart",
            behind, hint="pass x.contiguous(), np.ascontiguousarray(x)",
        )  # fmt: skip


def require_elements(*given: tuple[str, Any, Any]) -> None:
    """Have a launch refuse arrays whose elements lie apart, and those that `require_room` refuses."""
    for _, tensor, _ in given:
        require_whole(tensor)
    require_room(*given)


def require_room(*given: tuple[str, Any, Any]) -> None:
    """Have a launch refuse arrays of less than some elements, which a kernel would read or write beyond their end, and
    extents below zero. Each is a name, a tensor, and the least number of its elements."""
    for name, tensor, least in given:
        there, used = (fx.Int64(number) for number in (fx.get_scalar(fx.size(tensor)), least))
        fx.require(
            (there >= used) & (used >= 0), f"{name} has {{}} elements, and the kernel uses {{}}", there, used,
            hint="pass all of it, or the extents that it has",
        )  # fmt: skip


def require_bytes(*given: tuple[str, Any, Any]) -> None:
    """`require_room` of so many bytes: arrays whose types say nothing of what their bytes are."""
    require_room(*((name, tensor, least * 8 // tensor.dtype.width) for name, tensor, least in given))


def require_pitch(matrix: Any, pitch: int, least: int) -> None:
    """Have a launch refuse a matrix whose rows are not ``pitch`` elements apart, or that has the ``least`` pitch and is
    not whole."""
    if pitch == least or matrix.rank != 2:
        return require_whole(matrix)
    (rows, columns), (down, across) = matrix.shape, matrix.stride
    fx.require(
        (fx.Boolean(rows <= 1) | fx.Boolean(down == pitch)) & (fx.Boolean(columns <= 1) | fx.Boolean(across == 1)),
        f"rows of a matrix are taken to be {pitch} elements apart, and are {{}} apart with {{}} between elements", down,
        across, hint="pass a row-major matrix of this pitch, or the pitch that it has",
    )  # fmt: skip


def require_numbers(arrays: Sequence[Any], count: Any) -> None:
    """Have a launch refuse arrays with fewer elements than are read or written of them; None stands for no array."""
    for array in arrays:
        if array is not None:
            fx.require(
                fx.Int64(fx.size(array)) >= fx.Int64(count), "{} numbers are asked for, and an array has {}", count,
                fx.size(array),
                hint="pass one for each row, or element of a row, and the number of rows that all arrays have",
            )  # fmt: skip


def require_rows(matrices: Sequence[Any], length: int) -> None:
    """Refuse matrices whose elements of a row do not lie side by side; None stands for no matrix."""
    for matrix in matrices:
        if matrix is not None and matrix.rank == 2 and matrix.leading_dim != 1 and length > 1:
            fx.require(
                matrix.stride[1] == 1, "elements of a row must lie side by side, and those of a matrix lie {} apart",
                matrix.stride[1], hint="pass it row-major: x.contiguous(), np.ascontiguousarray(x)",
            )  # fmt: skip


def require_extents(matrices: Sequence[Any], rows: Any, length: Any) -> None:
    """Refuse matrices that have fewer rows, or shorter ones, than are asked for; None stands for no matrix."""
    for matrix in matrices:
        if matrix is not None and matrix.rank == 2:
            fits = fx.Boolean(rows <= matrix.shape[0]) & fx.Boolean(matrix.shape[1] >= length)
            fx.require(
                fits, "{} rows of {} elements are asked for, and a matrix has {} of {}", rows, length, *matrix.shape,
                hint="pass the number of its rows to the launcher, and build that for their length",
            )  # fmt: skip


def require_matrices(matrices: Sequence[Any], rows: Any, length: Any) -> None:
    """Refuse matrices that have not ``rows`` rows of ``length`` elements side by side; None stands for no matrix."""
    require_rows(matrices, length)
    require_extents(matrices, rows, length)


def require_type(arrays: Sequence[Any], kind: Any) -> None:
    """Refuse arrays of another type than a kernel was built for, whose bits it would take for numbers of its own."""
    for array in arrays:
        if array is not None and array.dtype is not kind:
            raise TypeError(f"an array holds {array.dtype.__name__}, and the kernel was built for {kind.__name__}: "
                            "build it for the type of the arrays, or convert them")  # fmt: skip


def in_rows(length: int, *arrays: Any) -> list[Any]:
    """Return arrays of one mode as matrices of rows of ``length`` elements, one behind the other; others, and None, as
    they are. Launches refuse those that are no whole number of rows."""
    return [_cut_into_rows(array, length) if array is not None and array.rank == 1 else array for array in arrays]


def _cut_into_rows(line: Any, length: int) -> Any:
    require_whole(line)
    count = fx.get_scalar(fx.size(line))
    fx.require(
        fx.Boolean(count % length == 0), f"an array of {{}} elements is no whole number of rows of {length}", count,
        hint="pass all of its rows, x.reshape(-1), or a matrix",
    )  # fmt: skip
    # Rows may begin beyond what 32 bits count.
    return fx.make_view(fx.get_iter(line), fx.make_layout((count // length, length), (fx.Int64(length), 1)))


def flattened(tensor: Any) -> Any:
    """Return a contiguous tensor as a line, whose length the kernels do not ask for; the launch refuses others."""
    require_whole(tensor)
    return fx.make_view(fx.get_iter(tensor), fx.make_layout(fx.get_scalar(fx.size(tensor)), 1))


def lies_whole(tensor: Array) -> bool:
    """Return whether elements follow each other in memory, row-major."""
    return tensor.is_contiguous() if hasattr(tensor, "data_ptr") else tensor.flags.c_contiguous


def refuse_unheard(function: str, options: dict[str, Any], tuning: frozenset[str]) -> None:
    """Refuse options that are given and not known to tune only: without them results would be others, unheard."""
    for name, value in options.items():
        asked = bool(value) if isinstance(value, int | float) else value is not None
        if asked and name not in tuning:
            raise NotImplementedError(f"{name} is not supported by {function} here: it would change nothing")


def check_start(name: str, tensor: Array) -> None:
    """Refuse a tensor that an NVIDIA GPU reaches by the widest accesses, and that begins in the middle of one."""
    behind = address_of(tensor) % ALIGNMENT
    if behind and prod(tensor.shape) and is_for_cuda(tensor):
        raise ValueError(
            f"{name} is reached {ALIGNMENT} bytes at once, and begins {behind} bytes behind a multiple of that: "
            "pass a copy, x.clone() or x.copy(), which begins at one"
        )


def check_array(name: str, array: Any, count: int, types: tuple[str, ...]) -> None:
    """Refuse an array of another type, or of fewer elements."""
    dtype, length = type_name(array), prod(array.shape)
    if dtype not in types or length < count:
        raise ValueError(f"{name} holds {length} of {dtype}; it must have at least {count} of {' or '.join(types)}")


def written_as(name: str, tensor: Array, *shape: int) -> Any:
    """Return an array that a kernel writes in another shape; refuse one that would have to be copied for it."""
    found = tensor.reshape(shape)
    if address_of(found) != address_of(tensor):
        raise ValueError(
            f"{name} of {tuple(tensor.shape)} is written, and its elements lie apart: pass contiguous memory"
        )
    return found


def address_of(tensor: Array) -> int:
    return tensor.data_ptr() if hasattr(tensor, "data_ptr") else tensor.ctypes.data


def on_host(tensor: Array) -> Any:
    """Return a tensor that lies on the host as an array of NumPy, for a check; None if it lies on a GPU, which is not
    waited for."""
    if not hasattr(tensor, "data_ptr"):
        return tensor
    return tensor.detach().numpy() if tensor.device.type == "cpu" else None


def contiguous(tensor: Array) -> Any:
    return tensor.contiguous() if hasattr(tensor, "contiguous") else tensor.copy()


def in_a_row(tensor: Array) -> Any:
    """Return a tensor, or None, whose elements of the last mode lie side by side: itself, or a copy."""
    return tensor if tensor is None or strides(tensor)[-1:] == (1,) else contiguous(tensor)


def as_bias(mask: Array) -> Any:
    """Return what is added to scores for a mask of truth values: nothing where it holds, minus infinity elsewhere."""
    if not str(mask.dtype).endswith("bool"):
        return mask
    bias = empty_beside(mask, tuple(mask.shape), "float32")
    bias[mask] = 0.0
    bias[~mask] = float("-inf")
    return bias


def empty_beside(like: Array, shape: tuple[int, ...], dtype: Any = None) -> Any:
    """Return an uninitialised array beside ``like``, of its type or another, which may be named."""
    if hasattr(like, "new_empty"):
        if isinstance(dtype, str):
            import torch

            dtype = getattr(torch, dtype)
        return like.new_empty(shape) if dtype in (None, like.dtype) else like.new_empty(shape, dtype=dtype)
    import ml_dtypes
    import numpy as np

    named = getattr(ml_dtypes, dtype, dtype) if isinstance(dtype, str) else dtype
    return np.empty(shape, like.dtype if named is None else named)


def stream_reader() -> Callable[[int], int]:
    """Return torch's function that says the current stream of a GPU by its handle: an object of it costs more than a
    launch."""
    return sys.modules["torch"]._C._cuda_getCurrentRawStream


def current_stream(device: int | None) -> int | None:
    """Return the handle of torch's current stream on a GPU; None for the host, which has no number, or -1."""
    return None if device is None or device < 0 else stream_reader()(device)


def stream_of(tensor: Array, stream: Any) -> Any:
    """Return the stream that was given, or the handle of torch's current one."""
    if stream is not None or not getattr(tensor, "is_cuda", False):
        return stream
    return current_stream(tensor.device.index)


def on_stream(tensor: Array, stream: Any) -> AbstractContextManager[Any]:
    """Return what makes a stream torch's current one, while temporary tensors are made for kernels on it.

    torch makes tensors of memory that was freed on its current stream, and gives it to others there once they are
    freed: kernels of another stream would run beside those that had it before, and those that get it next.
    """
    if stream is None or not getattr(tensor, "is_cuda", False):
        return nullcontext()
    import torch

    handle = getattr(stream, "cuda_stream", getattr(stream, "value", stream))
    if handle is None or handle == current_stream(tensor.device.index):
        return nullcontext()
    return torch.cuda.stream(torch.cuda.ExternalStream(handle, tensor.device))


def on_given_stream(function: Function) -> Function:
    """Have a function of tensors make temporary ones where its kernels run (`on_stream`), on its parameter ``stream``
    or torch's current one."""
    place = list(signature(function).parameters).index("stream")

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        stream = arguments[place] if len(arguments) > place else named.get("stream")
        if stream is None:
            return function(*arguments, **named)
        first = next((x for x in (*arguments, *named.values()) if getattr(x, "is_cuda", False)), None)
        with on_stream(first, stream):
            return function(*arguments, **named)

    return cast("Function", call)
