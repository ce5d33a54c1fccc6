"""The state of a rewriting: sites found so far, the function at hand, and which of its variables are still read.

Liveness is one backward walk over a function's statements: after each branch and loop, and from one iteration to the
next. Only names that are live have to leave a run-time region, so a scratch variable may have a different type on every
path. Where the walk is unsure it calls a name live.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from flydsl.base.errors import (
    SourceLocation,
)
from flydsl.base.records import dataclass, field
from flydsl.compiler.rewrite import checks, syntax
from flydsl.compiler.rewrite.jumps import UNTIL
from flydsl.compiler.rewrite.syntax import (
    FUNCTIONS,
    bound_names,
    captured_names,
    changed_names,
    declared,
    read_names,
    yield_of,
)
from flydsl.expr.flow.site import Refusal, Site

# Liveness ------------------------------------------------------------------------------------------------------------

Names = frozenset[str]
_NONE: Names = frozenset()


class Liveness:
    """Live names of one function: ``after[node]`` behind a branch or loop, ``head[node]`` at its next iteration."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.after: dict[ast.stmt, Names] = {}
        self.head: dict[ast.stmt, Names] = {}
        self._always = frozenset(captured_names(function))
        self._loops: list[tuple[Names, Names]] = []  # what is live at `continue` and at `break`, innermost last
        self._block(function.body, _NONE)

    def _block(self, statements: Sequence[ast.stmt], out: Names) -> Names:
        """Names live before a block, from those live after it."""
        for statement in reversed(statements):
            out = self._statement(statement, out)
        return out

    def _statement(self, node: ast.stmt, out: Names) -> Names:
        match node:
            case ast.If():
                self.after[node] = out | self._always
                return _reads(node.test) | self._block(node.body, out) | self._block(node.orelse, out)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(node, out)
            case ast.With() | ast.AsyncWith():
                bound = bound_names(item.optional_vars for item in node.items if item.optional_vars is not None)
                inner = self._block(node.body, out) - bound.keys()
                return _reads(*node.items) | inner
            case ast.Try() | ast.TryStar():
                return self._try(node, out)
            case ast.Match():
                cases = [self._block(case.body, out) | _reads(case.pattern, case.guard) for case in node.cases]
                return _reads(node.subject).union(out, *cases)
            case ast.Return() | ast.Raise():
                return _reads(node)
            case ast.Break() | ast.Continue():
                return self._loops[-1][isinstance(node, ast.Break)] if self._loops else out
            case _:
                return (out - _definitely_bound(node)) | _reads(node)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, out: Names) -> Names:
        self.after[node] = out | self._always
        targets: frozenset[str] = _NONE if isinstance(node, ast.While) else frozenset(bound_names([node.target]))
        results = frozenset(bound_names(yield_targets(node)))
        done = self._block(node.orelse, out - results)
        until = getattr(node, UNTIL, None)
        test = _reads(node.test) if isinstance(node, ast.While) else frozenset({until}) if until else _NONE
        head = done | test
        while True:
            self._loops.append((head, out))
            body = self._block(node.body, head) - targets
            self._loops.pop()
            if body <= head:
                break
            head |= body
        self.head[node] = head | self._always
        return head if isinstance(node, ast.While) else head | _reads(node.iter)

    def _try(self, node: ast.Try | ast.TryStar, out: Names) -> Names:
        """Anything may be left early, so nothing that a `try` reads or that is live after it can be given up."""
        ends = out | self._block(node.finalbody, out) | _reads(*node.handlers, *node.orelse, *node.finalbody)
        for handler in node.handlers:
            self._block(handler.body, ends)
        self._block(node.orelse, ends)
        return ends | self._block(node.body, ends) | _reads(*node.body)


def _reads(*nodes: ast.AST | None) -> Names:
    return frozenset(read_names(node for node in nodes if node is not None))


def _definitely_bound(node: ast.stmt) -> set[str]:
    """Names that have a new value after a simple statement, whatever happens in it."""
    if isinstance(node, ast.Assign):
        return set(bound_names(node.targets))
    if isinstance(node, ast.AnnAssign):
        return set(bound_names([node.target])) if node.value is not None else set()
    if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)):
        return set(bound_names([node]))
    return set()


def yield_targets(node: ast.For | ast.AsyncFor | ast.While) -> list[ast.expr]:
    """Return what the results of an explicit loop are assigned to, at its end."""
    last = node.body[-1]
    return list(last.targets) if isinstance(last, ast.Assign) and yield_of(last) is not None else []


# Functions and sites -------------------------------------------------------------------------------------------------

PYTHON_LOOP = -1
"""Stands, in ``Scope.loops``, for a loop that stays a Python loop."""
PYTHON_CONDITION = -1
"""Stands, in ``Scope.conditions``, for a condition that has to be known while tracing."""


@dataclass
class Scope:
    """One function: what is known of its names, and where in it the rewriting is."""

    node: ast.FunctionDef
    liveness: Liveness
    global_names: set[str]
    nonlocal_names: set[str]
    regions: list[int] = field(default_factory=list)
    loops: list[int] = field(default_factory=list)
    conditions: list[int] = field(default_factory=list)
    """The `if`s and loops around that decide whether a statement runs: sites, and those that stay Python's."""
    try_line: int = 0
    shared: set[str] = field(default_factory=set)
    """Variables that nested functions made here assign."""

    @staticmethod
    def of(node: ast.FunctionDef) -> Scope:
        return Scope(node, Liveness(node), *declared(node))


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
        for name in syntax.node_fields(type(node)):
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

    def region_refusals(self, kind: str, location: SourceLocation, names: dict[str, int]) -> list[Refusal]:
        """Return what no run-time region allows, whatever its kind."""
        found: list[Refusal] = []
        if self.scope.try_line:
            found.append(checks.inside_try(kind, self.scope.try_line, location))
        for keyword, group in (("global", self.scope.global_names), ("nonlocal", self.scope.nonlocal_names)):
            for name in sorted(group & names.keys()):
                place = SourceLocation(self.file, names[name], function=self.scope.node.name)
                found.append(checks.captured_assignment(name, keyword, place))
        return found

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
        head: list[ast.stmt] = [syntax.at(place, ast.Nonlocal(shared))] if shared else []
        if bound & self.scope.global_names:
            head.append(syntax.at(place, ast.Global(sorted(bound & self.scope.global_names))))
        return syntax.function(name, parameters, [*head, *body], place)


def assigned_lines(first: Sequence[ast.AST], second: Sequence[ast.AST] = ()) -> dict[str, tuple[int, int]]:
    """Return where each name is assigned, or changed in place, in two pieces of source."""
    sides: list[dict[str, int]] = []
    for nodes in (first, second):
        changed = {path.partition(".")[0]: line for path, line in changed_names(nodes).items()}
        sides.append({**changed, **bound_names(nodes)})
    return {name: (sides[0].get(name, 0), sides[1].get(name, 0)) for name in {**sides[0], **sides[1]}}
