"""Waves of a block that await other blocks on the virtual GPU, while others of the same block go on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslRuntimeError

WAVE, TURNS = 32, 40


@flyc.kernel
def meet_late(flags: fx.Tensor, seen: fx.Tensor, told: fx.Constexpr[bool]):
    """The first wave awaits the other block's flag, which the last wave writes after many turns with the second one."""
    smem = fx.SharedAllocator(16, static=False)
    barriers = smem.allocate(fx.Array[fx.Int64, 2]).ptr
    block, wave = fx.Int32(fx.block_idx.x), fx.nvvm.warp_uniform(fx.thread_idx.x // WAVE)
    if fx.thread_idx.x < 2:
        fx.nvvm.mbarrier_init(barriers + fx.thread_idx.x, 1)
    fx.barrier()
    if wave == 0:
        if fx.lane_id() == 0:
            fx.wait(flags, 1, at=1 - block, scope="device")
            seen[block] = fx.Int32(TURNS)
    else:
        own, other = wave - 1, 2 - wave
        for turn in range(TURNS):
            if wave == 1:
                if fx.lane_id() == 0:
                    fx.nvvm.mbarrier_arrive(barriers + own)
                fx.nvvm.mbarrier_wait(barriers + other, turn % 2)
            else:
                fx.nvvm.mbarrier_wait(barriers + other, turn % 2)
                if fx.lane_id() == 0:
                    fx.nvvm.mbarrier_arrive(barriers + own)
        if (wave == 2) & (fx.lane_id() == 0):
            if fx.const_expr(told):
                fx.signal(flags, 1, at=block, scope="device")


@flyc.jit
def run_late(flags: fx.Tensor, seen: fx.Tensor, told: fx.Constexpr[bool]):
    meet_late(flags, seen, told).launch(grid=2, block=3 * WAVE, cooperative=True)


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


def arrays() -> list[Any]:
    return [np.zeros(2, np.int32) for _ in range(2)]


def test_a_block_is_not_stuck_while_some_of_its_waves_go_on() -> None:
    flags, seen = arrays()
    run_late(flags, seen, True)
    assert seen.tolist() == [TURNS, TURNS]


def test_blocks_are_stuck_when_all_of_their_waves_are() -> None:
    with pytest.raises(DslRuntimeError, match=r"block \(0, 0, 0\) waits here"):
        run_late(*arrays(), False)
