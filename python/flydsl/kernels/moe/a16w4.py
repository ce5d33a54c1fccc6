"""Experts with rows of bf16 and weights of mxfp4, int4 or bf16, for gfx942 and gfx950: what FlyDSL calls a16w-mix.

first = compile_gemm1_a16w4_port(32, D_HIDDEN=7168, D_INTER=256, NE=384, TOPK=8)
first(x, w1, wscale, expert_ids, cumsum, m_indices, T, grid, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, inner, stream)
second = compile_gemm2_a16w4_port(32, NE=384, N_OUT=7168, D_INTER=256)
second(inner, w2, wscale, expert_ids, cumsum, m_indices, sorted_weights, T, grid, y, stream)

The first stage writes bf16 [entries, D_INTER], a row for each entry of the order; the second adds rows, weighted, to
bf16 [T, N_OUT], which is zero before, by packed atomics. ``m_indices`` are the order's entries, ``cumsum[0]`` how many
there are with padding, ``grid`` how many blocks of BM entries. Arrays may be given by their addresses.

Weights are [E, 2 D_INTER, D_HIDDEN] with gate rows before up rows, or with blocks of 16 in turns ("guinterleave"), and
[E, N_OUT, D_INTER]: `shuffle_weight` of bf16 or of bytes of two fp4, `pack_int4(shuffle_weight(w))` of int4. Scales are
for 32 elements: bf16 [E, N, K / 32] of int4, `shuffle_scale_w4` of mxfp4.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.inputs import flattened
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.gemm.preshuffle_plan import THREADS
from flydsl.kernels.moe.moe_gemm_2stage.stage_plan import StagePlan
from flydsl.kernels.moe.moe_gemm_2stage.stages import require_tokens, require_weights, run_stage, stage_plan

WEIGHTS = {"mxfp4": ("mxfp4_bf16", "e8m0", fx.Uint8), "int4": ("int4_bf16", "rows", fx.BFloat16),
           "bf16": ("bf16", "columns", fx.BFloat16)}  # fmt: skip
"""What weights are -> kind of a stage, how scales of groups lie, and what these are."""
ACTS, LAYOUTS, K_WAVES = ("silu", "situv2"), ("standard", "guinterleave"), (1, 2, 4)
TILE_COLUMNS, TILE_DEPTH = (64, 128), 64
"""The most columns of a tile in either stage, and its depth: more take registers that are not there."""
MOST_SLOTS = 127
NO_LIMIT = 3e38


def check(w_dtype: str, BM: int, **divided: tuple[int, int]) -> None:
    _assert(w_dtype in WEIGHTS, f"w_dtype is one of {', '.join(WEIGHTS)}, got {w_dtype!r}")
    _assert(BM > 0 and BM % 16 == 0, f"BM must be a positive multiple of 16, got {BM}")
    for name, (value, step) in divided.items():
        _assert(value > 0 and value % step == 0, f"{name} must be a positive multiple of {step}, got {value}")


def check_groups(w_dtype: str, **depths: int) -> None:
    """Words of scales of MX have those of 256 elements."""
    for name, value in depths.items():
        _assert(w_dtype != "mxfp4" or value % 256 == 0, f"{name} must be a multiple of 256 for mxfp4, got {value}")


def _assert(holds: bool, message: str) -> None:
    """Callers of these names expect assertions."""
    if not holds:
        raise AssertionError(message)


def viewed(value: Any, dtype: Any) -> Any:
    """Return an array as a line, or what an address points to."""
    if isinstance(value, fx.Pointer):
        return fx.make_view(fx.recast_iter(dtype, value), fx.make_layout(1, 1))
    return flattened(value)


def pointed(value: Any) -> Any:
    """Return an argument of a launcher: addresses become pointers."""
    return flyc.from_c_void_p(fx.Int8, value) if isinstance(value, int) else value


def words_of(w_dtype: str) -> Any:
    """Return what weights are read as."""
    return fx.BFloat16 if w_dtype == "bf16" else fx.Int8


@kept
def compile_gemm1_a16w4_port(
    BM: int = 32, *, D_HIDDEN: int, D_INTER: int, NE: int, TOPK: int, TILE_N: int = 256, TILE_K: int = 256,
    act: str = "silu", b_cache_mod: int = 2, xcd_swizzle: int = 0, waves_per_eu: int | None = None,
    w_dtype: str = "mxfp4", w_layout: str = "standard", k_wave: int = 1,
) -> Any:  # fmt: skip
    """Return the launcher ``fn(x, w, wscale, expert_ids, cumsum, m_indices, T, grid, beta, 1 / beta, linbeta, 1 /
    linbeta, -limit, limit, out, stream)`` of the first stage.

    "situv2" is beta tanh(g / beta) sigmoid(g) linbeta tanh(u / linbeta) of gate g and up u, limited where the limit is
    not 0; "silu" reads none of these numbers. Tiles, ``b_cache_mod``, ``xcd_swizzle`` and ``k_wave`` are ways to the
    same numbers.
    """
    check(w_dtype, BM, D_HIDDEN=(D_HIDDEN, max(k_wave, 1) * TILE_K), D_INTER=(D_INTER, TILE_N))
    check_groups(w_dtype, D_HIDDEN=D_HIDDEN)
    _assert(2 * D_INTER % 256 == 0, f"D_INTER must be a multiple of 128, got {D_INTER}")
    for name, value, known in (("act", act, ACTS), ("w_layout", w_layout, LAYOUTS), ("k_wave", k_wave, K_WAVES)):
        _assert(value in known, f"{name} is one of {', '.join(map(str, known))}, got {value!r}")
    kind, group_scales, scale_dtype = WEIGHTS[w_dtype]
    plan = stage_plan(
        kind, D_INTER, D_HIDDEN, (BM, min(TILE_N, TILE_COLUMNS[0]), TILE_DEPTH), True, experts=NE, topk=TOPK,
        out="bf16", act=act, result_in_order=True, interleaved=w_layout == "guinterleave",
        group_size=32 if w_dtype != "bf16" else -1, group_scales=group_scales,
    )  # fmt: skip

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def a16w4_first_kernel(
        out, x, w, wscale, expert_ids, cumsum, m_indices, T: fx.Int32, finished: fx.Constexpr[StagePlan]
    ):
        arrays = stage_arrays((out, x, w, wscale), (m_indices, expert_ids, None, cumsum), w_dtype, scale_dtype)
        run_stage(*arrays, T, finished)

    @flyc.jit
    def a16w4_first(
        x, w, wscale, expert_ids, cumsum, m_indices, T: fx.Int32, grid: fx.Int32, beta: fx.Constexpr[float],
        linbeta: fx.Constexpr[float], limit: fx.Constexpr[float], out, stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        finished = replace(plan, betas=(beta, linbeta), limit=limit or NO_LIMIT)
        require_arrays((out, x, w, wscale), T, plan)
        a16w4_first_kernel(out, x, w, wscale, expert_ids, cumsum, m_indices, T, finished).launch(
            grid=finished.stage_blocks(grid), block=(THREADS, 1, 1), stream=stream
        )

    if waves_per_eu is not None:
        a16w4_first.compile_hints["waves_per_eu"] = waves_per_eu

    def call(
        x: Any, w: Any, wscale: Any, expert_ids: Any, cumsum: Any, m_indices: Any, T: int, grid: int, beta: float,
        inv_beta: float, linbeta: float, inv_linbeta: float, neg_limit: float, limit: float, out: Any,
        stream: object = None,
    ) -> None:  # fmt: skip
        given = [pointed(value) for value in (x, w, wscale, expert_ids, cumsum, m_indices)]
        a16w4_first(*given, T, grid, float(beta), float(linbeta), float(limit), pointed(out), stream)

    call.launcher = a16w4_first  # pyright: ignore[reportFunctionMemberAccess]
    return call


@kept
def compile_gemm2_a16w4_port(
    BM: int = 32, *, NE: int, N_OUT: int, D_INTER: int, TILE_N: int = 256, TILE_K: int = 256, xcd_swizzle: int = 1,
    b_cache_mod: int = 2, waves_per_eu: int | None = None, w_dtype: str = "mxfp4", persist: bool = False,
) -> Any:  # fmt: skip
    """Return the launcher ``fn(inner, w, wscale, expert_ids, cumsum, m_indices, sorted_weights, T, grid, out,
    stream)``."""
    check(w_dtype, BM, N_OUT=(N_OUT, TILE_N), D_INTER=(D_INTER, TILE_K))
    check_groups(w_dtype, D_INTER=D_INTER)
    kind, group_scales, scale_dtype = WEIGHTS[w_dtype]
    slots = min(NE, MOST_SLOTS)
    plan = stage_plan(
        kind, N_OUT, D_INTER, (BM, min(TILE_N, TILE_COLUMNS[1]), TILE_DEPTH), False, experts=NE, topk=slots,
        out="bf16", accumulate=True, weighted=True, by_slot=True, rows_in_order=True,
        group_size=32 if w_dtype != "bf16" else -1, group_scales=group_scales,
    )  # fmt: skip

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def a16w4_second_kernel(out, inner, w, wscale, expert_ids, cumsum, m_indices, weights, T: fx.Int32):
        order = (m_indices, expert_ids, weights, cumsum)
        run_stage(*stage_arrays((out, inner, w, wscale), order, w_dtype, scale_dtype), T, plan)

    @flyc.jit
    def a16w4_second(
        inner, w, wscale, expert_ids, cumsum, m_indices, weights, T: fx.Int32, grid: fx.Int32, out,
        stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        require_arrays((out, inner, w, wscale), T, plan)
        a16w4_second_kernel(out, inner, w, wscale, expert_ids, cumsum, m_indices, weights, T).launch(
            grid=plan.stage_blocks(grid), block=(THREADS, 1, 1), stream=stream
        )

    if waves_per_eu is not None:
        a16w4_second.compile_hints["waves_per_eu"] = waves_per_eu

    def call(
        inner: Any, w: Any, wscale: Any, expert_ids: Any, cumsum: Any, m_indices: Any, sorted_weights: Any, T: int,
        grid: int, out: Any, stream: object = None,
    ) -> None:  # fmt: skip
        given = [pointed(value) for value in (inner, w, wscale, expert_ids, cumsum, m_indices, sorted_weights)]
        a16w4_second(*given, T, grid, pointed(out), stream)

    call.launcher = a16w4_second  # pyright: ignore[reportFunctionMemberAccess]
    return call


def require_arrays(arrays: tuple[Any, ...], tokens: fx.Int32, plan: StagePlan) -> None:
    """Have a launch refuse arrays that are too short; of addresses nobody knows what lies behind."""
    if any(isinstance(array, fx.Pointer) for array in arrays):
        return
    out, x, w, wscale = arrays
    require_tokens(out, x, None, tokens, plan)
    require_weights(w, wscale if plan.weight_scales else None, plan)


def stage_arrays(arrays: tuple[Any, ...], order: tuple[Any, ...], w_dtype: str, scale_dtype: Any) -> tuple[Any, ...]:
    """Return what `run_stage` takes: result, rows, weights, scales and the order."""
    out, x, w, wscale = arrays
    ids, expert_ids, weights, cumsum = order
    scales = (None, None if w_dtype == "bf16" else viewed(wscale, scale_dtype), None, None)
    weights = None if weights is None else viewed(weights, fx.Float32)
    listed = (viewed(ids, fx.Int32), viewed(expert_ids, fx.Int32), weights, viewed(cumsum, fx.Int32))
    return (viewed(out, fx.BFloat16), viewed(x, fx.BFloat16), viewed(w, words_of(w_dtype)), scales, listed)


__all__ = ["compile_gemm1_a16w4_port", "compile_gemm2_a16w4_port"]
