"""Sums over the memory of all ranks in one instruction, and stores to all of it, on virtual ranks."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslRuntimeError, DslTypeError, SanitizerError, TargetError

KINDS = {fx.Float32: np.float32, fx.Float16: np.float16, fx.BFloat16: ml_dtypes.bfloat16}
ROUNDINGS = {fx.Float32: 2.0**-23, fx.Float16: 2.0**-11, fx.BFloat16: 2.0**-8}
THREADS, WORLD = 32, 5


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def adding(x: fx.Symmetric, out: fx.Symmetric, signals: fx.Symmetric, meets: fx.Constexpr[bool], off: fx.Int32):
    """Row r is added by rank r, which tells all ranks."""
    width = 128 // x.local.dtype.width
    for row in range(x.world):
        for i in range(width):
            x.local[row, fx.thread_idx.x * width + i] = -x.local[row, fx.thread_idx.x * width + i]
    if fx.const_expr(meets):
        fx.rank_barrier(signals)
    place = (x.rank, fx.thread_idx.x * width + off)
    fx.nvvm.multimem_store(fx.nvvm.multimem_load_reduce(x, place), out, place)
    fx.rank_barrier(signals)


@flyc.jit
def add(x: fx.Symmetric, out: fx.Symmetric, signals: fx.Symmetric, meets: fx.Constexpr[bool], off: fx.Int32):
    adding(x, out, signals, meets, off).launch(grid=(1, 1, 1), block=(THREADS, 1, 1))


def added(rank: Any, given: Any, *, meets: bool = True, off: int = 0) -> Any:
    x, out = (rank.symmetric(given.shape[1:], given.dtype) for _ in range(2))
    x.local[:], out.local[:] = -given[rank.number], np.nan
    add(x, out, rank.symmetric((1, rank.world + 1), np.int32), meets, off)
    return out.local.copy()


@pytest.mark.parametrize("kind", KINDS)
def test_every_rank_has_the_sum(kind: Any, rng: np.random.Generator) -> None:
    given = rng.standard_normal((WORLD, WORLD, THREADS * 128 // kind.width)).astype(KINDS[kind])
    given[:, :, 3] = -0.0
    results = flyc.virtual_ranks(WORLD, seed=int(rng.integers(1, 1000))).run(lambda rank: added(rank, given))
    exact = given.astype(np.float64).sum(axis=0)
    slack = ROUNDINGS[kind] * np.abs(exact) + WORLD * 2.0**-23 * np.abs(given.astype(np.float64)).max()
    for result in results:
        assert result.tobytes() == results[0].tobytes()
        assert (np.abs(result.astype(np.float64) - exact) <= slack).all()
        assert np.signbit(result[:, 3]).all(), "the sum of negative zeros"


def test_ranks_that_have_not_met_are_named() -> None:
    given = np.ones((2, 2, THREADS * 4), np.float32)
    with pytest.raises(SanitizerError, match=r"no flag orders the two|may still be reading"), flyc.sanitize("ranks"):
        flyc.virtual_ranks(2, seed=3).run(lambda rank: [added(rank, given, meets=False) for _ in range(2)])
    with flyc.sanitize("ranks"):
        flyc.virtual_ranks(2, seed=3).run(lambda rank: added(rank, given))


def test_an_address_between_two_packs_is_refused() -> None:
    given = np.ones((2, 2, THREADS * 4 + 4), np.float32)
    with pytest.raises(DslRuntimeError, match="no multiple of 16 bytes"):
        flyc.virtual_ranks(2).run(lambda rank: added(rank, given, off=1))


def test_mistakes_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    @flyc.kernel
    def wrong(x: fx.Symmetric, how: fx.Constexpr[str]):
        if fx.const_expr(how == "store"):
            fx.nvvm.multimem_store(fx.Float32(1), x, 0)
        else:
            found = fx.nvvm.multimem_load_reduce(
                x.local if how == "local" else x, 0, None if how == "type" else fx.Float32
            )
            x.local[0] = found[0].to(fx.Int32)

    @flyc.jit
    def launch(x: fx.Symmetric, how: fx.Constexpr[str]):
        wrong(x, how).launch(block=(1, 1, 1))

    def refused(how: str, error: Any, message: str) -> None:
        with pytest.raises(error, match=message):
            flyc.virtual_ranks(1).run(lambda rank: launch(rank.symmetric(64, np.int32), how))

    refused("type", DslTypeError, "not Int32")
    refused("local", DslTypeError, "that of a symmetric tensor")
    refused("store", DslTypeError, "a vector of 16 bytes")
    monkeypatch.setenv("ARCH", "gfx942")
    refused("load", TargetError, "NVIDIA")
