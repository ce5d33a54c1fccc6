"""Clusters of gfx1250 on the virtual GPU and in the code object."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError
from flydsl.expr.rocdl import cluster
from tests.support import random_data
from tests.unit.rocdl.device_code import assembly, launcher, llvm_text, words
from tests.unit.rocdl.running import launch


@pytest.fixture(autouse=True)
def on_gfx1250(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx1250")


def test_the_barrier_holds_every_workgroup_of_the_cluster() -> None:
    """Each workgroup writes, waits, and reads what its neighbour wrote, many times over."""
    seen, slots = np.full((16, 6, 128), -1, np.int32), np.full((16, 128), -1, np.int32)

    def body(t: Any, seen: Any, slots: Any) -> None:
        here = fx.block_idx.x * 4 + fx.block_idx.y
        there = (fx.block_idx.x ^ 1) * 4 + (fx.block_idx.y ^ 1)
        for i in range(6):
            slots[here, t] = i * 1000 + here
            cluster.cluster_barrier()
            seen[here, i, t] = slots[there, t] - there
            cluster.cluster_barrier()

    launch(body, seen, slots, threads=128, grid=(4, 4), cluster=(2, 2, 1))
    assert (seen == (np.arange(6) * 1000)[None, :, None]).all()


def test_places_and_masks() -> None:
    y = np.full((24, 6), -1, np.int32)

    def body(t: Any, y: Any) -> None:
        x_, y_ = cluster.compute_cluster_position()
        row, column = cluster.compute_mcast_masks(x_, y_, 2, 3)
        here = fx.block_idx.x * 6 + fx.block_idx.y
        if t == 0:
            y[here, 0], y[here, 1] = x_, y_
            y[here, 2] = fx.rocdl.cluster_workgroup_id_z()
            y[here, 3], y[here, 4] = row, column
        if cluster.is_wave_leader():
            y[here, 5] = t

    launch(body, y, threads=64, grid=(4, 6), cluster=(2, 3, 1))
    for bx in range(4):
        for by in range(6):
            x, z = bx % 2, by % 3
            row = sum(1 << (x + 2 * k) for k in range(3))  # the same x, every y; numbered x first
            column = sum(1 << (k + 2 * z) for k in range(2))
            found = y[bx * 6 + by]
            assert found[:5].tolist() == [x, z, 0, row, column]
            assert 0 <= found[5] < 32


def test_shared_loads_fill_each_workgroups_lds() -> None:
    x, y = random_data.generator().integers(0, 999, 256).astype(np.int32), np.full((4, 256), -1, np.int32)

    def body(t: Any, x: Any, y: Any) -> None:
        held = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 256]).peek()
        fx.rocdl.cluster_load_async_to_lds(fx.get_iter(x) + t * 4, held.ptr + t * 4, 16, mask=3)
        fx.rocdl.s_wait_asynccnt(0)
        fx.barrier()
        for i in fx.range_constexpr(4):
            y[fx.block_idx.x, t * 4 + i] = held[(t ^ 1) * 4 + i]

    launch(body, x, y, threads=64, grid=4, cluster=(2, 1, 1))
    wanted = x.reshape(64, 4)[np.arange(64) ^ 1].reshape(-1)
    assert (y == wanted).all()


def test_a_barrier_that_a_workgroup_leaves_out_is_an_error() -> None:
    y = np.zeros(4, np.int32)

    def body(t: Any, y: Any) -> None:
        if fx.block_idx.x % 2 == 0:
            cluster.cluster_signal_once_per_wg()
        cluster.cluster_wait()
        y[fx.block_idx.x] = t

    with pytest.raises(FlyDSLError, match="waits here forever"):
        launch(body, y, threads=32, grid=4, cluster=(2, 1, 1))


def test_without_a_cluster_its_barrier_is_nothing() -> None:
    y = np.zeros(64, np.int32)

    def body(t: Any, y: Any) -> None:
        cluster.cluster_barrier()
        y[t] = cluster.cluster_workgroup_id_x() + t

    launch(body, y, threads=64)
    assert y.tolist() == list(range(64))


def test_the_extents_reach_the_code_object() -> None:
    def body(x: Any, y: Any, t: Any) -> None:
        cluster.cluster_barrier()
        y[t] = x[t]

    run = launcher(body, 64, grid=(2, 4), cluster=(2, 4, 1))
    assert '"amdgpu-cluster-dims"="2,4,1"' in llvm_text(run, words(), "gfx1250")
    code = assembly(run, words(), "gfx1250")
    assert ".cluster_dims:" in code
    assert "s_barrier_signal -3" in code
