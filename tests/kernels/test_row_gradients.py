"""Gradients of row kernels, cross-entropy, gated units and fused norms on the virtual GPU, against float64 NumPy."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import flydsl.compiler as flyc
from flydsl.kernels.blocks import row_plan
from flydsl.kernels.blocks.cache_hints import ONCE
from flydsl.kernels.blocks.row_choice import TooLong, choose
from flydsl.kernels.blocks.row_machine import ELSEWHERE, HOPPER
from flydsl.kernels.blocks.row_plan import SECTOR, RowPlan
from flydsl.kernels.norm import norm_backward
from flydsl.kernels.norm.column_sums import add_rows, partial_rows, partial_shape
from flydsl.kernels.norm.cross_entropy import (
    ADDED_AT_ONCE,
    FORWARD,
    build_cross_entropy_bwd_module,
    build_cross_entropy_module,
)
from flydsl.kernels.norm.glu import build_glu_bwd_module, build_glu_module
from flydsl.kernels.norm.layernorm import build_fused_add_layernorm_module, build_layernorm_bwd_module
from flydsl.kernels.norm.norm_backward import backward_task, norm_backward_launcher
from flydsl.kernels.norm.rmsnorm import build_fused_add_rmsnorm_module, build_rmsnorm_bwd_module
from flydsl.kernels.norm.softmax_backward import build_softmax_bwd_module
from tests.support.turns import in_turns

TARGETS = ("gfx942", "gfx950", "gfx1201", "gfx1250", "sm_90a")
DTYPES: dict[str, Any] = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
TOLERANCE = {"f32": 4e-6, "f16": 2e-3, "bf16": 1.6e-2}
SHAPES = st.tuples(st.integers(1, 9), st.one_of(st.integers(1, 70), st.integers(71, 700)))


def drawn(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    return rng.standard_normal(shape).astype(DTYPES[dtype])


def wide(*arrays: np.ndarray) -> list[np.ndarray]:
    return [array.astype(np.float64) for array in arrays]


def check(got: np.ndarray, want: np.ndarray, dtype: str, terms: int = 1) -> None:
    """Compare with a result that adds up ``terms`` numbers of its own size."""
    error = np.abs(got.astype(np.float64) - want).max(initial=0) / max(np.abs(want).max(initial=0), 1e-3)
    assert error < TOLERANCE[dtype] * max(terms, 1) ** 0.5, error


def softmax_bwd(rng: np.random.Generator, m: int, n: int, dtype: str) -> None:
    x = rng.standard_normal((m, n))
    y = (np.exp(x) / np.exp(x).sum(1, keepdims=True)).astype(DTYPES[dtype])
    dy, dx = drawn(rng, (m, n), dtype), np.full((m, n), np.nan, DTYPES[dtype])
    build_softmax_bwd_module(n, dtype)(dy, y, dx, m)
    d, p = wide(dy, y)
    check(dx, p * (d - (d * p).sum(1, keepdims=True)), dtype)


def norm_bwd(
    rng: np.random.Generator, m: int, n: int, dtype: str, *, centred: bool, atomic: bool = False,
    plan: RowPlan | None = None, held: int | None = None,
) -> None:  # fmt: skip
    """``held``: rows of partial sums that are provided, instead of those that are asked for."""
    x, dy, gamma = drawn(rng, (m, n), dtype), drawn(rng, (m, n), dtype), drawn(rng, (n,), dtype)
    X, D, G = wide(x, dy, gamma)
    mean = X.mean(1, keepdims=True) if centred else np.zeros((m, 1))
    rstd = 1 / np.sqrt(((X - mean) ** 2).mean(1, keepdims=True) + 1e-5)
    normed = (X - mean) * rstd
    d = D * G
    shift = d.mean(1, keepdims=True) if centred else 0.0
    want = (d - shift - normed * (d * normed).mean(1, keepdims=True)) * rstd
    dx = np.full((m, n), np.nan, DTYPES[dtype])
    stats = [np.float32(value[:, 0]) for value in ((mean, rstd) if centred else (rstd,))]
    results = [np.full(n, np.nan, np.float32 if atomic else DTYPES[dtype]) for _ in stats]
    build = build_layernorm_bwd_module if centred else build_rmsnorm_bwd_module
    if atomic:
        for result in results:
            result[...] = 0
        build(n, dtype, atomic=True, plan=plan)(dy, x, gamma, *stats, dx, *results, m)
    else:
        sums = [np.full((held or partial_rows(n, m), n), np.nan, np.float32) for _ in results]
        build(n, dtype, plan=plan)(dy, x, gamma, *stats, dx, *sums, *results, m)
    check(dx, want, dtype, 4)
    check(results[0], (D * normed).sum(0), dtype, m)
    if centred:
        check(results[1], D.sum(0), dtype, m)


def powers_of(x: np.ndarray) -> np.ndarray:
    """The largest of each row, and 1 over the sum of the powers of e relative to it."""
    return np.float32([x.max(1), 1 / np.exp(x - x.max(1, keepdims=True)).sum(1)])


def cross_entropy(rng: np.random.Generator, m: int, n: int, dtype: str, smoothing: float = 0.1) -> None:
    x, target = drawn(rng, (m, n), dtype), rng.integers(0, n, m)
    target[rng.random(m) < 0.3] = -100
    loss, powers = np.full(m, np.nan, np.float32), np.full((2, m), np.nan, np.float32)
    build_cross_entropy_module(n, dtype, bool(smoothing))(x, target, loss, powers, m, -100, smoothing)
    (X,) = wide(x)
    log_sum = np.log(np.exp(X).sum(1))
    counts, place = target != -100, np.maximum(target, 0)
    picked = X[np.arange(m), place]
    want = np.where(counts, log_sum - (1 - smoothing) * picked - smoothing * X.mean(1), 0)
    np.testing.assert_allclose(powers, powers_of(X), rtol=3e-6, atol=3e-6)
    np.testing.assert_allclose(loss, want, rtol=1e-5, atol=1e-5)
    dloss, scale, dx = drawn(rng, (m,), "f32"), np.array([0.5], np.float32), np.full_like(x, np.nan)
    build_cross_entropy_bwd_module(n, dtype)(x, target, powers, dloss, dx, m, -100, smoothing, scale)
    share = np.exp(X - log_sum[:, None]) - smoothing / n
    share[np.arange(m), place] -= 1 - smoothing
    check(dx, share * (dloss * 0.5 * counts)[:, None], dtype)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201", "sm_90a"])
def test_gradients_of_logits_wherever_they_lie(
    arch: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """Rows one behind the other, from any element on, and rows apart; results go to the same place in a piece, to
    another, or over the logits. What lies beside them stays as it is."""
    monkeypatch.setenv("ARCH", arch)
    m, n = 7, 131
    for apart, begin, other in ((0, 0, 0), (0, 3, 3), (0, 3, 5), (5, 1, 1), (0, 5, None)):
        memories = [np.full(m * (n + apart) + 64, 7.0, ml_dtypes.bfloat16) for _ in range(2)]
        starts = [-memory.ctypes.data // 2 % 8 + 8 + shift for memory, shift in zip(memories, (begin, other or 0))]
        x, dx = (
            memory[start:][: m * (n + apart)].reshape(m, n + apart)[:, :n]
            for memory, start in zip(memories, starts, strict=True)
        )
        x[...] = drawn(rng, (m, n), "bf16")
        target, dloss = rng.integers(0, n, m), drawn(rng, (m,), "f32")
        (X,) = wide(x.copy())
        lse = np.log(np.exp(X).sum(1))
        out, memory = (x, memories[0]) if other is None else (dx, memories[1])
        inside = np.zeros(memory.size, bool)
        inside[starts[other is not None] :][: m * (n + apart)].reshape(m, n + apart)[:, :n] = True
        run, one = build_cross_entropy_bwd_module(n, "bf16"), np.ones(1, np.float32)
        run(x, target, powers_of(X), dloss, out, m, -100, 0.0, one)
        want = np.exp(X - lse[:, None])
        want[np.arange(m), target] -= 1
        check(out, want * dloss[:, None], "bf16")
        assert (memory[~inside] == 7.0).all(), (apart, begin, other)


def gated(rng: np.random.Generator, m: int, n: int, dtype: str) -> None:
    both = drawn(rng, (m, 2 * n), dtype)
    gate, up = both[:, :n], both[:, n:]
    out, dout = np.full((m, n), np.nan, DTYPES[dtype]), drawn(rng, (m, n), dtype)
    build_glu_module(n, dtype, "silu")(gate, up, out, m)
    a, b, d = wide(gate, up, dout)
    sigmoid = 1 / (1 + np.exp(-a))
    check(out, a * sigmoid * b, dtype)
    grads = np.full_like(both, np.nan)
    build_glu_bwd_module(n, dtype, "silu")(dout, gate, up, grads[:, :n], grads[:, n:], m)
    check(grads[:, :n], d * b * sigmoid * (1 + a * (1 - sigmoid)), dtype)
    check(grads[:, n:], d * a * sigmoid, dtype)


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_gated_rows_that_are_a_line(arch: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have the bits that rows which lie apart have, also in the place of their gate, and nothing behind the last
    element is written, whatever a block has left for it."""
    monkeypatch.setenv("ARCH", arch)
    n, dtype = 37, "bf16"
    forward, backward = build_glu_module(n, dtype, "silu"), build_glu_bwd_module(n, dtype, "silu")
    for m in (1, 55, 56, 166):
        dout, gate, up = (drawn(rng, (m, n), dtype) for _ in range(3))
        beside = [np.zeros((m, n + 3), DTYPES[dtype])[:, :n] for _ in range(6)]
        for apart, x in zip(beside, (dout, gate, up), strict=False):
            apart[...] = x
        lines = [np.full(m * n + 8, 7.0, DTYPES[dtype]) for _ in range(3)]
        out, dgate, dup = (line[: m * n].reshape(m, n) for line in lines)
        backward(dout, gate, up, dgate, dup, m)
        backward(*beside[:5], m)
        forward(gate, up, gate, m)
        forward(beside[1], beside[2], beside[5], m)
        out[...] = gate
        for found, apart in zip((dgate, dup, out), beside[3:], strict=True):
            np.testing.assert_array_equal(found.view(np.uint16), np.ascontiguousarray(apart).view(np.uint16))
        assert all((line[m * n :] == 7.0).all() for line in lines)


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_gelu_is_right_where_it_is_small(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each element itself: 1 + erf(x) has no digits left of what is below 1e-7."""
    monkeypatch.setenv("ARCH", arch)
    x = np.linspace(-12.9, 12.9, 1001, dtype=np.float32)[None]
    out, dgate, dup = (np.full_like(x, np.nan) for _ in range(3))
    build_glu_module(1001, "f32", "gelu")(x, np.ones_like(x), out, 1)
    build_glu_bwd_module(1001, "f32", "gelu")(np.ones_like(x), x, np.ones_like(x), dgate, dup, 1)
    (a,) = wide(x)
    share = np.vectorize(math.erfc)(-a / math.sqrt(2)) / 2
    np.testing.assert_allclose(out, a * share, rtol=1e-5, atol=1e-36)
    np.testing.assert_allclose(dup, a * share, rtol=1e-5, atol=1e-36)
    slope = share + a * np.exp(-a * a / 2) / math.sqrt(2 * math.pi)
    np.testing.assert_allclose(dgate, slope, rtol=1e-4, atol=1e-7 * 5)


def fused_add(rng: np.random.Generator, m: int, n: int, dtype: str, *, centred: bool) -> None:
    x, r = drawn(rng, (m, n), dtype), drawn(rng, (m, n), dtype)
    gamma, beta = drawn(rng, (n,), dtype), drawn(rng, (n,), dtype)
    y, out = np.full_like(x, np.nan), np.full_like(x, np.nan)
    stats = [np.full(m, np.nan, np.float32) for _ in range(1 + centred)]
    build = build_fused_add_layernorm_module if centred else build_fused_add_rmsnorm_module
    build(n, dtype, True)(x, r, *((gamma, beta) if centred else (gamma,)), y, out, *stats, m)
    added = (x.astype(np.float32) + r.astype(np.float32)).astype(x.dtype)
    np.testing.assert_array_equal(out, added)
    A, G, B = wide(added, gamma, beta)
    mean = A.mean(1, keepdims=True) if centred else 0.0
    rstd = 1 / np.sqrt(((A - mean) ** 2).mean(1, keepdims=True) + 1e-5)
    check(y, (A - mean) * rstd * G + (B if centred else 0.0), dtype, 2)
    np.testing.assert_allclose(stats[-1], rstd[:, 0], rtol=1e-5)


CASES = {
    "softmax": softmax_bwd,
    "layernorm": lambda *a: norm_bwd(*a, centred=True),
    "rmsnorm": lambda *a: norm_bwd(*a, centred=False),
    "rmsnorm, atomics": lambda *a: norm_bwd(*a, centred=False, atomic=True),
    "layernorm, atomics": lambda *a: norm_bwd(*a, centred=True, atomic=True),
    "cross entropy": cross_entropy,
    "cross entropy without smoothing": lambda *a: cross_entropy(*a, smoothing=0.0),
    "gated": gated,
    "fused add rmsnorm": lambda *a: fused_add(*a, centred=False),
    "fused add layernorm": lambda *a: fused_add(*a, centred=True),
}


@pytest.mark.parametrize("arch", TARGETS)
@settings(max_examples=2, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_random_shapes(arch: str, monkeypatch: pytest.MonkeyPatch, data: st.DataObject) -> None:
    monkeypatch.setenv("ARCH", arch)
    name, dtype = data.draw(st.sampled_from(sorted(CASES))), data.draw(st.sampled_from(sorted(DTYPES)))
    m, n = data.draw(SHAPES)
    CASES[name](np.random.default_rng(data.draw(st.integers(0, 99))), m, n, dtype)


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
@pytest.mark.parametrize("name", CASES)
def test_every_kernel(name: str, arch: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setenv("ARCH", arch)
    shapes = [(5, 33), (3, 1032)] + ([(300, 8)] if arch == "gfx942" else [])
    for index, (m, n) in in_turns(enumerate(shapes)):
        CASES[name](rng, m, n, list(DTYPES)[index])


TOO_LONG = (
    ("gfx942", 33_001, "bf16"), ("gfx950", 40_960, "f16"), ("gfx1201", 66_666, "f32"), ("gfx1250", 70_001, "f16"),
    ("sm_90a", 300_001, "f32"),
)  # fmt: skip


@pytest.mark.parametrize(("arch", "n", "dtype"), TOO_LONG)
def test_rows_whose_sums_have_no_place_in_registers(
    arch: str, n: int, dtype: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """One pass writes dx, another one sums columns: into few rows of partial sums, too, or by atomics."""
    monkeypatch.setenv("ARCH", arch)
    machine = HOPPER if arch == "sm_90a" else ELSEWHERE[64 if arch in ("gfx942", "gfx950") else 32]
    for centred, atomic, m, held in in_turns(
        [(True, False, 3, None), (False, False, 1, None), (True, True, 2, None), (False, False, 5, 1)]
    ):
        with pytest.raises(TooLong, match="too long for sums of their columns"):
            choose(n, dtype, machine, 1, task=backward_task(centred))
        norm_bwd(rng, m, n, dtype, centred=centred, atomic=atomic, held=held)


@pytest.mark.parametrize("centred", [True, False])
def test_long_rows_that_begin_at_no_piece(
    centred: bool, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """Columns are summed one by one where a matrix begins between pieces, and nothing beside rows is read."""
    monkeypatch.setenv("ARCH", "gfx942")
    m, n = 4, 66_048
    drawn_at = lambda first: drawn(rng, (m * n + first,), "f16")[first:].reshape(m, n)  # noqa: E731
    x, dy = drawn_at(3), drawn_at(1)
    X, D = wide(x, dy)
    mean = X.mean(1, keepdims=True) if centred else np.zeros((m, 1))
    rstd = 1 / np.sqrt(((X - mean) ** 2).mean(1, keepdims=True) + 1e-5)
    stats = [np.float32(value[:, 0]) for value in ((mean, rstd) if centred else (rstd,))]
    dx, results = np.full_like(x, np.nan), [np.full(n, np.nan, np.float16) for _ in stats]
    sums = [np.full(partial_shape(n, m), np.nan, np.float32) for _ in stats]
    build = build_layernorm_bwd_module if centred else build_rmsnorm_bwd_module
    build(n, "f16")(dy, x, np.ones(n, np.float16), *stats, dx, *sums, *results, m)
    normed = (X - mean) * rstd
    shift = D.mean(1, keepdims=True) if centred else 0.0
    check(dx, (D - shift - normed * (D * normed).mean(1, keepdims=True)) * rstd, "f16", 4)
    check(results[0], (D * normed).sum(0), "f16", m)


@pytest.mark.parametrize(("arch", "n"), [("gfx942", 18_950), ("gfx1201", 1000), ("sm_90a", 98_600)])
def test_dx_in_the_place_of_what_is_read(
    arch: str, n: int, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """Columns are summed of what was there before, of rows of any length."""
    monkeypatch.setenv("ARCH", arch)
    m = 2
    for over in in_turns(["dy", "x"]):
        x, dy = drawn(rng, (m, n), "f32"), drawn(rng, (m, n), "f32")
        X, D = wide(x, dy)
        mean, rstd = X.mean(1, keepdims=True), 1 / np.sqrt(X.var(1, keepdims=True) + 1e-5)
        normed = (X - mean) * rstd
        stats, dx = [np.float32(value[:, 0]) for value in (mean, rstd)], dy if over == "dy" else x
        results, sums = np.full((2, n), np.nan, np.float32), np.full((2, *partial_shape(n, m)), np.nan, np.float32)
        build_layernorm_bwd_module(n, "f32")(dy, x, None, *stats, dx, *sums, *results, m)
        check(dx, (D - D.mean(1, keepdims=True) - normed * (D * normed).mean(1, keepdims=True)) * rstd, "f32", 4)
        check(results[0], (D * normed).sum(0), "f32", m)
        check(results[1], D.sum(0), "f32", m)


@pytest.mark.parametrize("n", [64, 18_950])
def test_partial_sums_of_fewer_rows_than_the_others(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first ones say how many rows are written."""
    monkeypatch.setenv("ARCH", "gfx942")
    x, number, line = np.ones((8, n), np.float32), np.ones(8, np.float32), np.ones(n, np.float32)
    for few in (x[:1], x[:, :-8]):
        with pytest.raises(RuntimeError, match=f"8 rows of {n} elements are asked for"):
            build_layernorm_bwd_module(n, "f32")(x, x, line, number, number, x.copy(), x, few, line, line, 8)
    with pytest.raises(RuntimeError, match=f"1 rows of {n} elements are asked for, and a matrix has 0 of {n}"):
        build_layernorm_bwd_module(n, "f32")(x, x, line, number, number, x.copy(), x[:0], x[:0], line, line, 8)


def test_long_rows_and_a_weight_of_a_wider_type(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """Shared memory has place for the weight beside the rings, or for all but a vector of each thread's."""
    monkeypatch.setenv("ARCH", "sm_90a")
    for n in (153_545, 255_393):
        x, dy, gamma = drawn(rng, (1, n), "bf16"), drawn(rng, (1, n), "bf16"), drawn(rng, (n,), "f32")
        X, D, G = wide(x, dy, gamma)
        rstd, normed, d = np.ones(1, np.float32), X - np.float32(0.5), D * G
        dx, results, sums = (
            np.full_like(x, np.nan),
            np.full((2, n), np.nan, np.float32),
            np.zeros((2, 1, n), np.float32),
        )
        build_layernorm_bwd_module(n, "bf16")(dy, x, gamma, rstd / 2, rstd, dx, *sums, *results, 1)
        check(dx, d - d.mean() - normed * (d * normed).mean(), "bf16", 4)
        check(results[0], (D * normed)[0], "f32")


def added_up(rng: np.random.Generator, m: int, n: int, averaged: bool, plan: RowPlan | None = None) -> None:
    """Twice with one counter, which is as it was."""
    run, counter = build_cross_entropy_module(n, "f32", plan=plan), np.zeros(1, np.int32)
    for _ in range(2):
        x, target = drawn(rng, (m, n), "f32"), rng.integers(0, n, m)
        target[1:][rng.random(m - 1) < 0.3] = -100
        loss, powers, result, scale = (np.full(shape, np.nan, np.float32) for shape in (m, (2, m), 1, 1))
        run(x, target, loss, powers, m, -100, 0.0, None, result, scale, counter, int(averaged))
        (X,) = wide(x)
        losses = np.log(np.exp(X).sum(1)) - X[np.arange(m), np.maximum(target, 0)]
        divisor = (target != -100).sum() if averaged else 1
        np.testing.assert_allclose(result[0], losses[target != -100].sum() / divisor, rtol=1e-5)
        np.testing.assert_allclose(scale[0], 1 / divisor, rtol=1e-6)
        assert counter[0] == 0


def test_rows_of_logits_that_begin_anywhere_share_a_block(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """The last block has fewer rows than others, and what lies beside the first and the last row is NaN."""
    monkeypatch.setenv("ARCH", "sm_90a")
    plans = [choose(n, "bf16", HOPPER, 0, task=FORWARD).many for n in (701, 1791, 2501)]
    assert all(plan.pieces and plan.rows > 1 for plan in plans)
    # Some vectors on their way ahead of the one in hand, of a row and of a row that begins at a piece.
    passing = [replace(plans[1], length=n, lanes=32, rows=1, keep=False, pieces=n % 8 > 0) for n in (1791, 1792)]
    for plan, m in in_turns(zip([*plans, *passing], (13, 7, 3, 3, 3), strict=True), 2):
        n = plan.length
        memory = np.full(m * n + 64, np.nan, ml_dtypes.bfloat16)
        begin = 19 if plan.pieces else -memory.ctypes.data // 2 % 8
        x, target = memory[begin : begin + m * n].reshape(m, n), rng.integers(0, n, m)
        x[...] = drawn(rng, (m, n), "bf16")
        loss, powers = np.full(m, np.nan, np.float32), np.full((2, m), np.nan, np.float32)
        build_cross_entropy_module(n, "bf16", False, plan)(x, target, loss, powers, m, -100, 0.0)
        (X,) = wide(x)
        log_sum = np.log(np.exp(X).sum(1))
        np.testing.assert_allclose(powers, powers_of(X), rtol=3e-6, atol=3e-6)
        np.testing.assert_allclose(loss, log_sum - X[np.arange(m), target], rtol=1e-5, atol=1e-5)
    added_up(rng, 7, 1791, True, RowPlan(1791, "f32", 4, 32, 4, hints=ONCE, pieces=True, once=True, targets=0))


@pytest.mark.parametrize("arch", TARGETS)
def test_losses_are_added_up(arch: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """By the last block where rows are few, by a second launch where they are not."""
    monkeypatch.setenv("ARCH", arch)
    for m, averaged in ((1, True), (37, False), (ADDED_AT_ONCE, True), (ADDED_AT_ONCE + 1, True)):
        added_up(rng, m, 24, averaged)
    if arch == "sm_90a":
        added_up(rng, 9, 1032, True, RowPlan(1032, "f32", 4, 64, cluster=2))


EARLY = [
    (True, RowPlan(520, "bf16", 8, 32, 4, sources=2, sums=2, early=True, hints=ONCE)),
    (True, RowPlan(1032, "f32", 4, 96, sources=2, sums=2, early=True, hints=ONCE)),
    (False, RowPlan(1032, "f16", 8, 64, cluster=2, sources=2, sums=1, early=True, hints=ONCE)),
]
"""(Whether rows are centred, plan) of blocks that load their next rows into registers: a wave, a block and a cluster a
row, for sm_90a."""


AT_ONE_PLACE = [
    (True, RowPlan(333, "bf16", 8, 32, slots=3)),
    (False, RowPlan(777, "f16", 8, 64, slots=3)),
    (True, RowPlan(1027, "f32", 4, 64, slots=10, chunks=3)),
    (True, RowPlan(333, "f16", 8, 32, rows=3, slots=2)),
    (False, RowPlan(1001, "bf16", 8, 32, cluster=2, slots=7, chunks=2)),
    (True, RowPlan(520, "bf16", 8, 32, slots=3)),
    (True, RowPlan(1032, "f16", 8, 32, cluster=2, slots=7, chunks=2)),
    (False, RowPlan(520, "bf16", 8, 32, rows=3, slots=2)),
    (True, RowPlan(2077, "bf16", 8, 128, slots=3, lends=True)),
    (True, RowPlan(2064, "f16", 8, 128, slots=7, chunks=2, lends=True, near_lines=True)),
    (True, RowPlan(777, "f16", 8, 64, pieces=True, early=True)),
    (False, RowPlan(203, "bf16", 8, 16, rows=4, pieces=True, early=True)),
    (True, RowPlan(67, "bf16", 8, 4, rows=8, pieces=True, early=True)),
    (False, RowPlan(333, "f32", 4, 32, cluster=2, pieces=True, early=True)),
    (True, RowPlan(780, "f16", 8, 64, slots=3)),
    (False, RowPlan(1026, "f32", 4, 32, cluster=2, slots=3)),
    (False, RowPlan(334, "bf16", 8, 32, pieces=True, early=True)),
]
"""(Whether rows are centred, plan) of rows that begin anywhere, and come through a ring or to registers; and of rings
with rows that begin at pieces."""


@pytest.mark.parametrize(("centred", "plan"), AT_ONE_PLACE)
def test_blocks_whose_rows_all_begin_at_one_place_in_a_piece(
    centred: bool, plan: RowPlan, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """Each of eight blocks takes several rows; places for ten are rounded down, and those for seven too few. Of no rows
    sums are zeros."""
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setattr(norm_backward, "places", lambda plan: 10)
    for build in (norm_backward_launcher, build_layernorm_bwd_module, build_rmsnorm_bwd_module):
        build.cache_clear()
    plan = replace(plan, keep=plan.early, sources=2, sums=1 + centred, hints=ONCE)
    for atomic in in_turns((False, True) if plan.slots else (False,)):
        for m, held in ((83, 10), (29, 7), (3, 3), (0, None)):
            norm_bwd(rng, m, plan.length, plan.dtype, centred=centred, atomic=atomic, plan=plan, held=held)
    if not plan.shifted:
        # Numbers of rows come for a wave's lanes at once, and more often.
        norm_bwd(rng, 70 * plan.rows, plan.length, plan.dtype, centred=centred, plan=plan, held=1)


RUNS = [
    (True, RowPlan(1001, "bf16", 8, 32, cluster=4, slots=4)),
    (False, RowPlan(2003, "f16", 8, 32, cluster=8, slots=4, chunks=1)),
    (True, RowPlan(2022, "bf16", 8, 32, cluster=4, slots=6, chunks=2)),
    (False, RowPlan(1027, "f32", 4, 64, cluster=4, slots=4)),
    (True, RowPlan(2077, "f16", 8, 128, cluster=2, slots=3, lends=True)),
    (True, RowPlan(2012, "bf16", 8, 32, cluster=4, slots=6, chunks=2, near_lines=True)),
]
"""(Whether rows are centred, plan) of clusters that take the rows of one place in a piece, then those of the next."""


@pytest.mark.parametrize(("centred", "plan"), RUNS)
def test_clusters_that_go_from_place_to_place(
    centred: bool, plan: RowPlan, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """Any number of them has rows, and a row of partial sums, of zeros where it has none. Sums move on from place to
    place, those of a vector's last column to another lane, wave or block; one may have no rows of a place, as where
    there are more clusters than rows. Numbers of rows come for a wave's lanes at once, and more often. Who sends waits
    for lines behind the first row, of whichever place."""
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setattr(row_plan, "SENT_FIRST", 0)
    plan = replace(plan, keep=False, one_place=True, sources=2, sums=1 + centred, hints=ONCE)
    for clusters in in_turns((1, 3, 7, 15)):
        monkeypatch.setattr(norm_backward, "places", lambda plan, count=clusters: count)
        for build in (norm_backward_launcher, build_layernorm_bwd_module, build_rmsnorm_bwd_module):
            build.cache_clear()
        for m, held in ((0, None), (1, None), (8, None), (53, None), (53, 11), (3, 3)):
            norm_bwd(rng, m, plan.length, plan.dtype, centred=centred, plan=plan, held=held)
        norm_bwd(rng, 29, plan.length, plan.dtype, centred=centred, plan=plan, atomic=True)
        if clusters == 1:
            norm_bwd(rng, 8 * 33, plan.length, plan.dtype, centred=centred, plan=plan)


@pytest.mark.parametrize("n", [70_000, 70_001, 70_003])
def test_partial_sums_of_long_rows_are_added_up_by_vectors(
    n: int, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """Where they begin at such, with the columns at a row's end that are none, and by columns elsewhere."""
    monkeypatch.setenv("ARCH", "sm_90a")
    launch = flyc.jit(lambda sums, result, rows: add_rows([(sums, result)], rows, n, 40, None))
    for shift, apart, first in ((0, -n % 32, 0), (0, 1, 0), (4, -n % 4, 0), (1, -n % 32, 0), (0, -n % 4, 1)):
        memory, around = np.full(40 * (n + apart) + 64, np.nan, np.float32), np.full(n + 16, 7, ml_dtypes.bfloat16)
        start, begin = -memory.ctypes.data // 4 % 32 + shift, -around.ctypes.data // 2 % 8 + first
        sums = memory[start : start + 40 * (n + apart)].reshape(40, n + apart)[:, :n]
        sums[...] = rng.standard_normal((40, n), np.float32)
        result, want = around[begin : begin + n], sums[:37].astype(np.float64).sum(0)
        launch(sums, result, 37)
        np.testing.assert_allclose(result.astype(np.float64), want, rtol=1e-2, atol=1e-2)
        assert (around[:begin] == 7).all() and (around[begin + n :] == 7).all()
    wide = ["ld.global.v4" in kernel.ptx for kernel in launch.specialisations[-1].kernels]
    assert sorted(wide) == [False, True]


def test_rows_in_the_middle_of_sectors_lie_so_in_a_ring() -> None:
    """Bulk copies that change halves of sectors are slow: LayerNorm's gradient of 40,000 bf16 has 0.93 of a copy's
    speed on an H200 (2026-11-18), and 0.82 from 16 bytes further on."""
    for length, cluster, slides in (
        (1000, 1, True),
        (1001, 1, True),
        (1008, 1, False),
        (1008, 2, True),
        (1024, 2, False),
    ):
        plan = RowPlan(length, "bf16", 8, 32, cluster=cluster, slots=4, keep=False, sources=2, sums=1)
        assert plan.slides == slides
        least = plan.share * plan.width + (plan.width if slides else 0)
        assert plan.chunk >= least and (not slides or plan.chunk * plan.size % SECTOR == 0)
        assert not replace(plan, crowd=2).slides


def test_blocks_are_a_multiple_of_the_rows_after_which_one_begins_alike(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """Of ten, all take rows whose distance is a multiple of four elements, and eight where it is one of two or one."""
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setattr(norm_backward, "places", lambda plan: 10)
    norm_backward_launcher.cache_clear()
    m = 41
    for n, pitch, blocks in in_turns(((778, 0, 8), (780, 0, 10), (780, 1, 8))):
        plan = RowPlan(n, "bf16", 8, 64, slots=3, keep=False, sources=2, sums=1, hints=ONCE)
        dy, x, dx = (np.full((m, n + pitch), np.nan, ml_dtypes.bfloat16)[:, :n] for _ in range(3))
        dy[...], x[...] = drawn(rng, (m, n), "bf16"), drawn(rng, (m, n), "bf16")
        gamma, rstd, dgamma = drawn(rng, (n,), "bf16"), np.ones(m, np.float32), np.full(n, np.nan, x.dtype)
        sums = np.full((m, n), np.nan, np.float32)
        norm_backward_launcher(False, n, "bf16", False, False, plan)(
            dy, x, gamma, None, rstd, dx, None, sums, None, dgamma, None, m
        )
        assert int((~np.isnan(sums).any(1)).sum()) == blocks
        D, X, G = wide(dy, x, gamma)
        check(dx, D * G - X * (D * G * X).mean(1, keepdims=True), "bf16", 4)
        check(dgamma, (D * X).sum(0), "bf16", m)


@pytest.mark.parametrize("n", [777, 1001])
def test_rows_that_begin_at_different_places_in_a_piece(
    n: int, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """dy begins elsewhere than x: no ring then, nothing that comes early, and nothing that lies beside a row counts."""
    monkeypatch.setenv("ARCH", "sm_90a")
    m = 21
    memory = np.full((2, m * n + 32), np.nan, ml_dtypes.bfloat16)
    for apart in in_turns((0, 3)):
        starts = [-part.ctypes.data // 2 % 8 + shift for part, shift in zip(memory, (1, 1 + apart), strict=True)]
        dy, x = (part[at : at + m * n].reshape(m, n) for part, at in zip(memory, starts, strict=True))
        dy[...], x[...] = drawn(rng, (m, n), "bf16"), drawn(rng, (m, n), "bf16")
        gamma, rstd, dx = drawn(rng, (n,), "bf16"), np.ones(m, np.float32), np.full((m, n), np.nan, x.dtype)
        sums, dgamma = np.full((m, n), np.nan, np.float32), np.full(n, np.nan, x.dtype)
        norm_backward_launcher(False, n, "bf16", False, False)(
            dy, x, gamma, None, rstd, dx, None, sums, None, dgamma, None, m
        )
        D, X, G = wide(dy, x, gamma)
        check(dx, D * G - X * (D * G * X).mean(1, keepdims=True), "bf16", 4)
        check(dgamma, (D * X).sum(0), "bf16", m)


TILES = [
    (True, RowPlan(67, "bf16", 8, 4, rows=8, turns=2, stages=2, keep=False)),
    (False, RowPlan(131, "f16", 8, 8, rows=16, stages=3, keep=False)),
    (True, RowPlan(203, "bf16", 8, 16, rows=8, turns=2, stages=2)),
    (True, RowPlan(267, "f16", 8, 32, rows=8, turns=2, stages=2, keep=False)),
]
"""(Whether rows are centred, plan) of tiles of rows that begin at any place in a piece, the same one in each tile."""


@pytest.mark.parametrize("pitch, shift", [(0, 0), (8, 0), (1, 0), (0, 3)])
def test_tiles_of_rows_that_begin_anywhere(
    pitch: int, shift: int, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """Three blocks take several tiles, the last of which is not full. Rows that do not lie together, or begin at
    different places, go another way. What lies beside results stays as it is."""
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setattr(norm_backward, "places", lambda plan: 3)
    for centred, plan in in_turns(TILES):
        plan = replace(plan, staged=True, bulk=True, pieces=True, sources=2, sums=1 + centred, hints=ONCE)
        n, m = plan.length, 7 * plan.tile_rows + 5
        norm_backward_launcher.cache_clear()
        kind = DTYPES[plan.dtype]
        memory = np.full((3, m * (n + 8) + 32), np.nan, kind)
        starts = [-part.ctypes.data // 2 % 8 + 1 for part in memory]
        starts[1] += shift
        dy, x, dx = (
            np.lib.stride_tricks.as_strided(part[start:], (m, n), (2 * (n + pitch), 2))
            for part, start in zip(memory, starts, strict=True)
        )
        dy[...], x[...] = drawn(rng, (m, n), plan.dtype), drawn(rng, (m, n), plan.dtype)
        gamma, ones, zeros = drawn(rng, (n,), plan.dtype), np.ones(m, np.float32), np.zeros(m, np.float32)
        sums, results = np.full((2, m, n), np.nan, np.float32), np.full((2, n), np.nan, kind)
        given = (dy, x, gamma, zeros, ones, dx, None, *sums, *results, m)
        if not centred:
            given = (dy, x, gamma, None, ones, dx, None, sums[0], None, results[0], None, m)
        norm_backward_launcher(centred, n, plan.dtype, False, False, plan)(*given)
        D, X, G = wide(dy, x, gamma)
        d = D * G
        mean = d.mean(1, keepdims=True) if centred else 0.0
        check(dx, d - mean - X * (d * X).mean(1, keepdims=True), plan.dtype, 4)
        check(results[0], (D * X).sum(0), plan.dtype, m)
        if centred:
            check(results[1], D.sum(0), plan.dtype, m)
        dx[...] = np.nan
        assert np.isnan(memory[2].astype(np.float32)).all()


def test_rows_that_are_loaded_early(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """Each of three blocks takes several rows, and the last of them some that are not there."""
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setattr(norm_backward, "places", lambda plan: 3)
    for centred, plan in EARLY:
        for m in (1, 11 * plan.rows - 1):
            norm_bwd(rng, m, plan.length, plan.dtype, centred=centred, plan=plan)


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_sums_of_rows_meet_without_bank_conflicts(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    m, n = 8, 1024
    rows, line, each = np.zeros((m, n), np.float16), np.zeros(n, np.float16), np.zeros(m, np.float32)
    run = build_rmsnorm_bwd_module(n, "f16", atomic=True)
    report = flyc.lds_report(run, rows, rows, line, each, rows.copy(), np.zeros(n, np.float32), m)
    assert any(row.kind == "write" and row.bits == 128 for row in report.rows), "sums that meet"
    assert report.extra_cycles == 0
