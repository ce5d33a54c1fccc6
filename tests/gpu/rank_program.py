"""What ranks on one GPU do: sums of many sizes by every way, the other collectives, and graphs that are replayed.

As processes: torchrun --nproc-per-node 2 tests/gpu/rank_program.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.distributed.elastic.multiprocessing.errors import record

import flydsl.compiler as flyc
from flydsl.kernels.comm.custom_all_reduce import FlyDSLAllreduce
from flydsl.kernels.comm.rank_collectives import Collectives
from tests.kernels.test_dispatch_combine import Layer, check_echo, echo
from tests.kernels.test_rank_collectives import ordered_sum

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


def load_kernels(device: Any) -> None:
    """Have torch load what the exchange of tokens takes of it: loading may wait for kernels, which wait for ranks."""
    for kind in (torch.float32, torch.int32, torch.uint8):
        some = torch.full((3, 4), 0, dtype=kind, device=device)
        some[:, :3] = torch.ones((3, 3), dtype=kind, device=device)
        assert int(some.clone().min()) < int(some.max())


def others(rank: Any, calls: Collectives, size: int) -> None:
    """What is no plain sum: the other collectives, the norm of a sum, and tokens to experts and back."""
    world, me = rank.world, rank.number
    stacks = [given(number, size, world * size).reshape(world, size) for number in range(world)]
    x = torch.from_numpy(stacks[me]).to(rank.device)
    gathered, turned, scattered = torch.zeros((world, world, size)).to(x), torch.zeros_like(x), torch.zeros_like(x[0])
    normed, residual, weight = torch.zeros_like(x), torch.ones_like(x), torch.ones_like(x[0])
    torch.cuda.current_stream().synchronize()
    rank.barrier()
    calls.all_gather(x, gathered)
    calls.reduce_scatter(x, scattered)
    calls.all_to_all(x, turned)
    calls.all_reduce_rms_norm(x, residual, weight, out=normed)
    torch.cuda.current_stream().synchronize()
    np.testing.assert_array_equal(gathered.cpu(), np.stack(stacks))
    np.testing.assert_array_equal(scattered.cpu(), ordered_sum(stacks)[me])
    np.testing.assert_array_equal(turned.cpu(), np.stack([stack[me] for stack in stacks]))
    wide = residual.cpu().numpy().astype(np.float64)
    np.testing.assert_array_equal(wide, (ordered_sum(stacks).astype(np.float32) + 1).astype(np.float16))
    exact = wide / np.sqrt((wide**2).mean(axis=1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(normed.cpu().numpy().astype(np.float64), exact, rtol=2**-10, atol=1e-6)
    load_kernels(rank.device)
    layer = Layer(world, np.random.default_rng(size), np.float32, 0, {})
    check_echo(layer, me, *echo(rank, layer, rank.device))


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


def say(rank: Any, what: str) -> None:
    if rank.number == 0:
        print(what, flush=True)


def program(rank: Any) -> bool:
    calls = Collectives(rank, max_bytes=MOST, blocks=BLOCKS, threads=256)
    for turn, size in enumerate(SIZES):
        for way in WAYS:
            summed(rank, calls, size, turn, way=way)
        say(rank, f"sums of {size}")
    others(rank, calls, 1003)
    say(rank, "other collectives")
    replayed(rank, 8192)
    replayed(rank, 65536)
    say(rank, "replayed graphs")
    return True


@record
def main() -> None:
    import torch.distributed as dist

    dist.init_process_group("gloo")
    torch.cuda.set_device(0)
    rank = flyc.process_rank(device="cuda:0", memory="handles")
    say(rank, f"{rank.world} processes")
    program(rank)
    rank.close()
    if rank.number == 0:
        print("PASS")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
