"""The machine code of the GEMMs of RDNA and gfx1250: products and wide accesses in the main loop, no spills."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.backends.rocm.compile import device_text, isa_of
from flydsl.kernels.gemm.gemm_fp8fp4_gfx1250 import compile_fp8fp4_gemm
from flydsl.kernels.gemm.rdna_f16_gemm import create_wmma_gemm_module
from flydsl.kernels.gemm.rdna_fp8_preshuffle_gemm import compile_fp8_gemm
from flydsl.kernels.gemm.wmma_gemm_gfx1250 import compile_wmma_gemm_tdm
from flydsl.target.target import parse_target
from flydsl.tools.assembly import fact, main_loop
from tests.codegen.repository_kernels import RepositoryKernel, after_stage_a

TYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}


def isa(arch: str, gemm: Any, arguments: tuple[Any, ...]) -> str:
    module, target = after_stage_a(RepositoryKernel("rdna", lambda _: (gemm, arguments)), arch)
    return isa_of(device_text(module, target), parse_target(arch), 3)


@cache
def half(arch: str, in_dtype: str = "f16", out_dtype: str = "f16", m: int = 512, n: int = 512, k: int = 1024,
         rounding: str = "rn") -> str:  # fmt: skip
    gemm, *_ = create_wmma_gemm_module(m, n, k, in_dtype, out_dtype, rounding=rounding)
    a, b = (np.zeros((rows, k), TYPES[in_dtype]) for rows in (m, n))
    return isa(arch, gemm, (np.zeros((m, n), TYPES[out_dtype]), a, b))


def nothing_spilled(assembly: str) -> bool:
    names = ("vgpr_spill_count", "sgpr_spill_count", "private_segment_fixed_size")
    return not any(fact(assembly, name) for name in names)


TILES = {"gfx1100": 1, "gfx1201": 2}
"""That an iteration of the main loop multiplies."""


@pytest.mark.parametrize(("arch", "dtype", "registers"), [("gfx1100", "bf16", 219), ("gfx1201", "f16", 194)])
def test_main_loop(arch: str, dtype: str, registers: int) -> None:
    """Of a tile of 128 x 128 x 32 lanes compute nothing, barriers let loads stay on their way, and three blocks share a
    unit's LDS and registers. Registers hold sums, operands, what is fetched, and few addresses."""
    tiles = TILES[arch]
    assembly = half(arch, dtype, dtype)
    loop = main_loop(assembly)
    counts = loop.counts
    assert counts[f"v_wmma_f32_16x16x16_{dtype}"] == loop.matrix == 32 * tiles
    vector = [name for name in counts if name.startswith("v_") and "wmma" not in name]
    assert vector == []
    twice = 2 if arch == "gfx1100" else 1  # both halves of a wave hold an operand
    memory = {name: n for name, n in counts.items() if name.startswith(("buffer_", "ds_", "global_", "scratch_"))}
    assert memory == {
        name: count * tiles
        for name, count in {"buffer_load_b128": 8, "ds_store_b128": 8, "ds_load_b128": 16 * twice}.items()
    }
    assert loop.scalar <= 8 * tiles
    assert counts["s_barrier"] + counts["s_barrier_wait"] == 2 * tiles
    last = max(i for i, line in enumerate(loop.lines) if "s_barrier" in line and "wait" not in line)
    before = [line for line in loop.lines[:last] if "s_wait" in line][-1]
    assert "loadcnt" not in before and "vmcnt(0)" not in before, "the barrier waits for loads from global memory"
    assert fact(assembly, "group_segment_fixed_size") == 2 * 128 * 32 * 2 and fact(assembly, "vgpr_count") <= registers
    assert nothing_spilled(assembly)


@pytest.mark.parametrize(("arch", "out", "shape", "rounding"), [
    ("gfx1100", "f32", (500, 500, 1000), "rn"), ("gfx1201", "f32", (500, 500, 1000), "rn"),
    ("gfx1100", "bf16", (512, 500, 1024), "rs"),
])  # fmt: skip
def test_edges_do_not_spill(arch: str, out: str, shape: tuple[int, int, int], rounding: str) -> None:
    assembly = half(arch, "bf16", out, *shape, rounding)
    assert nothing_spilled(assembly)
    assert main_loop(assembly).matrix == 32 * TILES[arch]


def test_rows_of_a_wave_are_found_once() -> None:
    """Descriptors of gfx1250's tile copies take a wave's number, which nobody asks for again in the loop."""
    gemm = compile_wmma_gemm_tdm(K=1024, tile_m=128, tile_n=128, tile_k=64, m_warp=2, n_warp=2)
    a, b, c = (np.zeros(shape, np.float16) for shape in ((256, 1024), (1024, 256), (256, 256)))
    loop = main_loop(isa("gfx1250", gemm, (c, a, b, 256, 256)))
    assert loop.vector == 0 and loop.scalar <= 0.8 * loop.matrix


@pytest.mark.parametrize(
    ("tile_m", "tiles", "loads", "registers", "waits", "scalar"),
    [(32, 4, 2 + 8, 96, 0.69, 0.84), (128, 2, 4 + 4, 192, 0.53, 0.44)],
)
def test_fp8(tile_m: int, tiles: int, loads: int, registers: int, waits: float, scalar: float) -> None:
    """Waves share what they fetch of A, 16 bytes of which feed two instructions, and so do 16 of two columns of B.

    Registers leave room for 16 and for eight waves of a SIMD; scales come when there are no operands left. Waits and
    scalar instructions for each product are no more than Triton's.
    """
    gemm = compile_fp8_gemm(M=500, N=500 // 16 * 16, K=2048, tile_m=tile_m)
    a, b = np.zeros((500, 512), np.float32), np.zeros((496, 512), np.float32)
    c, scales = np.zeros((500, 496), ml_dtypes.bfloat16), np.zeros(500, np.float32)
    assembly = isa("gfx1201", gemm, (c, a, b, scales, scales[:496]))
    loop, fetched = main_loop(assembly), tile_m * tiles * 32
    assert loop.counts["v_wmma_f32_16x16x16_fp8_fp8"] == loop.matrix == fetched // 128
    assert loop.accesses("buffer_") == {16: loads}
    assert loop.accesses("ds_") == {16: fetched // (128 * 16) + fetched // (32 * 16)}, "written by all, read by each"
    assert loop.vector == 0 and loop.waits <= waits * loop.matrix and loop.scalar <= scalar * loop.matrix
    assert fact(assembly, "vgpr_count") <= registers
    assert fact(assembly, "group_segment_fixed_size") == fetched, "two places for what comes together"
    assert nothing_spilled(assembly)


@pytest.mark.parametrize(("tile_m", "tile_n", "unroll"), [(128, 128, 5), (64, 256, 3), (16, 128, 3)])
def test_fp8_does_not_spill(tile_m: int, tile_n: int, unroll: int) -> None:
    """As many tiles on their way as are allowed, and a number of them that slabs of A are no part of."""
    gemm = compile_fp8_gemm(M=64, N=256, K=2048, tile_m=tile_m, tile_n=tile_n, k_unroll=unroll)
    a, b = np.zeros((64, 512), np.float32), np.zeros((256, 512), np.float32)
    c, scales = np.zeros((64, 256), ml_dtypes.bfloat16), np.zeros(256, np.float32)
    assert nothing_spilled(isa("gfx1201", gemm, (c, a, b, scales[:64], scales)))


# gfx1250 ---------------------------------------------------------------------------------------


def ring_loop(assembly: str, products: int) -> Any:
    """Counts of a main loop of two tiles: the engine fetches, barriers come in halves, lanes compute nothing."""
    loop = main_loop(assembly)
    counts = loop.counts
    assert loop.matrix == products
    assert [
        name for name in counts if name.startswith("v_") and "wmma" not in name and "readfirstlane" not in name
    ] == []
    assert counts["s_barrier_signal"] == counts["s_barrier_wait"] == counts["s_wait_tensorcnt"] == 2
    assert not [name for name in counts if name.startswith(("buffer_", "global_", "scratch_", "ds_store"))]
    order = [name for name in loop.names if "s_barrier" in name or "wmma" in name]
    between = order[order.index("s_barrier_signal") + 1 : order.index("s_barrier_wait")]
    assert len(between) >= 4, "products fill the time between the halves of a barrier"
    assert nothing_spilled(assembly)
    return counts


@pytest.mark.parametrize(
    ("data_format", "tile_k", "instruction", "of_scales", "lds"),
    [("fp8", 128, "16x16x128_f8f6f4", 4, 69616), ("fp4", 256, "32x16x128_f4", 8, 71888)],
)
def test_narrow_ring(data_format: str, tile_k: int, instruction: str, of_scales: int, lds: int) -> None:
    """128 x 128 by four waves: 16-byte reads of LDS, two words of scales at once, each of two blocks of 16 rows.

    fp4 takes 32 columns a product. In LDS 16 bytes are free behind every 256 of A, and of scales in long rows. Half of
    the waves fetch scales of rows, half those of columns, so that there are three copies of a tile.
    """
    k = 2048
    gemm = compile_fp8fp4_gemm(data_format=data_format, K=k, tile_k=tile_k, out_dtype="bf16")
    a, scales = np.zeros((512, k if data_format == "fp8" else k // 2), np.uint8), np.zeros((512, k // 32), np.uint8)
    c = np.zeros((512, 512), ml_dtypes.bfloat16)
    assembly = isa("gfx1250", gemm, (c, a, a, scales, scales, 512, 512, a.shape[1], 512))
    counts = ring_loop(assembly, 32)
    assert counts[f"v_wmma_scale_f32_{instruction}"] == 32
    assert counts["ds_load_b128"] == 64 and counts["ds_load_b64"] == of_scales
    assert counts["tensor_load_to_lds"] == 6
    assert fact(assembly, "group_segment_fixed_size") == lds


def test_half_ring() -> None:
    """B goes through transposing reads, with 16 bytes free behind every 256 in LDS."""
    gemm = compile_wmma_gemm_tdm(K=1024, tile_m=128, tile_n=128, tile_k=64, n_warp=2)
    a, b, c = (np.zeros(shape, np.float16) for shape in ((512, 1024), (1024, 512), (512, 512)))
    assembly = isa("gfx1250", gemm, (c, a, b, 512, 512))
    counts = ring_loop(assembly, 64)
    assert fact(assembly, "group_segment_fixed_size") == 2 * 2 * (16384 + 64 * 16) - 2 * 16
    assert counts["ds_load_tr16_b128"] == counts["ds_load_b128"] == 32
    assert counts["tensor_load_to_lds"] == 4


# Options ---------------------------------------------------------------------------------------


def narrow_code(**options: Any) -> str:
    gemm = compile_fp8fp4_gemm(data_format="fp8", K=1024, tile_m=64, tile_n=64, out_dtype="bf16", **options)
    a, c, scales = np.zeros((64, 1024), np.uint8), np.zeros((64, 64), ml_dtypes.bfloat16), np.zeros((64, 32), np.uint8)
    return isa("gfx1250", gemm, (c, a, a, scales, scales, 64, 64, 1024, 64))


def test_options_show_in_the_code() -> None:
    """What an option of gfx1250 asks for is there, and is not there without it."""
    plain = narrow_code(expert_sched_mode=False)
    assert "HW_REG_WAVE_SCHED_MODE, 0, 2" not in plain and "global_prefetch_b8" not in plain
    assert "HW_REG_WAVE_SCHED_MODE, 0, 2" in narrow_code()
    assert "global_prefetch_b8" in narrow_code(l2_prefetch_distance=2)
    words = [main_loop(narrow_code(use_scale_opsel=picked)).counts for picked in (False, True)]
    assert words[0]["ds_load_b64"] and not words[1]["ds_load_b64"], "a register holds the scales of two blocks of rows"


def test_layouts_of_lds() -> None:
    """Padded rows take more of LDS than exchanged pieces and blocks along K."""
    a, c = np.zeros((128, 256), np.float16), np.zeros((128, 128), np.float16)
    sizes = []
    for layout in ("exchange", "kblock", "pad"):
        gemm, *_ = create_wmma_gemm_module(128, 128, 256, "f16", "f16", reg_m=2, reg_n=2, lds_layout=layout)
        sizes.append(fact(isa("gfx1201", gemm, (c, a, a)), "group_segment_fixed_size"))
    assert sizes == [8192, 8192, 10240]
