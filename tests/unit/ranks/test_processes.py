"""Ranks that are processes: `torch.distributed` introduces them, shared memory and signals are the kernels'."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernels.examples import FOLDER

pytest.importorskip("torch")
PROGRAM = Path(__file__).with_name("dying_rank.py")


def test_the_example_runs_under_torchrun() -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", str(FOLDER / "07-allreduce.py")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "PASS"
    assert "2 processes have the same sum" in run.stdout


def test_ranks_that_disagree_or_die_are_named(tmp_path: Path) -> None:
    commands = [[sys.executable, str(PROGRAM), str(rank), str(tmp_path / "store")] for rank in range(2)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    told, told_the_other = (process.communicate(timeout=300)[0] for process in running)
    disagreement = "rank 0 has ('all_reduce', (5,), 'float32'), rank 1 has ('all_reduce', (6,), 'float32')"
    assert disagreement in told
    assert disagreement in told_the_other
    _, kernel, host = re.split("^Dsl", told, flags=re.MULTILINE)[1:]
    assert "block (0, 0, 0) waits here" in kernel
    assert "rank 1 has died, which was to signal it" in kernel
    assert "fx.rank_barrier(signals)" in kernel
    assert "rank 1 has died: rank 0 waits for it in vain" in host
