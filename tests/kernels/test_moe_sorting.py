"""Sorting tokens by expert on the virtual GPU, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.kernels.moe.references import Order, order_length, route, sort_by_expert
from flydsl.kernels.moe.row_order import MOST_RANKED, RowOrder, routes_itself, sort_rows
from flydsl.kernels.moe.sorting import (
    fits_one_launch,
    moe_softmax_sort_flydsl,
    moe_sorting_flydsl,
    moe_sorting_get_workspace_size,
    served_mask,
)

TARGETS = ("gfx942", "gfx950", "gfx1250", "sm_90a")


def empty_order(tokens: int, experts: int, topk: int, unit: int) -> Order:
    """Buffers full of what nobody wrote, with guards behind them."""
    entries = order_length(tokens, topk, experts, unit)
    return Order(
        np.full(entries + 8, -77, np.int32), np.full(entries + 8, np.nan, np.float32),
        np.full(-(-entries // unit) + 8, -77, np.int32), np.full(4, -77, np.int32),
    )  # fmt: skip


def check_order(got: Order, want: Order) -> None:
    for found, expected in zip(got, want, strict=True):
        np.testing.assert_array_equal(found[: len(expected)], expected)
        rest = found[len(expected) :]
        assert (np.isnan(rest) if rest.dtype == np.float32 else rest == -77).all(), "wrote behind a buffer"


def check(ids: np.ndarray, experts: int, unit: int, mask: Any = None, local: Any = None) -> None:
    rng, (tokens, topk) = np.random.default_rng(1), ids.shape
    weights = rng.uniform(0.1, 1, ids.shape).astype(np.float32)
    order, buffer = empty_order(tokens, experts, topk, unit), np.full((tokens, 6), 1.0, np.float16)
    moe_sorting_flydsl(ids, weights, *order, buffer, experts, unit, mask, local)
    there = None if local is None else int(np.ravel(local)[0])
    check_order(order, sort_by_expert(ids, weights, experts, unit, mask, there))
    assert (buffer == 0).all()


@pytest.mark.parametrize("arch", TARGETS)
def test_orders(arch: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """One kernel for each number of experts; many numbers of tokens, masks and ids."""
    monkeypatch.setenv("ARCH", arch)
    for tokens, experts, topk, unit in ((1, 8, 2, 32), (31, 64, 6, 16), (5, 64, 6, 16), (0, 64, 6, 16)):
        check(rng.integers(0, experts, (tokens, topk)).astype(np.int32), experts, unit)
        mask = rng.integers(0, 2, experts).astype(np.int32)
        check(rng.integers(0, experts, (tokens, topk)).astype(np.int32), experts, unit, mask)


def test_two_launches(rng: np.random.Generator) -> None:
    """More pairs than one block takes: experts of all kinds, tokens that list an expert twice."""
    for tokens in (128, 257, 700, 4096):
        assert (moe_sorting_get_workspace_size(tokens, 256, 8) > 0) == (tokens > 256)
        check(rng.integers(0, 256, (tokens, 8)).astype(np.int32), 256, 32)
    check(rng.integers(0, 256, (700, 8)).astype(np.int32), 256, 32, rng.integers(0, 2, 256).astype(np.int32))
    check(np.full((700, 8), 255, np.int32), 256, 32)  # all on one expert


def test_more_experts_than_threads(rng: np.random.Generator) -> None:
    for tokens in (16, 1024):
        check(rng.integers(0, 513, (tokens, 9)).astype(np.int32), 513, 32)


def test_ids_that_are_no_experts_and_tokens_that_are_not_there(rng: np.random.Generator) -> None:
    ids = rng.integers(-3, 12, (40, 3))
    check(ids, 8, 16)  # int64, as torch.topk gives them
    check(ids + (rng.integers(0, 2, ids.shape) << 32), 8, 16)  # no experts, though their low words may be
    check(ids.astype(np.int32), 8, 16, local=17)
    check(ids.astype(np.int32), 8, 16, local=np.array([17], np.int32))
    check(ids.astype(np.int32), 8, 16, local=np.array([99], np.int32))
    check(np.full((40, 3), -1, np.int32), 8, 16)


def test_no_thread_reads_what_another_writes(rng: np.random.Generator) -> None:
    with flyc.sanitize("race", "barrier", "bounds"):
        check(rng.integers(0, 16, (100, 4)).astype(np.int32), 16, 16)
        check(rng.integers(0, 16, (600, 4)).astype(np.int32), 16, 16)
        ids = rng.integers(0, 16, (100, 4)).astype(np.int32)
        check_rows(sort_rows(ids, np.ones(ids.shape, np.float32), 16), ids, np.ones(ids.shape), np.ones(16))


def logits_apart(rng: np.random.Generator, tokens: int, experts: int) -> np.ndarray:
    """Return logits of which no two of a token are so near each other that rounding decides their order."""
    rows = np.tile(np.linspace(-3.0, 3.0, experts, dtype=np.float32), (tokens, 1))
    return rng.permuted(rows, axis=1)


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_gating_and_order(arch: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few tokens by one launch, more by several."""
    monkeypatch.setenv("ARCH", arch)
    experts, topk, unit = 64, 6, 16
    assert fits_one_launch(33, experts, topk) and not fits_one_launch(257, experts, topk)
    for tokens in (1, 33, 257):
        logits = logits_apart(rng, tokens, experts)
        ids, weights = np.zeros((tokens, topk), np.int32), np.zeros((tokens, topk), np.float32)
        order, buffer = empty_order(tokens, experts, topk, unit), np.ones((tokens, 8), np.float16)
        moe_softmax_sort_flydsl(logits, weights, ids, *order, buffer, experts, topk, "f32", unit)
        want_ids, want_weights = route(logits, topk)
        np.testing.assert_array_equal(ids, want_ids)
        np.testing.assert_allclose(weights, want_weights, rtol=1e-5)
        check_order(order, sort_by_expert(ids, weights, experts, unit))
        assert (buffer == 0).all()


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_rows_of_groups(arch: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs that are ranked and, more of them, counted; with and without a mask, experts twice and none."""
    monkeypatch.setenv("ARCH", arch)
    for tokens in (0, 1, 50, 1 + MOST_RANKED // 3):
        ids = rng.integers(-1, 17, (tokens, 3)).astype(np.int32)
        weights, mask = rng.uniform(0, 1, ids.shape).astype(np.float32), rng.integers(0, 2, 16).astype(np.int32)
        for there in (mask, None):
            check_rows(sort_rows(ids, weights, 16, there), ids, weights, mask if there is not None else mask * 0 + 1)


def test_experts_that_are_named_first_are_served(rng: np.random.Generator) -> None:
    """Of any number, some with more turns of threads; a mask of no more experts than have weights stays itself."""
    for experts, here in ((8, 3), (300, 100), (300, 0), (513, 500)):
        mask = rng.integers(0, 3, experts).astype(np.int8)
        named = np.flatnonzero(mask)[:here]
        np.testing.assert_array_equal(np.flatnonzero(served := served_mask(mask, here, None)), named)
        assert served.dtype == np.int32 and (served[named] == 1).all() and served_mask(mask, experts, None) is mask


def check_rows(got: RowOrder, ids: np.ndarray, weights: np.ndarray, mask: np.ndarray) -> None:
    pairs = [np.flatnonzero(ids.ravel() == e) for e in np.flatnonzero(mask)]
    listed = np.concatenate([np.zeros(0, int), *pairs])
    local = np.cumsum([len(p) for p in pairs])
    np.testing.assert_array_equal(got.ends[: len(local)], local)
    assert (got.ends[len(local) :] == len(listed)).all()
    np.testing.assert_array_equal(got.targets[: len(listed)], listed)
    np.testing.assert_array_equal(got.tokens[: len(listed)], listed // ids.shape[1])
    np.testing.assert_array_equal(got.weights[: len(listed)], weights.ravel()[listed])


def test_routed_rows_of_groups(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of logits: by one block, and in a launch of their own."""
    monkeypatch.setenv("ARCH", "sm_90a")
    experts, topk = 64, 6
    assert routes_itself(33, experts, topk) and not routes_itself(70, experts, topk)
    for tokens in (1, 33, 70):
        logits, mask = logits_apart(rng, tokens, experts), rng.integers(0, 2, experts)
        ids, weights = np.full((tokens, topk), -1, np.int32), np.full((tokens, topk), np.nan, np.float32)
        got = sort_rows(ids, weights, experts, mask.astype(np.int32), logits=logits)
        want_ids, want_weights = route(logits, topk)
        np.testing.assert_array_equal(ids, want_ids)
        np.testing.assert_allclose(weights, want_weights, rtol=1e-5)
        check_rows(got, ids, weights, mask)


def test_bad_buffers_are_refused() -> None:
    ids, weights = np.zeros((4, 2), np.int32), np.zeros((4, 2), np.float32)
    order = empty_order(4, 8, 2, 16)
    short = order._replace(ids=order.ids[:100])
    with pytest.raises(ValueError, match="sorted_ids holds 100 of int32; it must have at least 134 of int32"):
        moe_sorting_flydsl(ids, weights, *short, None, 8, 16)
    with pytest.raises(ValueError, match="topk_weights holds 8 of float64"):
        moe_sorting_flydsl(ids, weights.astype(np.float64), *order, None, 8, 16)
    with pytest.raises(ValueError, match="expert_mask holds 7 of int32"):
        moe_sorting_flydsl(ids, weights, *order, None, 8, 16, np.ones(7, np.int32))
    with pytest.raises(ValueError, match="no multiple of that"):
        moe_sorting_flydsl(ids, weights, *order, np.zeros(3, np.float16), 8, 16)
    with pytest.raises(ValueError, match="unit_size is 1 to 65536, got 0"):
        moe_sorting_flydsl(ids, weights, *order, None, 8, 0)


def test_a_buffer_whose_elements_lie_apart_is_refused() -> None:
    """A copy of it would be cleared in its place."""
    ids, weights, buffer = np.zeros((3, 2), np.int32), np.ones((3, 2), np.float32), np.ones((3, 8), np.float16)
    with pytest.raises(ValueError, match=r"moe_buf must be contiguous; it is \(3, 4\)"):
        moe_sorting_flydsl(ids, weights, *empty_order(3, 8, 2, 16), buffer[:, :4], 8, 16)
