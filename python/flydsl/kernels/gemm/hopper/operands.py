"""Arrays of PyTorch and NumPy as the Hopper GEMM takes them, and copies of those whose lines TMA cannot read."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import gcd, prod
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compiler.calls.native_call import calls_are_native
from flydsl.compiler.calls.native_replay import call_facts
from flydsl.kernels.blocks.exchange import begin_behind_older_launches
from flydsl.kernels.blocks.inputs import (
    HOST_BLOCKS,
    address_of,
    empty_beside,
    multiprocessors_of,
    on_stream,
    strides,
)
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.gemm.hopper.plan import LINE_BYTES, ROW_BYTES

MULTIPLIED: dict[str, Any] = {
    "bfloat16": fx.BFloat16, "float16": fx.Float16, "float8_e4m3fn": fx.Float8E4M3FN, "float8_e5m2": fx.Float8E5M2,
    "int8": fx.Int8, "uint8": fx.Uint8,
}  # fmt: skip
WRITTEN: dict[str, Any] = {
    "bfloat16": fx.BFloat16, "float16": fx.Float16, "float32": fx.Float32, "float8_e4m3fn": fx.Float8E4M3FN,
    "float8_e5m2": fx.Float8E5M2,
}  # fmt: skip

WORDS = 8, 4
"""Bytes that a thread copies at once of lines that begin at multiples of them, and not of `LINE_BYTES`."""

PACKING = 256
"""Threads of a block that copies lines."""

KEPT_CALLS = 4096
"""Shapes that the way to their kernel is kept for."""


# Lines that do not start at multiples of 16 bytes ------------------------------------------------------


class Bound:
    """A jit function that is compiled for the arguments of its first call, which that is: compiling launches once."""

    def __init__(self, function: Any) -> None:
        self._function, self._compiled = function, None

    def __call__(self, *arguments: Any) -> None:
        if self._compiled is None:
            self._compiled = flyc.compile(self._function, *arguments)
        else:
            self._compiled(*arguments)

    @property
    def compiled(self) -> Any:
        """The compiled function, which serves all calls but the first."""
        return self._compiled


class KeptCalls(dict[Any, Any]):
    """The way from shapes, strides and types to the kernel, of the last `KEPT_CALLS` of them at most."""

    def begin(self, key: Any, call: Any, *arguments: Any) -> Any:
        """Make the first call of a key; keep, and return, what makes the later ones."""
        call(*arguments)
        if len(self) >= KEPT_CALLS:
            self.clear()
        self[key] = call = call.compiled if isinstance(call, Bound) else call
        return call


@dataclass(frozen=True)
class OperandLines:
    """How an operand lies in memory: along K or not, at multiples of how many bytes, up to 128, its lines start, and
    whether it must be copied before TMA can read it, or threads can copy it by words of so many bytes, if any."""

    along_k: bool
    line_bytes: int = ROW_BYTES
    is_ragged: bool = False
    words: int = 0


def operand_lines(matrix: Any, k_mode: int, name: str) -> OperandLines:
    """``k_mode`` is which of the last two modes K is."""
    steps, size = strides(matrix), matrix.dtype.itemsize
    along = steps[-2:][k_mode]
    across = steps[-2:][1 - k_mode]
    if along != 1 and across != 1 and 0 not in matrix.shape:
        raise ValueError(f"{name} must have a contiguous mode, and its strides are {steps}")
    along_k = along == 1
    pitches = [across if along_k else along, *steps[:-2]]
    aligned = address_of(matrix) % LINE_BYTES == 0 and all(
        pitch > 0 and pitch * size % LINE_BYTES == 0 for pitch in pitches
    )
    ends = (address_of(matrix), *(pitch * size for pitch in pitches), matrix.shape[-2:][k_mode] * size)
    begins = gcd(*ends) if along_k and min(pitches) > 0 else 1
    words = next((each for each in WORDS if begins % each == 0), 0)
    if aligned and (along_k or size > 1):
        return OperandLines(along_k, gcd(ROW_BYTES, *(pitch * size for pitch in pitches)), words=words)
    return OperandLines(True, is_ragged=True, words=words)


def lines_of(matrix: Any) -> tuple[bool, int]:
    """Return whether C's rows are contiguous, and at multiples of how many bytes, up to 16, its lines begin and end."""
    steps, size = strides(matrix), matrix.dtype.itemsize
    along_n = steps[-1] == 1 and not (matrix.shape[-1] == 1 and steps[-2] == 1)
    if not along_n and steps[-2] != 1:
        raise ValueError(f"C must have a contiguous mode, and its strides are {steps}")
    numbers = [steps[-2 if along_n else -1], *steps[:-2], matrix.shape[-1 if along_n else -2]]
    return along_n, gcd(LINE_BYTES, address_of(matrix), *(number * size for number in numbers))


@flyc.kernel
def pack_kernel(matrices: Any, forms: fx.Constexpr):
    """Copy matrices, (batch, row, K), to lines that are K and start at multiples of 16 bytes, one behind the other.

    A thread has a piece of a line. The GEMM that follows begins, up to where it reads, while this launch runs.
    """
    begin_behind_older_launches()
    block = fx.block_idx.x
    for (source, packed), (along_k, width) in zip(matrices, forms, strict=True):
        pack_piece(source, packed, block * PACKING + fx.thread_idx.x, along_k, width)
        block = block - _blocks_of(source, width)


@flyc.jit
def pack_piece(source, packed, index, along_k, width):
    """The piece of that number, if there is one."""
    batches, rows, k = _extents(source)
    pieces = fx.ceildiv(k, width)
    if (index >= 0) & (index < batches * rows * pieces):
        batch, inside = index // (rows * pieces), index % (rows * pieces)
        # Neighbouring threads read neighbours in memory.
        row, piece = (inside // pieces, inside % pieces) if along_k else (inside % rows, inside // rows)
        # What is read again beyond the end lies beyond the end of the packed line, too: nobody looks at it.
        found = [source[batch, row, fx.min(piece * width + i, k - 1)] for i in range(width)]
        moved = fx.make_rmem_tensor(width, packed.dtype)
        moved.store(fx.Vector.from_elements(found, packed.dtype))
        target = fx.logical_divide(packed[batch, row, None], fx.make_layout(width, 1))
        fx.copy_atom_call(fx.make_copy_atom(fx.UniversalCopy(128), packed.dtype), moved, target[None, piece])


def _extents(lines: Any) -> list[Any]:
    return [fx.Int32(fx.get_scalar(fx.get_(lines.shape, i))) for i in range(3)]


def _blocks_of(lines: Any, width: int) -> Any:
    """Blocks that copy a matrix."""
    batches, rows, k = _extents(lines)
    return fx.ceildiv(batches * rows * fx.ceildiv(k, width), PACKING)


def _as_lines(matrix: Any, k_mode: int) -> Any:
    """Return the matrix as (batch, row, K), with a batch of one where there is none."""
    lead = len(matrix.shape) - 2
    modes = [*range(lead), lead + 1 - k_mode, lead + k_mode]
    shape, stride = ([fx.get_scalar(fx.get_(part, mode)) for mode in modes] for part in (matrix.shape, matrix.stride))
    whole = fx.make_layout((1,) * (1 - lead) + tuple(shape), (0,) * (1 - lead) + tuple(stride))
    return fx.make_view(fx.get_iter(matrix), whole)


@kept
def _build_pack(k_modes: tuple[int, ...], forms: tuple[tuple[bool, int], ...]) -> Any:
    @flyc.jit
    def pack(source: fx.Tensor, packed: fx.Tensor, other: fx.Tensor | None, other_packed: fx.Tensor | None,
             stream: fx.Stream = fx.Stream(None)):  # fmt: skip
        pairs = ((source, packed), (other, other_packed))
        matrices = tuple((_as_lines(a, mode), _as_lines(b, 1)) for (a, b), mode in zip(pairs, k_modes))
        blocks = sum((_blocks_of(a, width) for (a, _), (_, width) in zip(matrices, forms)), fx.Int32(0))
        pack_kernel(matrices, forms).launch(grid=(blocks, 1, 1), block=(PACKING, 1, 1), stream=stream, pdl=True)

    return pack


def packed_lines(operands: list[tuple[Any, int, OperandLines]], stream: Any) -> list[Any]:
    """Return matrices, each with the mode that K is, as they are or as copies whose lines are K and start at multiples
    of 16 bytes; one launch makes all of those."""
    found, ragged, k_modes, forms = [], [], [], []
    for matrix, k_mode, lines in operands:
        if not lines.is_ragged:
            found.append(matrix)
            continue
        *batch, rows, k = matrix.shape if k_mode == 1 else (*matrix.shape[:-2], matrix.shape[-1], matrix.shape[-2])
        width, whole = (size // matrix.dtype.itemsize for size in (LINE_BYTES, ROW_BYTES))
        if (pieces := prod(batch) * rows * -(-k // width)) + PACKING >= 1 << 31:
            raise ValueError(
                f"lines of a matrix {tuple(matrix.shape)} do not start at multiples of {LINE_BYTES} bytes, and it has "
                f"too many pieces of them to be copied, {pieces:,}: give it such lines, or fewer rows at a time"
            )
        with on_stream(matrix, stream):
            packed = empty_beside(matrix, (*batch, rows, -(-k // whole) * whole), matrix.dtype)
        ragged += [matrix, packed]  # whole pieces are written
        packed = packed[..., :k]
        k_modes.append(k_mode)
        forms.append((strides(matrix)[-2:][k_mode] == 1, width))
        found.append(packed if k_mode == 1 else packed.swapaxes(-1, -2))
    pack = _build_pack(tuple(k_modes), tuple(forms))
    pack(*ragged, *[None] * (4 - len(ragged)), *([] if stream is None else [stream]))
    return found


def facts(array: Any) -> tuple[Any, ...]:
    return tuple(array.shape), strides(array), array.dtype, address_of(array) % LINE_BYTES


def check_arrays(*arrays: Any) -> None:
    """Refuse what is neither a tensor nor an array, nor None."""
    for array in arrays:
        if array is not None and not (hasattr(array, "shape") and hasattr(array, "dtype")):
            raise TypeError(f"expected a tensor of torch or an array of NumPy, got {type(array).__name__}")


def call_key(arrays: tuple[Any, ...], numbers: tuple[Any, ...], config: Any, device: int) -> Any:
    """Return what calls that share a kernel have in common: of arrays their `facts`, None of one that is not there.

    Native code says it of tensors of torch that begin at multiples of 16 bytes, in a quarter of the time.
    """
    key = None
    if config is None and "torch" in sys.modules and calls_are_native():
        key = call_facts()(*arrays, *numbers)
    if key is None:
        check_arrays(*arrays)
        key = tuple([None if array is None else facts(array) for array in arrays]), numbers, config, device
    return key


def type_of(array: Any, name: str, known: dict[str, Any]) -> Any:
    found = known.get(str(array.dtype).removeprefix("torch."))
    if found is None:
        what = "multiplies" if known is MULTIPLIED else "writes"
        raise ValueError(f"{name} is {array.dtype}; this kernel {what} {', '.join(known)}")
    return found


def multiprocessors(device: int) -> int:
    return HOST_BLOCKS if device < 0 else multiprocessors_of(device)


def zeros(like: Any, shape: tuple[int, ...]) -> Any:
    made = empty_beside(like, shape, like.dtype)
    made[...] = 0
    return made


def bf16_like(array: Any) -> Any:
    if hasattr(array, "new_empty"):
        import torch

        return torch.bfloat16
    import ml_dtypes

    return ml_dtypes.bfloat16
