"""The GEMM kernels for CDNA that `isa_quality.py` shows and the tests hold to their numbers, each with its targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flydsl.kernels.gemm.blockscale_preshuffle_gemm import compile_blockscale_preshuffle_gemm
from flydsl.kernels.gemm.fp8_gemm import compile_fp8_gemm_4w, compile_fp8_gemm_8w
from flydsl.kernels.gemm.hgemm_splitk import compile_hgemm_kernel
from flydsl.kernels.gemm.mxfp4_preshuffle import compile_fp4_gemm_4w, compile_preshuffle_gemm_w4
from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm
from flydsl.kernels.gemm.preshuffle_w4a16 import compile_preshuffle_gemm_w4a16

M, N, K = 1024, 1024, 4096
BOTH = ("gfx942", "gfx950")
NEW = ("gfx950",)
FP8 = {"gfx942": "float8_e4m3fnuz", "gfx950": "float8_e4m3fn"}
ELEMENT = {"fp16": "float16", "bf16": "bfloat16", "int8": "int8", "int4": "int8"}


@dataclass(frozen=True)
class Case:
    """A kernel: its name, its targets, how it is built, and shapes and types of its arguments (numbers as they are)."""

    name: str
    archs: tuple[str, ...]
    build: Callable[[], Any]
    arguments: Callable[[str], tuple[Any, ...]]
    large: bool = False
    """Whether it has a tile with which the matrix core of gfx950 has to be busy most of the time."""


def half(tile: tuple[int, int, int], archs: tuple[str, ...], large: bool = False, **options: Any) -> Case:
    tile_m, tile_n, tile_k = tile
    name = f"hgemm f16 {tile_m}x{tile_n}x{tile_k}" + "".join(f" {key.lower()}={options[key]}" for key in options)
    counters = ((256,), "int32")
    arguments = (
        ((M, N), "float16"),
        ((M, K), "float16"),
        ((N, K), "float16"),
        ((N,), "float16"),
        M,
        counters,
        counters,
    )
    return Case(name, archs, lambda: compile_hgemm_kernel("f16", N, K, tile_m, tile_n, tile_k, **options),
                lambda _: arguments, large)  # fmt: skip


def preshuffle(in_dtype: str, tile: tuple[int, int, int], archs: tuple[str, ...], large: bool = False,
               copied: bool = False) -> Case:  # fmt: skip
    tile_m, tile_n, tile_k = tile
    options: dict[str, Any] = {"tile_m": tile_m, "tile_n": tile_n, "tile_k": tile_k}

    def arguments(arch: str) -> tuple[Any, ...]:
        element = FP8[arch] if in_dtype == "fp8" else ELEMENT[in_dtype]
        numbers = ((N,), "float32")
        depth = K // 2 if in_dtype == "int4" else K
        return ((M, N), "float16"), ((M, K), element), ((N, depth), element), numbers, numbers, numbers, M, N

    def build() -> Any:
        return compile_preshuffle_gemm(N=N, K=K, in_dtype=in_dtype, out_dtype="fp16", use_async_copy=copied, **options)

    name = f"preshuffle {in_dtype} {tile_m}x{tile_n}x{tile_k}" + (", copied" if copied else "")
    return Case(name, archs, build, arguments, large)


def block_scaled(a_dtype: str, b_dtype: str, tile: tuple[int, int, int], large: bool = False) -> Case:
    tile_m, tile_n, tile_k = tile
    a, b = (K // 2 if dtype == "fp4" else K for dtype in (a_dtype, b_dtype))
    scales = ((M, K // 32), "uint8")
    arguments = (((M, N), "bfloat16"), ((M, a), "uint8"), ((N, b), "uint8"), scales, scales, scales, M, N)
    return Case(
        f"preshuffle {a_dtype} x {b_dtype} {tile_m}x{tile_n}x{tile_k}", NEW,
        lambda: compile_preshuffle_gemm_w4(N=N, K=K, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, a_dtype=a_dtype,
                                           b_dtype=b_dtype, use_async_copy=True),
        lambda _: arguments, large,
    )  # fmt: skip


def _rows_scaled(arch: str) -> tuple[Any, ...]:
    numbers = ((N,), "float32")
    return ((M, K), FP8[arch]), ((N, K), FP8[arch]), ((M, N), "bfloat16"), numbers, numbers, M, N


def _four_bits(_: str) -> tuple[Any, ...]:
    scales = ((M, K // 32), "uint8")
    return ((M, K // 2), "uint8"), ((N, K // 2), "uint8"), ((M, N), "bfloat16"), scales, scales, M, N


def _blocks(arch: str) -> tuple[Any, ...]:
    scales = ((K // 128, M), "float32"), ((N // 128, K // 128), "float32")
    return ((M, N), "bfloat16"), ((M, K), FP8[arch]), ((N, K), FP8[arch]), *scales, M, N


def _grouped(_: str) -> tuple[Any, ...]:
    numbers = ((K // 32, N), "float32")
    return ((M, N), "bfloat16"), ((M, K), "bfloat16"), ((N, K // 2), "int8"), numbers, numbers, numbers, M, N


CASES = (
    half((256, 256, 64), NEW, large=True, BLOCK_N_WARPS=4),
    half((128, 128, 64), BOTH),
    half((32, 64, 64), BOTH, STAGES=4, SPLIT_K=2),
    preshuffle("fp16", (128, 128, 64), BOTH),
    preshuffle("bf16", (128, 256, 64), NEW, large=True, copied=True),
    preshuffle("fp8", (128, 256, 128), NEW, large=True, copied=True),
    preshuffle("int8", (128, 128, 128), ("gfx942",), copied=True),
    preshuffle("int4", (64, 128, 128), BOTH),
    Case("w4a16 64x128x128", BOTH, lambda: compile_preshuffle_gemm_w4a16(N=N, K=K, tile_m=64, tile_n=128, tile_k=128),
         _grouped),
    Case("blockscale fp8 64x128x128", BOTH,
         lambda: compile_blockscale_preshuffle_gemm(N=N, K=K, tile_m=64, tile_n=128, tile_k=128), _blocks),
    block_scaled("fp4", "fp4", (128, 256, 256), large=True),
    block_scaled("fp6", "fp4", (64, 128, 256)),
    block_scaled("fp8", "fp4", (64, 128, 256)),
    block_scaled("fp8", "fp8", (64, 128, 256)),
    Case("fp8, 4 waves 256x256x128", NEW, lambda: compile_fp8_gemm_4w(K=K), _rows_scaled, large=True),
    Case("fp8, 8 waves 256x256x128", NEW, lambda: compile_fp8_gemm_8w(K=K), _rows_scaled, large=True),
    Case("fp4, 4 waves 128x256x256", NEW, lambda: compile_fp4_gemm_4w(K=K), _four_bits, large=True),
)  # fmt: skip
