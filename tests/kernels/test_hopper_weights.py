"""Weights of four bits on the virtual sm_90a against float64: integers with scales and zeros, and mxfp4."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.gemm.few_rows.plan import FewRows, choose_few_rows, few_rows_configs, few_rows_time
from flydsl.kernels.gemm.hopper.choice import choose_config, configurations
from flydsl.kernels.gemm.hopper.plan import GemmConfig, GemmKind, PackedKind, Problem
from flydsl.kernels.gemm.hopper.weights import shuffle_weights
from flydsl.kernels.gemm.hopper_gemm import build_hopper_gemm
from flydsl.kernels.gemm.hopper_matmul import hopper_linear4
from tests.support.described_calls import describe_calls
from tests.support.wgmma_registers import Flow, early_accesses

BF16 = ml_dtypes.bfloat16
FEW = GemmConfig(64, 16, 1, 3, swapped=True)
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


def guarded(m: int, n: int, dtype: Any) -> tuple[Any, Any]:
    whole = np.full((m + 2, n + 32), np.nan, np.float32).astype(dtype)
    return whole[1:-1, 16:-16], whole


def check(x: Any, weights: Any, y: Any, whole: Any, bias: Any = None) -> None:
    """y = x @ weights^T + bias in every element, and nothing beside it."""
    wide = x.astype(float)
    expected = wide @ weights.T + (0 if bias is None else bias.astype(float))
    magnitude = np.abs(wide) @ np.abs(weights).T
    rounding = 2**-8 if y.dtype == BF16 else 2**-11
    bound = rounding * np.abs(expected) + 4e-6 * (magnitude + 1)
    error = np.abs(y.astype(float) - expected)
    assert (error <= bound).all(), float((error / bound).max())
    assert np.isnan(whole.astype(np.float32)).sum() == whole.size - y.size


@pytest.mark.parametrize(
    ("dtype", "group", "config"),
    [
        (BF16, 128, FEW),
        (BF16, 32, FEW),
        (np.float16, 64, GemmConfig(128, 32, 2, 2, swapped=True)),
        (BF16, 128, GemmConfig(64, 16, 1, 3, 2, "k", swapped=True)),
        (BF16, 128, GemmConfig(64, 16, 2, 4, 2, "k", swapped=True, teams=2)),
        (np.float16, 64, GemmConfig(64, 24, 3, 4, swapped=True, teams=3)),
    ],
    ids=str,
)
def test_integers(dtype: Any, group: int, config: GemmConfig, rng: np.random.Generator) -> None:
    """With zeros and without, edges of blocks and groups, several tiles, parts of K."""
    for m, n, k in ((1, 72, 64), (20, 200, 328)):
        codes = rng.integers(0, 16, (n, k))
        groups = -(-k // group)
        scales = rng.standard_normal((n, groups)).astype(dtype)
        zeros = (rng.integers(0, 64, (n, groups)) / 4).astype(dtype)
        x, bias = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal(n).astype(dtype)
        packed = shuffle_weights(codes)
        for zero in (zeros, None)[: 1 + (group == 32)]:
            spread = np.full((n, k), 8) if zero is None else zero.astype(float).repeat(group, 1)[:, :k]
            # (code - zero) * scale is rounded to the type of x.
            weights = (codes - spread) * scales.astype(float).repeat(group, 1)[:, :k]
            weights = weights.astype(dtype).astype(float)
            y, whole = guarded(m, n, dtype)
            given: dict[str, Any] = {"zeros": zero, "bias": bias, "group_size": group, "config": config}
            hopper_linear4(x, packed, scales, y, **given)
            check(x, weights, y, whole, bias)


@pytest.mark.parametrize(
    ("shape", "dtype", "group", "config"),
    [
        ((1, 72, 600), BF16, 128, FewRows(8, 2, 1, 2, 1)),
        ((5, 40, 1300), np.float16, 64, FewRows(4, 1, 8, 2)),
        ((13, 100, 2210), BF16, 32, FewRows(4, 4, 16, 4, 2)),
        ((5, 136, 2700), BF16, 128, FewRows(4, 4, 8, 2, 2, 3, cluster=2)),
        ((3, 24, 712), BF16, 192, FewRows(4, 2, 4, 2)),
    ],
    ids=str,
)
def test_few_rows(shape: Any, dtype: Any, group: int, config: FewRows, rng: np.random.Generator) -> None:
    """Strips and parts of K, in clusters too, x in one go and in several, lines that are no multiples of 16 bytes,
    groups that a run cuts; the last case without zeros."""
    m, n, k = shape
    codes, x = rng.integers(0, 16, (n, k)), rng.standard_normal((m, k)).astype(dtype)
    scales = rng.standard_normal((n, -(-k // group))).astype(dtype)
    zeros = None if group == 192 else (rng.integers(0, 64, scales.shape) / 4).astype(dtype)
    bias = rng.standard_normal(n).astype(dtype)
    spread = 8 if zeros is None else zeros.astype(float).repeat(group, 1)[:, :k]
    weights = (codes - spread) * scales.astype(float).repeat(group, 1)[:, :k]  # not rounded
    y, whole = guarded(m, n, dtype)
    hopper_linear4(x, shuffle_weights(codes), scales, y, zeros=zeros, bias=bias, group_size=group, config=config)
    check(x, weights, y, whole, bias)
    with pytest.raises(ValueError, match=f"x is {config.rows + 1} x {k}, more than FewRows"):
        more = [np.zeros((config.rows + 1, extent), dtype) for extent in (k, n)]
        hopper_linear4(more[0], shuffle_weights(codes), scales, more[1], group_size=group, config=config)


def test_strips_behind_the_last_weights_read_nothing(rng: np.random.Generator) -> None:
    """A block may have more strips of 16 rows than the weights have left, which are whole blocks of 64."""
    m, n, k = 5, 136, 512
    codes, x = rng.integers(0, 16, (n, k)), rng.standard_normal((m, k)).astype(BF16)
    scales = rng.standard_normal((n, k // 128)).astype(BF16)
    y, whole = guarded(m, n, BF16)
    with flyc.sanitize("bounds"):
        hopper_linear4(x, shuffle_weights(codes), scales, y, config=FewRows(8, 8, 8, 2))
    check(x, (codes - 8) * scales.astype(float).repeat(128, 1), y, whole)


def test_weights_in_flight_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No step is unpacked into registers that products may still read."""
    describe_calls(monkeypatch)
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "2")
    kind = GemmKind(fx.BFloat16, fx.BFloat16, fx.BFloat16, c_along_n=False, packed=PackedKind("int4", 128))
    run = build_hopper_gemm(kind, GemmConfig(64, 8, 1, 4, swapped=True))
    x, y, scales = np.zeros((1, 512), BF16), np.zeros((1, 64), BF16), np.zeros((64, 4), BF16)
    packed = np.zeros((1, 8, 512), np.int32)
    run(x, packed, y, None, None, None, None, None, 0.0, scales, scales, None, None, None)
    ptx = run.specialisations[-1].kernels[0].ptx
    assert ptx.count("wgmma.mma_async") == 12 and not list(early_accesses(Flow(ptx)))
    wait = "wgmma.wait_group.sync.aligned 1;"
    assert any(early_accesses(Flow(ptx.replace(wait, ""))))  # the check is able to fail


@pytest.mark.parametrize("config", [FEW, FewRows(4, 2, 8, 2)], ids=str)
def test_minifloats(config: Any, rng: np.random.Generator) -> None:
    """Every code, scales from 2^-127 on; 255 is no number, and so is all that it scales."""
    m, n, k = 5, 72, 160
    codes, x = rng.integers(0, 16, (n, k)), rng.standard_normal((m, k)).astype(BF16)
    exponents = rng.integers(120, 135, (n, k // 32)).astype(np.uint8)
    exponents[3], exponents[9] = 0, 1
    values = E2M1[codes & 7] * np.where(codes & 8, -1.0, 1.0)
    weights = values * 2.0 ** (exponents.astype(float).repeat(32, 1) - 127)
    y, whole = guarded(m, n, BF16)
    given: dict[str, Any] = {"kind": "mxfp4", "group_size": 32, "config": config}
    hopper_linear4(x, shuffle_weights(codes), exponents, y, **given)
    check(x, weights, y, whole)
    exponents[7, 2] = 255
    hopper_linear4(x, shuffle_weights(codes), exponents, y, **given)
    assert np.isnan(y[:, 7].astype(float)).all() and not np.isnan(np.delete(y, 7, 1).astype(float)).any()


def test_lines_that_tma_cannot_reach(rng: np.random.Generator) -> None:
    codes, scales = rng.integers(0, 16, (37, 71)), rng.standard_normal((37, 1)).astype(BF16)
    x = rng.standard_normal((71, 3)).astype(BF16).T
    weights = (codes - 8) * scales.astype(float)
    for config, exact in ((FEW, weights.astype(BF16).astype(float)), (FewRows(4, 1, 4, 2), weights)):
        y, whole = guarded(3, 37, BF16)
        hopper_linear4(x, shuffle_weights(codes), scales, y, config=config)
        check(x, exact, y, whole)


def test_the_model_chooses_what_can_be_unpacked() -> None:
    for m in (1, 16, 300):
        config = choose_config(Problem(m, 8192, 8192, packed=True))
        assert config.swapped and config.tile_m == 64 * config.of_tile and config.sharing("n") == 1
    for m, n in ((1, 8192), (3, 4096), (16, 64)):
        few = Problem(m, n, 8192, packed=True)
        config = choose_few_rows(few)
        assert m <= config.rows < 2 * m and config.shared_bytes < 227 << 10 and config.can_hold(8192)
        # A block of the next launch has no room beside those of this one.
        assert (config.shared_bytes + config.spare_bytes) * (config.resident + 1) > 227 << 10
        assert few_rows_time(few, config) == min(few_rows_time(few, other) for other in few_rows_configs(m, 8192))
    assert Problem(1, 8192, 8192, packed=True).swapped.moved < Problem(1, 8192, 8192).moved / 3.9


@pytest.mark.parametrize(("m", "n", "k"), [(6, 2816, 2304), (1, 5760, 7424), (4, 2240, 14720), (8, 9792, 640)])
def test_few_blocks_have_no_round_of_their_own(m: int, n: int, k: int) -> None:
    """A round of few blocks takes as long as one of all: 6 rows by 2816 x 2304 took 9.7 us by 176 blocks."""
    config, problem = choose_few_rows(Problem(m, n, k, packed=True)), Problem(m, n, k, packed=True)
    rounds = -(-n // (16 * config.strips)) * config.cluster / (132 * config.resident)
    assert rounds <= 1 or rounds % 1 == 0 or rounds % 1 > 0.5
    split = next(other for other in few_rows_configs(m, k) if other.strips == 1 and other.warps == 16)
    assert few_rows_time(problem, config) <= few_rows_time(problem, split)


def test_more_warpgroups_unpack_where_tiles_leave_multiprocessors_idle() -> None:
    """Teams where one round is enough, else three warpgroups and parts of K; rings hold codes, not numbers."""
    assert choose_config(Problem(64, 8192, 8192, packed=True)).teams == 3
    config = choose_config(Problem(64, 10240, 8192, packed=True))
    assert (config.teams, config.consumers, config.splits, config.tile_n) == (1, 3, 2, 64)
    assert config.stages == 8 > config.fitting_stages()
    for rows in (24, 56, 200):
        seen = Problem(rows, 8192, 8192, packed=True).swapped
        assert all(config.tile_n < rows + 32 for config in configurations(seen))


def test_shuffled_codes(rng: np.random.Generator) -> None:
    """Every code is somewhere, once; what is missing of a block are zeros."""
    codes = rng.integers(0, 16, (70, 130))
    words = shuffle_weights(codes).view(np.uint32)
    assert words.shape == (2, 3, 512)
    nibbles = (words[..., None] >> (4 * np.arange(8, dtype=np.uint32))) & 15
    assert (np.bincount(nibbles.ravel())[1:] == np.bincount(codes.ravel(), minlength=16)[1:]).all()
    first = words[0, 0, 0]  # row 0 and 8 of columns 0, 1 and 8, 9
    assert [int(first >> (4 * i)) & 15 for i in range(4)] == [codes[0, 0], codes[8, 0], codes[0, 8], codes[8, 8]]
    for wrong, says in ((codes + 1, "numbers from"), (codes[0], r"of shape \(N, K\)"), (codes * 0.5, "are integers")):
        with pytest.raises(ValueError, match=says):
            shuffle_weights(wrong)


def test_what_does_not_fit() -> None:
    x, y, scales = np.zeros((2, 128), BF16), np.zeros((2, 64), BF16), np.zeros((64, 1), BF16)
    packed = np.zeros((1, 2, 512), np.int32)
    cases: tuple[tuple[Any, dict[str, Any], str], ...] = (
        ((x, packed[:, :1], scales, y), {}, r"int32 of \(1, 2, 512\)"),
        ((x, np.zeros((1, 4, 512), np.int32)[:, ::2], scales, y), {}, "weights are contiguous"),
        ((x, packed, scales[:3], y), {}, r"scales are \(64, 1\), got \(3, 1\)"),
        ((x, packed, scales.astype(np.float32), y), {}, "scales are bfloat16"),
        ((x, packed, scales, y), {"group_size": 48}, "groups of int4 are of 32 or of 64s, got 48"),
        ((x, packed, scales, y), {"kind": "int3"}, "kind is one of int4, mxfp4"),
        ((x, packed, scales, y), {"zeros": scales[:, :0]}, "zeros are"),
        ((x, packed, scales, y), {"bias": scales[:3, 0]}, r"bias has shape \(3,\)"),
        ((x, packed, scales, y), {"activation": "swiglu"}, "activation must be one of"),
        ((x[0], packed, scales, y), {}, r"x is \(M, K\)"),
    )
    for arrays, given, says in cases:
        with pytest.raises(ValueError, match=says):
            hopper_linear4(*arrays, **given)
