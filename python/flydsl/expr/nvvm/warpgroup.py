"""Around wgmma: fences, groups, and waiting for accumulators."""

from __future__ import annotations

from typing import Any, Literal

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.atoms.mma_elements import accumulator_of, checked, existing, pair_of
from flydsl.expr.numeric import Int32
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.trace.context import current
from flydsl.expr.trace.intrinsic import call, require
from flydsl.expr.vector import Vector
from flydsl.target.mma_facts import signature
from flydsl.target.mma_nvidia import MmaSync as MmaSyncOp
from flydsl.target.mma_nvidia import mma_sync_signatures
from flydsl.target.mma_warpgroup import COMMIT_GROUP, FENCE
from flydsl.target.mma_warpgroup import Wgmma as WgmmaOp

# Constructors of NVIDIA's matrix instructions, for ``make_mma_atom`` --------------------------


Major = Literal["k", "mn"]
"""The mode along which an operand is contiguous."""


def _multiplied(elem_ab: Any) -> tuple[str, str]:
    """Names of A and B; 32-bit floats are multiplied as tf32, the only way the hardware has."""
    a, b = ("tf32" if elem == "f32" else elem for elem in pair_of(elem_ab))
    return a, b


def MmaSync(m: int, n: int, k: int, elem_ab: Any, elem_acc: Any = None) -> MmaSyncOp:
    """Return a warp's ``mma.sync``; ``elem_ab`` is one type or a pair."""
    a, b = _multiplied(elem_ab)
    acc = accumulator_of(elem_acc, a)
    wanted = signature(m, n, k, a, b, acc)
    return existing("mma.sync", wanted, mma_sync_signatures, lambda: MmaSyncOp(m, n, k, a, b, acc))


def Wgmma(
    n: int, k: int, elem_ab: Any, elem_acc: Any = None, a_source: Literal["shared", "register"] = "shared", *,
    major_a: Major = "k", major_b: Major = "k",
) -> WgmmaOp:  # fmt: skip
    """Return a warpgroup's ``wgmma`` of 64 rows; A comes from ``"shared"`` memory or from a ``"register"`` fragment."""
    a, b = _multiplied(elem_ab)
    return checked(WgmmaOp(n, k, a, b, accumulator_of(elem_acc, a), a_source, major_a, major_b))


def wgmma_fence() -> None:
    """Order this warpgroup's register and shared-memory accesses before the wgmma that follow."""
    require("wgmma", "cuda", ("hopper",))
    call(FENCE, [])


def wgmma_commit_group() -> None:
    """Close the group of wgmma issued so far."""
    require("wgmma", "cuda", ("hopper",))
    call(COMMIT_GROUP, [])


def wgmma_wait_group(pending: int, accumulators: Any) -> None:
    """Wait until at most ``pending`` groups are unfinished. The accumulators are readable behind it, if 0."""
    require("wgmma", "cuda", ("hopper",))
    if type(pending) is not int or not 0 <= pending <= 7:
        raise DslValueError(f"the number of groups must be a Python int from 0 to 7, got {pending!r}")
    if not isinstance(accumulators, Tensor):
        raise DslTypeError("wgmma_wait_group takes the accumulator fragment, so that nobody reads it too early",
                           hint="wgmma_wait_group(0, acc)")  # fmt: skip
    held = accumulators.load()
    # A register holds one 32-bit accumulator or two of 16 bits.
    words = held.reshape((held.numel,)) if held.dtype.width == 32 else held.reshape((held.numel,)).bitcast(Int32)
    lanes = [words.ir_value()] if words.numel == 1 else [element.ir_value() for element in words]
    passed = current().tied("wgmma.wait_group", f"wgmma.wait_group.sync.aligned {pending};", lanes)
    kind = words.dtype
    result = Vector.from_elements([kind(value) for value in passed], kind)
    accumulators.store(result.bitcast(held.dtype).reshape(held.shape))


__all__ = ["wgmma_commit_group", "wgmma_fence", "wgmma_wait_group"]
