"""A program of two processes that first disagree, and one of which then dies; what ranks are told is printed.

Run it: python dying_rank.py <rank> <file of the store>
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

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


def main(rank: int, store: str) -> None:
    import torch.distributed as dist

    from flydsl.kernels.comm.rank_collectives import Collectives

    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    here = flyc.process_rank()
    collectives = Collectives(here, max_bytes=1024, blocks=2, threads=32)
    total = collectives.all_reduce(np.arange(10, dtype=np.float32))
    assert (total == 2 * np.arange(10)).all()
    signals = here.symmetric((2, 3), np.int32)
    told(lambda: collectives.all_reduce(np.zeros(5 + rank, np.float32)))
    if rank == 1:
        os._exit(7)
    told(lambda: meet(signals))
    told(lambda: here.exchange(rank))
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
