"""Ranks that are GPUs of one process, with a stand-in for the GPUs: what they exchange, and who is told of what."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, DslValueError
from flydsl.compiler.ranks.process_watch import ProcessWatch
from flydsl.runtime import device_memory, host_pool

torch = pytest.importorskip("torch")


class Memory:
    """Stands in for a piece of a GPU's memory."""

    def __init__(self, device: Any, size: int) -> None:
        self.bytes, self.device, self.closed = torch.zeros(size, dtype=torch.uint8), device, False
        self.address = self.bytes.data_ptr()

    def tensor(self, shape: Any, dtype: Any) -> Any:
        return self.bytes.view(device_memory.torch_type(dtype)).reshape(shape)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    made: list[Memory] = []
    reached: list[tuple[str, str]] = []

    def allocate(device: Any, size: int) -> Memory:
        made.append(Memory(device, size))
        return made[-1]

    monkeypatch.setattr(device_memory, "allocate", allocate)
    monkeypatch.setattr(device_memory, "reach", lambda a, b: reached.append((str(a), str(b))))
    monkeypatch.setattr(torch.cuda, "device", lambda _: nullcontext())
    monkeypatch.setattr(torch.cuda, "stream", lambda _: nullcontext())
    monkeypatch.setattr(torch.cuda, "Stream", lambda: SimpleNamespace(synchronize=lambda: None))
    return SimpleNamespace(made=made, reached=reached)


def test_ranks_have_each_other_s_addresses(machine: Any) -> None:
    def program(rank: Any) -> Any:
        x = rank.symmetric((3, 4), np.float32)
        assert not rank.multicast
        return str(rank.device), x.local.data_ptr(), x.table.tolist(), rank.exchange(rank.number)

    results = flyc.device_ranks(["cuda:0", "cuda:1", "cuda:1"]).run(program)
    assert [device for device, *_ in results] == ["cuda:0", "cuda:1", "cuda:1"]
    own = [address for _, address, _, _ in results]
    for _, _, table, numbers in results:
        assert table == [*own, 0]
        assert numbers == [0, 1, 2]
    assert ("cuda:0", "cuda:1") in machine.reached
    assert ("cuda:1", "cuda:0") in machine.reached
    assert all(memory.closed for memory in machine.made)
    assert len(machine.made) == 3


def test_a_rank_that_fails_ends_all(machine: Any) -> None:
    def program(rank: Any) -> None:
        if rank.number == 1:
            raise KeyError("mine")
        with pytest.raises(DslRuntimeError, match="some have ended or do not come here"):
            rank.barrier()

    group = flyc.device_ranks(["cuda:0", "cuda:1"])
    with pytest.raises(KeyError, match="mine") as caught:
        group.run(program)
    assert any("rank 1 of 2" in note for note in caught.value.__notes__)
    assert group.run(lambda rank: rank.exchange(rank.number)) == [[0, 1], [0, 1]]


def test_a_failure_is_told_while_kernels_wait_for_the_rank(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.RUNTIME_PEER_LIMIT.name, "0.3")
    over = threading.Event()

    def program(rank: Any) -> None:
        if rank.number == 1:
            raise KeyError("mine")
        over.wait()  # as for a kernel

    group = flyc.device_ranks(["cuda:0"] * 3)
    with pytest.raises(KeyError, match="mine") as caught:
        group.run(program)
    assert "kernels of ranks [0, 2] wait for it" in caught.value.__notes__[0]
    assert not any(memory.closed for memory in machine.made)
    with pytest.raises(DslRuntimeError, match="end this process"):
        group.run(program)
    over.set()


def test_a_watch_ends_a_process_whose_kernels_wait_for_a_dead_one() -> None:
    """Not before another process has died, and not where the GPU is through with its work."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        handles, told, over = {3: os.pidfd_open(process.pid)}, [], threading.Event()
        idle = ProcessWatch(0, handles, lambda: None, 0.1, told.append)
        waiting = ProcessWatch(0, handles, over.wait, 0.1, told.append)
        over.wait(0.5)
        assert told == []
    waiting._thread.join(20)
    assert len(told) == 1
    assert "rank 3 has died: kernels of rank 0 have waited for it for 0.1 s" in told[0]
    idle.close()
    over.set()
    assert not idle._thread.is_alive()
    os.close(handles[3])


def test_ranks_that_disagree_on_memory_are_told(machine: Any) -> None:
    with pytest.raises(DslValueError, match=r"rank 0 has \(\(4,\).*rank 1 has \(\(5,\)"):
        flyc.device_ranks(["cuda:0"] * 2).run(lambda rank: rank.symmetric(4 + rank.number, np.float32))
    with pytest.raises(DslValueError, match="there is no device"):
        flyc.device_ranks([])


def test_torch_s_symmetric_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tensor lies behind the start of an allocation, on every rank as far, and behind the multicast address."""
    whole = torch.full((1024,), 7, dtype=torch.uint8)
    start = whole.data_ptr()
    handle = SimpleNamespace(buffer_ptrs=[1 << 20, start, 3 << 20], multicast_ptr=1 << 40, rank=1)
    groups: list[Any] = []

    def rendezvous(tensor: Any, group: Any) -> Any:
        assert not tensor.any(), "others must not see it before it is zero"
        groups.append(group)
        return handle

    module = SimpleNamespace(empty=lambda size, dtype, device: whole[256 : 256 + size], rendezvous=rendezvous)
    monkeypatch.setitem(sys.modules, "torch.distributed._symmetric_memory", module)
    monkeypatch.setattr(torch.distributed, "_symmetric_memory", module, raising=False)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda _: None)
    own, addresses, multicast = device_memory.by_torch("cuda:1", 512, "group")
    assert own.data_ptr() == start + 256
    assert addresses == [(1 << 20) + 256, start + 256, (3 << 20) + 256]
    assert multicast == (1 << 40) + 256
    handle.multicast_ptr = 0
    assert device_memory.by_torch("cuda:1", 512, "group")[2] == 0
    assert groups == ["group"] * 2


def test_the_choice_of_memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Torch's where every rank's own GPU has multicast addresses; handles of the driver otherwise."""
    dist = torch.distributed
    dist.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    try:
        for able, memory, multicast in ((True, "auto", True), (False, "auto", False), (True, "handles", False)):
            monkeypatch.setattr(device_memory, "multicast_device", lambda _, able=able: ("gpu", able))
            assert flyc.process_rank(device="cuda:0", memory=memory).multicast is multicast
        raw = torch.zeros(256, dtype=torch.uint8)
        monkeypatch.setattr(device_memory, "by_torch", lambda *_: (raw, [raw.data_ptr()], 1 << 40))
        rank = flyc.process_rank(device="cuda:0", memory="torch")
        x = rank.symmetric((5, 2), np.int16)
        assert (tuple(x.local.shape), x.table.tolist()) == ((5, 2), [raw.data_ptr(), 1 << 40])
        monkeypatch.setattr(host_pool, "address", None)  # a process of GPUs has run nothing on the host
        rank.close()
        with pytest.raises(DslValueError, match="there is no memory 'shared'"):
            flyc.process_rank(memory="shared")
    finally:
        dist.destroy_process_group()
