"""How each target intrinsic behaves on the host: one entry per intrinsic, found by its name.

An intrinsic reaches the host back end as `llvm.call_intrinsic`, a PTX instruction as inline assembly with its name.
Its entry says in which of three ways it runs: by each *thread* alone, as a *gather* that reads one operand from other
threads' arrays, or as a *meeting* that is done between thread loops.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from flydsl.backends.host.fibers import ptx_name
from flydsl.backends.host.intrinsics import (
    amd_arithmetic,
    amd_buffers,
    amd_clusters,
    amd_lanes,
    amd_scaled,
    amd_tensors,
    amd_transposes,
    no_ops,
    nvidia_arithmetic,
    nvidia_barriers,
    nvidia_copies,
    nvidia_warpgroup,
)
from flydsl.backends.host.intrinsics.entry import HostIntrinsic
from flydsl.passes.shared.matrix_atoms import INSTRUCTION

CALL, ASM = "llvm.call_intrinsic", "llvm.inline_asm"
CALLS = frozenset({CALL, ASM})
TARGET_PREFIXES = ("llvm.amdgcn.", "llvm.nvvm.", "ptx.", "asm.", "fly.check.")

HOST_INTRINSICS: Mapping[str, HostIntrinsic] = {
    **amd_lanes.ENTRIES,
    **amd_arithmetic.ENTRIES,
    **amd_buffers.ENTRIES,
    **amd_clusters.ENTRIES,
    **amd_scaled.ENTRIES,
    **amd_tensors.ENTRIES,
    **amd_transposes.ENTRIES,
    **no_ops.ENTRIES,
    **nvidia_arithmetic.ENTRIES,
    **nvidia_barriers.ENTRIES,
    **nvidia_copies.ENTRIES,
    **nvidia_warpgroup.ENTRIES,
}
"""Name without its type suffixes to how it runs."""

__all__ = ["CALL", "CALLS", "HOST_INTRINSICS", "HostIntrinsic", "TARGET_PREFIXES", "host_intrinsic", "intrinsic_name"]


def intrinsic_name(op: Operation) -> str | None:
    """Return the intrinsic an operation calls, if it calls one."""
    if op.name == ASM:
        found = ptx_name(op)
        if found is not None:
            return f"ptx.{found}"
        return None if INSTRUCTION in op.attributes else no_ops.assembly_name(op)
    if op.name != CALL:
        return None
    name = op.properties.get("intrin")
    return name.data if isinstance(name, StringAttr) else None


@cache
def _entry(name: str) -> HostIntrinsic | None:
    """Return the entry of a name; type suffixes such as ``.v4i32`` are dropped one by one."""
    while name.startswith(TARGET_PREFIXES):
        found = HOST_INTRINSICS.get(name)
        if found is not None:
            return found
        name = name.rpartition(".")[0]
    return None


def host_intrinsic(op: Operation) -> HostIntrinsic | None:
    """Return how a call of a target intrinsic runs on the host; None for any other operation."""
    name = intrinsic_name(op) if op.name in CALLS else None
    return _entry(name) if name is not None else None
