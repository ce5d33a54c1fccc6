"""Queries and keys of latent attention: RMSNorm of each head, rotation of its last elements, and 8-bit floats.

q_out, kv_out, q_scale, kv_scale = flydsl_qk_norm_rope_quant(q, kv, kv_weight, cos, sin, positions, num_q_heads=16,
    head_dim=512, rope_head_dim=64, quant=True, quant_group_size=128)

A head is x / sqrt(mean(x^2) + eps), times a weight where there is one. Its last ``rope_head_dim`` elements are rotated
in pairs of neighbours. Quantised, a group of elements is divided by a bound of its magnitude, sqrt(2) times its
largest element before the rotation, so that no rotation leaves the format; E8M0 scales are the next power of two from
there on, as bytes. The format is that of the target's matrix cores, e4m3fnuz on gfx942 and e4m3fn on all others, but
where results are given that have the other one. A position that tables do not have makes its heads NaN, and reads
nothing.
"""

from __future__ import annotations

from math import nan, sqrt
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.inputs import (
    empty_beside,
    on_given_stream,
    require_extents,
    require_matrices,
    require_numbers,
    require_type,
    target_of,
    type_name,
    written_as,
)
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.narrow import FORMATS, LARGEST, codes_in, quantised
from flydsl.kernels.blocks.reduce import add, maximum, sum_of_squares, wave_reduce
from flydsl.kernels.blocks.row_loop import for_each_row
from flydsl.kernels.blocks.row_plan import RowPlan
from flydsl.kernels.blocks.row_work import RowArrays, RowWork
from flydsl.kernels.blocks.rows import require_places
from flydsl.kernels.quant.device_quant import inverse_of_e8m0

WIDTH = 8
ROWS = 4
CODES = {"fp8": "float8_e4m3fn", "fp8_fnuz": "float8_e4m3fnuz"}
"""Formats of results, and the types of arrays of them."""
SCALES = {"fp32": "float32", "e8m0": "uint8"}


@kept
def build_qk_norm_rope_module(
    heads: int, head_dim: int, rope_head_dim: int, group: int | None, eps: float = 1e-6, quant: str = "fp8",
    scale_dtype: str = "fp32",
) -> Any:  # fmt: skip
    """Return the launcher ``fn(X, weight, cos, sin, positions, out, scales, rows)``; X is (tokens * heads, head_dim) of
    bf16.

    ``group`` elements share a scale, of f32 or a byte of E8M0; without groups results are bf16 and ``scales`` is None.
    """
    _check(head_dim, rope_head_dim, group)
    first = head_dim - rope_head_dim

    def rotated(work: RowWork, iteration: int, vector: Any, table: tuple[Any, Any], position: Any) -> Any:
        """Return the vector with its pairs turned that lie in the rotated part; tables without columns are not read."""
        if rope_head_dim == 0:
            return vector
        column = work.share.columns(iteration)[0]
        inside = column >= first
        pair = inside.select((column - first) // 2, fx.Int32(0))
        out = []
        for place in range(0, WIDTH, 2):
            even, odd = vector[place], vector[place + 1]
            c, s = (t[position, pair + place // 2].to(fx.Float32) for t in table)
            out += [inside.select(even * c - odd * s, even), inside.select(even * s + odd * c, odd)]
        return fx.Vector.from_elements(out, fx.Float32)

    def group_tops(work: RowWork, vectors: list[Any]) -> list[Any]:
        """Return the largest magnitude of the group of each iteration's vector."""
        lanes, each = work.share.plan.lanes, group // WIDTH
        tops = [abs(vector).reduce("maximumf") for vector in vectors]
        if each <= lanes:
            return [_over(top, each) for top in tops]
        together = each // lanes
        wide = [_over(fx.max(*tops[i : i + together]), lanes) for i in range(0, len(tops), together)]
        return [wide[i // together] for i in range(len(tops))]

    @flyc.kernel
    def qk_norm_rope_kernel(
        X: fx.Tensor, weight: fx.Tensor | None, cos: fx.Tensor, sin: fx.Tensor, positions: fx.Tensor, out: fx.Tensor,
        scales: fx.Tensor | None, rows: fx.Int32, plan: fx.Constexpr,
    ):  # fmt: skip
        def code(work: RowWork) -> None:
            position = positions[work.index // heads].to(fx.Int64)
            known = (position >= 0) & (position < cos.shape[0]) & (position < sin.shape[0])
            position = known.select(position, fx.Int64(0)).to(fx.Int32)
            total = work.exchange.reduce(sum_of_squares(work.x[0]), add)
            rstd = known.select(fx.math.rsqrt(total * (1.0 / head_dim) + eps), fx.Float32(nan))
            vectors = [vector * rstd for vector in work.x[0].again()]
            if weight is not None:
                vectors = [vector * work.lines[0][iteration] for iteration, vector in enumerate(vectors)]
            bounds = group_tops(work, vectors) if group else [None] * len(vectors)
            for iteration, (vector, bound) in enumerate(zip(vectors, bounds, strict=True)):
                turned = rotated(work, iteration, vector, (cos, sin), position)
                if bound is None:
                    work.store(iteration, turned)
                    continue
                scale = (bound == 0.0).select(fx.Float32(1.0), bound * (sqrt(2) / LARGEST[quant]))
                if scale_dtype == "e8m0":
                    power = _power_from(scale)
                    work.store(iteration, quantised(turned * inverse_of_e8m0(power), quant))
                    scale = power.to(fx.Uint8)
                else:
                    work.store(iteration, quantised(turned / scale, quant))
                column = work.share.columns(iteration)[0]
                if (column % group == 0) & work.alive:
                    scales[work.index, column // group] = scale

        lines = () if weight is None else (weight,)
        for_each_row(RowArrays((X,), (out,), lines), rows, plan, code)

    @flyc.jit
    def qk_norm_rope(
        X: fx.Tensor, weight: fx.Tensor | None, cos: fx.Tensor, sin: fx.Tensor, positions: fx.Tensor, out: fx.Tensor,
        scales: fx.Tensor | None, rows: fx.Int32, stream: fx.Stream = None,
    ):  # fmt: skip
        require_matrices((X, out), rows, head_dim)
        require_extents((cos, sin), 1, rope_head_dim // 2)
        require_numbers((weight,), head_dim)
        require_extents((scales,), rows, head_dim // (group or head_dim))
        require_numbers((positions,), fx.ceildiv(rows, heads))
        if fx.const_expr(group):
            out = codes_in(out, FORMATS[quant])
        if fx.const_expr(group and scale_dtype == "e8m0"):
            scales = codes_in(scales, fx.Uint8)
            require_type((scales,), fx.Uint8)
        lanes = min(fx.num_warp_threads(), head_dim // WIDTH)
        plan = RowPlan(head_dim, "bf16", WIDTH, lanes, ROWS)
        require_places((X, out), (weight,), rows, plan)
        qk_norm_rope_kernel(X, weight, cos, sin, positions, out, scales, rows, plan).launch(
            grid=(fx.ceildiv(rows, ROWS), 1, 1), block=(plan.threads, 1, 1), stream=stream
        )

    return qk_norm_rope


def _power_from(x: Any) -> Any:
    """Return the smallest power of two from a number that is not negative on, as a byte of E8M0; 255 for no number."""
    bits = x.bitcast(fx.Uint32) & 0x7FFFFFFF  # NaN may have a sign
    return fx.min((bits + 0x7FFFFF) >> 23, fx.Uint32(255))


def _over(value: Any, lanes: int) -> Any:
    """Return the largest of a value over neighbouring lanes."""
    return wave_reduce(value, maximum, lanes)


def _check(head_dim: int, rope_head_dim: int, group: int | None) -> None:
    if head_dim % 256 or head_dim & (head_dim - 1):
        raise ValueError(f"head_dim is a power of two from 256 on, got {head_dim}")
    if rope_head_dim % WIDTH or not 0 <= rope_head_dim <= head_dim:
        raise ValueError(f"rope_head_dim is a multiple of {WIDTH} up to head_dim, got {rope_head_dim}")
    if group is not None and (group % WIDTH or head_dim % group or group & (group - 1)):
        raise ValueError(f"groups are powers of two from {WIDTH} on that divide {head_dim}, got {group}")


@on_given_stream
def flydsl_qk_norm_rope_quant(
    q: Any, kv: Any, kv_weight: Any, cos_cache: Any, sin_cache: Any, positions: Any, *, num_q_heads: int,
    head_dim: int, rope_head_dim: int, q_weight: Any = None, quant: bool = False, quant_group_size: int | None = None,
    scale_dtype: str = "fp32", eps: float = 1e-6, q_out: Any = None, kv_out: Any = None, q_scale: Any = None,
    kv_scale: Any = None, stream: Any = None,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """Return (q_out, kv_out, q_scale or None, kv_scale or None) of bf16 (tokens, heads * head_dim) and (tokens,
    head_dim).

    Scales are f32, or bytes of E8M0 with ``scale_dtype="e8m0"``; results and scales are made where none are given.
    """
    for name, array in (("q", q), ("kv", kv)):
        if type_name(array) != "bfloat16":
            raise TypeError(f"{name} is bf16, got {array.dtype}")
    if type_name(positions) != "int64":
        raise TypeError(f"positions are int64, got {positions.dtype}")
    if scale_dtype not in SCALES:
        raise ValueError(f"scale_dtype must be one of {', '.join(SCALES)}, got {scale_dtype!r}")
    group = (quant_group_size or head_dim) if quant else None
    results = []
    for array, weight, heads, out, scale in (
        (q, q_weight, num_q_heads, q_out, q_scale), (kv, kv_weight, 1, kv_out, kv_scale),
    ):  # fmt: skip
        if (heads * head_dim,) != tuple(array.shape[-1:]) and (heads, head_dim) != tuple(array.shape[-2:]):
            raise ValueError(f"a token has {heads} heads of {head_dim} elements, and an array is {tuple(array.shape)}")
        rows = array.reshape(-1, head_dim)
        codes = _format_of(out, array)
        if out is None:
            out = empty_beside(array, tuple(rows.shape), CODES[codes] if quant else None)
        else:
            out = written_as("out", out, -1, head_dim)
        if group and scale is None:
            scale = empty_beside(array, (len(rows), head_dim // group), SCALES[scale_dtype])
        run = build_qk_norm_rope_module(heads, head_dim, rope_head_dim, group, eps, codes, scale_dtype)
        run(rows, weight, cos_cache, sin_cache, positions, out, scale, len(rows), stream)
        results.append((out.reshape(array.shape), scale))
    (q_out, q_scale), (kv_out, kv_scale) = results
    return q_out, kv_out, q_scale, kv_scale


def _format_of(out: Any, given: Any) -> str:
    """Return the format of codes: that of an array of them, or else of the target's matrix cores."""
    held = None if out is None else type_name(out)
    known = next((name for name, kind in CODES.items() if kind == held), None)
    return known or ("fp8_fnuz" if target_of(given).fnuz else "fp8")
