"""Constructors of NVIDIA's matrix instructions, for ``make_mma_atom``."""

from __future__ import annotations

from typing import Any

from flydsl.expr.atoms.mma_elements import accumulator_of, checked, existing, pair_of
from flydsl.target.mma_facts import signature
from flydsl.target.mma_nvidia import MmaSync as MmaSyncOp
from flydsl.target.mma_nvidia import mma_sync_signatures
from flydsl.target.mma_warpgroup import Wgmma as WgmmaOp


def _multiplied(elem_ab: Any) -> tuple[str, str]:
    """Names of A and B; 32-bit floats are multiplied as tf32, the only way the hardware has."""
    a, b = ("tf32" if elem == "f32" else elem for elem in pair_of(elem_ab))
    return a, b


def MmaSync(m: int, n: int, k: int, elem_ab: Any, elem_acc: Any = None) -> MmaSyncOp:
    """A warp's ``mma.sync``; ``elem_ab`` is one type or a pair."""
    a, b = _multiplied(elem_ab)
    acc = accumulator_of(elem_acc, a)
    wanted = signature(m, n, k, a, b, acc)
    return existing("mma.sync", wanted, mma_sync_signatures, lambda: MmaSyncOp(m, n, k, a, b, acc))


def Wgmma(
    n: int, k: int, elem_ab: Any, elem_acc: Any = None, a_source: str = "shared", *, major_a: str = "k",
    major_b: str = "k",
) -> WgmmaOp:  # fmt: skip
    """A warpgroup's ``wgmma`` of 64 rows; A comes from ``"shared"`` memory or from a ``"register"`` fragment."""
    a, b = _multiplied(elem_ab)
    return checked(WgmmaOp(n, k, a, b, accumulator_of(elem_acc, a), a_source, major_a, major_b))
