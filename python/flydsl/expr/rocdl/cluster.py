"""Clusters of gfx1250: workgroups that run together and can wait for each other."""

from __future__ import annotations

from typing import Any

from flydsl.expr import gpu
from flydsl.expr.numeric import Boolean, Int32
from flydsl.expr.rocdl.lanes import wave_id
from flydsl.expr.trace.context import current
from flydsl.expr.trace.intrinsic import call, constant, require, when

_CDNA5 = ("cdna5",)
_ACQUIRE, _RELEASE = 4, 5
"""LLVM's orderings by number."""
CLUSTER_BARRIER = -3
"""The number of the cluster's barrier."""


def _position(axis: str) -> Int32:
    require("a cluster", "rocm", _CDNA5)
    return Int32(call(f"llvm.amdgcn.cluster.workgroup.id.{axis}", [], "i32"))


def cluster_workgroup_id_x() -> Int32:
    """Return this workgroup's place in its cluster along x."""
    return _position("x")


def cluster_workgroup_id_y() -> Int32:
    """Return this workgroup's place in its cluster along y."""
    return _position("y")


def cluster_workgroup_id_z() -> Int32:
    """Return this workgroup's place in its cluster along z."""
    return _position("z")


def compute_cluster_position() -> tuple[Int32, Int32]:
    """Return this workgroup's place in its cluster along x and y."""
    return _position("x"), _position("y")


def compute_mcast_masks(local_x: Any, local_y: Any, cluster_m: int, cluster_n: int) -> tuple[Int32, Int32]:
    """Masks of the workgroups that share rows of A (the same x) and columns of B (the same y) with this one.

    Workgroups of a cluster are numbered x first.
    """
    row = sum(1 << (cluster_m * y) for y in range(cluster_n))
    column = (1 << cluster_m) - 1
    return Int32(row) << Int32(local_x), Int32(column) << (Int32(local_y) * cluster_m)


def is_wave_leader() -> Boolean:
    """Return whether this is the first wave of the workgroup."""
    return wave_id() == 0


def _fence(ordering: int) -> None:
    """Order memory between the workgroups of the cluster."""
    current().op("llvm.fence", [], None, {"ordering": ordering, "syncscope": "cluster"})


def cluster_signal_once_per_wg() -> None:
    """Tell the cluster that this workgroup has come: its first wave says so.

    What the calling wave wrote before is seen by whoever waited; what other waves wrote, if a barrier of the
    workgroup stands before it, as in `cluster_barrier`.
    """
    require("a cluster barrier", "rocm", _CDNA5)
    _fence(_RELEASE)
    number = constant("i32", CLUSTER_BARRIER, "the barrier", CLUSTER_BARRIER, CLUSTER_BARRIER)
    when(is_wave_leader(), lambda: call("llvm.amdgcn.s.barrier.signal", [number]))


def cluster_wait() -> None:
    """Wait until every workgroup of the cluster has signalled."""
    require("a cluster barrier", "rocm", _CDNA5)
    number = constant("i16", CLUSTER_BARRIER, "the barrier", CLUSTER_BARRIER, CLUSTER_BARRIER)
    call("llvm.amdgcn.s.barrier.wait", [number])
    _fence(_ACQUIRE)


def cluster_barrier() -> None:
    """Wait for every wave of every workgroup of the cluster."""
    gpu.barrier()
    cluster_signal_once_per_wg()
    cluster_wait()


__all__ = [
    "cluster_barrier", "cluster_signal_once_per_wg", "cluster_wait", "cluster_workgroup_id_x",
    "cluster_workgroup_id_y", "cluster_workgroup_id_z", "compute_cluster_position", "compute_mcast_masks",
    "is_wave_leader",
]  # fmt: skip
