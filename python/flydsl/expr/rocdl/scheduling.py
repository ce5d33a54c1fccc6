"""Waits, priorities and hints to the instruction scheduler of AMD GPUs. The virtual GPU checks them and goes on."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.numeric import is_raw_value
from flydsl.expr.trace.intrinsic import call, constant, require
from flydsl.expr.values.known import plain, shown
from flydsl.target.schedule_groups import LDS_READ, LDS_WRITE, LOAD, MATRIX
from flydsl.target.wait_counts import WAIT_FIELDS, decode_wait, encode_wait, wait_generation

_GFX12 = ("rdna4", "cdna5")


def s_waitcnt(
    bitfield: int | None = None, *, vmcnt: int | None = None, lgkmcnt: int | None = None, expcnt: int | None = None
) -> None:
    """Wait until at most so many memory operations are outstanding: a raw field, or counts by name."""
    target = require("s_waitcnt", "rocm")
    named = {"vmcnt": vmcnt, "lgkmcnt": lgkmcnt, "expcnt": expcnt}
    given = {name: count for name, count in named.items() if count is not None}
    if (bitfield is None) == (not given):
        raise DslTypeError("s_waitcnt takes a raw field or counts by name, one of the two",
                           hint="for example s_waitcnt(vmcnt=0)")  # fmt: skip
    generation = wait_generation(target.generation)
    bitfield, given = plain(bitfield), {name: plain(count) for name, count in given.items()}
    for name, count in given.items():
        if is_raw_value(count):
            raise DslValueError(f"{name} must be a Python int, got {shown(count)}")
    if bitfield is not None:
        constant("i32", bitfield, "the wait field", 0, 0xFFFF)  # refuses what is no such number
    if target.generation in _GFX12:
        _split_waits(decode_wait(bitfield, generation) if bitfield is not None else given, generation)
        return
    code = bitfield if bitfield is not None else encode_wait(given, generation)
    call("llvm.amdgcn.s.waitcnt", [constant("i32", code, "the wait field", 0, 0xFFFF)])


def _split_waits(counts: dict[str, int], generation: str) -> None:
    """gfx12 has a wait instruction per counter; vmcnt and lgkmcnt each stand for two."""
    encode_wait(counts, generation)  # refuses counts out of range
    most = {field.name: field.most for field in WAIT_FIELDS[generation]}
    names = {"vmcnt": ("loadcnt", "storecnt"), "lgkmcnt": ("dscnt", "kmcnt"), "expcnt": ("expcnt",)}
    for name, count in counts.items():
        if count < most[name]:
            for counter in names[name]:
                limit = 31 if counter == "kmcnt" else count
                call(f"llvm.amdgcn.s.wait.{counter}", [constant("i16", min(count, limit), name, 0, 63)])


def sched_barrier(mask: int = 0) -> None:
    """Keep the scheduler from moving instructions across here, except those of the kinds in ``mask``."""
    require("sched_barrier", "rocm")
    call("llvm.amdgcn.sched.barrier", [constant("i32", mask, "the mask", 0, 0x7FF)])


def sched_group_barrier(mask: int, size: int, group: int = 0) -> None:
    """Ask for ``size`` instructions of the kinds in ``mask`` here, in order with others of the same group."""
    require("sched_group_barrier", "rocm")
    numbers = ((mask, "the mask", 0x7FF), (size, "the number of instructions", 255), (group, "the group", 255))
    call("llvm.amdgcn.sched.group.barrier", [constant("i32", value, what, 0, most) for value, what, most in numbers])


def sched_mfma(count: int) -> None:
    """Ask for ``count`` matrix instructions here."""
    sched_group_barrier(MATRIX, count, 0)


def sched_vmem(count: int) -> None:
    """Ask for ``count`` reads of global memory here."""
    sched_group_barrier(LOAD, count, 0)


def sched_dsrd(count: int) -> None:
    """Ask for ``count`` reads of LDS here."""
    sched_group_barrier(LDS_READ, count, 0)


def sched_dswr(count: int) -> None:
    """Ask for ``count`` writes of LDS here."""
    sched_group_barrier(LDS_WRITE, count, 0)


def iglp_opt(strategy: int) -> None:
    """Choose one of LLVM's scheduling strategies for this block of code."""
    require("iglp_opt", "rocm")
    call("llvm.amdgcn.iglp.opt", [constant("i32", strategy, "the strategy", 0, 3)])


def s_setprio(priority: int) -> None:
    """The priority of this wave among those of its SIMD, 0 to 3."""
    require("s_setprio", "rocm")
    call("llvm.amdgcn.s.setprio", [constant("i16", priority, "the priority", 0, 3)])


def s_sleep(count: int) -> None:
    """Let this wave pause for about 64 times ``count`` cycles."""
    require("s_sleep", "rocm")
    call("llvm.amdgcn.s.sleep", [constant("i32", count, "the count", 0, 127)])


def s_nop(count: int) -> None:
    """Wait ``count`` + 1 cycles."""
    require("s_nop", "rocm")
    call("llvm.amdgcn.s.nop", [constant("i16", count, "the count", 0, 15)])


def s_barrier() -> None:
    """Wait for every wave of the workgroup, without ordering memory; see ``fx.gpu.barrier``."""
    target = require("s_barrier", "rocm")
    if target.generation in _GFX12:
        call("llvm.amdgcn.s.barrier.signal", [constant("i32", -1, "the barrier", -1, -1)])
        call("llvm.amdgcn.s.barrier.wait", [constant("i16", -1, "the barrier", -1, -1)])
        return
    call("llvm.amdgcn.s.barrier", [])


def lds_barrier() -> None:
    """Wait for every wave of the workgroup, whose accesses to LDS are then done.

    ``fx.barrier()`` orders global memory too: on gfx11 and gfx12 it waits for every load and empties the first cache.
    Here loads from global memory stay on their way.
    """
    target = require("lds_barrier", "rocm")
    if target.generation in _GFX12:
        lds_barrier_signal()
        lds_barrier_wait()
        return
    s_waitcnt(lgkmcnt=0)
    s_barrier()


def lds_barrier_signal() -> None:
    """gfx12: the first half of `lds_barrier`: this wave's accesses to LDS are done, and it goes on."""
    s_wait_dscnt(0)
    s_barrier_signal(-1)


def lds_barrier_wait() -> None:
    """gfx12: the second half: every wave has signalled."""
    s_barrier_wait(-1)


def s_barrier_signal(barrier: int = -1) -> None:
    """gfx12: arrive at the barrier of the workgroup (-1) or of the cluster (-3), and go on."""
    require("s_barrier_signal", "rocm", _GFX12)
    call("llvm.amdgcn.s.barrier.signal", [constant("i32", barrier, "the barrier", -4, -1)])


def s_barrier_wait(barrier: int = -1) -> None:
    """gfx12: wait until everyone has arrived at the phase of the barrier that this wave's signal belongs to."""
    require("s_barrier_wait", "rocm", _GFX12)
    call("llvm.amdgcn.s.barrier.wait", [constant("i16", barrier, "the barrier", -4, -1)])


def s_wait_dscnt(count: int = 0) -> None:
    """gfx12: wait until at most ``count`` accesses to LDS are outstanding."""
    require("s_wait_dscnt", "rocm", _GFX12)
    call("llvm.amdgcn.s.wait.dscnt", [constant("i16", count, "the count", 0, 63)])


mask_mfma, mask_vmem_rd, mask_dsrd, mask_dswr = MATRIX, LOAD, LDS_READ, LDS_WRITE


def asyncmark() -> None:
    """Mark the asynchronous copies into LDS issued so far."""
    require("asyncmark", "rocm", ("cdna4",))
    call("llvm.amdgcn.asyncmark", [])


def wait_asyncmark(count: int = 0) -> None:
    """Wait until at most ``count`` marks have copies outstanding."""
    require("wait_asyncmark", "rocm", ("cdna4",))
    call("llvm.amdgcn.wait.asyncmark", [constant("i16", count, "the count", 0, 63)])


def s_wait_asynccnt(count: int = 0) -> None:
    """gfx1250: wait until at most ``count`` asynchronous copies are outstanding."""
    require("s_wait_asynccnt", "rocm", ("cdna5",))
    call("llvm.amdgcn.s.wait.asynccnt", [constant("i16", count, "the count", 0, 63)])


def s_wait_tensorcnt(count: int = 0) -> None:
    """gfx1250: wait until at most ``count`` tile copies are outstanding."""
    require("s_wait_tensorcnt", "rocm", ("cdna5",))
    call("llvm.amdgcn.s.wait.tensorcnt", [constant("i16", count, "the count", 0, 63)])


_SCHED_MODE, _ARBITRATION_BIT = 26, 2


def disable_xdl_arb_stall() -> None:
    """gfx1250: let a wave issue independent matrix instructions back to back."""
    require("disable_xdl_arb_stall", "rocm", ("cdna5",))
    field = _SCHED_MODE | _ARBITRATION_BIT << 6  # one bit: the size field is zero
    call("llvm.amdgcn.s.setreg", [constant("i32", field, "the field", 0, 0xFFFF), constant("i32", 1, "the bit", 0, 1)])


def waitcnt_for(generation: str) -> Any:
    """``s_waitcnt`` of one generation, for kernels that name it."""

    def wait(*args: Any, **kwargs: Any) -> None:
        target = require("s_waitcnt", "rocm")
        if wait_generation(target.generation) != wait_generation(generation):
            raise DslValueError(f"the wait counts of {generation} do not fit {target}", hint="use fx.rocdl.s_waitcnt")
        s_waitcnt(*args, **kwargs)

    wait.__doc__ = f"`s_waitcnt` with the fields of {generation}."
    wait.__name__ = wait.__qualname__ = "s_waitcnt"
    return wait


__all__ = [
    "asyncmark", "disable_xdl_arb_stall", "iglp_opt", "lds_barrier", "lds_barrier_signal", "lds_barrier_wait",
    "mask_dsrd", "mask_dswr", "mask_mfma", "mask_vmem_rd", "s_barrier", "s_barrier_signal", "s_barrier_wait", "s_nop",
    "s_setprio", "s_sleep", "s_wait_asynccnt", "s_wait_dscnt", "s_wait_tensorcnt", "s_waitcnt", "sched_barrier",
    "sched_dsrd", "sched_dswr", "sched_group_barrier", "sched_mfma", "sched_vmem", "wait_asyncmark",
]  # fmt: skip
