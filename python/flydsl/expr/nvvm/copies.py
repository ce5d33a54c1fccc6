"""Constructors of NVIDIA's copy instructions, for ``make_copy_atom``, and the groups of asynchronous copies."""

from __future__ import annotations

from flydsl.base.errors import DslValueError
from flydsl.expr.trace.context import current
from flydsl.expr.trace.intrinsic import call, require
from flydsl.target import copy_nvvm as facts


def CachedCopy(bits: int, hint: facts.CacheHint = "streaming", l2: facts.L2Priority | None = None) -> facts.CachedCopy:
    """Global memory to registers or back, with a hint for the caches.

    ``hint`` is what the multiprocessor's cache is told (``streaming``, ``no_allocate``, ``evict_last``, …), ``l2``
    how long L2 keeps the lines: ``evict_first``, ``evict_last``, …; None leaves it to itself.
    """
    return facts.CachedCopy(bits, hint, l2)


def CpAsync(bits: int = 128, cache: facts.AsyncCache = "cg") -> facts.CpAsync:
    """Global straight into shared memory, ``bits`` a thread; past L1 (``cg``) or through it (``ca``)."""
    return facts.CpAsync(bits, cache)


def LdMatrix(count: int = 4, *, transposed: bool = False) -> facts.LdMatrix:
    """Shared memory to fragments by a warp, ``count`` 8x8 matrices of 16-bit elements at once, each transposed or not.

    With ``make_tiled_copy_A(make_copy_atom(LdMatrix(4), fx.Float16), tiled_mma)`` the lanes name the rows that the
    layouts say, and get what the matrix product wants. Elements of 8 or 32 bits are moved too, but not transposed.
    """
    return facts.LdMatrix(count, transposed)


def StMatrix(count: int = 4, *, transposed: bool = False) -> facts.StMatrix:
    """Fragments to shared memory by a warp of sm_90a: what `LdMatrix` does, the other way."""
    return facts.StMatrix(count, transposed)


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


__all__ = ["CachedCopy", "CpAsync", "LdMatrix", "StMatrix", "cp_async_commit_group", "cp_async_wait_group"]
