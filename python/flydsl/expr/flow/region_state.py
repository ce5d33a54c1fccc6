"""The Python state that tracing a region may change: variables, and containers reached from them.

A rewritten branch or loop body is a nested function that shares its variables with the function around it as
closure cells, so a region's effect on variables can be read, undone and replaced through the cells. Lists, dicts
and namespaces are changed in place and are treated the same way, item by item, which keeps aliases right.
"""

from __future__ import annotations

import dis
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache, partial
from types import CellType, CodeType, FunctionType, MethodType, SimpleNamespace
from typing import Any, NamedTuple

from flydsl.expr.flow.site import Site
from flydsl.expr.trace.protocol import items_of

Items = dict[Any, Any]


class Cells:
    """Variables of the function around a region, by name."""

    def __init__(self, functions: Iterable[Callable[..., Any]], names: Iterable[str]) -> None:
        found = {name: cell for function in functions for name, cell in _closure(function)}
        self.cells: dict[str, CellType] = {name: found[name] for name in names if name in found}

    def read(self) -> dict[str, Any]:
        """Return the variables that are bound, and their values."""
        values: dict[str, Any] = {}
        for name, cell in self.cells.items():
            with suppress(ValueError):  # unbound
                values[name] = cell.cell_contents
        return values

    def write(self, values: dict[str, Any]) -> None:
        """Bind the variables of a function to these values, and unbind all others."""
        for name, cell in self.cells.items():
            if name in values:
                cell.cell_contents = values[name]
                continue
            with suppress(ValueError):  # already unbound
                del cell.cell_contents


def _closure(function: Callable[..., Any]) -> Iterator[tuple[str, CellType]]:
    function = function.func if isinstance(function, partial) else function
    assert isinstance(function, FunctionType)
    return zip(function.__code__.co_freevars, function.__closure__ or ())


# Containers ------------------------------------------------------------------------------------


def set_items(container: Any, items: Items) -> None:
    """Give a container exactly these items, in place, past whatever its class overrides."""
    if isinstance(container, list):
        list.__setitem__(container, slice(None), items.values())
        return
    target = container if isinstance(container, dict) else vars(container)
    base: Any = OrderedDict if isinstance(target, OrderedDict) else dict
    base.clear(target)
    for key, value in items.items():
        base.__setitem__(target, key, value)


class Tracked(NamedTuple):
    """A container reached from a variable, and how a message names it."""

    label: str
    container: Any


class Captured(NamedTuple):
    """A variable that a function called from the region assigns with `nonlocal`."""

    name: str
    cell: CellType
    function: FunctionType

    def read(self) -> Any:
        try:
            return self.cell.cell_contents
        except ValueError:  # unbound
            return None


class Heap:
    """Every container and every `nonlocal` variable that the functions of a region can reach."""

    def __init__(self, functions: Iterable[Callable[..., Any]], own: Cells, site: Site) -> None:
        self.containers: list[Tracked] = []
        self.captured: list[Captured] = []
        self._inside = (site.owner, f"{site.owner}.<locals>.")
        self._own = {id(cell) for cell in own.cells.values()}
        self.aliases: dict[str, str] = {}
        """Further names of what has a label, with the label."""
        self._seen: dict[int, str] = {}
        for function in functions:
            for name, cell in _closure(function):
                self._visit_cell(name, cell, [path for path in site.changed if path.startswith(f"{name}.")])

    def _visit_cell(self, name: str, cell: CellType, paths: Iterable[str] = ()) -> None:
        try:
            value = cell.cell_contents
        except ValueError:  # unbound
            return
        self._visit(name, value)
        for path in paths:
            found = value
            for attribute in path.split(".")[1:]:
                found = getattr(found, attribute, None)
            self._visit(path, found)

    def _visit(self, label: str, value: Any) -> None:
        if not isinstance(value, (list, tuple, dict, SimpleNamespace, FunctionType, MethodType, partial)):
            value = getattr(value, "__dict__", {}).get("__wrapped__")  # a jit function; most values end here
            if not isinstance(value, FunctionType):
                return
        if id(value) in self._seen:
            self.aliases[label] = self._seen[id(value)]
            return
        self._seen[id(value)] = label
        if isinstance(value, FunctionType):
            self._visit_function(value)
        elif isinstance(value, MethodType):
            self._visit(label, value.__func__)
        elif isinstance(value, partial):
            self._visit(label, value.func)
            self._visit(label, value.args)
        elif isinstance(value, tuple):
            for index, item in enumerate(value):
                self._visit(f"{label}[{index}]", item)
        else:
            self.containers.append(Tracked(label, value))
            form = "{}.{}" if isinstance(value, SimpleNamespace) else "{}[{!r}]"
            for key, item in items_of(value).items():
                self._visit(form.format(label, key), item)

    def _visit_function(self, function: FunctionType) -> None:
        """A function nested in the traced one shares its variables. What others keep for themselves is their own."""
        outer, prefix = self._inside
        if function.__qualname__ != outer and not function.__qualname__.startswith(prefix):
            return
        assigned = assigned_captures(function.__code__)
        for name, cell in _closure(function):
            if name in assigned and id(cell) not in self._own:
                self.captured.append(Captured(name, cell, function))
            self._visit_cell(name, cell)

    def free(self, own: Cells) -> list[Any]:
        """Return what a region may change, since it is merged or carried, or looked after by name."""
        containers = [tracked.container for tracked in self.containers]
        return [*containers, *own.cells.values(), *(captured.cell for captured in self.captured)]

    def save(self) -> list[Items]:
        """Return the present items of every container, by its place in ``containers``."""
        return [items_of(tracked.container) for tracked in self.containers]

    def restore(self, saved: list[Items]) -> None:
        for tracked, items in zip(self.containers, saved):
            set_items(tracked.container, items)

    def saved_captures(self) -> list[Any]:
        return [captured.read() for captured in self.captured]

    def changed_capture(self, saved: list[Any]) -> Captured | None:
        """Return the first `nonlocal` variable that no longer has the value it had."""
        for captured, before in zip(self.captured, saved):
            if captured.read() is not before:
                return captured
        return None


_WRITES = frozenset({dis.opmap["STORE_DEREF"], dis.opmap["DELETE_DEREF"]})


@lru_cache(maxsize=4096)
def assigned_captures(code: CodeType) -> frozenset[str]:
    """Return variables of enclosing functions that a function (or one inside it) assigns."""
    writes = code.co_freevars and not _WRITES.isdisjoint(code.co_code[::2])
    own = {i.argval for i in dis.get_instructions(code) if i.opcode in _WRITES} if writes else set[str]()
    inner = [assigned_captures(const) for const in code.co_consts if isinstance(const, CodeType)]
    return frozenset(own.union(*inner) & set(code.co_freevars))


def assignment_line(code: CodeType, name: str) -> int:
    """Return the line of a function that assigns a captured variable."""
    for instruction in dis.get_instructions(code):
        if instruction.opname == "STORE_DEREF" and instruction.argval == name and instruction.positions is not None:
            return instruction.positions.lineno or code.co_firstlineno
    for const in code.co_consts:
        if isinstance(const, CodeType) and name in assigned_captures(const):
            return assignment_line(const, name)
    return code.co_firstlineno
