"""What AMD's lane operations do, lane by lane in Python, from the text of AMD's ISA documents.

A wave is a list of values and a list of flags for the active lanes; None stands for "no such lane, or not active".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Wave = Sequence[int]
ROW = 16


def by_wave(
    words: Sequence[int], active: Sequence[bool], size: int, one: Callable[[list[int], list[bool]], list[int]]
) -> list[int]:
    """Apply a rule to every wave; a short last wave has inactive lanes."""
    result: list[int] = []
    for start in range(0, len(words), size):
        wave = list(words[start : start + size])
        flags = list(active[start : start + size])
        missing = size - len(wave)
        found = one(wave + [0] * missing, flags + [False] * missing)
        result += found[: len(wave)]
    return result


def bpermute(index: Sequence[int], wave: Wave, active: Sequence[bool]) -> list[int]:
    sources = [(i // 4) % len(wave) for i in index]
    return [wave[s] if active[s] else 0 for s in sources]


def permute(index: Sequence[int], wave: Wave, active: Sequence[bool]) -> list[int]:
    result = [0] * len(wave)
    for lane, (i, value) in enumerate(zip(index, wave, strict=True)):
        if active[lane]:
            result[(i // 4) % len(wave)] = value
    return result


def swizzle(pattern: int, wave: Wave, active: Sequence[bool]) -> list[int]:
    return [wave[s] if active[s] else 0 for s in (_swizzle_source(pattern, lane) for lane in range(len(wave)))]


def _swizzle_source(pattern: int, lane: int) -> int:
    low = lane & 31
    if pattern >= 0xE000:
        mask = pattern & 31
        turned = int(f"{low:05b}"[::-1], 2) >> bin(mask).count("1")
        source = turned | (low & mask)
    elif pattern >= 0xC000:
        mask, amount = pattern & 31, (pattern >> 5) & 31
        amount = -amount if pattern & 0x400 else amount
        source = (low & mask) | ((low + amount) & 31 & ~mask)
    elif pattern & 0x8000:
        source = (low & ~3) | ((pattern >> 2 * (low & 3)) & 3)
    else:
        source = ((low & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31)
    return source | (lane & 32)


def dpp_source(control: int, lane: int, size: int) -> int | None:
    """The lane read by a DPP control; None where there is none."""
    row, place = lane // ROW * ROW, lane % ROW
    number = control & 15
    if control < 0x100:
        return lane // 4 * 4 + (control >> 2 * (lane % 4) & 3)
    if control in range(0x101, 0x110):
        return row + place + number if place + number < ROW else None
    if control in range(0x111, 0x120):
        return row + place - number if place >= number else None
    if control in range(0x121, 0x130):
        return row + (place - number) % ROW
    if control in range(0x150, 0x160):
        return row + number
    if control in range(0x160, 0x170):
        return row + (place ^ number)
    wave = {
        0x130: lane + 1 if lane + 1 < size else None, 0x134: (lane + 1) % size,
        0x138: lane - 1 if lane else None, 0x13C: (lane - 1) % size,
        0x140: row + 15 - place, 0x141: lane // 8 * 8 + 7 - lane % 8,
        0x142: row - 1 if row else None, 0x143: 31 if lane >= 32 else None,
    }  # fmt: skip
    return wave[control]


def dpp(
    control: int, row_mask: int, bank_mask: int, bound: bool, old: Wave, wave: Wave, active: Sequence[bool]
) -> list[int]:
    result = []
    for lane, before in enumerate(old):
        if not (row_mask >> lane // ROW & 1 and bank_mask >> lane % ROW // 4 & 1):
            result.append(before)
            continue
        source = dpp_source(control, lane, len(wave))
        if source is not None and active[source]:
            result.append(wave[source])
        else:
            result.append(0 if bound else before)
    return result


def permlane16(low: int, high: int, across: bool, wave: Wave, active: Sequence[bool]) -> list[int]:
    picks = [(high << 32 | low) >> 4 * place & 15 for place in range(ROW)]
    result = []
    for lane in range(len(wave)):
        row = lane // ROW ^ (1 if across else 0)
        source = row * ROW + picks[lane % ROW]
        result.append(wave[source if active[source] else lane])
    return result


def swap(rows: int, first: Wave, second: Wave) -> tuple[list[int], list[int]]:
    """Odd groups of ``rows`` lanes of the first register and even ones of the second change places."""
    one, two = list(first), list(second)
    for group in range(0, len(one), 2 * rows):
        for lane in range(group, group + rows):
            one[lane + rows], two[lane] = two[lane], one[lane + rows]
    return one, two


def perm(high: int, low: int, selector: int) -> int:
    source = (high << 32 | low).to_bytes(8, "little")
    result = []
    for pick in selector.to_bytes(4, "little"):
        if pick < 8:
            result.append(source[pick])
        elif pick < 12:
            result.append(255 if source[2 * (pick - 8) + 1] & 128 else 0)
        else:
            result.append(0 if pick == 12 else 255)
    return int.from_bytes(bytes(result), "little")
