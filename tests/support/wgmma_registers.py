"""Whether a kernel leaves the registers of products in flight alone, read off its PTX.

The registers that wgmma takes A from may not be written before a wait for the group of that product (PTX ISA,
wgmma.mma_async). The virtual GPU cannot know: registers are names there, and each step has its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PRODUCT = re.compile(r"wgmma\.mma_async\S* \{[^}]*\}, \{([^}]*)\}")
WAIT = re.compile(r"wgmma\.wait_group\S* (\d+)")
LABEL = re.compile(r"(\$L__\w+):")
BRANCH = re.compile(r"(@\S+ )?\s*bra(?:\.uni)?\s+(\$L__\w+)")
WRITES = re.compile(r"(?:@\S+ )?[a-z][\w.:]+\s+\{?((?:%\w+(?:, )?)+)")
SILENT = ("st.", "bra", "red.", "mbarrier", "cp.", "wgmma", "stmatrix", "prefetch", "barrier", "fence")


def early_writes(ptx: str) -> list[str]:
    """Instructions that write a register from which a product that may be in flight takes A."""
    lines = [line.strip() for line in ptx.splitlines()]
    labels = {found[1]: at for at, line in enumerate(lines) if (found := LABEL.match(line))}
    found = []
    for at, line in enumerate(lines):
        if product := PRODUCT.search(line):
            found += _writes_behind(lines, labels, at + 1, set(re.findall(r"%\w+", product[1])))
    return found


def _writes_behind(lines: list[str], labels: dict[str, int], start: int, held: set[str]) -> Iterator[str]:
    """Follow all ways from a product to the waits for it; ``closed`` counts the groups that were closed since."""
    todo, seen = [(start, 0)], set()
    while todo:
        at, closed = todo.pop()
        while at < len(lines) and (at, closed) not in seen:
            seen.add((at, closed))
            line = lines[at]
            wait = WAIT.search(line)
            if line.startswith("ret") or (wait and closed > int(wait[1])):
                break
            closed = min(closed + ("wgmma.commit_group" in line), 9)
            written = WRITES.match(line)
            if written and not line.startswith(SILENT) and held & set(re.findall(r"%\w+", written[1])):
                yield line
            at += 1
            if branch := BRANCH.match(line):
                if branch[1]:
                    todo.append((at, closed))
                at = labels[branch[2]]
