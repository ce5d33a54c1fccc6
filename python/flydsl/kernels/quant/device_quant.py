"""Quantisers on the device: by rows, and by groups of 32, blocks of 1 x 128 and blocks of 128 x 128.

fn, config = build_quant_module(N)                 fn(X, Q, scales, M, stream)
fn = build_row_quant_module(N, "bf16", "fp8")      fn(X, Q, scales, M, stream)
fn = build_mx_quant_module(N, "bf16", "mxfp4")     fn(X, bytes, scales, M, stream)
fn = build_block_quant_module(N, "bf16", 128)      fn(X, Q, scales, M, stream)

`formats.py` says what they give.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.narrow import LARGEST, largest_magnitude, quantised, row_scale
from flydsl.kernels.blocks.reduce import maximum, wave_count, wave_reduce
from flydsl.kernels.blocks.row_choice import only, plan_row
from flydsl.kernels.blocks.row_loop import RowArrays, RowWork, for_each_row
from flydsl.kernels.blocks.row_plan import RowPlan, RowTask, check_row
from flydsl.kernels.blocks.rows import launch_rows, require_extents, require_rows

PIECE = 32
"""Elements of a thread: a group of the MX formats."""
THREADS = 128
MX: dict[str, tuple[Any, float, float, int]] = {
    "mxfp8": (fx.Float8E4M3FN, 448.0, 448.0, 32), "mxfp6": (fx.Float6E2M3FN, 7.5, 4.0, 24),
    "mxfp4": (fx.Float4E2M1FN, 6.0, 4.0, 16),
}  # fmt: skip
"""Name -> (type, largest number, divisor of a group's largest for its scale, bytes of 32 codes)."""


def build_quant_module(N: int) -> tuple[Any, dict[str, Any]]:
    """Return (``fn(X f16, Q i8, scales f32, m)``, what was chosen): rows over max |x| / 127, cut off toward zero."""
    return build_row_quant_module(N, "f16", "i8"), {"N": N, "in_dtype": "f16", "quant_dtype": "i8"}


@cache
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

    @flyc.jit
    def row_quant(X: fx.Tensor, Q: fx.Tensor, scales: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        choice = only(plan) if plan else plan_row(N, dtype)
        launch_rows(lambda chosen: row_quant_kernel(X, Q, scales, m, chosen), m, choice, stream, (X, Q))

    return row_quant


@cache
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
    def scale_kernel(tops: fx.Tensor, scales: fx.Tensor, m: fx.Int32):
        top = fx.Float32(0.0)
        for row in range(fx.thread_idx.x, m, THREADS):
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

    @flyc.jit
    def tensor_quant(
        X: fx.Tensor, Q: fx.Tensor, tops: fx.Tensor, scales: fx.Tensor, m: fx.Int32, stream: fx.Stream = None
    ):
        reading, writing = (plan_row(N, dtype, task=RowTask(targets=count, once=True)) for count in (0, 1))
        launch_rows(lambda chosen: row_top_kernel(X, tops, m, chosen), m, reading, stream, (X,))
        scale_kernel(tops, scales, m).launch(grid=(1, 1, 1), block=(THREADS, 1, 1), stream=stream)
        launch_rows(lambda chosen: apply_kernel(X, Q, scales, m, chosen), m, writing, stream, (X, Q))

    return tensor_quant


# Groups of a row -----------------------------------------------------------------------------------------------------


def _piece(X: Any, row: Any, piece: Any, length: int = PIECE, aligned: int = 0) -> Any:
    """Neighbouring elements of a row, as f32."""
    start = fx.get_iter(X[row, None]) + piece * length
    start = start.aligned(aligned) if aligned else start
    return fx.make_view(start, fx.make_layout(length, 1)).load().to(fx.Float32)


def _write(out: Any, row: Any, place: Any, vector: Any, aligned: int = 0) -> None:
    """Write neighbouring bytes of a row."""
    start = fx.get_iter(out[row, None]) + place
    start = start.aligned(aligned) if aligned else start
    fx.make_view(start, fx.make_layout(vector.numel, 1)).store(vector)


def e8m0_of(x: Any) -> Any:
    """Return the exponent of a positive number as a byte, one more from a significand of 1.5 on."""
    bits = x.bitcast(fx.Uint32)
    exponent, rest = bits >> 23, bits & 0x7FFFFF
    half = (exponent == 0).select(fx.Uint32(0x400001), fx.Uint32(0x400000))
    raised = exponent + (rest >= half).select(fx.Uint32(1), fx.Uint32(0))
    return (exponent == 255).select(fx.Uint32(255), raised)


def inverse_of_e8m0(scale: Any) -> Any:
    """1 / 2^(scale - 127): NaN for 255; the smallest results are subnormal."""
    bits = (scale < 254).select((254 - scale) << 23, (scale == 254).select(fx.Uint32(0x400000), fx.Uint32(0x7FC00000)))
    return bits.bitcast(fx.Float32)


@cache
def build_mx_quant_module(N: int, dtype: str, quant: str = "mxfp4") -> Any:
    """Return the launcher ``fn(X, bytes, scales, m)`` of groups of 32; N is a multiple of 32."""
    _check_groups(N, dtype, PIECE)
    if quant not in MX:
        raise ValueError(f"quant must be one of {', '.join(MX)}, got {quant!r}")
    kind, top, divisor, size = MX[quant]
    pieces, stride = N // PIECE, 32 if quant == "mxfp6" else size

    @flyc.kernel
    def mx_quant_kernel(X: fx.Tensor, Q: fx.Tensor, scales: fx.Tensor, m: fx.Int32):
        number = fx.block_idx.x * THREADS + fx.thread_idx.x
        if number < m * pieces:
            row, piece = number // pieces, number % pieces
            vector = _piece(X, row, piece)
            largest = abs(vector).reduce("maximumf")
            if fx.const_expr(quant == "mxfp8"):
                largest = fx.max(largest, fx.Float32(1e-30))
            scale = e8m0_of(largest / divisor)
            inside = fx.math.clampf(vector * inverse_of_e8m0(scale), -top, top)
            _write(Q, row, piece * stride, inside.to(kind).bitcast(fx.Uint8))
            if fx.const_expr(stride > size):
                _write(Q, row, piece * stride + size, fx.Vector.filled(stride - size, 0, fx.Uint8))
            scales[row, piece] = scale.to(fx.Uint8)

    @flyc.jit
    def mx_quant(X: fx.Tensor, Q: fx.Tensor, scales: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        require_rows((X, Q), N)
        require_extents((X,), m, N)
        require_extents((Q,), m, pieces * stride)
        blocks = fx.ceildiv(m * pieces, THREADS)
        mx_quant_kernel(X, Q, scales, m).launch(grid=(blocks, 1, 1), block=(THREADS, 1, 1), stream=stream)

    return mx_quant


def _check_groups(length: int, dtype: str, group: int) -> None:
    check_row(length, dtype)
    if length % group:
        raise ValueError(f"rows of {length} elements are no groups of {group}")


# Blocks --------------------------------------------------------------------------------------------------------------

SIDE = 128
ALIGNMENT = 16
"""Bytes, of which addresses are multiples where accesses are wide."""
SHORT = 8
"""Elements of a thread where a block is a part of one row: 16 bytes, neighbours beside each other."""


@cache
def build_block_quant_module(N: int, dtype: str, rows: int = 1, quant: str = "fp8", aligned: bool = False) -> Any:
    """Return the launcher ``fn(X, Q, scales, m)`` of blocks of 1 x 128 or 128 x 128; m is a multiple of ``rows``.

    ``aligned`` promises that X and Q begin at multiples of 16 bytes, which NVIDIA's wide accesses need.
    """
    _check_groups(N, dtype, SIDE)
    if rows not in (1, SIDE):
        raise ValueError(f"blocks have 1 or {SIDE} rows, got {rows}")
    length = PIECE if rows > 1 else SHORT
    per_block, columns = SIDE // length, N // SIDE  # threads of a row of a block, and blocks of a row
    threads = per_block * rows if rows > 1 else THREADS
    wide = (ALIGNMENT, min(length, ALIGNMENT)) if aligned else (0, 0)

    @flyc.kernel
    def block_quant_kernel(X: fx.Tensor, Q: fx.Tensor, scales: fx.Tensor, m: fx.Int32):
        if fx.const_expr(fx.nvvm.has_dependent_launches()):
            fx.nvvm.griddepcontrol_wait()
            fx.nvvm.griddepcontrol_launch_dependents()
        place, group = fx.thread_idx.x % per_block, fx.thread_idx.x // per_block
        if fx.const_expr(rows > 1):
            row, block = fx.block_idx.x // columns * rows + group, fx.block_idx.x % columns
            alive = fx.Boolean(True)
        else:
            number = fx.block_idx.x * (threads // per_block) + group
            alive = number < m * columns
            number = alive.select(number, fx.Int32(0))
            row, block = number // columns, number % columns
        piece = block * per_block + place
        vector = _piece(X, row, piece, length, wide[0])
        top = wave_reduce(abs(vector).reduce("maximumf"), maximum, per_block if rows == 1 else None)
        if fx.const_expr(rows > 1):
            top = _block_maximum(top, threads)
        scale, inverse = row_scale(top, quant)
        if alive:
            _write(Q, row, piece * length, quantised(vector * inverse, quant), wide[1])
            if place == 0:
                scales[row // rows, block] = scale

    @flyc.jit
    def block_quant(X: fx.Tensor, Q: fx.Tensor, scales: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        require_rows((X, Q), N)
        require_extents((X, Q), m, N)
        blocks = m // rows * columns if rows > 1 else fx.ceildiv(m * columns, threads // per_block)
        block_quant_kernel(X, Q, scales, m).launch(
            grid=(blocks, 1, 1), block=(threads, 1, 1), stream=stream, pdl=fx.nvvm.has_dependent_launches()
        )

    return block_quant


def _block_maximum(top: Any, threads: int) -> Any:
    """Return the largest of what the waves of a block have."""
    slots = fx.SharedAllocator().allocate(fx.Array[fx.Float32, wave_count(threads)]).peek()
    if fx.lane_id() == 0:
        slots[fx.thread_idx.x // fx.num_warp_threads()] = top
    fx.barrier()
    for wave in range(wave_count(threads)):
        top = fx.max(top, slots[wave])
    return top
