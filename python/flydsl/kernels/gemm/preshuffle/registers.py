"""Registers of a lane that a tile of shuffled weights takes: one that does not fit is refused before LLVM spills it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from flydsl.kernels.gemm.lds_plan import NAMED, REGISTERS
from flydsl.kernels.gemm.matrix_cores import ACCESS_BYTES
from flydsl.kernels.gemm.preshuffle_plan import STEP_N, GemmPlan

WORDS = ACCESS_BYTES // 4
"""Registers of an access."""
OTHERS = 56
"""Registers for addresses and the like. November 2026: of the tiles that LLVM spills for gfx942 and gfx950, none fits
with so many."""


def of_tile(plan: GemmPlan, window: int = 0) -> int:
    """Return the registers of sums, two tiles of B, what is held of A and what is on its way to LDS.

    Of A they are ``window`` blocks of rows over a tile's depth, or two chunks of all rows.
    """
    block = plan.row_bytes // ACCESS_BYTES
    rows = window * block if window else 2 * plan.row_tiles * block // plan.chunks
    columns = 2 * plan.chunks * plan.b_loads * (WORDS // 2 if plan.packed else WORDS)
    return plan.sums + columns + rows + (0 if plan.copied else plan.a_loads * WORDS)


def require_registers(plan: GemmPlan, needed: Callable[[GemmPlan], int]) -> None:
    """Refuse a tile that does not fit the registers of a lane, and name the widest of as many rows that does."""

    def fits(other: GemmPlan) -> bool:
        return other.sums <= NAMED and needed(other) + OTHERS <= REGISTERS

    if fits(plan):
        return
    narrower = [replace(plan, n=width, tile_n=width) for width in range(plan.tile_n - STEP_N, 0, -STEP_N)]
    found = [f"a tile_n of {other.tile_n} does" for other in narrower if fits(other)][:1]
    if not plan.copied and plan.lds_stages == 2 and plan.preload and fits(replace(plan, copied=True)):
        found.append("use_async_copy=True does")
    raise ValueError(
        f"a lane has {REGISTERS} registers, and a tile of {plan.tile_m} x {plan.tile_n} x {plan.tile_k} takes "
        f"{plan.sums} for sums, of which {NAMED} fit at most, and {needed(plan) - plan.sums + OTHERS} for the rest: "
        + (", and ".join(found) or "take a smaller tile_m or tile_k")
    )
