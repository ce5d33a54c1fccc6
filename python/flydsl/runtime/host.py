"""The host device: a virtual GPU of any target, on this machine's cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from flydsl.base.records import dataclass
from flydsl.target.target import Target


@dataclass(frozen=True)
class HostDevice:
    """Runs kernels compiled for ``target`` on the CPU. Memory is the process's own, and launches are done on return."""

    target: Target
    kind: str = "host"

    @contextmanager
    def arrays(self, *arrays: Any) -> Iterator[Sequence[Any]]:
        yield arrays

    def synchronize(self) -> None:
        return

    def __str__(self) -> str:
        return f"host (virtual {self.target.arch})"
