"""fp8 products with scales of blocks, 1 x 128 of A and 128 x 128 of B, on the virtual sm_90a against float64."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.base import knobs
from flydsl.kernels.gemm.hopper.checks import tells_places
from flydsl.kernels.gemm.hopper.choice import choose_config, configurations
from flydsl.kernels.gemm.hopper.plan import GemmConfig, GemmKind, Problem
from flydsl.kernels.gemm.hopper.warpgroup import ScaledWarpgroup
from flydsl.kernels.gemm.hopper_gemm import build_hopper_gemm
from flydsl.kernels.gemm.hopper_grouped import hopper_grouped_gemm
from flydsl.kernels.gemm.hopper_matmul import hopper_gemm
from tests.support.described_calls import describe_calls
from tests.support.hopper_products import TYPES, activated

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


def drawn(rng: np.random.Generator, rows: int, k: int, high: int, *lead: int) -> tuple[Array, Array, Array]:
    """A matrix (rows, K), its scales of blocks of ``high`` x 128, some of them negative, and what both stand for."""
    matrix = rng.standard_normal((*lead, rows, k)).astype(TYPES["e4m3"])
    scales = rng.standard_normal((*lead, -(-rows // high), -(-k // 128))).astype(np.float32)
    spread = scales.repeat(high, -2).repeat(128, -1)[..., :rows, :k]
    return matrix, scales, matrix.astype(float) * spread


def close(c: Array, expected: Array, magnitude: Array) -> bool:
    return bool((np.abs(c.astype(float) - expected) <= 2**-8 * np.abs(expected) + 4e-6 * (magnitude + 1)).all())


CONFIGS = GemmConfig(64, 32, 1, 2), GemmConfig(128, 16, 2, 2, 2, "n"), GemmConfig(64, 64, 1, 2, 2, "k")
SHAPES = (70, 136, 1900), (300, 136, 400)
STRADDLING = [
    (GemmConfig(128, 80, 2, 2, 2, "m"), (300, 264, 400)),
    (GemmConfig(40, 72, 1, 2, 2, "k"), (40, 264, 2100)),
    (GemmConfig(128, 192, 2, 3, sends=True), (200, 520, 1100)),
    (GemmConfig(192, 96, 3, 2), (300, 264, 400)),
    (GemmConfig(128, 256, 2, 3, sends=True), (140, 520, 656)),
    (GemmConfig(104, 256, 2, 3), (100, 264, 400)),
    (GemmConfig(192, 128, 3, 3, 2, "k", box_line=64), (300, 264, 656)),
    (GemmConfig(64, 160, 2, 3, sends=True, beside=True), (150, 520, 1100)),
    (GemmConfig(64, 256, 2, 3, beside=True), (100, 264, 400)),
]
"""Tiles with columns of two blocks: moved back from the last row and column, of few rows, with one accumulator, and in
halves; parts of K that three warpgroups have, whose results leave in shorter lines; and warpgroups beside each
other."""


@pytest.mark.parametrize(
    ("config", "shape"), [*product(CONFIGS, SHAPES), (CONFIGS[0], (1, 16, 16)), *STRADDLING], ids=str
)
def test_scales_of_blocks(config: GemmConfig, shape: tuple[int, int, int], rng: np.random.Generator) -> None:
    """One to fifteen steps of K, clusters, parts of K, edges of every block; scales with either mode
    contiguous."""
    m, n, k = shape
    (a, scale_a, wide_a), (b, scale_b, wide_b) = drawn(rng, m, k, 1), drawn(rng, n, k, 128)
    whole = np.full((m + 2, n + 32), np.nan, np.float32).astype(TYPES["bf16"])
    c, bias = whole[1:-1, 16:-16], rng.standard_normal(n).astype(np.float32)
    expected, magnitude = 0.5 * wide_a @ wide_b.T + bias, np.abs(wide_a) @ np.abs(wide_b).T
    others = (np.asfortranarray(scale_a), np.ascontiguousarray(scale_b.T))
    for scales in ((scale_a, scale_b.T), others)[: 1 + (config.tile_n == 32)]:
        c[...] = np.nan
        hopper_gemm(a, b.T, c, bias, alpha=0.5, block_scales=scales, config=config)
        assert close(c, expected, magnitude)
        assert np.isnan(whole.astype(np.float32)).sum() == whole.size - c.size


@pytest.mark.parametrize("k", [128, 400])
def test_tiles_of_one_block_are_told(k: int, rng: np.random.Generator) -> None:
    """One block takes all tiles of three products, of fewer and of more steps than the ring has stages."""
    kind = GemmKind(fx.Float8E4M3FN, fx.Float8E4M3FN, fx.BFloat16, batched=True, block_scaled=True)
    config = GemmConfig(64, 32, 1, 2)
    assert tells_places(kind, config) and not tells_places(kind, replace(config, cluster=2, along="k"))
    (a, scale_a, wide_a), (b, scale_b, wide_b) = drawn(rng, 70, k, 1, 3), drawn(rng, 72, k, 128, 3)
    c = np.full((3, 70, 72), np.nan, np.float32).astype(TYPES["bf16"])
    run = build_hopper_gemm(kind, config, sms=1)
    run(a, b.swapaxes(1, 2), c, *[None] * 5, 0.0, scale_a, scale_b.swapaxes(1, 2))
    assert close(c, wide_a @ wide_b.swapaxes(1, 2), np.abs(wide_a) @ np.abs(wide_b).swapaxes(1, 2))


LATER, THREE = GemmConfig(128, 256, 2, 3, sends=True, defers=True), GemmConfig(192, 128, 3, 3, sends=True, defers=True)


@pytest.mark.parametrize("config", [LATER, THREE, replace(LATER, tile_n=192)], ids=str)
def test_results_with_one_accumulator_leave_later(config: GemmConfig, rng: np.random.Generator) -> None:
    """One block takes all tiles: results of each leave while the next one begins, those of the last behind it."""
    kind = GemmKind(fx.Float8E4M3FN, fx.Float8E4M3FN, fx.BFloat16, block_scaled=True)
    (a, scale_a, wide_a), (b, scale_b, wide_b) = drawn(rng, 300, 656, 1), drawn(rng, 264, 656, 128)
    whole = np.full((302, 296), np.nan, np.float32).astype(TYPES["bf16"])
    run = build_hopper_gemm(kind, config, sms=1)
    run(a, b.T, whole[1:-1, 16:-16], *[None] * 5, 0.0, scale_a, scale_b.T)
    assert close(whole[1:-1, 16:-16], wide_a @ wide_b.T, np.abs(wide_a) @ np.abs(wide_b).T)
    assert np.isnan(whole.astype(np.float32)).sum() == whole.size - 300 * 264


@pytest.mark.parametrize(
    ("config", "masked", "draws", "blocks"),
    [
        (LATER, False, False, 2), (LATER, True, True, 2), (THREE, True, False, 2), (THREE, False, True, 2),
        (LATER, False, True, 50),
    ],
    ids=["two", "two masked and drawn", "three masked", "three drawn", "halves first"],
)  # fmt: skip
def test_results_of_groups_leave_later(
    config: GemmConfig, masked: bool, draws: bool, blocks: int, rng: np.random.Generator
) -> None:
    """Blocks take groups of no rows, of one, and of fewer, as many and more than a warpgroup, two, and a tile have.
    Where they draw tiles, each tries once more than there are; the first of many blocks may be a half without rows."""
    sizes, n, k = np.array([0, 129, 1, 127, 65, 0, 64, 63], np.int32), 264, 656
    lead, rows = ((8,), 150) if masked else ((), 449)
    (a, scale_a, wide_a), (b, scale_b, wide_b) = drawn(rng, rows, k, 1, *lead), drawn(rng, n, k, 128, 8)
    kind = GemmKind(
        fx.Float8E4M3FN, fx.Float8E4M3FN, fx.BFloat16, block_scaled=True, groups=32, masked=masked, weights_first=masked
    )
    c = np.full((*lead, rows + 3, n), np.nan, np.float32).astype(TYPES["bf16"])
    given = (sizes if masked else sizes.cumsum().astype(np.int32), None, None)
    run = build_hopper_gemm(kind, replace(config, draws=draws), sms=blocks)
    taken = np.zeros(1, np.int32) if draws else None
    run(a, b.swapaxes(1, 2), c[..., :-3, :], *[None] * 5, 0.0, scale_a, scale_b.swapaxes(1, 2), *given, taken)
    assert taken is None or taken[0] == 0
    first = 0
    for group, count in enumerate(sizes):
        x, found = (wide_a[group], c[group]) if masked else (wide_a[first:], c[first:])
        y = wide_b[group].T
        assert close(found[:count], x[:count] @ y, np.abs(x[:count]) @ np.abs(y))
        first += count
    assert np.isnan(c.astype(np.float32)).sum() == c.size - n * sizes.sum()


def test_a_warpgroup_without_rows_multiplies_nothing(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """Here it is the second one: it stores the results that it has of the tile before, and no others."""
    monkeypatch.setattr(ScaledWarpgroup, "has_rows", lambda self, place: (self.number == 0) | (place.b[0] == 0))
    kind = GemmKind(fx.Float8E4M3FN, fx.Float8E4M3FN, fx.BFloat16, block_scaled=True, groups=32)
    (a, scale_a, wide_a), (b, scale_b, wide_b) = drawn(rng, 384, 656, 1), drawn(rng, 24, 656, 128, 3)
    c = np.full((384, 24), np.nan, np.float32).astype(TYPES["bf16"])
    ends = np.array([128, 256, 384], np.int32)
    run = build_hopper_gemm(kind, LATER, sms=1)
    run(a, b.swapaxes(1, 2), c, *[None] * 5, 0.0, scale_a, scale_b.swapaxes(1, 2), ends, None, None, None)
    for group, rows in ((0, 128), (1, 64), (2, 64)):
        x, y = wide_a[128 * group : 128 * group + rows], wide_b[group].T
        assert close(c[128 * group : 128 * group + rows], x @ y, np.abs(x) @ np.abs(y))
    assert np.isnan(c.astype(np.float32)).sum() == 2 * 64 * 24


def test_warpgroups_lie_beside_each_other_where_that_fills_the_chip() -> None:
    """Of 320 rows, three tiles of 128 x 128 below each other have 64 twice; of 384 they have all once."""
    for rows, beside in ((320, True), (384, False)):
        found = choose_config(Problem(rows, 4992, 7168, size=1, block_scaled=True))
        assert found.beside == beside and (found.tile_m == 64) == beside
    for other in ({"groups": 32}, {"block_scaled": False}):
        kind = GemmKind(fx.Float8E4M3FN, fx.Float8E4M3FN, fx.BFloat16, **{"block_scaled": True, **other})
        with pytest.raises(ValueError, match="beside each other have 64 rows"):
            build_hopper_gemm(kind, GemmConfig(64, 192, 2, 3, beside=True))


def test_the_loading_thread_divides_what_is_not_negative(monkeypatch: pytest.MonkeyPatch) -> None:
    """Signed divisions have twice the instructions, and a tile waits for them."""
    describe_calls(monkeypatch)
    kind = GemmKind(fx.Float8E4M3FN, fx.Float8E4M3FN, fx.BFloat16, block_scaled=True, groups=32)
    run = build_hopper_gemm(kind, replace(LATER, draws=True))
    a, b = np.zeros((256, 512), TYPES["e4m3"]), np.zeros((4, 256, 512), TYPES["e4m3"]).swapaxes(1, 2)
    scales = np.zeros((256, 4), np.float32), np.zeros((4, 4, 2), np.float32)
    given = np.zeros(4, np.int32), None, None, np.zeros(1, np.int32)
    run(a, b, np.zeros((256, 256), TYPES["bf16"]), *[None] * 5, 0.0, *scales, *given)
    ptx = run.specialisations[-1].kernels[0].ptx
    assert re.search(r"\bdiv\.u32", ptx) and not re.search(r"\b(div|rem)\.s32", ptx)


def test_results_leave_later_where_k_is_long(rng: np.random.Generator) -> None:
    (a, scale_a, _), (b, scale_b, _) = drawn(rng, 8, 384, 1), drawn(rng, 16, 384, 128)
    with pytest.raises(ValueError, match="512 at least, got 384"):
        hopper_gemm(a, b.T, np.zeros((8, 16), TYPES["bf16"]), block_scales=(scale_a, scale_b.T), config=LATER)
    for k, defers in ((384, False), (512, True)):
        every = configurations(Problem(8192, 8192, k, size=1, block_scaled=True))
        assert {x.defers for x in every if x.products_apart == 1 and x.splits == 1} == {defers}


def test_scales_of_the_first_tile_are_loaded_before_its_first_stage_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Later tiles are told beside their first stages."""
    describe_calls(monkeypatch)
    kind = GemmKind(fx.Float8E4M3FN, fx.Float8E4M3FN, fx.BFloat16, block_scaled=True)
    run = build_hopper_gemm(kind, GemmConfig(64, 48, 1, 3))
    a, b = np.zeros((64, 256), TYPES["e4m3"]), np.zeros((128, 256), TYPES["e4m3"])
    scales = np.zeros((64, 2), np.float32), np.zeros((2, 1), np.float32)
    run(a, b.T, np.zeros((64, 128), TYPES["bf16"]), *[None] * 5, 0.0, *scales)
    with knobs.scope({knobs.COMPILE_OPT_LEVEL: 2}):  # other levels have another order
        ptx = run.specialisations[-1].kernels[0].ptx
    assert ptx.index("ld.global") < ptx.index("mbarrier.try_wait")


def test_who_multiplies_does_not_look_for_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without scales it does, and divides by numbers of tiles for each."""
    describe_calls(monkeypatch)
    divisions = []
    for name, elem in (("e4m3", fx.Float8E4M3FN), ("bf16", fx.BFloat16)):
        kind = GemmKind(elem, elem, fx.BFloat16, block_scaled=name == "e4m3", groups=32)
        run = build_hopper_gemm(kind, GemmConfig(128, 128, 2, 3))
        a, b = np.zeros((256, 128), TYPES[name]), np.zeros((4, 256, 128), TYPES[name]).swapaxes(1, 2)
        scales = (
            (np.zeros((256, 1), np.float32), np.zeros((4, 1, 2), np.float32)) if kind.block_scaled else (None, None)
        )
        run(a, b, np.zeros((256, 256), TYPES["bf16"]), *[None] * 5, 0.0, *scales, np.zeros(4, np.int32), None, None)
        divisions.append(len(re.findall(r"\b(?:div|rem)\.", run.specialisations[-1].kernels[0].ptx)))
    assert divisions[0] < divisions[1]


def test_groups_with_scales(rng: np.random.Generator) -> None:
    """Gathered rows take their scales along; masked groups have their own."""
    sizes, n, k = [70, 0, 21], 40, 272
    (a, scale_a, wide_a), (b, scale_b, wide_b) = drawn(rng, 50, k, 1), drawn(rng, n, k, 128, 3)
    index = rng.integers(0, 50, 91).astype(np.int32)
    index[7], index[80] = -1, 1 << 30
    taken = np.where((index == -1) | (index > 50), 0, wide_a[index % 50].T).T
    group = np.repeat(np.arange(3), sizes)
    expected = np.array([x @ wide_b[g].T for x, g in zip(taken, group, strict=True)])
    magnitude = np.array([np.abs(x) @ np.abs(wide_b[g]).T for x, g in zip(taken, group, strict=True)])
    c = np.full((91, n), np.nan, np.float32).astype(TYPES["bf16"])
    given: dict[str, Any] = {"config": GemmConfig(64, 32, 1, 2)}
    scales = scale_b.swapaxes(1, 2)
    hopper_grouped_gemm(a, b.swapaxes(1, 2), c, np.cumsum(sizes).astype(np.int32), rows=index,
                        block_scales=(scale_a, scales), **given)  # fmt: skip
    assert close(c, expected, magnitude)
    own, scale_own, wide_own = drawn(rng, 30, k, 1, 3)
    c, counts = np.full((3, 30, n), np.nan, np.float32).astype(TYPES["bf16"]), np.array([30, 0, 7], np.int32)
    hopper_grouped_gemm(own, b.swapaxes(1, 2), c, counts, block_scales=(scale_own, scales), **given)
    for g, count in enumerate(counts):
        x, y = wide_own[g, :count], wide_b[g].T
        assert close(c[g, :count], x @ y, np.abs(x) @ np.abs(y)) and np.isnan(c[g, count:].astype(np.float32)).all()


@pytest.mark.parametrize(
    ("activation", "columns", "gathers"), [("swiglu", 128, True), ("none", 64, True), ("none", 64, False)]
)
def test_results_that_get_scales(activation: str, columns: int, gathers: bool, rng: np.random.Generator) -> None:
    """Rows, gathered or not, leave as fp8 with a scale for each 128 of a row, two tiles together, the last rows of a
    group too; rows behind the last group stay as they were."""
    sizes, k, many = [70, 0, 21], 144, 2 if activation == "swiglu" else 1
    n = 256 * many
    (a, scale_a, wide_a), (b, scale_b, wide_b) = drawn(rng, 93, k, 1), drawn(rng, n, k, 128, 3)
    index, group = rng.integers(0, 93, 93).astype(np.int32), np.repeat(np.arange(3), sizes)
    index = index if gathers else np.arange(93, dtype=np.int32)
    product = np.array([wide_a[i] @ wide_b[g].T for i, g in zip(index, group)])
    expected = activated(product, activation)
    c = np.full((93, n // many), 77, np.uint8).view(TYPES["e4m3"])
    scale_c = np.full((93, n // many // 128), np.nan, np.float32)
    hopper_grouped_gemm(
        a, b.swapaxes(1, 2), c, np.cumsum(sizes).astype(np.int32), rows=index if gathers else None,
        block_scales=(scale_a, scale_b.swapaxes(1, 2)), scale_c=scale_c, activation=activation,
        config=GemmConfig(64, columns, 1, 3, draws=not gathers),
    )  # fmt: skip
    assert np.isnan(scale_c[91:]).all() and (c[91:].view(np.uint8) == 77).all()
    top = np.abs(expected).reshape(91, -1, 128).max(-1)
    np.testing.assert_allclose(scale_c[:91] * 448, top, rtol=2**-7)
    spread = scale_c[:91].repeat(128, -1)
    error = np.abs(c[:91].astype(float) * spread - expected)
    assert (error <= (2**-4 + 2**-7) * np.abs(expected) + spread * 2**-9).all(), float((error / spread).max())


def test_the_model_chooses_what_can_be_scaled() -> None:
    for m, n, k in ((4096, 7168, 16384), (64, 7168, 16384), (1, 16, 16)):
        config = choose_config(Problem(m, n, k, size=1, block_scaled=True))
        assert config.can_scale and not config.swapped
    large = Problem(4096, 4096, 7168, size=1, block_scaled=True)
    assert choose_config(large).halves == 2
    square = [x for x in configurations(large) if (x.tile_m, x.tile_n, x.cluster) == (128, 128, 1)]
    assert [x.stages for x in square] == [5], "six took longer"
    groups = replace(large, m=1024, batches=8, grouped=True)
    assert choose_config(groups).defers and choose_config(groups).halves == 2
    assert choose_config(groups).draws, "tiles that end a group take less"
    assert choose_config(replace(groups, m=4096)).consumers == 3, "1,504 us even and 1,629 skewed, and 1,538 and 1,694"
    assert choose_config(replace(groups, m=1375, n=1280, k=640, batches=13)).draws, "35.4 us, and 35.7 in full rounds"
    assert all(x.halves == 1 and x.consumers < 3 for x in configurations(replace(groups, m=100))), (
        "these have one round"
    )
    narrow = Problem(2212, 896, 512, 9, size=1, block_scaled=True, grouped=True)
    assert choose_config(narrow).consumers == 3 and choose_config(narrow).defers
    assert any(x.consumers == 3 for x in configurations(groups)) and choose_config(groups).consumers == 2
    alike = choose_config(replace(narrow, m=787, n=512, k=640, batches=21))
    assert alike.draws, "of 787 rows each, rounds that are all full are four, and 192 x 128 drawn took 13 % less"
    for more in ({"columns_of_one": 2}, {"quantises": True}):
        others = configurations(replace(groups, **more))
        assert all(x.halves == 1 and x.consumers < 3 for x in others), "these would spill"


def test_tiles_of_scaled_blocks_divide_a_product_evenly() -> None:
    """12 rows of tiles of 128 x 128 are 96 of 132 blocks; few rows are all of a tile's, and no line is missing."""
    even = choose_config(Problem(1520, 1024, 3328, size=1, block_scaled=True))
    assert even.tile_n == 96 and even.scaled_alike == 16
    few = choose_config(Problem(104, 13568, 6784, size=1, block_scaled=True))
    assert few.tile_m == 104 and few.multiplied_rows == 128 and few.can_scale
    three = choose_config(Problem(3072, 9216, 3072, size=1, block_scaled=True))
    assert (three.consumers, three.tile_n, three.products_apart) == (3, 128, 1) and three.defers
    assert GemmConfig(128, 192, 2).can_scale and GemmConfig(128, 192, 2).scaled_alike == 64
    assert not GemmConfig(64, 192, 1).can_scale, "nobody multiplies while products are added"


def test_weights_of_few_rows_are_divided_among_all_blocks() -> None:
    """Their columns follow from the product, and L2 lets them go first; the table's 64 columns have 112 blocks."""
    for shape, least in (((64, 7168, 16384), 128), ((32, 9600, 7168), 120), ((24, 4864, 2048), 120)):
        problem = Problem(*shape, size=1, block_scaled=True)
        config = choose_config(problem)
        assert problem.clusters(config) * config.cluster >= least and config.streams == "b"
    assert choose_config(Problem(224, 15360, 3584, size=1, block_scaled=True)).streams == "b", "two rows of tiles"
    for shape in ((4096, 4096, 7168), (672, 4736, 1920), (8192, 512, 2304)):
        assert choose_config(Problem(*shape, size=1, block_scaled=True)).streams == ""


def test_shared_memory_is_counted() -> None:
    """A tile of 128 x 64 moves 448 lines a step into shared memory and out of it, one of 64 x 128 384, and one of 192 x
    128 896 for three times as many products: with a long K it has two parts, and four stages."""
    square = choose_config(Problem(1856, 512, 2304, size=1, block_scaled=True))
    assert (square.tile_m, square.tile_n) == (64, 128)
    parts = choose_config(Problem(1440, 1024, 13440, size=1, block_scaled=True))
    assert (parts.tile_m, parts.tile_n, parts.splits, parts.stages, parts.box_line) == (192, 128, 2, 4, 64)
    every = configurations(Problem(304, 3712, 8832, size=1, block_scaled=True))
    assert max(x.accumulators for x in every if x.splits > 1) <= 80, "parts of 128 x 192 spill"


@pytest.mark.parametrize(
    ("scale_a", "scale_b", "says"),
    [
        (np.ones((8, 1), np.float32), None, "for both matrices"),
        (None, np.ones((2, 1), np.float32), "for both matrices"),
        (np.ones((8, 1), np.float32), np.ones((2, 1), np.float32), r"scales of A \(8, 256\) .* shape \(8, 2\), got"),
        (np.ones((8, 2), np.float32), np.ones((1, 2), np.float32), r"scales of B \(256, 16\) .* shape \(2, 1\)"),
        (np.ones((8, 2), np.float32), np.ones((2, 1), np.float16), "are float32 of shape"),
    ],
)
def test_scales_that_do_not_fit(scale_a: Any, scale_b: Any, says: str) -> None:
    a, b, c = np.zeros((8, 256), TYPES["e4m3"]), np.zeros((256, 16), TYPES["e4m3"]), np.zeros((8, 16), TYPES["bf16"])
    with pytest.raises(ValueError, match=says):
        hopper_gemm(a, b, c, block_scales=(scale_a, scale_b))
