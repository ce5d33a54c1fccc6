"""Attention of 8-bit tensors on the virtual sm_90a against float64: lengths, heads, scales of every kind."""

from __future__ import annotations

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
    whole_fp8_plan,
    widen_kernel,
)
from flydsl.kernels.attention.hopper_forward import REGISTERS, SHARED_BYTES, ForwardPlan
from flydsl.kernels.attention.scores import PLAIN
from tests.support import random_data
from tests.support.attention_reference import attend

SMALL = ForwardPlan(fx.Float8E4M3FN, 64, 64, keys=32, consumers=1, ping_pong=False)
FAST = pytest.mark.parametrize("fast", [False, True])
"""Whether powers and values have 8 bits, too."""


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
    shape: tuple[int, ...], fast: bool, scales: Any = (None, None, None), plan: ForwardPlan = SMALL, **asked: Any
) -> None:
    """Powers, and values with scales, are rounded to f16, or powers to 8 bits; tiny ones are lost; results are bf16."""
    b, h, kv, queries, keys, d = shape
    q, k, v = drawn(b, h, queries, d), drawn(b, kv, keys, d), drawn(b, kv, keys, d)
    given = dict(zip(("q_scale", "k_scale", "v_scale"), scales, strict=True))
    out, lse = attention_fp8(q, k, v, **given, return_lse=True, use_fast_accum=fast, plan=plan, **asked)
    tensors = [wide(x, scale) for x, scale in zip((q, k, v), scales, strict=True)]
    expected = attend(*tensors, **asked)
    weights = attend(tensors[0], tensors[1], np.abs(tensors[2]), **asked).out
    spread = np.abs(tensors[2]).max()
    off = np.abs(out.astype(np.float64) - expected.out)
    unit, lost = (2**-4, 2**-14) if fast else (2**-10, 2**-24)
    assert (off <= unit * weights + 2**-8 * np.abs(expected.out) + lost * keys * spread).all(), (shape, asked)
    seen = np.isfinite(expected.lse)
    assert (np.isneginf(lse) == ~seen).all() and np.abs(lse[seen] - expected.lse[seen]).max() < 1e-4


@FAST
def test_lengths(fast: bool) -> None:
    """One kernel for all; causal queries that see no key get zeros."""
    lengths = random_data.generator().integers(1, 301, 2)
    for queries, keys in ((1, 1), (65, 33), (70, 130), (int(lengths[0]), int(lengths[1]))):
        run((1, 2, 1, queries, keys, 64), fast, is_causal=True)


@FAST
def test_scales(fast: bool) -> None:
    """Of tensors and of heads in one kernel, of blocks in another; these change from block to block by a hundred."""
    rng = random_data.generator()

    def some(*shape: int) -> Any:
        return np.exp(rng.uniform(-2, 2, shape)).astype(np.float32)

    run((2, 2, 1, 70, 90, 64), fast, (some(1), some(2, 1), some(1)))
    blocks = (some(1, 2, 1), some(1, 1, 3) / 8, some(1, 1, 3))
    for keys in (BLOCK, BLOCK // 2):
        plan = ForwardPlan(fx.Float8E4M3FN, 64, 64, keys, consumers=1, ping_pong=False)
        run((1, 2, 1, 70, 300, 64), fast, blocks, plan)


@pytest.mark.parametrize("blocked", [False, True])
@FAST
def test_plans_fit(blocked: bool, fast: bool) -> None:
    """Registers hold results, scores, and powers of two blocks; 16 are left for others.

    ptxas runs each product alone where they do not, and says that registers were insufficient.
    """
    for d, dv in ((64, 64), (128, 128), (192, 128), (256, 128), (160, 160), (192, 192), (256, 256)):
        for queries in (128, 16384):
            plan = choose_fp8_plan(d, dv, blocked, (queries, 16, 132) if fast else None)
            held = plan.dv // 2 + plan.keys // 2 + plan.keys * plan.values.width // 32
            assert held <= REGISTERS[plan.consumers][1] - 16, plan
            assert plan.wide != fast and plan.stages >= 2 and plan.shared_bytes(plan.q_stages) <= SHARED_BYTES
            assert BLOCK % plan.keys == 0 or not blocked


def test_tiles_are_those_that_are_done_soonest() -> None:
    """Of 16 heads, 16384 queries are 16 rounds of 128 or 11 of 192; one tile a multiprocessor had better be small."""
    found = {queries: choose_fp8_plan(128, 128, False, (queries, 16, 132)) for queries in (16384, 1024)}
    assert {queries: plan.queries for queries, plan in found.items()} == {16384: 192, 1024: 128}


def test_many_keys_and_a_window() -> None:
    """The keys of the plan of heads up to 128."""
    keys = choose_fp8_plan(128, 128, False, (1024, 16, 132)).keys
    plan = ForwardPlan(fx.Float8E4M3FN, 64, 64, keys, consumers=1, ping_pong=False)
    assert keys > SMALL.keys
    run((1, 2, 2, 70, 350, 64), True, plan=plan, window=(200, 20))


@FAST
def test_three_warpgroups(fast: bool) -> None:
    plan = ForwardPlan(fx.Float8E4M3FN, 64, 64, 96 if fast else 80, 4, 3, False)
    run((1, 1, 1, 230, 350, 64), fast, plan=plan, is_causal=True)


@FAST
def test_scores_that_grow(fast: bool) -> None:
    """Levels move where powers come near 448, or near the end of f16."""
    q, k, v = drawn(1, 1, 64, 64), drawn(1, 1, 160, 64), drawn(1, 1, 160, 64)
    k = (k.astype(np.float32) * np.linspace(6 if fast else 16, 0.01, 160)[:, None]).astype(k.dtype)
    out = attention_fp8(q, k, v, use_fast_accum=fast, plan=SMALL)
    expected = attend(*(x.astype(np.float64) for x in (q, k, v))).out
    assert np.linalg.norm(out.astype(np.float64) - expected) < (0.05 if fast else 0.005) * np.linalg.norm(expected)


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


@FAST
def test_calls_of_other_lengths_ask_with_the_same_plan(fast: bool) -> None:
    """A launch compares a plan that it knows as an object, and any other by all that is in it."""
    chosen = [choose_fp8_plan(128, 128, False, (queries, 16, 132) if fast else None) for queries in (700, 800)]
    first, second = (whole_fp8_plan(plan, 128, 128, PLAIN, "head", not fast) for plan in chosen)
    assert first is second
