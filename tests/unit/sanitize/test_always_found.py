"""Faults that virtual NVIDIA GPUs report without any sanitizer: what the hardware would stop or hang at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.base.errors import DslRuntimeError
from tests.unit.nvvm.running import run

nvvm = fx.nvvm


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


def misaligned_by(elements: int, body: Callable[..., None], *arrays: Any, **launch: Any) -> None:
    """Run a body on arrays whose first one starts that many elements behind an aligned place."""
    room = np.zeros(arrays[0].size + 16, arrays[0].dtype)
    start = (-(room.ctypes.data // room.itemsize) % 4) + elements
    shifted = room[start : start + arrays[0].size]
    shifted[:] = arrays[0]
    run(body, shifted, *arrays[1:], **launch)


def wide_copy(a: fx.Tensor, b: fx.Tensor) -> None:
    t = fx.thread_idx.x
    source, target = (fx.logical_divide(x, fx.make_layout(4, 1)) for x in (a, b))
    held = fx.make_rmem_tensor(4, fx.Float32)
    atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
    fx.copy_atom_call(atom, source[None, t], held)
    fx.copy_atom_call(atom, held, target[None, t])


def test_a_wide_copy_of_an_array_that_does_not_start_aligned() -> None:
    a, b = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    misaligned_by(0, wide_copy, a, b, threads=32)
    np.testing.assert_array_equal(b, a)
    with pytest.raises(DslRuntimeError, match="misaligned access: the address is no multiple of 16 bytes") as caught:
        misaligned_by(1, wide_copy, a, b, threads=32)
    assert caught.value.location is not None and caught.value.location.file == __file__


def test_a_wide_copy_at_an_offset_that_is_not_aligned() -> None:
    def body(a: fx.Tensor, b: fx.Tensor) -> None:
        t = fx.thread_idx.x
        for i in fx.range_constexpr(4):
            b[t * 4 + i] = a[t * 4 + i]
        pointer = fx.get_iter(b) + fx.Int32(a[0])
        fx.copy_atom_call(
            fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32),
            fx.make_view(pointer, fx.make_layout(4, 1)),
            fx.make_rmem_tensor(4, fx.Float32),
        )

    a, b = np.zeros(128, np.float32), np.zeros(128, np.float32)
    with pytest.raises(Exception, match="aligned"):
        run(body, a + 1, b, threads=32)


def test_an_asynchronous_copy_from_a_place_that_is_not_aligned() -> None:
    def body(a: fx.Tensor, b: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 128, 16]).peek().view(fx.make_layout(128, 1))
        source, place = (fx.logical_divide(x, fx.make_layout(4, 1)) for x in (a, tile))
        fx.copy_atom_call(fx.make_copy_atom(nvvm.CpAsync(128), fx.Float32), source[None, t], place[None, t])
        nvvm.cp_async_commit_group()
        nvvm.cp_async_wait_group(0)
        fx.barrier()
        for i in fx.range_constexpr(4):
            b[t * 4 + i] = tile[t * 4 + i]

    a, b = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    misaligned_by(0, body, a, b, threads=32)
    np.testing.assert_array_equal(b, a)
    with pytest.raises(DslRuntimeError, match="misaligned access"):
        misaligned_by(2, body, a, b, threads=32)


PARTIAL = {
    "shuffle": lambda x: fx.shuffle_xor(x, 1, 32),
    "vote": lambda x: fx.gpu.any(x > 1.0).select(x, -x),
}


@pytest.mark.parametrize("kind", list(PARTIAL))
@pytest.mark.parametrize("lanes", [32, 8])
def test_part_of_a_warp_cannot_exchange(kind: str, lanes: int) -> None:
    exchange = PARTIAL[kind]

    def body(a: fx.Tensor, b: fx.Tensor) -> None:
        t = fx.thread_idx.x
        x = a[t]
        if t < lanes:
            x = exchange(x)
        b[t] = x

    a, b = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    if lanes == 32:  # one whole warp of two
        run(body, a, b, threads=64)
        return
    with pytest.raises(DslRuntimeError, match="reached by only part of a warp") as caught:
        run(body, a, b, threads=64)
    assert caught.value.hint is not None and "whole warp" in caught.value.hint


@pytest.mark.parametrize("start", [0, 64, -16, 1 << 20])
@pytest.mark.parametrize("way", ["read", "write", "atomic", "copy", "matrix", "barrier", "cluster"])
def test_what_leaves_the_blocks_shared_memory(way: str, start: int) -> None:
    """The hardware ends such a kernel; here it would meet counters of barriers, or memory of the process."""

    def body(a: fx.Tensor, starts: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64, 16]).ptr
        place = tile + starts[0]
        here = fx.make_view(place, fx.make_layout(64, 1))
        if fx.const_expr(way == "read"):
            a[t] = here[t]
        elif fx.const_expr(way == "write"):
            here[t] = a[t]
        elif fx.const_expr(way == "atomic"):
            fx.atomic("add", here, fx.Int32(1), at=t)
        elif fx.const_expr(way == "copy"):
            row = fx.make_layout(4, 1)
            source, target = (fx.logical_divide(x, row)[None, t % 16] for x in (a, here))
            fx.copy_atom_call(fx.make_copy_atom(nvvm.CpAsync(128), fx.Int32), source, target)
        elif fx.const_expr(way == "matrix"):
            nvvm.stmatrix(place + t % 16 * 4, nvvm.ldmatrix(place + t % 16 * 4, 4))
        elif fx.const_expr(way == "barrier"):
            nvvm.mbarrier_init(fx.recast_iter(fx.Int64, place), 1)
        else:
            nvvm.cluster_sync()
            nvvm.cluster_store(t, place + t, 0)
            nvvm.cluster_sync()

    given = (np.zeros(64, np.int32), np.array([start * 16 if way in ("barrier", "cluster") else start], np.int32))
    cluster = 1 if way == "cluster" else None
    if not start:
        run(body, *given, threads=32, cluster=cluster)
        return
    with pytest.raises(DslRuntimeError, match=r"leaves the block's shared memory|no block of this number") as caught:
        run(body, *given, threads=32, cluster=cluster)
    assert caught.value.location is not None and caught.value.location.file == __file__
