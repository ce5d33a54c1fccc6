"""Atomics on bf16, which the host's CPUs hold as 16 bits: in global and shared memory, and through buffers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.support import random_data

ml_dtypes = pytest.importorskip("ml_dtypes", reason="NumPy has no bfloat16 of its own")
COUNT = 64


def _atomic_of(make: Any, source: Any, place: Any) -> None:
    fx.copy_atom_call(fx.make_copy_atom(make(fx.BFloat16), fx.BFloat16), source, place)


@flyc.kernel
def add_ones(out: fx.Tensor):
    one = fx.make_rmem_tensor(1, fx.BFloat16)
    one.fill(1.0)
    _atomic_of(fx.UniversalAtomicAdd, one, fx.logical_divide(out, fx.make_layout(1, 1))[None, fx.block_idx.x % COUNT])


@flyc.kernel
def largest_and_smallest(out: fx.Tensor, x: fx.Tensor):
    t = fx.thread_idx.x
    kept = fx.SharedAllocator().allocate(fx.Array[fx.BFloat16, 2]).peek().view(fx.make_layout(2, 1))
    if t < 2:
        kept[t] = x[0]
    fx.barrier()
    mine = fx.make_rmem_tensor(1, fx.BFloat16)
    mine[0] = x[t]
    places = fx.logical_divide(kept, fx.make_layout(1, 1))
    _atomic_of(fx.UniversalAtomicMax, mine, places[None, 0])
    _atomic_of(fx.UniversalAtomicMin, mine, places[None, 1])
    fx.barrier()
    if t < 2:
        out[t] = kept[t]


@flyc.kernel
def add_pairs(out: fx.Tensor):
    pair = fx.make_rmem_tensor(2, fx.BFloat16)
    pair[0], pair[1] = fx.BFloat16(1.0), fx.BFloat16(2.0)
    buffer = fx.rocdl.make_buffer_tensor(out, max_size=False)
    places = fx.logical_divide(buffer, fx.make_layout(2, 1))
    _atomic_of(fx.rocdl.BufferAtomicPkAdd, pair, places[None, fx.thread_idx.x % 4])


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_many_blocks_add_and_nothing_is_lost(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)

    @flyc.jit
    def run(out: fx.Tensor):
        add_ones(out).launch(grid=COUNT * 200, block=1)

    out = np.zeros(COUNT, ml_dtypes.bfloat16)
    run(out)
    assert set(out.tolist()) == {200.0}


def test_the_largest_and_the_smallest_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")

    @flyc.jit
    def run(out: fx.Tensor, x: fx.Tensor):
        largest_and_smallest(out, x).launch(grid=1, block=COUNT)

    x = random_data.generator().normal(size=COUNT).astype(ml_dtypes.bfloat16)
    out = np.full(2, np.nan, ml_dtypes.bfloat16)
    run(out, x)
    assert out.tolist() == [x.max(), x.min()]


def test_pairs_are_added_through_a_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")

    @flyc.jit
    def run(out: fx.Tensor):
        add_pairs(out).launch(grid=1, block=COUNT)

    out = np.zeros(10, ml_dtypes.bfloat16)
    run(out)
    assert out.tolist() == [16.0, 32.0] * 4 + [0.0, 0.0]
