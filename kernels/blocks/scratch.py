"""Shared memory for block reductions."""

from __future__ import annotations

from typing import Any

import flydsl.expr as fx
from kernels.blocks.reduce import wave_count


def wave_slots(reductions: int, threads: int, dtype: Any = fx.Float32) -> list[Any]:
    """One shared tensor per reduction, with an element per wave of the block."""
    waves = wave_count(threads)
    allocator = fx.SharedAllocator()
    slots = []
    for _ in range(reductions):
        storage = allocator.allocate(fx.Array[dtype, waves])
        slots.append(storage.peek().view(fx.make_layout(waves, 1)))
    return slots
