"""The sum over several ranks: a symmetric buffer that every rank has, signals, and one kernel that all launch together.

What is new here: memory of other ranks (`x.at(r)`), and a barrier of ranks inside a kernel. Alone it runs on virtual
ranks, in one process; under torchrun each process is a rank, with `torch.distributed` to introduce them.

Run it: python examples/07-allreduce.py
    or: torchrun --nproc-per-node 4 examples/07-allreduce.py
"""

from __future__ import annotations

import os

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx

THREADS, BLOCKS = 64, 2


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def one_shot(x: fx.Symmetric, signals: fx.Symmetric, out: fx.Tensor):
    """Every rank reads what all have, always from rank 0 on, so that all get the same bits."""
    fx.rank_barrier(signals)  # every rank has filled its x
    for i in range(fx.block_idx.x * THREADS + fx.thread_idx.x, out.shape[0], fx.grid_dim.x * THREADS):
        total = fx.Float32(0.0)
        for rank in fx.range_constexpr(x.world):
            total += x.at(rank)[i]
        out[i] = total
    fx.rank_barrier(signals)  # every rank has read: x may be filled again


@flyc.jit
def all_reduce(x: fx.Symmetric, signals: fx.Symmetric, out: fx.Tensor):
    one_shot(x, signals, out).launch(grid=(BLOCKS, 1, 1), block=(THREADS, 1, 1))


def program(rank: flyc.Rank) -> np.ndarray:
    """What each rank does."""
    n = 1000
    x = rank.symmetric(n, np.float32)
    signals = rank.symmetric((BLOCKS, rank.world + 1), np.int32)
    out = np.empty(n, np.float32)
    for turn in range(3):
        parts = [np.random.default_rng((turn, r)).standard_normal(n) for r in range(rank.world)]
        x.local[:] = parts[rank.number]
        all_reduce(x, signals, out)
        np.testing.assert_allclose(out, sum(parts), atol=1e-5)
    return out


def main() -> None:
    device = flyc.current_device()
    print(f"device: {device}, target: {device.target}")
    if "LOCAL_RANK" not in os.environ:
        results = flyc.virtual_ranks(4, seed=7).run(program)
        assert all(result.tobytes() == results[0].tobytes() for result in results)
        print("all-reduce: 4 virtual ranks have the same sum")
        print("PASS")
        return
    import torch.distributed as dist

    dist.init_process_group("gloo")
    rank = flyc.process_rank()
    results = rank.exchange(program(rank).tobytes())
    assert all(result == results[0] for result in results)
    rank.close()
    if rank.number == 0:
        print(f"all-reduce: {rank.world} processes have the same sum")
        print("PASS")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
