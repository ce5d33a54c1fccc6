"""Functions of device libraries: which file of LLVM bitcode has each, and how LLVM text declares it.

The language notes what kernels call (`called`), the compiler says where it is (`links`), and code generation reads both
when it writes code. Nothing is here until a program declares such a function.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from flydsl.base.records import dataclass

PREFIX = "llvm.fly.extern."
"""Before the symbol where a call is an operation: those have to begin with llvm's name."""


@dataclass(frozen=True)
class DeviceFunction:
    """A function that kernels call."""

    symbol: str
    declaration: str
    """As LLVM text has it."""
    bitcode: Path


links: dict[str, Path] = {}
"""Symbols to the files that have them."""
resolvers: list[Callable[[Any], str | Path | None]] = []
"""Asked in turn for the file of any other function that was declared."""
called: dict[str, DeviceFunction] = {}
"""What traced kernels call, by symbol."""
calls = 0
"""How many calls were traced so far."""


def bitcode_of(declared: Any) -> Path | None:
    """The file that has a declared function, as far as anyone said."""
    if declared.symbol in links:
        return links[declared.symbol]
    found = (resolver(declared) for resolver in resolvers)
    return next((Path(path) for path in found if path is not None), None)


def note_call(function: DeviceFunction) -> None:
    """A kernel that is traced now calls a function."""
    global calls
    calls += 1
    called[function.symbol] = function
