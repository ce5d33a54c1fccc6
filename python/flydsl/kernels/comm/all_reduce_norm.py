"""All-reduce, residual add and RMSNorm in one kernel: what a layer of a split model does between two products.

    summed = round(sum of x over ranks); residual = round(summed + residual); out = round(rmsnorm(residual) * weight)

The bits are those of the three operations one after the other, except for the order in which squares are added.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.comm.collectives import DTYPES, THREADS
from flydsl.kernels.comm.packs import Exchange, load_pack, store_pack


@flyc.jit
def _summed_row(residual: fx.Tensor, e: Exchange, row: fx.Int32, n: fx.Int32) -> Any:
    """Add a row of all ranks to the residual; the sum of this thread's squares."""
    squares = fx.Float32(0.0)
    packs = e.packs(n)
    for place in range(fx.thread_idx.x, packs, e.threads):
        start, left = row * n + place * e.width, n - place * e.width
        total = e.total(lambda rank: e.wide(rank, row * packs + place))  # noqa: B023 - called in this turn
        old = load_pack(residual, start, left, e)
        kept = (total.to(fx.Float32) + old.to(fx.Float32)).to(e.dtype)
        store_pack(kept, residual, start, left, e)
        wide = kept.to(fx.Float32)
        squares = squares + (wide * wide).reduce("add")
    return squares


@kept
def build_all_reduce_rms_norm(dtype: str, threads: int = THREADS) -> Any:
    """Return the launcher: fn(x, residual, weight, out, stage, signals, m, n, epsilon, blocks, stream).

    ``x``, ``residual`` (which is changed) and ``out`` have m rows of n elements one after the other.
    """
    kind = DTYPES[dtype]

    @flyc.kernel(known_block_size=(threads, 1, 1), name="all_reduce_rms_norm")
    def norm_kernel(
        x: fx.Tensor, residual: fx.Tensor, weight: fx.Tensor, out: fx.Tensor, stage: fx.Symmetric,
        signals: fx.Symmetric, m: fx.Int32, n: fx.Int32, epsilon: fx.Float32,
    ):  # fmt: skip
        e = Exchange(stage, signals, kind, threads)
        packs, step = e.packs(n), fx.grid_dim.x
        for row in range(fx.block_idx.x, m, step):
            for place in range(fx.thread_idx.x, packs, threads):
                start = row * n + place * e.width
                e.own(row * packs + place).store(load_pack(x, start, n - place * e.width, e))
        e.meet()
        block = fx.coop.BlockReduce(fx.Float32)
        for row in range(fx.block_idx.x, m, step):
            mean = block.sum(_summed_row(residual, e, row, n)) / fx.Float32(n)
            scale = fx.math.rsqrt(mean + epsilon)
            for place in range(fx.thread_idx.x, packs, threads):
                start, left = row * n + place * e.width, n - place * e.width
                kept = load_pack(residual, start, left, e).to(fx.Float32)
                factors = load_pack(weight, place * e.width, left, e).to(fx.Float32)
                store_pack((kept * scale * factors).to(kind), out, start, left, e)
        e.finish()

    @flyc.jit
    def launch(
        x: fx.Tensor, residual: fx.Tensor, weight: fx.Tensor, out: fx.Tensor, stage: fx.Symmetric,
        signals: fx.Symmetric, m: fx.Int32, n: fx.Int32, epsilon: fx.Float32, blocks: fx.Int32,
        stream: fx.Stream = None,
    ):  # fmt: skip
        norm_kernel(x, residual, weight, out, stage, signals, m, n, epsilon).launch(
            grid=(blocks, 1, 1), block=(threads, 1, 1), stream=stream
        )

    return launch
