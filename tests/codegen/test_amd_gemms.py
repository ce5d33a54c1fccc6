"""Machine code of every GEMM for CDNA: no spills, no scratch, and a busy matrix core with the large tiles of gfx950."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.backends.rocm.compile import device_text, isa_of
from flydsl.target.target import parse_target
from flydsl.tools.assembly import fact, issue_clocks, main_loop
from tests.codegen.repository_kernels import RepositoryKernel, after_stage_a
from tests.conftest import REPOSITORY

sys.path.append(str(REPOSITORY / "benchmarks"))
CASES = importlib.import_module("amd_gemms").CASES
LEAST_SHARE = 0.78


def array(argument: Any) -> Any:
    if isinstance(argument, int):
        return argument
    shape, dtype = argument
    return np.zeros(shape, getattr(ml_dtypes, dtype, dtype))


def assembly(case: Any, arch: str) -> str:
    arguments = tuple(array(argument) for argument in case.arguments(arch))
    module, target = after_stage_a(RepositoryKernel(case.name, lambda _: (case.build(), arguments)), arch)
    return isa_of(device_text(module, target), parse_target(arch), 3)


@pytest.mark.parametrize(
    ("case", "arch"), [pytest.param(case, arch, id=f"{case.name} {arch}") for case in CASES for arch in case.archs]
)
def test_nothing_is_spilled(case: Any, arch: str) -> None:
    text = assembly(case, arch)
    for name in ("vgpr_spill_count", "sgpr_spill_count", "private_segment_fixed_size"):
        assert fact(text, name) == 0, name
    loop = main_loop(text)
    assert not [name for name in loop.names if name.startswith(("scratch_", "flat_"))]
    narrow = [name for name in loop.names if name.endswith(("_ubyte", "_ushort", "_b8", "_b16", "_d16"))]
    assert narrow == [], "every access moves whole words"
    if case.large:
        assert loop.matrix_share >= LEAST_SHARE, f"{loop.matrix_share:.3f} of the issue clocks"


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
