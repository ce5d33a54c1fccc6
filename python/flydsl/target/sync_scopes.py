"""Who sees an atomic operation, or a fence, as one: the names that LLVM has for it on each vendor's GPUs."""

from __future__ import annotations

AMD_SCOPES = {
    name: name
    for name in (
        "agent", "workgroup", "wavefront", "one-as", "agent-one-as", "workgroup-one-as", "wavefront-one-as",
    )
}  # fmt: skip
NVIDIA_SCOPES = {
    "agent": "device", "workgroup": "block", "wavefront": "block",
    "agent-one-as": "device", "workgroup-one-as": "block", "wavefront-one-as": "block",
}  # fmt: skip
"""A warp has no scope of its own on NVIDIA; the block's holds it. Others are the whole system, which has no name."""


def scope_name(backend: str, scope: str) -> str:
    """LLVM's name of a scope; empty for the whole system."""
    return (NVIDIA_SCOPES if backend == "cuda" else AMD_SCOPES).get(scope, "")


def looks_acquire(backend: str) -> bool:
    """Return whether a loop that waits is to acquire with every look.

    On AMD's GPUs that empties caches each time, so one fence behind the loop does it there (LLVM, AMDGPU guide, "Memory
    model GFX942"); on NVIDIA's a look costs no more.
    """
    return backend == "cuda"


_AMD_THREADS = {"block": "workgroup", "cluster": "cluster", "device": "agent", "system": ""}
_NVIDIA_THREADS = {"block": "block", "cluster": "cluster", "device": "device", "system": ""}


def scope_of_threads(backend: str, scope: str, has_clusters: bool) -> str:
    """LLVM's name for the threads of a block, a cluster, the device or the system; a cluster of one is a block."""
    names = _NVIDIA_THREADS if backend == "cuda" else _AMD_THREADS
    return names["block" if scope == "cluster" and not has_clusters else scope]
