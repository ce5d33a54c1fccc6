"""A program of two processes that first disagree, and one of which then dies; what ranks are told is printed.

Run it: python dying_rank.py <rank> <file of the store> [<device of torch>]
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx


@flyc.kernel(known_block_size=(32, 1, 1))
def meeting(signals: fx.Symmetric):
    fx.rank_barrier(signals)


@flyc.jit
def meet(signals: fx.Symmetric):
    meeting(signals).launch(grid=(2, 1, 1), block=(32, 1, 1))


def told(call: Callable[[], object]) -> None:
    try:
        call()
    except Exception as error:  # whatever it is, it is printed
        print(type(error).__name__, error, flush=True)


def zeros(size: int, device: str) -> Any:
    if device == "cpu":
        return np.zeros(size, np.float32)
    import torch

    return torch.zeros(size, device=device)


def main(rank: int, store: str, device: str = "cpu") -> None:
    import torch
    import torch.distributed as dist

    from flydsl.kernels.comm.rank_collectives import Collectives

    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    here = flyc.process_rank(device=device, memory="handles")
    collectives = Collectives(here, max_bytes=1024, blocks=2, threads=32)
    assert (collectives.all_reduce(zeros(10, device) + 1.5) == 3).all()
    signals = here.symmetric((2, 3), np.int32)
    told(lambda: collectives.all_reduce(zeros(5 + rank, device)))
    if rank == 1:
        os._exit(7)
    told(lambda: meet(signals))
    if device != "cpu":
        torch.cuda.synchronize(device)  # a kernel cannot be told: the process ends
    told(lambda: here.exchange(rank))
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
