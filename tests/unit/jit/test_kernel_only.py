"""What only a GPU can do, in a jit function: refused while tracing. LLVM would end the process on some of these."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx

MISTAKES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "thread_id": ("gfx942", lambda x: fx.thread_idx.x + 1),
    "barrier": ("gfx942", lambda x: fx.barrier()),
    "shuffle": ("gfx942", lambda x: fx.shuffle_xor(fx.Int32(1), 1, 64)),
    "amdgcn.s.barrier": ("gfx942", lambda x: fx.rocdl.s_barrier()),
    "amdgcn.readfirstlane": ("gfx942", lambda x: fx.rocdl.readfirstlane(fx.Int32(3))),
    "a buffer descriptor": ("gfx942", lambda x: fx.rocdl.make_buffer_tensor(x)),
    "shared memory": ("gfx942", lambda x: fx.SharedAllocator().allocate(fx.Int32)),
    "cluster.arrive": ("sm_90a", lambda x: fx.nvvm.cluster_sync()),
    "cluster.ctarank": ("sm_90a", lambda x: fx.nvvm.block_rank_in_cluster()),
    "nvvm.wgmma.fence": ("sm_90a", lambda x: fx.nvvm.wgmma_fence()),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_it_is_refused_in_a_jit_function(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arch, use = MISTAKES[what]
    monkeypatch.setenv("ARCH", arch)

    @flyc.jit
    def host(x: fx.Tensor):
        use(x)

    with pytest.raises(RuntimeError, match=rf"{what}.* belongs to a kernel, and none is being traced here") as error:
        host(np.zeros(4, np.float32))
    assert "@flyc.kernel" in str(error.value)


def _read(x: Any) -> None:
    fill(x).launch(grid=x[0], block=4)


def _write(x: Any) -> None:
    x[0] = 1
    fill(x).launch(grid=1, block=4)


@flyc.kernel
def fill(x: fx.Tensor):
    x[fx.thread_idx.x] = 1


@pytest.mark.parametrize("use", [_read, _write])
@pytest.mark.parametrize("arch", ["sm_90a", "gfx942"])
def test_memory_of_a_gpu_is_out_of_reach_in_a_jit_function(arch: str, use: Any, tmp_path: Path) -> None:
    @flyc.jit
    def host(x: fx.Tensor):
        use(x)

    with pytest.raises(RuntimeError, match="runs on the host and cannot read or write a tensor on the GPU") as error:
        flyc.export(host, np.ones(4, np.int32), dir=tmp_path, arch=arch)
    assert "test_kernel_only.py" in str(error.value)
