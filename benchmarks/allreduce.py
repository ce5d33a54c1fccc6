"""All-reduce of several ranks: every way, by size, beside the process group's own and the model's time.

Run it: torchrun --nproc-per-node 8 benchmarks/allreduce.py      (a GPU a rank; microseconds, bus bandwidth)
    or: python benchmarks/allreduce.py [--ranks 4] [--quick]     (virtual ranks: results checked, times the model's)
    or: python benchmarks/allreduce.py --floor [--ranks 2]       (ranks share a GPU as streams: launches and signals)

Times are the median of single calls between two events on the stream, after a warm-up, on the slowest rank. ``bus`` is
bytes times 2 (world - 1) / world by time, as NCCL's tests count it. Every result is compared with the sum in float64.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import timing

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.comm.collectives import MULTICAST
from flydsl.kernels.comm.model import BARRIERS, DEFAULT_LINK, LINKS, microseconds
from flydsl.kernels.comm.rank_collectives import Collectives

SIZES = [16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20]
FEW_SIZES = [1 << 10, 40_000]
HEAD = ["bytes", "way", "us", "bus GB/s", "model us", "group us", "worst error"]
FLOOR_HEAD = ["", "us, launched", "us, in a graph"]
CALLS = 50


def link_of_target() -> Any:
    """The numbers of the model for the GPU at hand."""
    return LINKS.get(flyc.current_device().target.generation, DEFAULT_LINK)


def ways_of(rank: flyc.Rank) -> list[str]:
    """Those that the GPU at hand, and the memory of a rank, have."""
    hopper = flyc.current_device().target.generation == "hopper"
    return [way for way in BARRIERS if way not in MULTICAST or (hopper and rank.multicast)]


def data(rank: int, size: int) -> np.ndarray:
    return np.random.default_rng((size, rank)).standard_normal(size // 2).astype(np.float16)


def worst(result: np.ndarray, world: int, size: int) -> float:
    """The largest error, in units of the result's last place at its largest element."""
    exact = sum(data(rank, size).astype(np.float64) for rank in range(world))
    return float(np.abs(result.astype(np.float64) - exact).max() / (np.abs(exact).max() * 2.0**-11))


def row(size: int, way: str, world: int, error: float, us: float | None, group_us: float | None) -> list[str]:
    model = microseconds(way, world, size, link_of_target())
    bus = None if us is None else 2 * (world - 1) / world * size / us / 1e3
    shown = ["-" if number is None else f"{number:.1f}" for number in (us, bus, model, group_us)]
    return [str(size), way.removeprefix("all_reduce_"), *shown, f"{error:.2f}"]


# Virtual ranks -----------------------------------------------------------------------------------------------------


def on_virtual_ranks(world: int, sizes: list[int]) -> list[list[str]]:
    def program(rank: Any) -> list[list[str]]:
        calls = Collectives(rank, max_bytes=max(sizes), blocks=4)
        found = []
        for size in sizes:
            for way in ways_of(rank):
                result = calls.all_reduce(data(rank.number, size), way=way)
                found.append(row(size, way, world, worst(result, world, size), None, None))
        return found

    return flyc.virtual_ranks(world, seed=1).run(program)[0]


# A GPU a rank --------------------------------------------------------------------------------------------------------


def median_us(call: Callable[[], Any]) -> float:
    """Of single calls, between events; all ranks begin each together, as far as a barrier can do that."""
    import torch

    times = []
    for turn in range(CALLS + 10):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        end.synchronize()
        if turn >= 10:
            times.append(begin.elapsed_time(end) * 1e3)
    return sorted(times)[len(times) // 2]


def on_gpus(sizes: list[int]) -> list[list[str]]:
    import torch
    import torch.distributed as dist

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    rank = flyc.process_rank(device=torch.device("cuda", torch.cuda.current_device()))
    calls = Collectives(rank, max_bytes=max(sizes), threads=512, blocks=32, check="never", link=link_of_target())
    found = []
    for size in sizes:
        x = torch.from_numpy(data(rank.number, size)).cuda()
        out, other = torch.empty_like(x), x.clone()
        group_us = max(rank.exchange(median_us(lambda: dist.all_reduce(other))))  # noqa: B023 - called at once
        for way in ways_of(rank):
            us = max(rank.exchange(median_us(lambda: calls.all_reduce(x, out, way=way))))  # noqa: B023
            found.append(row(size, way, rank.world, worst(out.cpu().numpy(), rank.world, size), us, group_us))
    rank.close()
    dist.destroy_process_group()
    return found if rank.number == 0 else []


# Ranks that share a GPU ----------------------------------------------------------------------------------------------

FLOOR_BYTES, FLOOR_BLOCKS = 16 << 10, 2
LAUNCHED, REPLAYED = 20, 200
"""Calls in a row. Ranks begin a row some microseconds apart, which a long one hides."""


@flyc.kernel(known_block_size=(64, 1, 1))
def nothing(x: fx.Tensor):
    if x.shape[0] < 0:
        x[0] = 0.0


@flyc.jit
def two_empty_kernels(x: fx.Tensor, stream: fx.Stream):
    nothing(x).launch(grid=(FLOOR_BLOCKS, 1, 1), block=(64, 1, 1), stream=stream)
    nothing(x).launch(grid=(FLOOR_BLOCKS, 1, 1), block=(64, 1, 1), stream=stream)


def floor_of(rank: Any) -> list[list[str]]:
    """Microseconds of a call, of several in a row, on the slowest rank: launched, and replayed from a graph."""
    import torch

    calls = Collectives(rank, max_bytes=FLOOR_BYTES, threads=512, blocks=FLOOR_BLOCKS, check="never")
    x = torch.from_numpy(data(rank.number, FLOOR_BYTES)).cuda()
    out, stream = torch.empty_like(x), torch.cuda.current_stream()
    whats: dict[str, Callable[[], Any]] = {
        "one shot, 16 KB": lambda: calls.all_reduce(x, out, way="all_reduce_one_shot"),
        "two empty kernels": lambda: two_empty_kernels(x, torch.cuda.current_stream().cuda_stream),
    }
    found = []
    for what, call in whats.items():

        def in_a_row(count: int = LAUNCHED, call: Callable[[], Any] = call) -> None:
            for _ in range(count):
                call()

        graph = torch.cuda.CUDAGraph()
        for number in range(rank.world):  # compiled, and captured, in turn: both may wait for the whole device
            rank.barrier()
            if number == rank.number and what == "two empty kernels":
                call()
        call()
        stream.synchronize()
        for number in range(rank.world):
            rank.barrier()
            if number == rank.number:
                with torch.cuda.graph(graph, stream=torch.cuda.Stream(), capture_error_mode="thread_local"):
                    in_a_row(REPLAYED)
        times = []
        for run, count in ((in_a_row, LAUNCHED), (graph.replay, REPLAYED)):
            rank.barrier()
            times.append(max(rank.exchange(median_us(run) / count)))
        found.append([what, *(f"{us:.2f}" for us in times)])
    assert worst(out.cpu().numpy(), rank.world, FLOOR_BYTES) <= 1
    return found


def main() -> None:
    parser = timing.arguments(__doc__ or "", "small arrays")
    parser.add_argument("--ranks", type=int, default=4, help="virtual ranks, where there is no torchrun")
    parser.add_argument("--floor", action="store_true", help="ranks share a GPU: what launches and signals cost")
    given = parser.parse_args()
    if given.floor:
        rows = flyc.device_ranks(["cuda:0"] * given.ranks).run(floor_of)[0]
        timing.print_table(FLOOR_HEAD, rows)
        timing.keep("allreduce_floor", {"head": FLOOR_HEAD, "ranks": given.ranks, "rows": rows}, given)
        return
    sizes = FEW_SIZES if given.quick else SIZES
    under_torchrun = "LOCAL_RANK" in os.environ
    if not under_torchrun:
        sizes = [size for size in sizes if size <= 1 << 20]
    rows = on_gpus(sizes) if under_torchrun else on_virtual_ranks(given.ranks, sizes)
    if not rows:
        return
    timing.print_table(HEAD, rows)
    timing.keep("allreduce", {"head": HEAD, "rows": rows}, given)


if __name__ == "__main__":
    main()
