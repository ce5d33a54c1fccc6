"""A wave while it runs: its registers, its lanes, and what it waits for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.emulator.arena import Arena

VCC, M0, EXEC, TTMP = 106, 124, 126, 108
NULL = 1000
"""The number of a register that is written and never read."""
QUEUES = ("load", "store", "ds", "scalar", "async", "tensor")
"""What a wave may wait for, each in the order of its instructions."""
NONSENSE = 0x7FBADBAD
"""What a register holds that is waited for: a NaN, and no sensible number."""


@dataclass
class Workgroup:
    """What the waves of a workgroup share."""

    arena: Arena
    lds: np.ndarray
    """Bytes of shared memory."""
    wave32: bool
    generation: float
    """9 for gfx9, 11 for gfx11, 12 for gfx12, 12.5 for gfx1250."""
    fp8: type
    """The E4M3 type of its instructions."""
    bf8: type


class Wave:
    def __init__(self, group: Workgroup, vectors: int, accumulators: int, code_base: int) -> None:
        self.group, self.lanes, self.code_base = group, 32 if group.wave32 else 64, code_base
        self.v = np.full((vectors, self.lanes), NONSENSE, np.uint32)
        self.f, self.i, self.h = self.v.view(np.float32), self.v.view(np.int32), self.v.view(np.float16)
        self.a = np.full((max(accumulators, 1), self.lanes), NONSENSE, np.uint32)
        self.s = [NONSENSE] * 128
        self.scc, self.pc = 0, 0
        self.ended = False
        self.queues: dict[str, deque[Callable[[], None]]] = {name: deque() for name in QUEUES}
        self.set_exec(0)

    # Lanes --------------------------------------------------------------------------------------

    def set_exec(self, mask: int) -> None:
        self.exec = mask
        self.s[EXEC], self.s[EXEC + 1] = mask & 0xFFFFFFFF, mask >> 32
        self.mask = bits_of(mask, self.lanes)
        self.full = mask == (1 << self.lanes) - 1

    # Scalar registers ---------------------------------------------------------------------------

    def scalar(self, number: int, words: int = 1) -> int:
        return sum(self.s[number + word] << 32 * word for word in range(words))

    def set_scalar(self, number: int, value: int, words: int = 1) -> None:
        if number == NULL:
            return
        for word in range(words):
            self.s[number + word] = value >> 32 * word & 0xFFFFFFFF
        if EXEC - words < number <= EXEC + 1:
            self.set_exec(self.s[EXEC] | (self.s[EXEC + 1] << 32 if self.lanes == 64 else 0))

    def mask_of(self, number: int) -> np.ndarray:
        """A register of one bit a lane as an array."""
        return bits_of(self.scalar(number, self.lanes // 32), self.lanes)

    # Waiting ------------------------------------------------------------------------------------

    def later(self, queue: str, act: Callable[[], None]) -> None:
        """Do something when it is waited for."""
        self.queues[queue].append(act)

    def wait(self, queue: str, left: int) -> None:
        found = self.queues[queue]
        while len(found) > left:
            found.popleft()()

    def wait_all(self) -> None:
        for queue in self.queues:
            self.wait(queue, 0)


def bits_of(mask: int, lanes: int) -> np.ndarray:
    return np.unpackbits(np.frombuffer((mask & (1 << lanes) - 1).to_bytes(lanes // 8, "little"), np.uint8),
                         bitorder="little").astype(bool)  # fmt: skip


def mask_from(bits: np.ndarray) -> int:
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")
