"""The stages of experts for CDNA that `isa_quality.py` shows beside the GEMMs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amd_gemms import BOTH, ELEMENT, FP8, NEW, Case

from flydsl.kernels.moe.a16w4 import compile_gemm1_a16w4_port
from flydsl.kernels.moe.blockscale_2stage import compile_moe_blockscale_gemm1, compile_moe_blockscale_gemm2
from flydsl.kernels.moe.mixed_2stage import compile_mixed_moe_gemm1, compile_mixed_moe_gemm2
from flydsl.kernels.moe.moe_gemm_2stage import compile_moe_gemm1, compile_moe_gemm2

TOKENS, MODEL, INTER, EXPERTS, TOPK, BLOCKS = 256, 4096, 4096, 8, 2, 40
WORDS, NUMBERS = ((1024,), "int32"), ((1024,), "float32")
ORDER = (WORDS, WORDS, NUMBERS, WORDS)
DIMS: dict[str, Any] = {"model_dim": MODEL, "inter_dim": INTER, "experts": EXPERTS, "topk": TOPK, "out_dtype": "bf16"}


def stage(second: bool, name: str, archs: tuple[str, ...], build: Callable[..., Any], element: str,
          tile: tuple[int, int, int], **options: Any) -> Case:  # fmt: skip
    """A stage that takes rows and weights of one type, with scales as its builder wants them."""
    tile_m, tile_n, tile_k = tile
    mixed = build in (compile_mixed_moe_gemm1, compile_mixed_moe_gemm2)
    columns, depth = (MODEL, INTER) if second else (INTER, MODEL)

    def arguments(arch: str) -> tuple[Any, ...]:
        kind = FP8[arch] if element == "fp8" else element
        rows, scales = ((TOKENS * TOPK, depth), kind), ((TOKENS * TOPK, depth // 32), "uint8") if mixed else NUMBERS
        extra = (None,) if mixed and second else (None, scales) if mixed else ()
        out = ((TOKENS * TOPK, columns), "bfloat16")
        return out, rows, rows, scales, scales, *ORDER, *extra, TOKENS, columns, depth, BLOCKS

    def built() -> Any:
        weighted = {"doweight_stage2": True} if second else {"doweight_stage1": False}
        return build(**DIMS, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, **weighted, **options)

    shown = f"experts {2 if second else 1} {name} {tile_m}x{tile_n}x{tile_k}"
    return Case(shown, archs, built, arguments)


def both(name: str, archs: tuple[str, ...], builds: tuple[Any, Any], element: str, tile: tuple[int, int, int],
         **options: Any) -> tuple[Case, Case]:  # fmt: skip
    first, second = (stage(at == 1, name, archs, build, element, tile, **options) for at, build in enumerate(builds))
    return first, second


def four_bits(kind: str) -> Case:
    """The first stage of bf16 rows with weights of four bits."""
    scales = ((EXPERTS * 2 * INTER, MODEL // 32), "uint8" if kind == "mxfp4" else "bfloat16")
    rows, weights = ((TOKENS, MODEL), "bfloat16"), ((EXPERTS * 2 * INTER, MODEL // 2), "int8")
    arguments = (rows, weights, scales, WORDS, WORDS, WORDS, TOKENS, BLOCKS, 1.0, 1.0, 0.0, ((1280, INTER), "bfloat16"))

    def build() -> Any:
        run = compile_gemm1_a16w4_port(32, D_HIDDEN=MODEL, D_INTER=INTER, NE=EXPERTS, TOPK=TOPK, w_dtype=kind)
        return run.launcher

    return Case(f"experts 1 bf16 x {kind} 32x64x64", BOTH, build, lambda _: arguments)


PLAIN = (compile_moe_gemm1, compile_moe_gemm2)
MIXED = (compile_mixed_moe_gemm1, compile_mixed_moe_gemm2)
CASES = (
    *both("bf16", BOTH, PLAIN, ELEMENT["bf16"], (64, 128, 64), in_dtype="bf16"),
    *both("fp8", BOTH, PLAIN, "fp8", (64, 128, 128), in_dtype="fp8"),
    *both("int8", BOTH, PLAIN, "int8", (64, 128, 128), in_dtype="int8"),
    *both("int4", BOTH, PLAIN, "int8", (64, 128, 128), in_dtype="int4"),
    *both("blockscale fp8", BOTH, (compile_moe_blockscale_gemm1, compile_moe_blockscale_gemm2), "fp8", (32, 128, 128)),
    *both("fp4 x fp4", NEW, MIXED, "uint8", (32, 128, 256), a_dtype="fp4", b_dtype="fp4"),
    *both("fp8 x fp4", NEW, MIXED, "uint8", (32, 128, 256), a_dtype="fp8", b_dtype="fp4"),
    *both("mxfp8", NEW, MIXED, "uint8", (32, 128, 256), a_dtype="mxfp8", b_dtype="mxfp8"),
    four_bits("mxfp4"),
    four_bits("int4"),
)
