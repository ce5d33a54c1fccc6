"""What ranks on one GPU do: sums of random sizes by every way, and a captured graph that is replayed with other data.

As processes: torchrun --nproc-per-node 2 tests/gpu/rank_program.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import flydsl.compiler as flyc
from flydsl.kernels.comm.custom_all_reduce import FlyDSLAllreduce
from flydsl.kernels.comm.rank_collectives import Collectives

SIZES = (1, 7, 1000, 16384, 100_003)
WAYS = ("all_reduce_one_shot", "all_reduce_two_shot", "all_reduce_write")
REPLAYS = 4
BLOCKS, MOST = 4, 1 << 18


def given(rank: int, turn: int, size: int) -> np.ndarray:
    return np.random.default_rng((rank, turn, size)).standard_normal(size).astype(np.float16)


def check(rank: Any, out: Any, turn: int, size: int) -> None:
    """The sum in float64 within a rounding, and the same bits on every rank."""
    found = out.cpu().numpy()
    exact = sum(given(number, turn, size).astype(np.float64) for number in range(rank.world))
    assert (np.abs(found.astype(np.float64) - exact) <= 2.0**-11 * np.abs(exact) + rank.world * 2.0**-20).all()
    assert len(set(rank.exchange(found.tobytes()))) == 1


def summed(rank: Any, calls: Collectives, size: int, turn: int, **options: Any) -> None:
    x = torch.from_numpy(given(rank.number, turn, size)).to(rank.device)
    out = torch.full_like(x, float("nan"))
    torch.cuda.current_stream().synchronize()
    rank.barrier()  # nobody asks for memory any more: that might wait for kernels, which wait for others
    calls.all_reduce(x, out, **options)
    torch.cuda.current_stream().synchronize()
    check(rank, out, turn, size)


def replayed(rank: Any, size: int) -> None:
    reduce = FlyDSLAllreduce(rank, 2 * MOST, threads=256, blocks=BLOCKS)
    x = torch.zeros(size, dtype=torch.float16, device=rank.device)
    out = torch.empty_like(x)
    torch.cuda.current_stream().synchronize()
    rank.barrier()
    reduce.custom_all_reduce(x, out=out)
    torch.cuda.current_stream().synchronize()
    graph = torch.cuda.CUDAGraph()
    for number in range(rank.world):  # in turn: beginning to capture waits for the whole device
        rank.barrier()
        if number == rank.number:
            with (
                reduce.capture(),
                torch.cuda.graph(graph, stream=torch.cuda.Stream(), capture_error_mode="thread_local"),
            ):
                reduce.custom_all_reduce(x, out=out)
    for turn in range(REPLAYS):
        x.copy_(torch.from_numpy(given(rank.number, turn, size)))
        out.fill_(float("nan"))
        torch.cuda.current_stream().synchronize()
        rank.barrier()
        graph.replay()
        torch.cuda.current_stream().synchronize()
        check(rank, out, turn, size)
    reduce.close()


def program(rank: Any) -> bool:
    calls = Collectives(rank, max_bytes=MOST, blocks=BLOCKS, threads=256)
    for turn, size in enumerate(SIZES):
        for way in WAYS:
            summed(rank, calls, size, turn, way=way)
    replayed(rank, 8192)
    replayed(rank, 65536)
    return True


def main() -> None:
    import torch.distributed as dist

    dist.init_process_group("gloo")
    torch.cuda.set_device(0)
    rank = flyc.process_rank(device="cuda:0", memory="handles")
    program(rank)
    rank.close()
    if rank.number == 0:
        print("PASS")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
