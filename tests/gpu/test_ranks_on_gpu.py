"""Ranks that share a real GPU, as streams of one process and as processes: sums, and sums in replayed graphs.

One GPU shows the protocol, the memory and the graphs; what links cost it cannot show.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import flydsl.compiler as flyc

pytestmark = [pytest.mark.gpu, pytest.mark.torch]
PROGRAM = Path(__file__).with_name("rank_program.py")


@pytest.fixture(scope="module")
def cuda_torch(torch: ModuleType) -> ModuleType:
    if not torch.cuda.is_available():
        pytest.skip("this torch has no CUDA")
    return torch


@pytest.mark.parametrize("world", [2, 4, 8])
def test_ranks_are_streams_of_one_process(world: int, cuda_torch: ModuleType) -> None:
    from tests.gpu.rank_program import program

    assert all(flyc.device_ranks(["cuda:0"] * world).run(program))


def test_ranks_are_gpus_of_one_process(cuda_torch: ModuleType) -> None:
    from tests.gpu.rank_program import program

    devices = cuda_torch.cuda.device_count()
    if devices < 2:
        pytest.skip("needs two GPUs")
    world = max(number for number in (2, 4, 8) if number <= devices)
    assert all(flyc.device_ranks([f"cuda:{i}" for i in range(world)]).run(program))


@pytest.mark.parametrize("world", [2, 4])
def test_ranks_are_processes_that_open_memory_by_handles(world: int, cuda_torch: ModuleType) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(world), str(PROGRAM)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "PASS"
