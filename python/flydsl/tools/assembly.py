"""Reading AMD assembly: a kernel's registers and memory, and the instructions of its main loop."""

from __future__ import annotations

import re
from collections import Counter

from flydsl.base.records import dataclass

_LABEL = re.compile(r"(\.L\w+):")
_BACK = re.compile(r"\s+s_cbranch_\w+\s+(\.L\w+)|\s+s_branch\s+(\.L\w+)")
_INSTRUCTION = re.compile(r"\s+([a-z]+_\w+)(?:\s|$)")


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
