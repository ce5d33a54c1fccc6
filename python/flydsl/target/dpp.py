"""DPP controls: how a lane finds the lane it reads from, and which generations have which.

Codes: AMD's ISA documents, "DPP_CTRL enumeration" (CDNA 3 section 12, RDNA 3 section 6).
"""

from __future__ import annotations

from flydsl.base.errors import DslValueError, TargetError
from flydsl.base.records import dataclass
from flydsl.target.target import Target

ROW = 16
"""Lanes of a DPP row."""

_ROTATING_WAVES = ("cdna2", "cdna3", "cdna4")
_SHARING = ("cdna2", "cdna3", "cdna4", "rdna3", "rdna4", "cdna5")
_FLIPPING = ("rdna3", "rdna4", "cdna5")
_EVERY = _SHARING


@dataclass(frozen=True)
class DppControl:
    """``kind`` of movement inside groups of ``group`` lanes by ``amount``; ``generations`` have it."""

    kind: str
    amount: int
    group: int
    generations: tuple[str, ...] = _EVERY

    def source(self, lane: int) -> int | None:
        """Return the lane that a lane reads; None where there is none that the control may read."""
        inside, start = lane % self.group, lane - lane % self.group
        if self.kind == "broadcast":  # the last lane of each group goes to the group after it
            return start - 1 if start else None
        if self.kind == "shift":
            return lane + self.amount if 0 <= inside + self.amount < self.group else None
        picked = {"quad": self.amount >> 2 * inside & 3, "share": self.amount, "xor": inside ^ self.amount}
        return start + picked.get(self.kind, (inside + self.amount) % self.group)


def _decoded(code: int, wave: int) -> DppControl | None:
    low = code & 15
    if 0 <= code <= 0xFF:
        return DppControl("quad", code, 4)
    family = code & ~15
    if family in (0x100, 0x110, 0x120, 0x150, 0x160) and (low or family >= 0x150):
        return {
            0x100: DppControl("shift", low, ROW),
            0x110: DppControl("shift", -low, ROW),
            0x120: DppControl("rotate", -low, ROW),
            0x150: DppControl("share", low, ROW, _SHARING),
            0x160: DppControl("xor", low, ROW, _FLIPPING),
        }[family]
    return {
        0x130: DppControl("shift", 1, wave, _ROTATING_WAVES),
        0x134: DppControl("rotate", 1, wave, _ROTATING_WAVES),
        0x138: DppControl("shift", -1, wave, _ROTATING_WAVES),
        0x13C: DppControl("rotate", -1, wave, _ROTATING_WAVES),
        0x140: DppControl("xor", 15, ROW),
        0x141: DppControl("xor", 7, 8),
        0x142: DppControl("broadcast", 0, ROW, _ROTATING_WAVES),
        0x143: DppControl("broadcast", 0, 2 * ROW, _ROTATING_WAVES),
    }.get(code)


def dpp_control(code: int, target: Target) -> DppControl:
    """Return what a control code means on a target; an error where it means nothing."""
    found = _decoded(code, target.wave_size)
    if found is None:
        raise DslValueError(
            f"{code:#x} is no DPP control",
            hint="quad_perm is 0x00 to 0xff, row_shl 0x101 to 0x10f, row_shr 0x111 to 0x11f, row_ror 0x121 to 0x12f, "
            "row_mirror 0x140, row_half_mirror 0x141, row_share 0x150 to 0x15f, row_xmask 0x160 to 0x16f",
        )
    if target.generation not in found.generations:
        raise TargetError(
            f"{target} does not have the DPP control {code:#x}", hint="it belongs to " + ", ".join(found.generations)
        )
    return found
