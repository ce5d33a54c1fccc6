"""Collectives of virtual ranks: the same bits on every rank, sums within a rounding of those in float64, in any order.

FLYDSL_TEST_INTERLEAVINGS=500 draws so many interleavings for each case.
"""

from __future__ import annotations

import os
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.kernels.comm.collectives import COLLECTIVES, build_collective

INTERLEAVINGS = int(os.environ.get("FLYDSL_TEST_INTERLEAVINGS", "2"))
TYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
ROUNDINGS = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
CALLS = 3
BLOCKS, THREADS = 2, 64
CASES = [("gfx942", 2, "f32"), ("gfx950", 4, "bf16"), ("sm_90a", 8, "f16")]
GIVES_ALL, TAKES_ALL = ("all_gather", "all_to_all"), ("reduce_scatter", "all_to_all")


def calls_of(name: str, kind: str, inputs: np.ndarray, n: int) -> Any:
    """What every rank does: some calls one after the other, each with other data of the same size."""

    def program(rank: Any) -> list[np.ndarray]:
        world = rank.world
        fn = build_collective(name, kind, world, THREADS)
        stage = rank.symmetric((2, 2, (4 * n // 16 + 2) * 16 * world), np.uint8)
        signals = rank.symmetric((BLOCKS, world + 2), np.int32)
        found = []
        for call in range(CALLS):
            out = np.full(n * (world if name in GIVES_ALL else 1), np.nan, TYPES[kind])
            x = inputs[call, rank.number].copy()
            fn(x, out, stage, signals, n, BLOCKS)
            x[:] = 7  # the caller's own again
            found.append(out)
        return found

    return program


def exact(name: str, x: np.ndarray, rank: int, n: int) -> np.ndarray:
    """The result on a rank of what ranks (rows of ``x``) give, in float64."""
    wide = x.astype(np.float64)
    if name.startswith("all_reduce"):
        return wide.sum(axis=0)
    if name == "all_gather":
        return wide.reshape(-1)
    part = slice(rank * n, (rank + 1) * n)
    return wide[:, part].sum(axis=0) if name == "reduce_scatter" else wide[:, part].reshape(-1)


@pytest.mark.parametrize(("arch", "world", "kind"), CASES)
@pytest.mark.parametrize("name", COLLECTIVES)
def test_every_rank_gets_the_sum(
    name: str, arch: str, world: int, kind: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    monkeypatch.setenv("ARCH", arch)
    for n in (1, int(rng.integers(2, 40)), int(rng.integers(500, 3000))):
        length = n * (world if name in TAKES_ALL else 1)
        inputs = rng.standard_normal((CALLS, world, length)).astype(TYPES[kind])
        first: Any = None
        for _ in range(INTERLEAVINGS):
            seed = int(rng.integers(1, 2**31))
            results = flyc.virtual_ranks(world, seed=seed).run(calls_of(name, kind, inputs, n))
            for call in range(CALLS):
                for rank in range(world):
                    wanted = exact(name, inputs[call], rank, n)
                    size = np.abs(inputs[call].astype(np.float64)).max() * world
                    error = np.abs(results[rank][call].astype(np.float64) - wanted)
                    assert (error <= ROUNDINGS[kind] * np.abs(wanted) + world * 2.0**-23 * size).all()
                    if name.startswith("all_reduce"):
                        assert results[rank][call].tobytes() == results[0][call].tobytes()
            first = first or results
            same = [[a.tobytes() == b.tobytes() for a, b in zip(*pair, strict=True)] for pair in zip(results, first)]
            assert all(all(row) for row in same), f"seed {seed} gives other bits"


def test_the_ways_to_sum_agree(rng: np.random.Generator) -> None:
    """All-reduce has the same bits whichever way it takes, also at an odd address and in a grid of other blocks."""
    inputs = rng.standard_normal((CALLS, 4, 1001)).astype(np.float16)
    found = [
        flyc.virtual_ranks(4, seed=5).run(calls_of(name, "f16", inputs[:, :, 1:], 1000))[0]
        for name in COLLECTIVES
        if name.startswith("all_reduce")
    ]
    for call in range(CALLS):
        assert found[0][call].tobytes() == found[1][call].tobytes() == found[2][call].tobytes()
