"""Ranks that share a real GPU, as streams of one process and as processes: sums, and sums in replayed graphs.

One GPU shows the protocol, the memory and the graphs; what links cost it cannot show.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import flydsl.compiler as flyc
from tests.conftest import REPOSITORY

pytestmark = [pytest.mark.gpu, pytest.mark.torch]
PROGRAM = Path(__file__).with_name("rank_program.py")
DYING = REPOSITORY / "tests" / "unit" / "ranks" / "dying_rank.py"


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


@pytest.fixture
def environment() -> dict[str, str]:
    """Of processes that import this checkout."""
    path = os.pathsep.join([str(REPOSITORY / "python"), str(REPOSITORY), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, "FLYDSL_RUNTIME_PEER_LIMIT": "5"}


@pytest.mark.parametrize("world", [2, 4])
def test_ranks_are_processes_that_open_memory_by_handles(
    world: int, cuda_torch: ModuleType, environment: dict[str, str]
) -> None:
    launcher = ["-m", "torch.distributed.run", "--standalone"]  # on a port that nobody else has
    command = [sys.executable, *launcher, "--nproc-per-node", str(world), str(PROGRAM)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, f"{run.stdout}\n{run.stderr}"
    assert run.stdout.splitlines()[-1] == "PASS"


def test_processes_that_disagree_or_die_are_named(
    cuda_torch: ModuleType, environment: dict[str, str], tmp_path: Path
) -> None:
    """A kernel that waits for a dead rank ends with its process, which says why."""
    both = [[sys.executable, str(DYING), str(rank), str(tmp_path / "store"), "cuda:0"] for rank in range(2)]
    pipe = subprocess.PIPE
    running = [subprocess.Popen(command, env=environment, text=True, stdout=pipe, stderr=pipe) for command in both]
    (said, why), (other, _) = (process.communicate(timeout=200) for process in running)
    for told in (said, other):
        assert re.search(r"rank 0 has \('all_reduce', \(5,\).*rank 1 has \('all_reduce', \(6,\)", told), why
    assert "rank 1 has died: kernels of rank 0 have waited for it for 5 s" in why
    assert [process.returncode for process in running] == [1, 7]


FAILING = """
import time
import numpy as np, torch
import flydsl.compiler as flyc
from tests.unit.ranks.dying_rank import meet

def program(rank):
    signals = rank.symmetric((2, 3), np.int32)
    rank.barrier()
    if rank.number:
        time.sleep(5)  # the other one's kernel is compiled and waits
        raise KeyError("mine")
    meet(signals)
    torch.cuda.synchronize()

flyc.device_ranks(["cuda:0"] * 2).run(program)
"""


def test_a_stream_s_failure_is_told_while_a_kernel_waits_for_it(
    cuda_torch: ModuleType, environment: dict[str, str]
) -> None:
    command = [sys.executable, "-c", FAILING]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)
    assert run.returncode == 1, run.stderr
    assert "KeyError: 'mine'" in run.stderr
    assert "kernels of ranks [0] wait for it" in run.stderr
