"""Tokens sent to the ranks of their experts, and what those made of them sent back: expert parallelism on one machine.

A token goes once to every rank that has one of its experts. Where it arrives is drawn from a counter of that rank, so
the order of arrival differs from run to run; what comes back is added in the order of ranks, so sums do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.comm.collectives import DTYPES
from flydsl.kernels.comm.packs import PACK_BYTES

MOST_WORLD, MOST_EXPERTS_PER_TOKEN = 8, 64
WORDS = PACK_BYTES // 4
_NAMES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}


@dataclass(frozen=True)
class FlyDSLDispatchCombineConfig:
    """What is fixed for all calls: ranks, the length of a token's row, and how many tokens and experts there are."""

    rank: int
    world_size: int
    hidden_dim: int
    max_num_inp_token_per_rank: int
    num_experts_per_rank: int
    num_experts_per_token: int
    dtype: Any = np.float32
    block_num: int = 16
    threads: int = 256

    def __post_init__(self) -> None:
        if not 1 <= self.world_size <= MOST_WORLD:
            raise ValueError(f"there are 1 to {MOST_WORLD} ranks, not {self.world_size}")
        if not 1 <= self.num_experts_per_token <= MOST_EXPERTS_PER_TOKEN:
            raise ValueError(f"a token has 1 to {MOST_EXPERTS_PER_TOKEN} experts, not {self.num_experts_per_token}")
        if self.hidden_dim * np.dtype(self.dtype).itemsize % PACK_BYTES:
            raise ValueError(
                f"rows of {self.hidden_dim} elements of {np.dtype(self.dtype)} are no multiple of 16 bytes"
            )
        if np.dtype(self.dtype).name not in _NAMES:
            raise TypeError(f"rows are {', '.join(_NAMES)}, not {np.dtype(self.dtype)}")


def _packs(tensor: fx.Tensor, row: fx.Int32, kind: type[fx.Numeric]) -> Any:
    """A row as packs of 16 bytes: (elements of a pack, packs)."""
    width = PACK_BYTES * 8 // kind.width
    start = fx.recast_iter(kind, fx.get_iter(tensor[row, None])).aligned(PACK_BYTES)
    return fx.make_view(start, fx.make_layout((width, fx.Int32(tensor.shape[1]) // WORDS), (1, width)))


@cache
def make_dispatch_jit(threads: int = 256) -> Any:
    """fn(x, indices, weights, slots, rows, facts, shares, counter, signals, n, experts, most, blocks, stream).

    ``x`` and ``rows`` are words of 32 bits. ``slots[token, rank]`` is where a token arrived, or -1. Of an arrived row,
    ``facts`` has the origin (rank * most + token) and the experts, ``shares`` their weights.
    """

    @flyc.jit
    def draw_slots(
        indices: fx.Tensor, weights: fx.Tensor, slots: fx.Tensor, facts: fx.Symmetric, shares: fx.Symmetric,
        counter: fx.Symmetric, place: tuple[fx.Int32, fx.Int32, fx.Int32],
    ) -> None:  # fmt: skip
        """A token's row on every rank that has one of its experts, and what goes with it."""
        token, experts, most = place
        top = indices.shape[1]
        for rank in range(counter.world):
            slots[token, rank] = -1
        for k in range(top):
            rank = indices[token, k] // experts
            if slots[token, rank] < 0:
                slot = fx.atomic("add", counter.at(rank), 1, at=0, scope="system")
                slots[token, rank] = slot
                there, shared = facts.at(rank), shares.at(rank)
                there[slot, 0] = counter.rank * most + token
                for j in range(top):
                    there[slot, j + 1] = indices[token, j]
                    shared[slot, j] = weights[token, j]

    @flyc.kernel(known_block_size=(threads, 1, 1), name="dispatch")
    def dispatch_kernel(
        x: fx.Tensor, indices: fx.Tensor, weights: fx.Tensor, slots: fx.Tensor, rows: fx.Symmetric,
        facts: fx.Symmetric, shares: fx.Symmetric, counter: fx.Symmetric, signals: fx.Symmetric, n: fx.Int32,
        experts: fx.Int32, most: fx.Int32,
    ):  # fmt: skip
        part = fx.ceildiv(n, fx.grid_dim.x)
        first = fx.block_idx.x * part
        last = fx.min(first + part, n)
        for token in range(first + fx.thread_idx.x, last, threads):
            draw_slots(indices, weights, slots, facts, shares, counter, (token, experts, most))
        fx.barrier()
        for token in range(first, last):
            for rank in range(rows.world):
                slot = slots[token, rank]
                if slot >= 0:
                    source, target = _packs(x, token, fx.Int32), _packs(rows.at(rank), slot, fx.Int32)
                    for pack in range(fx.thread_idx.x, x.shape[1] // WORDS, threads):
                        target[None, pack].store(source[None, pack].load())
        fx.rank_barrier(signals)

    @flyc.jit
    def dispatch(
        x: fx.Tensor, indices: fx.Tensor, weights: fx.Tensor, slots: fx.Tensor, rows: fx.Symmetric,
        facts: fx.Symmetric, shares: fx.Symmetric, counter: fx.Symmetric, signals: fx.Symmetric, n: fx.Int32,
        experts: fx.Int32, most: fx.Int32, blocks: fx.Int32, stream: fx.Stream = None,
    ):  # fmt: skip
        dispatch_kernel(
            x, indices, weights, slots, rows, facts, shares, counter, signals, n, experts, most
        ).launch(grid=(blocks, 1, 1), block=(threads, 1, 1), stream=stream)  # fmt: skip

    return dispatch


@cache
def make_combine_jit(dtype: str, threads: int = 256) -> Any:
    """fn(rows, facts, slots, back, out, counter, signals, n, received, most, blocks, stream).

    ``rows`` are what this rank made of the ``received`` tokens; ``out[token]`` is the sum of what came ``back`` for one
    of this rank's n tokens. Both are words of 32 bits.
    """
    kind = DTYPES[dtype]

    @flyc.kernel(known_block_size=(threads, 1, 1), name="combine")
    def combine_kernel(
        rows: fx.Tensor, facts: fx.Symmetric, slots: fx.Tensor, back: fx.Symmetric, out: fx.Tensor,
        counter: fx.Symmetric, signals: fx.Symmetric, n: fx.Int32, received: fx.Int32, most: fx.Int32,
    ):  # fmt: skip
        count, width = rows.shape[1] // WORDS, PACK_BYTES * 8 // kind.width
        if (fx.block_idx.x == 0) & (fx.thread_idx.x == 0):
            counter.local[0] = 0  # nobody sends before all have met below
        for arrived in range(fx.block_idx.x, received, fx.grid_dim.x):
            origin = facts.local[arrived, 0]
            source = _packs(rows, arrived, fx.Int32)
            target = _packs(back.at(origin // most), back.rank * most + origin % most, fx.Int32)
            for pack in range(fx.thread_idx.x, count, threads):
                target[None, pack].store(source[None, pack].load())
        # Rows of one token come from blocks of any number, so all blocks of all ranks have to meet.
        fx.rank_barrier(signals)
        fx.grid_barrier(signals.local[fx.grid_dim.x, None])
        for token in range(fx.block_idx.x, n, fx.grid_dim.x):
            target = _packs(out, token, kind)
            for pack in range(fx.thread_idx.x, count, threads):
                total = fx.Vector.from_elements([fx.Float32(0.0)] * width, fx.Float32)
                for rank in range(back.world):
                    if slots[token, rank] >= 0:
                        total = total + _packs(back.local, rank * most + token, kind)[None, pack].load().to(fx.Float32)
                target[None, pack].store(total.to(kind))

    @flyc.jit
    def combine(
        rows: fx.Tensor, facts: fx.Symmetric, slots: fx.Tensor, back: fx.Symmetric, out: fx.Tensor,
        counter: fx.Symmetric, signals: fx.Symmetric, n: fx.Int32, received: fx.Int32, most: fx.Int32,
        blocks: fx.Int32, stream: fx.Stream = None,
    ):  # fmt: skip
        combine_kernel(rows, facts, slots, back, out, counter, signals, n, received, most).launch(
            grid=(blocks, 1, 1), block=(threads, 1, 1), stream=stream
        )

    return combine


class FlyDSLDispatchCombineIntraNodeOp:
    """Dispatch and combine of one rank, in turns. All ranks make the same calls."""

    def __init__(self, config: FlyDSLDispatchCombineConfig, rank: flyc.Rank | None = None) -> None:
        self.config = config
        self.rank = rank = flyc.process_rank() if rank is None else rank
        if (rank.number, rank.world) != (config.rank, config.world_size):
            raise ValueError(f"this is rank {rank.number} of {rank.world}, not {config.rank} of {config.world_size}")
        words = config.hidden_dim * np.dtype(config.dtype).itemsize // 4
        most, top = config.max_num_inp_token_per_rank, config.num_experts_per_token
        room = most * config.world_size
        self._rows, self._back = (rank.symmetric((room, words), np.int32) for _ in range(2))
        self._facts, self._shares = rank.symmetric((room, top + 1), np.int32), rank.symmetric((room, top), np.float32)
        self._counter = rank.symmetric(1, np.int32)
        self._signals = rank.symmetric((config.block_num + 1, config.world_size + 1), np.int32)
        self._slots: np.ndarray | None = None
        self._received = 0

    def dispatch(
        self,
        input: np.ndarray,
        weights: np.ndarray,
        scales: object,
        indices: np.ndarray,
        packed_recv_x: object = None,
    ) -> tuple[Any, Any, Any, Any, int]:
        """Send tokens to the ranks of their experts; what arrived here: rows, weights, experts, origins, how many.

        An origin is (rank of the token) * (most tokens of a rank) + (number of the token).
        """
        if scales is not None or packed_recv_x is not None:
            raise NotImplementedError("scales and packed rows are not sent yet: pass None")
        if self._slots is not None:
            raise RuntimeError("dispatch and combine take turns, and this dispatch follows another")
        config, n = self.config, len(input)
        if n > config.max_num_inp_token_per_rank:
            raise ValueError(f"{n} tokens are given, and {config.max_num_inp_token_per_rank} are the most")
        expected = ((n, config.hidden_dim), (n, config.num_experts_per_token), (n, config.num_experts_per_token))
        if (input.shape, weights.shape, indices.shape) != expected or input.dtype != np.dtype(config.dtype):
            raise ValueError(f"input, weights and indices have the shapes {expected}, the first is {config.dtype}")
        if n and not 0 <= indices.min() <= indices.max() < config.world_size * config.num_experts_per_rank:
            raise ValueError(f"experts are numbered 0 to {config.world_size * config.num_experts_per_rank - 1}")
        self._slots = np.full((max(n, 1), config.world_size), -1, np.int32)
        make_dispatch_jit(config.threads)(
            input.view(np.int32), indices, weights, self._slots, self._rows, self._facts, self._shares, self._counter,
            self._signals, n, config.num_experts_per_rank, config.max_num_inp_token_per_rank, config.block_num,
        )  # fmt: skip
        self._received = count = int(self._counter.local[0])
        rows = self._rows.local[:count].view(config.dtype)
        facts = self._facts.local[:count]
        return rows, self._shares.local[:count], facts[:, 1:], facts[:, 0], count

    def combine(self, input: np.ndarray) -> Any:
        """Send rows back to where their tokens came from; the sum over ranks for each token of this rank."""
        if self._slots is None:
            raise RuntimeError("combine follows a dispatch")
        config, slots, n = self.config, self._slots, len(self._slots)
        if input.shape != (self._received, config.hidden_dim) or input.dtype != np.dtype(config.dtype):
            raise ValueError(f"{self._received} rows of {config.hidden_dim} {np.dtype(config.dtype)} have arrived")
        out = np.zeros((n, config.hidden_dim), config.dtype)
        rows = input if len(input) else np.zeros((1, config.hidden_dim), config.dtype)
        make_combine_jit(_NAMES[np.dtype(config.dtype).name], config.threads)(
            rows.view(np.int32), self._facts, slots, self._back, out.view(np.int32), self._counter, self._signals, n,
            self._received, config.max_num_inp_token_per_rank, config.block_num,
        )  # fmt: skip
        self._slots = None
        return out
