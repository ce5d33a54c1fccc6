"""Quantisers on the device: by rows, and by groups of 32, blocks of 1 x 128 and blocks of 128 x 128.

fn, config = build_quant_module(N)                 fn(X, Q, scales, M, stream)
fn = build_row_quant_module(N, "bf16", "fp8")      fn(X, Q, scales, M, stream)
fn = build_mx_quant_module(N, "bf16", "mxfp4")     fn(X, bytes, scales, M, stream)
fn = build_block_quant_module(N, "bf16", 128)      fn(X, Q, scales, M, stream)

`formats.py` says what they give.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks import flat_pieces, wide_pieces
from flydsl.kernels.blocks.exchange import begin_behind_older_launches
from flydsl.kernels.blocks.inputs import (
    in_rows,
    require_extents,
    require_matrices,
    require_numbers,
    require_rows,
    require_type,
)
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.narrow import (
    FORMATS,
    LARGEST,
    codes_in,
    e4m3_of,
    largest_magnitude,
    quantised,
    row_scale,
    scaled_e2m1,
)
from flydsl.kernels.blocks.reduce import maximum, wave_count, wave_reduce
from flydsl.kernels.blocks.row_choice import check_row, only, plan_row
from flydsl.kernels.blocks.row_loop import for_each_row
from flydsl.kernels.blocks.row_plan import DTYPES, RowPlan, RowTask
from flydsl.kernels.blocks.row_work import RowArrays, RowWork
from flydsl.kernels.blocks.rows import launch_rows
from flydsl.kernels.blocks.wide_pieces import THREADS, begin_aligned
from flydsl.kernels.quant.short_rows import quantise_short_rows, short_rows

GROUP, SIDE = 32, 128
"""Elements of a group of the MX formats, and the rows and columns of a block."""
TURNS = 4
"""Pieces of a thread."""
FOLDED = 4096
"""Rows whose largest elements become one number before all do."""
LINE_BLOCKS = 2112
"""Blocks that look for the largest element of all: sixteen for each processor of an H200."""
MX: dict[str, tuple[Any, float, float, int]] = {
    "mxfp8": (fx.Float8E4M3FN, 448.0, 448.0, 32), "mxfp6": (fx.Float6E2M3FN, 7.5, 4.0, 24),
    "mxfp4": (fx.Float4E2M1FN, 6.0, 4.0, 16), "mxfp8_whole": (fx.Float8E4M3FN, 448.0, 256.0, 32),
}  # fmt: skip
"""Name -> (type, largest number, divisor of a group's largest for its scale, bytes of 32 codes)."""


def build_quant_module(N: int) -> tuple[Any, dict[str, Any]]:
    """Return (``fn(X f16, Q i8, scales f32, m)``, what was chosen): rows over max |x| / 127, cut off toward zero."""
    return build_row_quant_module(N, "f16", "i8"), {"N": N, "in_dtype": "f16", "quant_dtype": "i8"}


@kept
def build_row_quant_module(N: int, dtype: str, quant: str = "i8", plan: RowPlan | None = None) -> Any:
    """Return the launcher ``fn(X, Q, scales, m)`` with a scale for each row."""
    check_row(N, dtype)
    if quant not in LARGEST:
        raise ValueError(f"quant must be one of {', '.join(LARGEST)}, got {quant!r}")

    @flyc.kernel
    def row_quant_kernel(X: fx.Tensor, Q: fx.Tensor, scales: fx.Tensor, m: fx.Int32, plan: fx.Constexpr):
        def code(work: RowWork) -> None:
            top = work.exchange.reduce(largest_magnitude(work.x[0]), maximum)
            waves = work.exchange.publish([top])
            scale, inverse = row_scale(waves.combine(waves.read(0, 0.0), maximum), quant)
            work.put(scales, scale)
            for iteration, vector in enumerate(work.x[0].again()):
                work.store(iteration, quantised(vector * inverse, quant))

        for_each_row(RowArrays((X,), (Q,), numbers=1), m, plan, code)

    @flyc.kernel
    def short_quant_kernel(X: fx.Tensor, Q: fx.Tensor, scales: fx.Tensor, m: fx.Int32, short: fx.Constexpr):
        quantise_short_rows(X, Q, scales, m, short, quant)

    @flyc.jit
    def row_quant(X: fx.Tensor, Q: fx.Tensor, scales: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        choice = only(plan) if plan else plan_row(N, dtype)
        short = short_rows(N, DTYPES[dtype].width // 8, quant) if fx.nvvm.is_target() and plan is None else None
        require_numbers((scales,), m)
        X, Q = in_rows(N, X, Q)
        require_type((X,), DTYPES[dtype])
        Q = codes_in(Q, FORMATS[quant])
        if fx.const_expr(short is None):
            launch_rows(lambda chosen: row_quant_kernel(X, Q, scales, m, chosen), m, choice, stream, (X, Q))
        else:
            if flat_pieces.lie_flat((X, Q), m, N):
                require_matrices((X, Q), m, N)
                grid = (fx.ceildiv(m, short.rows), 1, 1)
                wide_pieces.launch(short_quant_kernel(X, Q, scales, m, short), grid, stream, short.block)
            else:
                launch_rows(lambda chosen: row_quant_kernel(X, Q, scales, m, chosen), m, choice, stream, (X, Q))

    return row_quant


@kept
def build_tensor_quant_module(N: int, dtype: str, quant: str = "fp8") -> Any:
    """Return the launcher ``fn(X, Q, tops, scales, m)`` with one scale for all; ``tops`` is room for m numbers of
    f32."""
    check_row(N, dtype)

    @flyc.kernel
    def row_top_kernel(X: fx.Tensor, tops: fx.Tensor, m: fx.Int32, plan: fx.Constexpr):
        def code(work: RowWork) -> None:
            waves = work.exchange.publish([work.exchange.reduce(largest_magnitude(work.x[0]), maximum)])
            work.put(tops, waves.combine(waves.read(0, 0.0), maximum))

        for_each_row(RowArrays((X,), numbers=1), m, plan, code)

    @flyc.kernel
    def fold_kernel(tops: fx.Tensor, m: fx.Int32):
        """Put the largest of each `FOLDED` numbers in the place of the first."""
        first = fx.block_idx.x * FOLDED
        rows = [fx.min(first + part + fx.thread_idx.x, m - 1) for part in range(0, FOLDED, THREADS)]
        top = _block_maximum(wave_reduce(reduce(maximum, [tops[row] for row in rows]), maximum), THREADS)
        if fx.thread_idx.x == 0:
            tops[first] = top

    @flyc.kernel
    def scale_kernel(tops: fx.Tensor, scales: fx.Tensor, m: fx.Int32, step: fx.Int32):
        top = fx.Float32(0.0)
        for row in range(fx.thread_idx.x * step, m, THREADS * step):
            top = fx.max(top, tops[row])
        top = _block_maximum(wave_reduce(top, maximum), THREADS)
        if fx.thread_idx.x == 0:
            scales[0] = row_scale(top, quant)[0]

    @flyc.kernel
    def apply_kernel(X: fx.Tensor, Q: fx.Tensor, scales: fx.Tensor, m: fx.Int32, plan: fx.Constexpr):
        def code(work: RowWork) -> None:
            inverse = 1.0 / scales[0]
            for iteration, vector in enumerate(work.x[0]):
                work.store(iteration, quantised(vector * inverse, quant))

        for_each_row(RowArrays((X,), (Q,)), m, plan, code)

    @flyc.kernel
    def line_top_kernel(X: fx.Tensor, tops: fx.Tensor, elements: fx.Int64):
        def larger(top: Any, vector: Any) -> Any:
            return fx.max(top, largest_magnitude([vector]))

        top = flat_pieces.fold_line(larger, fx.Float32(0.0), X, elements)
        top = _block_maximum(wave_reduce(top, maximum), THREADS)
        if fx.thread_idx.x == 0:
            tops[fx.block_idx.x] = top

    @flyc.kernel
    def apply_line_kernel(X: fx.Tensor, Q: fx.Tensor, scales: fx.Tensor, elements: fx.Int64):
        def code(vector: Any) -> tuple[Any]:
            return (quantised(vector * (1.0 / scales[0]), quant),)

        flat_pieces.map_line(code, (X,), (Q,), elements, backwards=True)

    @flyc.jit
    def tensor_quant(
        X: fx.Tensor, Q: fx.Tensor, tops: fx.Tensor, scales: fx.Tensor, m: fx.Int32, stream: fx.Stream = None
    ):
        require_numbers((tops,), m)
        require_numbers((scales,), 1)
        require_type((tops, scales), fx.Float32)
        Q = codes_in(Q, FORMATS[quant])
        if flat_pieces.lie_flat((X, Q), m, N):
            require_matrices((X, Q), m, N)
            elements, blocks = fx.Int64(m) * N, fx.min(m, fx.Int32(LINE_BLOCKS))
            wide_pieces.launch(line_top_kernel(X, tops, elements), (blocks, 1, 1), stream)
            scale_kernel(tops, scales, blocks, 1).launch(grid=(1, 1, 1), block=(THREADS, 1, 1), stream=stream)
            wide_pieces.launch(apply_line_kernel(X, Q, scales, elements), flat_pieces.flat_grid(X, elements), stream)
        else:
            reading, writing = (plan_row(N, dtype, task=RowTask(targets=count, once=True)) for count in (0, 1))
            launch_rows(lambda chosen: row_top_kernel(X, tops, m, chosen), m, reading, stream, (X,))
            step = fx.Int32(1)
            if m > FOLDED:
                fold_kernel(tops, m).launch(grid=(fx.ceildiv(m, FOLDED), 1, 1), block=(THREADS, 1, 1), stream=stream)
                step = fx.Int32(FOLDED)
            scale_kernel(tops, scales, m, step).launch(grid=(1, 1, 1), block=(THREADS, 1, 1), stream=stream)
            launch_rows(lambda chosen: apply_kernel(X, Q, scales, m, chosen), m, writing, stream, (X, Q))

    return tensor_quant


# Groups of a row -----------------------------------------------------------------------------------------------------


def e8m0_of(x: Any) -> Any:
    """Return the exponent of a positive number as a byte, one more from a significand of 1.5 on."""
    bits = x.bitcast(fx.Uint32)
    half = (bits < 0x800000).select(fx.Uint32(0x3FFFFF), fx.Uint32(0x400000))  # subnormal ones from above 1.5 on
    return fx.min((bits + half) >> 23, fx.Uint32(255))


def inverse_of_e8m0(scale: Any) -> Any:
    """1 / 2^(scale - 127): NaN for 255; the smallest results are subnormal."""
    bits = (scale < 254).select((254 - scale) << 23, (scale == 254).select(fx.Uint32(0x400000), fx.Uint32(0x7FC00000)))
    return bits.bitcast(fx.Float32)


@dataclass(frozen=True)
class _Groups:
    """Groups of ``size`` neighbours of a row, of which a thread has ``length`` at a time, and how they become codes.

    ``encode(vector, top)`` is (a group's scale, a thread's codes), from a thread's elements and the group's largest
    magnitude. ``stride`` elements of the results belong to so many of the source.
    """

    size: int
    length: int
    stride: int
    encode: Callable[[Any, Any], tuple[Any, Any]]
    kind: Any
    """Type of the codes; bytes have scales that are bytes too."""
    narrow: bool = False
    """Whether NVIDIA's GPUs encode elements of the source's type; else all are f32."""

    @property
    def lanes(self) -> int:
        """Neighbouring threads that have a group together."""
        return self.size // self.length


def _build_group_quant(N: int, groups: _Groups) -> Any:
    """Return the launcher ``fn(X, Q, scales, m)`` of groups of a row, or of a line: one behind the other they are rows
    of a group, whose places are found by shifts."""
    lengths = N, N // groups.length * groups.stride, N // groups.size
    of_group = groups.size, groups.lanes * groups.stride, 1

    @flyc.kernel
    def group_quant_kernel(X: fx.Tensor, Q: fx.Tensor, scales: fx.Tensor, m: fx.Int32, how: fx.Constexpr):
        wide, flat = how
        begin_behind_older_launches()
        if flat:
            m = m * lengths[2]
            X, Q, scales = (
                flat_pieces.folded(line, m, length) for line, length in zip((X, Q, scales), of_group, strict=True)
            )
        mine = wide_pieces.my_pieces(m, groups.lanes if flat else N // groups.length, TURNS)
        kind = X.dtype if groups.narrow and fx.nvvm.is_target() else fx.Float32
        vectors = [wide_pieces.load(X, row, piece * groups.length, groups.length, wide, kind) for row, piece, _ in mine]
        for (row, piece, there), vector in zip(mine, vectors, strict=True):
            top = wave_reduce(abs(vector).reduce("maximumf").to(fx.Float32), maximum, groups.lanes)
            scale, codes = groups.encode(vector, top)
            if there:
                wide_pieces.store(Q, row, piece * groups.stride, codes, wide)
                if piece % groups.lanes == 0:
                    scales[row, piece // groups.lanes] = scale

    @flyc.jit
    def group_quant(X: fx.Tensor, Q: fx.Tensor, scales: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        require_rows((X, Q), N)
        Q = codes_in(Q, groups.kind)
        scales = codes_in(scales, fx.Uint8) if groups.kind is fx.Uint8 else scales
        flat = fx.Boolean(True)
        for matrix, length in zip((X, Q, scales), lengths, strict=True):
            require_extents((matrix,), m, length)
            flat = flat & flat_pieces.are_lines((matrix,), m, length)
        if flat & begin_aligned((X, Q)):
            grid = wide_pieces.grid_of(m * lengths[2], groups.lanes, TURNS)
            wide_pieces.launch(group_quant_kernel(X, Q, scales, m, (True, True)), grid, stream)
        else:
            grid = wide_pieces.grid_of(m, N // groups.length, TURNS)
            wide_pieces.launch_wide(lambda wide: group_quant_kernel(X, Q, scales, m, (wide, False)), (X, Q), grid,
                                    THREADS, stream)  # fmt: skip

    return group_quant


@kept
def build_mx_quant_module(N: int, dtype: str, quant: str = "mxfp4") -> Any:
    """Return the launcher ``fn(X, bytes, scales, m)`` of groups of 32; N is a multiple of 32."""
    _check_groups(N, dtype, GROUP)
    if quant not in MX:
        raise ValueError(f"quant must be one of {', '.join(MX)}, got {quant!r}")
    kind, top, divisor, size = MX[quant]
    padded = quant == "mxfp6"  # 24 bytes of codes in 32, whose parts of a thread would be 6 bytes

    def encode(vector: Any, largest: Any) -> tuple[Any, Any]:
        if kind is fx.Float8E4M3FN:
            largest = fx.max(largest, fx.Float32(1e-30))
        scale = e8m0_of(largest / divisor)
        if kind is fx.Float4E2M1FN:
            return scale.to(fx.Uint8), scaled_e2m1(vector, inverse_of_e8m0(scale), scale != 255)
        inside = vector * inverse_of_e8m0(scale)
        codes = e4m3_of(inside) if kind is fx.Float8E4M3FN else fx.math.clampf(inside, -top, top).to(kind)
        codes = codes.bitcast(fx.Uint8)
        if padded:
            codes = fx.Vector.from_elements([*codes, *fx.Vector.filled(GROUP - size, 0, fx.Uint8)])
        return scale.to(fx.Uint8), codes

    length = GROUP if padded else _piece(dtype)
    stride = GROUP if padded else size * length // GROUP
    return _build_group_quant(N, _Groups(GROUP, length, stride, encode, fx.Uint8, kind is fx.Float4E2M1FN))


def _piece(dtype: str) -> int:
    """Return how many elements of a row a thread has at a time."""
    return wide_pieces.piece_of(GROUP, DTYPES[dtype].width // 8)


def _check_groups(length: int, dtype: str, group: int) -> None:
    check_row(length, dtype)
    if length % group:
        raise ValueError(f"rows of {length} elements are no groups of {group}")


# Blocks --------------------------------------------------------------------------------------------------------------


@kept
def build_block_quant_module(N: int, dtype: str, rows: int = 1, quant: str = "fp8") -> Any:
    """Return the launcher ``fn(X, Q, scales, m)`` of blocks of 1 x 128 or 128 x 128; m is a multiple of ``rows``."""
    _check_groups(N, dtype, SIDE)
    if rows not in (1, SIDE):
        raise ValueError(f"blocks have 1 or {SIDE} rows, got {rows}")

    def encode(vector: Any, top: Any) -> tuple[Any, Any]:
        scale, inverse = row_scale(top, quant)
        return scale, quantised(vector * inverse, quant)

    length = _piece(dtype)
    return (
        _build_group_quant(N, _Groups(SIDE, length, length, encode, FORMATS[quant]))
        if rows == 1
        else _build_square_quant(N, length, FORMATS[quant], encode)
    )


def _build_square_quant(N: int, length: int, kind: Any, encode: Callable[[Any, Any], tuple[Any, Any]]) -> Any:
    """Return the launcher ``fn(X, Q, scales, m)`` of blocks of 128 x 128, each of which is one of the launch's."""
    columns, lanes = N // SIDE, SIDE // length
    threads = 512

    @flyc.kernel
    def square_quant_kernel(X: fx.Tensor, Q: fx.Tensor, scales: fx.Tensor, wide: fx.Constexpr):
        begin_behind_older_launches()
        block_row, block_column = fx.block_idx.x // columns, fx.block_idx.x % columns
        column = block_column * SIDE + fx.thread_idx.x % lanes * length
        first = block_row * SIDE + fx.thread_idx.x // lanes
        rows = [first + further for further in range(0, SIDE, threads // lanes)]
        vectors = [wide_pieces.load(X, row, column, length, wide) for row in rows]
        top = _block_maximum(wave_reduce(largest_magnitude(vectors), maximum), threads)
        for row, vector in zip(rows, vectors, strict=True):
            scale, codes = encode(vector, top)
            wide_pieces.store(Q, row, column, codes, wide)
        if fx.thread_idx.x == 0:
            scales[block_row, block_column] = scale

    @flyc.jit
    def square_quant(X: fx.Tensor, Q: fx.Tensor, scales: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        require_rows((X, Q), N)
        require_extents((X, Q), m, N)
        require_extents((scales,), m // SIDE, columns)
        fx.require(
            m % SIDE == 0, f"blocks have {SIDE} rows, and there are {{}}", m, hint="pad the rows to a multiple of them"
        )
        Q = codes_in(Q, kind)
        grid = (m // SIDE * columns, 1, 1)
        wide_pieces.launch_wide(lambda wide: square_quant_kernel(X, Q, scales, wide), (X, Q), grid, threads, stream)

    return square_quant


def _block_maximum(top: Any, threads: int) -> Any:
    """Return the largest of what the waves of a block have."""
    slots = fx.SharedAllocator().allocate(fx.Array[fx.Float32, wave_count(threads)]).peek()
    if fx.lane_id() == 0:
        slots[fx.thread_idx.x // fx.num_warp_threads()] = top
    fx.barrier()
    for wave in range(wave_count(threads)):
        top = fx.max(top, slots[wave])
    return top
