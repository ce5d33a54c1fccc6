"""Whether a kernel leaves the registers of products in flight alone, read off its PTX.

The registers that wgmma takes A from may not be written before a wait for the group of that product, and those of its
accumulators neither read nor written (PTX ISA, wgmma.mma_async). The virtual GPU cannot know: registers are names
there, and each step has its own. Where ptxas cannot see that a kernel keeps to it, it runs one product after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PRODUCT = re.compile(r"wgmma\.mma_async\S* \{([^}]*)\}, (?:\{([^}]*)\})?")
WAIT = re.compile(r"wgmma\.wait_group\S* (\d+)")
LABEL = re.compile(r"(\$L__\w+):")
BRANCH = re.compile(r"(@\S+ )?\s*bra(?:\.uni)?\s+(\$L__\w+)")
WRITES = re.compile(r"(?:@\S+ )?[a-z][\w.:]+\s+\{?((?:%\w+(?:, )?)+)")
SILENT = ("st.", "bra", "red.", "mbarrier", "cp.", "wgmma", "stmatrix", "prefetch", "barrier", "fence")
MOST_GROUPS = 9
"""Groups behind a product that are told apart; waits leave fewer in flight."""


class Flow:
    """The lines of a kernel, which registers each touches, and in which order they run."""

    def __init__(self, ptx: str) -> None:
        self.lines = [line.strip() for line in ptx.splitlines()]
        self.labels = {found[1]: at for at, line in enumerate(self.lines) if (found := LABEL.match(line))}
        self.named = [frozenset() if "wgmma" in line else registers(line) for line in self.lines]
        self.written = [frozenset() if line.startswith(SILENT) else written(line) for line in self.lines]
        self.behind = [self._behind(at, line) for at, line in enumerate(self.lines)]
        self.left_by_wait = [int(found[1]) if (found := WAIT.search(line)) else MOST_GROUPS for line in self.lines]
        """The groups that each line leaves in flight."""
        self.closes = ["wgmma.commit_group" in line for line in self.lines]

    def products(self) -> Iterator[tuple[int, frozenset[str], frozenset[str]]]:
        """Where each product is, its accumulators, and the registers that it takes A from."""
        for at, line in enumerate(self.lines):
            if found := PRODUCT.search(line):
                yield at, registers(found[1]), registers(found[2] or "")

    def _behind(self, at: int, line: str) -> list[int]:
        """The lines that may come next."""
        if line.startswith("ret") or at + 1 == len(self.lines):
            return []
        branch = BRANCH.match(line)
        if branch is None:
            return [at + 1]
        return [self.labels[branch[2]], *([at + 1] if branch[1] else [])]

    def in_flight(self, product: int) -> Iterator[int]:
        """Lines on all ways from a product to the waits for it, a line as often as groups were closed since."""
        todo, seen = [(product + 1, 0)], set()
        while todo:
            at, closed = todo.pop()
            if (at, closed) in seen or closed > self.left_by_wait[at]:
                continue
            seen.add((at, closed))
            yield at
            closed = min(closed + self.closes[at], MOST_GROUPS)
            todo += [(following, closed) for following in self.behind[at]]

    def loop_ends(self) -> set[int]:
        """Lines from which a way leads back to one on the way that led there, in every kernel of the text."""
        found, done, way = set(), set(), set()
        todo = [(at, True) for at in reversed(range(len(self.lines)))]
        while todo:
            at, enters = todo.pop()
            if not enters:
                way.remove(at)
                continue
            if at in done:
                continue
            done.add(at)
            way.add(at)
            todo.append((at, False))
            behind = self.behind[at]
            if way & set(behind):
                found.add(at)
            todo += [(following, True) for following in behind]
        return found


def registers(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"%\w+", text))


def written(line: str) -> frozenset[str]:
    """The registers that an instruction writes."""
    found = WRITES.match(line)
    return registers(found[1]) if found else frozenset()


def early_accesses(flow: Flow) -> Iterator[str]:
    """Instructions that write what a product in flight takes A from, or touch its accumulators."""
    for product, accumulators, taken in flow.products():
        for at in flow.in_flight(product):
            if flow.named[at] & accumulators or flow.written[at] & taken:
                yield flow.lines[at]


def crossing_loops(flow: Flow) -> Iterator[str]:
    """Ends of loops where a product may be in flight.

    If a loop also changes its accumulators, ptxas gives up following them around it and serialises all products.
    """
    ends = flow.loop_ends()
    for product, _, _ in flow.products():
        yield from (flow.lines[at] for at in flow.in_flight(product) if at in ends)
