"""Gradients of attention on the virtual sm_90a against float64: lengths, head sizes, features, sequences, order."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.kernels.attention import backward as backward_of_tensors
from flydsl.kernels.attention.backward import attention_backward, choose_backward_plan
from flydsl.kernels.attention.backward_tiles import BackwardPlan
from flydsl.kernels.attention.hopper_forward import SHARED_BYTES
from flydsl.kernels.blocks.inputs import HOST_BLOCKS
from tests.support import random_data
from tests.support.attention_reference import attend, check_gradients, gradients
from tests.support.turns import in_turns

TYPES: dict[str, Any] = {"bf16": ml_dtypes.bfloat16, "f16": np.float16}
SMALL = BackwardPlan(fx.Float16, 64, 64, queries=32, keys=64, consumers=1)
"""One computing warpgroup and few queries: quick to compile for the host."""
TWO_LAUNCHES = replace(SMALL, widest=32, pair=2)
"""As of long heads."""
HOW = ("deterministic", "parts")
"""What is about the way to gradients, and not about these."""


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    # Most of the time would be LLVM's: these kernels are long, and what they compute here is little.
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


def inputs(b: int, h: int, kv: int, queries: int, keys: int, d: int = 64, dv: int = 0, dtype: str = "f16") -> Any:
    """dout, q, k, v."""
    rng = random_data.generator()
    shapes = ((b, h, queries, dv or d), (b, h, queries, d), (b, kv, keys, d), (b, kv, keys, dv or d))
    return [rng.standard_normal(shape).astype(TYPES[dtype]) for shape in shapes]


def run(shape: tuple[int, ...], plan: BackwardPlan | None = SMALL, dtype: str = "f16", **features: Any) -> Any:
    dout, q, k, v = inputs(*shape, dtype=dtype)
    how = {name: features.pop(name) for name in HOW if name in features}
    results = attend(q, k, v, **features)
    out, lse = results.out.astype(q.dtype), results.lse.astype(np.float32)
    features.pop("sinks", None)  # they are in the logarithms
    given = (dout, q, k, v, out, lse)
    found = attention_backward(*given, plan=plan, **how, **features)
    return given, found


def checked(shape: tuple[int, ...], plan: BackwardPlan | None = SMALL, dtype: str = "f16", **features: Any) -> None:
    (dout, q, k, v, _, _), found = run(shape, plan, dtype, **features)
    features = {name: value for name, value in features.items() if name not in HOW}
    check_gradients(found, gradients(dout, q, k, v, **features), (shape, features))


def test_lengths() -> None:
    """One kernel for all. Causal queries before the first key see none, and keys may be seen by no query."""
    drawn = random_data.generator().integers(1, 201, (1, 2))
    for queries, keys in ((1, 1), (33, 63), (64, 64), (100, 70), *((int(q), int(k)) for q, k in drawn)):
        checked((1, 2, 1, queries, keys), is_causal=True, deterministic=True)
    checked((2, 2, 2, 40, 70), is_causal=True, deterministic=True)


def test_lengths_in_two_launches() -> None:
    """Tiles of queries are taken two at a time for dV: behind the last one there may be one without rows."""
    drawn = random_data.generator().integers(2, 201, (1, 2))
    ways: list[dict[str, Any]] = [{"is_causal": True}, {"window": (40, 20), "deterministic": True}]
    for way in in_turns(ways):
        for queries, keys in ((2, 1), (33, 63), (64, 64), (100, 70), (40, 160), *((int(q), int(k)) for q, k in drawn)):
            checked((2, 2, 1, queries, keys), TWO_LAUNCHES, **way)


@pytest.mark.parametrize(("d", "queries"), [(128, 32), (64, 128)])
def test_two_warpgroups(d: int, queries: int) -> None:
    """One has too few queries for two warpgroups, and computes dq transposed."""
    plan = BackwardPlan(fx.BFloat16, d, d, queries)
    assert plan.transposed == (d == 128)
    checked((1, 2, 1, 70, 150, d), plan, "bf16", is_causal=True)


def test_uneven_heads() -> None:
    """One warpgroup, or two that make more sums for dq than there are elements: the others are nobody's."""
    assert choose_backward_plan(fx.Float16, 64, 96).consumers == 1
    assert choose_backward_plan(fx.Float16, 96, 32).sums == 128
    for shape, is_causal in in_turns((((1, 1, 1, 70, 90, 64, 96), False), ((1, 2, 1, 70, 150, 96, 32), True))):
        checked(shape, None, is_causal=is_causal)


@pytest.mark.parametrize("heads", [(192, 128), (256, 256), (160, 224), (64, 256), (256, 32)], ids=str)
def test_launches_of_long_heads(heads: tuple[int, int]) -> None:
    """One finds dV, and one dK and, piece by piece, dQ. Both have room, and one size of what rows need."""
    plan = choose_backward_plan(fx.BFloat16, *heads)
    keys, values = plan.launches
    assert (values.finds_values, values.finds_keys, keys.finds_values, keys.finds_keys) == (True, False, False, True)
    assert max(values.shared_bytes, keys.shared_bytes) <= SHARED_BYTES and values.unit == keys.unit == plan.unit
    assert [i for first, count in keys.pieces for i in range(first, first + count)] == [*range(heads[0])]


@pytest.mark.parametrize("heads", [(192, 128), (160, 224), (256, 32)], ids=str)
def test_columns_of_long_heads(heads: tuple[int, int]) -> None:
    """On AMD launches find some columns of all; one finds the last ones again where there are too few."""
    plan = BackwardPlan(fx.BFloat16, *heads)
    assert len(plan.parts) == 2
    of_parts = [(part.key_columns, part.value_columns) for part in plan.parts]
    for extent, columns in zip(heads, zip(*of_parts, strict=True), strict=True):
        assert {i for first, count in columns for i in range(first, first + count)} == set(range(extent))
        assert max(count for _, count in columns) <= plan.widest


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((1, 2, 1, 70, 150, 192, 128), {"dtype": "bf16", "is_causal": True, "deterministic": True}),
        ((1, 1, 1, 70, 90, 64, 256), {}),
        ((1, 2, 1, 100, 150, 256, 256), {"dtype": "bf16", "is_causal": True}),
    ],
    ids=str,
)
def test_long_heads(shape: tuple[int, ...], options: dict[str, Any]) -> None:
    checked(shape, None, **options)


@pytest.mark.parametrize("window", [(40, 20), (0, 0)], ids=str)
def test_windows(window: tuple[int, int]) -> None:
    for queries, keys in ((120, 100), (40, 160)):
        checked((1, 1, 1, queries, keys), window=window)


def test_what_is_added_to_scores(rng: np.random.Generator) -> None:
    """All at once: a cap, slopes, a mask, sinks, which only the logarithms know, and a negative scale."""
    mask = rng.standard_normal((2, 1, 70, 90)).astype(np.float32)
    mask[0, 0, :, 40:] = -np.inf
    slopes, sinks = rng.uniform(0, 0.3, 2).astype(np.float32), rng.standard_normal(2).astype(np.float32)
    for scale in (0.3, -0.2):
        checked((2, 2, 1, 70, 90), softcap=3.0, alibi_slopes=slopes, attn_mask=mask, sinks=sinks, scale=scale)


@pytest.mark.parametrize("plan", [SMALL, TWO_LAUNCHES], ids=("one", "two"))
def test_parts(plan: BackwardPlan) -> None:
    """Blocks share a tile of keys: parts begin within a head, and some may have nothing to do."""
    drawn = random_data.generator().integers(2, 201, (1, 2))
    ways: list[dict[str, Any]] = [{"is_causal": True, "parts": 3}, {"window": (40, 20), "parts": 5}]
    for way in in_turns(ways):
        for queries, keys in ((200, 130), (100, 70), (2, 1), *((int(q), int(k)) for q, k in drawn)):
            checked((2, 4, 2, queries, keys), plan, **way)


def test_parts_in_order() -> None:
    """The same bits each time, whatever blocks share: they add to dq in the order of their keys."""
    given, once = run((1, 2, 1, 200, 140), is_causal=True, deterministic=True, parts=4)
    check_gradients(once, gradients(*given[:4], is_causal=True))
    for parts, same in ((4, (0, 1, 2)), (1, (0,))):
        again = attention_backward(*given, is_causal=True, plan=SMALL, deterministic=True, parts=parts)
        assert all((once[i] == again[i]).all() for i in same)


def test_few_tiles_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """One tile of keys and many queries: blocks have parts of these, also where heads of queries are as many."""
    chosen: list[int] = []
    room = backward_of_tensors.room_for_parts
    monkeypatch.setattr(
        backward_of_tensors, "room_for_parts", lambda given, parts: chosen.append(parts) or room(given, parts)
    )
    checked((1, 1, 1, 2000, 60))
    checked((1, 2, 1, 1100, 60))
    assert chosen == [HOST_BLOCKS] * 2


def test_parts_of_sequences() -> None:
    """Rows that belong to no sequence have gradients of zero."""
    queries, keys = np.array([10, 80, 80, 200], np.int32), np.array([20, 90, 97, 130], np.int32)
    dout, q, k, v = (x[0].swapaxes(0, 1).copy() for x in inputs(1, 2, 1, 230, 150))
    out, lse = np.zeros_like(q), np.zeros((2, 230), np.float32)
    spans = [(slice(a, b), slice(c, d)) for (a, b), (c, d) in zip(pairwise(queries), pairwise(keys), strict=True)]
    for own, others in spans:
        expected = attend(*(x[None, at].swapaxes(1, 2) for x, at in ((q, own), (k, others), (v, others))))
        out[own], lse[:, own] = expected.out[0].swapaxes(0, 1), expected.lse[0]
    grads = tuple(np.full_like(x, 7) for x in (q, k, v))
    attention_backward(
        dout, q, k, v, out, lse, cu_seqlens_q=queries, cu_seqlens_k=keys, max_seqlen_q=120, max_seqlen_k=70, plan=SMALL,
        grads=grads, parts=3,
    )  # fmt: skip
    for own, others in spans:
        part = [x[None, at].swapaxes(1, 2) for x, at in ((dout, own), (q, own), (k, others), (v, others))]
        mine = [x[None, at].swapaxes(1, 2) for x, at in zip(grads, (own, others, others), strict=True)]
        check_gradients(mine, gradients(*part), (own, others))
    assert all(
        not x[: at[0]].any() and not x[at[-1] :].any() for x, at in zip(grads, (queries, keys, keys), strict=True)
    )


@pytest.mark.parametrize("plan", [SMALL, TWO_LAUNCHES], ids=("one", "two"))
def test_sequences_of_different_lengths(plan: BackwardPlan) -> None:
    """One behind the other; some are empty. One is NaN, and its neighbours are not."""
    queries, keys = np.array([0, 70, 70, 71, 200, 230]), np.array([0, 33, 97, 97, 200, 250])
    tensors = [x[0].swapaxes(0, 1).copy() for x in inputs(1, 2, 1, 230, 250)]
    dout, q, k, v = tensors
    for x, starts in zip(tensors, (queries, queries, keys, keys), strict=True):
        x[starts[3] : starts[4]] = np.nan
    out, lse = np.zeros_like(q), np.zeros((2, 230), np.float32)
    parts = []
    for (a, b), (c, d) in zip(pairwise(queries), pairwise(keys), strict=True):
        part = [x[None, s:e].swapaxes(1, 2) for x, s, e in ((dout, a, b), (q, a, b), (k, c, d), (v, c, d))]
        expected = attend(*part[1:], is_causal=True)
        out[a:b], lse[:, a:b] = expected.out[0].swapaxes(0, 1), expected.lse[0]
        parts.append(((a, b, c, d), part))
    found = attention_backward(
        dout, q, k, v, out, lse, cu_seqlens_q=queries.astype(np.int32), cu_seqlens_k=keys.astype(np.int32),
        max_seqlen_q=129, max_seqlen_k=103, is_causal=True, plan=plan,
    )  # fmt: skip
    for (a, b, c, d), part in parts:
        mine = [x[None, s:e].swapaxes(1, 2) for x, s, e in zip(found, (a, c, c), (b, d, d), strict=True)]
        if not np.isnan(part[1]).any():
            check_gradients(mine, gradients(*part, is_causal=True), (a, b, c, d))


def test_the_same_bits() -> None:
    """Blocks that add in the order of their keys give the same sums each time."""
    given, once = run((1, 2, 1, 80, 140), is_causal=True, deterministic=True)
    check_gradients(once, gradients(*given[:4], is_causal=True))
    again = attention_backward(*given, is_causal=True, plan=SMALL, deterministic=True)
    assert all((a == b).all() for a, b in zip(once, again, strict=True))


def test_the_reference_is_the_slope_of_the_results(rng: np.random.Generator) -> None:
    """Finite differences of `attend` in float64, in a direction drawn at random."""
    tensors = [rng.standard_normal(shape) for shape in ((1, 2, 5, 4), (1, 1, 7, 4), (1, 1, 7, 3))]
    dout, sinks = rng.standard_normal((1, 2, 5, 3)), rng.standard_normal(2)
    features: dict[str, Any] = {"is_causal": True, "softcap": 2.0, "sinks": sinks, "window": (4, None)}
    for i, (gradient, _) in enumerate(gradients(dout, *tensors, **features)):
        step = rng.standard_normal(tensors[i].shape) * 1e-6
        ends = [attend(*(x + sign * step if j == i else x for j, x in enumerate(tensors)), **features).out
                for sign in (1, -1)]  # fmt: skip
        assert np.isclose((dout * (ends[0] - ends[1])).sum() / 2, (gradient * step).sum(), rtol=1e-4)


def test_nothing_to_see() -> None:
    dout, q, k, v = inputs(1, 2, 1, 5, 4)
    lse = np.full((1, 2, 5), -np.inf, np.float32)
    dq, dk, _ = attention_backward(dout, q, k[:, :, :0], v[:, :, :0], np.zeros_like(q), lse)
    assert (dq == 0).all() and dk.shape == (1, 1, 0, 64)


def test_operands_that_do_not_fit() -> None:
    dout, q, k, v = inputs(1, 2, 1, 8, 9)
    lse = np.zeros((1, 2, 8), np.float32)
    for says, given in {
        r"dout must be as out, \(1, 2, 8, 64\) of float16, got \(1, 2, 7, 64\)": (dout[:, :, :7], q, k, v, q, lse),
        r"lse must be \(1, 2, 8\) of float32, got \(1, 2, 8\) of float64": (dout, q, k, v, q, lse.astype(np.float64)),
    }.items():
        with pytest.raises(ValueError, match=says):
            attention_backward(*given)
    grads = q.copy(), k.copy(), v.copy()
    for says, wrong in {
        r"the gradient of q is float16 of \(1, 2, 8, 64\) .* got float16 of \(1, 2, 7": (q[:, :, :7], *grads[1:]),
        "the gradient of v is float16 .* got float32": (*grads[:2], v.astype(np.float32)),
        "the gradient of k must have contiguous heads": (q, np.asfortranarray(k), v),
    }.items():
        with pytest.raises(ValueError, match=says):
            attention_backward(dout, q, k, v, q, lse, grads=wrong)
    with pytest.raises(ValueError, match="blocks that share a tile of keys are one or more, got 0 parts"):
        attention_backward(dout, q, k, v, q, lse, parts=0)
    large = inputs(1, 1, 1, 8, 9, 288)
    with pytest.raises(ValueError, match="up to 256, and those of q and k have 288"):
        attention_backward(*large, large[1], lse[:, :1])
