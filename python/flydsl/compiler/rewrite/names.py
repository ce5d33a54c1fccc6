"""Which names a piece of source binds, reads and declares, one function scope at a time."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda"
Comprehension: TypeAlias = "ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp"

T = TypeVar("T")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
MUTATORS = frozenset(
    ("append", "clear", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault", "sort", "update")
)
"""Methods that change a list or dict in place."""


class _Bindings(ast.NodeVisitor):
    """Collects the names bound in a scope, each with the last line that binds it."""

    def __init__(self) -> None:
        self.lines: dict[str, int] = {}
        self._comprehensions = 0

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            self.lines.update(_remembered(node, "fly_bound", lambda: _bound_in(node)))
        else:
            super().visit(node)

    def bind(self, name: str | None, node: ast.AST) -> None:
        if name is not None:
            self.lines[name] = getattr(node, "lineno", 0)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load) and not self._comprehensions:
            self.bind(node.id, node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.bind(node.target.id, node)
        self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.bind(node.name, node)
        for expression in outer_expressions(node):
            self.visit(expression)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.bind(node.name, node)
        for expression in [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]:
            self.visit(expression)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for expression in outer_expressions(node):
            self.visit(expression)

    def _visit_comprehension(self, node: ast.AST) -> None:
        self._comprehensions += 1
        self.generic_visit(node)
        self._comprehensions -= 1

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self.bind(alias.asname or alias.name.split(".")[0], node)

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.bind(node.name, node)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self.bind(node.name, node)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self.bind(node.name, node)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self.bind(node.rest, node)
        self.generic_visit(node)


def _bound_in(node: ast.stmt) -> dict[str, int]:
    found = _Bindings()
    ast.NodeVisitor.visit(found, node)
    return found.lines


def bound_names(nodes: Iterable[ast.AST]) -> dict[str, int]:
    """Names that these nodes bind in their own scope, each with the line of its last binding."""
    found = _Bindings()
    for node in nodes:
        found.visit(node)
    return found.lines


def _remembered(node: ast.stmt, fact: str, compute: Callable[[], T]) -> T:
    """A fact about a statement, found once: the statements around it ask for it again and again."""
    known = node.__dict__.get(fact)
    if known is None:
        known = compute()
        setattr(node, fact, known)
    return known


def outer_expressions(node: Function) -> list[ast.expr]:
    """The parts of a function definition that are evaluated where it stands: decorators and defaults."""
    arguments = node.args
    defaults = [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]
    return defaults if isinstance(node, ast.Lambda) else [*node.decorator_list, *defaults]


def parameters(node: Function) -> list[str]:
    arguments = node.args
    plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [a.arg for a in [*plain, arguments.vararg, arguments.kwarg] if a is not None]


def body_of(node: Function) -> list[ast.AST]:
    return [node.body] if isinstance(node, ast.Lambda) else list(node.body)


def scope_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Every node of a scope; nested functions and classes are given, but not entered."""
    waiting = [*nodes][::-1]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, FUNCTIONS):
            inner: Iterable[ast.AST] = outer_expressions(node)
        elif isinstance(node, ast.ClassDef):
            inner = [*node.decorator_list, *node.bases]
        else:
            inner = ast.iter_child_nodes(node)
        waiting += [*inner][::-1]


def own_nodes(function: ast.FunctionDef) -> list[ast.AST]:
    """Every node of a function's own scope, as it was before any rewriting."""
    return _remembered(function, "fly_nodes", lambda: list(scope_nodes(function.body)))


def declared(node: ast.FunctionDef) -> tuple[set[str], set[str]]:
    """Names that a function declares `global`, and those it declares `nonlocal`."""
    found: tuple[set[str], set[str]] = (set(), set())
    for inner in own_nodes(node):
        if isinstance(inner, ast.Global):
            found[0].update(inner.names)
        elif isinstance(inner, ast.Nonlocal):
            found[1].update(inner.names)
    return found


def read_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that these nodes read, here or in functions defined inside them."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.stmt):
            found |= _remembered(node, "fly_read", lambda node=node: _read_in(node))
        elif isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Store):
                found.add(node.id)
        elif isinstance(node, ast.Lambda):
            found |= read_names(outer_expressions(node)) | free_names(node)
        elif isinstance(node, COMPREHENSIONS):
            found |= read_names(ast.iter_child_nodes(node)) - _targets(node)
        else:
            found |= read_names(ast.iter_child_nodes(node))
    return found


def _read_in(node: ast.stmt) -> set[str]:
    if isinstance(node, FUNCTIONS):
        return read_names(outer_expressions(node)) | free_names(node)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return {node.target.id} | read_names([node.value])
    return read_names(ast.iter_child_nodes(node))


def _targets(node: Comprehension) -> set[str]:
    return set(bound_names(generator.target for generator in node.generators))


def free_names(node: Function) -> set[str]:
    """Names that a function takes from the scopes around it."""
    body = body_of(node)
    own = set(parameters(node)) | set(bound_names(body))
    if isinstance(node, ast.FunctionDef):
        own -= set.union(*declared(node))
    return read_names(body) - own


def captured_names(node: ast.FunctionDef) -> set[str]:
    """Names that functions, classes and generators inside a function read later than where they stand."""
    found: set[str] = set()
    for inner in own_nodes(node):
        if isinstance(inner, FUNCTIONS):
            found |= free_names(inner)
        elif isinstance(inner, (ast.ClassDef, ast.GeneratorExp)):
            found |= read_names([*inner.body] if isinstance(inner, ast.ClassDef) else [inner])
    return found


def changed_names(nodes: Iterable[ast.AST]) -> dict[str, int]:
    """Objects that are changed in place, as ``x`` or ``self.x``, with the last line: `x[i] = …`, `x.append(…)`."""
    found: dict[str, int] = {}
    for node in nodes:
        if isinstance(node, ast.stmt):
            found.update(_remembered(node, "fly_changed", lambda node=node: _changed_in(node)))
        elif isinstance(node, ast.expr):
            for inner in scope_nodes([node]):
                _note_change(inner, found)
        else:
            found.update(changed_names(ast.iter_child_nodes(node)))
    return found


def _changed_in(node: ast.stmt) -> dict[str, int]:
    if isinstance(node, FUNCTIONS):
        return changed_names(outer_expressions(node))
    return {} if isinstance(node, ast.ClassDef) else changed_names(ast.iter_child_nodes(node))


def _note_change(node: ast.AST, found: dict[str, int]) -> None:
    target: ast.expr | None = None
    if isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
        target = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
        target = node.func.value
    path: list[str] = []
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        path = [] if isinstance(target, ast.Subscript) else [target.attr, *path]
        target = target.value
    if isinstance(target, ast.Name):
        found[".".join([target.id, *path])] = target.lineno
