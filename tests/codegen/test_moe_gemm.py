"""The machine code of the two stages of a mixture of experts: gathered rows, packed atomics, no spills."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.backends.rocm.compile import device_text, isa_of
from flydsl.kernels.moe import wmma_2stage
from flydsl.kernels.moe.a16w4 import compile_gemm1_a16w4_port, compile_gemm2_a16w4_port
from flydsl.kernels.moe.blockscale_2stage import compile_moe_blockscale_gemm1, compile_moe_blockscale_gemm2
from flydsl.kernels.moe.gradient_kernels import build_expert_outer_module, build_gate_gradient_module
from flydsl.kernels.moe.mixed_2stage import compile_mixed_moe_gemm1, compile_mixed_moe_gemm2
from flydsl.kernels.moe.moe_gemm_2stage.stages import compile_moe_gemm1, compile_moe_gemm2
from flydsl.kernels.moe.wmma_2stage.grouped import launch_moe_gemm_a8w4
from flydsl.target.target import parse_target
from flydsl.tools.assembly import fact, main_loop
from tests.codegen.repository_kernels import RepositoryKernel, after_stage_a

MODEL, INTER, EXPERTS, TOPK, TOKENS = 1024, 512, 8, 2, 64
ELEMENTS: dict[str, Any] = {"bf16": ml_dtypes.bfloat16, "fp16": np.float16}


def isa(arch: str, second: bool, in_dtype: str, out: Any = np.float16, **options: Any) -> str:
    columns, depth = (MODEL, INTER) if second else (INTER, MODEL)
    choice = {"model_dim": MODEL, "inter_dim": INTER, "experts": EXPERTS, "topk": TOPK, "tile_m": 64, "tile_n": 128,
              "tile_k": 64 if in_dtype in ELEMENTS else 128, "in_dtype": in_dtype, **options}  # fmt: skip
    run = compile_moe_gemm2(doweight_stage2=True, **choice) if second else compile_moe_gemm1(
        doweight_stage1=False, **choice
    )  # fmt: skip
    rows = np.zeros((8, depth), ELEMENTS.get(in_dtype, np.int8))
    words, numbers = np.zeros(64, np.int32), np.zeros(64, np.float32)
    arguments = (np.zeros((8, columns), out), rows, rows, numbers, numbers, words, words, numbers, words, TOKENS,
                 columns, depth, 16)  # fmt: skip
    return assembly_of(run, arguments, arch)


@pytest.mark.parametrize("in_dtype", ["bf16", "fp8", "int4"])
@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_first_stage(arch: str, in_dtype: str) -> None:
    """The main loop is the preshuffle GEMM's: rows are gathered by offsets that were computed before it."""
    assembly = isa(arch, False, in_dtype)
    counts = main_loop(assembly).counts
    vector = [name for name in counts if name.startswith("v_") and "mfma" not in name]
    assert in_dtype == "int4" or vector == [], "lanes compute nothing in the loop"
    assert counts["buffer_load_dwordx4"] >= 4 and counts["ds_read_b128"] and counts["ds_write_b128"]
    assert not [name for name in counts if name.startswith(("global_", "flat_", "scratch_"))]
    assert fact(assembly, "vgpr_spill_count") == 0 and fact(assembly, "sgpr_spill_count") == 0


def assembly_of(run: Any, arguments: tuple[Any, ...], arch: str) -> str:
    module, target = after_stage_a(RepositoryKernel("moe", lambda _: (run, arguments)), arch)
    return isa_of(device_text(module, target), parse_target(arch), 3)


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_scales_of_blocks_do_not_spill(arch: str) -> None:
    run = compile_moe_blockscale_gemm1(
        model_dim=MODEL, inter_dim=INTER, experts=EXPERTS, topk=TOPK, tile_m=32, tile_n=128, tile_k=128,
        doweight_stage1=False,
    )  # fmt: skip
    rows, words, numbers = np.zeros((8, MODEL), np.int8), np.zeros(64, np.int32), np.zeros(64, np.float32)
    arguments = (np.zeros((8, INTER), np.float16), rows, rows, numbers, numbers, words, words, numbers, words, TOKENS,
                 INTER, MODEL, 16)  # fmt: skip
    assembly = assembly_of(run, arguments, arch)
    assert fact(assembly, "vgpr_spill_count") == 0 and main_loop(assembly).matrix


@pytest.mark.parametrize("a_dtype", ["fp4", "fp8"])
def test_mx_formats_do_not_spill(a_dtype: str) -> None:
    run = compile_mixed_moe_gemm1(
        model_dim=MODEL, inter_dim=INTER, experts=EXPERTS, topk=TOPK, tile_m=32, tile_n=128, tile_k=256,
        doweight_stage1=False, a_dtype=a_dtype, b_dtype="fp4", out_dtype=a_dtype,
    )  # fmt: skip
    rows, words, numbers = np.zeros((8, MODEL), np.uint8), np.zeros(64, np.int32), np.zeros(64, np.float32)
    arguments = (rows, rows, rows, rows, rows, words, words, numbers, words, None, rows, TOKENS, INTER, MODEL, 16)
    assembly = assembly_of(run, arguments, "gfx950")
    assert fact(assembly, "vgpr_spill_count") == 0
    assert "v_mfma_scale_f32_16x16x128_f8f6f4" in assembly and "scratch_" not in assembly


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_second_stage_adds_pairs(arch: str) -> None:
    for out_dtype, out in (("f16", np.float16), ("bf16", ml_dtypes.bfloat16)):
        assembly = isa(arch, True, "bf16", out, out_dtype=out_dtype)
        assert f"global_atomic_pk_add_{out_dtype}" in assembly
        assert "cmpswap" not in assembly
        assert fact(assembly, "vgpr_spill_count") == 0
    stored = isa(arch, True, "bf16", accumulate=False)
    assert "global_store_dwordx4" in stored and "atomic" not in stored
    assert fact(stored, "vgpr_spill_count") == 0


# Every stage kernel --------------------------------------------------------------------------------------------------

ROWS, WORDS, NUMBERS = np.zeros((8, MODEL), np.uint8), np.zeros(64, np.int32), np.zeros(64, np.float32)
ORDER = (WORDS, WORDS, NUMBERS, WORDS)
DIMS: dict[str, Any] = {"model_dim": MODEL, "inter_dim": INTER, "experts": EXPERTS, "topk": TOPK}
BF16 = np.zeros((8, MODEL), ml_dtypes.bfloat16)


def mixed_first(**options: Any) -> tuple[Any, tuple[Any, ...]]:
    run = compile_mixed_moe_gemm1(**DIMS, tile_m=32, tile_n=128, tile_k=256, doweight_stage1=False, **options)
    out = np.zeros((8, MODEL), np.float32) if options.get("k_batch") else BF16
    return run, (out, ROWS, ROWS, ROWS, ROWS, *ORDER, None, ROWS, TOKENS, INTER, MODEL, 16)


def mixed_second(**options: Any) -> tuple[Any, tuple[Any, ...]]:
    run = compile_mixed_moe_gemm2(**DIMS, tile_m=32, tile_n=128, tile_k=256, doweight_stage2=True, **options)
    return run, (BF16, ROWS, ROWS, ROWS, ROWS, *ORDER, None, TOKENS, MODEL, INTER, 16)


def a16w4(second: bool, kind: str) -> tuple[Any, tuple[Any, ...]]:
    weights = BF16 if kind == "bf16" else ROWS.view(np.int8)
    scales = {"bf16": None, "int4": BF16, "mxfp4": ROWS}[kind]
    if second:
        run = compile_gemm2_a16w4_port(32, NE=EXPERTS, N_OUT=MODEL, D_INTER=INTER, w_dtype=kind)
        return run.launcher, (BF16, weights, scales, WORDS, WORDS, WORDS, NUMBERS, TOKENS, 16, BF16)
    run = compile_gemm1_a16w4_port(32, D_HIDDEN=MODEL, D_INTER=INTER, NE=EXPERTS, TOPK=TOPK, w_dtype=kind)
    return run.launcher, (BF16, weights, scales, WORDS, WORDS, WORDS, TOKENS, 16, 1.0, 1.0, 0.0, BF16)


def on_gfx1250(second: bool, kind: str) -> tuple[Any, tuple[Any, ...]]:
    rows = ROWS if kind not in ELEMENTS else np.zeros((8, MODEL), ELEMENTS[kind])
    build, name = (wmma_2stage.compile_moe_gemm2, "doweight_stage2") if second else (
        wmma_2stage.compile_moe_gemm1, "doweight_stage1")  # fmt: skip
    run = build(**DIMS, tile_m=64, tile_n=128, tile_k=64 if kind in ELEMENTS else 256, in_dtype=kind, out_dtype="bf16",
                **{name: second})  # fmt: skip
    sizes = (MODEL, INTER) if second else (INTER, MODEL)
    return run, (BF16, rows, rows, ROWS, ROWS, *ORDER, TOKENS, *sizes, 16)


def by_expert(fp4: bool) -> tuple[Any, tuple[Any, ...]]:
    sizes = (1024, None, INTER, MODEL, 64, 128, 256, 2, 2, False, 2, fp4, WORDS, EXPERTS, "swiglu", True, NUMBERS, 7.0)
    return launch_moe_gemm_a8w4, (BF16, ROWS, ROWS, ROWS, ROWS, *sizes)


def blockscale_second(accumulate: bool) -> tuple[Any, tuple[Any, ...]]:
    run = compile_moe_blockscale_gemm2(
        **DIMS, tile_m=32, tile_n=128, tile_k=128, doweight_stage2=True, accumulate=accumulate, out_dtype="bf16"
    )
    return run, (BF16, ROWS.view(np.int8), ROWS.view(np.int8), NUMBERS, NUMBERS, *ORDER, TOKENS, MODEL, INTER, 16)


def outer() -> tuple[Any, tuple[Any, ...]]:
    run = build_expert_outer_module(INTER, MODEL, "bf16")
    return run, (np.zeros((8, INTER), ml_dtypes.bfloat16), BF16, BF16, WORDS, WORDS, WORDS, EXPERTS)


def gate_gradient() -> tuple[Any, tuple[Any, ...]]:
    return build_gate_gradient_module(INTER, "bf16"), (BF16, BF16, NUMBERS, WORDS, None, BF16, BF16, NUMBERS, 8, 16)


MIXED = (("fp4", "fp4"), ("fp8", "fp4"), ("mxfp8", "mxfp8"))
STAGES: list[tuple[str, str, Callable[[], tuple[Any, tuple[Any, ...]]]]] = [
    *[("gfx950", f"mixed1-{a}", partial(mixed_first, a_dtype=a, b_dtype=b, out_dtype="bf16")) for a, b in MIXED],
    *[("gfx950", f"mixed2-{a}", partial(mixed_second, a_dtype=a, b_dtype=b, out_dtype="bf16")) for a, b in MIXED],
    ("gfx950", "mixed1-split", partial(mixed_first, a_dtype="fp8", b_dtype="fp4", k_batch=2)),
    *[(arch, f"blockscale2-{added}", partial(blockscale_second, added))
      for arch, added in (("gfx942", True), ("gfx950", False))],
    *[(arch, f"a16w4-{kind}-{second}", partial(a16w4, second, kind))
      for arch in ("gfx942", "gfx950") for kind in ("mxfp4", "int4", "bf16") for second in (False, True)],
    *[("gfx1250", f"wmma-{kind}-{second}", partial(on_gfx1250, second, kind))
      for kind in ("bf16", "fp8", "fp4", "a8w4") for second in (False, True)],
    *[(arch, made.__name__, made) for arch in ("gfx942", "gfx950", "gfx1250") for made in (outer, gate_gradient)],
    *[("gfx1250", f"by-expert-{fp4}", partial(by_expert, fp4)) for fp4 in (False, True)],
]  # fmt: skip


@pytest.mark.parametrize(("arch", "name", "stage"), STAGES, ids=[f"{arch}-{name}" for arch, name, _ in STAGES])
def test_no_stage_spills(arch: str, name: str, stage: Callable[[], tuple[Any, tuple[Any, ...]]]) -> None:
    """No registers are spilled, nothing lies in scratch, and atomics are of pairs."""
    assembly = assembly_of(*stage(), arch)
    assert fact(assembly, "vgpr_spill_count") == 0 and fact(assembly, "sgpr_spill_count") == 0
    assert "scratch_" not in assembly and "cmpswap" not in assembly
    if name.startswith("wmma") and name.endswith("True"):
        assert "global_atomic_pk_add_bf16" in assembly
    if arch == "gfx1250" and name.startswith(("wmma", "by-expert")):
        assert "tensor_load_to_lds" in assembly and "v_wmma" in assembly
