"""Results of the Hopper GEMM that threads hold until the next tile's first steps, on the virtual sm_90a."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.kernels.gemm.hopper.checks import can_hold, check_length, held_boxes, held_words
from flydsl.kernels.gemm.hopper.choice import choose_config, configurations
from flydsl.kernels.gemm.hopper.model import launch_time
from flydsl.kernels.gemm.hopper.plan import RUN, GemmConfig, GemmKind, Problem
from flydsl.kernels.gemm.hopper_gemm import build_hopper_gemm
from flydsl.kernels.gemm.hopper_grouped import hopper_grouped_gemm
from tests.support.hopper_products import TYPES, Product, check

WIDE = GemmConfig(128, 256, 2, 3, sends=True, defers=True)
BF16 = GemmKind(fx.BFloat16, fx.BFloat16, fx.BFloat16)
GROUPS = Problem(1024, 4096, 7168, 8, grouped=True)


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


@pytest.mark.parametrize(
    "config",
    [
        GemmConfig(64, 32, 1, 2, defers=True),
        GemmConfig(128, 128, 2, 3, 2, "m", sends=True, defers=True),
        GemmConfig(256, 64, 2, 3, 2, "n", defers=True),
        GemmConfig(128, 64, 2, 3, swapped=True, sends_across=32, defers=True),
    ],
    ids=str,
)
def test_one_matrix(config: GemmConfig) -> None:
    """Four blocks have several tiles each: as many steps as boxes at least, results with extras, and of batches."""
    least = held_boxes(BF16, config)
    check(Product(300, 280, 64 * least), config)
    check(Product(530, 280, 64 * least + 70, extras=config.sends_across == 0, activation="relu"), config)
    check(Product(200, 152, 64 * least + 8, batches=3, a="f16", b="f16", c="f16"), config)


def test_gates_and_bytes() -> None:
    """Of two sums one result is held; sums of fp8 and of integers are results of 16 bits, too."""
    gated = GemmConfig(128, 64, 2, 3, defers=True)
    check(Product(530, 256, 200, activation="swiglu"), gated)
    assert held_words(replace(BF16, activation="swiglu"), gated) == held_words(BF16, gated) // 2
    check(Product(300, 280, 300, a="s8", b="s8"), gated)


@pytest.mark.parametrize("draws", [False, True])
@pytest.mark.parametrize("gathers", [False, True])
def test_groups(draws: bool, gathers: bool, rng: np.random.Generator) -> None:
    """Rows behind a group's end are not stored with the next tile's; of tiles that are drawn the last ones are halves,
    whose other warpgroup multiplies nothing that counts."""
    if draws and gathers:
        with pytest.raises(ValueError, match="blocks draw tiles of groups that TMA loads"):
            build_hopper_gemm(replace(BF16, groups=32, gathers=True), replace(WIDE, draws=True))
        return
    sizes, n, k = [70, 0, 330, 1, 200], 136, 200
    a, b = (rng.standard_normal(shape).astype(TYPES["bf16"]) for shape in ((610, k), (5, n, k)))
    c, index = np.full((610, n), 7, TYPES["bf16"]), rng.permutation(601).astype(np.int32)
    config = GemmConfig(128, 64, 2, 3, sends=True, defers=True, draws=draws)
    rows = np.append(index, np.full(9, -1, np.int32)) if gathers else None
    hopper_grouped_gemm(a, b.swapaxes(1, 2), c, np.cumsum(sizes).astype(np.int32), rows=rows, config=config)
    wide, of_group = a.astype(float)[index if gathers else slice(601)], np.repeat(np.arange(5), sizes)
    expected = np.array([row @ b[group].astype(float).T for row, group in zip(wide, of_group, strict=True)])
    assert (np.abs(c[:601].astype(float) - expected) <= np.abs(expected) / 256 + 1e-3).all()  # rounded once
    assert (c[601:].astype(float) == 7).all()


def test_which_results_are_held() -> None:
    """Those of 16 bits with registers beside the sums; of groups in tiles too wide for turns, with steps enough."""
    chosen = choose_config(GROUPS)
    assert chosen.defers and chosen.draws and (chosen.tile_m, chosen.tile_n) == (128, 256)
    held = [x for x in configurations(GROUPS) if x.defers]
    assert held and all(can_hold(GROUPS, x) and x.tile_m * x.tile_n > 128 * 192 for x in held)
    assert launch_time(GROUPS, chosen) < launch_time(GROUPS, replace(chosen, defers=False))
    for other in (replace(GROUPS, c_width=32), replace(GROUPS, k=128), replace(GROUPS, m=64, batches=1)):
        assert not any(x.defers for x in configurations(other))
    dense = Problem(8192, 4096, 7168)
    config = choose_config(dense)
    assert config.defers and launch_time(dense, config) == launch_time(dense, replace(config, defers=False))
    assert not any(x.defers and x.taking_turns for x in configurations(dense))


def test_what_cannot_be_held() -> None:
    for kind, config in (
        (replace(BF16, c=fx.Float32), WIDE),
        (BF16, replace(WIDE, taking_turns=True, tile_n=192)),
        (BF16, replace(WIDE, tile_m=256, tile_n=160)),
        (replace(BF16, groups=32, gathers=True), WIDE),
        (GemmKind(fx.Float8E4M3FN, fx.Float8E4M3FN, fx.Float32), replace(WIDE, tile_n=64)),
        (replace(BF16, run=RUN), WIDE),
    ):
        assert not can_hold(kind, config)
        with pytest.raises(ValueError, match=r"results leave later where|runs are added of fp8"):
            build_hopper_gemm(kind, config)
    check_length(256, BF16, WIDE)
    with pytest.raises(ValueError, match="results leave later in 4 steps of 64, and K is 192"):
        check_length(192, BF16, WIDE)
