"""The machine code of the preshuffle GEMM: its main loop, and a code object for every target and element type."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.backends.rocm.compile import device_text, isa_of
from flydsl.kernels.gemm.blockscale_preshuffle_gemm import compile_blockscale_preshuffle_gemm
from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm
from flydsl.target.target import parse_target
from flydsl.tools.assembly import fact, main_loop
from tests.codegen.repository_kernels import RepositoryKernel, after_stage_a

N, K = 256, 1024
TARGETS = {
    "gfx90a": {"fp16": np.float16, "bf16": ml_dtypes.bfloat16},
    "gfx942": {"fp16": np.float16, "bf16": ml_dtypes.bfloat16, "fp8": ml_dtypes.float8_e4m3fnuz},
    "gfx950": {"fp16": np.float16, "bf16": ml_dtypes.bfloat16, "fp8": ml_dtypes.float8_e4m3fn},
}
CASES = [(arch, in_dtype) for arch, elements in TARGETS.items() for in_dtype in elements]


def isa(arch: str, in_dtype: str = "fp16", **options: Any) -> str:
    element = TARGETS[arch][in_dtype]
    options.setdefault("tile_k", 128 // np.dtype(element).itemsize)
    gemm = compile_preshuffle_gemm(N=N, K=K, in_dtype=in_dtype, out_dtype="fp16", **options)
    matrix, result, numbers = np.zeros((N, K), element), np.zeros((N, N), np.float16), np.zeros(N, np.float32)
    arguments = (result, matrix, matrix, numbers, numbers, numbers, N, N)
    module, target = after_stage_a(RepositoryKernel("preshuffle_gemm", lambda _: (gemm, arguments)), arch)
    return isa_of(device_text(module, target), parse_target(arch), 3)


@pytest.mark.parametrize(("arch", "in_dtype"), CASES)
def test_main_loop(arch: str, in_dtype: str) -> None:
    """Nothing but products, wide accesses, a wait a chunk and scalar steps along K."""
    assembly = isa(arch, in_dtype)
    loop = main_loop(assembly)
    counts = loop.counts
    memory = {
        name: count for name, count in counts.items() if name.startswith(("buffer_", "ds_", "global_", "scratch_"))
    }
    assert memory == {"buffer_load_dwordx4": 16, "ds_read_b128": 32, "ds_write_b128": 8}
    assert loop.waits == 4
    assert counts["s_barrier"] == 2
    vector = [name for name in counts if name.startswith("v_") and "mfma" not in name]
    assert vector == [], "lanes compute nothing in the loop"
    assert fact(assembly, "vgpr_spill_count") == 0
    assert fact(assembly, "sgpr_spill_count") == 0
    if (arch, in_dtype) != ("gfx950", "fp8"):  # whose chunks are twice as deep, and fill 256 registers
        assert fact(assembly, "agpr_count") == 0


def test_matrix_instructions_of_two_steps_on_gfx942() -> None:
    counts = main_loop(isa("gfx942")).counts
    assert counts["v_mfma_f32_16x16x16_f16"] == 128
    assert not [name for name in counts if name.startswith("v_accvgpr")]


@pytest.mark.parametrize(
    ("arch", "in_dtype", "instruction", "count"),
    [
        ("gfx90a", "fp16", "v_mfma_f32_16x16x16f16", 128),
        ("gfx90a", "bf16", "v_mfma_f32_16x16x16bf16_1k", 128),
        ("gfx942", "bf16", "v_mfma_f32_16x16x16_bf16", 128),
        ("gfx942", "fp8", "v_mfma_f32_16x16x32_fp8_fp8", 128),
        ("gfx950", "fp16", "v_mfma_f32_16x16x32_f16", 64),
        ("gfx950", "bf16", "v_mfma_f32_16x16x32_bf16", 64),
        ("gfx950", "fp8", "v_mfma_scale_f32_16x16x128_f8f6f4", 32),
    ],
)
def test_instruction_of_each_element(arch: str, in_dtype: str, instruction: str, count: int) -> None:
    assert main_loop(isa(arch, in_dtype)).counts[instruction] == count


def test_accesses_are_spread_over_the_products() -> None:
    """The hints hold: no more than eight side by side, and products follow the last read of every chunk."""
    kinds = ("v_mfma", "buffer_", "ds_", "s_waitcnt")
    names = [name for name in main_loop(isa("gfx942")).names if name.startswith(kinds)]
    runs = [(key, len(list(group))) for key, group in itertools.groupby(names, lambda name: name.startswith("v_mfma"))]
    assert max(length for products, length in runs if not products) <= 8
    for place, name in enumerate(names):
        if name == "s_waitcnt" and place:
            last = max(i for i in range(place) if names[i] == "ds_read_b128")
            assert sum(n.startswith("v_mfma") for n in names[last:place]) >= 8


@pytest.mark.parametrize(
    "options", [{"lds_stage": 1}, {"preload": False}, {"tile_m": 64}, {"tile_n": 256}, {"tile_k": 128}]
)
def test_other_choices_do_not_spill(options: dict[str, Any]) -> None:
    assembly = isa("gfx942", **options)
    assert fact(assembly, "vgpr_spill_count") == 0
    assert main_loop(assembly).matrix


def test_four_bit_weights_are_widened_by_three_operations_for_eight() -> None:
    gemm = compile_preshuffle_gemm(N=N, K=K, tile_k=128, in_dtype="int4", out_dtype="fp16")
    a, b, result = np.zeros((N, K), np.int8), np.zeros((N, K // 2), np.int8), np.zeros((N, N), np.float16)
    numbers = np.zeros(N, np.float32)
    arguments = (result, a, b, numbers, numbers, numbers, N, N)
    module, target = after_stage_a(RepositoryKernel("preshuffle_gemm", lambda _: (gemm, arguments)), "gfx942")
    assembly = isa_of(device_text(module, target), parse_target("gfx942"), 3)
    counts = main_loop(assembly).counts
    vector = {name: count for name, count in counts.items() if name.startswith("v_") and "mfma" not in name}
    assert sum(vector.values()) == 3 * 16, vector
    assert counts["buffer_load_dwordx2"] == 8
    assert fact(assembly, "vgpr_spill_count") == 0


@pytest.mark.parametrize(
    ("arch", "element", "tile_m", "copied"),
    [("gfx942", ml_dtypes.float8_e4m3fnuz, 64, False), ("gfx950", ml_dtypes.float8_e4m3fn, 64, False),
     ("gfx950", ml_dtypes.float8_e4m3fn, 64, True), ("gfx950", ml_dtypes.float8_e4m3fn, 32, True)],
)  # fmt: skip
def test_block_scales_add_a_multiplication_an_element(arch: str, element: Any, tile_m: int, copied: bool) -> None:
    """A lane has 32 sums, and nothing is spilled however many waves are asked for."""
    gemm = compile_blockscale_preshuffle_gemm(
        N=N, K=K, tile_m=tile_m, tile_n=8192 // tile_m, tile_k=128, use_async_copy=copied
    )
    matrix, result = np.zeros((N, K), element), np.zeros((N, N), ml_dtypes.bfloat16)
    scales = np.zeros((K // 128, N), np.float32), np.zeros((N // 128, K // 128), np.float32)
    arguments = (result, matrix, matrix, *scales, N, N)
    module, target = after_stage_a(RepositoryKernel("blockscale", lambda _: (gemm, arguments)), arch)
    assembly = isa_of(device_text(module, target), parse_target(arch), 3)
    counts = main_loop(assembly).counts
    outputs = 2 * 64 * 128 // 256  # of a lane, in the two tiles of an iteration
    assert counts["v_fma_f32"] + counts["v_fmac_f32_e32"] + 2 * counts["v_pk_fma_f32"] == outputs, counts
    assert fact(assembly, "vgpr_spill_count") == 0
