"""The imports among the files of the package, read from their text: at the top, for types, and declared lazy."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from flydsl.compiler.rewrite.syntax import children

PACKAGE = "flydsl"


class Import(NamedTuple):
    """An import of a file of the package."""

    module: str
    name: str
    """What the importing file calls it."""
    kind: str
    """``top``, ``type`` (under TYPE_CHECKING), ``lazy`` (a string given to base/lazy.py) or ``inside`` a function."""
    line: int


def modules(repository: Path) -> dict[str, Path]:
    """Every module of the package, and its file."""
    root = repository / "python"
    found: dict[str, Path] = {}
    for path in sorted((root / PACKAGE).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def called_name(call: ast.Call) -> str:
    """The name of a called function, without the object or module it is looked up in."""
    match call.func:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def imports_of(tree: ast.Module, known: dict[str, Path]) -> Iterator[Import]:
    """What a file imports of the package, however it says so."""
    yield from _below(tree, "top", known)


def _below(parent: ast.AST, kind: str, known: dict[str, Path]) -> Iterator[Import]:
    for node in children(parent):
        here = kind
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            here = "inside"
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == PACKAGE:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield Import(full if full in known else node.module, alias.asname or alias.name, here, node.lineno)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == PACKAGE:
                    yield Import(alias.name, alias.asname or alias.name, here, node.lineno)
        elif isinstance(node, ast.Call) and called_name(node).lstrip("_").startswith("lazy_"):
            texts = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
            yield from (Import(text, "", "lazy", node.lineno) for text in texts if text in known)
        elif isinstance(node, ast.If) and is_type_checking(node) and here == "top":
            for statement in node.body:
                yield from _below(ast.Module([statement], []), "type", known)
            for statement in node.orelse:
                yield from _below(ast.Module([statement], []), here, known)
            continue
        yield from _below(node, here, known)


@cache
def all_imports(repository: Path) -> dict[str, list[Import]]:
    """What each module imports of the package."""
    known = modules(repository)
    return {name: list(imports_of(ast.parse(path.read_bytes()), known)) for name, path in known.items()}


def import_graph(repository: Path) -> dict[str, set[str]]:
    """Which modules each module imports, those declared lazy or for types included."""
    return {name: {found.module for found in imports} - {name} for name, imports in all_imports(repository).items()}


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that reach each other (Tarjan's strongly connected components of more than one)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(graph.get(name, ())):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in graph:
        if name not in index:
            visit(name)
    return found
