"""Tokens to the ranks of their experts and back: every row arrives where it should, and sums are in order."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.kernels.comm.dispatch_combine import FlyDSLDispatchCombineConfig, FlyDSLDispatchCombineIntraNodeOp

WORLD, MOST, EXPERTS, TOP, HIDDEN = 3, 9, 2, 4, 24
KIND = ml_dtypes.bfloat16


def config(rank: int, **more: Any) -> FlyDSLDispatchCombineConfig:
    sizes = {"hidden_dim": HIDDEN, "max_num_inp_token_per_rank": MOST, "num_experts_per_rank": EXPERTS}
    given = {"num_experts_per_token": TOP, "dtype": KIND, "block_num": 2, "threads": 32, **sizes, **more}
    return FlyDSLDispatchCombineConfig(rank=rank, world_size=WORLD, **given)


@pytest.mark.parametrize(("arch", "sanitize"), [("gfx942", False), ("sm_90a", False), ("gfx950", True)])
def test_there_and_back(arch: str, sanitize: bool, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setenv("ARCH", arch)
    counts = [9, 0, 5]
    tokens = [rng.standard_normal((n, HIDDEN)).astype(KIND) for n in counts]
    experts = np.arange(WORLD * EXPERTS, dtype=np.int32)
    chosen = [np.stack([rng.permutation(experts)[:TOP] for _ in range(n + 1)])[:n] for n in counts]
    shares = [rng.random((n, TOP)).astype(np.float32) for n in counts]

    def program(rank: Any) -> list[Any]:
        op = FlyDSLDispatchCombineIntraNodeOp(config(rank.number), rank)
        me, found = rank.number, []
        for turn in range(2):
            rows, weights, wanted, origins, count = op.dispatch(tokens[me], shares[me], None, chosen[me])
            arrived = sorted(zip(origins.tolist(), rows.tolist(), weights.tolist(), wanted.tolist(), strict=True))
            assert len(arrived) == count
            scaled = (rows.astype(np.float32) * (me + 1 + turn)).astype(KIND)
            found.append((arrived, op.combine(scaled)))
        return found

    with flyc.sanitize("ranks") if sanitize else nullcontext():
        results = flyc.virtual_ranks(WORLD, seed=int(rng.integers(1, 1000))).run(program)
    for me, turns in enumerate(results):
        expected = sorted(
            (rank * MOST + t, tokens[rank][t].tolist(), shares[rank][t].tolist(), chosen[rank][t].tolist())
            for rank in range(WORLD) for t in range(counts[rank]) if me in chosen[rank][t] // EXPERTS
        )  # fmt: skip
        for turn, (arrived, combined) in enumerate(turns):
            assert arrived == expected
            for t in range(counts[me]):
                total = np.zeros(HIDDEN, np.float32)
                for rank in range(WORLD):
                    if rank in chosen[me][t] // EXPERTS:
                        part = (tokens[me][t].astype(np.float32) * (rank + 1 + turn)).astype(KIND)
                        total = total + part.astype(np.float32)
                np.testing.assert_array_equal(combined[t], total.astype(KIND))


def test_mistakes_are_told() -> None:
    with pytest.raises(ValueError, match="multiple of 16 bytes"):
        config(0, hidden_dim=7)
    with pytest.raises(ValueError, match="1 to 64 experts"):
        config(0, num_experts_per_token=65)

    def twice(rank: Any) -> None:
        op = FlyDSLDispatchCombineIntraNodeOp(config(rank.number), rank)
        with pytest.raises(RuntimeError, match="combine follows a dispatch"):
            op.combine(np.zeros((0, HIDDEN), KIND))
        given = np.zeros((1, HIDDEN), KIND), np.zeros((1, TOP), np.float32), None
        with pytest.raises(ValueError, match="numbered 0 to 5"):
            op.dispatch(*given, np.full((1, TOP), 6, np.int32))
        op.dispatch(*given, np.zeros((1, TOP), np.int32))
        with pytest.raises(RuntimeError, match="take turns"):
            op.dispatch(*given, np.zeros((1, TOP), np.int32))

    flyc.virtual_ranks(WORLD).run(twice)
