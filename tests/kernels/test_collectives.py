"""Collectives of virtual ranks: the same bits on every rank, sums within a rounding of those in float64, in any order.

`python -m tests.fuzz.ranks` draws more interleavings, of arrays of up to 16 MB.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.kernels.comm.collectives import COLLECTIVES, MULTICAST, NARROW, build_collective

INTERLEAVINGS, MOST_BYTES = 4, 8000
TYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
ROUNDINGS = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
CALLS, LARGE = 3, 1 << 20
"""Calls one after the other, where an array has no more bytes than that; one otherwise."""
BLOCKS, THREADS = 2, 64
CASES = [("gfx942", 2), ("gfx950", 4), ("sm_90a", 8)]
GIVES_ALL, TAKES_ALL = ("all_gather", "all_to_all"), ("reduce_scatter", "all_to_all")
NAMES = [*COLLECTIVES, *(f"{name} fp8" for name in NARROW)]


def has(arch: str, name: str) -> bool:
    """Whether a target has a collective."""
    return arch == "sm_90a" or name not in MULTICAST


EVERY = [(name, *case) for name in NAMES for case in CASES if has(case[0], name)]


def calls_of(name: str, kind: str, inputs: np.ndarray, n: int, wire: str | None = None) -> Any:
    """What every rank does: some calls one after the other, each with other data of the same size."""

    def program(rank: Any) -> list[np.ndarray]:
        world, dtype = rank.world, inputs.dtype
        fn = build_collective(name, kind, world, THREADS, wire)
        parts = world if name in TAKES_ALL else 1
        stage = rank.symmetric((2, 2, (-(-n * dtype.itemsize // 16) * parts + world) * 16), np.uint8)
        signals = rank.symmetric((BLOCKS, world + 2), np.int32)
        found = []
        for given in inputs:
            out = np.full(n * (world if name in GIVES_ALL else 1), np.nan, dtype)
            x = given[rank.number].copy()
            fn(x, out, stage, signals, n, BLOCKS)
            x[:] = 7  # the caller's own again
            found.append(out)
        return found

    return program


def given(name: str, x: np.ndarray, rank: int, n: int) -> np.ndarray:
    """The part of what ranks (rows of ``x``) give that a rank adds, or has one after the other."""
    return x[:, rank * n : (rank + 1) * n] if name in TAKES_ALL else x


def slack(name: str, kind: str, x: np.ndarray, wanted: np.ndarray, wire: str | None) -> np.ndarray:
    """How far a result may be from the one in float64."""
    world, top = len(x), float(np.abs(x.astype(np.float64)).max())
    rounding = ROUNDINGS[kind] * np.abs(wanted) + world * 2.0**-23 * top
    if wire is None:
        return rounding
    # Codes have four bits of a number, or are steps of the least one of a pack; the sum is encoded again in two shots.
    once = np.abs(x.astype(np.float64)).sum(axis=0) * 2.0**-4 + world * top * 2.0**-9
    again = np.abs(wanted) + once + world * top * 2.0**-5
    return rounding + once + (again * 2.0**-4 if "two_shot" in name else 0)


def sizes(rng: np.random.Generator, most: int, interleavings: int) -> Iterator[tuple[int, list[int]]]:
    """Sizes from 1 to near ``most``, and the seeds of some interleavings of each, so many in all.

    Of many, one in ten may be large, the last is, and the others have the 256th part of ``most`` at the most.
    """
    few = interleavings <= 10
    each = 2 if few else 5
    for turn in range(0, interleavings, each):
        last = turn + each >= interleavings
        top = most if few or last or turn % (10 * each) == 0 else most >> 8
        size = int(max(top, 1) ** rng.uniform(0.95 if last and not few else 0, 1)) | 1 if turn else 1
        yield size, [int(seed) for seed in rng.integers(1, 2**31, min(each, interleavings - turn))]


def sum_in_any_order(
    name: str, arch: str, world: int, rng: np.random.Generator, interleavings: int, most: int, kinds: Sequence[str]
) -> int:
    """Draw arrays of up to ``most`` bytes and interleavings of a collective; how many there were."""
    name, _, wire = name.partition(" ")
    fp8 = ("fp8_fnuz" if arch == "gfx942" else "fp8") if wire else None
    parts, count = world if name in (*TAKES_ALL, *GIVES_ALL) else 1, 0
    for size, seeds in sizes(rng, most // parts, interleavings):
        kind = kinds[int(rng.integers(len(kinds)))]
        n = -(-size // np.dtype(TYPES[kind]).itemsize)
        length = n * (world if name in TAKES_ALL else 1)
        calls = CALLS if size * parts <= LARGE else 1
        inputs = (rng.random((calls, world, length), dtype=np.float32) * 4 - 2).astype(TYPES[kind])
        program = calls_of(name, kind, inputs, n, fp8)
        first: Any = None
        for seed in seeds:
            results = flyc.virtual_ranks(world, seed=seed).run(program)
            if first is None:
                first = results
                check(name, kind, inputs, results, fp8)
            for rank, outs in enumerate(results):
                for call, out in enumerate(outs):
                    assert out.tobytes() == first[rank][call].tobytes(), f"seed {seed} gives other bits"
        count += len(seeds)
    return count


@pytest.mark.parametrize(("name", "arch", "world"), EVERY)
def test_every_rank_gets_the_sum(
    name: str, arch: str, world: int, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    monkeypatch.setenv("ARCH", arch)
    kind = str(rng.choice(list(TYPES)))
    assert sum_in_any_order(name, arch, world, rng, INTERLEAVINGS, MOST_BYTES, [kind]) == INTERLEAVINGS


def check(name: str, kind: str, inputs: np.ndarray, results: list[list[np.ndarray]], wire: str | None) -> None:
    for call, x in enumerate(inputs):
        for rank, outs in enumerate(results):
            if name.startswith("all_reduce") and rank:
                assert outs[call].tobytes() == results[0][call].tobytes(), "ranks have other bits"
                continue
            part = given(name, x, rank, outs[call].size // (len(x) if name in GIVES_ALL else 1))
            if name in GIVES_ALL:
                assert outs[call].tobytes() == part.tobytes()
                continue
            wanted = part.astype(np.float64).sum(axis=0)
            error = np.abs(outs[call].astype(np.float64) - wanted)
            assert (error <= slack(name, kind, part, wanted, wire)).all()


def test_the_ways_to_sum_agree(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """All-reduce has the same bits whichever way it takes, also at an odd address."""
    monkeypatch.setenv("ARCH", "sm_90a")
    inputs = rng.standard_normal((CALLS, 4, 1001)).astype(np.float16)
    found = [
        flyc.virtual_ranks(4, seed=5).run(calls_of(name, "f16", inputs[:, :, 1:], 1000))[0]
        for name in COLLECTIVES
        if name.startswith("all_reduce")
    ]
    for others in found[1:]:
        for call, out in enumerate(others):
            assert out.tobytes() == found[0][call].tobytes()


def test_packs_of_codes_keep_small_numbers_beside_large_ones(rng: np.random.Generator) -> None:
    """Each pack has a scale of its own: zeros stay zeros, and numbers near 1e-4 do beside packs near 1e4."""
    x = rng.uniform(1, 2, (1, 2, 64)).astype(np.float32)
    x[:, :, :16], x[:, :, 16:32], x[:, :, 32:48] = x[:, :, :16] * 1e4, 0, x[:, :, 32:48] * 1e-4
    for name in NARROW:
        out = flyc.virtual_ranks(2, seed=3).run(calls_of(name, "f32", x, 64, "fp8_fnuz"))[1][0]
        np.testing.assert_allclose(out, x[0].sum(axis=0), rtol=0.15)
    with pytest.raises(ValueError, match="have a narrow wire"):
        build_collective("all_gather", "f32", 2, 64, "fp8")
