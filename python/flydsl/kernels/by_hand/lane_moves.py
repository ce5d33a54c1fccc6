"""Values of other lanes of a row of 16 by DPP, without LDS."""

from __future__ import annotations

from typing import Any

import flydsl.expr as fx
from flydsl.expr import rocdl

CONTROLS = {1: (0xB1,), 2: (0x4E,), 4: (0x141, 0x1B), 8: (0x128,)}
"""Distance -> controls one after the other: quad_perm 1 0 3 2, quad_perm 2 3 0 1, half mirror and quad_perm 3 2 1 0, a
rotation by 8 (CDNA3 ISA, DPP_CTRL)."""


def update_dpp_i32(
    old: Any, source: Any, control: int, row_mask: int = 15, bank_mask: int = 15, bound_ctrl: bool = False
) -> Any:
    """Another lane's word by a DPP control; ``old`` where there is none."""
    return rocdl.update_dpp(
        fx.Int32(old), fx.Int32(source), control, row_mask=row_mask, bank_mask=bank_mask, bound_ctrl=bound_ctrl
    )


def dpp_xor_f32(value: Any, distance: int) -> fx.Float32:
    """Return the value of the lane whose number differs in one bit: 1, 2, 4 or 8."""
    if distance not in CONTROLS:
        raise ValueError(f"lanes of a row of 16 are 1, 2, 4 or 8 apart, got {distance}")
    word = fx.Float32(value).bitcast(fx.Int32)
    for control in CONTROLS[distance]:
        word = fx.Int32(update_dpp_i32(0, word, control))
    return word.bitcast(fx.Float32)
