"""Line tables: every instruction of a kernel with the user's file and line it came from.

One subprogram per function. A line of another file (a helper in a module of its own) gets a scope that names that file
inside the kernel's subprogram. An operation without a location of its own takes that of the one before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from xdsl.ir import Attribute, Operation

from flydsl.base.errors import SourceLocation
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.module_scope import ModuleScope
from flydsl.codegen.reading.literals import quoted
from flydsl.codegen.reading.op_view import source_location

_DWARF_VERSION = 5
_DEBUG_INFO_VERSION = 3


def _text(value: str) -> str:
    return f'"{quoted(value.encode())}"'


class DebugInfo:
    """The debug metadata of one module."""

    def __init__(self, scope: ModuleScope) -> None:
        self._scope = scope
        self._unit: str | None = None

    def _file(self, path: str) -> str:
        where = PurePosixPath(path)
        return self._scope.metadata(f"!DIFile(filename: {_text(where.name)}, directory: {_text(str(where.parent))})")

    def _compile_unit(self, file: str) -> str:
        if self._unit is None:
            scope = self._scope
            self._unit = scope.metadata(
                f'distinct !DICompileUnit(language: DW_LANG_Python, file: {file}, producer: "flydsl", '
                "isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)"
            )
            scope.add_named_metadata("llvm.dbg.cu", self._unit)
            for behaviour, name, value in (
                (7, "Dwarf Version", _DWARF_VERSION),
                (2, "Debug Info Version", _DEBUG_INFO_VERSION),
            ):
                node = scope.metadata(f'!{{i32 {behaviour}, !"{name}", i32 {value}}}')
                scope.add_named_metadata("llvm.module.flags", node)
        return self._unit

    def subprogram(self, name: str, place: SourceLocation) -> str:
        """Return the node of a function."""
        file = self._file(place.file)
        unit = self._compile_unit(file)
        nothing = self._scope.metadata("!{null}")
        kind = self._scope.metadata(f"!DISubroutineType(types: {nothing})")
        return self._scope.metadata(
            f"distinct !DISubprogram(name: {_text(name)}, linkageName: {_text(name)}, scope: {file}, file: {file}, "
            f"line: {place.line}, type: {kind}, scopeLine: {place.line}, "
            f"spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: {unit})"
        )

    def function(self, rules: Mapping[str, Rule], name: str, op: Operation) -> LocatedFunction:
        """Return an empty body for the function ``op``."""
        return LocatedFunction(self._scope, rules, name, op, self)

    def location(self, place: SourceLocation, subprogram: str, own_file: str) -> str:
        """Return the node of a line inside a function."""
        scope = subprogram
        if place.file != own_file:
            file = self._file(place.file)
            scope = self._scope.metadata(f"!DILexicalBlockFile(scope: {scope}, file: {file}, discriminator: 0)")
        return self._scope.metadata(f"!DILocation(line: {place.line}, column: {place.column}, scope: {scope})")


class LocatedFunction(FunctionEmitter):
    """A function whose instructions carry the locations of the operations they come from."""

    def __init__(
        self, scope: ModuleScope, rules: Mapping[str, Rule], name: str, op: Operation, info: DebugInfo
    ) -> None:
        super().__init__(scope, rules)
        self._info = info
        place = source_location(op.location) or _first_place(op) or SourceLocation("<unknown>", 0, 0)
        self._own_file = place.file
        self.subprogram = info.subprogram(name, place)
        self._nodes: dict[Attribute, str] = {}
        self._current = info.location(place, self.subprogram, place.file)

    def emit_op(self, op: Operation) -> None:
        node = self._nodes.get(op.location)
        if node is None:
            place = source_location(op.location)
            node = self._info.location(place, self.subprogram, self._own_file) if place is not None else self._current
            if place is not None:
                self._nodes[op.location] = node
        self._current = node
        start, entry_start = len(self.lines), len(self.entry_lines)
        super().emit_op(op)
        _attach(self.lines, start, node)
        _attach(self.entry_lines, entry_start, node)


def _first_place(op: Operation) -> SourceLocation | None:
    """Return the first location inside a function that has none itself."""
    return next((place for inner in op.walk() if (place := source_location(inner.location)) is not None), None)


def _attach(lines: list[str], start: int, node: str) -> None:
    for index in range(start, len(lines)):
        line = lines[index]
        # Labels start in the first column, reserved lines are empty, inner operations were done before.
        if line.startswith(" ") and " !dbg " not in line:
            lines[index] = f"{line}, !dbg {node}"
