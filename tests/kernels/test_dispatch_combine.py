"""Tokens to the ranks of their experts and back: every row arrives where it should, and sums are in order."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.kernels.comm.dispatch_combine import FlyDSLDispatchCombineConfig, FlyDSLDispatchCombineIntraNodeOp
from tests.kernels.test_collectives import CASES, INTERLEAVINGS, sizes

MOST, EXPERTS, TOP, HIDDEN = 9, 2, 3, 32
BF16, FP8 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn


def config(rank: int, world: int = 3, **more: Any) -> FlyDSLDispatchCombineConfig:
    sizes = {"hidden_dim": HIDDEN, "max_num_inp_token_per_rank": MOST, "num_experts_per_rank": EXPERTS}
    given = {"num_experts_per_token": TOP, "dispatch_dtype": BF16, "block_num": 2, "threads": 32, **sizes, **more}
    return FlyDSLDispatchCombineConfig(rank=rank, world_size=world, **given)


class Layer:
    """Tokens of all ranks, and what becomes of them: an expert's rank multiplies by its number plus one."""

    def __init__(
        self, world: int, rng: np.random.Generator, row: Any, scales: int, options: dict[str, Any],
        size: tuple[int, int] = (MOST, HIDDEN),
    ) -> None:  # fmt: skip
        self.world, self.most, self.hidden, scale_type = world, *size, np.float32 if scales < 4 else np.uint8
        self.options = {**options, "max_num_inp_token_per_rank": self.most, "hidden_dim": self.hidden}
        self.counts = [self.most, 0, *(int(rng.integers(1, self.most)) for _ in range(world - 2))]
        wide = [rng.standard_normal((n, self.hidden), np.float32) for n in self.counts]
        codes = [rng.integers(0, 256, (n, self.hidden // 2), np.uint8) for n in self.counts]
        self.tokens = codes if row is np.uint8 else [part.astype(row) for part in wide]
        experts = np.arange(world * EXPERTS, dtype=np.int32)
        self.chosen = [np.stack([rng.permutation(experts)[:TOP] for _ in range(n + 1)])[:n] for n in self.counts]
        self.shares = [rng.random((n, TOP)).astype(np.float32) for n in self.counts]
        self.scales: list[Any] = [
            rng.integers(0, 200, (n, scales)).astype(scale_type) if scales else None for n in self.counts
        ]
        if scales:
            self.options |= {"scale_dim": scales, "scale_type_size": np.dtype(scale_type).itemsize}
        self.sum_type = BF16 if row in (np.uint8, FP8) else row

    def made(self, rank: int, origins: np.ndarray, turn: int) -> np.ndarray:
        """The rows that a rank sends back for tokens."""
        base = np.add.outer(origins, np.arange(self.hidden)) % 37 - 11
        return (base * (rank + 1 + turn) / 4).astype(np.float32).astype(self.sum_type)

    def program(self, rank: Any) -> list[Any]:
        op = FlyDSLDispatchCombineIntraNodeOp(
            config(rank.number, self.world, dispatch_dtype=self.tokens[0].dtype, **self.options), rank
        )
        me, found = rank.number, []
        for turn in range(2):
            given = self.tokens[me], self.shares[me], self.scales[me], self.chosen[me]
            rows, weights, wanted, origins, count = op.dispatch(*given)
            parts = [rows, weights, wanted]
            parts += [op.received_scales] if self.scales[me] is not None else []
            arrived = sorted(zip(origins.tolist(), *([row.tobytes() for row in part] for part in parts), strict=True))
            assert len(arrived) == count
            made = self.made(me, origins, turn)
            both = op.combine(made, weights * (me + 1)) if turn else (op.combine(made), None)
            found.append((arrived, *both))
        return found

    def takes(self, rank: int, sender: int, token: int) -> bool:
        return rank in self.chosen[sender][token] // EXPERTS

    def check(self, results: list[Any], slack: float) -> None:
        for me, turns in enumerate(results):
            expected = []
            for sender in range(self.world):
                for t in range(self.counts[sender]):
                    if self.takes(me, sender, t):
                        row = [self.tokens[sender][t], self.shares[sender][t], self.chosen[sender][t]]
                        row += [self.scales[sender][t]] if self.scales[sender] is not None else []
                        expected.append((sender * self.most + t, *(part.tobytes() for part in row)))
            for turn, (arrived, combined, weights) in enumerate(turns):
                assert arrived == sorted(expected)
                assert len(combined) == self.counts[me]
                for t in range(self.counts[me]):
                    takers = [rank for rank in range(self.world) if self.takes(rank, me, t)]
                    origin = np.array([me * self.most + t])
                    parts = [self.made(rank, origin, turn)[0].astype(np.float32) for rank in takers]
                    total = sum(parts, np.zeros(self.hidden, np.float32))
                    if not slack:
                        np.testing.assert_array_equal(combined[t], total.astype(self.sum_type))
                    bound = slack * np.abs(parts).sum(axis=0) + 2**-8 * np.abs(total)
                    assert (np.abs(combined[t].astype(np.float32) - total) <= bound).all()
                    if weights is not None:
                        share = sum(self.shares[me][t] * (rank + 1) for rank in takers)
                        np.testing.assert_allclose(weights[t], share, rtol=1e-6)


FORMS: list[tuple[Any, int, dict[str, Any]]] = [
    (np.float32, 0, {}),
    (BF16, 0, {}),
    (FP8, 2, {"combine_dtype": BF16}),
    (np.uint8, 5, {"combine_dtype": "bfloat16"}),
    (BF16, 0, {"combine_quant_type": "fp8_direct_cast"}),
]


def bits_of(results: list[Any]) -> list[Any]:
    """What arrived at each rank and what it combined, for a comparison with another run."""
    return [
        (arrived, combined.tobytes(), None if weights is None else weights.tobytes())
        for turns in results
        for arrived, combined, weights in turns
    ]


def there_and_back_in_any_order(
    form: tuple[Any, int, dict[str, Any]], world: int, rng: np.random.Generator, interleavings: int, most: int
) -> int:
    """Draw layers whose ranks have room for ``most`` bytes, and interleavings of them; how many there were."""
    row, scales, options = form
    count = 0
    for size, seeds in sizes(rng, most // (world * MOST * HIDDEN), interleavings):
        tokens = int(size ** rng.uniform(0.3, 0.7))
        layer = Layer(world, rng, row, scales, options, (MOST + tokens - 1, HIDDEN * -(-size // tokens)))
        first: Any = None
        for seed in seeds:
            with flyc.sanitize("ranks") if options == {} and not count and first is None else nullcontext():
                results = flyc.virtual_ranks(world, seed=seed).run(layer.program)
            if first is None:
                first = bits_of(results)
                layer.check(results, 2.0**-4 if "combine_quant_type" in options else 0.0)
            assert bits_of(results) == first, f"seed {seed} gives other bits"
        count += len(seeds)
    return count


@pytest.mark.parametrize("form", FORMS)
def test_there_and_back(
    form: tuple[Any, int, dict[str, Any]], monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    arch, world = CASES[int(rng.integers(len(CASES)))]
    monkeypatch.setenv("ARCH", arch)
    assert there_and_back_in_any_order(form, world, rng, INTERLEAVINGS, 4 * world * MOST * HIDDEN) == INTERLEAVINGS


def echo(rank: Any, layer: Layer, device: Any) -> tuple[Any, Any]:
    """Tensors of torch there and, as they are, back: what is combined of rows and weights."""
    import torch

    op = FlyDSLDispatchCombineIntraNodeOp(config(rank.number, rank.world, dispatch_dtype=torch.float32), rank)
    parts = (layer.tokens, layer.shares, layer.chosen)
    tokens, shares, chosen = (torch.from_numpy(part[rank.number]).to(device) for part in parts)
    rows, weights, _, _, _ = op.dispatch(tokens, shares, None, chosen)
    return op.combine(rows.clone(), weights.clone())


def check_echo(layer: Layer, me: int, combined: Any, weights: Any) -> None:
    assert tuple(combined.shape) == (layer.counts[me], HIDDEN)
    takers = np.array([[sum(layer.takes(rank, me, t) for rank in range(layer.world))] for t in range(len(combined))])
    for found, sent in ((combined, layer.tokens[me]), (weights, layer.shares[me])):
        wanted = sent * takers.reshape(-1, 1).astype(np.float32)
        np.testing.assert_allclose(found.cpu(), wanted, rtol=layer.world * 2.0**-23)


def test_tensors_of_torch(rng: np.random.Generator) -> None:
    """The same by tensors; one rank has no token."""
    pytest.importorskip("torch")
    layer = Layer(2, rng, np.float32, 0, {})
    for me, found in enumerate(flyc.virtual_ranks(2, seed=2).run(lambda rank: echo(rank, layer, "cpu"))):
        check_echo(layer, me, *found)


def test_mistakes_are_told() -> None:
    wrong = [
        ({"hidden_dim": 7}, ValueError, "multiple of 16 bytes"),
        ({"num_experts_per_token": 65}, ValueError, "1 to 64 experts"),
        ({"dispatch_dtype": np.int64}, TypeError, "not int64"),
        ({"combine_dtype": FP8}, TypeError, "added as"),
        ({"combine_quant_type": "int8"}, ValueError, "fp8_direct_cast"),
        ({"zero_copy": True}, NotImplementedError, "zero_copy"),
    ]
    for given, error, message in wrong:
        with pytest.raises(error, match=message):
            config(0, **given)

    def twice(rank: Any) -> None:
        op = FlyDSLDispatchCombineIntraNodeOp(config(rank.number), rank)
        with pytest.raises(RuntimeError, match="combine follows a dispatch"):
            op.combine(np.zeros((0, HIDDEN), BF16))
        given = np.zeros((1, HIDDEN), BF16), np.zeros((1, TOP), np.float32), None
        with pytest.raises(ValueError, match="numbered 0 to 5"):
            op.dispatch(*given, np.full((1, TOP), 6, np.int32))
        with pytest.raises(ValueError, match="a row has 0 scales"):
            op.dispatch(*given[:2], np.zeros((1, 2), np.float32), np.zeros((1, TOP), np.int32))
        op.dispatch(*given, np.zeros((1, TOP), np.int32))
        with pytest.raises(RuntimeError, match="no scales were sent"):
            _ = op.received_scales
        with pytest.raises(RuntimeError, match="take turns"):
            op.dispatch(*given, np.zeros((1, TOP), np.int32))

    flyc.virtual_ranks(3).run(twice)
