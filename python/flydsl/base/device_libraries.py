"""Functions of device libraries: which file of LLVM bitcode has each, and how LLVM text declares it.

The language notes what kernels call (`called`), the compiler says where it is (`links`), and code generation reads both
when it writes code. Nothing is here until a program declares such a function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flydsl.base.lazy import lazy_module
from flydsl.base.records import dataclass

if TYPE_CHECKING:
    import pathlib
    from pathlib import Path
else:
    pathlib = lazy_module("pathlib")

PREFIX = "llvm.fly.extern."
"""Before the symbol where a call is an operation: those have to begin with llvm's name."""


@dataclass(frozen=True)
class DeviceFunction:
    """A function that kernels call."""

    symbol: str
    declaration: str
    """As LLVM text has it."""
    bitcode: Path
    stamp: str = ""
    """The file as it was when the call was traced."""


links: dict[str, Path] = {}
"""Symbols to the files that have them."""
resolvers: list[Callable[[Any], str | Path | None]] = []
"""Asked in turn for the file of any other function that was declared."""
called: dict[str, DeviceFunction] = {}
"""What traced kernels call, by symbol."""
calls = 0
"""How many calls were traced so far."""
relinked: dict[str, str] = {}
"""Functions that code was made for and that another file was named for since, with its stamp."""


def stamp_of(bitcode: Path) -> str:
    """Return a file's path, time of change and size: a text that differs once the file is another or was written
    again."""
    found = bitcode.stat()
    return f"{bitcode.resolve()} {found.st_mtime_ns} {found.st_size}"


def link(symbol: str, bitcode: Path) -> bool:
    """Name the file that has a function. Returns whether code that was compiled before used another file."""
    links[symbol] = bitcode
    before, now = called.get(symbol), stamp_of(bitcode)
    if before is None or relinked.get(symbol, before.stamp) == now:
        return False
    relinked[symbol] = now
    return True


def relinked_now() -> tuple[tuple[str, str], ...]:
    """Return the part of a cache key that changes whenever a function comes to be linked from another file."""
    return tuple(sorted(relinked.items()))


def bitcode_of(declared: Any) -> Path | None:
    """Return the file that has a declared function, as far as anyone said."""
    if declared.symbol in links:
        return links[declared.symbol]
    found = (resolver(declared) for resolver in resolvers)
    return next((pathlib.Path(path) for path in found if path is not None), None)


def note_call(function: DeviceFunction) -> None:
    """Note that the kernel being traced calls a function."""
    global calls
    calls += 1
    called[function.symbol] = function
