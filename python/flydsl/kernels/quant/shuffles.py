"""Orders in memory of weights and block scales, as matrix kernels read them, for NumPy and PyTorch alike.

An order is a reshape and a permutation of the axes: `[n div 16][k div 32]...` is the new sequence of digits. Arrays
come in any memory and go out new, of the same shape unless a function says otherwise.
"""

from __future__ import annotations

from math import prod
from typing import Any

from flydsl.kernels.gemm.preshuffle_plan import shuffle_weight

__all__ = [
    "e8m0_shuffle", "pack_int4", "preshuffle_b_16x16", "preshuffle_b_fp8", "preshuffle_e8m0_scale", "scale_32x4",
    "shuffle_scale_for_int4", "shuffle_scale_w4", "shuffle_weight", "shuffle_weight_w4",
]  # fmt: skip


def reorder(x: Any, shape: tuple[int, ...], order: tuple[int, ...]) -> Any:
    """``x`` cut into ``shape`` with its axes in a new order, contiguous."""
    cut = x.reshape(shape)
    if hasattr(cut, "permute"):
        return cut.permute(order).contiguous()
    return cut.transpose(order).copy()


def _check(fits: bool, what: str) -> None:
    if not fits:
        raise AssertionError(what)


def pack_int4(shuffled: Any) -> Any:
    """Eight int8 values in the place of which four bytes come: byte j has value j low and value j + 4 high."""
    _check(shuffled.shape[-1] % 8 == 0, f"values are packed by eight, got {tuple(shuffled.shape)}")
    groups = shuffled.reshape(*shuffled.shape[:-1], -1, 2, 4)
    low, high = groups[..., 0, :] & 15, groups[..., 1, :] & 15
    packed = low | (high << 4)
    return packed.reshape(*shuffled.shape[:-1], shuffled.shape[-1] // 2)


def shuffle_weight_w4(src: Any, NLane: int = 16, gate_up: bool = False, moe_gemm: bool = True) -> Any:
    """Packed fp4 bytes W[(expert,) n, k / 2] in blocks of 16 rows and 64 bytes; gate and up rows alternate by blocks.

    With ``gate_up`` the rows are all of the gate, then all of the up projection.
    """
    shape, (rows, columns) = src.shape, src.shape[-2:]
    experts = prod(shape[:-2])
    blocks = rows // (2 * NLane) if gate_up else rows // NLane
    _check(
        rows % (NLane * (2 if gate_up else 1)) == 0 and columns % 64 == 0, f"rows of {NLane} and bytes of 64: {shape}"
    )
    if gate_up:
        digits = (experts, 2, blocks, NLane, columns // 64, 4, 16)  # e, g, n0, n, k0, kl, k
        return reorder(src, digits, (0, 2, 1, 4, 5, 3, 6)).reshape(shape)
    digits = (experts, blocks, NLane, columns // 64, 4, 16)  # e, n0, n, k0, kl, k
    return reorder(src, digits, (0, 1, 3, 4, 2, 5)).reshape(shape)


def preshuffle_b_16x16(b: Any, rows: int, cols: int) -> Any:
    """Bytes in blocks of 16 by 16, for gfx1250."""
    _check(rows % 16 == 0 and cols % 16 == 0, f"rows and bytes come by 16, got {rows} and {cols}")
    return reorder(b, (rows // 16, 16, cols // 16, 16), (0, 2, 1, 3)).reshape(rows, cols)


def preshuffle_b_fp8(b: Any) -> Any:
    """B[k, n] for RDNA: [n div 16][k div 16][(k div 8) mod 2][n mod 16][k mod 8], flat."""
    k, n = b.shape
    _check(k % 16 == 0 and n % 16 == 0, f"K and N come by 16, got {k} and {n}")
    return reorder(b, (k // 16, 2, 8, n // 16, 16), (3, 0, 1, 4, 2)).reshape(-1)


def shuffle_scale_w4(src: Any, experts: int = 1, gate_up: bool = False, *, experts_cnt: int | None = None) -> Any:
    """Scales S[E * N, K / 32] in the order of dwords that scaled matrix instructions read.

    With ``gate_up`` the rows of each of the ``experts`` are all of the gate, then all of the up projection.
    ``experts_cnt`` is another name of ``experts``.
    """
    rows, columns = src.shape
    experts = experts if experts_cnt is None else experts_cnt
    per_expert = rows // experts
    _check(columns >= 8 and columns % 8 == 0 and per_expert % 32 == 0, f"rows of 32 and K of 256: {tuple(src.shape)}")
    if gate_up:
        digits = (experts, 2, per_expert // 32, 16, columns // 8, 2, 4)  # e, g, n1, lane, j8, j4, j
        return reorder(src, digits, (0, 2, 4, 6, 3, 5, 1)).reshape(rows, columns)
    digits = (rows // 32, 2, 16, columns // 8, 2, 4)  # n32, n16, n, j8, j4, j
    return reorder(src, digits, (0, 3, 5, 2, 4, 1)).reshape(rows, columns)


def e8m0_shuffle(scale: Any) -> Any:
    """`shuffle_scale_w4` of scales padded to multiples of 256 rows and 8 columns, with 127, which stands for 1."""
    rows, columns = scale.shape
    up, right = -rows % 256, -columns % 8
    return shuffle_scale_w4(_padded(scale, up, right, 127))


def scale_32x4(scale: Any) -> Any:
    """Scales in blocks of 32 rows by 4, rows padded with zeros: [row div 32][j div 4][row mod 32][j mod 4]."""
    rows, columns = scale.shape
    _check(columns % 4 == 0, f"columns come by 4, got {columns}")
    padded = _padded(scale, -rows % 32, 0, 0)
    return reorder(padded, (padded.shape[0] // 32, 32, columns // 4, 4), (0, 2, 1, 3)).reshape(padded.shape)


def preshuffle_e8m0_scale(scale: Any, warp_tile: int, scale_k_per_tile: int, row_align: int = 0) -> Any:
    """Scales S[row, j] for gfx1250's waves of ``warp_tile`` rows and tiles of ``scale_k_per_tile`` scales along K.

    The row is warp_tile * b + 16 * rep + lane, j is (tile * steps + step) * 4 + s: [b][lane][tile][step][rep][s]. Rows
    are padded to multiples of ``row_align``, or of ``warp_tile``, with 127, which stands for 1.
    """
    rows, columns = scale.shape
    _check(warp_tile % 16 == 0 and scale_k_per_tile % 4 == 0 and columns % scale_k_per_tile == 0,
           f"waves have rows by 16, and tiles scales by 4: {warp_tile}, {scale_k_per_tile} of {columns}")  # fmt: skip
    _check((row_align or warp_tile) % warp_tile == 0, f"row_align {row_align} is no multiple of {warp_tile}")
    padded = _padded(scale, -rows % (row_align or warp_tile), 0, 127)
    reps, tiles, steps = warp_tile // 16, columns // scale_k_per_tile, scale_k_per_tile // 4
    digits = (padded.shape[0] // warp_tile, reps, 16, tiles, steps, 4)  # b, rep, lane, tile, step, s
    return reorder(padded, digits, (0, 2, 3, 4, 1, 5)).reshape(-1, reps * columns)


def _padded(x: Any, rows: int, columns: int, value: int) -> Any:
    shape = (x.shape[0] + rows, x.shape[1] + columns)
    if hasattr(x, "new_full"):
        out = x.new_full(shape, value)
    else:
        import numpy as np

        out = np.full(shape, value, x.dtype)
    out[: x.shape[0], : x.shape[1]] = x
    return out


def shuffle_scale_for_int4(scale: Any, group_size: int = 32) -> Any:
    """Scales [E, G, N] of int4 groups: 16-bit ones in pairs of groups, [E, G / 2, N, 2]; f32 ones as they are."""
    if group_size != 32:
        raise ValueError(f"groups have 32 elements, got {group_size}")
    if scale.itemsize == 4:
        return scale
    experts, groups, n = scale.shape
    return reorder(scale, (experts, groups // 2, 2, n), (0, 1, 3, 2))
