"""A layer of experts for few tokens on the virtual Hopper, by two launches, against float64."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.moe import layer, references
from flydsl.kernels.moe.expert_weights import FP8, prepare_experts, quantised_blocks
from flydsl.kernels.moe.few_tokens import layer as few_tokens
from flydsl.kernels.moe.few_tokens.plan import MOST_PAIRS, MOST_TOKENS, THREADS, WARPS, Stage, plan_stages
from flydsl.kernels.moe.few_tokens.progress import MISSING, AwaitedRows
from flydsl.kernels.moe.layer import route_by, run_experts, run_routed
from flydsl.kernels.moe.references import widened
from tests.support.described_calls import describe_calls
from tests.support.experts import awkward_ids, cosine, guarded, untouched
from tests.support.turns import in_turns

BF16 = ml_dtypes.bfloat16
KINDS = (("plain", np.float16, 32), ("fp8_blockscale", BF16, 128))
"""Kind, type of x, and what extents are multiples of."""


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


def refuse(*_: Any) -> None:
    raise AssertionError("few tokens go by two launches")


def numbers_of(x: np.ndarray, kind: str, side: int) -> np.ndarray:
    """What rows, or weights with gate and up in turns, stand for once they are quantised."""
    if kind == "plain":
        return x.astype(np.float64)
    return widened(*quantised_blocks(x, side, FP8["sm_90a"], None), side, 128).reshape(x.shape)


def expected(x: Any, w1: Any, w2: Any, ids: Any, weights: Any, kind: str) -> np.ndarray:
    experts, rows, depth = w1.shape
    turned = w1.reshape(experts, 2, rows // 2, depth).swapaxes(1, 2).reshape(w1.shape)
    apart = numbers_of(turned, kind, 128).reshape(experts, rows // 2, 2, depth).swapaxes(1, 2).reshape(w1.shape)
    inner = references.stage1(numbers_of(x, kind, 1), apart, ids).astype(x.dtype)
    return references.reduce_slots(
        references.stage2(numbers_of(inner, kind, 1), numbers_of(w2, kind, 128), ids, weights)
    )


@pytest.mark.parametrize(("kind", "dtype", "step"), KINDS, ids=["plain", "fp8"])
def test_random_layers(
    kind: str, dtype: Any, step: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dimensions that batches of columns do not divide, an expert listed twice, one for all, ids of no expert; rows
    around the result stay as they were, and a run is like another."""
    monkeypatch.setattr(layer, "run_groups", refuse)
    experts, topk = int(rng.integers(3, 20)), 3
    model, inter = (step * int(rng.integers(1, 8 if kind == "plain" else 6)) for _ in range(2))
    w1 = (rng.standard_normal((experts, 2 * inter, model)) / model**0.5).astype(dtype)
    w2 = (rng.standard_normal((experts, model, inter)) / inter**0.5).astype(dtype)
    prepared = prepare_experts(w1, w2, kind, "sm_90a")
    for tokens in in_turns((int(rng.integers(1, 5)), int(rng.integers(5, 9)))):
        x = rng.standard_normal((tokens, model)).astype(dtype)
        weights = rng.uniform(0.2, 1, (tokens, topk)).astype(np.float32)
        for ids in awkward_ids(rng, experts, (tokens, topk)):
            (y, whole), (again, _) = (guarded((tokens, model), dtype) for _ in range(2))
            for out in (y, again):
                run_experts(x, ids, weights, prepared, out)
            want = expected(x, w1, w2, ids, weights, kind)
            assert cosine(y, want) >= (0.99999 if kind == "plain" else 0.9995) if want.any() else not y.any()
            assert untouched(whole) and y.tobytes() == again.tobytes()


@pytest.mark.parametrize(("kind", "dtype", "step"), KINDS, ids=["plain", "fp8"])
def test_rows_of_first_experts_go_ahead(
    kind: str, dtype: Any, step: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where blocks have several turns, the second launch holds the rows of the first experts before those of the
    last, of as many experts as warps do not divide, and of tokens that list one twice or none."""
    blocks, tokens, experts, topk, model, inter = 3, 2, 14, 7, step, 2 * step
    monkeypatch.setattr(few_tokens, "multiprocessors", lambda _: blocks)
    w1 = (rng.standard_normal((experts, 2 * inter, model)) / model**0.5).astype(dtype)
    w2 = (rng.standard_normal((experts, model, inter)) / inter**0.5).astype(dtype)
    prepared = prepare_experts(w1, w2, kind, "sm_90a")
    x = rng.standard_normal((tokens, model)).astype(dtype)
    weights = rng.uniform(0.2, 1, (tokens, topk)).astype(np.float32)
    ids = rng.permutation(experts).reshape(tokens, topk).astype(np.int32)
    ids[0, 1], ids[1, 2] = ids[0, 0], -1
    stages = few_tokens.planned(x, layer.Router(ids, weights), prepared, x)
    assert stages is not None
    chosen, first, second = np.unique(ids[ids >= 0]).size, *stages
    ahead = (chosen * first.units - blocks) // first.units // second.side_by_side
    assert 0 < ahead < -(-chosen // second.side_by_side), "some rounds go ahead, and not all"
    (y, whole), (again, _) = (guarded((tokens, model), dtype) for _ in range(2))
    for out in (y, again):
        run_experts(x, ids, weights, prepared, out)
    assert cosine(y, expected(x, w1, w2, ids, weights, kind)) >= (0.99999 if kind == "plain" else 0.9995)
    assert untouched(whole) and y.tobytes() == again.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, BF16, np.float16], ids=["f32", "bf16", "f16"])
def test_routing(dtype: Any, rng: np.random.Generator) -> None:
    """Of logits: of equals the first, as many experts as no warp divides, and NaN for a token that has one."""
    experts, topk, model, inter, tokens = 40, 5, 64, 64, 6
    w1 = (rng.standard_normal((experts, 2 * inter, model)) / 8).astype(np.float16)
    w2 = (rng.standard_normal((experts, model, inter)) / 8).astype(np.float16)
    x, prepared = rng.standard_normal((tokens, model)).astype(np.float16), prepare_experts(w1, w2, "plain", "sm_90a")
    logits = rng.integers(-3, 4, (tokens, experts)).astype(dtype)
    logits[0], logits[1], logits[2, 7] = 0.0, -0.0, np.nan
    logits[1, ::2], logits[3] = 0.0, rng.permutation(np.linspace(-7, -1, experts))
    there = np.arange(tokens) != 2
    for renormalize in in_turns((True, False)):
        y = np.zeros_like(x)
        run_routed(x, route_by(logits, topk, renormalize), prepared, y)
        ids, weights = references.route(logits[there], topk, renormalize)
        assert cosine(y[there], references.moe(x[there], ids, weights, w1, w2)) > 0.99999
        assert np.isnan(y[2]).all()


def test_surplus_threads_write_nothing(rng: np.random.Generator) -> None:
    """A row has fewer pieces than a block has threads."""
    w1, w2, x = (rng.standard_normal(shape).astype(np.float16) / 8 for shape in ((4, 128, 64), (4, 64, 64), (2, 64)))
    ids, weights, y = np.array([[0, 3], [2, 0]], np.int32), np.full((2, 2), 0.5, np.float32), np.zeros_like(x)
    with flyc.sanitize("race"):
        run_experts(x, ids, weights, prepare_experts(w1, w2, "plain", "sm_90a"), y)
    assert cosine(y, references.moe(x, ids, weights, w1, w2)) > 0.99999


def test_groups_of_odd_extents(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Extents that 32 divides and 64 does not, by groups of rows as well."""
    monkeypatch.setattr(few_tokens, "planned", lambda *_: None)
    tokens, experts, topk, model, inter = 5, 8, 2, 96, 160
    w1 = (rng.standard_normal((experts, 2 * inter, model)) / model**0.5).astype(np.float16)
    w2 = (rng.standard_normal((experts, model, inter)) / inter**0.5).astype(np.float16)
    x = rng.standard_normal((tokens, model)).astype(np.float16)
    ids = np.stack([rng.permutation(experts)[:topk] for _ in range(tokens)]).astype(np.int32)
    weights, (y, whole) = rng.uniform(0.2, 1, ids.shape).astype(np.float32), guarded(x.shape, np.float16)
    run_experts(x, ids, weights, prepare_experts(w1, w2, "plain", "sm_90a"), y)
    assert cosine(y, references.moe(x, ids, weights, w1, w2)) > 0.99999 and untouched(whole)


def test_what_others_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """More tokens, more pairs, masks, atomics, arrays that 16 bytes do not divide, and weights that lie apart go by
    groups of rows."""
    monkeypatch.setattr(few_tokens, "run_few", refuse)
    w1, w2 = np.zeros((64, 128, 64), np.float16), np.zeros((64, 64, 64), np.float16)
    prepared, taken = prepare_experts(w1, w2, "plain", "sm_90a"), []
    monkeypatch.setattr(layer, "run_groups", lambda *given: taken.append(given[1]))
    odd = np.zeros(2 * 64 + 1, np.float16)[1:]

    def run(tokens: int, topk: int, x: Any = None, experts: Any = prepared, **more: Any) -> None:
        x = np.zeros((tokens, 64), np.float16) if x is None else x
        ids, weights = np.zeros((tokens, topk), np.int32), np.zeros((tokens, topk), np.float32)
        run_experts(x, ids, weights, experts, np.zeros_like(x), **more)

    with pytest.raises(AssertionError, match="by two launches"):
        run(MOST_TOKENS, MOST_PAIRS // MOST_TOKENS)
    for given in ((MOST_TOKENS + 1, 1), (MOST_TOKENS, MOST_PAIRS // MOST_TOKENS + 1), (1, MOST_PAIRS + 1)):
        run(*given)
    run(2, 2, expert_mask=np.ones(64, np.int32))
    run(2, 2, atomic=True)
    run(2, 2, odd.reshape(2, 64))
    run(2, 2, experts=replace(prepared, w1=np.zeros((64, 128, 128), np.float16)[..., :64]))
    assert len(taken) == 7
    assert plan_stages(4, 8, 256, 7168, 2048, 2) is None, "rows of four tokens are more than a block holds"
    assert plan_stages(1, 8, 256, 7168, 2048, 1) is not None, "the launches are a quarter of the time"
    assert plan_stages(2, 8, 256, 7168, 2048, 1) is None, "weights are nearly all of it, and groups read them faster"


def test_stages_have_all_columns() -> None:
    """Parts of a strip cover its columns and no batch more than each part needs; warps are divided evenly, and a block
    of each launch fits on a multiprocessor."""
    for size, step in ((2, 64), (1, 128)):
        for columns in range(step, 8192, step):
            first, second = plan_stages(1, 8, 16, columns, 128, size), plan_stages(1, 8, 16, 128, columns, size)
            for stage in (first and first[0], second and second[1]):
                if stage is None:
                    continue
                assert stage.columns == columns and WARPS % stage.parts == 0
                covered = stage.parts * stage.batches * stage.batch
                assert columns <= covered < columns + stage.parts * stage.batch
            for pair in (first, second):
                used = sum(WARPS * stage.depth * (stage.slot_bytes + 12) + stage.held_bytes for stage in pair or ())
                assert used < 227 * 1024
    shared = plan_stages(1, 4, 16, 128, 4096, 2)
    assert shared is not None and shared[1].side_by_side == 2, "four experts in two rounds: four warps share one"
    assert plan_stages(1, 8, 16, 2048, 768, 2) is not None and plan_stages(1, 8, 16, 2**17, 128, 2) is None


def test_weights_go_ahead_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first launch waits before it reads anything, and lets the second begin when its rows are marked as
    missing; that sends for weights before it waits for rows, and ends behind the first."""
    describe_calls(monkeypatch)
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "2")
    experts, topk, dtype = 8, 2, BF16
    stages = plan_stages(1, topk, experts, 512, 256, 2)
    assert stages is not None
    ids, weights = np.zeros(topk, np.int32), np.zeros(topk, np.float32)
    x, inner = np.zeros((1, 512), dtype), np.zeros((topk, 256), dtype)
    w1, w2 = np.zeros((experts, 512, 512), dtype), np.zeros((experts, 512, 256), dtype)
    first = few_tokens.compile_first(stages[0], experts, topk, topk, 4)
    second = few_tokens.compile_second(stages[1], experts, topk, topk, True, 4)
    found = []
    for run, given in (
        (first, (x, None, ids, weights, w1, None, inner)),
        (second, (inner, None, ids, weights, w2, None, x)),
    ):
        run(*given, 1)
        found.append(run.specialisations[-1].kernels[0].ptx)
    loads = re.compile(r"cp\.async\.cg|ld\.global")
    first, second = ((text.partition("griddepcontrol.wait")[0], text) for text in found)
    assert not loads.search(first[0])
    before, _, behind = first[1].partition("griddepcontrol.launch_dependents")
    assert re.search(r"st\.relaxed\.gpu.*fence\.acq_rel\.gpu", before, re.DOTALL)
    assert "st.relaxed.gpu" in behind
    assert second[1].partition("ld.relaxed.gpu")[0].count("cp.async.cg") >= 16
    assert "ld.relaxed.gpu" in second[0]


@pytest.mark.parametrize("tokens", [1, 3])
def test_no_row_is_there_at_first(tokens: int, rng: np.random.Generator) -> None:
    """Blocks mark all places that they may write before the second launch begins, and none behind them."""
    experts, blocks, stage = 5, 3, Stage(96, 64, 2, parts=4, held=1)
    inner, whole = guarded((experts * tokens, stage.rows // 2), np.float16)
    inner[:] = rng.standard_normal(inner.shape)

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def mark(rows: fx.Tensor, T: fx.Int32):
        AwaitedRows(rows).begin(stage, blocks, T, fx.Int32(experts))

    @flyc.jit
    def run(rows: fx.Tensor, T: fx.Int32):
        mark(rows, T).launch(grid=(blocks, 1, 1), block=(THREADS, 1, 1), pdl=True)

    run(inner, tokens)
    assert (np.ascontiguousarray(inner).view(np.int64) == MISSING).all() and untouched(whole)


def test_a_row_of_nan_is_there() -> None:
    """A NaN may have all bits set; nobody waits for it for ever."""
    numbers, inner = np.full(4, -1, np.int16).view(np.float16), np.zeros((1, 4), np.float16)

    @flyc.kernel(known_block_size=(1, 1, 1))
    def write(given: fx.Tensor, rows: fx.Tensor):
        AwaitedRows(rows).write(0, 0, fx.make_view(fx.get_iter(given), fx.make_layout(4, 1)).load())

    @flyc.jit
    def run(given: fx.Tensor, rows: fx.Tensor):
        write(given, rows).launch(grid=(1, 1, 1), block=(1, 1, 1))

    run(numbers, inner)
    assert np.isnan(inner).all() and inner.view(np.int64)[0, 0] != MISSING
