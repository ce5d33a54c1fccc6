"""Machine code of every kernel for AMD GPUs: no spills, no scratch, and a busy matrix core where tiles are large."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from flydsl.backends.rocm.compile import device_text, isa_of
from flydsl.kernels.gemm.fp8_gemm import BESIDE_SUMS, compile_fp8_gemm_4w, compile_fp8_gemm_8w
from flydsl.target.target import parse_target
from flydsl.tools.assembly import MATRIX, MainLoop, fact, issue_clocks, kernels, main_loop, width_of
from tests.codegen.repository_kernels import RepositoryKernel, after_stage_a
from tests.conftest import REPOSITORY

sys.path.append(str(REPOSITORY / "benchmarks"))
KERNELS = importlib.import_module("amd_kernels")
CASES, GEMMS = KERNELS.CASES, KERNELS.gemm.CASES
Case, Size = KERNELS.gemm.Case, KERNELS.gemm.Size
LEAST_SHARE = 0.81
MOST_BESIDE = 1.0
"""Issue clocks of vector and LDS instructions, for each of the matrix core's, in attention on gfx950."""
MOST_MOVES = 0.25
"""Vector instructions for each matrix instruction of a large tile: none but what addresses take."""


def texts_of(case: Any, arch: str) -> dict[str, str]:
    module, target = after_stage_a(RepositoryKernel(case.name, lambda _: case.filled(arch)), arch)
    return kernels(isa_of(device_text(module, target), parse_target(arch), 3))


WATCHED = ("hgemm f16 256x256x64 block_n_warps=4", "attention d=128", "decode MLA 576 and 512")
"""Kernels that every run looks at on gfx950; of all others it takes a part."""


@pytest.mark.parametrize(
    ("case", "arch"), [pytest.param(case, arch, id=f"{case.name} {arch}") for case in CASES for arch in case.archs]
)
def test_nothing_is_spilled(case: Any, arch: str) -> None:
    check(case, arch)


@pytest.mark.parametrize("name", WATCHED)
def test_what_is_watched(name: str) -> None:
    check(next(case for case in CASES if case.name == name), "gfx950")


def test_loads_are_wide_where_copies_into_lds_are_narrow() -> None:
    (text,) = texts_of(next(case for case in GEMMS if case.name == "hgemm f16 128x128x64"), "gfx942").values()
    assert set(main_loop(text).iteration.accesses("buffer_")) == {16}
    assert fact(text, "group_segment_fixed_size") == 2 * 128 * 64 * 2, "one tile of each operand"


def test_block_scales_come_with_the_tiles_of_a() -> None:
    """One copy of a wave brings them for 64 products of 128 x 256, where eight words did."""
    name = "preshuffle fp4 x fp4 128x256x256"
    (text,) = texts_of(next(case for case in GEMMS if case.name == name), "gfx950").values()
    loop = main_loop(text).iteration
    assert loop.accesses("buffer_") == {16: loop.matrix // 64 * (4 + 8 + 1)}, "of A, B and scales"


def test_copies_of_a_wave_share_their_place_in_lds() -> None:
    """Four of them lie side by side, told apart by the instruction's own offset."""
    (text,) = texts_of(next(case for case in GEMMS if case.name == WATCHED[0]), "gfx950").values()
    loop = main_loop(text).iteration
    places = [line for line in loop.lines if " m0, " in line]
    assert 4 * len(places) == sum(loop.accesses("buffer_").values()) > 0


@pytest.mark.parametrize(("n", "shuffled"), [(1024, False), (3840, False), (3840, True)])
def test_sums_beyond_named_registers_leave_some(n: int, shuffled: bool) -> None:
    make = partial(KERNELS.gemm.rows_scaled, partial(compile_fp8_gemm_4w, b_preshuffled=shuffled))
    (text,) = texts_of(Case("fp8", ("gfx950",), lambda arch, _: make(arch, Size(1024, n, 4096))), "gfx950").values()
    assert fact(text, "vgpr_count") <= 256 + BESIDE_SUMS and fact(text, "vgpr_spill_count") == 0


@pytest.mark.parametrize("n", [2112, 2110, 2109])
@pytest.mark.parametrize("build", [compile_fp8_gemm_4w, compile_fp8_gemm_8w])
def test_columns_behind_the_last_spill_nothing(build: Any, n: int) -> None:
    """They have no branches of their own, whether four neighbours end with C or some of them."""
    case = Case("fp8", ("gfx950",), lambda arch, _: KERNELS.gemm.rows_scaled(build, arch, Size(1024, n, 1024)))
    check(case, "gfx950")


TILES = [("gfx950", "fp8", (128, 256, 256), False), ("gfx950", "bf16", (128, 256, 256), True),
         ("gfx942", "int8", (112, 384, 256), False), ("gfx950", "int4", (160, 384, 256), True)]  # fmt: skip


@pytest.mark.parametrize(("arch", "dtype", "tile", "copied"), TILES)
def test_tiles_that_just_fit_spill_nothing(arch: str, dtype: str, tile: Any, copied: bool) -> None:
    case = KERNELS.gemm.preshuffle(dtype, tile, (arch,), copied=copied)
    check(dataclasses.replace(case, make=lambda arch, _: case.make(arch, Size(256, 2 * tile[1], 1024))), arch)


@pytest.mark.parametrize(
    ("arch", "dtype", "tile", "advice"),
    [
        ("gfx950", "bf16", (128, 256, 256), "a tile_n of 192 does, and use_async_copy=True does"),
        ("gfx942", "int8", (256, 320, 128), "takes 320 for sums, of which 256 fit at most, and 296 for the rest: a"),
        ("gfx950", "fp8", (192, 256, 128), "and 336 for the rest: a tile_n of 192 does, and use_async_copy=True"),
        ("gfx950", "bf16", (256, 64, 512), "take a smaller tile_m or tile_k"),
    ],
)
def test_tiles_that_do_not_fit_are_refused(arch: str, dtype: str, tile: Any, advice: str) -> None:
    case = KERNELS.gemm.preshuffle(dtype, tile, (arch,))
    with pytest.raises(ValueError) as refused:
        texts_of(dataclasses.replace(case, make=lambda arch, _: case.make(arch, Size(256, 2 * tile[1], 1024))), arch)
    assert advice in str(refused.value)


@pytest.mark.parametrize(("arch", "numbers", "scalar"), [("gfx942", 4, 0.28), ("gfx950", 5, 2.0)])
def test_four_waves_with_scales_of_blocks_share_a_simd(arch: str, numbers: int, scalar: float) -> None:
    """Registers leave room for them. On gfx942 scalar loads bring the scales of columns, beside four words of rows, and
    places in memory take few scalar instructions: constants tell tiles apart, and the loop chooses nothing."""
    (text,) = texts_of(next(case for case in GEMMS if case.name == "blockscale fp8 64x128x128"), arch).values()
    loop = main_loop(text).iteration
    assert fact(text, "vgpr_count") <= 128
    assert loop.accesses("buffer_", "global_")[4] == 2 * numbers, "of two tiles"
    assert loop.scalar <= scalar * loop.matrix


def test_two_waves_share_a_simd_where_an_instruction_covers_a_tile() -> None:
    name = "preshuffle fp8 128x256x128, copied"
    (text,) = texts_of(next(case for case in GEMMS if case.name == name), "gfx950").values()
    assert fact(text, "vgpr_count") <= 256


def test_two_blocks_of_attention_share_a_unit_of_gfx1201() -> None:
    """Registers leave room for eight waves of a SIMD, and are no more than Triton's; keys and values come 16 bytes at a
    time, and are read before the products that take them."""
    (text,) = texts_of(next(case for case in CASES if case.name == "attention d=128"), "gfx1201").values()
    assert fact(text, "vgpr_count") <= 164
    loop = main_loop(text).iteration
    assert loop.accesses("buffer_") == {16: 4} and sum(loop.accesses("ds_").values()) == 38
    assert loop.vector <= 3.2 * loop.matrix, "powers are rounded to bf16 by bits, without a look for NaN"
    order = [line for line in loop.lines if "wmma" in line or "s_wait_dscnt" in line]
    waits = [before for before, line in pairwise(order) if "wmma" in line and "s_wait_dscnt" in before]
    assert sum("0x0" in wait for wait in waits) <= 4, "few products wait for all reads; 16 would, each for its own"


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_softmax_is_short(arch: str) -> None:
    """One kernel for any number of rows: two accesses of a thread each way, a power an instruction, few scalar ones."""
    (text,) = texts_of(next(case for case in CASES if case.name == "softmax 4096 f16"), arch).values()
    code = MainLoop(tuple(text.splitlines()), arch)
    assert code.accesses("global_") == {16: 4} and fact(text, "vgpr_count") <= 32
    assert code.counts["v_exp_f32_e32"] == 16 + 4 + 1, "elements, waves, and this one"
    assert code.scalar <= 43 and code.waits <= 6 and code.vector <= 200


def test_two_blocks_of_attention_share_a_unit_of_gfx942() -> None:
    """With 64 keys a turn, which come 16 bytes at a time, and little beside their products."""
    (text,) = texts_of(next(case for case in CASES if case.name == "attention d=128"), "gfx942").values()
    loop = main_loop(text).iteration
    assert fact(text, "vgpr_count") <= 256 and fact(text, "group_segment_fixed_size") == 2 * 64 * 128 * 2
    assert loop.matrix == 64 and loop.accesses("buffer_") == {16: 8} and set(loop.accesses("ds_")) == {16}
    assert loop.scalar <= 12 and loop.waits <= 20 and loop.vector <= 2.5 * loop.matrix


@pytest.mark.parametrize("name", ["attention d=128", "attention d=128 causal"])
def test_descriptors_of_a_block_of_keys_are_short(name: str) -> None:
    """They follow one another by additions, and four copies share the place where they go; the wave is known."""
    (text,) = texts_of(next(case for case in CASES if case.name == name), "gfx950").values()
    loop = main_loop(text).iteration
    assert loop.scalar < loop.matrix and loop.counts["v_readfirstlane_b32"] == 0
    assert sum(line.split()[1] == "m0," for line in loop.lines if line.startswith("\ts_") and " m0," in line) == 2


def check(case: Any, arch: str) -> None:
    texts = texts_of(case, arch)
    assert texts
    for kernel, text in texts.items():
        for name in ("vgpr_spill_count", "sgpr_spill_count", "private_segment_fixed_size"):
            assert fact(text, name) == 0, (kernel, name)
        assert "scratch_" not in text and "\tflat_" not in text, kernel
        if not any(f"\t{name}" in text for name in MATRIX):
            continue
        try:
            loop = main_loop(text).iteration
        except ValueError:  # all iterations are written out
            assert not case.large
            continue
        if case in GEMMS:
            narrow = [name for name in loop.names if name.startswith(("ds_", "buffer_")) and 0 < width_of(name) < 4]
            assert narrow == [], "every access moves whole words"
        if case.large:
            assert loop.matrix_share >= LEAST_SHARE, f"{loop.matrix_share:.3f} of the issue clocks"
            assert loop.vector <= MOST_MOVES * loop.matrix, f"{loop.vector} for {loop.matrix}"
        if case.name == "attention d=128" and arch == "gfx950":
            matrix, vector, local = (loop.clocks_of(*names) or 0 for names in (MATRIX, ("v_",), ("ds_",)))
            assert 0 < vector - matrix + local <= MOST_BESIDE * matrix


@pytest.mark.parametrize(
    ("line", "clocks"),
    [
        ("\tv_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]", 16),
        ("\tv_mfma_f32_32x32x16_bf16 v[0:15], v[4:7], v[8:11], v[0:15]", 32),
        ("\tv_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[8:15], v[0:3], v1, v1 op_sel_hi:[0,0,0]", 32),
        ("\tv_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:11], v[0:3], v1, v1 cbsz:4 blgp:4", 16),
        ("\tv_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:15], v[0:3], v1, v1 cbsz:4", 32),
        ("\tv_mfma_f32_16x16x4_f32 v[0:3], v4, v5, v[0:3]", 32),
        ("\tds_write_b128 v1, v[2:5]", 20),
        ("\ts_barrier", 4),
        (".LBB0_1:", 0),
    ],
)
def test_clocks_of_an_instruction(line: str, clocks: int) -> None:
    assert issue_clocks(line) == clocks


@pytest.mark.parametrize(
    ("line", "arch", "clocks"),
    [
        ("\tv_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", "gfx1100", 32),
        ("\tv_wmma_f32_16x16x16_fp8_fp8 v[0:7], v[8:9], v[10:11], v[0:7]", "gfx1201", 8),
        ("\tv_wmma_f32_16x16x32_f16 v[0:7], v[8:15], v[16:23], v[0:7]", "gfx1250", None),
        ("\tv_add_f32_e32 v0, v1, v2", "gfx1201", 1),
    ],
)
def test_clocks_of_waves_of_32(line: str, arch: str, clocks: int | None) -> None:
    assert issue_clocks(line, arch) == clocks


@pytest.mark.parametrize(
    ("name", "width"),
    [("ds_read_b64_tr_b16", 8), ("ds_read2_b64", 16), ("ds_load_2addr_b32", 8), ("buffer_load_dwordx4", 16),
     ("ds_load_tr16_b128", 16), ("ds_read_u16_d16_hi", 2), ("global_atomic_pk_add_f16", 0)],
)  # fmt: skip
def test_bytes_of_an_access(name: str, width: int) -> None:
    assert width_of(name) == width


def test_clearing_a_cache_is_no_access() -> None:
    names = ("buffer_gl0_inv", "buffer_gl1_inv", "buffer_inv sc1", "global_inv scope:SCOPE_SE", "global_wb")
    assert MainLoop(tuple(f"\t{name}" for name in names), "gfx1100").accesses("buffer_", "global_") == {}


LOOP = """
	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.LBB0_1:
	v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]
	ds_read_b128 v[4:7], v20
	s_cbranch_scc0 .LBB0_4
	s_cbranch_vccz .LBB0_3
	v_exp_f32_e32 v12, v12
	v_exp_f32_e32 v13, v13
.LBB0_3:
	v_add_f32_e32 v1, v2, v3
	s_branch .LBB0_1
.LBB0_4:
	s_endpgm
"""


def test_an_iteration_takes_the_shorter_way() -> None:
    """Another loop with as many products, but more beside them, is not the main one; what is skipped does not count."""
    other = LOOP.replace("LBB0", "LBB1").replace("\tv_add_f32_e32", "\tv_mul_f32_e32 v9, v9, v9\n\tv_add_f32_e32")
    loop = main_loop(other + LOOP)
    assert "v_mul_f32_e32" not in loop.counts and loop.counts["v_exp_f32_e32"] == 2
    iteration = loop.iteration
    assert (iteration.matrix, iteration.vector, iteration.counts["v_exp_f32_e32"]) == (1, 1, 0)
    assert iteration.accesses("ds_") == {16: 1}
    assert iteration.matrix_share == 16 / (16 + 4 * 5)
