"""Constructors of NVIDIA's copy instructions, for ``make_copy_atom``, and the groups of asynchronous copies."""

from __future__ import annotations

from flydsl.base.errors import DslValueError
from flydsl.expr.trace.context import current
from flydsl.expr.trace.intrinsic import call, require
from flydsl.target import copy_nvvm as facts


def CachedCopy(bits: int, hint: str = "streaming", l2: str | None = None) -> facts.CachedCopy:
    """Global memory to registers or back, with a hint for the caches.

    ``hint`` is what the multiprocessor's cache is told (``streaming``, ``no_allocate``, ``evict_last``, …), ``l2``
    how long the second-level cache keeps the lines: ``evict_first``, ``evict_last``, …; None leaves it to itself.
    """
    return facts.CachedCopy(bits, hint, l2)


def CpAsync(bits: int = 128, cache: str = "cg") -> facts.CpAsync:
    """Global straight into shared memory, ``bits`` a thread; past L1 (``cg``) or through it (``ca``)."""
    return facts.CpAsync(bits, cache)


def cp_async_commit_group() -> None:
    """Close the group of asynchronous copies issued so far."""
    require("cp.async", "cuda")
    call("llvm.nvvm.cp.async.commit.group", [])


def cp_async_wait_group(pending: int = 0) -> None:
    """Wait until at most ``pending`` groups of this thread are unfinished; a barrier shows them to others."""
    require("cp.async", "cuda")
    if type(pending) is not int or pending < 0:
        raise DslValueError(f"the number of groups must be a Python int of at least 0, got {pending!r}")
    call("llvm.nvvm.cp.async.wait.group", [current().constant("i32", pending)])


__all__ = ["CachedCopy", "CpAsync", "cp_async_commit_group", "cp_async_wait_group"]
