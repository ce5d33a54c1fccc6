"""Attention over paged caches on the virtual sm_90a against float64: pages, lengths, parts, several new tokens.

Few rows of queries that share keys, and short sequences, are multiplied by warps, others by a warpgroup: most is asked
of both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.kernels.attention import paged, parts
from flydsl.kernels.attention.hopper_forward import ForwardPlan
from flydsl.kernels.attention.paged import (
    choose_decode_plan,
    is_for_warps,
    lengthen_ring,
    mla_decode,
    paged_attention,
    paged_workspace,
)
from flydsl.kernels.attention.parts import Sizes, choose_cut, choose_short_cut
from tests.support import random_data
from tests.support.attention_reference import attend, check
from tests.support.paged_cases import in_pages
from tests.support.turns import in_turns

SMALL = ForwardPlan(fx.Float16, 64, 64, keys=64)
both = pytest.mark.parametrize("warps", [True, False], ids=["warps", "a warpgroup"], indirect=True)


@pytest.fixture
def warps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Who multiplies, whatever is asked."""
    monkeypatch.setattr(paged, "is_for_warps", lambda *_: request.param)
    return request.param


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


def caches(lengths: list[int], page: int, kv: int, d: int, dtype: Any) -> Any:
    """Caches, tables and what is in them."""
    found = in_pages(lengths, page, kv, (d, d), dtype, random_data.generator(), "apart")
    return found.caches, found.tables, found.contents


def run(
    lengths: list[int], page: int, heads: tuple[int, int] = (4, 2), tokens: int = 1, d: int = 64,
    dtype: Any = np.float16, plan: ForwardPlan | None = SMALL, **features: Any,
) -> None:  # fmt: skip
    (k, v), tables, contents = caches(lengths, page, heads[1], d, dtype)
    q = random_data.generator().standard_normal((len(lengths), tokens, heads[0], d)).astype(dtype)
    context = np.array(lengths, np.int32)
    given = q[:, 0] if tokens == 1 else q
    out = np.full(given.shape, np.nan, dtype)
    paged_attention(given, k, v, tables, context, out=out, plan=plan, **features)
    out = out.reshape(q.shape)
    for row, content in enumerate(contents):
        parts = [x.swapaxes(0, 1)[None] for x in (q[row], *content)]
        known = {name: value for name, value in features.items() if name in ("softcap", "sinks", "scale")}
        expected = attend(*parts, is_causal=True, window=(features.get("window"), None), **known)
        check(out[row].swapaxes(0, 1)[None], None, expected, (lengths, page, row))


@both
def test_lengths(warps: bool) -> None:
    """One kernel for all: sequences of one part and of several, and one that has no token at all."""
    drawn = random_data.generator().integers(1, 701, 3)
    ways = ([[1, 63, 64, 65, 0, *(int(n) for n in drawn)]], (8, 2)), ([[1200], [900, 3]], (4, 1))
    for several, heads in in_turns(ways):
        for some in several:
            run(some, 16, heads)


@both
@pytest.mark.parametrize("page", [1, 48, 64, 256])
def test_pages(page: int, warps: bool) -> None:
    run([300, 57], page, (8, 2))


@both
def test_several_new_tokens(warps: bool) -> None:
    run([300, 257, 3], 16, (8, 2), tokens=3)


@both
@pytest.mark.parametrize("several", [False, True], ids=["one part", "several"])
@pytest.mark.parametrize("what", ["window", "sinks and a cap"])
def test_what_is_done_to_scores(what: str, several: bool, warps: bool) -> None:
    """A window leaves out the first parts, and no key at all leaves the sink."""
    heads = (4, 1) if several else (8, 2)
    if what == "window":
        run([1200, 500] if several else [400, 57], 16, heads, window=400 if several else 100)
    else:
        sinks = random_data.generator().standard_normal(heads[0]).astype(np.float32)
        run([1000, 0] if several else [400, 57], 16, heads, sinks=sinks, softcap=4.0)


@pytest.mark.parametrize("d", [32, 64, 96, 128, 256])
def test_plans_of_its_own(d: int) -> None:
    """Heads of 256 are multiplied by warps where sequences are short."""
    run([200, 300], 16, (16, 2), d=d, dtype=ml_dtypes.bfloat16, plan=None)


def test_rows_of_four_warps() -> None:
    run([70, 3], 16, (60, 1), d=256, plan=None)


def test_who_multiplies() -> None:
    """Warps do so, unless sequences are long, and so are heads, or rows are many."""
    tables = {keys: np.zeros((2, keys // 16), np.int32) for keys in (512, 4096)}
    cases = (128, 4096, 32, True), (128, 4096, 33, False), (256, 512, 64, True), (192, 4096, 4, False)
    for d, keys, group, warps in cases:
        q, cache = np.zeros((2, group, d), np.float16), np.zeros((3, 16, 1, d), np.float16)
        assert is_for_warps(q, cache, tables[keys]) == warps
        assert is_for_warps(q, cache.astype(ml_dtypes.float8_e5m2), tables[keys])


def test_stages_that_fit_into_shared_memory() -> None:
    """Longer heads have fewer keys of a block, or one stage less; so has a sequence a multiprocessor, to let the next
    launch in."""

    def sizes(d: int, dv: int, waiting: float = 2.0) -> tuple[int, int]:
        plan = choose_decode_plan(fx.BFloat16, d, dv, False, False, waiting)
        return plan.keys, plan.stages

    found = [sizes(128, 128), sizes(192, 128), sizes(256, 64), sizes(128, 128, 1.0), sizes(128, 128, 0.1)]
    assert found == [(128, 3), (128, 2), (64, 3), (64, 3), (64, 3)]
    by_warps = [
        choose_decode_plan(fx.BFloat16, d, d, False, True, 2.0, longest=n).keys for d in (64, 128) for n in (99, 999)
    ]
    assert by_warps == [64, 128, 64, 64]  # small blocks for short sequences


def test_a_ring_of_many_stages() -> None:
    """Where blocks of threads have a multiprocessor each, and the ring room for all that they load."""

    def stages(d: int, part: int, alone: bool) -> int:
        return lengthen_ring(ForwardPlan(fx.BFloat16, d, d, 64, 3), parts.Cut(part, 4), alone).stages

    found = [stages(*of) for of in ((128, 6, True), (128, 1, True), (128, 7, True), (128, 4, False), (256, 4, True))]
    assert found == [6, 6, 3, 3, 3]
    q, cache = np.zeros((2, 4, 128), np.float16), np.zeros((3, 16, 1, 128), np.float16)
    found = [
        paged._plan_of(fx.Float16, q, cache, cache, np.zeros((2, keys // 16), np.int32), False, True).stages
        for keys in (128, 2048)
    ]
    assert found == [6, 3]


def test_a_workspace_serves_call_after_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counters are zero again behind a call."""
    monkeypatch.setattr(paged, "turns_of", parts.parts_of)
    lengths, page = [900, 700], 16
    (k, v), tables, _ = caches(lengths, page, 1, 64, np.float16)
    q = np.zeros((2, 4, 64), np.float16)
    workspace = paged_workspace(q, k, v, tables, SMALL)
    assert workspace[0].shape[1] > 1  # parts
    for _ in range(2):
        out = paged_attention(q, k, v, tables, np.array(lengths, np.int32), workspace=workspace, plan=SMALL)
        assert np.isfinite(out).all() and (workspace[2] == 0).all()


@both
@pytest.mark.parametrize("window", [None, 700])
def test_the_last_round_is_cut(window: int | None, warps: bool) -> None:
    """Of nine sequences four blocks of threads take eight whole, and parts of the ninth; lengths are of any order."""
    lengths, page = [200, 1, 0, 1500, 640, 64, 300, 513, 1300], 16
    run(lengths, page, (4, 1), window=window)
    (k, v), tables, _ = caches(lengths, page, 1, 64, np.float16)
    q = np.zeros((len(lengths), 4, 64), np.float16)
    workspace = paged_workspace(q, k, v, tables, SMALL)
    assert workspace[0].shape[:2] == (1, 6)
    for _ in range(2):
        out = paged_attention(q, k, v, tables, np.array(lengths, np.int32), workspace=workspace, plan=SMALL)
        assert np.isfinite(out).all() and (workspace[2] == 0).all()


@both
@pytest.mark.parametrize("d", [64, 96])
def test_a_launch_of_its_own_puts_parts_together(d: int, warps: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of no key, one part and several, of few parts and of many; with a sink and without, and with first parts that a
    window leaves out. No counter is touched."""
    cuts = []

    def apart(*given: Any) -> parts.Cut:
        cuts.append(parts.Cut(1, parts.key_blocks(*given[2:]), 0, True))
        return cuts[-1]

    monkeypatch.setattr(paged, "turns_of", apart)
    counters, plan = np.full(64, 7, np.int32), replace(SMALL, d=d, dv=d)
    sinks = random_data.generator().standard_normal(10).astype(np.float32)
    ways: list[tuple[list[int], int, int, int, dict[str, Any]]] = [
        ([1300, 0, 64, 1, 200], 10, 3, 21, {"sinks": sinks}), ([130, 3], 10, 1, 3, {"window": 30}),
        ([130, 1, 64, 70] * 10, 8, 1, 3, {}),  # several rows a block
    ]  # fmt: skip
    for lengths, heads, tokens, splits, features in in_turns(ways):
        run(lengths, 16, (heads, 1), tokens, d, plan=plan, counters=counters, **features)
        assert cuts.pop().splits == splits and not cuts and (counters == 7).all()


@both
@pytest.mark.parametrize("splits", [2, 3, 8])
def test_a_cluster_puts_parts_together(splits: int, warps: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of as many blocks of threads as there are parts, and of more; of no key, one part and several, with a sink and
    without, and with first parts that a window leaves out. Nothing goes through memory."""
    cluster, page = min(size for size in parts.CLUSTERS if size >= splits), 16
    monkeypatch.setattr(paged, "turns_of", lambda *_: parts.Cut(1, splits, 0, False, cluster))
    counters, most = np.full(64, 7, np.int32), 64 * splits
    sinks = random_data.generator().standard_normal(10).astype(np.float32)
    run([most, 0, 64, 1, 65], page, (10, 1), 3, 128, plan=None, sinks=sinks, counters=counters)
    run([most, most - 63], page, (8, 2), 1, 64, plan=SMALL, window=70, counters=counters)
    q, cache = np.zeros((2, 8, 64), np.float16), np.zeros((4, 16, 2, 64), np.float16)
    room, _, _ = paged_workspace(q, cache, cache, np.zeros((2, 4), np.int32), SMALL)
    assert room.shape[1] == 1 and (counters == 7).all()


@pytest.mark.parametrize(
    ("sequences", "keys", "rows", "splits", "cluster"),
    [
        (8, 2345, 16, 8, 8), (24, 1000, 16, 4, 4), (8, 600, 8, 5, 8), (112, 65, 8, 1, 1), (8, 4096, 8, 16, 1),
        (72, 462, 16, 1, 1),
    ],
)  # fmt: skip
def test_where_clusters_put_parts_together(sequences: int, keys: int, rows: int, splits: int, cluster: int) -> None:
    """A few parts, where all clusters run at once; more parts are worth more where sequences are long."""
    cut = choose_short_cut(sequences, -(-keys // 64), 132, Sizes(64, 512, 512 * rows))
    assert (cut.splits, cut.cluster, cut.apart) == (splits, cluster, False)


def test_parts_fill_the_device() -> None:
    short, long = Sizes(64, 512, 4096), Sizes(64, 512, 32768)
    assert choose_cut(512, 64, 132, short).splits == 1
    assert 132 >= 8 * choose_cut(8, 32, 132, short).splits > 100
    assert choose_cut(2, 128, 132, short).splits == 2 * choose_cut(2, 128, 132, long).splits  # which are dear to merge


@pytest.mark.parametrize(
    ("sequences", "keys", "rows", "apart"), [(4, 9000, 64, True), (1, 4096, 64, True), (8, 4096, 8, False)]
)
def test_where_parts_are_put_together(sequences: int, keys: int, rows: int, apart: bool) -> None:
    """By a launch of its own where one block would read much, or many parts: then all multiprocessors have some."""
    cut = choose_short_cut(sequences, -(-keys // 64), 132, Sizes(64, 512, 512 * rows))
    assert cut.apart == apart
    assert 132 >= sequences * cut.splits > 60


@pytest.mark.parametrize(
    ("sequences", "keys", "least", "most"), [(136, 5940, 16, 93), (512, 8192, 4, 16), (1024, 1024, 1, 1)]
)
def test_the_last_sequences_end_with_the_others(
    sequences: int, keys: int, least: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few that are left become many parts, many some, and short ones none."""
    monkeypatch.setattr(parts, "multiprocessors", lambda _: 132)
    cache, tables = np.zeros((1, 16, 1, 128), np.float16), np.zeros((1, -(-keys // 16)), np.int32)
    cut = parts.turns_of(cache, sequences, cache, tables, parts.Sizes(64, 512, 4096))
    assert least <= cut.splits <= most
    assert cut.whole == (sequences // 132 * 132 if cut.splits > 1 else 0)


def test_operands_that_do_not_fit() -> None:
    q, cache = np.zeros((2, 4, 64), np.float16), np.zeros((3, 16, 2, 64), np.float16)
    tables, lengths = np.zeros((2, 1), np.int32), np.zeros(2, np.int32)
    for says, given in {
        "4 query heads cannot share 3 key heads": (q, *[np.zeros((3, 16, 3, 64), np.float16)] * 2, tables, lengths),
        r"k_cache is \(pages, tokens, kv heads, d\)": (q, cache[0], cache, tables, lengths),
        "shapes do not fit": (q, cache, cache[:2], tables, lengths),
        "pages of 5 tokens do not do for heads of 32 elements of 16 bits on Hopper: give pages a multiple of 2": (
            q[..., :32], *[np.zeros((3, 5, 2, 32), np.float16)] * 2, tables, lengths,
        ),
        r"block_tables must be \(2, 'pages'\) of int32": (q, cache, cache, tables[:1], lengths),
        r"context_lens must be \(2,\) of int32, got \(2,\) of int64": (q, cache, cache, tables, np.zeros(2, np.int64)),
        "33 new tokens of 2 heads each that share keys are 66 rows; 64 fit": (
            np.zeros((2, 33, 4, 64), np.float16), cache, cache, tables, lengths,
        ),
    }.items():  # fmt: skip
        with pytest.raises(ValueError, match=says):
            paged_attention(*given)


@pytest.mark.parametrize("arch", ["sm_90a", "gfx942"])
def test_results_that_do_not_fit(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shorter one was written behind its end."""
    monkeypatch.setenv("ARCH", arch)
    q, cache = np.zeros((2, 4, 64), np.float16), np.zeros((3, 16, 2, 64), np.float16)
    given, latent = (np.zeros((2, 1), np.int32), np.full(2, 5, np.int32)), np.zeros((3, 16, 576), np.float16)
    for says, wrong in {
        r"out must be \(2, 4, 64\) of float16, got \(2, 3, 64\)": {"out": q[:, :3].copy()},
        r"got \(2, 4, 64\) of float32": {"out": q.astype(np.float32)},
        "out must have contiguous heads": {"out": np.asfortranarray(q)},
        "out must have strides that are not negative": {"out": q[::-1]},
        "counters are 4 of int32 or more, got 3 of int32": {"counters": np.zeros(3, np.int32)},
    }.items():
        with pytest.raises(ValueError, match=says):
            paged_attention(q, cache, cache, *given, **wrong)
    with pytest.raises(ValueError, match=r"out must be \(2, 16, 512\) of float16, got \(2, 16, 500\)"):
        mla_decode(np.zeros((2, 16, 576), np.float16), latent, *given, out=np.zeros((2, 16, 500), np.float16))


def test_counters_of_all_sequences_where_some_are_not_cut() -> None:
    """Those that are cut, eight here, have counters, and what blocks take next has one behind them."""
    sequences, page = 140, 64
    q, cache = np.zeros((sequences, 1, 64), np.float16), np.zeros((2, page, 1, 64), np.float16)
    tables, lengths = np.zeros((sequences, 64), np.int32), np.full(sequences, 5, np.int32)
    with pytest.raises(ValueError, match="counters are 140 of int32 or more, got 8 of int32"):
        paged_attention(q, cache, cache, tables, lengths, counters=np.zeros(8, np.int32))
