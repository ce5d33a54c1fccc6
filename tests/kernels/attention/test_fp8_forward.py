"""Attention of 8-bit tensors on the virtual sm_90a against float64: lengths, heads, scales of every kind."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention import fp8_forward
from flydsl.kernels.attention.fp8_forward import (
    BLOCK,
    THREADS,
    attention_fp8,
    choose_fp8_plan,
    turn_kernel,
    whole_fp8_plan,
)
from flydsl.kernels.attention.hopper_forward import REGISTERS, SHARED_BYTES, ForwardPlan
from flydsl.kernels.attention.scores import PLAIN
from tests.support import random_data
from tests.support.attention_reference import attend

SMALL = ForwardPlan(fx.Float8E4M3FN, 64, 64, keys=32, consumers=1, ping_pong=False)
UNIT = 2**-4
"""The relative error of one rounding to 8 bits."""


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


def drawn(*shape: int) -> Any:
    return random_data.generator().standard_normal(shape).astype(ml_dtypes.float8_e4m3fn)


def wide(tensor: Any, scale: Any) -> Any:
    """What a tensor and its scale mean."""
    scale = np.asarray(1.0 if scale is None else scale, np.float64)
    if scale.ndim == 3:
        scale = np.repeat(scale, BLOCK, -1)[..., : tensor.shape[2]]
    return tensor.astype(np.float64) * scale.reshape(*scale.shape, *[1] * (4 - scale.ndim))


def run(
    shape: tuple[int, ...], scales: Any = (None, None, None), plan: ForwardPlan | None = SMALL, **asked: Any
) -> None:
    """Powers are rounded to 8 bits, or lost if they are very small; results once to bf16."""
    b, h, kv, queries, keys, d = shape
    q, k, v = drawn(b, h, queries, d), drawn(b, kv, keys, d), drawn(b, kv, keys, d)
    given = dict(zip(("q_scale", "k_scale", "v_scale"), scales, strict=True))
    out, lse = attention_fp8(q, k, v, **given, return_lse=True, plan=plan, **asked)
    tensors = [wide(x, scale) for x, scale in zip((q, k, v), scales, strict=True)]
    expected = attend(*tensors, **asked)
    weights = attend(tensors[0], tensors[1], np.abs(tensors[2]), **asked).out
    spread = np.abs(tensors[2]).max()
    off = np.abs(out.astype(np.float64) - expected.out)
    assert (off <= UNIT * weights + 2**-8 * np.abs(expected.out) + 2**-14 * keys * spread).all(), (shape, asked)
    seen = np.isfinite(expected.lse)
    assert (np.isneginf(lse) == ~seen).all() and np.abs(lse[seen] - expected.lse[seen]).max() < 1e-4


def test_lengths() -> None:
    """One kernel for all; causal queries that see no key get zeros."""
    lengths = random_data.generator().integers(1, 301, 2)
    for queries, keys in ((1, 1), (65, 33), (70, 130), (int(lengths[0]), int(lengths[1]))):
        run((1, 2, 1, queries, keys, 64), is_causal=True)


def test_scales() -> None:
    """Of tensors and of heads in one kernel, of blocks in another; these change from block to block by a hundred."""
    rng = random_data.generator()

    def some(*shape: int) -> Any:
        return np.exp(rng.uniform(-2, 2, shape)).astype(np.float32)

    run((2, 2, 1, 70, 90, 64), (some(1), some(2, 1), some(1)))
    blocks = (some(1, 2, 1), some(1, 1, 3) / 8, some(1, 1, 3))
    for keys in (BLOCK, BLOCK // 2):
        run((1, 2, 1, 70, 300, 64), blocks, ForwardPlan(fx.Float8E4M3FN, 64, 64, keys, consumers=1, ping_pong=False))


@pytest.mark.parametrize("blocked", [False, True])
def test_plans_fit_into_registers(blocked: bool) -> None:
    """Results, scores, and powers of two blocks, four in a word; 16 are left for others.

    ptxas runs each product alone where they do not, and says that registers were insufficient.
    """
    for d, dv in ((64, 64), (128, 128), (192, 128), (160, 160), (192, 192), (256, 256)):
        for queries in (128, 16384):
            plan = choose_fp8_plan(d, dv, blocked, (queries, 16, 132))
            held = plan.dv // 2 + plan.keys // 2 + plan.keys // 4
            assert held <= REGISTERS[plan.consumers][1] - 16, plan


def test_tiles_are_those_that_are_done_soonest() -> None:
    """Of 16 heads, 16384 queries are 16 rounds of 128 or 11 of 192; one tile a multiprocessor had better be small."""
    found = {queries: choose_fp8_plan(128, 128, False, (queries, 16, 132)) for queries in (16384, 1024)}
    assert {queries: plan.queries for queries, plan in found.items()} == {16384: 192, 1024: 128}


def test_many_keys_and_a_window() -> None:
    """The keys of the plan of heads up to 128."""
    keys = choose_fp8_plan(128, 128, False, (1024, 16, 132)).keys
    plan = ForwardPlan(fx.Float8E4M3FN, 64, 64, keys, consumers=1, ping_pong=False)
    assert keys > SMALL.keys
    run((1, 2, 2, 70, 350, 64), plan=plan, window=(200, 20))


def test_results_of_runs_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of whole runs and parts of one, and where levels move between them."""
    monkeypatch.setattr(fp8_forward, "FEW_KEYS", 64)
    monkeypatch.setattr(fp8_forward, "RUN_KEYS", 64)
    for keys in (64, 65, 96, 128, 161, 300):
        run((1, 1, 1, 70, keys, 64), is_causal=keys % 2 == 0)
    test_scores_that_grow()
    q = drawn(1, 1, 64, 64), drawn(1, 1, 300, 64), drawn(1, 1, 300, 64)
    apart, together = (attention_fp8(*q, plan=SMALL, use_fast_accum=fast).astype(np.float32) for fast in (False, True))
    assert np.abs(apart - together).max() < 2**-6  # the virtual GPU adds up in f32
    run((1, 1, 1, 230, 350, 64), plan=ForwardPlan(fx.Float8E4M3FN, 64, 64, 32, 4, 3, False))


@pytest.mark.parametrize("d, dv", [(64, 64), (128, 128), (192, 128), (192, 192), (256, 256)])
@pytest.mark.parametrize("blocked", [False, True])
def test_sums_of_runs_have_room(d: int, dv: int, blocked: bool) -> None:
    plan = whole_fp8_plan(choose_fp8_plan(d, dv, blocked, (16384, 16, 132)), d, dv, PLAIN, "head", True)
    held = plan.q_stages * plan.queries * d + plan.stages * plan.keys * (d + dv) + 4 * plan.summed
    assert plan.run > 1 and plan.stages >= 2 and held <= SHARED_BYTES


def test_three_warpgroups() -> None:
    run((1, 1, 1, 230, 350, 64), plan=ForwardPlan(fx.Float8E4M3FN, 64, 64, 96, 4, 3, False), is_causal=True)


def test_scores_that_grow() -> None:
    """Levels move where powers come near 448, the end of their type."""
    q, k, v = drawn(1, 1, 64, 64), drawn(1, 1, 160, 64), drawn(1, 1, 160, 64)
    k = (k.astype(np.float32) * np.linspace(6, 0.01, 160)[:, None]).astype(k.dtype)
    out = attention_fp8(q, k, v, plan=SMALL)
    expected = attend(*(x.astype(np.float64) for x in (q, k, v))).out
    assert np.linalg.norm(out.astype(np.float64) - expected) < 0.05 * np.linalg.norm(expected)


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


def test_calls_of_other_lengths_ask_with_the_same_plan() -> None:
    """A launch compares a plan that it knows as an object, and any other by all that is in it."""
    chosen = [choose_fp8_plan(128, 128, False, (queries, 16, 132)) for queries in (700, 800)]
    first, second = (whole_fp8_plan(plan, 128, 128, PLAIN, "head", True) for plan in chosen)
    assert first is second
