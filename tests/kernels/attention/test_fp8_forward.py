"""Attention of 8-bit tensors on the virtual sm_90a against float64: lengths, heads, scales of every kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.fp8_forward import (
    BLOCK,
    THREADS,
    TURNS,
    WIDENED,
    attention_fp8,
    choose_fp8_plan,
    turn_kernel,
    widen_kernel,
)
from flydsl.kernels.attention.hopper_forward import REGISTERS, SHARED_BYTES, ForwardPlan
from flydsl.kernels.attention.linear_powers import RUN
from tests.support import random_data
from tests.support.attention_reference import attend
from tests.support.fp8_cases import check_fp8, wide
from tests.support.turns import in_turns

SMALL = ForwardPlan(fx.Float8E4M3FN, 64, 64, keys=32, consumers=1, ping_pong=False)
LINEAR = ForwardPlan(fx.Float8E4M3FN, 64, 64, keys=64, consumers=1, ping_pong=False)
FAST = pytest.mark.parametrize("fast", [False, True])
"""Whether powers and values have 8 bits, too."""


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


def drawn(*shape: int) -> Any:
    return random_data.generator().standard_normal(shape).astype(ml_dtypes.float8_e4m3fn)


def run(
    shape: tuple[int, ...], fast: bool, scales: Any = (None, None, None), plan: ForwardPlan = SMALL, **asked: Any
) -> None:
    b, h, kv, queries, keys, d = shape
    q, k, v = drawn(b, h, queries, d), drawn(b, kv, keys, d), drawn(b, kv, keys, d)
    given = dict(zip(("q_scale", "k_scale", "v_scale"), scales, strict=True))
    lse, out = None, attention_fp8(q, k, v, **given, use_fast_accum=fast, plan=plan, **asked)
    if not fast:
        _, lse = attention_fp8(q, k, v, **given, return_lse=True, plan=plan, **asked)
    check_fp8(out, lse, (q, k, v), scales, fast, shape, **asked)


@FAST
def test_lengths(fast: bool) -> None:
    """One kernel for all; causal queries that see no key get zeros."""
    lengths = random_data.generator().integers(1, 301, 2)
    for queries, keys in ((1, 1), (65, 33), (70, 130), (int(lengths[0]), int(lengths[1]))):
        run((1, 2, 1, queries, keys, 64), fast, plan=LINEAR if fast else SMALL, is_causal=True)


def some(*shape: int) -> Any:
    return np.exp(random_data.generator().uniform(-2, 2, shape)).astype(np.float32)


@FAST
def test_scales(fast: bool) -> None:
    """Of tensors and of heads in one kernel."""
    run((2, 2, 1, 70, 90, 64), fast, (some(1), some(2, 1), some(1)), LINEAR if fast else SMALL)


def test_scales_of_blocks() -> None:
    """They change from block to block by a hundred."""
    blocks = (some(1, 2, 1), some(1, 1, 3) / 8, some(1, 1, 3))
    for keys in in_turns((BLOCK, BLOCK // 2)):
        plan = ForwardPlan(fx.Float8E4M3FN, 64, 64, keys, consumers=1, ping_pong=False)
        run((1, 2, 1, 70, 300, 64), False, blocks, plan)


def test_scales_of_blocks_of_queries_in_one_tile() -> None:
    """Tiles of three warpgroups have 192 rows, and their last ones another scale than the first."""
    run((1, 1, 1, 330, 70, 64), False, (some(1, 1, 3), None, None), choose_fp8_plan(64, 64, True, False))


def test_tiles_that_part_keys_with_one_scale_are_refused() -> None:
    with pytest.raises(ValueError, match="tiles of 80 keys would part them"):
        run((1, 1, 1, 70, 300, 64), False, (None, some(1, 1, 3), None), replace(SMALL, keys=80))


@pytest.mark.parametrize("blocked", [False, True])
def test_plans_fit(blocked: bool) -> None:
    """Registers hold results, scores, and powers of two blocks; 16 are left for others.

    ptxas runs each product alone where they do not, and says that registers were insufficient.
    """
    for d, dv in ((64, 64), (128, 128), (192, 128), (256, 128), (160, 160), (192, 192), (256, 256)):
        plan = choose_fp8_plan(d, dv, blocked, False)
        held = plan.dv // 2 + plan.keys // 2 + plan.keys * plan.values.width // 32
        assert held <= REGISTERS[plan.consumers][1] - 16, plan
        assert plan.wide and plan.stages >= 2 and plan.shared_bytes(plan.q_stages) <= SHARED_BYTES
        assert BLOCK % plan.keys == 0 or not blocked


@pytest.mark.parametrize("d", [64, 96, 128])
def test_linear_plans_fit(d: int) -> None:
    """Results, their sums, and scores in pairs, which become the next powers beside those of the block before."""
    plan = choose_fp8_plan(d, d, False, True)
    assert plan.columns + plan.keys // 4 + plan.keys // 8 <= REGISTERS[plan.consumers][1] - 32
    assert plan.stages >= 2 and plan.shared_bytes(plan.q_stages) <= SHARED_BYTES and RUN % plan.keys == 0


def test_a_window() -> None:
    """The keys of the plan of heads up to 128."""
    plan = ForwardPlan(fx.Float8E4M3FN, 64, 64, choose_fp8_plan(128, 128, False, True).keys, 2, 1, False)
    run((1, 2, 2, 70, 350, 64), True, plan=plan, window=(200, 20))


@FAST
def test_three_warpgroups(fast: bool) -> None:
    plan = ForwardPlan(fx.Float8E4M3FN, 64, 64, 128 if fast else 80, 3, 3, False)
    run((1, 1, 1, 230, 350, 64), fast, plan=plan, is_causal=True)


def error_of(q: Any, k: Any, v: Any, fast: bool, **asked: Any) -> float:
    out = attention_fp8(q, k, v, use_fast_accum=fast, plan=LINEAR if fast else SMALL, **asked).astype(np.float64)
    expected = attend(*(x.astype(np.float64) for x in (q, k, v)), **asked).out
    return float(np.linalg.norm(out - expected) / np.linalg.norm(expected))


@FAST
def test_scores_that_grow(fast: bool) -> None:
    """Levels move where powers come near 448, or near the end of f16, also of runs that have ended."""
    q, k, v = drawn(1, 1, 64, 64), drawn(1, 1, 700, 64), drawn(1, 1, 700, 64)
    k = (k.astype(np.float32) * np.linspace(6 if fast else 16, 0.01, 700)[:, None]).astype(k.dtype)
    assert error_of(q, k, v, fast) < (0.05 if fast else 0.005)


def test_runs_of_equal_values() -> None:
    """Sums are of the same powers as results: what is rounded in both is nowhere."""
    q, k, v = drawn(1, 1, 64, 64), drawn(1, 1, 1300, 64), np.full((1, 1, 1300, 64), 1.5, ml_dtypes.float8_e4m3fn)
    assert (attention_fp8(q, k, v, use_fast_accum=True, plan=LINEAR) == 1.5).all()


@pytest.mark.parametrize("size", [2.0**-5, 1.0, 80.0])
def test_queries_and_keys_of_any_size(size: float) -> None:
    """Products of the largest are beyond f16."""
    q, k = ((drawn(1, 1, 130, 64).astype(np.float32) * size).astype(ml_dtypes.float8_e4m3fn) for _ in range(2))
    assert error_of(q, k, drawn(1, 1, 130, 64), True, scale=0.125 / size**2) < 0.04


@pytest.mark.parametrize("scale", [2.0**-20, 16.0, 2000.0, -0.1])
def test_scales_that_f16_has_not(scale: float) -> None:
    """Scores that are all alike, and those of which one is all."""
    assert error_of(drawn(1, 1, 70, 64), drawn(1, 1, 200, 64), drawn(1, 1, 200, 64), True, scale=scale) < 0.05


def test_many_small_powers_beside_a_large_one() -> None:
    """The last key, which comes first, has as much weight as 1200 others."""
    q, k = np.ones((1, 1, 64, 64), ml_dtypes.float8_e4m3fn), np.zeros((1, 1, 1200, 64), ml_dtypes.float8_e4m3fn)
    k[:, :, -1] = 1.0
    v = (drawn(1, 1, 1200, 64).astype(np.float32) + 1).astype(k.dtype)
    assert error_of(q, k, v, True, scale=np.log(1200.0) / 64) < 0.04


@flyc.jit
def turn(V: fx.Tensor, turned: fx.Tensor, dv: fx.Constexpr):
    turn_kernel(V, turned, dv).launch(grid=(fx.Int32(turned.shape[3]) // BLOCK, 2, 1), block=(THREADS, 1, 1))


@pytest.mark.parametrize("dv", [32, 96])
def test_the_order_of_turned_values(dv: int) -> None:
    """Each thread of four has, of sixteen keys, two neighbours of the first eight and two of the others."""
    v, turned = drawn(1, 2, 130, dv), np.full((1, 2, dv, 256), np.nan, ml_dtypes.float8_e4m3fn)
    turn(v, turned, dv)
    whole = np.zeros((1, 2, 256, dv), v.dtype)
    whole[:, :, :130] = v
    sixteens = whole.swapaxes(2, 3).reshape(1, 2, dv, 16, 16)
    expected = sixteens[..., [0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15]].reshape(turned.shape)
    assert (turned.view(np.uint8) == expected.view(np.uint8)).all()


@flyc.jit
def widen(
    V: fx.Tensor, found: fx.Tensor, scale: fx.Tensor | None, most: fx.Tensor | None, dv: fx.Constexpr, blocks: fx.Int32
):  # fmt: skip
    widen_kernel(V, found, scale, most, dv).launch(grid=(blocks, 2, 1), block=(THREADS, 1, 1))


@pytest.mark.parametrize("dv", [32, 96])
def test_values_in_16_bits(dv: int) -> None:
    """Times scales beside the largest, which may be zero, if blocks have some; nothing is written behind the end."""
    v, scale = drawn(1, 2, 300, dv), np.array([[[0.5, 4.0, 0.25], [0.0, 0.0, 0.0]]], np.float32)
    most = scale.max(-1, keepdims=True)
    for given, weights in (((None, None), None), ((scale, most), scale / np.maximum(most, 1))):
        found = np.full((1, 2, 301, dv), np.nan, np.float16)
        widen(v, found[:, :, :300], *given, dv, -(-300 * dv // (THREADS * WIDENED * TURNS)))
        assert np.isnan(found[:, :, 300]).all()
        assert (found[:, :, :300] == wide(v, weights)).all()  # weights are powers of two


def test_operands_that_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    q, scale = drawn(1, 2, 8, 64), np.ones((1, 2), np.float32)
    for says, tensors, given in (
        ("q is float16; this kernel takes float8_e4m3fn", [q.astype(np.float16)] * 3, {}),
        (r"k_scale must have one element, or be \(1, 2\), or \(1, 2, 1\)", [q] * 3, {"k_scale": scale[:, :1]}),
        ("v_scale must be float32, and is float64", [q] * 3, {"v_scale": scale.astype(np.float64)}),
    ):
        with pytest.raises(ValueError, match=says):
            attention_fp8(*tensors, **given)
    monkeypatch.setenv("ARCH", "gfx942")
    with pytest.raises(ValueError, match="is for Hopper"):
        attention_fp8(q, q, q)
