"""Kernels with a fault planted on a marked line: what a sanitizer must say about each, and how they run without it.

A case is a function of ``fault``, 1 or 0, that builds a kernel, runs it and, without the fault, checks the results.
The line of the fault ends in ``# FAULT``; the other line of a race ends in ``# OTHER``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from flydsl.base import knobs
from tests.support import random_data

Case = Callable[[int], None]


@dataclass(frozen=True)
class Planted:
    """One case and the report it must give. Threads and blocks are x indices."""

    name: str
    run: Case
    check: str
    tensor: str = ""
    coordinate: tuple[int, ...] = ()
    block: int = 0
    thread: int = 0
    other_block: int | None = None
    other_thread: int | None = None
    alone: bool = False
    """Whether another check would find its own fault in the same kernel first."""
    target: str | None = None
    """The virtual GPU it runs on; the default one without it."""
    garbage: bool = False
    """Whether the numbers are wrong with the fault, sanitizer or not."""

    def execute(self, fault: int) -> None:
        """Run the case on its target."""
        with knobs.scope({knobs.ARCH: self.target, knobs.RUNTIME_KIND: "host"}):
            self.run(fault)

    @property
    def file(self) -> str:
        return inspect.getsourcefile(self.run) or ""

    def line(self, marker: str) -> int:
        lines, first = inspect.getsourcelines(self.run)
        found = [first + index for index, text in enumerate(lines) if text.rstrip().endswith(f"# {marker}")]
        assert len(found) == 1, f"{self.name} marks {len(found)} lines with {marker}"
        return found[0]

    @property
    def has_other_line(self) -> bool:
        return any(text.rstrip().endswith("# OTHER") for text in inspect.getsourcelines(self.run)[0])


def planted(cases: list[Planted], check: str, **facts: Any) -> Callable[[Case], Case]:
    """Add a case to a list."""

    def add(run: Case) -> Case:
        cases.append(Planted(run.__name__, run, check, **facts))
        return run

    return add


def numbers(*shape: int) -> np.ndarray:
    """Fresh random f32 numbers."""
    return random_data.generator().random(shape, dtype=np.float32)


def poisoned(*shape: int) -> np.ndarray:
    """An output that no kernel has written yet."""
    return np.full(shape, np.nan, np.float32)
