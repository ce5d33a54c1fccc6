"""The matrix instruction of a product on CDNA: the deepest of 16 rows that the target has for the elements."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import flydsl.expr as fx
from flydsl.expr import rocdl

ACCESS_BYTES = 16
ACCESS_LANES = 4
"""Lanes that lie side by side along K in a matrix instruction of 16 rows."""
BLOCK = 16
"""Rows of a matrix instruction, and of a block of shuffled weights."""
SCALED_DEPTH = 128
"""K of gfx950's instruction for 8-bit floats with block scales."""
FOUR_BIT_SIDE = 16
"""Neighbours along K that a lane has of weights of four bits: eight bytes."""
UNIT_SCALES = 0x7F7F7F7F
"""Four scales of 1 in E8M0."""

ELEMENTS: dict[str, tuple[Any, ...]] = {
    "fp16": (fx.Float16,),
    "bf16": (fx.BFloat16,),
    "fp8": (fx.Float8E4M3FNUZ, fx.Float8E4M3FN),
    "int8": (fx.Int8,),
    "int4": (fx.Int8,),
    "int4_fp16": (fx.Float16,),
    "int4_bf16": (fx.BFloat16,),
}
"""Element types by name: of 8-bit floats the one that the target multiplies. The last three have weights of four bits,
and name what they are multiplied as."""


@dataclass(frozen=True)
class Instruction:
    """A matrix instruction of 16 rows, repeated over the waves, and how a lane's 16-byte accesses feed it."""

    dtype: Any
    tiled: Any
    steps: int = 1
    """Instructions that one access feeds."""
    accesses: int = 1
    """Accesses that feed one instruction."""
    state: tuple[tuple[str, int], ...] = ()
    """Scales of an instruction that has them, all 1."""

    @property
    def chunk(self) -> int:
        """Elements along K that the lanes' accesses for one instruction cover."""
        return ACCESS_LANES * ACCESS_BYTES * 8 // self.dtype.width * self.accesses


def instruction_for(elements: str, waves: Any, depth: int) -> Instruction:
    """Return the deepest instruction for these elements that the target has and ``depth`` elements along K can feed.

    ``waves`` is the layout of the waves over (M, N, 1) of the instruction. K is permuted so that the elements of a
    lane's 16-byte access stay in the lane.
    """
    accumulator = fx.Int32 if elements in ("int8", "int4") else fx.Float32
    if elements == "fp8" and depth % SCALED_DEPTH == 0:
        with suppress(ValueError):  # the instruction of gfx950 that runs fp8 at its full rate
            atom = fx.make_mma_atom(rocdl.MFMAScale(BLOCK, BLOCK, SCALED_DEPTH, fx.Float8E4M3FN))
            unit = (("scale_a", UNIT_SCALES), ("scale_b", UNIT_SCALES))
            return Instruction(fx.Float8E4M3FN, fx.make_tiled_mma(atom, waves), accesses=2, state=unit)
    for dtype in ELEMENTS[elements]:
        piece = ACCESS_BYTES * 8 // dtype.width
        for deep in (32,) if elements == "int4" else (piece * ACCESS_LANES, 32, 16):
            with suppress(ValueError):
                atom = fx.make_mma_atom(rocdl.MFMA(BLOCK, BLOCK, deep, dtype, accumulator))
                run = deep // ACCESS_LANES
                side = max(piece, FOUR_BIT_SIDE) if elements.startswith("int4_") else piece
                along_k = fx.make_layout((run, ACCESS_LANES, side // run), (1, side, run))
                tiled = fx.make_tiled_mma(atom, waves, (None, None, along_k))
                return Instruction(dtype, tiled, side // run, side // piece)
    raise ValueError(
        f"this target has no matrix instruction of 16 rows for {elements}; the kernel is for gfx942 and gfx950, "
        "and for gfx90a without fp8 and int4"
    )
