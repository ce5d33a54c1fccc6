"""Loading xDSL in less time: most of it goes into what a compilation never uses.

- Its three hundred dataclasses get their methods from `base.records`, which compiles only those that are called.
- The assembly formats of its operations are read when an operation is first printed or parsed. Formats are text for
  people and for `fly-opt`; a compilation prints nothing.

On a Neoverse N1 this takes a third off 330 ms (measured 2026-11). It is done to the modules that `load` imports, for as
long as it runs; whoever imported xDSL before has it as it is, but for what `_quicken` changes in all of the process.
"""

from __future__ import annotations

import dataclasses
from abc import ABCMeta
from functools import cached_property
from importlib import import_module
from operator import attrgetter
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
            _quicken(import_module("xdsl.ir.core"), import_module("xdsl.irdl.operations"))
        finally:
            program.from_str = staticmethod(eager)
    finally:
        dataclasses.dataclass = before


def _dataclass(cls: Any = None, /, **options: Any) -> Any:
    """Return what xDSL's modules have under the name of `dataclass`, also when they define classes later."""
    if cls is None:
        return lambda found: _dataclass(found, **options)
    if type(cls) is ABCMeta and cls.__module__ == "xdsl.ir.core":
        cls.__class__ = PlainChecks
    if cls.__module__.startswith(_ours) and options.keys() <= _KNOWN:
        return records.dataclass(cls, **options)
    return _standard(cls, **options)


class PlainChecks(ABCMeta):
    """Of classes that nobody registers others with: `isinstance` looks at the bases, in a quarter of the time."""

    __instancecheck__ = type.__instancecheck__


_FIELDS = {
    "SSAValue": {"type": "_type"}, "OpResult": {"owner": "op"}, "BlockArgument": {"owner": "block"},
    "IRWithName": {"name_hint": "_name"}, "Use": {"operation": "_operation", "index": "_index"},
    "Operation": {"operands": "_operands", "next_op": "_next_op", "prev_op": "_prev_op"},
    "Block": {"args": "_args", "first_op": "_first_op", "last_op": "_last_op", "next_block": "_next_block"},
}  # fmt: skip
"""Class -> properties that give a field, and its name. Operands were a view of theirs."""


def _quicken(core: Any, irdl: Any) -> None:
    """Have C do properties, hashes and comparisons; operands are the tuple, and know types where they have a name."""
    if "__setitem__" in vars(core.SSAValues):
        return
    for kind in (core.SSAValue, core.Use, core._IRNode, irdl.IRDLOperation):
        kind.__hash__, kind.__eq__ = object.__hash__, object.__eq__
    for name, fields in _FIELDS.items():
        for face, field in fields.items():
            kind = getattr(core, name)
            setattr(kind, face, property(attrgetter(field), vars(kind)[face].fset))

    def change(values: Any, index: int, new: Any) -> None:
        """Replace one operand: the operation is among the users of the old one."""
        index = range(len(values))[index]
        old = values[index]
        use = next(use for use in old.uses if use._index == index and use._operation._operands is values)
        old.remove_use(use)
        new.add_use(use)
        use._operation._operands = core.SSAValues((*values[:index], new, *values[index + 1 :]))

    def typed(get: Any) -> Any:
        def found(accessor: Any, op: Any, kind: Any = None) -> Any:
            part = get(accessor, op, kind)
            return core.SSAValues(part) if type(part) is tuple else part

        return found

    for kind in (irdl.BaseAccessor, irdl.BaseAttrAccessor):
        kind.__get__ = typed(kind.__get__)
    core.SSAValues.__setitem__ = change
    del core.SSAValues.__getitem__


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
