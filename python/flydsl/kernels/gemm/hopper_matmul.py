"""Matrix products on Hopper for arrays as they come: `hopper_gemm` writes into C, `hopper_matmul` returns it.

    hopper_gemm(A, B, C, bias, activation="silu")       C = hopper_matmul(A, B, out_dtype=torch.float32)

C = act(alpha * row_scale * (A @ B) * column_scale + bias + beta * D). A is (M, K), B is (K, N), C and D are (M, N), or
all of them with the same batch in front. Each may have either of its modes contiguous: ``weights.T`` of an (N, K)
matrix is as good as any B. Lines that TMA cannot read, those that do not start at multiples of 16 bytes, are copied
together first. How the kernel is built for a product is decided by `hopper_plan`, once for each shape.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.activation import ACTIVATIONS, GATES
from flydsl.kernels.gemm.hopper_gemm import build_hopper_gemm
from flydsl.kernels.gemm.hopper_plan import LINE_BYTES, ROW_BYTES, GemmConfig, GemmKind, Problem, choose_config

MULTIPLIED: dict[str, Any] = {
    "bfloat16": fx.BFloat16, "float16": fx.Float16, "float8_e4m3fn": fx.Float8E4M3FN, "float8_e5m2": fx.Float8E5M2,
    "int8": fx.Int8, "uint8": fx.Uint8,
}  # fmt: skip
WRITTEN: dict[str, Any] = {
    "bfloat16": fx.BFloat16, "float16": fx.Float16, "float32": fx.Float32, "float8_e4m3fn": fx.Float8E4M3FN,
    "float8_e5m2": fx.Float8E5M2,
}  # fmt: skip
HOST_SMS = 4
"""Persistent blocks on the virtual GPU, which has no multiprocessors to fill."""
KEPT_CALLS = 4096
"""Shapes that the way to their kernel is kept for."""

Call = Callable[..., None]
_CALLS: dict[Any, Call] = {}
_STREAMS: dict[tuple[int, int], Any] = {}


def hopper_matmul(A: Any, B: Any, *, out: Any = None, out_dtype: Any = None, **how: Any) -> Any:
    """A @ B, with everything that `hopper_gemm` has; into ``out``, or a new array of ``out_dtype`` or of A's type.

    Products of 8-bit numbers are bf16 unless ``out_dtype`` says otherwise.
    """
    if out is None:
        shape = (*A.shape[:-1], B.shape[-1] // _columns_of_one(how.get("activation", "none")))
        if out_dtype is None and A.dtype.itemsize == 1:
            out_dtype = _bf16_like(A)
        out = _new(A, shape, out_dtype or A.dtype)
    hopper_gemm(A, B, out, **how)
    return out


def hopper_gemm(
    A: Any, B: Any, C: Any, bias: Any = None, *, alpha: float = 1.0, beta: float = 0.0, D: Any = None,
    row_scale: Any = None, column_scale: Any = None, activation: str = "none", config: GemmConfig | None = None,
    stream: Any = None,
) -> None:  # fmt: skip
    """Write C = act(alpha * row_scale * (A @ B) * column_scale + bias + beta * D).

    Arrays are PyTorch's or NumPy's; the stream is torch's current one unless another is given. ``bias`` and
    ``column_scale`` have N elements, ``row_scale`` M, or any of them one. D is not read if beta is 0. The activation
    "swiglu" makes one column of two, silu(even) * odd, so that C is (M, N / 2).
    """
    if not beta:
        D = None
    is_torch = hasattr(A, "data_ptr")
    device = A.get_device() if is_torch else -1
    factor = None if alpha == 1 else float(alpha)
    more = None
    if bias is not None or D is not None or row_scale is not None or column_scale is not None:
        more = tuple([None if array is None else _facts(array) for array in (bias, row_scale, column_scale, D)])
    # This is the whole of a call that is not the launch: what it costs, every call costs.
    if is_torch:
        places: Any = (A.data_ptr() | B.data_ptr() | C.data_ptr()) % LINE_BYTES
        if places:
            places = A.data_ptr() % LINE_BYTES, B.data_ptr() % LINE_BYTES, C.data_ptr() % LINE_BYTES
        key = (
            A.shape, B.shape, C.shape, A.stride(), B.stride(), C.stride(), A.dtype, B.dtype, C.dtype, places, device,
            activation, config, factor is None, more,
        )  # fmt: skip
    else:
        key = (_facts(A), _facts(B), _facts(C), activation, config, factor is None, more)
    given = (A, B, C, row_scale, column_scale, bias, D)
    call = _CALLS.get(key)
    if call is None:
        if len(_CALLS) >= KEPT_CALLS:
            _CALLS.clear()
        call = _CALLS[key] = _call_for(given, factor, activation, config, device)
    call(*given, factor, float(beta), _current_stream(device) if stream is None else stream)


# The way to the kernel -------------------------------------------------------------------------------


def _call_for(
    given: tuple[Any, ...], alpha: float | None, activation: str, config: GemmConfig | None, device: int
) -> Call:
    """What `hopper_gemm` does for arrays of these shapes, strides and types."""
    A, B, C, row_scale, column_scale, bias, D = given
    _check(A, B, C, row_scale, column_scale, bias, D, activation)
    (m, k), n = A.shape[-2:], B.shape[-1]
    if 0 in C.shape:
        return lambda *_: None
    if k == 0:
        return _without_products(A, B, activation, config)
    a, b = _operand(A, 1, "A"), _operand(B, 0, "B")
    types = _type_of(A, "A", MULTIPLIED), _type_of(B, "B", MULTIPLIED), _type_of(C, "C", WRITTEN)
    along_n, wide = _lines_of(C)
    sms = _multiprocessors(device)
    batches = C.shape[0] if C.ndim == 3 else 1
    straddles = a.straddles or b.straddles
    problem = Problem(m, n, k, batches, types[0].width // 8, a.along_k, b.along_k, types[2].width, along_n, straddles,
                      _columns_of_one(activation))  # fmt: skip
    config = config or choose_config(problem, sms)
    first, second = ((types[1], b), (types[0], a)) if config.swapped else ((types[0], a), (types[1], b))
    kind = GemmKind(
        first[0], second[0], types[2], first[1].along_k, second[1].along_k, along_n != config.swapped, wide,
        C.ndim == 3, activation,
    )  # fmt: skip
    run = build_hopper_gemm(kind, config, sms)
    if a.is_ragged or b.is_ragged:
        return lambda A, B, *rest: run(_packed(A, 1, a, rest[-1]), _packed(B, 0, b, rest[-1]), *rest)
    if device < 0:
        return run
    return flyc.compile(run, *given, alpha, 1.0, _current_stream(device))


def _without_products(A: Any, B: Any, activation: str, config: GemmConfig | None) -> Call:
    """K is 0, and TMA has nothing to copy: products of zeros are the same."""
    zero_a, zero_b = _zeros(A, (*A.shape[:-1], 16)), _zeros(B, (*B.shape[:-2], B.shape[-1], 16)).swapaxes(-1, -2)

    def call(A: Any, B: Any, C: Any, row_scale: Any, column_scale: Any, bias: Any, D: Any, alpha: float | None,
             beta: float, stream: Any) -> None:  # fmt: skip
        hopper_gemm(zero_a, zero_b, C, bias, beta=beta, D=D, row_scale=row_scale,
                    column_scale=column_scale, activation=activation, config=config, stream=stream)  # fmt: skip

    return call


# Lines that do not start at multiples of 16 bytes ------------------------------------------------------


@dataclass(frozen=True)
class OperandLines:
    """How an operand lies in memory: along K or not, whether lines start at multiples of 128 bytes, and whether it must
    be copied before TMA can read it."""

    along_k: bool
    straddles: bool = False
    is_ragged: bool = False


def _operand(matrix: Any, k_mode: int, name: str) -> OperandLines:
    """``k_mode`` is which of the last two modes K is."""
    strides, size = _strides(matrix), matrix.dtype.itemsize
    along = strides[-2:][k_mode]
    across = strides[-2:][1 - k_mode]
    if along != 1 and across != 1 and 0 not in matrix.shape:
        raise ValueError(f"{name} must have a contiguous mode, and its strides are {strides}")
    along_k = along == 1
    pitches = [across if along_k else along, *strides[:-2]]
    aligned = _address(matrix) % LINE_BYTES == 0 and all(
        pitch > 0 and pitch * size % LINE_BYTES == 0 for pitch in pitches
    )
    if aligned and (along_k or size > 1):
        return OperandLines(along_k, straddles=any(pitch * size % ROW_BYTES for pitch in pitches))
    return OperandLines(True, is_ragged=True)


def _lines_of(matrix: Any) -> tuple[bool, bool]:
    """Whether C's rows are contiguous, and whether pieces of 16 bytes of its lines are aligned and whole."""
    strides, size = _strides(matrix), matrix.dtype.itemsize
    along_n = strides[-1] == 1 and not (matrix.shape[-1] == 1 and strides[-2] == 1)
    if not along_n and strides[-2] != 1:
        raise ValueError(f"C must have a contiguous mode, and its strides are {strides}")
    numbers = [strides[-2 if along_n else -1], *strides[:-2], matrix.shape[-1 if along_n else -2]]
    return along_n, _address(matrix) % LINE_BYTES == 0 and all(number * size % LINE_BYTES == 0 for number in numbers)


@flyc.kernel
def pack_kernel(source: fx.Tensor, packed: fx.Tensor, along_k: fx.Constexpr, width: fx.Constexpr):
    """Copy (batch, row, K) to lines that are K and start at multiples of 16 bytes; a thread has a piece of a line."""
    rows, k = (fx.Int32(fx.get_scalar(fx.get_(source.shape, i))) for i in (1, 2))
    pieces = fx.ceildiv(k, width)
    index, batch = fx.block_idx.x * 256 + fx.thread_idx.x, fx.block_idx.y
    # Neighbouring threads read neighbours in memory.
    row, piece = (index // pieces, index % pieces) if along_k else (index % rows, index // rows)
    if (row < rows) & (piece < pieces):
        # What is read again beyond the end lies beyond the end of the packed line, too: nobody looks at it.
        found = [source[batch, row, fx.min(piece * width + i, k - 1)] for i in range(width)]
        moved = fx.make_rmem_tensor(width, packed.dtype)
        moved.store(fx.Vector.from_elements(found, packed.dtype))
        target = fx.logical_divide(packed[batch, row, None], fx.make_layout(width, 1))
        fx.copy_atom_call(fx.make_copy_atom(fx.UniversalCopy(128), packed.dtype), moved, target[None, piece])


@cache
def _build_pack(k_mode: int, along_k: bool, batched: bool, width: int) -> Any:
    @flyc.jit
    def pack(source: fx.Tensor, packed: fx.Tensor, stream: fx.Stream = fx.Stream(None)):
        # As (batch, row, K), with a batch of one where there is none.
        def as_lines(matrix: Any, k_last: bool) -> Any:
            modes = [batched + 0, batched + 1] if k_last else [batched + 1, batched + 0]
            shape = [fx.get_scalar(fx.get_(matrix.shape, mode)) for mode in modes]
            stride = [fx.get_scalar(fx.get_(matrix.stride, mode)) for mode in modes]
            lead = (fx.get_scalar(fx.get_(part, 0)) for part in (matrix.shape, matrix.stride)) if batched else (1, 0)
            count, step = lead
            return fx.make_view(fx.get_iter(matrix), fx.make_layout((count, *shape), (step, *stride)))

        lines, target = as_lines(source, k_mode == 1), as_lines(packed, True)
        batches, rows, k = (fx.Int32(fx.get_scalar(fx.get_(lines.shape, i))) for i in range(3))
        grid = (fx.ceildiv(rows * fx.ceildiv(k, width), 256), batches, 1)
        pack_kernel(lines, target, along_k, width).launch(grid=grid, block=(256, 1, 1), stream=stream)

    return pack


def _packed(matrix: Any, k_mode: int, lines: OperandLines, stream: Any) -> Any:
    """The matrix, or a copy of it whose lines are K and start at multiples of 16 bytes."""
    if not lines.is_ragged:
        return matrix
    *batch, rows, k = matrix.shape if k_mode == 1 else (*matrix.shape[:-2], matrix.shape[-1], matrix.shape[-2])
    width, whole = (size // matrix.dtype.itemsize for size in (LINE_BYTES, ROW_BYTES))
    packed = _new(matrix, (*batch, rows, -(-k // whole) * whole), matrix.dtype)[..., :k]
    along_k = _strides(matrix)[-2:][k_mode] == 1
    _build_pack(k_mode, along_k, bool(batch), width)(matrix, packed, *([] if stream is None else [stream]))
    return packed if k_mode == 1 else packed.swapaxes(-1, -2)


# What was given --------------------------------------------------------------------------------------


def _check(A: Any, B: Any, C: Any, row_scale: Any, column_scale: Any, bias: Any, D: Any, activation: str) -> None:
    """Refuse what the kernel cannot take."""
    shapes = f"A {tuple(A.shape)}, B {tuple(B.shape)}, C {tuple(C.shape)}"
    if not A.ndim == B.ndim == C.ndim or A.ndim not in (2, 3):
        raise ValueError(f"A, B and C are matrices, or batches of them, got shapes {shapes}")
    (*batch, m, k), n = A.shape, B.shape[-1]
    many = _columns_of_one(activation)
    if tuple(B.shape) != (*batch, k, n) or tuple(C.shape) != (*batch, m, n // many) or n % many:
        raise ValueError(
            f"shapes do not fit: {shapes}; A is (M, K), B is (K, N), C is (M, {'N' if many == 1 else 'N / 2'})"
        )
    if D is not None and tuple(D.shape) != (*batch, m, n):
        raise ValueError(f"D has shape {tuple(D.shape)}, and the product {(*batch, m, n)}")
    for name, vector, extent in (("bias", bias, n), ("column_scale", column_scale, n), ("row_scale", row_scale, m)):
        if vector is not None and tuple(vector.shape) not in ((extent,), (1,)):
            what = "rows" if vector is row_scale else "columns"
            raise ValueError(f"{name} has shape {tuple(vector.shape)}, and the product has {extent} {what}")
    types = _type_of(A, "A", MULTIPLIED), _type_of(B, "B", MULTIPLIED)
    _type_of(C, "C", WRITTEN)
    mixed = all(kind.width == 8 for kind in types) and types[0].is_integer == types[1].is_integer
    if types[0] is not types[1] and not mixed:
        raise ValueError(f"A is {A.dtype} and B is {B.dtype}: give both the same type")
    if activation not in {**ACTIVATIONS, **GATES}:
        raise ValueError(f"activation must be one of {', '.join([*ACTIVATIONS, *GATES])}, got {activation!r}")


def _columns_of_one(activation: str) -> int:
    """Columns of the product that a column of C is made of."""
    return 2 if activation in GATES else 1


def _facts(array: Any) -> tuple[Any, ...]:
    return tuple(array.shape), _strides(array), array.dtype, _address(array) % LINE_BYTES


def _address(array: Any) -> int:
    return array.data_ptr() if hasattr(array, "data_ptr") else array.__array_interface__["data"][0]


def _strides(array: Any) -> tuple[int, ...]:
    """In elements."""
    if callable(getattr(array, "stride", None)):
        return tuple(array.stride())
    return tuple(step // array.itemsize for step in array.strides)


def _type_of(array: Any, name: str, known: dict[str, Any]) -> Any:
    found = known.get(str(array.dtype).removeprefix("torch."))
    if found is None:
        what = "multiplies" if known is MULTIPLIED else "writes"
        raise ValueError(f"{name} is {array.dtype}; this kernel {what} {', '.join(known)}")
    return found


@cache
def _multiprocessors(device: int) -> int:
    if device < 0:
        return HOST_SMS
    import torch

    return torch.cuda.get_device_properties(device).multi_processor_count


def _current_stream(device: int) -> Any:
    """torch's stream. Its objects cost more than a launch, so there is one for each handle."""
    if device < 0:
        return None
    import torch

    handle_of = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    if handle_of is None:
        return torch.cuda.current_stream(device)
    handle = handle_of(device)
    found = _STREAMS.get((device, handle))
    if found is None:
        found = _STREAMS[device, handle] = torch.cuda.current_stream(device)
    return found


def _new(like: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """An uninitialised array beside ``like``."""
    if not hasattr(like, "new_empty"):
        import numpy as np

        return np.empty(shape, dtype)
    return like.new_empty(shape) if dtype == like.dtype else like.new_empty(shape, dtype=dtype)


def _zeros(like: Any, shape: tuple[int, ...]) -> Any:
    made = _new(like, shape, like.dtype)
    made[...] = 0
    return made


def _bf16_like(array: Any) -> Any:
    if hasattr(array, "new_empty"):
        import torch

        return torch.bfloat16
    import ml_dtypes

    return ml_dtypes.bfloat16
