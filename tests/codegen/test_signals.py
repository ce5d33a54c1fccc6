"""Signals and waits as instructions: scopes, orders and cache bits of each target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.codegen.amd_tools import disassembled
from tests.codegen.repository_kernels import RepositoryKernel, compiled


def _flags(scope: str) -> Any:
    @flyc.kernel(known_block_size=(64, 1, 1))
    def flags(place: fx.Tensor, data: fx.Tensor):
        data[fx.thread_idx.x] = fx.Float32(1.0)
        fx.barrier()
        if fx.thread_idx.x == 0:
            fx.signal(place, 1, at=0, scope=scope)
            fx.wait(place, 1, at=1, scope=scope)
        fx.barrier()
        data[fx.thread_idx.x + 64] = data[fx.thread_idx.x + 128]

    @flyc.jit
    def launch(place: fx.Tensor, data: fx.Tensor):
        flags(place, data).launch(grid=(2, 1, 1), block=(64, 1, 1))

    arguments = (np.zeros(2, np.int32), np.zeros(192, np.float32))
    return RepositoryKernel("flags", lambda _: (launch, arguments))


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_signals_of_ranks_pass_every_cache_of_amd(arch: str, tmp_path: Path) -> None:
    """LLVM's AMDGPU guide, memory model of GFX942: sc0 and sc1 for the system, sc1 alone for the device."""
    isa = [
        line.split("//")[0].strip()
        for line in disassembled(compiled(_flags("system"), arch).device_binary, tmp_path).splitlines()
    ]
    store = next(i for i, line in enumerate(isa) if line.startswith("global_store_dword ") and "sc0 sc1" in line)
    before = isa[:store]
    assert any(line.startswith("buffer_wbl2 sc0 sc1") for line in before), "what was written stays in L2"
    assert any(line.startswith("s_waitcnt vmcnt(0)") for line in before)
    look = next(i for i, line in enumerate(isa) if line.startswith("global_load_dword ") and "sc0 sc1" in line)
    assert any(line.startswith("buffer_inv sc0 sc1") for line in isa[look:]), "old lines stay in the cache"
    loop = [line for line in isa[look:] if line.startswith(("buffer_inv", "s_cbranch"))]
    assert loop[0].startswith("s_cbranch"), "caches are emptied with every look"


def test_signals_of_a_device_stay_in_it(tmp_path: Path) -> None:
    isa = disassembled(compiled(_flags("device"), "gfx942").device_binary, tmp_path)
    assert "sc0 sc1" not in isa
    assert "buffer_inv sc1" in isa


def test_signals_have_scope_and_order_in_ptx() -> None:
    text = compiled(_flags("system"), "sm_90a").device_binary.decode()
    assert "st.release.sys.global" in text
    assert "ld.acquire.sys.global" in text
    narrow = compiled(_flags("device"), "sm_90a").device_binary.decode()
    assert "st.release.gpu.global" in narrow
    assert "ld.acquire.gpu.global" in narrow
