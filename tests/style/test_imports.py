"""No hidden arrow and no circle of files: what is loaded later is declared at the top, and counts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.style.import_graph import (
    all_imports,
    called_name,
    circles,
    import_graph,
    imports_of,
    is_type_checking,
    modules,
)

LAZY = "base/lazy.py"
BY_NAME = {
    "autotune/compile_ahead.py": "a worker imports the module of the user's function",
    "dialects/xdsl_loading.py": "modules of xDSL, and those that a file declared lazily and hands over",
    "capture/inputs.py": "a traced function's own import statement, of the user's module",
}
"""Files that import a module whose name only the running program knows -> why. It is never one of this package's."""


def test_no_circle_of_files(repository: Path) -> None:
    found = circles(import_graph(repository))
    assert not found, "these files import each other, lazily declared imports counted:\n" + "\n".join(map(str, found))


def test_a_circle_would_be_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"a"}}
    assert circles(graph) == [["b", "c"]]


def test_nothing_of_the_package_is_imported_inside_a_function(repository: Path) -> None:
    hidden = [
        f"{name}:{found.line} imports {found.module}"
        for name, imports in all_imports(repository).items()
        for found in imports
        if found.kind == "inside"
    ]
    assert not hidden, "declare them at the top (base/lazy.py says how):\n" + "\n".join(hidden)


BY_STRING = ("import_module", "__import__")


def loads_by_name(tree: ast.AST) -> Iterator[ast.Call]:
    """Calls of `import_module` and `__import__`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called_name(node) in BY_STRING:
            yield node


def is_outside(argument: ast.expr) -> bool:
    """Whether the name of a module is written out, at least where it begins, and is not of this package."""
    first = argument.values[0] if isinstance(argument, ast.JoinedStr) else argument
    if isinstance(first, ast.IfExp):
        return is_outside(first.body) and is_outside(first.orelse)
    return isinstance(first, ast.Constant) and not str(first.value).startswith("flydsl")


def test_no_module_of_the_package_is_loaded_by_a_string(repository: Path) -> None:
    hidden: list[str] = []
    for name, path in modules(repository).items():
        text = path.read_text(encoding="utf-8")
        if path.as_posix().endswith((LAZY, *BY_NAME)) or not any(word in text for word in BY_STRING):
            continue
        for call in loads_by_name(ast.parse(text)):
            if not is_outside(call.args[0]):
                hidden.append(f"{name}:{call.lineno}: {ast.unparse(call)}")
    assert not hidden, "declare them at the top (base/lazy.py says how):\n" + "\n".join(hidden)


def lazy_names(statements: list[ast.stmt]) -> dict[str, str]:
    """Names bound to `lazy_module("...")` in a block, and the modules."""
    found: dict[str, str] = {}
    for node in statements:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            call = node.value
            if ast.unparse(call.func) == "lazy_module" and isinstance(call.args[0], ast.Constant):
                found[ast.unparse(node.targets[0])] = str(call.args[0].value)
    return found


def halves(tree: ast.Module, known: dict[str, Path]) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """What checkers see and what runs, of each declaration of lazy modules."""
    for node in tree.body:
        if isinstance(node, ast.If) and is_type_checking(node):
            seen = {found.name: found.module for found in imports_of(ast.Module(node.body, []), known)}
            outside = (alias for part in node.body if isinstance(part, ast.Import) for alias in part.names)
            seen |= {alias.asname or alias.name: alias.name for alias in outside}
            yield seen, lazy_names(node.orelse)


def test_lazy_modules_are_declared_in_one_form(repository: Path) -> None:
    known = modules(repository)
    wrong: list[str] = []
    for name, path in known.items():
        text = path.read_text(encoding="utf-8")
        if "TYPE_CHECKING" not in text and "lazy_module" not in text:
            continue
        tree = ast.parse(text)
        pairs = list(halves(tree, known))
        wrong += [f"{name}: {seen} for checkers, {runs} when it runs" for seen, runs in pairs if seen != runs]
        declared = sum(len(runs) for _, runs in pairs)
        calls = sum(isinstance(node, ast.Call) and called_name(node) == "lazy_module" for node in ast.walk(tree))
        if calls != declared:
            wrong.append(f"{name}: lazy_module() outside of the else of `if TYPE_CHECKING` at the top")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("from flydsl.base import knobs", ["top"]),
        ("def f():\n    from flydsl.base import knobs", ["inside"]),
        ("if TYPE_CHECKING:\n    from flydsl.base import knobs\nelse:\n    knobs = lazy_module('flydsl.base.knobs')",
         ["type", "lazy"]),
    ],
)  # fmt: skip
def test_how_imports_are_read(text: str, kinds: list[str]) -> None:
    known = {"flydsl.base.knobs": Path("knobs.py")}
    assert [found.kind for found in imports_of(ast.parse(text), known)] == kinds
