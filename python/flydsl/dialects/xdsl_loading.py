"""Loading xDSL in less time: most of it goes into what a compilation never uses.

- Its three hundred dataclasses get their methods from `base.records`, which compiles only those that are called.
- The assembly formats of its operations are read when an operation is first printed or parsed. Formats are text for
  people and for `fly-opt`; a compilation prints nothing.

On a Neoverse N1 this takes a third off 330 ms (measured 2026-11). It is done to the modules that `load` imports, for as
long as it runs; whoever imported xDSL before has it as it is, and nothing here depends on it.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import Any

from flydsl.base import records
from flydsl.base.collector import making_what_stays

_standard = dataclasses.dataclass
_ours = ("xdsl.", "flydsl.dialects.")
_KNOWN = {"init", "repr", "eq", "frozen"}
_loading = RLock()
_loaded: set[str] = set()


def load(*modules: str | ModuleType) -> list[ModuleType]:
    """Import modules of xDSL by their names, or lazily loaded ones of ours that import it."""
    names = [module if isinstance(module, str) else module.__name__ for module in modules]
    if not _loaded.issuperset(names):  # every compilation asks, and only the first has something to load
        with _loading, making_what_stays():
            _load(names)
        _loaded.update(names)
    return [import_module(name) for name in names]


def _load(names: list[str]) -> None:
    before, dataclasses.dataclass = dataclasses.dataclass, _dataclass
    try:
        program = import_module("xdsl.irdl.declarative_assembly_format").FormatProgram
        eager, program.from_str = program.from_str, staticmethod(_Format)
        try:
            for name in names:
                import_module(name)
        finally:
            program.from_str = staticmethod(eager)
    finally:
        dataclasses.dataclass = before


def _dataclass(cls: Any = None, /, **options: Any) -> Any:
    """Return what xDSL's modules have under the name of `dataclass`, also when they define classes later."""
    if cls is None:
        return lambda found: _dataclass(found, **options)
    if cls.__module__.startswith(_ours) and options.keys() <= _KNOWN:
        return records.dataclass(cls, **options)
    return _standard(cls, **options)


class _Format:
    """A `FormatProgram` that is made when it is first asked for something."""

    def __init__(self, text: str, definition: Any) -> None:
        self._text, self._definition = text, definition

    @cached_property
    def _program(self) -> Any:
        programs = import_module("xdsl.irdl.declarative_assembly_format")
        return programs.FormatProgram.from_str(self._text, self._definition)

    def parse(self, *given: Any) -> Any:
        return self._program.parse(*given)

    def print(self, *given: Any) -> None:
        self._program.print(*given)
