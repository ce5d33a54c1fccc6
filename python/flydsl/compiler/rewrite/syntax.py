"""What the rewriting of each construct works with: shapes of generated code, the names of a scope, and its state.

Nodes that are made take the position of the source they stand for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeAlias, TypeVar

from flydsl.base.errors import SourceLocation
from flydsl.base.records import dataclass, field
from flydsl.expr.flow.site import Refusal, Site

# Generated code -------------------------------------------------------------------------------------------------------

PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")
HIDDEN = "__fly__"
"""The name by which generated code reaches its ControlFlow object."""

N = TypeVar("N", bound=ast.AST)


def at(place: ast.AST, node: N) -> N:
    """Return the node, placed where ``place`` is; new nodes inside it are placed there when the whole tree is done."""
    return ast.copy_location(node, place)


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def call(method: str, *arguments: ast.expr | int | bool | str, place: ast.AST) -> ast.Call:
    """``__fly__.method(arguments)``."""
    values = [ast.Constant(a) if isinstance(a, (int, str)) else a for a in arguments]
    return at(place, ast.Call(ast.Attribute(load(HIDDEN), method, ast.Load()), values, []))


def statement(method: str, *arguments: ast.expr | int, place: ast.AST) -> ast.Expr:
    return at(place, ast.Expr(call(method, *arguments, place=place)))


def thunk(expression: ast.expr) -> ast.Lambda:
    """``lambda: expression``."""
    return at(expression, ast.Lambda(no_parameters(), expression))


def no_parameters() -> ast.arguments:
    return ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


def function(name: str, parameters: Sequence[str], body: list[ast.stmt], place: ast.AST) -> ast.FunctionDef:
    arguments = no_parameters()
    arguments.args = [ast.arg(parameter) for parameter in parameters]
    node = ast.FunctionDef(name=name, args=arguments, body=body or [ast.Pass()], decorator_list=[])
    if "type_params" in ast.FunctionDef._fields:
        node.type_params = []  # type: ignore[attr-defined]
    return at(place, node)


def unreachable_binding(names: Sequence[str], place: ast.AST) -> ast.If:
    """``if False: a = b = None``: makes names variables of a function that assigns them only in nested ones."""
    targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
    return at(place, ast.If(ast.Constant(False), [ast.Assign(targets, ast.Constant(None))], []))


def yield_of(node: ast.stmt) -> ast.Yield | None:
    """Return the `yield` of ``results = yield […]`` or of a bare ``yield […]``."""
    value = node.value if isinstance(node, (ast.Assign, ast.Expr, ast.AnnAssign)) else None
    return value if isinstance(value, ast.Yield) else None


# Names --------------------------------------------------------------------------------------------------------------

Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda"

T = TypeVar("T")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


_LEAVES = ("ctx", "op", "ops", "id", "attr")


@cache
def node_fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """Return the fields of a node that may have others in them, but for operators and the marks of loads and stores."""
    return tuple(name for name in kind._fields if kind is not ast.Constant and name not in _LEAVES)


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes in these fields, in order: `ast.iter_child_nodes` in a fraction of the time."""
    found: list[ast.AST] = []
    for name in node_fields(type(node)):
        part = getattr(node, name, None)
        if isinstance(part, ast.AST):
            found.append(part)
        elif isinstance(part, list):
            found += [item for item in part if isinstance(item, ast.AST)]
    return found


def everything(node: ast.AST) -> list[ast.AST]:
    """Return a node and all inside it: `ast.walk` in another order."""
    found = [node]
    for inner in found:
        found += children(inner)
    return found


def place_all(node: ast.AST, place: Mapping[str, Any]) -> None:
    """Place each node that has no place where the one around it is: `ast.fix_missing_locations`, but quicker."""
    known = node.__dict__
    if "lineno" in known:
        place = known
    elif "lineno" in node._attributes:
        known.update({name: place[name] for name in PLACE if name in place})
    for inner in children(node):
        place_all(inner, place)


class _Bindings(ast.NodeVisitor):
    """Collects the names bound in a scope, each with the last line that binds it."""

    def __init__(self) -> None:
        self.lines: dict[str, int] = {}
        self._comprehensions = 0

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            self.lines.update(remembered(node, "fly_bound", lambda: _bound_in(node)))
        else:
            super().visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        for inner in children(node):
            self.visit(inner)

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


def remembered(node: ast.stmt, fact: str, compute: Callable[[], T]) -> T:
    """Return a fact about a statement, found once: the statements around it ask for it again and again."""
    known = node.__dict__.get(fact)
    if known is None:
        known = compute()
        setattr(node, fact, known)
    return known


def outer_expressions(node: Function) -> list[ast.expr]:
    """Return the parts of a function definition that are evaluated where it stands: decorators and defaults."""
    arguments = node.args
    defaults = [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]
    return defaults if isinstance(node, ast.Lambda) else [*node.decorator_list, *defaults]


def parameters(node: Function) -> list[str]:
    arguments = node.args
    plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [a.arg for a in [*plain, arguments.vararg, arguments.kwarg] if a is not None]


def scope_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield every node of a scope; nested functions and classes are given, but not entered."""
    waiting = [*nodes][::-1]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, FUNCTIONS):
            inner: Iterable[ast.AST] = outer_expressions(node)
        elif isinstance(node, ast.ClassDef):
            inner = [*node.decorator_list, *node.bases]
        else:
            inner = children(node)
        waiting += [*inner][::-1]


def own_nodes(function: ast.FunctionDef) -> list[ast.AST]:
    """Return every node of a function's own scope, as it was before any rewriting."""
    return remembered(function, "fly_nodes", lambda: list(scope_nodes(function.body)))


def declared(node: ast.FunctionDef) -> tuple[set[str], set[str]]:
    """Names that a function declares `global`, and those it declares `nonlocal`."""
    found: tuple[set[str], set[str]] = (set(), set())
    for inner in own_nodes(node):
        if isinstance(inner, ast.Global):
            found[0].update(inner.names)
        elif isinstance(inner, ast.Nonlocal):
            found[1].update(inner.names)
    return found


# The state of a rewriting ---------------------------------------------------------------------------------------------

Names = frozenset[str]
PYTHON_LOOP = -1
"""Stands, in ``Scope.loops``, for a loop that stays a Python loop."""
PYTHON_CONDITION = -1
"""Stands, in ``Scope.conditions``, for a condition that has to be known while tracing."""


@dataclass
class Scope:
    """One function: what is known of its names, and where in it the rewriting is."""

    node: ast.FunctionDef
    global_names: set[str]
    nonlocal_names: set[str]
    regions: list[int] = field(default_factory=list)
    loops: list[int] = field(default_factory=list)
    conditions: list[int] = field(default_factory=list)
    """The `if`s and loops around that decide whether a statement runs: sites, and those that stay Python's."""
    try_line: int = 0
    shared: set[str] = field(default_factory=set)
    """Variables that nested functions made here assign."""
    after: Mapping[ast.stmt, Names] = field(default_factory=dict)
    """Names live behind each branch and loop."""
    head: Mapping[ast.stmt, Names] = field(default_factory=dict)
    """Names live at the next iteration of each loop."""

    @staticmethod
    def of(node: ast.FunctionDef) -> Scope:
        return Scope(node, *declared(node))


class Context(ast.NodeTransformer):
    """What the rewriting of each construct works with; the constructs themselves are in files of their own."""

    def __init__(self, file: str, owner: str, range_is_builtin: bool) -> None:
        self.file = file
        self.owner = owner
        self.range_is_builtin = range_is_builtin
        self.sites: list[Site] = []
        self.scopes: list[Scope] = []

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Rewrite the nodes inside a node, each of which becomes one or, in a list, several."""
        for name in node_fields(type(node)):
            part = getattr(node, name, None)
            if isinstance(part, ast.AST):
                setattr(node, name, self.visit(part))
            elif isinstance(part, list):
                rewritten = (self.visit(item) if isinstance(item, ast.AST) else item for item in part)
                part[:] = [item for done in rewritten for item in (done if isinstance(done, list) else (done,))]
        return node

    @property
    def scope(self) -> Scope:
        return self.scopes[-1]

    # Sites -------------------------------------------------------------------------------------

    def location(self, node: ast.AST, end: ast.AST | None = None) -> SourceLocation:
        """Return the place of a node, up to the end of another one on the same line."""
        line, column = node.lineno, node.col_offset + 1  # type: ignore[attr-defined]
        last: Any = end or node
        end_column = last.end_col_offset + 1 if last.end_lineno == line else 0
        return SourceLocation(self.file, line, column, end_column, self.scope.node.name)

    def site(self, kind: str, location: SourceLocation, refusals: Sequence[Refusal] = (), nearest: int | None = None,
             **facts: Any) -> int:  # fmt: skip
        """Add a site; its number. ``nearest`` is the only site around it that matters, where not all do."""
        within = tuple(self.scope.regions) if nearest is None else (nearest,)
        self.sites.append(Site(kind, location, self.owner, refusals=tuple(refusals), within=within, **facts))
        return len(self.sites) - 1

    # Nested functions --------------------------------------------------------------------------

    @contextmanager
    def region(self, number: int) -> Iterator[None]:
        """Rewrite what becomes a nested function of the site."""
        self.scope.regions.append(number)
        try:
            with self.condition(number):
                yield
        finally:
            self.scope.regions.pop()

    @contextmanager
    def condition(self, number: int = PYTHON_CONDITION) -> Iterator[None]:
        """Rewrite what runs only if a condition holds."""
        self.scope.conditions.append(number)
        try:
            yield
        finally:
            self.scope.conditions.pop()

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Rewrite the statements of a block."""
        found: list[ast.stmt] = []
        for node in statements:
            done = self.visit(node)
            found += done if isinstance(done, list) else [done]
        return found

    def nested(self, name: str, parameters: Sequence[str], names: Iterable[str], body: list[ast.stmt],
               place: ast.AST) -> ast.FunctionDef:  # fmt: skip
        """Return a function of rewritten statements; ``names`` are the variables of this one that it assigns."""
        bound = set(names)
        shared = sorted(bound - self.scope.global_names)
        self.scope.shared.update(shared)
        head: list[ast.stmt] = [at(place, ast.Nonlocal(shared))] if shared else []
        if bound & self.scope.global_names:
            head.append(at(place, ast.Global(sorted(bound & self.scope.global_names))))
        return function(name, parameters, [*head, *body], place)
