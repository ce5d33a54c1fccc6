"""ensure-debug-info-scope-on-llvm-func: every function of the llvm dialect gets a debug scope.

The scope is part of the function's location, as upstream keeps it; gpu-module-to-binary writes line tables for
functions that have one. Run when functions are final.

    llvm.func @k() … loc("k.py":3:0)
 -> llvm.func @k() … loc(fused<#llvm.di_subprogram<id = distinct[0]<>, …, name = "k", line = 3, …>>["k.py":3:0])
"""

from __future__ import annotations

import json
from pathlib import PurePosixPath

from xdsl.dialects.builtin import FileLineColLoc, FusedLoc
from xdsl.ir import Operation

from flydsl.dialects.llvm_functions import SubprogramAttr
from flydsl.passes.shared.walk import functions

_UNIT_NUMBER = 0
"""Which distinct attribute is the compile unit; functions are numbered from the next on."""


def ensure_debug_info_scope_on_llvm_func(module: Operation) -> None:
    """Run the pass on a module."""
    number = _UNIT_NUMBER
    for function in functions(module):
        if function.name != "llvm.func" or has_debug_scope(function):
            continue
        number += 1
        place = _place(function)
        if place is not None:
            function.location = FusedLoc((place,), SubprogramAttr(_subprogram(function, place, number)))


def has_debug_scope(function: Operation) -> bool:
    """Return whether a function's location carries a scope."""
    return isinstance(function.location, FusedLoc) and isinstance(function.location.metadata, SubprogramAttr)


def _place(function: Operation) -> FileLineColLoc | None:
    """Return where a function stands, or the first of its operations that stands somewhere."""
    found = (op.location for op in function.walk())
    return next((location for location in found if isinstance(location, FileLineColLoc)), None)


def _subprogram(function: Operation, place: FileLineColLoc, number: int) -> str:
    path = PurePosixPath(place.filename.data)
    file = f"<{json.dumps(path.name)} in {json.dumps(str(path.parent))}>"
    name = json.dumps(function.properties["sym_name"].data)  # type: ignore[union-attr]
    unit = (
        f'<id = distinct[{_UNIT_NUMBER}]<>, sourceLanguage = DW_LANG_Python, file = {file}, producer = "flydsl", '
        "isOptimized = true, emissionKind = LineTablesOnly>"
    )
    line = place.line.data
    return (
        f"id = distinct[{number}]<>, compileUnit = {unit}, scope = #llvm.di_file{file}, name = {name}, "
        f"linkageName = {name}, file = {file}, line = {line}, scopeLine = {line}, "
        'subprogramFlags = "Definition|Optimized", type = <types = #llvm.di_null_type>'
    )
