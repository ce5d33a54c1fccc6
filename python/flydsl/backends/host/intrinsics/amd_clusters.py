"""gfx1250's clusters on the host: places in a cluster, its barrier, loads that its workgroups share.

A kernel launched in clusters runs wave by wave (`fibers`). Each workgroup signals the cluster's barrier once and every
wave waits for it, so a wave counts the phases it has waited for; without a cluster the barrier is nothing.
"""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.backends.host import fibers
from flydsl.backends.host.collectives import barrier, cluster_counter
from flydsl.backends.host.intrinsics.amd_buffers import copy_to_lds
from flydsl.backends.host.intrinsics.entry import Behaviour, HostIntrinsic, immediate, meeting, thread
from flydsl.backends.host.thread_loops import ENGINE_ACCESS, READ, WRITE, Workgroup
from flydsl.codegen.llvm_types import type_text

CLUSTER_BARRIER = -3


def _signal(wg: Workgroup, op: Operation) -> None:
    """The workgroup's own barrier is all in the wait; the cluster's counts workgroups."""
    if immediate(op, 0) != CLUSTER_BARRIER or not wg.apart:
        return
    x, y, z = fibers.cluster_extents(wg.op)
    wg.body.assign(f"call i32 @fly.count_in(ptr {cluster_counter(wg)}, i32 1, i32 {x * y * z})")


def _wait(wg: Workgroup, op: Operation) -> None:
    if immediate(op, 0) != CLUSTER_BARRIER:
        barrier(wg, op)
        return
    if not wg.apart:
        return
    body = wg.body
    phases = wg.phases_waited()
    before = body.assign(f"load i32, ptr {phases}")
    site = fibers.site(wg, op)
    body.line(f"call void @fly.wait_counter(ptr %run, ptr {cluster_counter(wg)}, i32 {before}, i32 {site})")
    body.line(f"store i32 {body.assign(f'add i32 {before}, 1')}, ptr {phases}")


def _place(axis: int) -> Behaviour:
    def run(wg: Workgroup, op: Operation) -> None:
        extent = fibers.cluster_extents(wg.op)[axis]
        inside = wg.body.assign(f"urem i64 %b{'xyz'[axis]}, {extent}")
        wg.body.bind(op.results[0], wg.body.assign(f"trunc i64 {inside} to i32"))

    return run


def _load(size: int) -> Behaviour:
    """Load a lane's bytes into its own workgroup's LDS; the others of the mask run the same load for theirs."""

    def run(wg: Workgroup, op: Operation) -> None:
        body, (source, target), more = wg.body, op.operands[:2], immediate(op, 2)
        sides = []
        for pointer, kind in ((source, READ), (target, WRITE | ENGINE_ACCESS)):
            place = body.assign(f"getelementptr i8, {body.typed(pointer)}, i64 {more}")
            sides.append(f"{type_text(pointer.type)} {place}")
            wg.access(op, pointer, sides[-1], size, kind)
        copy_to_lds(wg, op, sides[1], sides[0], size, str(size))

    return run


ENTRIES: dict[str, HostIntrinsic] = {
    "llvm.amdgcn.s.barrier.signal": meeting(_signal),
    "llvm.amdgcn.s.barrier.wait": meeting(_wait),
    **{f"llvm.amdgcn.cluster.workgroup.id.{axis}": thread(_place(i), pure=True) for i, axis in enumerate("xyz")},
    **{f"llvm.amdgcn.cluster.load.async.to.lds.b{8 * size}": thread(_load(size)) for size in (1, 4, 8, 16)},
}
