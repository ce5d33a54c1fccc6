"""What a kernel written for every target asks before it uses something of NVIDIA's."""

from __future__ import annotations

from flydsl.expr.trace.context import current

_BACKEND = "cuda"


def is_target() -> bool:
    """Whether the code being traced is for an NVIDIA GPU."""
    return current().target.backend == _BACKEND


def max_cluster_size() -> int:
    """How many blocks a cluster may have that ``fx.nvvm`` can use; 1 where there are none."""
    return current().target.max_cluster_blocks if is_target() else 1


__all__ = ["is_target", "max_cluster_size"]
