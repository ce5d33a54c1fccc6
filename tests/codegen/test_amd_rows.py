"""Machine code of the row kernels for AMD, short rows and long, even and odd: nothing is spilled or kept in scratch."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.backends.rocm.compile import device_text, isa_of
from flydsl.base import knobs
from flydsl.kernels.attention.rope_cache import build_rope_module
from flydsl.kernels.norm.cross_entropy import build_cross_entropy_bwd_module, build_cross_entropy_module
from flydsl.kernels.norm.glu import build_glu_bwd_module, build_glu_module
from flydsl.kernels.norm.layernorm import build_layernorm_module
from flydsl.kernels.norm.norm_backward import norm_backward_launcher
from flydsl.kernels.norm.rmsnorm import build_fused_add_rmsnorm_module
from flydsl.kernels.norm.softmax import build_softmax_module
from flydsl.kernels.norm.softmax_backward import build_softmax_bwd_module
from flydsl.kernels.quant.device_quant import build_block_quant_module, build_mx_quant_module, build_row_quant_module
from flydsl.target.target import parse_target
from tests.codegen.repository_kernels import RepositoryKernel, after_stage_a
from tests.support.described_calls import describe_calls
from tests.support.row_launches import DTYPES, launch
from tests.support.turns import in_turns

FACTS = ("vgpr_spill_count", "sgpr_spill_count", "private_segment_fixed_size")
ROWS, DTYPE = 4, "bf16"
Made = tuple[Any, tuple[Any, ...]]


def rows(n: int, dtype: Any = ml_dtypes.bfloat16) -> Any:
    return np.zeros((ROWS, n), dtype)


def f32(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


def softmax(n: int) -> Made:
    return build_softmax_module(0, n, DTYPE), (rows(n), rows(n), ROWS)


def softmax_gradient(n: int) -> Made:
    return build_softmax_bwd_module(n, DTYPE), (rows(n), rows(n), rows(n), ROWS)


def layer_norm(n: int) -> Made:
    x = rows(n)
    return build_layernorm_module(n, DTYPE, True), (x, x[0], x[0], x, f32(ROWS), f32(ROWS), ROWS)


def add_rms_norm(n: int) -> Made:
    x = rows(n)
    return build_fused_add_rmsnorm_module(n, DTYPE, True), (x, x, x[0], x, x, f32(ROWS), ROWS)


def norm_gradient(n: int) -> Made:
    x, number, sums = rows(n), f32(ROWS), f32(2, n)
    run = norm_backward_launcher(True, n, DTYPE, False, True)
    return run, (x, x, x[0], number, number, x, x, sums, sums, x[0], x[0], ROWS)


def cross_entropy(n: int) -> Made:
    run = build_cross_entropy_module(n, DTYPE, True)
    whole = (None, f32(1), f32(1), np.zeros(1, np.int32), 1)
    return run, (rows(n), np.zeros(ROWS, np.int64), f32(ROWS), f32(2, ROWS), ROWS, -100, 0.1, *whole)


def cross_entropy_gradient(n: int) -> Made:
    run = build_cross_entropy_bwd_module(n, DTYPE)
    return run, (rows(n), np.zeros(ROWS, np.uint8), f32(2, ROWS), f32(ROWS), rows(n), ROWS, -100, 0.1, f32(1))


def gated(n: int) -> Made:
    return build_glu_module(n, DTYPE, "gelu"), (rows(n), rows(n), rows(n), ROWS)


def gated_gradient(n: int) -> Made:
    return build_glu_bwd_module(n, DTYPE, "silu"), (*[rows(n)] * 5, ROWS)


def rope(n: int) -> Made:
    d = 128 if n % 128 == 0 else 6
    x, table = rows(n // d * d), np.zeros((ROWS, d // 2), ml_dtypes.bfloat16)
    return build_rope_module(n // d, d, DTYPE), (x, table, table, x, ROWS, ROWS)


def quantise_rows(n: int) -> Made:
    return build_row_quant_module(n, DTYPE, "i8"), (rows(n), rows(n, np.int8), f32(ROWS), ROWS)


def quantise_groups(n: int) -> Made:
    n = -(-n // 32) * 32
    return build_mx_quant_module(n, DTYPE, "mxfp4"), (
        rows(n), rows(n // 2, np.uint8), rows(n // 32, np.uint8), ROWS,
    )  # fmt: skip


def quantise_blocks(n: int) -> Made:
    n = -(-n // 128) * 128
    return build_block_quant_module(n, DTYPE, 1), (rows(n), rows(n, ml_dtypes.float8_e4m3fn), f32(ROWS, n // 128), ROWS)


KERNELS: tuple[Callable[[int], Made], ...] = (
    softmax, softmax_gradient, layer_norm, add_rms_norm, norm_gradient, cross_entropy, cross_entropy_gradient, gated,
    gated_gradient, rope, quantise_rows, quantise_groups, quantise_blocks,
)  # fmt: skip
LENGTHS = (72, 1001, 4096, 16384)
"""Several rows a wave, odd rows, whole vectors, and what a block holds; each kernel has them all, one a target."""
BY_DPP = {layer_norm, norm_gradient, softmax_gradient}
"""Sums over waves, which need no LDS: an operand comes from another lane. Where more than 16 waves have a row, half of
a wave adds up their numbers, and its two rows of lanes meet by one shuffle."""
CASES = [
    (make, arch, LENGTHS[(place + at) % 4])
    for place, make in enumerate(KERNELS)
    for at, arch in enumerate(("gfx942", "gfx950", "gfx1201", "gfx1250"))
]


@pytest.mark.parametrize(
    ("make", "arch", "length"), [pytest.param(*case, id=f"{case[0].__name__} {case[1]} {case[2]}") for case in CASES]
)
def test_nothing_is_spilled(make: Callable[[int], Made], arch: str, length: int) -> None:
    made = make(length)
    module, target = after_stage_a(RepositoryKernel(make.__name__, lambda _: made), arch)
    text = isa_of(device_text(module, target), parse_target(arch), 3)
    found = [int(number) for name in FACTS for number in re.findall(rf"\.{name}:\s+(\d+)", text)]
    assert found and not any(found), found
    if make in BY_DPP and length >= 1001:
        assert "v_add_f32_dpp" in text and text.count("ds_bpermute") <= (length > 4096)


DRAWN = (
    "softmax", "softmax_bwd", "layernorm", "add_rmsnorm", "norm_bwd", "glu", "glu_bwd", "cross_entropy",
    "cross_entropy_bwd", "row_quant",
)  # fmt: skip


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1201", "gfx1250"])
def test_long_rows_spill_nothing(arch: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """Where a thread has hundreds of elements, neither what is loaded of them nor their addresses may stay."""
    describe_calls(monkeypatch, arch)
    for name in in_turns(DRAWN, 2):
        n, dtype = int(np.exp(rng.uniform(*np.log((6000, 130_000))))), str(rng.choice(list(DTYPES)))
        run = launch(name, n | 1 if rng.random() < 0.5 else n // 8 * 8, dtype)
        with knobs.scope({knobs.COMPILE_OPT_LEVEL: 2}):
            for kernel in run.specialisations[-1].kernels:
                assert not kernel.spills and not kernel.scratch_bytes, (name, run.specialisations[-1], kernel.rows())


@pytest.mark.parametrize(
    ("arch", "name", "n", "dtype"),
    [
        ("gfx950", "add_rmsnorm", 77_231, "bf16"), ("gfx942", "row_quant", 109_009, "f32"),
        ("gfx942", "norm_bwd", 17_153, "f16"), ("gfx1250", "norm_bwd", 43_593, "f32"),
    ],
)  # fmt: skip
def test_rows_that_spilled(arch: str, name: str, n: int, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 348 registers: addresses of the first pass kept for the second, and sums beside a row's elements."""
    describe_calls(monkeypatch, arch)
    with knobs.scope({knobs.COMPILE_OPT_LEVEL: 2}):
        assert not any(kernel.spills for kernel in launch(name, n, dtype).specialisations[-1].kernels)
