"""Registers beyond 256: `s_set_vgpr_msb` says the upper bits of their numbers, a pair for each kind of operand."""

from __future__ import annotations

import re
from dataclasses import replace

from tests.emulator.disassembly import Instruction

_VECTOR = re.compile(r"\bv(?:(\d+)|\[(\d+):(\d+)\])")
_FIRST, _SECOND, _THIRD, _RESULT = range(4)


def _roles(one: Instruction) -> tuple[int, ...]:
    """Which pair of bits each operand takes."""
    name = one.name
    if name.startswith(("ds_load", "ds_bpermute", "ds_permute", "ds_swizzle", "ds_read")) or "_rtn" in name:
        return _RESULT, _FIRST, _SECOND, _THIRD
    if name.startswith("ds_"):
        return _FIRST, _SECOND, _THIRD
    if name.startswith("buffer_"):
        return _RESULT, _FIRST
    if name.startswith(("global_", "flat_")):
        if "_load" in name:
            return _RESULT, _FIRST
        returns = "RETURN" in one.modifiers.get("th", "")
        return (_RESULT, _FIRST, _SECOND) if returns else (_FIRST, _SECOND)
    if name.startswith(("v_cmpx", "v_cmp")):
        return (_FIRST, _SECOND) if name.startswith("v_cmpx") else (_RESULT, _FIRST, _SECOND)
    carries = ("_co_" in name and not name.startswith("v_mad_nc")) or name.startswith("v_div_scale")
    if "fmamk" in name:
        return _RESULT, _FIRST, _FIRST, _SECOND
    return (_RESULT, _RESULT, _FIRST, _SECOND, _THIRD) if carries else (_RESULT, _FIRST, _SECOND, _THIRD)


def widened(one: Instruction, bits: int) -> Instruction:
    """The instruction with the numbers of registers that it has under such upper bits."""
    if not bits:
        return one

    def raised(text: str, role: int) -> str:
        add = (bits >> 2 * role & 3) * 256

        def number(found: re.Match[str]) -> str:
            if found[1]:
                return f"v{int(found[1]) + add}"
            return f"v[{int(found[2]) + add}:{int(found[3]) + add}]"

        return _VECTOR.sub(number, text)

    roles = _roles(one)
    operands = tuple(raised(text, roles[at]) if at < len(roles) else text for at, text in enumerate(one.operands))
    return replace(one, operands=operands)
