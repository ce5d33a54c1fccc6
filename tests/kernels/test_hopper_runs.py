"""fp8 products of the Hopper GEMM whose runs of K are added up in f32, on the virtual sm_90a."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
import flydsl.ops as ops
from flydsl.kernels.gemm.hopper.choice import choose_config, configurations
from flydsl.kernels.gemm.hopper.plan import MOST_SUMS, RUN, GemmConfig, GemmKind, Problem
from flydsl.kernels.gemm.hopper_gemm import build_hopper_gemm
from flydsl.kernels.gemm.hopper_grouped import hopper_grouped_gemm
from flydsl.kernels.gemm.hopper_matmul import hopper_gemm
from tests.support.hopper_products import Product, check
from tests.support.turns import in_turns

E4M3 = ml_dtypes.float8_e4m3fn
LENGTH = 128 * RUN
"""Of a run, along K."""
CONFIGS = [
    GemmConfig(64, 32, 1, 2),
    GemmConfig(64, 256, 1, 3),  # products of a half of the columns after those of the other
    GemmConfig(128, 24, 2, 2),
    GemmConfig(48, 16, 1, 3, 2, "k", swapped=True, staggered=True),
    GemmConfig(64, 32, 1, 2, defers=True),
    GemmConfig(64, 256, 1, 3, defers=True, sends=True),
    GemmConfig(128, 32, 2, 2, 2, "m", swapped=True, defers=True),
]


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_runs_and_parts_of_one(config: GemmConfig) -> None:
    for k in (16, LENGTH, LENGTH + 16, 3 * LENGTH, 5 * LENGTH - 112):
        if k > LENGTH or not config.defers:
            check(Product(70, 280, k, a="e4m3", b="e5m2", c="f32"), config)
    if config.tile_n == 256 and not config.sends:  # long to compile, and what follows is done by the same code
        return
    extras, batches = (
        Product(70, 280, 3 * LENGTH, a="e4m3", b="e4m3", extras=True),
        Product(600, 280, 3 * LENGTH + 16, batches=2, a="e4m3", b="e4m3"),
    )
    for product in in_turns((extras, batches)):
        check(product, config)


def one_large_term(rows: int, columns: int) -> tuple[Any, Any, float]:
    """Matrices whose products have a large term in the first run and small ones behind it, and how much those are.

    The virtual GPU adds up terms in f32, one after the other: behind the large one each of the small ones is lost.
    """
    a, b = np.full((rows, 4 * LENGTH), 2.0**-4, E4M3), np.full((columns, 4 * LENGTH), 2.0**-5, E4M3)
    a[:, :LENGTH] = b[:, :LENGTH] = 0
    a[:, 0] = b[:, 0] = 256
    return a, b, 3 * LENGTH * 2.0**-9


@pytest.mark.parametrize("config", CONFIGS[:3], ids=str)
def test_each_run_begins_anew(config: GemmConfig) -> None:
    a, b, small = one_large_term(40, 264)
    for fast, expected in ((False, 2.0**16 + small), (True, 2.0**16)):
        c = np.full((40, 264), np.nan, np.float32)
        hopper_gemm(a, b.T, c, config=config, use_fast_accum=fast)
        assert (c == expected).all(), fast


def test_groups_and_the_op() -> None:
    a, b, small = one_large_term(40, 24)
    for fast, expected in ((False, 2.0**16 + small), (True, 2.0**16)):
        c = np.full((40, 24), np.nan, np.float32)
        experts, ends = np.stack([b, b]).swapaxes(1, 2), np.array([13, 40], np.int32)
        hopper_grouped_gemm(a, experts, c, ends, config=CONFIGS[0], use_fast_accum=fast)
        assert (c == expected).all(), fast
        ones = np.ones((40, 1), np.float32), np.ones((1, 24), np.float32)
        one = np.ones(1, np.float32)
        for scales in (ones, (one, one)):
            found = ops.scaled_mm(a, b.T, *scales, out_dtype=np.float32, use_fast_accum=fast)
            assert found.dtype == np.float32 and found.shape == (40, 24)
            if not fast:
                assert (found == expected).all()


def test_one_run_is_left_to_tensor_cores() -> None:
    """Also where each block of a cluster has a part of K that is no longer."""
    assert not GemmConfig().adds_runs(Problem(64, 64, LENGTH, size=1, run=RUN))
    assert GemmConfig().adds_runs(Problem(64, 64, LENGTH + 1, size=1, run=RUN))
    assert not GemmConfig(64, 64, 1, cluster=4, along="k").adds_runs(Problem(64, 64, 4 * LENGTH, size=1, run=RUN))
    assert not GemmConfig().adds_runs(Problem(64, 64, 4 * LENGTH, size=1))


@pytest.mark.parametrize("shape", [(8192, 8192, 8192), (4096, 4096, 4096), (1, 4096, 14336), (300, 5000, 57344)])
def test_sums_and_products_of_a_run_have_registers(shape: tuple[int, int, int]) -> None:
    problem = Problem(*shape, size=1, run=RUN)
    for seen in (problem, problem.swapped):
        for config in configurations(seen):
            if config.adds_runs(seen):
                assert config.sums(False, in_runs=True) <= MOST_SUMS[config.consumers] and not config.taking_turns
    gathers = Problem(2048, 4096, 4096, 8, 1, grouped=True, gathers=True, run=RUN)
    assert choose_config(gathers).can_add_runs(gathers=True)


def test_what_runs_are_not_added_of() -> None:
    e4m3, bf16 = fx.Float8E4M3FN, fx.BFloat16
    turns = GemmConfig(128, 128, 2, taking_turns=True)
    for kind, config in (
        (GemmKind(e4m3, e4m3, bf16, run=RUN), turns),
        (GemmKind(e4m3, e4m3, bf16, run=RUN), GemmConfig(256, 128, 2)),
        (GemmKind(e4m3, e4m3, fx.Float32), GemmConfig(64, 64, 1, defers=True)),
        (GemmKind(bf16, bf16, bf16, run=RUN), GemmConfig(64, 64, 1)),
        (GemmKind(e4m3, e4m3, bf16, block_scaled=True, run=RUN), GemmConfig(64, 64, 1)),
    ):
        with pytest.raises(ValueError, match=r"runs are added of fp8|runs of all of K|room for 192 sums"):
            build_hopper_gemm(kind, config)
