"""Row kernels of random shapes, alignments and strides on the virtual GPU of every target, and every kind of plan."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import flydsl.compiler as flyc
import flydsl.ops as ops
from flydsl.kernels.blocks import row_plan, row_resources
from flydsl.kernels.blocks import rows as row_blocks
from flydsl.kernels.blocks.cache_hints import ONCE, TWICE
from flydsl.kernels.blocks.row_plan import RowPlan
from flydsl.kernels.norm.cross_entropy import build_cross_entropy_bwd_module, build_cross_entropy_module
from flydsl.kernels.norm.layernorm import build_layernorm_dynamicquant_module, build_layernorm_module
from flydsl.kernels.norm.norm_rows import NormForm, norm_launcher
from flydsl.kernels.norm.rmsnorm import build_rmsnorm_bwd_module, build_rmsnorm_module
from flydsl.kernels.norm.softmax import build_softmax_module
from flydsl.kernels.norm.softmax_backward import build_softmax_bwd_module
from flydsl.kernels.quant.device_quant import build_block_quant_module, build_mx_quant_module, build_row_quant_module
from tests.support import random_data
from tests.support.described_calls import describe_calls
from tests.support.turns import in_turns

TARGETS = ("gfx942", "gfx950", "gfx1201", "gfx1250", "sm_90a")
KERNELS = ("softmax", "rmsnorm", "layernorm")
DTYPES: dict[str, Any] = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
TOLERANCE = {"f32": 2e-6, "f16": 1e-3, "bf16": 8e-3}
CANARIES = 16
BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "rows.py"


def matrix(shape: tuple[int, int], dtype: str, before: int, gap: int) -> tuple[np.ndarray, np.ndarray]:
    """(all of some memory, a matrix in it that begins ``before`` elements in, with ``gap`` elements between rows)."""
    rows, columns = shape
    memory = np.full(before + rows * (columns + gap) + CANARIES, np.nan, DTYPES[dtype])
    whole = memory[before : before + rows * (columns + gap)].reshape(rows, columns + gap)
    return memory, whole[:, :columns]


def expected(name: str, x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> np.ndarray:
    wide, scale, shift = (array.astype(np.float64) for array in (x, gamma, beta))
    if name == "softmax":
        powers = np.exp(wide - wide.max(1, keepdims=True))
        return powers / powers.sum(1, keepdims=True)
    if name == "rmsnorm":
        return wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-5) * scale
    centred = wide - wide.mean(1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * scale + shift


def check(
    name: str, shape: tuple[int, int], dtype: str, plan: RowPlan | None = None, before: tuple[int, int] = (0, 0),
    gap: tuple[int, int] = (0, 0),
) -> None:  # fmt: skip
    """Run a kernel on matrices that lie in memory as told, and look at every element of the output's memory."""
    rng = random_data.generator()
    _, x = matrix(shape, dtype, before[0], gap[0])
    x[...] = (rng.standard_normal(shape) * 3 + 1).astype(x.dtype)
    gamma, beta = (rng.standard_normal(shape[1]).astype(x.dtype) for _ in range(2))
    memory, y = matrix(shape, dtype, before[1], gap[1])
    rows, columns = shape
    calls: dict[str, Callable[[], Any]] = {
        "softmax": lambda: build_softmax_module(rows, columns, dtype, plan=plan)(x, y, rows),
        "rmsnorm": lambda: build_rmsnorm_module(columns, dtype, plan=plan)(x, gamma, y, rows),
        "layernorm": lambda: build_layernorm_module(columns, dtype, plan=plan)(x, gamma, beta, y, rows),
    }
    calls[name]()
    got, want = y.astype(np.float64), expected(name, x, gamma, beta) if rows else y.astype(np.float64)
    if rows:
        error = np.abs(got - want).max() / max(np.abs(want).max(), 1e-30)
        assert error < TOLERANCE[dtype], error
    y[...] = np.nan
    assert np.isnan(memory.astype(np.float64)).all(), "something beside the rows was written"


@pytest.mark.parametrize("arch", TARGETS)
@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_random_shapes(arch: str, monkeypatch: pytest.MonkeyPatch, data: st.DataObject) -> None:
    monkeypatch.setenv("ARCH", arch)
    name, dtype = data.draw(st.sampled_from(KERNELS)), data.draw(st.sampled_from(sorted(DTYPES)))
    columns = data.draw(st.one_of(st.integers(1, 40), st.integers(41, 600), st.integers(601, 5000)))
    rows = data.draw(st.integers(0, max(1, min(70, 6000 // columns))))
    check(name, (rows, columns), dtype)


PLANS = {
    "a thread a row": RowPlan(33, "bf16", 1, 1, 128, staged=True, bulk=True, hints=ONCE),
    "lanes of a wave": RowPlan(72, "bf16", 8, 8, 16, hints=ONCE),
    "lanes that do not divide the row": RowPlan(1000, "f16", 8, 32, 4, hints=ONCE),
    "rows of a wave that lie apart": RowPlan(129, "bf16", 1, 8, 16, staged=True, bulk=True, spread=4, hints=ONCE),
    "waves of a block": RowPlan(1001, "bf16", 1, 64, 2, staged=True, bulk=True, hints=ONCE),
    "pairs": RowPlan(1002, "bf16", 2, 64, 2, staged=True, bulk=True, hints=ONCE),
    "half as wide accesses": RowPlan(408, "bf16", 4, 16, 4, hints=ONCE),
    "fewer registers": RowPlan(200, "f16", 8, 8, 8, hints=ONCE),
    "loaded again": RowPlan(4104, "f32", 4, 128, 1, keep=False, hints=TWICE),
    "read again": RowPlan(1001, "f16", 1, 64, staged=True, bulk=True, keep=False, hints=ONCE),
    "several rows at once": RowPlan(90, "f16", 2, 16, 2, turns=4, hints=ONCE),
    "a cluster": RowPlan(4104, "f16", 8, 96, 1, 4, hints=ONCE),
    "a cluster through shared memory": RowPlan(4099, "f32", 1, 96, 1, 8, staged=True, bulk=True, hints=ONCE),
    "a cluster with blocks that have nothing": RowPlan(9, "f32", 1, 32, 1, 8, hints=ONCE),
}
"""One of each kind, for sm_90a."""
PLACES = [((0, 0), (0, 0)), ((3, 3), (0, 0)), ((1, 0), (0, 0)), ((0, 0), (5, 0)), ((2, 4), (3, 3))]
"""((elements before input, before output), (gap between rows of input, of output))."""


@pytest.mark.parametrize("kind", PLANS)
@pytest.mark.parametrize("name", KERNELS)
def test_every_kind_of_plan(name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    plan = PLANS[kind]
    places = PLACES if plan.staged else [((0, 0), (0, 0)), ((8, 16), (8, 0))]
    for before, gap in places:
        check(name, (plan.rows + 1, plan.length), plan.dtype, plan, before, gap)


AHEAD = {
    "elements": RowPlan(1001, "bf16", 1, 128, staged=True, bulk=True, keep=False, hints=ONCE, stages=2),
    "vectors by a cluster": RowPlan(
        4104, "f16", 8, 96, cluster=4, staged=True, bulk=True, keep=False, hints=ONCE, stages=3
    ),
    "elements by a cluster": RowPlan(
        4099, "f32", 1, 96, cluster=2, staged=True, bulk=True, keep=False, hints=ONCE, stages=2
    ),
    "short rows whose lines stay": RowPlan(189, "f16", 1, 8, 4, staged=True, bulk=True, hints=ONCE, stages=2, crowd=2),
    "short rows that a thread takes in turn": RowPlan(
        131, "bf16", 1, 16, 2, staged=True, bulk=True, hints=ONCE, stages=2, crowd=2, turns=3
    ),
    "short rows in turn that lie apart in a tile": RowPlan(
        129, "f16", 1, 16, 4, staged=True, bulk=True, hints=ONCE, stages=2, crowd=2, turns=2, spread=2, relays=2
    ),
    "rows of several waves in turn": RowPlan(
        334, "bf16", 2, 64, 1, staged=True, bulk=True, hints=ONCE, stages=2, crowd=2, turns=2
    ),
    "rows of several waves in turn, blocks that begin as others end": RowPlan(
        334, "bf16", 2, 64, 1, staged=True, bulk=True, hints=ONCE, stages=2, crowd=2, turns=2, relays=2
    ),
    "pairs of several waves whose lines stay": RowPlan(
        334, "bf16", 2, 64, 2, staged=True, bulk=True, hints=ONCE, stages=3, crowd=2
    ),
    "short rows that come early": RowPlan(104, "bf16", 8, 4, 8, early=True, crowd=2, hints=ONCE),
    "rows of several waves that come early": RowPlan(520, "f32", 4, 64, early=True, crowd=2, hints=ONCE),
}


RINGS = {
    "of a block": RowPlan(1032, "bf16", 8, 32, keep=False, hints=ONCE, slots=7, chunks=4),
    "of a cluster": RowPlan(1032, "f16", 8, 32, cluster=2, keep=False, hints=ONCE, slots=3, chunks=2),
    "of a block, rows that begin anywhere": RowPlan(1027, "bf16", 8, 64, keep=False, hints=ONCE, slots=4, chunks=3),
    "of a cluster, rows that begin anywhere": RowPlan(
        1027, "f32", 4, 32, cluster=4, keep=False, hints=ONCE, slots=5, chunks=3
    ),
    "of a cluster of 16 blocks, rows that begin anywhere": RowPlan(
        4099, "f32", 4, 32, cluster=16, keep=False, hints=ONCE, slots=9, chunks=4
    ),
    "of a cluster of 16 blocks": RowPlan(1032, "f32", 4, 32, cluster=16, keep=False, hints=ONCE, slots=3, chunks=2),
    "of a block, rows that all begin at one place": RowPlan(
        1027, "bf16", 8, 64, keep=False, hints=ONCE, slots=7, chunks=3, one_place=True
    ),
    "beside lines in shared memory": RowPlan(
        1032, "f32", 4, 32, cluster=2, keep=False, hints=ONCE, slots=5, chunks=2, near_lines=True
    ),
    "beside lines in shared memory, rows that all begin at one place": RowPlan(
        1027, "f32", 4, 32, cluster=2, keep=False, hints=ONCE, slots=5, chunks=2, near_lines=True, one_place=True
    ),
    "beside lines that come for every row": RowPlan(
        1032, "f32", 4, 32, cluster=2, keep=False, hints=ONCE, slots=5, chunks=2, lines_ahead=2
    ),
    "by elements": RowPlan(1027, "f32", 1, 32, cluster=2, keep=False, hints=ONCE, slots=5, chunks=2, near_lines=True),
    "by elements, beside lines that come for every row": RowPlan(
        1027, "f32", 1, 32, cluster=4, keep=False, hints=ONCE, slots=3, chunks=2, lines_ahead=1
    ),
    "of a block, rows in their order that all begin at one place": RowPlan(
        1027, "bf16", 8, 64, keep=False, hints=ONCE, slots=7, chunks=3, one_place=True, in_order=True
    ),
    "of a cluster, rows in their order that all begin at one place": RowPlan(
        1027, "f32", 4, 32, cluster=2, keep=False, hints=ONCE, slots=5, chunks=2, one_place=True, in_order=True
    ),
}
"""Chunks of a row that take turns with the slots of a ring."""


@pytest.mark.parametrize("kind", RINGS)
@pytest.mark.parametrize("name", ["softmax", "layernorm"])
def test_rows_through_a_ring(name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of a few blocks or clusters takes several rows, the second behind lines; those that begin apart go another
    way."""
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setattr(row_plan, "SENT_FIRST", 0)
    monkeypatch.setattr(row_blocks, "places", lambda plan: plan.width if plan.in_order else 3)
    plan = RINGS[kind]
    if plan.near_lines or plan.one_place or plan.lines_ahead:
        monkeypatch.setattr(row_resources, "LINE_REGISTERS", 2 * plan.lanes * 8)  # of two iterations; there are more
        monkeypatch.setattr(row_resources, "RING_REGISTERS", 255)
    for before, gap in PLACES if plan.anywhere else [((8, 16), (8, 0))]:
        check(name, (11, plan.length), plan.dtype, plan, before, gap)


@pytest.mark.parametrize("name", ["softmax", "rmsnorm", "layernorm"])
@pytest.mark.parametrize("chunks", [2, 4])
def test_rows_that_a_ring_gives_to_registers(name: str, chunks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first pass takes them, so that a ring with place for little more than one row is enough."""
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setattr(row_blocks, "places", lambda plan: 3)
    plan = RowPlan(
        2051, "bf16", 8, 32, cluster=2, keep=False, hints=ONCE, slots=chunks + 1, chunks=chunks, into_registers=True
    )
    for before, gap in PLACES:
        check(name, (11, plan.length), plan.dtype, plan, before, gap)


@pytest.mark.parametrize("width", [4, 1])
@pytest.mark.parametrize("name", ["rmsnorm", "layernorm"])
def test_rows_through_a_ring_two_at_a_time(name: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By vectors and by elements: the first pass over a row comes before the second over the one ahead of it."""
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setattr(row_plan, "SENT_FIRST", in_turns((0, 1 << 20))[0])
    monkeypatch.setattr(row_blocks, "places", lambda plan: 3)
    plan = RowPlan(
        1028 - width % 4, "f32", width, 32, cluster=4, keep=False, hints=ONCE, slots=11, chunks=4, overlaps=True
    )
    for rows in (1, 20):
        check(name, (rows, plan.length), "f32", plan)


def loads_and_stores(plan: RowPlan, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a LayerNorm's code for sm_90a has in order: "line" and "row" for loads, "store", "branch", "reduce", and
    "depends" for the bits of lines that a row depends on."""
    describe_calls(monkeypatch)
    x, gamma = np.zeros((2, plan.length), DTYPES[plan.dtype]), np.zeros(plan.length, DTYPES[plan.dtype])
    run = build_layernorm_module(plan.length, plan.dtype, plan=plan)
    run(x, gamma, gamma, np.zeros_like(x), 2)
    kinds = {
        r"ld\.global\.L1::evict_last": "line", r"ld\.global\.L1::no_allocate": "row", r"\tst\.global": "store",
        r"\tbra": "branch", r"shfl": "reduce", r"\tshr\.s32 .*, 31;": "depends",
    }  # fmt: skip
    code = run.specialisations[-1].kernels[0].ptx.splitlines()
    return [kind for line in code for pattern, kind in kinds.items() if re.search(pattern, line)]


@pytest.mark.parametrize("length", [2051, 2048])
def test_lines_of_rings_come_at_once(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a table, and those in shared memory beside registers: no branch and no store is between their loads."""
    describe_calls(monkeypatch)
    monkeypatch.setattr(row_resources, "LINE_REGISTERS", 2 * 32 * 8)
    monkeypatch.setattr(row_resources, "RING_REGISTERS", 255)
    plan = RowPlan(length, "bf16", 8, 32, keep=False, hints=ONCE, slots=5, chunks=2, near_lines=length % 8 == 0)
    x, gamma = np.zeros((2, length), DTYPES["bf16"]), np.zeros(length, DTYPES["bf16"])
    run = build_layernorm_module(length, "bf16", plan=plan)
    run(x, gamma, gamma, np.zeros_like(x), 2)
    kinds = {r"ld\.global\.L1::evict_last": "line", r"\tst\.shared\.v4": "store", r"\tbra|\t@%p\d+ bra": "branch"}
    code = run.specialisations[-1].kernels[0].ptx.splitlines()
    found = [kind for line in code for pattern, kind in kinds.items() if re.search(pattern, line)]
    lines = [place for place, kind in enumerate(found) if kind == "line"]
    assert len(lines) == 2 * (plan.iterations if plan.near_lines else -(-(plan.share + 1) // plan.lanes))
    assert set(found[lines[0] : lines[-1]]) == {"line"}


def test_tables_of_lines_in_f32_have_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are twice as large as those of 16 bits, beside which a ring of rows of 200,001 elements was planned."""
    describe_calls(monkeypatch)
    x, gamma = np.zeros((17, 200_001), DTYPES["bf16"]), np.zeros(200_001, np.float32)
    run = build_layernorm_module(200_001, "bf16", weight_dtype_str="f32")
    run(x, gamma, gamma, x, 17)
    assert run.specialisations[-1].kernels


def test_loads_begin_before_any_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes beyond the row load, too, and the row depends on what was loaded of lines: ptxas puts off such loads."""
    order = loads_and_stores(RowPlan(944, "f16", 8, 128, hints=ONCE), monkeypatch)
    begun = order[: order.index("reduce")]
    assert begun.count("line") == 2 and "branch" not in begun
    assert begun.count("row") == 2  # its own vector, and the first, whose mean sums are about
    assert begun.count("depends") == 1


def test_few_rows_wait_for_the_memory_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All lines are loaded before lanes tell each other anything; so is a row of an odd number of accesses a thread."""
    order = loads_and_stores(RowPlan(3480, "f32", 4, 192, hints=ONCE, few=True), monkeypatch)
    assert order[: order.index("reduce")].count("line") == 10 == order.count("line")
    assert "depends" in loads_and_stores(RowPlan(813, "f16", 1, 192, few=True), monkeypatch)


def test_few_rows_take_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest element by one instruction, and no shuffles behind the barrier: lanes read all waves' numbers."""
    describe_calls(monkeypatch)
    x = np.zeros((2, 600), np.float32)
    plan = RowPlan(600, "f32", 4, 160)
    for few, shuffles in ((False, 16), (True, 5)):
        run = build_softmax_module(2, 600, "f32", plan=replace(plan, few=few))
        run(x, np.zeros_like(x), 2)
        code = run.specialisations[-1].kernels[0].ptx
        assert code.count("shfl.sync") == shuffles and ("redux.sync.max" in code) == few


def test_softmax_of_few_rows_below_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers below zero are in the order of their bits turned around; rows of nothing but -inf have no softmax."""
    monkeypatch.setenv("ARCH", "sm_90a")
    x = np.full((4, 100), -np.inf, np.float32)
    x[0] = -np.arange(100)
    x[1, 40:] = np.arange(60) - 1000
    x[2, 7] = np.nan
    y = np.zeros_like(x)
    build_softmax_module(4, 100, "f32", plan=RowPlan(100, "f32", 1, 64, few=True))(x, y, 4)
    assert np.abs(y[:2] - expected("softmax", x[:2], x[0], x[0])).max() < TOLERANCE["f32"]
    assert np.isnan(y[2:]).all()


@pytest.mark.parametrize("eps", [0.0, 1e-5])
def test_roots_of_subnormal_squares(eps: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where eps keeps such numbers away their root is taken by an instruction that makes them zero."""
    describe_calls(monkeypatch)
    run, x = build_rmsnorm_module(64, "f32", eps=eps), np.zeros((2, 64), np.float32)
    run(x, x[0], np.zeros_like(x), 2)
    assert ("rsqrt.approx.ftz.f32" in run.specialisations[-1].kernels[0].ptx) == (eps > 0)


def test_lines_are_loaded_ahead_of_stores(monkeypatch: pytest.MonkeyPatch) -> None:
    order = loads_and_stores(RowPlan(6144, "bf16", 8, 128, hints=ONCE), monkeypatch)
    assert order[: order.index("store")].count("line") == 4 and order.count("line") == 12


def test_few_lines_are_loaded_beside_the_row_and_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    order = loads_and_stores(RowPlan(248, "bf16", 8, 8, 8, hints=ONCE), monkeypatch)
    assert order[:12] == ["row"] * 4 + ["line"] * 8


def test_squares_of_a_ring_are_added_up_as_chunks_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors that are all loaded before any is squared take the registers that a scale is to stay in."""
    describe_calls(monkeypatch)
    plan = RowPlan(1032, "f32", 4, 32, keep=False, hints=ONCE, slots=12, chunks=8)
    x, gamma = np.zeros((2, plan.length), np.float32), np.zeros(plan.length, np.float32)
    run = build_rmsnorm_module(plan.length, plan.dtype, plan=plan)
    run(x, gamma, np.zeros_like(x), 2)
    code = run.specialisations[-1].kernels[0].ptx.split("shfl.sync.bfly")[0]
    loads = [at.start() for at in re.finditer(r"\tld\.shared\.v4", code)]
    assert len(loads) == plan.iterations and code.index("\tfma.rn.f32") < loads[2]


PIECES = [
    RowPlan(1027, "bf16", 8, 64, pieces=True, hints=ONCE),
    RowPlan(1027, "f32", 4, 32, cluster=4, pieces=True, keep=False, hints=TWICE),
]


@pytest.mark.parametrize("plan", PIECES, ids=["kept", "loaded again by a cluster"])
def test_rows_in_pieces(plan: RowPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that begin anywhere in a piece, alike; a single one, whose first and last piece nobody has as a whole."""
    monkeypatch.setenv("ARCH", "sm_90a")
    for before, gap in PLACES:
        check("softmax", (3, plan.length), plan.dtype, plan, before, gap)
    check("softmax", (1, plan.length), plan.dtype, plan, (3, 3))


EARLY = [
    ("layernorm", RowPlan(1027, "bf16", 8, 64, pieces=True, early=True, hints=ONCE)),
    ("layernorm", RowPlan(333, "f32", 4, 32, pieces=True, early=True, crowd=2, hints=ONCE)),
    ("softmax", RowPlan(1030, "f16", 8, 96, pieces=True, early=True, hints=ONCE)),
]


@pytest.mark.parametrize("name, plan", EARLY, ids=["lines", "f32", "no lines"])
def test_odd_rows_that_come_early(name: str, plan: RowPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block takes rows that begin at one place in a piece: several, one, and none that is not there."""
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setattr(row_blocks, "places", lambda plan: plan.width)
    for before, gap in PLACES:
        check(name, (3 * plan.width + 1, plan.length), plan.dtype, plan, before, gap)
    check(name, (1, plan.length), plan.dtype, plan, (0, 0), (0, 0))


@pytest.mark.parametrize("kind", [*RINGS][1::2])
def test_sources_of_a_ring_that_begin_apart(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setattr(row_blocks, "places", lambda plan: 2)
    plan, rng = replace(RINGS[kind], sources=2), random_data.generator()
    for before in ((0, 0), (3, 3), (0, 5)) if plan.anywhere else ((0, 0),):
        (_, dy), (_, y), (_, dx) = (matrix((5, plan.length), plan.dtype, place, 0) for place in (*before, before[0]))
        dy[...], y[...] = (rng.random(dy.shape).astype(dy.dtype) for _ in range(2))
        build_softmax_bwd_module(plan.length, plan.dtype, plan=plan)(dy, y, dx, 5)
        d, p = dy.astype(np.float64), y.astype(np.float64)
        want = p * (d - (d * p).sum(1, keepdims=True))
        assert np.abs(dx.astype(np.float64) - want).max() < TOLERANCE[plan.dtype] * np.abs(want).max()


@pytest.mark.parametrize("kind", ["a cluster with blocks that have nothing", "loaded again"])
def test_softmax_of_very_low_rows(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Powers are relative to the largest element, not to the zero of waves that have none."""
    monkeypatch.setenv("ARCH", "sm_90a")
    plan = PLANS[kind]
    x = random_data.generator().standard_normal((3, plan.length)) * 4 - 1000
    x = x.astype(DTYPES[plan.dtype])
    y = np.full_like(x, np.nan)
    build_softmax_module(3, plan.length, plan.dtype, plan=plan)(x, y, 3)
    want = expected("softmax", x, x[0], x[0])
    assert np.abs(y.astype(np.float64) - want).max() < TOLERANCE[plan.dtype] * want.max()


def test_layernorm_of_elements_far_from_zero_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variance is of differences, from elements of the row itself; an element that is far off costs few digits."""
    monkeypatch.setenv("ARCH", "sm_90a")
    plan, rng = PLANS["loaded again"], random_data.generator()
    x = (rng.standard_normal((3, plan.length)) + 1000).astype(np.float32)
    x[1, 0] = 1e4
    x[2, plan.length // 2] = -1e5
    gamma, beta = np.ones(plan.length, np.float32), np.zeros(plan.length, np.float32)
    y = np.full_like(x, np.nan)
    build_layernorm_module(plan.length, "f32", plan=plan)(x, gamma, beta, y, 3)
    want = expected("layernorm", x, gamma, beta)
    assert np.abs(y - want).max(1) == pytest.approx(0, abs=2e-4)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_layernorm_of_rows_that_are_far_from_their_first_elements(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Hopper results are of differences from the first elements' mean; rows hardly vary, but for those at times."""
    monkeypatch.setenv("ARCH", "sm_90a")
    columns, rng = 392, random_data.generator()
    x = (rng.integers(0, 2, (3, columns)) * 0.5 + 100).astype(DTYPES[dtype])
    x[1, 0] = -30_000
    x[2] = x[2, 0]
    gamma, beta = np.ones(columns, x.dtype), np.zeros(columns, x.dtype)
    y = np.full_like(x, np.nan)
    for plan in (None, RowPlan(columns, dtype, 8, 32, 4, hints=ONCE)):
        build_layernorm_module(columns, dtype, plan=plan)(x, gamma, beta, y, 3)
        want = expected("layernorm", x, gamma, beta)
        assert np.abs(y.astype(np.float64) - want).max() < TOLERANCE[dtype] * np.abs(want).max()
        assert not y[2].any()


def test_layernorm_of_differences_from_some_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of the elements that come ahead of a row are far off: another one of them is what differences are from."""
    monkeypatch.setenv("ARCH", "sm_90a")
    plan = RowPlan(4099, "f16", 8, 64, cluster=2, keep=False, hints=ONCE, slots=5, chunks=2)
    x = (random_data.generator().standard_normal((9, plan.length)) + 100).astype(np.float16)
    gamma, beta = np.ones(plan.length, x.dtype), np.zeros(plan.length, x.dtype)
    for row in range(9):
        x[row, 8 - 3 * row % 8 : 10 - 3 * row % 8] = 60_000  # in the second piece that the row lies in
    x[4] = x[4, 0]
    y, mean, rstd = np.full_like(x, np.nan), np.zeros(9, np.float32), np.zeros(9, np.float32)
    build_layernorm_module(plan.length, "f16", True, plan=plan)(x, gamma, beta, y, mean, rstd, 9)
    wide = x.astype(np.float64)
    assert mean == pytest.approx(wide.mean(1), rel=1e-6) and not y[4].any()
    assert rstd == pytest.approx((wide.var(1) + 1e-5) ** -0.5, rel=1e-5)


@pytest.mark.parametrize("kind", AHEAD)
@pytest.mark.parametrize("name", KERNELS)
def test_blocks_that_stay(name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of three blocks takes several rows, and memory is used again for those to come."""
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setattr(row_blocks, "places", lambda plan: 3)
    plan = AHEAD[kind]
    for before, gap in PLACES if plan.width == 1 else PLACES[:1]:
        check(name, (10 * plan.tile_rows + 1, plan.length), plan.dtype, plan, before, gap)


@pytest.mark.parametrize("name", KERNELS)
def test_rows_through_shared_memory_without_bulk_copies(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    for before, gap in PLACES:
        check(name, (5, 1001), "bf16", RowPlan(1001, "bf16", 1, 64, 4, staged=True), before, gap)


@pytest.mark.parametrize("name", KERNELS)
def test_a_row_touches_more_pieces_than_a_block_has_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """511 halves fill 63 pieces and lie in 65 of them where they begin behind the first element of one."""
    monkeypatch.setenv("ARCH", "gfx942")
    check(name, (8, 511), "bf16", RowPlan(511, "bf16", 1, 64, staged=True))


LAUNCHERS: dict[str, Callable[[Any, Any], None]] = {
    "softmax": lambda x, y: build_softmax_module(6, 256, "f16")(x, y, 6),
    "rmsnorm": lambda x, y: build_rmsnorm_module(256, "f16")(x, np.ones(256, np.float16), y, 6),
    "gradient": lambda x, y: build_softmax_bwd_module(256, "f16")(x, x, y, 6),
    "norm's gradient": lambda x, y: build_rmsnorm_bwd_module(256, "f16")(
        x, x, y[0], np.ones(6, np.float32), y, np.zeros((6, 256), np.float32), y[1], 6
    ),
    "quantiser": lambda x, y: build_row_quant_module(256, "f16", "i8")(x, y.astype(np.int8), np.ones(6, np.float32), 6),
    "quantiser of groups": lambda x, y: build_mx_quant_module(256, "f16")(
        x, y[:, :128].astype(np.uint8), np.zeros((6, 8), np.uint8), 6
    ),
    "quantiser of blocks": lambda x, y: build_block_quant_module(256, "f16", quant="i8")(
        x, y.astype(np.int8), np.ones((6, 2), np.float32), 6
    ),
}


@pytest.mark.parametrize("name", LAUNCHERS)
def test_matrices_whose_columns_lie_together_are_refused(name: str, rng: np.random.Generator) -> None:
    """They were read as if rows did; windows that overlap have rows that lie together, whatever their first stride."""
    x, y = np.array(rng.standard_normal((6, 256)), np.float16), np.zeros((6, 256), np.float16)
    columns = np.array(x, order="F")
    with pytest.raises((RuntimeError, ValueError), match=r"elements of a row must lie side by side, .* lie 6 apart"):
        LAUNCHERS[name](columns, y)
    windows = np.lib.stride_tricks.sliding_window_view(rng.standard_normal(261).astype(np.float32), 256)
    result = np.empty_like(windows)
    build_softmax_module(6, 256, "f32")(windows, result, 6)
    np.testing.assert_allclose(result, expected("softmax", windows, x[0], x[0]), rtol=1e-5)


@pytest.mark.parametrize("name", LAUNCHERS)
@pytest.mark.parametrize("shape", [(4, 256), (6, 192)])
def test_rows_that_are_not_there_are_refused(name: str, shape: tuple[int, int]) -> None:
    """Neither six rows nor 256 elements of each: what lies behind them was read and written."""
    x, y = np.zeros(shape, np.float16), np.zeros((6, 256), np.float16)
    says = rf"6 rows of \d+ elements are asked for, and a matrix has {shape[0]} of {shape[1]}"
    with pytest.raises((RuntimeError, ValueError), match=says):
        LAUNCHERS[name](x, y)


@pytest.mark.parametrize("name", sorted({*LAUNCHERS} - {"quantiser of groups", "quantiser of blocks"}))
def test_rows_that_begin_between_accesses(name: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """NVIDIA's GPUs refuse such accesses and all that follows; the advice works. AMD's take rows as they lie."""
    x, y = aligned((6, 256)), aligned((6, 256))
    x[...] = rng.standard_normal(x.shape)
    found = []
    for begin, apart in ((0, 256), (1, 256), (0, 257), (4, 261)):
        memory = aligned(6 * 261 + 8)
        lies = np.lib.stride_tricks.as_strided(memory[begin:], (6, 256), (2 * apart, 2))
        lies[...] = x
        for arch in ("sm_90a", "gfx942"):
            monkeypatch.setenv("ARCH", arch)
            if arch == "sm_90a" and (begin or apart % 8):
                says = (
                    rf"reached (4|8|16) bytes at once, .* behind a multiple of that, with rows {2 * apart} bytes apart"
                )
                with pytest.raises(RuntimeError, match=says) as refusal:
                    LAUNCHERS[name](lies, y)
                assert "x.copy()" in str(refusal.value)
                LAUNCHERS[name](lies.copy(), y)
            else:
                LAUNCHERS[name](lies, y)
            found.append(y.copy())
    assert all(np.array_equal(found[0], other) for other in found[2::2])


@pytest.mark.parametrize(("arch", "rows"), [("gfx942", 129), ("gfx1250", 129), ("sm_90a", 16_385)])
def test_a_last_row_within_one_piece(arch: str, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tile begins and ends between the same two multiples of 16 bytes: elements before it are a neighbour's."""
    monkeypatch.setenv("ARCH", arch)
    for name, columns, dtype in (("softmax", 3, "f16"), ("rmsnorm", 1, "f32"), ("layernorm", 5, "bf16")):
        for begin in (1, 2, 3):
            check(name, (rows, columns), dtype, before=(begin, 0))


def test_codes_beside_rows_that_come_by_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are written two at once."""
    monkeypatch.setenv("ARCH", "sm_90a")
    rows = 17_573
    x, scales = np.ones((rows, 6), np.float16), np.zeros(rows, np.float32)
    memory = np.zeros(rows * 6 + 32, np.int8)
    even = memory[-memory.ctypes.data % 16 :]
    quantise = build_row_quant_module(6, "f16", "i8")
    quantise(x, even[2 : 2 + rows * 6].reshape(rows, 6), scales, rows)
    with pytest.raises(RuntimeError, match=r"reached 2 bytes at once, .* behind a multiple of that, with rows 6 bytes"):
        quantise(x, even[3 : 3 + rows * 6].reshape(rows, 6), scales, rows)


def aligned(shape: Any) -> Any:
    """An array of f16 that begins at a multiple of 16 bytes."""
    memory = np.zeros(int(np.prod(shape)) + 8, np.float16)
    return memory[-memory.ctypes.data // 2 % 8 :][: int(np.prod(shape))].reshape(shape)


def test_lines_that_begin_between_accesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be they of long odd rows, whose matrices may begin anywhere."""
    monkeypatch.setenv("ARCH", "sm_90a")
    for n in (256, 20_001):
        x, scale, launch = aligned((200, n)), aligned(n + 1), build_rmsnorm_module(n, "f16")
        launch(x, scale[:n], x, 200)
        with pytest.raises(RuntimeError, match=f"rows of {n} elements .* 2 bytes behind a multiple of that\n"):
            launch(x, scale[1:], x, 200)


def test_a_length_that_is_no_integer_leaves_no_launcher() -> None:
    """263.0 and 263 are one key of what is kept, and so is NumPy's."""
    x, y, lengths = np.zeros((2, 263), np.float32), np.empty((2, 263), np.float32), (263.0, np.float32(263))
    for build in (lambda n: build_softmax_module(2, n, "f32"), lambda n: build_layernorm_module(n, "f32")):
        for length in lengths:
            with pytest.raises(TypeError, match=r"is an integer, got (np\.float32\()?263\.0"):
                build(length)
    build_softmax_module(2, 263, "f32")(x, y, 2)
    np.testing.assert_allclose(y, 1 / 263, rtol=1e-5)


def test_a_scale_that_is_shorter_than_a_row_is_refused() -> None:
    x, short = np.zeros((6, 256), np.float16), np.zeros(192, np.float16)
    for call in (
        lambda: build_rmsnorm_module(256, "f16")(x, short, x.copy(), 6),
        lambda: build_rmsnorm_bwd_module(256, "f16")(
            x, x, short, np.ones(6, np.float32), x.copy(), np.zeros((6, 256), np.float32), x[0], 6
        ),
    ):
        with pytest.raises((RuntimeError, ValueError), match="256 numbers are asked for, and an array has 192"):
            call()


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
@pytest.mark.parametrize("name", KERNELS)
def test_no_rows(name: str, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    check(name, (0, 100), "f32")


@pytest.mark.parametrize("name", KERNELS)
def test_few_rows_and_many(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same launcher takes one plan for few rows and another for many."""
    monkeypatch.setenv("ARCH", "sm_90a")
    for rows in (1, 5000):
        check(name, (rows, 33), "f16")


@pytest.mark.parametrize(("name", "length", "dtype"), [("layernorm", 25_002, "f16"), ("rmsnorm", 30_001, "bf16")])
def test_few_long_rows(name: str, length: int, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They come through rings of other clusters than many do, or of as many blocks."""
    monkeypatch.setenv("ARCH", "sm_90a")
    for rows in (1, 3):
        check(name, (rows, length), dtype)


def test_threads_are_told_to_do_with_fewer_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    """LayerNorm of 200 alone: others would spill, as of 208, with lines of f32 or with codes of 8 bits, or have few
    enough."""
    describe_calls(monkeypatch, "sm_90a")
    x, numbers = np.zeros((5000, 208), np.float16), np.zeros(5000, np.float32)

    def told(length: int, kind: Any = np.float16, lines: int = 2, quant: str | None = None) -> list[str]:
        rows, line = x[:, :length].copy(), x[0, :length].astype(kind)
        beta, xscale = (line if lines == 2 and not quant else None, line if quant else None)
        out, yscale = (np.zeros(rows.shape, np.int8), numbers) if quant else (np.zeros_like(rows), None)
        run = norm_launcher(NormForm(lines == 2 and not quant, length, "f16", quant=quant))
        run(rows, None, line, beta, xscale, out, None, None, None, yscale, 5000)
        return re.findall(r"maxnreg (\d+)", "".join(kernel.ptx for kernel in run.specialisations[-1].kernels))

    assert told(200) == ["72"]
    for other in (told(208), told(200, np.float32), told(200, lines=1), told(200, quant="i8")):
        assert other == []
    run = build_layernorm_dynamicquant_module(200, "f16")
    run(x[:, :200].copy(), x[0, :200].copy(), x[0, :200].copy(), np.zeros((5000, 200), np.int8), numbers, 5000)
    assert not any("maxnreg" in kernel.ptx for kernel in run.specialisations[-1].kernels)


def test_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread without a row of its own must not write one that another still reads."""
    for arch, columns in in_turns(product(("sm_90a", "gfx942"), (33, 64, 1001)), 2):
        monkeypatch.setenv("ARCH", arch)
        x = random_data.generator().standard_normal((37, columns)).astype(np.float32)
        want = expected("softmax", x, x[0], x[0])
        build_softmax_module(37, columns, "f32")(x, x, 37)
        np.testing.assert_allclose(x, want, rtol=1e-5, atol=1e-7)


def test_the_benchmark_checks_random_cells_without_a_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("rows_benchmark", BENCHMARK)
    assert spec is not None and spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = benchmark
    spec.loader.exec_module(benchmark)
    benchmark.main(["--quick", "--seed", "11", "--cells", "3"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "seed 11" and len(lines) == 5 and all("error" in line for line in lines[1:4])
    cells = benchmark.draw(5, 60)
    assert cells == benchmark.draw(5, 60) != benchmark.draw(6, 60)
    assert all(benchmark.SHORTEST <= cell.n <= benchmark.LONGEST + 8 for cell in cells)
    assert sum(cell.n % 8 != 0 for cell in cells) == 30
    assert all(cell.moved >= 64 << 20 or (cell.few and 1 <= cell.m <= 512) for cell in cells)


def test_the_alignment_of_a_read_only_input_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is computed from the last bits of an address leads to no write of what it is the address of."""
    for arch in ("sm_90a", "gfx942"):
        monkeypatch.setenv("ARCH", arch)
        x = random_data.generator().standard_normal((3, 33)).astype(np.float32)
        x.flags.writeable = False
        y = np.full_like(x, np.nan)
        build_softmax_module(3, 33, "f32")(x, y, 3)
        np.testing.assert_allclose(y, expected("softmax", x, x[0], x[0]), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", sorted({*LAUNCHERS} - {"quantiser of groups", "quantiser of blocks"}))
@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.int16])
def test_rows_of_another_type_are_refused(name: str, dtype: Any) -> None:
    """Types as wide as that of the kernel: their bits were taken for its numbers. Two quantisers read any."""
    with pytest.raises(TypeError, match=r"an array holds .*, and the kernel was built for Float16: build it for the"):
        LAUNCHERS[name](np.zeros((6, 256), dtype), np.zeros((6, 256), np.float16))


def test_losses_without_room_for_their_powers_are_refused() -> None:
    logits, target, loss = np.zeros((6, 256), np.float32), np.zeros(6, np.int64), np.zeros(6, np.float32)
    few, powers, one = np.zeros((2, 3), np.float32), np.zeros((2, 6), np.float32), np.ones(1, np.float32)
    with pytest.raises(RuntimeError, match="2 rows of 6 elements are asked for, and a matrix has 2 of 3"):
        build_cross_entropy_module(256, "f32")(logits, target, loss, few, 6, -100, 0.0)
    run = build_cross_entropy_bwd_module(256, "f32")
    for change, message in (
        ({2: few}, "2 rows of 6 elements are asked for, and a matrix has 2 of 3"),
        ({4: logits[:5].copy()}, "6 rows of 256 elements are asked for, and a matrix has 5 of 256"),
        ({3: loss[:3]}, "there are 3 gradients of losses, for 6 rows"),
    ):
        given = [logits, target, powers, loss, logits.copy()]
        for place, array in change.items():
            given[place] = array
        with pytest.raises(RuntimeError, match=message):
            run(*given, 6, -100, 0.0, one)


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_what_came_in_pieces_is_not_written_again(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last of odd rows: its head comes with the row before, its end element by element."""
    monkeypatch.setenv("ARCH", arch)
    x = np.ones((5, 4099), np.float16)
    with flyc.sanitize("race", "async"):
        ops.softmax(x)
        ops.rms_norm(x, (4099,))
