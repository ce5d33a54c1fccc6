"""Groups of rows on the virtual sm_90a against float64: sizes on the device, gathered, scattered, masked, scaled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.kernels.gemm import hopper_grouped
from flydsl.kernels.gemm.hopper.choice import choose_config, configurations
from flydsl.kernels.gemm.hopper.model import launch_time
from flydsl.kernels.gemm.hopper.plan import GemmConfig, GemmKind, Problem
from flydsl.kernels.gemm.hopper_gemm import build_hopper_gemm
from flydsl.kernels.gemm.hopper_grouped import hopper_grouped_gemm
from tests.support.described_calls import describe_calls
from tests.support.hopper_products import ROUNDING, TYPES, activated

Array = np.ndarray[Any, Any]
SMALL = GemmConfig(64, 32, 1, 2)
SIZES = [[70, 0, 1, 64, 33], [0, 0, 130, 0, 0], [0, 0, 0, 0, 0], [13, 13, 13, 13, 13]]


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


def drawn(rng: np.random.Generator, *shape: int, kind: str = "bf16") -> Array:
    return rng.standard_normal(shape).astype(TYPES[kind])


def guarded(*shape: int, kind: str = "bf16") -> tuple[Array, Array]:
    """C, poisoned, inside of more that is."""
    *lead, rows, columns = shape
    whole = np.full((*lead, rows + 2, columns + 32), np.nan, np.float32).astype(TYPES[kind])
    return whole[..., 1:-1, 16:-16], whole


def ends(sizes: list[int]) -> Array:
    return np.cumsum(sizes).astype(np.int32)


def expected_of(a: Array, b: Array, sizes: list[int], index: Array | None = None) -> tuple[Array, Array]:
    """Rows of the groups in float64, and the magnitudes of their terms."""
    wide_a, wide_b = a.astype(float), b.astype(float)
    if index is not None:
        outside = (index < 0) | (index >= len(a))
        wide_a = np.where(outside[:, None], 0, wide_a[np.clip(index, 0, len(a) - 1)])
    rows = np.repeat(np.arange(len(sizes)), sizes)
    pairs = [(wide_a[i], wide_b[g]) for i, g in enumerate(rows)]
    shape = (len(rows), b.shape[-1])
    found = np.array([x @ y for x, y in pairs]).reshape(shape)
    return found, np.array([np.abs(x) @ np.abs(y) for x, y in pairs]).reshape(shape)


def assert_close(c: Array, expected: Array, magnitude: Array, kind: str = "bf16") -> None:
    bound = ROUNDING[kind] * np.abs(expected) + 4e-6 * (magnitude + 1)
    error = np.abs(c.astype(float) - expected)
    assert (error <= bound).all(), float((error / bound).max())


@pytest.mark.parametrize(
    "config",
    [
        SMALL,
        GemmConfig(128, 64, 2, 3, 2, "n", sends=True),
        GemmConfig(64, 16, 1, 2, 2, "k"),
        GemmConfig(64, 64, 2, 3, 2, "m", taking_turns=True, sends=True),
        GemmConfig(128, 64, 2, 3, draws=True, sends=True),
        GemmConfig(64, 32, 1, 3, streams="once"),
    ],
    ids=str,
)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_groups_that_follow_each_other(sizes: list[int], config: GemmConfig, rng: np.random.Generator) -> None:
    """Skewed and empty groups; rows behind the last one, and what lies beside C, are left alone."""
    total, n, k = sum(sizes), 72, 136
    a, b = drawn(rng, total + 9, k), drawn(rng, 5, n, k).swapaxes(1, 2)
    c, whole = guarded(total + 9, n)
    hopper_grouped_gemm(a, b, c, ends(sizes), config=config)
    assert_close(c[:total], *expected_of(a, b, sizes))
    assert np.isnan(whole.astype(np.float32)).sum() == whole.size - total * n


def test_tiles_are_drawn_where_blocks_would_drift_apart() -> None:
    """They do in tiles that take less where a group ends, if L2 does not keep what others read meanwhile."""
    plain = Problem(256, 4096, 7168, 256, grouped=True, columns_of_one=2)
    together = next(x for x in configurations(plain) if (x.tile_m, x.tile_n) == (128, 256))
    assert together.drifts(plain) and launch_time(plain, together) > 1.3 * launch_time(plain, choose_config(plain))
    assert choose_config(plain).draws and choose_config(replace(plain, m=200, n=512, k=512)).taking_turns
    assert not any(x.draws for x in configurations(replace(plain, gathers=True)))
    gated = replace(plain, size=1, block_scaled=True, quantises=True, c_width=8)
    assert choose_config(gated).draws
    few = replace(gated, m=300, n=512, k=512, batches=32)
    assert few.clusters(choose_config(few)) > 132 and not choose_config(few).draws
    one_accumulator = GemmConfig(128, 256, 2, 4, defers=True)
    assert one_accumulator.may_idle and not one_accumulator.drifts(gated)


def test_a_warp_chooses_as_one_how_a_box_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """The assembler keeps places of stages in registers of the warp only if it knows that no lanes part in a tile."""
    describe_calls(monkeypatch)
    shuffles = []
    for sends in (False, True):
        config = GemmConfig(128, 128, 2, 3, sends=sends)
        run = build_hopper_gemm(GemmKind(fx.BFloat16, fx.BFloat16, fx.BFloat16, groups=32), config)
        a, b, c = (np.zeros(shape, TYPES["bf16"]) for shape in ((64, 64), (4, 128, 64), (64, 128)))
        run(a, b.swapaxes(1, 2), c, *[None] * 5, 0.0, None, None, np.zeros(4, np.int32), None, None)
        shuffles.append(run.specialisations[-1].kernels[0].ptx.count("shfl.sync.idx"))
    assert shuffles[1] > shuffles[0]


def test_l2_lets_weights_of_few_rows_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are read once, line by line; those of a group that has more rows than a tile are not."""
    few = Problem(32, 4096, 7168, 256, grouped=True)
    assert choose_config(few).streams == "once" and not choose_config(replace(few, m=1024, batches=8)).streams
    assert not choose_config(replace(few, gathers=True)).streams
    describe_calls(monkeypatch)
    hints = []
    for streams in ("", "once"):
        kind = GemmKind(fx.BFloat16, fx.BFloat16, fx.BFloat16, groups=32)
        run = build_hopper_gemm(kind, replace(SMALL, streams=streams))
        a, b, c = (np.zeros(shape, TYPES["bf16"]) for shape in ((64, 64), (4, 128, 64), (64, 128)))
        run(a, b.swapaxes(1, 2), c, *[None] * 5, 0.0, None, None, np.zeros(4, np.int32), None, None)
        text = run.specialisations[-1].kernels[0].ptx
        loads = [line for line in text.splitlines() if "cp.async.bulk.tensor" in line]
        hints.append((len(loads), sum("cache_hint" in line for line in loads)))
    assert hints == [(2, 0), (3, 1)]
    with pytest.raises(ValueError, match="B passes once where TMA loads rows of groups"):
        build_hopper_gemm(GemmKind(fx.BFloat16, fx.BFloat16, fx.BFloat16), replace(SMALL, streams="once"))


def test_many_groups(rng: np.random.Generator) -> None:
    """More of them than a warp has lanes, most of them empty, whose matrices are loaded before A: fewer and more steps
    than stages."""
    sizes = [int(x) for x in rng.integers(0, 4, 75) * rng.integers(0, 2, 75)]
    sizes[-1] = 70
    for k in (64, 320):
        a, b = drawn(rng, sum(sizes), k), drawn(rng, 75, 192, k)
        c, whole = guarded(sum(sizes), 192)
        hopper_grouped_gemm(a, b.swapaxes(1, 2), c, ends(sizes), weights_first=True, config=GemmConfig(64, 128, 1, 3))
        assert_close(c, *expected_of(a, b.swapaxes(1, 2), sizes))
        assert np.isnan(whole.astype(np.float32)).sum() == whole.size - c.size


def test_sizes_that_lie_outside(rng: np.random.Generator) -> None:
    """The host cannot check what only the device knows: nothing is read or written outside. Rows 10 to 15 are whose?"""
    a, b = drawn(rng, 40, 64), drawn(rng, 4, 24, 64).swapaxes(1, 2)
    c, whole = guarded(40, 24)
    hopper_grouped_gemm(a, b, c, np.array([-7, 15, 10, 1 << 30], np.int32), config=SMALL)
    assert_close(c[:10], *expected_of(a[:10], b, [0, 10, 0, 0]))
    assert_close(c[15:], *expected_of(a[15:], b, [0, 0, 0, 25]))
    assert np.isnan(whole.astype(np.float32)).sum() == whole.size - c.size


@pytest.mark.parametrize("c_kind", ["bf16", "f32"])
def test_rows_gathered_and_scattered(c_kind: str, rng: np.random.Generator) -> None:
    """Each row of A twice in some order, with weights, to any row of C or to none."""
    tokens, n, k, sizes = 45, 40, 72, [50, 0, 31, 9]
    a, b = drawn(rng, tokens, k), drawn(rng, 4, n, k).swapaxes(1, 2)
    index = rng.permutation(np.repeat(np.arange(tokens), 2)).astype(np.int32)
    index[3], index[77] = -1, tokens + 5
    weight = rng.standard_normal(90).astype(np.float32)
    expected, magnitude = expected_of(a, b, sizes, index)
    expected, magnitude = expected * weight[:, None], magnitude * np.abs(weight)[:, None]
    to_rows = rng.permutation(100).astype(np.int32)[:90]
    to_rows[5], to_rows[50] = -1, 100
    c, whole = guarded(100, n, kind=c_kind)
    hopper_grouped_gemm(a, b, c, ends(sizes), rows=index, to_rows=to_rows, row_scale=weight, config=SMALL)
    kept = (to_rows >= 0) & (to_rows < 100)
    assert_close(c[to_rows[kept]], expected[kept], magnitude[kept], c_kind)
    assert np.isnan(whole.astype(np.float32)).sum() == whole.size - kept.sum() * n


def test_rows_are_added(rng: np.random.Generator) -> None:
    """To what is there, several rows of the product to one of C; also where lines of C are not whole pieces."""
    for n in (40, 37):
        a, b, sizes = drawn(rng, 90, 72), drawn(rng, 4, n, 72).swapaxes(1, 2), [50, 0, 31, 9]
        to_rows = rng.integers(0, 45, 90).astype(np.int32)
        c, expected = np.ones((45, n), np.float32), np.ones((45, n))
        parts, magnitude = expected_of(a, b, sizes)
        np.add.at(expected, to_rows, 0.5 * parts)
        hopper_grouped_gemm(a, b, c, ends(sizes), to_rows=to_rows, add=True, alpha=0.5, config=SMALL)
        assert_close(c, expected, np.full(expected.shape, magnitude.sum(0).max()), "f32")
    narrow = np.ones((45, n), TYPES["bf16"])  # pairs of 16 bits, rounded at every step
    hopper_grouped_gemm(a, b, narrow, ends(sizes), to_rows=to_rows, add=True, alpha=0.5, config=SMALL)
    assert np.abs(narrow.astype(float) - expected).max() <= 0.04 * np.abs(expected).max()


def test_masked_groups(rng: np.random.Generator) -> None:
    """Each group has a matrix of its own; rows behind its size hold anything, and stay as they were."""
    sizes, n, k = np.array([5, 0, 90, 64], np.int32), 40, 72
    a, b = drawn(rng, 4, 90, k), drawn(rng, 4, k, n)
    for group, size in enumerate(sizes):
        a[group, size:] = np.nan
    c, whole = guarded(4, 90, n)
    hopper_grouped_gemm(a, b, c, sizes, config=GemmConfig(64, 64, 1, 2))
    for group, size in enumerate(sizes):
        assert_close(c[group, :size], *expected_of(a[group, :size], b[group : group + 1], [int(size)]))
    assert np.isnan(whole.astype(np.float32)).sum() == whole.size - sizes.sum() * n


@pytest.mark.parametrize("masked", [False, True])
def test_columns_of_results_and_of_rows_that_are_contiguous(masked: bool, rng: np.random.Generator) -> None:
    """Groups begin and end inside of 16 bytes of a line of C, and of A; those behind them are others' or nobody's."""
    sizes, n, k = [5, 0, 90, 64], 40, 72
    rows = 96 if masked else 168
    shape, lead = ((4, k, rows), (4,)) if masked else ((k, rows), ())
    a, b = drawn(rng, *shape).swapaxes(-1, -2), drawn(rng, 4, k, n)
    c, whole = guarded(*lead, n, rows)
    c = c.swapaxes(-1, -2)
    hopper_grouped_gemm(a, b, c, np.array(sizes, np.int32) if masked else ends(sizes), config=GemmConfig(64, 64, 1, 2))
    if masked:
        for group, size in enumerate(sizes):
            assert_close(c[group, :size], *expected_of(a[group, :size], b[group : group + 1], [size]))
    else:
        assert_close(c[: sum(sizes)], *expected_of(a, b, sizes))
    assert np.isnan(whole.astype(np.float32)).sum() == whole.size - sum(sizes) * n


def test_tiles_are_drawn_of_lines_that_tma_cannot_reach(rng: np.random.Generator) -> None:
    sizes, (a, b), (c, whole) = [70, 0, 3, 64], (drawn(rng, 140, 71), drawn(rng, 4, 24, 71)), guarded(140, 24)
    b = b.swapaxes(1, 2)
    hopper_grouped_gemm(a, b, c, ends(sizes), config=replace(SMALL, draws=True))
    assert_close(c[:137], *expected_of(a, b, sizes))
    assert np.isnan(whole.astype(np.float32)).sum() == whole.size - 137 * 24


def test_groups_of_integers_have_columns_in_sixteens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of these the model likes 168 columns, of which there is no wgmma of integers."""
    asked: list[GemmConfig] = []
    monkeypatch.setattr(hopper_grouped, "multiprocessors", lambda _: 132)
    monkeypatch.setattr(hopper_grouped, "choose_config", lambda *given: asked.append(choose_config(*given)) or asked[0])
    monkeypatch.setattr(hopper_grouped, "build_hopper_gemm", lambda *_: lambda *_: None)
    a, b = np.zeros((16000, 4096), np.int8), np.zeros((4, 328, 4096), np.int8).swapaxes(1, 2)
    index = np.zeros(16000, np.int32)
    hopper_grouped_gemm(a, b, np.zeros((16000, 328), TYPES["bf16"]), ends([4000] * 4), rows=index)
    assert asked[0].suits_integers
    codes = Problem(4000, 328, 4096, 4, 1, grouped=True, gathers=True)
    assert not choose_config(codes).suits_integers and choose_config(replace(codes, integer=True)).suits_integers


def gated(expected: Array, magnitude: Array) -> tuple[Array, Array]:
    """One column of two of a tenth of a product, and its magnitude."""
    slopes = 1.1 + np.abs(0.1 * expected)
    magnitude = 0.1 * (magnitude[:, ::2] * slopes[:, 1::2] + magnitude[:, 1::2] * slopes[:, ::2])
    return activated(0.1 * expected, "swiglu"), magnitude


def test_lines_that_tma_cannot_reach_and_gates(rng: np.random.Generator) -> None:
    """Odd extents in every mode, and one column of two."""
    sizes = [7, 0, 66]
    a, b = drawn(rng, 80, 71), drawn(rng, 3, 71, 22)
    index = rng.integers(0, 80, 73).astype(np.int32)
    c, whole = guarded(73, 11)
    hopper_grouped_gemm(a, b, c, ends(sizes), rows=index, activation="swiglu", alpha=0.1, config=SMALL)
    assert_close(c, *gated(*expected_of(a, b, sizes, index)))
    assert np.isnan(whole.astype(np.float32)).sum() == whole.size - c.size


@pytest.mark.parametrize("sends", [False, True])
def test_gates_in_turns(sends: bool, rng: np.random.Generator) -> None:
    """What the first product of experts of many rows gets: tiles that end inside of a group, and an empty one."""
    sizes, config = [150, 0, 128, 5], GemmConfig(128, 160, 2, 3, taking_turns=True, sends=sends)
    a, b = drawn(rng, 283, 136), drawn(rng, 4, 336, 136).swapaxes(1, 2)
    c, whole = guarded(283, 168)
    hopper_grouped_gemm(a, b, c, ends(sizes), activation="swiglu", alpha=0.1, config=config)
    assert_close(c, *gated(*expected_of(a, b, sizes)))
    assert np.isnan(whole.astype(np.float32)).sum() == whole.size - c.size


def test_nothing_to_multiply(rng: np.random.Generator) -> None:
    c = drawn(rng, 6, 8)
    before = c.copy()
    hopper_grouped_gemm(drawn(rng, 0, 16), drawn(rng, 2, 16, 8), c[:0], ends([0, 0]))
    hopper_grouped_gemm(drawn(rng, 6, 16), drawn(rng, 0, 16, 8), c, ends([]))
    assert (c == before).all()
    hopper_grouped_gemm(drawn(rng, 6, 0), drawn(rng, 2, 0, 8), c, ends([2, 3]), config=SMALL)
    assert not c[:5].any() and (c[5] == before[5]).all()
    codes, scales = np.full((6, 128), 77, np.uint8).view(TYPES["e4m3"]), np.full((6, 1), np.nan, np.float32)
    hopper_grouped_gemm(drawn(rng, 6, 0), drawn(rng, 2, 0, 128), codes, ends([2, 3]), scale_c=scales)
    assert not codes[:5].view(np.uint8).any() and (scales[:5] == 1).all() and np.isnan(scales[5])


def zeros(*shape: int, kind: Any = TYPES["bf16"]) -> Array:
    return np.zeros(shape, kind)


SIX, INDEX = np.zeros(6, np.int32), np.zeros(8, np.int32)


@pytest.mark.parametrize(
    ("arrays", "given", "says"),
    [
        ((zeros(8, 16), zeros(16, 8), zeros(8, 8), SIX), {}, r"B is \(groups, K, N\)"),
        ((zeros(8, 16), zeros(6, 24, 8), zeros(8, 8), SIX), {}, "shapes do not fit.* has 8 rows"),
        ((zeros(8, 16), zeros(6, 16, 8), zeros(7, 8), SIX), {}, "shapes do not fit"),
        ((zeros(8, 16), zeros(6, 16, 8), zeros(8, 8), SIX[:4]), {}, r"sizes are int32 of shape \(6,\)"),
        ((zeros(8, 16), zeros(6, 16, 8), zeros(8, 8), SIX), {"rows": INDEX.astype(int)}, "rows are int32"),
        ((zeros(6, 8, 16), zeros(6, 16, 8), zeros(6, 8, 8), SIX), {"rows": INDEX}, "are not gathered"),
        ((zeros(8, 16), zeros(6, 16, 8), zeros(8, 8), SIX), {"add": True}, "are added where to_rows says"),
        ((zeros(8, 16), zeros(6, 16, 8), zeros(8, 8), SIX), {"row_scale": zeros(6)}, r"row_scale has shape \(6,\)"),
        ((zeros(8, 16), zeros(6, 16, 8, kind=np.float16), zeros(8, 8), SIX), {}, "the same type"),
        ((zeros(8, 16), zeros(6, 16, 8), zeros(8, 8), SIX), {"block_scales": (SIX, SIX)}, "those are fp8"),
        ((zeros(8, 16), zeros(6, 16, 8), zeros(8, 8).T, SIX), {"to_rows": INDEX}, "an index names are contiguous"),
        ((zeros(8, 16), zeros(6, 16, 8), zeros(8, 8), SIX), {"block_scales": (None, SIX)}, "for both matrices"),
        ((zeros(8, 16), zeros(6, 16, 8), zeros(8, 8), SIX), {"scale_c": zeros(8, 1)}, "results with scales are float8"),
        (
            (zeros(6, 8, 16), zeros(6, 16, 128), zeros(6, 8, 128, kind=TYPES["e4m3"]), SIX),
            {"scale_c": zeros(8, 1)},
            r"neither masked nor scattered.* float8_e4m3fn of \(6, 8, 128\)",
        ),
        (
            (zeros(8, 16), zeros(6, 16, 128), zeros(128, 8, kind=TYPES["e4m3"]).T, SIX),
            {"scale_c": zeros(8, 1, kind=np.float32)},
            r"begin at multiples of 16 bytes, got strides \(1, 8\)",
        ),
        (
            (zeros(8, 16), zeros(6, 16, 128), zeros(8, 131, kind=TYPES["e4m3"])[:, :128], SIX),
            {"scale_c": zeros(8, 1, kind=np.float32)},
            r"begin at multiples of 16 bytes, got strides \(131, 1\)",
        ),
    ],
)
def test_what_does_not_fit(arrays: Any, given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        hopper_grouped_gemm(*arrays, **given)
