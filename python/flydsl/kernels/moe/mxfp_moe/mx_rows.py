"""Rows of experts with a scale for 32 elements: scales in the order of experts, and gates that end in such rows.

moe_mxfp4_sort(scales, sorted_ids, num_valid_ids, token_num)                  scales of rows, gathered into the order
fn = build_silu_and_mul_fq_module(inter_dim, topk, "fp4")                     what a first stage in parts of K leaves

Scaled matrix instructions read the scales of 32 rows and 256 elements as a word a lane; `scale_place` says where each
byte is.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.activation import sigmoid, silu
from flydsl.kernels.blocks.inputs import empty_beside, flattened, require_bytes, require_room, stream_of
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.moe.references import SLOT_SHIFT, SWIGLU_LIMIT, SWIGLU_SLOPE, TOKEN_MASK
from flydsl.kernels.quant.device_quant import GROUP, MX, e8m0_of, inverse_of_e8m0

THREADS = 256


def padded_eights(groups: int) -> int:
    """Return how many times eight scales a row of so many has, the last of which may be padding."""
    return -(-groups // 8)


def scale_place(row: Any, group: Any, groups: int) -> Any:
    """Return where the scale of a group of a row is, among rows of so many groups, padded to a multiple of eight:
    [row / 32][group / 8][group % 4][row % 16][group / 4 % 2][row / 16 % 2]."""
    block = row // 32 * padded_eights(groups) + group // 8
    return block * 256 + group % 4 * 64 + row % 16 * 4 + group // 4 % 2 * 2 + row // 16 % 2


@flyc.jit
def write_group(vector: Any, out: Any, place: Any, scales: Any, at: Any, quant: str) -> None:
    """32 numbers as codes from byte ``place`` on, and their scale to byte ``at``."""
    kind, top, divisor, size = MX[quant]
    largest = abs(vector).reduce("max")
    if fx.const_expr(kind is fx.Float8E4M3FN):
        largest = fx.max(largest, fx.Float32(1e-30))
    scale = e8m0_of(largest / divisor)
    codes = fx.math.clampf(vector * inverse_of_e8m0(scale), -top, top).to(kind).bitcast(fx.Uint8)
    start = fx.recast_iter(fx.Uint8, fx.get_iter(out)) + place
    fx.make_view(start, fx.make_layout(size, 1)).store(codes)
    fx.recast_iter(fx.Uint8, fx.get_iter(scales))[at] = scale.to(fx.Uint8)


# Scales in the order of experts --------------------------------------------------------------------------------------


@kept
def compile_scale_sort(groups: int, topk: int) -> Any:
    """Return the launcher ``fn(scales, sorted_ids, num_valid, out, T, rows, stream)``; ``topk`` is 0 for a row a
    token."""

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def scale_sort_kernel(scales: fx.Tensor, ids: fx.Tensor, num_valid: fx.Tensor, out: fx.Tensor, T: fx.Int32):
        number = fx.block_idx.x * THREADS + fx.thread_idx.x
        row, group = number // groups, number % groups
        if row < num_valid[0]:
            word = fx.Int32(ids[row])
            token, slot = word & TOKEN_MASK, word >> SLOT_SHIFT
            if token < T:
                source = token * topk + slot if topk else token
                out[scale_place(row, group, groups)] = scales[fx.Int64(source) * groups + group]

    @flyc.jit
    def scale_sort(
        scales: fx.Tensor, ids: fx.Tensor, num_valid: fx.Tensor, out: fx.Tensor, T: fx.Int32, rows: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        scale_sort_kernel(scales, ids, num_valid, out, T).launch(
            grid=(fx.ceildiv(rows * groups, THREADS), 1, 1), block=(THREADS, 1, 1), stream=stream
        )

    return scale_sort


def moe_mxfp4_sort(
    scales: Any, sorted_ids: Any, num_valid_ids: Any, token_num: int, block_size: int = 32, stream: object = None
) -> Any:
    """Scales [T, K / 32] or [T, topk, K / 32] of rows as rows of the order, in the order of bytes of `scale_place`.

    The result has a row for each entry of the order, padded to 32; rows of padding are not written.
    """
    if block_size % 32:
        raise ValueError(f"block_size must be a multiple of 32, got {block_size}")
    groups, topk = scales.shape[-1], scales.shape[1] if len(scales.shape) == 3 else 0
    if token_num > scales.shape[0]:
        raise ValueError(f"there are scales of {scales.shape[0]} tokens, and token_num is {token_num}")
    if groups % 8:
        raise ValueError(f"rows have a multiple of 8 scales, for 256 elements; got {groups}")
    rows = -(-sorted_ids.shape[0] // 32) * 32
    out = empty_beside(scales, (rows, groups))
    run = compile_scale_sort(groups, topk)
    count = min(rows, sorted_ids.shape[0])
    run(scales.reshape(-1), sorted_ids, num_valid_ids, out.reshape(-1), token_num, count, stream_of(scales, stream))
    return out


# The gate of a first stage in parts ----------------------------------------------------------------------------------


@kept
def build_silu_and_mul_fq_module(
    inter_dim: int, topk: int, quant_mode: str = "fp4", gui_layout: bool = False, act: str = "silu",
    enable_bias: bool = False, swiglu_limit: float = 0.0,
) -> Any:  # fmt: skip
    """Return the launcher ``fn(x bf16[T topk, 2 inter], out, out_scale_sorted, sorted_ids, num_valid_ids, topk_ids,
    bias, T, n_sorted_rows, stream)``: silu(gate) * up of the rows that the order lists.

    ``quant_mode`` "fp4" and "fp8" give codes and scales in the order of experts, "none" bf16. Scales are bytes, in
    blocks of 32 rows and 8 scales (`scale_place`): rows of them are padded to a multiple of 8, for 256 elements, their
    number to one of 32, and bytes of padding are not written. With ``gui_layout`` blocks of 16 columns of gate and up
    alternate. The bias is f32 [E, 2 inter], added before.
    """
    quant = {"fp4": "mxfp4", "fp8": "mxfp8", "none": ""}.get(quant_mode)
    if quant is None or act not in ("silu", "swiglu"):
        raise ValueError(f"quant_mode is fp4, fp8 or none and act silu or swiglu, got {quant_mode!r} and {act!r}")
    if inter_dim % GROUP or inter_dim <= 0:
        raise ValueError(f"inter_dim must be a positive multiple of {GROUP}, got {inter_dim}")
    groups, limit = inter_dim // GROUP, swiglu_limit or SWIGLU_LIMIT

    def columns_of(group: Any, part: int, half: int) -> Any:
        """Return where 16 columns of a group of gate (0) or up (1) begin in a row."""
        first = group * GROUP + half * 16
        return first * 2 + part * 16 if gui_layout else first + part * inter_dim

    def numbers(array: Any, row: Any, group: Any, part: int) -> list[Any]:
        start = fx.get_iter(array) + fx.Int64(row) * (2 * inter_dim)
        views = [fx.make_view(start + columns_of(group, part, half), fx.make_layout(16, 1)) for half in range(2)]
        return [view.load().to(fx.Float32) for view in views]

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def silu_and_mul_kernel(
        x: fx.Tensor, out: fx.Tensor, out_scale: fx.Tensor | None, ids: fx.Tensor, num_valid: fx.Tensor,
        topk_ids: fx.Tensor | None, bias: fx.Tensor | None, T: fx.Int32,
    ):  # fmt: skip
        number = fx.block_idx.x * THREADS + fx.thread_idx.x
        place, group = number // groups, number % groups
        if place < num_valid[0]:
            word = fx.Int32(ids[place])
            token, slot = word & TOKEN_MASK, word >> SLOT_SHIFT
            if (token < T) & (slot < topk):
                row = token * topk + slot
                parts = [numbers(x, row, group, part) for part in range(2)]
                if fx.const_expr(enable_bias):
                    shifts = [numbers(bias, topk_ids[row], group, part) for part in range(2)]
                    parts = [[a + b for a, b in zip(*both, strict=True)] for both in zip(parts, shifts, strict=True)]
                found = []
                for gate, up in zip(*parts, strict=True):
                    if fx.const_expr(act == "swiglu"):
                        gate, up = fx.arith.min(gate, limit), fx.arith.max(fx.arith.min(up, limit), -limit)
                        found.append(gate * sigmoid(gate * SWIGLU_SLOPE) * (up + 1.0))
                    else:
                        found.append(silu(gate) * up)
                vector = fx.Vector.from_elements([half[i] for half in found for i in range(16)], fx.Float32)
                if fx.const_expr(quant == ""):
                    target = fx.get_iter(out) + (fx.Int64(row) * inter_dim + group * GROUP)
                    fx.make_view(target, fx.make_layout(GROUP, 1)).store(vector.to(out.dtype))
                else:
                    codes = (fx.Int64(row) * groups + group) * MX[quant][-1]
                    write_group(vector, out, codes, out_scale, scale_place(place, group, groups), quant)

    @flyc.jit
    def silu_and_mul(
        x: fx.Tensor, out: fx.Tensor, out_scale_sorted: fx.Tensor | None, sorted_ids: fx.Tensor,
        num_valid_ids: fx.Tensor, topk_ids: fx.Tensor | None, bias: fx.Tensor | None, T: fx.Int32,
        n_sorted_rows: fx.Int32, stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        rows = fx.Int64(T) * topk
        codes = rows * groups * (MX[quant][-1] * 8 // out.dtype.width if quant else GROUP)
        require_room(("x", x, rows * (2 * inter_dim)), ("out", out, codes), ("sorted_ids", sorted_ids, n_sorted_rows))
        if fx.const_expr(quant != ""):
            bytes_of_scales = fx.ceildiv(fx.Int64(n_sorted_rows), 32) * (256 * padded_eights(groups))
            require_bytes(("out_scale_sorted", out_scale_sorted, bytes_of_scales))
        given = (x, out, out_scale_sorted, sorted_ids, num_valid_ids, topk_ids, bias)
        flat = [t if t is None else flattened(t) for t in given]
        silu_and_mul_kernel(*flat, T).launch(
            grid=(fx.ceildiv(n_sorted_rows * groups, THREADS), 1, 1), block=(THREADS, 1, 1), stream=stream
        )

    return silu_and_mul
