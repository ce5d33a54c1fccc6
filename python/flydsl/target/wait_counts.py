"""The fields of AMD's s_waitcnt: where each counter's bits lie and how high it counts.

Source: the `S_WAITCNT` entries of AMD's ISA documents (CDNA 3 section 4.4, RDNA 3 section 3.5).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flydsl.base.errors import DslValueError
from flydsl.base.records import dataclass


@dataclass(frozen=True)
class WaitField:
    """A counter: (place in the word, place in the counter, bits) of each piece."""

    name: str
    pieces: tuple[tuple[int, int, int], ...]

    @property
    def most(self) -> int:
        return (1 << sum(bits for _, _, bits in self.pieces)) - 1


WAIT_FIELDS: dict[str, tuple[WaitField, ...]] = {
    "gfx9": (
        WaitField("vmcnt", ((0, 0, 4), (14, 4, 2))),
        WaitField("expcnt", ((4, 0, 3),)),
        WaitField("lgkmcnt", ((8, 0, 4),)),
    ),
    "gfx11": (
        WaitField("expcnt", ((0, 0, 3),)),
        WaitField("lgkmcnt", ((4, 0, 6),)),
        WaitField("vmcnt", ((10, 0, 6),)),
    ),
}


def wait_generation(generation: str) -> str:
    """Return the encoding that a generation uses."""
    return "gfx9" if generation in ("cdna2", "cdna3", "cdna4") else "gfx11"


def encode_wait(counts: Mapping[str, Any], generation: str) -> int:
    """Return the field that waits for these counts and for nothing else."""
    word = 0
    for field in WAIT_FIELDS[generation]:
        count = counts.get(field.name, field.most)
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= field.most:
            raise DslValueError(f"{field.name} must be a Python int between 0 and {field.most}, got {count!r}")
        for place, low, bits in field.pieces:
            word |= (count >> low & ((1 << bits) - 1)) << place
    return word


def decode_wait(word: int, generation: str) -> dict[str, int]:
    """Return the counts of a raw field."""
    return {
        field.name: sum((word >> place & ((1 << bits) - 1)) << low for place, low, bits in field.pieces)
        for field in WAIT_FIELDS[generation]
    }
