"""The source of a function as an AST, with the positions it has in its file.

The whole file is parsed and the definition looked up by its line, so columns are right whatever the indentation.
Notebook cells and the REPL work too, since `linecache` knows their text.
"""

from __future__ import annotations

import ast
import linecache
from contextlib import suppress
from types import FunctionType

from flydsl.base.records import dataclass

Definitions = dict[int, list[tuple[ast.FunctionDef, "str | None"]]]
"""The functions of a file by their first line, each with the class it stands in."""

_files: dict[str, tuple[str, Definitions]] = {}
"""Parsed files, with the text they were parsed from: a REPL or a notebook may use a file name again."""


@dataclass(frozen=True)
class FunctionSource:
    """The definition of a function; the node is a copy of its own."""

    file: str
    node: ast.FunctionDef
    class_name: str | None
    """The class whose body the definition stands in, which decides about names like ``self.__x``."""


def find_source(function: FunctionType) -> FunctionSource | None:
    """Where a function is defined; None for lambdas and for functions whose source is not to be had."""
    code = function.__code__
    if code.co_name == "<lambda>":
        return None
    for node, class_name in _definitions(code.co_filename, function.__globals__).get(code.co_firstlineno, ()):
        if _matches(node, function):
            return FunctionSource(code.co_filename, _copied(node), class_name)
    return None


def _definitions(file: str, module_globals: dict[str, object]) -> Definitions:
    linecache.checkcache(file)  # a module may be edited and loaded again in one process
    text = "".join(linecache.getlines(file, module_globals))
    known = _files.get(file)
    if known is not None and known[0] == text:
        return known[1]
    found: Definitions = {}
    with suppress(SyntaxError):  # not Python: a template, or a notebook cell with magic commands
        _collect(ast.parse(text, file), None, found)
    _files[file] = (text, found)
    return found


def _collect(node: ast.AST, class_name: str | None, found: Definitions) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            found.setdefault(first_line(child), []).append((child, class_name))
        if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            _collect(child, child.name if isinstance(child, ast.ClassDef) else class_name, found)


def first_line(node: ast.FunctionDef) -> int:
    """The line Python counts as a function's first: that of its first decorator."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _matches(node: ast.FunctionDef, function: FunctionType) -> bool:
    """Whether this can be the function's definition; it is not if the file has changed since it was imported."""
    code = function.__code__
    given = [a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
    count = code.co_argcount + code.co_kwonlyargcount
    mangled = [_unmangled(name) for name in code.co_varnames[:count]]
    return node.name == code.co_name and [_unmangled(name) for name in given] == mangled


def _unmangled(name: str) -> str:
    return name[name.index("__") :] if name.startswith("_") and "__" in name[1:] and not name.startswith("__") else name


def _copied(node: ast.FunctionDef) -> ast.FunctionDef:
    """A deep copy that can be changed; much faster than ``copy.deepcopy``."""
    copied = _copy(node)
    assert isinstance(copied, ast.FunctionDef)
    return copied


def _copy(value: object) -> object:
    if isinstance(value, ast.AST):
        fields = {name: _copy(field) for name, field in ast.iter_fields(value)}
        return ast.copy_location(type(value)(**fields), value)
    return [_copy(item) for item in value] if isinstance(value, list) else value


class _Mangle(ast.NodeTransformer):
    """Spells private names as the class body does, since the rewritten function is compiled outside of it."""

    def __init__(self, class_name: str) -> None:
        self.prefix = "_" + class_name.lstrip("_")

    def spelled(self, name: str) -> str:
        return self.prefix + name if name.startswith("__") and not name.endswith("__") else name

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.spelled(node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        node.attr = self.spelled(node.attr)
        self.generic_visit(node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node  # a class of its own, compiled as one

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self.spelled(node.arg)
        return node


def mangle_private_names(source: FunctionSource) -> None:
    """Replace private names of a method by what the class body makes of them."""
    if source.class_name is not None and source.class_name.strip("_"):
        _Mangle(source.class_name).visit(source.node)
