"""Attention forward on the virtual sm_90a against float64: lengths, head sizes, types, and every feature."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.kernels.attention.attention import attention, choose_plan
from flydsl.kernels.attention.hopper_forward import ForwardPlan
from flydsl.kernels.attention.scores import Features
from tests.support import random_data
from tests.support.attention_reference import attend, check
from tests.support.turns import in_turns

TYPES: dict[str, Any] = {"bf16": ml_dtypes.bfloat16, "f16": np.float16}
SMALL = ForwardPlan(fx.Float16, 64, 64, keys=32, consumers=1, ping_pong=False)
"""One computing warpgroup and few keys a block: quick to compile for the host."""


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    # Most of the time would be LLVM's: these kernels are long, and what they compute here is little.
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


def inputs(
    b: int, h: int, kv: int, queries: int, keys: int, d: int = 64, dv: int | None = None, dtype: str = "f16"
) -> Any:
    rng = random_data.generator()
    shapes = ((b, h, queries, d), (b, kv, keys, d), (b, kv, keys, dv or d))
    return [rng.standard_normal(shape).astype(TYPES[dtype]) for shape in shapes]


def run(shape: tuple[int, ...], plan: ForwardPlan | None = SMALL, dtype: str = "f16", **features: Any) -> None:
    q, k, v = inputs(*shape, dtype=dtype)
    out = np.full((*q.shape[:-1], v.shape[-1]), np.nan, q.dtype)
    found, lse = attention(q, k, v, out=out, return_lse=True, plan=plan, **features)
    assert found is out
    check(out, lse, attend(q, k, v, **features), (shape, features))


def lengths() -> list[tuple[int, int]]:
    drawn = random_data.generator().integers(1, 701, (3, 2))
    return [(1, 1), (63, 33), (64, 32), (65, 31), (130, 97), *((int(q), int(k)) for q, k in drawn)]


@pytest.mark.parametrize("is_causal", [False, True])
def test_lengths(is_causal: bool) -> None:
    """One kernel for all of them. Causal queries before the first key see none: zeros, and minus infinity."""
    for queries, keys in lengths():
        run((1, 2, 1, queries, keys), is_causal=is_causal)


def test_warpgroups_in_turns() -> None:
    """The plan of heads of 128: two warpgroups, and more tiles than blocks."""
    plan = choose_plan(fx.BFloat16, 128, 128, Features(right=True))
    assert (plan.keys, plan.consumers, plan.ping_pong) == (128, 2, True)
    run((2, 4, 2, 300, 420, 128), None, "bf16", is_causal=True)
    run((1, 1, 1, 129, 700, 128), None, "bf16", is_causal=True)


def test_three_warpgroups() -> None:
    run((1, 2, 2, 200, 150), replace(SMALL, consumers=3, ping_pong=True))


@pytest.mark.parametrize(("ping_pong", "joint"), [(False, False), (True, False), (False, True)])
def test_warpgroups_that_pass_blocks_by(ping_pong: bool, joint: bool) -> None:
    """Each of three takes the blocks that its own 64 queries see; the last tile has rows for one or two of them."""
    plan = replace(SMALL, consumers=3, stages=3, ping_pong=ping_pong, joint=joint)
    for queries, keys, left in ((430, 430, 100), (250, 300, 7), (270, 60, 150)):
        run((1, 1, 1, queries, keys), plan, window=(left, 0))


@pytest.mark.parametrize(("blocks", "ping_pong"), [(5, False), (4, True)])
def test_the_last_round_in_parts(blocks: int, ping_pong: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of six tiles one or two are left for the last round: warpgroups of several blocks share them."""
    monkeypatch.setattr("flydsl.kernels.attention.attention.multiprocessors", lambda tensor: blocks)
    plan = replace(SMALL, consumers=3, stages=3, ping_pong=ping_pong)
    for window in in_turns(((None, None), (100, 0))):
        for queries, keys in ((430, 300), (385, 470)):
            run((1, 2, 1, queries, keys), plan, window=window)


def test_blocks_that_are_cut_behind_the_first() -> None:
    """Blocks as long as a warpgroup has queries are cut once in a tile where there are as many keys as queries."""
    plan = replace(SMALL, keys=64)
    assert not replace(plan, features=Features(right=True)).cuts_several
    ways: list[dict[str, Any]] = [{"is_causal": True}, {"window": (60, 5)}]
    for way in in_turns(ways):
        for queries, keys in ((128, 128), (70, 150), (130, 100)):
            run((1, 2, 1, queries, keys), plan, **way)


def test_plans_of_short_heads() -> None:
    """Where a window reaches over few blocks, those that it ends with count: 80 keys take more of them than 64."""
    wanted = {None: 80, 1025: 64, 100000: 80}
    assert {reach: choose_plan(fx.BFloat16, 64, 64, Features(True, True), reach).keys for reach in wanted} == wanted


def test_queries_of_the_next_tile_fit_or_wait() -> None:
    """Two tiles of queries where shared memory has room for them."""
    stages = {d: choose_plan(fx.BFloat16, d, d).q_stages for d in (64, 128, 192, 256)}
    assert stages == {64: 2, 128: 2, 192: 2, 256: 1}


@pytest.mark.parametrize(("d", "dv"), [(32, 32), (96, 96), (192, 128), (256, 256)])
def test_head_sizes(d: int, dv: int) -> None:
    run((1, 2, 1, 70, 90, d, dv), SMALL, "bf16", is_causal=True)


@pytest.mark.parametrize("window", [(40, 20), (40, None), (None, 7), (0, 0)], ids=str)
def test_windows(window: tuple[int | None, int | None]) -> None:
    for queries, keys in ((200, 170), (70, 260)):
        run((1, 1, 1, queries, keys), window=window)


def test_what_is_added_to_scores(rng: np.random.Generator) -> None:
    """All at once, and a mask that is one for all heads."""
    slopes, sinks = rng.uniform(0, 0.3, 2).astype(np.float32), rng.standard_normal(2).astype(np.float32)
    mask = rng.standard_normal((2, 1, 70, 90)).astype(np.float32)
    mask[0, 0, :, 40:] = -np.inf
    ways: list[dict[str, Any]] = [
        {"is_causal": True, "softcap": 3.0, "alibi_slopes": slopes, "sinks": sinks, "scale": 0.3},
        {"attn_mask": mask},
        {"attn_mask": mask[:, :, :, :1]},
        {"is_causal": True, "sinks": sinks, "scale": -0.2},
    ]
    for way in in_turns(ways, 2):
        run((2, 2, 1, 70, 90), **way)


def test_scores_that_grow() -> None:
    """Keys are taken from the last to the first. Scores that grow on the way, by far, make levels move."""
    q, k, v = inputs(1, 1, 1, 100, 300)
    q, k = q * np.float16(6), (k * np.linspace(6, 0.01, 300)[:, None]).astype(np.float16)
    out, lse = attention(q, k, v, return_lse=True, plan=SMALL)
    check(out, lse, attend(q, k, v))
    out, lse = attention(q, k - np.float16(300), v, return_lse=True, plan=SMALL)
    assert np.isfinite(out).all() and np.isfinite(lse).all()


@pytest.mark.parametrize("joint", [False, True])
def test_sequences_of_different_lengths(joint: bool) -> None:
    """One behind the other; some are empty. What lies between rows of the tensors stays as it is."""
    queries, keys = np.array([0, 70, 70, 71, 200]), np.array([0, 33, 97, 97, 250])
    q, k, v = (x[0].swapaxes(0, 1) for x in inputs(1, 2, 1, 200, 250))
    whole = np.full((200, 4, 64), np.nan, np.float16)
    out, lse = attention(
        q, k, v, out=whole[:, 1:3], cu_seqlens_q=queries.astype(np.int32), cu_seqlens_k=keys.astype(np.int32),
        max_seqlen_q=129, is_causal=True, return_lse=True, plan=replace(SMALL, joint=joint),
    )  # fmt: skip
    for (a, b), (c, d) in zip(pairwise(queries), pairwise(keys), strict=True):
        parts = [x[None, s:e].swapaxes(1, 2) for x, s, e in ((q, a, b), (k, c, d), (v, c, d))]
        if b > a:
            check(out[a:b].swapaxes(0, 1)[None], lse[None, :, a:b], attend(*parts, is_causal=True), (a, b, c, d))
    assert np.isnan(whole[:, [0, 3]]).all()


def test_any_order_of_memory() -> None:
    q, k, v = (x.swapaxes(1, 2).copy().swapaxes(1, 2) for x in inputs(2, 2, 2, 40, 50))
    out = np.full((2, 40, 2, 64), np.nan, np.float16).swapaxes(1, 2)
    attention(q, k, v, out=out, plan=SMALL)
    check(out, None, attend(q, k, v))


def test_nothing_to_see() -> None:
    q, k, v = inputs(1, 2, 1, 5, 4)
    out, lse = attention(q, k[:, :, :0], v[:, :, :0], return_lse=True)
    assert (out == 0).all() and np.isneginf(lse).all()
    assert attention(q[:, :, :0], k, v).shape == (1, 2, 0, 64)


# What is refused -------------------------------------------------------------------------------------


def refused(says: str, q: Any, k: Any, v: Any, **given: Any) -> None:
    with pytest.raises(ValueError, match=says):
        attention(q, k, v, **given)


def test_operands_that_do_not_fit() -> None:
    q, k, v = inputs(1, 6, 4, 8, 9)
    refused("6 query heads cannot share 4 key heads", q, k, v)
    q, k, v = inputs(2, 2, 2, 8, 9)
    refused(r"q must be \(batch, heads, tokens, d\), and its shape is \(2, 8, 64\)", q[0], k, v)
    refused("shapes do not fit", q, k[:, :, :8], v)
    refused("q is float16, k is float32 and v is float16", q, k.astype(np.float32), v)
    refused("q is float32; this kernel takes bfloat16, float16", *(x.astype(np.float32) for x in (q, k, v)))
    refused("those of q and k have 24", *(x[..., :24].copy() for x in (q, k, v)))
    refused("k must have contiguous heads", q, k.swapaxes(2, 3).copy().swapaxes(2, 3), v)
    refused("cu_seqlens_q and cu_seqlens_k are given together", q, k, v, cu_seqlens_q=np.zeros(2, np.int32))
    refused(
        r"attn_mask has the shape \(3, 9\) and cannot be taken as \(2, 2, 8, 9\)", q, k, v, attn_mask=q[0, 0, :3, :9]
    )
    refused(r"sinks must be \(2,\), got \(3,\)", q, k, v, sinks=np.zeros(3, np.float32))
    refused(r"alibi_slopes must be \(2,\) or \(2, 2\), got \(3,\)", q, k, v, alibi_slopes=np.zeros(3, np.float32))
    refused("its left side is -1", q, k, v, window=(-1, None))
    refused("scale must be finite", q, k, v, scale=float("nan"))
    starts = np.array([0, 8], np.int64)
    flat = [x[0].swapaxes(0, 1) for x in (q, k, v)]
    refused("cu_seqlens_q is a vector of int32", *flat, cu_seqlens_q=starts, cu_seqlens_k=starts)
