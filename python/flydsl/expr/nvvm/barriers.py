"""Barriers of NVIDIA GPUs: mbarriers, named barriers, clusters, and fences between the ways memory is reached."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr import gpu
from flydsl.expr.numeric import Boolean, Int32
from flydsl.expr.tensors.ops_memory import ptrtoint
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.tensors.tensor import pointer_of
from flydsl.expr.trace.context import Value, current
from flydsl.expr.trace.intrinsic import require
from flydsl.expr.values.known import plain
from flydsl.target.copy_nvvm import L2Priority, check_priority
from flydsl.target.ptx import PTX_OPS

MAX_NAMED_BARRIER = 15
MAX_ARRIVALS = (1 << 20) - 1


def issue(name: str, operands: list[Value], literals: tuple[int, ...] = (), l2: L2Priority | None = None) -> Value:
    """Return one instruction of the PTX table, if the target has it; ``l2`` as of `target.l2_policy`."""
    require(name, "cuda", PTX_OPS[name].generations)
    check_priority(l2)
    return current().ptx(name, operands, literals, l2)


def shared_address(place: Any, what: str, together: int = 1, *, plain: str = "") -> Value:
    """Return the 32-bit address of something in shared memory; ``together`` and ``plain`` are those of `pointer_of`."""
    pointer = pointer_of(place, together, plain=plain)
    if not isinstance(pointer, Pointer) or pointer.payload.space != "shared":
        message = f"{what} must lie in shared memory, got {place!r}"
        raise DslTypeError(message, hint="allocate it with fx.SharedAllocator")
    return ptrtoint(pointer).ir_value()


def _int(value: Any) -> Value:
    return Int32(value).ir_value()


# mbarriers -------------------------------------------------------------------------------------


def mbarrier_init(barrier: Any, count: Any) -> None:
    """Make a 64-bit word of shared memory a barrier that ``count`` arrivals complete."""
    known = plain(count)
    if isinstance(known, int) and not 1 <= known <= MAX_ARRIVALS:
        raise DslValueError(f"an mbarrier counts 1 to {MAX_ARRIVALS} arrivals, got {known}")
    issue("mbarrier.init", [shared_address(barrier, "an mbarrier"), _int(count)])


def mbarrier_inval(barrier: Any) -> None:
    """End a barrier's life, so that its memory can serve for something else."""
    issue("mbarrier.inval", [shared_address(barrier, "an mbarrier")])


def mbarrier_arrive(barrier: Any, cta: Any = None) -> None:
    """Arrive at a barrier of this block, or of block ``cta`` of the cluster."""
    place = shared_address(barrier, "an mbarrier")
    if cta is None:
        issue("mbarrier.arrive", [place])
    else:
        issue("mbarrier.arrive.cluster", [place, _int(cta)])


def mbarrier_arrive_expect_tx(barrier: Any, tx_bytes: Any) -> None:
    """Arrive, and let the phase wait for that many more bytes of asynchronous copies."""
    issue("mbarrier.arrive.expect_tx", [shared_address(barrier, "an mbarrier"), _int(tx_bytes)])


def cp_async_mbarrier_arrive(barrier: Any) -> None:
    """Arrive when all ``cp.async`` of this thread so far are there: one of the arrivals that the barrier counts."""
    issue("mbarrier.arrive.cp_async", [shared_address(barrier, "an mbarrier")])


def mbarrier_expect_tx(barrier: Any, tx_bytes: Any) -> None:
    """Let the phase wait for that many more bytes, without arriving."""
    issue("mbarrier.expect_tx", [shared_address(barrier, "an mbarrier"), _int(tx_bytes)])


def mbarrier_wait(barrier: Any, parity: Any) -> None:
    """Wait until the phase of that parity (0 for the first) is complete."""
    issue("mbarrier.wait", [shared_address(barrier, "an mbarrier"), _int(parity)])


def mbarrier_try_wait(barrier: Any, parity: Any) -> Boolean:
    """Return whether the phase of that parity is complete, after a short wait at most."""
    done = issue("mbarrier.try_wait", [shared_address(barrier, "an mbarrier"), _int(parity)])
    return Int32(done) != 0


def fence_mbarrier_init() -> None:
    """Make initialised barriers visible to the cluster and to asynchronous copies."""
    issue("fence.mbarrier_init", [])


def fence_proxy_async() -> None:
    """Order this thread's writes to shared memory before asynchronous copies and wgmma that read them."""
    issue("fence.proxy.async", [])


# Named barriers, clusters ----------------------------------------------------------------------


def _named_barrier(number: Any, threads: Any) -> list[Value]:
    known, count = plain(number), plain(threads)
    if isinstance(known, int) and not 0 <= known <= MAX_NAMED_BARRIER:
        raise DslValueError(f"named barriers are numbered 0 to {MAX_NAMED_BARRIER}, got {known}")
    if isinstance(count, int) and (count < 32 or count % 32):
        raise DslValueError(f"a named barrier counts whole warps, multiples of 32 threads, got {count}")
    return [_int(number), _int(threads)]


def barrier_sync(number: Any, threads: Any) -> None:
    """Wait at a named barrier for ``threads`` threads, a multiple of 32."""
    issue("barrier.sync", _named_barrier(number, threads))


def barrier_arrive(number: Any, threads: Any) -> None:
    """Count towards a named barrier without waiting."""
    issue("barrier.arrive", _named_barrier(number, threads))


def cluster_arrive(*, relaxed: bool = False) -> None:
    """Tell the cluster that this thread came so far; ``relaxed``, without showing it what the thread wrote."""
    issue("cluster.arrive.relaxed" if relaxed else "cluster.arrive", [])


def cluster_wait() -> None:
    """Wait for every thread of the cluster to arrive."""
    issue("cluster.wait", [])


def cluster_sync(*, relaxed: bool = False) -> None:
    """A barrier over the cluster; ``relaxed``, one that only waits and shows nobody what others wrote."""
    cluster_arrive(relaxed=relaxed)
    cluster_wait()


def block_rank_in_cluster() -> Int32:
    """Return the number of this block in its cluster."""
    return Int32(issue("cluster.ctarank", []))


def cluster_size() -> Int32:
    """Return how many blocks the cluster has."""
    return Int32(issue("cluster.nctarank", []))


# Others ----------------------------------------------------------------------------------------


def warp_uniform(value: Any) -> Int32:
    """Return an integer that is the same in the whole warp, told to the compiler: branches on it do not diverge."""
    require("warp_uniform", "cuda")
    return Int32(gpu.shuffle_idx(Int32(value), 0, 32))


def elect_one() -> Boolean:
    """True in one lane of the warp.

    The whole warp calls it: the instruction waits for all 32 lanes, so in a branch that only some of them take it would
    wait for ever. That makes the answer safe: lanes that have drifted apart meet here, and one of all is chosen, not
    one of each group.
    """
    return Int32(issue("elect.sync", [])) != 0


def setmaxnreg(count: int, *, increase: bool) -> None:
    """Ask for more registers a thread, or give some back; every warp of the warpgroup calls it."""
    if type(count) is not int or not 24 <= count <= 256 or count % 8:
        raise DslValueError(f"setmaxnreg takes a multiple of 8 from 24 to 256, got {count!r}")
    issue("setmaxnreg.inc" if increase else "setmaxnreg.dec", [], (count,))


def griddepcontrol_wait() -> None:
    """Wait until the launches this one depends on are done and their writes visible."""
    issue("griddepcontrol.wait", [])


def griddepcontrol_launch_dependents() -> None:
    """Let dependent launches start."""
    issue("griddepcontrol.launch_dependents", [])


__all__ = [
    "barrier_arrive", "barrier_sync", "block_rank_in_cluster", "cluster_arrive", "cluster_size", "cluster_sync",
    "cluster_wait", "cp_async_mbarrier_arrive", "elect_one", "fence_mbarrier_init", "fence_proxy_async",
    "griddepcontrol_launch_dependents", "griddepcontrol_wait", "mbarrier_arrive", "mbarrier_arrive_expect_tx",
    "mbarrier_expect_tx", "mbarrier_init", "mbarrier_inval", "mbarrier_try_wait", "mbarrier_wait", "setmaxnreg",
    "warp_uniform",
]  # fmt: skip
