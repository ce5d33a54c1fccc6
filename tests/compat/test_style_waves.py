"""Kernels in FlyDSL's style: reductions and scans of a block, lanes, barriers of gfx12, packed conversions."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
from tests.compat.launching import run

Reduce, Scan = fx.coop.BlockReduce, fx.coop.BlockScan
Algorithm = fx.coop.BlockReduceAlgorithm


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
@pytest.mark.parametrize("algorithm", [Algorithm.WARP_REDUCTIONS, Algorithm.RAKING])
@pytest.mark.parametrize("threads", [64, 256])
def test_a_reduction_made_for_its_block(
    arch: str, algorithm: Any, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", arch)
    kind = Reduce[fx.Float32, threads, algorithm]
    assert kind is Reduce[fx.Float32, (threads, 1, 1), algorithm], "one class for one key"
    assert kind.block_threads == threads and kind.num_warps == threads // kind.warp_threads

    def body(x: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        storage = fx.SharedAllocator().allocate(kind.SharedStorage).peek()
        own = fx.Vector.from_elements([x[2 * t], x[2 * t + 1]])
        out[t] = kind(own, fx.ReductionOp.ADD, storage=storage)
        out[t + threads] = kind(x[2 * t], "max", storage=storage)

    x = np.random.default_rng(1).integers(-50, 50, 2 * threads).astype(np.float32)
    out = np.zeros(2 * threads, np.float32)
    run(body, x, out, block=threads)
    assert (out[:threads] == x.sum()).all() and (out[threads:] == x[::2].max()).all()


@pytest.mark.parametrize("threads", [32, 64, 256])
def test_scans_of_vectors(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thread t has the items 2 t and 2 t + 1; a block of one wave needs no storage."""
    monkeypatch.setenv("ARCH", "gfx942")
    kind = Scan[fx.Int32, threads]

    def body(x: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        storage = fx.SharedAllocator().allocate(kind.SharedStorage).peek() if kind.num_warps > 1 else None
        own = fx.Vector.from_elements([x[2 * t], x[2 * t + 1]])
        inclusive = kind.inclusive(own, "add", storage=storage)
        exclusive, total = kind.exclusive_with_aggregate(own, "add", storage=storage, init=100)
        for i in fx.range_constexpr(2):
            out[0, 2 * t + i], out[1, 2 * t + i], out[2, 2 * t + i] = inclusive[i], exclusive[i], total
        out[3, t] = kind.exclusive(x[t], "max", storage=storage)
        out[3, t + threads] = kind.inclusive_with_aggregate(x[t], "min", storage=storage, init=7)[0]
        highest = kind.inclusive(own, lambda a, b: (a < b).select(b, a), storage=storage)  # needs no identity
        out[4, 2 * t], out[4, 2 * t + 1] = highest[0], highest[1]

    x = np.random.default_rng(2).integers(0, 50, 2 * threads).astype(np.int32)
    out = np.zeros((5, 2 * threads), np.int32)
    run(body, x, out, block=threads)
    sums = np.cumsum(x)
    np.testing.assert_array_equal(out[0], sums)
    np.testing.assert_array_equal(out[1], 100 + sums - x)
    assert (out[2] == sums[-1]).all()
    largest = np.maximum.accumulate(x[:threads])
    np.testing.assert_array_equal(out[3, :threads], [-(2**31), *largest[:-1]])
    np.testing.assert_array_equal(out[3, threads:], np.minimum(np.minimum.accumulate(x[:threads]), 7))
    np.testing.assert_array_equal(out[4], np.maximum.accumulate(x))


def test_what_is_no_block_operation() -> None:
    made = Reduce[fx.Float32, 64]
    with pytest.raises(TypeError, match="already specialized"):
        made[fx.Float32, 64]  # type: ignore[index]
    with pytest.raises(TypeError, match="takes a type, a block size"):
        Reduce[fx.Float32]
    with pytest.raises(TypeError, match="takes a BlockReduceAlgorithm"):
        Reduce[fx.Float32, 64, fx.coop.BlockScanAlgorithm.WARP_SCANS]
    with pytest.raises(TypeError, match="an int or three"):
        Reduce[fx.Float32, (8, 8)]
    with pytest.raises(ValueError, match="power of two"):
        Scan[fx.Int32, 96]
    with pytest.raises(NotImplementedError, match="RAKING_MEMOIZE is not implemented yet"):
        Scan[fx.Int32, 64, fx.coop.BlockScanAlgorithm.RAKING_MEMOIZE]
    with pytest.raises(TypeError, match="is not called itself"):
        Scan[fx.Int32, 64](1, "add")
    assert fx.coop.universal.BlockReduce is Reduce and fx.coop.warp.warp_reduce is fx.coop.warp_reduce
    assert made.warp_ops is fx.coop.warp and fx.coop.block.BlockScan is Scan


@pytest.mark.parametrize("arch", ["gfx1201", "gfx1250"])
def test_barriers_in_two_steps(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrive, do something else, and wait."""
    monkeypatch.setenv("ARCH", arch)

    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        s = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64]).peek()
        s[t] = t * t
        fx.rocdl.s_wait_dscnt(0)
        fx.rocdl.s_barrier_signal(-1)
        mine = t + 1
        fx.rocdl.s_barrier_wait(-1)
        out[t] = s[63 - t] + mine

    out = np.zeros(64, np.int32)
    run(body, out)
    t = np.arange(64)
    np.testing.assert_array_equal(out, (63 - t) ** 2 + t + 1)


@pytest.mark.parametrize("arch", ["gfx950"])
def test_packed_conversions_and_swaps(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)

    def body(x: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        packed = fx.rocdl.cvt_pk_bf16_f32(x[t], x[t] * 2.0)
        first, second = fx.rocdl.permlane32_swap(packed, t)
        out[t, 0], out[t, 1], out[t, 2] = packed, first, second
        out[t, 3] = fx.rocdl.readfirstlane(fx.T.i32, packed)

    x = np.random.default_rng(4).standard_normal(64).astype(np.float32)
    out = np.zeros((64, 4), np.int32)
    run(body, x, out)
    pair = np.stack([x, x * 2], 1).astype(ml_dtypes.bfloat16).view(np.int32)[:, 0]
    t = np.arange(64)
    np.testing.assert_array_equal(out[:, 0], pair)
    np.testing.assert_array_equal(out[:, 1], np.concatenate([pair[:32], t[:32]]))
    np.testing.assert_array_equal(out[:, 2], np.concatenate([pair[32:], t[32:]]))
    assert (out[:, 3] == pair[0]).all()


def test_schedules_by_their_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")

    def body(x: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        ones = fx.full(4, 1.0, fx.Float16)
        total = fx.rocdl.mfma_f32_16x16x16_f16(ones, ones, fx.full(4, x[t], fx.Float32))
        fx.rocdl.sched_group_barrier(fx.rocdl.mask_vmem_rd, 1, 0)
        fx.rocdl.sched_group_barrier(fx.rocdl.mask_mfma, 1, 0)
        out[t] = total[0]

    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    run(body, x, out)
    np.testing.assert_array_equal(out, x + 16)


def test_atomics_with_scopes_of_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")

    def body(out: fx.Tensor) -> None:
        atom = fx.make_copy_atom(fx.rocdl.universal.UniversalAtomic("add", fx.Int32, "agent"), fx.Int32)
        one = fx.make_rmem_tensor(1, fx.Int32)
        one.fill(1)
        fx.copy(atom, one, fx.make_view(fx.get_iter(out), fx.make_layout(1, 0)))
        other = fx.make_copy_atom(fx.UniversalAtomicAdd(fx.Int32, fx.SyncScope.SingleThreadOneAs), fx.Int32)
        fx.copy(other, one, fx.make_view(fx.get_iter(out) + 1, fx.make_layout(1, 0)))

    out = np.zeros(2, np.int32)
    run(body, out)
    assert out.tolist() == [64, 64]
