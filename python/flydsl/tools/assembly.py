"""Reading AMD assembly: a kernel's registers and memory, and the instructions of its main loop."""

from __future__ import annotations

import re
from collections import Counter

from flydsl.base.records import dataclass

_LABEL = re.compile(r"(\.L\w+):")
_BACK = re.compile(r"\s+s_cbranch_\w+\s+(\.L\w+)|\s+s_branch\s+(\.L\w+)")
_INSTRUCTION = re.compile(r"\s+([a-z]+_\w+)(?:\s|$)")


_SHAPE = re.compile(r"v_(?:mfma|smfmac)(?:_scale)?_\w+?_(\d+)x\d+x(\d+)")
_NARROW = re.compile(r"(cbsz|blgp):([0-4])")
_SLOW = {"ds_write_b128": 20, "ds_bpermute_b32": 8, "v_exp_f32_e32": 8, "v_rcp_f32_e32": 8, "v_log_f32_e32": 8}
ISSUE, FULL_16, FULL_32 = 4, 16, 32
"""Clocks in which a SIMD issues an instruction of a wave, and in which its matrix core is busy with one of 16 rows and
one of 32 rows. Sources: LLVM's SISchedule.td (passes of four clocks), AMD's matrix instruction calculator, published
traces of waves on gfx950: 16x16x32 in 16-bit floats 16 clocks, 16x16x128 f8f6f4 32 with 8-bit floats and 16 with
narrower ones, ds_write_b128 20, exp, rcp, log and ds_bpermute 8, everything else 4."""


def issue_clocks(line: str) -> int:
    """Clocks of a SIMD that a line of assembly takes: of a matrix instruction as long as the matrix core is busy."""
    found = _INSTRUCTION.match(line)
    if found is None:
        return 0
    shape = _SHAPE.match(found[1])
    if shape is None:
        return _SLOW.get(found[1], ISSUE)
    clocks = FULL_16 if int(shape[1]) == 16 else FULL_32
    if "f8f6f4" in found[1]:
        narrow = {side: int(code) >= 2 for side, code in _NARROW.findall(line)}
        return clocks if narrow.get("cbsz") and narrow.get("blgp") else 2 * clocks
    return 2 * clocks if found[1].endswith("_f32") and int(shape[2]) <= 4 else clocks


@dataclass(frozen=True)
class MainLoop:
    """The loop with the most matrix instructions: its lines, in the order of the text."""

    lines: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        return [found[1] for line in self.lines if (found := _INSTRUCTION.match(line))]

    @property
    def counts(self) -> Counter[str]:
        return Counter(self.names)

    @property
    def matrix(self) -> int:
        """Matrix instructions."""
        return sum(name.startswith(("v_mfma", "v_wmma", "v_smfmac")) for name in self.names)

    @property
    def matrix_share(self) -> float:
        """The part of all issue clocks in which matrix instructions run."""
        clocks = [(issue_clocks(line), "mfma" in line) for line in self.lines]
        return sum(count for count, matrix in clocks if matrix) / sum(count for count, _ in clocks)

    @property
    def waits(self) -> int:
        """Instructions that wait for memory."""
        return sum(name.startswith("s_wait") for name in self.names)


def main_loop(assembly: str) -> MainLoop:
    """The innermost loop that has the matrix instructions."""
    lines, labels, best = assembly.splitlines(), {}, MainLoop(())
    for number, line in enumerate(lines):
        if found := _LABEL.match(line):
            labels[found[1]] = number
        elif found := _BACK.match(line):
            start = labels.get(found[1] or found[2])
            if start is None:
                continue
            loop = MainLoop(tuple(lines[start : number + 1]))
            if loop.matrix > best.matrix:
                best = loop
    if not best.matrix:
        raise ValueError("the assembly has no loop with matrix instructions")
    return best


def fact(assembly: str, name: str) -> int:
    """A number of the kernel's metadata, such as ``vgpr_count``."""
    found = re.search(rf"\.{name}:\s+(\d+)", assembly)
    if found is None:
        raise ValueError(f"the assembly does not state .{name}")
    return int(found[1])
