"""Products by AMD's GEMMs, one function for each family, and float64's opinion of them.

A function draws operands, runs the kernel and holds every element of C to what the types allow: one rounding to C's
type, and f32 sums of exact products. Rows of A and its scales behind M are NaN, C begins as NaN, and the rows around it
stay as they were.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from flydsl.kernels.gemm.blockscale_preshuffle_gemm import compile_blockscale_preshuffle_gemm
from flydsl.kernels.gemm.fp8_gemm import compile_fp8_gemm_4w, compile_fp8_gemm_8w
from flydsl.kernels.gemm.gemm_fp8fp4_gfx1250 import (
    DATA_FORMATS,
    compile_fp8fp4_gemm,
    launch_gemm_a8w4_mxscale,
    launch_gemm_a8w8,
)
from flydsl.kernels.gemm.hgemm_splitk import compile_hgemm_kernel, compile_small_m_hgemm_kernel, gemm_a16w16
from flydsl.kernels.gemm.mxfp4_preshuffle import compile_fp4_gemm_4w
from flydsl.kernels.gemm.preshuffle_entries import compile_preshuffle_gemm_a8, compile_preshuffle_gemm_w4
from flydsl.kernels.gemm.preshuffle_w4a16 import compile_preshuffle_gemm_w4a16
from flydsl.kernels.gemm.rdna_f16_gemm import create_wmma_gemm_module
from flydsl.kernels.gemm.rdna_fp8_preshuffle_gemm import compile_fp8_gemm
from flydsl.kernels.gemm.wmma_gemm_gfx1250 import compile_wmma_gemm_tdm
from flydsl.kernels.quant.formats import pack_codes
from flydsl.kernels.quant.shuffles import (
    e8m0_shuffle,
    pack_int4,
    preshuffle_b_16x16,
    preshuffle_b_fp8,
    preshuffle_e8m0_scale,
    scale_32x4,
    shuffle_weight,
)
from tests.support import random_data

Array = np.ndarray[Any, Any]
F32, F64, NAN = np.float32, np.float64, np.nan
NARROW: dict[str, Any] = {
    "fp16": np.float16, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32,
    "int8": np.int8, "int4": np.int8, "fp8": ml_dtypes.float8_e4m3fn, "fp8_fnuz": ml_dtypes.float8_e4m3fnuz,
}  # fmt: skip
HALF_ULP = {"fp16": 2.0**-11, "f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24}
LEAST = {"fp16": 2.0**-25, "f16": 2.0**-25, "bf16": 0.0, "f32": 0.0}
"""Half of the distance between the least numbers of a type."""
MX = {"fp4": ("mxfp4", ml_dtypes.float4_e2m1fn, 16), "fp6": ("mxfp6", ml_dtypes.float6_e2m3fn, 64),
      "fp8": ("mxfp8", ml_dtypes.float8_e4m3fn, 256)}  # fmt: skip
"""Of a format with scales of 32: its name, its type, and how many codes it has."""
ACTIVATIONS: dict[str, Any] = {
    "none": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x * 0.5 * (1 + np.tanh(x / 2)),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
}
SPARE = 5
"""Rows behind the last one, and before and behind C."""


@dataclass(frozen=True)
class Operand:
    """What a kernel gets, and what it stands for in float64, rows by K."""

    given: Array
    wide: Array


def behind(rows: Array, poison: Any = NAN) -> Array:
    """The same rows in memory that goes on with poison."""
    whole = np.full((len(rows) + SPARE, *rows.shape[1:]), poison, rows.dtype)
    whole[: len(rows)] = rows
    return whole[: len(rows)]


def plain(rows: int, k: int, kind: str) -> Operand:
    rng, dtype = random_data.generator(), NARROW[kind]
    if kind in ("int8", "int4"):
        low, high = (-8, 8) if kind == "int4" else (-128, 128)
        values = rng.integers(low, high, (rows, k), dtype=np.int8)
        return Operand(behind(values, 77), values.astype(F64))
    values = rng.standard_normal((rows, k)).astype(dtype)
    return Operand(behind(values), values.astype(F64))


def mx(rows: int, k: int, kind: str, out: str = "bf16") -> tuple[Operand, Array]:
    """Codes as bytes with their E8M0 scales in rows; the wide numbers are scaled, for an f16 C by less."""
    rng, (name, dtype, codes) = random_data.generator(), MX[kind]
    drawn = rng.integers(0, codes, (rows, k // 32, 32), dtype=np.uint8)
    if kind == "fp8":
        drawn[drawn & 127 == 127] = 3  # those are not numbers
    least = 112 if out in ("f16", "fp16") else 120
    scales = rng.integers(least, least + (8 if least < 120 else 14), (rows, k // 32), dtype=np.uint8)
    wide = drawn.view(dtype).astype(F64) * 2.0 ** (scales.astype(F64)[..., None] - 127)
    return Operand(behind(pack_codes(drawn, name).reshape(rows, -1), 0x7F), wide.reshape(rows, k)), scales


def numbers(count: int, low: float = 0.5, high: float = 1.5) -> Array:
    return behind(random_data.generator().uniform(low, high, count).astype(F32))


class Canvas:
    """C among rows that must stay as they are."""

    def __init__(self, m: int, n: int, out: str, gap: int = 0) -> None:
        self.whole = np.full((m + 2 * SPARE, n + gap), NAN, NARROW[out])
        self.c, self.out = self.whole[SPARE : SPARE + m, :n], out

    def require(self, a: Array, b: Array, *, bias: Any = None, activation: str = "none", shares: int = 1) -> None:
        """C is the activation of a times b transposed plus a bias; blocks that share K round each share."""
        exact, terms = a @ b.T, np.abs(a) @ np.abs(b).T
        if bias is not None:
            exact, terms = exact + bias.astype(F64), terms + np.abs(bias.astype(F64))
        expected = ACTIVATIONS[activation](exact)
        sums = 1.01 * (np.sqrt(a.shape[1]) + 4) * 2.0**-23 * terms
        if activation != "none":  # none is steeper than 1.13; exp2 and the reciprocal are good to a few bits of f32
            sums = 1.13 * sums + 2.0**-19 * (np.abs(exact) + 1e-3)
        rounded = np.abs(expected) if shares == 1 else 2 * np.sqrt(shares) * terms
        bound = HALF_ULP[self.out] * rounded + LEAST[self.out] + sums + 1e-30
        wrong = ~(np.abs(self.c.astype(F64) - expected) <= bound)
        assert not wrong.any(), f"{wrong.sum()} elements are wrong, the first at {np.argwhere(wrong)[0]}"
        self.c[:] = NAN
        assert np.isnan(self.whole.astype(F32)).all(), "wrote outside C"


def fp8_of(arch: str) -> str:
    return "fp8_fnuz" if arch == "gfx942" else "fp8"


# CDNA ----------------------------------------------------------------------------------------------------------------


def preshuffle(arch: str, m: int, n: int, k: int, *, dtype: str, out: str = "bf16", **options: Any) -> None:
    kind = fp8_of(arch) if dtype == "fp8" else dtype
    a, b = plain(m, k, "int8" if dtype == "int4" else kind), plain(n, k, kind)
    scaled = dtype in ("fp8", "int8", "int4")
    scale_a, scale_b, bias = numbers(m, 1e-3, 2e-3), numbers(n), numbers(n, -1, 1)
    canvas, epilogue = Canvas(m, n, out), options.get("epilogue", "none")
    gemm = compile_preshuffle_gemm_a8(N=n, K=k, in_dtype=dtype, out_dtype=out, **options)
    shuffled = shuffle_weight(b.given)
    shuffled = pack_int4(shuffled) if dtype == "int4" else shuffled
    gemm(canvas.c, a.given, shuffled, scale_a, scale_b, bias, m, n)
    wide_a, wide_b = a.wide, b.wide
    if scaled:
        wide_a, wide_b = wide_a * scale_a.astype(F64)[:, None], wide_b * scale_b.astype(F64)[:, None]
    activation = epilogue.removeprefix("bias").removeprefix("_") or "none"
    canvas.require(wide_a, wide_b, bias=bias if epilogue.startswith("bias") else None, activation=activation)


def w4a16(arch: str, m: int, n: int, k: int, *, dtype: str = "bf16", group_size: int = 32, **options: Any) -> None:
    a, b = plain(m, k, dtype), plain(n, k, "int4")
    scales = random_data.generator().uniform(0.01, 0.02, (k // 32, n) if group_size else n).astype(F32)
    canvas, unused = Canvas(m, n, dtype), np.zeros(1, F32)
    gemm = compile_preshuffle_gemm_w4a16(
        N=n, K=k, a_dtype=dtype, out_dtype=dtype, group_size=group_size, **options
    )  # fmt: skip
    gemm(canvas.c, a.given, pack_int4(shuffle_weight(b.given)), unused, scales, unused, m, n)
    spread = np.repeat(scales, 32, axis=0).T if group_size else scales[:, None]
    canvas.require(a.wide, (b.wide.astype(F32) * spread).astype(NARROW[dtype]).astype(F64))


def preshuffle_mx(arch: str, m: int, n: int, k: int, *, a: str, b: str = "fp4", out: str = "bf16", **options: Any):
    (side, scale_a), (weight, scale_b) = mx(m, k, a, out), mx(n, k, b, out)
    canvas = Canvas(m, n, out)
    gemm = compile_preshuffle_gemm_w4(N=n, K=k, a_dtype=a, b_dtype=b, out_dtype=out, **options)
    scales = e8m0_shuffle(scale_a), e8m0_shuffle(scale_b)
    gemm(canvas.c, side.given, shuffle_weight(weight.given), *scales, numbers(1), m, n)
    canvas.require(side.wide, weight.wide)


def fp4_4w(arch: str, m: int, n: int, k: int) -> None:
    (a, scale_a), (b, scale_b) = mx(m, k, "fp4"), mx(n, k, "fp4")
    canvas = Canvas(m, n, "bf16")
    gemm = compile_fp4_gemm_4w(K=k, MN=(m, n))
    gemm(a.given, shuffle_weight(b.given), canvas.c, e8m0_shuffle(scale_a), e8m0_shuffle(scale_b), m, n)
    canvas.require(a.wide, b.wide)


def blockscale(arch: str, m: int, n: int, k: int, *, out: str = "bf16", tiles: Any = None, **options: Any) -> None:
    rng, kind = random_data.generator(), fp8_of(arch)
    a, b = plain(m, k, kind), plain(n, k, kind)
    of_rows, of_blocks = (rng.uniform(0.1, 2, shape).astype(F32) for shape in ((k // 128, m), (-(-n // 128), k // 128)))
    tile_m, tile_n, tile_k = tiles or blockscale_tile(m, n, k)
    canvas = Canvas(m, n, out)
    gemm = compile_blockscale_preshuffle_gemm(
        M=m, N=n, K=k, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, out_dtype=out, **options
    )
    gemm(canvas.c, a.given, shuffle_weight(b.given), of_rows, of_blocks, m, n)
    wide_b = b.wide * np.repeat(np.repeat(of_blocks, 128, axis=0)[:n], 128, axis=1)
    canvas.require(a.wide * np.repeat(of_rows, 128, axis=0).T, wide_b)


def blockscale_tile(m: int, n: int, k: int) -> tuple[int, int, int]:
    """The tile that the original's tests pick: enough blocks, low tiles for few rows."""
    candidates = [
        (tm, tn, tk)
        for tm in (16, 32, 64)
        for tn in (64, 128, 256)
        for tk in (128, 256)
        if tm * tk >= 4096 and (tn < 256 or (tm, tk) == (64, 128)) and n % tn == 0 and k % tk == 0
    ]
    wanted = 16 if m <= 48 else 32 if m <= 128 else 64
    fits = [tile for tile in candidates if tile[0] == wanted] or candidates
    full = [tile for tile in fits if -(-m // tile[0]) * (n // tile[1]) >= 256]
    return max(full) if full else min(fits)


def hgemm(arch: str, m: int, n: int, k: int, *, dtype: str = "bf16", launches: int = 2, **options: Any) -> None:
    """Launches in a row, with counters that are zero for the next one."""
    a, b = plain(m, k, dtype), plain(n, k, dtype)
    bias = random_data.generator().uniform(-1, 1, n).astype(NARROW[dtype])
    few = options.pop("few", False)
    build = compile_small_m_hgemm_kernel if few else compile_hgemm_kernel
    kernel, counters = build(dtype, n, k, **options), np.zeros((2, 256), np.int32)
    for _ in range(launches):
        canvas = Canvas(m, n, dtype)
        kernel(canvas.c, a.given, b.given, bias, m, *counters)
        canvas.require(a.wide, b.wide, bias=bias if options.get("HAS_BIAS") else None, shares=options.get("SPLIT_K", 1))
        assert not counters.any(), "the counters are zero for the next launch"


def a16w16(
    arch: str, m: int, n: int, k: int, *, layout: str, dtype: str = "bf16", out: str = "bf16", bias: bool = False,
    **kwargs: Any,
) -> None:  # fmt: skip
    """Any extent in any layout; lines of operands are padded with NaN to multiples of 16 bytes."""
    rng = random_data.generator()

    def lines(rows: int, columns: int) -> Array:
        line = -(-columns // 8) * 8 + 8
        raw = np.full(rows * line * 2 + 16, 0xFF, np.uint8)
        found = raw[-raw.ctypes.data % 16 :][: rows * line * 2].view(NARROW[dtype]).reshape(rows, line)[:, :columns]
        found[...] = rng.uniform(-1, 1, (rows, columns)).astype(NARROW[dtype])
        return found

    a = lines(m, k) if layout[0] == "n" else lines(k, m).T
    b = lines(k, n) if layout[1] == "n" else lines(n, k).T
    vector = rng.uniform(-1, 1, n).astype(NARROW[dtype]) if bias else None
    canvas = Canvas(m, n, out)
    gemm_a16w16(a, b, canvas.c, vector, kwargs, layout=layout)
    canvas.require(a.astype(F64), b.astype(F64).T, bias=vector, shares=kwargs.get("split_k", 1))


def fp8_waves(arch: str, m: int, n: int, k: int, *, waves: int, shuffled: bool = False, **options: Any) -> None:
    kind = fp8_of(arch)
    a, b, canvas = plain(m, k, kind), plain(n, k, kind), Canvas(m, n, "bf16")
    scale_a, scale_b = numbers(m), numbers(n)
    build = {4: compile_fp8_gemm_4w, 8: compile_fp8_gemm_8w}[waves]
    gemm = build(K=k, b_preshuffled=shuffled, **options)
    gemm(a.given, shuffle_weight(b.given) if shuffled else b.given, canvas.c, scale_a, scale_b, m, n)
    canvas.require(a.wide * scale_a.astype(F64)[:, None], b.wide * scale_b.astype(F64)[:, None])


# RDNA and gfx1250 ----------------------------------------------------------------------------------------------------


def rdna(arch: str, m: int, n: int, k: int, *, dtype: str, out: str, **options: Any) -> None:
    a, b, canvas = plain(m, k, dtype), plain(n, k, dtype), Canvas(m, n, out)
    gemm, *_ = create_wmma_gemm_module(m, n, k, dtype, out, **options)
    gemm(canvas.c, a.given, b.given)
    canvas.require(a.wide, b.wide)


def rdna_fp8(arch: str, m: int, n: int, k: int, **options: Any) -> None:
    a, b, canvas = plain(m, k, "fp8"), plain(n, k, "fp8"), Canvas(m, n, "bf16")
    scale_a, scale_b = numbers(m), numbers(n)
    shuffled = preshuffle_b_fp8(np.ascontiguousarray(b.given.T)).view(F32)
    compile_fp8_gemm(M=m, N=n, K=k, **options)(canvas.c, a.given.view(F32), shuffled, scale_a, scale_b)
    canvas.require(a.wide * scale_a.astype(F64)[:, None], b.wide * scale_b.astype(F64)[:, None])


def narrow(
    arch: str, m: int, n: int, k: int, *, data: str, scales: str = "mxscale", out: str = "f32", gap: int = 0,
    **options: Any,
) -> None:  # fmt: skip
    """fp8, fp4 and a8w4 of gfx1250; ``gap`` bytes of NaN lie behind each row of A."""
    sizes = {"tile_m": 128, "tile_n": 128, "tile_k": 128, "m_warp": 2, "n_warp": 2, **options}
    (a, scale_a), (b, scale_b) = (mx(rows, k, kind, out) for rows, kind in zip((m, n), DATA_FORMATS[data], strict=True))
    wide_a, wide_b, canvas = a.wide, b.wide, Canvas(m, n, out, gap)
    if scales == "mxscale":
        given = [preshuffle_e8m0_scale(of, sizes[f"tile_{x}"] // sizes[f"{x}_warp"], sizes["tile_k"] // 32)
                 for of, x in ((scale_a, "m"), (scale_b, "n"))]  # fmt: skip
    else:
        given = [numbers(m), numbers(n)]
        wide_a, wide_b = (
            x.wide / np.repeat(2.0 ** (of.astype(F64) - 127), 32, axis=1) * row.astype(F64)[:, None]
            for x, of, row in ((a, scale_a, given[0]), (b, scale_b, given[1]))
        )
    lines = np.full((m + SPARE, a.given.shape[1] + gap), 0x7F, np.uint8)
    lines[:m, : a.given.shape[1]] = a.given
    if sizes.get("split_k", 1) > 1:
        canvas.c[:] = 0
    gemm = compile_fp8fp4_gemm(data_format=data, scale_mode=scales, K=k, out_dtype=out, **sizes)
    gemm(canvas.c, lines, preshuffle_b_16x16(b.given, *b.given.shape), *given, m, n, lines.shape[1], n + gap)
    canvas.require(wide_a, wide_b, shares=sizes.get("split_k", 1))


def a8w8(arch: str, m: int, n: int, k: int, *, blocks: bool, tile: Any = (32, 64, 128, 2, 2), **options: Any) -> None:
    """The later release's fp8 by fp8, with scales of rows or of blocks of 128."""
    rng, a, b = random_data.generator(), plain(m, k, "fp8"), plain(n, k, "fp8")
    canvas, stride = Canvas(m, n, "bf16"), m + 8
    if blocks:
        sa = rng.integers(122, 130, (k // 128, stride), dtype=np.uint8)
        sb = rng.integers(122, 130, (-(-n // 128), k // 128), dtype=np.uint8)
        factors = [2.0 ** (x.astype(F64) - 127) for x in (sa[:, :m].T, np.repeat(sb, 128, axis=0)[:n])]
        wide_a, wide_b = (x.wide * np.repeat(of, 128, axis=1) for x, of in zip((a, b), factors, strict=True))
    else:
        sa, sb = numbers(m), numbers(n)
        wide_a, wide_b = (x.wide * of.astype(F64)[:, None] for x, of in ((a, sa), (b, sb)))
    shuffled, more = preshuffle_b_16x16(b.given, n, k), options.get("cluster", (1, 1))
    launch_gemm_a8w8(canvas.c, a.given, shuffled, sa, sb, m, None, n, k, stride, k, n, *tile, False, 2, *more, blocks)
    canvas.require(wide_a, wide_b)


def a8w4(arch: str, m: int, n: int, k: int, *, tile: Any = (32, 64, 128, 2, 2), cluster: Any = (1, 1)) -> None:
    """The later release's fp8 by fp4, with scales in blocks of 32 rows."""
    (a, scale_a), (b, scale_b), canvas = mx(m, k, "fp8"), mx(n, k, "fp4"), Canvas(m, n, "bf16")
    scales, shuffled = (scale_32x4(scale_a), scale_32x4(scale_b)), preshuffle_b_16x16(b.given, n, k // 2)
    launch_gemm_a8w4_mxscale(
        canvas.c, a.given, shuffled, *scales, m, None, n, k, k, n, *tile, False, 2, *cluster
    )  # fmt: skip
    canvas.require(a.wide, b.wide)


def wmma_tdm(arch: str, m: int, n: int, k: int, *, dtype: str = "fp16", out: str = "f32", **options: Any) -> None:
    a, b, canvas = plain(m, k, dtype), plain(n, k, dtype), Canvas(m, n, out)
    gemm = compile_wmma_gemm_tdm(K=k, in_dtype=dtype, out_dtype=out, **options)
    gemm(canvas.c, a.given, np.ascontiguousarray(b.given.T), m, n)
    canvas.require(a.wide, b.wide)


FAMILIES: dict[str, Callable[..., None]] = {
    "preshuffle": preshuffle, "w4a16": w4a16, "mx": preshuffle_mx, "fp4_4w": fp4_4w, "blockscale": blockscale,
    "hgemm": hgemm, "a16w16": a16w16, "fp8_waves": fp8_waves, "rdna": rdna, "rdna_fp8": rdna_fp8, "narrow": narrow,
    "a8w8": a8w8, "a8w4": a8w4, "wmma_tdm": wmma_tdm,
}  # fmt: skip
